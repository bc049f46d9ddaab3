// The sources of Parquet files, and the access of a program or a page to them.
import type { Reading, Sampler } from '#samedeal';
import { fail } from '../checks.js';
import type { Bytes } from './bytes.js';
import type { Library } from './library.js';

/** The bytes of a file, from anywhere: `hyparquet` has the same type. */
export interface AsyncBuffer {
  /** The number of bytes. */
  readonly byteLength: number;
  /** The bytes from `start` to `end` - 1, by default to the last one. */
  slice(start: number, end?: number): ArrayBuffer | Promise<ArrayBuffer>;
  /** The name of the file in errors. Default `buffer`. */
  readonly name?: string;
}

/**
 * A file: its path or its address; its bytes (`AsyncBuffer`); or a `Blob`, such as a file that was dropped on a page.
 */
export type Source = string | URL | AsyncBuffer | Blob;

/** A file that can be opened, with its name for errors. */
export interface Place {
  readonly name: string;
  open(library: Library, signal: AbortSignal | undefined): Promise<Bytes>;
}

/** The parts that differ between Node and a page. */
export interface Host {
  readonly Reading: typeof Reading;
  readonly Sampler: typeof Sampler;
  /** The path or the address in a text, as `places` takes it; undefined if the text is neither. */
  path(text: string): string | undefined;
  /** The description of the texts that `path` takes, for errors. */
  readonly paths: string;
  /** The files that `paths` stand for, in the order of `paths`. */
  places(paths: readonly string[]): Promise<Place[]>;
  /** Waits until other waiting tasks have run. */
  turn(): Promise<unknown>;
  /** Gives a warning. */
  warn(code: string, message: string): void;
  /** The rank in a launcher's variables, in words, if the launcher started several processes; else undefined. */
  launched(): string | undefined;
}

/** A source that was checked. */
export type Given = string | Place;

/** Checks the sources that a caller passed. */
export function givenOf(host: Host, sources: unknown): Given[] {
  const several = Array.isArray(sources) ? sources : [sources];
  return Array.from(several, (source: unknown) => {
    const text = source instanceof URL ? source.href : source;
    if (typeof text === 'string' && text !== '') {
      const path = host.path(text);
      if (path !== undefined) return path;
    }
    if (typeof Blob === 'function' && source instanceof Blob) return placeOf(ofBlob(source));
    if (isBuffer(source)) return placeOf(source);
    return fail('wrong-type', 'paths', text, host.paths);
  });
}

/** The files of all sources. */
export async function placesOf(host: Host, given: readonly Given[]): Promise<Place[]> {
  const paths = given.filter((each) => typeof each === 'string');
  if (paths.length === given.length) return host.places(paths);
  const found = await Promise.all(given.map((each) => (typeof each === 'string' ? host.places([each]) : [each])));
  return found.flat();
}

const isBuffer = (source: unknown): source is AsyncBuffer =>
  typeof source === 'object' &&
  source !== null &&
  Number.isSafeInteger((source as AsyncBuffer).byteLength) &&
  typeof (source as AsyncBuffer).slice === 'function' &&
  !ArrayBuffer.isView(source);

const ofBlob = (blob: Blob): AsyncBuffer => ({
  name: (blob as Partial<File>).name ?? 'blob',
  byteLength: blob.size,
  slice: (start, end) => blob.slice(start, end).arrayBuffer(),
});

function placeOf(buffer: AsyncBuffer): Place {
  const { byteLength, name = 'buffer' } = buffer;
  return {
    name,
    open: async () => ({
      byteLength,
      async slice(start, end = byteLength) {
        const bytes = await buffer.slice(start, end);
        if (bytes.byteLength === end - start) return bytes;
        throw new Error(`it gave ${bytes.byteLength} bytes where ${end - start} were asked for`);
      },
      close: async () => {},
    }),
  };
}
