import type { Problem } from './engine/answer.ts';

/** What is wrong now, from the view that is shown. Fields find themselves in it by the name of their value. */
class Current {
  problem = $state.raw<Problem>();
  /** The names of the fields that are on the page, and how many have each. While views change, a name is on both. */
  #fields = new Map<string, number>();
  #version = $state(0);

  count(name: string, by: number): void {
    this.#fields.set(name, (this.#fields.get(name) ?? 0) + by);
    this.#version += 1;
  }

  of(name: string): string | undefined {
    return this.problem?.field === name ? this.problem.message : undefined;
  }

  /** The problem, if no field on the page shows it. */
  get other(): Problem | undefined {
    void this.#version;
    return this.problem && !this.#fields.get(this.problem.field) ? this.problem : undefined;
  }
}

export const current = new Current();
