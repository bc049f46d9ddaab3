"""The results about batches: section 9, "Results"."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .base import MAX_U64, millionths, require
from .batch_config import BatchConfig
from .batch_plan import Batch, Step


@dataclass
class Metrics:
    steps: int = 0
    items: int = 0
    rows: int = 0
    tokens: int = 0
    padded: int = 0
    slowest: int = 0
    cost: int = 0
    slowest_cost: int = 0
    packs_bound: int = 0
    over_budget: int = 0
    empty: int = 0
    repeated: int = 0
    dropped: int = 0
    truncated: int = 0
    too_long: int = 0
    split: int = 0

    def add(self, other: Metrics) -> None:
        for name, number in vars(other).items():
            total = getattr(self, name) + number
            setattr(self, name, min(MAX_U64, total) if name in ("cost", "slowest_cost") else total)

    def add_steps(self, config: BatchConfig, steps: list[Step]) -> None:
        for step in steps:
            weights = [weigh(config, batch) for batch in step]
            padded = [len(batch.rows) * width for batch, (width, _) in zip(step, weights, strict=True)]
            costs = [cost for _, cost in weights]
            items = [item for batch in step for row in batch.rows for item in row]
            repeated = [batch.rows[len(batch.rows) - batch.repeated :] for batch in step]
            self.add(
                Metrics(
                    steps=1,
                    items=len(items),
                    rows=sum(len(batch.rows) for batch in step),
                    tokens=sum(item.length for item in items),
                    padded=sum(padded),
                    slowest=max(padded),
                    cost=sum(costs),
                    slowest_cost=max(costs),
                    over_budget=sum(0 < config.budget < cost for cost in costs),
                    empty=sum(not batch.rows for batch in step),
                    repeated=sum(len(row) for rows in repeated for row in rows),
                )
            )

    def add_long(self, config: BatchConfig, over: int) -> None:
        """Counts samples of more than M tokens."""
        field = {"truncate": "truncated", "drop": "too_long", "split": "split"}.get(config.too_long)
        if field:
            self.add(Metrics(**{field: over}))


def weigh(config: BatchConfig, batch: Batch) -> tuple[int, int]:
    """The padded length and the cost of a batch."""
    lengths = [item.length for row in batch.rows for item in row]
    width = config.padded_length(lengths)
    if config.counts_padding:
        return width, min(MAX_U64, len(batch.rows) * width)
    return width, min(MAX_U64, sum(map(config.cost, lengths)))


def ratio(config: BatchConfig, metrics: Metrics, name: str) -> int:
    m, world = metrics, config.world_size
    packs = config.strategy == "pack"
    room = config.max_batch_size * config.capacity if packs else config.budget
    used = m.cost if config.counting == "weighted" and not packs else m.tokens
    part, of = {
        "padding": (m.padded - m.tokens, m.padded),
        "budget-utilization": (used, room * m.steps * world),
        "slowest-rank-utilization": (m.tokens, world * m.slowest),
        "cost-imbalance": (world * m.slowest_cost, m.cost),
    }[name]
    return millionths(part, of) if of > 0 else 10**6 * (name != "padding")


RATIOS = ("padding", "budget-utilization", "slowest-rank-utilization", "cost-imbalance")


def require_ratio(name: str) -> None:
    require(name in RATIOS, "ratio", name, "unknown-name")


@dataclass
class Run:
    samples: list[int]
    starts: list[int]
    lengths: list[int]
    row_ends: list[int]
    batch_ends: list[int]
    padded_lengths: list[int]
    costs: list[int]
    repeated: list[int]
    full_rows: list[int]


def run_of(config: BatchConfig, batches: list[Batch]) -> Run:
    run = Run(*([] for _ in fields(Run)))
    for batch in batches:
        for row in batch.rows:
            run.samples += [item.sample for item in row]
            run.starts += [item.start for item in row]
            run.lengths += [item.length for item in row]
            run.row_ends.append(len(run.samples))
        width, cost = weigh(config, batch)
        run.batch_ends.append(len(run.row_ends))
        run.padded_lengths.append(width)
        run.costs.append(cost)
        run.repeated.append(batch.repeated)
        run.full_rows.append(config.full_rows(width))
    return run
