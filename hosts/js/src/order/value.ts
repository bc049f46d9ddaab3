import type { NamedList } from '../components/interfaces/samedeal-deal-types.js';

/** Members of an order as a recipe has them. */
export type Section = Readonly<Record<string, unknown>>;

/** What a sampler reads of an order. It is apart from what makes orders, which a page without composed orders does not load. */
export abstract class OrderValue {
  /** What a recipe has of it. @internal */
  readonly section: Section;
  /** The lists beside that, by the paths of their members. @internal */
  readonly beside: readonly NamedList[];

  /** Of checked members; nothing changes them, or the lists. @internal */
  constructor(section: Section, beside: readonly NamedList[]) {
    this.section = Object.freeze(section);
    this.beside = beside;
  }
}
