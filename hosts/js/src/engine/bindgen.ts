import { generate } from '../bindgen/samedeal.js';
import type { LightBindings, RawMesh, RawSampler } from './types.js';

/** Makes instances of the light build, through the JavaScript of wasm-bindgen. */
export function bindgenInstances(module: WebAssembly.Module): () => LightBindings {
  return () => {
    const { initSync, Sampler, Mesh, plainOrders, variables, detect } = generate();
    initSync({ module });
    return {
      plainOrders,
      sampler(recipe, lists, epoch, rank) {
        const names = lists.map(({ name }) => name);
        const lengths = Uint32Array.from(lists, ({ numbers }) => numbers.length);
        const all = new BigUint64Array(lengths.reduce((sum, length) => sum + length, 0));
        let at = 0;
        for (const { numbers } of lists) {
          all.set(numbers, at);
          at += numbers.length;
        }
        return withAll(new Sampler(recipe, names, lengths, all, epoch, rank));
      },
      mesh: (worldSize, axes) => {
        const sizes = Uint32Array.from(axes, ({ size }) => size);
        const [names, roles] = [axes.map(({ name }) => name), axes.map(({ role }) => role)];
        return new Mesh(worldSize, names, sizes, roles) as unknown as RawMesh;
      },
      launch: {
        variables,
        detect: (environment, rank, worldSize) => {
          const [names, values] = [environment.map(([name]) => name), environment.map(([, value]) => value)];
          return detect(names, values, rank, worldSize) as unknown as ReturnType<LightBindings['launch']['detect']>;
        },
      },
      release: (object) => (object as InstanceType<typeof Sampler>).free(),
    };
  };
}

/**
 * Adds `locateAll` to the samplers of the light build, as a loop over `locate`. A function in the engine for many
 * samples would make the light build larger.
 */
function withAll(made: object): RawSampler {
  const all: Partial<RawSampler> = Object.getPrototypeOf(made);
  all.locateAll ??= function (this: RawSampler, samples, batchSize) {
    // A wrong sample is reported before a wrong batch size, as in the component: the first wrong sample is located with
    // batch size 1, which throws.
    const wrong = samples.find((sample) => sample >= this.datasetSize());
    return Array.from(samples, (sample) => this.locate(wrong ?? sample, wrong === undefined ? batchSize : 1));
  };
  return made as RawSampler;
}
