// Transcripts in workerd: `node workerd.mjs FOLDER`. It starts workerd with a worker and sends it one transcript after another.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { argv } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { lines } from './replay.mjs';

const folder = resolve(argv[2]);
const here = fileURLToPath(new URL('.', import.meta.url));
const require = createRequire(import.meta.url);
const { default: workerd, version } = require('workerd');
const words = (file) => readFileSync(join(folder, file), 'utf8').trim().split('\n');

// An embedded file. workerd takes paths relative to its configuration.
const embed = (name, kind, path) => `(name = "${name}", ${kind} = embed "${relative(folder, path)}")`;
const modules = [
  embed('worker.mjs', 'esModule', join(here, 'worker.mjs')),
  ...['replay.mjs', 'crc.mjs'].map((file) => embed(file, 'esModule', join(here, file))),
  ...words('components.txt').map((name) => embed(name, 'wasm', join(folder, `${name}.core.wasm`))),
];
const config = join(folder, 'workerd.capnp');
writeFileSync(
  config,
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "replay", worker = (compatibilityDate = "2026-01-01", modules = [${modules.join(', ')}]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "replay")],
);
`,
);

// workerd chooses a free port, and writes it to the pipe 3.
const server = spawn(workerd, ['serve', config, '--control-fd=3'], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
try {
  const port = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdio[3] }).on('line', (line) => {
      const told = JSON.parse(line);
      if (told.event === 'listen') resolve(told.port);
    });
    server.once('error', reject).once('exit', (code) => reject(new Error(`workerd ended with ${code}`)));
  });
  for (const group of words('groups.txt')) {
    const body = readFileSync(join(folder, `${group}.txt`));
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
    if (!response.ok) throw new Error(`${group}: workerd answered ${response.status}: ${await response.text()}`);
    const outcome = await response.json();
    console.log(lines(`workerd (${version})`, outcome));
    for (const error of outcome.errors) console.error(error);
    if (outcome.failed > 0) process.exitCode = 1;
  }
} finally {
  server.kill();
}
