// What is put around generated JavaScript (scripts/generated.mjs, src/bindings/globals.ts): what each part is for, and that the
// generators still need it. A part whose test fails after a new version of a generator is one to look at, and maybe to delete.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Sampler } from 'samedeal';
import { generate } from '../dist/bindgen/samedeal.js';
import * as globals from '../dist/bindings/globals.js';
import { instantiate } from '../dist/jco/samedeal.js';
import { compiled } from './limited.mjs';

const text = (file) => readFileSync(new URL(`../dist/${file}`, import.meta.url), 'utf8');
/** A generated module without the line, or the lines, that scripts/generated.mjs puts around it. */
const own = (file) => text(file).split('\n').slice(1).join('\n');

for (const name of ['samedeal', 'planning', 'batching']) {
  describe(`jco's ${name}`, () => {
    const module = own(`jco/${name}.js`);

    test('has its global objects from src/bindings/globals.ts', () => {
      const names = Object.keys(globals)
        .sort((a, b) => a.localeCompare(b))
        .join(', ');
      assert.equal(text(`jco/${name}.js`).split('\n')[0], `import { ${names} } from '../bindings/globals.js';`);
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
  assert.throws(() => new Sampler(3, { order: '\ufefffeistel' }), { value: '\ufefffeistel' });
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

describe("wasm-bindgen's module", () => {
  test('is one variable, which is a function of its own for every call', () => {
    const module = text('bindgen/samedeal.js');
    assert(/^\s*let wasm_bindgen = \(function\(exports\) \{/m.test(own('bindgen/samedeal.js')), module.slice(0, 300));
    const module_ = new WebAssembly.Module(readFileSync(new URL('../dist/bindgen/samedeal_bg.wasm', import.meta.url)));
    const [one, other] = [generate(), generate()];
    one.initSync({ module: module_ });
    assert(one.orders().length > 0);
    // The other one has no instance.
    assert.throws(() => other.orders(), TypeError);
  });

  test('would use a registry', () => assert(own('bindgen/samedeal.js').includes('new FinalizationRegistry(')));
});

test('nobody but the engine registers objects for the garbage collector', () => {
  const { FinalizationRegistry } = globalThis;
  let made = 0;
  globalThis.FinalizationRegistry = class extends FinalizationRegistry {
    constructor(then) {
      super(then);
      made += 1;
    }
  };
  try {
    const module = new WebAssembly.Module(readFileSync(new URL('../dist/bindgen/samedeal_bg.wasm', import.meta.url)));
    generate().initSync({ module });
    new (instantiate(compiled, {}).mesh.Mesh)(1, []);
  } finally {
    globalThis.FinalizationRegistry = FinalizationRegistry;
  }
  assert.equal(made, 0);
});
