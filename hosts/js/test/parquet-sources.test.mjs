// Parquet files from any source: readers that continue or end early, warnings and progress meanwhile, and rows of any
// samples.
import assert from 'node:assert/strict';
import { openAsBlob, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { compressors } from 'hyparquet-compressors';
import { Batcher, Reading, SamedealError, Sampler } from 'samedeal';
import { findShards, readBatches, readRows, readShards } from 'samedeal/parquet';
import { blocksOf, Held } from '../dist/files/parquet/held.js';
import { folder, rowOf, write, writeWithPyarrow } from './parquet-files.mjs';

/**
 * The sizes of the pages that were decompressed from Snappy, in bytes. The package takes the functions when it first
 * reads.
 */
const decompressed = [];
const { SNAPPY } = compressors;
compressors.SNAPPY = (input, length) => {
  decompressed.push(length);
  return SNAPPY(input, length);
};

const SIZES = [130, 0, 71, 500, 33, 1];
const TOTAL = SIZES.reduce((sum, size) => sum + size, 0);

const idsOf = (batches) => batches.flatMap((batch) => batch.map(({ id }) => id));

async function all(items) {
  const seen = [];
  for await (const item of items) seen.push(item);
  return seen;
}

/** A file in memory. `asked` is called at every request for a range. */
function buffer(path, asked = () => {}) {
  const bytes = readFileSync(path);
  return {
    name: `of ${path}`,
    byteLength: bytes.length,
    async slice(start, end = bytes.length) {
      await asked(start, end);
      return bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + end);
    },
  };
}

/** The files in a folder that this process has open. */
function open(where) {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(where));
    } catch {
      return [];
    }
  });
}

describe('where files are', () => {
  test('bytes, blobs and paths, side by side and in this order', async (t) => {
    const paths = write(folder(t), SIZES);
    const blob = await openAsBlob(paths[3]);
    const mixed = [buffer(paths[0]), paths[1], buffer(paths[2]), blob, ...paths.slice(4)];
    const options = { seed: 5, lanes: 8, shuffleWindow: 10, batchSize: 32 };
    assert.deepEqual(await all(readShards(mixed, options)), await all(readShards(paths, options)));
    const found = await findShards(mixed);
    assert.deepEqual([...found.sizes], SIZES);
    assert.deepEqual(found.paths, [`of ${paths[0]}`, paths[1], `of ${paths[2]}`, 'blob', ...paths.slice(4)]);
    assert.equal((await all(readShards(buffer(paths[0])))).length, SIZES[0]);
  });

  test('bytes that are no file, or are fewer than there should be, are errors that name it', async (t) => {
    const [path] = write(folder(t), [30]);
    await assert.rejects(
      all(readShards({ byteLength: 3, slice: () => new ArrayBuffer(3), name: 'short' })),
      /^Error: short: /,
    );
    const whole = buffer(path);
    const cut = { ...whole, slice: async (start, end) => (await whole.slice(start, end)).slice(1) };
    await assert.rejects(all(readShards(cut)), ({ message }) => message.startsWith(`of ${path}: `));
    for (const wrong of [{ byteLength: 3 }, { byteLength: '3', slice() {} }, new Uint8Array(3), 3, null]) {
      assert.throws(
        () => readShards([wrong]),
        ({ field, kind }) => field === 'paths' && kind === 'wrong-type',
      );
    }
    await assert.rejects(all(readShards([])), ({ field, kind }) => field === 'paths' && kind === 'missing');
  });
});

describe('where a reader goes on', () => {
  for (const [deal, options] of Object.entries({
    samples: { lanes: 8, shuffleWindow: 10, remainder: 'uneven' },
    shards: { deal: 'shards' },
  })) {
    test(`${deal}: after a state, on another number of ranks`, async (t) => {
      const paths = write(folder(t), SIZES);
      const shards = await findShards(paths);
      const before = new Reading(shards.sizes, { ...options, seed: 3, worldSize: 2, batchSize: 16 }).atEpoch(4);
      const taken = [];
      for (const rank of [0, 1]) {
        const pass = readBatches(shards, before, { rank });
        for (let step = 0; step < 5; step++) taken.push((await pass.next()).value);
        await pass.return();
      }
      const state = before.state(5);
      const own = { ...options, seed: 3, batchSize: 8, state };
      const rest = [];
      for (const rank of [0, 1, 2]) rest.push(...(await all(readShards(paths, { ...own, rank, worldSize: 3 }))));
      const seen = idsOf([...taken, ...rest]).sort((one, other) => one - other);
      assert.deepEqual(seen, [...Array(TOTAL).keys()]);
      assert.deepEqual(
        await all(readShards(paths, { ...own, state: { samedeal: state } })),
        await all(readShards(paths, own)),
      );
      // On the same number of ranks, every reader continues at its own place.
      const whole = await all(
        readShards(paths, { ...own, state: undefined, epoch: 4, batchSize: 16, rank: 1, worldSize: 2 }),
      );
      const last = await all(readShards(paths, { ...own, batchSize: 16, rank: 1, worldSize: 2 }));
      assert.deepEqual(last, whole.slice(5));
    });
  }

  test('what is no state of this dataset is an error', async (t) => {
    const paths = write(folder(t), SIZES);
    const state = new Reading(SIZES, { seed: 3 }).state(5);
    assert.throws(
      () => readShards(paths, { state, epoch: 0 }),
      ({ field, kind }) => field === 'epoch' && kind === 'contradiction',
    );
    for (const [options, field] of [
      [{ state: '{}' }, 'state'],
      [{ state: 3 }, 'state'],
      [{ state, seed: 4 }, 'seed'],
    ]) {
      await assert.rejects(all(readShards(paths, { seed: 3, ...options })), (error) => {
        assert(error instanceof SamedealError, String(error));
        assert.equal(error.field, field);
        return true;
      });
    }
  });
});

describe('a reader that ends early', () => {
  test('if its signal aborts: before, between two rows, and while it reads', async (t) => {
    const where = folder(t);
    const paths = write(where, SIZES);
    const reason = new Error('enough');
    await assert.rejects(all(readShards(paths, { signal: AbortSignal.abort(reason) })), reason);
    const controller = new AbortController();
    const seen = [];
    const reading = async () => {
      for await (const row of readShards(paths, { signal: controller.signal, lanes: 8 })) {
        if (seen.push(row) === 50) controller.abort(reason);
      }
    };
    await assert.rejects(reading(), reason);
    assert.equal(seen.length, 50);
    assert.deepEqual(open(where), []);

    const stop = new AbortController();
    let reads = 0;
    const buffers = paths.map((path) => buffer(path, () => ++reads > 14 && stop.abort(reason)));
    await assert.rejects(all(readShards(buffers, { signal: stop.signal, lanes: 64, shuffleWindow: 4 })), reason);
    assert(reads < 60, `${reads} reads`);
    for (const signal of [3, null, {}]) {
      assert.throws(
        () => readShards(paths, { signal }),
        ({ field, kind }) => field === 'signal' && kind === 'wrong-type',
      );
    }
  });

  test('while it waits for a server, with the reason of the signal', async (t) => {
    const bytes = readFileSync(write(folder(t), [50])[0]);
    let waits;
    const server = createServer((request, response) => {
      const [, start, end = bytes.length - 1] = /^bytes=(\d+)-(\d+)?$/.exec(request.headers.range ?? '') ?? [];
      // The server answers requests for the footer. It never answers a later request.
      if (waits && request.method === 'GET') return waits();
      response.setHeader('content-length', start === undefined ? bytes.length : Number(end) - start + 1);
      response.writeHead(start === undefined ? 200 : 206, { 'content-range': `bytes ${start}-${end}/${bytes.length}` });
      response.end(request.method === 'HEAD' ? undefined : bytes.subarray(Number(start ?? 0), Number(end) + 1));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${server.address().port}/0.parquet`;
    try {
      for (const reason of [new RangeError('enough'), 'a text', { a: 1 }, new DOMException('late', 'TimeoutError')]) {
        for (const read of [
          (signal) => all(readShards(url, { signal })),
          (signal) => findShards(url, { signal }),
          async (signal, abort) => {
            waits = undefined;
            const shards = await findShards(url, { signal });
            waits = abort;
            return all(readBatches(shards, new Reading(shards.sizes, { batchSize: 8 }), { rank: 0 }));
          },
        ]) {
          const controller = new AbortController();
          const abort = () => controller.abort(reason);
          waits = abort;
          await assert.rejects(read(controller.signal, abort), (error) => error === reason);
        }
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
    // The server is closed, so nobody listens at this address.
    await assert.rejects(findShards(url), (error) => {
      assert.equal(error.code, 'ECONNREFUSED');
      assert(error.message.startsWith(`${url}: `) && error.message.includes('ECONNREFUSED'), error.message);
      return !error.message.includes('not a Parquet file');
    });
  });

  test('a connection that breaks off has a code', async (t) => {
    const { length } = readFileSync(write(folder(t), [50])[0]);
    const server = createServer((request, response) => {
      if (request.method === 'HEAD') return response.setHeader('content-length', length).end();
      request.socket.destroy();
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${server.address().port}/0.parquet`;
    try {
      await assert.rejects(findShards(url), (error) => {
        assert.match(error.code, /^[A-Z_]+$/);
        return error.message.startsWith(`${url}: `) && !error.message.includes('not a Parquet file');
      });
    } finally {
      server.close();
    }
  });

  test('findShards, readBatches and readRows too', async (t) => {
    const paths = write(folder(t), SIZES);
    const signal = AbortSignal.abort();
    const shards = await findShards(paths);
    const reading = new Reading(shards.sizes, { batchSize: 8 });
    for (const call of [
      () => findShards(paths, { signal }),
      () => all(readBatches(shards, reading, { rank: 0, signal })),
      () => readRows(shards, [3], { signal }),
    ]) {
      await assert.rejects(call, { name: 'AbortError' });
    }
  });
});

test('how far a reader is: footers first, then rows', async (t) => {
  const paths = write(folder(t), SIZES);
  const told = [];
  const rows = await all(readShards(paths, { rank: 1, worldSize: 2, progress: (news) => told.push(news) }));
  assert.deepEqual(
    told.slice(0, 6).map(({ files, filesFound, rows: count }) => [files, filesFound, count]),
    SIZES.map((_, i) => [6, i + 1, 0]),
  );
  assert.deepEqual(
    told.slice(6).map((news) => [news.filesFound, news.rows, news.rowsGiven]),
    [
      [6, 368, 0],
      [6, 368, 256],
      [6, 368, 368],
    ],
  );
  assert.equal(rows.length, 368);
  assert.throws(
    () => readShards(paths, { progress: 3 }),
    ({ field, kind }) => field === 'progress' && kind === 'wrong-type',
  );
});

test('the first rows come before the rest of their window is read', async (t) => {
  const sizes = new Array(8).fill(1000);
  const paths = write(folder(t), sizes);
  const sampler = Sampler.sharded(sizes, { shuffleWindow: 16, seed: 1 });
  const needed = new Set([...sampler.indices(0, 4)].map((sample) => sampler.shardOf(sample).shard));
  assert(needed.size <= 4);
  let open;
  const gate = new Promise((resolve) => {
    open = resolve;
  });
  let now = 0;
  let most = 0;
  const buffers = paths.map((path, i) => {
    let asked = 0;
    return buffer(path, async () => {
      most = Math.max(most, ++now);
      // The first request is the one for the footer, when the files are looked up.
      if (++asked > 1 && !needed.has(i)) await gate;
      now -= 1;
    });
  });
  const reading = readShards(buffers, { batchSize: 4, shuffleWindow: 16, seed: 1 });
  const { value: first } = await reading.next();
  assert.equal(first.length, 4);
  open();
  assert.deepEqual(idsOf([first, ...(await all(reading))]), [...sampler]);
  assert(most > 2, `${most} files at a time`);
});

test('columns that are next to each other are asked for at once', async (t) => {
  const [path] = write(folder(t), [1000]);
  let asked = 0;
  const rows = await all(readShards(buffer(path, () => ++asked)));
  assert.deepEqual(
    rows.map(({ id }) => id).sort((one, other) => one - other),
    Array.from({ length: 1000 }, (_, i) => i),
  );
  // The footer is read when the files are looked up and again when they are read; the third request is for the rows.
  assert.equal(asked, 3);
});

test('a large column is read page by page, and only as far as somebody asks', async (t) => {
  const data = Array.from({ length: 400 }, (_, i) => `${i} `.padEnd(10_000, `${i * i}`));
  const columnData = [{ name: 'text', data, type: 'STRING', nullable: false, encoding: 'PLAIN' }];
  const [path] = write(folder(t), [0], { columnData, codec: 'UNCOMPRESSED', rowGroupSize: 400, pageSize: 100_000 });
  let bytes = 0;
  const file = buffer(path, (start, end) => {
    bytes += end - start;
  });
  const shards = await findShards(file);
  bytes = 0;
  assert.deepEqual(await readRows(shards, [3]), [{ text: data[3] }]);
  // Only a footer, a header and one page are read.
  assert(bytes < 300_000, `${bytes} bytes for the first page`);
  assert.deepEqual(
    await readRows(shards, [399, 3, 200]),
    [399, 3, 200].map((i) => ({ text: data[i] })),
  );
});

test('blocks of files are held up to a bound', async () => {
  const asked = [];
  const file = {
    byteLength: 2 ** 30,
    slice: async (start, end) => {
      asked.push(start);
      return new ArrayBuffer(end - start);
    },
    close: async () => {},
  };
  const size = 2 ** 20;
  const parts = Array.from({ length: 40 }, (_, i) => ({ start: i * size, end: (i + 1) * size }));
  const blocks = blocksOf([...parts].reverse(), file.byteLength);
  assert.deepEqual(blocks, parts);
  const held = new Held();
  for (const block of blocks) await held.read(file, block);
  assert.equal(asked.length, 40);
  // The last 32 blocks are in memory and can be read in whole or in part. Bytes outside of a block are read from the
  // file.
  for (const block of blocks.slice(8))
    assert.equal((await held.slice(file, block, block.start + 5, block.end)).byteLength, size - 5);
  assert.equal(asked.length, 40);
  await held.slice(file, blocks[0], 5, 9);
  await held.slice(file, blocks[39], blocks[39].end - 5, blocks[39].end + 5);
  assert.deepEqual(asked.slice(40), [5, 40 * size - 5]);
  held.drop(blocks[39]);
  await held.slice(file, blocks[39], blocks[39].start, blocks[39].end);
  assert.equal(asked.length, 43);
  // Neighbouring ranges are joined. A range that is too large, or not within the file, is in no block.
  const some = [
    [0, 100],
    [100, 2000],
    [2000, size + 2001],
    [size, size + 50],
    [2 ** 30 - 5, 2 ** 30 + 5],
    [NaN, 7],
    [9, 9],
  ];
  assert.deepEqual(
    blocksOf(
      some.map(([start, end]) => ({ start, end })),
      2 ** 30,
    ),
    [
      { start: 0, end: 2000 },
      { start: size, end: size + 50 },
    ],
  );
  const failing = { ...file, slice: async () => Promise.reject(new Error('cut')) };
  const block = { start: 0, end: 10 };
  await assert.rejects(held.read(failing, block), /cut/);
  await held.read(file, block);
});

test('a dictionary is decompressed once for the lanes that read its pages', async (t) => {
  const data = Array.from({ length: 4000 }, (_, i) => `text ${(i * i) % 97}`);
  const columnData = [{ name: 'text', data, type: 'STRING', nullable: false }];
  const paths = write(folder(t), [0], { columnData, codec: 'SNAPPY', rowGroupSize: 4000, pageSize: 250 });
  const sampler = Sampler.sharded([4000], { lanes: 8, shuffleWindow: 16, seed: 1 });
  decompressed.length = 0;
  const reading = readShards(paths, { batchSize: 64, lanes: 8, shuffleWindow: 16, seed: 1 });
  const { value: first } = await reading.next();
  await reading.return();
  assert.deepEqual(
    first.map(({ text }) => text),
    [...sampler.indices(0, 64)].map((sample) => data[sample]),
  );
  assert(decompressed.length > 8, `${decompressed.length} pages`);
  const longest = Math.max(...decompressed);
  assert.equal(decompressed.filter((length) => length === longest).length, 1);
});

describe('rows of any samples', () => {
  test('in their order, from any files, with every type', async (t) => {
    const where = folder(t);
    writeWithPyarrow(where, [400, 0, 300, 50]);
    const shards = await findShards(where);
    const samples = [749, 0, 400, 399, 3, 3, 700, 699, 1];
    assert.deepEqual(await readRows(shards, samples), samples.map(rowOf));
    assert.deepEqual(
      await readRows(shards, Float64Array.from(samples), { sampleColumn: 'n' }),
      samples.map((n) => ({ ...rowOf(n), n })),
    );
    assert.deepEqual(await readRows(shards, []), []);
    assert.deepEqual(open(where), []);
  });

  test('those of a batch that was planned', async (t) => {
    const shards = await findShards(write(folder(t), SIZES), { columns: ['id'] });
    const lengths = Array.from({ length: TOTAL }, (_, i) => 1 + (i % 50));
    const { samples } = new Batcher(lengths, { maxTokens: 300 }).batch(3);
    assert.deepEqual(
      await readRows(shards, samples),
      Array.from(samples, (id) => ({ id })),
    );
  });

  test('what is refused', async (t) => {
    const where = folder(t);
    const shards = await findShards(write(where, SIZES));
    for (const [call, kind, field] of [
      [() => readRows(shards, [3, TOTAL]), 'out-of-range', 'sample'],
      [() => readRows(shards, [-1]), 'out-of-range', 'sample'],
      [() => readRows(shards, [1.5]), 'wrong-type', 'sample'],
      [() => readRows('data', [1]), 'wrong-type', 'shards'],
      [() => readRows(shards, [1], { sampleColumn: 'id' }), 'contradiction', 'sample_column'],
      [() => readRows(shards, [1], { rank: 3 }), 'unknown-name', 'options'],
      [() => readRows(shards, 3), 'wrong-type', 'samples'],
    ]) {
      await assert.rejects(call, (error) => {
        assert(error instanceof SamedealError, String(error));
        assert.deepEqual([error.kind, error.field], [kind, field], error.message);
        return true;
      });
    }
    assert.deepEqual(open(where), []);
  });
});
