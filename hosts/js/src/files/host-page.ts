// The access to files in a page, or in its Worker.
import { Reading, Sampler } from '../web.js';
import { remote } from './bytes.js';
import type { Host } from './sources.js';

/**
 * The calls of `turn` that wait, and the channel whose messages end them one by one, after other waiting tasks. A timer
 * would take some milliseconds.
 */
const waiting: (() => void)[] = [];
let channel: MessageChannel | undefined;

export const host: Host = {
  Reading,
  Sampler,
  path(text) {
    const url = URL.parse?.(text, globalThis.location?.href) ?? parsed(text);
    return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
  },
  paths: 'URLs with http: or https:, files (Blob), and AsyncBuffers',
  find: async (paths, choice) =>
    paths.map((name) => ({
      place: { name, open: (signal) => remote(name, signal) },
      format: choice.ofFile(new URL(name).pathname),
    })),
  turn() {
    if (!channel) {
      channel = new MessageChannel();
      channel.port1.onmessage = () => waiting.shift()?.();
    }
    const { port2 } = channel;
    return new Promise<void>((resolve) => {
      waiting.push(resolve);
      port2.postMessage(undefined);
    });
  },
  warn: (_, message) => console.warn(message),
  // A page has no launcher.
  launched: () => undefined,
};

/** For engines without `URL.parse`. */
function parsed(text: string): URL | undefined {
  try {
    return new URL(text, globalThis.location?.href);
  } catch {
    return undefined;
  }
}
