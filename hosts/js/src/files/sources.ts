// The sources of files, and the access of a program or a page to them.
import type { Reading, Sampler } from '#samedeal';
import { fail } from '../checks.js';
import type { Bytes } from './bytes.js';
import type { FormatReader } from './format.js';
import type { Choice } from './formats.js';

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
  open(signal: AbortSignal | undefined): Promise<Bytes>;
}

/** A file, and its format. */
export interface Found {
  readonly place: Place;
  readonly format: FormatReader;
}

/** The files of a dataset. */
export interface Files {
  readonly format: FormatReader;
  readonly places: readonly Place[];
}

/** The parts that differ between Node and a page. */
export interface Host {
  readonly Reading: typeof Reading;
  readonly Sampler: typeof Sampler;
  /** The path or the address in a text, as `find` takes it; undefined if the text is neither. */
  path(text: string): string | undefined;
  /** The description of the texts that `path` takes, for errors. */
  readonly paths: string;
  /** The files that `paths` stand for, in the order of `paths`. */
  find(paths: readonly string[], choice: Choice): Promise<Found[]>;
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

/** The files of all sources. Errors: `paths` (there is no file, or the files are of several formats); `format`. */
export async function filesOf(host: Host, given: readonly Given[], choice: Choice): Promise<Files> {
  const paths = given.filter((each) => typeof each === 'string');
  const isPath = paths.length === given.length;
  const found = isPath ? await host.find(paths, choice) : (await Promise.all(given.map(foundBy(host, choice)))).flat();
  const [first] = found;
  if (!first) return fail('missing', 'paths', '', `at least one ${choice.name} file, or a directory that holds some`);
  const { format } = first;
  const other = found.find((each) => each.format !== format)?.format;
  if (other) fail('contradiction', 'paths', `${format.name} files and ${other.name} files`, 'files of one format');
  return { format, places: found.map(({ place }) => place) };
}

const foundBy = (host: Host, choice: Choice) => (given: Given) =>
  typeof given === 'string' ? host.find([given], choice) : [{ place: given, format: choice.ofFile(given.name) }];

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
