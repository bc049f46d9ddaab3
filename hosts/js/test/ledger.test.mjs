// Ledgers: readers of unequal speed share a log, and some of them stop without a word. The golden cases have the
// expected entries.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { MemoryLog, openLedger, replayLedger, Sampler } from 'samedeal';
import { LedgerClient } from '../dist/ledger/client.js';
import { NOT_32_BITS, NOT_WHOLE, refused, wrong } from './values.mjs';

const SAMPLES = 1000;
const sampler = () => new Sampler(SAMPLES, { seed: -7, epoch: 2, rank: 1, worldSize: 3, layout: 'contiguous' });
const epoch = [...new Sampler(SAMPLES, { seed: -7, epoch: 2 })];
const text = (log) => log.entries.map((entry) => `${entry}\n`).join('');
const sorted = (samples) => Array.from(samples).sort((one, other) => one - other);

let calls = 0;
/** A store with the same log, which answers after different times and returns only a few entries at a time. */
const slow = (log) => ({
  async read(from) {
    await setTimeout((calls++ * 7) % 4);
    return log.read(from).slice(0, 3);
  },
  async append(number, entry) {
    await setTimeout((calls++ * 7) % 4);
    return log.append(number, entry);
  },
});

/** A store with the same log, which fails while it is away: after it has added the entry, or without adding it. */
const failing = (log, isAway, adds = true) => ({
  read: (from) => log.read(from),
  append(number, entry) {
    const away = isAway(number);
    const added = (adds || !away) && log.append(number, entry);
    if (away && (added || !adds)) throw new Error('the store is away');
    return added;
  },
});

describe('Ledger', () => {
  test('an action of a later component ends the operation with an error', async () => {
    const log = new MemoryLog();
    const ledger = await openLedger(sampler(), log, { reader: 0, blockSize: SAMPLES });
    const before = text(log);
    const { step } = LedgerClient.prototype;
    LedgerClient.prototype.step = () => ({ action: 'compact', number: 0, entry: '{}', milliseconds: 0 });
    try {
      for (const call of [() => ledger.claim(), () => ledger.tryClaim(), () => ledger.progress()]) {
        await assert.rejects(call(), (error) => {
          const { kind, field, value, known, message } = error;
          assert.deepEqual([kind, field, value], ['unknown-name', 'action', 'compact']);
          assert.deepEqual(known, ['checkpoint', 'read', 'append', 'done', 'claimed', 'wait', 'held', 'finished']);
          assert.match(message, /finished: this version of samedeal is too old for its component$/);
          return true;
        });
      }
    } finally {
      LedgerClient.prototype.step = step;
    }
    // Nothing was written, so the next operation begins as usual.
    assert.equal(text(log), before);
    assert.equal((await ledger.claim()).count, SAMPLES);
    ledger.dispose();
  });

  test('readers of unequal speed, one of whom dies, commit every sample once', async () => {
    const log = new MemoryLog();
    const read = async (reader, pause, parts = Number.POSITIVE_INFINITY) => {
      const ledger = await openLedger(sampler(), slow(log), { reader, blockSize: 20, leaseMs: 3000 });
      const samples = [];
      for (let claim = await ledger.claim(); claim; claim = await ledger.claim()) {
        while (claim.committed < claim.count) {
          // The reader dies while it holds the rest of a claim.
          if (parts-- === 0) return samples;
          await setTimeout(pause);
          const part = Math.min(5, claim.count - claim.committed);
          const taken = claim.samples(claim.committed, claim.committed + part);
          await claim.commit(part);
          samples.push(...taken);
        }
      }
      ledger.dispose();
      return samples;
    };
    const found = await Promise.all([read(0, 1), read(1, 1, 7), read(2, 24), read(3, 1)]);
    assert.deepEqual(sorted(found.flat()), sorted(epoch));
    assert.equal(found[1].length, 35);
    assert(found[2].length > 0 && 2 * found[2].length < found[0].length, found.map(({ length }) => length).join());

    // A replay of the log gives every reader its samples again.
    for (const [reader, samples] of found.entries()) {
      assert.deepEqual([...replayLedger(log.entries, { reader, readers: 4 }).samples(sampler())], samples);
    }
    const replay = replayLedger(text(log));
    assert.equal(replay.progress().finished, true);
    assert.equal(replayLedger(log.entries.slice(0, -1)).progress().finished, false);
    const whole = new Sampler(SAMPLES, { seed: -7, epoch: 9, worldSize: 7 });
    assert.deepEqual(sorted(replay.samples(whole)), sorted(epoch));
    const { entries, ...progress } = replay.progress();
    assert.deepEqual(progress, { positions: SAMPLES, committed: SAMPLES, claimed: 0, finished: true });
    assert.equal(entries, log.entries.length);
    const halves = [0, 1].flatMap((reader) => [...replayLedger(text(log), { reader, readers: 2n }).samples(whole)]);
    assert.deepEqual(sorted(halves), sorted(epoch));
    assert.equal(JSON.parse(replay.initialState).kind, 'sampler');
  });

  test('who is silent loses a claim, and is told', async () => {
    const log = new MemoryLog();
    const open = (reader) => openLedger(sampler(), log, { reader, blockSize: SAMPLES, leaseMs: 2000 });
    const [one, other] = await Promise.all([open(1), open(2)]);
    const claim = await one.claim();
    await claim.commit(400n);
    assert.deepEqual([claim.start, claim.count, claim.committed], [0, SAMPLES, 400]);
    const { wait } = await other.tryClaim();
    assert(wait > 0 && wait <= 2000, String(wait));
    await claim.renew();
    const rest = await other.claim();
    assert.deepEqual([rest.start, rest.count], [400, 600]);
    for (const lost of [claim.commit(1), claim.commit(), claim.renew(), claim.release()]) {
      await assert.rejects(lost, {
        name: 'SamedealError',
        kind: 'contradiction',
        field: 'claim',
        message: /taken over after a silence/,
      });
    }
    assert.deepEqual([...rest.samples()], epoch.slice(400));
    assert.deepEqual([...rest.samples(5, 9n)], epoch.slice(405, 409));
    assert.throws(() => rest.samples(0, 601), { kind: 'out-of-range', field: 'end' });
    await assert.rejects(rest.commit(601), { kind: 'out-of-range', field: 'count' });
    // A reader that holds all remaining positions would wait for itself, so it gets an error.
    assert.deepEqual(await other.tryClaim(), { held: true });
    await assert.rejects(other.claim(), {
      kind: 'contradiction',
      field: 'claim',
      message:
        'claim is reader 2; allowed: a reader that commits or releases what it holds: nothing else can be claimed now',
    });
    // Calls that overlap are done one after the other.
    const calls = [rest.commit(100), other.progress(), rest.commit(), other.progress(), other.claim()];
    const [, before, , { finished }, none] = await Promise.all(calls);
    assert.deepEqual([before.committed, before.claimed, finished, none], [500, 500, true, null]);
    assert.deepEqual(await one.tryClaim(), { finished: true });
    await rest.commit();
    await rest.release();
    await rest.renew();
    other.dispose();
    await assert.rejects(other.progress(), { message: 'this ledger has been disposed of' });
  });

  test('who comes back gives back what it held', async () => {
    const log = new MemoryLog();
    const open = () => openLedger(sampler(), log, { reader: 2 ** 32 - 1, blockSize: 100 });
    const first = await open();
    const claims = [await first.claim(), await first.claim(), await first.claim()];
    await claims[1].commit(40);
    await claims[0].release();
    const again = await open();
    assert.equal((await again.progress()).claimed, 0);
    const taken = [await again.claim(), await again.claim()].map(({ start, count }) => [start, count]);
    assert.deepEqual(taken.flat(), [0, 100, 140, 60]);
    await assert.rejects(claims[2].commit(1), { kind: 'contradiction', field: 'claim' });
  });

  test('a claim that was lost is another one than that of the same run', async () => {
    const log = new MemoryLog();
    const open = (reader) => openLedger(sampler(), log, { reader, blockSize: SAMPLES, leaseMs: 50 });
    const [one, other] = [await open(1), await open(2)];
    const lost = await one.claim();
    await (await other.claim()).release();
    const again = await one.claim();
    assert.deepEqual([lost.start, lost.count, again.start, again.count], [0, SAMPLES, 0, SAMPLES]);
    assert(lost.number < again.number);
    for (const refused of [lost.commit(), lost.commit(3), lost.renew(), lost.release()]) {
      await assert.rejects(refused, { kind: 'contradiction', field: 'claim', value: String(lost.number) });
    }
    await again.commit(3);
    await again.commit();
    assert.deepEqual(
      [...replayLedger(log.entries)].map(({ claim, start, count }) => [claim, start, count]),
      [
        [again.number, 0, 3],
        [again.number, 3, SAMPLES - 3],
      ],
    );
  });

  test('any entry of a reader is a sign of life for all that it holds', async () => {
    const log = new MemoryLog();
    const open = (reader) => openLedger(sampler(), log, { reader, blockSize: SAMPLES / 2, leaseMs: 3000 });
    const [one, other] = [await open(1), await open(2)];
    const [first, second] = [await one.claim(), await one.claim()];
    for (let i = 0; i < 4; i++) {
      await setTimeout(1000);
      await first.renew();
    }
    const { wait } = await other.tryClaim();
    assert(wait > 0 && wait <= 3000, String(wait));
    await second.commit();
    await first.commit();
    assert.equal(await other.claim(), null);
  });

  test('a loop that is broken off gives back what it has not committed', async () => {
    const log = new MemoryLog();
    const ledger = await openLedger(sampler(), log, { reader: 1, blockSize: 100 });
    for await (const claim of ledger) {
      await claim.commit(40);
      if (claim.start === 100) break;
    }
    await assert.rejects(
      async () => {
        for await (const claim of ledger) throw new Error(`within ${claim.start}`);
      },
      { message: 'within 140' },
    );
    const { committed, claimed } = await ledger.progress();
    assert.deepEqual([committed, claimed], [140, 0]);
    assert.equal((await ledger.claim()).start, 140);
  });

  test('what a log did not say that it appended is known later', async () => {
    const log = new MemoryLog();
    const silent = new Set([2, 4, 6, 9]);
    const unsure = failing(log, (number) => silent.has(number));
    const away = { message: 'the store is away' };
    const ledger = await openLedger(sampler(), unsure, { reader: 1, blockSize: SAMPLES / 2 });
    const entries = () => log.entries.length;
    await assert.rejects(ledger.tryClaim(), away);
    const claim = await ledger.claim();
    assert.deepEqual([claim.start, claim.count, claim.number], [0, SAMPLES / 2, 2]);
    await claim.commit(10);
    await assert.rejects(claim.commit(10), away);
    await claim.commit(10);
    assert.deepEqual([claim.committed, entries()], [20, 5]);
    await claim.commit(20);
    await assert.rejects(claim.commit(), away);
    assert.equal(claim.committed, 40);
    await claim.commit();
    await claim.commit();
    assert.deepEqual([claim.committed, entries()], [SAMPLES / 2, 7]);
    const second = await ledger.claim();
    assert.equal(second.start, SAMPLES / 2);
    await second.renew();
    await assert.rejects(second.release(), away);
    const third = await ledger.claim();
    assert.deepEqual([third.start, third.number, entries()], [SAMPLES / 2, 10, 11]);
    assert.equal((await ledger.progress()).committed, SAMPLES / 2);
  });

  test('who asks meanwhile makes a repeated commit no larger', async () => {
    const log = new MemoryLog();
    let isAway = false;
    const unsure = failing(log, () => isAway);
    const ledger = await openLedger(sampler(), unsure, { reader: 1, blockSize: 100 });
    const claim = await ledger.claim();
    isAway = true;
    const failed = claim.commit(3);
    const progress = ledger.progress();
    await assert.rejects(failed, { message: 'the store is away' });
    isAway = false;
    assert.deepEqual([(await progress).committed, claim.committed], [3, 0]);
    await claim.commit(3);
    assert.deepEqual([(await ledger.progress()).committed, claim.committed], [3, 3]);
  });

  test('of two processes with one number the second takes over', async () => {
    const log = new MemoryLog();
    const open = (log) => openLedger(sampler(), log, { reader: 1, blockSize: 100 });
    const old = await open(log);
    const claims = [await old.claim(), await old.claim()];
    const later = await open(log);
    for (const claim of claims) {
      for (const lost of [claim.commit(), claim.commit(1), claim.renew(), claim.release()]) {
        await assert.rejects(lost, { kind: 'contradiction', field: 'claim' });
      }
    }
    for (const refused of [old.claim(), old.tryClaim(), old.setLease(5)]) {
      await assert.rejects(refused, { kind: 'contradiction', field: 'reader', value: '1' });
    }
    const claim = await later.claim();
    assert.equal(claim.start, 0);
    await claim.commit();
    assert.deepEqual(await old.progress(), await later.progress());

    // The first process could not write a claim. Then the second process writes the same claim, with the same number.
    let isAway = false;
    const first = await open(failing(log, () => isAway, false));
    isAway = true;
    await assert.rejects(first.claim(), { message: 'the store is away' });
    const second = await open(log);
    const again = await second.claim();
    isAway = false;
    await assert.rejects(first.claim(), { kind: 'contradiction', field: 'reader' });
    await again.commit();
    assert.equal((await second.progress()).committed, 200);
  });

  test('a lease is set and changed', async () => {
    const log = new MemoryLog();
    const open = (reader, options) => openLedger(sampler(), log, { reader, ...options });
    const one = await open(1, { blockSize: SAMPLES });
    assert.equal(await one.leaseMs(), 60_000);
    const other = await open(2, { leaseMs: 3_600_000n });
    assert.equal(await one.leaseMs(), 3_600_000);
    const claim = await one.claim();
    const { wait } = await other.tryClaim();
    assert(wait > 3_000_000, String(wait));
    await one.setLease(1_000_000);
    assert((await other.tryClaim()).wait <= 1_000_000);
    await other.setLease(1n);
    assert.equal(await (await open(3)).leaseMs(), 1);
    assert.equal((await other.claim()).start, 0);
    await assert.rejects(claim.commit(), { kind: 'contradiction', field: 'claim' });
    for (const leaseMs of [0, 2 ** 53, -1]) {
      await assert.rejects(other.setLease(leaseMs), { kind: 'out-of-range', field: 'lease_ms' });
    }
    for (const leaseMs of NOT_WHOLE)
      await assert.rejects(other.setLease(leaseMs), { kind: wrong(leaseMs), field: 'lease_ms' });
  });

  test('a long log is read from its last checkpoint on', async () => {
    const log = new MemoryLog();
    const options = { blockSize: 1, checkpointInterval: 300 };
    const ledger = await openLedger(sampler(), log, { reader: 0, ...options });
    const held = await ledger.claim();
    for (let i = 0; i < 600; i++) await (await ledger.claim()).commit();
    const isCheckpoint = (entry) => entry.startsWith('{"event":"checkpoint"');
    assert.equal(log.entries.filter(isCheckpoint).length, Math.floor(log.entries.length / 300));
    const behind = log.entries.length - 1 - log.entries.findLastIndex(isCheckpoint);
    let read = 0;
    const counted = {
      async read(from) {
        const entries = log.read(from);
        // The first read returns more entries than entry 0, but only entry 0 is used, so it counts as one.
        read += from === 0 ? 1 : entries.length;
        return entries;
      },
      append: (number, entry) => log.append(number, entry),
      lastCheckpoint: () => Buffer.from(log.lastCheckpoint()),
    };
    const other = await openLedger(sampler(), counted, { reader: 1 });
    assert.equal(read, 1 + behind);
    const { committed, claimed, entries } = await other.progress();
    assert.deepEqual([committed, claimed, entries], [600, 1, log.entries.length]);
    for (let claim = await other.tryClaim(); claim.claim; claim = await other.tryClaim()) await claim.claim.commit();
    await held.commit();
    assert.equal(await other.claim(), null);
    assert.deepEqual(replayLedger(log.entries).progress(), await other.progress());
    assert.equal(replayLedger(log.entries).progress().finished, true);
    const wrong = { ...counted, lastCheckpoint: () => 3 };
    await assert.rejects(openLedger(sampler(), wrong, { reader: 2 }), { kind: 'wrong-type', field: 'entry' });
  });

  test('a claim that nobody has any more is claimed again', async () => {
    const ledger = await openLedger(sampler(), new MemoryLog(), { reader: 0, blockSize: SAMPLES });
    await (await ledger.claim()).commit(1);
    let attempt = await ledger.tryClaim();
    for (let i = 0; i < 50 && !attempt.claim; i++) {
      global.gc();
      await setTimeout(1);
      attempt = await ledger.tryClaim();
    }
    assert.deepEqual([attempt.claim.start, attempt.claim.count], [1, SAMPLES - 1]);
  });

  test('what a loop could not commit or give back is the next claim', async () => {
    const log = new MemoryLog();
    let isAway = false;
    const unsure = failing(log, () => isAway, false);
    const ledger = await openLedger(sampler(), unsure, { reader: 1, blockSize: SAMPLES });
    const away = { message: 'the store is away' };
    await assert.rejects(async () => {
      for await (const claim of ledger) {
        await claim.commit(10);
        isAway = true;
      }
    }, away);
    isAway = false;
    await assert.rejects(async () => {
      for await (const claim of ledger) {
        assert.deepEqual([claim.start, claim.count], [10, SAMPLES - 10]);
        await claim.commit(5);
        isAway = true;
        break;
      }
    }, away);
    isAway = false;
    const rest = [];
    for await (const claim of ledger) rest.push(claim.start, ...claim.samples());
    assert.deepEqual(rest, [15, ...epoch.slice(15)]);
  });

  test('numbers of 53 bits', async () => {
    const most = 2 ** 53 - 1;
    const large = new Sampler(most, { seed: -(2n ** 63n), epoch: 2n ** 64n - 1n, consumed: most - 5_000_000_000 });
    const log = new MemoryLog();
    const ledger = await openLedger(large, log, { reader: 0, blockSize: 2 ** 32 - 1, leaseMs: most });
    const [first, last] = [await ledger.claim(), await ledger.claim()];
    assert.deepEqual([first.start, first.count], [most - 5_000_000_000, 2 ** 32 - 1]);
    assert.equal(last.start + last.count, most);
    const end = last.samples(last.count - 3);
    assert.deepEqual(
      [...end],
      [3, 2, 1].map((back) => large.sampleAt(most - back)),
    );
    await first.commit();
    await last.commit(last.count - 3);
    const replay = replayLedger(text(log));
    const events = [...replay].map(({ start, count }) => start + count);
    assert.deepEqual(events, [most - 5_000_000_000 + 2 ** 32 - 1, most - 3]);
    assert.equal(replay.progress().claimed, 3);
  });

  test('a log is of one epoch', async () => {
    const log = new MemoryLog();
    const of = { seed: 1, epoch: 4, consumed: 20 };
    const open = (options, blockSize = 8, samples = 100) =>
      openLedger(new Sampler(samples, { ...of, ...options }), log, { reader: 0, blockSize });
    assert.equal((await (await open({ worldSize: 5 })).progress()).positions, 80);
    const other = new Sampler(100, { ...of, rank: 2, worldSize: 3 });
    assert.equal((await (await openLedger(other, log, { reader: 1 })).progress()).positions, 80);
    for (const [field, other] of Object.entries({ seed: 2, epoch: 5, consumed: 0, order: 'torch' })) {
      await assert.rejects(open({ [field]: other }), {
        kind: 'contradiction',
        field: field === 'order' ? 'name' : field,
      });
    }
    await assert.rejects(open({}, 9), { kind: 'contradiction', field: 'block_size' });
    await assert.rejects(open({}, 8, 101), { kind: 'contradiction', field: 'samples' });
    assert.throws(() => [...replayLedger(text(log)).samples(new Sampler(100))], { field: 'seed' });
    const shards = Sampler.sharded([40, 60], { lanes: 2, shuffleWindow: 8, seed: 3 });
    const sharded = new MemoryLog();
    const ledger = await openLedger(shards, sharded, { reader: 0, blockSize: 64 });
    const seen = [];
    for await (const claim of ledger) {
      seen.push(...claim.samples());
      // The rest of a claim is committed when the loop asks for the next claim.
      if (claim.start === 0) await claim.commit(3);
    }
    assert.deepEqual(seen, [...shards]);
    assert.deepEqual([...replayLedger(sharded.entries).samples(shards)], [...shards]);
    const others = Sampler.sharded([60, 40], { lanes: 2, shuffleWindow: 8, seed: 3 });
    assert.throws(() => [...replayLedger(sharded.entries).samples(others)], { field: 'sizes' });
  });

  test('the events of a log are the entries about runs, of all readers', async () => {
    const log = new MemoryLog();
    const ledger = await openLedger(sampler(), log, { reader: 3, blockSize: 600 });
    const [first, second] = [await ledger.claim(), await (await openLedger(sampler(), log, { reader: 8 })).claim()];
    await first.commit(400);
    await first.release();
    await second.commit();
    // The events are equal for one of many readers and for all readers.
    for (const options of [{}, { reader: 1, readers: 2 }]) {
      const schedule = replayLedger(log.entries, options);
      const found = [];
      for (let event = schedule.nextEvent(); event; event = schedule.nextEvent()) found.push(event);
      assert.deepEqual(
        found.map(({ kind, reader, start, count }) => [kind, reader, start, count]),
        [
          ['join', 3, 0, 0],
          ['claim', 3, 0, 600],
          ['join', 8, 0, 0],
          ['claim', 8, 600, 400],
          ['commit', 3, 0, 400],
          ['release', 3, 400, 200],
          ['commit', 8, 600, 400],
        ],
      );
      const [, one, , other] = found.map(({ number }) => number);
      assert.deepEqual(
        found.map(({ claim }) => claim),
        [0, one, 0, other, one, one, other],
      );
      assert.equal(schedule.nextEvent(), null);
      const runs = found.filter(({ kind, reader }) => kind === 'commit' && (!options.readers || reader % 2 === 1));
      assert.deepEqual(
        [...schedule],
        runs.map(({ kind, takenFrom, ...run }) => run),
      );
    }
  });

  test('entries and logs may be bytes', async () => {
    const log = new MemoryLog();
    const encoder = new TextEncoder();
    const bytes = {
      read: (from) => log.read(from).map((entry) => (from % 2 ? Buffer.from(entry) : encoder.encode(entry))),
      // The store adds an entry without an answer. The ledger must find this entry again, although it comes as bytes.
      append: (number, entry) => failing(log, (at) => at === 3).append(number, entry),
    };
    const ledger = await openLedger(sampler(), bytes, { reader: 0, blockSize: 400 });
    const claims = [await ledger.claim()];
    await assert.rejects(claims[0].commit(), /away/);
    for (let claim = claims[0]; claim; claim = await ledger.claim()) await claim.commit();
    assert.equal(
      (await (await openLedger(sampler(), bytes, { reader: 1, blockSize: 400 })).progress()).committed,
      SAMPLES,
    );
    const expected = [...replayLedger(text(log))];
    assert.equal(
      expected.reduce((sum, { count }) => sum + count, 0),
      SAMPLES,
    );
    const entries = log.entries.map((entry) => encoder.encode(entry));
    for (const lines of [entries, encoder.encode(text(log)), Buffer.from(text(log)), new Set(entries)]) {
      assert.deepEqual([...replayLedger(lines)], expected);
    }
    const odd = Uint8Array.of(0x7b, 0xff, 0x7d);
    assert.throws(() => replayLedger([odd]), { kind: 'wrong-type', message: /line 1/ });
    assert.throws(() => replayLedger(Uint8Array.of(...odd, 10)), { kind: 'wrong-type', field: 'lines' });
    assert.throws(() => replayLedger(new Uint8Array(0)), { kind: 'missing', field: 'entry' });
  });

  test('what a loss of power leaves at the end of a file is no entry', async () => {
    const log = new MemoryLog();
    for await (const _ of await openLedger(sampler(), log, { reader: 0, blockSize: 400 }));
    const whole = text(log);
    const expected = [...replayLedger(whole)];
    const half = whole.slice(0, -20);
    for (const tail of ['\0', '\0'.repeat(4096), '{"event"', '{"event"\0\0']) {
      for (const make of [String, Buffer.from]) {
        assert.deepEqual([...replayLedger(make(whole + tail))], expected);
        assert.deepEqual([...replayLedger(make(half + tail))], expected.slice(0, -1));
      }
    }
    // The cut-off bytes may be invalid UTF-8.
    const torn = Buffer.concat([Buffer.from(whole), Buffer.of(0x7b, 0xe9)]);
    assert.deepEqual([...replayLedger(torn)], expected);
    // Within the log, zero bytes are no torn entry but an error.
    assert.throws(() => replayLedger(`\0\0${whole}`), { field: 'state', message: /line 1/ });
  });

  test('what is no log is refused', async () => {
    const log = new MemoryLog();
    const ledger = await openLedger(sampler(), log, { reader: 0 });
    const { start, count } = await ledger.claim();
    log.entries.push(`{"event":"commit","reader":1,"start":${start},"count":${count}}`);
    const refusal = { kind: 'contradiction', field: 'entry', message: /follows from the 3 entries/ };
    await assert.rejects(ledger.tryClaim(), refusal);
    await assert.rejects(ledger.progress(), refusal);
    assert.throws(() => replayLedger(text(log)), { field: 'entry', message: /\(line 4 of the log\)/ });
    const lines = log.entries.slice(0, 2).map((entry) => `${entry}\r\n`);
    assert.throws(() => replayLedger(lines.join('')), { kind: 'wrong-type', field: 'entry', message: /line 1/ });
    log.entries[3] = 'x'.repeat(1 << 27);
    await assert.rejects(ledger.progress(), { kind: 'wrong-type', field: 'entry' });
    log.entries[3] = 3;
    await assert.rejects(ledger.progress(), { kind: 'wrong-type', field: 'entry', value: '3' });
    log.entries.pop();
    assert.equal((await ledger.progress()).claimed, count);

    // A line without its line break is no entry yet.
    assert.deepEqual([...replayLedger(text(log).slice(0, -1))], []);
    for (const none of ['', [], new Set()])
      assert.throws(() => replayLedger(none), { kind: 'missing', field: 'entry' });
    for (const other of ['{}\n', ['notes'], 'x'.repeat(1 << 20).concat('\n'), [3]]) {
      assert.throws(() => replayLedger(other), { name: 'SamedealError', message: /line 1/ });
    }
    for (const other of [null, undefined, 3, {}]) {
      assert.throws(() => replayLedger(other), { kind: wrong(other), field: 'lines' });
    }
    // This store refuses an entry because there is one, but then does not return that entry.
    log.entries.splice(1);
    const stubborn = { read: (from) => log.read(from), append: () => false };
    await assert.rejects(openLedger(sampler(), stubborn, { reader: 5 }), {
      kind: 'contradiction',
      field: 'log',
      message: /entry 1 when another one is appended, and none when it is read/,
    });
    for (const broken of [
      { read: () => 'text', append: () => true },
      { read: () => [], append: () => 1 },
      { read: () => [] },
      null,
      [],
    ]) {
      await assert.rejects(openLedger(sampler(), broken, { reader: 0 }), { kind: 'wrong-type', field: 'log' });
    }
    const failing = { read: () => Promise.reject(new Error('the store is away')), append: () => true };
    await assert.rejects(openLedger(sampler(), failing, { reader: 0 }), { message: 'the store is away' });
  });

  test('bad input', async () => {
    const open = (options) => openLedger(sampler(), new MemoryLog(), { reader: 0, ...options });
    for (const [field, out] of [
      ['reader', NOT_32_BITS],
      ['blockSize', [0, 0n, ...NOT_32_BITS]],
      ['leaseMs', [0, 0n, -1, 2 ** 53, 2n ** 53n, 2n ** 64n]],
      ['checkpointInterval', [0, 0n, -1, 2 ** 53, 2n ** 53n, 2n ** 64n]],
    ]) {
      const told = field.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`);
      for (const value of out) await assert.rejects(open({ [field]: value }), { kind: 'out-of-range', field: told });
      for (const value of NOT_WHOLE)
        await assert.rejects(open({ [field]: value }), { kind: wrong(value), field: told });
    }
    await assert.rejects(open({ reader: undefined }), { kind: 'missing', field: 'reader' });
    await assert.rejects(open({ readers: 2 }), { kind: 'unknown-name', field: 'options' });
    await assert.rejects(openLedger({}, new MemoryLog(), { reader: 0 }), { kind: 'wrong-type', field: 'sampler' });
    const ledger = await open({});
    const claim = await ledger.claim();
    for (const value of NOT_WHOLE) await assert.rejects(claim.commit(value), { field: 'count' });
    for (const value of NOT_32_BITS) await assert.rejects(claim.commit(value), { field: 'count' });
    const log = new MemoryLog();
    await openLedger(sampler(), log, { reader: 0 });
    for (const [field, out] of Object.entries({ readers: [0, ...NOT_32_BITS], reader: [3, ...NOT_32_BITS] })) {
      const replay = (value) => () => replayLedger(log.entries, { readers: 3, [field]: value });
      for (const value of out) refused(replay(value), 'out-of-range', field);
      for (const value of NOT_WHOLE) refused(replay(value), wrong(value), field);
    }
    // The wrong value is an argument, so the error names no line of the log.
    assert.throws(
      () => replayLedger(log.entries, { reader: 3, readers: 3 }),
      ({ value }) => value === '3',
    );
    assert.equal(claim.committed, 0);
  });

  test('a run of a replay says which entry, reader and claim it is of', async () => {
    const log = new MemoryLog();
    const ledger = await openLedger(sampler(), log, { reader: 5, blockSize: 10 });
    const claim = await ledger.claim();
    await claim.commit(3);
    await claim.renew();
    await claim.commit(7);
    const run = { reader: 5, claim: 2 };
    const runs = [
      { ...run, number: 3, start: 0, count: 3 },
      { ...run, number: 5, start: 3, count: 7 },
    ];
    // The entry that only renews the lease commits nothing, so it is no run.
    assert.deepEqual([...replayLedger(log.entries)], runs);
    assert.deepEqual([...replayLedger(log.entries, { reader: 1, readers: 4 })], runs);
    assert.deepEqual([...replayLedger(log.entries, { reader: 0, readers: 4 })], []);
  });
});

test('a log in memory takes numbers, and texts of one line', () => {
  const log = new MemoryLog();
  for (const value of [...NOT_WHOLE, -1, 2n ** 64n]) {
    const kind = Number.isInteger(value) || typeof value === 'bigint' ? 'out-of-range' : wrong(value);
    refused(() => log.read(value), kind, 'from');
    refused(() => log.append(value, 'x'), kind, 'number');
  }
  for (const entry of [3, null, undefined, ['x'], Symbol('x')])
    refused(() => log.append(0, entry), wrong(entry), 'entry');
  refused(() => log.append(0, 'two\nlines'), 'out-of-range', 'entry');
  assert.deepEqual(log.entries, []);
  assert(log.append(0n, 'x'));
  assert(!log.append(0, 'y'));
  assert.deepEqual(log.read(0), ['x']);
});

test('the lines of a log are no typed array whose memory was taken away', () => {
  for (const lines of [new Uint8Array(4), new Uint32Array(4)]) {
    structuredClone(lines.buffer, { transfer: [lines.buffer] });
    refused(() => replayLedger(lines), 'wrong-type', 'lines');
  }
});
