"""Readers of a dataset in shards: section 13."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from . import readings_state as texts
from .base import MAX_SAMPLES, MAX_WINDOW, Failure, ceil_div, require, require_window
from .plan import Steps
from .readings_deals import (
    Dataset,
    Left,
    Reader,
    SampleDeal,
    ShardDeal,
    ShardReader,
    Sharing,
    given,
    num_batches,
    split,
    taken,
)
from .readings_state import Group, Progress, Segment
from .sampler import Round

MAX_LANES = 4096

NAMES = {
    "deal": ("samples", "shards"),
    "remainder": ("pad", "drop", "uneven"),
    "policy": ("size-aware", "round-robin"),
    "worker_policy": ("size-aware", "round-robin"),
    "weight": ("samples", "bytes"),
}
"""Of the options that are names, the default first."""


@dataclass(frozen=True)
class ReadingConfig:
    """What is None was not set."""

    sizes: list[int]
    seed: int | None = None
    deal: str | None = None
    shuffle: bool | None = None
    lanes: int | None = None
    window: int | None = None
    remainder: str | None = None
    shuffle_rows: bool | None = None
    reshuffle: bool | None = None
    policy: str | None = None
    worker_policy: str | None = None
    weight: str | None = None
    bytes: list[int] | None = None
    world_size: int | None = None
    workers: int | None = None
    batch_size: int | None = None
    drop_last: bool | None = None

    def chosen(self, option: str) -> str:
        """The name that is set, or the default."""
        name = getattr(self, option)
        if name is None:
            return NAMES[option][0]
        require(name in NAMES[option], option.replace("_", "-"), name, "unknown-name")
        return str(name)

    def refuse(self, *options: str) -> None:
        for option in options:
            value = getattr(self, option)
            if value is not None:
                shown = None if option == "bytes" else texts.shown(value)
                raise Failure("contradiction", option.replace("_", "-"), shown)


@dataclass(frozen=True)
class ReadBatch:
    worker: int
    number: int
    step: int
    start: int
    count: int
    padding: int


@dataclass(frozen=True)
class RoundRows:
    rows: list[int]
    padding: int


@dataclass(frozen=True)
class MixingAdvice:
    lanes_per_reader: int
    variance_ratio: int
    lanes: int
    window: int


def nearest(part: int, of: int) -> int:
    """A ratio, to the nearest integer."""
    return (2 * part + of) // (2 * of)


def or_default(value: Any, default: Any) -> Any:
    return default if value is None else value


class Reading:
    def __init__(self, config: ReadingConfig) -> None:
        self._deal_name = config.chosen("deal")
        shuffle = or_default(config.shuffle, True)
        if self._deal_name == "samples":
            config.refuse("shuffle_rows", "reshuffle", "policy", "worker_policy", "weight", "bytes")
        else:
            config.refuse("lanes", "window", "remainder")
        if not shuffle:
            config.refuse("lanes", "window")
        self._remainder = config.chosen("remainder")
        sizes = tuple(config.sizes)
        require(len(sizes) <= 2**32 - 2 and sum(sizes) <= MAX_SAMPLES, "sizes", None)
        self._lanes, self._window = or_default(config.lanes, 64), or_default(config.window, 256)
        require(1 <= self._lanes <= 4096, "lanes", self._lanes)
        require(1 <= self._window <= MAX_WINDOW, "window", self._window)
        self._sharing: Sharing | None = None
        if self._deal_name == "shards":
            self._sharing = self._shared(config, shuffle)
        self._drop_last = or_default(config.drop_last, False)
        self._group = Group(
            or_default(config.world_size, 1),
            or_default(config.workers, 1),
            or_default(config.batch_size, 1),
            self._remainder == "drop" if self._sharing is None else self._drop_last,
        )
        self._group.check()
        self._sizes, self._seed, self._shuffle = sizes, or_default(config.seed, 0), shuffle
        self._progress = Progress(0)
        self._check()

    def _shared(self, config: ReadingConfig, shuffle: bool) -> Sharing:
        weight = config.chosen("weight")
        require(weight == "samples" or config.bytes is not None, "bytes", "", "missing")
        require(weight == "bytes" or config.bytes is None, "bytes", None, "contradiction")
        return Sharing(
            or_default(config.shuffle_rows, shuffle),
            or_default(config.reshuffle, False),
            config.chosen("policy"),
            config.chosen("worker_policy"),
            None if config.bytes is None else tuple(config.bytes),
        )

    def _check(self) -> None:
        """The failures of what is left for this group: `samples`, `bytes`, `history`."""
        deal = self._deal
        if isinstance(deal, SampleDeal):
            deal.sampler(0, deal.left.consumed)

    def _moved(self, progress: Progress) -> Reading:
        moved = Reading.__new__(Reading)
        vars(moved).update(vars(self))
        vars(moved).pop("_deal", None)
        moved._progress = progress
        return moved

    @property
    def _dataset(self) -> Dataset:
        return Dataset(self._sizes, self._seed, self._progress.epoch, self._shuffle)

    @cached_property
    def _deal(self) -> SampleDeal | ShardDeal:
        dataset = self._dataset
        if self._sharing is None:
            cut = (self._lanes, self._window)
            return SampleDeal(dataset, self._progress, self._group, self._remainder, cut)
        return ShardDeal(dataset, self._progress, self._group, self._sharing)

    # States

    def _recipe(self) -> dict[str, Any]:
        recipe = {"seed": self._seed, "shuffle": self._shuffle, "deal": self._deal_name}
        if self._sharing is not None:
            s = self._sharing
            recipe |= {"shuffle_rows": s.shuffle_rows, "reshuffle": s.reshuffle}
            recipe |= {"policy": s.policy, "worker_policy": s.worker_policy}
            recipe["weight"] = "samples" if s.bytes is None else "bytes"
            if s.bytes is not None:
                recipe["bytes"] = texts.numbers(list(s.bytes))
        elif self._shuffle:
            recipe |= {"lanes": self._lanes, "window": self._window}
        sizes = list(self._sizes)
        return recipe | {"samples": sum(sizes), "shards": len(sizes), "sizes": texts.numbers(sizes)}

    def recipe(self) -> str:
        return texts.written(self._recipe())

    def at_epoch(self, epoch: int) -> Reading:
        return self._moved(Progress(epoch))

    def resume(self, state: str) -> Reading:
        progress = texts.read(state, self._recipe())
        moved = self._moved(progress)
        if self._sharing is None:
            Left(sum(self._sizes), progress.consumed, progress.history)
        else:
            taken(moved._dataset, self._sharing, progress.consumed, progress.history)
        moved._check()
        return moved

    def state(self, steps: int) -> str:
        most = self.steps().most
        require(steps <= most, "steps", steps)
        epoch, consumed, history = self._progress.epoch, self._progress.consumed, self._progress.history
        if steps == most > 0:
            consumed, history = sum(self._sizes), ()
        elif steps > 0:
            before, s = split(self._group, history)
            history = (*before, Segment(self._group, s + steps))
            if self._sharing is None:
                consumed, history = Left(sum(self._sizes), consumed, history).normal
            else:
                consumed = 0
        texts.check_history(history)
        return texts.write(self._recipe(), Progress(epoch, consumed, history))

    # What is to be read

    def epoch(self) -> int:
        return self._progress.epoch

    def is_rest(self) -> bool:
        return self._progress.consumed > 0 or len(self._progress.history) > 0

    def reads_per_row(self) -> int:
        if self._sharing is not None:
            return 1
        readers = self._group.readers
        return readers // math.gcd(readers, self._lanes if self._shuffle else 1)

    def _has_lanes(self) -> bool:
        return self._sharing is None and self._shuffle and not self.is_rest()

    def lanes_read_once(self) -> int | None:
        readers = self._group.readers
        if not self._has_lanes() or readers > MAX_LANES:
            return None
        return min(max(1, nearest(self._lanes, readers)), MAX_LANES // readers) * readers

    def mixing_advice(self) -> MixingAdvice | None:
        readers, z = self._group.readers, self._group.batch_size
        own = self._lanes // math.gcd(readers, self._lanes)
        better = min(ceil_div(z, 2), MAX_LANES // readers)
        if not self._has_lanes() or better <= own or sum(self._sizes) // readers <= z:
            return None
        lanes = better * readers
        return MixingAdvice(own, nearest(z, own), lanes, max(1, self._lanes * self._window // lanes))

    def _batches(self, rank: int) -> list[int]:
        return [num_batches(n, self._group.batch_size, self._drop_last) for n in self._deal.samples_of(rank)]

    def num_steps(self, rank: int) -> int:
        require(rank < self._group.world_size, "rank", rank)
        return sum(self._batches(rank))

    def steps(self) -> Steps:
        busy = self._deal.busy_ranks()
        steps = [sum(self._batches(rank)) for rank in busy] + [0] * (len(busy) < self._group.world_size)
        return Steps(min(steps), max(steps))

    def num_idle_readers(self) -> int:
        busy = sum(n > 0 for rank in self._deal.busy_ranks() for n in self._batches(rank))
        return self._group.readers - busy

    def _reader(self, rank: int, worker: int) -> Reader:
        require(rank < self._group.world_size, "rank", rank)
        require(worker < self._group.workers, "worker", worker)
        return self._deal.reader(rank, worker)

    def num_samples(self, rank: int, worker: int) -> int:
        return self._reader(rank, worker).samples

    def num_padding(self, rank: int, worker: int) -> int:
        return self._reader(rank, worker).padding

    def num_batches(self, rank: int, worker: int) -> int:
        self._reader(rank, worker)
        return self._batches(rank)[worker]

    def batch(self, rank: int, worker: int, number: int) -> ReadBatch:
        require(number < self.num_batches(rank, worker), "number", number)
        b = self._batches(rank)
        step = sum(min(own, number) for own in b) + sum(own > number for own in b[:worker])
        return self._batch(rank, worker, number, step)

    def batch_at(self, rank: int, step: int) -> ReadBatch:
        require(step < self.num_steps(rank), "step", step)
        b = self._batches(rank)
        g, worker = given(b, step)
        while g[worker] == b[worker]:
            worker = (worker + 1) % len(b)
        return self._batch(rank, worker, g[worker], step)

    def _batch(self, rank: int, worker: int, number: int, step: int) -> ReadBatch:
        reader = self._reader(rank, worker)
        start = number * self._group.batch_size
        end = min(start + self._group.batch_size, reader.samples)
        padding = max(0, end - max(start, reader.samples - reader.padding))
        return ReadBatch(worker, number, step, start, end - start, padding)

    def indices(self, rank: int, worker: int, start: int, count: int) -> list[int]:
        reader = self._reader(rank, worker)
        require_window(start, count, reader.samples)
        return reader.indices(start, count)

    def num_rounds(self, rank: int, worker: int) -> int:
        return self._reader(rank, worker).num_rounds()

    def round(self, rank: int, worker: int, number: int) -> Round:
        reader = self._reader(rank, worker)
        require(number < reader.num_rounds(), "number", number)
        return reader.round(number)

    def round_rows(self, rank: int, worker: int, number: int, start: int, count: int) -> RoundRows:
        found = self.round(rank, worker, number)
        require_window(start, count, found.count)
        reader = self._reader(rank, worker)
        first, base = found.start + start, self._dataset.base
        # How many of these are no padding.
        real = min(count, max(0, reader.samples - reader.padding - first))
        spans = [found.spans[at : at + 4] for at in range(0, len(found.spans), 4)]
        ends = [0, *accumulate(length for *_, length in spans)]
        # Spans of samples, then those of padding.
        padded = found.count - min(found.count, max(0, reader.samples - reader.padding - found.start))
        windows = len(spans) - padded
        order = sorted(range(windows), key=lambda i: base[spans[i][1]] + spans[i][2])
        starts = [base[spans[i][1]] + spans[i][2] for i in order]
        rows = []
        for i, sample in enumerate(reader.indices(first, count)):
            if i < real:
                at = bisect_right(starts, sample) - 1
                rows.append(ends[order[at]] + sample - starts[at])
            else:
                rows.append(ends[-1] - found.count + start + i)
        return RoundRows(rows, count - real)

    def round_of(self, rank: int, worker: int, index: int) -> int:
        reader = self._reader(rank, worker)
        require(index < reader.samples, "index", index)
        return reader.round_of(index)

    def shards(self, rank: int, worker: int) -> list[int]:
        reader = self._reader(rank, worker)
        if not isinstance(reader, ShardReader):
            raise Failure("contradiction", "deal", "samples")
        return reader.shards
