// A reading over the resources that jco makes of the interface `read`.
import { release } from '../component.js';
import { isFailure } from '../engine.js';
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
  const whole = using(new Options(sizes), (options) => {
    for (const [name, value] of Object.entries(given)) {
      (SETTERS[name as keyof RawReadOptions] as (to: Options, value: unknown) => void)(options, value);
    }
    return new Reading(options);
  }) as RawReading;
  if (!stand) return whole;
  return using(whole, () => ('state' in stand ? whole.resume(stand.state) : whole.atEpoch(stand.epoch)));
}

/** What comes of an object that is freed afterwards. */
export function using<T extends object, R>(object: T, use: (object: T) => R): R {
  let result: R;
  try {
    result = use(object);
  } catch (error) {
    // Anything but a failure is the end of the instance, into which nothing may call any more.
    if (isFailure(error)) release(object);
    throw error;
  }
  release(object);
  return result;
}
