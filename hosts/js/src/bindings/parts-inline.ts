// The same in a bundle, which does not bring files along: each as text in a module that is loaded with the part.

import { inflated } from './inline.js';
import type { Part, Source } from './source.js';

export const found: Readonly<Record<Part, () => Promise<Source>>> = {
  sampling: async () => inflated((await import('../inline/page-sampling/index.js')).default),
  composing: async () => inflated((await import('../inline/page-composing/index.js')).default),
  batching: async () => inflated((await import('../inline/batching/index.js')).default.text),
  planning: async () => inflated((await import('../inline/planning/index.js')).default.text),
  topology: async () => inflated((await import('../inline/light/index.js')).default.text),
};
