"""A second implementation of SPEC.md, written from that document alone, to be read rather than to be fast.

Section numbers are those of SPEC.md; the operations are named as in tests/vectors/schema.json, with `_` for `-`.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Callable, Iterator, MutableSequence
from dataclasses import dataclass, replace
from functools import lru_cache

MASK32 = 2**32 - 1
MAX_SAMPLES = 2**53 - 1
MAX_WINDOW = 2**20
NAME_SHOWN = 64  # characters of an unknown name that its failure repeats, as the golden cases have it


class Failure(Exception):
    """Section 6, without the text of what is allowed."""

    def __init__(self, kind: str, field: str, value: int | str) -> None:
        super().__init__(f"{kind}: {field} = {value}")
        self.kind, self.field, self.value = kind, field, str(value)


def require(holds: bool, field: str, value: int) -> None:
    if not holds:
        raise Failure("out-of-range", field, value)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def le(x: int, size: int) -> bytes:
    """LE4 and LE8, two's complement where x is negative."""
    return x.to_bytes(size, "little", signed=x < 0)


# Section 2: streams of random words


def stream_key(purpose: str, seed: int, epoch: int, index: int = 0) -> bytes:
    text = b"samedeal key 1\0" + purpose.encode("ascii") + b"\0"
    return hashlib.sha256(text + le(seed, 8) + le(epoch, 8) + le(index, 8)).digest()


# The four columns, then the four diagonals.
QUARTERS = [(i, 4 + (i + k) % 4, 8 + (i + 2 * k) % 4, 12 + (i + 3 * k) % 4) for k in (0, 1) for i in range(4)]


def rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (32 - bits)) & MASK32


def chacha8(key: bytes) -> Iterator[int]:
    """Bernstein's ChaCha with 8 rounds (4 double rounds), counter in words 12 and 13, nonce 0 in 14 and 15."""
    start = [int.from_bytes((b"expand 32-byte k" + key)[i : i + 4], "little") for i in range(0, 48, 4)]
    counter = 0
    while True:
        state = [*start, counter & MASK32, counter >> 32, 0, 0]
        w = state.copy()
        for a, b, c, d in QUARTERS * 4:
            wa, wb, wc, wd = w[a], w[b], w[c], w[d]
            for left, right in ((16, 12), (8, 7)):
                wa = (wa + wb) & MASK32
                wd = rotate(wd ^ wa, left)
                wc = (wc + wd) & MASK32
                wb = rotate(wb ^ wc, right)
            w[a], w[b], w[c], w[d] = wa, wb, wc, wd
        yield from ((x + y) & MASK32 for x, y in zip(w, state, strict=True))
        counter += 1


def below(words: Iterator[int], m: int) -> int:
    while True:
        t = next(words) * m
        if t & MASK32 >= 2**32 % m:
            return t >> 32


# Section 3: generators of other libraries


def init_genrand(seed: int) -> list[int]:
    """MT19937, Matsumoto and Nishimura."""
    mt = [seed & MASK32]
    for i in range(1, 624):
        mt.append((1812433253 * (mt[-1] ^ mt[-1] >> 30) + i) & MASK32)
    return mt


def init_by_array(key: list[int]) -> list[int]:
    mt = init_genrand(19650218)
    i, j = 1, 0
    for _ in range(max(624, len(key))):
        mt[i] = ((mt[i] ^ (mt[i - 1] ^ mt[i - 1] >> 30) * 1664525) + key[j] + j) & MASK32
        i, j = i + 1, (j + 1) % len(key)
        if i == 624:
            mt[0], i = mt[623], 1
    for _ in range(623):
        mt[i] = ((mt[i] ^ (mt[i - 1] ^ mt[i - 1] >> 30) * 1566083941) - i) & MASK32
        i += 1
        if i == 624:
            mt[0], i = mt[623], 1
    mt[0] = 0x80000000
    return mt


def mt19937(mt: list[int]) -> Iterator[int]:
    while True:
        for i in range(624):
            y = (mt[i] & 0x80000000) | (mt[(i + 1) % 624] & 0x7FFFFFFF)
            mt[i] = mt[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
        for y in mt:
            y ^= y >> 11
            y ^= y << 7 & 0x9D2C5680
            y ^= y << 15 & 0xEFC60000
            yield y ^ y >> 18


def wrap32(x: int) -> int:
    """X as a signed 32-bit integer."""
    return (x + 2**31) % 2**32 - 2**31


def dotnet_samples(seed: int) -> Iterator[int]:
    m = 2**31 - 1

    def fix(v: int) -> int:
        return wrap32(v + m) if v < 0 else v

    a = [0] * 56
    a[55] = mj = wrap32(161803398 - min(abs(seed), m))
    mk = 1
    for i in range(1, 55):
        n = 21 * i % 55
        a[n] = mk
        mk = fix(wrap32(mj - mk))
        mj = a[n]
    for _ in range(4):
        for i in range(1, 56):
            a[i] = fix(wrap32(a[i] - a[1 + (i + 30) % 55]))
    p, q = 0, 21
    while True:
        p, q = p % 55 + 1, q % 55 + 1
        v = wrap32(a[p] - a[q])
        if v == m:
            v -= 1
        a[p] = fix(v)
        yield a[p]


# Section 3: orders that need a table. Each takes the list 0, 1, ..., N - 1 and leaves the order in it.

Items = MutableSequence[int]
Fill = Callable[[Items, int, int], None]


def shuffled(purpose: str) -> Fill:
    def fill(items: Items, seed: int, epoch: int) -> None:
        words = chacha8(stream_key(purpose, seed, epoch))
        for i in range(len(items) - 1, 0, -1):
            j = below(words, i + 1)
            items[i], items[j] = items[j], items[i]

    return fill


def torch_2_5(items: Items, seed: int, epoch: int) -> None:
    words, size = mt19937(init_genrand((seed + epoch) & MASK32)), len(items)
    for i in range(size - 1):
        j = i + next(words) % (size - i)
        items[i], items[j] = items[j], items[i]


def torch(items: Items, seed: int, epoch: int) -> None:
    if len(items) < 214748364:
        return torch_2_5(items, seed, epoch)
    words = mt19937(init_genrand((seed + epoch) & MASK32))
    for i in range(len(items)):
        upper = next(words)
        z = ((upper << 32) + next(words)) % (i + 1)
        items[i] = items[z]
        items[z] = i


def python(items: Items, seed: int, epoch: int) -> None:
    value = abs(seed + epoch)
    key = [value >> shift & MASK32 for shift in range(0, max(value.bit_length(), 1), 32)]
    words = mt19937(init_by_array(key))
    for i in range(len(items) - 1, 0, -1):
        shift = 32 - (i + 1).bit_length()
        while (j := next(words) >> shift) > i:
            pass
        items[i], items[j] = items[j], items[i]


def dotnet(items: Items, seed: int, epoch: int) -> None:
    samples = dotnet_samples(wrap32(seed + epoch))
    factor = 1.0 / (2**31 - 1)
    for i in range(len(items) - 1, 0, -1):
        j = int((next(samples) * factor) * (i + 1))
        items[i], items[j] = items[j], items[i]


class Table:
    def __init__(self, fill: Fill, size: int, seed: int, epoch: int) -> None:
        self.items = array("I", range(size))
        fill(self.items, seed, epoch)
        self.positions: array[int] | None = None

    def sample(self, position: int) -> int:
        return self.items[position]

    def position(self, sample: int) -> int:
        if self.positions is None:
            self.positions = array("I", bytes(self.items.itemsize * len(self.items)))
            for position, item in enumerate(self.items):
                self.positions[item] = position
        return self.positions[sample]


# Section 3: orders without a table


class Sequential:
    def sample(self, position: int) -> int:
        return position

    def position(self, sample: int) -> int:
        return sample


def mix(x: int, k0: int, k1: int, m: int) -> int:
    h = ((x ^ k0) * 0x9E3779B1) & MASK32
    h ^= h >> 16
    h = ((h + k1) * 0x85EBCA6B) & MASK32
    return h * m >> 32


class Feistel:
    """For N > 256."""

    def __init__(self, size: int, seed: int, epoch: int) -> None:
        words = chacha8(stream_key("feistel", seed, epoch))
        k = [next(words) for _ in range(16)]
        self.rounds = [tuple(k[i : i + 4]) for i in range(0, 16, 4)]
        self.size = size
        self.a = math.isqrt(size - 1) + 1
        self.b = ceil_div(size, self.a)

    def sample(self, position: int) -> int:
        a, b, c = self.a, self.b, position
        while True:
            x, y = divmod(c, b)
            for k0, k1, k2, k3 in self.rounds:
                x = (x + mix(y, k0, k1, a)) % a
                y = (y + mix(x, k2, k3, b)) % b
            c = x * b + y
            if c < self.size:
                return c

    def position(self, sample: int) -> int:
        a, b, c = self.a, self.b, sample
        while True:
            x, y = divmod(c, b)
            for k0, k1, k2, k3 in reversed(self.rounds):
                y = (y - mix(x, k2, k3, b)) % b
                x = (x - mix(y, k0, k1, a)) % a
            c = x * b + y
            if c < self.size:
                return c


Order = Sequential | Feistel | Table
TABLES: dict[str, Fill] = {
    "fisher-yates": shuffled("fisher-yates"),
    "torch": torch,
    "torch-2.5": torch_2_5,
    "python": python,
    "dotnet": dotnet,
}


@lru_cache(maxsize=8)
def make_order(name: str, size: int, seed: int, epoch: int) -> Order:
    if name == "sequential":
        return Sequential()
    if name == "feistel" and size > 256:
        return Feistel(size, seed, epoch)
    return Table(TABLES.get(name, shuffled(name)), size, seed, epoch)


# Sections 1 and 4 to 6


@dataclass(frozen=True)
class Config:
    """Section 1."""

    samples: int
    seed: int
    epoch: int
    order: str
    rank: int
    world: int
    remainder: str
    layout: str

    def check(self) -> None:
        """Section 6, `configuration`: the first broken rule decides."""
        if self.order not in ("sequential", "feistel", *TABLES):
            raise Failure("unknown-name", "order", self.order[:NAME_SHOWN])
        if self.order == "dotnet":
            require(self.samples < 2**31, "samples", self.samples)
            require(-(2**31) <= self.seed < 2**31, "seed", self.seed)
        elif self.order in TABLES:
            require(self.samples < 2**32, "samples", self.samples)
        require(self.samples <= MAX_SAMPLES, "samples", self.samples)
        require(self.world > 0, "world", self.world)
        require(self.positions() <= MAX_SAMPLES, "samples", self.samples)
        require(self.rank < self.world, "rank", self.rank)

    def positions(self) -> int:
        """P of section 4."""
        if self.remainder == "drop":
            return self.samples // self.world * self.world
        return ceil_div(self.samples, self.world) * self.world if self.remainder == "pad" else self.samples


@dataclass(frozen=True)
class Place:
    position: int
    rank: int
    index: int
    batch: int
    slot: int
    copies: int


class Sampler:
    def __init__(self, config: Config) -> None:
        config.check()
        self._config = config

    @property
    def _order(self) -> Order:
        c = self._config
        return make_order(c.order, c.samples, c.seed, c.epoch)

    def config(self) -> Config:
        return self._config

    def set_epoch(self, epoch: int) -> None:
        self._config = replace(self._config, epoch=epoch)

    def set_rank(self, rank: int) -> None:
        require(rank < self._config.world, "rank", rank)
        self._config = replace(self._config, rank=rank)

    # Section 4: deal

    def num_positions(self) -> int:
        return self._config.positions()

    def num_dropped(self) -> int:
        return max(self._config.samples - self.num_positions(), 0)

    def num_samples(self) -> int:
        s, e = divmod(self.num_positions(), self._config.world)
        return s + 1 if self._config.rank < e else s

    def _positions(self) -> range:
        """The positions of the rank."""
        r, world, n = self._config.rank, self._config.world, self.num_samples()
        if self._config.layout == "strided":
            return range(r, r + n * world, world)
        s, e = divmod(self.num_positions(), world)
        start = r * s + min(r, e)
        return range(start, start + n)

    def num_padding(self) -> int:
        positions = self._positions()
        real = ceil_div(self._config.samples - positions.start, positions.step)
        return len(positions) - min(max(real, 0), len(positions))

    def _deal(self, start: int, end: int) -> Iterator[int]:
        """Samples start to end - 1 of the rank."""
        order, size = self._order, self._config.samples
        return (order.sample(p % size) for p in self._positions()[start:end])

    def indices(self, start: int, count: int, limit: int = MAX_SAMPLES) -> list[int]:
        n = self.num_samples()
        require(start <= n, "start", start)
        require(count <= min(MAX_WINDOW, n - start), "count", count)
        require(self._config.samples <= limit, "samples", self._config.samples)
        return list(self._deal(start, start + count))

    def indices32(self, start: int, count: int) -> list[int]:
        return self.indices(start, count, 2**32)

    def num_batches(self, batch_size: int, drop_last: bool) -> int:
        require(batch_size > 0, "batch-size", batch_size)
        n = self.num_samples()
        return n // batch_size if drop_last else ceil_div(n, batch_size)

    def batch(self, batch: int, batch_size: int, drop_last: bool, limit: int = MAX_SAMPLES) -> list[int]:
        require(batch < self.num_batches(batch_size, drop_last), "batch", batch)
        start, end = batch * batch_size, min((batch + 1) * batch_size, self.num_samples())
        require(end - start <= MAX_WINDOW, "batch-size", batch_size)
        require(self._config.samples <= limit, "samples", self._config.samples)
        return list(self._deal(start, end))

    def batch32(self, batch: int, batch_size: int, drop_last: bool) -> list[int]:
        return self.batch(batch, batch_size, drop_last, 2**32)

    def sample_at(self, position: int) -> int:
        require(position < self.num_positions(), "position", position)
        return self._order.sample(position % self._config.samples)

    def _place(self, position: int, batch_size: int) -> Place:
        total, world = self.num_positions(), self._config.world
        s, e = divmod(total, world)
        if self._config.layout == "strided":
            index, rank = divmod(position, world)
        elif position < e * (s + 1):
            rank, index = divmod(position, s + 1)
        else:
            rank, index = divmod(position - e, s)
        copies = (total - 1 - position) // self._config.samples
        return Place(position, rank, index, index // batch_size, index % batch_size, copies)

    def place_of(self, position: int, batch_size: int) -> Place:
        require(position < self.num_positions(), "position", position)
        require(batch_size > 0, "batch-size", batch_size)
        return self._place(position, batch_size)

    def locate(self, sample: int, batch_size: int) -> Place | None:
        require(sample < self._config.samples, "sample", sample)
        require(batch_size > 0, "batch-size", batch_size)
        position = self._order.position(sample)
        return self._place(position, batch_size) if position < self.num_positions() else None

    # Section 5: fingerprints

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for sample in self._deal(0, self.num_samples()):
            digest.update(le(sample, 8))
        return digest.hexdigest()

    def config_fingerprint(self) -> str:
        c = self._config
        numbers = le(c.samples, 8) + le(c.seed, 8) + le(c.epoch, 8) + le(c.world, 4)
        choices = bytes([("drop", "pad", "uneven").index(c.remainder), ("strided", "contiguous").index(c.layout)])
        return hashlib.sha256(b"samedeal config 1\0" + c.order.encode("ascii") + b"\0" + numbers + choices).hexdigest()
