import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { STRATEGIES, withRoom } from '../src/views/batches/strategies.ts';
import { at, expect, python, test } from './page.ts';

const RECIPE = '{"order":{"seed":7},"deal":{"world_size":3},"batch":{"strategy":"budget","max_tokens":12000}}';
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const grouped = (number: number) => number.toLocaleString('en');

interface Steps {
  steps: number[][][];
  asked: number;
  windows: number;
}
interface Totals {
  steps: number;
  shapes: number;
  tokens: number;
  padding: number;
  slowest: number;
  index: string;
}

let folder = '';
test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'explorer-'));
});
test.afterAll(() => rmSync(folder, { recursive: true }));

/** Lets Python write a file of lengths. */
async function written(name: string, samples: number, how: { dtype?: string; text?: boolean } = {}): Promise<string> {
  const path = join(folder, name);
  await python('lengths_file', { path, samples, ...how });
  return path;
}

const open = (page: Page, file: string | { name: string; mimeType: string; buffer: Buffer }) =>
  page.getByLabel('Files to open').setInputFiles(file);
const textFile = (name: string, text: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) });

/** Checks that the page shows these batches. */
async function shows(page: Page, ranks: number[][] | undefined): Promise<void> {
  expect(ranks).toHaveLength(3);
  for (const [rank, samples] of (ranks ?? []).entries())
    await expect(page.locator(`[data-shape="${rank}"] [data-samples]`)).toHaveText(samples.join(' '));
}

async function showsTotals(page: Page, strategy: string, { steps, padding, slowest, tokens }: Totals): Promise<void> {
  const row = page.locator(`tr[data-strategy=${strategy}]`);
  await expect(row.locator('[data-fact=steps]'), strategy).toHaveText(grouped(steps));
  await expect(row.locator('[data-fact=padding]'), strategy).toHaveText(percent(padding));
  await expect(row.locator('[data-fact=slowest]'), strategy).toHaveText(percent(slowest));
  await expect(row.locator('[data-fact=filled]'), strategy).toHaveText(percent(tokens / (steps * 3 * 12000)));
}

const windows = (page: Page, strategy: string) => page.locator(`tr[data-strategy=${strategy}] [data-fact=windows]`);

test('of a file of 100 MB, the first step is shown from one window, and planning the rest can be stopped', async ({
  page,
}) => {
  const samples = 25_000_000;
  const path = await written('many.npy', samples);
  expect(statSync(path).size).toBeGreaterThan(100_000_000);
  const expected = await python<Steps>('steps_of_file', { path, recipe: RECIPE, steps: [0, 1, 400] });
  await page.goto(at('batches', { batches: RECIPE }));
  await open(page, path);
  await expect(page.getByText(`${grouped(samples)} samples, the longest has 1,999 tokens`)).toBeVisible();
  await expect(page.locator('[data-loaded=lengths]')).toHaveText('From many.npy, 100 MB');
  await shows(page, expected.steps[0]);
  // The page looks up as many lengths as Python does for one step: the sample of lengths, and one window.
  const planned = page.locator('[data-planned]');
  const one = `budget: 1 of ${grouped(expected.windows)} windows planned. Lengths looked up: ${grouped(expected.asked)} `;
  await expect(planned).toContainText(one);
  expect(expected.asked).toBeLessThan(50_000);
  for (const strategy of STRATEGIES) await expect(windows(page, strategy)).toHaveText(/^1 of [\d,]+ windows$/);
  await expect(page.locator('[data-fact=steps]')).toHaveCount(0);
  await expect(page.locator('[data-says]')).toContainText('wastes the least in the part of the epoch that is planned');

  // The page is asked for another step while it plans the epoch, and then the planning is stopped. A script in the page
  // does both, because this test may be slower than the planning.
  const said = page.evaluate(() => {
    const click = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
    const samples = () => document.querySelector('[data-shape="0"] [data-samples]')?.textContent;
    const before = samples();
    let isAsked = false;
    return new Promise<string>((resolve) => {
      const look = (_: unknown, observer: MutationObserver) => {
        const progress = document.querySelector('[data-progress]')?.textContent ?? '';
        if (!/^\d{2,} of /.test(progress)) return;
        if (!isAsked) click('[aria-label="Step: one on"]');
        else if (samples() !== before) {
          observer.disconnect();
          click('[data-epoch] button');
          resolve(progress);
        }
        isAsked = true;
      };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
  });
  await page.getByRole('button', { name: 'Plan the whole epoch' }).click();
  expect(await said).toMatch(/^\d{2,} of [\d,]+ windows planned, of all strategies together$/);
  await shows(page, expected.steps[1]);
  const progress = page.locator('[data-progress]');
  await expect(progress).toHaveCount(0);
  await expect(planned).toContainText(/^budget: \d+ of [\d,]+ windows planned/);
  const known = await windows(page, 'budget').innerText();
  expect(Number.parseInt(known, 10)).toBeGreaterThan(1);
  await expect(page.locator('[data-fact=steps]')).toHaveCount(0);

  const step = page.getByLabel('Step', { exact: true });
  await step.fill('100,000,000');
  await expect(page.locator('[data-beyond]')).toContainText('Plan the whole epoch, or open its index');
  await expect(page.locator('[data-shape]')).toHaveCount(0);
  await step.fill('400');
  await shows(page, expected.steps[2]);
  // The planning stays stopped.
  await expect(windows(page, 'pack')).toHaveText(/^1 of /);
});

test('the totals of a text of lengths are what Python says, and its index tells the steps again', async ({ page }) => {
  const path = await written('some.txt', 200_000, { text: true });
  const recipes = Object.fromEntries(STRATEGIES.map((name) => [name, withRoom(RECIPE, name, 12000, 1999)]));
  const expected = await python<Record<string, Totals>>('totals_of_file', { path, recipes });
  const own = expected.budget as Totals;
  const last = own.steps - 1;
  const { steps } = await python<Steps>('steps_of_file', { path, recipe: RECIPE, steps: [0, last] });
  await page.goto(at('batches', { batches: RECIPE }));
  await open(page, path);
  await expect(page.getByText('200,000 samples, the longest has 1,999 tokens')).toBeVisible();
  await shows(page, steps[0]);
  await page.getByRole('button', { name: 'Plan the whole epoch' }).click();
  await expect(page.getByText('All windows are known.')).toBeVisible();
  for (const [strategy, totals] of Object.entries(expected)) {
    await showsTotals(page, strategy, totals);
    const shapes = page.locator(`tr[data-strategy=${strategy}] [data-fact=shapes]`);
    await expect(shapes, strategy).toHaveText(grouped(totals.shapes));
  }
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save the index' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('index-of-epoch-0.json');
  const index = readFileSync(await download.path(), 'utf8');
  expect(index).toBe(own.index);

  // A new page, which has planned nothing yet.
  await page.goto('about:blank');
  await page.goto(at('batches', { batches: RECIPE }));
  await open(page, path);
  await expect(page.getByText('200,000 samples, the longest')).toBeVisible();
  await open(page, textFile('index.json', index));
  await showsTotals(page, 'budget', own);
  await expect(page.locator('[data-planned]')).toHaveText(
    'All windows of budget are known, not those of the other strategies.',
  );
  await expect(page.locator('tr[data-strategy=budget]')).toContainText('–');
  await expect(windows(page, 'pack')).toHaveText(/^1 of /);
  await page.getByLabel('Step', { exact: true }).fill(String(last));
  await shows(page, steps[1]);
  await page.getByLabel('Step', { exact: true }).fill(String(last + 1));
  await expect(page.getByText(`step is ${last + 1}; allowed: 0 to ${last}`)).toBeVisible();
  await page.getByLabel('Step', { exact: true }).fill('0');
  // The index of another strategy is accepted if the strategy is one of those that are compared.
  await open(page, textFile('pack.json', expected.pack?.index ?? ''));
  await showsTotals(page, 'pack', expected.pack as Totals);

  const refused = page.locator('[data-refused]');
  await page.getByLabel('Seed').fill('8');
  await expect(windows(page, 'budget')).toHaveText(/^1 of /);
  await open(page, textFile('foreign.json', index));
  await expect(refused).toContainText(
    'foreign.json is no index of this recipe, these lengths and this epoch: recipeFingerprint is ',
  );
  await expect(windows(page, 'budget')).toHaveText(/^1 of /);
  await page.getByLabel('Seed').fill('7');
  await showsTotals(page, 'budget', own);
  await page.getByLabel('Epoch', { exact: true }).last().fill('1');
  await open(page, textFile('earlier.json', index));
  await expect(refused).toContainText(
    'earlier.json is no index of this recipe, these lengths and this epoch: epoch is 0',
  );
  for (const damaged of [index.replace('"steps":[', '"steps":[1,'), index.slice(0, 200)]) {
    await open(page, textFile('damaged.json', damaged));
    await expect(refused).toContainText(
      'damaged.json is no index of this recipe, these lengths and this epoch: index is ',
    );
  }
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(refused).toHaveCount(0);
});

test('numbers of NumPy of any width are lengths', async ({ page }) => {
  const expected = await python<Steps>('steps_of_file', {
    path: await written('u4.npy', 70_000),
    recipe: RECIPE,
    steps: [0],
  });
  await page.goto(at('batches', { batches: RECIPE }));
  for (const dtype of ['<u2', '<i2', '<i4', '<i8', '<u8']) {
    const name = `${dtype.slice(1)}.npy`;
    await open(page, await written(name, 70_000, { dtype }));
    await expect(page.locator('[data-loaded=lengths]')).toContainText(`From ${name}`);
    await shows(page, expected.steps[0]);
  }
  // A file with one byte for each length has other lengths.
  const bytes = await written('u1.npy', 70_000, { dtype: '|u1' });
  await open(page, bytes);
  await expect(page.getByText('70,000 samples, the longest has 255 tokens')).toBeVisible();
  await shows(page, (await python<Steps>('steps_of_file', { path: bytes, recipe: RECIPE, steps: [0] })).steps[0]);
});

test('a file that holds no lengths is refused, and says why', async ({ page }) => {
  await page.goto(at('batches', { batches: RECIPE }));
  const before = await page.locator('[data-shape="0"] [data-samples]').innerText();
  const whole = readFileSync(await written('whole.npy', 5000, { dtype: '<i8' }));
  const negative = Buffer.from(whole);
  negative.writeBigInt64LE(-5n, negative.length - 8);
  const wide = Buffer.from(whole);
  wide.writeBigInt64LE(2n ** 32n, wide.length - 16);
  const small = readFileSync(await written('small.npy', 5000, { dtype: '<i2' }));
  small.writeInt16LE(-1, small.length - 2);
  const square = Buffer.from(whole.toString('latin1').replace('(5000,)', '(5, 1000)'), 'latin1');
  const many = '17\n'.repeat(5000);
  const files: [string, Buffer | string, string][] = [
    ['negative.npy', negative, 'Length 5,000 is -5; allowed: whole numbers from 0 to 4,294,967,295'],
    ['wide.npy', wide, 'Length 4,999 is 4294967296; allowed: whole numbers'],
    ['small.npy', small, 'Length 5,000 is -1; allowed: whole numbers'],
    ['short.npy', whole.subarray(0, -8), 'short.npy ends before its 5,000 numbers do'],
    ['square.npy', square, 'square.npy has the shape (5, 1000); allowed: one dimension'],
    [
      'ratios.npy',
      readFileSync(await written('ratios.npy', 5000, { dtype: '<f8' })),
      'ratios.npy has numbers of the type <f8; allowed: signed and unsigned whole numbers, little-endian',
    ],
    ['word.txt', `${many}many\n`, 'Length 5,001 is “many”; allowed: whole numbers'],
    ['half.txt', `${many}12.50\n`, 'Length 5,001 is “12.50”; allowed: whole numbers'],
    ['large.txt', `${many}4294967296\n`, 'Length 5,001 is 4294967296; allowed: whole numbers'],
  ];
  for (const [name, contents, says] of files) {
    const path = join(folder, name);
    writeFileSync(path, contents);
    await open(page, path);
    await expect(page.locator('.notice')).toContainText(says);
    await expect(page.locator('[data-shape="0"] [data-samples]'), name).toHaveText(before);
  }
  // Zeros after a point do not change a number, and the last line needs no line break.
  writeFileSync(join(folder, 'points.txt'), `${many}12.0, 13.`);
  await open(page, join(folder, 'points.txt'));
  await expect(page.getByText('5,002 samples, the longest has 17 tokens')).toBeVisible();
});
