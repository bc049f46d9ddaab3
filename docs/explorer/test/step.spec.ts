import type { Page } from '@playwright/test';
import { at, expect, numbers, printedArray, python, run, snippet, test } from './page.ts';

const RECIPES = {
  feistel: '{"order":{"samples":1000,"seed":42},"deal":{"world_size":8}}',
  torch: '{"order":{"name":"torch","samples":203,"seed":7},"deal":{"world_size":4,"remainder":"pad"}}',
  sharded:
    '{"order":{"name":"sharded","seed":7,"lanes":16,"shuffle_window":8,"sizes":[90,120,40,150]},"deal":{"world_size":5,"remainder":"uneven"}}',
  blend:
    '{"order":{"name":"blend","samples":500,"seed":42,"sources":[{"name":"web","weight":7,"samples":300},{"name":"code","weight":2,"samples":60}]},"deal":{"world_size":3}}',
  large: '{"order":{"samples":1000000000000,"seed":"9223372036854775807"},"deal":{"world_size":4096}}',
};

/** The picture of the cells of a step. */
const gridOf = (page: Page) => page.getByRole('application', { name: 'Samples of each rank' });

/** The rows of the table, which has the content of the picture. */
async function shown(page: Page): Promise<Record<string, string[]>> {
  await page.getByText('As a table').click();
  // The table gets its rows when it is opened.
  await page.locator('tr[data-rank]').first().waitFor();
  const rows = await page.locator('tr[data-rank]').all();
  const found = await Promise.all(
    rows.map(async (row) => [await row.getAttribute('data-rank'), await row.locator('td').innerText()]),
  );
  return Object.fromEntries(found.map(([rank, text]) => [rank, text ? text.split(' ') : []]));
}

for (const [name, recipe] of Object.entries(RECIPES)) {
  for (const [epoch, step, batch] of [
    ['0', '0', '16'],
    ['3', '2', '20'],
  ] as const) {
    test(`step ${step} of epoch ${epoch} in ${name} is what Python says`, async ({ page }) => {
      await page.goto(at('step', { recipe, epoch, step, batch, zoom: '44' }));
      const found = await shown(page);
      const ranks = Object.keys(found).length;
      const whole = JSON.parse(recipe).deal.world_size;
      expect(ranks).toBe(whole > 100 ? ranks : whole);
      expect(ranks).toBeGreaterThan(2);
      const question = { recipe, epoch: Number(epoch), step: Number(step), batch: Number(batch), ranks, indices: 16 };
      const expected = await python<Record<string, string[]>>('step', question);
      expect(Object.fromEntries(Object.entries(found).map(([rank, samples]) => [rank, samples.slice(0, 16)]))).toEqual(
        expected,
      );
    });
  }
}

test('the last step marks the padding that Python counts', async ({ page }) => {
  const recipe = '{"order":{"samples":1001,"seed":42},"deal":{"world_size":8}}';
  await page.goto(at('step', { recipe, step: '7' }));
  const found = await shown(page);
  const expected = await python<Record<string, string[]>>('step', {
    recipe,
    epoch: 0,
    step: 7,
    batch: 16,
    ranks: 8,
    indices: 16,
  });
  expect(found).toEqual(expected);
  expect(
    Object.values(found)
      .flat()
      .filter((sample) => sample.endsWith('*')),
  ).toHaveLength(7);
});

test('the arrow keys select a sample and say where it is', async ({ page }) => {
  await page.goto(at('step', { step: '3' }));
  const grid = gridOf(page);
  await grid.focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
  const [row] = Object.values(
    await python<Record<string, string[]>>('step', {
      recipe: RECIPES.feistel,
      epoch: 0,
      step: 3,
      batch: 16,
      ranks: 3,
      indices: 2,
    }),
  ).slice(2);
  const facts = page.getByLabel('The selected sample');
  await expect(facts).toContainText('Rank2');
  await expect(facts).toContainText('Index in batch1');
  await expect(facts).toContainText(`Sample${row?.[1]}`);
  // Step 3 begins at position 3 * 16 * 8. From there on, each row of 8 positions has one for every rank.
  await expect(facts).toContainText(`Position in epoch${3 * 16 * 8 + 8 + 2}`);
});

test('a sample that is selected in one view is marked in all, and leads to the others', async ({ page }) => {
  const recipe = '{"order":{"samples":1000,"seed":42},"deal":{"world_size":8}}';
  await page.goto(at('step', { recipe, step: '3', rank: '2' }));
  const grid = gridOf(page);
  await grid.focus();
  await grid.press('ArrowRight');
  await grid.press('ArrowRight');
  const chosen = page.locator('[data-chosen]');
  await expect(chosen).toHaveCount(1);
  const sample = Number(await chosen.getAttribute('data-chosen'));
  const [place = []] = await python<number[][]>('places', { recipe, samples: [sample], epochs: [0], batch: 16 });
  const [, , step, rank, , position = 0] = place;
  expect([step, rank]).toEqual([3, 2]);
  await page.waitForURL(new RegExp(`samples=${sample}`));

  await page.getByRole('button', { name: 'Its next epochs' }).click();
  await expect(page.getByLabel('Sample indices')).toHaveValue(String(sample));
  await expect(page.locator('tr[data-place]')).toHaveCount(8);
  await page.getByRole('button', { name: 'If ranks change' }).click();
  // Position 3 * 128 is the first one of part 2, whose 4 steps of 96 positions end at 768.
  const part = position < 384 ? 1 : position < 768 ? 2 : 3;
  await expect(chosen).toContainText(`is at position ${position}: part ${part} reads it`);
  await expect(page.locator(`[data-marked="${position}"]`)).toHaveCount(1);

  await page.getByRole('button', { name: 'Its batch by length' }).click();
  await page.getByRole('button', { name: 'Show its batch' }).click();
  const found = page.locator('[data-shape]:has([data-marked])');
  await expect(found).toHaveCount(1);
  expect(numbers(await found.locator('[data-samples]').innerText())).toContain(sample);
  await expect(chosen).toContainText(
    `is in step ${await page.getByLabel('Step', { exact: true }).inputValue()}, on rank ${await found.getAttribute('data-shape')}`,
  );
  await page.getByRole('button', { name: 'Its file' }).click();
  // The first file of the example has 900 rows.
  await expect(chosen).toContainText(sample < 900 ? `is row ${sample} of file 0` : `is row ${sample - 900} of file 1`);
  // Back in the first view, the same sample is marked, and a link has it.
  await page.goBack();
  await expect(found).toHaveCount(1);
  await page.goto(at('resume', { recipe, samples: String(sample) }));
  await expect(page.locator(`[data-marked="${position}"]`)).toHaveCount(1);
});

test('at 10^12 samples and 4,096 ranks, the end of the list is a scroll away', async ({ page }) => {
  await page.goto(at('step', { recipe: RECIPES.large, step: '7629394', batch: '32', zoom: '44' }));
  await page.getByText('As a table').click();
  const grid = gridOf(page);
  await grid.evaluate((element) => {
    element.scrollTop = element.scrollHeight;
  });
  await expect(page.locator('tr[data-rank="4095"]')).toBeVisible();
  const shown = await page.locator('tr[data-rank="4095"] td').innerText();
  await page.getByRole('tab', { name: 'Python' }).click();
  const printed = run(
    'Python',
    `from samedeal import Sampler\nprint(Sampler.from_recipe('${RECIPES.large}', rank=4095).batch(7629394, 32).tolist())`,
  );
  expect(numbers(printed).join(' ')).toBe(shown.replaceAll('*', ''));
});

test('all 4,096 ranks are on the screen at once, and every number is a pointer or a key away', async ({ page }) => {
  await page.goto(at('step', { recipe: RECIPES.large, batch: '64' }));
  await page.getByRole('button', { name: 'All ranks' }).click();
  await page.waitForURL(/zoom=all/);
  await expect(page.locator('[data-stride]')).toHaveText('every 9th rank is drawn');
  const grid = gridOf(page);
  expect(await grid.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThanOrEqual(1);
  // The last drawn rank is a multiple of 9, and its cells are as high as a pixel.
  const box = await grid.boundingBox();
  await grid.hover({ position: { x: (box?.width ?? 0) / 2, y: (box?.height ?? 0) - 6 } });
  const tip = page.locator('[data-tip]');
  await expect(tip).toContainText(/^\s*rank 4,0\d\d, index \d+: sample [\d,]+/);
  const said = async () => (await tip.innerText()).replaceAll(',', '').match(/\d+/g)?.map(Number) ?? [];
  const [rank = 0, index = 0, sample] = await said();
  expect(rank % 9).toBe(0);
  const program = `from samedeal import Sampler\nprint(Sampler.from_recipe('${RECIPES.large}', rank=${rank}).batch(0, 64).tolist()[${index}])`;
  expect(numbers(run('Python', program))).toEqual([sample]);
  // A rank that is not drawn is selected by keys, too.
  await page.mouse.move(0, 0);
  await grid.focus();
  await grid.press('ArrowRight');
  await grid.press('ArrowDown');
  await expect(page.getByLabel('The selected sample')).toContainText('Rank1');
  await expect(tip).toContainText('index 0: sample');
});

test('with a checkpoint in the link, colours say what was seen, and by which rank', async ({ page }) => {
  const recipe = '{"order":{"samples":1000,"seed":42},"deal":{"world_size":5}}';
  const { state, seen } = await python<{ state: string; seen: number[] }>('state', { recipe, epoch: 2, taken: 60 });
  await page.goto(at('step', { recipe, epoch: '2', step: '3', state, ranks: '8' }));
  const colour = page.getByLabel('Colour', { exact: true });
  await expect(colour).toHaveValue('seen');
  const grid = gridOf(page);
  const tip = page.locator('[data-tip]');
  const tips = async (): Promise<string[]> => {
    await grid.focus();
    await grid.press('ArrowRight');
    const found: string[] = [];
    for (let index = 0; index < 16; index++) {
      await expect(tip).toContainText(`index ${index}:`);
      found.push(await tip.innerText());
      await grid.press('ArrowRight');
    }
    return found;
  };
  // Of step 3 of rank 0, the samples 0 to 11 were seen: 48 + 12 = 60.
  for (const text of await tips()) {
    const [, sample = '', is] = /sample ([\d,]+), (seen|not seen)/.exec(text) ?? [];
    expect(is, text).toBe(seen.includes(Number(sample.replaceAll(',', ''))) ? 'seen' : 'not seen');
  }
  const legend = page.getByRole('region', { name: 'Samples of the step' }).getByRole('listitem');
  await expect(legend.filter({ hasText: /^not seen$/ })).toBeVisible();
  await colour.selectOption('before');
  await page.waitForURL(/colour=before/);
  await page.reload();
  await expect(legend.filter({ hasText: /^rank 7$/ })).toBeVisible();
  const ranks = (await tips()).map((text) =>
    /sample ([\d,]+), rank (\d)/
      .exec(text)
      ?.slice(1)
      .map((one) => Number(one.replaceAll(',', ''))),
  );
  const before = recipe.replace('"world_size":5', '"world_size":8');
  const places = await python<number[][]>('places', {
    recipe: before,
    samples: ranks.map((one) => one?.[0]),
    epochs: [2],
    batch: 16,
  });
  expect(ranks).toEqual(places.map(([sample, , , rank]) => [sample, rank]));
  // A state of another order says nothing about these samples.
  await page.goto(at('step', { recipe: recipe.replace('42', '43'), epoch: '2', state }));
  await page.reload();
  await expect(colour).toHaveValue('place');
});

test('a wrong value is said where it was entered', async ({ page }) => {
  await page.goto(at('step'));
  await page.getByLabel('World size').fill('0');
  await expect(page.getByText('worldSize is 0; allowed: 1 to')).toBeVisible();
  await expect(page.getByLabel('World size')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('World size').fill('8');
  await page.getByLabel('Samples', { exact: true }).fill('many');
  await expect(page.getByLabel('Samples', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Samples', { exact: true }).fill('1e6');
  await page.getByLabel('Step', { exact: true }).fill('99999999');
  await expect(page.getByText('batch is 99999999; allowed: 0 to 7812')).toBeVisible();
});

test('what is copied prints what the page shows', async ({ page }) => {
  await page.goto(at('step', { recipe: RECIPES.torch, epoch: '1', step: '2' }));
  const expected = (await shown(page))['0'];
  for (const language of ['Python', 'JavaScript'] as const) {
    const printed = run(language, await snippet(page, language));
    expect(printedArray(printed).map(String), language).toEqual(expected);
  }
  const printed = run('Command', `${await snippet(page, 'Command')} --format text`);
  // A line of the output has the rank, the index in the batch, and the sample.
  expect(
    printed
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[2]),
  ).toEqual(expected);
});

test('the whole batch of one rank is listed, copied and linked as Python has it', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const recipe = '{"order":{"samples":5000000,"seed":7},"deal":{"world_size":16}}';
  await page.goto(at('step', { recipe, batch: '64' }));
  await page.getByLabel('Step', { exact: true }).fill('1,000');
  await page.getByLabel('Rank', { exact: true }).fill('5');
  const question = { recipe, epoch: 0, step: 1000, batch: 64, ranks: 6, indices: 64 };
  const expected = (await python<Record<string, string[]>>('step', question))['5'] ?? [];
  expect(expected).toHaveLength(64);
  await expect(page.locator('[data-batch]')).toHaveText(expected.join(', '));
  await expect(page.locator('[data-says]')).toContainText('In step 1,000 of epoch 0, rank 5 of 16 reads 64 samples: ');
  await page.getByRole('button', { name: 'Copy samples' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(expected.join(', '));
  for (const language of ['Python', 'JavaScript'] as const) {
    expect(printedArray(run(language, await snippet(page, language))).map(String), language).toEqual(expected);
  }
  expect(await snippet(page, 'Rust')).toContain('.rank(5)');
  const lines = run('Command', `${await snippet(page, 'Command')} --format text`)
    .trim()
    .split('\n');
  expect(lines.map((line) => line.split('\t').slice(0, 3))).toEqual(
    expected.map((sample, index) => ['5', String(index), sample]),
  );
  await page.waitForURL(/rank=5/);
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.locator('[data-batch]')).toHaveText(expected.join(', '));
  // A click on a cell of another rank chooses this rank. The field shows an error for a rank that does not exist.
  await gridOf(other).focus();
  for (const key of ['ArrowDown', 'ArrowDown']) await other.keyboard.press(key);
  await expect(other.getByLabel('Rank', { exact: true })).toHaveValue('6');
  await other.getByLabel('Rank', { exact: true }).fill('16');
  await expect(other.getByText('rank is 16; allowed: 0 to 15')).toBeVisible();
});

test('the padding of one rank is said', async ({ page }) => {
  const recipe = '{"order":{"samples":1001,"seed":42},"deal":{"world_size":8}}';
  await page.goto(at('step', { recipe, step: '7', rank: '6' }));
  await expect(page.locator('[data-says]')).toContainText('rank 6 of 8 reads 14 samples, 1 of them padding');
});

test('no label of the picture lies over another one, at any width', async ({ context }) => {
  // Records the places of all texts in the newest frame. The script stays in its window, so this test does not use the
  // common one.
  const page = await context.newPage();
  await page.addInitScript(() => {
    const texts: { text: string; left: number; right: number; y: number }[] = [];
    Object.assign(globalThis, { texts });
    const { fillText, fillRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
      if (x === 0 && y === 0) texts.length = 0;
      fillRect.call(this, x, y, width, height);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      const { actualBoundingBoxLeft: before, actualBoundingBoxRight: after } = this.measureText(text);
      texts.push({ text, left: x - before, right: x + after, y });
      fillText.call(this, text, x, y);
    };
  });
  const recipe = '{"order":{"samples":1000000000000,"seed":42},"deal":{"world_size":2000000}}';
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(at('step', { recipe, batch: '200000', rank: '1999990' }));
    for (const zoom of ['', '4', '8', '20', '36', '44', '52', '64', '120']) {
      if (zoom) await page.getByLabel('Zoom', { exact: true }).fill(zoom);
      await gridOf(page).evaluate((grid) => grid.scrollTo({ left: grid.scrollWidth / 2 }));
      const over = await page.evaluate(() => {
        const { texts } = globalThis as unknown as {
          texts: { text: string; left: number; right: number; y: number }[];
        };
        const pairs = texts.flatMap((one, at) => texts.slice(at + 1).map((other) => [one, other] as const));
        const touching = pairs.filter(
          ([one, other]) => Math.abs(one.y - other.y) < 11 && one.left < other.right && other.left < one.right,
        );
        const cut = texts.filter(({ left }) => left < 0);
        return { drawn: texts.length, touching: touching.map(([one, other]) => [one.text, other.text]), cut };
      });
      expect(over.drawn, zoom).toBeGreaterThan(3);
      expect({ zoom, width, ...over, drawn: 0 }).toEqual({ zoom, width, drawn: 0, touching: [], cut: [] });
    }
  }
});

test('numbers with commas go into programs and links as digits, and what is refused does not go there', async ({
  page,
}) => {
  await page.goto(at('step', { recipe: RECIPES.large, zoom: '44' }));
  await page.getByLabel('Batch size').fill('1_6');
  await page.getByLabel('Step', { exact: true }).fill('1,000');
  await page.getByLabel('Epoch', { exact: true }).fill('1e3');
  await page.waitForURL(/epoch=1000&step=1000/);
  const expected = (await shown(page))['0'];
  for (const language of ['Python', 'JavaScript'] as const) {
    const printed = run(language, await snippet(page, language));
    expect(printedArray(printed).map(String), language).toEqual(expected);
  }
  expect(await snippet(page, 'Command')).toContain('step 1000 --recipe - --epoch 1000 --batch-size 16');
  const code = page.getByRole('tabpanel');
  const before = await code.innerText();
  const copy = page.getByRole('button', { name: 'Copy', exact: true });
  await expect(copy).toBeEnabled();
  for (const [label, wrong] of [
    ['Seed', 'abc'],
    ['Step', '999,999,999,999'],
  ] as const) {
    const field = page.getByLabel(label, { exact: true });
    const right = await field.inputValue();
    await field.fill(wrong);
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await expect(copy).toBeDisabled();
    await expect(page.getByLabel('The same in code')).toHaveCSS('opacity', '0.45');
    expect(await code.innerText()).toBe(before);
    await field.fill(right);
    await expect(copy).toBeEnabled();
  }
});

test('brackets step back and on', async ({ page }) => {
  await page.goto(at('step', { step: '3' }));
  await expect(gridOf(page)).toBeVisible();
  const step = page.getByLabel('Step', { exact: true });
  await page.keyboard.press(']');
  await expect(step).toHaveValue('4');
  await page.keyboard.press('[');
  await page.keyboard.press('[');
  await expect(step).toHaveValue('2');
});

test('a link brings back what it was copied from', async ({ page }) => {
  await page.goto(at('step'));
  await page.getByRole('button', { name: 'Blend of three' }).click();
  await page.getByLabel('Epoch', { exact: true }).fill('5');
  await page.getByLabel('Step', { exact: true }).fill('4');
  const before = await shown(page);
  await page.waitForURL(/epoch=5&step=4/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  expect(await shown(other)).toEqual(before);
});

test('what another view had and this one has not is fitted, but not what somebody types', async ({ page }) => {
  const large = '{"order":{"samples":5000000,"seed":42},"deal":{"world_size":16}}';
  const tab = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  const field = (name: string) => page.getByRole('textbox', { name, exact: true });
  await page.goto(at('step', { recipe: large, step: '1000', batch: '64', rank: '9' }));
  await tab('How are batches filled?');
  await expect(field('Step')).toHaveValue(/^[1-9]\d\d$/);
  const last = Number(await field('Step').inputValue());
  await expect(page.locator('tr[data-strategy=budget] [data-fact=steps]')).toHaveText(String(last + 1));
  await field('Step').fill('1000');
  await expect(page.getByText(`step is 1000; allowed: 0 to ${last}`)).toBeVisible();
  await expect(field('Step')).toHaveValue('1000');
  await tab('How well is it mixed?');
  await expect(field('Rank')).toHaveValue('7');
  await expect(field('Step')).toHaveValue(/^[1-9]\d*$/);
  await expect(page.locator('.stale')).toHaveCount(0);

  // The state belongs to a smaller run than the one that is shown.
  await page.goto(at('step', { recipe: large, step: '1000', batch: '64', rank: '9' }));
  await tab('When was a sample seen?');
  await field('Sample indices').fill('123 4000000 4999999');
  const small = '{"order":{"samples":50000,"seed":42}}';
  const { state } = await python<{ state: string }>('state', { recipe: small, epoch: 1, taken: 512 });
  const opened = page.getByRole('region', { name: 'The checkpoint' });
  await page.getByText('Had a checkpoint seen it?').click();
  await field('State of a checkpoint').fill(state);
  await expect(field('Sample indices')).toHaveValue('123 49999');
  await expect(opened).toContainText('512 of 50,000 positions read');
  await expect(opened.locator('[data-verdict]')).toHaveCount(2);
  await tab('What does a rank read?');
  await expect(field('Step')).toHaveValue('781');
  await expect(field('Rank')).toHaveValue('0');
  // A link to a step that does not exist shows no answer, but its slider still reaches the last step.
  await page.goto(at('mix', { recipe: small, step: '99999' }));
  await expect(page.getByText('allowed: 0 to')).toBeVisible();
  await expect.poll(async () => Number(await page.getByLabel('Drag: Step').getAttribute('max'))).toBeGreaterThan(100);
  await page.goto(at('batches', { step: '1000' }));
  await expect(page.getByText('step is 1000; allowed')).toBeVisible();
  await field('Step').fill('3');
  await expect(page.locator('[data-shape="0"]')).toBeVisible();
  await page.goto(at('sample', { recipe: small, samples: '50000', state }));
  await expect(opened).toContainText('512 of 50,000 positions read');
});

/** What the overview says about the ranks of the epoch: their samples, their padding, and what a checkpoint had seen. */
const epochOf = async (page: Page): Promise<Record<string, (number | null)[]>> =>
  Object.fromEntries(
    await page.locator('[data-epoch-rank]').evaluateAll((ranks) =>
      ranks.map((one) => [
        one.getAttribute('data-epoch-rank') ?? '',
        ['samples', 'padding', 'seen'].map((name) => {
          const value = one.getAttribute(`data-${name}`);
          return value === null ? null : Number(value);
        }),
      ]),
    ),
  );

for (const [name, recipe, consumed] of [
  ['strided', '{"order":{"samples":1003,"seed":42},"deal":{"world_size":8}}', 517],
  [
    'rotated, in units',
    '{"order":{"samples":1003,"seed":42},"deal":{"world_size":5,"layout":"rotated","unit":4}}',
    516,
  ],
  [
    'contiguous',
    '{"order":{"samples":1003,"seed":42},"deal":{"world_size":6,"layout":"contiguous","remainder":"uneven"}}',
    517,
  ],
  ['a sample twice', RECIPES.blend, 250],
  ['many ranks', '{"order":{"samples":90000,"seed":42},"deal":{"world_size":100,"remainder":"uneven"}}', 45_050],
] as const) {
  test(`the overview of the epoch has what Python counts for each rank: ${name}`, async ({ page }) => {
    const state = await python<string>('state_at', { recipe, epoch: 2, consumed });
    for (const saved of ['', state]) {
      await page.goto(at('step', { recipe, epoch: '2', batch: '4', state: saved }));
      const found = await epochOf(page);
      const ranks = Object.keys(found).map(Number);
      expect(ranks.length).toBeGreaterThan(2);
      expect(found).toEqual(await python('epoch_ranks', { recipe, epoch: 2, state: saved, ranks }));
    }
    // All of an epoch before that of the state was seen, and nothing of the next one.
    for (const epoch of [1, 3]) {
      await page.goto(at('step', { recipe, epoch: String(epoch), batch: '4', state }));
      for (const [samples = 0, padding = 0, seen] of Object.values(await epochOf(page)) as number[][])
        expect(seen).toBe(epoch === 1 ? samples - padding : 0);
    }
  });
}

test('the overview of 10^12 samples on 4,096 ranks is zoomed with the keyboard and the mouse, and opens a step', async ({
  page,
}) => {
  const order = '"order":{"name":"feistel","samples":1000000000000,"seed":42}';
  const state = `{"samedeal":1,"kind":"sampler","recipe":{${order}},"epoch":0,"consumed":400000000000}`;
  await page.goto(at('step', { recipe: `{${order},"deal":{"world_size":4096}}`, batch: '64', state }));
  const overview = page.getByRole('region', { name: 'The epoch' });
  await expect(overview).toContainText('Epoch 0: 3,814,698 steps on 4,096 ranks');
  await expect(overview).toContainText('every 128th one of 4,096');
  const ranks = Object.values(await epochOf(page));
  expect(ranks).toHaveLength(32);
  // 4 * 10^11 positions are 97,656,250 samples of each rank.
  for (const [, , seen] of ranks) expect(seen).toBe(97_656_250);

  const part = page.getByRole('slider', { name: 'Part of the axis' });
  const shown = async () =>
    (await part.getAttribute('aria-valuetext'))?.replaceAll(',', '').match(/\d+/g)?.map(Number) ?? [];
  await part.focus();
  for (let times = 0; times < 3; times++) await part.press('+');
  const [from = 0, to = 0, steps = 0] = await shown();
  expect(to - from).toBeCloseTo(steps / 8, -1);
  await part.press('Home');
  expect((await shown())[0]).toBe(0);
  await page.waitForURL(/steps=0-/);

  // A drag of the part moves it by as much as the pointer; its end resizes it; beside it, another part begins.
  const box = await part.boundingBox();
  if (!box) throw new Error('no strip');
  const drag = async (begin: number, end: number) => {
    await page.mouse.move(box.x + begin * box.width, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + ((begin + end) / 2) * box.width, box.y + box.height / 2);
    await page.mouse.move(box.x + end * box.width, box.y + box.height / 2);
    await page.mouse.up();
    return (await shown()).map((one) => one / steps);
  };
  const close = (found: number[], expected: number[]) => {
    for (const [at, one] of expected.entries()) expect(Math.abs((found[at] ?? -1) - one)).toBeLessThan(0.01);
  };
  close(await drag(0.06, 0.56), [0.5, 0.625]);
  close(await drag(0.625, 0.75), [0.5, 0.75]);
  close(await drag(0.2, 0.3), [0.2, 0.3]);
  await part.press('0');
  expect(await shown()).toEqual([0, steps, steps]);

  const chart = overview.getByRole('application');
  const wide = await chart.boundingBox();
  await chart.click({ position: { x: (wide?.width ?? 0) * 0.25, y: 20 } });
  const step = page.getByLabel('Step', { exact: true });
  expect(Math.abs(Number(await step.inputValue()) / steps - 0.25)).toBeLessThan(0.01);
  // The chart follows the step.
  for (let times = 0; times < 4; times++) await chart.press('+');
  await step.fill('3000000');
  const [begin = 0, end = 0] = await shown();
  expect(begin).toBeLessThanOrEqual(3_000_000);
  expect(end).toBeGreaterThan(3_000_000);
});
