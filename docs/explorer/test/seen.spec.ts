import type { Page } from '@playwright/test';
import { at, expect, numbers, printedArray, python, run, snippet, test } from './page.ts';

const TORCH = '{"order":{"name":"torch","samples":203,"seed":7},"deal":{"world_size":4}}';
const BLEND =
  '{"order":{"name":"blend","samples":500,"seed":42,"sources":[{"name":"web","weight":7,"samples":300},{"name":"code","weight":2,"samples":60}]},"deal":{"world_size":3}}';
const PLAIN = '{"order":{"samples":1000,"seed":42},"deal":{"world_size":8}}';

test.describe('sample', () => {
  for (const [recipe, samples] of [
    [PLAIN, [123, 7]],
    [TORCH, [0, 202]],
    [BLEND, [310]],
    ['{"order":{"samples":1000000000000},"deal":{"world_size":4096}}', [999999999999]],
  ] as const) {
    test(`places of ${samples} in ${recipe.slice(0, 40)} are what Python says`, async ({ page }) => {
      await page.goto(at('sample', { recipe, samples: samples.join(' '), epoch: '2', epochs: '5', batch: '20' }));
      await expect(page.locator('tr[data-place]').first()).toBeVisible();
      const rows = await page.locator('tr[data-place]').all();
      const found = await Promise.all(
        rows.map(async (row) =>
          (await row.locator('td').allInnerTexts()).map((cell) => Number(cell.replaceAll(',', ''))),
        ),
      );
      expect(found).toEqual(await python('places', { recipe, samples, epochs: [2, 3, 4, 5, 6], batch: 20 }));
      expect(await page.locator('circle:has(title)').count()).toBe(found.length);
    });
  }

  test('a comma between digits groups thousands, and others separate samples', async ({ page }) => {
    await page.goto(at('sample', { recipe: '{"order":{"samples":5000000}}', epochs: '1' }));
    const field = page.getByLabel('Sample indices');
    for (const [text, samples] of [
      ['4,242,424', ['4,242,424']],
      ['4, 242;424', ['4', '242', '424']],
      ['1,000 7, 1e6', ['1,000', '7', '1,000,000']],
    ] as const) {
      await field.fill(text);
      await expect(page.locator('tr[data-place] td:first-child')).toHaveText([...samples]);
    }
    await page.waitForURL(/samples=1000\+7\+1000000/);
    await expect(page.getByRole('tabpanel')).toContainText('for sample in [1000, 7, 1000000]:');
    await field.fill('123,7');
    await expect(page.getByText('sample is 123,7; commas group thousands: separate samples by spaces')).toBeVisible();
  });

  test('a checkpoint had seen what Python says', async ({ page }) => {
    const { state, seen } = await python<{ state: string; seen: number[] }>('state', {
      recipe: TORCH,
      epoch: 1,
      taken: 24,
    });
    const [first = 0] = seen;
    const other = Array.from({ length: 203 }, (_, sample) => sample).find((sample) => !seen.includes(sample)) ?? 0;
    await page.goto(at('sample', { recipe: TORCH, samples: `${first}, ${other}`, state }));
    await expect(page.locator('[data-verdict]')).toHaveText([`Sample ${first}: seen`, `Sample ${other}: upcoming`]);
    await expect(page.getByText('epoch 1, 96 of 203 positions read')).toBeVisible();
  });

  for (const [how, open] of Object.entries({
    dropped: async (page: Page, state: string) => {
      await page.goto(at('step'));
      await page
        .getByLabel('Files to open')
        .setInputFiles({ name: 'state.json', mimeType: 'application/json', buffer: Buffer.from(state) });
    },
    'in a list, with the members in another order': async (page: Page, state: string) => {
      const members = Object.entries(JSON.parse(state) as Record<string, unknown>);
      const text = JSON.stringify(Object.fromEntries(members.reverse()));
      const buffer = Buffer.from(JSON.stringify({ loaders: [{ batches: 3, samedeal: text }] }));
      await page.goto(at('step'));
      await page
        .getByLabel('Files to open')
        .setInputFiles({ name: 'saved.json', mimeType: 'application/json', buffer });
    },
    'pasted over a number': async (page: Page, state: string) => {
      await page.goto(at('step'));
      await page.getByLabel('Batch size').evaluate((field, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', text);
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      }, state);
    },
    'pasted into its field': async (page: Page, state: string) => {
      await page.goto(at('sample'));
      await expect(page.locator('[data-answers]').first()).toBeVisible();
      await page.getByText('Had a checkpoint seen it?').click();
      await page.getByLabel('State of a checkpoint').fill(state);
    },
  })) {
    test(`a state that is ${how} brings its recipe, its epoch and one sentence`, async ({ page }) => {
      const recipe = {
        order: { name: 'feistel', samples: 50000, seed: 11 },
        deal: { world_size: 4, layout: 'rotated' },
      };
      const question = { recipe: JSON.stringify(recipe), epoch: 2, taken: 6000 };
      const { state, seen } = await python<{ state: string; seen: number[] }>('state', question);
      const other = Array.from({ length: 50000 }, (_, sample) => sample).find((sample) => !seen.includes(sample)) ?? 0;
      await open(page, state);
      const says = page.locator('[data-says]');
      if (how !== 'pasted into its field') {
        await expect(page.getByRole('heading', { level: 1 })).toHaveText('Where did a run stop, and what comes next?');
        await expect(says).toContainText('The run stopped in epoch 2 after 24,000 of 50,000 positions (48.0 %).');
        await page.getByRole('button', { name: 'Had it seen a sample?' }).click();
      }
      for (const [label, value] of [
        ['Order', 'feistel'],
        ['Seed', '11'],
        ['World size', '1'],
        ['From epoch', '2'],
        ['Remainder', 'pad'],
      ] as const)
        await expect(page.getByLabel(label, { exact: true }), label).toHaveValue(value);
      await expect(page.getByLabel('Samples', { exact: true })).toHaveValue('50000');
      await page.getByLabel('Sample indices').fill(String(seen[7]));
      const read = 'it had read the first 24,000 of 50,000 positions of epoch 2.';
      await expect(says).toHaveText(new RegExp(`^Yes: the run had seen sample .*; ${read}$`));
      await page.getByLabel('Sample indices').fill(String(other));
      await expect(says).toHaveText(
        new RegExp(`^No: the run had not seen sample .* yet. It comes at position .*; ${read}$`),
      );
      // A state with the order of the shown recipe does not change the deal of this recipe.
      await page.getByLabel('World size').fill('4');
      await page.getByLabel('State of a checkpoint').fill(state.replace('24000', '12000'));
      await expect(says).toContainText('the first 12,000 of 50,000');
      await expect(page.getByLabel('World size')).toHaveValue('4');
    });
  }

  test('one sentence says when and where', async ({ page }) => {
    const recipe = '{"order":{"samples":5000000,"seed":7},"deal":{"world_size":16}}';
    const question = { recipe, samples: [4242424], epochs: [0, 1, 2], batch: 64 };
    const places = (await python<number[][]>('places', question)).map(
      ([, epoch, step = 0, rank]) => `epoch ${epoch}, step ${step.toLocaleString('en')}, rank ${rank}`,
    );
    await page.goto(at('sample', { recipe, samples: '4242424', epochs: '3', batch: '64' }));
    await expect(page.locator('[data-says]')).toHaveText(`Sample 4,242,424: ${places.join('; ')}.`);
  });

  test('what is copied prints what the page shows', async ({ page }) => {
    await page.goto(at('sample', { recipe: TORCH, samples: '99', epoch: '1' }));
    await expect(page.locator('tr[data-place]').first()).toBeVisible();
    const row = (await page.locator('tr[data-place]').first().locator('td').allInnerTexts()).map(Number);
    const [, , step, rank, index] = row;
    const inPython = run('Python', await snippet(page, 'Python'))
      .trim()
      .split('\n')
      .map(numbers);
    // One line for each of the eight epochs.
    expect(inPython).toHaveLength(8);
    expect(inPython[0]).toEqual([1, 99, rank, step, index]);
    const inJavaScript = run('JavaScript', await snippet(page, 'JavaScript'))
      .trim()
      .split('\n')
      .map(numbers);
    expect(inJavaScript).toEqual(inPython);
    const printed = JSON.parse(run('Command', `${await snippet(page, 'Command')} --json`));
    expect(JSON.stringify(printed)).toContain(`"rank":${rank}`);
  });
});

test('a state of batches says how far it was without the lengths', async ({ page }) => {
  const lengths = Array.from({ length: 600 }, (_, sample) => 10 * (1 + (sample % 3)));
  const batches = await python<string[]>('other_states', { lengths });
  await page.goto(at('step'));
  // The state has the positions of whole windows, and the steps of the open window.
  const parts = ['Positions in whole windows200', 'Part 13 steps on 2 ranks'];
  const expected: [string, string[]][] = [
    ['0 of 600 positions (0.0 %) in whole windows. ', ['Epoch3', 'Positions in whole windows0']],
    [
      '0 of 600 positions (0.0 %) in whole windows and 5 steps on 2 ranks in the next window. ',
      ['Part 15 steps on 2 ranks'],
    ],
    ['200 of 600 positions (33.3 %) in whole windows. ', ['Positions in whole windows200']],
    [
      '200 of 600 positions (33.3 %) in whole windows and 3 steps on 2 ranks, then 2 steps on 4 ranks in the next window. ',
      [...parts, 'Part 22 steps on 4 ranks'],
    ],
    [
      '200 of 600 positions (33.3 %) in whole windows and 3 steps on 2 ranks, then 1 step on 4 ranks in the next window. ',
      [...parts.slice(0, 1), 'Part 13 steps on 2 ranks, max_tokens 100', 'Part 21 step on 4 ranks'],
    ],
  ];
  expect(batches).toHaveLength(expected.length);
  const says = page.locator('[data-says]');
  for (const [at, [text, facts]] of expected.entries()) {
    await openedAs(page, batches[at] ?? '');
    await expect(says).toHaveText(
      `The run stopped in epoch 3 after ${text}Drop the list of lengths here: the state has only a hash of it.`,
    );
    const held = page.getByLabel('What the state holds');
    await held.locator('details').evaluate((details: HTMLDetailsElement) => {
      details.open = true;
    });
    await expect(held.locator('tr')).toContainText(facts);
  }
  // Other lengths are not taken for those of the run, and a sample is not looked for with a state of batches.
  const list = (all: number[]) => ({
    name: 'lengths.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from(all.join('\n')),
  });
  await page.getByLabel('Files to open').setInputFiles(list(lengths.map((length) => length + 1)));
  await expect(says).toContainText('The lengths that are open are not those of the run: ');
  await page.goto(at('sample'));
  await expect(page.locator('[data-answers]').first()).toBeVisible();
  await page.getByText('Had a checkpoint seen it?').click();
  await page.getByLabel('State of a checkpoint').fill(batches[0] ?? '');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Where did a run stop, and what comes next?');
  await openedAs(page, '{"samedeal":1,"kind":"future","recipe":{}}');
  await expect(page.getByText('is a state of the kind future, which this page does not show')).toBeVisible();
});

/** Opens a text as a file. */
const openedAs = (page: Page, text: string) =>
  page
    .getByLabel('Files to open')
    .setInputFiles({ name: 'state.json', mimeType: 'application/json', buffer: Buffer.from(text) });

/** The samples in the rows of the view of checkpoints, by part, step and rank. */
const rowsOf = async (page: Page): Promise<Record<string, string>> =>
  Object.fromEntries(
    await page
      .locator('tr[data-row]')
      .evaluateAll((rows) =>
        rows.map((row) => [row.getAttribute('data-row') ?? '', row.querySelector('td.mono')?.textContent ?? '']),
      ),
  );

test.describe('checkpoint', () => {
  for (const [name, recipe, ranks, then, next] of [
    ['feistel', '{"order":{"samples":5000,"seed":11}}', 4, 25, 3],
    ['torch, at the end', '{"order":{"name":"torch","samples":203,"seed":7}}', 4, 3, 5],
    ['sharded', '{"order":{"name":"sharded","seed":7,"sizes":[90,120,40,150]}}', 3, 5, 8],
  ] as const) {
    test(`a state that says who took it answers for itself: ${name}`, async ({ page }) => {
      const question = { recipe, epoch: 2, ranks, batch: 16, steps: then, next };
      const { state, rows, consumed } = await python<{ state: string; rows: Record<string, string>; consumed: number }>(
        'checkpoint',
        question,
      );
      await page.goto(at('step'));
      await openedAs(
        page,
        JSON.stringify({ loader: { samedeal: state, taken_by: { world_size: ranks, batch_size: 16, from: 0 } } }),
      );
      await expect(page.locator('[data-says]')).toContainText(
        `The run stopped in epoch 2 after ${consumed.toLocaleString('en')} of `,
      );
      await expect(page.locator('[data-says]')).toContainText(`after step ${then} of `);
      await expect(page.getByLabel('Ranks of the run')).toHaveValue(String(ranks));
      await expect(page.getByLabel('Batch size of a rank')).toHaveValue('16');
      await page.getByLabel('Ranks that go on').fill(String(next));
      await expect.poll(() => rowsOf(page)).toEqual(rows);
      // The copied programs continue after the state.
      const printed = numbers(run('Python', await snippet(page, 'Python')));
      const [first = ''] = [rows['after 0 0']];
      expect(printed.slice(1)).toEqual(numbers(first));
      expect(printedArray(run('JavaScript', await snippet(page, 'JavaScript')))).toEqual(printed);
      expect(numbers(run('Command', `${await snippet(page, 'Command')} --format text`)).length).toBeGreaterThan(0);
    });
  }

  const FILES = { order: { name: 'sharded', seed: 7, lanes: 16, sizes: [90, 120, 60] }, batch: { batch_size: 8 } };
  const LENGTHS = Array.from({ length: 600 }, (_, sample) => 10 * (1 + (sample % 3)));
  const BATCHES = { order: { seed: 42 }, batch: { max_tokens: 100, batch_window: 200 } };
  for (const [name, kind, recipe, parts, next, says] of [
    [
      'files, within a turn',
      'reading',
      { ...FILES, deal: { workers: 2 } },
      [[3, 5]],
      4,
      'after step 5 of 12 on 3 ranks.',
    ],
    [
      'files, at the end of a turn',
      'reading',
      { ...FILES, deal: { workers: 2 } },
      [[3, 4]],
      2,
      'after step 4 of 12 on 3 ranks.',
    ],
    [
      'files, after other ranks',
      'reading',
      { ...FILES, deal: { workers: 2 } },
      [
        [3, 5],
        [2, 1],
      ],
      3,
      'on 2 ranks. 3 ranks go on',
    ],
    [
      'whole files',
      'reading',
      { shards: { sizes: [90, 120, 50, 70, 44, 30], seed: 3 }, deal: { workers: 2 }, batch: { batch_size: 8 } },
      [[2, 4]],
      3,
      'after step 4 of ',
    ],
    ['batches', 'batcher', BATCHES, [[2, 40]], 3, 'after step 40 of 66 on 2 ranks.'],
    [
      'batches, after other ranks',
      'batcher',
      BATCHES,
      [
        [2, 5],
        [3, 2],
      ],
      4,
      'after step 2 of ',
    ],
    [
      'a schedule',
      'schedule',
      { order: { samples: 1000, seed: 3 }, steps: { global_batch_size: 24 } },
      [[2, 50]],
      3,
      'after step 50 on 2 ranks.',
    ],
  ] as const)
    test(`a state of another kind answers for itself: ${name}`, async ({ page }) => {
      const question = { kind, recipe, epoch: kind === 'schedule' ? 0 : 4, parts, next, lengths: LENGTHS };
      const { state, rows } = await python<{ state: string; rows: Record<string, string> }>('stopped', question);
      await page.goto(at('step'));
      await openedAs(page, state);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Where did a run stop, and what comes next?');
      if (kind === 'batcher') {
        const buffer = Buffer.from(LENGTHS.join('\n'));
        await page.getByLabel('Files to open').setInputFiles({ name: 'lengths.txt', mimeType: 'text/plain', buffer });
      }
      await page.getByLabel('Ranks that go on').fill(String(next));
      const ranks = page.getByLabel('Ranks of the run');
      // A state that was written at the end of a turn, and one of a schedule, does not have its ranks.
      if ((await ranks.inputValue()) === '') {
        await expect(page.locator('[data-says]')).toContainText('On how many ranks did it run');
        await ranks.fill(String(parts.at(-1)?.[0]));
        if (kind === 'reading') {
          await page.getByLabel('Workers of a rank').fill('2');
          await page.getByLabel('Batch size').fill('8');
        }
      }
      await expect.poll(() => rowsOf(page)).toEqual(rows);
      await expect(page.locator('[data-says]')).toContainText(says);
      const first = numbers(rows['after 0 0'] ?? '');
      const program = (await snippet(page, 'Python')).replace('[...]', `[${LENGTHS}]`);
      expect(numbers(run('Python', program)).slice(kind === 'schedule' ? 1 : 0)).toEqual(first);
      const inJavaScript = (await snippet(page, 'JavaScript')).replace('[...]', `[${LENGTHS}]`);
      expect(printedArray(run('JavaScript', inJavaScript)).slice(kind === 'schedule' ? 1 : 0)).toEqual(first);
      await page.reload();
      await expect.poll(() => rowsOf(page)).toEqual(rows);
    });

  test('what a state does not have is asked for, and ranks that began later are counted from there', async ({
    page,
  }) => {
    const question = { recipe: PLAIN, epoch: 1, ranks: 6, batch: 16, steps: 4, next: 5, before: [8, 3] };
    const { state, rows } = await python<{ state: string; rows: Record<string, string> }>('checkpoint', question);
    await page.goto(at('start'));
    await openedAs(page, state);
    await expect(page.locator('[data-says]')).toContainText('On how many ranks did it run, and with which batch size?');
    await expect(page.locator('tr[data-row]')).toHaveCount(0);
    await page.getByLabel('Ranks of the run').fill('6');
    await page.getByLabel('Batch size of a rank').fill('16');
    await page.getByLabel('Batch size of a rank').fill('7');
    await expect(page.getByText('positions are no whole number of steps of 6 ranks with batches of 7')).toBeVisible();
    await page.getByLabel('Batch size of a rank').fill('16');
    await page.getByRole('textbox', { name: 'Began at position' }).fill('384');
    await page.getByLabel('Ranks that go on').fill('5');
    await expect.poll(() => rowsOf(page)).toEqual(rows);
    await page.waitForURL(/begun=384/);
    await page.reload();
    await expect.poll(() => rowsOf(page)).toEqual(rows);
  });

  test('the example is opened from the first view, and leads to the questions about it', async ({ page }) => {
    await page.goto(at('start'));
    await page.getByRole('button', { name: 'Open an example' }).click();
    await expect(page.locator('[data-says]')).toContainText(
      'after step 50 of 196 on 8 ranks. 6 ranks go on with the other 37,200 positions',
    );
    await page.getByRole('button', { name: 'What had it seen of a step?' }).click();
    // 12,800 positions are 66 steps of 6 ranks, and 128 of the 192 positions of the next one.
    await expect(page.getByLabel('Step', { exact: true })).toHaveValue('66');
    await expect(page.getByLabel('Colour', { exact: true })).toHaveValue('seen');
    await page.goBack();
    await page.getByRole('button', { name: 'What would torch’s sampler repeat?' }).click();
    await expect(page.getByLabel('World sizes')).toHaveValue('8, 6');
    await expect(page.getByLabel('Steps taken')).toHaveValue('50');
    await expect(page.getByLabel('Batch size')).toHaveValue('32');
    await expect(page.locator('[data-says]')).toContainText("torch's sampler repeats 3,200");
  });
});

test.describe('the first view', () => {
  for (const loss of [3, 1, 6])
    test(`both stripes are what Python counts, if ranks are lost after step ${loss}`, async ({ page }) => {
      await page.goto(at('start', { loss: '2' }));
      await expect(page.locator('[data-count=own]')).toBeVisible();
      await page.getByRole('slider').fill(String(loss));
      await expect(page.locator('label.loss')).toContainText(`after step ${loss}.`);
      const second = loss === 6 ? 2 : 4;
      const question = { recipe: PLAIN, epoch: 0, batch: 16, worlds: [8, 6, 5], taken: [loss, second] };
      const expected = await python<Record<string, Record<string, number>>>('resume', question);
      for (const kind of ['own', 'torch'])
        for (const [fact, number] of Object.entries(expected[kind] ?? {}))
          await expect(page.locator(`[data-count=${kind}] [data-fact=${fact}]`), `${kind} ${fact}`).toHaveText(
            number.toLocaleString('en'),
          );
      expect(expected.own).toMatchObject({ once: 1000, twice: 0, never: 0 });
      await expect(page.locator('[data-says]')).toContainText(`repeats ${expected.torch?.twice}`);
    });

  test('the files of batches are those that Python finds, for samedeal and for the buffer', async ({ page }) => {
    const settings = {
      samples: 1000,
      labels: 8,
      files: 8,
      batch: 16,
      seed: 42,
      epoch: 0,
      lanes: 1,
      shuffle_window: 1,
      buffer: 100,
      files_first: false,
    };
    const batches = Array.from({ length: 62 }, (_, batch) => batch);
    const found = await python<Record<string, { counts: number[][] }>>('labels', { settings, batches });
    const mean = (order: string) => {
      const counts = (found[order]?.counts ?? []).map((row) => row.filter((count) => count > 0).length);
      return (counts.reduce((sum, count) => sum + count, 0) / 62).toLocaleString('en', { maximumFractionDigits: 1 });
    };
    await page.goto(at('start'));
    await expect(page.locator('[data-files] strong')).toHaveText([mean('feistel'), mean('buffer')]);
  });

  test('a torch job is compared with its own numbers', async ({ page }) => {
    await page.goto(at('start'));
    await page.getByRole('textbox', { name: 'Samples' }).fill('20,000');
    await page.getByLabel('Ranks: at first, then').fill('8, 7');
    await page.getByLabel('Batch size').fill('16');
    await page.getByLabel('Steps before that').fill('40');
    await page.getByRole('button', { name: 'Compare' }).click();
    const recipe = '{"order":{"name":"torch","samples":20000,"seed":0}}';
    const question = { recipe, epoch: 0, batch: 16, worlds: [8, 7], taken: [40] };
    const { torch } = await python<Record<string, Record<string, number>>>('resume', question);
    await expect(page.locator('[data-count=torch] [data-fact=twice]')).toHaveText(
      (torch?.twice ?? 0).toLocaleString('en'),
    );
    expect(torch?.twice).toBeGreaterThan(0);
    await page.goBack();
    await expect(page.getByRole('button', { name: 'Compare' })).toBeVisible();
  });
});

test.describe('resume', () => {
  for (const [recipe, worlds, taken] of [
    [PLAIN, [8, 6, 5], [3, 4]],
    [TORCH, [4, 7], [2]],
    ['{"order":{"name":"sharded","seed":7,"sizes":[90,120,40,150]}}', [3, 8, 2], [5, 2]],
  ] as const) {
    test(`${worlds.join(' to ')} ranks see what Python counts in ${recipe.slice(0, 40)}`, async ({ page }) => {
      await page.goto(at('resume', { recipe, worlds: worlds.join(','), taken: taken.join(','), epoch: '1' }));
      const expected = await python<Record<string, Record<string, number>>>('resume', {
        recipe,
        epoch: 1,
        batch: 16,
        worlds,
        taken,
      });
      for (const kind of ['own', 'torch']) {
        const facts = page.locator(`[data-count=${kind}]`);
        await expect(facts).toBeVisible();
        for (const [fact, number] of Object.entries(expected[kind] ?? {})) {
          await expect(facts.locator(`[data-fact=${fact}]`), `${kind} ${fact}`).toHaveText(number.toLocaleString('en'));
        }
      }
      expect(expected.own).toMatchObject({ twice: 0, never: 0 });
      expect((expected.torch?.twice ?? 0) + (expected.torch?.never ?? 0)).toBeGreaterThan(0);
    });
  }

  test('a state that is opened ends the first part where it stops', async ({ page }) => {
    const recipe = { order: { name: 'feistel', samples: 50000, seed: 11 }, deal: { world_size: 8 } };
    const question = { recipe: JSON.stringify(recipe), epoch: 2, taken: 3200 };
    const { state } = await python<{ state: string }>('state', question);
    const buffer = Buffer.from(state);
    const file = { name: 'state.json', mimeType: 'application/json', buffer };
    await page.goto(at('resume', { batch: '64', worlds: '8, 6', taken: '3' }));
    await page.getByLabel('Files to open').setInputFiles(file);
    await expect(page.getByLabel('Steps taken')).toHaveValue('50');
    // The stop follows the batch size, even if the batch size was invalid for a moment.
    await page.getByLabel('Batch size').fill('');
    await page.getByLabel('Batch size').fill('16');
    await expect(page.getByLabel('Steps taken')).toHaveValue('200');
    await page.getByLabel('Batch size').fill('64');
    await expect(page.locator('tr[data-part]').first().locator('td').last()).toHaveText('25,600');
    // A state that was opened in another view is offered as a stop.
    await page.goto(at('sample', { batch: '16' }));
    await page.getByLabel('Files to open').setInputFiles(file);
    await page.getByRole('link', { name: 'What if ranks change?' }).click();
    await expect(page.getByLabel('Steps taken')).toHaveValue(/^200\b/);
    await page.getByLabel('Steps taken').fill('3, 4');
    await page.getByRole('button', { name: 'Stop the first part there' }).click();
    await expect(page.getByLabel('Steps taken')).toHaveValue('200, 4');
    // With this batch size, the position of the state is within a step.
    await page.getByLabel('Batch size').fill('7');
    await expect(page.locator('[data-stop]')).toContainText('no whole number of steps of the first part');
  });

  test('dragging a stop changes the epoch, and more steps than there are is an error at its field', async ({
    page,
  }) => {
    await page.goto(at('resume'));
    await page.getByLabel('8 ranks: stop after').fill('5');
    await expect(page.locator('tr[data-part]').nth(1)).toContainText('640');
    await page.getByLabel('Steps taken').fill('9, 1');
    await expect(page.getByText('9 steps on 8 ranks; allowed: 0 to 8')).toBeVisible();
    // The last answer is marked as old, because the current values are refused.
    await expect(page.locator('[data-says]')).toHaveCSS('opacity', '0.45');
  });

  test('dragging the ranks moves the next samples to where Python has them', async ({ page }) => {
    const next = async () => {
      const texts = await page.locator('[data-next-of]').allTextContents();
      return texts.map((text) => numbers(text.replaceAll(',', '')).slice(1));
    };
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(at('resume', { recipe: PLAIN, worlds: '8, 6, 5', taken: '3, 4' }));
    const slider = page.getByLabel('Ranks that go on');
    for (const ranks of [6, 11, 1]) {
      await slider.fill(String(ranks));
      await expect(page.getByLabel('World sizes')).toHaveValue(`8, ${ranks}, 5`);
      const question = { recipe: PLAIN, epoch: 0, ranks: 8, batch: 16, steps: 3, next: ranks };
      const { rows } = await python<{ rows: Record<string, string> }>('checkpoint', question);
      const found = await next();
      expect(found).toHaveLength(ranks);
      expect(found.flat()).toHaveLength(96);
      for (const [rank, samples] of found.entries()) {
        const all = [0, 1, 2].flatMap((step) => numbers(rows[`after ${step} ${rank}`] ?? ''));
        expect(samples.slice(0, 48)).toEqual(all.slice(0, samples.length));
      }
      // Every part still has all of its steps, so nothing is refused.
      await expect(page.locator('.stale')).toHaveCount(0);
      await expect(page.locator('[data-says]')).toContainText(`8 to ${ranks} to 5 ranks`);
    }
    // Each line of cells is drawn for one rank, from its first sample on, without holes.
    await slider.fill('6');
    await expect(page.getByLabel('World sizes')).toHaveValue('8, 6, 5');
    const boxes = await page.locator('svg .cell').evaluateAll((cells) =>
      cells.map((cell) => {
        const { left, top, width } = cell.getBoundingClientRect();
        return [Math.round(top), left, width] as const;
      }),
    );
    for (const top of new Set(boxes.map(([top]) => top))) {
      const line = boxes.filter((box) => box[0] === top).sort((one, other) => one[1] - other[1]);
      expect(line).toHaveLength(16);
      for (const [at, [, left, width]] of line.entries())
        expect((line[at + 1]?.[1] ?? left + width + 2) - (left + width)).toBeCloseTo(2, 2);
    }
    // With motion, a cell is on its way for a moment. Without, it is there at once.
    const lasts = () =>
      page
        .locator('svg .cell')
        .first()
        .evaluate((cell) => Number.parseFloat(getComputedStyle(cell).transitionDuration));
    expect(await lasts()).toBe(0);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await lasts()).toBeGreaterThan(0);
  });

  test('what is copied prints what the page shows', async ({ page }) => {
    await page.goto(at('resume'));
    await expect(page.locator('tr[data-part]').nth(1)).toContainText('384');
    const inPython = numbers(run('Python', await snippet(page, 'Python')));
    // The last of three parts begins after 3 steps on 8 ranks and 4 on 6, of 16 samples each.
    expect(inPython[0]).toBe((3 * 8 + 4 * 6) * 16);
    expect(printedArray(run('JavaScript', await snippet(page, 'JavaScript')))).toEqual(inPython);
    expect(numbers(run('Command', `${await snippet(page, 'Command')} --format text`))).toEqual(inPython.slice(1));
    expect((await snippet(page, 'Rust')).match(/from_recipe/g)).toHaveLength(3);
  });

  test('what is copied keeps the deal of the recipe', async ({ page }) => {
    const recipe = '{"order":{"samples":1003,"seed":42},"deal":{"world_size":8,"layout":"rotated","remainder":"drop"}}';
    await page.goto(at('resume', { recipe, worlds: '3, 8, 2, 5', taken: '7, 4, 2' }));
    await expect(page.locator('tr[data-part]')).toHaveCount(4);
    const inPython = numbers(run('Python', await snippet(page, 'Python')));
    expect(printedArray(run('JavaScript', await snippet(page, 'JavaScript')))).toEqual(inPython);
    expect(numbers(run('Command', `${await snippet(page, 'Command')} --format text`))).toEqual(inPython.slice(1));
  });

  test('one sentence says what is lost and repeated, and padding apart', async ({ page }) => {
    const recipe = '{"order":{"samples":1002,"seed":42}}';
    const question = { recipe, epoch: 0, batch: 16, worlds: [8, 6, 5], taken: [3, 4] };
    const { own, torch } = await python<Record<string, Record<string, number>>>('resume', question);
    expect(own).toMatchObject({ twice: 0, never: 0, padding: expect.any(Number) });
    expect(own?.padding).toBeGreaterThan(0);
    expect(torch?.padding).toBeGreaterThan(0);
    await page.goto(at('resume', { recipe }));
    await expect(page.locator('[data-says]')).toHaveText(
      `8 to 6 to 5 ranks: no sample is lost or seen twice; ${own?.padding === 1 ? '1 sample is' : `${own?.padding} samples are`} read again as padding. ` +
        `torch's sampler repeats ${torch?.twice} and loses ${torch?.never}; ${torch?.padding} more are padding.`,
    );
  });

  for (const remainder of ['pad', 'drop', 'uneven'])
    test(`above what is counted one by one, positions say the same as Python, ${remainder}`, async ({ page }) => {
      const recipe = JSON.stringify({ order: { samples: 2_100_005, seed: 42 }, deal: { remainder } });
      const worlds = [3, 2, 4];
      const taken = [500, 400];
      await page.goto(at('resume', { recipe, worlds: worlds.join(','), taken: taken.join(',') }));
      const question = { recipe, epoch: 0, batch: 16, worlds, taken };
      const expected = await python<Record<string, Record<string, number>>>('resume', question);
      await expect(page.locator('[data-positions]')).toContainText('up to 2,097,152');
      for (const kind of ['own', 'torch']) {
        const facts = page.locator(`[data-count=${kind}]`);
        for (const [fact, number] of Object.entries(expected[kind] ?? {}))
          await expect(facts.locator(`[data-fact=${fact}]`), `${kind} ${fact}`).toHaveText(number.toLocaleString('en'));
      }
    });

  test('at 10^12 samples, torch has an answer too', async ({ page }) => {
    const recipe = '{"order":{"samples":1000000000000,"seed":42}}';
    await page.goto(at('resume', { recipe, taken: '500, 500' }));
    await expect(page.locator('tr[data-part]').nth(1)).toContainText('64,000');
    // 8 ranks read positions 0 to 64,000; 6 ranks that skip 8,000 each, 48,000 to 96,000; and 5 that skip 16,000 each, from 80,000 on.
    await expect(page.locator('[data-says]')).toHaveText(
      "8 to 6 to 5 ranks: no position is lost or seen twice. torch's sampler repeats 32,000 and loses 0.",
    );
    await expect(page.getByLabel('World size', { exact: true })).toHaveCount(0);
  });

  test('the example of 10¹² samples stops where something is seen, with numbers that need no letters', async ({
    page,
  }) => {
    for (const view of ['resume', 'step']) {
      await page.goto(at(view));
      await page.reload();
      await page.getByRole('button', { name: '10¹² samples' }).click();
      if (view === 'step') await page.getByRole('link', { name: 'What if ranks change?' }).click();
      await expect(page.locator('[data-says]')).toContainText('4,096 to 3,072 to 2,560 ranks: no position is lost');
      const chart = page.locator('svg.chart').first();
      const wide = (await chart.boundingBox())?.width ?? 0;
      // All three parts are a third of the picture, and not a line at its edge.
      const parts = await chart
        .locator('rect[fill^="var(--data"]')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
      expect(parts).toHaveLength(3);
      for (const part of parts) expect(part / wide).toBeCloseTo(1 / 3, 1);
      const labels = await chart.locator('text').allTextContents();
      expect(labels).toContain('2\u00a0×\u00a010¹¹');
      expect(labels.join(' ')).not.toMatch(/\d[KMBT]/);
    }
    // Another example of any size has stops of its own, and the first one has the defaults.
    await page.getByRole('button', { name: "PyTorch's order" }).click();
    await expect(page.getByLabel('Steps taken')).toHaveValue('130, 173');
    await page.getByRole('button', { name: '1,000 samples' }).click();
    await expect(page.getByLabel('Steps taken')).toHaveValue('3, 4');
    await expect(page.locator('[data-says]')).toContainText('8 to 6 to 5 ranks: no sample is lost');
  });

  test('a stop that is missing is asked for, and one too many is said', async ({ page }) => {
    await page.goto(at('resume', { taken: '3' }));
    await expect(
      page.getByText('part 2, on 6 ranks, has no stop: enter after how many steps it stops, 0 to 7'),
    ).toBeVisible();
    await page.getByLabel('Steps taken').fill('3, 4, 2');
    await expect(page.getByText('The last number of “Steps taken” is not used')).toBeVisible();
    await page.getByLabel('World sizes').fill('8 7 6 5 4 3 2');
    await expect(page.getByText('7 world sizes; allowed: 1 to 6').last()).toBeVisible();
  });
});

test.describe('differ', () => {
  test('the first field that differs is named', async ({ page }) => {
    const documents = [8, 8, 4, 8].map((world) => `{"deal":{"world_size":${world}},"order":{"samples":500}}`);
    await page.goto(at('differ', { entries: documents.join('\n') }));
    await expect(page.locator('[data-first]')).toHaveAttribute('data-first', 'deal.world_size');
    await expect(page.locator('[data-says]')).toContainText('4 in rank 2');
    await expect(page.getByLabel('Fields by rank').locator('tbody tr')).toHaveCount(1);
    await page.getByRole('button', { name: 'Show equal fields' }).click();
    await expect(page.getByLabel('Fields by rank')).toContainText('order.samples');
  });

  test('what is opened or pasted is one more entry, and the view stays', async ({ page }) => {
    const recipe = (remainder: string) => ({ order: { samples: 50000, seed: 11 }, deal: { world_size: 4, remainder } });
    const file = (name: string, document: object) => ({
      name,
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(document, null, 2)),
    });
    await page.goto(at('differ'));
    const says = page.locator('[data-says]');
    await expect(says).toHaveText(
      'order.seed is the first field that differs: 42 in rank 0, rank 1, rank 3; 43 in rank 2. All other fields are equal.',
    );
    await page
      .getByLabel('Files to open')
      .setInputFiles([file('a.json', recipe('pad')), file('b.json', recipe('drop'))]);
    await expect(says).toHaveText(
      'deal.remainder is the first field that differs: pad in a.json; drop in b.json. All other fields are equal.',
    );
    await page.evaluate(
      (text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', text);
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      },
      JSON.stringify(recipe('uneven')),
    );
    await expect(says).toContainText('pad in a.json; drop in b.json; uneven in pasted 3.');
    await page.getByLabel('Files to open').setInputFiles(file('a.json', recipe('drop')));
    await expect(says).toContainText('pad in a.json; drop in b.json, a.json (2); uneven in pasted 3.');
    expect(page.url()).toContain('#/differ');
    await page.getByRole('button', { name: 'Remove all entries' }).click();
    await expect(says).toContainText('order.seed');
  });

  test('one entry has nothing to be equal to', async ({ page }) => {
    await page.goto(at('differ', { entries: PLAIN }));
    await expect(page.locator('[data-says]')).toHaveText('One entry; add another.');
  });

  test('a default that is written out makes no difference', async ({ page }) => {
    const entries =
      '{"order":{"samples":500}}\n{"samedeal":1,"order":{"samples":500,"seed":0},"deal":{"world_size":1}}';
    await page.goto(at('differ', { entries }));
    await expect(page.locator('[data-first]')).toHaveAttribute('data-first', '');
  });

  test('the fingerprint of a rank that forgot its epoch is explained', async ({ page }) => {
    const [late, now] = await python<string[]>('fingerprints', { recipe: PLAIN, epochs: [2, 3] });
    await page.goto(at('differ', { recipe: PLAIN, entries: `rank 0: ${now}\nrank 1: ${now}\nrank 2: ${late}` }));
    await expect(page.locator('[data-found]')).toHaveText([
      'This is the configuration at epoch 3.',
      'This is the configuration at epoch 2.',
    ]);
    await expect(page.getByLabel('The difference')).toContainText('rank 2');
  });

  test('what is copied prints in what two ranks differ', async ({ page }) => {
    await page.goto(at('differ'));
    await expect(page.locator('[data-first]')).toHaveAttribute('data-first', 'order.seed');
    for (const language of ['Python', 'JavaScript'] as const)
      expect(run(language, await snippet(page, language)).trim(), language).toBe('order.seed 42 43');
    const command = (await snippet(page, 'Command')).replace(/$/, ' --json || true');
    expect(JSON.stringify(JSON.parse(run('Command', command)))).toContain('"member":"order.seed"');
  });

  test('of one entry, what is copied prints the fingerprint of Python', async ({ page }) => {
    await page.goto(at('differ', { recipe: PLAIN, entries: PLAIN }));
    const [expected] = await python<string[]>('fingerprints', { recipe: PLAIN, epochs: [0] });
    await expect(page.locator('[data-first]')).toBeVisible();
    for (const language of ['Python', 'JavaScript', 'Command'] as const) {
      expect(run(language, await snippet(page, language)), language).toContain(expected);
    }
  });
});
