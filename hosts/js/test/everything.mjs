// Calls every part of the package except for Parquet once. The answers must be equal in Node, in a page and in every
// bundle. This file imports nothing, so that its text runs anywhere.

/** A text with the answers of all parts. `samedeal` is the package as the caller has imported it. */
export async function everything(samedeal) {
  const { Batcher, BatchStream, ChunkStream, Mesh, MemoryLog, Reading, Sampler, SamedealError } = samedeal;
  const { Schedule, ShardPlan, Split } = samedeal;
  const { collatePack, collatePad, detectRank, openLedger, plainOrders, replayLedger, verifyShards, version } =
    samedeal;
  const { balance, blend, grown, order, weighted, windows } = samedeal;
  const told = (value) =>
    JSON.stringify(value, (_, part) => {
      if (ArrayBuffer.isView(part)) return Array.from(part, Number);
      return typeof part === 'bigint' ? String(part) : part;
    });
  const parts = { version, orders: plainOrders() };

  const sampler = new Sampler(100, { seed: 3, worldSize: 3, rank: 1 });
  const state = sampler.state(5);
  const resumed = new Sampler(100, { seed: 3, worldSize: 4, rank: 2 });
  resumed.resume(state);
  parts.sampler = [
    sampler.indices(0, 9),
    sampler.locate(7, 4),
    state,
    resumed.indices(),
    Sampler.fromJSON(resumed.toJSON()),
  ];
  const sharded = Sampler.sharded([30, 40, 50], { lanes: 4, shuffleWindow: 8, worldSize: 2 });
  parts.sharded = [sharded.round(1), sharded.shardOf(77), sharded.fingerprint()];

  const sources = {
    web: [order('feistel', { samples: 900 }).exclude(Uint32Array.from({ length: 300 }, (_, i) => i)), 3],
  };
  const mixed = blend({ ...sources, clips: [windows([30, 40], 8), 1] }, { seed: 5, samples: 200 }).stage(100, [1, 1]);
  const made = [
    mixed,
    mixed.skip([{ epoch: 0, start: 3, count: 5 }]),
    grown(20, [{ epoch: 0, consumed: 7, samples: 30 }]),
  ];
  const dealt = [
    ...made,
    balance([0, 1, 1], [1, 2]),
    weighted([1, 2, 0], { samples: 20 }),
    order('torch', { samples: 20 }).copies(2),
  ].map((each) => new Sampler(each, { worldSize: 3, rank: 2 }));
  parts.composed = [
    dealt.map((each) => [each.indices(), each.recipe, each.state(2)]),
    dealt[0].sourceCounts(20, 150),
    dealt[0].sourceBounds,
    dealt[0].locateFrom(620, 30, 4),
    dealt[1].epochLength,
  ];

  const groups = order('feistel', { samples: 30, seed: 2 }).copies(4);
  const schedule = new Schedule(
    groups,
    [
      [0, 24],
      [3, 48],
    ],
    { worldSize: 3, rank: 2, unit: 4 },
  );
  parts.schedule = [
    new Sampler(groups, { worldSize: 3, rank: 1, unit: 4 }).indices(),
    schedule.indices(2, 3),
    schedule.locate(7, 4),
    schedule.placeOf(9),
    schedule.state(9),
    Schedule.fromJSON(schedule.toJSON()).recipeFingerprint(),
  ];

  const split = new Split({ test: 1, validation: 2, training: 7 }, { seed: 3 });
  parts.split = [
    split.indices('test', 60),
    split.others(1, 20),
    split.partOfKeys(['a', 'b', 'c']),
    Split.fromJSON(split.toJSON()).nameOf(5),
    Split.ofSizes({ held: 3, rest: 7 }).indices('held'),
    Split.folds(3).partOf([0, 1, 2, 3]),
  ];

  const plan = new ShardPlan([5, 6, 7, 8], { worldSize: 2, workers: 2, policy: 'size-aware', shuffle: true, seed: 9 });
  parts.plan = [
    plan.shards(1, 1),
    plan.loads('ranks'),
    plan.loadSummary('workers'),
    plan.steps(3),
    plan.rows(2),
    plan.verify(),
  ];
  parts.verified = verifyShards(3, [[0], [0, 2]]);
  parts.chunks = new ChunkStream(1, 3, { chunks: 7, order: 'feistel', seed: 2 }).chunks(0, 9);

  const reading = new Reading([30, 40, 50], {
    lanes: 4,
    shuffleWindow: 8,
    worldSize: 2,
    workers: 2,
    batchSize: 6,
  }).atEpoch(3);
  const rest = new Reading([30, 40, 50], { lanes: 4, shuffleWindow: 8, worldSize: 3, batchSize: 6 }).resume(
    reading.state(5),
  );
  parts.reading = [rest.indices(1), rest.round(1, 0, 0), rest.steps, rest.recipe, Reading.fromJSON(rest.toJSON())];
  parts.files = new Reading([30, 40, 50], { deal: 'shards', worldSize: 2 }).shards(1);

  const lengths = Array.from({ length: 60 }, (_, i) => 1 + ((i * 37) % 50));
  const batcher = new Batcher(lengths, { strategy: 'pack', capacity: 64, worldSize: 2, seed: 4 });
  const other = new Batcher(lengths, { strategy: 'pack', capacity: 64, worldSize: 3, seed: 4 });
  other.resume(batcher.state(2));
  parts.batcher = [
    batcher.batch(1),
    batcher.metrics(),
    batcher.locate(8),
    batcher.fingerprint(),
    [...other],
    other.toJSON(),
    Batcher.fromRecipe(other.recipe).recipeFingerprint(),
  ];
  const bySource = new Batcher(
    { web: lengths.slice(0, 40), code: lengths.slice(40) },
    { order: blend({ web: [40, 3], code: [20, 1] }, { samples: 100 }), maxTokens: 200, worldSize: 2 },
  );
  parts.mixed = [bySource.batch(1), bySource.recipe, bySource.fingerprint()];
  const stream = new BatchStream({ maxTokens: 100, batchWindow: 16 });
  stream.push(
    lengths.map((_, i) => i),
    lengths,
  );
  stream.flush();
  parts.stream = [[...stream], stream.metrics()];
  const sequences = [Int32Array.of(1, 2, 3), Int32Array.of(4)];
  parts.collated = [collatePad(sequences, { side: 'left', padToMultipleOf: 4 }), collatePack(sequences)];

  const mesh = new Mesh(8, { dp: 2, pp: 2, tp: 2 }, ['dp']);
  parts.mesh = [mesh.dataRank(5), mesh.coordinates(5), mesh.peers(5)];
  parts.launch = detectRank({ environment: { RANK: '3', WORLD_SIZE: '8', LOCAL_RANK: '3' } });

  const log = new MemoryLog();
  const readers = [];
  for (const reader of [0, 1]) readers.push(await openLedger(sampler, log, { reader, blockSize: 16 }));
  const claims = [];
  for (;;) {
    const claim = await readers[claims.length % 2].claim();
    if (!claim) break;
    claims.push([claim.start, claim.samples()]);
    await claim.commit();
  }
  const replayed = replayLedger(log.entries, { reader: 1, readers: 2 });
  parts.ledger = [claims, await readers[0].progress(), [...replayed], [...replayed.samples(sampler)]];

  try {
    new Reading([3], { policy: 'round-robin' });
  } catch (error) {
    parts.error = error instanceof SamedealError && error;
  }
  return told(parts);
}
