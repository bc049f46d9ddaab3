import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { at, expect, numbers, python, test } from './page.ts';

// Parquet files that are dropped on the page. The page must show the rows that pyarrow wrote and Python's samples.
test.describe('Parquet files', () => {
  const sizes = [300, 450, 50];
  const samples = 800;
  let folder: string;
  let characters: number[];
  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'explorer-'));
    ({ characters } = await python<{ characters: number[] }>('files', { folder, sizes }));
  });
  const paths = () => sizes.map((_, number) => join(folder, `${number}.parquet`));

  test('the rows of a rank are those of its samples', async ({ page }) => {
    await page.goto(at('step', { step: '3', batch: '8', rank: '2' }));
    await page.getByLabel('Files to open').setInputFiles(paths());
    await expect(page.getByText('3 files with 800 rows.')).toBeVisible();
    const recipe = JSON.stringify({ order: { name: 'feistel', samples, seed: 42 }, deal: { world_size: 8 } });
    const rows = await python<Record<string, string[]>>('step', {
      recipe,
      epoch: 0,
      step: 3,
      batch: 8,
      ranks: 3,
      indices: 8,
    });
    const expected = (rows[2] ?? []).map(Number);
    const items = page.getByRole('region', { name: 'Rows of rank 2' }).getByRole('listitem');
    const texts = expected.map((sample) => `\u{1f600} row of sample ${sample}${' word'.repeat(sample % 50)}`);
    await expect(items.locator('.text')).toHaveText(texts);
    await expect(items.locator('.mono')).toHaveText(expected.map(String));

    await page.getByLabel('Column').selectOption('image');
    await expect(items.locator('img')).toHaveCount(8);
    const widths = () =>
      items.locator('img').evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth));
    await expect.poll(widths).toEqual(expected.map((sample) => 1 + (sample % 90)));
  });

  test('a column tells lengths, and the view of batches takes one by itself', async ({ page }) => {
    const batches = JSON.stringify({ deal: { world_size: 2 }, batch: { strategy: 'budget', max_tokens: 1024 } });
    await page.goto(at('batches', { batches }));
    await page.getByLabel('Files to open').setInputFiles(paths());
    const chosen = page.getByLabel('Lengths of samples');
    await expect(chosen).toHaveValue(/^column:/);
    const words = Array.from({ length: samples }, (_, sample) => 5 + (sample % 50));
    for (const [column, lengths] of [
      ['num_words', words],
      ['text', characters],
    ] as const) {
      await chosen.selectOption(`column:${column}`);
      const longest = Math.max(...lengths);
      await expect(page.getByText(`800 samples, the longest has ${longest} tokens`)).toBeVisible();
      const { compared } = await python<{ compared: Record<string, { steps: number }> }>('batches', {
        recipes: { budget: batches },
        lengths,
        epoch: 0,
        step: 0,
      });
      await expect(page.locator('tr[data-strategy=budget] [data-fact=steps]')).toHaveText(
        String(compared.budget?.steps),
      );
    }
  });

  test('files in the view of shards are its sizes', async ({ page }) => {
    await page.goto(at('shards'));
    await page.getByLabel('Files to open').setInputFiles(paths());
    await expect(page.getByLabel('Samples in each file')).toHaveValue(sizes.join(', '));
    // The page shows the new sizes first, and the sentence that follows from them a moment later.
    await expect.poll(async () => numbers(await page.locator('[data-says]').innerText())).toContain(sizes.length);
  });

  test('what is no Parquet file is refused with its name', async ({ page }) => {
    await page.goto(at('step'));
    const broken = {
      name: 'broken.parquet',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from('PAR1 no PAR1'),
    };
    await page.getByLabel('Files to open').setInputFiles(broken);
    await expect(page.getByText(/broken\.parquet: not a Parquet file, or cut off/)).toBeVisible();
  });
});

test('a text that the page does not know leaves the view as it is, with one message', async ({ page }) => {
  await page.goto(at('step', { step: '3', batch: '8', rank: '2' }));
  for (const [text, told] of [
    ['hello, world', 'has no recipe, state, log, lengths or fingerprint'],
    ['{"name": "x"}', 'is no recipe, state or log'],
    ['{"split": {"parts": [{"name": "a", "weight": 1}]}}', 'is the recipe of a split, which this page does not show'],
  ]) {
    const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from(text as string) };
    await page.getByLabel('Files to open').setInputFiles(file);
    await expect(page.getByText(`notes.txt ${told}`)).toBeVisible();
    expect(page.url()).toContain('#/step?');
    expect(page.url()).not.toContain('recipe=');
  }
});
