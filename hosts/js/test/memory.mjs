// Changes the memory limit of a WebAssembly module, without any other tool.

const MEMORY_SECTION = 5;

/** The bytes of a module whose memory is limited to `pages` pages of 64 KiB; unchanged if it has no memory. */
export function withMemory(module, pages) {
  const bytes = new Uint8Array(module);
  /** A number in LEB128, and the place after it. */
  const number = (at) => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return [value, at];
    }
  };
  for (let at = 8; at < bytes.length; ) {
    const id = bytes[at];
    const [size, start] = number(at + 1);
    if (id === MEMORY_SECTION) {
      // The section has one memory with a maximum. The new maximum is written over it, in as many bytes.
      const [, maximum] = number(start + 2);
      const [, end] = number(maximum);
      if (bytes[start] !== 1 || (bytes[start + 1] & 1) === 0) throw new Error('a memory without a maximum');
      let rest = pages;
      for (let i = maximum; i < end; i++, rest >>= 7) bytes[i] = (rest & 0x7f) | (i < end - 1 ? 0x80 : 0);
      if (rest > 0) throw new Error(`no room for ${pages} pages`);
    }
    at = start + size;
  }
  return bytes;
}
