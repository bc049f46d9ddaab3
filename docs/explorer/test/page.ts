import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test as base, type ConsoleMessage, expect, type Page, type WebError } from '@playwright/test';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const PYTHON = `${root}/target/venv/bin/python`;

/** The page on a server, which playwright.config.ts starts, and the page as one file on a disk. */
export const page = `http://127.0.0.1:${process.env.EXPLORER_PORT}/index.html`;
export const dist = fileURLToPath(new URL('../dist/', import.meta.url));
export const onDisk = pathToFileURL(`${dist}explorer.html`).href;
export const host = `${root}/hosts/js/dist/index.js`;
export const command = process.env.SAMEDEAL_COMMAND ?? `${root}/target/debug/samedeal`;

/** With EXPLORER_SLOW=300, questions reach the Worker up to 300 ms later, and the page computes at a tenth of its speed. */
const SLOW = Number(process.env.EXPLORER_SLOW ?? 0);
/** Makes a page slow, but not the test. So a test that waits for too little fails on every machine. */
async function slow(window: Page): Promise<void> {
  const session = await window.context().newCDPSession(window);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 10 });
  await window.addInitScript((longest) => {
    const post = Worker.prototype.postMessage;
    let due = 0;
    Worker.prototype.postMessage = function (...message: [unknown, never]) {
      // Messages stay in their order.
      due = Math.max(due, performance.now() + Math.random() * longest);
      setTimeout(() => post.apply(this, message), due - performance.now());
    };
  }, SLOW);
}

/** The address of a view. */
export const at = (view: string, values: Record<string, string> = {}): string =>
  `${page}#/${view}?${new URLSearchParams(values)}`;

/**
 * Tests that share one window, because a browser takes longer to make a window than to load the page. Each test begins
 * with an empty page. It fails if the page throws, or writes an error to its console.
 */
export const test = base.extend<{ watched: undefined }, { window: Page }>({
  window: [
    async ({ browser }, use) => {
      const context = await browser.newContext();
      const window = await context.newPage();
      if (SLOW > 0) await slow(window);
      await use(window);
      await context.close();
    },
    { scope: 'worker' },
  ],
  page: async ({ window, viewport }, use) => {
    if (viewport) await window.setViewportSize(viewport);
    await use(window);
    const context = window.context();
    await Promise.all(context.pages().map((page) => (page === window ? undefined : page.close())));
    await context.clearPermissions();
    await window.emulateMedia({ colorScheme: null, reducedMotion: null });
    await window.goto('about:blank');
  },
  context: ({ page }, use) => use(page.context()),
  watched: [
    async ({ context }, use) => {
      const errors: string[] = [];
      const threw = (error: WebError) => errors.push(String(error.error()));
      const said = (message: ConsoleMessage) => {
        if (message.type() === 'error') errors.push(message.text());
      };
      context.on('weberror', threw).on('console', said);
      await use(undefined);
      context.off('weberror', threw).off('console', said);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});
export { expect };

let asked: ((question: string) => Promise<string>) | undefined;
/** Starts the Python process that answers all questions of these tests. It ends with its standard input. */
function start(): (question: string) => Promise<string> {
  if (!existsSync(PYTHON)) throw new Error(`no Python at ${PYTHON}: cargo xtask setup makes it`);
  const script = fileURLToPath(new URL('expected.py', import.meta.url));
  const env = { ...process.env, PYTHONPATH: `${root}/hosts/python/src` };
  const { stdin, stdout } = spawn(PYTHON, [script], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface(stdout)[Symbol.asyncIterator]();
  return async (question: string): Promise<string> => {
    stdin.write(`${question}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`Python ended, and did not answer ${question.slice(0, 1000)}`);
    return value;
  };
}

/** The answer of a function of `expected.py`. */
export async function python<T>(name: string, question: Record<string, unknown>): Promise<T> {
  asked ??= start();
  return JSON.parse(await asked(JSON.stringify({ name, ...question }))) as T;
}

/** The output of a program that was copied from the page. */
export function run(language: 'Python' | 'JavaScript' | 'Command', code: string): string {
  // Playwright sets variables that make programs print colours.
  const env = { ...process.env, PYTHONPATH: `${root}/hosts/python/src`, FORCE_COLOR: '0' };
  const options = { encoding: 'utf8', env } as const;
  if (language === 'Python') return execFileSync(PYTHON, ['-c', code], options);
  if (language === 'JavaScript') {
    const source = code.replaceAll("from 'samedeal'", `from '${pathToFileURL(host)}'`);
    return execFileSync(process.execPath, ['--input-type=module', '-e', source], options);
  }
  return execFileSync('sh', ['-c', code.replaceAll('samedeal ', `${command} `)], { ...options, cwd: '/tmp' });
}

/** The program that the page offers. */
export async function snippet(opened: Page, language: string): Promise<string> {
  await opened.getByRole('tab', { name: language }).click();
  return opened.getByRole('tabpanel').innerText();
}

/** Waits until the page has answered its last question. */
export const settled = (opened: Page): Promise<void> =>
  expect(opened.locator('[data-busy]').first()).toHaveAttribute('data-busy', 'false');

/** All numbers of a text. */
export const numbers = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);

/** The numbers of a typed array as Node prints it, with its kind and its length before them. */
export const printedArray = (text: string): number[] => numbers(text.replaceAll(/\w+Array\(\d+\)/g, ''));
