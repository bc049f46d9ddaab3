// The protocol between the readers of a dataset and a format of files.

/** Values of a column, in the order of the rows. */
export type Values = ArrayLike<unknown>;

/** The bytes of a file that is open. The caller of `Format.open` closes the file. */
export interface FileBytes {
  /** The number of bytes. */
  readonly byteLength: number;
  /** The bytes from `start` to `end` - 1, by default to the last one. */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

/** The facts about a file that are needed before its rows are read. */
export interface Footer {
  /** The columns of the file, each with a text of its type. Files of a dataset must agree on the types that they read. */
  readonly columns: ReadonlyMap<string, string>;
  /** The number of rows of each part of the file. Reading begins at the beginning of a part. */
  readonly rows: ArrayLike<number>;
  /** About how many bytes the rows of each part take in memory, in all columns. */
  readonly bytes: ArrayLike<number>;
  /**
   * A value with which `Format.open` opens the same file again without a scan. It is held in memory for every file of a
   * dataset, so it must be much smaller than the file.
   */
  readonly index?: unknown;
}

/**
 * The rows of a part that is in memory, from row `first` to row `end` - 1 of the part: for each column that was asked
 * for, its values.
 */
export type PartRows = (first: number, end: number) => readonly Values[];

/** A file that is open. */
export interface DataFile {
  readonly footer: Footer;
  /**
   * Loads the part with this number. The values of `PartRows` have the order of `columns`. Several calls may run at a
   * time. Errors need no path, which is added.
   */
  part(number: number, columns: readonly string[]): Promise<PartRows> | PartRows;
}

/** A format of files. */
export interface Format {
  /** The name in error messages. */
  readonly name: string;
  /** How the names of files end, in lower case, such as `.jsonl`. */
  readonly suffixes: readonly string[];
  /**
   * Opens a file. `index` is `Footer.index` of the same file, if it was opened before. Errors: the file is of another
   * format, is cut off, or is not the file that `index` is of. They need no path, which is added.
   */
  open(bytes: FileBytes, index?: unknown): Promise<DataFile> | DataFile;
  /**
   * The files of a dataset in a directory, in their order. By default, those with one of the suffixes. `names` are all
   * files below the directory, sorted by the bytes of their relative paths, with '/' between parts. `read` reads one of
   * them, by its name: for a file that lists the others.
   */
  choose?(
    names: readonly string[],
    read: (name: string) => Promise<Uint8Array>,
  ): Promise<readonly string[]> | readonly string[];
  /**
   * The type of a column that has the type `one` in some files and `other` in another file; undefined if they do not go
   * together. By default, types must be equal.
   */
  unite?(one: string, other: string): string | undefined;
}

/** The part of a file that takes most memory, if all of it is decoded. */
export interface Largest {
  /** The number of its first row within the file. */
  start: number;
  rows: number;
  /** The approximate bytes of a decoded row. */
  width: number;
}

/** A part of one or several columns that is decoded in one piece. */
export interface Piece {
  rows: number;
  /** The approximate bytes of a decoded row. */
  width: number;
}

/** A place in an open file from which rows are read onwards. */
export interface FileCursor {
  /** Rows `first` to `first` + `count` - 1: for each column, its values. */
  read(first: number, count: number): Promise<Values[]>;
  /** Drops what is decoded. */
  leave(): void;
}

/** An open file, as the readers of a dataset use it. Errors of its methods do not name the file: see `naming`. */
export interface OpenFile {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, string>;
  /** `Footer.index`. */
  readonly index?: unknown;
  /** The bytes that the columns take in the file; those of all columns if the format does not know that. */
  bytes(names: readonly string[]): number;
  largest(names: readonly string[]): Largest;
  /** The pieces of columns that are decoded together, in the part of the file that takes most memory. */
  pieces(names: readonly string[]): Promise<Piece[]>;
  cursor(names: readonly string[]): FileCursor;
  /** Drops what is cached of the file. */
  leave?(): void;
}

/** A format, as the readers of a dataset use it. */
export interface FormatReader extends Pick<Format, 'name' | 'suffixes' | 'choose' | 'unite'> {
  /** The word for a part of a file, in warnings. */
  readonly part: string;
  /** Opens a file. `names` are the columns that will be read; none if only the facts about the file are needed. */
  open(bytes: FileBytes, index: unknown, names: readonly string[]): Promise<OpenFile>;
}
