import load, { initSync, maxWindow, orders, Sampler } from './bindgen/samedeal.js';
import type { Bindings, RawConfig, RawSampler } from './engine.js';

/** What the WebAssembly module can be given as. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** The places of the names in `wit/types.wit`. */
const REMAINDERS = ['drop', 'pad', 'uneven'];
const LAYOUTS = ['strided', 'contiguous'];

/** The wasm-bindgen build as an engine; without a source, it is fetched from beside the generated module. */
export async function bindgenBindings(source?: Source | Promise<Source>): Promise<Bindings> {
  const given = await source;
  if (given instanceof WebAssembly.Module) {
    initSync({ module: given });
  } else {
    await (given === undefined ? load() : load({ module_or_path: given }));
  }
  return {
    orders,
    maxWindow,
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
    release: (sampler) => (sampler as Sampler).free(),
  };
}
