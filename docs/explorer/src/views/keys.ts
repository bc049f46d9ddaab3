import type { Key } from '../link.svelte.ts';

/** For each view, the values that a link to it has. */
const KEYS = {
  start: ['loss'],
  step: [
    'recipe',
    'epoch',
    'step',
    'steps',
    'batch',
    'rank',
    'files',
    'drop',
    'zoom',
    'colour',
    'samples',
    'state',
    'ranks',
  ],
  sample: ['recipe', 'epoch', 'epochs', 'batch', 'samples', 'state'],
  resume: ['recipe', 'epoch', 'batch', 'worlds', 'taken', 'samples'],
  checkpoint: ['state', 'recipe', 'reading', 'lengths', 'ranks', 'workers', 'each', 'begun', 'next'],
  differ: ['entries', 'recipe'],
  batches: ['batches', 'budget', 'lengths', 'epoch', 'step', 'samples'],
  shards: ['reading', 'epoch', 'round', 'samples'],
  ledger: ['log', 'entry', 'span', 'replay', 'readers'],
  mix: ['mix', 'recipe', 'epoch', 'batch', 'step', 'rank', 'part', 'labelled'],
} as const satisfies Record<string, readonly Key[]>;
export type ViewId = keyof typeof KEYS;

/** The values that a link to a view has; nothing if there is no such view. */
export const keysOf = (id: string): readonly Key[] | undefined =>
  Object.hasOwn(KEYS, id) ? KEYS[id as ViewId] : undefined;
