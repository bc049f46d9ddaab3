// Lists all public names, as found in the modules. A new name without arguments in calls.mjs is an error.
import * as groups from '../../../hosts/js/dist/generated/options.js';
import { CALLS, RECEIVERS } from './calls.mjs';
import { OPTIONS } from './values.mjs';

/** Names that JavaScript can see, and that only the package itself uses. The types do not have them. */
const INTERNAL = ['constructor', 'call', 'aside', 'source', 'follow', 'move', 'forget', 'open', 'shardsOf'];
const INTERNAL_OF_OBJECTS = ['Sampler#whole'];
/** Names that entries for pages do not have. */
const NOT_IN_PAGES = ['jsonLines'];
const ITERATORS = [Symbol.iterator, Symbol.asyncIterator];

/**
 * Everything that can be called or read: its name, its class if it needs an object, and its text, in which `{}` stands
 * for the object.
 */
export async function targets(scope) {
  const found = [];
  const add = (what, of, head) => {
    const { parameters, required } = CALLS[what] ?? missing(what);
    found.push({ what, of, head, parameters, required });
  };
  const classes = new Set();
  for (const [module, entry] of [
    ['samedeal', scope.samedeal],
    ['parquet', scope.parquet],
  ]) {
    for (const [name, value] of Object.entries(entry)) {
      if (typeof value !== 'function') {
        if (typeof value !== 'string') missing(name);
      } else if (/^class\b/.test(Function.prototype.toString.call(value))) {
        classes.add(name);
        // The constructor of SamedealError is not called, because only the package makes these errors.
        if (name !== 'SamedealError') add(`new ${name}`, undefined, `new ${module}.${name}`);
        for (const [key, own] of members(value, Function.prototype)) {
          if (typeof own.value === 'function' && !(key in Error) && typeof key === 'string') {
            add(`${name}.${key}`, undefined, `${module}.${name}.${key}`);
          }
        }
      } else if (name !== 'init') {
        // `init` is not called: it would load modules that this fuzzer has loaded already.
        add(name, undefined, `${module}.${name}`);
      }
    }
  }
  for (const name of Object.keys(RECEIVERS)) classes.add(name);
  const prototypes = new Map();
  for (const name of classes) {
    if (!(name in RECEIVERS)) missing(name);
    const made = await run(RECEIVERS[name], scope);
    const prototype = Object.getPrototypeOf(made);
    prototypes.set(prototype, name);
    for (const [key, own] of members(prototype, name === 'SamedealError' ? Error.prototype : Object.prototype)) {
      if (ITERATORS.includes(key)) {
        // Iterators and async iterators.
        found.push({ what: `${name}#${key.description.split('.').at(-1)}`, of: name, head: 'h.take({}, 5)' });
      } else if (typeof key === 'symbol') {
        if (key.description === 'nodejs.util.inspect.custom') {
          found.push({ what: `${name}#inspect`, of: name, head: `{}[Symbol.for('nodejs.util.inspect.custom')]()` });
        }
      } else if (own.get) {
        if (!INTERNAL_OF_OBJECTS.includes(`${name}#${key}`))
          found.push({ what: `${name}#${key}`, of: name, head: `{}.${key}` });
      } else if (typeof own.value === 'function' && key !== 'number') {
        // The method `number` is only for the package itself. A claim has a property `number`, which is read above.
        add(`${name}#${key}`, name, `{}.${key}`);
      }
    }
  }
  const known = new Set(found.map(({ what }) => what));
  const absent = 'init' in scope.samedeal ? NOT_IN_PAGES : [];
  const gone = Object.keys(CALLS).filter((what) => !known.has(what) && !absent.includes(what));
  if (gone.length > 0) throw new Error(`calls.mjs has arguments for what is not there: ${gone.join(', ')}`);
  for (const option of Object.values(groups).flat()) if (!OPTIONS.has(option)) missing(`the option ${option}`);
  return { found, prototypes };
}

function* members(of, end) {
  const seen = new Set(INTERNAL);
  for (let own = of; own && own !== end; own = Object.getPrototypeOf(own)) {
    for (const key of Reflect.ownKeys(own)) {
      if (seen.has(key) || (typeof of === 'function' && ['length', 'name', 'prototype'].includes(key))) continue;
      seen.add(key);
      yield [key, Object.getOwnPropertyDescriptor(own, key)];
    }
  }
}

function missing(what) {
  throw new Error(`nothing makes arguments for ${what} of samedeal: add it in calls.mjs`);
}

/** The value of a text, evaluated with the names of a scope. */
export function run(text, scope) {
  return new Function('scope', `with (scope) return (${text});`)(scope);
}
