import { generate } from './bindgen/samedeal.js';
import { type Bindings, LAYOUTS, type RawConfig, type RawSampler, REMAINDERS } from './engine.js';

/** What the WebAssembly module can be given as. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Instances of the wasm-bindgen build; without a source, it is fetched from beside the generated module. */
export async function bindgenInstances(source?: Source | Promise<Source>): Promise<() => Bindings> {
  const given = await source;
  const { load, loaded } = generate();
  await (given === undefined ? load() : load({ module_or_path: given }));
  const module = loaded();
  return () => {
    const { initSync, Sampler, orders } = generate();
    initSync({ module });
    return {
      orders,
      create: ({ samples, seed, epoch, order, rank, world, remainder, layout }: RawConfig) =>
        new Sampler(
          samples,
          seed,
          epoch,
          order,
          rank,
          world,
          REMAINDERS.indexOf(remainder),
          LAYOUTS.indexOf(layout),
        ) as RawSampler,
      release: (sampler) => (sampler as InstanceType<typeof Sampler>).free(),
    };
  };
}
