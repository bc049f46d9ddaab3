import { Sampler } from 'samedeal:deal/sampling@0.1.0';

/** All batches of one rank. Numbers of 64 bits are BigInt, and a failure of samedeal is thrown as `{ payload }`. */
export function batches(recipe, epoch, rank, batchSize) {
  try {
    const sampler = new Sampler(recipe, [], epoch, rank);
    const count = Number(sampler.numBatches(batchSize, false));
    return Array.from({ length: count }, (_, number) => sampler.batch(BigInt(number), batchSize, false));
  } catch (error) {
    if (!error.payload) throw error;
    const { field, value, allowed } = error.payload;
    throw `${field} is ${value}; allowed: ${allowed}`;
  }
}
