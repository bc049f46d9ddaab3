import { interpolateCividis } from 'd3-scale-chromatic';

/**
 * The colours of things without an order, such as ranks, files and sources. They are the colours of Okabe and Ito,
 * which people with any kind of colour blindness can tell apart. On a dark page they are lighter, because a dark blue
 * is lost there (`app.css`).
 */
export const CATEGORIES = 8;
export const category = (number: number): string => `var(--data-${number % CATEGORIES})`;
/** The names of these colours for `themed`, because a canvas cannot read custom properties. */
export const DATA = Array.from({ length: CATEGORIES }, (_, number) => `data-${number}` as const);

/**
 * 256 colours of cividis, made once: to interpolate a colour for every cell of every frame would take too long. The
 * darkest quarter of cividis is left out, because it is hardly visible on a dark page.
 */
const STEPS = 256;
const scale = Array.from({ length: STEPS }, (_, step) => interpolateCividis(0.25 + (0.75 * step) / (STEPS - 1)));
export const sequential = (share: number): string =>
  scale[Math.max(0, Math.min(STEPS - 1, Math.floor(share * STEPS)))] as string;

/** For each background, the colour of text on it: black or white, whichever has more contrast. */
const onColour = new Map<string, string>();
export function textOn(colour: string): string {
  let text = onColour.get(colour);
  if (!text) {
    const [r = 0, g = 0, b = 0] = colour.startsWith('#')
      ? [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
      : (colour.match(/\d+/g) ?? []).map(Number);
    const [x = 0, y = 0, z = 0] = [r, g, b].map((byte) => (byte / 255) ** 2.2);
    text = 0.2126 * x + 0.7152 * y + 0.0722 * z > 0.18 ? '#000000' : '#ffffff';
    onColour.set(colour, text);
  }
  return text;
}

/** The values of custom properties, which a canvas cannot read by itself. */
export function themed<N extends string>(element: HTMLElement, names: readonly N[]): Record<N, string> {
  const probe = document.createElement('span');
  element.append(probe);
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(found) as Record<N, string>;
}

/**
 * Calls a function when the page becomes dark or light, so that a canvas is drawn again. Returns a function that stops
 * this.
 */
export function onTheme(change: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', change);
  const chosen = new MutationObserver(change);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    dark.removeEventListener('change', change);
    chosen.disconnect();
  };
}
