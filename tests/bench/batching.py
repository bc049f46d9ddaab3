"""How good batches of sequences of different length are, and how long they take: samedeal beside the code of others.

    cargo xtask bench --only batching-peers

makes the environment with the others (tests/bench/requirements-peers.txt), runs this in it, and writes the figures into
docs/comparison/batching.md, whose tables have a row for each of them:

    target/venv-peers/bin/python tests/bench/batching.py --plot docs/comparison/batching.svg

All contestants get the same lengths and the same memory: a batch has room for `rows` samples of the largest `length`.
Batches of a fixed size have `rows` samples, token budgets are rows * length, and packs are rows of `length` tokens. The
figures are counted from the samples of every batch of every rank, by one definition (figures.py), once for each epoch.
samedeal's `metrics` must agree with them. The time is that of a rank from the lengths to its last batch, once for each
epoch and rank. The contestants take turns in one process.
"""

from __future__ import annotations

import argparse
import gc
import platform
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, NamedTuple

import lengths
import numpy as np
import peers
import samedeal
from figures import Batch, Figures, Memory, Plan, figures
from numpy.typing import NDArray
from peers import Made, Task
from picture import draw

EPOCHS = {1: 3, 8: 2}
"""For each world size: the number of epochs that are measured. All ranks are timed."""
WHOLE = 2**32 - 1
FIXED = "fixed size"
TOKENS = "token budget"
PACKS = "packs"


class Contestant(NamedTuple):
    """A program that makes batches."""

    name: str
    kind: str
    """The limit of a batch: `FIXED`, `TOKENS` or `PACKS`."""
    make: Callable[[Task], Made]


class Case(NamedTuple):
    """A task for several contestants."""

    name: str
    """The beginning of the ids of its figures, after the group."""
    title: str
    task: Task
    contestants: list[Contestant]


class Result(NamedTuple):
    """The figures and times of a contestant, over epochs."""

    contestant: Contestant
    figures: list[Figures]
    seconds: list[float]
    """Seconds of each epoch and rank."""
    again: list[float]
    """For each pair of consecutive epochs: of the pairs of samples that share a batch, the share that also shares one
    in the next epoch."""
    means: list[float]
    """Mean lengths of the batches of rank 0 in the first epoch, in their order."""

    def mean(self, field: str) -> float:
        """The mean of a figure over epochs."""
        return fmean(getattr(figures, field) for figures in self.figures)


def ours(name: str, kind: str, **options: Any) -> Contestant:
    """A strategy of samedeal."""

    def make(task: Task) -> Made:
        room = {"max_length": task.memory.length}
        room |= {"max_tokens": task.memory.tokens} if kind == TOKENS else {"max_batch_size": task.memory.rows}

        def plan(rank: int, epoch: int) -> tuple[samedeal.Batcher, list[samedeal.Batch]]:
            batcher = samedeal.Batcher(
                task.lengths, rank=rank, world_size=task.world_size, epoch=epoch, **{"tail": "keep", **room, **options}
            )
            return batcher, list(batcher)

        def read(made: tuple[samedeal.Batcher, list[samedeal.Batch]]) -> list[Batch]:
            return [batch.rows() for batch in made[1]]

        return Made(plan, read)

    return Contestant(f"samedeal {name}", kind, make)


def padded() -> list[Contestant]:
    """All contestants that pad."""
    return [
        ours("pad-to-max", FIXED, strategy="pad-to-max"),
        ours("bucket", FIXED, strategy="bucket"),
        ours("bucket (64 wide)", FIXED, strategy="bucket", bucket_width=64),
        ours("bucket, quantiles=30", FIXED, strategy="bucket", quantiles=30),
        *(Contestant(name, FIXED, make) for name, make in peers.GROUPED.items()),
        ours("budget, batch_window=2,000", TOKENS, strategy="budget", batch_window=2_000),
        ours("budget", TOKENS, strategy="budget"),
        ours("budget, batch_window=20,000", TOKENS, strategy="budget", batch_window=20_000),
        ours("budget, whole window", TOKENS, strategy="budget", batch_window=WHOLE),
        ours("bucket, budget", TOKENS, strategy="bucket", max_batch_size=WHOLE),
        *(
            ours(f"bucket, quantiles={count}, budget", TOKENS, strategy="bucket", quantiles=count, max_batch_size=WHOLE)
            for count in (30, 60)
        ),
        *(Contestant(name, TOKENS, make) for name, make in peers.BUCKETED.items()),
    ]


def packed() -> list[Contestant]:
    """All contestants that pack."""
    return [
        ours("pack", PACKS, strategy="pack"),
        ours("pack, whole window", PACKS, strategy="pack", batch_window=WHOLE),
        ours("pack, optimal, whole window", PACKS, strategy="pack", packing="optimal", batch_window=WHOLE),
        *(Contestant(name, PACKS, make) for name, make in peers.PACKED.items()),
    ]


def cases(smoke: bool) -> list[Case]:
    """All cases."""
    count = 3_000 if smoke else 100_000
    verses = lengths.verses()[: count if smoke else None]
    four, two, eight = (lengths.log_normal(count, most) for most in (4_096, 2_048, 8_192))
    dense = lengths.dense(20, count // 2, 2_048)
    found = []
    for world_size in (1, 8):
        ranks = "1 rank" if world_size == 1 else f"{world_size} ranks"
        title = f"Verses of the Bible, room for 32 of 90 words, {ranks}"
        found.append(Case(f"verses-{world_size}", title, Task(verses, Memory(32, 90), world_size), padded() + packed()))
        title = f"Log-normal up to 4,096 tokens, room for 4 of 4,096, {ranks}"
        found.append(
            Case(f"log-normal-{world_size}", title, Task(four, Memory(4, 4_096), world_size), padded() + packed())
        )
    one = Task(two, Memory(1, 2_048), 1)
    found.append(Case("packs-2048", "Packs of 2,048, log-normal up to 2,048 tokens, 1 rank", one, packed()))
    several = Task(eight, Memory(1, 8_192), 8)
    found.append(Case("packs-8192", "Packs of 8,192, log-normal up to 8,192 tokens, 8 ranks", several, packed()))
    title = "Packs of 2,048, 20 lengths near a half and a third of it, 1 rank"
    found.append(Case("few-lengths", title, Task(dense, Memory(1, 2_048), 1), packed()))
    return found


def main() -> None:
    """Prints the figures, and draws the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the figures")
    parser.add_argument("--smoke", action="store_true", help="next to nothing, to see that it works")
    options = parser.parse_args()
    print(f"versions: {versions()}")
    results = []
    for case in cases(options.smoke):
        found = measured(case, 1 if options.smoke else EPOCHS[case.task.world_size])
        print(f"{case.title}: {len(found)} programs or strategies", flush=True)
        record(case, found)
        results.append((case, found))
    if options.plot:
        draw(results, options.plot)
        print(f"\ndrawn: {options.plot}")


def versions() -> str:
    """The versions of the measured programs."""
    from importlib.metadata import version

    packages = ("samedeal", "transformers", "accelerate", "lhotse", "seqpacker", "trl", "torch", "numpy", "wasmtime")
    python = f"CPython {platform.python_version()}"
    return ", ".join([python, *(f"{package} {version(package)}" for package in packages)])


def measured(case: Case, epochs: int) -> list[Result]:
    """Measures all contestants in turn, epoch by epoch."""
    task = case.task
    made = [contestant.make(task) for contestant in case.contestants]
    for one in made:
        # The first plan is not timed, because it also pays for imports, compilers and caches.
        one.plan(0, epochs)
    times: list[list[float]] = [[] for _ in made]
    found: list[list[Figures]] = [[] for _ in made]
    means: list[list[float]] = [[] for _ in made]
    places: list[list[NDArray[np.int64]]] = [[] for _ in made]
    for epoch in range(epochs):
        for number, (contestant, one) in enumerate(zip(case.contestants, made, strict=True)):
            plan = []
            # Garbage of the other contestants must not be collected in the time of this one.
            gc.collect()
            for rank in range(task.world_size):
                gc.disable()
                began = perf_counter()
                batches = one.plan(rank, epoch)
                times[number].append(perf_counter() - began)
                gc.enable()
                plan.append(one.read(batches))
            capacity = task.memory.length if contestant.kind == PACKS else 0
            found[number].append(figures(plan, task.lengths, task.memory, capacity))
            if contestant.name.startswith("samedeal "):
                agree(batches[0].metrics(), found[number][-1])
            places[number].append(batch_of(plan, len(task.lengths)))
            if epoch == 0:
                means[number] = [mean_length(batch, task.lengths) for batch in plan[0] if batch]
    # A smoke run has one epoch, so it has no pair of epochs to compare.
    again = [[together(*pair) for pair in pairwise(epochs)] or [0.0] for epochs in places]
    return [Result(*result) for result in zip(case.contestants, found, times, again, means, strict=True)]


def agree(metrics: samedeal.Metrics, counted: Figures) -> None:
    """Checks that samedeal's metrics equal the figures that were counted from its batches."""
    fields = ("steps", "rows", "tokens", "padded", "slowest", "cost", "slowest_cost", "over_budget", "empty")
    for field in fields:
        assert getattr(metrics, field) == getattr(counted, field), field
    assert counted.lost == 0
    assert counted.repeated == metrics.repeated


def batch_of(plan: Plan, count: int) -> NDArray[np.int64]:
    """For each sample, the number of its batch."""
    places = np.zeros(count, np.int64)
    for number, batch in enumerate(batch for batches in plan for batch in batches if batch):
        places[np.concatenate([np.asarray(row, np.int64) for row in batch])] = number
    return places


def together(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Of the pairs of samples that share a batch in one epoch: the share of pairs that also share one in the other
    epoch."""

    def pairs(labels: NDArray[np.int64]) -> int:
        counts = np.unique(labels, return_counts=True)[1]
        return int((counts * (counts - 1)).sum())

    return pairs(one * (other.max() + 1) + other) / max(pairs(one), 1)


def mean_length(batch: Batch, of: NDArray[np.uint32]) -> float:
    """The mean length of the samples of a batch."""
    return float(of[np.concatenate([np.asarray(row, np.int64) for row in batch])].mean())


def bound(task: Task) -> int:
    """A number of packs that no packing can go below."""
    batcher = samedeal.Batcher(
        task.lengths, strategy="pack", capacity=task.memory.length, packing="optimal", batch_window=WHOLE
    )
    return batcher.metrics().packs_bound


def record(case: Case, results: list[Result]) -> None:
    """Prints the figures of all contestants, each under the name of its column in docs/comparison/batching.md."""
    columns = {
        "steps": ("count", "steps"),
        "padding": ("share", "padding"),
        "of-the-budget": ("share", "utilization"),
        "slowest-rank": ("share", "slowest_rank"),
        "cost-max-mean": ("ratio", "imbalance"),
        "packs": ("count", "rows"),
        "over-budget": ("count", "over_budget"),
        "lost": ("count", "lost"),
        "repeated": ("count", "repeated"),
        "neighbours": ("correlation", "neighbours"),
    }
    least = bound(case.task)
    for result in results:
        packs = result.contestant.kind == PACKS
        left_out = set() if packs else {"packs"}
        left_out |= {"slowest-rank", "cost-max-mean"} if case.task.world_size == 1 else set()
        row = re.sub(r"[^a-z0-9]+", "-", result.contestant.name.lower()).strip("-")
        found: dict[str, tuple[str, list[float]]] = {
            name: (unit, [getattr(one, field) for one in result.figures])
            for name, (unit, field) in columns.items()
            if name not in left_out
        }
        found |= {"together-again": ("share", result.again), "time": ("s", result.seconds)}
        found |= {"lower-bound": ("count", [least])} if packs else {}
        for name, (unit, values) in found.items():
            print(f"figure: batching-peers.{case.name}.{row}.{name} {unit}", *values, flush=True)


if __name__ == "__main__":
    main()
