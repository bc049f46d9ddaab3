import { generate } from './bindgen/samedeal.js';
import { LAYOUTS, type RawSampler, REMAINDERS, type SamplerBindings } from './raw.js';

/** What the WebAssembly module can be given as. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Instances of the wasm-bindgen build. */
export async function bindgenInstances(source: Source | Promise<Source>): Promise<() => SamplerBindings> {
  const given = await source;
  const { load, loaded } = generate();
  await load({ module_or_path: given });
  const module = loaded();
  return () => {
    const { initSync, Sampler, orders } = generate();
    initSync({ module });
    return {
      orders,
      create({ samples, seed, epoch, order, rank, world, remainder, layout, consumed }, sharding) {
        const [kept, cut] = [REMAINDERS.indexOf(remainder), LAYOUTS.indexOf(layout)];
        const made = sharding
          ? Sampler.sharded(
              samples,
              seed,
              epoch,
              order,
              rank,
              world,
              kept,
              cut,
              consumed,
              sharding.sizes,
              sharding.lanes,
              sharding.window,
            )
          : new Sampler(samples, seed, epoch, order, rank, world, kept, cut, consumed);
        return made as RawSampler;
      },
      release: (sampler) => (sampler as InstanceType<typeof Sampler>).free(),
    };
  };
}
