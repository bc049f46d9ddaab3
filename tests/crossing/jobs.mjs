// The JavaScript host as one of the programs that begin an epoch and continue it (README.md has the protocol), in Node
// and in pages: `samedeal` is the package, and `io` has the functions that differ between the two.

/** Number of ids whose parts of a split are asked in one call. */
const IDS = 64;

/** Does the jobs of a request. */
export async function run(samedeal, { jobs, turns }, io) {
  if (turns.length === 0) {
    for (const job of jobs) await (job.replay ? replay(samedeal, job, io) : (await begin(samedeal, job, io)).finish());
    return;
  }
  const running = [];
  for (const job of jobs) running.push(await begin(samedeal, job, io));
  for (const { job, save } of turns) await running[job].step(save);
  // The test kills the program here, unless it did so before.
  await io.tell([{ waits: true }]);
  await new Promise(() => {});
}

async function begin(samedeal, job, io) {
  if (job.case.kind === 'ledger') return Claimers.open(samedeal, job, io);
  const before = job.from ? JSON.parse(await io.read(job.from)) : undefined;
  const recipe = dealt(before?.recipe ?? job.case.recipe, job);
  return new Reader(job, kinds[job.case.kind](samedeal, job.case, recipe, before), io);
}

/**
 * The recipe with the world size and the workers of a job. It stays a text, because a seed of 64 bits is no number of
 * JavaScript.
 */
function dealt(recipe, { world_size, workers }) {
  return Object.entries({ world_size, workers }).reduce((text, [member, number]) => {
    if (number === null) return text;
    const [before, after, ...others] = text.split(new RegExp(`"${member}": *\\d+`));
    if (after === undefined || others.length > 0) throw new Error(`not one ${member} in ${text}`);
    return `${before}"${member}":${number}${after}`;
  }, recipe);
}

const each = (count, of) => Array.from({ length: count }, (_, i) => of(i));
const most = (numbers) => Math.max(...numbers);

/**
 * For each kind: the object, the first step that is not done, the step after the last one, the answers of each rank,
 * and the state.
 */
const kinds = {
  sampler({ Sampler }, { epoch, batch_size: size }, recipe, before) {
    const at = (rank) => {
      const sampler = Sampler.fromRecipe(recipe, { epoch: BigInt(epoch), rank });
      if (before) sampler.resume(before.state);
      return sampler;
    };
    const made = at(0);
    const ranks = each(made.worldSize, at);
    const taken = (step) => Math.min(step * size, most(ranks.map(({ length }) => length)));
    return {
      made,
      end: most(ranks.map((rank) => rank.numBatches(size))),
      read: (step) => made.step(step, size).map((batch) => Array.from(batch)),
      state: (step) => made.state(taken(step)),
      fingerprint: () => ranks.map((rank) => rank.fingerprint()).join(' '),
    };
  },
  batcher({ Batcher }, { epoch, lengths }, recipe, before) {
    const made = Batcher.fromRecipe(recipe, lengths, { epoch: BigInt(epoch) });
    if (before) made.resume(before.state);
    const flat = ({ samples, rowEnds, paddedLength, cost, repeated }) => {
      return [Array.from(samples), Array.from(rowEnds), paddedLength, Number(cost), repeated];
    };
    return {
      made,
      end: made.numSteps(),
      read: (step) => made.step(step).map(flat),
      state: (step) => made.state(step),
      fingerprint: () => made.fingerprint(),
    };
  },
  reading({ Reading }, { epoch }, recipe, before) {
    const whole = Reading.fromRecipe(recipe).atEpoch(BigInt(epoch));
    const made = before ? whole.resume(before.state) : whole;
    return {
      made,
      end: made.steps.max,
      read: (step) => made.step(step).map((batch) => batch && Array.from(batch.samples)),
      state: (step) => made.state(step),
    };
  },
  schedule({ Schedule }, { end }, recipe, before) {
    const made = Schedule.fromRecipe(recipe);
    return {
      made,
      first: before && made.resume(before.state),
      end,
      read: (step) => made.step(step).map((batch) => Array.from(batch)),
      state: (step) => made.state(step),
    };
  },
  plan({ ShardPlan }, { epoch, sizes }, recipe, before) {
    const made = ShardPlan.fromRecipe(recipe, { epoch: BigInt(epoch), sizes });
    const shards = each(made.worldSize * made.workers, (reader) => {
      return made.shards(Math.floor(reader / made.workers), reader % made.workers);
    });
    const next = (own, step) => (step < own.length ? [own[step], Array.from(made.rows(own[step]))] : null);
    return {
      made,
      first: before?.steps,
      end: most(shards.map(({ length }) => length)),
      read: (step) => shards.map((own) => next(own, step)),
      state: () => '',
      fingerprint: () => made.configFingerprint(),
    };
  },
  split({ Split }, { end: ids }, recipe, before) {
    const made = Split.fromRecipe(recipe);
    const run = (start) => each(Math.min(IDS, ids - start), (i) => start + i);
    return {
      made,
      first: before?.steps,
      end: Math.ceil(ids / IDS),
      read: (step) => [Array.from(made.partOf(run(step * IDS)))],
      state: () => '',
    };
  },
};

/** A job in progress, one step at a time. */
class Reader {
  constructor(job, { first = 0, ...steps }, io) {
    Object.assign(this, { job, steps, io, first, next: first });
  }

  async step(save) {
    await this.io.tell([this.line()]);
    if (!save) return;
    const taken = { steps: this.next, state: this.steps.state(this.next) };
    await this.io.save(this.job.to, JSON.stringify({ ...this.names(), ...taken }));
  }

  line() {
    const line = { job: this.job.id, step: this.next - this.first, read: this.steps.read(this.next) };
    this.next += 1;
    return this.job.states ? { ...line, state: this.steps.state(this.next) } : line;
  }

  names() {
    const { made } = this.steps;
    return { recipe: made.recipe, fingerprint: made.recipeFingerprint() };
  }

  async finish() {
    const lines = [];
    while (this.next < this.steps.end) lines.push(this.line());
    lines.push({ job: this.job.id, ...this.names(), end: this.steps.fingerprint?.() ?? '' });
    await this.io.tell(lines);
  }
}

/** The readers of a ledger, over a log of the program. */
class Claimers {
  static async open(samedeal, job, io) {
    const sampler = samplerOf(samedeal, job);
    const { lease: leaseMs } = job;
    const readers = [];
    for (const reader of job.readers) {
      const options = { reader, leaseMs, blockSize: job.case.batch_size };
      readers.push({ ledger: await samedeal.openLedger(sampler, io.log(job.log), options), claim: null });
    }
    return Object.assign(new Claimers(), { samedeal, job, io, readers, turn: 0 });
  }

  next() {
    this.turn += 1;
    return this.readers[(this.turn - 1) % this.readers.length];
  }

  /** The next reader claims, or commits a part of its claim. */
  async step() {
    const held = this.next();
    if (!held.claim) {
      held.claim = await this.claim(held.ledger);
      return;
    }
    const left = held.claim.count - held.claim.committed;
    const part = Math.ceil(left / 2);
    await held.claim.commit(part);
    if (part === left) held.claim = null;
  }

  async claim(ledger) {
    const claim = await ledger.claim();
    const line = claim && { reader: ledger.reader, start: claim.start, read: Array.from(claim.samples()) };
    if (claim) await this.io.tell([{ job: this.job.id, ...line }]);
    return claim;
  }

  /** Claims and commits in turn until every position is committed, and then replays the log. */
  async finish() {
    for (let claim = await this.claim(this.next().ledger); claim; claim = await this.claim(this.next().ledger)) {
      await claim.commit();
    }
    await replay(this.samedeal, this.job, this.io);
  }
}

const samplerOf = ({ Sampler }, { case: { recipe, epoch } }) => Sampler.fromRecipe(recipe, { epoch: BigInt(epoch) });

/** All committed samples, in the order of the log. */
async function replay(samedeal, job, io) {
  const schedule = samedeal.replayLedger(await io.read(job.log));
  await io.tell([{ job: job.id, replayed: [...schedule.samples(samplerOf(samedeal, job))] }]);
}
