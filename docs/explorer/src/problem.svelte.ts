import type { Problem } from './engine/answer.ts';

/** What is wrong now, from the view that is shown. Fields find themselves in it by the name of their value. */
class Current {
  problem = $state.raw<Problem>();
  /** The names of the fields that are on the page. */
  fields = $state<Record<string, number>>({});

  of(name: string): string | undefined {
    return this.problem?.field === name ? this.problem.message : undefined;
  }

  /** The problem, if no field on the page shows it. */
  get other(): Problem | undefined {
    return this.problem && !this.fields[this.problem.field] ? this.problem : undefined;
  }
}

export const current = new Current();
