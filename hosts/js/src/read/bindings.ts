// A reading over the resources that jco makes of the interface `read`.
import { release } from '../component.js';
import type { Options, Reading } from '../jco/interfaces/samedeal-deal-read.js';
import type { RawReading, RawReadOptions, RawStand } from './raw.js';

/** The classes of an instance. */
interface Classes {
  Options: typeof Options;
  Reading: typeof Reading;
}

type Setters = { [Name in keyof RawReadOptions]-?: (to: Options, value: NonNullable<RawReadOptions[Name]>) => void };

const SETTERS: Setters = {
  seed: (to, value) => to.setSeed(value),
  deal: (to, value) => to.setDeal(value),
  shuffle: (to, value) => to.setShuffle(value),
  lanes: (to, value) => to.setLanes(value),
  window: (to, value) => to.setWindow(value),
  remainder: (to, value) => to.setRemainder(value),
  shuffleRows: (to, value) => to.setShuffleRows(value),
  reshuffle: (to, value) => to.setReshuffle(value),
  policy: (to, value) => to.setPolicy(value),
  workerPolicy: (to, value) => to.setWorkerPolicy(value),
  weight: (to, value) => to.setWeight(value),
  bytes: (to, value) => to.setBytes(value),
  world: (to, value) => to.setWorldSize(value),
  workers: (to, value) => to.setWorkers(value),
  batchSize: (to, value) => to.setBatchSize(value),
  dropLast: (to, value) => to.setDropLast(value),
};

/** Makes a reading, at epoch 0 or where `stand` says. */
export function makeReading(
  { Options, Reading }: Classes,
  sizes: BigUint64Array<ArrayBuffer>,
  given: RawReadOptions,
  stand: RawStand | undefined,
): RawReading {
  const options = new Options(sizes);
  let whole: Reading;
  try {
    for (const [name, value] of Object.entries(given)) {
      (SETTERS[name as keyof RawReadOptions] as (to: Options, value: unknown) => void)(options, value);
    }
    whole = new Reading(options);
  } finally {
    release(options);
  }
  if (!stand) return whole as RawReading;
  try {
    return ('state' in stand ? whole.resume(stand.state) : whole.atEpoch(stand.epoch)) as RawReading;
  } finally {
    release(whole);
  }
}
