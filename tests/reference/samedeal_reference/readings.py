"""Readers of a dataset in shards: section 13, and their recipes: section 14."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from . import readings_state as texts
from .base import Failure, ceil_div, require, require_ranks, require_window
from .composed import READ, own_members
from .members import BATCH_OF_READERS, DEAL_OF_READERS, ORDER, PLAIN, SHARDS, Table
from .plan import PlanConfig, StepBounds, read_shards
from .readings_composed import ComposedDeal, ComposedPositions, ComposedReader
from .readings_deals import Dataset, Left, Reader, SampleDeal, ShardDeal, ShardReader, given, num_batches, split, taken
from .readings_state import Group, Progress, Segment
from .recipe_text import Lists, fingerprint, shown, written
from .recipes import Section, canonical, checked, read_recipe, read_stored, refuse, stored
from .sampler import Round
from .sharded import Sharding
from .state import Recipe

MAX_LANES = 2**16
OF_LANES = ("lanes", "shuffle_window")


@dataclass(frozen=True)
class ReadBatch:
    worker: int
    number: int
    step: int
    start: int
    count: int
    num_padding: int


@dataclass(frozen=True)
class RoundRows:
    rows: list[int]
    num_padding: int


@dataclass(frozen=True)
class MixingAdvice:
    lanes_per_reader: int
    variance_ratio: int
    lanes: int
    shuffle_window: int


@dataclass(frozen=True)
class SuggestedLanes:
    lanes: int
    shuffle_window: int
    variance_ratio: int


def nearest(part: int, of: int) -> int:
    """A ratio, to the nearest integer."""
    return (2 * part + of) // (2 * of)


def refuse_section(section: Section, name: str, table: Table) -> None:
    """Refuses a section that stands beside the one that is used."""
    refuse(section, *table)
    raise Failure("contradiction", name, "there")


@dataclass(frozen=True)
class Positions:
    """The values of the section `order`."""

    order: str
    seed: int
    sharding: Sharding

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.sharding.sizes

    def section(self) -> Section:
        section = {"seed": self.seed, "lanes": self.sharding.lanes, "shuffle_window": self.sharding.window}
        text = canonical(ORDER, section | stored(self.sizes), name="sharded")
        lanes = () if self.order == "sharded" else OF_LANES
        return {"name": self.order} | {member: value for member, value in text.items() if member not in lanes}


def read_positions(section: Section, lists: Lists) -> Positions | ComposedPositions:
    order = section.get("name", "sharded")
    if order in READ:
        return ComposedPositions.read(section, lists)
    require(order in PLAIN, "name", order, "unknown-name")
    require(order in ("sharded", "sequential"), "name", order, "contradiction")
    if order == "sequential":
        refuse(section, *OF_LANES)
    section = own_members("sharded", section, lists)
    return Positions(order, section["seed"], read_stored(section))


def read_whole(section: Section, lists: Lists) -> PlanConfig:
    require(section.get("policy") != "locality-aware", "policy", "locality-aware", "contradiction")
    whole = read_shards(section, lists)
    require(whole.bytes is None or whole.balance_by == "bytes", "bytes", shown(whole.bytes), "contradiction")
    return whole


class Reading:
    def __init__(self, recipe: str, lists: Lists, epoch: int) -> None:
        fields = read_recipe(recipe, lists, "reading")
        order, shards = fields.get("order"), fields.get("shards")
        if order is None and shards is None:
            raise Failure("missing", "order", "")
        if order is not None and shards is not None:
            if "name" in order:
                refuse_section(shards, "shards", SHARDS)
            refuse_section(order, "order", ORDER)
        self._positions = None if order is None else read_positions(order, lists)
        self._whole = None if shards is None else read_whole(shards, lists)
        deal, self._batch_text = checked(DEAL_OF_READERS, fields["deal"]), checked(BATCH_OF_READERS, fields["batch"])
        if self._whole is not None:
            refuse(fields["deal"], "remainder")
            del deal["remainder"]
        self._deal_text, self._remainder = deal, deal.get("remainder", "")
        drops = self._batch_text["drop_last"] if self._positions is None else self._remainder == "drop"
        self._group = Group(deal["world_size"], deal["workers"], self._batch_text["batch_size"], drops)
        self._group.check()
        self._progress = Progress(epoch)
        self._check()

    def _check(self) -> None:
        """Checks the rest of the epoch for this group: `samples`, `sizes`, `bytes`, `history`."""
        deal = self._deal
        if isinstance(deal, SampleDeal):
            deal.sampler(0, deal.left.consumed)
        if isinstance(deal, ComposedDeal):
            deal.check()

    def _moved(self, progress: Progress) -> Reading:
        moved = Reading.__new__(Reading)
        vars(moved).update(vars(self))
        vars(moved).pop("_deal", None)
        vars(moved).pop("_length", None)
        moved._progress = progress
        return moved

    def sizes(self) -> list[int]:
        if self._positions is not None:
            return list(self._positions.sizes)
        assert self._whole is not None
        return self._whole.sizes

    def seed(self) -> int:
        if self._positions is not None:
            return self._positions.seed
        assert self._whole is not None
        return self._whole.seed

    def world_size(self) -> int:
        return self._group.world_size

    def workers(self) -> int:
        return self._group.workers

    def batch_size(self) -> int:
        return self._group.batch_size

    @cached_property
    def _samples(self) -> int:
        return sum(self.sizes())

    @property
    def _composed(self) -> ComposedPositions | None:
        return self._positions if isinstance(self._positions, ComposedPositions) else None

    @cached_property
    def _length(self) -> int:
        """N, the length of the epoch."""
        return self._samples if self._composed is None else self._composed.length(self._progress.epoch)

    def _left(self, progress: Progress) -> Left:
        if self._composed is not None:
            return self._composed.left(progress, self._length)
        return Left(self._samples, progress.consumed, progress.history)

    @property
    def _dataset(self) -> Dataset:
        return Dataset(tuple(self.sizes()), self.seed(), self._progress.epoch)

    @cached_property
    def _deal(self) -> SampleDeal | ComposedDeal | ShardDeal:
        dataset, positions = self._dataset, self._positions
        if isinstance(positions, ComposedPositions):
            return ComposedDeal(positions, self._progress, self._group, self._remainder)
        if positions is not None:
            return SampleDeal(
                dataset, self._progress, self._group, positions.order, positions.sharding, self._remainder
            )
        assert self._whole is not None
        return ShardDeal(dataset, self._progress, self._group, self._whole)

    # Recipes and states

    def _part(self) -> Recipe:
        if self._positions is not None:
            return {"order": self._positions.section()}
        assert self._whole is not None
        return {"shards": self._whole.section()}

    def recipe(self) -> str:
        return written({"samedeal": 1} | self._part() | {"deal": self._deal_text, "batch": self._batch_text})

    def recipe_fingerprint(self) -> str:
        return fingerprint(self.recipe())

    def at_epoch(self, epoch: int) -> Reading:
        moved = self._moved(Progress(epoch))
        if moved._composed is not None:
            moved._check()
        return moved

    def resume(self, state: str) -> Reading:
        progress = texts.read(state, self._part(), self._group, self._composed)
        moved = self._moved(progress)
        length = moved._length
        is_there = progress.consumed <= length if self._whole is None else progress.consumed in (0, length)
        require(is_there, "consumed", progress.consumed)
        if self._whole is None:
            moved._left(progress)
        else:
            taken(progress.epoch, self._whole, progress.consumed, progress.history)
        moved._check()
        return moved

    def state(self, steps: int) -> str:
        most = self.step_bounds().max
        require(steps <= most, "steps", steps)
        epoch, consumed, history = (self._progress.epoch, self._progress.consumed, self._progress.history)
        if steps == most > 0:
            consumed, history = self._length, ()
        elif steps > 0:
            before, s = split(self._group, history)
            history = (*before, Segment(self._group, s + steps))
            if self._whole is None:
                consumed, history = self._left(Progress(epoch, consumed, history)).normal
            else:
                consumed = 0
        positions = None if self._composed is None else self._length
        return texts.write(self._part(), Progress(epoch, consumed, history), positions)

    # Operations: the order, steps and readers.

    def epoch(self) -> int:
        return self._progress.epoch

    def is_rest(self) -> bool:
        return self._progress.consumed > 0 or len(self._progress.history) > 0

    @property
    def _lanes(self) -> int:
        """The number of lanes; 1 for an order without lanes."""
        positions = self._positions
        return positions.sharding.lanes if isinstance(positions, Positions) and positions.order == "sharded" else 1

    def reads_per_row(self) -> int:
        if self._positions is None:
            return 1
        readers = self._group.readers
        return readers // math.gcd(readers, self._lanes_apart() or 1)

    def _lanes_apart(self) -> int | None:
        if self._composed is not None:
            return self._composed.order.lanes_apart
        return self._lanes if isinstance(self._positions, Positions) and self._positions.order == "sharded" else None

    def _lanes_to_choose(self) -> Sharding | None:
        positions = self._positions
        if not isinstance(positions, Positions) or positions.order != "sharded" or self.is_rest():
            return None
        return positions.sharding

    def lanes_read_once(self) -> int | None:
        readers = self._group.readers
        lanes = None if self.is_rest() else self._lanes_apart()
        if lanes is None or readers > MAX_LANES:
            return None
        return min(max(1, nearest(lanes, readers)), MAX_LANES // readers) * readers

    def mixing_advice(self) -> MixingAdvice | None:
        readers, z = self._group.readers, self._group.batch_size
        own = self._lanes // math.gcd(readers, self._lanes)
        better = min(ceil_div(z, 2), MAX_LANES // readers)
        sharding = self._lanes_to_choose()
        if sharding is None or better <= own or self._samples // readers <= z:
            return None
        lanes = better * readers
        return MixingAdvice(own, nearest(z, own), lanes, max(1, sharding.lanes * sharding.window // lanes))

    def suggested_lanes(self, group_rows: int, readers: int, multiples: Sequence[int]) -> SuggestedLanes | None:
        if group_rows == 0 or not 1 <= readers <= MAX_LANES:
            return None
        size = 64 if self._group.batch_size == 1 else self._group.batch_size
        wanted = max(ceil_div(size, 2), ceil_div(64, readers))
        best = max(1, min(wanted, self._samples // group_rows // (2 * readers), 128, MAX_LANES // readers))
        fits = [k for k in range(1, best + 1) if not any(number % (k * readers) for number in multiples)]
        own = max(fits, default=best)
        return SuggestedLanes(own * readers, min(256, 2**14 // own), max(1, nearest(size, own)))

    def _batches(self, rank: int) -> list[int]:
        return [
            num_batches(n, self._group.batch_size, self._batch_text["drop_last"]) for n in self._deal.samples_of(rank)
        ]

    def num_steps(self, rank: int) -> int:
        require(rank < self._group.world_size, "rank", rank)
        return sum(self._batches(rank))

    def step_bounds(self) -> StepBounds:
        busy = self._deal.busy_ranks()
        steps = [sum(self._batches(rank)) for rank in busy] + [0] * (len(busy) < self._group.world_size)
        return StepBounds(min(steps), max(steps))

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

    def step(self, step: int, first: int, count: int) -> list[ReadBatch | None]:
        require(step < self.step_bounds().max, "step", step)
        require_ranks(first, count, self._group.world_size)
        ranks = range(first, first + count)
        return [self.batch_at(rank, step) if step < self.num_steps(rank) else None for rank in ranks]

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
        if isinstance(reader, ComposedReader):
            padded = max(0, found.start + start + count - max(found.start + start, reader.samples - reader.padding))
            return RoundRows(reader.rows(number)[start : start + count], padded)
        first, base = found.start + start, self._dataset.base
        # The number of requested rows that are samples and not padding.
        real = min(count, max(0, reader.samples - reader.padding - first))
        spans = found.spans.each()
        ends = [0, *accumulate(length for *_, length in spans)]
        # The spans of samples come first, then the spans of padding.
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
            raise Failure("contradiction", "shards", "not there")
        return reader.shards
