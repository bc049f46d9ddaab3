// Parquet shards that are dealt and read.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { SamedealError, Sampler, ShardPlan } from 'samedeal';
import { readShards } from 'samedeal/parquet';
import { pagesOf } from '../dist/files/parquet/pages.js';
import { ahead } from '../dist/files/reading.js';
import { folder, linux, open, rowOf, withWrongBits, write, writeWithPyarrow } from './parquet-files.mjs';
import { wrong } from './values.mjs';

const SIZES = [130, 0, 71, 500, 33, 1];
const TOTAL = SIZES.reduce((sum, size) => sum + size, 0);

async function all(rows) {
  const seen = [];
  for await (const row of rows) seen.push(row);
  return seen;
}

const ids = async (paths, options) => (await all(readShards(paths, options))).map(({ id }) => id);

describe('what is read', () => {
  test('every type, codec and layout that pyarrow writes', async (t) => {
    const where = folder(t);
    const sizes = [1300, 0, 701, 5000, 33, 900];
    writeWithPyarrow(where, sizes);
    for (const options of [
      { lanes: 4, shuffleWindow: 16 },
      { lanes: 64, shuffleWindow: 1000 },
      { deal: 'shards' },
      { deal: 'shards', shuffle: false },
    ]) {
      const seen = new Set();
      for await (const { n, ...row } of readShards(where, { ...options, seed: 5, sampleColumn: 'n' })) {
        assert.deepEqual(row, rowOf(n));
        seen.add(n);
      }
      assert.equal(seen.size, 7934);
    }
  });

  test('all readers of all worlds see every sample once, in the order of the sampler', async (t) => {
    const where = folder(t);
    write(where, SIZES, { rowGroupSize: 60 });
    for (const [worldSize, workers] of [
      [1, 1],
      [2, 1],
      [1, 3],
      [3, 2],
      [4, 2],
      [800, 1],
    ]) {
      const deal = { lanes: 8, shuffleWindow: 10, seed: 3, epoch: 1, remainder: 'uneven' };
      const seen = [];
      for (let rank = 0; rank < worldSize; rank += worldSize > 100 ? 97 : 1) {
        for (let worker = 0; worker < workers; worker++) {
          const own = await ids(where, { ...deal, rank, worldSize, worker, workers });
          const reader = { rank: rank + worldSize * worker, worldSize: worldSize * workers };
          assert.deepEqual(own, [...Sampler.sharded(SIZES, { ...deal, ...reader })]);
          seen.push(...own);
        }
      }
      if (worldSize < 100) {
        assert.deepEqual(
          seen.sort((a, b) => a - b),
          [...Array(TOTAL).keys()],
        );
      }
    }
  });

  test('padding is read again, and what is dropped is not', async (t) => {
    const where = folder(t);
    write(where, SIZES);
    for (const remainder of ['pad', 'drop']) {
      for (const worldSize of [2, 7, 64, 2000]) {
        for (const rank of [0, 1, worldSize - 1]) {
          const options = { remainder, rank, worldSize, lanes: 8, shuffleWindow: 32 };
          assert.deepEqual(await ids(where, options), [...Sampler.sharded(SIZES, options)]);
        }
      }
    }
    const options = { rank: 0, worldSize: 2, lanes: 8, shuffleWindow: 32, paddingColumn: 'extra' };
    for (const rank of [0, 1]) {
      const marks = (await all(readShards(where, { ...options, rank }))).map(({ extra }) => extra);
      assert.deepEqual([marks.length, marks.indexOf(true)], [368, rank === 0 ? -1 : 367]);
    }
    // There is more padding than there are samples.
    const few = folder(t);
    write(few, [2, 1]);
    for (let rank = 0; rank < 20; rank++) {
      const options = { rank, worldSize: 20, lanes: 3, shuffleWindow: 1 };
      assert.deepEqual(await ids(few, options), [...Sampler.sharded([2, 1], options)]);
    }
  });

  test('whole shards, in the order of the plan', async (t) => {
    const where = folder(t);
    write(where, SIZES, { rowGroupSize: 60 });
    const bases = SIZES.map((_, i) => SIZES.slice(0, i).reduce((sum, size) => sum + size, 0));
    for (const options of [
      {},
      { policy: 'round-robin', workerPolicy: 'round-robin', shuffle: false },
      { reshuffle: true, seed: -4, epoch: 9 },
      { shuffle: false, shuffleRows: true },
      { shuffleRows: false },
    ]) {
      const plan = new ShardPlan(SIZES, { ...options, worldSize: 2, workers: 2 });
      const seen = [];
      for (const [rank, worker] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ]) {
        const own = await ids(where, { ...options, deal: 'shards', rank, worldSize: 2, worker, workers: 2 });
        const expected = [...plan.shards(rank, worker)].flatMap((shard) =>
          Array.from(plan.rows(shard), (row) => bases[shard] + row),
        );
        assert.deepEqual(own, expected);
        seen.push(...own);
      }
      assert.equal(new Set(seen).size, TOTAL);
      assert.equal(seen.length, TOTAL);
    }
    const weighed = await ids(where, { deal: 'shards', balanceBy: 'bytes', rank: 0, worldSize: 2 });
    assert.equal(
      weighed.length + (await ids(where, { deal: 'shards', balanceBy: 'bytes', worldSize: 2, rank: 1 })).length,
      TOTAL,
    );
  });

  test('without a shuffle, readers take the rows in turn as they are stored', async (t) => {
    const where = folder(t);
    write(where, SIZES);
    const options = { shuffle: false, remainder: 'uneven', worldSize: 2, workers: 2 };
    for (const [reader, rank, worker] of [
      [0, 0, 0],
      [1, 1, 0],
      [2, 0, 1],
      [3, 1, 1],
    ]) {
      const expected = [...Array(TOTAL).keys()].filter((id) => id % 4 === reader);
      assert.deepEqual(await ids(where, { ...options, rank, worker }), expected);
    }
  });

  test('batches', async (t) => {
    const where = folder(t);
    write(where, SIZES);
    const rows = await all(readShards(where, { lanes: 4, shuffleWindow: 8 }));
    const batches = await all(readShards(where, { lanes: 4, shuffleWindow: 8, batchSize: 100 }));
    assert.deepEqual(
      batches.map(({ length }) => length),
      [100, 100, 100, 100, 100, 100, 100, 35],
    );
    assert.deepEqual(batches.flat(), rows);
    const full = await all(readShards(where, { lanes: 4, shuffleWindow: 8, batchSize: 100n, dropLast: true }));
    assert.deepEqual(full, batches.slice(0, 7));
    assert.equal((await all(readShards(where, { batchSize: 147, dropLast: true }))).length, 5);
  });

  test('some columns, and one that is named as nothing else', async (t) => {
    const where = folder(t);
    const [path] = write(where, [3]);
    assert.deepEqual(await all(readShards(path, { columns: ['text'], deal: 'shards', shuffle: false })), [
      { text: 'row 0' },
      { text: 'row 1' },
      { text: 'row 2' },
    ]);
    const columns = [{ name: '__proto__', data: Int32Array.of(7), type: 'INT32' }];
    const [odd] = write(folder(t), [1], { columnData: columns });
    const [row] = await all(readShards(odd));
    assert.deepEqual(Object.entries(row), [['__proto__', 7]]);
  });

  test('files, directories and URLs; a directory by the bytes of the paths below it', async (t) => {
    const where = folder(t);
    const parts = ['b', 'a/z', 'a.b', '\u{ff5e}', '\u{1f0a1}'].map((name) => join(where, name));
    const expected = [];
    parts.forEach((part, i) => {
      mkdirSync(part, { recursive: true });
      write(part, [1], { columnData: [{ name: 'id', data: Int32Array.of(i), type: 'INT32' }] });
    });
    writeFileSync(join(where, 'notes.txt'), 'no Parquet');
    mkdirSync(join(where, 'folder.parquet'));
    // 'a.b/' comes before 'a/'. Names are sorted by code points: in UTF-16, the last two would be in the other order.
    expected.push(2, 1, 0, 3, 4);
    const inOrder = { deal: 'shards', shuffle: false, policy: 'round-robin' };
    assert.deepEqual(await ids(where, inOrder), expected);
    assert.deepEqual(await ids(pathToFileURL(where), inOrder), expected);
    assert.deepEqual(await ids([parts[4], pathToFileURL(join(parts[0], '0.parquet'))], inOrder), [4, 0]);
  });

  test('no rows at all', async (t) => {
    const where = folder(t);
    write(where, [0, 0]);
    for (const options of [{}, { deal: 'shards' }, { rank: 0, worldSize: 3 }])
      assert.deepEqual(await ids(where, options), []);
  });
});

describe('what cannot be read', () => {
  /** Checks that an iteration fails with an error that names the path, and that all files are closed. */
  async function fails(where, path, what, options) {
    await assert.rejects(ids(where, options), (error) => {
      assert(error.message.startsWith(`${path}: `), error.message);
      assert.match(error.message, what);
      return true;
    });
    assert.deepEqual(open(where), []);
  }

  test('files that are missing, or are not Parquet, or are cut off anywhere', async (t) => {
    const where = folder(t);
    const paths = write(where, [40, 50], { rowGroupSize: 20 });
    const missing = join(where, 'missing.parquet');
    await assert.rejects(ids([...paths, missing]), (error) => error.message.startsWith(`${missing}: ENOENT`));
    const odd = join(where, '1.parquet');
    const whole = readFileSync(odd);
    for (const content of [
      '',
      'P',
      'PAR1',
      'no Parquet at all, but longer',
      Buffer.alloc(1000),
      'PAR1\xff\xff\xff\x7fPAR1',
    ]) {
      writeFileSync(odd, content, 'latin1');
      await fails(where, odd, /not a Parquet file, or cut off/);
    }
    for (let end = 1; end < whole.length; end += 13) {
      writeFileSync(odd, whole.subarray(0, end));
      await fails(where, odd, /not a Parquet file, or cut off/);
      // This file has its end, but lacks some bytes before it.
      writeFileSync(odd, Buffer.concat([whole.subarray(0, Math.max(0, end - 13)), whole.subarray(end)]));
      for (const options of [{}, { deal: 'shards' }]) {
        try {
          assert.equal((await ids(where, options)).length, 90);
        } catch (error) {
          assert(error.message.startsWith(`${odd}: `) || error.message.startsWith(`${paths[0]}: `), error.stack);
        }
        assert.deepEqual(open(where), []);
      }
    }
  });

  test('any byte that is wrong is an error that names the file, or a value, and never a row less', async (t) => {
    const where = folder(t);
    const [path] = write(where, [60], { rowGroupSize: 25, pageSize: 100, statistics: false });
    const read = () => all(readShards(path, { lanes: 3, shuffleWindow: 7 }));
    const refused = await withWrongBits(path, 400, 60, read);
    assert(refused > 50);
    assert.deepEqual(open(where), []);
  });

  test('a column that is shorter than the footer says', async (t) => {
    const where = folder(t);
    for (const type of ['flat', 'list']) {
      const columnData = (rows) => {
        const data = Array.from({ length: rows }, (_, i) => (type === 'flat' ? i : [i, i]));
        return type === 'flat'
          ? [{ name: 'id', data: Int32Array.from(data), type: 'INT32', nullable: false }]
          : [{ name: 'id', data }];
      };
      const options = { rowGroupSize: 1000, dictionarySize: 0, statistics: false };
      const [less] = write(folder(t), [0], { ...options, columnData: columnData(50) });
      const [more] = write(where, [0], { ...options, columnData: columnData(100) });
      // The file has the footer of the longer file, and the pages of the shorter file in the place of its own.
      const [short, long] = [readFileSync(less), readFileSync(more)];
      const footer = long.length - 8 - long.readUInt32LE(long.length - 8);
      const pages = Buffer.alloc(footer);
      short.copy(pages, 0, 0, short.length - 8 - short.readUInt32LE(short.length - 8));
      writeFileSync(more, Buffer.concat([pages, long.subarray(footer)]));
      for (const deal of ['samples', 'shards']) await fails(where, more, /./, { deal });
    }
  });

  test('a file that changes between its footer and its rows', async (t) => {
    const where = folder(t);
    const paths = write(where, [5000, 5000, 30]);
    const rows = readShards(where, { deal: 'shards', policy: 'round-robin', shuffle: false });
    await rows.next();
    write(folder(t), [0]);
    const other = folder(t);
    writeFileSync(paths[2], readFileSync(write(other, [40])[0]));
    await assert.rejects(all(rows), { message: `${paths[2]}: it holds 40 rows now, and held 30 at the start` });
    assert.deepEqual(open(where), []);
  });

  test('files that differ in their columns, unless those are not read', async (t) => {
    const where = folder(t);
    const [first, second] = write(where, [3, 3]);
    const columns = (...names) =>
      names.map((name) => ({ name, data: Int32Array.of(1), type: 'INT32', nullable: false }));
    for (const columnData of [columns('id'), columns('id', 'text', 'more'), columns('text', 'id')]) {
      const [other] = write(folder(t), [1], { columnData });
      writeFileSync(second, readFileSync(other));
      const message = `${second}: its columns differ from those of ${first}; read a selection that all have`;
      await assert.rejects(ids(where), { message });
      assert.equal((await ids(where, { columns: ['id'] })).length, 4);
      await assert.rejects(ids(where, { columns: ['id', 'text'] }), { message });
    }
  });

  test('a failure is told where it is, after the rows before it', async (t) => {
    const where = folder(t);
    const paths = write(where, [5000, 5000]);
    const bytes = readFileSync(paths[1]);
    bytes.fill(0, 4, 40);
    writeFileSync(paths[1], bytes);
    const seen = [];
    const reading = async () => {
      for await (const { id } of readShards(where, { deal: 'shards', policy: 'round-robin', shuffle: false }))
        seen.push(id);
    };
    await assert.rejects(reading(), ({ message }) => message.startsWith(`${paths[1]}: `));
    assert.deepEqual(seen, [...Array(5000).keys()]);
  });
});

describe('how it is read', () => {
  test('an iteration that ends early closes what is open', linux, async (t) => {
    const where = folder(t);
    write(where, [3000, 3000, 3000]);
    let wasOpen = 0;
    for (const options of [{ lanes: 4, shuffleWindow: 50 }, { deal: 'shards' }, { deal: 'shards', shuffle: false }]) {
      for await (const _ of readShards(where, options)) {
        await setTimeout(5);
        wasOpen += open(where).length;
        break;
      }
      assert.deepEqual(open(where), []);
      const thrown = new Error('by who reads');
      const reading = async () => {
        for await (const _ of readShards(where, options)) throw thrown;
      };
      await assert.rejects(reading(), thrown);
      assert.deepEqual(open(where), []);
      const unbegun = readShards(where, options);
      await unbegun.return();
      assert.deepEqual(await unbegun.next(), { value: undefined, done: true });
    }
    assert(wasOpen > 0);
  });

  test('many iterations at a time, by two of them the same files', async (t) => {
    const where = folder(t);
    write(where, SIZES);
    const options = Array.from({ length: 6 }, (_, rank) => ({
      rank,
      worldSize: 6,
      lanes: 12,
      shuffleWindow: 20,
      remainder: 'uneven',
    }));
    const seen = await Promise.all(options.map((option) => ids(where, option)));
    assert.equal(new Set(seen.flat()).size, TOTAL);
    assert.deepEqual(open(where), []);
  });

  test('the next one is made while one is in use, and no more than that', async () => {
    const events = [];
    async function* making() {
      try {
        for (let i = 0; i < 4; i++) {
          events.push(`make ${i}`);
          yield i;
        }
      } finally {
        events.push('closed');
      }
    }
    for await (const i of ahead(making())) {
      events.push(`use ${i}`);
      await setTimeout(1);
      if (i === 2) break;
    }
    assert.deepEqual(events, ['make 0', 'make 1', 'use 0', 'make 2', 'use 1', 'make 3', 'use 2', 'closed']);
  });

  test('others have their turn meanwhile', async (t) => {
    const where = folder(t);
    write(where, [20_000]);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    });
    for await (const _ of readShards(where, { deal: 'shards' })) if (turns > 3) break;
    clearInterval(timer);
    assert(turns > 3);
  });

  test('a header that is longer than what is read of the file at a time', async () => {
    const varint = (value) => (value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]);
    const field = (value) => [0x15, ...varint(2 * value)];
    // The header has four numbers of the page. Field 5 has statistics with a long text.
    const text = [0x1c, 0x18, ...varint(100_000), ...new Array(100_000).fill(65), 0];
    const header = (rows) => {
      return [...[0, 8, 8].flatMap(field), 0x2c, ...[rows, 0, 3, 3].flatMap(field), ...text, 0, 0];
    };
    const page = (rows) => [...header(rows), ...new Array(8).fill(1)];
    const bytes = Uint8Array.from([...page(2), ...page(3)]);
    const read = async (start, end) => bytes.buffer.slice(start, end);
    const pages = async (...given) => {
      const all = [];
      for await (const page of pagesOf(read, ...given)) all.push(page);
      return all;
    };
    const whole = [
      { row: 0, rows: 2, start: 0, end: bytes.length / 2, dictionary: undefined },
      { row: 2, rows: 3, start: bytes.length / 2, end: bytes.length, dictionary: undefined },
    ];
    // The stated end of the column does not matter, because some writers compute it wrongly.
    for (const last of [bytes.length, bytes.length - 1, 1, 0]) {
      assert.deepEqual(await pages(bytes.length, 0, 5, last), whole);
    }
    await assert.rejects(pages(bytes.length, 0, 4), /more values/);
    await assert.rejects(pages(bytes.length, 0, 6), /ends within a column/);
    await assert.rejects(pages(bytes.length - 1, 0, 5), /ends within/);
  });
});

describe('what is said to whoever runs the process', () => {
  /** The warnings during `work`, as [code, message]. */
  async function warnings(work) {
    const heard = [];
    const hear = ({ name, code, message }) => name === 'SamedealWarning' && heard.push([code, message]);
    process.on('warning', hear);
    try {
      await work();
      // Node emits warnings a tick later.
      await setTimeout(0);
    } finally {
      process.off('warning', hear);
    }
    return heard;
  }

  test('lanes that the readers do not divide, once', async (t) => {
    const where = folder(t);
    write(where, [30]);
    const reader = (lanes, worldSize, workers) => () => ids(where, { lanes, rank: 0, worldSize, workers });
    const expected =
      '15 readers (5 ranks x 3 workers) do not divide 12 lanes, so that each row is read and decoded by 5 of them, ' +
      'and given by one; lanes: 15 would be read once';
    assert.deepEqual(await warnings(reader(12, 5, 3)), [['SAMEDEAL_LANES', expected]]);
    assert.deepEqual(await warnings(reader(12, 5, 3)), []);
    assert.match((await warnings(reader(4096, 1350, 2)))[0][1], /; lanes: 5400 would be read once$/);
    assert.match((await warnings(reader(4096, 70_000, 1)))[0][1], /given by one$/);
    for (const whole of [reader(12, 4, 3), reader(12, 1, 1), reader(4096, 64, 64)])
      assert.deepEqual(await warnings(whole), []);
    assert.deepEqual(await warnings(() => ids(where, { deal: 'shards', rank: 0, worldSize: 5 })), []);
  });

  test('a launcher that started several, where nobody was told which one this is', async (t) => {
    const where = folder(t);
    write(where, [30]);
    const set = { RANK: '2', WORLD_SIZE: '7' };
    const before = Object.keys(set).map((name) => [name, process.env[name]]);
    t.after(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    Object.assign(process.env, set);
    assert.deepEqual(await warnings(() => ids(where, { rank: 0, worldSize: 1 })), []);
    const all = async () => assert.equal((await ids(where)).length, 30);
    const [[code, message], ...more] = await warnings(all);
    assert.deepEqual([code, more], ['SAMEDEAL_RANK', []]);
    assert(message.startsWith('RANK=2, WORLD_SIZE=7: this is rank 2 of 7; readShards was given no rank'), message);
    assert.deepEqual(await warnings(all), []);
    delete process.env.RANK;
    process.env.LOCAL_RANK = '1';
    t.after(() => delete process.env.LOCAL_RANK);
    assert.match((await warnings(all))[0][1], /cannot be used, RANK is missing; .*detectRank/);
    delete process.env.LOCAL_RANK;
    process.env.WORLD_SIZE = '1';
    process.env.RANK = '0';
    assert.deepEqual(await warnings(all), []);
  });
});

describe('what is asked for', () => {
  const NOT_WHOLE = [Number.NaN, 1.7, '3', null, true, {}, [3], Symbol('3')];
  const NOT_32_BITS = [-1, -1n, 2 ** 32, 2n ** 64n, 1e300];

  /** Checks that an error is thrown, at the call or when the iteration begins. */
  async function refused(call, kind, field) {
    const reading = async () => {
      for await (const _ of call()) assert.fail('a row');
    };
    await assert.rejects(reading(), (error) => {
      assert(error instanceof SamedealError, error.stack);
      assert.deepEqual([error.kind, error.field], [kind, field], error.message);
      return true;
    });
  }

  test('options', async (t) => {
    const where = folder(t);
    write(where, [3]);
    const as = (options) => () => readShards(where, options);
    for (const [option, field, outside] of [
      ['rank', 'rank', [1, ...NOT_32_BITS]],
      ['worldSize', 'world_size', [0, ...NOT_32_BITS]],
      ['worker', 'worker', [1, ...NOT_32_BITS]],
      ['workers', 'workers', [0, ...NOT_32_BITS]],
      ['seed', 'seed', [2 ** 53, 2n ** 63n]],
      ['epoch', 'epoch', [-1, 2n ** 64n]],
      ['lanes', 'lanes', [0, 65_537, -1]],
      ['shuffleWindow', 'shuffle_window', [0, 2 ** 20 + 1, -1]],
      ['batchSize', 'batch_size', [0, ...NOT_32_BITS]],
    ]) {
      const others = { rank: { worldSize: 1 }, worldSize: { rank: 0 } }[option];
      for (const value of NOT_WHOLE) await refused(as({ ...others, [option]: value }), wrong(value), field);
      for (const value of outside) await refused(as({ ...others, [option]: value }), 'out-of-range', field);
    }
    for (const [options, kind, field] of [
      [{ deal: 'rows' }, 'unknown-name', 'deal'],
      [{ remainder: 'keep' }, 'unknown-name', 'remainder'],
      [{ policy: 'round-robin' }, 'contradiction', 'policy'],
      [{ workerPolicy: 'round-robin' }, 'contradiction', 'worker_policy'],
      [{ shuffle: false, lanes: 3 }, 'contradiction', 'lanes'],
      [{ shuffle: 1 }, 'wrong-type', 'shuffle'],
      [{ deal: 'shards', lanes: 3 }, 'contradiction', 'lanes'],
      [{ deal: 'shards', shuffleWindow: 3 }, 'contradiction', 'shuffle_window'],
      [{ deal: 'shards', remainder: 'pad' }, 'contradiction', 'remainder'],
      [{ deal: 'shards', policy: 'even' }, 'unknown-name', 'policy'],
      [{ deal: 'shards', policy: 'locality-aware' }, 'contradiction', 'policy'],
      [{ deal: 'shards', shuffle: 1 }, 'wrong-type', 'shuffle'],
      [{ rank: 0, worldSize: 2 ** 31, workers: 2 }, 'out-of-range', 'world_size'],
      [{ rank: 0, worldSize: 2 ** 21, workers: 4 }, 'out-of-range', 'workers'],
      [{ rank: 1 }, 'missing', 'world_size'],
      [{ rank: 0, worldSize: undefined }, 'missing', 'world_size'],
      [{ worldSize: 2 }, 'missing', 'rank'],
      [{ columns: 'id' }, 'wrong-type', 'columns'],
      [{ columns: [3] }, 'wrong-type', 'columns'],
      [{ columns: ['Id'] }, 'unknown-name', 'columns'],
      [{ columns: [] }, 'missing', 'columns'],
      [{ columns: ['id', 'text', 'id'] }, 'contradiction', 'columns'],
      [{ paddingColumn: 'text' }, 'contradiction', 'padding_column'],
      [{ paddingColumn: 'x', sampleColumn: 'x' }, 'contradiction', 'padding_column'],
      [{ paddingColumn: null }, 'wrong-type', 'padding_column'],
      [{ shuffleRows: true }, 'contradiction', 'shuffle_rows'],
      [{ deal: 'shards', shuffleRows: 1 }, 'wrong-type', 'shuffle_rows'],
      [{ sampleColumn: 3 }, 'wrong-type', 'sample_column'],
      [{ sampleColumn: 'id' }, 'contradiction', 'sample_column'],
      [{ dropLast: true }, 'contradiction', 'drop_last'],
      [{ dropLast: 1, batchSize: 2 }, 'wrong-type', 'drop_last'],
      [{ order: 'sharded' }, 'unknown-name', 'options'],
      [null, 'wrong-type', 'options'],
    ]) {
      await refused(as(options), kind, field);
    }
  });

  test('paths', async (t) => {
    for (const paths of [undefined, null, 3, '', {}, [3], [null], new URL('s3://example/a.parquet')]) {
      await refused(() => readShards(paths), wrong(paths), 'paths');
    }
    const where = folder(t);
    const [path] = write(where, [3]);
    symlinkSync(path, join(where, 'again.parquet'));
    for (const paths of [where, [path, path], [path, pathToFileURL(path)]]) {
      await refused(() => readShards(paths), 'contradiction', 'paths');
    }
    // The message has both paths in full, however long they are.
    const deep = join(where, 'd'.repeat(100));
    mkdirSync(deep);
    symlinkSync(path, join(deep, 'same.parquet'));
    await assert.rejects(all(readShards([path, deep])), ({ message }) => {
      return message.endsWith(`each file once; ${path} and ${join(deep, 'same.parquet')} are one`);
    });
    await refused(() => readShards([]), 'missing', 'paths');
    await refused(() => readShards(folder(t)), 'contradiction', 'paths');
  });
});
