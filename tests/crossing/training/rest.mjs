// Reads the rest of an epoch for every rank, after a state: a request as JSON on standard input, batches on standard
// output.
//
//     { "samples": 100 or "lengths": [...], "options": { "world_size": 4, ... }, "state": "...", "batchSize": 8 }

import { text } from 'node:stream/consumers';
import { Batcher, Sampler } from '../../../hosts/js/dist/index-files.js';

const { samples, lengths, options, state, batchSize } = JSON.parse(await text(process.stdin));
const { world_size: worldSize, ...others } = options;
const ranks = Array.from({ length: worldSize }, (_, rank) => {
  const own = { ...others, worldSize, rank };
  const rest = lengths ? new Batcher(lengths, own) : new Sampler(samples, own);
  rest.resume(state);
  const batches = lengths ? Array.from(rest, (batch) => batch.samples) : Array.from(rest.batches(batchSize));
  return batches.map((batch) => Array.from(batch, Number));
});
console.log(JSON.stringify(ranks));
