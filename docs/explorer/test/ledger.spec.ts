import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { at, expect, numbers, python, run, snippet, test } from './page.ts';

interface State {
  committed: number;
  open: number;
  free: number;
  left: number;
  /** Claims, commits, committed and lost positions of each reader. */
  readers: Record<string, number[]>;
}

const example = (name: string) =>
  readFileSync(new URL(`../src/views/ledger/examples/${name}.log`, import.meta.url), 'utf8');
const whole = (text: string) => Number(text.replaceAll(',', ''));

async function shown(page: Page): Promise<State> {
  const fact = async (name: string) =>
    whole((await page.locator(`[data-fact=${name}]`).innerText()).split(' of ')[0] ?? '');
  const rows = await page.locator('tr[data-reader]').all();
  const readers = await Promise.all(
    rows.map(async (row) => {
      const [claims, commits, committed, , , lost] = (await row.locator('td').allInnerTexts()).map(whole);
      return [await row.getAttribute('data-reader'), [claims, commits, committed, lost]];
    }),
  );
  return {
    committed: await fact('committed'),
    open: await fact('open'),
    free: await fact('free'),
    left: await fact('left'),
    readers: Object.fromEntries(readers),
  };
}

/** Pastes a log as a user does. */
async function paste(page: Page, log: string): Promise<void> {
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    window.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
  }, log);
}

for (const name of ['dies', 'restarts', 'many']) {
  test(`the states of the example "${name}" are what Python says`, async ({ page }) => {
    const log = example(name);
    const states = await python<State[]>('ledger_states', { log });
    const join = log.split('\n').findLastIndex((line) => line.includes('"join"'));
    for (const entry of [0, 9, join, Math.floor(states.length / 2), states.length - 1]) {
      await page.goto(at('ledger', { log: name, entry: String(entry) }));
      await expect(page.locator('[data-said]')).toContainText(`Entry ${entry}:`);
      const expected = states[entry] as State;
      const found = await shown(page);
      // The page also has a row for a reader that has not joined yet.
      for (const [reader, done] of Object.entries(found.readers))
        expect(done).toEqual(expected.readers[reader] ?? [0, 0, 0, 0]);
      expect({ ...found, readers: 0 }).toEqual({ ...expected, readers: 0 });
    }
    await expect(page.locator('[data-fact=twice]')).toHaveText('0');
    const bars = await page.locator('g[data-claim]').count();
    expect(bars).toBe(log.split('\n').filter((line) => line.includes('"claim"')).length);
    const lost = states.at(-1)?.readers ?? {};
    const hatched = await page.locator('g[data-claim] rect.lost').count();
    expect(hatched > 0).toBe(Object.values(lost).some(([, , , positions]) => (positions ?? 0) > 0));
  });
}

test('who took over the work of a lost reader is said, drawn and in the table', async ({ page }) => {
  const made = { samples: 3000, block: 50, seconds: [1, 1.4, 2.1, 3.3, 1.2] };
  const pasted = await python<string>('ledger_log', { ...made, dies: { 2: 200, 4: 375 }, restarts: 4 });
  const logs = { pasted, ...Object.fromEntries(['dies', 'restarts', 'many'].map((name) => [name, example(name)])) };
  for (const [name, log] of Object.entries(logs)) {
    const expected = await python<Record<string, number>>('ledger_takeovers', { log });
    expect(Object.keys(expected).length, name).toBeGreaterThan(0);
    await page.goto(at('ledger', name === 'pasted' ? {} : { log: name }));
    if (name === 'pasted') await paste(page, log);
    const last = log.split('\n').filter(Boolean).length - 1;
    await expect(page.locator('[data-said]')).toContainText(`Entry ${last.toLocaleString('en')}:`);
    const found = await page
      .locator('tr[data-reader]')
      .evaluateAll((rows) =>
        rows.map((row) => [row.getAttribute('data-reader'), row.querySelector('[data-taken]')?.textContent ?? '']),
      );
    const shown = found.flatMap(([loser, text]) =>
      [...(text ?? '').matchAll(/reader (\d+): ([\d,]+)/g)].map(([, taker, count]) => [
        `${loser} ${taker}`,
        whole(count ?? ''),
      ]),
    );
    expect(Object.fromEntries(shown), name).toEqual(expected);
    const drawn = await page
      .locator('[data-takeover]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-takeover')));
    expect(new Set(drawn), name).toEqual(new Set(Object.keys(expected)));
  }
  await page.goto(at('ledger', { log: 'dies' }));
  const verdict = page.locator('[data-says]');
  await expect(verdict).toHaveText(
    'Reader 1 was lost, its last entry is 38: reader 0 took over the 16 positions that it held (368 to 383); 1,000 of 1,000 positions are committed, none twice.',
  );
  await expect(page.locator('[data-lost="1"]')).toBeAttached();
  await page.getByLabel('State after entry', { exact: true }).fill('40');
  await expect(verdict).toContainText('Up to entry 40, no claim was taken over:');
  await page.goto(at('ledger', { log: 'restarts' }));
  await expect(verdict).toContainText('Reader 2 started again at entry');
});

test('a log that was pasted is read entry by entry, with the keyboard', async ({ page }) => {
  const log = await python<string>('ledger_log', {
    samples: 3000,
    block: 50,
    seconds: [1, 1.4, 2.1, 3.3, 1.2],
    dies: { 2: 200, 4: 375 },
    restarts: 4,
  });
  const states = await python<State[]>('ledger_states', { log });
  await page.goto(at('step'));
  await paste(page, log);
  await expect(page.locator('[data-said]')).toContainText(`Entry ${states.length - 1}:`);
  expect(await shown(page)).toEqual(states.at(-1));
  const slider = page.getByLabel('Drag: State after entry');
  await slider.focus();
  for (let back = 1; back <= 3; back++) {
    await page.keyboard.press('ArrowLeft');
    await expect(page.locator('[data-said]')).toContainText(`Entry ${states.length - 1 - back}:`);
    expect(await shown(page)).toEqual(states.at(-1 - back));
  }
  await page.getByRole('textbox', { name: 'Readers' }).fill('3');
  for (const reader of [0, 2]) {
    await page.getByRole('textbox', { name: 'Reader', exact: true }).fill(String(reader));
    const expected = await python<{ runs: number; samples: number[] }>('ledger_replay', { log, reader, readers: 3 });
    await expect(page.locator('[data-replay]')).toContainText(
      `${expected.samples.length.toLocaleString('en')} samples in ${expected.runs} runs`,
    );
    await expect
      .poll(async () => numbers(await page.locator('[data-samples]').innerText()))
      .toEqual(expected.samples.slice(0, 48));
  }
});

test('zooming shows a part of the log, and the link keeps it', async ({ page }) => {
  await page.goto(at('ledger', { log: 'many', entry: '200' }));
  const all = example('many').match(/"claim"/g)?.length ?? 0;
  await expect(page.locator('g[data-claim]')).toHaveCount(all);
  const chart = page.getByRole('application');
  await chart.focus();
  for (const span of [2, 4]) {
    const before = page.url();
    await page.keyboard.press('+');
    await page.waitForURL(({ href }) => href !== before);
    expect(await page.locator('g[data-claim]').count(), `1/${span} of the log`).toBeLessThan(all);
  }
  const part = await page.locator('g[data-claim]').count();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect(other.locator('g[data-claim]')).toHaveCount(part);
  expect(await shown(other)).toEqual(await shown(page));
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await expect(page.locator('g[data-claim]')).toHaveCount(all);
  // A click on the chart selects the entry at this place.
  const box = await chart.boundingBox();
  await page.mouse.click((box?.x ?? 0) + 80, (box?.y ?? 0) + 30);
  await expect(page.locator('[data-said]')).toContainText(/Entry [0-5]:/);
});

test('what is wrong is said at its field', async ({ page }) => {
  const log = example('dies').split('\n');
  await page.goto(at('ledger'));
  const field = page.getByLabel('Entries, one a line');
  await field.fill(log.toSpliced(40, 1).join('\n'));
  await expect(page.getByText(/line \d+ of the log.*; allowed: what follows from/)).toBeVisible();
  await expect(field).toHaveAttribute('aria-invalid', 'true');
  await field.fill(`${log.slice(0, 40).join('\n')}\n{"event":"clai`);
  await expect(page.getByText('Its last line is half an entry and is left out.')).toBeVisible();
  await expect(page.locator('[data-said]')).toContainText('Entry 39:');
  await page.getByLabel('State after entry', { exact: true }).fill('40');
  await expect(page.getByText('entry is 40; allowed: 0 to 39')).toBeVisible();
  await page.getByLabel('State after entry', { exact: true }).fill('12');
  await page.getByRole('textbox', { name: 'Reader', exact: true }).fill('1');
  await expect(page.getByText('reader is 1; allowed: 0 to 0')).toBeVisible();
});

test('what is copied prints the replay that is shown', async ({ page }) => {
  await page.goto(at('ledger', { log: 'dies', readers: '4', replay: '1' }));
  const log = example('dies');
  const path = join(mkdtempSync(join(tmpdir(), 'ledger-')), 'epoch-0.log');
  writeFileSync(path, log);
  const { samples } = await python<{ samples: number[] }>('ledger_replay', { log, reader: 1, readers: 4 });
  await expect(page.locator('[data-replay]')).toContainText(`${samples.length} samples`);
  const code = async (language: string) => (await snippet(page, language)).replaceAll('epoch-0.log', path);
  const printed = (text: string) => numbers(text.replace(/^.*\bentries\b.*$|^.*Progress.*$|^[{}\s].*[:{}].*$/gm, ''));
  expect(printed(run('Python', await code('Python')))).toEqual(samples);
  expect(printed(run('JavaScript', await code('JavaScript'))).slice(-samples.length)).toEqual(samples);
  const command = (await code('Command')).split('\n').at(-1) as string;
  expect(numbers(run('Command', command))).toEqual(samples);
});

test('a log of 10^12 positions and 40,001 entries is answered', async ({ page }) => {
  const lines = [
    '{"samedeal":1,"kind":"ledger","recipe":{"order":{"name":"feistel","samples":1000000000000,"seed":3}},"epoch":0,"consumed":0,"block_size":4000000,"lease_ms":60000}',
  ];
  for (let claim = 0; claim < 20_000; claim++) {
    const run = `"reader":${claim % 64},"start":${claim * 4e6},"count":4000000}`;
    lines.push(`{"event":"claim",${run}`, `{"event":"commit",${run}`);
  }
  await page.goto(at('step'));
  await paste(page, lines.join('\n'));
  await expect(page.locator('[data-fact=committed]')).toHaveText('80,000,000,000 of 1,000,000,000,000');
  await page.getByLabel('State after entry', { exact: true }).fill('20000');
  await expect(page.locator('[data-fact=committed]')).toContainText('40,000,000,000 of');
  // The 40,000 claims are drawn as at most 3,000 bars.
  expect(await page.locator('g[data-claim]').count()).toBeLessThan(3001);
});
