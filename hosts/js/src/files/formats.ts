// The format of a file by its name, and the format that a caller gives.
import { fail, unknownName } from '../checks.js';
import type { Format, FormatReader } from './format.js';
import { readerOf } from './parts.js';

/** The formats that an entry of the package knows, by the names that the option `format` takes. Parquet is the first. */
export type Formats = Readonly<Record<string, FormatReader>>;

/** Chooses the format of files by their names; or it is the one that a caller gave. */
export interface Choice {
  /** The format in messages, if there is no file. */
  readonly name: string;
  /** The format of a file that was named. Files with other suffixes are taken for Parquet. */
  ofFile(path: string): FormatReader;
  /** The format of the files below a directory: Parquet if there are such files, since other files may be beside them. */
  ofFiles(names: readonly string[], folder: string): FormatReader;
}

/** The choice for the value of the option `format`. Errors: `format`. */
export function choiceOf(formats: Formats, given: unknown): Choice {
  if (given !== undefined) {
    const own = typeof given === 'string' ? named(formats, given) : ofCaller(given);
    return { name: own.name, ofFile: () => own, ofFiles: () => own };
  }
  const known = Object.entries(formats);
  const [[parquet, first]] = known as [[string, FormatReader]];
  return {
    name: first.name,
    ofFile: (path) => known.find(([, format]) => hasSuffix(path, format))?.[1] ?? first,
    ofFiles(names, folder) {
      const found = known.filter(([, format]) => names.some((name) => hasSuffix(name, format)));
      if (found.length < 2 || found.some(([name]) => name === parquet)) return found[0]?.[1] ?? first;
      const several = found.map(([name]) => name).join(', ');
      return fail('missing', 'format', '', `one of ${several}, since ${folder} has files of these formats`);
    },
  };
}

export const hasSuffix = (path: string, { suffixes }: Pick<Format, 'suffixes'>) =>
  suffixes.some((suffix) => path.endsWith(suffix));

function named(formats: Formats, name: string): FormatReader {
  const own = Object.hasOwn(formats, name) ? formats[name] : undefined;
  return own ?? unknownName('format', name, Object.keys(formats));
}

/** The reader of a format that a caller passed. */
function ofCaller(given: unknown): FormatReader {
  const format = given as Partial<Format> | null;
  const isFormat =
    typeof format === 'object' &&
    format !== null &&
    typeof format.open === 'function' &&
    typeof format.name === 'string' &&
    Array.isArray(format.suffixes) &&
    format.suffixes.length > 0 &&
    format.suffixes.every((suffix) => typeof suffix === 'string');
  if (!isFormat) fail('wrong-type', 'format', given, 'the name of a format, or an object with name, suffixes and open');
  return readerOf(format as Format);
}
