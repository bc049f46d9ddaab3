"""The samples of readers among the rest of an epoch: the two deals of section 13."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, Protocol

from .base import MAX_WINDOW, Failure, ceil_div, stream
from .config import Config
from .orders import feistel
from .plan import Plan, PlanConfig
from .readings_state import Group, Progress, Segment
from .sampler import Round, Sampler
from .sharded import Sharding, Spans, shard_of

STORED = 1024  # samples of a stored round without a shuffle
History = tuple[Segment, ...]


def num_batches(samples: int, batch_size: int, drop_last: bool) -> int:
    return samples // batch_size if drop_last else ceil_div(samples, batch_size)


def given(b: list[int], s: int) -> tuple[list[int], int]:
    """The number of batches that each worker gave in s steps of its rank, and the worker that gives the next one."""
    f, above = 0, max(b) + 1
    while above - f > 1:
        middle = (f + above) // 2
        f, above = (middle, above) if sum(min(own, middle) for own in b) <= s else (f, middle)
    g = [min(own, f) for own in b]
    q, following = s - sum(g), 0
    for v, own in enumerate(b):
        if q > 0 and own > f:
            g[v] += 1
            q -= 1
            following = (v + 1) % len(b)
    return g, following


def split(group: Group, history: History) -> tuple[History, int]:
    """The history before the readers of a group began, and the number of steps that they took."""
    if history and history[-1].group == group:
        return history[:-1], history[-1].steps
    return history, 0


class Reader(Protocol):
    """The samples of one worker of one rank."""

    @property
    def samples(self) -> int: ...

    @property
    def padding(self) -> int: ...

    def indices(self, start: int, count: int) -> list[int]: ...

    def num_rounds(self) -> int: ...

    def round(self, number: int) -> Round: ...

    def round_of(self, index: int) -> int: ...


@dataclass(frozen=True)
class Dataset:
    """The shards, and the epoch."""

    sizes: tuple[int, ...]
    seed: int
    epoch: int

    @property
    def samples(self) -> int:
        return sum(self.sizes)

    @property
    def base(self) -> list[int]:
        return [0, *accumulate(self.sizes)]

    def shard_of(self, sample: int) -> tuple[int, int]:
        return shard_of(self.base, sample)


# Deals of single positions.


class Turn(NamedTuple):
    """A torn turn: positions low to high - 1. Its positions that are left have the numbers first to high - 1."""

    low: int
    high: int
    readers: int
    gone: int
    first: int


class Left:
    def __init__(
        self, samples: int, consumed: int, history: History, turn: Callable[[int, int], int] = lambda _a, _readers: 0
    ) -> None:
        """The procedure `left`. `turn` gives the number of readers by which a row is rotated."""
        self.turn = turn
        c = p = o = consumed
        kept: list[Segment] = []
        turns: list[Turn] = []
        for group, s in history:
            readers = group.readers
            end = samples - (samples - c) % readers if group.drop_last else samples
            full, part = divmod(s, group.workers)
            size = readers * group.batch_size
            if full + min(part, 1) > ceil_div(end - c, size):
                raise Failure("out-of-range", "history")
            low = min(end, c + full * size)
            high = min(end, low + size) if part > 0 else low
            if low >= p:
                o, kept, turns = low, [], []
                if part > 0:
                    kept.append(Segment(group, part))
            else:
                kept.append(Segment(group, s))
            gone = part * group.world_size
            rounds, last = divmod(high - low, readers)
            c = high - rounds * (readers - gone) - max(0, last - gone)
            if part > 0:
                turns.append(Turn(low, high, readers, gone, c))
            p = max(p, high)
        self.consumed, self.plain, self.turns = c, p, turns
        self.normal = o, tuple(kept)

    def position(self, number: int) -> int:
        for low, high, readers, gone, first in reversed(self.turns):
            if first <= number < high:
                rounds, i = divmod(number - first, readers - gone)
                row = low + rounds * readers
                h = self.turn(row, readers) if row + readers <= high else 0
                before = gone - h if h <= gone else 0 if i < readers - h else gone
                number = row + i + before
        return number


class SampleReader:
    def __init__(self, deal: SampleDeal, rank: int, worker: int) -> None:
        self.deal, readers = deal, deal.group.readers
        self.number, self.m, self.first = deal.part(rank, worker)
        self.all = deal.sampler(self.number, deal.left.consumed)
        self.samples = self.m - self.first
        self.padding = min(self.all.num_padding(), self.samples)
        torn_end = ceil_div(deal.left.plain - deal.left.consumed, readers)
        self.plain = min(self.m, max(self.first, torn_end))
        self.size = min(deal.round_size, MAX_WINDOW) if deal.is_sharded else STORED
        self.torn = ceil_div(self.plain - self.first, self.size)
        self.start = deal.left.consumed + self.plain * readers  # Z

    def numbers(self, start: int, count: int) -> list[int]:
        c, readers = self.deal.left.consumed, self.deal.group.readers
        return [c + self.number + (self.first + i) * readers for i in range(start, start + count)]

    def sample(self, number: int) -> int:
        return self.all.sample_at(self.deal.left.position(number))

    def indices(self, start: int, count: int) -> list[int]:
        return [self.sample(number) for number in self.numbers(start, count)]

    def rest(self) -> Sampler:
        """The sampler of the rounds after the torn turns. Only the order `sharded` needs it."""
        return self.deal.sampler(self.number, self.start)

    def num_rounds(self) -> int:
        if self.plain == self.m:
            return self.torn
        more = self.rest().num_rounds() if self.deal.is_sharded else ceil_div(self.m - self.plain, STORED)
        return self.torn + more

    def round(self, number: int) -> Round:
        plain = self.plain - self.first
        if number < self.torn:
            start = number * self.size
            return self.stored(start, min(start + self.size, plain))
        if not self.deal.is_sharded:
            start = plain + (number - self.torn) * STORED
            return self.stored(start, min(start + STORED, self.samples))
        found = self.rest().round(number - self.torn)
        return Round(plain + found.start, found.count, found.spans)

    def stored(self, start: int, end: int) -> Round:
        dataset = self.deal.dataset
        lane = self.deal.sharding.lanes if self.deal.is_sharded else 0
        numbers = self.numbers(start, end - start)
        spans: list[tuple[int, int, int, int]] = []
        before = None
        for sample in sorted(self.sample(number) for number in numbers if number < dataset.samples):
            j, f = dataset.shard_of(sample)
            if f > 0 and before == sample - 1:
                *start_of, rows = spans[-1]
                spans[-1] = (*start_of, rows + 1)
            else:
                spans.append((lane, j, f, 1))
            before = sample
        for number in numbers:
            if number >= dataset.samples:
                spans.append((lane, *dataset.shard_of(self.sample(number)), 1))
        return Round(start, end - start, Spans.of(spans))

    def round_of(self, index: int) -> int:
        at = self.first + index
        if at < self.plain:
            return index // self.size
        if not self.deal.is_sharded:
            return self.torn + (at - self.plain) // STORED
        size = self.deal.round_size
        return self.torn + self.numbers(index, 1)[0] // size - self.start // size


class RowDeal:
    """A deal of rows: rest numbers c to E - 1 of section 13, one for each reader in turn."""

    group: Group
    left: Left
    steps: int
    """The number of steps that the group took."""

    @property
    def end(self) -> int:
        """E, the end of the dealt positions."""
        raise NotImplementedError

    def part(self, rank: int, worker: int) -> tuple[int, int, int]:
        """The number of the reader that a worker continues, its m, and its first index that is left."""
        group, s = self.group, self.steps
        role = (worker + s) % group.workers
        n = rank + group.world_size * role
        m = max(0, ceil_div(self.end - self.left.consumed - n, group.readers))
        gone = (s // group.workers + (role < s % group.workers)) * group.batch_size
        return n, m, min(gone, m)

    def busy_ranks(self) -> list[int]:
        """The ranks that may have samples."""
        return list(range(min(self.group.world_size, self.end - self.left.consumed)))

    def samples_of(self, rank: int) -> list[int]:
        parts = (self.part(rank, worker) for worker in range(self.group.workers))
        return [m - first for _, m, first in parts]


class SampleDeal(RowDeal):
    def __init__(
        self, dataset: Dataset, progress: Progress, group: Group, order: str, sharding: Sharding, remainder: str
    ) -> None:
        before, self.steps = split(group, progress.history)
        self.dataset, self.group, self.remainder = dataset, group, remainder
        self.order, self.sharding = order, sharding
        self.left = Left(dataset.samples, progress.consumed, before)

    @property
    def is_sharded(self) -> bool:
        return self.order == "sharded"

    @property
    def round_size(self) -> int:
        return self.sharding.lanes * self.sharding.window

    def sampler(self, reader: int, consumed: int) -> Sampler:
        d = self.dataset
        config = Config(
            order=self.order,
            samples=d.samples,
            seed=d.seed,
            world_size=self.group.readers,
            remainder=self.remainder,
            layout="strided",
            epoch=d.epoch,
            rank=reader,
            consumed=consumed,
        )
        return Sampler.of(config, self.sharding if self.is_sharded else None)

    @cached_property
    def end(self) -> int:
        sampler = self.sampler(0, self.left.consumed)
        return self.left.consumed + sampler.num_positions()

    def reader(self, rank: int, worker: int) -> SampleReader:
        return SampleReader(self, rank, worker)


# Deals of whole shards.


class LeftPlan:
    """The plan of the rest, after `taken` rows of every shard were taken."""

    def __init__(self, epoch: int, whole: PlanConfig, group: Group, taken: list[int]) -> None:
        self.sizes = [size - gone for size, gone in zip(whole.sizes, taken, strict=True)]
        parts = None
        if whole.bytes is not None:
            shards = zip(whole.bytes, whole.sizes, self.sizes, strict=True)
            parts = [own * left // size if size > 0 else own for own, size, left in shards]
        config = replace(
            whole,
            sizes=self.sizes,
            bytes=parts,
            world_size=group.world_size,
            workers=group.workers,
        )
        self.plan, self.group = Plan.of(config, epoch), group

    def shards(self, rank: int, worker: int) -> list[int]:
        return self.plan.shards(rank, worker, 0, self.plan.num_shards(rank, worker))

    def rows(self, rank: int) -> list[int]:
        """The number of rows of each worker of a rank."""
        return [sum(self.sizes[j] for j in self.shards(rank, v)) for v in range(self.group.workers)]

    def batches(self, rank: int) -> list[int]:
        return [num_batches(rows, self.group.batch_size, self.group.drop_last) for rows in self.rows(rank)]


def taken(epoch: int, whole: PlanConfig, consumed: int, history: History) -> list[int]:
    if consumed > 0:
        if history:
            raise Failure("out-of-range", "history")
        return list(whole.sizes)
    t = [0] * len(whole.sizes)
    for group, s in history:
        plan = LeftPlan(epoch, whole, group, t)
        # Ranks without shards are left out, because they have no steps and there may be millions of them.
        b = {rank: plan.batches(rank) for rank in plan.plan.ranks_with_shards()}
        if s > max(map(sum, b.values()), default=0):
            raise Failure("out-of-range", "history")
        for rank, own in b.items():
            g, _ = given(own, s)
            for worker in range(group.workers):
                x = g[worker] * group.batch_size
                for j in plan.shards(rank, worker):
                    y = min(x, plan.sizes[j])
                    t[j] += y
                    x -= y
    return t


class ShardReader:
    padding = 0

    def __init__(self, deal: ShardDeal, pieces: list[tuple[int, int]], shards: list[int]) -> None:
        self.deal, self.pieces, self.shards = deal, pieces, shards
        self.starts = [0, *accumulate(deal.dataset.sizes[j] - f for j, f in pieces)]
        self.samples = self.starts[-1]

    def indices(self, start: int, count: int) -> list[int]:
        dataset = self.deal.dataset
        base = dataset.base
        found = []
        for at, (j, f) in enumerate(self.pieces):
            own = range(max(start, self.starts[at]), min(start + count, self.starts[at + 1]))
            if own:
                rows = range(f + own.start - self.starts[at], f + own.stop - self.starts[at])
                pi = feistel(dataset.sizes[j], stream("rows of a shard", dataset.seed, dataset.epoch, j))
                found += [base[j] + (pi.sample(i) if self.deal.whole.shuffle_rows else i) for i in rows]
        return found

    def num_rounds(self) -> int:
        return len(self.pieces)

    def round(self, number: int) -> Round:
        j, f = self.pieces[number]
        size = self.deal.dataset.sizes[j]
        first = 0 if self.deal.whole.shuffle_rows else f
        return Round(self.starts[number], size - f, Spans.of([(0, j, first, size - first)]))

    def round_of(self, index: int) -> int:
        return bisect_right(self.starts, index) - 1


class ShardDeal:
    def __init__(self, dataset: Dataset, progress: Progress, group: Group, whole: PlanConfig) -> None:
        before, self.steps = split(group, progress.history)
        self.dataset, self.group, self.whole = dataset, group, whole
        self.taken = taken(dataset.epoch, whole, progress.consumed, before)
        self.plan = LeftPlan(dataset.epoch, whole, group, self.taken)

    def roles(self, rank: int) -> list[tuple[int, int]]:
        """For each worker: the worker whose shards it reads, and the number of their rows that were read since the plan
        was made."""
        workers = self.group.workers
        if self.steps == 0:
            return [(worker, 0) for worker in range(workers)]
        g, following = given(self.plan.batches(rank), self.steps)
        turned = [(worker + following) % workers for worker in range(workers)]
        return [(role, g[role] * self.group.batch_size) for role in turned]

    def busy_ranks(self) -> list[int]:
        """The ranks that may have samples."""
        return self.plan.plan.ranks_with_shards()

    def samples_of(self, rank: int) -> list[int]:
        rows = self.plan.rows(rank)
        return [max(0, rows[role] - x) for role, x in self.roles(rank)]

    def reader(self, rank: int, worker: int) -> ShardReader:
        role, x = self.roles(rank)[worker]
        pieces, shards = [], []
        for j in self.plan.shards(rank, role):
            y = min(x, self.plan.sizes[j])
            x -= y
            if self.taken[j] + y < self.dataset.sizes[j]:
                pieces.append((j, self.taken[j] + y))
            if self.taken[j] + y < self.dataset.sizes[j] or self.dataset.sizes[j] == 0:
                shards.append(j)
        return ShardReader(self, pieces, shards)
