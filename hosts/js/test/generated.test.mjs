// What is put around generated JavaScript (scripts/generated.mjs, src/bindings/globals.ts): what each part is for, and that the
// generators still need it. A part whose test fails after a new version of a generator is one to look at, and maybe to delete.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Sampler as PublicSampler } from 'samedeal';
import { generate } from '../dist/bindgen/samedeal.js';
import * as globals from '../dist/bindings/globals.js';
import { instantiate } from '../dist/jco/samedeal.js';
import { compiled } from './limited.mjs';

const read = (file) => readFileSync(new URL(`../dist/${file}`, import.meta.url));

for (const name of ['samedeal', 'planning', 'batching']) {
  describe(`jco's ${name}`, () => {
    const [first, ...others] = read(`jco/${name}.js`).toString().split('\n');
    const module = others.join('\n');

    test('has its global objects from src/bindings/globals.ts', () => {
      const names = Object.keys(globals)
        .sort((a, b) => a.localeCompare(b))
        .join(', ');
      assert.equal(first, `import { ${names} } from '../bindings/globals.js';`);
    });

    for (const [what, use] of Object.entries({
      FinalizationRegistry: 'new FinalizationRegistry(',
      TextDecoder: 'new TextDecoder',
      globalThis: 'globalThis?.process?.env?.JCO_DEBUG',
      WebAssembly: 'WebAssembly.promising(',
    })) {
      test(`uses ${what}`, () => assert(module.includes(use), `it no longer has ${use}`));
    }

    test('uses nothing else of what stands in for globals with less than they have', () => {
      // Of `globalThis`, the variable of the environment, and what there is of WebAssembly.
      for (const [, after] of module.matchAll(/globalThis(\??\.\w+)/g)) {
        assert(['?.process', '.WebAssembly', '?.WebAssembly'].includes(after), `globalThis${after}`);
      }
    });
  });
}

test('a mark of byte order at the beginning of a text is a part of it', () => {
  assert.equal(new globals.TextDecoder().decode(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), '\ufeffa');
  assert.throws(() => new PublicSampler(3, { order: '\ufefffeistel' }), { value: '\ufefffeistel' });
});

test('no call looks at the environment, and no instance asks for promises', () => {
  const { env } = process;
  const { promising } = WebAssembly;
  const uses = [];
  Object.defineProperty(process, 'env', {
    configurable: true,
    get() {
      uses.push('process.env');
      return env;
    },
  });
  WebAssembly.promising = (callee) => {
    uses.push('WebAssembly.promising');
    return callee;
  };
  try {
    const { sampling } = instantiate(compiled, {});
    assert(sampling.orders().length > 0);
  } finally {
    Object.defineProperty(process, 'env', { configurable: true, writable: true, enumerable: true, value: env });
    if (promising) WebAssembly.promising = promising;
    else delete WebAssembly.promising;
  }
  assert.deepEqual(uses, []);
});

test("wasm-bindgen's module is a function that makes an instance of its own for every call", () => {
  const module = new WebAssembly.Module(read('bindgen/samedeal_bg.wasm'));
  const [one, other] = [generate(), generate()];
  one.initSync({ module });
  assert(one.orders().length > 0);
  assert.throws(() => other.orders(), TypeError);
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
    new (instantiate(compiled, {}).mesh.Mesh)(1, []);
  } finally {
    globalThis.FinalizationRegistry = Whole;
  }
  assert.equal(made, 0);
});
