"""Plans of whole shards: section 7, and their recipes: section 14."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from .base import MAX_SAMPLES, ceil_div, millionths, require, require_window, shuffle, stream
from .members import DEAL_OF_SHARDS, SHARDS
from .orders import feistel
from .recipe_text import Lists, fingerprint, written
from .recipes import Section, allow, canonical, checked, read_recipe, require_sizes, stored

MAX_READERS = 2**22
TIERS = ("ranks", "workers")
Parts = dict[int, list[int]]  # The items of each part that has items.


@dataclass(frozen=True)
class PlanConfig:
    """The section `shards`, and the readers."""

    shuffle: bool
    shuffle_rows: bool
    reshuffle: bool
    seed: int
    policy: str
    worker_policy: str
    balance_by: str
    sizes: list[int]
    bytes: list[int] | None = None
    tolerance: int = 0
    holders: Sequence[int] = ()
    holder_offsets: Sequence[int] = ()
    rank_nodes: Sequence[int] = ()
    world_size: int = 1
    workers: int = 1

    @property
    def weights(self) -> list[int]:
        return self.sizes if self.balance_by == "samples" else self.bytes or []

    def check(self) -> None:
        """Checks all rules. The first broken one decides."""
        require(1 <= self.world_size <= MAX_READERS, "world_size", self.world_size)
        require(1 <= self.workers <= MAX_READERS // self.world_size, "workers", self.workers)
        require(len(self.sizes) <= 2**32 - 2 and sum(self.sizes) <= MAX_SAMPLES, "sizes", None)
        require(sum(self.bytes or []) <= MAX_SAMPLES, "bytes", None)
        if self.policy == "locality-aware":
            self._check_holders(self.holder_offsets)

    def _check_holders(self, offsets: Sequence[int]) -> None:
        ends = len(offsets) == len(self.sizes) + 1 and offsets[0] == 0 and offsets[-1] == len(self.holders)
        require(ends and all(a <= b for a, b in pairwise(offsets)), "holder_offsets", None, "contradiction")
        require(len(self.rank_nodes) == self.world_size, "rank_nodes", None, "contradiction")
        require(all(a < b for a, b in pairwise(offsets)), "holders", "", "missing")

    def holds(self, rank: int, shard: int) -> bool:
        """Whether the node of a rank holds a shard."""
        first, end = self.holder_offsets[shard : shard + 2]
        return self.rank_nodes[rank] in self.holders[first:end]

    def section(self) -> Section:
        """The section `shards` of the canonical text."""
        return canonical(SHARDS, vars(self) | stored(self.sizes))


def read_shards(section: Section, lists: Lists) -> PlanConfig:
    """The configuration in the section `shards`."""
    section = checked(SHARDS, section, lists)
    allow(lists, "", SHARDS)
    require_sizes(section, section["sizes"])
    own = section.get("bytes")
    require(own is None or len(own) == len(section["sizes"]), "bytes", None, "contradiction")
    require(own is not None or section["balance_by"] == "samples", "bytes", "", "missing")
    section.setdefault("shuffle_rows", section["shuffle"])
    return PlanConfig(**{name: value for name, value in section.items() if name not in ("samples", "shards")})


def by_weight(items: list[int], weights: list[int]) -> list[int]:
    """The items by descending weight. Items of equal weight stay in the order of the list."""
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
    """The item that A gives to B, and the item that it takes for it."""
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


def locality_aware(shards: list[int], weights: list[int], config: PlanConfig) -> list[int]:
    owners = [0] * len(shards)
    world, total = config.world_size, sum(weights)
    loads = [0] * world
    for item in by_weight(list(range(len(shards))), weights):
        near = [rank for rank in range(world) if config.holds(rank, shards[item])]
        rank = min(near, key=lambda rank: loads[rank], default=None)
        if rank is None or (loads[rank] + weights[item]) * 1000 * world > total * (1000 + config.tolerance):
            rank = loads.index(min(loads))
        owners[item] = rank
        loads[rank] += weights[item]
    return owners


def split(shards: list[int], policy: str, parts: int, config: PlanConfig) -> Parts:
    """The shards of every part that has some, in the order of the list."""
    weights = [config.weights[shard] for shard in shards]
    if policy == "round-robin":
        owners = round_robin(len(shards), parts)
    elif policy == "size-aware":
        owners = size_aware(weights, parts)
    else:
        owners = locality_aware(shards, weights, config)
    found: Parts = {}
    for shard, owner in zip(shards, owners, strict=True):
        found.setdefault(owner, []).append(shard)
    return found


@dataclass(frozen=True)
class LoadSummary:
    min: int
    max: int
    total: int
    members: int


@dataclass(frozen=True)
class StepBounds:
    min: int
    max: int


class Plan:
    def __init__(self, recipe: str, lists: Lists, epoch: int) -> None:
        fields = read_recipe(recipe, lists, "plan")
        config = read_shards(fields["shards"], lists)
        self._begin(replace(config, **checked(DEAL_OF_SHARDS, fields["deal"])), epoch)

    @classmethod
    def of(cls, config: PlanConfig, epoch: int) -> Plan:
        self = cls.__new__(cls)
        self._begin(config, epoch)
        return self

    def _begin(self, config: PlanConfig, epoch: int) -> None:
        config.check()
        self._config, self._epoch = config, epoch
        self._deal()

    def at_epoch(self, epoch: int) -> Plan:
        return Plan.of(self._config, epoch)

    def recipe(self) -> str:
        deal = canonical(DEAL_OF_SHARDS, vars(self._config))
        return written({"samedeal": 1, "shards": self._config.section(), "deal": deal})

    def recipe_fingerprint(self) -> str:
        return fingerprint(self.recipe())

    def epoch(self) -> int:
        return self._epoch

    def seed(self) -> int:
        return self._config.seed

    def world_size(self) -> int:
        return self._config.world_size

    def workers(self) -> int:
        return self._config.workers

    def sizes(self) -> list[int]:
        return self._config.sizes

    def bytes(self) -> list[int] | None:
        return self._config.bytes

    def _deal(self) -> None:
        """Deals the shards to readers, by their number."""
        c = self._config
        order = list(range(len(c.sizes)))
        if c.shuffle:
            shuffle(order, stream("shards", c.seed, self._epoch))
        self._readers: Parts = {}
        for rank, shards in split(order, c.policy, c.world_size, c).items():
            for worker, mine in split(shards, c.worker_policy, c.workers, c).items():
                reader = rank * c.workers + worker
                if c.reshuffle:
                    shuffle(mine, stream("shards of a reader", c.seed, self._epoch, reader))
                self._readers[reader] = mine

    def _list(self, rank: int, worker: int) -> list[int]:
        require(rank < self._config.world_size, "rank", rank)
        require(worker < self._config.workers, "worker", worker)
        return self._readers.get(rank * self._config.workers + worker, [])

    def ranks_with_shards(self) -> list[int]:
        """The ranks with shards, for section 13. There may be millions of ranks without shards, so a caller must not go
        through all ranks."""
        return sorted({reader // self._config.workers for reader in self._readers})

    def num_shards(self, rank: int, worker: int) -> int:
        return len(self._list(rank, worker))

    def shards(self, rank: int, worker: int, start: int, count: int) -> list[int]:
        shards = self._list(rank, worker)
        require_window(start, count, len(shards))
        return shards[start : start + count]

    def _members(self, tier: str) -> int:
        return self._config.world_size if tier == "ranks" else self._config.world_size * self._config.workers

    def _load(self, tier: str, member: int) -> dict[str, int]:
        c = self._config
        readers = range(member * c.workers, (member + 1) * c.workers) if tier == "ranks" else [member]
        rank = member if tier == "ranks" else member // c.workers
        shards = [shard for reader in readers for shard in self._readers.get(reader, [])]
        load = {"shards": len(shards), "samples": sum(c.sizes[shard] for shard in shards)}
        if c.bytes is not None:
            load["bytes"] = sum(c.bytes[shard] for shard in shards)
        if c.policy == "locality-aware":
            near = [shard for shard in shards if c.holds(rank, shard)]
            load["local"] = sum((c.sizes if c.bytes is None else c.bytes)[shard] for shard in near)
        return load

    def loads(self, tier: str, start: int, count: int) -> dict[str, list[int]]:
        require(tier in TIERS, "tier", tier, "unknown-name")
        require_window(start, count, self._members(tier))
        loads = [self._load(tier, member) for member in range(start, start + count)]
        return {column: [load[column] for load in loads] for column in self._load(tier, 0)}

    def load_summary(self, tier: str, balance_by: str) -> LoadSummary:
        require(tier in TIERS, "tier", tier, "unknown-name")
        require(balance_by in SHARDS["balance_by"].names, "balance_by", balance_by, "unknown-name")
        require(balance_by == "samples" or self._config.bytes is not None, "bytes", "", "missing")
        loads = self._loads_of_all(tier, balance_by)
        return LoadSummary(min(loads), max(loads), sum(loads), self._members(tier))

    def imbalance(self, tier: str, balance_by: str) -> int:
        found = self.load_summary(tier, balance_by)
        return millionths(found.max * found.members, found.total) if found.total > 0 else 10**6

    def _loads_of_all(self, tier: str, column: str) -> list[int]:
        """A column of the loads of all members with shards, and a single 0 if some member has no shard."""
        busy = {reader // self._config.workers if tier == "ranks" else reader for reader in self._readers}
        loads = [self._load(tier, member)[column] for member in sorted(busy)]
        return loads + [0] * (len(busy) < self._members(tier))

    def step_bounds(self, batch_size: int, drop_last: bool) -> StepBounds:
        require(batch_size > 0, "batch_size", batch_size)
        steps: dict[int, int] = {}
        for reader in self._readers:
            samples = self._load("workers", reader)["samples"]
            rank = reader // self._config.workers
            steps[rank] = steps.get(rank, 0) + (samples // batch_size if drop_last else ceil_div(samples, batch_size))
        all_steps = list(steps.values()) + [0] * (len(steps) < self._config.world_size)
        return StepBounds(min(all_steps), max(all_steps))

    def rows(self, shard: int, start: int, count: int) -> list[int]:
        c = self._config
        require(shard < len(c.sizes), "shard", shard)
        require_window(start, count, c.sizes[shard])
        if not c.shuffle_rows:
            return list(range(start, start + count))
        pi = feistel(c.sizes[shard], stream("rows of a shard", c.seed, self._epoch, shard))
        return [pi.sample(row) for row in range(start, start + count)]

    def config_fingerprint(self) -> str:
        """The fingerprint of section 5."""
        return fingerprint(f'{self.recipe()}{{"epoch":{self._epoch}}}')
