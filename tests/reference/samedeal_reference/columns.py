"""COLUMNS of section 9: column generation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .base import ceil_div

ONE, TINY, PATIENCE = 2**40, 2**20, 2**34
MOST_USES = 2**84
MOST_ROWS, FEWER_ROWS, MOST_UNITS, COARSE = 512, 256, 2**18, 2**10
MOST_STEPS = 2**30
MOST_ITEMS = 2**40
MOST_VALUE = 2**64 - 1

# A column: pairs of a row, and how often the row is in the column.
Column = list[tuple[int, int]]


def times(a: int, b: int) -> int:
    return (a * b + ONE // 2) >> 40


def towards_zero(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def over(a: int, b: int) -> int:
    return towards_zero(a * ONE, b)


class TooLarge(Exception):
    """Raised if a number becomes too large, which ends the search."""


def small(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise TooLarge
    return value


def all_small(values: list[int]) -> list[int]:
    small(min(values))
    small(max(values))
    return values


class Knapsack:
    def __init__(self, sizes: list[int], capacity: int) -> None:
        self.sizes, self.capacity = sizes, capacity

    @property
    def effort(self) -> int:
        return len(self.sizes) * (self.capacity + 1)

    def solve(self, worth: list[int]) -> int:
        # The inner loop takes most of the time of this implementation, so it uses local names and makes no calls.
        values, last = [0] * (self.capacity + 1), [0] * (self.capacity + 1)
        for row, (size, value) in enumerate(zip(self.sizes, worth, strict=True)):
            if value <= 0:
                continue
            for at in range(size, self.capacity + 1):
                with_it = values[at - size] + value
                if with_it > values[at] and values[at] != MOST_VALUE:
                    values[at] = with_it if with_it < MOST_VALUE else MOST_VALUE
                    last[at] = row
        self.values, self.last = values, last
        return values[-1]

    def content(self) -> Column:
        held: dict[int, int] = {}
        at = self.capacity
        while self.values[at] > 0:
            row = self.last[at]
            held[row] = held.get(row, 0) + 1
            at -= self.sizes[row]
        return list(held.items())


class Master:
    def __init__(self, sizes: list[int], demand: list[int], capacity: int, together: int) -> None:
        self.together = together
        each = [min(capacity // size, b) for size, b in zip(sizes, demand, strict=True)]
        rows = range(len(sizes))
        self.columns: list[Column] = [[(row, each[row])] for row in rows]
        self.uses = [demand[row] * ONE // each[row] for row in rows]
        self.inverse = [[ONE // each[row] if row == at else 0 for at in rows] for row in rows]
        self.duals = [ONE // each[row] for row in rows]

    def objective(self) -> int:
        used = sum(uses for column, uses in zip(self.columns, self.uses, strict=True) if column)
        return ceil_div(used - TINY, ONE)

    def worth(self, column: Column) -> int:
        return sum(self.duals[row] * each for row, each in column)

    def inverted(self, patience: int) -> int | None:
        less, row = min((dual - (*self.duals, 0)[row + 1], row) for row, dual in enumerate(self.duals))
        return row if less < -patience else None

    def enter(self, column: Column, cost: int) -> None:
        d = all_small([sum([row[at] * each for at, each in column]) for row in self.inverse])
        gain = small(cost - self.worth(column))
        able = [row for row, each in enumerate(d) if each > TINY]
        if not able:
            raise TooLarge
        leaving = min(able, key=lambda row: (towards_zero(self.uses[row] << 24, d[row]), -d[row]))
        pivot = d[leaving]
        used = over(self.uses[leaving], pivot)
        next_uses = [max(0, uses - (used * each >> 40)) for uses, each in zip(self.uses, d, strict=True)]
        next_uses[leaving] = used
        if max(next_uses) > MOST_USES:
            raise TooLarge
        entering = [small(over(value, pivot)) for value in self.inverse[leaving]]
        for row, each in enumerate(d):
            if row != leaving and each:
                values = zip(self.inverse[row], entering, strict=True)
                self.inverse[row] = all_small([value - ((each * new + ONE // 2) >> 40) for value, new in values])
        self.inverse[leaving] = entering
        self.duals = [small(dual + times(gain, new)) for dual, new in zip(self.duals, entering, strict=True)]
        self.uses = next_uses
        self.columns[leaving] = column if cost else []


def lower_bound(demand: list[int], worth: list[int], value: int) -> tuple[int, int]:
    if value in (0, MOST_VALUE):
        return 0, 0
    total = sum(b * max(0, v) for b, v in zip(demand, worth, strict=True))
    return ceil_div(total, value), (total << 20) // value


def generate(sizes: list[int], counts: list[int], capacity: int, known: int, left: int) -> tuple[Master | None, int]:
    """The search for sizes that have items: the master, and the bound. There is no master if the bound ends the search,
    or if there are too many units or items. Rows are the rows of SPEC."""
    unit = math.gcd(*sizes)
    units = capacity // unit
    if units > MOST_UNITS or sum(counts) > MOST_ITEMS:
        return None, 0
    all_sizes = [size // unit for size in sizes]
    together = 1 if len(sizes) <= MOST_ROWS else ceil_div(len(sizes), FEWER_ROWS)
    sizes = all_sizes[::together]
    demand = [sum(counts[row : row + together]) for row in range(0, len(counts), together)]
    master = Master(sizes, demand, units, together)
    exact = Knapsack(sizes, units)
    q = max(1, ceil_div(units, COARSE))
    knapsack = exact if q == 1 else Knapsack([min(ceil_div(size, q), units // q) for size in sizes], units // q)
    rows, bound = len(sizes), 0
    center, best, smooth, patience = [0] * rows, 0, True, PATIENCE
    while True:
        cost = 0
        inverted = master.inverted(patience)
        if inverted is not None:
            column = [(row, each) for row, each in ((inverted, -1), (inverted + 1, 1)) if row < rows]
        else:
            if left < knapsack.effort:
                break
            left -= knapsack.effort
            worth = [max(0, dual) for dual in master.duals]
            if smooth:
                worth = [z + towards_zero(y - z, 4) for z, y in zip(center, worth, strict=True)]
            value = knapsack.solve(worth)
            least, score = lower_bound(demand, worth, value)
            if score > best:
                center, best = [v * ONE // value for v in worth], score
            if knapsack is exact:
                bound = max(bound, least)
                if together == 1 and bound >= known:
                    return None, bound
                if bound >= master.objective():
                    break
            column, cost = knapsack.content(), ONE
            if master.worth(column) <= ONE + TINY:
                if smooth:
                    smooth = False
                elif patience > TINY:
                    patience = TINY
                elif knapsack is not exact:
                    knapsack, smooth, best = exact, True, 0
                else:
                    break
                continue
        smooth, patience = True, PATIENCE
        if left < rows * rows:
            break
        try:
            master.enter(column, cost)
        except TooLarge:
            break
        left -= rows * rows
    if together > 1:
        bound = bound_of_all(master, all_sizes, counts, units)
        if bound >= known:
            return None, bound
    return master, bound


def bound_of_all(master: Master, sizes: list[int], counts: list[int], units: int) -> int:
    """The bound if a row may stand for several sizes."""
    bound = 0
    if len(sizes) * (units + 1) > MOST_STEPS:
        return bound
    together = master.together
    first = [*sizes[::together], 0]
    values = [*(max(0, dual) for dual in master.duals), 0]
    for between in (False, True):
        worth = []
        for k, size in enumerate(sizes):
            row = k // together
            more = (values[row] - values[row + 1]) * (size - first[row + 1])
            worth.append(values[row + 1] + (towards_zero(more, first[row] - first[row + 1]) if between else 0))
        bound = max(bound, lower_bound(counts, worth, Knapsack(sizes, units).solve(worth))[0])
    return bound


def whole(master: Master, eighths: int) -> Iterator[tuple[Column, int]]:
    """For each pattern: the pattern, and its number of whole bins."""
    for column, uses in zip(master.columns, master.uses, strict=True):
        if column:
            yield column, (uses + (eighths << 37) + TINY) >> 40


def expand(column: Column, bins: int, counts: list[int], together: int) -> Iterator[tuple[list[tuple[int, int]], int]]:
    """Fills bins of a pattern while there are items: the content of each, and the number of such bins. Reduces the
    counts."""
    while bins:
        held: dict[int, int] = {}
        for row, each in column:
            wanted = each
            for k in range(row * together, len(counts)):
                if counts[k] and wanted:
                    taken = min(wanted, counts[k] - held.get(k, 0))
                    held[k] = held.get(k, 0) + taken
                    wanted -= taken
            if wanted:
                return
        held = {k: each for k, each in held.items() if each}
        many = min(bins, *(counts[k] // each for k, each in held.items()))
        for k, each in held.items():
            counts[k] -= many * each
        yield list(held.items()), many
        bins -= many
