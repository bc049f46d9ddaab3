import type { ComponentBindings } from './bindings/types.js';
import { fail, recipeText } from './checks.js';
import type { Engine } from './engine.js';
import type { TextKind } from './generated/texts.js';

/** `inspect` over an engine. */
export function inspectWith(engine: Engine<ComponentBindings>, text: unknown): TextKind {
  if (typeof text !== 'string') fail('wrong-type', 'text', text, 'a text');
  const whole = recipeText(text, 'text');
  return engine.once(['text', whole], 4 * whole.length, ({ texts }) => texts.inspect(whole));
}
