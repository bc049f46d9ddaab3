import { link } from './link.svelte.ts';
import { session } from './session.svelte.ts';
import { keysOf } from './views/keys.ts';

const addressOf = (id: string): string => link.hash(id, keysOf(id) ?? []);

/** Changes the part of the address behind `#`, without loading anything. */
export function write(hash: string, isNew = false): void {
  history[isNew ? 'pushState' : 'replaceState'](null, '', hash);
  // The browser writes some characters in another form.
  link.address = location.hash;
}

/** Opens another view with the values of now. The button “back” of the browser returns to the values that are shown. */
export function openView(id: string): void {
  write(addressOf(link.view));
  write(addressOf(id), true);
  link.view = id;
  link.unknown = [];
  session.carried = true;
}
