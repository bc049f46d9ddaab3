import type { Bindings, RawConfig, RawSampler } from './engine.js';
import { instantiate } from './jco/samedeal.js';

// As the generated module has it.
const symbolDispose: symbol = Symbol.dispose ?? Symbol.for('dispose');

/**
 * Instances of the component. `module` gives the compiled core module of a file name in `jco/`, and is asked once for
 * each. It needs neither Node nor a browser.
 */
export function componentInstances(module: (file: string) => WebAssembly.Module): () => Bindings {
  const modules = new Map<string, WebAssembly.Module>();
  const compiled = (file: string) => {
    const found = modules.get(file) ?? module(file);
    modules.set(file, found);
    return found;
  };
  return () => {
    const { sampling } = instantiate(compiled, {});
    return {
      orders: sampling.orders,
      create: (config: RawConfig) => new sampling.Sampler(config) as RawSampler,
      release(sampler) {
        (sampler as unknown as Record<symbol, () => void>)[symbolDispose]?.();
      },
    };
  };
}
