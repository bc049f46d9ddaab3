"""Exact distributions of statistics of uniform permutations, and p-values."""

from __future__ import annotations

from functools import cache
from math import factorial, log

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
LEAST = 10.0
"""The smallest expected count of a cell in a chi-square test."""


def chi_square(counts: NDArray[np.int64], probabilities: Floats) -> float:
    """The p-value of counts. Neighbouring cells with small expected counts are joined."""
    expected = probabilities * counts.sum()
    found: list[tuple[float, float]] = []
    count = mean = 0.0
    for own, own_mean in zip(counts.tolist(), expected.tolist(), strict=True):
        count, mean = count + own, mean + own_mean
        if mean >= LEAST:
            found.append((count, mean))
            count = mean = 0.0
    if mean or count:
        last = found.pop() if found else (0.0, 0.0)
        found.append((last[0] + count, last[1] + mean))
    if len(found) < 2:
        raise ValueError("a chi-square test needs two cells: take more seeds")
    statistic = sum((own - own_mean) ** 2 / own_mean for own, own_mean in found)
    return float(stats.chi2.sf(statistic, len(found) - 1))


def histogram(values: NDArray[np.int64], probabilities: Floats) -> float:
    """The p-value of values 0 to len(probabilities) - 1."""
    return chi_square(np.bincount(values, minlength=len(probabilities)), probabilities)


def two_samples(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The p-value of two lists of small numbers, if both are from one unknown distribution. The lists have equal
    lengths."""
    table = np.stack([np.bincount(each, minlength=1 + max(one.max(), other.max())) for each in (one, other)])
    cells = np.cumsum(table.sum(axis=0)) // round(4 * LEAST)
    joined = np.stack([np.bincount(np.unique(cells, return_inverse=True)[1], weights=row) for row in table])
    joined = joined[:, joined.sum(axis=0) > 0]
    return float(stats.chi2_contingency(joined, correction=False).pvalue)


def normal(z: float) -> float:
    """The p-value of a deviation in either direction."""
    return float(2 * stats.norm.sf(abs(z)))


def halves(count: int, of: int) -> float:
    """The p-value of a count that is binomial with 1/2."""
    return float(stats.binomtest(count, of).pvalue)


@cache
def descents(n: int) -> Floats:
    """The distribution of the number of descents, 0 to n - 1: Eulerian numbers, divided by n!."""
    found = np.array([1.0])
    for size in range(2, n + 1):
        k = np.arange(size)
        before = np.append(found, 0.0)
        found = ((k + 1) * before + (size - k) * np.append(0.0, before[:-1])) / size
    return found


@cache
def cycles(n: int) -> Floats:
    """The distribution of the number of cycles, 0 to n: Stirling numbers of the first kind, divided by n!."""
    found = np.array([1.0])
    for size in range(1, n + 1):
        found = (np.append(0.0, found) + (size - 1) * np.append(found, 0.0)) / size
    return found


@cache
def fixed_points(n: int) -> Floats:
    """The distribution of the number of fixed points, 0 to n."""
    return np.array(
        [
            sum((-1) ** j / factorial(j) for j in range(min(n - k, 30) + 1)) / factorial(k) if k < 40 else 0.0
            for k in range(n + 1)
        ]
    )


@cache
def inversions(n: int) -> Floats:
    """The distribution of the number of inversions, 0 to n (n - 1) / 2: Mahonian numbers, divided by n!."""
    found = np.array([1.0])
    for size in range(2, n + 1):
        found = np.convolve(found, np.full(size, 1 / size))
    return found


@cache
def longest_increasing(n: int) -> Floats:
    """The distribution of the length of the longest increasing subsequence, 0 to n: squares of the numbers of standard
    Young tableaux of n cells, by the length of the first row (Schensted 1961)."""
    logs = np.cumsum([0.0, *(log(k) for k in range(1, n + 1))])
    found = np.zeros(n + 1)

    def shapes(left: int, most: int, rows: list[int]) -> None:
        if not left:
            columns = [sum(row > at for row in rows) for at in range(rows[0])]
            hooks = sum(log(row - at + columns[at] - i - 1) for i, row in enumerate(rows) for at in range(row))
            found[rows[0]] += np.exp(logs[n] - 2 * hooks)
            return
        for row in range(min(left, most), 0, -1):
            shapes(left - row, row, [*rows, row])

    shapes(n, n, [])
    return found


def turning_points(n: int) -> tuple[float, float]:
    """The mean and the variance of the number of runs up and down, minus one (Wallis and Moore 1941)."""
    return 2 * (n - 2) / 3, (16 * n - 29) / 90
