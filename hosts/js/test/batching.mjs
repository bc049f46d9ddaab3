// Helpers of the tests of batchers and of streams.

/** Lengths of 0 to 99 tokens, without a pattern. */
export const some = (count) => Uint32Array.from({ length: count }, (_, i) => ((i * 2_654_435_761) % 2 ** 32) % 100);

/** Options for each strategy of batching. */
export const WAYS = {
  'pad-to-max': { strategy: 'pad-to-max', maxBatchSize: 7 },
  'bucket by width': { strategy: 'bucket', maxBatchSize: 8, bucketWidth: 16 },
  'bucket by boundaries': { strategy: 'bucket', boundaries: [10, 20, 50], maxTokens: 400 },
  'bucket by quantiles': { strategy: 'bucket', quantiles: 5 },
  budget: { maxTokens: 500, batchSizeMultiple: 2 },
  'budget, unpadded': { maxTokens: 500, counting: 'unpadded', packing: 'optimal' },
  'budget, weighted': { maxCost: 50_000, counting: 'weighted', linear: 3, quadratic: 2 },
  pack: { strategy: 'pack', capacity: 128, maxBatchSize: 2 },
};

/** The option for a window, if the strategy has windows. */
export const windowed = ({ strategy }, batchWindow) => (strategy === 'pad-to-max' ? {} : { batchWindow });
