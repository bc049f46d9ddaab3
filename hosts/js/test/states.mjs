// Texts that are no states, for the tests of samplers and of batchers.

/** Texts that are no state of any kind. */
export const NO_STATES = [
  ...[
    '',
    ' ',
    'null',
    '3',
    '""',
    '[]',
    '{}',
    '{',
    'samedeal',
    '\0',
    '\ud800',
    'π',
    '{"samedeal":1}',
    '{"samedeal":1e0}',
  ],
  '['.repeat(10_000),
  '{"a":'.repeat(3000),
  `"${'x'.repeat(2 ** 14 - 2)}"`,
  '9'.repeat(2 ** 14),
];

/** `count` texts. Each is the state with a change in one place. They are the same in every run. */
export function* changed(state, count) {
  let seed = 1;
  const below = (bound) => {
    seed = Math.imul(seed, 1_664_525) + 1_013_904_223;
    return (seed >>> 8) % bound;
  };
  const parts = [
    '',
    '0',
    '1',
    '9',
    '-',
    '.',
    'e',
    '"',
    ',',
    ':',
    '{',
    '}',
    '[',
    ']',
    ' ',
    '\\',
    '\0',
    'é',
    '\ud83d',
    '99999',
  ];
  for (let i = 0; i < count; i++) {
    const at = below(state.length);
    yield state.slice(0, at) + parts[below(parts.length)] + state.slice(at + below(3));
  }
}
