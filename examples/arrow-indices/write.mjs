// Writes the batches of one rank to an Arrow file: node write.mjs OUTPUT --samples N --batch-size B
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { Field, makeData, RecordBatch, RecordBatchFileWriter, Schema, Struct, Uint32 } from 'apache-arrow';
import { Sampler } from 'samedeal';

const options = {
  samples: { type: 'string' },
  'batch-size': { type: 'string' },
  seed: { type: 'string', default: '0' },
  epoch: { type: 'string', default: '0' },
  rank: { type: 'string', default: '0' },
  'world-size': { type: 'string', default: '1' },
};

/** A record batch for each batch, so that a reader finds batch number k as record batch number k. */
function* records(sampler, batchSize) {
  const metadata = { recipe: sampler.recipe, epoch: sampler.epoch, rank: sampler.rank, batch_size: batchSize };
  const fields = [new Field('sample', new Uint32(), false)];
  const schema = new Schema(fields, new Map(Object.entries(metadata).map(([name, value]) => [name, String(value)])));
  for (const batch of sampler.batches(batchSize)) {
    // The array of samedeal becomes the column itself, without a copy.
    if (!(batch instanceof Uint32Array)) throw new RangeError('samples is above 2^32: this column has 32 bits');
    const column = makeData({ type: fields[0].type, data: batch });
    yield new RecordBatch(schema, makeData({ type: new Struct(fields), length: batch.length, children: [column] }));
  }
}

/**
 * Writes the file under another name first, and then renames it, so a file of this name is always complete. All batches
 * are in memory until it is written.
 */
async function save(batches, output) {
  const temporary = `${output}.new`;
  const writer = RecordBatchFileWriter.writeAll(batches);
  await mkdir(dirname(output), { recursive: true });
  try {
    await pipeline(writer.toNodeStream(), createWriteStream(temporary));
    await rename(temporary, output);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [output] = positionals;
  if (positionals.length !== 1 || !values.samples || !values['batch-size'])
    throw new Error('Usage: node write.mjs OUTPUT --samples N --batch-size B');
  const { samples, 'batch-size': batchSize, 'world-size': worldSize, ...rest } = values;
  const numbers = Object.fromEntries(
    Object.entries({ ...rest, worldSize }).map(([name, text]) => [name, Number(text)]),
  );
  const sampler = new Sampler(Number(samples), numbers);
  const count = sampler.numBatches(Number(batchSize));
  if (count === 0) throw new RangeError(`rank ${sampler.rank} has no batch: a file of Arrow begins with one`);
  await save(records(sampler, Number(batchSize)), output);
  console.log(`${count} batches of rank ${sampler.rank}`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
