import type { Key } from '../../link.svelte.ts';
import type { BatchesQuestion } from './compute.ts';

/** The question of the view, made from the values that the page shows. */
export const questionOf = ({
  batches,
  budget,
  lengths,
  epoch,
  step,
}: Readonly<Record<Key, string>>): BatchesQuestion => ({
  batches,
  budget,
  lengths,
  epoch,
  step,
});
