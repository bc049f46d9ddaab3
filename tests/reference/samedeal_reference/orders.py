"""The orders of section 3 that only need a number of samples."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, MutableSequence
from functools import lru_cache
from typing import Protocol

from .base import MASK32, MAX_SAMPLES, Failure, ceil_div, require, shuffle, stream
from .generators import dotnet_samples, init_by_array, init_genrand, mt19937, wrap32


class Order(Protocol):
    """A bijection of [0, N)."""

    def sample(self, position: int) -> int: ...

    def position(self, sample: int) -> int: ...


# Orders that need a table: each takes the list 0, 1, ..., N - 1 and leaves the order in it.

Items = MutableSequence[int]
Fill = Callable[[Items], None]


def fisher_yates(items: Items, seed: int, epoch: int) -> None:
    shuffle(items, stream("fisher-yates", seed, epoch))


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
    def __init__(self, size: int, fill: Fill) -> None:
        self.items = array("I", range(size))
        fill(self.items)
        self.positions: array[int] | None = None

    def sample(self, position: int) -> int:
        return self.items[position]

    def position(self, sample: int) -> int:
        if self.positions is None:
            self.positions = array("I", bytes(self.items.itemsize * len(self.items)))
            for position, item in enumerate(self.items):
                self.positions[item] = position
        return self.positions[sample]


# Orders without a table


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
    """The Feistel network, for N > 256."""

    def __init__(self, size: int, words: Iterator[int]) -> None:
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


def feistel(size: int, words: Iterator[int]) -> Order:
    """The permutation by these words, for any N."""
    return Feistel(size, words) if size > 256 else Table(size, lambda items: shuffle(items, words))


TABLES: dict[str, Callable[[Items, int, int], None]] = {
    "fisher-yates": fisher_yates,
    "torch": torch,
    "torch-2.5": torch_2_5,
    "python": python,
    "dotnet": dotnet,
}


def require_name(order: str) -> None:
    if order not in ("sequential", "feistel", "sharded", *TABLES):
        raise Failure("unknown-name", "name", order)


def require_range(order: str, samples: int, seed: int, field: str = "samples") -> None:
    """The ranges of section 1 that depend on the order."""
    most = 2**31 - 1 if order == "dotnet" else 2**32 - 1 if order in TABLES else MAX_SAMPLES
    require(samples <= most, field, samples)
    require(order != "dotnet" or -(2**31) <= seed < 2**31, "seed", seed)


@lru_cache(maxsize=8)
def make_order(name: str, size: int, seed: int, epoch: int) -> Order:
    if name == "sequential":
        return Sequential()
    if name == "feistel":
        return feistel(size, stream("feistel", seed, epoch))
    return Table(size, lambda items: TABLES[name](items, seed, epoch))
