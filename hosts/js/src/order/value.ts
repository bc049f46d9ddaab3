import type { NamedList } from '../components/interfaces/samedeal-deal-types.js';

/** Members of an order as a recipe has them. */
export type Section = Readonly<Record<string, unknown>>;

/** The part of an order that a sampler reads. It is apart from the functions that make orders, which a page without composed orders does not load. */
export abstract class OrderValue {
  /** Its section in a recipe. @internal */
  readonly section: Section;
  /** The lists beside that, by the paths of their members. @internal */
  readonly beside: readonly NamedList[];

  /** Of checked members; nothing changes them, or the lists. @internal */
  constructor(section: Section, beside: readonly NamedList[]) {
    this.section = Object.freeze(section);
    this.beside = beside;
  }
}
