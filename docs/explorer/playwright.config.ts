import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(executablePath))
  throw new Error(`no browser at ${executablePath}: install Chromium, or name one in CHROMIUM`);
// Root has no sandbox to give.
const args = ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];

/** With EXPLORER_LATE=500, each action of a test waits for half a second: a page may be faster than its test. */
const LATE = Number(process.env.EXPLORER_LATE ?? 0);

export default defineConfig({
  globalSetup: './test/serve.ts',
  testDir: 'test',
  outputDir: 'node_modules/.results',
  reporter: 'list',
  // The page computes in a Worker, so each test keeps two cores busy.
  workers: 1,
  timeout: 600_000,
  expect: { timeout: 120_000 },
  use: {
    viewport: { width: 1440, height: 900 },
    actionTimeout: 120_000,
    launchOptions: { executablePath, args, slowMo: LATE },
  },
});
