/**
 * Samplers and meshes alone, for a page, a service worker or a bundle that has to be small: a tenth of the size of
 * `samedeal`, and ready at once, without `init` and without a dynamic import. Orders that are made of others, and
 * everything else, are in `samedeal`.
 *
 * @module
 */

export type { Counted } from './counted.js';
export type { Failure, Kind } from './errors.js';
export type { Detection } from './generated/launch.js';
export type { Fate, Place, Round, ShardPlace, ShortEpochs, SourcePlace } from './generated/sampling.js';
export type { Spans } from './generated/types.js';
export { detectRank, Mesh, plainOrders, SamedealError, Sampler, version } from './index.js';
export type { DetectOptions } from './topology/launch.js';
export type { Axes, MeshJson } from './topology/mesh.js';
export type * from './types.js';
