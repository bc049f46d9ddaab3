import { type Bindings, Engine } from '../engine.js';

/** The engine over instances, made when it is first asked for. */
export function lazily<B extends Bindings>(instances: () => () => B): () => Engine<B> {
  let engine: Engine<B> | undefined;
  return () => {
    engine ??= new Engine(instances());
    return engine;
  };
}
