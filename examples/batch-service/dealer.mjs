import { openLedger, replayLedger, SamedealError } from 'samedeal';

/**
 * Deals an epoch to trainers that ask for batches. Everything that must survive the end of the process is in the log.
 */
export class Dealer {
  #sampler;
  #log;
  #options;
  /** The trainers that have asked since the service started. */
  #trainers = new Map();
  /** The claims that are committed, and the number of their samples. */
  #committed = new Set();
  #done = 0;

  constructor(sampler, log, { trainers, blockSize, leaseMs }) {
    this.#sampler = sampler;
    this.#log = log;
    this.#options = { trainers, blockSize, leaseMs };
    if (log.entries.length > 0) {
      for (const { claim, count } of replayLedger(log.entries)) this.#add(claim, count);
    }
  }

  /**
   * The next batch of a trainer: `{ claim, samples }`, `{ wait }` in milliseconds if other trainers have claimed all
   * that is left, or `{ finished }`. A trainer that has not committed its batch gets it again, because it may have
   * missed the answer.
   */
  claim(trainer) {
    return this.#inTurn(trainer, async (state) => {
      if (!state.claim) {
        const attempt = await state.ledger.tryClaim();
        if (!attempt.claim) return attempt;
        state.claim = attempt.claim;
      }
      return { claim: state.claim.number, samples: Array.from(state.claim.samples()) };
    });
  }

  /**
   * Commits a batch. Returns whether it counts. If it does not, another trainer has its samples or gets them, so the
   * results must be dropped.
   */
  commit(trainer, claim) {
    return this.#inTurn(trainer, async (state) => {
      // The trainer may have missed the answer, or asked before the service was started again.
      if (this.#committed.has(claim)) return { committed: true };
      if (state.claim?.number !== claim) return { committed: false };
      try {
        await state.claim.commit();
        this.#add(claim, state.claim.count);
      } catch (error) {
        // The lease of the claim has ended. After any other error, the same commit can be made again.
        if (!(error instanceof SamedealError && error.field === 'claim')) throw error;
      }
      state.claim = undefined;
      return { committed: this.#committed.has(claim) };
    });
  }

  /** Number of samples of the epoch that are committed. */
  progress() {
    return { samples: this.#sampler.numPositions, committed: this.#done };
  }

  #add(claim, count) {
    this.#committed.add(claim);
    this.#done += count;
  }

  /** Does a request of a trainer after all earlier requests of this trainer. */
  #inTurn(trainer, task) {
    const { trainers, ...options } = this.#options;
    if (!Number.isInteger(trainer) || trainer < 0 || trainer >= trainers) {
      throw new RangeError(`trainer is ${trainer}; allowed: 0 to ${trainers - 1}`);
    }
    let state = this.#trainers.get(trainer);
    if (!state) {
      state = { last: Promise.resolve() };
      this.#trainers.set(trainer, state);
    }
    const turn = state.last.then(async () => {
      state.ledger ??= await openLedger(this.#sampler, this.#log, { reader: trainer, ...options });
      return task(state);
    });
    state.last = turn.catch(() => {});
    return turn;
  }
}
