// The package as users get it: it is packed, installed in an empty project, run, type-checked, and shown in a page.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { write } from './parquet-files.mjs';

const run = promisify(execFile);
/**
 * The command of npm. npm is a script, and tells its path to the programs that it runs. Windows cannot start a script
 * by its name alone.
 */
const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
const host = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(host, 'package.json'), 'utf8'));
const readme = readFileSync(join(host, 'README.md'), 'utf8');
const examples = (language) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text);
const project = mkdtempSync(join(tmpdir(), 'samedeal-'));

before(async () => {
  const [program, ...script] = npm;
  const pack = ['pack', '--json', '--pack-destination', project];
  const { stdout } = await run(program, [...script, ...pack], { cwd: host });
  const [{ filename }] = Object.values(JSON.parse(stdout));
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(project, filename)];
  await run(program, [...script, ...install], { cwd: project });
});
after(() => rmSync(project, { recursive: true }));

/** The output of a module that runs in the project. */
async function output(text) {
  writeFileSync(join(project, 'example.mjs'), text);
  return (await run(process.execPath, ['example.mjs'], { cwd: project })).stdout;
}

test('the package has no dependencies, both licences, and nothing that was not built', () => {
  const installed = join(project, 'node_modules');
  assert.deepEqual(readdirSync(installed).sort(), ['.package-lock.json', 'samedeal']);
  assert.deepEqual(readdirSync(join(installed, 'samedeal')).sort(), ['README.md', 'dist', 'package.json']);
  const dist = readdirSync(join(installed, 'samedeal/dist'));
  assert(dist.includes('LICENSE-MIT') && dist.includes('LICENSE-APACHE'));
});

test('the reader of Parquet says what it needs, and reads where that is installed', async () => {
  const text = `
    import { readShards } from 'samedeal/parquet';
    try {
      for await (const row of readShards('data')) console.log(row);
    } catch ({ message }) {
      console.log(message);
    }`;
  mkdirSync(join(project, 'data'));
  write(join(project, 'data'), [60, 40], { codec: 'GZIP', compressors: { GZIP: (input) => gzipSync(input) } });
  const remedy = 'npm install hyparquet hyparquet-compressors';
  assert.equal(await output(text), `${join('data', '0.parquet')}: hyparquet reads Parquet files: ${remedy}\n`);
  const install = (name) => symlinkSync(join(host, 'node_modules', name), join(project, 'node_modules', name));
  install('hyparquet');
  const needed = /0\.parquet: parquet unsupported compression codec: GZIP: npm install hyparquet-compressors/;
  assert.match(await output(text), needed);
  install('hyparquet-compressors');
  assert.equal((await output(text)).match(/text: 'row \d+'/g).length, 100);
});

test('every example of the README prints what it says', async () => {
  const blocks = examples('js');
  assert.equal(blocks.length, 4);
  for (const block of blocks) {
    const said = [...block.matchAll(/(?:;|^) ?\/\/ (.*)$/gm)].map(([, text]) => text);
    assert.deepEqual((await output(block)).trimEnd().split('\n'), said);
  }
});

test('the entries have the same names, and say where they are not loaded', async () => {
  const text = `
    import * as node from 'samedeal';
    import * as web from 'samedeal/web';
    const names = (entry) => Object.keys(entry).sort().join(' ');
    console.log(names(node));
    console.log(names(web).replace(' init', '') === names(node));
    const { Batcher, Mesh, Reading, Sampler } = web;
    for (const call of [
      () => new Sampler(3), () => new Batcher([3], { maxTokens: 3 }), () => new Reading([3]), () => new Mesh(1, {}, []),
    ]) try { call(); } catch ({ message }) { console.log(message); }`;
  assert.equal(
    await output(text),
    'BatchStream Batcher ChunkStream MemoryLog Mesh Reading SamedealError Sampler Schedule ShardPlan Split balance blend ' +
      'collatePack collatePad detectRank differences grown inspect joinIndices openLedger order plainOrders replayLedger sharded verifyShards version weighted wholeWeights windows\n' +
      'true\n' +
      'samedeal/web is not loaded: await init() first\n'.repeat(4),
  );
});

test('a page loads the component once', async () => {
  const text = `
    import { Batcher, blend, init, Mesh, Sampler, ShardPlan } from 'samedeal/web';
    await Promise.all([init(), init()]);
    const plain = new Sampler(10, { seed: 3 });
    await init('nowhere.wasm');
    console.log(new Sampler(blend({ a: [3, 1], b: [4, 1] })).length, plain.length, new Batcher([3], { maxTokens: 3 }).numSteps());
    console.log(new ShardPlan([3]).shards(0).length, new Mesh(1, {}, []).dataWorldSize);`;
  assert.equal(await output(text), '7 10 1\n1 1\n');
});

test('the component is read and compiled at the first call', async () => {
  const text = `
    const { Module } = WebAssembly;
    let compiled = 0;
    WebAssembly.Module = class extends Module { constructor(bytes) { super(bytes); compiled += 1; } };
    const told = [];
    const { Batcher, BatchStream, collatePad, Sampler, ShardPlan } = await import('samedeal');
    for (const call of [
      () => {},
      () => new Sampler(3),
      () => new ShardPlan([3]),
      () => collatePad([]),
      () => [new Batcher([3], { maxTokens: 3 }), new BatchStream({ maxTokens: 3 }), new ShardPlan([3]), new Sampler(3)],
    ]) { call(); told.push(compiled); }
    console.log(told.join(' '));`;
  assert.equal(await output(text), '0 1 1 1 1\n');
});

// Node before 20.19 and 22.10 cannot require ES modules, and reads the inline text.
const skip = !process.features.require_module;
test('where text stands in for files, Node does not read it, and both entries are the same', { skip }, async () => {
  const inline = join(project, 'node_modules/samedeal/dist/inline');
  const text =
    "import { Batcher, Sampler } from 'samedeal'; console.log(new Sampler(3).length + new Batcher([1], { maxTokens: 1 }).numSteps());";
  renameSync(inline, `${inline}-away`);
  try {
    assert.equal(await output(text), '4\n');
    await assert.rejects(output(text.replace("'samedeal'", "'samedeal/inline'")), /ERR_MODULE_NOT_FOUND/);
  } finally {
    renameSync(`${inline}-away`, inline);
  }
  assert.equal(await output(text.replace("'samedeal'", "'samedeal/inline'")), '4\n');
  const names =
    "import * as a from 'samedeal'; import * as b from 'samedeal/inline'; console.log(String(Object.keys(a)) === String(Object.keys(b)));";
  assert.equal(await output(names), 'true\n');
});

test('no module awaits anything at its top level', async () => {
  // A module that awaits something at its top level cannot be required.
  const text =
    "for (const entry of ['samedeal', 'samedeal/light', 'samedeal/web', 'samedeal/parquet', 'samedeal/files', 'samedeal/node']) console.log(require(entry).version);";
  const args = ['--experimental-require-module', '--no-warnings', '-e', text];
  const { stdout } = await run(process.execPath, args, { cwd: join(project, 'node_modules') });
  assert.equal(stdout, `${version}\n${version}\n${version}\nundefined\nundefined\nundefined\n`);
});

test('a failed init can be tried again', async () => {
  const text = `
    import { readFileSync } from 'node:fs';
    import { init, Sampler } from 'samedeal/web';
    await init(new Uint8Array(8)).catch((error) => console.log(error instanceof WebAssembly.CompileError));
    const bytes = readFileSync(new URL(import.meta.resolve('samedeal/web/samedeal.wasm')));
    await init(new WebAssembly.Module(bytes));
    await init();
    console.log(new Sampler(3).length);`;
  assert.equal(await output(text), 'true\n3\n');
});

test('the types hold in a strict project', async () => {
  const consumer = join(project, 'types');
  mkdirSync(consumer);
  /** Modules to compile, by the list of their libraries. All modules with the same libraries are compiled together. */
  const modules = {};
  const check = (text, lib) => {
    modules[lib] ??= [];
    modules[lib].push(text);
  };
  const compile = async (texts, lib) => {
    const files = texts.map((_, number) => `use-${number}.ts`);
    for (const [number, file] of files.entries()) writeFileSync(join(consumer, file), texts[number]);
    const options = { strict: true, module: 'nodenext', target: 'es2022', noEmit: true, types: [], lib };
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    const tsc = join(host, 'node_modules/typescript/bin/tsc');
    return run(process.execPath, [tsc, '-p', consumer], { cwd: project }).catch((error) => {
      error.message += error.stdout;
      throw error;
    });
  };
  const use = `
    const sampler: Sampler = new Sampler(10n, { seed: -3n, worldSize: 2, remainder: 'drop', layout: 'contiguous', unit: 2n });
    const unit: number = sampler.unit;
    const run: Indices = sampler.indices(0, 2n);
    const place: { position: number; batch: number } | null = sampler.locate(3, 2);
    for (const sample of sampler) sample.toFixed();
    for (const batch of sampler.batches(2, { dropLast: true, start: 1n })) batch.length;
    const copy: Sampler = Sampler.fromJSON(sampler.toJSON());
    const epoch: number | bigint = copy.epoch;
    const state: string = new Sampler(10, { consumed: 3n }).state(2);
    copy.resume(state);
    const consumed: number = copy.consumed;
    function told(error: unknown): Kind | undefined {
      return error instanceof SamedealError ? error.kind : undefined;
    }
    { using scoped = new Sampler(3); scoped.length; }
    const sharded: Sampler = Sampler.sharded([3, 4n], { lanes: 2, shuffleWindow: 8 });
    const rows: Float64Array = sharded.round(0).spans.numRows;
    Sampler.sharded(new BigUint64Array(3)).sizes?.length;
    // @ts-expect-error
    Sampler.sharded([3], { order: 'feistel' });
    // @ts-expect-error
    Sampler.sharded(['3']);
    // @ts-expect-error
    new Sampler(10, { remainder: 'keep' });
    // @ts-expect-error
    new Sampler('10');
    // @ts-expect-error
    sampler.batch(0, 2, { drop_last: true });
    // @ts-expect-error
    sampler.batch(0, 2, { start: 1 });
    // @ts-expect-error
    sampler.locate(3);
    // @ts-expect-error
    sampler.length = 3;
    // @ts-expect-error
    sampler.resume(JSON.parse(state) as object);
    // @ts-expect-error
    sampler.consumed = 3;
    export { run, place, epoch, told, rows, consumed, unit };`;
  const useOrders = `
    const bad: Order = order('feistel', { samples: 10n, seed: -3n }).exclude(new Uint32Array(3)).subset([1]).copies(2);
    const mixed: Order = blend({ a: [bad, 1], b: [10], c: [sharded([3n], { lanes: 2 }), 2n] }, {
      exhaustion: 'repeat', indexSpace: 'shared', exact: true, samples: 3, stages: [{ from: 3, weights: { a: 1, b: 2n, c: 0 } }],
    }).stage(9n, [1, 2, 3]);
    const ordered = new Sampler(mixed.skip([{ epoch: 0, start: 1n, count: 2 }]), { worldSize: 2, layout: 'rotated' });
    const more = [grown(10, [{ epoch: 0, consumed: 3n, samples: 11 }], { seed: 1 }).grow(0, 4, 12), windows([3], 2, { stride: 1 })];
    const counts: Float64Array = ordered.sourceCounts(0, 2n).count;
    const numbers: number[] = [ordered.epochLength, ordered.sourceOf(3).index, ...ordered.sourceBounds, ordered.sources.length];
    const next: { position: number } | null = ordered.locateFrom(3, 4n, 2);
    const same: Sampler = Sampler.fromRecipe(mixed.recipe, { lists: mixed.lists });
    Sampler.fromJSON(mixed.toJSON());
    balance(new Uint8Array(3), [1_000_000]);
    weighted([1n, 2], { samples: 3n, replacement: false, seed: 1 });
    // @ts-expect-error
    blend({ a: 10 });
    // @ts-expect-error
    blend({ a: [10, 1] }, { exhaustion: 'end' });
    // @ts-expect-error
    bad.exclude('3');
    // @ts-expect-error
    new Order();
    // @ts-expect-error
    mixed.name = 'blend';
    export { more, counts, numbers, next, same };`;
  const orders = 'balance, blend, grown, order, sharded, weighted, windows, type Order';
  check(`import { Sampler, ${orders} } from 'samedeal';${useOrders}`, ['es2022']);
  check(`import { init, Sampler, ${orders} } from 'samedeal/web'; await init();${useOrders}`, ['es2022']);
  check(`import { Sampler, SamedealError, type Indices, type Kind } from 'samedeal';${use}`, ['es2022']);
  check(
    `import { ChunkStream, detectRank, Mesh, ShardPlan, verifyShards, type Detection, type Policy } from 'samedeal';
    import { readShards, type Row } from 'samedeal/parquet';
    const policy: Policy = 'locality-aware';
    const plan = new ShardPlan(new Uint32Array(3), { policy, holders: [[0], [1n]], rankNodes: [0], bytes: [3] });
    const shards: Uint32Array = plan.shards(0);
    const even: number = plan.loadSummary('workers', 'bytes').imbalance;
    const gaps: { firstShard: number; numShards: number }[] = verifyShards(3, [[0], shards]).gaps;
    for (const chunk of new ChunkStream(0, 2, { chunks: 4n })) chunk.toFixed();
    const mesh = new Mesh(4, { dp: 2, tp: 2n }, ['dp']);
    const copies: [Mesh, ShardPlan] = [Mesh.fromJSON(mesh.toJSON()), ShardPlan.fromJSON(plan.toJSON())];
    const again = [ShardPlan.fromRecipe(plan.recipe, { sizes: [3], epoch: 1n }), ChunkStream.fromRecipe({ order: {} }, { reader: 0 })];
    const found: Detection = detectRank({ environment: { RANK: '0', X: undefined } });
    { using scoped = new Mesh(1, {}, []); scoped.worldSize; }
    for await (const row of readShards('data', { deal: 'shards' })) { const one: Row = row; one['id']; }
    for await (const rows of readShards([new URL('file:///data')], { batchSize: 3 })) { const many: Row[] = rows; many.length; }
    // @ts-expect-error
    new Mesh(4, { dp: 4 });
    // @ts-expect-error
    plan.loads('rank');
    // @ts-expect-error
    new ShardPlan([3], { workerPolicy: 'locality-aware' });
    // @ts-expect-error
    readShards('data', { deal: 'rows' });
    export { again, copies, even, found, gaps, mesh };`,
    ['es2022', 'dom'],
  );
  check(
    `import { Reading, type ReadDeal, type ReadingJson, type ReadRound, type SavedState, type Steps } from 'samedeal';
    import { findShards, readBatches, type Row, type ShardFiles } from 'samedeal/parquet';
    const deal: ReadDeal = 'shards';
    const files: ShardFiles = await findShards(['data'], { columns: ['id'] });
    const reading = new Reading(files.sizes, { deal, balanceBy: 'bytes', bytes: files.bytes, worldSize: 2n, workers: 3, batchSize: 8 });
    const moved: Reading = reading.atEpoch(3n);
    const saved: SavedState = { samedeal: moved.state(5) };
    const rest: Reading = moved.resume(saved).resume('text');
    const steps: Steps = rest.steps;
    const samples: Float64Array = rest.indices(0, 1n, 2, 3);
    const rounds: ReadRound[] = [...rest.rounds(0), rest.round(0, 1, 2)];
    const shards: Uint32Array = rest.shards(0, rest.roundOf(0, 0, 1));
    const json: ReadingJson = rest.toJSON();
    const copy: Reading = Reading.fromJSON(json);
    const again: Reading = Reading.fromRecipe(rest.recipe, { sizes: [3n] });
    const lanes: Uint32Array = again.round(0, 0, 0).spans.lane;
    const told: [number | bigint, boolean, string, number] = [copy.epoch, copy.isRest, copy.recipe, copy.readsPerRow];
    for await (const batch of readBatches(files, rest, { rank: 0, worker: 1n, sampleColumn: 'n' })) { const rows: Row[] = batch; rows.length; }
    { using scoped = new Reading([3n, 4]); scoped.numSteps(0); }
    // @ts-expect-error
    new Reading([3], { deal: 'rows' });
    // @ts-expect-error
    new Reading([3], { policy: 'locality-aware' });
    // @ts-expect-error
    new Reading([3], { world: 2 });
    // @ts-expect-error
    rest.epoch = 3;
    // @ts-expect-error
    rest.batching;
    // @ts-expect-error
    readBatches(files, rest, { worker: 1 });
    // @ts-expect-error
    readBatches('data', rest, { rank: 0 });
    export { steps, samples, rounds, shards, told, lanes };`,
    ['es2022', 'dom'],
  );
  check(
    `import { type Claim, type Ledger, type CommittedRun, type Log, MemoryLog, openLedger, replayLedger, Sampler, type LedgerReplay } from 'samedeal';
    const store: Log = { read: (from) => ['entry'].slice(from), append: async (number, entry) => entry.length === number };
    const sampler = new Sampler(10);
    const ledger: Ledger = await openLedger(sampler, store, { reader: 1n, blockSize: 64, leaseMs: 500 });
    for await (const claim of ledger) { await claim.commit(3n); claim.samples(0, claim.count).at(-1)?.toFixed(); }
    const attempt = await ledger.tryClaim();
    const next: Claim | number = 'claim' in attempt ? attempt.claim : 'wait' in attempt ? attempt.wait : 0;
    const schedule: LedgerReplay = replayLedger(new MemoryLog().entries, { reader: 0, readers: 2n });
    const runs: CommittedRun[] = [...schedule];
    const finished: boolean = schedule.progress().finished;
    const kind: string | undefined = schedule.nextEvent()?.kind;
    replayLedger(new Uint8Array(3)); replayLedger([new Uint8Array(3), 'entry']); replayLedger('entry');
    // @ts-expect-error
    replayLedger([3]);
    for (const sample of schedule.samples(sampler)) sample.toFixed();
    // @ts-expect-error
    openLedger(sampler, store, { blockSize: 3 });
    // @ts-expect-error
    openLedger(sampler, { read: () => [] }, { reader: 0 });
    // @ts-expect-error
    ledger.commit(next);
    export { finished, kind, next, runs };`,
    ['es2022', 'dom'],
  );
  check(
    `import { type Batch, type BatchPlace, order, Batcher, BatchStream, type BatchShape, type LengthsSource, joinIndices, collatePack, collatePad, type Metrics, type Strategy } from 'samedeal';
    const strategy: Strategy = 'pack';
    const batcher: Batcher = new Batcher(new Uint32Array(3), { strategy, capacity: 4n, boundaries: [3], tail: 'drop' });
    const same = new Batcher([1, 2n], batcher.config);
    for (const batch of batcher) batch.samples.at(0)?.toFixed();
    const batch: Batch = same.batch(0n, 1);
    const steps: number = batcher.numSteps() + batcher.numWindows + batcher.consumed;
    batcher.resume(batcher.state(1n), { replan: true });
    batcher.useIndex(joinIndices([batcher.index(0, 1n)]));
    const shapes: BatchShape[] = batcher.shapes({ filled: true });
    const source: LengthsSource = { length: 3, take: async (samples) => Uint16Array.from(samples) };
    const asked: Promise<Batch> = new Batcher(source, batcher.config).withLengths((own) => own.batch(0));
    const own = new Batcher((samples) => samples, { order: order('feistel', { samples: 3 }), maxTokens: 9 });
    for await (const { fullRows } of own) fullRows.toFixed();
    const places: BatchPlace[] = batcher.locate(0);
    const again: Batcher = Batcher.fromRecipe(batcher.recipe, [3], { rank: 0, epoch: 1n, boundaries: [3n] });
    const named: string = again.recipeFingerprint() + BatchStream.fromRecipe({ batch: {} }, { rank: 1 }).recipe;
    const metrics: Metrics = batcher.metrics();
    const copy: Batcher = Batcher.fromJSON(batcher.toJSON());
    const ratio: number = metrics.toJSON().paddingRatio;
    const sum: string = metrics.toJSON().tokens;
    const waste: number = metrics.paddingRatio + metrics.costImbalance + metrics.steps;
    const tokens: number | bigint = metrics.tokens;
    const stream = new BatchStream({ maxTokens: 9, batchWindow: 3 });
    stream.push([1n], new Uint16Array(1));
    for (const { lengths } of stream) lengths.length;
    new BatchStream(stream.config);
    const values: Int16Array = collatePad([new Int16Array(3)], { side: 'left', padToMultipleOf: 8 }).values;
    const wide: BigInt64Array = collatePack(new BigInt64Array(3), { offsets: [0, 3], paddingValue: 3n }).values;
    const packed = collatePack([new Float32Array(3)], { rowEnds: batch.rowEnds, width: batch.paddedLength });
    const ids: Int32Array[] = [packed.positionIds, packed.segmentIds, packed.cuSeqlens];
    { using scoped = new Batcher([1], { maxTokens: 2 }); scoped.numWindows; }
    // @ts-expect-error
    new Batcher([1], { strategy: 'fast' });
    // @ts-expect-error
    new BatchStream({ quantiles: 3 });
    // @ts-expect-error
    new BatchStream({ order: 'torch' });
    // @ts-expect-error
    new Batcher([1], { history: [] });
    // @ts-expect-error
    collatePad([[1, 2]]);
    // @ts-expect-error
    collatePack([new Int8Array(1)], { side: 'left' });
    // @ts-expect-error
    metrics.steps = 3;
    export { copy, ratio, sum, steps, waste, tokens, values, wide, ids, named, places };`,
    ['es2022'],
  );
  check(
    `import { type GlobalBatchSizes, Batcher, blend, order, type EpochPosition, type Indices, type Lengths, Schedule, type ScheduleJson, Split, type SplitParts, type StepPlace } from 'samedeal';
    const weights: SplitParts = new Map([['test', 1n]]);
    const split: Split = new Split({ test: 1, training: 9n }, { seed: 3n });
    const kinds: Split[] = [new Split(weights), Split.ofSizes({ a: 3 }, { seed: 1 }), Split.folds(5n), Split.fromRecipe(split.recipe)];
    const numbers: Uint32Array[] = [split.partOf([3n, 4]), split.partOf(new Float64Array(3)), split.partOfKeys(['a'])];
    const held: Indices = split.indices('test', 100n);
    const told: string[] = [...Split.fromJSON(split.toJSON()).parts, split.nameOf(3), split.nameOf('a'), split.recipeFingerprint()];
    split.others(0, 100).length + Split.ofSizes({ a: 3 }).indices(0n).length;
    // @ts-expect-error
    new Split({ test: '1' });
    // @ts-expect-error
    split.partOfKeys('a');
    const sizes: GlobalBatchSizes = [[0, 8], [100n, 16n]];
    const schedule: Schedule = new Schedule(order('feistel', { samples: 10 }), sizes, { worldSize: 2, rank: 1n, unit: 2, layout: 'rotated' });
    new Schedule(10n, 8, { seed: 3, order: 'torch' });
    const place: StepPlace | null = schedule.locate(3, 1n);
    const at: EpochPosition = schedule.placeOf(3);
    const json: ScheduleJson = schedule.atRank(0).toJSON();
    const next: number = Schedule.fromJSON(json).resume(schedule.state(3n));
    for (const batch of schedule.batches(3, 5)) batch.length;
    for (const batch of schedule) { batch.length; break; }
    Schedule.fromRecipe(schedule.recipe, { rank: 1, sizes: [3], lists: { indices: [3] } }).indices(3, 2n).length;
    { using scoped = new Schedule(10, 8); scoped.numSteps; }
    // @ts-expect-error
    new Schedule(10);
    // @ts-expect-error
    new Schedule(10, 8, { remainder: 'pad' });
    // @ts-expect-error
    schedule.rank = 3;
    const lengths: Lengths = { web: [1, 2], code: new Uint8Array(1) };
    const mixed = blend({ web: [2, 1], code: [1, 1] });
    const batcher = new Batcher(lengths, { order: mixed, maxTokens: 9 });
    new Batcher(new Map([['web', [1]]]), { order: { name: 'copies', of: { samples: 1 }, copies: 2 }, maxTokens: 9 });
    new Batcher([1], batcher.config);
    Batcher.fromRecipe(batcher.recipe, lengths, { lists: { indices: [1] }, sizes: [1n] });
    // @ts-expect-error
    new Batcher({ web: 'x' }, { order: mixed });
    // @ts-expect-error
    new Batcher([1], { order: 3 });
    export { kinds, numbers, held, told, place, at, next };`,
    ['es2022'],
  );
  const useRest = `
    const sampler: Sampler = Sampler.fromState('text', { worldSize: 2n, rank: 1, unit: 2, sizes: [3] });
    const batcher: Batcher = Batcher.fromState('text', [3], { worldSize: 2, lists: { indices: [1] } });
    const reading: Reading = Reading.fromState({ samedeal: 'text' }, { workers: 2, batchSize: 8, bytes: [3] });
    const schedule: Schedule = Schedule.fromState('text', { layout: 'strided' });
    const batches: Indices[] = [...sampler.step(3, 2n, { dropLast: true }), ...schedule.step(3)];
    const read: (ReadBatch | null)[] = [...reading.step(3), reading.batchAt(0, 1n)];
    const planned: number[] = batcher.step(3n).map(({ paddedLength }) => paddedLength);
    const places: (number | undefined)[] = [...sampler.locateAll([3n], 2), ...schedule.locateAll(new Uint8Array(2))].map((place) => place?.rank);
    const rows: number = batcher.locateAll([3])[0]?.[0]?.row ?? 0;
    const stream: BatchStream = BatchStream.fromJSON(new BatchStream({ maxTokens: 3 }).toJSON());
    // @ts-expect-error
    Sampler.fromState('text', { epoch: 3 });
    // @ts-expect-error
    sampler.step(3);
    export { batches, read, planned, places, rows, stream };`;
  const rest = 'Batcher, BatchStream, type Indices, type ReadBatch, Reading, Sampler, Schedule';
  check(`import { ${rest} } from 'samedeal';${useRest}`, ['es2022']);
  const useFiles = `
    const buffer: AsyncBuffer = { byteLength: 3, slice: async () => new ArrayBuffer(3) };
    const source: Source = new Blob();
    const { signal } = new AbortController();
    const progress = ({ files, filesFound, rows, rowsGiven }: ReadProgress): number => files + filesFound + rows + rowsGiven;
    for await (const rows of readShards([buffer, source, 'a.parquet'], { state: 'text', signal, progress, batchSize: 3 })) rows.length;
    const files = await findShards(buffer, { signal });
    const rows: Row[] = await readRows(files, new Uint32Array(3), { sampleColumn: 'n', signal });
    // @ts-expect-error
    readShards([3]);
    // @ts-expect-error
    readRows(files, 'all');
    export { rows };`;
  const files = 'type AsyncBuffer, findShards, type ReadProgress, readRows, readShards, type Row, type Source';
  for (const entry of ['samedeal/files', 'samedeal/parquet', 'samedeal/web/parquet']) {
    check(`import { ${files} } from '${entry}';${useFiles}`, ['es2022', 'dom']);
  }
  check(
    `import { type DataFile, type FileBytes, findShards, type Format, jsonLines, type JsonType, readShards } from 'samedeal/files';
    const file = (bytes: FileBytes): DataFile => ({
      footer: { columns: new Map([['n', 'byte']]), rows: [bytes.byteLength], bytes: Float64Array.of(bytes.byteLength) },
      part: async () => {
        const values = new Uint8Array(await bytes.slice(0));
        return (first, end) => [values.subarray(first, end)];
      },
    });
    const own: Format = { name: 'bytes', suffixes: ['.bin'], open: file };
    const schema: { [column: string]: JsonType } = { id: 'int64', tags: ['string'], more: { x: [{ y: 'double' }] } };
    await findShards('data', { format: own });
    for await (const row of readShards('data', { format: jsonLines(schema) })) row['id'];
    for await (const row of readShards('data', { format: 'arrow' })) row['id'];
    // @ts-expect-error
    jsonLines({ id: 'int32' });
    // @ts-expect-error
    readShards('data', { format: 3 });`,
    ['es2022', 'dom'],
  );
  const web = `import { init, Sampler, SamedealError, type Indices, type Kind } from 'samedeal/web';${use}
    import { Batcher, type Source } from 'samedeal/web';
    import wasm from 'samedeal/web/samedeal.wasm';
    const source: Source = 'a.wasm';
    await init(); await init(source); await init(fetch('a.wasm')); await init(new Uint8Array(8)); await init(wasm);
    new Batcher([3], { maxTokens: 3 }).numSteps();
    // @ts-expect-error
    await init(null);`;
  check(web, ['es2022', 'dom']);
  check(`import { Sampler, type Indices, type Kind, SamedealError } from 'samedeal/inline';${use}`, ['es2022']);
  check(`import { Sampler, type Indices, type Kind, SamedealError } from 'samedeal/light';${use}`, ['es2022']);
  for (const [lib, texts] of Object.entries(modules)) await compile(texts, lib.split(','));
  await assert.rejects(compile([`import { Sampler } from 'samedeal'; new Sampler(1).nothing;`], ['es2022']));
});

/** The page of the documentation with the sizes of the package. */
const pages = readFileSync(join(host, '../../docs/reference/javascript/pages.md'), 'utf8');
/** Compares a size with the number of kB that a pattern finds in the page of the documentation. */
const isTold = (what, size, pattern) => {
  const told = Number(pattern.exec(pages)?.[1]);
  assert(Math.abs(size / 1000 - told) < 2, `${what}: ${size} bytes, not ${told} kB`);
};

test('a page loads as much as the documentation says', () => {
  const dist = join(project, 'node_modules/samedeal/dist/');
  const bytesOf = (file) => gzipSync(readFileSync(join(dist, file))).length;
  const scripts = (file) => {
    const text = readFileSync(join(dist, file), 'utf8');
    const imported = Array.from(text.matchAll(/\bfrom ?["'](\.[^"']+)["']/g), ([, other]) => join(file, '..', other));
    return [file, ...imported.flatMap(scripts)];
  };
  // The page loads no other files, neither one after the other nor at once.
  const COMPONENT = 'components/samedeal.core.wasm';
  for (const [entry, others] of [
    ['web.js', [COMPONENT]],
    ['light.js', []],
    ['inline.js', ['inline/samedeal/index.js']],
  ]) {
    const text = readFileSync(join(dist, entry), 'utf8');
    const loaded = [...scripts(entry), ...(text.includes(`"./${COMPONENT}"`) ? [COMPONENT] : [])];
    assert.deepEqual(loaded, [entry, ...others]);
    const size = loaded.reduce((sum, file) => sum + bytesOf(file), 0);
    isTold(entry, size, new RegExp(`^\\| \`${entry}\` \\|.* (\\d+) kB \\|$`, 'm'));
  }
});

test('a bundle grows by as much as the documentation says', async () => {
  const size = async (contents) => {
    const settings = { bundle: true, minify: true, format: 'esm', platform: 'browser', write: false };
    const { outputFiles } = await build({ ...settings, stdin: { contents, resolveDir: project } });
    return gzipSync(outputFiles[0].contents).length;
  };
  for (const entry of ['samedeal', 'samedeal/light']) {
    const added = await size(`export { Sampler } from '${entry}';`);
    isTold(entry, added, new RegExp(`\`${entry}\` adds (\\d+) kB`));
    const all = await size(`export * from '${entry}';`);
    assert(all < 1.08 * added, `all of ${entry}: ${all} bytes, beside ${added} with a Sampler`);
  }
});
