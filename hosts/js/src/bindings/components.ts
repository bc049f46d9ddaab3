// Instances of the components, over what jco makes of each. They need neither Node nor a browser.
import { type Bindings, isFailure } from '../engine.js';
import { instantiate as instantiateBatching } from '../jco/batching.js';
import { instantiate as instantiatePlanning } from '../jco/planning.js';
import { instantiate as instantiateDealing } from '../jco/samedeal.js';
import { makeClient } from '../ledger/client.js';
import type { RawLedger } from '../ledger/raw.js';
import { release } from './resources.js';
import type { BatchingBindings, DealingBindings, PlanningBindings, RawSampler } from './types.js';

/** Gives the compiled core module of a file that jco wrote. */
export type Modules = (file: string) => WebAssembly.Module;

/** What makes instances by `make`. `modules` is asked once for each file in `jco/`. */
function instances<B extends Bindings>(modules: Modules, make: (compiled: Modules) => Omit<B, 'release'>): () => B {
  const made = new Map<string, WebAssembly.Module>();
  const compiled = (file: string) => {
    const found = made.get(file) ?? modules(file);
    made.set(file, found);
    return found;
  };
  return () => ({ ...make(compiled), release }) as B;
}

/** The core module of `composing.wasm` in place of that of `samedeal.wasm`, whose interface it has: scripts/build.mjs holds it to that. */
const composing = (modules: Modules): Modules => {
  return (file) => modules(file === 'samedeal.core.wasm' ? 'composing.core.wasm' : file);
};

/** Whether what a call threw says that the component `composing.wasm` has what is asked for. */
function isComposed(error: unknown): boolean {
  return isFailure(error) && !!error.facts?.some(({ name, value }) => name === 'component' && value === 'composing');
}

/** Instances of the component `samedeal.wasm`, and of `composing.wasm` where the first one says that it has the order of a recipe. */
export const dealingInstances = (modules: Modules): (() => DealingBindings) =>
  instances<DealingBindings>(modules, (compiled) => {
    const { sampling, mesh, launch } = instantiateDealing(compiled, {});
    const { orders, Sampler } = sampling;
    let Composed: typeof Sampler | undefined;
    return {
      orders,
      sampler(recipe, lists, epoch, rank) {
        const make = (Class: typeof Sampler, own = lists) => new Class(recipe, [...own], epoch, rank);
        try {
          // Which component has an order is asked without the lists, which may be long. What else is wrong is told below.
          if (lists.length > 0) release(make(Sampler, []));
          else return make(Sampler) as RawSampler;
        } catch (error) {
          if (isComposed(error)) {
            Composed ??= instantiateDealing(composing(compiled), {}).sampling.Sampler;
            return make(Composed) as RawSampler;
          }
          if (lists.length === 0 || !isFailure(error)) throw error;
        }
        return make(Sampler) as RawSampler;
      },
      mesh: mesh as DealingBindings['mesh'],
      launch: launch as DealingBindings['launch'],
    };
  });

/** Instances of the component `planning.wasm`. */
export const planningInstances = (modules: Modules): (() => PlanningBindings) =>
  instances<PlanningBindings>(modules, (compiled) => {
    const { shards, read, ledger, splits } = instantiatePlanning(compiled, {});
    return {
      shards: shards as PlanningBindings['shards'],
      read: read as PlanningBindings['read'],
      splits: splits as PlanningBindings['splits'],
      client: (options) => makeClient(ledger, options),
      ledger: (header) => new ledger.Ledger(header) as RawLedger,
      header: ledger.header,
    };
  });

/** Where the memory of the component `batching.wasm` ends: see scripts/build.mjs. */
const MEMORY = 2 ** 30;
/** What a call may need besides its lists, which comes with a failure that the component can tell. */
const SLACK = 2 ** 20;
/** Lists that there is room for, however full the memory: half of what the component keeps free for what is small. */
const ALWAYS = 2 ** 15;

/** Instances of the component `batching.wasm`, whose memory ends after `most` bytes. */
export const batchingInstances = (modules: Modules, most: number = MEMORY): (() => BatchingBindings) =>
  instances<BatchingBindings>(modules, (compiled) => {
    let memory: WebAssembly.Memory | undefined;
    const { batches, collation, steps } = instantiateBatching(compiled, {}, (module, imports) => {
      const instance = new WebAssembly.Instance(module, imports);
      memory ??= instance.exports.memory as WebAssembly.Memory | undefined;
      return instance;
    });
    return {
      batches: batches as BatchingBindings['batches'],
      collation: collation as BatchingBindings['collation'],
      steps: steps as BatchingBindings['steps'],
      // What is free below the end is not known, so what grows is counted alone.
      room: () => Math.max(ALWAYS, most - SLACK - (memory?.buffer.byteLength ?? 0)),
    };
  });
