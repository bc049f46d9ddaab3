// What every rank of a world reads of an epoch after a state: a request as JSON on standard input, batches on standard
// output.
//
//     { "samples": 100 or "lengths": [...], "options": {...}, "state": "...", "batchSize": 8 }

import { text } from 'node:stream/consumers';
import { Batcher, Sampler } from '../../hosts/js/dist/index-files.js';

const { samples, lengths, options, state, batchSize } = JSON.parse(await text(process.stdin));
const ranks = Array.from({ length: options.world }, (_, rank) => {
  const rest = lengths ? new Batcher(lengths, { ...options, rank }) : new Sampler(samples, { ...options, rank });
  rest.resume(state);
  const batches = lengths ? Array.from(rest, (batch) => batch.samples) : Array.from(rest.batches(batchSize));
  return batches.map((batch) => Array.from(batch, Number));
});
console.log(JSON.stringify(ranks));
