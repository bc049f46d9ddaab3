import { type Bindings, Engine } from '../engine.js';

/** A function that returns one engine, which its first call makes. */
export function lazily<B extends Bindings>(instances: () => () => B): () => Engine<B> {
  let engine: Engine<B> | undefined;
  return () => {
    engine ??= new Engine(instances());
    return engine;
  };
}
