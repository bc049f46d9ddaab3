import { link } from './link.svelte.ts';
import { session } from './session.svelte.ts';
import { keysOf } from './views/keys.ts';

const addressOf = (id: string): string => link.hash(id, keysOf(id) ?? []);

/** Opens another view with the values of now. The button “back” of the browser returns to the values that are shown. */
export function openView(id: string): void {
  history.replaceState(null, '', addressOf(link.view));
  history.pushState(null, '', addressOf(id));
  link.view = id;
  link.unknown = [];
  session.carried = true;
}
