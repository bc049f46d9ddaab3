// The formats of `samedeal/parquet`, and of pages: they need none of the packages for other formats.
import type { Formats } from './formats.js';
import { parquet } from './parquet/file.js';

export const formats: Formats = { parquet };
