// Arguments of every public function, constructor and method: an arbitrary for each parameter. A public name that is
// missing here is an error of the fuzzer.

import { fc } from './packages.mjs';
import { ascending, name, numbers, one, options, upto } from './values.mjs';

const ORDERS = ['feistel', 'fisher-yates', 'sequential', 'torch', 'torch-2.5', 'python', 'dotnet', 'sharded'];
const seed = one('0', '1', '42', '-7n', '2 ** 31', '2n ** 63n - 1n', '-(2n ** 63n)');
const epoch = one('0', '0', '1', '2', '7n', '2n ** 64n - 1n');
const samples = fc.oneof(upto(300), one('0', '1', '2', '31', '100n', '1000', '2 ** 40', '2 ** 53 - 1'));
const rank = one('0', '0', '0', '1', '2', '3n');
const worldSize = one('1', '1', '2', '3', '4', '8n');
const sizes = numbers(60, 12);
const flag = one('true', 'false');
const batchSize = one('1', '2', '3', '4', '8', '32', '33n');
const orderName = name(...ORDERS);
const step = upto(9);
const sample = upto(60);
const few = upto(5);

/** Orders, possibly composed. */
const { order } = fc.letrec((tie) => {
  const size = fc.oneof(upto(90), tie('order'));
  const source = fc.tuple(size, upto(9)).map(([of, weight]) => `[${of}, ${weight}]`);
  const sources = fc.array(source, { minLength: 1, maxLength: 3 });
  return {
    sources: sources.map((own) => `{ ${own.map((each, i) => `${'abc'[i]}: ${each}`).join(', ')} }`),
    order: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      upto(200).map((count) => `samedeal.order('feistel', { samples: ${count}, seed: 1 })`),
      fc.tuple(orderName, upto(99)).map(([own, count]) => `samedeal.order(${own}, { samples: ${count} })`),
      sizes.map((own) => `samedeal.sharded(${own}, { lanes: 2 })`),
      one('@Order'),
      fc
        .tuple(tie('sources'), upto(300))
        .map(([own, count]) => `samedeal.blend(${own}, { samples: ${count}, seed: 2 })`),
      fc.tuple(tie('sources')).map(([own]) => `samedeal.blend(${own}, { exact: true })`),
      one('samedeal.grown(9, [{ epoch: 0, consumed: 3, samples: 20 }])'),
      fc.tuple(sizes, upto(9)).map(([own, length]) => `samedeal.windows(${own}, ${length})`),
      numbers(2, 30).map((own) => `samedeal.balance(${own}, [1, 2.5, 0.25])`),
      numbers(9, 30).map((own) => `samedeal.weighted(${own}, { samples: 12, seed: 3 })`),
      fc.tuple(tie('order'), upto(4)).map(([own, count]) => `${own}.copies(${count})`),
      fc.tuple(tie('order'), ascending(40)).map(([own, list]) => `${own}.exclude(${list})`),
      fc.tuple(tie('order'), ascending(40)).map(([own, list]) => `${own}.subset(${list})`),
      fc.tuple(tie('order'), upto(9)).map(([own, at]) => `${own}.skip([{ epoch: 0, start: ${at}, count: 2 }])`),
    ),
  };
});
const sources = fc
  .array(fc.tuple(fc.oneof(upto(90), order), upto(9)), { minLength: 1, maxLength: 3 })
  .map((own) => `{ ${own.map(([of, weight], i) => `${'abc'[i]}: [${of}, ${weight}]`).join(', ')} }`);
const weights = one('[1, 2]', '[1]', '{ a: 1, b: 2 }', "new Map([['a', 3]])", '{ a: 0 }', '[3, 0, 1]');

const mutation = fc.oneof(fc.constant(undefined), fc.nat(1e6));
const maybe = (text, seed) => (seed === undefined ? text : `h.mutated(${text}, ${seed})`);
const stateOf = (...kinds) =>
  fc.tuple(fc.constantFrom(...kinds), few, mutation).map(([own, at, seed]) => maybe(`@${own}.state(${at})`, seed));
const state = (own) =>
  fc.oneof(
    { weight: 5, arbitrary: stateOf(own) },
    { weight: 1, arbitrary: stateOf('Sampler', 'Batcher', 'Reading', 'Schedule') },
  );
const recipe = (own, ...texts) =>
  fc
    .tuple(
      fc.constantFrom(`@${own}.recipe`, '@Sampler.recipe', ...texts.map((each) => `JSON.stringify(${each})`)),
      mutation,
    )
    .map(([text, seed]) => maybe(text, seed));
const json = (own) =>
  fc.tuple(fc.constant(own), mutation).map(([kind, seed]) => `h.parsed(${maybe(`JSON.stringify(@${kind})`, seed)})`);

const DEAL = {
  ...{ seed, epoch, rank, worldSize, remainder: name('pad', 'drop', 'uneven') },
  ...{ layout: name('strided', 'contiguous', 'rotated'), unit: one('1', '2', '3'), consumed: one('0', '0', '3') },
};
const lists = one('{}', '{ indices: [1, 2] }', "{ 'of/sizes': [3, 4] }", '@Order.lists');
const SEQUENCES = {
  ...{ seed, epoch, rank, worldSize, strategy: name('budget', 'bucket', 'pack', 'pad-to-max') },
  ...{ counting: name('padded', 'unpadded', 'weighted'), linear: few, quadratic: few, maxBatchSize: batchSize },
  ...{ maxLength: one('60', '500'), maxTokens: one('100', '512', '5000'), maxCost: one('1000', '100000') },
  ...{ batchSizeMultiple: one('1', '2', '8'), capacity: one('64', '512'), packing: name('fast', 'optimal') },
  ...{ bucketWidth: one('1', '5', '64'), boundaries: ascending(60), batchWindow: one('0', '1', '8', '64', '8192') },
  ...{ separateBuckets: flag, padToBucket: flag, meanLength: one('1', '30', '500'), keepOrder: flag },
  ...{
    tooLong: name('error', 'truncate', 'drop', 'split', 'single'),
    tail: name('even-split', 'drop', 'keep', 'duplicate'),
  },
};
const lengths = fc.oneof(numbers(60, 60), numbers(500, 200), one('{ a: [1, 2], b: [3] }', "new Map([['a', [3, 4]]])"));
const SHARDS = {
  ...{
    bytes: sizes,
    worldSize,
    workers: one('1', '2', '3'),
    policy: name('round-robin', 'size-aware', 'locality-aware'),
  },
  ...{ workerPolicy: name('round-robin', 'size-aware'), balanceBy: name('samples', 'bytes'), tolerance: upto(2000) },
  ...{ holders: one('[[0], [1], [0, 1]]', '[[0]]', '[]'), rankNodes: one('[0]', '[0, 1]'), shuffle: flag },
  ...{ shuffleRows: flag, reshuffle: flag, seed, epoch },
};
const READING = {
  ...{
    seed,
    deal: name('samples', 'shards'),
    shuffle: flag,
    lanes: one('1', '2', '64'),
    shuffleWindow: one('1', '4', '256'),
  },
  ...{ remainder: DEAL.remainder, shuffleRows: flag, reshuffle: flag, policy: SHARDS.policy },
  ...{
    workerPolicy: SHARDS.workerPolicy,
    balanceBy: SHARDS.balanceBy,
    bytes: sizes,
    worldSize,
    workers: SHARDS.workers,
  },
  ...{ batchSize, dropLast: flag },
};
const cut = options({ dropLast: flag });
const COLLATE = {
  offsets: one('[0, 1, 2]', '[0]', 'new Uint32Array([0, 2, 3])'),
  paddingValue: one('0', '-1', '1.5', '7n'),
};
const sequences = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('Int32Array', 'Float32Array', 'BigInt64Array', 'Uint8Array'),
      fc.array(fc.nat(7), { maxLength: 5 }),
    )
    .map(([type, own]) => `[${own.map((count) => `new ${type}(${count})`).join(', ')}]`),
  one('new Int32Array(3)', '[]', 'new BigInt64Array(2)', 'new Uint8Array(0)'),
);
const parts = one('{ test: 1, training: 9 }', '{ a: 3, b: 4 }', "new Map([['a', 1]])", '{}', '{ é: 0 }');
const part = one('0', '1', "'training'", "'test'", "'a'");
const ids = numbers(999);
const batchSizes = one('4', '8', '24', '[[0, 4], [3, 8]]', '[[0, 24]]', '[]', '[{ from: 0, globalBatchSize: 4 }]');
const reader = one('0', '0', '1');
const files = one(
  'folder.rows',
  '[folder.rows]',
  'folder.file',
  "folder.rows + '/none'",
  'new Blob([])',
  "'file:///none'",
);
const READ = {
  ...{
    rank,
    worldSize,
    worker: reader,
    epoch,
    state: state('Reading'),
    columns: one("['row']", "['row', 'text']", '[]'),
    format: name('parquet', 'jsonl', 'arrow'),
  },
  ...{ sampleColumn: one("'sample'", "'row'"), paddingColumn: one("'padding'"), progress: one('() => 1', 'h.raise') },
  ...{
    signal: one('AbortSignal.abort()', 'new AbortController().signal'),
    workers: SHARDS.workers,
    seed,
    deal: READING.deal,
  },
  ...{ shuffle: flag, lanes: READING.lanes, shuffleWindow: READING.shuffleWindow, remainder: DEAL.remainder },
  ...{
    policy: SHARDS.policy,
    workerPolicy: SHARDS.workerPolicy,
    balanceBy: SHARDS.balanceBy,
    shuffleRows: flag,
    reshuffle: flag,
  },
};

/** The parameters of each call. The first `required` of them are always passed. */
const call = (required, ...parameters) => ({ required, parameters });

export const CALLS = {
  'new Sampler': call(1, fc.oneof(samples, order), options({ ...DEAL, order: orderName })),
  'Sampler.fromJSON': call(1, json('Sampler')),
  'Sampler.sharded': call(1, sizes, options({ ...DEAL, lanes: READING.lanes, shuffleWindow: READING.shuffleWindow })),
  'Sampler.fromRecipe': call(
    1,
    recipe(
      'Sampler',
      '{ order: { samples: 10 }, deal: { world_size: 2 } }',
      "{ order: { name: 'sharded', sizes: [3, 4] } }",
    ),
    options({ sizes, lists, rank, epoch, consumed: DEAL.consumed }),
  ),
  'Sampler.fromState': call(1, state('Sampler'), options({ ...DEAL, sizes, lists })),
  'Sampler#indices': call(0, few, upto(20)),
  'Sampler#numBatches': call(1, batchSize, cut),
  'Sampler#batch': call(2, few, batchSize, cut),
  'Sampler#step': call(2, few, batchSize, cut),
  'Sampler#batches': call(1, batchSize, options({ dropLast: flag, start: few })),
  'Sampler#setEpoch': call(1, epoch),
  'Sampler#setRank': call(1, rank),
  'Sampler#state': call(1, few),
  'Sampler#resume': call(1, state('Sampler')),
  'Sampler#sampleAt': call(1, sample),
  'Sampler#locate': call(2, sample, batchSize),
  'Sampler#locateAll': call(2, numbers(60), batchSize),
  'Sampler#locateFrom': call(3, sample, upto(90), batchSize),
  'Sampler#fate': call(3, sample, batchSize, upto(90)),
  'Sampler#shortEpochs': call(3, epoch, few, upto(300)),
  'Sampler#placeOf': call(2, sample, batchSize),
  'Sampler#sourceCounts': call(0, few, upto(40)),
  'Sampler#sourceBounds': call(0),
  'Sampler#sourceOf': call(1, sample),
  'Sampler#round': call(1, few),
  'Sampler#shardOf': call(1, sample),
  'new ShardPlan': call(1, sizes, options(SHARDS)),
  'ShardPlan.fromRecipe': call(
    1,
    recipe('ShardPlan', '{ shards: { sizes: [40, 100] }, deal: { world_size: 2 } }'),
    options({
      sizes,
      bytes: sizes,
      holders: one('[0, 1]'),
      holderOffsets: one('[0, 1, 2]'),
      rankNodes: one('[0]'),
      epoch,
    }),
  ),
  'ShardPlan.fromJSON': call(1, json('ShardPlan')),
  'ShardPlan#setEpoch': call(1, epoch),
  'ShardPlan#numShards': call(1, rank, reader),
  'ShardPlan#shards': call(1, rank, reader),
  'ShardPlan#loads': call(1, name('ranks', 'workers')),
  'ShardPlan#loadSummary': call(1, name('ranks', 'workers'), name('samples', 'bytes')),
  'ShardPlan#rows': call(1, few, few, upto(9)),
  'ShardPlan#steps': call(1, batchSize, cut),
  'ShardPlan#configFingerprint': call(0),
  'ShardPlan#verify': call(0),
  'new Reading': call(1, fc.oneof(sizes, order), options(READING)),
  'Reading.fromRecipe': call(
    1,
    recipe('Reading', '{ order: { sizes: [40, 100] }, batch: { batch_size: 16 } }', '{ shards: { sizes: [4] } }'),
    options({ sizes, bytes: sizes, lists, epoch }),
  ),
  'Reading.fromJSON': call(1, json('Reading')),
  'Reading.fromState': call(1, state('Reading'), options({ ...READING, sizes, lists })),
  'Reading#mixingAdvice': call(0),
  'Reading#suggestedLanes': call(2, upto(3000), upto(70), numbers(300)),
  'Reading#atEpoch': call(1, epoch),
  'Reading#resume': call(1, state('Reading')),
  'Reading#state': call(1, step),
  'Reading#numSteps': call(1, rank),
  'Reading#steps': call(0),
  'Reading#batchAt': call(2, rank, step),
  'Reading#step': call(1, step),
  'Reading#numIdleReaders': call(0),
  'Reading#numSamples': call(1, rank, reader),
  'Reading#numPadding': call(1, rank, reader),
  'Reading#numBatches': call(1, rank, reader),
  'Reading#indices': call(1, rank, reader, few, upto(20)),
  'Reading#numRounds': call(1, rank, reader),
  'Reading#round': call(3, rank, reader, few),
  'Reading#rounds': call(1, rank, reader, few),
  'Reading#roundOf': call(3, rank, reader, sample),
  'Reading#roundRows': call(3, rank, reader, few, few, upto(9)),
  'Reading#shards': call(1, rank, reader),
  'new ChunkStream': call(
    2,
    reader,
    one('1', '2', '7'),
    options({ chunks: one('1', '5', '100', '2 ** 40'), order: orderName, seed, epoch }),
  ),
  'ChunkStream.fromRecipe': call(
    1,
    recipe('ChunkStream', '{ order: { chunks: 5 }, deal: { readers: 2 } }'),
    options({ reader, epoch }),
  ),
  'ChunkStream.fromJSON': call(1, json('ChunkStream')),
  'ChunkStream#chunks': call(2, one('0', '1', '1000', '2 ** 50'), upto(40)),
  'new Split': call(1, parts, options({ seed })),
  'Split.ofSizes': call(1, parts, options({ seed })),
  'Split.folds': call(1, one('1', '2', '5', '100'), options({ seed })),
  'Split.fromRecipe': call(1, recipe('Split', "{ split: { parts: [{ name: 'a', weight: 1 }] } }")),
  'Split.fromJSON': call(1, json('Split')),
  'Split#partOf': call(1, ids),
  'Split#partOfKeys': call(1, one("['anna', 'boris']", '[]', "['\\ud800', '']", "Array(99).fill('a')")),
  'Split#indicesOfKeys': call(2, part, one("['anna', 'boris']", '[]', "['\\ud800', '']", "Array(99).fill('a')")),
  'Split#among': call(
    1,
    one("['a', 'b', 'a']", '[1, 2, 3n]', '[]', "[1, 'x']", 'new Float64Array(9)'),
    one("'rest'", "'a'"),
  ),
  'Split#nameOf': call(1, one('0', "'anna'", '2 ** 40')),
  'Split#indices': call(1, part, upto(2000)),
  'Split#others': call(1, part, upto(2000)),
  verifyShards: call(2, upto(9), one('[[0, 1], [2]]', '[]', '[[0], [0]]', '[new Uint32Array([1])]')),
  openLedger: call(
    3,
    one('@Sampler'),
    one('@MemoryLog', 'new samedeal.MemoryLog()'),
    options(
      {
        reader,
        blockSize: one('1', '3', '1024'),
        leaseMs: one('1', '60000'),
        checkpointInterval: one('1', '2', '4096'),
      },
      ['reader'],
    ),
  ),
  'Ledger#tryClaim': call(0),
  'Ledger#claim': call(0),
  'Ledger#progress': call(0),
  'Ledger#leaseMs': call(0),
  'Ledger#setLease': call(1, one('1', '1000', '60000n')),
  'Claim#samples': call(0, few, few),
  'Claim#commit': call(0, few),
  'Claim#renew': call(0),
  'Claim#release': call(0),
  'new MemoryLog': call(0),
  'MemoryLog#read': call(1, few),
  'MemoryLog#append': call(
    2,
    few,
    fc.oneof(
      one("'x'", "''"),
      fc.nat(1e6).map((own) => `h.mutated(@MemoryLog.entries[0], ${own})`),
    ),
  ),
  'MemoryLog#lastCheckpoint': call(0),
  replayLedger: call(
    1,
    one(
      '@MemoryLog.entries',
      "''",
      "@MemoryLog.entries.join('\\n')",
      "['x']",
      'Buffer.from(@MemoryLog.entries.join())',
    ),
    options({ reader, readers: one('1', '2', '7') }),
  ),
  'LedgerReplay#samples': call(1, one('@Sampler')),
  'LedgerReplay#progress': call(0),
  'LedgerReplay#nextEvent': call(0),
  'new Batcher': call(
    1,
    lengths,
    options({ ...SEQUENCES, order: fc.oneof(orderName, order), quantiles: one('1', '4') }),
  ),
  'Batcher.fromJSON': call(1, json('Batcher'), lengths),
  'Batcher.fromRecipe': call(
    1,
    recipe(
      'Batcher',
      '{ batch: { max_tokens: 12 } }',
      "{ batch: { strategy: 'pack', capacity: 64, lengths: [3, 4] } }",
    ),
    lengths,
    options({ rank, epoch, state: state('Batcher'), boundaries: ascending(60), sizes, lists }),
  ),
  'Batcher.fromState': call(
    1,
    state('Batcher'),
    lengths,
    options({ rank, worldSize, boundaries: ascending(60), sizes, lists }),
  ),
  'Batcher#setEpoch': call(1, epoch),
  'Batcher#state': call(1, few),
  'Batcher#resume': call(1, state('Batcher'), options({ replan: flag })),
  'Batcher#numSteps': call(0),
  'Batcher#index': call(2, few, few),
  'Batcher#useIndex': call(1, one('""', "'{}'")),
  'Batcher#shapes': call(0, options({ filled: flag })),
  'Batcher#withLengths': call(1, one('(own) => own.batch(0)', '3')),
  'Batcher#metrics': call(0),
  'Batcher#batch': call(1, few, rank),
  'Batcher#step': call(1, few),
  'Batcher#batches': call(0, few, rank),
  'Batcher#locate': call(1, few),
  'Batcher#locateAll': call(1, numbers(9)),
  'new BatchStream': call(1, options(SEQUENCES)),
  'BatchStream.fromRecipe': call(
    1,
    recipe('BatchStream', '{ batch: { max_tokens: 12 } }'),
    options({ rank, epoch, boundaries: ascending(60) }),
  ),
  'BatchStream.fromJSON': call(1, json('BatchStream')),
  'BatchStream#push': call(
    2,
    one('[1, 2, 3]', '[]', 'new Uint32Array([4, 5, 6])'),
    one('[4, 5, 60]', '[]', '[1, 1, 1]'),
  ),
  'BatchStream#flush': call(0),
  'BatchStream#take': call(0),
  'BatchStream#metrics': call(0),
  'new Schedule': call(
    2,
    fc.oneof(samples, order),
    batchSizes,
    options({
      seed,
      order: orderName,
      worldSize,
      rank,
      layout: DEAL.layout,
      unit: DEAL.unit,
      epochs: one('1', '2', '9'),
    }),
  ),
  'Schedule.fromRecipe': call(
    1,
    recipe('Schedule', '{ order: { samples: 10 }, steps: { global_batch_size: 4 } }'),
    options({ rank, lists }),
  ),
  'Schedule.fromState': call(
    1,
    state('Schedule'),
    options({ rank, worldSize, layout: DEAL.layout, unit: DEAL.unit, lists }),
  ),
  'Schedule.fromJSON': call(1, json('Schedule')),
  'Schedule#globalBatchSize': call(1, step),
  'Schedule#samplesConsumed': call(1, step),
  'Schedule#placeOf': call(1, step),
  'Schedule#stepOfConsumed': call(1, sample),
  'Schedule#stepOf': call(2, few, few),
  'Schedule#indices': call(1, few, few),
  'Schedule#batch': call(1, step),
  'Schedule#step': call(1, step),
  'Schedule#batches': call(0, few, step),
  'Schedule#locate': call(1, sample, few),
  'Schedule#locateAll': call(1, numbers(60), few),
  'Schedule#state': call(1, step),
  'Schedule#resume': call(1, state('Schedule')),
  'Schedule#atRank': call(1, rank),
  collatePad: call(
    1,
    sequences,
    options({ ...COLLATE, side: name('left', 'right'), padToMultipleOf: one('1', '8'), width: upto(9) }),
  ),
  collatePack: call(1, sequences, options({ ...COLLATE, rowEnds: one('[1, 2]', '[]'), width: upto(20) })),
  'new Mesh': call(
    3,
    one('8', '8', '1'),
    one('{ dp: 2, tp: 4 }', '{ dp: 8 }', '{}'),
    one("['dp']", '[]', "['dp', 'tp']"),
  ),
  'Mesh.fromJSON': call(1, json('Mesh')),
  'Mesh#dataRank': call(1, upto(7)),
  'Mesh#coordinates': call(1, upto(7)),
  'Mesh#rankAt': call(1, one('{ dp: 1, tp: 3 }', '{ dp: 0 }', '{}')),
  'Mesh#peers': call(1, upto(7)),
  detectRank: call(
    0,
    options({
      rank,
      worldSize,
      environment: one('{}', "{ RANK: '1', WORLD_SIZE: '2' }", "{ RANK: 'x' }", '{ RANK: 3 }'),
    }),
  ),
  plainOrders: call(0),
  joinIndices: call(1, one('[]', "['']", "['{}', '{}']")),
  differences: call(2, fc.oneof(state('Sampler'), state('Reading')), fc.oneof(state('Sampler'), one("'{}'", "'[]'"))),
  wholeWeights: call(1, fc.oneof(fc.constant('new Float64Array([0.7, 0.3])'), fc.constant('[1.5, 0, 1e-9]'))),
  inspect: call(1, fc.oneof(state('Reading'), recipe('Split', '{ split: { parts: [{ name: "a", weight: 1 }] } }'))),
  order: call(2, orderName, options({ samples, seed }, ['samples'])),
  sharded: call(1, sizes, options({ lanes: READING.lanes, shuffleWindow: READING.shuffleWindow, seed })),
  blend: call(
    1,
    sources,
    options({
      ...{
        seed,
        samples: upto(400),
        exact: flag,
        exhaustion: name('repeat', 'stop', 'renormalize', 'fail'),
        maxPasses: few,
      },
      ...{
        runLength: few,
        byLane: flag,
        indexSpace: name('joined', 'shared'),
        stages: weights.map((own) => `[{ from: 9, weights: ${own} }]`),
      },
    }),
  ),
  grown: call(2, upto(50), one('[]', '[{ epoch: 0, consumed: 4, samples: 60 }]'), options({ seed })),
  windows: call(2, sizes, few, options({ stride: few, seed })),
  balance: call(2, numbers(2), one('[1, 2.5, 0.25]', '[1]', 'new Float64Array([1, 2, 3])'), options({ seed })),
  weighted: call(1, numbers(9), options({ samples: upto(60), replacement: flag, seed })),
  'Order#exclude': call(1, ascending(50)),
  'Order#subset': call(1, ascending(50)),
  'Order#skip': call(1, one('[]', '[{ epoch: 0, start: 1, count: 2 }]', '[{ epoch: 0 }]')),
  'Order#copies': call(1, few),
  'Order#stage': call(2, upto(99), weights),
  'Order#grow': call(3, few, few, upto(400)),
  findShards: call(1, files, options({ columns: READ.columns, signal: READ.signal, format: READ.format })),
  jsonLines: call(0, one('{ row: "int64", text: ["string"] }', '{ row: "int" }', '{}')),
  readBatches: call(
    3,
    one('@ShardFiles'),
    one('@Reading', 'new samedeal.Reading([5, 40])'),
    options(
      { rank, worker: reader, sampleColumn: READ.sampleColumn, paddingColumn: READ.paddingColumn, signal: READ.signal },
      ['rank'],
    ),
  ),
  readRows: call(
    2,
    one('@ShardFiles'),
    numbers(44, 9),
    options({ sampleColumn: READ.sampleColumn, signal: READ.signal }),
  ),
  readShards: call(1, files, options({ ...READ, batchSize, dropLast: flag })),
};
/** Methods without parameters, which many classes have. */
for (const own of [
  'Sampler',
  'ShardPlan',
  'Reading',
  'Split',
  'Batcher',
  'BatchStream',
  'Schedule',
  'Mesh',
  'ChunkStream',
  'Order',
]) {
  CALLS[`${own}#toString`] = call(0);
  CALLS[`${own}#toJSON`] = call(0);
}
for (const own of ['Sampler', 'ShardPlan', 'Reading', 'Split', 'Batcher', 'BatchStream', 'Schedule']) {
  CALLS[`${own}#recipeFingerprint`] = call(0);
}
for (const own of [
  'Sampler',
  'ShardPlan',
  'Reading',
  'Split',
  'Batcher',
  'BatchStream',
  'Schedule',
  'Mesh',
  'ChunkStream',
  'Ledger',
]) {
  CALLS[`${own}#dispose`] = call(0);
}
CALLS['SamedealError#toJSON'] = call(0);
CALLS['Sampler#configFingerprint'] = call(0);
for (const own of ['Sampler', 'Batcher']) CALLS[`${own}#fingerprint`] = call(0);

/** For each class: the text of an object that can always be made. */
export const RECEIVERS = {
  Sampler: 'new samedeal.Sampler(50, { seed: 3, worldSize: 4 })',
  ShardPlan: 'new samedeal.ShardPlan([3, 0, 4, 9], { worldSize: 2 })',
  Reading: 'new samedeal.Reading([40, 0, 100], { worldSize: 2, workers: 2, batchSize: 16 })',
  ChunkStream: 'new samedeal.ChunkStream(0, 2, { chunks: 9 })',
  Split: 'new samedeal.Split({ test: 1, training: 9 }, { seed: 7 })',
  Batcher: 'new samedeal.Batcher([3, 4, 5, 9, 1, 7, 7, 2], { maxTokens: 20, worldSize: 2 })',
  BatchStream: 'new samedeal.BatchStream({ maxTokens: 64, batchWindow: 4 })',
  Schedule: 'new samedeal.Schedule(10, [[0, 4], [3, 8]], { seed: 42, worldSize: 2 })',
  Mesh: "new samedeal.Mesh(8, { dp: 2, tp: 4 }, ['dp'])",
  Order: "samedeal.order('feistel', { samples: 50, seed: 1 })",
  MemoryLog: 'new samedeal.MemoryLog()',
  Ledger: 'samedeal.openLedger(new samedeal.Sampler(9), new samedeal.MemoryLog(), { reader: 0, blockSize: 3 })',
  Claim: 'h.claim(samedeal)',
  LedgerReplay: 'h.replayed(samedeal)',
  ShardFiles: 'parquet.findShards(folder.rows)',
  SamedealError: 'h.error(() => new samedeal.Sampler(-1))',
};
