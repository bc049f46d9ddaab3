import { generate } from '../bindgen/samedeal.js';
import { LAYOUTS, REMAINDERS } from '../deal/recipe.js';
import type { Config } from '../jco/interfaces/samedeal-deal-sampling.js';
import type { RawSampler, SamplerBindings } from './types.js';

/** What the WebAssembly module can be given as. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Instances of the build for pages, which wasm-bindgen makes. */
export async function bindgenInstances(source: Source | Promise<Source>): Promise<() => SamplerBindings> {
  const module = await compiled(await source);
  return () => {
    const { initSync, Sampler, orders } = generate();
    initSync({ module });
    const given = ({ samples, seed, epoch, order, rank, world, remainder, layout, consumed }: Config) => {
      const [kept, cut] = [REMAINDERS.indexOf(remainder), LAYOUTS.indexOf(layout)];
      return [samples, seed, epoch, order, rank, world, kept, cut, consumed] as const;
    };
    return {
      orders,
      create: (config, sharding) =>
        (sharding
          ? Sampler.sharded(...given(config), sharding.sizes, sharding.lanes, sharding.window)
          : new Sampler(...given(config))) as RawSampler,
      read(recipe, lists) {
        const ends: number[] = [];
        for (const { numbers } of lists) ends.push((ends.at(-1) ?? 0) + numbers.length);
        const all = new BigUint64Array(ends.at(-1) ?? 0);
        lists.forEach(({ numbers }, at) => {
          all.set(numbers, (ends[at] as number) - numbers.length);
        });
        const names = lists.map(({ name }) => name);
        const sampler = Sampler.fromRecipe(recipe, names, Uint32Array.from(ends), all);
        const made = { config: sampler.config(), sharding: sampler.sharding() };
        sampler.free();
        return made;
      },
      release: (sampler) => (sampler as InstanceType<typeof Sampler>).free(),
    };
  };
}

async function compiled(source: Source): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const response = source instanceof Response ? source : await fetch(source as string | URL | Request);
  if (!response.ok) throw new Error(`${response.url}: the server answers ${response.status}`);
  // A server may not know the type of such files.
  const isKnown = response.headers.get('content-type') === 'application/wasm';
  return isKnown ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
