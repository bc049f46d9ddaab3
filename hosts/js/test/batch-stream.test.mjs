// Streams of batches: their batches equal those of a batcher, in whatever parts the samples come, and no sample is
// lost.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { Batcher, BatchStream } from 'samedeal';
import { BaseBatchStream } from '../dist/batch/stream.js';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { some, WAYS, windowed } from './batching.mjs';
import { compiled, LIMIT, limited, overridden, trap } from './limited.mjs';
import { NO_LIST, NOT_32_BITS, NOT_WHOLE, overflow, refused, wrong } from './values.mjs';

const numbered = (count, from = 0) => Float64Array.from({ length: count }, (_, i) => from + i);

/** All batches of a stream. It gets `count` of these lengths at a time, and is asked for batches after each time. */
function streamed(stream, lengths, count) {
  const batches = [];
  for (let at = 0; at < lengths.length; at += count) {
    const part = lengths.slice(at, at + count);
    stream.push(numbered(part.length, at), part);
    batches.push(...stream);
  }
  stream.flush();
  return [...batches, ...stream];
}

describe('a stream', () => {
  for (const [way, options] of Object.entries(WAYS)) {
    if ('quantiles' in options) continue;
    test(`${way}: gives the batches of a batcher`, () => {
      const lengths = some(700);
      for (const worldSize of [1, 3]) {
        for (const [rank, count] of [
          [0, 1],
          [worldSize - 1, 97],
          [0, 700],
        ]) {
          const common = { ...options, worldSize, rank, seed: 5, epoch: 2, ...windowed(options, 100) };
          const batcher = new Batcher(lengths, { ...common, order: 'sequential' });
          const stream = new BatchStream(common);
          assert.deepEqual(streamed(stream, lengths, count), [...batcher]);
          assert.deepEqual(stream.metrics(), batcher.metrics());
          assert.equal(stream.metrics().costImbalance, batcher.metrics().costImbalance);
          assert.deepEqual({ ...stream.config, order: 'sequential' }, batcher.config);
          const again = BatchStream.fromRecipe(stream.recipe, { rank, epoch: 2 });
          assert.deepEqual([again.recipe, again.config], [stream.recipe, stream.config]);
          assert.equal(again.recipeFingerprint(), stream.recipeFingerprint());
        }
      }
    });
  }

  test('gives a window as soon as 1.5 times as many samples wait', () => {
    const stream = new BatchStream({ strategy: 'pack', capacity: 10, batchWindow: 4 });
    stream.push([0, 1, 2, 3, 4], [10, 10, 10, 10, 10]);
    assert.deepEqual(stream.take(), []);
    stream.push([5], [10]);
    assert.equal(stream.take().length, 4);
    assert.deepEqual([stream.take(), stream.metrics().items], [[], 4]);
    stream.flush();
    assert.deepEqual([[...stream].length, stream.take(), stream.metrics().items], [2, [], 6]);
  });

  test('numbers of samples are any up to 2^53 - 1', () => {
    const stream = new BatchStream({ strategy: 'pad-to-max' });
    stream.push([2n ** 53n - 1n, 7], BigUint64Array.of(3n, 4n));
    stream.flush();
    const [{ samples, lengths }] = stream.take();
    assert.deepEqual(
      new Map(Array.from(samples, (sample, i) => [sample, lengths[i]])),
      new Map([
        [2 ** 53 - 1, 3],
        [7, 4],
      ]),
    );
  });

  test('an iteration that ends early loses nothing', () => {
    const [lengths, options] = [some(500), { maxTokens: 200, batchWindow: 100 }];
    const stream = new BatchStream(options);
    stream.push(numbered(500), lengths);
    stream.flush();
    const seen = [];
    for (let turn = 0; seen.length < 1000; turn++) {
      const before = seen.length;
      if (turn % 3 === 2) seen.push(...stream.take());
      else {
        for (const batch of stream) {
          seen.push(batch);
          if (seen.length % 4 === 0) break;
        }
      }
      if (seen.length === before) break;
    }
    assert.deepEqual(seen, [...new Batcher(lengths, { ...options, order: 'sequential' })]);
  });

  test('what is pushed is not what counts afterwards', () => {
    const stream = new BatchStream({ strategy: 'pad-to-max' });
    const [samples, lengths] = [BigUint64Array.of(1n, 2n), Uint32Array.of(3, 4)];
    stream.push(samples, lengths);
    samples[0] = 9n;
    lengths[0] = 9;
    stream.flush();
    const [batch] = stream;
    assert.deepEqual(
      [[...batch.samples].sort(), [...batch.lengths].sort()],
      [
        [1, 2],
        [3, 4],
      ],
    );
    assert.deepEqual([samples[1], lengths[1]], [2n, 4]);
  });

  test('the call that makes it', () => {
    assert.match(
      inspect(new BatchStream({ maxTokens: 9, rank: 1, worldSize: 2 })),
      /^BatchStream\.fromRecipe\('\{"deal":\{"world_size":2\},"batch":\{"max_tokens":9\}\}', \{ rank: 1 \}\)$/,
    );
    assert.doesNotMatch(String(new BatchStream({ maxTokens: 9 })), /order|capacity|quantiles/);
    const stream = new BatchStream({ maxTokens: 9 });
    stream.dispose();
    assert.throws(() => stream.take(), { message: 'this stream has been disposed of' });
  });
});

describe('refusals', () => {
  test('a push adds all samples or none', () => {
    const stream = new BatchStream({ maxTokens: 50 });
    stream.push([0], [5]);
    for (const [field, call, outside] of [
      ['samples', (value) => stream.push([1, value], [1, 1]), [-1, 2 ** 53, 2n ** 64n]],
      ['lengths', (value) => stream.push([1, 2], [1, value]), [51, ...NOT_32_BITS]],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    for (const value of NO_LIST) {
      refused(() => stream.push(value, [1]), wrong(value), 'samples');
      refused(() => stream.push([1], value), wrong(value), 'lengths');
    }
    refused(() => stream.push([1, 2], [1]), 'contradiction', 'lengths');
    refused(() => stream.push([], [1]), 'contradiction', 'lengths');
    stream.push([], []);
    stream.flush();
    refused(() => stream.push([1], [1]), 'contradiction', 'samples');
    stream.flush();
    assert.deepEqual(
      [...stream].map(({ samples }) => [...samples]),
      [[0]],
    );
  });

  test('options', () => {
    const as = (option, others) => (value) => new BatchStream({ maxTokens: 9, ...others, [option]: value });
    for (const [field, outside, call] of [
      ['rank', [1, ...NOT_32_BITS], as('rank')],
      ['world_size', [0, 2 ** 20 + 1, ...NOT_32_BITS], as('worldSize')],
      ['batch_window', [2 ** 24 + 1, ...NOT_32_BITS], as('batchWindow')],
      ['max_tokens', [0, -1, 2 ** 53], as('maxTokens')],
      ['seed', [2 ** 53], as('seed')],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    for (const option of ['order', 'quantiles', 'lengths']) refused(() => as(option)(3), 'unknown-name', 'options');
    refused(() => new BatchStream(), 'missing', 'max_tokens');
    refused(() => as('tail')('cut'), 'unknown-name', 'tail');
  });
});

describe('memory', () => {
  const Limited = over(BaseBatchStream, () => new Engine(componentInstances(limited, LIMIT)));

  test('a stream that is full says so, and goes on with all that it took', () => {
    const stream = new Limited({ strategy: 'bucket', maxBatchSize: 50, batchWindow: 1000 });
    let pushed = 0;
    const fill = (count) => () => {
      for (;;) {
        stream.push(numbered(count, pushed), new Uint8Array(count).fill(7));
        pushed += count;
      }
    };
    for (const count of [100_000, 10_000, 1000, 100, 10, 1]) {
      assert.throws(fill(count), { name: 'SamedealError', kind: 'out-of-memory' });
    }
    assert(pushed > 200_000 && pushed < LIMIT / 16, String(pushed));
    const seen = new Uint8Array(pushed + 2000);
    const take = () => {
      for (const { samples } of stream) {
        for (const sample of samples) seen[sample] += 1;
      }
    };
    take();
    // The taken batches have freed their memory, so there is room again, however far the memory has grown.
    stream.push(numbered(2000, pushed), new Uint8Array(2000).fill(7));
    stream.flush();
    take();
    assert(seen.every((count) => count === 1));
  });

  test('streams have their instances for themselves', () => {
    const streams = Array.from({ length: 3 }, () => new Limited({ maxTokens: 10_000, batchWindow: 100 }));
    for (const [i, stream] of streams.entries()) {
      assert.throws(
        () => {
          for (;;) stream.push(numbered(10_000), new Uint8Array(10_000).fill(i));
        },
        { kind: 'out-of-memory' },
      );
    }
    for (const stream of streams) assert(stream.take().length > 0);
  });

  test('a call that does not come to its end is the last one', () => {
    const lost = 'a call of this stream did not come to its end';
    const make = () => {
      const stream = new BatchStream({ maxTokens: 1000, batchWindow: 50 });
      stream.push(numbered(500), some(500));
      return stream;
    };
    const isLost = (call) => {
      try {
        call();
        return false;
      } catch (error) {
        // The message is compared without a regular expression, because one near the end of the stack would end the
        // process.
        if (error.message.startsWith(lost)) return true;
        throw error;
      }
    };
    let ended = 0;
    // The stack may already be too short for the call to begin.
    for (let round = 0; round < 20; round++) {
      const stream = make();
      overflow(() => isLost(() => stream.take()));
      const outcomes = [() => stream.metrics(), () => stream.take(), () => stream.flush()].map(isLost);
      assert.equal(new Set(outcomes).size, 1);
      if (outcomes[0]) ended += 1;
    }
    assert(ended > 0);
    assert(!isLost(() => make().take()));
  });

  test('no stream is made again without what was pushed', () => {
    const instances = componentInstances(compiled);
    const engine = new Engine(() => {
      const { batches, ...others } = instances();
      return {
        ...others,
        batches: { ...batches, BatchStream: overridden(batches.BatchStream, () => ({ metrics: trap })) },
      };
    });
    const stream = new (over(BaseBatchStream, () => engine))({ maxTokens: 1000 });
    stream.push([1], [2]);
    assert.throws(() => stream.metrics(), { message: 'unreachable' });
    for (const call of [() => stream.flush(), () => stream.take(), () => stream.push([1], [2])]) {
      assert.throws(call, { message: /what was pushed is lost: make another stream$/ });
    }
    stream.dispose();
  });
});
