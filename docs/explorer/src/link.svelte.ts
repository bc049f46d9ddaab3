/**
 * The part of the address after `#`: a view, and everything that the view shows. So every view of every deal has a
 * link.
 */

import { digits, digitsOfEach } from './parts/number.ts';

/**
 * The values that a link can have, by short names, with their defaults. Values are texts, as they were typed: the core
 * checks them.
 */
export const DEFAULTS = {
  /** The recipes of a sampler, of batches (`batches`), and of a reading (`reading`). */
  recipe: '{"order":{"name":"feistel","samples":1000,"seed":42},"deal":{"world_size":8}}',
  batches: '{"order":{"seed":42},"deal":{"world_size":4},"batch":{"strategy":"budget","max_tokens":8192}}',
  budget: '',
  reading:
    '{"order":{"name":"sharded","seed":7,"lanes":16,"shuffle_window":64,"sizes":[900,1200,400,1500,800,1100,600,1300,700,1000,500,950]},"deal":{"world_size":4,"workers":2},"batch":{"batch_size":32}}',
  epoch: '0',
  step: '0',
  /** The steps of the epoch that are on the screen, such as `10-20`. An empty text: all. */
  steps: '',
  batch: '16',
  drop: '',
  rank: '0',
  /** Number of Parquet files that were open. The link does not contain the files. */
  files: '',
  /** The width of a cell. An empty text: as wide as the numbers. `all`: all ranks are on the screen. */
  zoom: '',
  /** What colours stand for. An empty text: what a state says about samples, or where they are stored. */
  colour: '',
  samples: '123',
  epochs: '8',
  state: '',
  worlds: '8, 6, 5',
  taken: '3, 4',
  /**
   * The run that wrote a state: its ranks, the workers of each, its batch size, and the position at which these ranks
   * began. Empty: not known.
   */
  ranks: '',
  workers: '',
  each: '',
  begun: '0',
  /** The ranks that go on after the state. */
  next: '6',
  /** The number of steps after which the run of the first view loses ranks. */
  loss: '3',
  entries: '',
  lengths: 'chat',
  round: '0',
  log: '',
  entry: '',
  span: '',
  replay: '0',
  readers: '1',
  mix: 'blend',
  part: '',
  labelled:
    '{"samples":100000,"labels":10,"files":50,"batch":64,"seed":42,"epoch":0,"lanes":64,"shuffle_window":256,"buffer":1000,"files_first":false}',
} as const;

export type Key = keyof typeof DEFAULTS;
/** The values that are whole numbers. */
const NUMBERS: readonly Key[] = [
  'budget',
  'epoch',
  'step',
  'batch',
  'rank',
  'ranks',
  'workers',
  'each',
  'begun',
  'next',
  'epochs',
  'round',
  'entry',
  'replay',
  'readers',
];
type Values = Record<Key, string>;

/** The value of a link to a page in a frame: see `embedded`. */
const EMBEDDED = 'embed';

/** The longest value in a link. Browsers and chats cut off longer addresses. */
const LONGEST = 8000;

class Link {
  view = $state('start');
  /** The part of the address that the page has read or written last. Another one was entered since then, and is read next. */
  address = $state('');
  /** The parts of the address that this page does not know: a view, or values that the view does not have. */
  unknown = $state.raw<readonly string[]>([]);
  /** Whether the page is in a frame of another page, and shows the sentence and the picture alone. */
  embedded = $state(false);
  values = $state<Values>({ ...DEFAULTS });
  /** The values with numbers in plain digits, for questions, programs and links. */
  plain = $derived<Values>({
    ...this.values,
    ...Object.fromEntries(NUMBERS.map((key) => [key, digits(this.values[key])])),
    samples: digitsOfEach(this.values.samples).join(' '),
  });

  /** The sample that all views mark: the one that was selected. Without a selection, or with several samples, there is none. */
  get chosen(): number | undefined {
    const { samples } = this.plain;
    return samples !== DEFAULTS.samples && /^\d+$/.test(samples) && Number.isSafeInteger(Number(samples))
      ? Number(samples)
      : undefined;
  }

  /**
   * Reads the view and its values from an address. A value that is missing gets its default, unless it was too long for
   * the address. The values of other views stay as they are. `keysOf` knows the views of the page.
   */
  read(hash: string, keysOf: (view: string) => readonly Key[] | undefined): void {
    this.address = hash;
    const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
    const given = new URLSearchParams(query);
    this.embedded = given.get(EMBEDDED) === '1';
    given.delete(EMBEDDED);
    const known = keysOf(path || 'start');
    this.view = known && path ? path : 'start';
    const keys = known ?? keysOf(this.view) ?? [];
    const values = [...new Set(given.keys())].filter((key) => !(keys as readonly string[]).includes(key));
    this.unknown = known ? values : [path];
    for (const key of keys) {
      const value = given.get(key);
      if (value !== null || !this.values[key].startsWith('@')) this.values[key] = value ?? DEFAULTS[key];
    }
  }

  /** The address of a view, with those of its values that are not the default. */
  hash(view: string, keys: readonly Key[], embedded = this.embedded): string {
    const query = new URLSearchParams();
    for (const key of keys) {
      const value = this.plain[key];
      // A value that begins with @ is the name of a text in the Worker of this page, so another page cannot use it.
      if (value !== DEFAULTS[key] && value.length <= LONGEST && !value.startsWith('@')) query.set(key, value);
    }
    if (embedded) query.set(EMBEDDED, '1');
    const text = query.toString();
    return `#/${view === 'start' ? '' : view}${text ? `?${text}` : ''}`;
  }
}

export const link = new Link();
