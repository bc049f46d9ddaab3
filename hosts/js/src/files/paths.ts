// The files that the paths of a dataset stand for. The rule is the same in every language: see `Paths`.
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fail } from '../checks.js';
import { isAddress } from './bytes.js';
import type { FormatReader } from './format.js';
import { type Choice, hasSuffix } from './formats.js';
import { noFile } from './local.js';
import { naming } from './naming.js';

/** A file that was found: its path, and the format that reads it. */
interface Named {
  name: string;
  format: FormatReader;
}

/**
 * The files that paths, directories and addresses stand for. Errors: `paths` (one file twice, or a directory without
 * files); `format`; those of the file system.
 */
export async function filesAt(given: readonly string[], choice: Choice): Promise<Named[]> {
  const found = (await Promise.all(given.map((path) => filesOf(path, choice)))).flat();
  await once(found.map(({ name }) => name));
  return found;
}

/** Checks that the paths name each file once. */
async function once(paths: readonly string[]): Promise<void> {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const real = isAddress(path) ? path : await told(path, realpath(path));
    const other = seen.get(real);
    // The paths are in `allowed`, because an error shows all of `allowed`, but only the beginning of a value.
    if (other !== undefined) {
      fail('contradiction', 'paths', 'the same file twice', `each file once; ${other} and ${path} are one`);
    }
    seen.set(real, path);
  }
}

/** The file at a path, or the files that a directory stands for. */
async function filesOf(path: string, choice: Choice): Promise<Named[]> {
  if (isAddress(path)) return [{ name: path, format: choice.ofFile(new URL(path).pathname) }];
  const found = await told(path, stat(path));
  if (found.isFile()) return [{ name: path, format: choice.ofFile(path) }];
  if (!found.isDirectory()) throw new Error(`${path}: ${noFile(found)}`);
  const names = await below(path, '', [await told(path, realpath(path))]);
  const bytes = new Map(names.map((name) => [name, Buffer.from(name)]));
  const at = (name: string) => bytes.get(name) as Buffer;
  names.sort((a, b) => at(a).compare(at(b)));
  const format = choice.ofFiles(names, path);
  const own = format.choose
    ? await told(path, Promise.resolve(format.choose(names, (name) => readFile(join(path, name)))))
    : names.filter((name) => hasSuffix(name, format));
  if (own.length === 0) {
    // The path is in `allowed`, because an error shows all of `allowed`, but only the beginning of a value.
    const allowed = `a directory with *${format.suffixes[0]} files below it; ${path} has none`;
    fail('contradiction', 'paths', `a directory without ${format.name} files`, allowed);
  }
  return own.map((name) => ({ name: join(path, name), format }));
}

/**
 * The names of all files below a directory, with `/` between their parts. Links are followed. Names that begin with `.`
 * or `_` are left out, those of directories too. `inside` is the path from the directory
 * `first` to the directory that is listed, and `above` are the real paths of all directories from `first` to the listed
 * one.
 */
async function below(first: string, inside: string, above: readonly string[]): Promise<string[]> {
  const here = join(first, inside);
  const entries = await told(here, readdir(here, { encoding: 'buffer', withFileTypes: true }));
  const files: string[] = [];
  // For names as bytes, Bun returns only the names, in place of objects with a type.
  for (const entry of entries as unknown as (Dirent<Buffer> | Buffer)[]) {
    const bytes = Buffer.isBuffer(entry) ? entry : entry.name;
    // Hidden and temporary files and directories.
    if (bytes[0] === 0x2e || bytes[0] === 0x5f) continue;
    const name = nameOf(here, bytes);
    const path = join(here, name);
    const within = inside === '' ? name : `${inside}/${name}`;
    const own = Buffer.isBuffer(entry) ? await told(path, lstat(path)) : entry;
    const found = own.isSymbolicLink() ? await told(path, stat(path)) : own;
    if (found.isDirectory()) {
      const real = await told(path, realpath(path));
      const back = above.find((directory) => `${directory}${sep}`.startsWith(real === sep ? sep : `${real}${sep}`));
      if (back !== undefined) throw new Error(`${path}: it leads back to ${real}, a directory above it`);
      files.push(...(await below(first, within, [...above, real])));
    } else if (found.isFile()) {
      files.push(within);
    }
  }
  return files;
}

/** A name as text. Fails if the text cannot give back the bytes of the name. */
function nameOf(directory: string, bytes: Buffer): string {
  const name = bytes.toString();
  if (Buffer.from(name).equals(bytes)) return name;
  throw new Error(`${join(directory, name)}: its name is not UTF-8 (${bytes.toString('hex')} in hexadecimal)`);
}

/** The result of a call about a path. Its errors name the path. */
function told<T>(path: string, look: Promise<T>): Promise<T> {
  return look.catch((error) => {
    throw naming(path, error);
  });
}
