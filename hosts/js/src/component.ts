import type { Bindings, RawConfig, RawSampler } from './engine.js';
import { instantiate } from './jco/samedeal.js';

// As the generated module has it.
const symbolDispose: symbol = Symbol.dispose ?? Symbol.for('dispose');

/**
 * The component as an engine. `module` gives the compiled core module of a file name in `jco/`. It needs neither Node
 * nor a browser.
 */
export function componentBindings(module: (file: string) => WebAssembly.Module): Bindings {
  const { sampling } = instantiate(module, {});
  return {
    orders: sampling.orders,
    maxWindow: sampling.maxWindow,
    create: (config: RawConfig) => new sampling.Sampler(config) as RawSampler,
    release(sampler) {
      (sampler as unknown as Record<symbol, () => void>)[symbolDispose]?.();
    },
  };
}
