"""The figures of a plan of batches, by the definitions of wit/batches.wit, for plans of any program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Row = Sequence[int]
"""A row: the samples that share it."""
Batch = Sequence[Row]
Plan = list[list[Batch]]
"""A plan: the batches of each rank."""


class Memory(NamedTuple):
    """The memory for a batch."""

    rows: int
    """Number of samples of the largest length."""
    length: int

    @property
    def tokens(self) -> int:
        """The budget of a batch."""
        return self.rows * self.length


class Figures(NamedTuple):
    """The figures of a plan."""

    steps: int
    """Number of steps of the rank with the most."""
    fewest: int
    """Number of steps of the rank with the fewest."""
    rows: int
    tokens: int
    padded: int
    slowest: int
    """The sum over steps of the tokens, with padding, of the rank that has the most."""
    cost: int
    slowest_cost: int
    over_budget: int
    empty: int
    """Batches without a sample."""
    lost: int
    """Samples that no rank gets."""
    repeated: int
    """Repetitions of samples."""
    padding: float
    """The padding ratio."""
    utilization: float
    """The budget utilization."""
    slowest_rank: float
    """The slowest-rank utilization."""
    imbalance: float
    """The cost of the slowest rank of each step, relative to the mean cost of a rank."""
    neighbours: float
    """Pearson's correlation of the mean lengths of a rank's consecutive batches, averaged over ranks."""


def figures(plan: Plan, lengths: NDArray[np.uint32], memory: Memory, capacity: int = 0) -> Figures:
    """The figures of a plan. `capacity` is the capacity of rows that samples share."""
    world_size, steps = len(plan), max(map(len, plan))
    padded, cost = np.zeros((world_size, steps), np.int64), np.zeros((world_size, steps), np.int64)
    means, given = [], []
    rows = tokens = empty = 0
    for rank, batches in enumerate(plan):
        mean = []
        for step, batch in enumerate(batches):
            if not batch:
                empty += 1
                continue
            samples = np.concatenate([np.asarray(row, np.int64) for row in batch])
            held = lengths[samples].astype(np.int64)
            padded[rank, step] = len(batch) * max(int(held.max()), capacity)
            cost[rank, step] = held.sum() if capacity else padded[rank, step]
            tokens += int(held.sum())
            rows += len(batch)
            mean.append(held.mean())
            given.append(samples)
        means.append(mean)
    times = np.bincount(np.concatenate(given), minlength=len(lengths))
    slowest, slowest_cost = int(padded.max(axis=0).sum()), int(cost.max(axis=0).sum())
    total, spent = int(padded.sum()), int(cost.sum())
    return Figures(
        steps=steps,
        fewest=min(map(len, plan)),
        rows=rows,
        tokens=tokens,
        padded=total,
        slowest=slowest,
        cost=spent,
        slowest_cost=slowest_cost,
        over_budget=int((cost > memory.tokens).sum()),
        empty=empty,
        lost=int((times == 0).sum()),
        repeated=int((times - 1).clip(0).sum()),
        padding=(total - tokens) / total,
        utilization=tokens / (memory.tokens * steps * world_size),
        slowest_rank=tokens / (world_size * slowest),
        imbalance=world_size * slowest_cost / spent,
        neighbours=float(np.mean([correlation(mean) for mean in means])),
    )


def correlation(series: list[float]) -> float:
    """The correlation of neighbours in a series."""
    values = np.array(series)
    first, second = values[:-1], values[1:]
    if len(first) < 2 or first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
