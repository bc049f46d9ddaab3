import { fail, isRecord, named, placed, stateText } from './checks.js';
import type { ComponentBindings } from './engine/types.js';
import type { Engine } from './engine.js';
import type { Difference, TextKind } from './generated/texts.js';
import { LONGEST, list } from './lists.js';

/** `inspect` with the engine as a parameter. */
export function inspectWith(engine: Engine<ComponentBindings>, text: unknown): TextKind {
  const whole = checked('text', text);
  return engine.once(['text', whole], 4 * whole.length, ({ texts }) => texts.inspect(whole));
}

/** `differences` with the engine as a parameter. */
export function differencesWith(engine: Engine<ComponentBindings>, one: unknown, other: unknown): Difference[] {
  const texts = [checked('one', one), checked('other', other)] as const;
  const bytes = 8 * (texts[0].length + texts[1].length);
  return engine.once(['one', texts[0]], bytes, ({ texts: core }) => core.differences(...texts));
}

/** `wholeWeights` with the engine as a parameter. */
export function wholeWeightsWith(engine: Engine<ComponentBindings>, weights: unknown): BigUint64Array {
  const floats = Float64Array.from(list('weights', weights, LONGEST, 'numbers'), (weight, i) =>
    typeof weight === 'number'
      ? weight
      : placed(`weights[${i}]`, () => fail('wrong-type', 'weights', weight, 'a number')),
  );
  const bits = new BigUint64Array(floats.buffer);
  return engine.once(['weights', `${bits.length} numbers`], 4 * bits.byteLength, ({ texts }) =>
    texts.wholeWeights(bits),
  );
}

/** The given text; or the text of a state, given as the bytes of a file or as the dictionary of Python. */
function checked(field: string, given: unknown): string {
  const isSaved = typeof given === 'string' || given instanceof Uint8Array || isRecord(given);
  return isSaved ? named(field, () => stateText(given)) : fail('wrong-type', field, given, 'a text');
}
