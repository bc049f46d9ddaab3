"""Configuration, deal, fingerprints, operations, states and canonical recipes: sections 1, 4 to 6, 10 and 14."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .base import MAX_SAMPLES, MAX_WINDOW, Failure, ceil_div, le, require, require_window
from .orders import Order, make_order, require_name, require_range
from .recipe_text import inline
from .sharded import Sharding, make_sharded
from .state import Identity, read_state, write_state


@dataclass(frozen=True)
class Config:
    """Section 1."""

    samples: int
    seed: int
    epoch: int
    order: str
    rank: int
    world: int
    remainder: str
    layout: str
    consumed: int

    def check(self) -> None:
        """Section 6, `configuration`: the first broken rule decides."""
        require_name(self.order)
        require_range(self.order, self.samples, self.seed)
        require(self.world > 0, "world", self.world)
        require(self.consumed <= self.samples, "consumed", self.consumed)
        require(replace(self, consumed=0).end() <= MAX_SAMPLES, "samples", self.samples)
        require(self.end() <= MAX_SAMPLES, "samples", self.samples)
        require(self.rank < self.world, "rank", self.rank)

    def positions(self) -> int:
        """P of section 4."""
        left = self.samples - self.consumed
        if self.remainder == "drop":
            return left // self.world * self.world
        return ceil_div(left, self.world) * self.world if self.remainder == "pad" else left

    def end(self) -> int:
        return self.consumed + self.positions()


@dataclass(frozen=True)
class Place:
    position: int
    rank: int
    index: int
    batch: int
    slot: int
    copies: int


@dataclass(frozen=True)
class Round:
    start: int
    count: int
    spans: list[int]


@dataclass(frozen=True)
class ShardPlace:
    shard: int
    offset: int


class Sampler:
    def __init__(self, config: Config) -> None:
        config.check()
        require(config.order != "sharded", "sharding", "", "missing")
        self._config = config
        self._sharding: Sharding | None = None

    @classmethod
    def sharded(cls, config: Config, sizes: list[int], lanes: int, window: int) -> Sampler:
        config.check()
        require(config.order == "sharded", "order", config.order, "contradiction")
        require(len(sizes) <= 2**32 - 2 and sum(sizes) <= MAX_SAMPLES, "sizes", None)
        require(sum(sizes) == config.samples, "samples", config.samples, "contradiction")
        require(1 <= lanes <= 4096, "lanes", lanes)
        require(1 <= window <= MAX_WINDOW, "window", window)
        self = cls.__new__(cls)
        self._config, self._sharding = config, Sharding(tuple(sizes), lanes, window)
        return self

    @property
    def _order(self) -> Order:
        c = self._config
        if self._sharding:
            return make_sharded(self._sharding, c.seed, c.epoch)
        return make_order(c.order, c.samples, c.seed, c.epoch)

    def config(self) -> Config:
        return self._config

    def sharding(self) -> dict[str, Any] | None:
        if self._sharding is None:
            return None
        sizes, lanes, window = self._sharding.sizes, self._sharding.lanes, self._sharding.window
        return {"sizes": [str(size) for size in sizes], "lanes": lanes, "window": window}

    # Section 14: recipes

    def recipe(self) -> str:
        c = self._config
        order: dict[str, Any] = {"name": c.order, "samples": c.samples, "seed": c.seed}
        if self._sharding:
            sizes, lanes, window = list(self._sharding.sizes), self._sharding.lanes, self._sharding.window
            order |= {"lanes": lanes, "shuffle_window": window, "shards": len(sizes)}
            order["sizes"] = inline(sizes)
        deal = {"world_size": c.world, "remainder": c.remainder, "layout": c.layout}
        return json.dumps({"samedeal": 1, "order": order, "deal": deal}, separators=(",", ":"))

    def recipe_fingerprint(self) -> str:
        return hashlib.sha256(self.recipe().encode()).hexdigest()

    def set_epoch(self, epoch: int) -> None:
        if epoch != self._config.epoch:
            self._config = replace(self._config, epoch=epoch, consumed=0)

    def set_rank(self, rank: int) -> None:
        require(rank < self._config.world, "rank", rank)
        self._config = replace(self._config, rank=rank)

    # Section 4: deal

    def num_positions(self) -> int:
        return self._config.positions()

    def num_dropped(self) -> int:
        return max(self._config.samples - self._config.end(), 0)

    def num_samples(self) -> int:
        s, e = divmod(self.num_positions(), self._config.world)
        return s + 1 if self._config.rank < e else s

    def _positions(self) -> range:
        """The positions of the rank."""
        r, world, n = self._config.rank, self._config.world, self.num_samples()
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
        total, world = self.num_positions(), self._config.world
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
        most = ceil_div(self.num_positions(), c.world)
        require(taken <= most, "taken", taken)
        apart = c.layout == "contiguous" and c.world > 1
        require(taken in (0, most) or not apart, "layout", c.layout, "contradiction")
        consumed = min(c.consumed + taken * c.world, c.samples)
        if taken == most > 0:
            consumed = c.samples
        return write_state("sampler", self._identity(), c.epoch, {"consumed": consumed})

    def resume(self, state: str) -> None:
        fields = read_state(state, "sampler", self._identity(), "sharding" if self._sharding else "state")
        moved = replace(self._config, epoch=fields["epoch"], consumed=fields["consumed"])
        moved.check()
        self._config = moved

    def _identity(self) -> Identity:
        c = self._config
        numbers = le(c.samples, 8) + le(c.seed, 8)
        text = b"samedeal order 1\0" + c.order.encode("ascii") + b"\0" + numbers + self._shards_hashed()
        return Identity(c.order, c.samples, c.seed, hashlib.sha256(text).hexdigest())

    # Section 5: fingerprints

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for sample in self._deal(0, self.num_samples()):
            digest.update(le(sample, 8))
        return digest.hexdigest()

    def config_fingerprint(self) -> str:
        c = self._config
        numbers = le(c.samples, 8) + le(c.seed, 8) + le(c.epoch, 8) + le(c.world, 4)
        choices = bytes([("drop", "pad", "uneven").index(c.remainder), ("strided", "contiguous").index(c.layout)])
        text = b"samedeal config 1\0" + c.order.encode("ascii") + b"\0" + numbers + choices + le(c.consumed, 8)
        return hashlib.sha256(text + self._shards_hashed()).hexdigest()

    def _shards_hashed(self) -> bytes:
        if not self._sharding:
            return b""
        sizes = b"".join(le(size, 8) for size in self._sharding.sizes)
        return le(self._sharding.lanes, 4) + le(self._sharding.window, 4) + sizes

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
        spans = [item for lane in sorted(lanes) for span in order.spans(lane, number) for item in (lane, *span)]
        padding = sum(1 for p in positions if p >= self._config.samples)
        require(len(spans) // 4 + padding <= MAX_WINDOW, "window", sharding.window)
        for p in positions:
            if p >= self._config.samples:
                q = p % self._config.samples
                spans += [q % sharding.lanes, *sharding.shard_of(order.sample(q)), 1]
        return Round(start, end - start, spans)

    def shard_of(self, sample: int) -> ShardPlace:
        require(sample < self._config.samples, "sample", sample)
        return ShardPlace(*self._shards().shard_of(sample))
