// The access to files in Node, Deno and Bun.
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { detectRank, Reading, SamedealError, Sampler } from '#samedeal';
import { isAddress, remote } from './bytes.js';
import { local } from './local.js';
import { filesAt } from './paths.js';
import type { Host } from './sources.js';

export const host: Host = {
  Reading,
  Sampler,
  path(text) {
    if (/^file:\/\//i.test(text)) return fileURLToPath(text);
    return isAddress(text) || !/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : undefined;
  },
  paths: 'paths of files and directories, URLs with file:, http: or https:, and AsyncBuffers',
  async find(paths, choice) {
    return (await filesAt(paths, choice)).map(({ name, format }) => ({
      place: { name, open: (signal) => (isAddress(name) ? remote(name, signal) : local(name)) },
      format,
    }));
  },
  turn: () => setImmediate(),
  /** Node prints the warning; `process.on('warning')` and `--disable-warning=CODE` know it by its code. */
  warn: (code, message) => globalThis.process.emitWarning(message, { type: 'SamedealWarning', code }),
  launched() {
    try {
      const { rank, worldSize, used } = detectRank();
      return worldSize === 1 ? undefined : `${used.join(', ')}: this is rank ${rank} of ${worldSize}`;
    } catch (error) {
      // Variables that this process may not read are as if they were not set.
      if (!(error instanceof SamedealError)) return undefined;
      return `the launcher's variables cannot be used, ${error.message}`;
    }
  },
};
