"""Plans of batches: section 9."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from itertools import accumulate, chain, cycle, groupby, islice
from typing import Any

from .base import MAX_SAMPLES, MAX_WINDOW, Failure, ceil_div, le, millionths, require, require_window, shuffle, stream
from .orders import make_order, require_name, require_range
from .packing import ANY, pack
from .state import Identity, read_state, write_state

MAX_WORLD = 2**20
MAX_WAITING = 2**24
MAX_COST = 2**64 - 1
PIECE = 8192
STEPS_OF_A_WINDOW = 64
BUCKETS = 64
WIDTH = 64
MAX_HISTORY = 64
EXCHANGES = 64


@dataclass(frozen=True)
class BatchConfig:
    lengths: list[int]
    seed: int
    epoch: int
    order: str
    world: int
    strategy: str
    max_batch_size: int
    max_length: int
    budget: int
    counting: str
    linear: int
    quadratic: int
    multiple: int
    capacity: int
    packing: str
    buckets: dict[str, Any] | None
    window: int | None
    too_long: str
    tail: str
    history: list[dict[str, int]]

    def check(self) -> None:
        require_name(self.order)
        require(0 < self.world <= MAX_WORLD, "world", self.world)
        has_budget = self.strategy == "budget" or (self.strategy == "bucket" and self.budget > 0)
        require(self.max_batch_size > 0 or has_budget, "max-batch-size", 0)
        require(self.budget > 0 or self.strategy != "budget", "budget", 0)
        require(self.capacity > 0 or self.strategy != "pack", "capacity", 0)
        require(self.multiple > 0, "multiple", 0)
        ((kind, value),) = (self.buckets or {None: None}).items()
        if kind is None:
            pass
        elif kind == "bucket_width":
            require(value > 0, "bucket-width", value)
        elif kind == "boundaries":
            require(value == sorted(set(value)), "boundaries", None, "contradiction")
        else:
            require(0 < value <= MAX_WINDOW, "quantiles", value)
        require(len(self.history) <= MAX_HISTORY, "history", f"of {len(self.history)} worlds")
        for past in self.history:
            require(0 < past["world"] <= MAX_WORLD, "history", f"world {past['world']}")

    def width_after(self, left: int) -> int:
        """How many items a window takes where the one before left so many."""
        return self.width * max(1, ceil_div(left, 8 * self.width))

    @property
    def width(self) -> int:
        return PIECE if self.strategy == "pad-to-max" or not self.window else self.window

    def with_window(self, items: list[Item]) -> BatchConfig:
        """The same with the window that is the default."""
        if self.window is not None:
            return self
        lengths = [item.length for item in items]
        if self.strategy == "pack":
            each = len(items) * self.most_rows * self.capacity // max(1, sum(lengths))
        elif self.budget == 0 or self.strategy == "pad-to-max":
            each = self.most_rows
        else:
            total = sum(min(self.budget, self.cost(length)) for length in lengths)
            each = min(self.most_rows, len(items) * self.budget // max(1, total))
        return replace(self, window=min(2**32 - 1, max(PIECE, STEPS_OF_A_WINDOW * self.world * max(1, each))))

    @property
    def counts_padding(self) -> bool:
        return self.counting == "padded" and self.strategy != "pack"

    @property
    def most_rows(self) -> int:
        """Z."""
        return self.max_batch_size or 2**32 - 1

    def cost(self, length: int) -> int:
        return self.linear * length + self.quadratic * length**2 if self.counting == "weighted" else length

    @property
    def longest(self) -> int:
        """M."""
        if self.strategy == "pack":
            return min(self.max_length, self.capacity)
        if self.strategy == "pad-to-max" or self.budget == 0:
            return self.max_length
        low, high = 0, 2**32 - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.cost(middle) <= self.budget else (low, middle - 1)
        return min(self.max_length, low)

    def rows(self, length: int) -> int:
        rows = self.most_rows
        if self.budget:
            rows = max(1, min(rows, self.budget // max(1, self.cost(length))))
        return rows - rows % self.multiple if rows > self.multiple else rows

    def settled(self, lengths: list[int]) -> BatchConfig:
        """The same with boundaries in the place of quantiles."""
        if self.strategy != "bucket" or (self.buckets and "quantiles" not in self.buckets):
            return self
        a, n = sorted(lengths), len(lengths)
        if self.buckets is None:
            sums = list(accumulate(a))
            least = [bisect_left(sums, ceil_div(b * sums[-1], BUCKETS)) for b in range(1, BUCKETS + 1)] if a else []
            return replace(self, buckets={"boundaries": sorted({a[k] for k in least})})
        q = self.buckets["quantiles"]
        found = {a[max(1, ceil_div(b * n, q)) - 1] for b in range(1, q + 1)} if a else set()
        return replace(self, buckets={"boundaries": sorted(found)})

    def bucket(self, length: int) -> int:
        assert self.buckets
        if "bucket_width" in self.buckets:
            return max(1, ceil_div(length, self.buckets["bucket_width"]))
        return sum(end < length for end in self.buckets["boundaries"])

    def bucket_rows(self, length: int) -> int:
        assert self.buckets
        bucket = self.bucket(length)
        if "bucket_width" in self.buckets:
            return self.rows(min(bucket * self.buckets["bucket_width"], self.longest))
        ends = self.buckets["boundaries"]
        return self.rows(min(ends[bucket], self.longest) if bucket < len(ends) else self.longest)


@dataclass(frozen=True)
class Item:
    sample: int
    start: int
    length: int


Row = list[Item]


@dataclass
class Batch:
    rows: list[Row]
    repeated: int = 0


Step = list[Batch]


@dataclass
class Metrics:
    steps: int = 0
    items: int = 0
    rows: int = 0
    tokens: int = 0
    padded: int = 0
    slowest: int = 0
    cost: int = 0
    slowest_cost: int = 0
    packs_bound: int = 0
    over_budget: int = 0
    empty: int = 0
    repeated: int = 0
    dropped: int = 0
    truncated: int = 0
    too_long: int = 0
    split: int = 0


@dataclass
class Run:
    samples: list[int]
    starts: list[int]
    lengths: list[int]
    row_ends: list[int]
    batch_ends: list[int]
    padded_lengths: list[int]
    costs: list[int]
    repeated: list[int]


def ratio(config: BatchConfig, metrics: Metrics, name: str) -> int:
    m, world = metrics, config.world
    packs = config.strategy == "pack"
    budget = config.max_batch_size * config.capacity if packs else config.budget
    used = m.cost if config.counting == "weighted" and not packs else m.tokens
    ratios = {
        "padding": (m.padded - m.tokens, m.padded),
        "budget-utilisation": (used, budget * m.steps * world),
        "slowest-rank-utilisation": (m.tokens, world * m.slowest),
        "cost-imbalance": (world * m.slowest_cost, m.cost),
    }
    require(name in ratios, "ratio", name, "unknown-name")
    part, of = ratios[name]
    return millionths(part, of) if of > 0 else 10**6 * (name != "padding")


def items_of(config: BatchConfig, samples: Iterable[int], lengths: list[int], metrics: Metrics) -> list[Item]:
    most = config.longest
    over = sum(length > most for length in lengths)
    if over:
        require(config.too_long != "error", "lengths", None)
        if config.too_long in ("truncate", "split"):
            require(config.max_length > 0, "max-length", 0)
            require(most > 0, "budget", config.budget)
        if config.too_long == "split":
            parts = sum(max(1, ceil_div(length, most)) for length in lengths)
            require(parts < 2**32 - 1, "max-length", config.max_length)
    items: list[Item] = []
    for sample, length in zip(samples, lengths, strict=True):
        if length <= most or config.too_long == "single":
            items.append(Item(sample, 0, length))
        elif config.too_long == "truncate":
            items.append(Item(sample, 0, most))
        elif config.too_long == "split":
            items += [Item(sample, start, min(most, length - start)) for start in range(0, length, most)]
    for name, field in (("truncate", "truncated"), ("drop", "too_long"), ("split", "split")):
        if config.too_long == name:
            setattr(metrics, field, getattr(metrics, field) + over)
    return items


def longest_first(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: -item.length)


class Window:
    """The steps of a window, and what it leaves."""

    def __init__(self, config: BatchConfig, pool: list[Item], number: int, last: bool) -> None:
        self.config, self.last = config, last
        self.steps: list[Step] = []
        self.dropped = self.bound = 0
        alone: list[Item] = []
        if config.too_long == "single":
            alone = [item for item in pool if item.length > config.longest]
            pool = [item for item in pool if item.length <= config.longest]
        self.left = self._strategy(pool)
        if last:
            if not self._has_packs:
                self._tail(self.left)
            self.left = []
        self._singles(alone)
        if config.strategy != "pad-to-max" and config.window != 0:
            places = list(range(len(self.steps)))
            shuffle(places, stream("batch steps", config.seed, config.epoch, number))
            self.steps = [self.steps[place] for place in places]

    @property
    def _has_packs(self) -> bool:
        config = self.config
        budget = config.strategy == "budget" and config.window != 0 and not config.counts_padding
        return config.strategy == "pack" or budget

    def _strategy(self, pool: list[Item]) -> list[Item]:
        config = self.config
        if self._has_packs:
            return self._packs(pool)
        if config.strategy == "pad-to-max":
            return self._consecutive(pool, config.most_rows)
        if config.strategy == "bucket":
            return self._buckets(pool)
        return self._as_they_come(pool) if config.window == 0 else self._by_length(pool, config.rows)

    def _deal(self, rows: list[Row], repeated: int = 0, shared: bool = True) -> None:
        """The last `repeated` rows are repetitions. Items that do not share a row have rows of their own."""
        world = self.config.world
        step = []
        for rank in range(world):
            own = rows[rank::world]
            again = [row for place, row in enumerate(rows) if place % world == rank and place >= len(rows) - repeated]
            if shared:
                step.append(Batch(own, len(again)))
            else:
                step.append(Batch([[item] for row in own for item in row], sum(map(len, again))))
        self.steps.append(step)

    def _deal_items(self, items: list[Item], repeated: int = 0) -> None:
        self._deal([[item] for item in items], repeated)

    def _consecutive(self, items: list[Item], rows: int) -> list[Item]:
        full = rows * self.config.world
        given = len(items) // full * full
        for at in range(0, given, full):
            self._deal_items(items[at : at + full])
        return items[given:]

    def _buckets(self, pool: list[Item]) -> list[Item]:
        config = self.config
        places: dict[int, list[int]] = {}
        for place, item in enumerate(pool):
            places.setdefault(config.bucket(item.length), []).append(place)
        left: list[int] = []
        for _, own in sorted(places.items()):
            rest = self._consecutive([pool[place] for place in own], config.bucket_rows(pool[own[0]].length))
            left += own[len(own) - len(rest) :]
        return [pool[place] for place in sorted(left)]

    def _by_length(self, pool: list[Item], rows: Callable[[int], int]) -> list[Item]:
        items = longest_first(pool)
        while items and (full := rows(items[0].length) * self.config.world) <= len(items):
            self._deal_items(items[:full])
            items = items[full:]
        return items

    def _as_they_come(self, pool: list[Item]) -> list[Item]:
        config = self.config
        batches: list[list[Item]] = []
        batch: list[Item] = []
        waiting = list(reversed(pool))
        while waiting or (self.last and batch):
            if waiting:
                held = [*batch, waiting[-1]]
                if config.counts_padding:
                    over = len(held) > config.rows(max(item.length for item in held))
                else:
                    cost = sum(config.cost(item.length) for item in held)
                    over = cost > config.budget or len(held) > config.most_rows
                if not batch or not over:
                    batch.append(waiting.pop())
                    continue
            if config.counts_padding and len(batch) > config.multiple:
                keep = len(batch) - len(batch) % config.multiple
                waiting += reversed(batch[keep:])
                batch = batch[:keep]
            batches.append(batch)
            batch = []
        given = len(batches) // config.world * config.world
        for at in range(0, given, config.world):
            self.steps.append([Batch([[item] for item in own]) for own in batches[at : at + config.world]])
        return [item for own in batches[given:] for item in own] + batch

    def _tail(self, items: list[Item]) -> None:
        config = self.config
        rows = {"budget": config.rows, "bucket": config.bucket_rows, "pad-to-max": lambda _: config.most_rows}
        left = self._by_length(items, rows[config.strategy])
        if not left:
            return
        if config.tail == "drop":
            self.dropped += len(left)
        elif config.tail == "duplicate":
            self._filled(left)
        else:
            if config.tail == "even-split" and len(left) < config.world and self.steps:
                left = longest_first(left + self._spare(config.world - len(left)))
            elif config.tail == "even-split" and len(left) < config.world:
                left = longest_first(left)
            self._deal_items(left)

    def _filled(self, items: list[Item]) -> None:
        more = -len(items) % self.config.world
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

    def _singles(self, alone: list[Item]) -> None:
        config = self.config
        rest = self._consecutive(alone, 1)
        if not self.last:
            self.left = self.left + rest
        elif rest and config.tail == "drop":
            self.dropped += len(rest)
        elif rest and config.tail == "duplicate":
            self._filled(rest)
        elif rest:
            self._deal_items(rest)

    def _packs(self, pool: list[Item]) -> list[Item]:
        config, world = self.config, self.config.world
        shared = config.strategy == "pack"
        packs, bound = packs_of(config, pool)
        each = config.most_rows if shared else 1
        full = each * world
        given = len(packs) // full * full
        rest = len(packs) - given
        end = self.last and rest > 0 and config.tail != "drop"
        if end and config.tail == "even-split" and rest < world:
            given = max(0, given - full)

        def cost(row: Row) -> int:
            return sum(config.cost(item.length) for item in row)

        dearest = sorted(packs[:given], key=lambda row: -cost(row))
        for at in range(0, given, full):
            parts = divide(dearest[at : at + full], cost, world, each)
            rows = [part if shared else [[item] for row in part for item in row] for part in parts]
            self.steps.append([Batch(own) for own in rows])
        self.bound = bound if end else max(0, bound - rest)
        left = packs[given:]
        if end:
            self._last_packs(left, full, shared)
            return []
        items = [item for row in left for item in row]
        if self.last:
            self.dropped += len(items)
        return items

    def _last_packs(self, rows: list[Row], full: int, shared: bool) -> None:
        world, tail = self.config.world, self.config.tail
        wanted = ceil_div(len(rows), full) * world if tail == "even-split" else 0
        rows = list(rows)
        while len(rows) < wanted:
            most = max(range(len(rows)), key=lambda row: len(rows[row]))
            items = rows[most]
            if len(items) < 2:
                break
            half = ceil_div(len(items), 2)
            rows[most] = items[:half]
            rows.append(items[half:])
        many = ceil_div(len(rows), full)
        for i in range(many):
            part = rows[len(rows) * i // many : len(rows) * (i + 1) // many]
            more = -len(part) % world if tail == "duplicate" else 0
            self._deal([*part, *islice(cycle(part), more)], more, shared)


def packs_of(config: BatchConfig, pool: list[Item]) -> tuple[list[Row], int]:
    shared = config.strategy == "pack"
    capacity, slots = (config.capacity, ANY) if shared else (config.budget, config.most_rows)
    classes: dict[int, list[Item]] = {}
    for item in pool:
        classes.setdefault(item.length if shared else config.cost(item.length), []).append(item)
    sizes = sorted(classes, reverse=True)
    groups, bound = pack(sizes, [len(classes[size]) for size in sizes], capacity, slots, config.packing)
    queues = [iter(classes[size]) for size in sizes]
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
    for _ in range(EXCHANGES if each <= 64 else 0):
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


def weigh(config: BatchConfig, batch: Batch) -> tuple[int, int]:
    """The padded length and the cost."""
    lengths = [item.length for row in batch.rows for item in row]
    width = max([*lengths, config.capacity if config.strategy == "pack" else 0])
    if config.counts_padding:
        return width, min(MAX_COST, len(batch.rows) * width)
    return width, min(MAX_COST, sum(map(config.cost, lengths)))


def add(metrics: Metrics, config: BatchConfig, window: Window, first: int = 0) -> None:
    metrics.dropped += window.dropped
    metrics.packs_bound += window.bound
    for step in window.steps[first:]:
        weights = [weigh(config, batch) for batch in step]
        padded = [len(batch.rows) * width for batch, (width, _) in zip(step, weights, strict=True)]
        costs = [cost for _, cost in weights]
        items = [item for batch in step for row in batch.rows for item in row]
        metrics.steps += 1
        metrics.items += len(items)
        metrics.rows += sum(len(batch.rows) for batch in step)
        metrics.tokens += sum(item.length for item in items)
        metrics.padded += sum(padded)
        metrics.slowest += max(padded)
        metrics.cost = min(MAX_COST, metrics.cost + sum(costs))
        metrics.slowest_cost = min(MAX_COST, metrics.slowest_cost + max(costs))
        metrics.over_budget += sum(0 < config.budget < cost for cost in costs)
        metrics.empty += sum(not batch.rows for batch in step)
        repeated = [batch.rows[len(batch.rows) - batch.repeated :] for batch in step]
        metrics.repeated += sum(len(row) for rows in repeated for row in rows)


def run_of(config: BatchConfig, batches: list[Batch]) -> Run:
    run = Run(*([] for _ in fields(Run)))
    for batch in batches:
        for row in batch.rows:
            run.samples += [item.sample for item in row]
            run.starts += [item.start for item in row]
            run.lengths += [item.length for item in row]
            run.row_ends.append(len(run.samples))
        width, cost = weigh(config, batch)
        run.batch_ends.append(len(run.row_ends))
        run.padded_lengths.append(width)
        run.costs.append(cost)
        run.repeated.append(batch.repeated)
    return run


@dataclass(frozen=True)
class BatchPlace:
    step: int
    rank: int
    row: int
    slot: int
    start: int


def u32s(numbers: list[int]) -> bytes:
    return b"".join(le(number, 4) for number in numbers)


def listed(numbers: list[int]) -> bytes:
    return le(len(numbers), 8) + u32s(numbers)


def merged(history: list[dict[str, int]]) -> list[dict[str, int]]:
    taken = [past for past in history if past["steps"]]
    worlds = groupby(taken, key=lambda past: past["world"])
    return [{"world": world, "steps": sum(past["steps"] for past in group)} for world, group in worlds]


def plan(
    config: BatchConfig, row: list[Item], first: int = 0, metrics: Metrics | None = None
) -> tuple[list[Step], Metrics]:
    """The steps of items in a row, and what those from the first one on amount to."""
    metrics = metrics or Metrics()
    steps: list[Step] = []
    left: list[Item] = []
    end = k = 0
    while k == 0 or end < len(row):
        start, end = end, end + config.width_after(len(left))
        window = Window(config, left + row[start:end], k, end >= len(row))
        k += 1
        add(metrics, config, window, max(0, first - len(steps)))
        steps += window.steps
        left = window.left
    if first:
        metrics.packs_bound = 0
    return steps, metrics


class Batcher:
    def __init__(self, config: BatchConfig) -> None:
        config.check()
        config = replace(config, history=merged(config.history))
        self._counted = Metrics()
        self._items = items_of(config, range(len(config.lengths)), config.lengths, self._counted)
        require_range(config.order, len(self._items), config.seed)
        require(config.order != "sharded", "sharding", "", "missing")
        self._given = config.settled([item.length for item in self._items])
        self._config = self._given.with_window(self._items)
        self._samples = len(config.lengths)
        self._plan()

    def _plan(self) -> None:
        """The plans of the worlds of the history, one after the other, and of this one."""
        config, items = self._config, self._items
        order = make_order(config.order, len(items), config.seed, config.epoch)
        row = [items[order.sample(p)] for p in range(len(items))]
        past = [(each["world"], each["steps"]) for each in config.history]
        first = 0
        for k, (world, steps) in enumerate(past):
            planned, _ = plan(replace(config, world=world, window=self._given.window).with_window(items), row)
            require(steps <= len(planned), "history", f"{min(steps, 2**64 - 1)} steps")
            if k == len(past) - 1 and world == config.world:
                first = steps
                break
            taken = {id(item) for batch in chain.from_iterable(planned[:steps]) for r in batch.rows for item in r}
            row = [] if steps == len(planned) else [item for item in row if id(item) not in taken]
        steps, self._metrics = plan(config, row, first, replace(self._counted))
        self._steps = steps[first:]

    def set_epoch(self, epoch: int) -> None:
        if epoch != self._config.epoch:
            self._config = replace(self._config, epoch=epoch, history=[])
            self._plan()

    def metrics(self) -> Metrics:
        return self._metrics

    def ratio(self, name: str) -> int:
        return ratio(self._config, self._metrics, name)

    def take(self, rank: int, start: int, count: int) -> Run:
        require(rank < self._config.world, "rank", rank)
        require_window(start, count, len(self._steps))
        return run_of(self._config, [step[rank] for step in self._steps[start : start + count]])

    def locate(self, sample: int) -> list[BatchPlace]:
        require(sample < self._samples, "sample", sample)
        return [
            BatchPlace(at, rank, row, slot, item.start)
            for at, step in enumerate(self._steps)
            for rank, batch in enumerate(step)
            for row, items in enumerate(batch.rows)
            for slot, item in enumerate(items)
            if item.sample == sample
        ]

    def state(self, taken: int) -> str:
        left = len(self._steps)
        require(taken <= left, "taken", taken)
        history = [dict(past) for past in self._config.history]
        if history and history[-1]["world"] == self._config.world:
            history[-1]["steps"] += taken
        elif taken:
            history.append({"world": self._config.world, "steps": taken})
        require(len(history) <= MAX_HISTORY, "history", f"of {len(history)} worlds")
        own = {"strategy": self._config.strategy, "history": history}
        return write_state("batcher", self._identity(), self._config.epoch, own)

    def resume(self, state: str) -> None:
        fields = read_state(state, "batcher", self._identity(), "config")
        before = self._config
        self._config = replace(before, epoch=fields["epoch"], history=fields["history"])
        try:
            self._config.check()
            self._config = replace(self._config, history=merged(fields["history"]))
            self._plan()
        except Failure:
            self._config = before
            self._plan()
            raise

    def _identity(self) -> Identity:
        c = self._config
        unpadded = c.strategy == "budget" and c.counting != "padded"
        choices = (
            ("pad-to-max", "bucket", "budget", "pack").index(c.strategy),
            ("padded", "unpadded", "weighted").index(c.counting),
            ("fast", "optimal").index(c.packing) if c.strategy == "pack" or unpadded else 0,
            ("error", "truncate", "drop", "split", "single").index(c.too_long),
            ("drop", "keep", "even-split", "duplicate").index(c.tail),
        )
        by_budget = c.strategy in ("budget", "bucket")
        costs = {"padded": (0, 0), "unpadded": (1, 0), "weighted": (c.linear, c.quadratic)}[c.counting]
        text = b"samedeal batches 1\0" + c.order.encode("ascii") + bytes([0, *choices])
        multiple, capacity = (c.multiple if by_budget else 0), (c.capacity if c.strategy == "pack" else 0)
        follows = self._given.window is None and c.strategy != "pad-to-max"
        window = 0 if c.strategy == "pad-to-max" or follows else c.window
        text += le(c.seed, 8) + le(c.budget if by_budget else 0, 8)
        most = 0 if c.max_batch_size == 2**32 - 1 else c.max_batch_size
        text += u32s([most, c.max_length, *costs, multiple, capacity, window])
        ((kind, value),) = c.buckets.items() if c.strategy == "bucket" and c.buckets else [("bucket_width", 0)]
        text += listed(value) if kind == "boundaries" else u32s([value])
        text += listed([item.length for item in self._items])
        if len(self._items) != self._samples:
            text += b"".join(u32s([item.sample, item.start]) for item in self._items)
        text += b"\1" if follows else b""
        return Identity(c.order, self._samples, c.seed, hashlib.sha256(text).hexdigest(), c.strategy)

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for batch in chain.from_iterable(self._steps):
            items = [item for row in batch.rows for item in row]
            found.update(le(len(items), 8))
            for item in items:
                found.update(le(item.sample, 8) + le(item.start, 8))
        return found.hexdigest()


class BatchStream:
    def __init__(self, config: BatchConfig, rank: int) -> None:
        config.check()
        config = replace(config, buckets=config.buckets or {"bucket_width": WIDTH})
        assert config.buckets
        require("quantiles" not in config.buckets, "quantiles", config.buckets.get("quantiles"), "contradiction")
        require(not config.history, "history", f"of {len(config.history)} worlds", "contradiction")
        require((config.window or 0) <= MAX_WAITING, "window", config.window)
        require(rank < config.world, "rank", rank)
        self._config, self._rank = config, rank
        self._metrics = Metrics()
        self._left: list[Item] = []
        self._waiting: list[Item] = []
        self._windows = 0
        self._ended = self._done = False

    def push(self, samples: list[int], lengths: list[int]) -> None:
        require(len(samples) == len(lengths), "lengths", None, "contradiction")
        require(all(sample <= MAX_SAMPLES for sample in samples), "samples", None)
        require(not self._ended, "samples", None, "contradiction")
        self._waiting += items_of(self._config, samples, lengths, self._metrics)

    def flush(self) -> None:
        self._ended = True

    def take(self) -> Run | None:
        while not self._done:
            width = self._config.width_after(len(self._left))
            if not self._ended and len(self._waiting) <= width:
                break
            self._done = len(self._waiting) <= width
            window = Window(self._config, self._left + self._waiting[:width], self._windows, self._done)
            add(self._metrics, self._config, window)
            self._left, self._waiting = window.left, self._waiting[width:]
            self._windows += 1
            if window.steps:
                return run_of(self._config, [step[self._rank] for step in window.steps])
        return None

    def metrics(self) -> Metrics:
        return replace(self._metrics)

    def ratio(self, name: str) -> int:
        return ratio(self._config, self._metrics, name)
