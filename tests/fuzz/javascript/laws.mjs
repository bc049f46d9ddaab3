// Laws that hold for every object, whatever was called before.

const MOST = 2000;

export class Broken extends Error {}

/** Throws unless a law holds. */
function law(name, holds, ...told) {
  if (!holds) throw new Broken(`${name}: ${told.map(String).join(', ')}`);
}

const text = (value) =>
  JSON.stringify(value, (_, own) => {
    if (ArrayBuffer.isView(own)) return Array.from(own, String);
    return typeof own === 'bigint' ? `${own}n` : own;
  });
const same = (some, other) => text(some) === text(other);
const ends = (own, count = 4) => own.indices(0, Math.min(own.length, count));

/** For each class: cheap answers that a failed call must not change. */
const CONTROLS = {
  Sampler: (own) => [own.epoch, own.rank, own.consumed, own.length, ends(own)],
  Batcher: (own) => [own.epoch, own.rank, own.state(0), own.numSteps(), own.numSteps() > 0 && own.batch(0)],
  Schedule: (own) => [own.rank, own.numSteps, own.globalBatchSize(0)],
  Reading: (own) => [own.epoch, own.isRest, own.steps],
  ShardPlan: (own) => [own.epoch, own.numShards(0)],
  ChunkStream: (own) => own.chunks(0, 3),
  Split: (own) => own.parts.slice(0, 3),
  Mesh: (own) => [own.axes, own.dataWorldSize],
  Order: (own) => own.recipe.slice(0, 1000),
  BatchStream: (own) => [own.rank, own.metrics()],
  MemoryLog: (own) => own.entries.length,
};

export function control(kind, own) {
  const ask = CONTROLS[kind];
  if (ask === undefined) return undefined;
  try {
    return text(ask(own));
  } catch (error) {
    // An object that was disposed of answers with its error.
    return String(error);
  }
}

/** Checks the laws of an object's class. */
export function check(kind, own) {
  try {
    LAWS[kind]?.(own);
    if (
      kind in CONTROLS &&
      !/has been disposed of/.test(control(kind, own)) &&
      typeof own.toJSON === 'function' &&
      typeof own.constructor.fromJSON === 'function'
    ) {
      const made = own.constructor.fromJSON(JSON.parse(JSON.stringify(own)));
      law('what JSON has makes an equal one', control(kind, made) === control(kind, own), control(kind, made));
    }
    String(own);
  } catch (error) {
    if (!/has been disposed of/.test(String(error))) throw error;
  }
}

const LAWS = {
  Sampler(own) {
    if (own.numPositions > MOST || own.worldSize > 16 || own.datasetSize > 10 ** 6) return;
    const mine = Array.from(own.indices());
    law('iteration gives the indices', same([...own], mine));
    law('length is what iteration gives', own.length === mine.length);
    law(
      'indices are below samples',
      mine.every((one) => one >= 0 && one < own.datasetSize),
    );
    law(
      'batches are the indices',
      same(
        [...own.batches(3)].flatMap((batch) => Array.from(batch)),
        mine,
      ),
    );
    const copy = own.constructor.fromJSON(own.toJSON());
    const ranks = Array.from({ length: own.worldSize }, (_, rank) => {
      copy.setRank(rank);
      return Array.from(copy.indices());
    });
    const total = ranks.reduce((sum, one) => sum + one.length, 0);
    law('ranks have all positions', total === own.numPositions, total);
    const first = own.consumed;
    for (let i = 0; i < own.numPositions; i += Math.max(1, Math.floor(own.numPositions / 20))) {
      const position = first + i;
      const sample = own.sampleAt(position);
      const place = own.placeOf(position, 4);
      law('a place has its sample', ranks[place.rank][place.indexInRank] === sample, position);
      law(
        'a batch has its sample',
        place.batch === Math.floor(place.indexInRank / 4) && place.indexInBatch === place.indexInRank % 4,
      );
      const found = own.locate(sample, 4);
      law('a sample is found', found !== null && found.position <= position, position);
      law('where it is', ranks[found.rank][found.indexInRank] === sample, position);
      law('from its position on', own.locateFrom(sample, position, 4).position === position, position);
      law('as many are located at once', same(own.locateAll([sample], 4), [found]), position);
    }
    if (own.layout !== 'contiguous') {
      const taken = own.unit * Math.floor(mine.length / own.unit / 2);
      copy.setRank(own.rank);
      copy.resume(own.state(taken));
      law('a state gives the rest', same(Array.from(copy.indices()), mine.slice(taken)), taken);
    }
  },
  Batcher(own) {
    if (own.lengths.length > MOST || own.worldSize > 8) return;
    const ranks = Array.from({ length: own.worldSize }, (_, rank) => [...own.batches(0, rank)]);
    law(
      'all ranks have the same steps',
      ranks.every((one) => one.length === own.numSteps()),
    );
    const mine = ranks[own.rank];
    for (const [at, batch] of mine.slice(0, 4).entries()) {
      law('a batch is that of the pass', same(own.batch(at), batch), at);
      law(
        'a step has the batches of all ranks',
        same(
          own.step(at),
          ranks.map((one) => one[at]),
        ),
        at,
      );
      for (const sample of batch.samples.slice(0, 3)) {
        law(
          'a sample is found',
          own.locate(sample).some((p) => p.step === at && p.rank === own.rank),
          sample,
        );
      }
    }
    const items = ranks.flat().reduce((sum, batch) => sum + batch.samples.length, 0);
    law('items are counted', Number(own.metrics().items) === items, items);
    const half = Math.floor(own.length / 2);
    const rest = own.constructor.fromJSON(own.toJSON());
    rest.resume(own.state(half));
    law('a state gives the rest', same([...rest], mine.slice(half)), half);
  },
  Schedule(own) {
    if (own.globalBatchSize(0) > MOST || own.worldSize > 16 || own.datasetSize > 10 ** 6) return;
    if (own.globalBatchSize(0) % (own.worldSize * own.unit) !== 0) return;
    const batch = own.batch(0);
    law('a batch is a step of the indices', same(batch, own.indices(0, 1)));
    const total = own.step(0).reduce((sum, one) => sum + one.length, 0);
    law('a step has its batch size', total === own.globalBatchSize(0), total);
    for (const sample of batch.slice(0, 3)) law('a sample is found', own.locate(sample, 0)?.step === 0, sample);
    for (let step = 0; step < Math.min(3, own.numSteps); step++) {
      law('a state is of its step', own.resume(own.state(step)) === step, step);
      const { epoch, position } = own.placeOf(step);
      law('steps and positions', own.stepOf(epoch, position) === step, step);
      law('steps and draws', own.stepOfConsumed(own.samplesConsumed(step)) === step, step);
    }
  },
  Reading(own) {
    if (own.sizes.reduce((sum, one) => sum + one, 0) > MOST || own.worldSize * own.workers > 16) return;
    for (const worker of [0, own.workers - 1]) {
      const mine = own.indices(0, worker);
      law('samples are counted', mine.length === own.numSamples(0, worker));
      const counted = [...own.rounds(0, worker)].reduce((sum, one) => sum + one.count, 0);
      law('rounds have the samples', counted === mine.length, counted);
    }
    const { most } = own.steps;
    const half = Math.floor(most / 2);
    law(
      'a state gives the rest',
      own.resume(own.state(half)).numSteps(0) === Math.max(0, own.numSteps(0) - half),
      half,
    );
  },
  ShardPlan(own) {
    if (own.sizes.length > MOST || own.worldSize * own.workers > 64) return;
    law('it verifies', own.verify().ok);
    const shards = [];
    for (let rank = 0; rank < own.worldSize; rank++) {
      for (let worker = 0; worker < own.workers; worker++) shards.push(...own.shards(rank, worker));
    }
    law(
      'every shard once',
      same(
        shards.sort((a, b) => a - b),
        [...own.sizes.keys()],
      ),
    );
  },
  ChunkStream(own) {
    const parts = [0, 3].flatMap((start) => Array.from(own.chunks(start, 3)));
    law('chunks and windows', same(parts, Array.from(own.chunks(0, 6))));
  },
  Split(own) {
    if (own.parts.length > 50) return;
    let count = 200;
    try {
      count = own.parts.reduce((sum, _, part) => sum + own.indices(part).length, 0);
      if (count > MOST) return;
    } catch (error) {
      if (error.kind !== 'missing' && error.kind !== 'out-of-memory') throw error;
    }
    const parts = own.parts.map((_, part) => Array.from(own.indices(part, count)));
    const all = parts.flat().sort((a, b) => a - b);
    law('each sample in one part', same(all, [...Array(count).keys()]));
    const others = parts
      .slice(1)
      .flat()
      .sort((a, b) => a - b);
    law('others are the others', same(Array.from(own.others(0, count)), others));
    for (const [number, part] of parts.entries()) {
      law(
        'partOf is the inverse',
        own.partOf(part).every((one) => one === number),
        number,
      );
    }
  },
  Mesh(own) {
    for (const rank of [0, own.worldSize - 1]) {
      law('coordinates have an inverse', own.rankAt(own.coordinates(rank)) === rank, rank);
      if (own.worldSize <= 4096) law('a rank is among its peers', own.peers(rank).includes(rank), rank);
    }
  },
};
