"""Failures, arithmetic, and the streams of random words of section 2."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, MutableSequence

MASK32 = 2**32 - 1
MAX_SAMPLES = 2**53 - 1
MAX_WINDOW = 2**20
MAX_U32, MAX_U64 = 2**32 - 1, 2**64 - 1
TEXT_SHOWN = 64  # the largest number of Unicode scalar values of a text that its failure shows


class Failure(Exception):
    """A failure of section 6, without the parts for people: the text of the allowed values, and the value if the field
    is a list."""

    def __init__(self, kind: str, field: str, value: int | str | None = None) -> None:
        super().__init__(f"{kind}: {field} = {value}")
        self.kind, self.field = kind, field
        self.value = None if value is None else str(value)[:TEXT_SHOWN]


def require(holds: bool, field: str, value: int | str | None, kind: str = "out-of-range") -> None:
    if not holds:
        raise Failure(kind, field, value)


def require_window(start: int, count: int, n: int) -> None:
    """Checks the arguments of `indices` for n indices."""
    require(start <= n, "start", start)
    require(count <= min(MAX_WINDOW, n - start), "count", count)


def require_ranks(first: int, count: int, world_size: int, each: int = 1) -> None:
    """Checks the arguments of `step` if each rank has `each` numbers."""
    require(first < world_size, "first", first)
    require(count <= min(world_size - first, MAX_WINDOW // max(1, each)), "count", count)


def millionths(part: int, of: int) -> int:
    """A ratio in parts per million, to the nearest integer, and at most 2^53 - 1."""
    return min((2 * 10**6 * part + of) // (2 * of), MAX_SAMPLES)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def le(x: int, size: int) -> bytes:
    """LE8, or another size. Negative numbers are in two's complement."""
    return x.to_bytes(size, "little", signed=x < 0)


def stream_key(purpose: str, seed: int, epoch: int, index: int = 0) -> bytes:
    text = b"samedeal key 1\0" + purpose.encode() + b"\0"
    return hashlib.sha256(text + le(seed, 8) + le(epoch, 8) + le(index, 8)).digest()


# The quarter rounds of the four columns, then of the four diagonals.
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


def stream(purpose: str, seed: int, epoch: int, index: int = 0) -> Iterator[int]:
    return chacha8(stream_key(purpose, seed, epoch, index))


def shuffle(items: MutableSequence[int], words: Iterator[int]) -> None:
    for i in range(len(items) - 1, 0, -1):
        j = below(words, i + 1)
        items[i], items[j] = items[j], items[i]
