import { generate } from '../bindgen/samedeal.js';
import type { RawSampler, SamplerBindings } from './types.js';

/** What the WebAssembly module can be given as. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Instances of the build for pages, which wasm-bindgen makes. */
export async function bindgenInstances(source: Source | Promise<Source>): Promise<() => SamplerBindings> {
  const module = await compiled(await source);
  return () => {
    const { initSync, Sampler, orders } = generate();
    initSync({ module });
    return {
      orders,
      sampler(recipe, lists, epoch, rank) {
        const names = lists.map(({ name }) => name);
        const lengths = Uint32Array.from(lists, ({ numbers }) => numbers.length);
        const all = new BigUint64Array(lengths.reduce((sum, length) => sum + length, 0));
        let at = 0;
        for (const { numbers } of lists) {
          all.set(numbers, at);
          at += numbers.length;
        }
        return new Sampler(recipe, names, lengths, all, epoch, rank) as RawSampler;
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
