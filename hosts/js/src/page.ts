// The engine of a page: one module of the build for pages, which is loaded before anything else is used.
import { bindgenInstances, type Source } from './bindings/bindgen.js';
import type { SamplerBindings } from './bindings/types.js';
import { Engine } from './engine.js';

/** What an entry for pages has: its `init`, and the engine once that was awaited. `found` is where its module is by default. */
export function page(name: string, found: () => Source | Promise<Source>) {
  let started: Engine<SamplerBindings> | undefined;
  let starting: Promise<void> | undefined;

  async function load(source: Source | Promise<Source> | undefined): Promise<() => SamplerBindings> {
    const given = await source;
    return bindgenInstances(given === undefined ? found() : given);
  }

  return {
    init(source?: Source | Promise<Source>): Promise<void> {
      starting ??= load(source).then(
        (instantiate) => {
          started = new Engine(instantiate);
        },
        (error) => {
          starting = undefined;
          throw error;
        },
      );
      return starting;
    },
    engine(): Engine<SamplerBindings> {
      if (!started) throw new Error(`${name} is not loaded: await init() first`);
      return started;
    },
  };
}
