import interfaces from '../components/samedeal.js';
import { isFailure } from '../errors.js';
import { instances, instantiate, type Modules } from './instances.js';
import { release } from './resources.js';
import type { DealingBindings, RawSampler, Sampling } from './types.js';

/** What an instance of `samedeal.wasm` exports, and of `composing.wasm`, which has the same interface. */
type Dealing = Pick<DealingBindings, 'mesh' | 'launch'> & { sampling: Sampling };

/** Whether what a call threw says that the component `composing.wasm` has what is asked for. */
function isComposed(error: unknown): boolean {
  return isFailure(error) && !!error.facts?.some(({ name, value }) => name === 'component' && value === 'composing');
}

/** Instances of the component `samedeal.wasm`, and of `composing.wasm` where the first one says that it has the order of a recipe. */
export const dealingInstances = (modules: Modules): (() => DealingBindings) =>
  instances<DealingBindings>(modules, (compiled) => {
    const { sampling, mesh, launch } = instantiate<Dealing>(compiled('samedeal.core.wasm'), interfaces);
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
            Composed ??= instantiate<Dealing>(compiled('composing.core.wasm'), interfaces).sampling.Sampler;
            return make(Composed) as RawSampler;
          }
          if (lists.length === 0 || !isFailure(error)) throw error;
        }
        return make(Sampler) as RawSampler;
      },
      mesh,
      launch,
    };
  });
