"""Plans of batches: section 9."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import chain, cycle, groupby, islice

from .base import (
    MAX_SAMPLES,
    Failure,
    ceil_div,
    le,
    millionths,
    require,
    require_ranks,
    require_window,
    shuffle,
    stream,
)
from .batch_config import BatchConfig
from .batch_items import Item, items_of
from .batch_recipes import BatchRecipe
from .batch_state import MAX_HISTORY, check_history, read, write
from .composed_base import Composed, Plain
from .orders import make_order, require_range
from .packing import ANY, pack

MAX_WAITING = 2**24
MAX_COST = 2**64 - 1
WIDTH = 64
EXCHANGES = 64
MAX_ITEMS = 2**32 - 2


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
    m, world = metrics, config.world_size
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


def count_long(config: BatchConfig, over: int, metrics: Metrics) -> None:
    """Counts samples of more than M tokens."""
    for name, field in (("truncate", "truncated"), ("drop", "too_long"), ("split", "split")):
        if config.too_long == name:
            setattr(metrics, field, getattr(metrics, field) + over)


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
        if config.strategy != "pad-to-max" and config.batch_window != 0:
            places = list(range(len(self.steps)))
            shuffle(places, stream("batch steps", config.seed, config.epoch, number))
            self.steps = [self.steps[place] for place in places]

    @property
    def _has_packs(self) -> bool:
        config = self.config
        budget = config.strategy == "budget" and config.batch_window != 0 and not config.counts_padding
        return config.strategy == "pack" or budget

    def _strategy(self, pool: list[Item]) -> list[Item]:
        config = self.config
        if self._has_packs:
            return self._packs(pool)
        if config.strategy == "pad-to-max":
            return self._consecutive(pool, config.most_rows)
        if config.strategy == "bucket":
            return self._buckets(pool)
        return self._as_they_come(pool) if config.batch_window == 0 else self._by_length(pool, config.rows)

    def _deal(self, rows: list[Row], repeated: int = 0, shared: bool = True) -> None:
        """The last `repeated` rows are repetitions. Items that do not share a row have rows of their own."""
        world = self.config.world_size
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
        full = rows * self.config.world_size
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
        while items and (full := rows(items[0].length) * self.config.world_size) <= len(items):
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
            if config.counts_padding and len(batch) > config.batch_size_multiple:
                keep = len(batch) - len(batch) % config.batch_size_multiple
                waiting += reversed(batch[keep:])
                batch = batch[:keep]
            batches.append(batch)
            batch = []
        given = len(batches) // config.world_size * config.world_size
        for at in range(0, given, config.world_size):
            self.steps.append([Batch([[item] for item in own]) for own in batches[at : at + config.world_size]])
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
            if config.tail == "even-split" and len(left) < config.world_size and self.steps:
                left = longest_first(left + self._spare(config.world_size - len(left)))
            elif config.tail == "even-split" and len(left) < config.world_size:
                left = longest_first(left)
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
        config, world = self.config, self.config.world_size
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
        world, tail = self.config.world_size, self.config.tail
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
    index_in_row: int
    start: int


def merged(history: list[dict[str, int]]) -> list[dict[str, int]]:
    taken = [past for past in history if past["steps"]]
    groups = groupby(taken, key=lambda past: past["world_size"])
    return [
        {"world_size": world_size, "steps": min(2**64 - 1, sum(past["steps"] for past in group))}
        for world_size, group in groups
    ]


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


def samples_of(order: Composed, epoch: int) -> list[int]:
    """Those of an epoch, of an order of samples."""
    if not isinstance(order, Plain):
        order.require_epoch(epoch)
    require(order.length(epoch) <= MAX_ITEMS, "samples", order.length(epoch))
    return order.epoch(epoch)


def items_of_samples(samples: list[int], items: list[Item]) -> list[Item]:
    """The items of samples in this order; `items` are those of the dataset."""
    of_sample: dict[int, list[Item]] = {}
    for item in items:
        of_sample.setdefault(item.sample, []).append(item)
    # A sample that comes again has other items.
    queue = [replace(item) for sample in samples for item in of_sample.get(sample, [])]
    require(len(queue) <= MAX_ITEMS, "samples", len(queue))
    return queue


class Batcher:
    def __init__(self, recipe: BatchRecipe, epoch: int, history: list[dict[str, int]]) -> None:
        config = recipe.config
        if config.lengths is None:
            raise Failure("missing", "lengths", "")
        check_history(history)
        self._recipe, self._epoch, self._history = recipe, epoch, merged(history)
        full = len(self._history) == MAX_HISTORY and self._history[-1]["world_size"] != config.world_size
        require(not full, "history", f"of {MAX_HISTORY} segments")
        self._metrics = Metrics()
        items, over = items_of(config, range(len(config.lengths)), config.lengths)
        # The default window and the boundaries of buckets follow from the items of the dataset.
        self._lengths = [item.length for item in items]
        self._given = replace(config.settled(self._lengths), epoch=epoch)
        self._config = self._given.with_window(self._lengths)
        if recipe.order:
            samples = samples_of(recipe.order, epoch)
            queue = items_of_samples(samples, items)
            over = sum(config.lengths[sample] > config.longest for sample in samples)
        else:
            require_range(config.order, len(items), config.seed)
            order = make_order(config.order, len(items), config.seed, epoch)
            queue = [items[order.sample(p)] for p in range(len(items))]
        count_long(config, over, self._metrics)
        self._plan(queue)

    def _plan(self, row: list[Item]) -> None:
        """The plans of the segments of the history, one after the other, and of this world size."""
        config = self._config
        past = [(each["world_size"], each["steps"]) for each in self._history]
        first = 0
        for k, (world_size, steps) in enumerate(past):
            planned, _ = plan(replace(self._given, world_size=world_size).with_window(self._lengths), row)
            require(steps <= len(planned), "history", f"{min(steps, 2**64 - 1)} steps")
            if k == len(past) - 1 and world_size == config.world_size:
                first = steps
                break
            taken = {id(item) for batch in chain.from_iterable(planned[:steps]) for r in batch.rows for item in r}
            row = [] if steps == len(planned) else [item for item in row if id(item) not in taken]
        steps, self._metrics = plan(config, row, first, self._metrics)
        self._steps = steps[first:]

    def epoch(self) -> int:
        return self._epoch

    def history(self) -> list[dict[str, int]]:
        return self._history

    def at_epoch(self, epoch: int) -> Batcher:
        return Batcher(self._recipe, epoch, [])

    def metrics(self) -> Metrics:
        return self._metrics

    def ratio(self, name: str) -> int:
        return ratio(self._config, self._metrics, name)

    def take(self, rank: int, start: int, count: int) -> Run:
        require(rank < self._config.world_size, "rank", rank)
        require_window(start, count, len(self._steps))
        return run_of(self._config, [step[rank] for step in self._steps[start : start + count]])

    def step(self, step: int, first: int, count: int) -> Run:
        require(step < len(self._steps), "step", step)
        require_ranks(first, count, self._config.world_size)
        return run_of(self._config, self._steps[step][first : first + count])

    def locate(self, sample: int) -> list[BatchPlace]:
        require(sample < len(self._given.lengths or []), "sample", sample)
        return [
            BatchPlace(at, rank, row, index, item.start)
            for at, step in enumerate(self._steps)
            for rank, batch in enumerate(step)
            for row, items in enumerate(batch.rows)
            for index, item in enumerate(items)
            if item.sample == sample
        ]

    def state(self, steps: int) -> str:
        require(steps <= len(self._steps), "steps", steps)
        history = [dict(past) for past in self._history]
        if history and history[-1]["world_size"] == self._config.world_size:
            history[-1]["steps"] += steps
        elif steps:
            history.append({"world_size": self._config.world_size, "steps": steps})
        return write(self._recipe.parts, self._epoch, history)

    def resume(self, state: str) -> Batcher:
        epoch, history = read(state, self._recipe.parts, self._recipe.order)
        return Batcher(self._recipe, epoch, history)

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for batch in chain.from_iterable(self._steps):
            found.update(le(len(batch.rows), 8))
            for row in batch.rows:
                found.update(le(len(row), 8))
                for item in row:
                    found.update(le(item.sample, 8) + le(item.start, 8) + le(item.length, 8))
        return found.hexdigest()


class BatchStream:
    def __init__(self, recipe: BatchRecipe, epoch: int, rank: int) -> None:
        buckets = recipe.config.buckets or {"bucket_width": WIDTH}
        config = replace(recipe.config, epoch=epoch, buckets=buckets)
        assert config.buckets
        require("quantiles" not in config.buckets, "quantiles", config.buckets.get("quantiles"), "contradiction")
        require((config.batch_window or 0) <= MAX_WAITING, "batch-window", config.batch_window)
        require(rank < config.world_size, "rank", rank)
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
        items, over = items_of(self._config, samples, lengths)
        self._waiting += items
        count_long(self._config, over, self._metrics)

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
