// One reader of a ledger in a folder: `claim.mjs FOLDER READER SAMPLES BLOCK LEASE SECONDS`. It prints the runs that it
// committed.
import { setTimeout } from 'node:timers/promises';
import { openLedger, Sampler } from '../../../hosts/js/dist/index-files.js';
import { FolderLog } from '../../../hosts/js/dist/node.js';

const [path, ...numbers] = process.argv.slice(2);
const [reader, samples, blockSize, lease, seconds] = numbers.map(Number);
const log = new FolderLog(path);
const ledger = await openLedger(new Sampler(samples, { seed: 5 }), log, { reader, blockSize, leaseMs: 1000 * lease });
for (let claim = await ledger.claim(); claim; claim = await ledger.claim()) {
  const { start, count } = claim;
  await setTimeout(1000 * seconds * count);
  try {
    await claim.commit();
    console.log(start, count);
  } catch (error) {
    // The lease has ended, so other readers read the rest of this claim.
    if (error.field !== 'claim') throw error;
  }
}
