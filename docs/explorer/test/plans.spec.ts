import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { example } from '../src/views/batches/lengths.ts';
import { STRATEGIES, withRoom } from '../src/views/batches/strategies.ts';
import { at, expect, numbers, python, run, snippet, test } from './page.ts';

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

test('another budget keeps the options of the strategy, and another strategy those of all', () => {
  const batchOf = (recipe: string) => JSON.parse(recipe).batch;
  const bucket = { strategy: 'bucket', max_tokens: 9000, boundaries: [64, 512], pad_to_bucket: true, tail: 'drop' };
  const recipe = JSON.stringify({ batch: bucket });
  expect(batchOf(withRoom(recipe, 'bucket', 6000, 800))).toEqual({ ...bucket, max_tokens: 6000 });
  expect(batchOf(withRoom(recipe, 'budget', 6000, 800))).toEqual({
    strategy: 'budget',
    max_tokens: 6000,
    tail: 'drop',
  });
  const weighted = { strategy: 'budget', counting: 'weighted', quadratic: 1, max_cost: 9000, packing: 'optimal' };
  expect(batchOf(withRoom(JSON.stringify({ batch: weighted }), 'budget', 6000, 800))).toEqual({
    strategy: 'budget',
    max_tokens: 6000,
  });
});

test.describe('batches', () => {
  test('the strategies and a step are what Python says', async ({ page }) => {
    const recipe = '{"order":{"seed":7},"deal":{"world_size":3},"batch":{"strategy":"budget","max_tokens":12000}}';
    const lengths = [...example('documents')];
    const longest = Math.max(...lengths);
    const others = STRATEGIES.filter((name) => name !== 'budget').map((name) => [
      name,
      withRoom(recipe, name, 12000, longest),
    ]);
    const recipes = Object.fromEntries([['budget', recipe], ...others]);
    const expected = await python<{ compared: Record<string, Record<string, number>>; samples: number[][] }>(
      'batches',
      {
        recipes,
        lengths,
        epoch: 2,
        step: 5,
      },
    );
    await page.goto(at('batches', { batches: recipe, lengths: 'documents', epoch: '2', step: '5' }));
    for (const [strategy, { steps = 0, padding = 0, slowest = 0 }] of Object.entries(expected.compared)) {
      const row = page.locator(`tr[data-strategy=${strategy}]`);
      await expect(row.locator('[data-fact=steps]'), strategy).toHaveText(steps.toLocaleString('en'));
      await expect(row.locator('[data-fact=padding]'), strategy).toHaveText(percent(padding));
      await expect(row.locator('[data-fact=slowest]'), strategy).toHaveText(percent(slowest));
    }
    for (const [rank, samples] of expected.samples.entries()) {
      await expect(page.locator(`[data-shape="${rank}"] [data-samples]`)).toHaveText(samples.join(' '));
    }
  });

  test('the picture shows the strategy with the least waste, one click from another one', async ({ page }) => {
    await page.goto(at('batches'));
    const says = page.locator('[data-says]');
    await expect(says).toContainText('pack wastes the least');
    const shown = page.getByRole('heading', { name: 'The batches of one step' });
    await expect(shown).toHaveText('The batches of one step with budget');
    await page.getByRole('button', { name: 'Show pack' }).click();
    await expect(shown).toHaveText('The batches of one step with pack');
    await expect(page.getByRole('radio', { name: 'pack' })).toBeChecked();
    await expect(page.locator('[data-show]')).toHaveCount(0);
    await expect(says).toContainText('pack wastes the least');
  });

  test('the lengths in a row are shown by a pointer, and listed', async ({ page }) => {
    const batch = { strategy: 'pack', capacity: 60, max_batch_size: 4 };
    const recipe = JSON.stringify({ deal: { world_size: 2 }, batch });
    const lengths = Array.from({ length: 80 }, (_, sample) => 10 + ((sample * 7) % 30));
    const expected = await python<{ samples: number[][] }>('batches', {
      recipes: { pack: recipe },
      lengths,
      epoch: 0,
      step: 1,
    });
    await page.goto(at('batches', { batches: recipe, lengths: lengths.join(' '), step: '1' }));
    await page.getByText('Lengths in the rows').click();
    for (const [rank, samples] of expected.samples.entries()) {
      const rows = await page.locator(`[data-lengths^="${rank} "] td:last-child`).allInnerTexts();
      const parts = rows.map((text) => text.replace(/; .*/, '').split(' + ').map(Number));
      expect(parts.flat()).toEqual(samples.map((sample) => lengths[sample]));
      for (const [row, text] of rows.entries()) {
        const canvas = page.locator(`[data-shape="${rank}"] canvas`);
        const box = await canvas.boundingBox();
        await canvas.hover({ position: { x: 5, y: ((row + 0.5) / rows.length) * (box?.height ?? 0) } });
        await expect(page.locator(`[data-shape="${rank}"] [data-row]`)).toHaveText(`Row ${row}: ${text}`);
      }
    }
  });

  test('dragging the room plans again, and a choice is a recipe', async ({ page }) => {
    await page.goto(at('batches'));
    const steps = page.locator('tr[data-strategy=budget] [data-fact=steps]');
    await expect(steps).toBeVisible();
    const before = numbers(await steps.innerText().then((text) => text.replaceAll(',', '')));
    // Sixteen notches to the right double the tokens.
    const drag = page.getByLabel('Drag the tokens of a batch');
    await drag.fill(String(Number(await drag.inputValue()) + 16));
    await expect(steps).not.toHaveText(String(before[0]));
    const after = await steps.innerText();
    await expect(page.locator('[data-change]')).toContainText(
      `From 8,192 to 16,384 tokens, budget takes ${after} steps instead of ${before[0]}`,
    );
    await page.getByRole('radio', { name: 'pack' }).check();
    await expect(page.getByLabel('Capacity')).toHaveValue('2048');
    await page.getByLabel('Capacity').fill('100');
    const wrong = page.getByText(/samples are longer than 100 tokens: the longest has 2,047/);
    await expect(wrong.first()).toBeVisible();
    await expect(page.getByLabel('Samples that are too long')).toHaveAttribute('aria-invalid', 'true');
    await page.locator('[data-policy=truncate]').click();
    await expect(page.getByLabel('Samples that are too long')).toHaveValue('truncate');
    await expect(page.locator('[data-policy]')).toHaveCount(0);
  });

  test('the budget stays while strategies change, and samples that are too long are counted', async ({ page }) => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'));
    const lengths = Array.from({ length: 4000 }, (_, sample) =>
      sample % 100 === 0 ? 4097 : 20 + ((sample * 37) % 900),
    );
    const file = join(folder, 'lengths.json');
    writeFileSync(file, JSON.stringify(lengths));
    await page.goto(
      at('batches', { batches: '{"deal":{"world_size":8},"batch":{"strategy":"budget","max_tokens":8191}}' }),
    );
    await page.getByLabel('Files to open').setInputFiles(file);
    await expect(page.getByText('4,000 samples, the longest has 4,097 tokens')).toBeVisible();
    await expect(page.locator('[data-loaded=lengths]')).toHaveText(/^From lengths\.json, \d+\.\d kB$/);
    const max = page.getByLabel('Max tokens', { exact: true });
    for (const strategy of ['pack', 'pad-to-max', 'bucket', 'budget']) {
      await page.getByRole('radio', { name: strategy }).check();
      await expect(page.getByRole('heading', { name: 'Strategies at 8,191 tokens a batch' })).toBeVisible();
      await expect(max).toHaveValue('8191');
    }
    const verdict = page.locator('[data-says]');
    await max.fill('4096');
    await expect(verdict).toContainText('40 of 4,000 samples are longer than 4,096 tokens');
    for (const policy of ['drop', 'truncate', 'split'] as const) {
      await page.getByLabel('Samples that are too long').selectOption(policy);
      await expect(verdict).toContainText(
        `40 samples are longer than 4,096 tokens and ${{ drop: 'left out', truncate: 'cut', split: 'split' }[policy]}`,
      );
      const batch = { too_long: policy };
      const recipes = {
        budget: { strategy: 'budget', max_tokens: 4096, ...batch },
        bucket: { strategy: 'bucket', max_tokens: 4096, ...batch },
        pack: { strategy: 'pack', capacity: 4096, max_batch_size: 1, ...batch },
        'pad-to-max': { strategy: 'pad-to-max', max_length: 4096, max_batch_size: 1, ...batch },
      };
      const { compared } = await python<{ compared: Record<string, Record<string, number>> }>('batches', {
        recipes: Object.fromEntries(
          Object.entries(recipes).map(([name, own]) => [name, JSON.stringify({ deal: { world_size: 8 }, batch: own })]),
        ),
        lengths,
        epoch: 0,
        step: 0,
      });
      for (const [strategy, { steps = 0, padding = 0, tokens = 0, concerned }] of Object.entries(compared)) {
        const row = page.locator(`tr[data-strategy=${strategy}]`);
        await expect(row.locator('[data-fact=steps]'), `${policy} ${strategy}`).toHaveText(steps.toLocaleString('en'));
        await expect(row.locator('[data-fact=padding]')).toHaveText(percent(padding));
        await expect(row.locator('[data-fact=filled]')).toHaveText(percent(tokens / (steps * 8 * 4096)));
        expect(concerned).toBe(40);
      }
      const [best] = Object.entries(compared).sort(([, a], [, b]) => (a.steps ?? 0) - (b.steps ?? 0))[0] ?? [];
      await expect(verdict).toContainText(`At 4,096 tokens a batch on 8 ranks, ${best} wastes the least`);
    }
  });

  test('a limit of samples is one of all strategies', async ({ page }) => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'));
    const lengths = Array.from({ length: 3000 }, (_, sample) => 1 + ((sample * 1009) % 2000));
    const file = join(folder, 'lengths.json');
    writeFileSync(file, JSON.stringify(lengths));
    await page.goto(at('batches', { batches: '{"deal":{"world_size":4},"batch":{"max_tokens":8192}}' }));
    await page.getByLabel('Files to open').setInputFiles(file);
    await page.getByLabel('Max length').fill('1024');
    await expect(page.locator('[data-policy=truncate]')).toBeVisible();
    await page.getByLabel('Samples that are too long').selectOption('truncate');
    const limit = { max_length: 1024, too_long: 'truncate' };
    const recipes = {
      budget: { strategy: 'budget', max_tokens: 8192, ...limit },
      bucket: { strategy: 'bucket', max_tokens: 8192, ...limit },
      pack: { strategy: 'pack', capacity: 1024, max_batch_size: 8, ...limit },
      'pad-to-max': { strategy: 'pad-to-max', max_batch_size: 8, ...limit },
    };
    const { compared } = await python<{ compared: Record<string, Record<string, number>> }>('batches', {
      recipes: Object.fromEntries(
        Object.entries(recipes).map(([name, batch]) => [name, JSON.stringify({ deal: { world_size: 4 }, batch })]),
      ),
      lengths,
      epoch: 0,
      step: 0,
    });
    for (const [strategy, { steps = 0, padding = 0 }] of Object.entries(compared)) {
      const row = page.locator(`tr[data-strategy=${strategy}]`);
      await expect(row.locator('[data-fact=steps]'), strategy).toHaveText(steps.toLocaleString('en'));
      await expect(row.locator('[data-fact=padding]')).toHaveText(percent(padding));
    }
    for (const strategy of ['pack', 'pad-to-max', 'budget']) {
      await page.getByRole('radio', { name: strategy }).check();
      await expect(page.getByLabel('Max length')).toHaveValue('1024');
    }
  });

  test('with weights, the component says which samples are too long', async ({ page }) => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'));
    const lengths = Array.from({ length: 3000 }, (_, sample) => 1 + ((sample * 1009) % 120));
    const file = join(folder, 'lengths.json');
    writeFileSync(file, JSON.stringify(lengths));
    const batch = { counting: 'weighted', linear: 1, quadratic: 1, max_cost: 10100 };
    const deal = { world_size: 2 };
    await page.goto(at('batches', { batches: JSON.stringify({ deal, batch }) }));
    await page.getByLabel('Files to open').setInputFiles(file);
    const question = { lengths, epoch: 0, step: 0 };
    const recipes = { budget: JSON.stringify({ deal, batch: { ...batch, too_long: 'drop' } }) };
    const { compared } = await python<{ compared: Record<string, Record<string, number>> }>('batches', {
      recipes,
      ...question,
    });
    const { concerned = 0, steps = 0 } = compared.budget ?? {};
    expect(concerned).toBeGreaterThan(0);
    // A sample of 100 tokens costs 100 + 100 * 100 = 10,100, which is `max_cost`.
    const long = `${concerned} of 3,000 samples are longer than 100 tokens: the longest has 120`;
    await expect(page.locator('[data-says]')).toContainText(long);
    await page.locator('[data-policy=drop]').click();
    await expect(page.locator('[data-says]')).toContainText(
      `${concerned} samples are longer than 100 tokens and left out`,
    );
    await expect(page.locator('tr[data-strategy=budget] [data-fact=steps]')).toHaveText(String(steps));
  });

  test('a list of lengths is dropped, and what is copied prints what the page shows', async ({ page }) => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'));
    const lengths = Array.from({ length: 5000 }, (_, sample) => 1 + ((sample * 37) % 400));
    const file = join(folder, 'lengths.json');
    writeFileSync(file, JSON.stringify(lengths));
    await page.goto(at('step'));
    await page.getByLabel('Files to open').setInputFiles(file);
    await expect(page.getByText('5,000 samples, the longest has 400 tokens')).toBeVisible();
    const shown = await page.locator('[data-shape="0"] [data-samples]').innerText();
    const list = `json.loads(open('${file}').read())`;
    const inPython = run('Python', `import json\n${(await snippet(page, 'Python')).replace('[...]', list)}`);
    expect(numbers(inPython.slice(inPython.indexOf('['))).join(' ')).toBe(shown);
    const inCommand = run(
      'Command',
      `cd ${folder}; ${await snippet(page, 'Command')}`.replace(/ #.*/, ' --rank 0 --json'),
    );
    expect(inCommand.replaceAll(/\s/g, '')).toContain(shown.replaceAll(' ', ','));
  });
});

test.describe('shards', () => {
  const samples =
    '{"order":{"name":"sharded","seed":7,"lanes":16,"shuffle_window":64,"sizes":[900,1200,400,1500,800]},"deal":{"world_size":3,"workers":2},"batch":{"batch_size":32}}';
  const files =
    '{"shards":{"seed":7,"sizes":[900,1200,400,1500,800,77]},"deal":{"world_size":2,"workers":2},"batch":{"batch_size":32}}';
  for (const [recipe, round] of [
    [samples, 0],
    [samples, 3],
    [files, 1],
  ] as const) {
    test(`round ${round} of ${recipe.slice(0, 20)} is what Python says`, async ({ page }) => {
      await page.goto(at('shards', { reading: recipe, epoch: '1', round: String(round) }));
      const expected = await python<Record<string, [number, number, string, number[]]>>('shards', {
        recipe,
        epoch: 1,
        round,
      });
      const counts = Object.values(expected).map(([count]) => count);
      const [most, least] = [Math.max(...counts), Math.min(...counts)];
      await expect(page.locator('[data-says]')).toContainText(
        most === least
          ? `evenly: each reads ${most.toLocaleString('en')} samples`
          : `the largest reads ${most.toLocaleString('en')} samples`,
      );
      if (most > least) await expect(page.locator('[data-says]')).toContainText(`: ${percent(most / least - 1)} more`);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: 'Copy as a table' }).click();
      await expect(page.getByText(/readers copied/)).toBeVisible();
      const lines = (await page.evaluate(() => navigator.clipboard.readText())).split('\n').slice(1);
      expect(lines).toEqual(
        Object.entries(expected).map(([reader, [count, , , files]]) =>
          [...reader.split(' '), count, files.join(' ')].join('\t'),
        ),
      );
      for (const [reader, [count, held, spans, files]] of Object.entries(expected)) {
        const row = page.locator(`tr[data-reader="${reader}"]`);
        await expect(row.locator('[data-fact=samples]'), reader).toHaveText(count.toLocaleString('en'));
        await expect(row.locator('[data-fact=held]'), reader).toHaveText(held.toLocaleString('en'));
        await expect(row.locator('[data-files]'), reader).toHaveText(files.join(', '));
        const shown = await row.locator('[data-spans]').innerText();
        expect(shown.replace(/ … .*/, ''), reader).toBe(spans.split(' ').slice(0, 12).join(' '));
      }
    });
  }

  test('other deals and wrong values', async ({ page }) => {
    await page.goto(at('shards'));
    await page.getByLabel('Readers get').selectOption('whole files');
    await expect(page.getByLabel('Policy')).toBeVisible();
    await expect(page.locator('[data-fact=steps]')).toContainText('to');
    await page.getByLabel('Readers get').selectOption('samples');
    await page.getByLabel('Lanes').fill('70000');
    await expect(page.getByText('lanes is 70000; allowed: 1 to 65536')).toBeVisible();
  });

  test('what is copied runs', async ({ page }) => {
    await page.goto(at('shards', { reading: samples, round: '1' }));
    const spans = (await page.locator('tr[data-reader="0 0"] [data-spans]').innerText()).split(' ');
    const rows = spans.map((span) => Number(span.split(/[:+]/)[1]));
    for (const language of ['Python', 'JavaScript'] as const) {
      const printed = numbers(run(language, await snippet(page, language)));
      for (const row of rows) expect(printed, language).toContain(row);
    }
  });
});
