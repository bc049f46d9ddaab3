// Browsers that open a page in headless mode.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Options of Chromium. They stop its own requests to the network. Root cannot have a sandbox. */
export const CHROMIUM = ['--disable-gpu', '--disable-quic', '--no-first-run'].concat(
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  process.getuid?.() === 0 ? ['--no-sandbox'] : [],
);
/** The path of Firefox, if it is installed. */
export const firefox = process.env.FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync);
/** Preferences of Firefox that stop its own requests: studies, and welcome and information pages. */
const UNASKED = ['app.normandy.enabled', 'browser.aboutwelcome.enabled', 'datareporting.policy.dataSubmissionEnabled'];

/** The command of each browser: its program, and its options for a new profile. */
const START = {
  chromium: (profile) => [process.env.CHROMIUM ?? 'chromium', ...CHROMIUM, `--user-data-dir=${profile}`],
  firefox(profile) {
    writeFileSync(join(profile, 'user.js'), UNASKED.map((name) => `user_pref("${name}", false);\n`).join(''));
    return [firefox ?? 'firefox-esr', '--no-remote', '--profile', profile];
  },
};

/**
 * Opens a URL in `chromium` or `firefox`. `browser` is the first process of a group with all its processes. `gone` is
 * an error that says how it ended, and `close` kills it and removes its profile. `stderr` is the destination of its
 * messages.
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
