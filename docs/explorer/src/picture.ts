/**
 * The picture of a view as an image: an SVG with the sentence above it, the charts, the canvases and the legends of its
 * section, and the colours of the page. A PNG is drawn from the SVG.
 */

/** Properties of an SVG element that a stylesheet of the page may set. */
const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linejoin',
  'opacity',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
] as const;
const NAMESPACE = 'http://www.w3.org/2000/svg';
const MARGIN = 16;
/** Pixels of a PNG for each pixel of the page. */
const SCALE = 2;

function element(name: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS(NAMESPACE, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}

/** A copy of a chart with its styles as attributes, because an image has no stylesheet of the page. */
function copied(chart: SVGElement): SVGElement {
  const copy = chart.cloneNode(true) as SVGElement;
  const [from, to] = [chart, copy].map((root) => [root, ...root.querySelectorAll<SVGElement>('*')]);
  for (const [at, own] of (from ?? []).entries()) {
    const target = to?.[at];
    if (!target) continue;
    const style = getComputedStyle(own);
    for (const name of STYLES) {
      // A pattern keeps its reference, which is within the chart.
      const value = own.getAttribute(name)?.startsWith('url(') ? '' : style.getPropertyValue(name);
      if (value) target.setAttribute(name, value);
    }
    for (const name of ['class', 'style', 'role', 'aria-label', 'aria-hidden']) target.removeAttribute(name);
  }
  return copy;
}

/** A copy at its place. */
function placed(copy: SVGElement, place: { x: number; y: number; width: number; height: number }): SVGElement {
  for (const [name, value] of Object.entries({ ...place, overflow: 'visible' })) copy.setAttribute(name, String(value));
  return copy;
}

/** A text of the page at its place. */
function words(text: string, of: Element, x: number, y: number): SVGElement {
  const { color, fontSize, fontWeight, fontFamily } = getComputedStyle(of);
  return element(
    'text',
    { x, y, fill: color, 'font-size': fontSize, 'font-weight': fontWeight, 'font-family': fontFamily },
    text,
  );
}

/** The lines of a sentence that are at most `width` pixels wide. */
function lines(text: string, of: Element, width: number): string[] {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return [text];
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(of);
  context.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  const found = [''];
  for (const word of text.split(' ')) {
    const longer = `${found.at(-1)} ${word}`.trim();
    if (context.measureText(longer).width > width && found.at(-1)) found.push(word);
    else found[found.length - 1] = longer;
  }
  return found;
}

/** An item of a legend: its swatch and its text. */
function legend(item: Element, x: number, y: number, { left, top }: DOMRect): SVGElement[] {
  const made: SVGElement[] = [];
  for (const swatch of item.querySelectorAll('span')) {
    const box = swatch.getBoundingClientRect();
    const { backgroundColor, backgroundImage, borderColor } = getComputedStyle(swatch);
    const colours = backgroundImage.match(/rgba?\([^)]*\)|color\([^)]*\)/g) ?? [];
    if (swatch.textContent || box.width === 0) continue;
    const shared = { y: y + box.top - top, height: box.height };
    const place = x + box.left - left;
    // The colours of a hatch or of a ramp are next to each other.
    const all = colours.length > 0 ? [...new Set(colours)] : [backgroundColor];
    for (const [at, fill] of all.entries())
      made.push(
        element('rect', { ...shared, x: place + (at * box.width) / all.length, width: box.width / all.length, fill }),
      );
    made.push(element('rect', { ...shared, x: place, width: box.width, fill: 'none', stroke: borderColor }));
  }
  for (const icon of item.querySelectorAll('svg')) {
    const box = icon.getBoundingClientRect();
    const place = { x: x + box.left - left, y: y + box.top - top, width: box.width, height: box.height };
    made.push(placed(copied(icon), place));
  }
  const texts = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = node.textContent?.trim();
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (text && node.parentElement)
      made.push(words(text, node.parentElement, x + box.left - left, y + box.bottom - top - 4));
  }
  return made;
}

/** The first section of the view that has a picture; nothing if the view has none. */
const sectionOf = (view: Element): Element | null =>
  view.querySelector('section:not(.overview):is(:has(svg.chart), :has(canvas))');

/** The picture of a view as an SVG; nothing if the view has no picture. */
export function svgOf(view: Element): SVGElement | undefined {
  const section = sectionOf(view);
  if (!section) return undefined;
  const box = section.getBoundingClientRect();
  const width = box.width + 2 * MARGIN;
  const root = element('svg', { xmlns: NAMESPACE, width });
  const sentence = view.querySelector('[data-says]');
  let y = MARGIN;
  const parts: SVGElement[] = [];
  if (sentence) {
    const high = Number.parseFloat(getComputedStyle(sentence).fontSize) * 1.4;
    for (const line of lines(sentence.textContent ?? '', sentence, box.width)) {
      y += high;
      parts.push(words(line, sentence, MARGIN, y - high * 0.3));
    }
    y += MARGIN;
  }
  let bottom = y;
  // What details hold is not in the picture.
  const shown = [...section.querySelectorAll('svg.chart, canvas, h2, h3, .legend li')].filter(
    (one) => one.getClientRects().length > 0 && !one.closest('details'),
  );
  // Controls above the first part are left out.
  const first = Math.min(...shown.map((one) => one.getBoundingClientRect().top));
  for (const one of shown) {
    const place = one.getBoundingClientRect();
    const at = { x: MARGIN + place.left - box.left, y: y + place.top - first };
    bottom = Math.max(bottom, at.y + place.height);
    if (one instanceof HTMLCanvasElement)
      parts.push(element('image', { ...at, width: place.width, height: place.height, href: one.toDataURL() }));
    else if (one instanceof SVGElement)
      parts.push(placed(copied(one), { ...at, width: place.width, height: place.height }));
    else if (one.matches('li')) parts.push(...legend(one, at.x, at.y, place));
    else parts.push(words(one.textContent?.trim() ?? '', one, at.x, at.y + place.height - 5));
  }
  root.setAttribute('height', String(bottom + MARGIN));
  root.append(
    element('rect', { width: '100%', height: '100%', fill: getComputedStyle(section).backgroundColor }),
    ...parts,
  );
  return root;
}

/** A file with the picture of a view; nothing if the view has no picture. */
export async function fileOf(view: Element, type: 'svg' | 'png'): Promise<Blob | undefined> {
  const svg = svgOf(view);
  if (!svg) return undefined;
  const text = new XMLSerializer().serializeToString(svg);
  const blob = new Blob([text], { type: 'image/svg+xml' });
  if (type === 'svg') return blob;
  const image = new Image();
  const url = URL.createObjectURL(blob);
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth * SCALE, image.naturalHeight * SCALE];
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob((found) => done(found ?? undefined), 'image/png'));
  } finally {
    URL.revokeObjectURL(url);
  }
}
