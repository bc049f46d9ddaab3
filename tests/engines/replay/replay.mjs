// Replays the calls of a transcript on a JavaScript engine, and compares every answer and every memory. It only uses
// the language itself, so that it runs in every shell. `../README.md` describes transcripts.
import { Crc } from './crc.mjs';

/** The import of a core module that makes or drops a handle. A handle is the number from which it is made. */
const identity = (handle) => handle;

/** An instance of a compiled core module. */
export function instantiate(module) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = identity;
  }
  return new WebAssembly.Instance(module, imports).exports;
}

const WORDS = {
  i: { pass: (text) => Number(text) | 0, take: (value) => BigInt(value >>> 0) },
  I: { pass: (text) => BigInt(text), take: (value) => BigInt.asUintN(64, value) },
};

/** Every byte in the notation of transcripts. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Number of cases of a transcript with equal answers. `modules` has the compiled core module of each component. */
export function replay(text, modules) {
  const [answers, words] = [new Crc(), new DataView(new ArrayBuffer(8))];
  const [instances, functions, errors] = [{}, [], []];
  let [group, cases, failed, component, here] = ['', 0, 0, '', undefined];
  let isGood = true;
  const expect = (is, should, line) => {
    if (is === should) return;
    failed += isGood;
    isGood = false;
    if (errors.length < 5) errors.push(`${group}, case ${cases}: ${is} for ${line.slice(0, 200)}`);
  };
  const verbs = {
    group: ([name]) => {
      group = name;
    },
    case: () => {
      cases += 1;
      isGood = true;
    },
    open: ([name]) => {
      component = name;
      here = instances[name] = instantiate(modules[name]);
    },
    use: ([name]) => {
      component = name;
      here = instances[name];
    },
    function: ([id, kinds, name]) => {
      functions[id] = { name, result: WORDS[kinds[0]], parameters: Array.from(kinds.slice(1), (kind) => WORDS[kind]) };
    },
    call: ([id, expected, ...given], line) => {
      const { name, result, parameters } = functions[id];
      const value = here[name](...given.map((word, index) => parameters[index].pass(word)));
      if (!result) return;
      const taken = result.take(value);
      words.setBigUint64(0, taken, true);
      answers.update(new Uint8Array(words.buffer));
      expect(String(taken), expected, line);
    },
    write: ([address, hex]) => {
      const bytes = new Uint8Array(here.memory.buffer, Number(address), hex.length / 2);
      for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
    },
    read: ([address, hex], line) => {
      const bytes = new Uint8Array(here.memory.buffer, Number(address), hex.length / 2);
      answers.update(bytes);
      let is = '';
      for (let i = 0; i < bytes.length; i += 1) is += HEX[bytes[i]];
      expect(is, hex, line);
    },
    close: ([size, hash], line) => {
      const memory = new Uint8Array(here.memory.buffer);
      const crc = new Crc().update(memory).value;
      words.setUint32(0, crc, true);
      answers.update(new Uint8Array(words.buffer, 0, 4));
      expect(`${memory.length} ${crc}`, `${size} ${hash}`, line);
      delete instances[component];
      here = undefined;
    },
  };
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end);
    const [verb, ...rest] = line.split(' ');
    try {
      verbs[verb](rest, line);
    } catch (error) {
      // After a trap, no later case of the group can run.
      expect(String(error), 'an answer', line);
      const all = text.match(/^case$/gm).length;
      return { group, passed: cases - failed, failed: all - cases + failed, errors };
    }
    start = end + 1;
  }
  return { group, passed: cases - failed, failed, errors, answers: answers.value.toString(16).padStart(8, '0') };
}

/** The line for the matrix. */
export function lines(engine, { group, passed, failed, answers = '' }) {
  return ['matrix', engine, group, passed, failed, '', answers].join('\t');
}
