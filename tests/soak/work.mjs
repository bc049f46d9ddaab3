// One Node process that does all kinds of work again and again: `node --expose-gc work.mjs SECONDS INTERVAL`. It is the
// counterpart of work.py, and prints the same lines of JSON.

import { createHash } from 'node:crypto';
import {
  Batcher,
  BatchStream,
  blend,
  ChunkStream,
  MemoryLog,
  Mesh,
  openLedger,
  order,
  plainOrders,
  Reading,
  replayLedger,
  SamedealError,
  Sampler,
  Schedule,
  ShardPlan,
  Split,
} from '../../hosts/js/dist/index-files.js';

/** Milliseconds that one measurement of a kind should take. */
const TARGET = 2;
const BUFFER = new Uint8Array(1 << 16).map((_, i) => (i * 7919) >> 3);
/** The module `(module (memory (export "memory") 20))`. Its memory is as large as the initial memory of a component. */
const EMPTY = new WebAssembly.Module(
  // biome-ignore format: a section a line
  new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    5, 3, 1, 0, 20,
    7, 10, 1, 6, 109, 101, 109, 111, 114, 121, 2, 0,
  ]),
);

let seed = 1;
/** A random number below `end`. The sequence is the same in every run. */
function below(end) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * end);
}

const lengths = Uint32Array.from({ length: 500 }, () => 1 + below(399));
const kept = new Sampler(100_000, { seed: 3, worldSize: 8 });
const keptBatcher = new Batcher(lengths, { maxTokens: 2000, seed: 3, worldSize: 2 });

function check(holds, what) {
  if (!holds) throw new Error(`this must hold: ${what}`);
}

/** Disposes of half of the objects; the others are left to the garbage collector. */
function drop(...objects) {
  for (const object of objects) if (below(2)) object.dispose();
}

/** The control: operations like those of the other kinds, without samedeal. */
function control() {
  const numbers = Array.from({ length: 1000 }, (_, i) => Math.imul(i, 2654435761) >>> 0);
  numbers.sort((one, other) => one - other);
  createHash('sha256').update(BUFFER).digest();
  const memory = new Uint8Array(new WebAssembly.Instance(EMPTY).exports.memory.buffer);
  for (let at = 0; at < memory.length; at += 4096) memory[at] = 1;
}

const KINDS = {
  samplers() {
    const names = plainOrders();
    const sampler = new Sampler(1 + below(3000), {
      seed: below(2 ** 20),
      order: names[below(names.length)],
      rank: 1,
      worldSize: 3,
    });
    sampler.setEpoch(below(100));
    sampler.indices();
    sampler.locate(0, 7);
    for (const batch of sampler.batches(64)) check(batch.length <= 64, 'a batch of 64');
    const sizes = Array.from({ length: 9 }, () => below(90));
    const sharded = Sampler.sharded(sizes, { lanes: 4, shuffleWindow: 8 });
    sharded.indices();
    for (let number = 0; number < sharded.numRounds; number++) sharded.round(number);
    drop(sampler, sharded);
  },
  epochs() {
    kept.setEpoch(below(2 ** 50));
    kept.setRank(below(8));
    kept.batch(below(300), 32);
    keptBatcher.setEpoch(below(2 ** 20));
    keptBatcher.batch(0);
  },
  composed() {
    const web = order('feistel', { samples: 900 }).exclude([below(300), 300 + below(300), 600 + below(300)]);
    const mix = blend({ web: [web, 7], code: [200, 3] }, { seed: below(99), samples: 2000 });
    const sampler = new Sampler(mix, { worldSize: 4, rank: 2 });
    sampler.indices(0, 200);
    sampler.sourceCounts(0, 999);
    const grown = new Sampler(order('feistel', { samples: 300 }).grow(0, 100, 400).copies(2), { unit: 2 });
    grown.indices();
    drop(sampler, grown);
  },
  batchers() {
    const size = { maxBatchSize: 4 };
    const ways = [{ maxTokens: 3000 }, { strategy: 'pack', capacity: 512, ...size }, { strategy: 'bucket', ...size }];
    const batcher = new Batcher(lengths, { seed: below(99), worldSize: 2, rank: 1, ...ways[below(3)] });
    for (let step = 0; step < batcher.numSteps(); step += 9) batcher.batch(step);
    batcher.metrics();
    batcher.locate(5);
    const stream = new BatchStream({ maxTokens: 2000, worldSize: 2 });
    stream.push(
      Array.from({ length: 100 }, (_, i) => i),
      lengths.subarray(0, 100),
    );
    stream.flush();
    check([...stream].length > 0, 'a stream has batches');
    drop(batcher, stream);
  },
  readings() {
    const sizes = Array.from({ length: 7 }, () => below(60));
    const options = { worldSize: 2, workers: 2, batchSize: 8 };
    const whole = new Reading(sizes, { lanes: 4, shuffleWindow: 8, remainder: 'uneven', ...options });
    const reading = whole.atEpoch(below(9));
    for (const worker of [0, 1]) {
      reading.indices(1, worker);
      for (const round of reading.rounds(1, worker)) check(round.count > 0, 'rounds have samples');
    }
    const plan = new ShardPlan(sizes, { worldSize: 2, workers: 2, seed: below(99) });
    plan.shards(0, 1);
    const shards = new Reading(sizes, { deal: 'shards', ...options });
    shards.indices(0, 1);
    const chunks = new ChunkStream(1, 2, { chunks: 9 });
    chunks[Symbol.iterator]().next();
    drop(whole, reading, plan, shards, chunks);
  },
  resumptions() {
    let sampler = new Sampler(1000, { seed: 1, worldSize: 8 });
    for (const worldSize of [3, 5]) {
      const state = sampler.state(below(sampler.length));
      drop(sampler);
      sampler = new Sampler(1000, { seed: 1, worldSize, rank: 1 });
      sampler.resume(state);
      sampler.indices();
    }
    const batcher = new Batcher(lengths, { maxTokens: 2000, worldSize: 3 });
    const other = new Batcher(lengths, { maxTokens: 2000, worldSize: 2 });
    other.resume(batcher.state(below(batcher.numSteps())));
    const options = { lanes: 4, shuffleWindow: 8, batchSize: 4 };
    const reading = new Reading([40, 0, 70], { ...options, worldSize: 2, workers: 2 });
    const one = new Reading([40, 0, 70], options);
    const rest = one.resume(reading.state(3));
    rest.indices(0);
    const schedule = new Schedule(1000, 16, { worldSize: 4 });
    const half = new Schedule(1000, 16, { worldSize: 2 });
    check(half.resume(schedule.state(60)) === 60, 'a schedule goes on');
    drop(sampler, batcher, other, reading, one, rest, schedule, half);
  },
  schedules() {
    const schedule = new Schedule(5000, 64, { seed: below(99), worldSize: 8, rank: 2 });
    schedule.indices(below(1000), 20);
    schedule.locate(below(5000), 100);
    const mesh = new Mesh(8, { dp: 4, tp: 2 }, ['dp']);
    check(mesh.dataWorldSize === 4, 'a mesh of 4 readers');
    const split = new Split({ test: 10, training: 90 }, { seed: below(99) });
    split.indices('training', 500);
    drop(schedule, mesh, split);
  },
  async ledgers() {
    const log = new MemoryLog();
    const sampler = new Sampler(60, { seed: below(99) });
    const open = (reader) => openLedger(sampler, log, { reader, blockSize: 16, checkpointInterval: 8 });
    const readers = [await open(0), await open(1)];
    for (;;) {
      const { claim, finished } = await readers[below(2)].tryClaim();
      if (finished) break;
      await claim.commit(1 + below(claim.count));
      if (claim.committed < claim.count) await claim.release();
    }
    const replay = replayLedger(log.entries);
    check(replay.progress().finished, 'a ledger is finished');
    drop(sampler, ...readers);
  },
  failures() {
    const wrong = [
      () => new Sampler(10, { rank: 5 }),
      () => new Sampler(10, { order: 'sorted' }),
      () => new Sampler('10'),
      () => new Sampler(10, { seed: 2n ** 70n }),
      () => new Sampler(blend({ a: [10, 0] })),
      () => new Sampler(100, { consumed: 101 }),
      () => new Sampler(10).resume('{'),
      () => new Sampler(10).resume(new Sampler(11).state(1)),
      () => new Batcher(lengths, { maxTokens: 10 }).numSteps(),
      () => new Batcher(lengths, { strategy: 'pack' }),
      () => new Reading([10], { deal: 'shards', lanes: 4 }),
      () => new Reading([10]).state(99),
      () => new Schedule(10, 3, { worldSize: 2 }),
      () => kept.batch(10 ** 9, 32),
      () => keptBatcher.batch(0, 9),
    ];
    for (let i = 0; i < 6; i++) {
      const call = wrong[below(wrong.length)];
      let failed = false;
      try {
        call();
      } catch (error) {
        if (!(error instanceof SamedealError)) throw error;
        failed = true;
      }
      check(failed, `${call} fails`);
    }
  },
  elsewhere() {
    const copy = Sampler.fromJSON(JSON.parse(JSON.stringify(kept)));
    check(copy.sampleAt(7) === kept.sampleAt(7), 'a copy is equal');
    const batcher = Batcher.fromJSON(JSON.parse(JSON.stringify(keptBatcher)));
    check(batcher.numSteps() === keptBatcher.numSteps(), 'a copy is equal');
    drop(copy, batcher);
  },
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Bytes of memory of the process, after a garbage collection. */
async function resident() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await turn();
  }
  return process.memoryUsage.rss();
}

/** The usual processor time of a kind, in milliseconds. */
async function usual(kind) {
  const times = [];
  for (let i = 0; i < 15; i++) {
    const start = process.cpuUsage();
    await kind();
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return times.sort((one, other) => one - other)[7];
}

/** Milliseconds for `count` runs of a kind: elapsed time and processor time. */
async function timed(kind, count) {
  const begun = process.cpuUsage();
  const start = performance.now();
  for (let i = 0; i < count; i++) await kind();
  const passed = performance.now() - start;
  const { user, system } = process.cpuUsage(begun);
  return [passed, (user + system) / 1000];
}

/** A quantile of the measurements of each kind and of its control. */
function quantiles(times, q, which) {
  const at = (found) => found.sort((one, other) => one - other)[Math.floor(q * (found.length - 1))];
  return Object.fromEntries(
    Object.entries(times).map(([name, found]) => [
      name,
      [0, 1].map((whose) => at(found.map((pair) => pair[whose][which]))),
    ]),
  );
}

const [seconds, interval] = process.argv.slice(2).map(Number);
const one = await usual(control);
const counts = {};
const controls = {};
for (const [name, kind] of Object.entries(KINDS)) {
  // A warm-up, because the JavaScript engine optimises code that runs often.
  await timed(kind, 50);
  counts[name] = Math.max(1, Math.round(TARGET / (await usual(kind))));
  controls[name] = Math.max(1, Math.round((counts[name] * (await usual(kind))) / one));
}
const empty = () => Object.fromEntries(Object.keys(KINDS).map((name) => [name, []]));
const begun = performance.now();
let last = begun;
let times = empty();
while (last - begun < seconds * 1000) {
  for (const [name, kind] of Object.entries(KINDS)) {
    const own = await timed(kind, counts[name]);
    times[name].push([own, await timed(control, controls[name])]);
    // Objects that are not disposed of are finalised between turns.
    await turn();
  }
  const now = performance.now();
  if (now - last >= interval * 1000 || now - begun >= seconds * 1000) {
    const operations = Object.entries(times).reduce((sum, [name, found]) => sum + found.length * counts[name], 0);
    const measured = { p99: quantiles(times, 0.99, 0), processor: quantiles(times, 0.5, 1) };
    const told = { seconds: (now - begun) / 1000, rss: await resident(), operations, ...measured };
    console.log(JSON.stringify(told));
    times = empty();
    last = now;
  }
}
