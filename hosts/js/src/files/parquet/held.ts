import type { FileBytes } from '../format.js';

/** The most bytes in the cache, of all files together. */
const MOST = 1 << 25;

/** Bytes of a file that are read at once: columns of a row group that are needed, and the bytes between them. */
export interface Block {
  readonly start: number;
  readonly end: number;
}

/**
 * A cache of blocks that were read: a server is asked for a block once, and not for every page of the block. The block
 * that was not used for the longest time is dropped first. If bytes of a dropped block are needed, only these bytes are
 * read.
 */
export class Held {
  /** The blocks in the order of their last use, the oldest first. */
  readonly #blocks = new Map<Block, Promise<ArrayBuffer>>();
  #size = 0;

  /** Reads a block, unless it is in the cache. */
  async read(file: FileBytes, block: Block): Promise<void> {
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

  /**
   * The bytes `start` to `end` - 1 of a file: from the block, if the block contains them and is in the cache; else read
   * from the file.
   */
  async slice(file: FileBytes, block: Block | undefined, start: number, end: number): Promise<ArrayBuffer> {
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

/** The size of the largest block, in bytes. To read a block of this size costs little more than the request itself. */
const LARGEST = 1 << 20;

/**
 * Joins parts of a file that lie near each other to blocks of at most `LARGEST` bytes. `size` is the size of the file.
 * A part that is larger than `LARGEST` is in no block.
 */
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
