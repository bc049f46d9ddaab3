// The kinds of golden cases: how each object is made, and how its calls are written in JavaScript. A call on the engine
// itself has the name and the arguments of the interface, in the order of the cases. A call on the public class has
// them too, unless `own` or `raw` defines it differently, or `rawOnly` says that the class has no such call.
import { BaseBatcher, joinIndicesWith } from '../../hosts/js/dist/batch/batcher.js';
import { packWith, padWith } from '../../hosts/js/dist/batch/collate.js';
import { BaseBatchStream } from '../../hosts/js/dist/batch/stream.js';
import { SamplerRecipe } from '../../hosts/js/dist/deal/recipe.js';
import { BaseSampler } from '../../hosts/js/dist/deal/sampler.js';
import { Document } from '../../hosts/js/dist/document.js';
import { using } from '../../hosts/js/dist/engine/resources.js';
import { over } from '../../hosts/js/dist/engine.js';
import { AppliedLog, headerWith, LedgerRecipe } from '../../hosts/js/dist/ledger/applied.js';
import { ClientRecipe, LedgerClient } from '../../hosts/js/dist/ledger/client.js';
import { BaseReading } from '../../hosts/js/dist/read/reading.js';
import { ReadingRecipe } from '../../hosts/js/dist/read/recipe.js';
import { BaseShardPlan } from '../../hosts/js/dist/shard/plan.js';
import { PlanRecipe } from '../../hosts/js/dist/shard/recipe.js';
import { BaseChunkStream, StreamRecipe } from '../../hosts/js/dist/shard/stream.js';
import { verifyWith } from '../../hosts/js/dist/shard/verify.js';
import { SplitRecipe } from '../../hosts/js/dist/split/recipe.js';
import { BaseSplit } from '../../hosts/js/dist/split/split.js';
import { ScheduleRecipe } from '../../hosts/js/dist/steps/recipe.js';
import { BaseSchedule } from '../../hosts/js/dist/steps/schedule.js';
import { differencesWith, inspectWith } from '../../hosts/js/dist/texts.js';
import { detectWith } from '../../hosts/js/dist/topology/launch.js';
import { BaseMesh, MeshRecipe } from '../../hosts/js/dist/topology/mesh.js';

const u64s = (values) => BigUint64Array.from(values, BigInt);
/** The end of each text in bytes of UTF-8, if all texts are laid end to end. */
const endsOf = (texts) => {
  const encoder = new TextEncoder();
  let end = 0;
  return Uint32Array.from(texts, (text) => {
    end += encoder.encode(text).length;
    return end;
  });
};
/** The recipe of exact sizes among the keys that `add` adds. */
const among = (raw, rest, add) =>
  using(raw.exactSizes(), (sizes) => {
    add(sizes);
    return sizes.recipe(rest);
  });
/** Arguments that are texts, even if they only have digits. */
const TEXTS = ['state', 'entry', 'header', 'checkpoint', 'recipe', 'text', 'sections', 'one', 'other', 'rest'];
/** Arguments with numbers of 64 bits as BigInt. Cases write these numbers as strings of digits. */
export const wide = (args) =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const isNumber = typeof value === 'string' && /^-?\d+$/.test(value) && !TEXTS.includes(name);
      return [name, isNumber ? BigInt(value) : value];
    }),
  );

/** Names in JavaScript's spelling. */
const camelled = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const camel = (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelled(name), value]));

/** Arguments in the types that the engine takes. A list of 64-bit numbers has strings in the cases. */
const crossing = (args) =>
  Object.values(wide(args)).map((value) => {
    if (!Array.isArray(value)) return value ?? undefined;
    if (value.every((element) => typeof element === 'number')) return Uint32Array.from(value);
    return value.every((element) => /^\d+$/.test(element)) ? u64s(value) : value;
  });

/** A call on the object of an engine. */
export function callRaw(kind, raw, call, args) {
  if (kind.raw?.[call]) return kind.raw[call](raw, args);
  return raw[camelled(call)](...crossing(args));
}

/** A call on the object of the public class. */
export function callOwn(kind, own, call, args) {
  if (kind.own[call]) return kind.own[call](own, args);
  const name = camelled(call);
  if (!(name in own)) throw new Error(`there is no ${name}`);
  return typeof own[name] === 'function' ? own[name](...Object.values(args)) : own[name];
}

/** Options without the members that are null in the cases. */
const present = (options) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));

/** The lists that offsets and values describe; undefined if offsets and values do not fit together. */
function lists(offsets, values) {
  const fit =
    offsets[0] === 0 && offsets.at(-1) === values.length && offsets.every((to, i) => i === 0 || to >= offsets[i - 1]);
  return fit ? offsets.slice(1).map((end, i) => values.slice(offsets[i], end)) : undefined;
}

/** The lists beside a recipe, in the types of an engine. */
const beside = (given = {}) => Object.entries(given).map(([name, numbers]) => ({ name, numbers: u64s(numbers) }));

/** A recipe, and the lists beside it. */
const document = ({ recipe, lists: given = {} }) =>
  new Document(recipe, Object.fromEntries(beside(given).map(({ name, numbers }) => [name, numbers])));

/** The lists beside a recipe, as options of a class. Undefined if a list has another name than `names`. */
function besideOf(given = {}, ...names) {
  if (Object.keys(given).some((name) => !names.includes(name))) return undefined;
  return Object.fromEntries(beside(given).map(({ name, numbers }) => [camelled(name.replaceAll('_', '-')), numbers]));
}

/**
 * The lists of an order as options: lists with these names as options of their own, and all others by the paths of
 * their members.
 */
function besideOrder(given = {}, ...names) {
  const all = beside(given).map(({ name, numbers }) => [name, numbers]);
  const isOption = ([name]) => ['sizes', ...names].includes(name);
  const others = all.filter((list) => !isOption(list));
  return {
    ...Object.fromEntries(all.filter(isOption)),
    ...(others.length > 0 && { lists: Object.fromEntries(others) }),
  };
}

/** Columns by their names. */
const tableOf = (columns) => Object.fromEntries(columns.map(({ name, numbers }) => [name, numbers]));

/** Sets an epoch. In the current epoch, the consumed part stays consumed. */
function toEpoch(own, { epoch }) {
  if (BigInt(own.epoch) === epoch) own.setEpoch(epoch ^ 1n);
  own.setEpoch(epoch);
  return own;
}

/** Resumes a state. */
function resumed(own, { state }) {
  own.resume(state);
  return own;
}

/** Resumes a state with other options. */
function replanned(own, { state }) {
  own.resume(state, { replan: true });
  return own;
}

/** A recipe of batches on an engine, with the lengths that it asks for. */
function batchRecipe({ batches }, { recipe, lengths, lists: given }) {
  const made = new batches.BatchRecipe(recipe, lengths ? BigInt(lengths.length) : undefined, beside(given));
  const wanted = lengths ? made.wanted() : [];
  if (wanted.length > 0) made.supply(Uint32Array.from(wanted, (sample) => lengths[Number(sample)]));
  return made;
}

/** The description of an object that `make` makes from a recipe of batches. */
const ofBatches = (given, make) => ({
  size: 2 ** 18 + 400 * (given.lengths?.length ?? 0),
  cause: ['recipe', ''],
  make: (bindings) => make(bindings, batchRecipe(bindings, given)),
});

/** Batches joined end to end. */
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
    fullRows: all('fullRows'),
  };
}

/** Tokens that are their own numbers, and the offsets of sequences of these lengths. */
function tokens(lengths) {
  const offsets = [0];
  for (const length of lengths) offsets.push(offsets.at(-1) + length);
  return [Uint32Array.from({ length: offsets.at(-1) }, (_, i) => i), { offsets, paddingValue: 2 ** 32 - 1 }];
}

/** Whether there are few enough tokens for the memory of a page. */
const few = ({ lengths }) => lengths.reduce((sum, length) => sum + length, 0) <= 2 ** 20;

const withoutEqual = ({ equal, ...others }) => others;

/** Metrics in the notation of the cases. */
const byName = (numbers) => Object.fromEntries(numbers.map(({ name, number }) => [name, number]));

/** Metrics without their ratios, for which the cases have calls of their own. */
function sums(own) {
  const { paddingRatio, budgetUtilization, slowestRankUtilization, costImbalance, ...others } = own.metrics();
  return others;
}

/** A ratio in the notation of the interface, which has no greater one than 2^53 - 1 millionths. The class has a float. */
function ratio(own, { name }) {
  const property = name === 'padding' ? 'paddingRatio' : camelled(name);
  return BigInt(Math.min(Math.round(1e6 * own.metrics()[property]), Number.MAX_SAFE_INTEGER));
}

/** The options of a client, in JavaScript's spelling. */
const clientOptions = (options) => camel(wide(options));

/** Calls that tell a client something and return its next instruction. */
const clientSteps = {
  open: (raw, { 'now-ms': nowMs }) => raw.open(nowMs),
  claim: (raw, { waits, 'now-ms': nowMs }) => raw.claim(waits, nowMs),
  commit: (raw, { handle, count, 'now-ms': nowMs }) => raw.commit(handle, count ?? undefined, nowMs),
  renew: (raw, { handle, 'now-ms': nowMs }) => raw.renew(handle, nowMs),
  release: (raw, { handle, 'now-ms': nowMs }) => raw.release(handle, nowMs),
  'change-lease': (raw, { 'lease-ms': leaseMs, 'now-ms': nowMs }) => raw.changeLease(leaseMs, nowMs),
  'catch-up': (raw, { 'now-ms': nowMs }) => raw.catchUp(nowMs),
  'tell-checkpoint': (raw, { checkpoint, 'now-ms': nowMs }) => raw.tellCheckpoint(checkpoint ?? undefined, nowMs),
  'tell-appended': (raw, { appended, 'now-ms': nowMs }) => raw.tellAppended(appended, nowMs),
};

/** `count` ids from `start` on. */
const idsOf = (start, count) => Array.from({ length: count }, (_, i) => start + BigInt(i));

/** The functions of the interface: the name, the build that has it, and its module. */
const FUNCTIONS = [
  ['join-indices', 'component', ({ batches }) => batches],
  ['pad', 'component', ({ collation }) => collation],
  ['pack', 'component', ({ collation }) => collation],
  ['verify', 'component', ({ shards }) => shards],
  ['header', 'component', (bindings) => bindings],
  ['variables', 'light', ({ launch }) => launch],
  ['detect', 'light', ({ launch }) => launch],
  ['inspect', 'component', ({ texts }) => texts],
  ['recipe-after', 'component', ({ texts }) => texts],
  ['differences', 'component', ({ texts }) => texts],
  ['whole-weights', 'component', ({ texts }) => texts],
];

/** The kinds, by the member of a case. */
export const kinds = {
  sampler: {
    engine: 'light',
    recipe: (given) => new SamplerRecipe(document(given), { epoch: BigInt(given.epoch), rank: given.rank }),
    make(engine, { recipe, lists: given, epoch, rank }) {
      const place = { epoch: BigInt(epoch), rank };
      return over(BaseSampler, () => engine).fromRecipe(recipe, { ...place, ...besideOrder(given) });
    },
    raw: { 'source-counts': (raw, { start, count }) => tableOf(raw.sourceCounts(BigInt(start), BigInt(count))) },
    own: {
      'at-epoch': toEpoch,
      'at-rank'(own, { rank }) {
        own.setRank(rank);
        return own;
      },
      rest(own, { consumed }) {
        const { rank, epoch, sizes = own.toJSON().sizes } = own;
        const { lists = {} } = own.toJSON();
        const given = { lists, ...(sizes && { sizes }) };
        return own.constructor.fromRecipe(own.recipe, { rank, epoch, consumed, ...given });
      },
      resume: resumed,
      'epoch-length': (own) => own.epochLength,
      'num-samples': (own) => own.length,
      'source-counts': (own, { start, count }) => own.sourceCounts(BigInt(start), BigInt(start) + BigInt(count)),
      indices: (own, { start, count }) => own.indices(start, start + BigInt(count)),
      indices32: (own, { start, count }) => own.indices(start, start + BigInt(count)),
      'num-batches': (own, args) => own.numBatches(args['batch-size'], { dropLast: args['drop-last'] }),
      batch: (own, args) => own.batch(args.batch, args['batch-size'], { dropLast: args['drop-last'] }),
      batch32: (own, args) => own.batch(args.batch, args['batch-size'], { dropLast: args['drop-last'] }),
      'locate-all': (own, { samples, 'batch-size': size }) => own.locateAll(samples.map(BigInt), size),
      // The class returns all ranks, so some are cut out.
      step(own, { step, 'batch-size': size, 'drop-last': dropLast, first, count }) {
        const ranks = own.step(step, size, { dropLast }).slice(first, first + count);
        return { samples: ranks.flatMap((one) => Array.from(one)), counts: ranks.map(({ length }) => length) };
      },
    },
    // The class has no windows in 32 bits that could fail, and its ranges have an end instead of a count. So failures
    // of these calls are only compared on the engine.
    rawFailures: ['indices', 'indices32', 'batch32', 'step', 'locate-all', 'source-counts'],
    moves: ['at-epoch', 'at-rank', 'rest', 'resume'],
  },
  plan: {
    engine: 'component',
    recipe: (given) => new PlanRecipe(document(given), BigInt(given.epoch)),
    make(engine, { recipe, lists: given, epoch }) {
      const options = besideOf(given, 'sizes', 'bytes', 'holders', 'holder_offsets', 'rank_nodes');
      return options && over(BaseShardPlan, () => engine).fromRecipe(recipe, { epoch: BigInt(epoch), ...options });
    },
    raw: {
      loads: (raw, { tier, start, count }) => tableOf(raw.loads(tier, start, count)),
    },
    own: {
      'at-epoch': toEpoch,
      shards: (own, { rank, worker, start, count }) => own.shards(rank, worker).subarray(start, start + count),
      loads(own, { tier, start, count }) {
        const columns = Object.entries(own.loads(tier));
        return Object.fromEntries(columns.map(([name, numbers]) => [name, numbers.subarray(start, start + count)]));
      },
      'load-summary'(own, { tier, 'balance-by': by }) {
        const { imbalance, ...others } = own.loadSummary(tier, by);
        return others;
      },
      imbalance: (own, { tier, 'balance-by': by }) => BigInt(Math.round(1e6 * own.loadSummary(tier, by).imbalance)),
      rows: (own, { shard, start, count }) => own.rows(shard, start, start + BigInt(count)),
      'step-bounds': (own, args) => withoutEqual(own.steps(args['batch-size'], { dropLast: args['drop-last'] })),
    },
    // The class returns whole lists, so these calls cannot fail there.
    rawFailures: ['shards', 'loads', 'rows'],
    moves: ['at-epoch'],
  },
  'chunk-stream': {
    engine: 'component',
    recipe: (given) => new StreamRecipe(document(given), { epoch: BigInt(given.epoch), reader: given.reader }),
    make: (engine, { recipe, epoch, reader }) =>
      over(BaseChunkStream, () => engine).fromRecipe(recipe, { epoch: BigInt(epoch), reader }),
    own: {},
    rawFailures: [],
  },
  ledger: {
    engine: 'component',
    recipe: ({ header }) => new LedgerRecipe(header),
    make: (engine, { header }) => new AppliedLog(engine, header),
    // The entries are passed as texts. `crossing` would make numbers of entries that only have digits, and of an empty
    // list.
    raw: { replay: (raw, { entries, reader, readers }) => raw.replay(entries, reader, readers) },
    own: {
      // The class leaves absent members out; the cases have them as null.
      apply(own, { entry }) {
        const event = own.apply(entry);
        return event && { takenFrom: undefined, ...event };
      },
      progress(own) {
        const { finished, ...others } = own.progress();
        return others;
      },
    },
    rawFailures: [],
  },
  'ledger-client': {
    engine: 'component',
    recipe: (options) => new ClientRecipe(clientOptions(options)),
    make: (engine, options) => new LedgerClient(engine, clientOptions(options)),
    // The entries are passed as texts. `crossing` would make numbers of entries that only have digits, and of an empty
    // list.
    raw: { 'tell-entries': (raw, { entries, 'now-ms': nowMs }) => raw.tellEntries(entries, BigInt(nowMs)) },
    own: {
      ...Object.fromEntries(
        Object.entries(clientSteps).map(([name, step]) => [name, (own, args) => own.step((raw) => step(raw, args))]),
      ),
      'tell-entries': (own, { entries, 'now-ms': nowMs }) => own.tellEntries(0, entries, nowMs),
      claimed: (own, { handle }) => own.claimed(Number(handle)),
      'is-lost': (own, { handle }) => own.isLost(Number(handle)),
      forget: (own, { handle }) => own.forget(Number(handle)),
      progress(own) {
        const { finished, ...others } = own.progress();
        return others;
      },
      'block-size': (own) => own.blockSize(),
      'lease-ms': (own) => own.leaseMs(),
    },
    rawFailures: [],
  },
  reading: {
    engine: 'component',
    recipe: (given) => new ReadingRecipe(document(given), { epoch: BigInt(given.epoch) }),
    make(engine, { recipe, lists: given, epoch }) {
      const options = besideOf(given, 'sizes', 'bytes');
      return (
        options &&
        over(BaseReading, () => engine)
          .fromRecipe(recipe, options)
          .atEpoch(BigInt(epoch))
      );
    },
    own: {
      'step-bounds': (own) => withoutEqual(own.steps),
      indices: (own, { rank, worker, start, count }) => own.indices(rank, worker, start, start + BigInt(count)),
      'round-rows': (own, { rank, worker, number, start, count }) =>
        own.roundRows(rank, worker, number, start, start + BigInt(count)),
      'suggested-lanes': (own, { 'group-rows': groupRows, readers, multiples }) =>
        own.suggestedLanes(groupRows, readers, multiples.map(BigInt)),
    },
    // The class has ranges with an end instead of a count, so it cannot fail in the same way.
    rawFailures: ['indices', 'round-rows'],
    rawOnly: ['batch', 'batch-at', 'step'],
    // These calls return another reading, on which the following calls are made.
    moves: ['at-epoch', 'resume'],
  },
  split: {
    engine: 'component',
    recipe: (given) => new SplitRecipe(document(given)),
    make: (engine, { recipe }) => over(BaseSplit, () => engine).fromRecipe(recipe),
    // The types are chosen here, because `crossing` cannot see them: there may be no ids, and keys may only have
    // digits.
    raw: {
      'part-of': (raw, { ids }) => raw.partOf(u64s(ids)),
      'part-of-keys': (raw, { keys }) => raw.partOfKeys(keys.join(''), endsOf(keys)),
      'among-ids': (raw, { ids, rest }) => among(raw, rest, (sizes) => sizes.addIds(u64s(ids))),
      'among-keys': (raw, { keys, rest }) => among(raw, rest, (sizes) => sizes.addKeys(keys.join(''), endsOf(keys))),
    },
    own: {
      'part-of': (own, { ids }) => own.partOf(ids.map(BigInt)),
      // The class has no range of ids that begins after 0.
      'part-of-run': (own, { start, count }) => own.partOf(idsOf(start, count)),
      members(own, { part, start, count }) {
        const end = start + BigInt(count);
        if (end <= 2 ** 20) return own.indices(part, end).filter((id) => id >= start);
        const parts = own.partOf(idsOf(start, count));
        return idsOf(start, count).filter((_, i) => parts[i] === part);
      },
      'among-ids': (own, { ids, rest }) => own.among(ids.map(BigInt), rest).recipe,
      'among-keys': (own, { keys, rest }) => own.among(keys, rest).recipe,
    },
    // The class accepts lists of any length, and ranges with an end instead of a count, so these calls cannot fail
    // there.
    rawFailures: ['part-of', 'part-of-run', 'part-of-keys', 'members', 'among-ids', 'among-keys'],
  },
  schedule: {
    engine: 'component',
    recipe: (given) => new ScheduleRecipe(document(given), given.rank),
    make(engine, { recipe, lists: given, rank }) {
      return over(BaseSchedule, () => engine).fromRecipe(recipe, { rank, ...besideOrder(given) });
    },
    own: {
      'at-rank': (own, { rank }) => own.atRank(rank),
      'begin-of': (own, { step }) => own.placeOf(step),
      'step-of-state': (own, { state }) => own.resume(state),
      // The class returns all ranks, so some are cut out.
      step: (own, { step, first, count }) =>
        own
          .step(step)
          .slice(first, first + count)
          .flatMap((one) => Array.from(one)),
    },
    // The class accepts ranges with any number of samples, so these calls cannot fail there.
    rawFailures: ['indices', 'step'],
    moves: ['at-rank'],
  },
  mesh: {
    engine: 'light',
    recipe: ({ 'world-size': worldSize, axes }) => new MeshRecipe(worldSize, axes),
    make(engine, { 'world-size': worldSize, axes }) {
      const Mesh = over(BaseMesh, () => engine);
      const sizes = Object.fromEntries(axes.map(({ name, size }) => [name, size]));
      // A JavaScript object cannot have two axes of one name, and puts names of digits first.
      if (Object.keys(sizes).length < axes.length || axes.some(({ name }) => /^\d+$/.test(name))) return undefined;
      if (axes.some(({ role }) => role !== 'shard' && role !== 'replicate')) return undefined;
      const shard = axes.filter(({ role }) => role === 'shard').map(({ name }) => name);
      return new Mesh(worldSize, sizes, shard);
    },
    own: {
      coordinates: (own, { rank }) => Object.values(own.coordinates(rank)),
      'rank-at': (own, { coordinates }) =>
        own.rankAt(Object.fromEntries(Object.keys(own.axes).map((name, i) => [name, coordinates[i]]))),
    },
    // The class always passes as many coordinates as there are axes, so it cannot fail in this way.
    rawFailures: ['rank-at'],
  },
  'batch-recipe': {
    engine: 'component',
    recipe: (given) => ofBatches(given, (_, recipe) => recipe),
    make(engine, { recipe, lengths, lists: given }) {
      const withOrder = besideOrder(given, 'boundaries');
      if (lengths) return over(BaseBatcher, () => engine).fromRecipe(recipe, lengths, withOrder);
      const options = besideOf(given, 'boundaries');
      if (!options) return undefined;
      // A stream refuses some members that a recipe accepts.
      if (/quantiles|batch_window/.test(recipe)) return undefined;
      return over(BaseBatchStream, () => engine).fromRecipe(recipe, options);
    },
    own: { recipe: (own) => own.recipe, 'recipe-fingerprint': (own) => own.recipeFingerprint() },
    rawFailures: [],
  },
  batcher: {
    engine: 'component',
    recipe: (given) =>
      ofBatches(given, ({ batches }, recipe) => using(recipe, () => new batches.Batcher(recipe, BigInt(given.epoch)))),
    make(engine, { recipe, lengths, lists: given, epoch }) {
      const place = { epoch: BigInt(epoch), ...besideOrder(given, 'boundaries') };
      return over(BaseBatcher, () => engine).fromRecipe(recipe, lengths ?? undefined, place);
    },
    raw: { metrics: (raw) => byName(raw.metrics()) },
    own: {
      metrics: sums,
      ratio,
      take(own, { rank, start, count }) {
        const pass = own.batches(start, rank);
        return run(Array.from({ length: count }, () => pass.next().value));
      },
      // The class returns all ranks, so some are cut out.
      step: (own, { step, first, count }) => run(own.step(step).slice(first, first + count)),
      shapes: (own, { filled }) => own.shapes({ filled }),
      'at-epoch': toEpoch,
      resume: resumed,
      replan: replanned,
    },
    // The class ends its iteration with the steps, and has no ratios of other names, so these calls cannot fail there.
    rawFailures: ['take', 'step', 'ratio'],
    moves: ['at-epoch', 'resume', 'replan'],
  },
  'batch-stream': {
    engine: 'component',
    recipe: (given) =>
      ofBatches(given, ({ batches }, recipe) =>
        using(recipe, () => new batches.BatchStream(recipe, BigInt(given.epoch), given.rank)),
      ),
    make(engine, { recipe, lengths, lists: given, epoch, rank }) {
      const options = besideOf(given, 'boundaries');
      if (!options || lengths) return undefined;
      return over(BaseBatchStream, () => engine).fromRecipe(recipe, { epoch: BigInt(epoch), rank, ...options });
    },
    raw: { metrics: (raw) => byName(raw.metrics()) },
    own: {
      metrics: sums,
      ratio,
      push: (own, { samples, lengths }) => own.push(samples.map(BigInt), lengths),
      take(own) {
        const batches = own.take();
        return batches.length > 0 ? run(batches) : null;
      },
    },
    rawFailures: ['ratio'],
  },
  functions: {
    raw: Object.fromEntries(
      FUNCTIONS.map(([call, engine, from]) => [
        call,
        (engines, args) =>
          engines[engine].once([call, ''], 0, (bindings) => from(bindings)[camelled(call)](...crossing(args))),
      ]),
    ),
    own: {
      pad({ component }, { lengths, width, 'pad-to-multiple-of': padToMultipleOf, side }) {
        const [sequences, others] = tokens(lengths);
        const options = { side, padToMultipleOf, ...(width !== null && { width }) };
        const padded = padWith(component, sequences, { ...others, ...options });
        if (padded.attentionMask.some((is, i) => is !== Number(padded.values[i] !== others.paddingValue)))
          return 'a mask';
        return { width: padded.width, 'token-indices': padded.values };
      },
      pack({ component }, { lengths, 'row-ends': rowEnds, width }) {
        const [sequences, others] = tokens(lengths);
        const { values, rows, width: wide, ...packed } = packWith(component, sequences, { ...others, rowEnds, width });
        if (rows !== rowEnds.length || wide !== width) return 'another shape';
        return { ...packed, 'token-indices': values };
      },
      verify({ component }, { 'num-shards': count, offsets, assigned }) {
        const { overlaps, gaps } = verifyWith(component, count, lists(offsets, assigned));
        const columns = (list, ...names) =>
          Object.fromEntries(names.map((name) => [name, list.map((each) => each[name])]));
        return {
          overlaps: columns(overlaps, 'shard', 'firstReader', 'otherReader'),
          gaps: columns(gaps, 'firstShard', 'numShards'),
        };
      },
      'join-indices': ({ component }, { parts }) => joinIndicesWith(component, parts),
      header: ({ component }, { state, 'block-size': blockSize, 'lease-ms': leaseMs }) =>
        headerWith(component, state, blockSize, BigInt(leaseMs)),
      inspect: ({ component }, { text }) => inspectWith(component, text),
      differences: ({ component }, { one, other }) => differencesWith(component, one, other),
      detect: ({ light }, { environment, rank, 'world-size': worldSize }) =>
        detectWith(light, {}, present({ environment: Object.fromEntries(environment), rank, worldSize })),
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
