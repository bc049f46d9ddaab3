"""The generators of other libraries: section 3, orders `torch`, `python` and `dotnet`."""

from __future__ import annotations

from collections.abc import Iterator

from .base import MASK32


def init_genrand(seed: int) -> list[int]:
    """The initialisation of MT19937, by Matsumoto and Nishimura."""
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
    """The number x as a signed 32-bit integer."""
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
