"""The tested shuffles: those of samedeal, one that is known to be good, and some that are known to be weak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import samedeal
from numpy.typing import NDArray
from samedeal import Order, Sampler

Samples = NDArray[np.int64]
Key = tuple[int, int]
"""A seed and an epoch."""
SMALL = (16, 50, 257, 1000)
"""Numbers of samples for which whole permutations are tested."""
LARGE = (1_000_000, 2**32 + 15, 10**12, 2**53 - 1)
"""Numbers of samples for which parts of an epoch are tested."""


@dataclass(frozen=True)
class Source:
    """A shuffle: the samples at positions `start` to `start` + `count` - 1 of `n`."""

    name: str
    take: Callable[[int, Key, int, int], Samples]
    exhaustive: tuple[int, ...] = (2, 3, 4, 5, 6)
    small: tuple[int, ...] = SMALL
    large: tuple[int, ...] = LARGE
    even_only: tuple[int, ...] = ()
    """Numbers of samples for which only even permutations are known to occur."""
    is_weak: bool = False

    def whole(self, n: int, key: Key) -> Samples:
        """All samples of an epoch."""
        return self.take(n, key, 0, n)


@lru_cache(4)
def sampler_of(order: Order) -> Sampler:
    """A sampler for all epochs of a seed."""
    return Sampler(order=order)


def part_of(order: Order, key: Key, start: int, end: int) -> Samples:
    """The samples at some positions."""
    sampler = sampler_of(order)
    sampler.set_epoch(key[1])
    return sampler.indices(start, end)


def named(name: str) -> Callable[[int, Key, int, int], Samples]:
    """An order of samedeal."""

    def take(n: int, key: Key, start: int, count: int) -> Samples:
        return part_of(samedeal.order(name, n, seed=key[0]), key, start, start + count)

    return take


def sharded_windows(n: int, key: Key, start: int, count: int) -> Samples:
    """An order `sharded` with one shard, one lane and one window: only the shuffle within a window."""
    return _sharded([n], 1, n, key, start, count)


def sharded_shards(n: int, key: Key, start: int, count: int) -> Samples:
    """An order `sharded` of n shards with one sample each: only the shuffle of shards."""
    return _sharded([1] * n, 1, 1, key, start, count)


def sharded_lanes(n: int, key: Key, start: int, count: int) -> Samples:
    """An order `sharded` of n lanes with one sample each: only the shuffle of lanes."""
    return _sharded([n], n, 1, key, start, count)


def sharded_second(n: int, key: Key, start: int, count: int) -> Samples:
    """The second window of the second lane, out of four lanes with three windows each."""
    found = _sharded([12 * n], 4, n, key, 4 * n, 8 * n)[1 : 4 * n : 4]
    return (found - found.min())[start : start + count]


def _sharded(sizes: list[int], lanes: int, window: int, key: Key, start: int, end: int) -> Samples:
    return part_of(samedeal.sharded(sizes, lanes=lanes, shuffle_window=window, seed=key[0]), key, start, end)


def numpy_permutation(n: int, key: Key, start: int, count: int) -> Samples:
    """NumPy's permutation, from independent keys. For very many samples, it returns independent numbers instead: a few
    of them are almost never equal."""
    rng = np.random.default_rng((key[0] % 2**64, key[1]))
    if n > 10**7:
        return rng.integers(0, n, count)
    return rng.permutation(n)[start : start + count]


def affine(n: int, key: Key, start: int, count: int) -> Samples:
    """A multiplication and an offset: a bijection with visible order."""
    rng = np.random.default_rng(key)
    while np.gcd(factor := int(rng.integers(1, n + 1)), n) != 1:
        continue
    offset = int(rng.integers(0, n))
    return np.array([(position * factor + offset) % n for position in range(start, start + count)])


def rounds(number: int) -> Callable[[int, Key, int, int], Samples]:
    """A Feistel network like samedeal's, with `number` rounds, and without its treatment of few samples."""

    def take(n: int, key: Key, start: int, count: int) -> Samples:
        rng = np.random.default_rng(key)
        rows = int(np.ceil(np.sqrt(n)))
        columns = -(-n // rows)
        keys = rng.integers(0, 2**32, 2 * number, dtype=np.uint64)

        def mixed(x: NDArray[np.uint64], at: int, below: int) -> NDArray[np.uint64]:
            mask = np.uint64(0xFFFFFFFF)
            h = ((x ^ keys[2 * at]) * np.uint64(0x9E3779B1)) & mask
            h = h ^ (h >> np.uint64(16))
            h = ((h + keys[2 * at + 1]) * np.uint64(0x85EBCA6B)) & mask
            return (h * np.uint64(below)) >> np.uint64(32)

        cells = np.arange(start, start + count, dtype=np.uint64)
        left = np.ones(count, dtype=bool)
        while left.any():
            x, y = cells[left] // np.uint64(columns), cells[left] % np.uint64(columns)
            for at in range(number):
                if at % 2 == 0:
                    x = (x + mixed(y, at, rows)) % np.uint64(rows)
                else:
                    y = (y + mixed(x, at, columns)) % np.uint64(columns)
            cells[left] = x * np.uint64(columns) + y
            left = cells >= n
        return cells.astype(np.int64)

    return take


def adding(n: int, key: Key, start: int, count: int) -> Samples:
    """A good shuffle whose key is the sum of seed and epoch. So an epoch of one seed equals the epoch before it of the
    next seed."""
    return numpy_permutation(n, (key[0] + key[1], 0), start, count)


def buffered(n: int, key: Key, start: int, count: int) -> Samples:
    """A shuffle buffer of a quarter of the samples, and at most 1,000. Each new sample takes the place of a random one,
    which is returned."""
    rng = np.random.default_rng(key)
    size = max(1, min(1000, n // 4))
    buffer = np.arange(size)
    out = np.empty(start + count, dtype=np.int64)
    places = rng.integers(0, size, start + count)
    for at in range(min(n - size, start + count)):
        out[at] = buffer[places[at]]
        buffer[places[at]] = size + at
    if n - size < start + count:
        rest = rng.permutation(buffer)
        out[n - size :] = rest[: start + count - (n - size)]
    return out[start:]


SOURCES = (
    Source("feistel", named("feistel"), small=(16, 50, 257, 289, 1000), even_only=(289,)),
    Source("fisher-yates", named("fisher-yates"), large=()),
    Source("sharded: one window", sharded_windows, small=(50, 257), large=()),
    Source("sharded: a window within", sharded_second, small=(50, 257), large=()),
    Source("sharded: shards", sharded_shards, small=(50, 257), large=()),
    Source("sharded: lanes", sharded_lanes, small=(50, 257), large=()),
    Source("control: NumPy", numpy_permutation, exhaustive=(4, 5, 6), small=(50, 257), large=(10**12,)),
)
WEAK = (
    Source("weak: affine", affine, exhaustive=(5,), small=(50, 257), large=(1_000_000,), is_weak=True),
    Source("weak: two rounds", rounds(2), exhaustive=(5,), small=(50, 257), large=(1_000_000,), is_weak=True),
    Source("weak: three rounds", rounds(3), exhaustive=(5,), small=(50, 257), large=(1_000_000,), is_weak=True),
    Source("weak: seed plus epoch", adding, exhaustive=(5,), small=(50,), large=(), is_weak=True),
    Source("weak: shuffle buffer", buffered, exhaustive=(5,), small=(50, 257), large=(1_000_000,), is_weak=True),
)
