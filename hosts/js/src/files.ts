/**
 * Datasets in files of several formats, read by many readers without overlap: Parquet, Arrow (also Feather) and JSON
 * lines, and formats of your own. The packages that read a format have to be installed beside this one: `hyparquet` and
 * `hyparquet-compressors` for Parquet, `apache-arrow` for Arrow.
 *
 * @module
 */
export { jsonLines } from './files/jsonl/format.js';
export type { JsonType } from './files/jsonl/types.js';
export * from './readers.js';
