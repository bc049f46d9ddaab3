/**
 * A model of a shuffle buffer, as WebDataset and Hugging Face's streaming datasets have one: it has room for a number
 * of samples, returns a random one of them, and puts the next sample that is read in its place. At the end, it returns
 * the rest in a random order. It is no order of samedeal.
 *
 * Each random number depends on a place in the stream only. So the buffer at any place can be found without the whole
 * stream before it: the sample in a slot was decided when the slot was filled last, usually a few buffers ago.
 */
export class ShuffleBuffer {
  readonly #samples: number;
  readonly #size: number;
  readonly #seed: number;
  #rest: number[] | undefined;

  constructor(samples: number, size: number, seed: number) {
    [this.#samples, this.#size, this.#seed] = [samples, Math.min(size, samples), seed];
  }

  /** The samples that the buffer returns at places `from` to `to` - 1, by their places in the stored order. */
  slice(from: number, to: number): number[] {
    const full = this.#samples - this.#size;
    const found: number[] = [];
    // While the buffer is full, a slot returns the sample that was put there last.
    const filled = this.#before(from, Math.min(to, full));
    for (let place = from; place < Math.min(to, full); place++) {
      const slot = this.#slot(place);
      found.push(filled.get(slot) as number);
      filled.set(slot, place + this.#size);
    }
    for (let place = Math.max(from, full); place < to; place++) found.push(this.#atEnd(place - full));
    return found;
  }

  /** The samples, just before place `from`, in the slots that are used from `from` to `to` - 1. */
  #before(from: number, to: number): Map<number, number> {
    const held = new Map<number, number>();
    const open = new Set<number>();
    for (let place = from; place < to; place++) open.add(this.#slot(place));
    for (let place = from - 1; place >= 0 && open.size > 0; place--) {
      const slot = this.#slot(place);
      if (open.delete(slot)) held.set(slot, place + this.#size);
    }
    for (const slot of open) held.set(slot, slot);
    return held;
  }

  /** A sample that is returned after the last one was read; `number` counts these samples. */
  #atEnd(number: number): number {
    if (!this.#rest) {
      const full = this.#samples - this.#size;
      const held: number[] = Array.from({ length: this.#size }, (_, slot) => slot);
      const open = new Set(held);
      for (let place = full - 1; place >= 0 && open.size > 0; place--) {
        const slot = this.#slot(place);
        if (open.delete(slot)) held[slot] = place + this.#size;
      }
      for (let at = 0; at < held.length; at++) {
        const other = at + below(held.length - at, this.#seed, full + at);
        [held[at], held[other]] = [held[other] as number, held[at] as number];
      }
      this.#rest = held;
    }
    return this.#rest[number] as number;
  }

  #slot(place: number): number {
    return below(this.#size, this.#seed, place);
  }
}

/** A random number below `limit`, which is at most 2^20. It depends only on the seed and the place. */
export function below(limit: number, seed: number, place: number): number {
  const high = Math.floor(place / 2 ** 32);
  return Math.floor((mixed((place >>> 0) ^ mixed(high ^ seed)) * limit) / 2 ** 32);
}

/** The finaliser of MurmurHash3, for 32 bits. */
function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
