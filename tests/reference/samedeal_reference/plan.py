"""Plans of whole shards: section 7."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import pairwise

from .base import MAX_SAMPLES, ceil_div, le, millionths, require, require_window, shuffle, stream
from .orders import feistel

MAX_READERS = 2**22
Parts = dict[int, list[int]]  # The items of each part that has any.


@dataclass(frozen=True)
class Locality:
    holder_offsets: list[int]
    holders: list[int]
    rank_nodes: list[int]
    tolerance: int

    def check(self, shards: int, world: int) -> None:
        offsets = self.holder_offsets
        ends = len(offsets) == shards + 1 and offsets[0] == 0 and offsets[-1] == len(self.holders)
        require(ends and all(a <= b for a, b in pairwise(offsets)), "holder-offsets", None, "contradiction")
        require(len(self.rank_nodes) == world, "rank-nodes", None, "contradiction")
        require(all(a < b for a, b in pairwise(offsets)), "holders", "", "missing")

    def holds(self, node: int, shard: int) -> bool:
        return node in self.holders[self.holder_offsets[shard] : self.holder_offsets[shard + 1]]


@dataclass(frozen=True)
class PlanConfig:
    sizes: list[int]
    bytes: list[int]
    world: int
    workers: int
    policy: str
    worker_policy: str
    weight: str
    locality: Locality | None
    shuffle: bool
    reshuffle: bool
    seed: int
    epoch: int

    def check(self) -> None:
        """The first broken rule decides."""
        require(1 <= self.world <= MAX_READERS, "world", self.world)
        require(1 <= self.workers <= MAX_READERS // self.world, "workers", self.workers)
        require(len(self.sizes) <= 2**32 - 2 and sum(self.sizes) <= MAX_SAMPLES, "sizes", None)
        if self.bytes or self.weight == "bytes":
            require(len(self.bytes) == len(self.sizes), "bytes", None, "contradiction")
            require(sum(self.bytes) <= MAX_SAMPLES, "bytes", None)
        if self.policy == "locality-aware":
            if self.locality is None:
                return require(False, "locality", "", "missing")
            self.locality.check(len(self.sizes), self.world)


def by_weight(items: list[int], weights: list[int]) -> list[int]:
    """By descending weight, the earlier in the list first among equals."""
    return sorted(items, key=lambda item: -weights[item])


def round_robin(count: int, parts: int) -> list[int]:
    return [item % parts for item in range(count)]


def size_aware(weights: list[int], parts: int) -> list[int]:
    owners = [0] * len(weights)
    loads = [0] * parts
    order = by_weight(list(range(len(weights))), weights)
    for item in order:
        owners[item] = loads.index(min(loads))
        loads[owners[item]] += weights[item]
    for _ in range(2 * parts):
        a, b = loads.index(max(loads)), loads.index(min(loads))
        exchange = best_exchange(
            [item for item in order if owners[item] == a],
            [item for item in order if owners[item] == b],
            weights,
            loads[a] - loads[b],
        )
        if exchange is None:
            break
        given, taken = exchange
        owners[given] = b
        moved = weights[given]
        if taken is not None:
            owners[taken] = a
            moved -= weights[taken]
        loads[a] -= moved
        loads[b] += moved
    return owners


def best_exchange(of_a: list[int], of_b: list[int], weights: list[int], g: int) -> tuple[int, int | None] | None:
    """What A gives to B, and what it takes for it."""
    best, least = None, None
    for given in of_a:
        x = weights[given]
        c = sum(weights[item] > max(0, x - g // 2) for item in of_b)
        for taken in (None, *(of_b[i] for i in (c - 1, c, c + 1) if 0 <= i < len(of_b))):
            y = 0 if taken is None else weights[taken]
            miss = abs(2 * (x - y) - g)
            if 0 < x - y < g and (least is None or miss < least):
                best, least = (given, taken), miss
    return best


def locality_aware(shards: list[int], weights: list[int], locality: Locality) -> list[int]:
    owners = [0] * len(shards)
    world, total = len(locality.rank_nodes), sum(weights)
    loads = [0] * world
    for item in by_weight(list(range(len(shards))), weights):
        near = [rank for rank in range(world) if locality.holds(locality.rank_nodes[rank], shards[item])]
        rank = min(near, key=lambda rank: loads[rank], default=None)
        if rank is None or (loads[rank] + weights[item]) * 1000 * world > total * (1000 + locality.tolerance):
            rank = loads.index(min(loads))
        owners[item] = rank
        loads[rank] += weights[item]
    return owners


def split(shards: list[int], policy: str, parts: int, config: PlanConfig) -> Parts:
    """The shards of every part that has any, in the order of the list."""
    weights = [(config.sizes if config.weight == "samples" else config.bytes)[shard] for shard in shards]
    if policy == "round-robin":
        owners = round_robin(len(shards), parts)
    elif policy == "size-aware":
        owners = size_aware(weights, parts)
    else:
        assert config.locality is not None
        owners = locality_aware(shards, weights, config.locality)
    found: Parts = {}
    for shard, owner in zip(shards, owners, strict=True):
        found.setdefault(owner, []).append(shard)
    return found


@dataclass(frozen=True)
class Balance:
    least: int
    most: int
    total: int
    members: int


@dataclass(frozen=True)
class Steps:
    least: int
    most: int


class Plan:
    def __init__(self, config: PlanConfig) -> None:
        config.check()
        self._config = config
        self._deal()

    def _deal(self) -> None:
        """Gives the shards to readers, by their number."""
        c = self._config
        order = list(range(len(c.sizes)))
        if c.shuffle:
            shuffle(order, stream("shards", c.seed, c.epoch))
        self._readers: Parts = {}
        for rank, shards in split(order, c.policy, c.world, c).items():
            for worker, mine in split(shards, c.worker_policy, c.workers, c).items():
                reader = rank * c.workers + worker
                if c.reshuffle:
                    shuffle(mine, stream("shards of a reader", c.seed, c.epoch, reader))
                self._readers[reader] = mine

    def set_epoch(self, epoch: int) -> None:
        self._config = replace(self._config, epoch=epoch)
        self._deal()

    def _list(self, rank: int, worker: int) -> list[int]:
        require(rank < self._config.world, "rank", rank)
        require(worker < self._config.workers, "worker", worker)
        return self._readers.get(rank * self._config.workers + worker, [])

    def ranks_with_shards(self) -> list[int]:
        """For section 13: there may be millions of others."""
        return sorted({reader // self._config.workers for reader in self._readers})

    def num_shards(self, rank: int, worker: int) -> int:
        return len(self._list(rank, worker))

    def shards(self, rank: int, worker: int, start: int, count: int) -> list[int]:
        shards = self._list(rank, worker)
        require_window(start, count, len(shards))
        return shards[start : start + count]

    def _members(self, tier: str) -> int:
        return self._config.world if tier == "ranks" else self._config.world * self._config.workers

    def _load(self, tier: str, member: int) -> list[int]:
        c = self._config
        readers = range(member * c.workers, (member + 1) * c.workers) if tier == "ranks" else [member]
        rank = member if tier == "ranks" else member // c.workers
        shards = [shard for reader in readers for shard in self._readers.get(reader, [])]
        local = 0
        if c.policy == "locality-aware" and c.locality is not None:
            near = [shard for shard in shards if c.locality.holds(c.locality.rank_nodes[rank], shard)]
            local = sum((c.bytes or c.sizes)[shard] for shard in near)
        size = sum(c.bytes[shard] for shard in shards) if c.bytes else 0
        return [len(shards), sum(c.sizes[shard] for shard in shards), size, local]

    def loads(self, tier: str, start: int, count: int) -> list[int]:
        require_window(start, count, self._members(tier))
        return [number for member in range(start, start + count) for number in self._load(tier, member)]

    def balance(self, tier: str, weight: str) -> Balance:
        c = self._config
        require(weight == "samples" or len(c.bytes) == len(c.sizes), "bytes", "", "missing")
        column = 1 if weight == "samples" else 2
        loads = self._loads_of_all(tier, column)
        return Balance(min(loads), max(loads), sum(loads), self._members(tier))

    def imbalance(self, tier: str, weight: str) -> int:
        found = self.balance(tier, weight)
        return millionths(found.most * found.members, found.total) if found.total > 0 else 10**6

    def _loads_of_all(self, tier: str, column: int) -> list[int]:
        """One number of every member that has shards, and a 0 if another one has none."""
        busy = {reader // self._config.workers if tier == "ranks" else reader for reader in self._readers}
        loads = [self._load(tier, member)[column] for member in sorted(busy)]
        return loads + [0] * (len(busy) < self._members(tier))

    def steps(self, batch_size: int, drop_last: bool) -> Steps:
        require(batch_size > 0, "batch-size", batch_size)
        steps: dict[int, int] = {}
        for reader in self._readers:
            samples = self._load("workers", reader)[1]
            rank = reader // self._config.workers
            steps[rank] = steps.get(rank, 0) + (samples // batch_size if drop_last else ceil_div(samples, batch_size))
        all_steps = list(steps.values()) + [0] * (len(steps) < self._config.world)
        return Steps(min(all_steps), max(all_steps))

    def rows(self, shard: int, start: int, count: int) -> list[int]:
        c = self._config
        require(shard < len(c.sizes), "shard", shard)
        require_window(start, count, c.sizes[shard])
        pi = feistel(c.sizes[shard], stream("rows of a shard", c.seed, c.epoch, shard))
        return [pi.sample(row) for row in range(start, start + count)]

    def config_fingerprint(self) -> str:
        """Section 5."""
        c = self._config
        text = b"samedeal plan 1\0" + le(c.seed, 8) + le(c.epoch, 8) + le(c.world, 4) + le(c.workers, 4)
        policies = ("round-robin", "size-aware", "locality-aware")
        weight = ("samples", "bytes").index(c.weight)
        text += bytes([policies.index(c.policy), policies.index(c.worker_policy), weight, c.shuffle, c.reshuffle])
        for numbers in (c.sizes, c.bytes):
            text += le(len(numbers), 8) + b"".join(le(number, 8) for number in numbers)
        if c.policy == "locality-aware" and c.locality is not None:
            near = c.locality
            numbers = [near.tolerance, *near.rank_nodes, *near.holder_offsets, *near.holders]
            text += b"".join(le(number, 4) for number in numbers)
        return hashlib.sha256(text).hexdigest()
