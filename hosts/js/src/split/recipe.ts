import { integer, options, placed, type Range, u53, weightOf } from '../checks.js';
import { Document, fromJson } from '../document.js';
import type { ComponentBindings, RawSplit } from '../engine/types.js';
import { ALONE, type Recipe } from '../engine.js';
import { entriesOf, seedOf } from '../order/order.js';
import type { SplitJson, SplitOptions } from './types.js';

const FOLDS: Range = [1n, 2n ** 16n];

/** The definition of a split. */
export class SplitRecipe implements Recipe<ComponentBindings, RawSplit> {
  readonly document: Document;
  readonly size: number;
  readonly lost?: string;

  constructor(document: Document) {
    this.document = document;
    this.size = document.size;
  }

  get cause(): readonly [string, string] {
    return ['parts', `${this.#count} of them`];
  }

  get #count(): number {
    const parts = this.document.said.split?.parts;
    return Array.isArray(parts) ? parts.length : 0;
  }

  make({ splits }: ComponentBindings): RawSplit {
    return new splits.Split(this.document.text);
  }

  source(most: number): string {
    return this.document.source('Split', {}, most);
  }

  /** Makes the definition from parts, each with a weight or a size. */
  static of(member: 'weight' | 'size', given: unknown, more: SplitOptions | undefined): SplitRecipe {
    const { seed } = options(more, ['seed']);
    const allowed = `an object with a ${member} by the names of parts`;
    const parts = entriesOf('parts', given, allowed, 'part').map(([name, value]) =>
      placed(`of part ${name}`, () => ({
        name,
        [member]: member === 'weight' ? weightOf(member, value) : u53(member, value),
      })),
    );
    return new SplitRecipe(new Document({ split: { seed: seedOf(seed), parts } }));
  }

  /** Makes the definition from a number of parts of equal weight, whose names are their numbers. */
  static ofFolds(folds: unknown, more: SplitOptions | undefined): SplitRecipe {
    const count = Number(integer('folds', folds, FOLDS));
    return SplitRecipe.of('weight', new Map(Array.from({ length: count }, (_, i) => [String(i), 1])), more);
  }

  static read(recipe: unknown): SplitRecipe {
    return new SplitRecipe(new Document(recipe));
  }

  /**
   * The definition of a split in an instance of its own, to which keys are added: they may need much memory, and if a
   * call of another object failed in their instance, the keys would be lost.
   */
  static alone(recipe: string): SplitRecipe {
    const lost = 'a call did not come to its end, and the keys are lost: call among again';
    return Object.assign(SplitRecipe.read(recipe), { size: ALONE, lost });
  }

  static ofJson(json: SplitJson | string): SplitRecipe {
    return SplitRecipe.read(fromJson<object>(json, []).recipe);
  }
}
