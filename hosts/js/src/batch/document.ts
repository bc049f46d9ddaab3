// What decides batches, as a document: options become one, and one becomes options.
import { documentText } from '../deal/document.js';
import { camelled } from '../errors.js';
import type { NamedList } from '../jco/interfaces/samedeal-deal-batches.js';
import { words } from '../lists.js';
import { plain, settings } from '../options.js';
import type { Integer } from '../types.js';
import type { BatcherOptions } from './types.js';

export const STREAM_OPTIONS = [
  ...(['seed', 'epoch', 'rank', 'world', 'strategy', 'counting', 'linear', 'quadratic', 'maxBatchSize'] as const),
  ...(['maxLength', 'maxTokens', 'maxCost', 'batchSizeMultiple', 'capacity', 'packing', 'bucketWidth'] as const),
  ...(['boundaries', 'batchWindow', 'tooLong', 'tail'] as const),
];
export const BATCHER_OPTIONS = [...STREAM_OPTIONS, 'order', 'quantiles', 'history'] as const;

/** What the text of a recipe says. */
export interface Said {
  order?: { name?: string; seed?: Integer };
  deal?: { world_size?: number };
  batch?: Record<string, unknown>;
}

/** What decides the batches of every epoch: a text that the component checks and completes, and what is beside it. */
export class BatchDocument {
  readonly text: string;
  /** The length of every sample; none for a stream, or if the text has them. */
  readonly lengths: Uint32Array<ArrayBuffer> | undefined;
  readonly lists: NamedList[];

  constructor(recipe: unknown, lengths: Uint32Array<ArrayBuffer> | undefined, boundaries: unknown) {
    this.text = documentText(recipe);
    this.lengths = lengths;
    this.lists = boundaries === undefined ? [] : [{ name: 'boundaries', numbers: words('boundaries', boundaries) }];
  }

  /** Of options whose names are known. */
  static of(given: BatcherOptions, lengths?: Uint32Array<ArrayBuffer>): BatchDocument {
    const { seed, order, world, rank, epoch, history, boundaries, ...members } = given;
    const batch = Object.fromEntries(Object.entries(members).map(([name, value]) => [snaked(name), value]));
    return new BatchDocument({ order: { name: order, seed }, deal: { world_size: world }, batch }, lengths, boundaries);
  }

  /** What the text says, for estimates: not every number is exact, and nothing is said if it is no JSON. */
  get said(): Said {
    try {
      return JSON.parse(this.text) ?? {};
    } catch {
      return {};
    }
  }

  /** The options that make an equal document: those of this text, or of the canonical one, which has the defaults too. */
  options(text = this.text): Omit<BatcherOptions, 'rank' | 'epoch' | 'history'> {
    const { order, deal, batch = {} } = exactly(text);
    const { lengths, boundaries, ...others } = batch;
    const members = Object.entries(others).map(([name, value]) => [camelled(name, '_'), value]);
    const list = this.lists[0]?.numbers ?? this.said.batch?.boundaries;
    const options = [['seed', order?.seed], ['order', order?.name], ['world', deal?.world_size], ...members];
    if (list !== undefined) options.push(['boundaries', Array.from(list as BigUint64Array, Number)]);
    return Object.fromEntries(options.filter(([, value]) => value !== undefined));
  }

  /** The options of this text as they are written in a program, with what a recipe does not say. */
  source(rank: number, epoch: Integer): string[] {
    return settings({ ...this.options(), ...(rank !== 0 && { rank }), ...(epoch !== 0 && { epoch }) });
  }
}

/** The name of an option as documents have it. */
function snaked(name: string): string {
  return Array.from(name, (letter) => (letter >= 'A' && letter <= 'Z' ? `_${letter.toLowerCase()}` : letter)).join('');
}

/** What the text of a recipe says, where whole numbers that a `number` does not hold are `bigint`s. */
function exactly(text: string): Said {
  const marked = text.replace(/([:[,]\s*)(-?\d{16,})(?=\s*[,\]}])/g, '$1"$2n"');
  return JSON.parse(marked, (_, value) => {
    return typeof value === 'string' && /^-?\d+n$/.test(value) ? plain(BigInt(value.slice(0, -1))) : value;
  });
}
