"""Chains of training loops: accumulated updates, ranks that are replaced, files that are lost, and an evaluation.

The model of a loop is the list of the samples in its updates. It is saved between two updates, together with the
loader's state at the last update. Samples that were read after this update are read again.
"""

from __future__ import annotations

import random
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, ShardedDataset
from tally import Tally, require, same
from torch.utils.data import DataLoader


@dataclass(frozen=True)
class Life:
    """Ranks that train until they are killed."""

    world_size: int
    batch_size: int
    accumulation: int
    """Number of batches in an update."""
    part: float
    """The share of the rest that these ranks read. The last life reads all of it."""
    replaced: float | None
    """The rank that another process replaces in the middle, as a fraction of all ranks."""
    lost: float | None
    """The file that is lost before this life, as a fraction of all files."""
    loader_workers: int
    """Number of processes that read ahead of the loop."""


@dataclass(frozen=True)
class Loop:
    """An epoch, and the lives of the training."""

    kind: str
    sizes: tuple[int, ...]
    seed: int
    epoch: int
    lives: tuple[Life, ...]


def draw(rng: random.Random) -> Loop:
    """Draws a loop over samples of a table, sequences by their lengths, or files."""
    kind = rng.choice(("samples", "batches", "files"))
    sizes = tuple(rng.randint(1, 40) for _ in range(rng.randint(1, 5)))
    lives = [
        Life(
            rng.choice((1, 2, 3, rng.randint(1, 7))),
            rng.choice((1, 2, 3, 5)),
            rng.choice((1, 2, 3, 4)),
            rng.choice((rng.random(), rng.random() ** 2, 1.0)),
            rng.random() if rng.random() < 0.4 else None,
            rng.random() if number and kind == "files" and rng.random() < 0.3 else None,
            rng.choice((1, 2)) if rng.random() < 0.03 else 0,
        )
        for number in range(rng.choice((1, 2, 3, 4)))
    ]
    return Loop(kind, sizes, rng.randint(0, 2**40), rng.choice((0, 0, 1, 5)), tuple(lives))


def run(loop: Loop) -> Tally:
    """Runs all lives of a training, and an evaluation of its last model."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # Small epochs on many ranks warn about idle readers and repeated rows, which is intended here.
        warnings.simplefilter("ignore")
        return _run(loop, Path(folder))


def _run(loop: Loop, folder: Path) -> Tally:
    samples = sum(loop.sizes)
    tally = Tally(trials=1, expected=samples)
    _write(loop, folder)
    lost: dict[Path, int] = {}
    gone: set[int] = set()
    model: Counter[int] = Counter()
    state: dict[str, Any] | None = None
    for number, life in enumerate(loop.lives):
        if life.lost is not None and len(lost) + 1 < len(loop.sizes):
            gone |= _lose(loop, folder, int(life.lost * len(loop.sizes)), lost)
        ranks = [_loader(loop, life, folder, lost, rank) for rank in range(life.world_size)]
        tally.resumptions += state is not None
        for loader in ranks:
            if state is not None:
                loader.load_state_dict(state)
            # `set_epoch` is called after the state was loaded. It would fail with another epoch than the state has.
            loader.set_epoch(loop.epoch)
        last = number + 1 == len(loop.lives)
        read, begun = _batches(loop, life, folder, lost, ranks, None if last else life.part, tally)
        updated = min(map(len, read)) // life.accumulation * life.accumulation
        if not last:
            # A rank that was replaced after the last update began after it, so its loader has no state of this update.
            states = [loader.state_dict(updated - at) for loader, at in zip(ranks, begun, strict=True) if at <= updated]
            require(all(each == states[0] for each in states), "all ranks write the same state", states)
            state = states[0]
        for own in read:
            kept = own if last else own[:updated]
            model.update(sample for batch in kept for sample in batch)
            tally.redone += sum(map(len, own)) - sum(map(len, kept))
            tally.samples += sum(map(len, own))
    # A part of a file that was read before the file was lost stays in the model.
    unread = {sample for sample in gone if not model[sample]}
    tally.dropped += len(unread)
    wanted = set(range(samples)) - unread
    require(set(model) == wanted, "the model has seen every sample", wanted - set(model), set(model) - wanted)
    require(model.total() == len(model), "the model has seen no sample twice", model)
    _evaluate(loop)
    return tally


def _write(loop: Loop, folder: Path) -> None:
    if loop.kind == "files":
        for number, (end, size) in enumerate(zip(accumulate(loop.sizes), loop.sizes, strict=True)):
            pq.write_table(pa.table({"id": range(end - size, end)}), folder / f"{number}.parquet")


def _lose(loop: Loop, folder: Path, number: int, lost: dict[Path, int]) -> set[int]:
    path = folder / f"{number}.parquet"
    lost[path] = loop.sizes[number]
    path.unlink(missing_ok=True)
    end = sum(loop.sizes[: number + 1])
    return set(range(end - loop.sizes[number], end))


def _loader(loop: Loop, life: Life, folder: Path, lost: dict[Path, int], rank: int) -> Resumable:
    samples, seed = sum(loop.sizes), loop.seed
    workers: dict[str, Any] = {"num_workers": life.loader_workers}
    if loop.kind == "samples":
        table = DistributedSampler(range(samples), life.world_size, rank, seed=seed, remainder="uneven")
        return Resumable(DataLoader(range(samples), life.batch_size, sampler=table, collate_fn=list, **workers))  # type: ignore[arg-type]
    if loop.kind == "batches":
        lengths = [1 + sample * 7 % 5 for sample in range(samples)]
        # The recipe of batches is the same in all lives.
        batches = BatchSampler(lengths, max_tokens=12, seed=seed, rank=rank, world_size=life.world_size)
        return Resumable(DataLoader(range(samples), batch_sampler=batches, collate_fn=list, **workers))  # type: ignore[arg-type]
    files = ShardedDataset(
        folder,
        batch_size=life.batch_size,
        seed=seed,
        lanes=3,
        shuffle_window=4,
        rank=rank,
        world_size=life.world_size,
        padding_column="padding",
        transform=_real,
        lost=lost,
    )
    return Resumable(DataLoader(files, batch_size=None, **workers))


def _real(batch: Any) -> list[int]:
    """The rows of a batch without padding."""
    columns = zip(batch.column("id").to_pylist(), batch.column("padding").to_pylist(), strict=True)
    return [sample for sample, padding in columns if not padding]


def _batches(
    loop: Loop,
    life: Life,
    folder: Path,
    lost: dict[Path, int],
    ranks: list[Resumable],
    part: float | None,
    tally: Tally,
) -> tuple[list[list[list[int]]], list[int]]:
    """The samples that each rank reads in a life, and the step at which its loader began.

    Without `part`, the ranks read all that is left.
    """
    lengths = [len(loader) for loader in ranks]
    require(loop.kind == "samples" or len(set(lengths)) == 1, "all ranks have as many steps", lengths)
    steps = max(lengths) if part is None else int(part * min(lengths))
    middle = min(steps // 2, *lengths)
    passes = [iter(loader) for loader in ranks]
    read, begun = [list(islice(own, middle)) for own in passes], [0] * len(ranks)
    if life.replaced is not None and middle and len(ranks) > 1:
        tally.kills += 1
        rank = int(life.replaced * len(ranks))
        state = ranks[rank - 1].state_dict()
        require(state == ranks[rank].state_dict(), "ranks in one step have one state", state)
        ranks[rank] = _loader(loop, life, folder, lost, rank)
        ranks[rank].load_state_dict(state)
        ranks[rank].set_epoch(loop.epoch)
        old, passes[rank] = list(islice(passes[rank], steps - middle)), iter(ranks[rank])
        begun[rank] = middle
    for rank, own in enumerate(passes):
        rest = list(islice(own, steps - middle))
        require(begun[rank] == 0 or rest == old, "a rank that was replaced goes on", rest)
        read[rank] += rest
    return read, begun


def _evaluate(loop: Loop) -> None:
    """Checks that every sample has one result, on any world size."""
    samples, world_size = sum(loop.sizes), loop.lives[-1].world_size
    found: list[int] = []
    for rank in range(world_size):
        sampler = DistributedSampler(range(samples), world_size, rank, shuffle=False, remainder="uneven")
        for batch in DataLoader(range(samples), 3, sampler=sampler, collate_fn=list):  # type: ignore[arg-type]
            found += batch
    same(found, range(samples), "an evaluation has every sample once")
