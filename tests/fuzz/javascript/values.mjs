// Arguments as texts of JavaScript: valid ones, numbers at limits, and values that no caller should pass. `@Sampler`
// stands for an object of that class.
import { fc } from './packages.mjs';

const EDGES = [
  ...['-1', '-0', '0', '1', '2 ** 16', '2 ** 20', '2 ** 20 + 1', '2 ** 31 - 1', '2 ** 31', '2 ** 32 - 1', '2 ** 32'],
  ...['2 ** 53 - 1', '2 ** 53', '2 ** 63', '2 ** 64', '-1n', '0n', '2n ** 31n', '2n ** 32n', '2n ** 53n - 1n'],
  ...['2n ** 53n', '2n ** 63n - 1n', '2n ** 63n', '2n ** 64n - 1n', '2n ** 64n', '-(2n ** 63n)', '-(2n ** 63n) - 1n'],
  ...['10n ** 3000n', '-(10n ** 3000n)', '1e300', 'Number.MIN_VALUE'],
];
const TYPES = [
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
];
const HOSTILE = [
  ...['undefined', 'null', 'true', 'false', 'NaN', 'Infinity', '-Infinity', '1.5', '-0.5', "''", "'3'", "'\\0'"],
  ...[
    "'\\ud800'",
    "'日本語 עברית'",
    "'é'.repeat(1e6)",
    "Symbol('3')",
    'Symbol.iterator',
    '[]',
    '[1]',
    '[null]',
    "['a']",
  ],
  ...[
    '[[1], [2]]',
    '[undefined]',
    '[1, , 3]',
    'new Array(5)',
    'new Array(2 ** 32 - 1)',
    '{}',
    '{ a: 1 }',
    '{ length: 2 }',
  ],
  ...[
    '() => 3',
    'class {}',
    'Math',
    'globalThis',
    'Object.create(null)',
    'Object(3)',
    'Object(3n)',
    "Object('feistel')",
  ],
  ...[
    'new Date(NaN)',
    '/x/',
    'new Map([[1, 2]])',
    'new Set([1])',
    'new WeakMap()',
    'Promise.resolve(3)',
    'new Error()',
  ],
  ...[
    'h.odd()',
    '[h.odd()]',
    '{ seed: h.odd() }',
    'h.trapped({})',
    'h.trapped([1, 2])',
    "h.trapped({ seed: 1 }, 'get')",
  ],
  ...["h.trapped([1], 'has')", "h.trapped({}, 'ownKeys')", 'h.revoked({})', 'h.revoked([])', 'h.revoked(() => 1)'],
  ...[
    'h.lying([1, 2], 5)',
    'h.lying([1, 2], -1)',
    'h.lying([1, 2], NaN)',
    'h.lying([1, 2], 2 ** 40)',
    "h.lying([], '3')",
  ],
  ...["h.changing('seed', 1, 2 ** 60, null)", "h.changing('worldSize', 2, 5)", "h.changing('length', 1, 2 ** 40)"],
  ...['h.recursive()', 'h.deep(50)', 'h.deep(20000)', 'h.raising(1)', 'h.Numbers.from([1, 2])', 'new h.Words([1, 2])'],
  ...['new DataView(new ArrayBuffer(8))', 'new ArrayBuffer(8)', 'new SharedArrayBuffer(8)', 'Buffer.from([1, 2])'],
  ...[
    'h.Planted',
    'samedeal',
    'samedeal.Sampler',
    'samedeal.Sampler.prototype',
    "samedeal.order('feistel', { samples: 3 })",
  ],
  ...['Object.create(samedeal.Sampler.prototype)', 'new Proxy(new samedeal.Sampler(3), {})', 'Object.freeze([1, 2])'],
  ...TYPES.flatMap((type) => [`h.detached(${type})`, `new ${type}(2)`, `h.shared(${type})`, `h.shrunk(${type})`]),
  "{ ['__proto__']: 1 }",
  'JSON.parse(\'{"__proto__": {"seed": 3}}\')',
  '{ constructor: 3, toString: 4 }',
];

export const one = (...texts) => fc.constantFrom(...texts);
export const name = (...texts) => fc.constantFrom(...texts.map((text) => `'${text}'`));
export const upto = (most) => fc.nat(most).map(String);
export const hostile = one(...HOSTILE);
export const edge = one(...EDGES);

const KINDS = [
  (plain) => plain,
  (plain) => plain,
  (plain) => `new Uint32Array(${plain})`,
  (plain) => `new Float64Array(${plain})`,
  (plain) => `${plain}.map(BigInt)`,
  (plain) => `BigUint64Array.from(${plain}, BigInt)`,
  (plain) => `Object.freeze(${plain})`,
];
const listed = (numbers) =>
  fc.tuple(numbers, fc.nat(KINDS.length - 1)).map(([own, kind]) => KINDS[kind](`[${own.join(', ')}]`));
/** A list of whole numbers, of any kind. */
export const numbers = (most, length = 30) => listed(fc.array(fc.nat(most), { maxLength: length }));
/** A list of different whole numbers, ascending. */
export const ascending = (most) =>
  listed(fc.uniqueArray(fc.nat(most), { maxLength: 12 }).map((own) => own.sort((a, b) => a - b)));

/** An argument that is sometimes at a limit, or of a wrong type. */
export const wild = (arbitrary) =>
  fc.oneof(
    { weight: 14, arbitrary },
    { weight: 1, arbitrary: edge },
    { weight: 1, arbitrary: hostile },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('[3, ', '[', 'new Set([', '[[1], '), edge)
        .map(([a, b]) => `${a}${b}]${a.includes('(') ? ')' : ''}`),
    },
    { weight: 1, arbitrary: one('@Sampler', '@Batcher', '@Reading', '@Order', '@Split', '@Mesh', '@MemoryLog') },
  );

/** The names of all options of any call. */
export const OPTIONS = new Set();

/** An object with some of these options, and sometimes with a wrong one. */
export function options(known, always = []) {
  const keys = Object.keys(known);
  for (const key of keys) OPTIONS.add(key);
  const chosen = fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 });
  const values = fc.record(Object.fromEntries(keys.map((key) => [key, wild(known[key])])));
  const none = fc.constantFrom(...Array(20).fill(''), 'Seed: 3', "['']: 1", '[Symbol()]: 1', '...null');
  return fc.tuple(values, chosen, none).map(([own, some, other]) => {
    const entries = [...new Set([...always, ...some])].map((key) => `${key}: ${own[key]}`);
    return `{ ${[...entries, ...(other ? [other] : [])].join(', ')} }`;
  });
}
