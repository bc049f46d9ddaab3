/**
 * Parts that need the file system of Node, Deno or Bun: a log for readers in several processes. (Datasets in files
 * are in `samedeal/files` and `samedeal/parquet`.)
 *
 * @module
 */
export { FolderLog } from './ledger/folder.js';
