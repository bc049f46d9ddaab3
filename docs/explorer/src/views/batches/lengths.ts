/** Examples of lengths. They are computed with whole numbers only, so that every browser gets the same lengths. */

/** For each example: its smallest length, and the lengths at each tenth of the sorted samples. */
const TENTHS = {
  chat: [6, 24, 46, 80, 130, 200, 310, 480, 760, 1200, 2048],
  documents: [40, 180, 310, 450, 620, 850, 1200, 1700, 2500, 3900, 8192],
  speech: [90, 420, 680, 900, 1080, 1220, 1340, 1420, 1480, 1520, 1600],
} as const;
export type Example = keyof typeof TENTHS;
export const EXAMPLES = Object.keys(TENTHS) as Example[];
const SAMPLES = 20_000;

export function example(name: Example): Uint32Array<ArrayBuffer> {
  const tenths = TENTHS[name];
  let state = 1;
  return Uint32Array.from({ length: SAMPLES }, () => {
    // A linear congruential generator of 32 bits. Its upper bits are random enough for an example.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const place = Math.floor((state / 2 ** 32) * 10_000);
    const tenth = Math.floor(place / 1000);
    const [least, most] = [tenths[tenth] as number, tenths[tenth + 1] as number];
    return least + Math.floor(((most - least) * (place % 1000)) / 1000);
  });
}
