"""The tests. Each returns p-values, which are uniform between 0 and 1 if the shuffle is a uniform one.

No two tests use the same permutations, so that their p-values are independent of each other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from math import factorial
from typing import NamedTuple

import known
import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sources import Key, Samples, Source

SMALL_LIS = 30
"""The largest number of samples for which the exact distribution of longest increasing subsequences is computed."""
CELLS = 50
RUN = 1024
"""Number of neighbouring positions that are tested in an epoch of many samples."""


class Finding(NamedTuple):
    """One p-value."""

    source: str
    test: str
    of: str
    p: float


class Keys:
    """Gives each test of a source keys that no other test gets: consecutive seeds, or consecutive epochs of one
    seed."""

    def __init__(self) -> None:
        """Begins with the first seed."""
        self.tests = 0

    def next(self, count: int) -> list[Key]:
        """The next `count` keys. Only every fourth test gets seeds, because a seed costs more than an epoch."""
        first = self.first()
        if self.tests % 4 == 0:
            return [(first + number, self.tests) for number in range(count)]
        return [(first, number) for number in range(count)]

    def first(self) -> int:
        """The first seed of a block of a billion seeds."""
        self.tests += 1
        return self.tests * 10**9

    def related(self, name: str, count: int) -> Iterator[tuple[Key, Key]]:
        """Pairs of keys that are close to each other. No key is in two pairs."""
        first = self.first()
        for number in range(count):
            match name:
                case "next seed":
                    yield (first + 2 * number, 0), (first + 2 * number + 1, 0)
                case "next epoch":
                    yield (first, 2 * number), (first, 2 * number + 1)
                case "next seed against next epoch":
                    yield (first + 2 * number + 1, 0), (first + 2 * number, 1)
                case "other high half of a seed":
                    yield (first + number, 0), (first + number + 2**50, 0)


Test = Callable[[Source, int, int, Keys], Iterator[tuple[str, float]]]
"""A test: p-values for a number of samples and a number of keys."""


def permutations(source: Source, n: int, keys: list[Key]) -> NDArray[np.int64]:
    """Whole epochs, one in each row."""
    found = np.stack([source.whole(n, key) for key in keys])
    assert (np.sort(found[0]) == np.arange(n)).all(), f"{source.name} of {n} is no permutation"
    return found


def ranks_of(found: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each permutation in the factorial system."""
    n = found.shape[1]
    numbers = np.zeros(len(found), dtype=np.int64)
    for at in range(n):
        numbers = numbers * (n - at) + (found[:, at + 1 :] < found[:, at : at + 1]).sum(axis=1)
    return numbers


def binned(values: Samples, n: int, cells: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each of `cells` equal parts of 0 to n - 1: the number of values in it, and its probability."""
    cells = min(cells, n)
    edges = [-(-cell * n // cells) for cell in range(cells + 1)]
    counts = np.histogram(values, bins=np.array([edge - 0.5 for edge in edges]))[0] if n < 2**52 else None
    if counts is None:
        counts = np.bincount([int(value) * cells // n for value in values], minlength=cells)
    return counts, np.diff(np.array(edges, dtype=np.float64)) / n


# Tests of all permutations of a few samples.


def every_permutation(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """All permutations have the same probability."""
    count = max(seeds, 10 * factorial(n))
    found = ranks_of(permutations(source, n, keys.next(count)))
    yield "every permutation", known.histogram(found, np.full(factorial(n), 1 / factorial(n)))


RELATED = ("next seed", "next epoch", "next seed against next epoch", "other high half of a seed")
"""Kinds of pairs of keys."""


def related(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """For two keys that are close to each other, the permutation of one after the inverse of the other is uniform."""
    count = max(seeds, 10 * factorial(n))
    for name in RELATED:
        first, second = (permutations(source, n, [*some]) for some in zip(*keys.related(name, count), strict=True))
        both = np.take_along_axis(first, np.argsort(second, axis=1), axis=1)
        yield f"relation: {name}", known.histogram(ranks_of(both), np.full(factorial(n), 1 / factorial(n)))


# Tests of whole permutations.


def positions_and_values(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """The sample at each of three positions, and the pair of samples at two neighbouring positions."""
    for position in (0, n // 2, n - 1):
        values = permutations(source, n, keys.next(seeds))[:, position]
        yield f"sample at position {position}", known.chi_square(*binned(values, n, CELLS))
    found = permutations(source, n, keys.next(seeds))
    at = n // 3
    later = found[:, at + 1] - (found[:, at + 1] > found[:, at])
    cells = [binned(values, of, 8)[1] for values, of in ((found[:, at], n), (later, n - 1))]
    table = np.zeros((8, 8), dtype=np.int64)
    np.add.at(table, (found[:, at] * 8 // n, later * 8 // (n - 1)), 1)
    yield "serial pairs", known.chi_square(table.ravel(), np.outer(*cells).ravel())


def runs(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """Ascending runs, and runs up and down."""
    found = np.diff(permutations(source, n, keys.next(seeds)), axis=1)
    yield "descents", known.histogram((found < 0).sum(axis=1), known.descents(n))
    found = np.diff(permutations(source, n, keys.next(seeds)), axis=1)
    mean, variance = known.turning_points(n)
    turns = ((found[:, 1:] > 0) != (found[:, :-1] > 0)).sum(axis=1)
    yield "runs up and down", known.normal((turns.mean() - mean) / np.sqrt(variance / seeds))


def increasing(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """The longest increasing subsequence; for many samples, compared with that of NumPy's permutations."""
    found = np.array([longest(row) for row in permutations(source, n, keys.next(seeds)).tolist()])
    if n <= SMALL_LIS:
        yield "longest increasing subsequence", known.histogram(found, known.longest_increasing(n))
        return
    rng = np.random.default_rng((7, n, keys.tests))
    other = np.array([longest(rng.permutation(n).tolist()) for _ in range(seeds)])
    yield "longest increasing subsequence", known.two_samples(found, other)


def longest(values: list[int]) -> int:
    """The length of the longest increasing subsequence."""
    tails: list[int] = []
    for value in values:
        at = bisect_left(tails, value)
        tails[at : at + 1] = [value]
    return len(tails)


def points_and_cycles(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """Fixed points, the number of cycles, and the length of the cycle of a sample."""
    found = permutations(source, n, keys.next(seeds))
    yield "fixed points", known.histogram((found == np.arange(n)).sum(axis=1), known.fixed_points(n))
    found = permutations(source, n, keys.next(seeds))
    expected = known.cycles(n)
    if n in source.even_only:
        # Even permutations have n, n - 2, n - 4, ... cycles.
        expected = np.where((n - np.arange(n + 1)) % 2 == 0, 2 * expected, 0)
    yield "cycles", known.histogram(count_cycles(found), expected)
    found = permutations(source, n, keys.next(seeds))
    rows, place, lengths = np.arange(seeds), np.full(seeds, n // 2), np.zeros(seeds, dtype=np.int64)
    open_ = np.ones(seeds, dtype=bool)
    while open_.any():
        place = np.where(open_, found[rows, place], place)
        lengths += open_
        open_ &= place != n // 2
    yield "length of a cycle", known.chi_square(*binned(lengths - 1, n, CELLS))


def count_cycles(found: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of cycles of each row. A cycle is counted at its smallest sample."""
    least, jump, steps = np.tile(np.arange(found.shape[1]), (len(found), 1)), found, 1
    while steps < found.shape[1]:
        least = np.minimum(least, np.take_along_axis(least, jump, axis=1))
        jump = np.take_along_axis(jump, jump, axis=1)
        steps *= 2
    least = np.minimum(least, np.take_along_axis(least, jump, axis=1))
    return (least == np.arange(found.shape[1])).sum(axis=1)


def order_of_pairs(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """The number of inversions is as expected, and even permutations are as frequent as odd ones. For some n, a source
    is known to give only even ones."""
    found = permutations(source, n, keys.next(seeds))
    counts = sum((found[:, at : at + 1] > found[:, at + 1 :]).sum(axis=1) for at in range(n - 1))
    assert not isinstance(counts, int)
    if n <= 60:
        yield "inversions", known.histogram(counts, known.inversions(n))
    else:
        mean, deviation = n * (n - 1) / 4, np.sqrt(n * (n - 1) * (2 * n + 5) / 72)
        bins = np.minimum(stats.norm.cdf((counts - mean) / deviation) * 20, 19).astype(np.int64)
        yield "inversions", known.histogram(bins, np.full(20, 1 / 20))
    if n not in source.even_only:
        odd = int(((n - count_cycles(permutations(source, n, keys.next(seeds)))) % 2).sum())
        yield "even and odd", known.halves(odd, seeds)


def whole_correlations(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """Correlations of the samples of related keys, and of neighbouring ranks of one deal."""
    for name in RELATED:
        pairs = [[source.whole(n, key) - (n - 1) / 2 for key in pair] for pair in keys.related(name, seeds)]
        total = sum(float(one @ other) for one, other in pairs) / (n * (n * n - 1) / 12)
        # The correlation of two independent permutations has variance 1 / (n - 1).
        yield f"correlation: {name}", known.normal(total * np.sqrt((n - 1) / seeds))
    found = permutations(source, n, keys.next(seeds))[:, : n // 4 * 4].reshape(seeds, -1, 4).astype(np.float64)
    count = found.shape[1]
    centred = found - (n - 1) / 2
    # Two samples of one permutation have covariance -(n + 1) / 12.
    products = (centred[:, :, 0] * centred[:, :, 1]).sum(axis=1)
    z = (products + count * (n + 1) / 12).sum() / (np.std(products, ddof=1) * np.sqrt(seeds))
    yield "correlation: rank 0 and rank 1 of 4", known.normal(float(z))


# Tests of parts of an epoch of many samples.


def part(source: Source, n: int, key: Key, number: int) -> Samples:
    """Neighbouring positions, at another place in the epoch for each `number`. Weak sources, such as a shuffle buffer,
    are always read from the start."""
    start = 0 if source.is_weak else (number * 7_919 * RUN) % (n - 2 * RUN)
    return source.take(n, key, start, RUN)


def cells_of_parts(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """The places of samples by their high and their low bits, and the differences of neighbours."""
    for name, position in (("first", 0), ("middle", n // 2), ("last", n - 1)):
        if source.is_weak and position:
            continue
        values = np.array([source.take(n, key, position, 1)[0] for key in keys.next(seeds)])
        yield f"sample at the {name} position", known.chi_square(*binned(values, n, CELLS))
    parts = seeds // 20
    found = np.concatenate([part(source, n, key, at) for at, key in enumerate(keys.next(parts))])
    yield "low bits", known.histogram(found % 64, low_bits(n, 64))
    positions = np.tile(np.arange(RUN), parts) % 16
    found = np.concatenate([part(source, n, key, at) for at, key in enumerate(keys.next(parts))])
    table = np.bincount(positions * 16 + found % 16, minlength=256)
    yield "position and sample, low bits", known.chi_square(table, np.tile(low_bits(n, 16) / 16, 16))
    found = np.array([source.take(n, key, 12_345, 2) for key in keys.next(seeds)])
    steps = np.array([(int(b) - int(a)) % n - 1 for a, b in found])
    yield "difference of neighbours", known.chi_square(*binned(steps, n - 1, CELLS))


def low_bits(n: int, modulus: int) -> NDArray[np.float64]:
    """The probability of each remainder."""
    return np.array([(n - remainder + modulus - 1) // modulus / n for remainder in range(modulus)], dtype=np.float64)


def correlations_of_parts(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """Correlations of positions that are 1 to 8 apart, of related keys, and of ranks of one deal."""
    parts = seeds // 20
    for lag in (1, 2, 3, 4, 8):
        values = [uniform(part(source, n, key, at), n) for at, key in enumerate(keys.next(parts))]
        products = np.array([12 * (own[:-lag] * own[lag:]).sum() for own in values])
        yield f"lag {lag}", known.normal(float(products.sum() / np.sqrt(parts * (RUN - lag))))
    for name in RELATED:
        total = 0.0
        for number, pair in enumerate(keys.related(name, parts)):
            first, second = (uniform(part(source, n, key, number), n) for key in pair)
            total += 12 * float(first @ second)
        yield f"correlation: {name}", known.normal(total / np.sqrt(parts * RUN))


def uniform(samples: Samples, n: int) -> NDArray[np.float64]:
    """Samples as numbers between -1/2 and 1/2."""
    return (samples + 0.5) / n - 0.5


def spectrum(source: Source, n: int, seeds: int, keys: Keys) -> Iterator[tuple[str, float]]:
    """The distances of samples from their positions, as a spectrum: its four quarters, and its highest peak."""
    parts = seeds // 20
    values = np.stack([uniform(part(source, n, key, at), n) for at, key in enumerate(keys.next(parts))])
    # The place in the epoch is nearly constant in a part: it only affects frequency 0, which is left out.
    power = np.abs(np.fft.rfft(values, axis=1)[:, 1 : RUN // 2]) ** 2 * 12 / RUN
    for number, band in enumerate(np.array_split(power, 4, axis=1)):
        yield f"spectrum, quarter {number + 1}", known.normal(float((band.mean() - 1) * np.sqrt(band.size)))
    by_frequency = power.sum(axis=0)
    # Sums of exponential variables have a gamma distribution.
    least = float(stats.gamma.sf(by_frequency.max(), parts))
    yield "spectrum, highest frequency", 1.0 if least == 1 else float(-np.expm1(len(by_frequency) * np.log1p(-least)))


ON_FEW: tuple[Test, ...] = (every_permutation,)
ON_RELATED: tuple[Test, ...] = (related,)
ON_SMALL: tuple[Test, ...] = (
    positions_and_values,
    runs,
    increasing,
    points_and_cycles,
    order_of_pairs,
    whole_correlations,
)
ON_LARGE: tuple[Test, ...] = (cells_of_parts, correlations_of_parts, spectrum)


def run(source: Source, seeds: int) -> list[Finding]:
    """All tests of a source."""
    keys, findings = Keys(), []
    sizes: list[tuple[tuple[Test, ...], tuple[int, ...]]] = [
        (ON_FEW, source.exhaustive),
        (ON_RELATED, tuple(n for n in source.exhaustive if n in (4, 5))),
        (ON_SMALL, source.small),
        (ON_LARGE, source.large),
    ]
    for tests, numbers in sizes:
        for n in numbers:
            for test in tests:
                findings += [Finding(source.name, name, f"{n:,}", p) for name, p in test(source, n, seeds, keys)]
    return findings
