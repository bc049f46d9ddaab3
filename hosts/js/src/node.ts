/**
 * Parts that need the file system of Node, Deno or Bun, beside the readers of Parquet files: a log for the readers of several processes.
 *
 * @module
 */
export { FolderLog } from './ledger/folder.js';
