import type * as Grid from '../components/interfaces/samedeal-deal-mesh.js';
import interfaces from '../components/samedeal.js';
import { makeClient } from '../ledger/client.js';
import { Core, type Interfaces } from './abi.js';
import { release } from './resources.js';
import type { ComponentBindings, Copied, LedgerBindings, Sampling } from './types.js';

/** The exports of an instance of the component: its interfaces by their names, as the types of `wit/` have them. */
type Exports = Pick<
  ComponentBindings,
  'launch' | 'shards' | 'readings' | 'splits' | 'batches' | 'collation' | 'steps' | 'texts'
> & {
  sampling: Sampling;
  mesh: Copied<typeof Grid>;
  ledger: LedgerBindings;
};

/** The memory limit of the component, in bytes. */
const MEMORY = 2 ** 31;
/**
 * Memory that is left for a call besides its lists, in bytes. If a call needs more, the component itself reports it.
 */
const SLACK = 2 ** 20;
/**
 * Bytes of lists that are always allowed, however full the memory: half of what the component reserves for small
 * allocations.
 */
const ALWAYS = 2 ** 15;

/** Makes instances of the component, with a memory of at most `most` bytes each. `module` is called once. */
export function componentInstances(module: () => WebAssembly.Module, most: number = MEMORY): () => ComponentBindings {
  let compiled: WebAssembly.Module | undefined;
  return () => {
    compiled ??= module();
    const core = new Core(compiled);
    const made = Object.entries(interfaces as Interfaces).map(([name, each]) => [name, core.interfaceOf(each)]);
    const { sampling, mesh, ledger, ...others } = Object.fromEntries(made) as Exports;
    const { plainOrders, Sampler } = sampling;
    return {
      ...others,
      plainOrders,
      sampler: (recipe, lists, epoch, rank) => new Sampler(recipe, [...lists], epoch, rank),
      mesh: (worldSize, axes) => new mesh.Mesh(worldSize, [...axes]),
      client: (options) => makeClient(ledger, options),
      ledger: (header) => new ledger.Ledger(header),
      header: ledger.header,
      // It is not known how much of the present memory is free, so `room` is only the number of bytes by which the
      // memory can still grow.
      room: () => Math.max(ALWAYS, most - SLACK - core.memory.buffer.byteLength),
      release,
    };
  };
}
