import type { Bytes } from './bytes.js';

/** The most bytes that are held at a time, of all files together. */
const MOST = 1 << 25;

/** Bytes of a file that are asked for at once, although several parts of it are needed. */
export interface Block {
  readonly start: number;
  readonly end: number;
}

/**
 * Blocks of files that were read lately. A server is asked for a block once, and not for every page of it. What has not been used for the
 * longest time goes first; whoever needs it again reads the part that it needs.
 */
export class Held {
  /** From what was used the longest time ago to what was used last. */
  readonly #blocks = new Map<Block, Promise<ArrayBuffer>>();
  #size = 0;

  /** Reads a block, unless it is there. */
  async read(file: Bytes, block: Block): Promise<void> {
    let bytes = this.#use(block);
    if (!bytes) {
      bytes = file.slice(block.start, block.end);
      this.#blocks.set(block, bytes);
      this.#size += block.end - block.start;
      for (const [oldest] of this.#blocks) {
        if (this.#size <= MOST || oldest === block) break;
        this.drop(oldest);
      }
    }
    try {
      await bytes;
    } catch (error) {
      if (this.#blocks.get(block) === bytes) this.drop(block);
      throw error;
    }
  }

  /** Bytes of a file, out of the block if they are in it and it is there. */
  async slice(file: Bytes, block: Block | undefined, start: number, end: number): Promise<ArrayBuffer> {
    if (!block || start < block.start || end > block.end) return file.slice(start, end);
    const bytes = await this.#use(block);
    return bytes ? bytes.slice(start - block.start, end - block.start) : file.slice(start, end);
  }

  drop(block: Block): void {
    if (this.#blocks.delete(block)) this.#size -= block.end - block.start;
  }

  #use(block: Block): Promise<ArrayBuffer> | undefined {
    const bytes = this.#blocks.get(block);
    if (bytes && this.#blocks.delete(block)) this.#blocks.set(block, bytes);
    return bytes;
  }
}

/** How large a block is at most: what is little more than a request costs. */
const LARGEST = 1 << 20;

/** Joins parts of a file that are next to each other; `size` is that of the file. Parts that are larger than a block are in none. */
export function blocksOf(parts: readonly Block[], size: number): Block[] {
  const blocks: Block[] = [];
  let last: { start: number; end: number } | undefined;
  for (const { start, end } of [...parts].sort((one, other) => one.start - other.start)) {
    if (!(start >= 0 && end > start && end <= size && end - start <= LARGEST)) continue;
    if (last && end - last.start <= LARGEST) {
      last.end = Math.max(last.end, end);
      continue;
    }
    last = { start, end };
    blocks.push(last);
  }
  return blocks;
}
