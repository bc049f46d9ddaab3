import { interpolateCividis } from 'd3-scale-chromatic';

/** Okabe and Ito's colours, which people with any kind of colour blindness tell apart. Black is left out: it is no colour on a dark page. */
export const CATEGORIES = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#d55e00',
  '#f0e442',
  '#999999',
] as const;
export const category = (number: number): string => CATEGORIES[number % CATEGORIES.length] as string;

/** 256 steps of cividis, and black or white for text on each: interpolating a colour for every cell of every frame would take too long. */
const STEPS = 256;
const scale = Array.from({ length: STEPS }, (_, step) => interpolateCividis(step / (STEPS - 1)));
export const sequential = (share: number): string =>
  scale[Math.max(0, Math.min(STEPS - 1, Math.floor(share * STEPS)))] as string;

/** The colours of text on backgrounds: black or white, whichever has more contrast. */
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
