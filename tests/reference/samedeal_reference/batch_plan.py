"""The steps of one window: section 9, "Strategies", "Tails" and "Packs"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice

from .base import ceil_div, shuffle, stream
from .batch_config import BatchConfig
from .batch_items import Item
from .packing import ANY, pack

EXCHANGES = 64
MOST_TO_EXCHANGE = 64

Row = list[Item]


@dataclass
class Batch:
    rows: list[Row]
    repeated: int = 0


Step = list[Batch]


def longest_first(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: -item.length)


class Window:
    """The steps of a window of treated items. `index` is the index of the stream that shuffles the steps."""

    def __init__(self, config: BatchConfig, items: list[Item], index: int) -> None:
        self.config = config
        self.steps: list[Step] = []
        self.dropped = self.bound = 0
        alone: list[Item] = []
        if config.too_long == "single":
            alone = longest_first([item for item in items if item.length > config.longest])
            items = [item for item in items if item.length <= config.longest]
        if config.strategy == "pad-to-max":
            self._tail(self._consecutive(items, config.max_batch_size))
        elif config.strategy == "bucket":
            self._buckets(items)
        elif config.strategy == "budget" and config.keep_order:
            self._tail(self._as_they_come(items))
        elif config.strategy == "budget" and config.counts_padding:
            self._tail(self._by_length(items, config.rows))
        else:
            self._packs(items)
        self._singles(alone)
        if config.strategy != "pad-to-max" and not config.keep_order:
            places = list(range(len(self.steps)))
            shuffle(places, stream("batch steps", config.seed, config.epoch, index))
            self.steps = [self.steps[place] for place in places]

    def _deal(self, rows: list[Row], repeated: int = 0, shared: bool = True) -> None:
        """Deals a step. Its last `repeated` rows are repetitions. Unless `shared`, each item gets a row of its own."""
        world = self.config.world_size
        step = []
        for rank in range(world):
            own = [row for row in rows[rank::world] if row]
            again = [row for place, row in enumerate(rows) if place % world == rank and place >= len(rows) - repeated]
            if shared:
                step.append(Batch(own, len(again)))
            else:
                step.append(Batch([[item] for row in own for item in row], sum(map(len, again))))
        self.steps.append(step)

    def _deal_items(self, items: list[Item], repeated: int = 0) -> None:
        self._deal([[item] for item in items], repeated)

    def _consecutive(self, items: list[Item], rows: int) -> list[Item]:
        full = rows * self.config.world_size
        given = len(items) // full * full
        for at in range(0, given, full):
            self._deal_items(items[at : at + full])
        return items[given:]

    def _buckets(self, items: list[Item]) -> None:
        config = self.config
        places: dict[int | None, list[int]] = {}
        for place, item in enumerate(items):
            places.setdefault(config.boundary(item.length), []).append(place)
        left: list[int] = []
        for bucket in sorted(places, key=lambda end: (end is None, end)):
            own = places[bucket]
            before = len(self.steps)
            rest = self._consecutive([items[place] for place in own], config.rows_of_bucket(items[own[0]].length))
            if config.separate_buckets:
                self._tail(rest, before)
            else:
                left += own[len(own) - len(rest) :]
        self._tail([items[place] for place in sorted(left)])

    def _by_length(self, items: list[Item], rows: Callable[[int], int]) -> list[Item]:
        items = longest_first(items)
        while items and (full := rows(items[0].length) * self.config.world_size) <= len(items):
            self._deal_items(items[:full])
            items = items[full:]
        return items

    def _as_they_come(self, items: list[Item]) -> list[Item]:
        config = self.config
        batches: list[list[Item]] = []
        batch: list[Item] = []
        waiting = list(reversed(items))
        while waiting or batch:
            if waiting:
                held = [*batch, waiting[-1]]
                if config.counts_padding:
                    over = len(held) > config.rows(max(item.length for item in held))
                else:
                    cost = sum(config.cost(item.length) for item in held)
                    over = cost > config.budget or len(held) > config.max_batch_size
                if not batch or not over:
                    batch.append(waiting.pop())
                    continue
            if config.counts_padding and len(batch) > config.batch_size_multiple:
                keep = len(batch) - len(batch) % config.batch_size_multiple
                waiting += reversed(batch[keep:])
                batch = batch[:keep]
            batches.append(batch)
            batch = []
        given = len(batches) // config.world_size * config.world_size
        for at in range(0, given, config.world_size):
            self.steps.append([Batch([[item] for item in own]) for own in batches[at : at + config.world_size]])
        return [item for own in batches[given:] for item in own]

    def _tail(self, items: list[Item], before: int = 0) -> None:
        """Plans the tail of a window. Steps before number `before` lend no items to it."""
        config = self.config
        rows = {"budget": config.rows, "bucket": config.rows_of_bucket, "pad-to-max": lambda _: config.max_batch_size}
        left = self._by_length(items, rows[config.strategy])
        if not left:
            return
        few = len(left) < config.world_size and len(self.steps) > before
        if config.tail == "drop":
            self.dropped += len(left)
        elif config.tail == "duplicate":
            self._filled(left)
        elif config.tail == "even-split" and few:
            self._deal_items(longest_first(left + self._spare(config.world_size - len(left))))
        elif config.strategy == "budget" and config.counts_padding:
            self._by_cost(left)
        else:
            self._deal_items(left)

    def _filled(self, items: list[Item]) -> None:
        more = -len(items) % self.config.world_size
        self._deal_items([*items, *islice(cycle(reversed(items)), more)], more)

    def _spare(self, wanted: int) -> list[Item]:
        spared: list[Item] = []
        step = self.steps[-1]
        while len(spared) < wanted:
            most = max(step, key=lambda batch: len(batch.rows))
            if len(most.rows) < 2:
                break
            spared += most.rows.pop()
        return spared

    def _by_cost(self, items: list[Item]) -> None:
        low = items[0].length
        high = max(1, low) * len(items)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if sum(map(len, self._cut(items, middle))) == len(items) else (middle + 1, high)
        self.steps.append([Batch([[item] for item in own]) for own in self._cut(items, low)])

    def _cut(self, items: list[Item], limit: int) -> list[list[Item]]:
        config = self.config
        cut = []
        for rank in range(config.world_size):
            own: list[Item] = []
            if items:
                room = max(1, limit // max(1, items[0].length))
                kept = max(1, len(items) - (config.world_size - 1 - rank))
                own = items[: min(config.max_batch_size, room, kept)]
            cut.append(own)
            items = items[len(own) :]
        return cut

    def _singles(self, alone: list[Item]) -> None:
        rest = self._consecutive(alone, 1)
        if rest and self.config.tail == "drop":
            self.dropped += len(rest)
        elif rest and self.config.tail == "duplicate":
            self._filled(rest)
        elif rest:
            self._deal_items(rest)

    def _packs(self, items: list[Item]) -> None:
        config, world = self.config, self.config.world_size
        shared = config.strategy == "pack"
        packs, bound = packs_of(config, items)
        each = config.max_batch_size if shared else 1
        full = each * world
        given = len(packs) // full * full
        rest = len(packs) - given
        closes = rest > 0 and config.tail != "drop"
        if rest == 0 and given > 0 and each == 1:
            packs[given - world :] = self._spread(packs[given - world :], world) or packs[given - world :]
        if closes and config.tail == "even-split" and rest < world and given > 0:
            given -= full
        dearest = sorted(packs[:given], key=lambda row: -cost_of(config, row))
        for at in range(0, given, full):
            parts = divide(dearest[at : at + full], lambda row: cost_of(config, row), world, each)
            rows = [part if shared else [[item] for row in part for item in row] for part in parts]
            self.steps.append([Batch(own) for own in rows])
        self.bound = bound if closes else max(0, bound - rest)
        if closes:
            self._last_packs(packs[given:], full)
        else:
            self.dropped += sum(map(len, packs[given:]))

    def _last_packs(self, rows: list[Row], full: int) -> None:
        config, world = self.config, self.config.world_size
        wanted = 0 if config.tail == "duplicate" else ceil_div(len(rows), full) * world
        if len(rows) <= wanted:
            rows = self._spread(rows, wanted) or split(rows, wanted)
        many = ceil_div(len(rows), full)
        for i in range(many):
            part = rows[len(rows) * i // many : len(rows) * (i + 1) // many]
            more = -len(part) % world if config.tail == "duplicate" else 0
            self._deal([*part, *islice(cycle(part), more)], more, config.strategy == "pack")

    def _spread(self, packs: list[Row], wanted: int) -> list[Row] | None:
        """The items of packs in `wanted` rows; None if an item does not fit, or if the step does not become cheaper."""
        config = self.config
        size, capacity, slots = sizes_of(config)
        rows: list[Row] = [[] for _ in range(wanted)]
        items = [item for row in packs for item in row]
        for item in sorted(items, key=lambda item: -config.cost(item.length)):
            row = min(rows, key=lambda row: cost_of(config, row))
            row.append(item)
            if sum(size(item.length) for item in row) > capacity or len(row) > slots:
                return None
        dearest = max(cost_of(config, row) for row in packs)
        return rows if len(packs) < wanted or max(cost_of(config, row) for row in rows) < dearest else None


def cost_of(config: BatchConfig, row: Row) -> int:
    return sum(config.cost(item.length) for item in row)


def split(rows: list[Row], wanted: int) -> list[Row]:
    """Splits rows until there are `wanted` rows, or as many as possible."""
    rows = list(rows)
    while len(rows) < wanted:
        most = max(range(len(rows)), key=lambda row: len(rows[row]))
        items = rows[most]
        if len(items) < 2:
            break
        half = ceil_div(len(items), 2)
        rows[most : most + 1] = [items[:half], items[half:]]
    return rows


def sizes_of(config: BatchConfig) -> tuple[Callable[[int], int], int, int]:
    """The size of an item by its length, the capacity of a bin, and the largest number of items in one."""
    if config.strategy == "pack":
        return lambda length: length, config.capacity, ANY
    return config.cost, config.budget, config.max_batch_size


def packs_of(config: BatchConfig, items: list[Item]) -> tuple[list[Row], int]:
    size, capacity, slots = sizes_of(config)
    classes: dict[int, list[Item]] = {}
    for item in items:
        classes.setdefault(size(item.length), []).append(item)
    sizes = sorted(classes, reverse=True)
    groups, bound = pack(sizes, [len(classes[own]) for own in sizes], capacity, slots, config.packing)
    queues = [iter(classes[own]) for own in sizes]
    packs = []
    for group in groups:
        for _ in range(group.bins):
            packs.append([item for k, each in reversed(group.content) for item in islice(queues[k], each)])
    return packs, bound


def divide(rows: list[Row], cost: Callable[[Row], int], world: int, each: int) -> list[list[Row]]:
    parts: list[list[Row]] = [[] for _ in range(world)]

    def load(rank: int) -> int:
        return sum(map(cost, parts[rank]))

    for row in rows:
        parts[min((rank for rank in range(world) if len(parts[rank]) < each), key=load)].append(row)
    for _ in range(EXCHANGES if each <= MOST_TO_EXCHANGE else 0):
        most, least = max(range(world), key=load), min(range(world), key=load)
        apart = load(most) - load(least)
        pairs = [
            (abs(apart - 2 * (cost(dear) - cost(cheap))), i, j)
            for i, dear in enumerate(parts[most])
            for j, cheap in enumerate(parts[least])
            if cost(dear) > cost(cheap)
        ]
        if not pairs or min(pairs)[0] >= apart:
            break
        _, i, j = min(pairs)
        parts[most][i], parts[least][j] = parts[least][j], parts[most][i]
    return parts
