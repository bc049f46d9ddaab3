// CRC-32 as in zlib and PNG. It takes four bytes at a time, because it reads whole memories.
const TABLES = Array.from({ length: 4 }, () => new Int32Array(256));
for (let byte = 0; byte < 256; byte += 1) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  TABLES[0][byte] = crc;
}
for (let byte = 0; byte < 256; byte += 1) {
  for (let table = 1; table < 4; table += 1) {
    const before = TABLES[table - 1][byte];
    TABLES[table][byte] = (before >>> 8) ^ TABLES[0][before & 255];
  }
}
const [ONE, TWO, THREE, FOUR] = TABLES;

export class Crc {
  #crc = -1;

  update(bytes) {
    let [crc, at] = [this.#crc, 0];
    const whole = bytes.length - (bytes.length % 4);
    for (; at < whole; at += 4) {
      crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
      crc = FOUR[crc & 255] ^ THREE[(crc >>> 8) & 255] ^ TWO[(crc >>> 16) & 255] ^ ONE[crc >>> 24];
    }
    for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ ONE[(crc ^ bytes[at]) & 255];
    this.#crc = crc;
    return this;
  }

  get value() {
    return ~this.#crc >>> 0;
  }
}
