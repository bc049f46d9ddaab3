// What golden cases can be of: how each is made, and what its calls are in JavaScript. `raw` is the engine itself, `own` the
// class that users see, wherever that can say the same.
import { BatcherRecipe, BatchStreamRecipe } from '../../hosts/js/dist/batch-recipe.js';
import { batchStreamOf } from '../../hosts/js/dist/batch-stream.js';
import { batcherOf } from '../../hosts/js/dist/batcher.js';
import { packWith, padWith } from '../../hosts/js/dist/collate.js';
import { SamplerRecipe } from '../../hosts/js/dist/config.js';
import { detectWith } from '../../hosts/js/dist/launch.js';
import { AppliedLog, headerWith, LedgerRecipe } from '../../hosts/js/dist/ledger-applied.js';
import { MeshRecipe, meshOf } from '../../hosts/js/dist/mesh.js';
import { shardPlanOf } from '../../hosts/js/dist/plan.js';
import { PlanRecipe } from '../../hosts/js/dist/plan-recipe.js';
import { readingOf } from '../../hosts/js/dist/read/reading.js';
import { ReadingRecipe } from '../../hosts/js/dist/read/recipe.js';
import { samplerOf } from '../../hosts/js/dist/sampler.js';
import { chunkStreamOf, StreamRecipe } from '../../hosts/js/dist/stream.js';
import { verifyWith } from '../../hosts/js/dist/verify.js';

const u64s = (values) => BigUint64Array.from(values, BigInt);
/** Numbers of 64 bits are strings in the cases. */
export const wide = (args) =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : value,
    ]),
  );

/** What is not there is null in the cases. */
const present = (options) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));

/** What offsets and values say, if they fit together. */
function lists(offsets, values) {
  const fit =
    offsets[0] === 0 && offsets.at(-1) === values.length && offsets.every((to, i) => i === 0 || to >= offsets[i - 1]);
  return fit ? offsets.slice(1).map((end, i) => values.slice(offsets[i], end)) : undefined;
}

/** Keys as JavaScript writes them. */
const camel = (fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()), value]),
  );

/** The options of a reading, by the names that JavaScript has for them. */
function readOptions({ 'world-size': world, bytes, ...others } = {}) {
  return { ...camel(wide(others)), ...(world !== undefined && { world }), ...(bytes && { bytes: u64s(bytes) }) };
}

/** The configuration of batches as the engine takes it. */
function rawBatches({ lengths, buckets, window, history, ...others }) {
  const [[tag, value]] = Object.entries(buckets ?? { none: 0 });
  const val = Array.isArray(value) ? Uint32Array.from(value) : value;
  const lists = { lengths: Uint32Array.from(lengths), history: history.map(wide) };
  const given = { buckets: buckets ? { tag, val } : undefined, window: window ?? undefined };
  return { ...camel(wide(others)), ...lists, ...given };
}

/** The same as the options of a class. */
const batchOptions = ({ lengths, buckets, window, history, ...others }) => ({
  ...camel(wide(others)),
  ...camel(buckets ?? {}),
  window: window ?? undefined,
});

/** What a class makes; nothing where a case has options that its strategy does not use, which classes refuse. */
function unlessUnused(make) {
  try {
    return make();
  } catch (error) {
    if (error.allowed?.startsWith('none with strategy')) return undefined;
    throw error;
  }
}

/** Batches end to end. */
function run(batches) {
  const ends = (counts) => {
    let sum = 0;
    return counts.map((count) => {
      sum += count;
      return sum;
    });
  };
  const all = (field) => batches.map((batch) => batch[field]);
  const flat = (field) => all(field).flatMap((list) => [...list]);
  const rows = all('rowEnds').flatMap((list) => Array.from(list, (end, i) => end - (list[i - 1] ?? 0)));
  return {
    samples: flat('samples'),
    starts: flat('starts'),
    lengths: flat('lengths'),
    rowEnds: ends(rows),
    batchEnds: ends(all('rowEnds').map(({ length }) => length)),
    paddedLengths: all('paddedLength'),
    costs: all('cost'),
    repeated: all('repeated'),
  };
}

/** So many tokens, each of which tells which it is, and where sequences of these lengths begin in them. */
function tokens(lengths) {
  const offsets = [0];
  for (const length of lengths) offsets.push(offsets.at(-1) + length);
  return [Uint32Array.from({ length: offsets.at(-1) }, (_, i) => i), { offsets, paddingValue: 2 ** 32 - 1 }];
}

/** As much as a page likes to hold. */
const few = ({ lengths }) => lengths.reduce((sum, length) => sum + length, 0) <= 2 ** 20;

/** What a reader is told that claims, as the cases have it. */
const proposal = ({ tag, val }) => (val === undefined ? tag : { [tag]: val });

const sampler = {
  engine: 'dealing',
  raw: {
    config: (raw) => raw.config(),
    'set-epoch': (raw, { epoch }) => raw.setEpoch(epoch),
    'set-rank': (raw, { rank }) => raw.setRank(rank),
    state: (raw, { taken }) => raw.state(taken),
    resume: (raw, { state }) => raw.resume(state),
    'num-samples': (raw) => raw.numSamples(),
    'num-padding': (raw) => raw.numPadding(),
    'num-positions': (raw) => raw.numPositions(),
    'num-dropped': (raw) => raw.numDropped(),
    indices: (raw, { start, count }) => raw.indices(start, count),
    indices32: (raw, { start, count }) => raw.indices32(start, count),
    'num-batches': (raw, args) => raw.numBatches(args['batch-size'], args['drop-last']),
    batch: (raw, args) => raw.batch(args.batch, args['batch-size'], args['drop-last']),
    batch32: (raw, args) => raw.batch32(args.batch, args['batch-size'], args['drop-last']),
    'sample-at': (raw, { position }) => raw.sampleAt(position),
    locate: (raw, args) => raw.locate(args.sample, args['batch-size']),
    'place-of': (raw, args) => raw.placeOf(args.position, args['batch-size']),
    fingerprint: (raw) => raw.fingerprint(),
    'config-fingerprint': (raw) => raw.configFingerprint(),
    'num-rounds': (raw) => raw.numRounds(),
    round: (raw, { number }) => raw.round(number),
    'shard-of': (raw, { sample }) => raw.shardOf(sample),
  },
  own: {
    config(own) {
      const { sharding, ...config } = own.toJSON();
      return config;
    },
    'set-epoch': (own, { epoch }) => own.setEpoch(epoch),
    'set-rank': (own, { rank }) => own.setRank(rank),
    state: (own, { taken }) => own.state(taken),
    resume: (own, { state }) => own.resume(state),
    'num-samples': (own) => own.length,
    'num-padding': (own) => own.numPadding,
    'num-positions': (own) => own.numPositions,
    'num-dropped': (own) => own.numDropped,
    indices: (own, { start, count }) => own.indices(start, start + BigInt(count)),
    indices32: (own, { start, count }) => own.indices(start, start + BigInt(count)),
    'num-batches': (own, args) => own.numBatches(args['batch-size'], { dropLast: args['drop-last'] }),
    batch: (own, args) => own.batch(args.batch, args['batch-size'], { dropLast: args['drop-last'] }),
    batch32: (own, args) => own.batch(args.batch, args['batch-size'], { dropLast: args['drop-last'] }),
    'sample-at': (own, { position }) => own.sampleAt(position),
    locate: (own, args) => own.locate(args.sample, args['batch-size']),
    'place-of': (own, args) => own.placeOf(args.position, args['batch-size']),
    fingerprint: (own) => own.fingerprint(),
    'config-fingerprint': (own) => own.configFingerprint(),
    'num-rounds': (own) => own.numRounds,
    round: (own, { number }) => own.round(number),
    'shard-of': (own, { sample }) => own.shardOf(sample),
  },
  // No window in 32 bits could fail there, and a run has an end in place of a count.
  rawFailures: ['indices', 'indices32', 'batch32'],
};

/** By the key of a case. */
export const kinds = {
  config: {
    ...sampler,
    recipe: (config) => new SamplerRecipe(wide(config)),
    make: (engine, config) => samplerOf(() => engine).fromJSON(config),
  },
  sharded: {
    ...sampler,
    recipe: ({ config, sharding }) => new SamplerRecipe(wide(config), { ...sharding, sizes: u64s(sharding.sizes) }),
    make(engine, { config, sharding }) {
      const Sampler = samplerOf(() => engine);
      const { samples, order, ...options } = wide(config);
      const { sizes, ...others } = sharding;
      const total = u64s(sizes).reduce((sum, size) => sum + size, 0n);
      if (order !== 'sharded' || samples !== total) return Sampler.fromJSON({ ...config, sharding });
      return Sampler.sharded(u64s(sizes), { ...options, ...others });
    },
  },
  plan: {
    engine: 'planning',
    recipe({ sizes, bytes, locality, 'worker-policy': workerPolicy, ...others }) {
      const places = locality && {
        holderOffsets: Uint32Array.from(locality['holder-offsets']),
        holders: Uint32Array.from(locality.holders),
        rankNodes: Uint32Array.from(locality['rank-nodes']),
        tolerance: locality.tolerance,
      };
      const given = { ...wide(others), sizes: u64s(sizes), bytes: u64s(bytes), workerPolicy };
      return new PlanRecipe({ ...given, ...(places && { locality: places }) });
    },
    make(engine, { sizes, bytes, locality, 'worker-policy': workerPolicy, ...others }) {
      const ShardPlan = shardPlanOf(() => engine);
      const holders = locality && lists(locality['holder-offsets'], locality.holders);
      if (locality && !holders) return undefined;
      const places = locality && { holders, rankNodes: locality['rank-nodes'], tolerance: locality.tolerance };
      return new ShardPlan(sizes.map(BigInt), { ...wide(others), bytes: u64s(bytes), workerPolicy, ...places });
    },
    raw: {
      'set-epoch': (raw, { epoch }) => raw.setEpoch(epoch),
      'num-shards': (raw, { rank, worker }) => raw.numShards(rank, worker),
      shards: (raw, { rank, worker, start, count }) => raw.shards(rank, worker, start, count),
      loads: (raw, { tier, start, count }) => raw.loads(tier, start, count),
      balance: (raw, { tier, weight }) => raw.balance(tier, weight),
      imbalance: (raw, { tier, weight }) => raw.imbalance(tier, weight),
      rows: (raw, { shard, start, count }) => raw.rows(shard, start, count),
      steps: (raw, args) => raw.steps(args['batch-size'], args['drop-last']),
      'config-fingerprint': (raw) => raw.configFingerprint(),
    },
    own: {
      'set-epoch': (own, { epoch }) => own.setEpoch(epoch),
      'num-shards': (own, { rank, worker }) => own.numShards(rank, worker),
      shards: (own, { rank, worker, start, count }) => own.shards(rank, worker).subarray(start, start + count),
      loads(own, { tier, start, count }) {
        const { shards, samples, bytes, local } = own.loads(tier);
        const members = Array.from(shards, (_, i) => [shards[i], samples[i], bytes[i], local[i]]);
        return members.slice(start, start + count).flat();
      },
      balance(own, { tier, weight }) {
        const { imbalance, ...others } = own.balance(tier, weight);
        return others;
      },
      rows: (own, { shard, start, count }) => own.rows(shard, start, start + BigInt(count)),
      steps(own, args) {
        const { equal, ...others } = own.steps(args['batch-size'], { dropLast: args['drop-last'] });
        return others;
      },
      'config-fingerprint': (own) => own.configFingerprint(),
    },
    // These are whole there.
    rawFailures: ['shards', 'loads', 'rows'],
  },
  'chunk-stream': {
    engine: 'planning',
    recipe: (config) => new StreamRecipe(present(wide(config))),
    make(engine, { reader, readers, ...options }) {
      const ChunkStream = chunkStreamOf(() => engine);
      return new ChunkStream(reader, readers, present(wide(options)));
    },
    raw: { chunks: (raw, { start, count }) => raw.chunks(start, count) },
    own: { chunks: (own, { start, count }) => own.chunks(start, count) },
    rawFailures: [],
  },
  ledger: {
    engine: 'planning',
    recipe: ({ header }) => new LedgerRecipe(header),
    make: (engine, { header }) => new AppliedLog(engine, header),
    raw: {
      apply: (raw, { entry, now }) => raw.apply(entry, now),
      claim: (raw, { reader, now }) => proposal(raw.claim(reader, now)),
      commit: (raw, { claim, done }) => raw.commit(claim, done),
      release: (raw, { claim }) => raw.release(claim),
      'held-by': (raw, { reader }) => raw.heldBy(reader),
      progress: (raw) => raw.progress(),
      'initial-state': (raw) => raw.initialState(),
    },
    own: {
      apply: (own, { entry, now }) => own.apply(entry, now),
      claim: (own, { reader, now }) => proposal(own.claim(reader, now)),
      commit: (own, { claim, done }) => own.commit(claim, done),
      release: (own, { claim }) => own.release(claim),
      'held-by': (own, { reader }) => own.heldBy(reader).flat(),
      progress(own) {
        const { finished, ...others } = own.progress();
        return others;
      },
      'initial-state': (own) => own.initialState(),
    },
    rawFailures: [],
  },
  reading: {
    engine: 'planning',
    recipe: ({ sizes, options }) => new ReadingRecipe(u64s(sizes), readOptions(options)),
    make(engine, { sizes, options }) {
      const Reading = readingOf(() => engine);
      return new Reading(sizes.map(BigInt), readOptions(options));
    },
    // A state may be digits alone.
    raw: {
      'at-epoch': (raw, { epoch }) => raw.atEpoch(epoch),
      resume: (raw, { state }) => raw.resume(String(state)),
      state: (raw, { steps }) => raw.state(steps),
      recipe: (raw) => raw.recipe(),
      'reads-per-row': (raw) => raw.readsPerRow(),
      'lanes-read-once': (raw) => raw.lanesReadOnce(),
      'mixing-advice': (raw) => raw.mixingAdvice(),
      epoch: (raw) => raw.epoch(),
      'is-rest': (raw) => raw.isRest(),
      'num-steps': (raw, { rank }) => raw.numSteps(rank),
      steps: (raw) => raw.steps(),
      'num-idle-readers': (raw) => raw.numIdleReaders(),
      'num-samples': (raw, { rank, worker }) => raw.numSamples(rank, worker),
      'num-padding': (raw, { rank, worker }) => raw.numPadding(rank, worker),
      'num-batches': (raw, { rank, worker }) => raw.numBatches(rank, worker),
      batch: (raw, { rank, worker, number }) => raw.batch(rank, worker, number),
      'batch-at': (raw, { rank, step }) => raw.batchAt(rank, step),
      indices: (raw, { rank, worker, start, count }) => raw.indices(rank, worker, start, count),
      'num-rounds': (raw, { rank, worker }) => raw.numRounds(rank, worker),
      round: (raw, { rank, worker, number }) => raw.round(rank, worker, number),
      'round-rows': (raw, { rank, worker, number, start, count }) => raw.roundRows(rank, worker, number, start, count),
      'round-of': (raw, { rank, worker, index }) => raw.roundOf(rank, worker, index),
      shards: (raw, { rank, worker }) => raw.shards(rank, worker),
    },
    own: {
      'at-epoch': (own, { epoch }) => own.atEpoch(epoch),
      resume: (own, { state }) => own.resume(String(state)),
      state: (own, { steps }) => own.state(steps),
      recipe: (own) => own.recipe,
      'reads-per-row': (own) => own.readsPerRow,
      epoch: (own) => own.epoch,
      'is-rest': (own) => own.isRest,
      'num-steps': (own, { rank }) => own.numSteps(rank),
      steps(own) {
        const { equal, ...others } = own.steps();
        return others;
      },
      'num-idle-readers': (own) => own.numIdleReaders(),
      'num-samples': (own, { rank, worker }) => own.numSamples(rank, worker),
      'num-padding': (own, { rank, worker }) => own.numPadding(rank, worker),
      indices: (own, { rank, worker, start, count }) => own.indices(rank, worker, start, start + BigInt(count)),
      'num-rounds': (own, { rank, worker }) => own.numRounds(rank, worker),
      round: (own, { rank, worker, number }) => own.round(rank, worker, number),
      'round-of': (own, { rank, worker, index }) => own.roundOf(rank, worker, index),
      shards: (own, { rank, worker }) => own.shards(rank, worker),
    },
    // A run has an end in place of a count.
    rawFailures: ['indices'],
    // These give another reading, which the calls after them are of.
    moves: ['at-epoch', 'resume'],
  },
  mesh: {
    engine: 'dealing',
    recipe: ({ world, axes }) => new MeshRecipe(world, axes),
    make(engine, { world, axes }) {
      const Mesh = meshOf(() => engine);
      const sizes = Object.fromEntries(axes.map(({ name, size }) => [name, size]));
      // An object has no two axes of one name, and puts numbers first.
      if (Object.keys(sizes).length < axes.length || axes.some(({ name }) => /^\d+$/.test(name))) return undefined;
      const dividing = axes.filter(({ role }) => role === 'divide');
      return new Mesh(
        world,
        sizes,
        dividing.map(({ name }) => name),
      );
    },
    raw: {
      'data-world': (raw) => raw.dataWorld(),
      'data-rank': (raw, { rank }) => raw.dataRank(rank),
      coordinates: (raw, { rank }) => raw.coordinates(rank),
      'rank-at': (raw, { coordinates }) => raw.rankAt(Uint32Array.from(coordinates)),
      peers: (raw, { rank }) => raw.peers(rank),
    },
    own: {
      'data-world': (own) => own.dataWorld,
      'data-rank': (own, { rank }) => own.dataRank(rank),
      coordinates: (own, { rank }) => Object.values(own.coordinates(rank)),
      'rank-at': (own, { coordinates }) =>
        own.rankAt(Object.fromEntries(Object.keys(own.axes).map((name, i) => [name, coordinates[i]]))),
      peers: (own, { rank }) => own.peers(rank),
    },
    // Another number of coordinates than axes.
    rawFailures: ['rank-at'],
  },
  batcher: {
    engine: 'batching',
    recipe: (config) => new BatcherRecipe(rawBatches(config)),
    make(engine, config) {
      const Batcher = batcherOf(() => engine);
      const options = { ...batchOptions(config), history: config.history.map(wide) };
      return unlessUnused(() => new Batcher(config.lengths, options));
    },
    raw: {
      'set-epoch': (raw, { epoch }) => raw.setEpoch(epoch),
      state: (raw, { taken }) => raw.state(taken),
      resume: (raw, { state }) => raw.resume(state),
      metrics: (raw) => raw.metrics(),
      ratio: (raw, { name }) => raw.ratio(name),
      take: (raw, { rank, start, count }) => raw.take(rank, start, count),
      locate: (raw, { sample }) => raw.locate(sample),
      fingerprint: (raw) => raw.fingerprint(),
    },
    own: {
      'set-epoch': (own, { epoch }) => own.setEpoch(epoch),
      state: (own, { taken }) => own.state(taken),
      resume: (own, { state }) => own.resume(state),
      metrics: (own) => own.metrics(),
      locate: (own, { sample }) => own.locate(sample),
      take(own, { rank, start, count }) {
        const pass = own.batches(start, rank);
        return run(Array.from({ length: count }, () => pass.next().value));
      },
      fingerprint: (own) => own.fingerprint(),
    },
    // A pass takes what there is.
    rawFailures: ['take'],
  },
  'batch-stream': {
    engine: 'batching',
    recipe: ({ config, rank }) => new BatchStreamRecipe(rawBatches(config), rank),
    make(engine, { config: { order, ...config }, rank }) {
      const BatchStream = batchStreamOf(() => engine);
      // It has its own order, no quantiles and no history.
      if (order !== 'sequential' || 'quantiles' in (config.buckets ?? {}) || config.history.length > 0)
        return undefined;
      return unlessUnused(() => new BatchStream({ ...batchOptions(config), rank }));
    },
    raw: {
      push: (raw, { samples, lengths }) => raw.push(u64s(samples), Uint32Array.from(lengths)),
      flush: (raw) => raw.flush(),
      take: (raw) => raw.take(),
      metrics: (raw) => raw.metrics(),
      ratio: (raw, { name }) => raw.ratio(name),
    },
    own: {
      push: (own, { samples, lengths }) => own.push(samples.map(BigInt), lengths),
      flush: (own) => own.flush(),
      take(own) {
        const batches = own.take();
        return batches.length > 0 ? run(batches) : null;
      },
      metrics: (own) => own.metrics(),
    },
    rawFailures: [],
  },
  functions: {
    raw: {
      pad: ({ batching }, { lengths, width, multiple, side }) =>
        batching.once(['lengths', lengths], 0, ({ pad }) => pad(Uint32Array.from(lengths), width, multiple, side)),
      pack: ({ batching }, { lengths, 'row-ends': rowEnds, width }) =>
        batching.once(['lengths', lengths], 0, ({ pack }) =>
          pack(Uint32Array.from(lengths), Uint32Array.from(rowEnds), width),
        ),
      verify: ({ planning }, { shards, offsets, assigned }) =>
        planning.once(['shards', shards], 0, ({ verify }) =>
          verify(shards, Uint32Array.from(offsets), Uint32Array.from(assigned)),
        ),
      'verify-in-runs': ({ planning }, { shards, offsets, assigned }) =>
        planning.once(['shards', shards], 0, ({ verifyInRuns }) =>
          verifyInRuns(shards, Uint32Array.from(offsets), Uint32Array.from(assigned)),
        ),
      header: ({ planning }, { state, block, lease }) =>
        planning.once(['state', state], 0, ({ header }) => header(state, block, lease)),
      variables: ({ dealing }) => dealing.once(['environment', ''], 0, ({ variables }) => variables()),
      detect: ({ dealing }, { environment, rank, world }) =>
        dealing.once(['environment', ''], 0, ({ detect }) =>
          detect(environment, rank ?? undefined, world ?? undefined),
        ),
    },
    own: {
      pad({ batching }, { lengths, width, ...options }) {
        const [sequences, others] = tokens(lengths);
        const wanted = width === 0 ? {} : { width };
        const padded = padWith(batching, sequences, { ...others, ...options, ...wanted });
        if (padded.attentionMask.some((is, i) => is !== Number(padded.values[i] !== others.paddingValue)))
          return 'a mask';
        return { width: padded.width, sources: padded.values };
      },
      pack({ batching }, { lengths, 'row-ends': rowEnds, width }) {
        const [sequences, others] = tokens(lengths);
        const { values, rows, width: wide, ...packed } = packWith(batching, sequences, { ...others, rowEnds, width });
        if (rows !== rowEnds.length || wide !== width) return 'another shape';
        return { ...packed, sources: values };
      },
      verify({ planning }, { shards, offsets, assigned }) {
        const { overlaps, gaps } = verifyWith(planning, shards, lists(offsets, assigned));
        return { gaps, overlaps: overlaps.flatMap(({ shard, first, other }) => [shard, first, other]) };
      },
      header: ({ planning }, { state, block, lease }) => headerWith(planning, state, block, BigInt(lease)),
      detect: ({ dealing }, { environment, rank, world }) =>
        detectWith(dealing, {}, present({ environment: Object.fromEntries(environment), rank, world })),
    },
    sayable: {
      pad: few,
      pack: few,
      verify: ({ offsets, assigned }) => lists(offsets, assigned) !== undefined,
      detect: ({ environment }) => new Set(environment.map(([name]) => name)).size === environment.length,
    },
    rawFailures: [],
  },
};
