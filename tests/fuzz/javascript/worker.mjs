// A process that makes programs of calls and runs them. `fuzz.mjs` starts it, and starts another one if it dies.
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as h from './hostile.mjs';
import { fc, load, require } from './packages.mjs';
import { Failure, programs, Runner } from './program.mjs';
import { targets } from './surface.mjs';

const [entry, seed, seconds, only, file, most] = process.argv.slice(2);

/** The scope of all programs: an entry of the package, and files. */
export async function scopeOf(entry, path) {
  const samedeal = require(entry);
  if ('init' in samedeal) await samedeal.init();
  const parquet = require(entry === 'samedeal/web' ? 'samedeal/web/parquet' : 'samedeal/files');
  const rows = join(path, 'rows');
  mkdirSync(rows, { recursive: true });
  const { parquetWriteBuffer } = await load('hyparquet-writer');
  const blobs = [5, 40].map((count, number) => {
    const data = [...Array(count).keys()];
    const columnData = [
      { name: 'row', data, type: 'INT32' },
      { name: 'text', data: data.map(String), type: 'STRING' },
    ];
    const bytes = new Uint8Array(parquetWriteBuffer({ columnData }));
    writeFileSync(join(rows, `${number}.parquet`), bytes);
    return new Blob([bytes]);
  });
  // A page has no paths, so its programs get blobs.
  const folder = 'init' in samedeal ? { rows: blobs, file: blobs[0] } : { rows, file: join(rows, '0.parquet') };
  return { samedeal, parquet, folder, h };
}

/** How many times slower this machine is than the one on which the limits were set. */
function slowness() {
  const { user } = process.cpuUsage();
  let total = 0;
  for (let i = 0; i < 1e8; i++) total = (total + i) | 0;
  return Math.max(1, (process.cpuUsage().user - user) / 1e5);
}

/** The difference between the last fifth and the fifth after the warm-up. */
function growth(measured) {
  if (measured.length < 10) return 0;
  const part = Math.floor(measured.length / 5);
  const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  return middle(measured.slice(-part)) - middle(measured.slice(2 * part, 3 * part));
}

async function main() {
  // Warnings of readers are expected.
  process.removeAllListeners('warning');
  process.on('warning', () => {});
  // A caller's own log or proxy may reject a promise for which no code waits. Node must not end because of it.
  process.on('unhandledRejection', () => {});
  const path = mkdtempSync(join(tmpdir(), 'samedeal-fuzz-'));
  try {
    const scope = await scopeOf(entry, path);
    const { found, prototypes } = await targets(scope);
    const chosen = found.filter(({ what }) => what.replace(/^new /, '').startsWith(only));
    if (chosen.length === 0) throw new Error(`nothing public begins with ${only}`);
    const runner = new Runner(scope, prototypes, 1000 * slowness(), openSync(file, 'r+'));
    const measured = [];
    const seen = new Set();
    const started = performance.now();
    let told = started;
    const tell = (done) => {
      const { calls, errors, slowest } = runner;
      const state = {
        calls,
        errors,
        slowest,
        seconds: (performance.now() - started) / 1000,
        growth: growth([...measured]),
      };
      console.log(JSON.stringify({ ...state, called: runner.called.size, of: chosen.length, done }));
    };
    const look = () => {
      if (performance.now() - told < 2000) return;
      told = performance.now();
      globalThis.gc?.();
      measured.push(process.memoryUsage().rss / 1e6);
      tell(false);
    };
    const isOver = () =>
      Number(most) ? runner.calls >= Number(most) : performance.now() - started > 1000 * Number(seconds);
    // First a program for each target, then programs of many calls.
    const tour = [...chosen];
    const all = programs(chosen);
    for (let turn = 0; !isOver(); turn++) {
      const target = tour.pop();
      let wanted;
      let failure;
      const property = fc.asyncProperty(target === undefined ? all : programs([target], 2), async (program) => {
        // Garbage is freed in a task of its own, for which a chain of promises leaves no time.
        await new Promise((resolve) => setImmediate(resolve));
        look();
        if (wanted === undefined && isOver()) return;
        try {
          await runner.run(program);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          if (seen.has(error.signature) || (wanted ?? error.signature) !== error.signature) return;
          wanted = error.signature;
          failure = { error, script: [...runner.script] };
          throw error;
        }
      });
      const numRuns = target === undefined ? 200 : 3;
      const details = await fc.check(property, {
        seed: Number(seed) * 1000 + turn,
        numRuns,
        interruptAfterTimeLimit: 20_000,
      });
      if (failure === undefined) {
        if (details.failed && details.errorInstance) throw details.errorInstance;
        continue;
      }
      seen.add(failure.error.signature);
      const { kind, what, told } = failure.error;
      const imports = [
        `import * as samedeal from '${entry}';`,
        "import * as h from './hostile.mjs'; // of tests/fuzz/javascript",
        "import * as laws from './laws.mjs';",
      ];
      console.log(JSON.stringify({ failure: [kind, what, told, [...imports, ...failure.script].join('\n')] }));
    }
    tell(true);
  } finally {
    rmSync(path, { recursive: true });
  }
}

if (process.argv.length > 7) await main();
