// Parquet files that the readers of a `Reading` read: whole epochs, and the rest after a state.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Reading, SamedealError, ShardPlan } from 'samedeal';
import { findShards, readBatches, readShards } from 'samedeal/parquet';
import { folder, linux, open, rowOf, write, writeWithPyarrow } from './parquet-files.mjs';
import { wrong } from './values.mjs';

const SIZES = [130, 0, 71, 500, 33, 1];
const TOTAL = SIZES.reduce((sum, size) => sum + size, 0);
const EVERY = [...Array(TOTAL).keys()];

async function all(batches) {
  const seen = [];
  for await (const batch of batches) seen.push(batch);
  return seen;
}

const idsOf = (batch) => batch.map(({ id }) => id);
const ascending = (ids) => ids.toSorted((a, b) => a - b);

/** All readers: every worker of every rank. */
const readersOf = ({ worldSize = 1, workers = 1 }) =>
  Array.from({ length: worldSize * workers }, (_, i) => ({ rank: Math.floor(i / workers), worker: i % workers }));

/**
 * The batches that the loaders of all ranks give in their first `steps` steps. A loader takes a batch of each worker of
 * its rank in turn.
 */
async function taken(shards, reading, { worldSize = 1, workers = 1 }, steps = Number.POSITIVE_INFINITY) {
  const ids = [];
  for (let rank = 0; rank < worldSize; rank++) {
    const passes = Array.from({ length: workers }, (_, worker) => readBatches(shards, reading, { rank, worker }));
    const left = [...passes];
    for (let step = 0; step < steps && left.length > 0; ) {
      const pass = left.shift();
      const { value, done } = await pass.next();
      if (done) continue;
      ids.push(idsOf(value));
      left.push(pass);
      step += 1;
    }
    for (const pass of passes) await pass.return();
  }
  return ids;
}

const DEALS = {
  samples: { lanes: 8, shuffleWindow: 10, remainder: 'uneven' },
  'stored samples': { shuffle: false, remainder: 'uneven' },
  shards: { deal: 'shards' },
  'stored shards': { deal: 'shards', shuffle: false },
  'shards by bytes': { deal: 'shards', balanceBy: 'bytes', reshuffle: true },
};

describe('a reader of a reading', () => {
  for (const [name, deal] of Object.entries(DEALS)) {
    test(`${name}: half of an epoch by 2 ranks of 2 workers, and the rest by others, is every row once`, async (t) => {
      const where = folder(t);
      write(where, SIZES, { rowGroupSize: 60 });
      const shards = await findShards(where);
      const bytes = deal.balanceBy === 'bytes' ? { bytes: shards.bytes } : {};
      const of = (group) => new Reading(shards.sizes, { ...deal, ...bytes, seed: 3, batchSize: 16, ...group });
      const four = { worldSize: 2, workers: 2 };
      const reading = of(four).atEpoch(5);
      // After an odd number of steps, one worker of each rank has given a batch more than the other.
      const first = await taken(shards, reading, four, 11);
      if (deal.deal !== 'shards') assert.equal(first.flat().length, 11 * 2 * 16);
      const state = reading.state(11);
      for (const group of [{ worldSize: 3 }, { workers: 3 }, four, { worldSize: 5, workers: 2, batchSize: 3 }, {}]) {
        const rest = of(group).resume(state);
        assert(rest.isRest);
        const second = await taken(shards, rest, group);
        assert.deepEqual(ascending([...first.flat(), ...second.flat()]), EVERY);
        const batchSize = group.batchSize ?? 16;
        assert(second.every(({ length }) => length <= batchSize));
      }
      // Three groups read one after the other. The first two stop in the middle of a turn.
      const three = { worldSize: 1, workers: 3, batchSize: 7 };
      const middle = of(three).resume(state);
      const second = await taken(shards, middle, three, 5);
      const last = of(four).resume(middle.state(5));
      const third = await taken(shards, last, four);
      assert.deepEqual(ascending([...first.flat(), ...second.flat(), ...third.flat()]), EVERY);
      // If the same group continues, it reads as if it had not been interrupted.
      const whole = await taken(shards, reading, four);
      const onwards = await taken(shards, of(four).resume(state), four);
      const texts = (batches) => batches.map(String).sort();
      assert.deepEqual(texts([...first, ...onwards]), texts(whole));
      assert.deepEqual(open(where), []);
    });

    test(`${name}: rows come in the order of the reading, also from a state`, async (t) => {
      const where = folder(t);
      write(where, SIZES);
      const shards = await findShards(where, { columns: ['id'] });
      const bytes = deal.balanceBy === 'bytes' ? { bytes: shards.bytes } : {};
      const group = { worldSize: 2, workers: 3 };
      const whole = new Reading(shards.sizes, { ...deal, ...bytes, ...group, batchSize: 9 });
      for (const reading of [whole, whole.atEpoch(2), whole.resume(whole.atEpoch(7).state(8))]) {
        for (const reader of readersOf(group)) {
          const rows = (await all(readBatches(shards, reading, { ...reader, sampleColumn: 'n' }))).flat();
          const expected = [...reading.indices(reader.rank, reader.worker)];
          assert.deepEqual(
            rows,
            expected.map((id) => ({ id, n: id })),
          );
        }
      }
    });
  }

  test('a whole epoch is that of readShards', async (t) => {
    const where = folder(t);
    write(where, SIZES);
    const shards = await findShards(where);
    for (const deal of [
      { lanes: 12, shuffleWindow: 10, remainder: 'drop' },
      { deal: 'shards', shuffleRows: false },
    ]) {
      const reading = new Reading(shards.sizes, { ...deal, seed: 9, worldSize: 2, workers: 3, batchSize: 10 }).atEpoch(
        4,
      );
      for (const reader of readersOf({ worldSize: 2, workers: 3 })) {
        const options = { ...deal, ...reader, seed: 9, epoch: 4, worldSize: 2, workers: 3, batchSize: 10 };
        const batches = await all(readBatches(shards, reading, reader));
        assert.deepEqual(batches, await all(readShards(where, options)));
      }
    }
  });

  test('padding is marked, in what is left too', async (t) => {
    const where = folder(t);
    write(where, SIZES);
    const shards = await findShards(where);
    const of = (group) => new Reading(shards.sizes, { lanes: 8, shuffleWindow: 32, batchSize: 8, ...group });
    const state = of({ worldSize: 2, workers: 2 }).state(13);
    const left = TOTAL - 13 * 2 * 8;
    for (const worldSize of [1, 3, 64, 2000]) {
      const reading = of({ worldSize }).resume(state);
      const ranks = worldSize > 100 ? [0, left - 1, left, 1999] : [...Array(worldSize).keys()];
      let real = 0;
      for (const rank of ranks) {
        const rows = (await all(readBatches(shards, reading, { rank, paddingColumn: 'extra' }))).flat();
        assert.deepEqual(idsOf(rows), [...reading.indices(rank)]);
        const marks = rows.map(({ extra }) => extra);
        assert.equal(marks.filter((mark) => mark).length, reading.numPadding(rank));
        assert.deepEqual(
          marks,
          marks.toSorted((a, b) => a - b),
        );
        real += rows.length - reading.numPadding(rank);
      }
      if (worldSize < 100) assert.equal(real, left);
      else assert.equal(real, 2);
    }
  });

  test('a last batch that is shorter, and one that is left out', async (t) => {
    const where = folder(t);
    write(where, SIZES);
    const shards = await findShards(where);
    const sizes = async (options) => {
      const reading = new Reading(shards.sizes, { lanes: 8, shuffleWindow: 8, batchSize: 100, ...options });
      const batches = await all(readBatches(shards, reading, { rank: 0 }));
      assert.equal(batches.length, reading.numSteps(0));
      return batches.map(({ length }) => length);
    };
    assert.deepEqual(await sizes({}), [100, 100, 100, 100, 100, 100, 100, 35]);
    assert.deepEqual(await sizes({ dropLast: true }), [100, 100, 100, 100, 100, 100, 100]);
  });

  test('a long shard as it is stored comes in parts, from the row on where it was left', async (t) => {
    const where = folder(t);
    write(where, [9001, 5000]);
    const shards = await findShards(where, { columns: ['id'] });
    const reading = new Reading(shards.sizes, { deal: 'shards', shuffle: false, batchSize: 1000 });
    const bases = [0, 9001];
    const order = [...reading.shards(0)].flatMap((shard) =>
      Array.from({ length: shards.sizes[shard] }, (_, row) => bases[shard] + row),
    );
    for (const steps of [0, 3, 9]) {
      const rows = await all(readBatches(shards, reading.resume(reading.state(steps)), { rank: 0 }));
      assert.deepEqual(idsOf(rows.flat()), order.slice(1000 * steps));
    }
  });

  test('every type, codec and layout that pyarrow writes', async (t) => {
    const where = folder(t);
    writeWithPyarrow(where, [1300, 0, 701, 5000, 33, 900]);
    const shards = await findShards(where);
    for (const deal of [{ lanes: 6, shuffleWindow: 100 }, { deal: 'shards' }]) {
      const reading = new Reading(shards.sizes, { ...deal, worldSize: 2, workers: 2, batchSize: 64 });
      const rest = new Reading(shards.sizes, { ...deal, workers: 3, batchSize: 64 }).resume(reading.state(7));
      const seen = new Set();
      for (const reader of readersOf({ workers: 3 })) {
        const pass = readBatches(shards, rest, { ...reader, sampleColumn: 'n', paddingColumn: 'extra' });
        for await (const batch of pass) {
          for (const { n, extra, ...row } of batch) {
            assert.deepEqual(row, rowOf(n));
            if (!extra) seen.add(n);
          }
        }
      }
      const left = [...readersOf({ workers: 3 })].reduce((sum, { rank, worker }) => {
        return sum + rest.numSamples(rank, worker) - rest.numPadding(rank, worker);
      }, 0);
      assert.equal(seen.size, left);
    }
  });

  test('what is open is closed where the iteration ends early', linux, async (t) => {
    const where = folder(t);
    write(where, [3000, 3000, 3000]);
    const shards = await findShards(where);
    let wasOpen = 0;
    for (const deal of [{ lanes: 4, shuffleWindow: 50 }, { deal: 'shards' }, { deal: 'shards', shuffle: false }]) {
      const reading = new Reading(shards.sizes, { ...deal, batchSize: 5 });
      for await (const _ of readBatches(shards, reading, { rank: 0 })) {
        await setTimeout(5);
        wasOpen += open(where).length;
        break;
      }
      assert.deepEqual(open(where), []);
    }
    assert(wasOpen > 0);
  });
});

test('what findShards finds', async (t) => {
  const where = folder(t);
  const paths = write(where, [3, 0, 4]);
  const shards = await findShards(where, { columns: ['text'] });
  assert.deepEqual(shards.paths, paths);
  assert.deepEqual([...shards.sizes], [3, 0, 4]);
  assert.deepEqual(shards.columns, ['text']);
  const both = await findShards(paths);
  assert.deepEqual(both.columns, ['id', 'text']);
  assert([0, 2].every((i) => both.bytes[i] > shards.bytes[i] && shards.bytes[i] > 0));
  // The lists are copies, so a caller who writes into them does not mislead a reader.
  shards.sizes.fill(9);
  assert.deepEqual([...shards.sizes], [3, 0, 4]);
});

test('what is refused, at the call', async (t) => {
  const where = folder(t);
  write(where, [30, 40]);
  const shards = await findShards(where);
  const reading = new Reading(shards.sizes, { worldSize: 2, workers: 2, batchSize: 4, lanes: 4 });
  const refused = (call, kind, field) =>
    assert.throws(call, (error) => {
      assert(error instanceof SamedealError, error.stack);
      assert.deepEqual([error.kind, error.field], [kind, field], error.message);
      return true;
    });
  const as = (options, ...of) =>
    refused.bind(null, () => readBatches(shards, ...(of.length > 0 ? of : [reading]), options));
  as({ rank: 2 })('out-of-range', 'rank');
  as({ rank: 0, worker: 2 })('out-of-range', 'worker');
  as({ rank: -1 })('out-of-range', 'rank');
  as({ rank: '0' })('wrong-type', 'rank');
  as({})('missing', 'rank');
  as(undefined)('missing', 'rank');
  as({ rank: 0, worldSize: 2 })('unknown-name', 'options');
  as({ rank: 0, sampleColumn: 3 })('wrong-type', 'sample_column');
  for (const other of [undefined, null, 3, {}, new ShardPlan(shards.sizes)])
    as({ rank: 0 }, other)(wrong(other), 'reading');
  for (const other of [undefined, null, where, {}, { sizes: [30, 40] }]) {
    refused(() => readBatches(other, reading, { rank: 0 }), wrong(other), 'shards');
  }
  const told = (sizes) => {
    try {
      readBatches(shards, new Reading(sizes, { batchSize: 1 }), { rank: 0 });
    } catch (error) {
      return [error.kind, error.message];
    }
  };
  assert.deepEqual(told([70]), [
    'contradiction',
    'sizes is 1 shards in the reading; allowed: 2, as many as there are files',
  ]);
  const [kind, message] = told([30, 41]);
  assert.equal(kind, 'contradiction');
  assert.match(message, /^sizes is 41 samples in shard 1; allowed: 40, the rows of .*1\.parquet$/);
  // Names of columns are compared with those of the files when the iteration begins, as in readShards.
  const pass = readBatches(shards, reading, { rank: 0, paddingColumn: 'text' });
  await assert.rejects(all(pass), { kind: 'contradiction', field: 'padding_column' });
  await assert.rejects(findShards(where, { columns: ['Id'] }), { kind: 'unknown-name', field: 'columns' });
  await assert.rejects(findShards(3), { kind: 'wrong-type', field: 'paths' });
  await assert.rejects(findShards(where, { column: ['id'] }), { kind: 'unknown-name', field: 'options' });
});

test('readers that do not divide the lanes are told', async (t) => {
  const where = folder(t);
  write(where, [30]);
  const shards = await findShards(where);
  const heard = [];
  const hear = ({ name, code, message }) => name === 'SamedealWarning' && heard.push([code, message]);
  process.on('warning', hear);
  t.after(() => process.off('warning', hear));
  for (const lanes of [12, 21, 12]) {
    const reading = new Reading(shards.sizes, { lanes, worldSize: 7, workers: 3, batchSize: 2 });
    assert.equal(reading.readsPerRow, lanes === 12 ? 7 : 1);
    await all(readBatches(shards, reading, { rank: 0 }));
  }
  await setTimeout(0);
  const message =
    '21 readers (7 ranks x 3 workers) do not divide 12 lanes, so that each row is read and decoded by 7 of them, ' +
    'and given by one; lanes: 21 would be read once';
  assert.deepEqual(heard, [['SAMEDEAL_LANES', message]]);
});
