import { generate } from '../bindgen/samedeal.js';
import type { RawSampler, SamplerBindings } from './types.js';

/** Instances of the build for pages, which wasm-bindgen makes. */
export function bindgenInstances(module: WebAssembly.Module): () => SamplerBindings {
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
