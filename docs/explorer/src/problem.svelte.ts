import type { Problem } from './engine/answer.ts';

/** The current problem of the view that is shown. A field shows the problem if it has the name of the wrong value. */
class Current {
  problem = $state.raw<Problem>();
  /**
   * The names of the fields on the page, and how many fields have each name: while one view replaces another, both can
   * have a field of the same name.
   */
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
