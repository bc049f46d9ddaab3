/** The run of the first view: one recipe, whose epoch is begun on 8 ranks, goes on with 6, and ends with 5. */
export const STORY = {
  order: { name: 'feistel', samples: 1000, seed: 42 },
  worlds: [8, 6, 5],
  batch: 16,
  /** The steps on 6 ranks, unless the epoch is too short for them. */
  second: 4,
  /** The steps after which ranks may be lost. */
  least: 1,
  most: 6,
  /** The shuffle buffer: the number of files of its dataset, and the number of samples that it holds. */
  files: 8,
  buffer: 100,
} as const;

export const recipeOf = (name: 'feistel' | 'torch', worldSize: number): string =>
  JSON.stringify({ order: { ...STORY.order, name }, deal: { world_size: worldSize } });

/** The state of an example run, which 8 ranks wrote in the middle of an epoch. */
export const EXAMPLE_STATE = JSON.stringify({
  samedeal:
    '{"samedeal":1,"kind":"sampler","recipe":{"order":{"name":"feistel","samples":50000,"seed":42}},"epoch":2,"consumed":12800}',
  taken_by: { world_size: 8, batch_size: 32, from: 0 },
});
