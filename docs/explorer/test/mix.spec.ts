import { at, expect, numbers, printedArray, python, run, snippet, test } from './page.ts';

const SOURCES =
  '"sources":[{"name":"web","weight":7,"samples":3000},{"name":"code","weight":2,"samples":600},{"name":"maths","weight":1,"samples":50}]';
const BLENDS = {
  plain: `{"order":{"name":"blend","samples":5000,"seed":42,${SOURCES}},"deal":{"world_size":3}}`,
  exact: `{"order":{"name":"blend-exact","samples":5001,"seed":42,${SOURCES}},"deal":{"world_size":4,"layout":"strided"}}`,
  stages: `{"order":{"name":"blend","samples":5000,"seed":42,${SOURCES},"stages":[{"from":5100,"weights":[1,0,5]}]},"deal":{"world_size":3}}`,
  stop: `{"order":{"name":"blend","seed":42,"exhaustion":"stop",${SOURCES}},"deal":{"world_size":2}}`,
};
const LARGE =
  '{"order":{"name":"blend","samples":1000000000000,"seed":42,"sources":[{"name":"web","weight":731,"samples":800000000000},{"name":"code","weight":269,"samples":90000000000}]},"deal":{"world_size":4096}}';

/** The number in a text of the page, whose minus sign is not a hyphen. */
const signed = (text: string) => Number(text.replaceAll(',', '').replace('−', '-'));
/** Compares a drift with the one on the page, which has three decimals. */
const close = (found: number, expected: number) => expect(Math.abs(found - expected)).toBeLessThan(0.00051);

for (const [name, recipe] of Object.entries(BLENDS)) {
  for (const epoch of [0, 1]) {
    test(`the drift of the blend "${name}" in epoch ${epoch} is what Python says`, async ({ page }) => {
      // Every position is on the screen.
      await page.goto(at('mix', { recipe, epoch: String(epoch), part: '70-160' }));
      await page.getByText('Drift as a table').click();
      await expect(page.locator('tr[data-column]')).toHaveCount(90);
      const positions = Array.from({ length: 90 }, (_, position) => 71 + position);
      const expected = await python<{ drift: number[][]; bounds: number[] }>('drift', { recipe, epoch, positions });
      const cells = await page
        .locator('tr[data-column]')
        .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
      for (const [index, [position, ...drifts]] of cells.entries()) {
        expect(signed(position ?? '')).toBe(positions[index]);
        for (const [source, text] of drifts.entries())
          close(signed(text), expected.drift[index]?.[source] ?? Number.NaN);
      }
      const farthest = await page
        .locator('[data-farthest]')
        .evaluateAll((found) => found.map((cell) => Math.abs(Number(cell.getAttribute('data-farthest')))));
      for (const [source, value] of farthest.entries()) {
        const all = expected.drift.map((row) => Math.abs(row[source] ?? 0));
        close(value, Math.max(...all));
        if (epoch === 0 || name !== 'stages') expect(value).toBeLessThanOrEqual((expected.bounds[source] ?? 0) + 1e-6);
      }
    });
  }
}

for (const name of ['plain', 'exact', 'stages', 'stop'] as const) {
  test(`the drift of each rank of "${name}" is what Python says, and the sentence has the largest one`, async ({
    page,
  }) => {
    const recipe = BLENDS[name];
    await page.goto(at('mix', { recipe, epoch: '1', part: '70-1070' }));
    const expected = await python<Record<string, number[]>>('rank_drift', { recipe, epoch: 1, start: 70, end: 1070 });
    const rows = page.locator('tr[data-rank-drift]');
    await expect(rows).toHaveCount(Object.keys(expected).length);
    const found = await rows.evaluateAll((all) =>
      all.map(
        (row) =>
          [
            row.getAttribute('data-rank-drift') ?? '',
            [...row.querySelectorAll('[data-drift]')].map((cell) => Math.abs(Number(cell.getAttribute('data-drift')))),
          ] as const,
      ),
    );
    for (const [rank, drifts] of found)
      for (const [source, drift] of drifts.entries()) expect(drift).toBeCloseTo(expected[rank]?.[source] ?? -1, 6);
    const largest = Math.max(...Object.values(expected).flat());
    const all = await page
      .locator('[data-farthest]')
      .evaluateAll((cells) => Math.max(...cells.map((cell) => Math.abs(Number(cell.getAttribute('data-farthest'))))));
    const written = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 3 });
    await expect(page.locator('[data-drift-says]')).toContainText(`is ${written(all)} samples (`);
    await expect(page.locator('[data-rank-says]')).toContainText(
      new RegExp(
        `On one rank alone, the largest drift is ${written(largest).replaceAll('.', '\\.')} of [\\d,]+ samples \\(`,
      ),
    );
  });
}

test('a rank that has other shares than its weights ask for is named, and the layout that is the reason', async ({
  page,
}) => {
  const recipe = (deal: string) =>
    `{"order":{"name":"blend","samples":20000,"seed":42,${SOURCES}},"deal":{"world_size":8${deal}}}`;
  await page.goto(at('mix', { recipe: recipe(',"layout":"strided"') }));
  const said = page.locator('[data-unlike]');
  await expect(said).toContainText(
    'That is more than chance explains. The layout strided gives each rank one position of every 8',
  );
  await expect(page.locator('[data-says]')).toContainText(
    /But rank \d alone reads [\d.]+\s% \w+ in place of [\d.]+\s%\./,
  );
  await page.getByText('Drift of each rank').click();
  await expect(page.locator('tr[data-rank-drift]')).toHaveCount(8);
  const counts = await page.locator('tr[data-rank-drift]').evaluateAll((rows) => {
    const numbers = rows.map((row) =>
      [...row.querySelectorAll('[data-count]')].map((cell) => Number(cell.getAttribute('data-count'))),
    );
    return numbers;
  });
  // The weights 7, 2, 1 repeat after ten positions, so every eighth position meets only five of the ten places.
  const [, rank, share, name] = (await said.textContent())?.match(/rank (\d), ([\d.]+)\s% are from (\w+)/) ?? [];
  const source = ['web', 'code', 'maths'].indexOf(name ?? '');
  expect((100 * (counts[Number(rank)]?.[source] ?? 0)) / 2048).toBeCloseTo(Number(share), 1);
  await page.goto(at('mix', { recipe: recipe('') }));
  await expect(page.locator('tr[data-rank-drift]')).toHaveCount(8);
  await expect(said).toHaveCount(0);
});

test('a short sentence says whether the mixture holds, and the rest is a click away', async ({ page }) => {
  await page.goto(at('mix', { recipe: BLENDS.plain }));
  const says = page.locator('[data-says]');
  await expect(says).toHaveText(
    'The sources are mixed as their weights ask for, everywhere in the epoch: at most one sample away.',
  );
  await expect(page.locator('[data-farthest], tr[data-rank-drift], [data-drift-says]')).toHaveCount(0);
  // A sample of maths is read ten times: 500 positions have one of its 50 samples.
  for (const [source, passes] of [
    ['web', 3500 / 3000],
    ['code', 1000 / 600],
    ['maths', 10],
  ] as const) {
    const row = page.locator(`tr[data-source=${source}]`);
    expect(Number(await row.locator('[data-passes]').getAttribute('data-passes'))).toBeCloseTo(passes, 2);
    await expect(row.locator('[data-passes]')).toHaveText(
      Number(await row.locator('[data-passes]').getAttribute('data-passes')).toLocaleString('en', {
        maximumSignificantDigits: 3,
      }),
    );
  }
  await page.getByText('Drift from the weights, and its bounds').click();
  await expect(page.locator('[data-farthest]')).toHaveCount(3);
});

test('a small share is no zero', async ({ page }) => {
  const sources = '[{"name":"web","weight":4999999,"samples":900000000},{"name":"rare","weight":1,"samples":50}]';
  const recipe = `{"order":{"name":"blend","samples":100000000,"seed":42,"sources":${sources}},"deal":{"world_size":8}}`;
  await page.goto(at('mix', { recipe }));
  const cells = page.locator('tr[data-source=rare] td');
  await expect(cells.nth(0)).toHaveText('2\u00a0×\u00a010⁻⁵ %');
  await expect(cells.nth(1)).toHaveText('2\u00a0×\u00a010⁻⁵ %');
  await expect(cells.nth(2)).toHaveText('20');
  await expect(page.locator('tr[data-source=web] td').first()).toHaveText('100.000 %');
});

test('drawing labels keeps the page busy for less than 50 ms at a time', async ({ page }) => {
  await page.goto(at('mix', { mix: 'labels' }));
  await expect(page.locator('[data-order=feistel]')).toBeVisible();
  await page.evaluate(() => {
    const long: number[] = [];
    Object.assign(window, { long });
    new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    });
  });
  await page.getByRole('button', { name: '1,000 labels of ImageNet' }).click();
  await expect(page.getByText('Dark colours are the labels that are stored first.')).toBeVisible();
  // The time grows with the number of elements. So each group of labels is one element, and a closed table has no rows.
  expect(await page.locator('[aria-label="Labels by batch"] svg *').count()).toBeLessThan(250);
  await expect(page.locator('tr[data-batch]')).toHaveCount(0);
  const longest = await page.evaluate(() => Math.max(0, ...(window as unknown as { long: number[] }).long));
  console.log(`longest task of the page while labels are drawn: ${Math.round(longest)} ms`);
});

for (const name of ['plain', 'exact', 'stop'] as const) {
  test(`what sources give to the steps of "${name}" is what Python counts, sample by sample`, async ({ page }) => {
    const recipe = BLENDS[name];
    await page.goto(at('mix', { recipe, epoch: '1', batch: '20', step: '2', rank: '1' }));
    await page.getByText('Steps as a table').click();
    await expect(page.locator('tr[data-step]').first()).toBeVisible();
    const rows = await page
      .locator('tr[data-step]')
      .evaluateAll((found) =>
        found.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent))),
      );
    expect(rows.length).toBeGreaterThan(10);
    const steps = [0, 2, rows.length - 1];
    const expected = await python<{ all: number[]; one: number[] }[]>('steps_of_blend', {
      recipe,
      epoch: 1,
      batch: 20,
      steps,
    });
    expect(steps.map((step) => rows[step])).toEqual(expected.map(({ all }) => all));
    const own = await page.locator('tr[data-step-source] td:last-child').allInnerTexts();
    expect(own.map(Number)).toEqual(expected[1]?.one);
  });
}

test('at 10^12 samples, the last positions are as near as the first ones', async ({ page }) => {
  await page.goto(at('mix', { recipe: LARGE, step: '15258788', part: '999999999900-1000000000000' }));
  await page.getByText('Drift as a table').click();
  await expect(page.locator('tr[data-column]').last()).toContainText('1,000,000,000,000');
  const expected = await python<{ drift: number[][] }>('drift', {
    recipe: LARGE,
    epoch: 0,
    positions: [999999999999, 1e12],
  });
  for (const [row, drifts] of expected.drift.entries()) {
    const shown = await page
      .locator('tr[data-column]')
      .nth(98 + row)
      .locator('td')
      .allInnerTexts();
    for (const [source, text] of shown.entries()) close(signed(text), drifts[source] ?? Number.NaN);
  }
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await expect(page.locator('tr[data-source=web]')).toContainText('731,000,000,000');
  await expect(page.getByText('Step 15,258,788: positions 999,999,')).toBeVisible();
  await expect(page.getByLabel('Drag: Step')).toHaveValue('15258788');
});

test('a wrong value of a blend is said at its field', async ({ page }) => {
  await page.goto(at('mix', { recipe: BLENDS.plain }));
  await page.getByLabel('Weight', { exact: true }).first().fill('many');
  await expect(page.getByText('weight is "many"; allowed').first()).toBeVisible();
  await page.getByLabel('Weight', { exact: true }).first().fill('12');
  await expect(page.locator('tr[data-source=web]')).toContainText('80.000 %');
  await page.getByRole('textbox', { name: 'Rank' }).fill('3');
  await expect(page.getByText('rank is 3; allowed: 0 to 2')).toBeVisible();
});

test('a recipe that is no blend is left alone', async ({ page }) => {
  await page.goto(at('mix'));
  await expect(page.getByText('The recipe of the other views is no blend.')).toBeVisible();
  await expect(page.locator('tr[data-source]')).toHaveCount(3);
  await page.getByRole('link', { name: 'What does a rank read?' }).click();
  await expect(page.getByLabel('Samples', { exact: true })).toHaveValue('1000');
});

interface Shown {
  perfect: number;
  feistel: { counts: number[][]; distance: number };
  sharded: { counts: number[][]; distance: number };
  buffer: { counts: number[][]; distance: number };
}

const SETTINGS = {
  sorted: {
    samples: 5003,
    labels: 7,
    files: 12,
    batch: 50,
    seed: 42,
    epoch: 0,
    lanes: 8,
    shuffle_window: 16,
    buffer: 300,
    files_first: false,
  },
  'in files': {
    samples: 4000,
    labels: 3,
    files: 9,
    batch: 40,
    seed: 7,
    epoch: 2,
    lanes: 4,
    shuffle_window: 5,
    buffer: 61,
    files_first: true,
  },
  'a buffer for all': {
    samples: 900,
    labels: 5,
    files: 1,
    batch: 30,
    seed: -5,
    epoch: 1,
    lanes: 2,
    shuffle_window: 9,
    buffer: 5000,
    files_first: false,
  },
} as const;

for (const [name, settings] of Object.entries(SETTINGS)) {
  test(`labels of batches, ${name}, are what Python counts`, async ({ page }) => {
    const labelled = JSON.stringify(settings);
    for (const part of ['', '60-100']) {
      if (part && settings.samples < 4000) continue;
      await page.goto(at('mix', { mix: 'labels', labelled, part }));
      if (!part) await page.getByText('As a table').click();
      await expect(page.locator('tr[data-batch]').first()).toHaveAttribute('data-batch', part ? '60' : '0');
      const shown = await page
        .locator('tr[data-batch]')
        .evaluateAll((rows) =>
          rows.map(
            (row) =>
              [
                Number(row.getAttribute('data-batch')),
                ...[...row.querySelectorAll('td')].map((cell) => cell.textContent ?? ''),
              ] as const,
          ),
        );
      const batches = shown.map(([batch]) => batch as number);
      if (part) expect(batches).toEqual(Array.from({ length: 40 }, (_, at) => 60 + at));
      else expect(batches.at(-1)).toBeGreaterThan(25);
      const expected = await python<Shown>('labels', { settings: { ...settings, seed: settings.seed }, batches });
      for (const [column, order] of (['feistel', 'sharded', 'buffer'] as const).entries()) {
        const counts = shown.map((row) =>
          String(row[column + 1])
            .split(' ')
            .map((share) => Math.round((Number(share) * settings.batch) / 100)),
        );
        expect(counts, order).toEqual(expected[order].counts);
        const distance = Number(await page.locator(`[data-order=${order}]`).getAttribute('data-distance'));
        expect(distance).toBeCloseTo(expected[order].distance, 9);
      }
      expect(Number(await page.locator('[data-perfect]').getAttribute('data-perfect'))).toBeCloseTo(
        expected.perfect,
        9,
      );
    }
  });
}

test('labels of 10^12 samples, whose buffer begins anywhere', async ({ page }) => {
  await page.goto(at('mix', { mix: 'labels' }));
  await page.getByRole('button', { name: '10¹² samples' }).click();
  await page.getByText('As a table').click();
  await expect(page.locator('tr[data-batch]').last()).toHaveAttribute('data-batch', /^96\d{7}$/);
  const settings = JSON.parse(
    new URLSearchParams(new URL(page.url()).hash.split('?')[1] ?? '').get('labelled') ?? '{}',
  );
  const batches = (await page
    .locator('tr[data-batch]')
    .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('data-batch'))))) as number[];
  const shown = await page.locator('tr[data-batch] td:nth-of-type(1)').allInnerTexts();
  const expected = await python<Shown>('labels', {
    settings: { ...settings, samples: 1e12 },
    batches: batches.slice(-2),
  });
  const counts = shown.slice(-2).map((text) => text.split(' ').map((share) => Number(share)));
  for (const [row, own] of expected.feistel.counts.entries()) {
    for (const [label, count] of own.entries())
      expect(Math.abs((counts[row]?.[label] ?? 0) - (100 * count) / settings.batch)).toBeLessThan(0.06);
  }
});

test('a wrong value of a dataset is said at its field', async ({ page }) => {
  await page.goto(at('mix', { mix: 'labels' }));
  await page.getByLabel('Buffer size').fill('0');
  await expect(page.getByText('buffer is 0; allowed: 1 to 100000 on this page')).toBeVisible();
  await page.getByLabel('Buffer size').fill('10');
  await page.getByLabel('Lanes').fill('none');
  await expect(page.getByLabel('Lanes')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Lanes').fill('64');
  await page.getByLabel('Samples', { exact: true }).fill('-1');
  await expect(page.getByLabel('Samples', { exact: true })).toHaveAttribute('aria-invalid', 'true');
});

test('what is copied prints what the page shows', async ({ page }) => {
  await page.goto(at('mix', { recipe: BLENDS.plain, batch: '20', step: '3' }));
  await expect(page.locator('tr[data-step-source]')).toHaveCount(3);
  const counts = (await page.locator('tr[data-step-source] td:nth-of-type(2)').allInnerTexts()).map(Number);
  expect(counts).toHaveLength(3);
  expect(numbers(run('Python', await snippet(page, 'Python')))).toEqual(counts);
  expect(printedArray(run('JavaScript', await snippet(page, 'JavaScript'))).slice(-3)).toEqual(counts);
  const printed = JSON.parse(run('Command', `${await snippet(page, 'Command')} --json`)) as {
    sources: { count: number }[];
  };
  expect(printed.sources.map(({ count }) => count)).toEqual(counts);

  const labelled = JSON.stringify(SETTINGS.sorted);
  await page.goto(at('mix', { mix: 'labels', labelled }));
  await page.getByText('As a table').click();
  const shares = (await page.locator('tr[data-batch] td:nth-of-type(2)').first().innerText()).split(' ');
  const own = shares.map((share) => Math.round((Number(share) * 50) / 100));
  for (const language of ['Python', 'JavaScript'] as const) {
    const pairs = numbers(run(language, await snippet(page, language)));
    const counts = new Map(pairs.flatMap((number, place) => (place % 2 === 0 ? [[number, pairs[place + 1]]] : [])));
    const found = own.map((_, label) => counts.get(label) ?? 0);
    expect(found, language).toEqual(own);
  }
  const samples = numbers(run('Command', `${await snippet(page, 'Command')} --format text`));
  const found = own.map((_, label) => samples.filter((sample) => Math.floor((sample * 7) / 5003) === label).length);
  expect(found).toEqual(own);
});
