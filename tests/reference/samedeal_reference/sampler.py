"""Samplers: their deal, fingerprints, operations, states and canonical recipes (sections 4 to 6, 10 and 14)."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from .base import MASK32, MAX_SAMPLES, MAX_WINDOW, Failure, ceil_div, le, require, require_ranks, require_window
from .composed_base import Composed, Plain
from .composed_blend import Blend
from .composed_states import goes_on
from .config import Config
from .deal import Deal
from .members import DEAL
from .orders import Order, make_order
from .recipe_text import Lists, fingerprint, written
from .recipes import canonical
from .rotated import rotation
from .sampler_recipe import read_sampler
from .sharded import Sharding, Spans, make_sharded
from .state import read_state, read_text, write_state

MAX_PLACES = 2**16


@dataclass(frozen=True)
class Place:
    position: int
    rank: int
    index_in_rank: int
    batch: int
    index_in_batch: int
    num_padding: int


@dataclass(frozen=True)
class ShortEpochs:
    num_samples: list[int]
    indices: list[int]


@dataclass(frozen=True)
class RankBatches:
    samples: list[int]
    counts: list[int]


@dataclass(frozen=True)
class Fate:
    status: str
    before: list[int]
    places: list[Place]
    num_seen: int
    num_padding: int
    complete: bool


@dataclass(frozen=True)
class Round:
    start: int
    count: int
    spans: Spans


@dataclass(frozen=True)
class ShardPlace:
    shard: int
    row: int


@dataclass(frozen=True)
class SourceCounts:
    first: list[int]
    count: list[int]
    from_pass: list[int]
    from_position: list[int]
    to_pass: list[int]
    to_position: list[int]


@dataclass(frozen=True)
class SourceOf:
    source: int
    index: int


@dataclass(frozen=True)
class Epoch:
    """One epoch of a composed order."""

    of: Composed
    epoch: int

    def sample(self, position: int) -> int:
        return self.of.sample(self.epoch, position)

    def position(self, sample: int) -> int:
        raise NotImplementedError


class Sampler:
    def __init__(self, recipe: str, lists: Lists, epoch: int, rank: int) -> None:
        config, (order, self._canonical) = read_sampler(recipe, lists)
        self._composed, self._sharding = None, None
        if isinstance(order, Plain):
            self._sharding = order.sharding
        else:
            self._composed = order
            order.require_epoch(epoch)
            config = replace(config, samples=order.length(epoch))
            config.check()
        require(rank < config.world_size, "rank", rank)
        self._config = replace(config, epoch=epoch, rank=rank)

    @classmethod
    def of(cls, config: Config, sharding: Sharding | None) -> Sampler:
        """A sampler that is made from values instead of a recipe, for section 13."""
        config.check()
        self = cls.__new__(cls)
        self._config, self._sharding, self._composed = config, sharding, None
        return self

    def _moved(self, **changes: Any) -> Sampler:
        config = replace(self._config, **changes)
        if self._composed:
            self._composed.require_epoch(config.epoch)
            config = replace(config, samples=self._composed.length(config.epoch))
        config.check()
        moved = copy(self)
        moved._config = config
        return moved

    def at_epoch(self, epoch: int) -> Sampler:
        return self._moved(epoch=epoch, consumed=0)

    def at_rank(self, rank: int) -> Sampler:
        return self._moved(rank=rank)

    def rest(self, consumed: int) -> Sampler:
        return self._moved(consumed=consumed)

    @property
    def _order(self) -> Order:
        c = self._config
        if self._composed:
            return Epoch(self._composed, c.epoch)
        if self._sharding:
            return make_sharded(self._sharding, c.seed, c.epoch)
        return make_order(c.order, c.samples, c.seed, c.epoch)

    def epoch(self) -> int:
        return self._config.epoch

    def rank(self) -> int:
        return self._config.rank

    def consumed(self) -> int:
        return self._config.consumed

    def dataset_size(self) -> int:
        """R of section 15 for a composed order, otherwise the number of samples."""
        return self._composed.range if self._composed else self._config.samples

    def epoch_length(self) -> int:
        return self._config.samples

    def seed(self) -> int:
        return self._config.seed

    def order(self) -> str:
        return self._config.order

    def world_size(self) -> int:
        return self._config.world_size

    def remainder(self) -> str:
        return self._config.remainder

    def layout(self) -> str:
        return self._config.layout

    def unit(self) -> int:
        return self._config.unit

    def sizes(self) -> list[int] | None:
        return list(self._sharding.sizes) if self._sharding else None

    def lanes(self) -> int | None:
        return self._sharding.lanes if self._sharding else None

    def shuffle_window(self) -> int | None:
        return self._sharding.window if self._sharding else None

    # Section 14: recipes

    def recipe(self) -> str:
        deal = canonical(DEAL, vars(self._config))
        return written({"samedeal": 1, "order": self._canonical, "deal": deal})

    def recipe_fingerprint(self) -> str:
        return fingerprint(self.recipe())

    # Section 4: deal

    def num_positions(self) -> int:
        return self._config.positions()

    def num_dropped(self) -> int:
        return max(self._config.samples - self._config.end(), 0)

    @property
    def _deal(self) -> Deal:
        c = self._config
        turns = rotation(c.seed, c.epoch, c.world_size) if c.layout == "rotated" else None
        return Deal(c.consumed, c.positions(), c.world_size, c.unit, c.layout, turns)

    def num_samples(self) -> int:
        return self._deal.num_samples(self._config.rank)

    def max_num_samples(self) -> int:
        return self._deal.most()

    def _positions(self) -> Sequence[int]:
        """The positions of the rank, ascending."""
        return self._deal.positions(self._config.rank)

    def num_padding(self) -> int:
        positions = self._positions()
        return len(positions) - bisect_left(positions, self._config.samples)

    def _samples(self, start: int, end: int) -> Iterator[int]:
        """Samples start to end - 1 of the rank."""
        order, size = self._order, self._config.samples
        return (order.sample(p % size) for p in self._positions()[start:end])

    def indices(self, start: int, count: int, limit: int = MAX_SAMPLES) -> list[int]:
        n = self.num_samples()
        require_window(start, count, n)
        require(self.dataset_size() <= limit, "samples", self.dataset_size())
        return list(self._samples(start, start + count))

    def indices32(self, start: int, count: int) -> list[int]:
        return self.indices(start, count, 2**32)

    def num_batches(self, batch_size: int, drop_last: bool) -> int:
        require(batch_size > 0, "batch_size", batch_size)
        n = self.num_samples()
        return n // batch_size if drop_last else ceil_div(n, batch_size)

    def batch(self, batch: int, batch_size: int, drop_last: bool, limit: int = MAX_SAMPLES) -> list[int]:
        require(batch < self.num_batches(batch_size, drop_last), "batch", batch)
        start, end = batch * batch_size, min((batch + 1) * batch_size, self.num_samples())
        require(end - start <= MAX_WINDOW, "batch_size", batch_size)
        require(self.dataset_size() <= limit, "samples", self.dataset_size())
        return list(self._samples(start, end))

    def batch32(self, batch: int, batch_size: int, drop_last: bool) -> list[int]:
        return self.batch(batch, batch_size, drop_last, 2**32)

    def step(self, step: int, batch_size: int, drop_last: bool, first: int, count: int) -> RankBatches:
        require(batch_size > 0, "batch_size", batch_size)
        world, most = self._config.world_size, self._deal.most()
        require(step < (most // batch_size if drop_last else ceil_div(most, batch_size)), "step", step)
        require_ranks(first, count, world, min(batch_size, most - step * batch_size))
        ranks = [self._moved(rank=rank) for rank in range(first, first + count)]
        own = [
            rank.batch(step, batch_size, drop_last) if step < rank.num_batches(batch_size, drop_last) else []
            for rank in ranks
        ]
        return RankBatches([sample for samples in own for sample in samples], [len(samples) for samples in own])

    def short_epochs(self, epoch: int, count: int, most: int) -> ShortEpochs:
        epochs = [self.at_epoch(epoch)]
        require(0 < count <= MAX_WINDOW, "count", count)
        require(most <= MAX_WINDOW, "most", most)
        room = most - epochs[0]._size()
        if room < 0:
            return ShortEpochs([epochs[0].num_samples()], [])
        while len(epochs) < count and epoch + len(epochs) < 2**64:
            try:
                after = self.at_epoch(epoch + len(epochs))
            except Failure:
                break
            room -= after._size()
            if room < 0:
                break
            epochs.append(after)
        own = [each.indices(0, each.num_samples()) for each in epochs]
        return ShortEpochs([len(samples) for samples in own], [sample for samples in own for sample in samples])

    def _size(self) -> int:
        return max(self.epoch_length(), self.dataset_size(), self.num_samples())

    def fate(self, sample: int, batch_size: int, taken: int) -> Fate:
        require(sample < self.dataset_size(), "sample", sample)
        require(batch_size > 0, "batch_size", batch_size)
        read = self._consumed_after(taken)
        c, n, end = self._config, self._config.samples, self._config.end()
        own: list[int] = []
        start = 0
        while len(own) <= MAX_PLACES and start < n and (position := self._first(sample, start)) is not None:
            own.append(position)
            start = position + 1
        if read == n:
            read = end
        are_all, own = len(own) <= MAX_PLACES, own[:MAX_PLACES]
        before = [p for p in own if p < c.consumed]
        rounds = ceil_div(end, n) if own else 0
        dealt = (r * n + p for r in range(rounds) for p in own if c.consumed <= r * n + p < end)
        found = list(islice(dealt, MAX_PLACES - len(before) + 1))
        complete = are_all and len(found) + len(before) <= MAX_PLACES
        found = found[: MAX_PLACES - len(before)]
        seen, padding = sum(p < read for p in found), sum(p >= n for p in found)
        status = "seen" if before or seen else "upcoming" if found else "dropped" if own else "absent"
        return Fate(status, before, [self._place(p, batch_size) for p in found], seen, padding, complete)

    def sample_at(self, position: int) -> int:
        require(position < self._config.end(), "position", position)
        return self._order.sample(position % self._config.samples)

    def _place(self, position: int, batch_size: int) -> Place:
        rank, index = self._deal.place(position)
        num_padding = min(MASK32, (self._config.end() - 1 - position) // self._config.samples)
        return Place(position, rank, index, index // batch_size, index % batch_size, num_padding)

    def place_of(self, position: int, batch_size: int) -> Place:
        require(self._config.consumed <= position < self._config.end(), "position", position)
        require(batch_size > 0, "batch_size", batch_size)
        return self._place(position, batch_size)

    def locate(self, sample: int, batch_size: int) -> Place | None:
        return self._locate(sample, self._config.consumed, batch_size)

    def locate_all(self, samples: list[int], batch_size: int) -> list[Place | None]:
        require(len(samples) <= MAX_WINDOW, "samples", None)
        for sample in samples:
            require(sample < self.dataset_size(), "sample", sample)
        require(batch_size > 0, "batch_size", batch_size)
        return [self.locate(sample, batch_size) for sample in samples]

    def locate_from(self, sample: int, position: int, batch_size: int) -> Place | None:
        c = self._config
        require(sample < self.dataset_size(), "sample", sample)
        require(c.consumed <= position <= c.end(), "position", position)
        return self._locate(sample, position, batch_size)

    def _locate(self, sample: int, start: int, batch_size: int) -> Place | None:
        require(sample < self.dataset_size(), "sample", sample)
        require(batch_size > 0, "batch_size", batch_size)
        n, end = self._config.samples, self._config.end()
        if start >= end:
            return None
        # Positions from N on repeat the positions from 0 on.
        turn, within = divmod(start, n)
        for more, first in ((turn, within), (turn + 1, 0)):
            position = self._first(sample, first)
            if position is not None:
                position += more * n
                return self._place(position, batch_size) if position < end else None
        return None

    def _first(self, sample: int, start: int) -> int | None:
        """The first position of a sample in the order, from `start` on."""
        if self._composed:
            return self._composed.first(self._config.epoch, sample, start)
        position = self._order.position(sample)
        return position if position >= start else None

    # Section 15: blends

    def _blend(self) -> Blend:
        if not isinstance(self._composed, Blend):
            raise Failure("contradiction", "name", self._config.order)
        return self._composed

    def sources(self) -> list[str]:
        return [source.name for source in self._blend().sources]

    def source_bounds(self) -> list[int]:
        return self._blend().bounds()

    def source_counts(self, start: int, count: int) -> SourceCounts:
        blend, epoch = self._blend(), self._config.epoch
        require(start <= self._config.samples, "start", start)
        require(count <= self._config.samples - start, "count", count)
        first, last = blend.draws(epoch, start), blend.draws(epoch, start + count)
        low, high = blend.next_draws(epoch, start), blend.next_draws(epoch, start + count)
        drawn = [b - a for a, b in zip(first, last, strict=True)]
        return SourceCounts(first, drawn, *([pair[k] for pair in pairs] for pairs in (low, high) for k in (0, 1)))

    def source_of(self, sample: int) -> SourceOf:
        blend = self._blend()
        require(sample < blend.range, "sample", sample)
        if self._canonical["index_space"] == "shared":
            raise Failure("contradiction", "index_space", "shared")
        source = max(i for i, offset in enumerate(blend.offsets) if offset <= sample)
        return SourceOf(source, sample - blend.offsets[source])

    # Section 10: states

    def _consumed_after(self, taken: int) -> int:
        c = self._config
        most = self._deal.most()
        require(taken <= most, "taken", taken)
        apart = c.layout == "contiguous" and c.world_size > 1
        require(taken in (0, most) or not apart, "layout", c.layout, "contradiction")
        require(taken == most or taken % c.unit == 0, "taken", taken)
        return c.samples if taken == most > 0 else min(c.consumed + taken * c.world_size, c.samples)

    def state(self, taken: int) -> str:
        c, consumed = self._config, self._consumed_after(taken)
        positions = c.samples if self._composed else None
        return write_state("sampler", {"order": self._canonical}, c.epoch, consumed=consumed, positions=positions)

    def resume(self, state: str) -> Sampler:
        if self._composed:
            fields = read_text(state, "sampler")
            order = fields["recipe"].get("order", {})
            goes_on(self._composed, self._canonical, order, fields["epoch"], fields["consumed"])
        else:
            fields = read_state(state, "sampler", {"order": self._canonical})
        return self._moved(epoch=fields["epoch"], consumed=fields["consumed"])

    # Section 5: fingerprints

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for sample in self._samples(0, self.num_samples()):
            digest.update(le(sample, 8))
        return digest.hexdigest()

    def config_fingerprint(self) -> str:
        """The fingerprint of section 5."""
        return fingerprint(f'{self.recipe()}{{"epoch":{self._config.epoch},"consumed":{self._config.consumed}}}')

    # Section 6: operations of the order `sharded`

    def _shards(self) -> Sharding:
        if self._sharding is None:
            raise Failure("contradiction", "name", self._config.order)
        return self._sharding

    def _rounds(self) -> Sharding:
        sharding = self._shards()
        require(self._config.layout != "rotated", "layout", self._config.layout, "contradiction")
        require(self._config.unit == 1, "unit", self._config.unit, "contradiction")
        return sharding

    def num_rounds(self) -> int:
        sharding = self._rounds()
        size = sharding.lanes * sharding.window
        return max(0, ceil_div(self._config.end(), size) - self._config.consumed // size)

    def round(self, number: int) -> Round:
        sharding = self._rounds()
        require(number < self.num_rounds(), "number", number)
        order = make_sharded(sharding, self._config.seed, self._config.epoch)
        size = sharding.lanes * sharding.window
        mine = self._positions()
        number += self._config.consumed // size
        start, end = (bisect_left(mine, k * size) for k in (number, number + 1))
        positions = mine[start:end]
        lanes: set[int] = set()
        for p in positions:
            if p >= self._config.samples or len(lanes) == sharding.lanes:
                break
            lanes.add(p % sharding.lanes)
        spans = [(lane, *span) for lane in sorted(lanes) for span in order.spans(lane, number)]
        padding = [p for p in positions if p >= self._config.samples]
        require(len(spans) + len(padding) <= MAX_WINDOW, "shuffle_window", sharding.window)
        for p in padding:
            q = p % self._config.samples
            spans.append((q % sharding.lanes, *sharding.shard_of(order.sample(q)), 1))
        return Round(start, end - start, Spans.of(spans))

    def shard_of(self, sample: int) -> ShardPlace:
        require(sample < self._config.samples, "sample", sample)
        return ShardPlace(*self._shards().shard_of(sample))
