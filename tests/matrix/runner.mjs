// Holds one JavaScript engine against the golden cases, in Node and in pages alike: every call on the engine itself, and
// on the class that users see wherever that has the call in the same form.
import { SamedealError } from '../../hosts/js/dist/errors.js';
import { samplerOf } from '../../hosts/js/dist/sampler.js';

/** How many of the cases pass, and what is wrong with the others. */
export function runGroup(engine, { group, cases }) {
  const Sampler = samplerOf(() => engine);
  const errors = [];
  for (const golden of cases) {
    const error = runCase(engine, Sampler, golden);
    if (error) errors.push(`${group}: ${golden.name}: ${error}`);
  }
  return { group, passed: cases.length - errors.length, errors };
}

/** What is wrong with a case, if anything is. */
function runCase(engine, Sampler, { config, fails, calls = [], slow = false }) {
  let sampler;
  const made = outcome(() => {
    sampler = Sampler.fromJSON(config);
    return null;
  });
  if (fails || made.fails) return mismatch('constructor', made, { fails, returns: null });
  const wideConfig = {
    ...config,
    samples: BigInt(config.samples),
    seed: BigInt(config.seed),
    epoch: BigInt(config.epoch),
  };
  const seat = engine.open(sampler, wideConfig);
  const onSeat = (call, args) => engine.call(seat, wideConfig, (raw) => onEngine[call](raw, args));
  try {
    for (const [number, { call, args = {}, ...expected }] of calls.entries()) {
      const where = `call ${number}, ${call}(${JSON.stringify(args)})`;
      const error =
        mismatch(
          `${where} on the engine`,
          outcome(() => onSeat(call, wide(args))),
          expected,
        ) ??
        // One table of that size is enough.
        (slow || (expected.fails && engineOnly.has(call))
          ? undefined
          : mismatch(
              `${where} on Sampler`,
              outcome(() => onSampler[call](sampler, wide(args))),
              expected,
            ));
      if (error) return error;
    }
  } finally {
    sampler.dispose();
    engine.close(seat);
  }
}

const onEngine = {
  config: (raw) => raw.config(),
  'set-epoch': (raw, { epoch }) => raw.setEpoch(epoch),
  'set-rank': (raw, { rank }) => raw.setRank(rank),
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
};

const onSampler = {
  config: (sampler) => sampler.toJSON(),
  'set-epoch': (sampler, { epoch }) => sampler.setEpoch(epoch),
  'set-rank': (sampler, { rank }) => sampler.setRank(rank),
  'num-samples': (sampler) => sampler.length,
  'num-padding': (sampler) => sampler.numPadding,
  'num-positions': (sampler) => sampler.numPositions,
  'num-dropped': (sampler) => sampler.numDropped,
  indices: (sampler, { start, count }) => sampler.indices(start, start + BigInt(count)),
  indices32: (sampler, { start, count }) => sampler.indices(start, start + BigInt(count)),
  'num-batches': (sampler, args) => sampler.numBatches(args['batch-size'], { dropLast: args['drop-last'] }),
  batch: (sampler, args) => sampler.batch(args.batch, args['batch-size'], { dropLast: args['drop-last'] }),
  batch32: (sampler, args) => sampler.batch(args.batch, args['batch-size'], { dropLast: args['drop-last'] }),
  'sample-at': (sampler, { position }) => sampler.sampleAt(position),
  locate: (sampler, args) => sampler.locate(args.sample, args['batch-size']),
  'place-of': (sampler, args) => sampler.placeOf(args.position, args['batch-size']),
  fingerprint: (sampler) => sampler.fingerprint(),
  'config-fingerprint': (sampler) => sampler.configFingerprint(),
};

/** The class has no window in 32 bits that could fail, and names the end of a run rather than its count. */
const engineOnly = new Set(['indices', 'indices32', 'batch32']);

/** Arguments of 64 bits are strings in the cases. */
function wide(args) {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === 'string' ? BigInt(value) : value]),
  );
}

/** What a call returned, or the failure that it threw. Anything else that it throws is no outcome. */
function outcome(call) {
  try {
    return { returns: call() };
  } catch (error) {
    if (error instanceof Error && !(error instanceof SamedealError)) throw error;
    const { kind, field, value, allowed } = error;
    return { fails: { kind, field, value, allowed } };
  }
}

function mismatch(where, got, { fails, returns = null }) {
  const [is, should] = [got, fails ? { fails } : { returns }].map(canonical);
  return is === should ? undefined : `${where}: got ${is.slice(0, 1000)}, expected ${should.slice(0, 1000)}`;
}

/** Equal texts for equal values, whatever the type and width of a number and the order of the keys. */
function canonical(value) {
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return `[${Array.from(value, canonical)}]`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${key}: ${canonical(value[key])}`)}}`;
  }
  return String(value ?? null);
}
