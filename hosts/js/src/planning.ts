import { type Modules, once, release } from './component.js';
import { instantiate } from './jco/planning.js';
import { makeClient } from './ledger-client.js';
import type { RawLedger } from './ledger-raw.js';
import type { PlanningBindings, RawPlan, RawStream } from './plan-raw.js';
import { makeReading } from './read/bindings.js';

/** Instances of the component `planning.wasm`. `modules` is asked once for each file in `jco/`. */
export function planningInstances(modules: Modules): () => PlanningBindings {
  const compiled = once(modules);
  return () => {
    const { shards, ledger, read } = instantiate(compiled, {});
    return {
      plan: (config) => new shards.Plan(config) as RawPlan,
      stream: (config) => new shards.ChunkStream(config) as RawStream,
      client: (options) => makeClient(ledger, options),
      ledger: (header) => new ledger.Ledger(header) as RawLedger,
      header: ledger.header,
      reading: (sizes, given, stand) => makeReading(read, sizes, given, stand),
      verify: shards.verify,
      release,
    };
  };
}
