import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test as base, expect, type Page } from '@playwright/test';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const built = fileURLToPath(new URL('../dist/index.html', import.meta.url));
const PYTHON = `${root}/target/venv/bin/python`;

/** The page from a disk, which is the harder case: no server, and an origin of its own. */
export const page = pathToFileURL(built).href;
export const host = `${root}/hosts/js/dist/index.js`;
export const command = process.env.SAMEDEAL_COMMAND ?? `${root}/target/debug/samedeal`;

/** The address of a view. */
export const at = (view: string, values: Record<string, string> = {}): string =>
  `${page}#/${view}?${new URLSearchParams(values)}`;

/** A test fails if the page throws, or says something on its console that is an error. */
export const test = base.extend<{ watched: undefined }>({
  watched: [
    async ({ page: opened }, use) => {
      const errors: string[] = [];
      opened.on('pageerror', (error) => errors.push(String(error)));
      opened.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      await use(undefined);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});
export { expect };

/** What Python answers, now. The function is one of `expected.py`. */
export function python<T>(name: string, question: Record<string, unknown>): T {
  if (!existsSync(PYTHON)) throw new Error(`no Python at ${PYTHON}: cargo xtask setup makes it`);
  const script = fileURLToPath(new URL('expected.py', import.meta.url));
  const answer = execFileSync(PYTHON, [script], {
    input: JSON.stringify({ name, ...question }),
    env: { ...process.env, PYTHONPATH: `${root}/hosts/python/src` },
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(String(answer)) as T;
}

/** What a program prints that somebody copied from the page. */
export function run(language: 'Python' | 'JavaScript' | 'Command', code: string): string {
  // Playwright asks programs for colours.
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
