import { engine } from './engine/client.svelte.ts';
import type { Taken } from './engine/recipes.ts';
import { LONG } from './engine/shelf.ts';
import { type Key, link } from './link.svelte.ts';
import { edited } from './parts/json.ts';
import { isNumbers } from './parts/number.ts';
import { kindOf, lastPartOf, readingOf, KINDS as STATES } from './parts/state.ts';
import { counted, listed } from './parts/text.ts';
import { session } from './session.svelte.ts';
import { questionOf } from './views/batches/question.ts';
import { entriesOf, withEntry } from './views/differ/entries.ts';
import { stopWhereTheStateDoes } from './views/resume/stop.ts';
import { work } from './work.svelte.ts';

/** The name of a pasted text in messages. */
const UNNAMED = 'The text';

/** The largest document that is read, in bytes. A longer file is no recipe, state or log. */
const LARGEST = 64 * 2 ** 20;

/** For each kind of document, the value of the link that it becomes. */
const KEYS: Readonly<Record<string, Key>> = {
  sampler: 'recipe',
  batcher: 'batches',
  reading: 'reading',
  plan: 'reading',
  state: 'state',
  log: 'log',
  lengths: 'lengths',
};

/** A size as a text, such as 1.5 kB or 100 MB. */
function bytes(size: number): string {
  const [unit, number] = size < 1e6 ? (['kilobyte', size / 1e3] as const) : (['megabyte', size / 1e6] as const);
  return number.toLocaleString('en', { style: 'unit', unit, maximumFractionDigits: 1 });
}

/** Opens files that were dropped or chosen: Parquet files together, any others one by one. */
export const openFiles = (files: readonly File[]): Promise<void> => work.until(openAll(files));

async function openAll(files: readonly File[]): Promise<void> {
  const parquet = files.filter(({ name }) => /\.parquet$/i.test(name));
  if (parquet.length > 0) return openParquet(parquet);
  // Several documents are compared with one another.
  if (files.length > 1) link.view = 'differ';
  for (const file of files) await openFile(file);
}

async function openFile(file: File): Promise<void> {
  const head = await file.slice(0, 4096).text();
  // A long list is opened as a file. A short one becomes a text, which can be edited on the page and be in a link.
  if (/\.npy$/i.test(file.name) || (file.size > LONG && isNumbers(head))) return openLengths(file);
  if (file.size > LARGEST) return session.say(`${file.name} is too large for a recipe, a state or a log`);
  const text = await file.text();
  if (head.includes('\0'))
    return session.say(`${file.name} is no text. The command “samedeal explain” reads checkpoints of torch.save`);
  await openText(text, file.name, file.size);
}

/** Whether lengths that are opened now are those of the state of batches that is shown. */
const areForState = (): boolean => link.view === 'checkpoint' && kindOf(link.values.state) === 'batcher';

/** Opens a list of lengths of any size. The Worker reads it, while the page can be used. */
async function openLengths(file: File): Promise<void> {
  const from = `${file.name}, ${bytes(file.size)}`;
  session.say(`Reading ${from}`);
  const found = await engine.openLengths({ file });
  if ('problem' in found) return session.say(found.problem.message);
  session.refused = '';
  session.carried = true;
  link.values.lengths = found.value;
  if (!areForState()) link.view = 'batches';
  session.loaded = { ...session.loaded, lengths: { from, value: found.value } };
  session.say(`${file.name} is a list of lengths`);
}

/** Opens an index of the batches that are shown. If it belongs to other batches, the page says so. */
async function openIndex(index: string, name: string): Promise<void> {
  link.view = 'batches';
  const found = await engine.useIndex({ ...questionOf(link.plain), index });
  if ('problem' in found) {
    session.refused = `${name} is no index of this recipe, these lengths and this epoch: ${found.problem.message}`;
    return;
  }
  session.indices += 1;
  session.say(`${name} is the index of ${found.value}: every step of the epoch is known`);
}

async function openParquet(files: File[]): Promise<void> {
  session.say(`Reading the footers of ${counted(files.length, 'file')}`);
  const found = await engine.openFiles({ files });
  if ('problem' in found) return session.say(found.problem.message);
  const { sizes, samples, columns } = found.value;
  session.dataset = found.value;
  session.opened += 1;
  session.carried = true;
  const list = [...sizes];
  // The files are now the dataset: the deal is over their rows.
  link.values.files = String(files.length);
  link.values.recipe = JSON.stringify({ order: { name: 'feistel', samples, seed: 42 }, deal: { world_size: 8 } });
  link.values.reading = JSON.stringify({
    order: { name: 'sharded', seed: 7, lanes: 64, shuffle_window: 256, sizes: list },
    deal: { world_size: 4, workers: 2 },
    batch: { batch_size: 32 },
  });
  const rows = `${counted(files.length, 'file')} with ${counted(samples, 'row')}`;
  const column = columns.find((name) => /len|token/i.test(name)) ?? columns[0];
  if (link.view === 'batches' && column !== undefined) {
    link.values.lengths = `column:${column}`;
    return session.say(`${rows}. The lengths are those of the column ${column}: choose another one under Lengths`);
  }
  session.say(`${rows}. They stay in your browser.`);
}

/** Opens a recipe, a state, a log, a list of lengths or an index, or entries of ranks, and shows the view for it. */
export async function openText(text: string, name = UNNAMED, size?: number): Promise<void> {
  const found = await engine.recognise({ text, shown: link.values.recipe });
  if ('problem' in found) return session.say(found.problem.message);
  const { kind } = found.value;
  if (kind === 'state' && !STATES.includes(found.value.of))
    return session.say(`${name} is a state of the kind ${found.value.of}, which this page does not show`);
  // An unknown text does not change the view.
  if (kind === 'unknown') return session.say(`${name} ${found.value.text}`);
  session.refused = '';
  if (kind === 'index') return openIndex(found.value.text, name);
  if (link.view === 'differ' && kind !== 'log' && kind !== 'lengths') {
    // The view explains fingerprints by the recipe that was opened, and its program uses this recipe, too.
    if (kind === 'sampler') link.values.recipe = found.value.text;
    return addEntry(found.value.text, name);
  }
  session.carried = true;
  switch (found.value.kind) {
    case 'sampler':
      link.values.recipe = found.value.text;
      if (!['step', 'sample', 'resume', 'mix'].includes(link.view)) link.view = 'step';
      break;
    case 'batcher':
      link.values.batches = found.value.text;
      link.view = 'batches';
      break;
    case 'reading':
    case 'plan':
      link.values.reading = found.value.text;
      link.view = 'shards';
      break;
    case 'state':
      if (found.value.of === 'sampler') {
        showState(found.value);
        if (!['resume', 'sample'].includes(link.view)) link.view = 'checkpoint';
        break;
      }
      showOther(found.value);
      link.view = 'checkpoint';
      break;
    case 'log':
      link.values.log = await kept(found.value.text);
      link.values.entry = '';
      link.view = 'ledger';
      break;
    case 'lengths':
      link.values.lengths = await kept(found.value.text);
      if (!areForState()) link.view = 'batches';
      break;
    default:
      link.values.entries = found.value.text;
      link.view = 'differ';
  }
  const key = KEYS[found.value.kind];
  if (key && size !== undefined) {
    const from = `${name}, ${bytes(size)}`;
    session.loaded = { ...session.loaded, [key]: { from, value: link.values[key] } };
  }
  session.say(
    `${name} is ${{ log: 'the log of a ledger', lengths: 'a list of lengths', entries: 'a list of entries', state: 'a state of a run' }[kind as string] ?? `a recipe of a ${kind}`}`,
  );
}

/** Adds a text that was opened while entries are compared, as one more entry. */
function addEntry(text: string, name: string): void {
  if (entriesOf(text).length === 0) {
    session.say(`${name} has no recipe, state or fingerprint`);
    return;
  }
  link.values.entries = withEntry(link.values.entries, text, name === UNNAMED ? '' : name);
  session.say(`${name} is one more entry: ${entriesOf(link.values.entries).length} together`);
}

/**
 * Shows a state. It replaces the recipe and the epoch, which may belong to another run. The ranks and the batch size
 * come from the checkpoint; if it does not have them, the view of checkpoints asks for them.
 */
function showState({
  text,
  recipe,
  epoch,
  taken,
}: {
  text: string;
  recipe: string;
  epoch: string;
  taken: Taken;
}): void {
  session.carried = true;
  Object.assign(link.values, { state: text, recipe, epoch, ...taken });
  if (taken.ranks) {
    link.values.recipe = edited(recipe, 'deal.world_size', taken.ranks);
    link.values.worlds = [taken.ranks, ...listed(link.values.worlds).slice(1)].join(', ');
  }
  if (taken.each) link.values.batch = taken.each;
  stopWhereTheStateDoes();
}

/** Shows a state of a dataset in files, of batches, or of a schedule. */
function showOther({ text, of, epoch, taken }: { text: string; of: string; epoch: string; taken: Taken }): void {
  const part = lastPartOf(text);
  const { begun } = taken;
  const [ranks, each] = [part.ranks || taken.ranks, part.each || taken.each];
  Object.assign(link.values, { state: text, epoch, ranks, each, workers: part.workers, begun });
  if (of === 'reading') Object.assign(link.values, { reading: readingOf(text), round: '0' });
}

/** Takes a text that was typed or pasted into the field for a state. */
export async function enterState(text: string): Promise<void> {
  const found = text.trim() ? await engine.recognise({ text, shown: link.values.recipe }) : undefined;
  if (found && 'value' in found && found.value.kind === 'state' && found.value.of === 'sampler') showState(found.value);
  else if (found && 'value' in found && found.value.kind === 'state') await openText(text);
  else link.values.state = text;
}

/** The value by which the page refers to a text: see `shelve`. */
async function kept(text: string): Promise<string> {
  const found = await engine.shelve({ text });
  return 'value' in found ? found.value : '';
}
