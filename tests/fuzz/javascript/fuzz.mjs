// Calls everything that is public in the npm package, with arguments of every kind, and checks the results.
//
//     node tests/fuzz/javascript/fuzz.mjs --minutes 10 --seed 1 [--only Sampler] [--entry samedeal/web]
//
// The calls are made in a process of their own (`worker.mjs`), so that a crash or a hang is a finding. The last line of the
// output is a JSON object; failures are in it as scripts. The same seed makes the same programs.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Seconds after which a call counts as hung. */
const SILENT = 60;
const MOST_FAILURES = 30;
/** Megabytes by which a process may grow between its warm-up and its end. */
const GROWTH = 64;
const HEADER = '// The last of these calls did not come to an end.\n';

/** The lines that one process prints, and finally whether it ended by itself. */
async function* lines({ entry, seed, seconds, only, calls, file }) {
  writeFileSync(file, '\0'.repeat(1 << 16));
  const options = ['--expose-gc', '--max-old-space-size=3000', '--stack-trace-limit=30'];
  const worker = fileURLToPath(new URL('worker.mjs', import.meta.url));
  const given = [entry, seed, seconds, only, file, calls].map(String);
  const child = spawn(process.execPath, [...options, worker, ...given], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data) => {
    errors = (errors + data).slice(-3000);
  });
  const program = () => readFileSync(file, 'utf8').split('\0', 1)[0];
  let before = '';
  let since = Date.now();
  let hangs = false;
  const watch = setInterval(() => {
    const now = program();
    if (now !== before) [before, since] = [now, Date.now()];
    else if (Date.now() - since > 1000 * SILENT) {
      hangs = true;
      child.kill('SIGKILL');
    }
  }, 1000);
  const ended = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
  const code = await ended;
  clearInterval(watch);
  const last = program().trimEnd().split('\n').at(-1).slice(0, 200);
  if (hangs) yield { failure: ['hang', last, `no end in ${SILENT} s`, HEADER + program()] };
  else if (code !== 0) yield { failure: [`crash ${code}`, last, errors, HEADER + program()] };
}

/** Runs programs for `seconds`, or up to `calls` calls; returns a summary. */
export async function run({ seed, seconds = 0, only = '', calls = 0, entry = 'samedeal', tell = () => {} }) {
  const total = {
    host: `javascript ${entry}`,
    calls: 0,
    seconds: 0,
    errors: {},
    slowest_ms: 0,
    slowest: '',
    memory_growth_mb: 0,
  };
  const failures = new Map();
  const started = Date.now();
  const spent = () => (Date.now() - started) / 1000;
  const folder = mkdtempSync(join(tmpdir(), 'samedeal-fuzz-'));
  try {
    for (let turn = 0; turn < 20 && failures.size < MOST_FAILURES; turn++) {
      let state = { done: false };
      const own = {
        entry,
        seed: seed + 1_000_003 * turn,
        seconds: seconds - spent(),
        only,
        calls,
        file: join(folder, 'running'),
      };
      for await (const line of lines(own)) {
        if (line.failure) {
          const [kind, what, text, script] = line.failure;
          if (!failures.has(`${kind}|${what}`)) tell(`\n${kind}: ${what}: ${text}\n${script}\n`);
          failures.set(`${kind}|${what}`, { kind, what, text, script });
          continue;
        }
        state = line;
        tell(
          `\r${state.seconds.toFixed()} s, ${state.calls} calls of ${state.called} of ${state.of} names, ${failures.size} failures `,
        );
      }
      if (state.calls) {
        total.calls += state.calls;
        for (const [kind, count] of Object.entries(state.errors))
          total.errors[kind] = (total.errors[kind] ?? 0) + count;
        if (state.slowest[0] > total.slowest_ms) [total.slowest_ms, total.slowest] = state.slowest;
        total.memory_growth_mb = Math.max(total.memory_growth_mb, Number(state.growth.toFixed(1)));
        total.called = state.called;
        total.of = state.of;
      }
      // A process that died is started again with other programs, unless it failed before its first call.
      if (state.done || !state.calls || (!calls && spent() > seconds)) break;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  if (total.memory_growth_mb > GROWTH) {
    failures.set('memory', {
      kind: 'memory',
      what: '',
      text: `${total.memory_growth_mb} MB more than after the warm-up`,
      script: '',
    });
  }
  return { ...total, seconds: Number(spent().toFixed(1)), failures: [...failures.values()] };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      calls: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      entry: { type: 'string', default: 'samedeal' },
    },
  });
  const { only, entry } = values;
  const [seconds, seed, calls] = [60 * Number(values.minutes), Number(values.seed), Number(values.calls)];
  const found = await run({ seed, seconds, only, calls, entry, tell: (text) => process.stderr.write(text) });
  console.log(JSON.stringify({ ...found, seed }));
  process.exit(found.failures.length > 0 ? 1 : 0);
}
