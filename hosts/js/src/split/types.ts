import type { Integer } from '../types.js';

/**
 * The parts of a split by their names, each with its weight (such as 7, or 0.7) or its size. In an object, names that are whole numbers come first; a `Map`
 * keeps its order.
 */
export type SplitParts = Readonly<Record<string, Integer>> | ReadonlyMap<string, Integer>;

/** The options of a split. */
export interface SplitOptions {
  /** Seed of the split: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
}

/** A split in JSON: its recipe. */
export interface SplitJson {
  recipe: string;
}
