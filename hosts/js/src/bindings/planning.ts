import interfaces from '../components/planning.js';
import { makeClient } from '../ledger/client.js';
import { instances, instantiate, type Modules } from './instances.js';
import type { LedgerBindings, PlanningBindings } from './types.js';

/** What an instance of `planning.wasm` exports. */
type Planning = Pick<PlanningBindings, 'shards' | 'read' | 'splits'> & { ledger: LedgerBindings };

/** Instances of the component `planning.wasm`. */
export const planningInstances = (modules: Modules): (() => PlanningBindings) =>
  instances<PlanningBindings>(modules, (compiled) => {
    const { shards, read, ledger, splits } = instantiate<Planning>(compiled('planning.core.wasm'), interfaces);
    return {
      shards,
      read,
      splits,
      client: (options) => makeClient(ledger, options),
      ledger: (header) => new ledger.Ledger(header),
      header: ledger.header,
    };
  });
