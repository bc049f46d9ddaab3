// The code that is added around generated JavaScript (scripts/generated.mjs), and a check that the generator still
// needs it. Also the calls into components (src/engine/abi.ts).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Sampler as PublicSampler, plainOrders } from 'samedeal';
import { generate } from '../dist/bindgen/samedeal.js';
import interfaces from '../dist/components/samedeal.js';
import { Core } from '../dist/engine/abi.js';
import { coreOf } from '../scripts/core.mjs';
import { compiled } from './limited.mjs';

const read = (file) => readFileSync(new URL(`../dist/${file}`, import.meta.url));
const samedeal = () => {
  const core = new Core(compiled());
  const made = Object.entries(interfaces).map(([name, each]) => [name, core.interfaceOf(each)]);
  return { ...Object.fromEntries(made), memory: core.memory };
};

test('a mark of byte order at the beginning of a text is a part of it', () => {
  assert.throws(() => new PublicSampler(3, { order: '\ufefffeistel' }), { value: '\ufefffeistel' });
});

test('the type of names of orders has those that the component knows', () => {
  const [, union] = /type OrderName = ([^;]+);/.exec(read('generated/names.d.ts').toString());
  const names = [...union.matchAll(/'([^']+)'/g)].map(([, name]) => name);
  assert.deepEqual(names, plainOrders());
});

test('what an earlier component does not have is missing where it is called', () => {
  const core = new Core(compiled());
  const { steps } = interfaces;
  const later = { ...steps, functions: { later: ['later', ['u32'], 'u32'] } };
  const { later: call } = core.interfaceOf(later);
  assert.throws(() => call(3), { message: 'the component has no samedeal:deal/steps@0.1.0#later' });
});

test('a list that comes back is a copy, and stays as it is', () => {
  const { sampling } = samedeal();
  const sampler = new sampling.Sampler('{"order":{"samples":1000}}', [], 0n, 0);
  const lists = [sampler.indices(0n, 1000), sampler.indices32(0n, 1000)];
  const before = lists.map((list) => list.slice());
  for (let seed = 0; seed < 50; seed++) {
    new sampling.Sampler(`{"order":{"samples":100000,"seed":${seed},"name":"torch"}}`, [], 0n, 0).indices(0n, 5000);
  }
  assert.deepEqual(lists, before);
  assert.deepEqual([...lists[0]].map(Number), [...lists[1]]);
});

test('a failure is a plain object, and no more memory than before is taken', () => {
  const { sampling, memory } = samedeal();
  const long = 'x'.repeat(100_000);
  let size;
  for (let i = 0; i < 2000; i++) {
    try {
      new sampling.Sampler(
        `{"order":{"samples":3,"name":"${long}"}}`,
        [{ name: 'sizes', numbers: new BigUint64Array(9) }],
        0n,
        0,
      );
      assert.fail();
    } catch (error) {
      assert.deepEqual([error.constructor, error.kind], [Object, 'unknown-name']);
    }
    if (i === 10) size = memory.buffer.byteLength;
  }
  assert.equal(memory.buffer.byteLength, size);
});

test('the core module of what is no component is an error', () => {
  assert.throws(() => coreOf(Uint8Array.of(0, 97, 115, 109, 13, 0, 1, 0)), {
    message: 'no component: it has no core module',
  });
});

test("wasm-bindgen's module is a function that makes an instance of its own for every call", () => {
  const module = new WebAssembly.Module(read('bindgen/samedeal_bg.wasm'));
  const [one, other] = [generate(), generate()];
  one.initSync({ module });
  assert(one.plainOrders().length > 0);
  assert.throws(() => other.plainOrders(), TypeError);
});

test('nobody but the engine registers objects for the garbage collector', () => {
  const Whole = globalThis.FinalizationRegistry;
  let made = 0;
  globalThis.FinalizationRegistry = class extends Whole {
    constructor(then) {
      super(then);
      made += 1;
    }
  };
  try {
    const { initSync, Sampler } = generate();
    initSync({ module: new WebAssembly.Module(read('bindgen/samedeal_bg.wasm')) });
    new Sampler('{"order":{"samples":3}}', [], new Uint32Array(), new BigUint64Array(), 0n, 0).atEpoch(3n);
    new (samedeal().mesh.Mesh)(1, []);
  } finally {
    globalThis.FinalizationRegistry = Whole;
  }
  assert.equal(made, 0);
});
