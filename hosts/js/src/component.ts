import type { Bindings } from './engine.js';
import { instantiate } from './jco/samedeal.js';
import type { LaunchBindings } from './launch.js';
import type { MeshBindings, RawMesh } from './mesh.js';
import type { RawSampler, SamplerBindings } from './raw.js';

/** What an instance of the component exports. */
export type ComponentBindings = SamplerBindings & MeshBindings & LaunchBindings;

// As the generated module has it.
const symbolDispose: symbol = Symbol.dispose ?? Symbol.for('dispose');

/** Gives the compiled core module of a file that jco wrote. */
export type Modules = (file: string) => WebAssembly.Module;

/**
 * Instances of the component `samedeal.wasm`. `modules` is asked once for each file in `jco/`. It needs neither Node nor
 * a browser.
 */
export function componentInstances(modules: Modules): () => ComponentBindings {
  const compiled = once(modules);
  return () => {
    const { sampling, mesh, launch } = instantiate(compiled, {});
    return {
      orders: sampling.orders,
      create: (config, sharding) =>
        (sharding ? sampling.Sampler.sharded(config, sharding) : new sampling.Sampler(config)) as RawSampler,
      mesh: (world, axes) => new mesh.Mesh(world, axes) as RawMesh,
      variables: launch.variables,
      detect: launch.detect,
      release,
    };
  };
}

/** The same modules, each made once. */
export function once(modules: Modules): Modules {
  const made = new Map<string, WebAssembly.Module>();
  return (file) => {
    const found = made.get(file) ?? modules(file);
    made.set(file, found);
    return found;
  };
}

/** Frees a resource of jco. */
export const release: Bindings['release'] = (raw) => {
  (raw as Record<symbol, () => void>)[symbolDispose]?.();
};
