/**
 * Parts that need the file system of Node, Deno or Bun: a log for readers in several processes. (Parquet files are in
 * `samedeal/parquet`.)
 *
 * @module
 */
export { FolderLog } from './ledger/folder.js';
