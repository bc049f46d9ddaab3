import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test as base, type ConsoleMessage, expect, type Locator, type Page, type WebError } from '@playwright/test';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const PYTHON = `${root}/target/venv/bin/python`;

/** The page on a server, which serve.ts starts, and the page as one file on a disk. */
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

/**
 * Waits until the page shows the answers to its present questions: it has read its address, no question is open, no
 * transition runs, and nothing has moved for a frame. An address that differs only behind `#` loads no page, so the answers of the view
 * before are still there for a moment.
 */
async function settle(window: Page): Promise<void> {
  const waits = window.waitForFunction(
    () => {
      if (location.protocol === 'about:') return true;
      const main = document.querySelector('main');
      if (main?.dataset.busy !== 'false' || main.dataset.address !== location.hash) return false;
      // What moves without an end is a sign that the page waits, and then it is busy.
      if (
        document
          .getAnimations()
          .some(
            ({ playState, effect }) =>
              playState === 'running' && effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY,
          )
      )
        return false;
      const all = document.querySelectorAll(
        'main, main :is(section, .card, details, p, h2, table, tr, svg, canvas), .notice',
      );
      const now = Array.from(all, (one) => Object.values(one.getBoundingClientRect().toJSON()).join()).join(' ');
      const page = globalThis as typeof globalThis & { before?: string };
      const isStill = page.before === now;
      page.before = isStill ? '' : now;
      return isStill;
    },
    undefined,
    { polling: 'raf', timeout: 120_000 },
  );
  try {
    await waits;
  } catch (error) {
    const { busy, address } = await window.$eval('main', (main) => ({ ...main.dataset }));
    throw new Error(`the page did not come to rest: busy ${busy}, shows ${address}, is at ${window.url()}`, {
      cause: error,
    });
  }
}

/** The waits that are open: reads that begin together share one. */
const waits = new WeakMap<Page, Promise<void>>();
export function settled(window: Page): Promise<void> {
  const wait = waits.get(window) ?? settle(window).finally(() => waits.delete(window));
  waits.set(window, wait);
  return wait;
}

/** What reads a page once. Playwright repeats an assertion until it holds, but these take what is there. */
const READS = {
  page: ['evaluate', 'screenshot'],
  locator: [
    'all',
    'allInnerTexts',
    'allTextContents',
    'boundingBox',
    'count',
    'evaluate',
    'evaluateAll',
    'getAttribute',
    'innerText',
    'inputValue',
    'isVisible',
    'textContent',
  ],
} as const;
/** What opens an address. */
const MOVES = ['goto', 'reload', 'goBack'] as const;

/**
 * Makes all tests wait for the page: a read waits before, and opening an address waits after. So no test takes the
 * answer to an earlier question, or a picture that still grows, for the one that it asked for.
 */
function patient(window: Page): void {
  type Call = (...given: unknown[]) => Promise<unknown>;
  const change = (
    of: object,
    names: readonly string[],
    made: (call: Call) => (this: never, ...given: unknown[]) => Promise<unknown>,
  ) => {
    const prototype = Object.getPrototypeOf(of) as Record<string, Call>;
    for (const name of names) prototype[name] = made(prototype[name] as Call) as Call;
  };
  change(
    window,
    MOVES,
    (call) =>
      async function (this: Page, ...given) {
        const found = await call.apply(this, given);
        await settled(this);
        return found;
      },
  );
  change(
    window,
    READS.page,
    (call) =>
      async function (this: Page, ...given) {
        await settled(this);
        return call.apply(this, given);
      },
  );
  change(
    window.locator('main'),
    READS.locator,
    (call) =>
      async function (this: Locator, ...given) {
        await settled(this.page());
        return call.apply(this, given);
      },
  );
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
      patient(window);
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

/** All numbers of a text. */
export const numbers = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);

/** The numbers of a typed array as Node prints it, with its kind and its length before them. */
export const printedArray = (text: string): number[] => numbers(text.replaceAll(/\w+Array\(\d+\)/g, ''));
