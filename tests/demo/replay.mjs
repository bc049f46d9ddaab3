// One epoch over a folder of Parquet files as one of several ranks: the JavaScript part of `cargo xtask demo`.
//
//     node replay.mjs DIR --column text --rank 0 --world-size 4 --batch-size 32
//
// The samples are the rows of all *.parquet files below DIR, laid end to end in the order of the paths; names that begin
// with '.' or '_' are skipped, and links are followed. Prints a JSON object: the number of samples and batches, the
// first and the last five indices, and the SHA-256 over each sample in the order seen, as its length in bytes (8 bytes,
// little-endian) and its bytes.

import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { Sampler } from 'samedeal';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    column: { type: 'string', default: 'text' },
    rank: { type: 'string', default: '0' },
    'world-size': { type: 'string', default: '1' },
    'batch-size': { type: 'string', default: '32' },
  },
});

/** The names of the *.parquet files below a folder, in the order of their bytes. */
function below(folder) {
  const names = [];
  const list = (inside) => {
    for (const name of readdirSync(join(folder, inside))) {
      if (/^[._]/.test(name)) continue;
      const within = inside === '' ? name : `${inside}/${name}`;
      const found = statSync(join(folder, within));
      if (found.isDirectory()) list(within);
      else if (found.isFile() && name.endsWith('.parquet')) names.push(within);
    }
  };
  list('');
  return names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** One column of the whole dataset, text as UTF-8. */
async function read(folder, column) {
  const files = below(folder).map((name) => join(folder, name));
  const dataset = [];
  for (const path of files) {
    const file = await asyncBufferFromFile(path);
    for (const row of await parquetReadObjects({ file, columns: [column], compressors, utf8: false })) {
      dataset.push(Buffer.from(row[column]));
    }
  }
  return dataset;
}

const start = performance.now();
const dataset = await read(positionals[0], values.column);
const sampler = new Sampler(dataset.length, {
  seed: 0,
  epoch: 0,
  rank: Number(values.rank),
  worldSize: Number(values['world-size']),
});
const digest = createHash('sha256');
const seen = [];
let batches = 0;
for (const batch of sampler.batches(Number(values['batch-size']))) {
  batches += 1;
  for (const index of batch) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(dataset[index].length));
    digest.update(length).update(dataset[index]);
    seen.push(index);
  }
}

console.log(
  JSON.stringify({
    engine: `node (${process.version.slice(1)})`,
    samples: seen.length,
    batches,
    first: seen.slice(0, 5),
    last: seen.slice(-5),
    sha256: digest.digest('hex'),
    seconds: (performance.now() - start) / 1000,
  }),
);
