"""Readings of composed orders: section 13."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .base import MAX_SAMPLES, MAX_WINDOW, Failure, ceil_div, require
from .composed import Composed, Plain, read
from .composed_blend import Blend
from .composed_states import goes_on
from .composed_views import Copies, Exclude, LaneView, Skip, Subset
from .readings_deals import STORED, Dataset, Left, RowDeal, split
from .readings_state import Group, Progress
from .recipe_text import Lists
from .rotated import rotation
from .sampler import Round
from .sampler_recipe import seed_of
from .sharded import Sharded, Spans, make_sharded

VIEWS = (Exclude, Subset, LaneView, Skip)


@dataclass(frozen=True)
class Lies:
    """The place of the sample at a position."""

    lane: int
    of_pass: int
    element: int
    sample: int

    @property
    def place(self) -> tuple[int, int, int]:
        return self.lane, self.of_pass, self.element


def leaves(order: Composed) -> Iterator[Composed]:
    if isinstance(order, Blend):
        for source in order.sources:
            yield from leaves(source.order)
    elif isinstance(order, (*VIEWS, Copies)):
        yield from leaves(order.of)
    else:
        yield order


def lanes(order: Composed) -> int:
    return sum(leaf.sharding.lanes for leaf in leaves(order) if isinstance(leaf, Plain) and leaf.sharding)


def shards(order: Composed, section: dict[str, Any]) -> list[int]:
    """The sizes of the shards of an order; `section` is its object in the canonical text."""
    if isinstance(order, Blend):
        sizes: list[int] = []
        for number, source in enumerate(order.sources):
            own = shards(source.order, section["sources"][number]["order"])
            if section["index_space"] == "joined" or number == 0:
                sizes += own
            else:
                require(own == sizes, "sources", source.name, "contradiction")
        return sizes
    if isinstance(order, (*VIEWS, Copies)):
        return shards(order.of, section["of"])
    if not isinstance(order, Plain) or order.sharding is None:
        raise Failure("contradiction", "name", section["name"])
    return list(order.sharding.sizes)


def lies_at(order: Composed, epoch: int, position: int) -> Lies:
    if isinstance(order, Plain):
        assert order.sharding is not None
        made = make_sharded(order.sharding, order.seed, epoch)
        assert isinstance(made, Sharded)
        at, lane = divmod(position, order.sharding.lanes)
        number, t = divmod(at, order.sharding.window)
        element = number * order.sharding.window + made.pi(lane, number).sample(t)
        return Lies(lane, epoch, element, made.sample(position))
    if isinstance(order, Blend):
        i, draw = order.source(epoch, position)
        below = order.sources[i].order
        lies = lies_at(below, *below.find(draw))
        before = sum(lanes(source.order) for source in order.sources[:i])
        return Lies(before + lies.lane, lies.of_pass, lies.element, order.offsets[i] + lies.sample)
    if isinstance(order, LaneView):
        lies = lies_at(order.dense, epoch, position)
        return replace(lies, sample=order.left[lies.sample])
    if isinstance(order, Copies):
        return lies_at(order.of, epoch, position // order.copies)
    assert isinstance(order, VIEWS)
    return lies_at(order.of, epoch, order.of_position(epoch, position))


@dataclass(frozen=True)
class ComposedPositions:
    """The values of the section `order`."""

    order: Composed
    text: dict[str, Any]
    sizes: tuple[int, ...]

    @classmethod
    def read(cls, section: dict[str, Any], lists: Lists) -> ComposedPositions:
        order, text = read(section, lists)
        sizes = shards(order, text)
        require(len(sizes) <= 2**32 - 2, "sizes", None)
        return cls(order, text, tuple(sizes))

    @property
    def seed(self) -> int:
        return int(seed_of(self.text))

    @property
    def held(self) -> int:
        """The samples of one window of each lane."""
        of = (leaf.sharding for leaf in leaves(self.order) if isinstance(leaf, Plain))
        return sum(sharding.lanes * sharding.window for sharding in of if sharding)

    def section(self) -> dict[str, Any]:
        return self.text

    def length(self, epoch: int) -> int:
        self.order.require_epoch(epoch)
        return self.order.length(epoch)

    def left(self, progress: Progress, length: int) -> Left:
        def turn(a: int, readers: int) -> int:
            if not self.order.rotated or a + readers > length:
                return 0
            return rotation(self.seed, progress.epoch, readers).h(a)

        return Left(length, progress.consumed, progress.history, turn)

    def check_goes_on(self, there: dict[str, Any], progress: Progress, positions: int | None) -> None:
        """Points 3.1 to 3.3 of `resume`."""
        here = self.length(progress.epoch)
        length = positions if positions is not None else there.get("samples", here)
        require(progress.consumed <= length, "consumed", progress.consumed)
        goes_on(self.order, self.text, there, progress.epoch, self.left(progress, length).plain)


class ComposedReader:
    def __init__(self, deal: ComposedDeal, rank: int, worker: int) -> None:
        self.deal = deal
        self.number, self.m, self.first = deal.part(rank, worker)
        self.samples = self.m - self.first
        own = deal.row(self.number, self.m - 1) if self.m else 0
        self.padding = min(self.samples, int(self.m > 0 and own >= deal.length))
        self.size = min(max(deal.positions.held // deal.group.readers, STORED), MAX_WINDOW)

    def numbers(self, start: int, count: int) -> list[int]:
        return [self.deal.row(self.number, self.first + i) for i in range(start, start + count)]

    def lies(self, number: int) -> Lies:
        deal = self.deal
        position = deal.left.position(number) if number < deal.length else number % deal.length
        return lies_at(deal.positions.order, deal.epoch, position)

    def indices(self, start: int, count: int) -> list[int]:
        return [self.lies(number).sample for number in self.numbers(start, count)]

    def num_rounds(self) -> int:
        return ceil_div(self.samples, self.size)

    def _gathered(self, number: int) -> tuple[int, list[tuple[int, int, int, int]], list[int]]:
        """The first sample of a round, its spans, and the row of each of its samples."""
        start = number * self.size
        numbers = self.numbers(start, min(self.size, self.samples - start))
        all_of = [self.lies(x) for x in numbers]
        real = [i for i, x in enumerate(numbers) if x < self.deal.length]
        spans: list[tuple[int, int, int, int]] = []
        rows = [0] * len(numbers)
        count = 0
        before, last = None, -1
        for i in sorted(real, key=lambda i: all_of[i].place):
            lane, of_pass, element = place = all_of[i].place
            j, f = self.deal.dataset.shard_of(all_of[i].sample)
            if place != before:
                if f > 0 and before == (lane, of_pass, element - 1) and all_of[i].sample == last + 1:
                    *start_of, length = spans[-1]
                    spans[-1] = (start_of[0], start_of[1], start_of[2], length + 1)
                else:
                    spans.append((lane, j, f, 1))
                count += 1
            rows[i] = count - 1
            before, last = place, all_of[i].sample
        for i in range(len(real), len(numbers)):
            spans.append((all_of[i].lane, *self.deal.dataset.shard_of(all_of[i].sample), 1))
            rows[i] = count
            count += 1
        return start, spans, rows

    def round(self, number: int) -> Round:
        start, spans, rows = self._gathered(number)
        return Round(start, len(rows), Spans.of(spans))

    def rows(self, number: int) -> list[int]:
        return self._gathered(number)[2]

    def round_of(self, index: int) -> int:
        return index // self.size


class ComposedDeal(RowDeal):
    def __init__(self, positions: ComposedPositions, progress: Progress, group: Group, remainder: str) -> None:
        before, self.steps = split(group, progress.history)
        self.positions, self.group, self.remainder, self.epoch = positions, group, remainder, progress.epoch
        self.length = positions.length(progress.epoch)
        self.dataset = Dataset(positions.sizes, positions.seed, progress.epoch)
        self.left = positions.left(Progress(progress.epoch, progress.consumed, before), self.length)

    def _end(self, consumed: int) -> int:
        readers, left = self.group.readers, self.length - consumed
        if self.remainder == "uneven":
            return self.length
        return consumed + (left // readers if self.remainder == "drop" else ceil_div(left, readers)) * readers

    @cached_property
    def end(self) -> int:
        return self._end(self.left.consumed)

    def check(self) -> None:
        for consumed in (0, self.left.consumed):
            require(self._end(consumed) <= MAX_SAMPLES, "samples", self.length)

    def row(self, reader: int, index: int) -> int:
        """The rest number of a reader at an index: the readers take the numbers of a row in a rotated order."""
        a = self.left.consumed + index * self.group.readers
        return a + (reader - self.left.turn(a, self.group.readers)) % self.group.readers

    def reader(self, rank: int, worker: int) -> ComposedReader:
        return ComposedReader(self, rank, worker)
