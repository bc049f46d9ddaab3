import { wrap } from 'comlink';
import EngineWorker from 'engine-worker';
import { work } from '../work.svelte.ts';
import type { Answer, Problem } from './answer.ts';
import type { Engine } from './worker.ts';

const worker = wrap<Engine>(new EngineWorker());
type Name = keyof typeof worker & keyof Engine;

/** The functions of the Worker. A question is open work of the page until it is answered. */
export const engine = new Proxy(worker, {
  get: (_, name: Name) => (question: never) => work.until<unknown>(worker[name](question)),
});

/**
 * The answer to the latest question. While an answer is computed, only the newest question waits, so dragging a slider
 * never makes a queue. The last good answer stays until the next one is there.
 */
export class Live<Q, A> {
  value = $state.raw<A>();
  /**
   * The question that `value` answers. Programs on the page are made from it, so they never contain a refused value.
   */
  question = $state.raw<Q>();
  problem = $state.raw<Problem>();
  /** Number of answers so far. Tests count them while a slider is dragged. */
  answers = $state(0);
  readonly #compute: (question: Q) => Promise<Answer<A>>;
  #waiting: { question: Q } | undefined;
  #asked = '';
  #busy = false;

  constructor(compute: (question: Q) => Promise<Answer<A>>) {
    this.#compute = compute;
  }

  /**
   * Asks a question, unless it was the last one. Another `version` means that the same question has another answer, as
   * after files were opened.
   */
  ask(question: Q, version: unknown = 0): void {
    const asked = JSON.stringify([question, version]);
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#waiting = { question };
    this.#run();
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#waiting) {
      const { question } = this.#waiting;
      this.#waiting = undefined;
      const found = await this.#compute(question);
      if ('value' in found) {
        this.value = found.value;
        this.question = question;
        this.problem = undefined;
      } else {
        this.problem = found.problem;
      }
      this.answers += 1;
    }
    this.#busy = false;
  }
}
