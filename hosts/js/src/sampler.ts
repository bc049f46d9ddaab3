// The name by which the files of the ledger know it, until they move into a folder of their own.
export { BaseSampler } from './deal/sampler.js';
