// The directories that `Dataset.save_to_disk` of Hugging Face writes.

const folderOf = (name: string) => name.slice(0, name.lastIndexOf('/') + 1);
const fileOf = (name: string) => name.slice(name.lastIndexOf('/') + 1);

/**
 * The Arrow files of a directory; in a dataset of Hugging Face, only those that its state.json names, in its order. Other
 * files in such a directory are caches of `map` and `filter`. Errors: the directory has several splits, a file is
 * missing, or the dataset has a mapping of indices.
 */
export async function choose(names: readonly string[], read: (name: string) => Promise<Uint8Array>): Promise<string[]> {
  const known = new Set(names);
  const several = names.find((name) => fileOf(name) === 'dataset_dict.json');
  if (several !== undefined) throw new Error(`${several}: a DatasetDict; name the directory of one split`);
  const found: string[] = [];
  for (const name of names) {
    if (fileOf(name) !== 'state.json' || !known.has(`${folderOf(name)}dataset_info.json`)) continue;
    found.push(...savedIn(name, new TextDecoder().decode(await read(name)), known));
  }
  const folders = new Set(found.map(folderOf));
  const others = names.filter((name) => /\.(arrow|feather|ipc)$/.test(name) && !folders.has(folderOf(name)));
  if (others.length === 0) return found;
  const all = new Set([...found, ...others]);
  return names.filter((name) => all.has(name));
}

function savedIn(state: string, text: string, known: ReadonlySet<string>): string[] {
  let members: { _data_files?: unknown; _indices_data_files?: unknown; _indices_files?: unknown };
  let files: unknown[];
  try {
    members = JSON.parse(text);
    files = (members._data_files as { filename: unknown }[]).map(({ filename }) => filename);
  } catch {
    throw new Error(`${state}: not what save_to_disk writes`);
  }
  const isMapped = [members._indices_data_files, members._indices_files].some(
    (list) => Array.isArray(list) && list.length > 0,
  );
  if (isMapped) {
    throw new Error(`${state}: the rows are chosen by a mapping of indices: save dataset.flatten_indices()`);
  }
  return files.map((file) => {
    const name = `${folderOf(state)}${file}`;
    if (typeof file !== 'string' || !known.has(name)) throw new Error(`${state} names ${file}, which is not there`);
    return name;
  });
}
