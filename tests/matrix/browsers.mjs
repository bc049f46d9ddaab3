// Browsers that open a page without a window.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Options of Chromium. With them, a browser without a network does not look for one. Root has no sandbox to give. */
export const CHROMIUM = ['--disable-gpu', '--disable-quic', '--no-first-run'].concat(
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  process.getuid?.() === 0 ? ['--no-sandbox'] : [],
);
/** The program of Firefox, if there is one. */
export const firefox = process.env.FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync);
/** What Firefox would do by itself: fetch studies, and open pages that greet and inform. */
const UNASKED = ['app.normandy.enabled', 'browser.aboutwelcome.enabled', 'datareporting.policy.dataSubmissionEnabled'];

/** What a browser is started with: its program, and its options for a profile of its own. */
const START = {
  chromium: (profile) => [process.env.CHROMIUM ?? 'chromium', ...CHROMIUM, `--user-data-dir=${profile}`],
  firefox(profile) {
    writeFileSync(join(profile, 'user.js'), UNASKED.map((name) => `user_pref("${name}", false);\n`).join(''));
    return [firefox ?? 'firefox-esr', '--no-remote', '--profile', profile];
  },
};

/**
 * Opens a URL in `chromium` or `firefox`. `browser` is its first process; all its processes are a group. `gone` is an error that says how it
 * ended, and `close` kills it and removes its profile. `stderr` is where it complains.
 */
export function start(name, url, stderr = 'ignore') {
  const profile = mkdtempSync(join(tmpdir(), `samedeal-${name}-`));
  const [program, ...options] = START[name](profile);
  const env = { ...process.env, HOME: profile };
  const browser = spawn(program, ['--headless', ...options, url], {
    stdio: ['ignore', 'ignore', stderr],
    detached: true,
    env,
  });
  const gone = new Promise((resolve) => {
    browser.once('error', resolve);
    browser.once('exit', (code, signal) => resolve(new Error(`${program} ended with ${code ?? signal}`)));
  });
  async function close() {
    if (browser.pid && browser.exitCode === null && browser.signalCode === null) process.kill(-browser.pid, 'SIGKILL');
    await gone;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  }
  return { browser, gone, close };
}
