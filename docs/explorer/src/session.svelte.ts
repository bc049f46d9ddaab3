import type { Dataset } from './engine/files.ts';
import type { Key } from './link.svelte.ts';
import type { StateFacts } from './parts/state.ts';

/** What somebody gave to the page and no link holds: files, and what is too long for an address. */
class Session {
  dataset = $state.raw<Dataset>();
  /** Counts the times that files were given: what was computed before is not of them. */
  opened = $state(0);
  /** The files that values came from, by the names of the values. */
  loaded = $state.raw<Partial<Record<Key, { from: string; value: string }>>>({});
  /** A state that was opened and that no view asks. */
  state = $state.raw<StateFacts>();
  /** Counts the indices of batches that were opened. */
  indices = $state(0);
  /** Why the index that was opened last is of no use here. */
  refused = $state('');
  /** The steps of a resume that end where the state does that was opened. They follow the batch size, until somebody enters others. */
  stopped = $state('');
  /** Whether what is shown came from another view or document, and not from what somebody types: then it may be fitted. */
  carried = $state(false);
  /** What is said at the bottom of the page, for a moment. */
  notice = $state('');
  #timer: ReturnType<typeof setTimeout> | undefined;

  say(text: string): void {
    this.notice = text;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.notice = '';
    }, 6000);
  }
}

export const session = new Session();
