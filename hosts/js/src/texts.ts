import type { ComponentBindings } from './bindings/types.js';
import { fail, mostFacts, RECIPE_MAX, utf8Size } from './checks.js';
import type { Engine } from './engine.js';
import type { TextKind } from './generated/texts.js';

/** `inspect` over an engine. */
export function inspectWith(engine: Engine<ComponentBindings>, text: unknown): TextKind {
  if (typeof text !== 'string') fail('wrong-type', 'text', text, 'a text');
  // A character is a byte or more: what is much too long is not looked at.
  const size = text.length > RECIPE_MAX ? text.length : utf8Size(text);
  if (size > RECIPE_MAX) fail('out-of-range', 'text', `of ${size} bytes`, `up to ${RECIPE_MAX}`, mostFacts(RECIPE_MAX));
  return engine.once(['text', text], 4 * size, ({ texts }) => texts.inspect(text));
}
