// Documents of batches: made from options, and turned into options again.
import { fail } from '../checks.js';
import type { NamedList } from '../components/interfaces/samedeal-deal-types.js';
import { Document, type Lists, type Said, section } from '../document.js';
import { camelled } from '../errors.js';
import { BATCH_DEAL, BATCHING } from '../generated/options.js';
import { plain } from '../options.js';
import { Order } from '../order/order.js';
import { OrderValue } from '../order/value.js';
import { type Lengths, lengthsOf } from './lengths.js';
import type { BatcherOptions } from './types.js';

export const STREAM_OPTIONS = ['seed', 'epoch', 'rank', ...BATCH_DEAL, ...BATCHING] as const;
export const BATCHER_OPTIONS = [...STREAM_OPTIONS, 'order', 'quantiles'] as const;

/**
 * The document of batches: the recipe as a text, which the component checks and completes, and the lengths and lists
 * that are not in the text.
 */
export class BatchDocument extends Document {
  /** The lengths of all samples; undefined for a stream, or if the text has them. */
  readonly lengths: Lengths | undefined;

  /** `given` has the lengths as a caller gives them, if there are any. */
  constructor(recipe: unknown, given?: { lengths: unknown }, lists: Lists = {}, beside: readonly NamedList[] = []) {
    super(recipe, lists, beside);
    this.lengths = given && lengthsOf(given.lengths, () => this.#said, this.lists);
  }

  /** Makes a document from options whose names were checked. */
  static of(given: BatcherOptions, lengths?: { lengths: unknown }): BatchDocument {
    const { seed, order, worldSize, rank, epoch, boundaries, ...others } = given;
    const made = orderOf(order, seed);
    const recipe = { order: made.section, deal: section({ worldSize }), batch: section(others) };
    return new BatchDocument(recipe, lengths, { boundaries }, made.beside);
  }

  /**
   * The options in a canonical recipe, which has the defaults too. A document made from these options is equal to this
   * one.
   */
  options(canonical: string): Omit<BatcherOptions, 'rank' | 'epoch'> {
    const { order, deal, batch = {} } = exactly(canonical);
    const { lengths, boundaries, ...others } = batch;
    const named = Object.entries(others).map(([name, value]) => [camelled(name, '_'), value]);
    const list = this.lists.find(({ name }) => name === 'boundaries')?.numbers ?? this.said.batch?.boundaries;
    const own = isMade(order) ? { order: this.#order } : { seed: order?.seed, order: order?.name };
    const options: unknown[][] = [...Object.entries(own), ['worldSize', deal?.world_size], ...named];
    if (list !== undefined) options.push(['boundaries', Array.from(list as BigUint64Array, Number)]);
    return Object.fromEntries(options.filter(([, value]) => value !== undefined));
  }

  /** The order as it was given. */
  get #order(): Order {
    const beside = this.lists.filter(({ name }) => name !== 'boundaries');
    return new Order(this.#said?.order ?? {}, beside);
  }

  /** The members of the recipe text; undefined if the text is no JSON object. */
  get #said(): Said | undefined {
    try {
      const said: unknown = exactly(this.text);
      return typeof said === 'object' && said !== null ? said : undefined;
    } catch {
      return undefined;
    }
  }

  override toJson<P extends object>(place: P) {
    const lengths = this.lengths?.json();
    return super.toJson({ ...(lengths !== undefined && { lengths }), ...place });
  }

  override source(name: string, place: object, most: number): string {
    const lengths = this.lengths?.source(most) ?? 'undefined';
    return super.source(name, place, most, name === 'Batcher' ? [lengths] : []);
  }
}

/**
 * The section `order` of a recipe, and the lists beside it. `order` is a name, an `Order`, or an object with the
 * members of the section.
 */
function orderOf(order: unknown, seed: unknown): { section: object | undefined; beside: readonly NamedList[] } {
  if (typeof order !== 'object' || order === null) return { section: section({ name: order, seed }), beside: [] };
  if (seed !== undefined) fail('contradiction', 'seed', seed, 'none with an order that has its own');
  return order instanceof OrderValue ? order : { section: order, beside: [] };
}

/** Whether an order has other members than `name`, `samples` and `seed`, as composed and sharded orders have. */
export function isMade(order: Record<string, unknown> | undefined): boolean {
  return Object.keys(order ?? {}).some((name) => !['name', 'samples', 'seed'].includes(name));
}

/** Members that are written as strings if a `number` cannot hold their value. */
const WIDE = ['seed', 'epoch', 'max_tokens', 'max_cost'];

/** The members in the text of a recipe. Whole numbers that a `number` cannot hold become `bigint`s. */
function exactly(text: string): Said {
  return JSON.parse(text, (name, value) =>
    WIDE.includes(name) && typeof value === 'string' ? plain(BigInt(value)) : value,
  );
}
