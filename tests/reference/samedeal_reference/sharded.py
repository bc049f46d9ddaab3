"""The order `sharded` of section 3."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from .base import shuffle, stream
from .orders import Order, feistel


def shard_of(base: list[int], sample: int) -> tuple[int, int]:
    """The shard j that holds a sample, and the offset sample - base[j]."""
    # An empty shard begins where the next one does, so it is never returned.
    shard = bisect_right(base, sample) - 1
    return shard, sample - base[shard]


@dataclass(frozen=True)
class Sharding:
    sizes: tuple[int, ...]
    lanes: int
    window: int

    def shard_of(self, sample: int) -> tuple[int, int]:
        return shard_of([0, *accumulate(self.sizes)], sample)


@dataclass(frozen=True)
class Spans:
    lane: list[int]
    shard: list[int]
    first_row: list[int]
    num_rows: list[int]

    @classmethod
    def of(cls, spans: list[tuple[int, int, int, int]]) -> Spans:
        """Columns from one tuple for each span."""
        return cls(*([span[at] for span in spans] for at in range(4)))

    def each(self) -> list[tuple[int, int, int, int]]:
        return list(zip(self.lane, self.shard, self.first_row, self.num_rows, strict=True))


class Sharded:
    def __init__(self, sharding: Sharding, seed: int, epoch: int) -> None:
        self.sharding, self.seed, self.epoch = sharding, seed, epoch
        self.sigma = list(range(len(sharding.sizes)))
        shuffle(self.sigma, stream("sharded", seed, epoch))
        self.base = [0, *accumulate(sharding.sizes)]
        # The places in the row at which each shard of sigma begins, and the end of the last one.
        self.row = [0, *accumulate(sharding.sizes[shard] for shard in self.sigma)]
        # The places of each lane in the row.
        order = list(range(sharding.lanes))
        shuffle(order, stream("sharded lanes", seed, epoch))
        share, extra = divmod(self.base[-1], sharding.lanes)
        self.lanes = [range(0)] * sharding.lanes
        start = 0
        for lane in order:
            self.lanes[lane] = range(start, start + share + (lane < extra))
            start = self.lanes[lane].stop

    def window(self, lane: int, number: int) -> range:
        """The places of a window in the row."""
        return self.lanes[lane][number * self.sharding.window : (number + 1) * self.sharding.window]

    @lru_cache(maxsize=8192)  # noqa: B019 (few orders are made)
    def pi(self, lane: int, number: int) -> Order:
        index = number * self.sharding.lanes + lane
        return feistel(len(self.window(lane, number)), stream("sharded window", self.seed, self.epoch, index))

    def in_row(self, place: int) -> tuple[int, int]:
        """The number in sigma of the shard at a place of the row, and the offset in that shard."""
        return shard_of(self.row, place)

    def sample(self, position: int) -> int:
        element, lane = divmod(position, self.sharding.lanes)
        number, t = divmod(element, self.sharding.window)
        place = self.window(lane, number)[self.pi(lane, number).sample(t)]
        shard, offset = self.in_row(place)
        return self.base[self.sigma[shard]] + offset

    def position(self, sample: int) -> int:
        shard, offset = self.sharding.shard_of(sample)
        place = self.row[self.sigma.index(shard)] + offset
        lane = next(lane for lane, places in enumerate(self.lanes) if place in places)
        number, at = divmod(place - self.lanes[lane].start, self.sharding.window)
        element = number * self.sharding.window + self.pi(lane, number).position(at)
        return element * self.sharding.lanes + lane

    def spans(self, lane: int, number: int) -> list[tuple[int, int, int]]:
        """The samples of a window as (shard, first, count), in the order of the row."""
        spans = []
        window = self.window(lane, number)
        place = window.start
        while place < window.stop:
            shard, first = self.in_row(place)
            count = min(self.row[shard + 1], window.stop) - place
            spans.append((self.sigma[shard], first, count))
            place += count
        return spans


@lru_cache(maxsize=8)
def make_sharded(sharding: Sharding, seed: int, epoch: int) -> Sharded:
    return Sharded(sharding, seed, epoch)
