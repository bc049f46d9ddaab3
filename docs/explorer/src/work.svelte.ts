import { untrack } from 'svelte';

/** The questions of the page that the Worker has not answered yet. */
class Work {
  #open = $state(0);

  get isDone(): boolean {
    return this.#open === 0;
  }

  /** The answer, which counts as open work until it is there. */
  async until<T>(answer: Promise<T>): Promise<T> {
    this.#add(1);
    try {
      return await answer;
    } finally {
      this.#add(-1);
    }
  }

  /** An effect that asks a question must not depend on the number of questions. */
  #add(by: number): void {
    untrack(() => {
      this.#open += by;
    });
  }
}

export const work = new Work();
