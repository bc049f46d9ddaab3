import type { Dataset } from './engine/files.ts';
import type { Key } from './link.svelte.ts';

/** The data of the page that a link does not contain: files, and values that are too long for an address. */
class Session {
  dataset = $state.raw<Dataset>();
  /**
   * Number of times that files were opened. It tells questions about other files apart, because their answers differ.
   */
  opened = $state(0);
  /** The files from which values were read, by the names of the values. */
  loaded = $state.raw<Partial<Record<Key, { from: string; value: string }>>>({});
  /** Number of indices of batches that were opened. */
  indices = $state(0);
  /** The reason why the index that was opened last cannot be used. */
  refused = $state('');
  /**
   * The stops in the view Resume that follow from the opened state. They follow the batch size too, until the user
   * enters others.
   */
  stopped = $state('');
  /**
   * Whether the values came from another view or a document. Only such values may be changed to fit the view, not those
   * that the user types.
   */
  carried = $state(false);
  /** A message at the bottom of the page, which is shown for a moment. */
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
