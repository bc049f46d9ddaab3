// The name by which the files of the ledger know it, until they move into a folder of their own.
export type { PlanningBindings } from './bindings/types.js';
