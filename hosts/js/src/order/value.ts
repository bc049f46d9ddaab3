import type { NamedList } from '../components/interfaces/samedeal-deal-types.js';

/** Members of an order as a recipe has them. */
export type Section = Readonly<Record<string, unknown>>;

/**
 * The part of an order that a sampler reads. The functions that make orders are in another module, which a page without
 * composed orders does not load.
 */
export abstract class OrderValue {
  /** The section `order` of a recipe. @internal */
  readonly section: Section;
  /** The lists beside the section, by the paths of their members. @internal */
  readonly beside: readonly NamedList[];

  /** `section` has checked members. Neither it nor the lists may change. @internal */
  constructor(section: Section, beside: readonly NamedList[]) {
    this.section = Object.freeze(section);
    this.beside = beside;
  }
}
