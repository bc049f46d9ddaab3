// How much memory the decoded values of a reader take, about.
import type { Piece } from './format.js';

/** The bytes of decoded values above which a reader gives a warning: programs have little more memory by default. */
export const MUCH_BYTES = 2 ** 30;

/**
 * The bytes of decoded values that a reader with `own` lanes has in memory, if all parts of files have `rows` rows, and all
 * files together `samples` rows. Lanes are of equal length. `pieces` has what is decoded in one piece of each column. Each
 * lane needs one piece of every column; lanes that read in one part of a file may share pieces.
 */
export function heldBytes(own: number, rows: number, samples: number, pieces: readonly Piece[]): number {
  const groups = Math.min(own, samples / rows);
  const lanes = own / groups;
  return groups * pieces.reduce((sum, piece) => sum + piece.width * Math.min(rows, lanes * piece.rows), 0);
}

/** The most lanes, below `own`, with which a reader stays below `MUCH_BYTES`; 0 if there are none. */
export function lanesThatFit(own: number, rows: number, samples: number, pieces: readonly Piece[]): number {
  let [fit, above] = [0, own];
  while (above - fit > 1) {
    const middle = (fit + above) >> 1;
    if (heldBytes(middle, rows, samples, pieces) < MUCH_BYTES) fit = middle;
    else above = middle;
  }
  return fit;
}
