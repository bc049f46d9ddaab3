// The same in a bundle, which does not bring files along: each as text in a module that is loaded with the part.

import { inflated } from './inline.js';
import type { Part, Source } from './source.js';

export const found: Readonly<Record<Part, () => Promise<Source>>> = {
  sampling: async () => inflated((await import('../inline/page-sampling/index.js')).default),
  composing: async () => inflated((await import('../inline/page-composing/index.js')).default),
  batching: async () => inflated((await import('../inline/page-batching/index.js')).default),
  planning: async () => inflated((await import('../inline/page-planning/index.js')).default),
  topology: async () => inflated((await import('../inline/page-topology/index.js')).default),
};
