// What decides batches, as a document: options become one, and one becomes options.
import { Document, type Said, section } from '../document.js';
import { camelled } from '../errors.js';
import { shown } from '../lists.js';
import { plain } from '../options.js';
import type { BatcherOptions } from './types.js';

export const STREAM_OPTIONS = [
  ...(['seed', 'epoch', 'rank', 'worldSize', 'strategy', 'counting', 'linear', 'quadratic', 'maxBatchSize'] as const),
  ...(['maxLength', 'maxTokens', 'maxCost', 'batchSizeMultiple', 'capacity', 'packing', 'bucketWidth'] as const),
  ...(['boundaries', 'batchWindow', 'tooLong', 'tail'] as const),
];
export const BATCHER_OPTIONS = [...STREAM_OPTIONS, 'order', 'quantiles', 'history'] as const;

/** What decides the batches of every epoch: a text that the component checks and completes, and what is beside it. */
export class BatchDocument extends Document {
  /** The length of every sample; none for a stream, or if the text has them. */
  readonly lengths: Uint32Array<ArrayBuffer> | undefined;

  constructor(recipe: unknown, lengths: Uint32Array<ArrayBuffer> | undefined, boundaries: unknown) {
    super(recipe, { boundaries });
    this.lengths = lengths;
  }

  /** Of options whose names are known. */
  static of(given: BatcherOptions, lengths?: Uint32Array<ArrayBuffer>): BatchDocument {
    const { seed, order: name, worldSize, rank, epoch, history, boundaries, ...others } = given;
    const recipe = { order: section({ name, seed }), deal: section({ worldSize }), batch: section(others) };
    return new BatchDocument(recipe, lengths, boundaries);
  }

  /** The options that make a document equal to the canonical one, which has the defaults too. */
  options(canonical: string): Omit<BatcherOptions, 'rank' | 'epoch' | 'history'> {
    const { order, deal, batch = {} } = exactly(canonical);
    const { lengths, boundaries, ...others } = batch;
    const named = Object.entries(others).map(([name, value]) => [camelled(name, '_'), value]);
    const list = this.lists[0]?.numbers ?? this.said.batch?.boundaries;
    const options = [['seed', order?.seed], ['order', order?.name], ['worldSize', deal?.world_size], ...named];
    if (list !== undefined) options.push(['boundaries', Array.from(list as BigUint64Array, Number)]);
    return Object.fromEntries(options.filter(([, value]) => value !== undefined));
  }

  override toJson<P extends object>(place: P) {
    return super.toJson({ ...(this.lengths && { lengths: Array.from(this.lengths) }), ...place });
  }

  override source(name: string, place: object, most: number): string {
    const lengths = this.lengths ? shown(this.lengths, most) : 'undefined';
    return super.source(name, place, most, name === 'Batcher' ? [lengths] : []);
  }
}

/** What the text of a recipe says, where whole numbers that a `number` does not hold are `bigint`s. */
function exactly(text: string): Said {
  const marked = text.replace(/([:[,]\s*)(-?\d{16,})(?=\s*[,\]}])/g, '$1"$2n"');
  return JSON.parse(marked, (_, value) => {
    return typeof value === 'string' && /^-?\d+n$/.test(value) ? plain(BigInt(value.slice(0, -1))) : value;
  });
}
