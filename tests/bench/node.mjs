// Measurements in JavaScript: a line on standard input asks for one, a line on standard output has the result. Times
// are in seconds.
import { createInterface } from 'node:readline';

const HOST = '../../hosts/js/dist/index-files.js';

const measurements = {
  /** The versions of the measured programs, as text for people. */
  versions: () => `Node ${process.version} (V8 ${process.versions.v8})`,

  /** Seconds from the import to the first index. */
  async start() {
    const began = performance.now();
    const { Sampler } = await import(HOST);
    new Sampler(1e8, { worldSize: 8 }).indices(0, 1);
    return (performance.now() - began) / 1e3;
  },

  /**
   * Seconds for each index in windows of 32-bit indices, and the sum of the last window, for comparison with another
   * engine.
   */
  async per_index(samples, window, windows, epoch) {
    const { Sampler } = await import(HOST);
    const sampler = new Sampler(samples, { epoch });
    const read = (number) => {
      const start = (number * window) % (samples - window + 1);
      return sampler.indices(start, start + window);
    };
    read(0);
    let last;
    const began = performance.now();
    for (let number = 0; number < windows; number++) last = read(number);
    const seconds = (performance.now() - began) / 1e3 / (windows * window);
    sampler.dispose();
    return `${seconds} ${last.reduce((sum, index) => sum + index, 0)}`;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...words] = line.split(' ');
  console.log(String(await measurements[name](...words.map(Number))));
}
