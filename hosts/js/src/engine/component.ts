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

/** Where the memory of the component ends. */
const MEMORY = 2 ** 31;
/** The memory that a call may need besides its lists, which comes with a failure that the component can tell. */
const SLACK = 2 ** 20;
/** Lists that there is room for, however full the memory: half of what the component keeps free for what is small. */
const ALWAYS = 2 ** 15;

/** Instances of the component, whose memory ends after `most` bytes. `module` is asked once. */
export function componentInstances(module: () => WebAssembly.Module, most: number = MEMORY): () => ComponentBindings {
  let compiled: WebAssembly.Module | undefined;
  return () => {
    compiled ??= module();
    const core = new Core(compiled);
    const made = Object.entries(interfaces as Interfaces).map(([name, each]) => [name, core.interfaceOf(each)]);
    const { sampling, mesh, ledger, ...others } = Object.fromEntries(made) as Exports;
    const { orders, Sampler } = sampling;
    return {
      ...others,
      orders,
      sampler: (recipe, lists, epoch, rank) => new Sampler(recipe, [...lists], epoch, rank),
      mesh: (worldSize, axes) => new mesh.Mesh(worldSize, [...axes]),
      client: (options) => makeClient(ledger, options),
      ledger: (header) => new ledger.Ledger(header),
      header: ledger.header,
      // How much is free below the end is not known, so only growth counts.
      room: () => Math.max(ALWAYS, most - SLACK - core.memory.buffer.byteLength),
      release,
    };
  };
}
