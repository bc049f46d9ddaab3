// The same in a bundle, which does not bring files along: compressed, since a page has to load it.

import web from '../inline/web-composing/index.js';
import type { Source } from './bindgen.js';
import { decoded } from './inline.js';

export const source = (): Promise<Source> => {
  const compressed = new Blob([decoded(web)]).stream();
  return new Response(compressed.pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer();
};
