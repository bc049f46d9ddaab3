// The formats of `samedeal/files`.
import { arrow } from './arrow/format.js';
import type { Formats } from './formats.js';
import { jsonLines } from './jsonl/format.js';
import { parquet } from './parquet/file.js';
import { readerOf } from './parts.js';

export const formats: Formats = { parquet, arrow: readerOf(arrow), jsonl: readerOf(jsonLines()) };
