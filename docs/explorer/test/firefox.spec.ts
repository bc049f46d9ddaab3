// Playwright cannot drive the Firefox of a system, so these tests use puppeteer, which speaks WebDriver BiDi.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { at, expect, python, test } from './page.ts';

const places = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'];
const executablePath = places.find((path) => path && existsSync(path));
const RECIPE = '{"order":{"samples":1000,"seed":42},"deal":{"world_size":8}}';

/** For each view, the selector of an element that is there once the view has an answer. */
const VIEWS = {
  sample: 'tr[data-place]',
  resume: '[data-count=torch]',
  differ: '[data-first="order.seed"]',
  batches: 'tr[data-strategy=pack] [data-fact=steps]',
  shards: 'tr[data-reader="3 1"]',
  ledger: 'tr[data-reader="3"]',
  mix: '[data-source=web]',
} as const;

test.describe('Firefox', () => {
  test.skip(!executablePath, 'no Firefox');
  let browser: Browser;
  let page: Page;
  const errors: string[] = [];
  test.beforeAll(async () => {
    browser = await puppeteer.launch({
      browser: 'firefox',
      headless: true,
      ...(executablePath ? { executablePath } : {}),
    });
    [page = await browser.newPage()] = await browser.pages();
    page.setDefaultTimeout(120_000);
    page.on('pageerror', (error) => errors.push(String(error)));
  });
  test.afterAll(() => browser?.close());

  test('step shows what Python says', async () => {
    await page.goto(at('step', { recipe: RECIPE, step: '3' }));
    await page.waitForSelector('details:not(aside details)');
    await page.$eval('details:not(aside details) summary', (summary) => (summary as HTMLElement).click());
    await page.waitForSelector('tr[data-rank="7"]');
    const shown = await page.$$eval('tr[data-rank] td', (cells) => cells.map((cell) => cell.textContent ?? ''));
    const expected = await python<Record<string, string[]>>('step', {
      recipe: RECIPE,
      epoch: 0,
      step: 3,
      batch: 16,
      ranks: 8,
      indices: 16,
    });
    expect(shown.map((text) => text.split(' '))).toEqual(Object.values(expected));
    expect(errors).toEqual([]);
  });

  test('lengths of a file are planned by their first window, then as a whole', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'));
    const batches = '{"order":{"seed":7},"deal":{"world_size":2},"batch":{"max_tokens":8192}}';
    const kinds = [{ name: 'lengths.npy' }, { name: 'lengths.txt', text: true }];
    for (const { name, ...how } of kinds) {
      const path = join(folder, name);
      await python('lengths_file', { path, samples: 100_000, ...how });
      const expected = await python<{ steps: number[][][] }>('steps_of_file', { path, recipe: batches, steps: [0] });
      await page.goto('about:blank');
      await page.goto(at('batches', { batches }));
      await page.waitForSelector('[data-answers]');
      const input = await page.waitForSelector<'input'>('input[type=file]' as 'input');
      await input?.uploadFile(path);
      // A function that waits within the page is an error of the page for Firefox 140.10.2: so the test asks again.
      await expect
        .poll(() => page.$$eval('[data-loaded=lengths]', (all) => all.map((one) => one.textContent).join()))
        .toContain(name);
      await page.waitForSelector('[data-fact=windows]');
      const shown = await page.$eval('[data-shape="0"] [data-samples]', (text) => text.textContent);
      expect(shown).toBe(expected.steps[0]?.[0]?.join(' '));
      await page.$eval('[data-epoch] button', (button) => (button as HTMLElement).click());
      await page.waitForSelector('tr[data-strategy=pack] [data-fact=shapes]');
      expect(errors).toEqual([]);
    }
    rmSync(folder, { recursive: true });
    // The opened file must not stay in the page, because the other tests use the same page.
    await page.goto('about:blank');
  });

  for (const [view, selector] of Object.entries(VIEWS)) {
    test(`${view} answers`, async () => {
      await page.goto(at(view));
      await page.waitForSelector(selector);
      expect(errors).toEqual([]);
    });
  }
});
