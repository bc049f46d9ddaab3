// Where Parquet files are, and what a program or a page has to read them with.
import type { Reading, Sampler } from '#samedeal';
import { fail } from '../checks.js';
import type { Bytes } from './bytes.js';
import type { Library } from './library.js';

/** The bytes of a file, from anywhere: `hyparquet` has the same type. */
export interface AsyncBuffer {
  /** How many bytes it has. */
  readonly byteLength: number;
  /** The bytes from `start` to `end` - 1, by default to the last one. */
  slice(start: number, end?: number): ArrayBuffer | Promise<ArrayBuffer>;
  /** Its name in errors. Default `buffer`. */
  readonly name?: string;
}

/** A file: its path or its address; or its bytes; or a `Blob`, such as a file that was dropped on a page. */
export type Source = string | URL | AsyncBuffer | Blob;

/** A file that can be opened. Errors call it by its name. */
export interface Place {
  readonly name: string;
  open(library: Library, signal: AbortSignal | undefined): Promise<Bytes>;
}

/** The parts that differ between Node and a page. */
export interface Host {
  readonly Reading: typeof Reading;
  readonly Sampler: typeof Sampler;
  /** A path or an address as `places` takes it; undefined if the text is neither. */
  path(text: string): string | undefined;
  /** The description of what `path` takes, for errors. */
  readonly paths: string;
  /** The files that these stand for, in this order. */
  places(paths: readonly string[]): Promise<Place[]>;
  /** Lets everything else have its turn that waits. */
  turn(): Promise<unknown>;
  /** Gives a warning. */
  warn(code: string, message: string): void;
  /** The rank by a launcher's variables, in words, where several processes were started and nothing was passed. */
  launched(): string | undefined;
}

/** A source that was checked. */
export type Given = string | Place;

/** Checks what a caller gave. */
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

/** The files of all that was given. */
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
