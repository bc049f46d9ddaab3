"""Deal, fingerprints, operations, states and canonical recipes: sections 4 to 6, 10 and 14."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .base import MAX_SAMPLES, MAX_WINDOW, Failure, ceil_div, le, require, require_window
from .config import Config
from .orders import Order, make_order
from .recipe_text import Lists, fingerprint, written
from .recipes import order_section, read_sampler
from .sharded import Sharding, Spans, make_sharded
from .state import read_state, write_state


@dataclass(frozen=True)
class Place:
    position: int
    rank: int
    index: int
    batch: int
    index_in_batch: int
    copies: int


@dataclass(frozen=True)
class Round:
    start: int
    count: int
    spans: Spans


@dataclass(frozen=True)
class ShardPlace:
    shard: int
    offset: int


class Sampler:
    def __init__(self, recipe: str, lists: Lists, epoch: int, rank: int) -> None:
        config, sharding = read_sampler(recipe, lists)
        require(rank < config.world_size, "rank", rank)
        self._config, self._sharding = replace(config, epoch=epoch, rank=rank), sharding

    @classmethod
    def of(cls, config: Config, sharding: Sharding | None) -> Sampler:
        """For section 13."""
        config.check()
        self = cls.__new__(cls)
        self._config, self._sharding = config, sharding
        return self

    def _moved(self, **changes: Any) -> Sampler:
        return Sampler.of(replace(self._config, **changes), self._sharding)

    def at_epoch(self, epoch: int) -> Sampler:
        return self._moved(epoch=epoch, consumed=0)

    def at_rank(self, rank: int) -> Sampler:
        return self._moved(rank=rank)

    def rest(self, consumed: int) -> Sampler:
        return self._moved(consumed=consumed)

    @property
    def _order(self) -> Order:
        c = self._config
        if self._sharding:
            return make_sharded(self._sharding, c.seed, c.epoch)
        return make_order(c.order, c.samples, c.seed, c.epoch)

    def epoch(self) -> int:
        return self._config.epoch

    def rank(self) -> int:
        return self._config.rank

    def consumed(self) -> int:
        return self._config.consumed

    def samples(self) -> int:
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

    def sizes(self) -> list[int] | None:
        return list(self._sharding.sizes) if self._sharding else None

    def lanes(self) -> int | None:
        return self._sharding.lanes if self._sharding else None

    def shuffle_window(self) -> int | None:
        return self._sharding.window if self._sharding else None

    # Section 14: recipes

    def _section(self) -> dict[str, Any]:
        c = self._config
        return order_section(c.order, c.seed, c.samples, self._sharding)

    def recipe(self) -> str:
        c = self._config
        deal = {"world_size": c.world_size, "remainder": c.remainder, "layout": c.layout}
        return written({"samedeal": 1, "order": self._section(), "deal": deal})

    def recipe_fingerprint(self) -> str:
        return fingerprint(self.recipe())

    # Section 4: deal

    def num_positions(self) -> int:
        return self._config.positions()

    def num_dropped(self) -> int:
        return max(self._config.samples - self._config.end(), 0)

    def num_samples(self) -> int:
        s, e = divmod(self.num_positions(), self._config.world_size)
        return s + 1 if self._config.rank < e else s

    def _positions(self) -> range:
        """The positions of the rank."""
        r, world, n = self._config.rank, self._config.world_size, self.num_samples()
        first = self._config.consumed
        if self._config.layout == "strided":
            return range(first + r, first + r + n * world, world)
        s, e = divmod(self.num_positions(), world)
        start = first + r * s + min(r, e)
        return range(start, start + n)

    def num_padding(self) -> int:
        positions = self._positions()
        real = ceil_div(self._config.samples - positions.start, positions.step)
        return len(positions) - min(max(real, 0), len(positions))

    def _deal(self, start: int, end: int) -> Iterator[int]:
        """Samples start to end - 1 of the rank."""
        order, size = self._order, self._config.samples
        return (order.sample(p % size) for p in self._positions()[start:end])

    def indices(self, start: int, count: int, limit: int = MAX_SAMPLES) -> list[int]:
        n = self.num_samples()
        require_window(start, count, n)
        require(self._config.samples <= limit, "samples", self._config.samples)
        return list(self._deal(start, start + count))

    def indices32(self, start: int, count: int) -> list[int]:
        return self.indices(start, count, 2**32)

    def num_batches(self, batch_size: int, drop_last: bool) -> int:
        require(batch_size > 0, "batch-size", batch_size)
        n = self.num_samples()
        return n // batch_size if drop_last else ceil_div(n, batch_size)

    def batch(self, batch: int, batch_size: int, drop_last: bool, limit: int = MAX_SAMPLES) -> list[int]:
        require(batch < self.num_batches(batch_size, drop_last), "batch", batch)
        start, end = batch * batch_size, min((batch + 1) * batch_size, self.num_samples())
        require(end - start <= MAX_WINDOW, "batch-size", batch_size)
        require(self._config.samples <= limit, "samples", self._config.samples)
        return list(self._deal(start, end))

    def batch32(self, batch: int, batch_size: int, drop_last: bool) -> list[int]:
        return self.batch(batch, batch_size, drop_last, 2**32)

    def sample_at(self, position: int) -> int:
        require(position < self._config.end(), "position", position)
        return self._order.sample(position % self._config.samples)

    def _place(self, position: int, batch_size: int) -> Place:
        total, world = self.num_positions(), self._config.world_size
        s, e = divmod(total, world)
        nth = position - self._config.consumed
        if self._config.layout == "strided":
            index, rank = divmod(nth, world)
        elif nth < e * (s + 1):
            rank, index = divmod(nth, s + 1)
        else:
            rank, index = divmod(nth - e, s)
        copies = (self._config.end() - 1 - position) // self._config.samples
        return Place(position, rank, index, index // batch_size, index % batch_size, copies)

    def place_of(self, position: int, batch_size: int) -> Place:
        require(self._config.consumed <= position < self._config.end(), "position", position)
        require(batch_size > 0, "batch-size", batch_size)
        return self._place(position, batch_size)

    def locate(self, sample: int, batch_size: int) -> Place | None:
        require(sample < self._config.samples, "sample", sample)
        require(batch_size > 0, "batch-size", batch_size)
        position = self._order.position(sample)
        if position < self._config.consumed:
            position += self._config.samples
        return self._place(position, batch_size) if position < self._config.end() else None

    # Section 10: states

    def state(self, taken: int) -> str:
        c = self._config
        most = ceil_div(self.num_positions(), c.world_size)
        require(taken <= most, "taken", taken)
        apart = c.layout == "contiguous" and c.world_size > 1
        require(taken in (0, most) or not apart, "layout", c.layout, "contradiction")
        consumed = min(c.consumed + taken * c.world_size, c.samples)
        if taken == most > 0:
            consumed = c.samples
        return write_state("sampler", {"order": self._section()}, c.epoch, consumed)

    def resume(self, state: str) -> Sampler:
        fields = read_state(state, "sampler", {"order": self._section()})
        return self._moved(epoch=fields["epoch"], consumed=fields["consumed"])

    # Section 5: fingerprints

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for sample in self._deal(0, self.num_samples()):
            digest.update(le(sample, 8))
        return digest.hexdigest()

    def config_fingerprint(self) -> str:
        """Section 5."""
        return fingerprint(self.recipe() + written({"epoch": self._config.epoch, "consumed": self._config.consumed}))

    # Section 6: operations of the order `sharded`

    def _shards(self) -> Sharding:
        if self._sharding is None:
            raise Failure("contradiction", "order", self._config.order)
        return self._sharding

    def num_rounds(self) -> int:
        sharding = self._shards()
        size = sharding.lanes * sharding.window
        return max(0, ceil_div(self._config.end(), size) - self._config.consumed // size)

    def round(self, number: int) -> Round:
        sharding = self._shards()
        require(number < self.num_rounds(), "number", number)
        order = make_sharded(sharding, self._config.seed, self._config.epoch)
        size = sharding.lanes * sharding.window
        mine = self._positions()
        number += self._config.consumed // size
        start, end = (len(range(mine.start, min(mine.stop, k * size), mine.step)) for k in (number, number + 1))
        positions = mine[start:end]
        lanes: set[int] = set()
        for p in positions:
            if p >= self._config.samples or len(lanes) == sharding.lanes:
                break
            lanes.add(p % sharding.lanes)
        spans = [(lane, *span) for lane in sorted(lanes) for span in order.spans(lane, number)]
        padding = [p for p in positions if p >= self._config.samples]
        require(len(spans) + len(padding) <= MAX_WINDOW, "shuffle-window", sharding.window)
        for p in padding:
            q = p % self._config.samples
            spans.append((q % sharding.lanes, *sharding.shard_of(order.sample(q)), 1))
        return Round(start, end - start, Spans.of(spans))

    def shard_of(self, sample: int) -> ShardPlace:
        require(sample < self._config.samples, "sample", sample)
        return ShardPlace(*self._shards().shard_of(sample))
