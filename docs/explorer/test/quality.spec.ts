import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunOptions } from 'axe-core';
import { page as address, at, dist, expect, onDisk, settled, test } from './page.ts';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const VIEWS = [
  'start',
  'step',
  'sample',
  'resume',
  'checkpoint',
  'differ',
  'batches',
  'shards',
  'ledger',
  'mix',
] as const;
const BLEND =
  '{"order":{"name":"blend","samples":20000,"seed":42,"sources":[{"name":"web","weight":7,"samples":10000},{"name":"code","weight":2,"samples":2000}]},"deal":{"world_size":8}}';

const STATE =
  '{"samedeal":1,"kind":"sampler","recipe":{"order":{"name":"feistel","samples":50000,"seed":42}},"epoch":2,"consumed":12800}';

/** The values that a link to a view must have. Without them, these views show nothing. */
const GIVEN: Readonly<Record<string, Record<string, string>>> = {
  mix: { recipe: BLEND },
  checkpoint: {
    state: STATE,
    recipe: '{"order":{"name":"feistel","samples":50000,"seed":42}}',
    ranks: '8',
    each: '32',
  },
};

const SHOWN: readonly (readonly [name: string, view: string, values: Record<string, string>])[] = [
  ...VIEWS.map((view): [string, string, Record<string, string>] => [view, view, GIVEN[view] ?? {}]),
  [
    'sharded step',
    'step',
    { recipe: '{"order":{"name":"sharded","seed":7,"sizes":[900,1200,400]},"deal":{"world_size":8}}' },
  ],
  ['mix of labels', 'mix', { mix: 'labels' }],
  ['resume with a sample', 'resume', { samples: '7' }],
  ['batches with a sample', 'batches', { samples: '7' }],
  ['shards with a sample', 'shards', { samples: '7' }],
  [
    'checkpoint of files',
    'checkpoint',
    {
      state:
        '{"samedeal":1,"kind":"reading","recipe":{"order":{"name":"sharded","samples":210,"seed":7,"lanes":16,"shuffle_window":256,"shards":2,"sizes":[90,120]}},"epoch":5,"consumed":32,"history":[{"world_size":2,"workers":2,"batch_size":8,"drop_last":false,"steps":1}]}',
      ranks: '2',
      workers: '2',
      each: '8',
    },
  ],
];

for (const [name, view, values] of SHOWN)
  test(`${name} has no violation of accessibility rules, light and dark, and fits a phone`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.goto(at(view, values));
    await expect(page.locator('[data-answers]').first()).toBeVisible();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.locator('details').evaluateAll((all) => {
      for (const details of all as HTMLDetailsElement[]) details.open = true;
    });
    await page.addScriptTag({ path: axe });
    // The schemes differ only in colours, so the second one is only checked for contrast.
    for (const [colorScheme, rules] of [
      ['light', {}],
      ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
    ] satisfies ['light' | 'dark', RunOptions][]) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate(async (rules) => {
        const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
        const found = await axe.run(rules);
        return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
      }, rules as RunOptions);
      expect(violations, colorScheme).toEqual([]);
    }
  });

test('the keyboard alone opens views, help and plays steps', async ({ page }) => {
  await page.goto(at('step'));
  await expect(page.locator('[data-answers]')).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('8');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Which reader claimed and committed what?');
  await page.keyboard.press('1');
  await page.getByRole('button', { name: 'Step: play' }).press('Enter');
  await expect(page.getByLabel('Step', { exact: true })).not.toHaveValue('0');
  await page.keyboard.press('0');
  await expect(page.getByLabel('Open a checkpoint')).toBeVisible();
});

test('the first screen has the story, the next steps and all questions', async ({ page }) => {
  await page.goto(address);
  const sentence = page.getByRole('heading', { level: 1 });
  await expect(page.getByText('samedeal decides which sample each rank')).toBeInViewport();
  await expect(page.locator('[data-answers]')).toBeVisible();
  expect((await sentence.innerText()).split(/\s+/).length).toBeLessThanOrEqual(15);
  await expect(page.getByRole('region', { name: 'Open a checkpoint' })).toBeInViewport();
  await expect(page.getByRole('form', { name: 'Compare with my torch job' })).toBeInViewport();
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  for (const name of ['Documentation', 'Install']) {
    const link = page.getByRole('link', { name, exact: true }).first();
    await expect(link).toBeInViewport();
    const [, path = '', anchor = ''] = (await link.getAttribute('href'))?.match(/\/blob\/main\/([^#]*)#?(.*)/) ?? [];
    const headings = readFileSync(`${root}/${path}`, 'utf8').toLowerCase().replaceAll(' ', '-');
    if (anchor) expect(headings).toContain(`##-${anchor}\n`);
  }
  // Each question is one click away, and every view has the list of all questions.
  const questions = page.getByRole('navigation', { name: 'Questions' }).getByRole('link');
  await expect(questions).toHaveCount(VIEWS.length - 1);
  await questions.filter({ hasText: 'When and where is a sample seen?' }).click();
  await expect(page.locator('tr[data-place]')).toHaveCount(8);
  await expect(questions).toHaveCount(VIEWS.length - 1);
});

test('the picture of every view is saved as SVG and PNG, with a name that says what it is', async ({ page }) => {
  const names: Record<string, string> = {
    start: 'samedeal-start-step-3',
    step: 'samedeal-step-epoch-0-step-0-rank-0',
    sample: 'samedeal-sample-epoch-0-sample-123',
    resume: 'samedeal-resume-epoch-0-ranks-8-6-5',
    shards: 'samedeal-shards-epoch-0-round-0',
  };
  for (const [name, view, values] of SHOWN) {
    if (['differ', 'ledger'].includes(view)) continue;
    await page.goto(at(view, values));
    await page.reload();
    await expect(page.locator('[data-answers]').first()).toBeVisible();
    await expect(page.locator('main .picture :is(svg.chart, canvas, .epoch)').first()).toBeVisible();
    for (const type of ['svg', 'png'] as const) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: type.toUpperCase(), exact: true }).click();
      const file = await saved;
      expect(file.suggestedFilename()).toMatch(/^samedeal-[\w-]+\.(svg|png)$/);
      const known = names[name];
      if (known) expect(file.suggestedFilename()).toBe(`${known}.${type}`);
      const bytes = readFileSync(await file.path());
      if (type === 'svg') {
        const text = bytes.toString();
        // Neither a colour nor a font of the page is missing in the file, and the sentence is in it.
        expect(text).not.toContain('var(--');
        const says = (await page.locator('[data-says]').first().innerText()).split(/\s/).slice(0, 3);
        for (const word of says) expect(text).toContain(word.replace('&', '&amp;'));
      } else {
        const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
        expect(width).toBeGreaterThan(1000);
        expect(height).toBeGreaterThan(200);
        // The picture has many colours: a chart was drawn, and not an empty page.
        const colours = await page.evaluate(async (data) => {
          const image = new Image();
          image.src = `data:image/png;base64,${data}`;
          await image.decode();
          const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
          const context = canvas.getContext('2d');
          context?.drawImage(image, 0, 0);
          const pixels = new Uint32Array(
            context?.getImageData(0, 0, image.width, image.height).data.buffer ?? new ArrayBuffer(0),
          );
          return new Set(pixels.filter((_, place) => place % 97 === 0)).size;
        }, bytes.toString('base64'));
        expect(colours, name).toBeGreaterThan(8);
      }
    }
  }
});

test('no card of the first screen is half empty', async ({ page }) => {
  for (const width of [1440, 1100]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(address);
    await expect(page.locator('[data-files]')).toBeVisible();
    const empty = () =>
      page.locator('.pair > section').evaluateAll((cards) =>
        cards.map((card) => {
          const last = Math.max(...[...card.children].map((child) => child.getBoundingClientRect().bottom));
          return Math.round(card.getBoundingClientRect().bottom - last);
        }),
      );
    // Only the padding of a card is empty: 16 pixels, and a border.
    await expect.poll(async () => Math.max(...(await empty())), String(width)).toBeLessThanOrEqual(18);
  }
});

test('a picture is before its controls, and one value is no slider', async ({ page }) => {
  for (const [, view, values] of SHOWN) {
    await page.goto(at(view, values));
    await expect(page.locator('[data-answers]').first()).toBeVisible();
    const found = await page.evaluate((isStart) => {
      const top = (selector: string) =>
        [...document.querySelectorAll(selector)]
          .filter((one) => !one.closest('details:not([open])') && one.getClientRects().length > 0)
          .map((one) => one.getBoundingClientRect().top);
      const controls = top('main .picture :is(input[type=text], textarea, select, input[type=range])');
      const pictures = top('main .picture :is(svg.chart, canvas, table, .epoch)');
      const ranges = [...document.querySelectorAll<HTMLInputElement>('input[type=range]')];
      return {
        // The first view is left out: its slider is above the two stripes that it moves.
        isAfter: isStart || controls.length === 0 || Math.min(...pictures) < Math.min(...controls),
        empty: ranges.filter(({ min, max }) => Number(min) >= Number(max)).length,
      };
    }, view === 'start');
    expect(found, view).toEqual({ isAfter: true, empty: 0 });
  }
  await page.goto(at('shards', { reading: '{"order":{"name":"sharded","sizes":[4,4]},"batch":{"batch_size":8}}' }));
  await expect(page.locator('[data-answers]').first()).toBeVisible();
  await expect(page.getByLabel('Round', { exact: true })).toBeVisible();
  await expect(page.getByLabel('Drag: Round')).toHaveCount(0);
});

test('a link with a part that the page does not know says so', async ({ page }) => {
  const said = page.locator('[data-unknown]');
  await page.goto(at('future', { step: '3' }));
  await expect(said).toContainText('The link has a part that this page does not know: “future”.');
  await expect(page.getByLabel('Open a checkpoint')).toBeVisible();
  await page.goto(at('step', { step: '3', shape: 'round', tilt: '4' }));
  await expect(said).toContainText('“shape”, “tilt”');
  await expect(page.getByLabel('Step', { exact: true })).toHaveValue('3');
  await said.getByRole('button', { name: 'Close' }).click();
  await expect(said).toHaveCount(0);
  await page.goto(at('step', { step: '3', files: '2' }));
  await expect(page.locator('[data-answers]')).toBeVisible();
  await expect(said).toHaveCount(0);
});

test('in a frame, the sentence and the picture are alone, with a link to the page', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const [name, view, values] of SHOWN) {
    await page.goto(at(view, values));
    const says = await page.locator('[data-says]').first().innerText();
    const wide = (await page.locator('main > .picture').boundingBox())?.width ?? 0;
    await page.getByRole('button', { name: 'Copy a frame for a page' }).click();
    await expect(page.getByText('The code of a frame is copied')).toBeVisible();
    const code = await page.evaluate(() => navigator.clipboard.readText());
    const [, source = '', height = ''] = code.match(/^<iframe src="([^"]+)".* height="(\d+)"/) ?? [];
    const address = source.replaceAll('&amp;', '&');
    // A frame that is as wide shows the same, and has no scroll bar of its own.
    const frame = await context.newPage();
    await frame.setViewportSize({ width: Math.ceil(wide) + 16, height: Number(height) });
    await frame.goto(address);
    expect(await frame.locator('[data-says]').first().innerText(), name).toBe(says);
    await expect(frame.locator('header, aside, footer')).toHaveCount(0);
    await expect(frame.locator('.code').first()).toBeHidden();
    await expect(frame.locator('main .picture > :is(section, .pair)').first(), name).toBeVisible();
    expect(await frame.evaluate(() => document.documentElement.scrollHeight), name).toBeLessThanOrEqual(Number(height));
    const open = frame.getByRole('link', { name: 'Open in the samedeal explorer' });
    expect(await open.getAttribute('href')).not.toContain('embed');
    await frame.goto(new URL((await open.getAttribute('href')) ?? '', address).href);
    await expect(frame.locator('header')).toBeVisible();
    expect(await frame.locator('[data-says]').first().innerText(), name).toBe(says);
    await frame.close();
  }
});

test('a frame is as high as its content, in a place that is narrower than the page', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const widths = [480, 640];
  for (const [name, view, values] of SHOWN) {
    await page.goto(at(view, values));
    await page.getByRole('button', { name: 'Copy a frame for a page' }).click();
    await expect(page.getByText('The code of a frame is copied')).toBeVisible();
    const code = await page.evaluate(() => navigator.clipboard.readText());
    const other = await context.newPage();
    await other.setViewportSize({ width: 1440, height: 900 });
    const places = widths.map((width) => `<div style="width: ${width}px">${code}</div>`);
    await other.setContent(`<body style="display: flex; align-items: start">${places.join('')}`);
    const fits = () =>
      Promise.all(
        other.frames().flatMap((frame) =>
          frame.parentFrame() === null
            ? []
            : frame.evaluate(() => {
                const main = document.querySelector('main');
                if (!main) return undefined;
                const { scrollWidth, scrollHeight } = document.documentElement;
                const high = Math.ceil(main.getBoundingClientRect().height);
                return {
                  isShown: main.dataset.busy === 'false' && document.querySelector('[data-says]') !== null,
                  width: innerWidth,
                  isWide: scrollWidth > innerWidth,
                  isHigh: scrollHeight > innerHeight,
                  isLow: high < innerHeight,
                };
              }),
        ),
      );
    const whole = { isShown: true, isWide: false, isHigh: false, isLow: false };
    // A frame that is still loading refuses the question.
    await expect(async () => expect(await fits(), name).toEqual(widths.map((width) => ({ ...whole, width })))).toPass({
      timeout: 120_000,
    });
    await other.close();
  }
});

test('a view without a picture offers none to save, and a view without an answer no frame', async ({ page }) => {
  const files = page.getByRole('button', { name: 'PNG', exact: true });
  const frame = page.getByRole('button', { name: 'Copy a frame for a page' });
  for (const [view, values, hasPicture, hasFrame] of [
    ['step', {}, true, true],
    ['differ', {}, false, true],
    ['checkpoint', {}, false, false],
    ['checkpoint', GIVEN.checkpoint ?? {}, true, true],
  ] as const) {
    await page.goto(at(view, values));
    expect([await files.isVisible(), await frame.isVisible()], view).toEqual([hasPicture, hasFrame]);
  }
});

test('a long link is copied in a short form, which brings back the same', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const sizes = Array.from({ length: 1500 }, (_, file) => 900 + ((file * 37) % 400));
  const reading = JSON.stringify({ order: { name: 'sharded', seed: 7, sizes }, deal: { world_size: 4, workers: 2 } });
  await page.goto(at('shards', { reading, epoch: '3' }));
  const says = await page.locator('[data-says]').innerText();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect(page.getByText('The link is copied')).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('#z=');
  expect(copied.length).toBeLessThan((await page.evaluate(() => location.href)).length / 3);
  const other = await context.newPage();
  await other.goto(copied);
  expect(await other.locator('[data-says]').innerText()).toBe(says);
  expect(await other.getByLabel('Epoch', { exact: true }).inputValue()).toBe('3');
  await other.close();
  // A link that a chat has cut off says so, and a short link stays readable.
  await page.goto(copied.slice(0, -40));
  await expect(page.locator('[data-unknown]')).toContainText('The link is damaged or cut off');
  await page.goto(at('step', { step: '3' }));
  await expect(page.locator('[data-unknown]')).toHaveCount(0);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('#/step?step=3');
});

test('words are explained without a mouse, and nothing moves', async ({ page }) => {
  await page.goto(at('step'));
  await expect(page.locator('[data-answers]')).toBeVisible();
  for (const [word, text] of [
    ['Order', 'feistel is a shuffle that is computed and not stored'],
    ['Remainder', 'some samples are read again'],
    ['Layout', 'every W-th unit, as in PyTorch'],
    ['Unit', 'neighbouring positions that stay on one rank'],
  ] as const) {
    const before = await page.locator('aside').boundingBox();
    const button = page.getByRole('button', { name: `Explain ${word}` });
    await button.press('Enter');
    await expect(page.getByText(text)).toBeInViewport();
    expect(await page.locator('aside').boundingBox()).toEqual(before);
    await button.press('Escape');
    await expect(page.getByText(text)).toBeHidden();
  }
  await page.getByLabel('Order', { exact: true }).selectOption('torch');
  await page.getByRole('button', { name: 'Explain Order' }).click();
  await expect(page.getByText('torch is exactly the shuffle of PyTorch')).toBeVisible();
});

test('what is wrong lies over the form and does not move it', async ({ page }) => {
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [view, label] of [
      ['step', 'Seed'],
      ['step', 'Unit'],
      ['step', 'Rank'],
      ['sample', 'Batch size'],
      ['resume', 'Steps taken'],
    ] as const) {
      await page.goto(at(view));
      await expect(page.locator('[data-answers]').first()).toBeVisible();
      const places = () =>
        page
          .locator('main input, main select, main textarea, main h2')
          .evaluateAll((all) =>
            all
              .filter((element) => !element.closest('details:not([open])'))
              .map((element) => [element.getBoundingClientRect().top + scrollY, element.clientHeight]),
          );
      const field = page.getByLabel(label, { exact: true });
      if (!(await field.isVisible())) await page.locator('aside summary').first().click();
      const before = await places();
      await field.fill('-99999999999999999999');
      const wrong = page.locator('.wrong, .notice .problem');
      await expect(wrong).toBeVisible();
      expect(await places(), `${view} ${label} ${width}`).toEqual(before);
      const box = await wrong.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  }
});

test('a problem of no field on the screen is said at the bottom', async ({ page }) => {
  await page.goto(at('step', { recipe: 'nonsense' }));
  await expect(page.locator('.notice [role=alert]')).toBeInViewport();
  await page.getByText('As JSON').click();
  await expect(page.locator('.notice [role=alert]')).toHaveCount(0);
  await expect(page.getByLabel('Recipe of a sampler')).toHaveAttribute('aria-invalid', 'true');
});

test('on a phone, the picture is on the first screen, and questions and the recipe are a tap away', async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(at('step'));
  await expect(page.locator('[data-answers]')).toBeInViewport();
  const menu = page.getByText('All questions');
  await menu.click();
  const questions = page.getByRole('navigation', { name: 'Questions' }).getByRole('link');
  await expect(questions).toHaveCount(VIEWS.length - 1);
  for (const question of await questions.all()) await expect(question).toBeInViewport({ ratio: 1 });
  await menu.click();
  const summary = page.getByText('Recipe: feistel, 1,000 samples, 8 ranks');
  await summary.click();
  await page.getByLabel('World size').fill('6');
  await expect(page.getByText('Recipe: feistel, 1,000 samples, 6 ranks')).toBeVisible();
  // The form is opened if one of its fields is wrong.
  await page.goto(at('resume', { recipe: '{"order":{"samples":1000},"deal":{"unit":-1}}' }));
  await page.reload();
  await expect(page.getByLabel('Unit', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('Unit', { exact: true })).toBeVisible();
});

test('on a phone, the sentence and the slider stay on the screen while the picture scrolls', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const large = '{"order":{"samples":100000,"seed":42},"deal":{"world_size":64}}';
  for (const [view, values, label] of [
    ['step', { recipe: large }, 'Step'],
    ['batches', {}, 'Step'],
    ['shards', {}, 'Round'],
    ['mix', { recipe: BLEND }, 'Step'],
  ] as const) {
    await page.goto(at(view, values));
    const slider = page.getByLabel(`Drag: ${label}`);
    const says = page.locator('[data-says]');
    // If the picture grows after the page was scrolled, the browser keeps the slider where it is: so both are one try.
    await expect(async () => {
      // The top of the slider's stack is at the top of the screen, so the slider itself would be below it.
      await page
        .locator('[data-answers]')
        .first()
        .evaluate((picture) => {
          const card = document.querySelector('.slider')?.closest('section') ?? picture;
          scrollTo(0, scrollY + card.getBoundingClientRect().top);
        });
      const top = (await says.boundingBox())?.y ?? -1;
      expect(top, view).toBeGreaterThanOrEqual(0);
      expect(top, view).toBeLessThan(40);
      expect((await slider.boundingBox())?.y, view).toBeGreaterThan(200);
    }).toPass({ timeout: 120_000 });
    await expect(says, view).toBeInViewport({ ratio: 1 });
    await expect(slider, view).toBeInViewport({ ratio: 1 });
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await expect(says, view).toBeInViewport({ ratio: 1 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  }
});

for (const width of [390, 1440])
  test(`no label of a chart lies over another one at ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 844 });
    const recipe = '{"order":{"samples":1000000000000,"seed":42},"deal":{"world_size":4096}}';
    for (const [view, values] of [
      ['sample', { recipe, samples: '123456789', epoch: '9007199254740000', epochs: '40', batch: '2' }],
      ['resume', { recipe, taken: '500, 500' }],
      ['resume', {}],
      ['start', {}],
      ['checkpoint', GIVEN.checkpoint ?? {}],
    ] as const) {
      await page.goto(at(view, values));
      await page.reload();
      await expect(page.locator('svg.chart text').first()).toBeVisible();
      const found = await page.locator('svg.chart').evaluateAll((charts) =>
        charts.flatMap((chart) => {
          const { left, right } = chart.getBoundingClientRect();
          const texts = [...chart.querySelectorAll('text')].map((text) => ({
            name: text.textContent,
            box: text.getBoundingClientRect(),
          }));
          const over = texts.flatMap((one, at) =>
            texts
              .slice(at + 1)
              .filter(
                ({ box }) =>
                  box.left < one.box.right &&
                  one.box.left < box.right &&
                  box.top + 2 < one.box.bottom &&
                  one.box.top + 2 < box.bottom,
              )
              .map(({ name }) => [one.name, name]),
          );
          return [
            ...over,
            ...texts
              .filter(({ box }) => box.left < left - 1 || box.right > right + 12)
              .map(({ name }) => ['cut', name]),
          ];
        }),
      );
      expect(found, view).toEqual([]);
    }
  });

test('what one view shows stays while others are open, and the button back goes back', async ({ page }) => {
  await page.goto(at('step'));
  await page.getByLabel('Step', { exact: true }).fill('5');
  await page.getByRole('link', { name: 'Who claimed what?' }).click();
  await page.getByLabel('State after entry', { exact: true }).fill('50');
  await page.getByRole('link', { name: 'What does a rank read?' }).click();
  await expect(page.getByLabel('Step', { exact: true })).toHaveValue('5');
  await page.goBack();
  await expect(page.getByLabel('State after entry', { exact: true })).toHaveValue('50');
  await page.goBack();
  await expect(page.getByLabel('Step', { exact: true })).toHaveValue('5');
});

test('all computing is in the Worker, and dragging steps of 10^12 samples keeps up', async ({ page }) => {
  const recipe = '{"order":{"samples":1000000000000,"seed":42},"deal":{"world_size":4096}}';
  await page.goto(at('step', { recipe, batch: '64', zoom: '8' }));
  const grid = page.locator('[data-answers]');
  await expect(grid).toBeVisible();
  // Only the Worker makes an instance of the component, never the page.
  expect(page.workers()).toHaveLength(1);
  const before = Number(await grid.getAttribute('data-answers'));
  const longest = await page.evaluate(async () => {
    const slider = document.querySelector('input[aria-label="Drag: Step"]') as HTMLInputElement;
    const long: number[] = [];
    new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    });
    for (let frame = 0; frame < 120; frame++) {
      slider.value = String((Number(slider.max) * frame) / 120);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise(requestAnimationFrame);
    }
    return Math.max(0, ...long);
  });
  await expect.poll(async () => Number(await grid.getAttribute('data-answers'))).toBeGreaterThan(before + 2);
  await settled(page);
  // The time is reported and not limited, because the machine may have other work.
  test.info().annotations.push({ type: 'longest task of the page, in ms', description: String(Math.round(longest)) });
  console.log(`longest task of the page while dragging: ${Math.round(longest)} ms`);
});

test('the page works below any path of a server, and loads a view when it is opened', async ({ page }) => {
  const asked: string[] = [];
  const base = '/some/docs/explorer/';
  const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
  const server = createServer((request, response) => {
    const name = (request.url ?? '').replace(base, '');
    asked.push(name);
    response.setHeader('content-type', types[name.split('.').at(-1) ?? ''] ?? 'text/plain');
    response.end(readFileSync(join(dist, name)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await page.goto(`http://127.0.0.1:${port}${base}index.html`);
  await expect(page.locator('[data-count=torch]')).toBeVisible();
  const first = asked.splice(0);
  const size = first.reduce((sum, name) => sum + readFileSync(join(dist, name)).length, 0);
  console.log(`the first view loads ${size} bytes in ${first.length} files`);
  // The whole component has more than 400 kB. The first view must not load it.
  expect(size).toBeLessThan(400_000);
  await page.getByRole('link', { name: 'When and where is a sample seen?' }).click();
  await expect(page.locator('tr[data-place]')).toHaveCount(8);
  expect(asked.some((name) => name.startsWith('assets/samedeal-'))).toBe(true);
  server.close();
});

test('the page in one file works from a disk, and asks for nothing else', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => {
    const [url = ''] = request.url().split('#');
    if (!/^(blob|data|about):/.test(url)) asked.push(url);
  });
  await page.goto(`${onDisk}#/sample?samples=7`);
  await expect(page.locator('tr[data-place]')).toHaveCount(8);
  expect(asked).toEqual([onDisk]);
});

test('on a disk, the page of a server leads to the page in one file', async ({ browser }) => {
  // This test needs a window of its own: the browser loads no modules from a disk, and reports this on the console.
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(onDisk.replace('explorer.html', 'index.html'));
  await page.waitForURL(/explorer\.html/);
  await expect(page.locator('[data-count=torch]')).toBeVisible();
  await context.close();
});
