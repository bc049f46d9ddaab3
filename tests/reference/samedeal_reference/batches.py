"""The batches of an epoch: section 9."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .base import MAX_U64, MAX_WINDOW, Failure, ceil_div, le, require, require_ranks, require_window
from .batch_config import BatchConfig
from .batch_index import Index, read_index, require_same
from .batch_items import Item, treat
from .batch_plan import Batch, Step, Window
from .batch_recipes import BatchRecipe
from .batch_results import Metrics, Run, ratio, require_ratio, run_of
from .batch_state import MAX_HISTORY, History, Segment, read, write
from .composed_base import Plain


@dataclass(frozen=True)
class BatchPlace:
    step: int
    rank: int
    row: int
    index_in_row: int
    start: int


@dataclass(frozen=True)
class BatchShape:
    rows: int
    padded_length: int
    batches: int


@dataclass(frozen=True)
class Planned:
    """The rest of a window."""

    steps: list[Step]
    metrics: Metrics


def is_last(left: int, width: int) -> bool:
    """Whether the next window takes all `left` positions."""
    return left < width + ceil_div(width, 2)


def windows_of(left: int, width: int) -> int:
    """The number of windows into which `left` positions are cut."""
    return 0 if left == 0 else 1 if is_last(left, width) else (left - ceil_div(width, 2)) // width + 1


def planned(config: BatchConfig, window: Window, taken: int = 0) -> Planned:
    metrics = Metrics(dropped=window.dropped, packs_bound=window.bound)
    metrics.add_steps(config, window.steps[taken:])
    return Planned(window.steps[taken:], metrics)


class Batcher:
    def __init__(
        self,
        recipe: BatchRecipe,
        epoch: int,
        consumed: int = 0,
        history: History = (),
        window: int = 0,
        checksum: int = 0,
    ) -> None:
        order = recipe.order
        if recipe.lengths is None or order is None:
            raise Failure("missing", "lengths", "")
        if not isinstance(order, Plain):
            order.require_epoch(epoch)
        self._recipe, self._order, self._lengths = recipe, order, recipe.lengths
        self._epoch, self._consumed, self._history, self._checksum = epoch, consumed, history, checksum
        self._positions = order.length(epoch)
        require(consumed <= self._positions, "consumed", consumed)
        over = consumed == self._positions and len(history) > 0
        require(not over, "history", f"of {len(history)} segments", "contradiction")
        self._config = recipe.config(epoch)
        self._index: Index | None = None
        self._known: dict[int, Planned] = {}
        self._width = window if history else self._config.width
        left = self._positions - consumed
        self._open_end = self._positions if is_last(left, self._width) else consumed + self._width

    # Windows, by their numbers. The open window has number 0.

    def num_windows(self) -> int:
        if self._consumed == self._positions:
            return 0
        return 1 + windows_of(self._positions - self._open_end, self._config.width)

    def _span(self, k: int) -> tuple[int, int]:
        """The first position of a window, and the end of the window."""
        if k == 0:
            return self._consumed, self._open_end
        start = self._open_end + (k - 1) * self._config.width
        return (start, self._positions if k == self.num_windows() - 1 else start + self._config.width)

    def _samples(self, k: int) -> list[int]:
        return [self._order.sample(self._epoch, position) for position in range(*self._span(k))]

    def _window(self, k: int) -> Planned:
        if k not in self._known:
            items = [Item(sample, 0, self._lengths[sample]) for sample in self._samples(k)]
            if k == 0 and self._history:
                found = checksum_of([item.length for item in items])
                require(found == self._checksum, "lengths", f"the checksum {found:016x}", "contradiction")
            if self._index is not None:
                found = checksum_of([item.length for item in items])
                told = self._index.checksums[len(self._index.steps) - self.num_windows() + k]
                require(found == told, "lengths", f"the checksum {found:016x}", "contradiction")
            self._known[k] = self._plan(items, self._span(k)[0], self._history if k == 0 else ())
        return self._known[k]

    def _plan(self, items: list[Item], index: int, history: History) -> Planned:
        long = Metrics()
        done = None
        for k, (world_size, steps, options) in enumerate(history):
            config = self._recipe.config(self._epoch, world_size, options)
            items, over = treat(config, items)
            long.add_long(config, over)
            window = Window(config, items, index)
            require(steps <= len(window.steps), "history", f"{steps} steps")
            if k == len(history) - 1 and (world_size, options) == self._here():
                done = planned(config, window, steps)
            taken = {item for step in window.steps[:steps] for batch in step for row in batch.rows for item in row}
            items = [] if steps == len(window.steps) else [item for item in items if item not in taken]
        if done is None:
            items, over = treat(self._config, items)
            long.add_long(self._config, over)
            done = planned(self._config, Window(self._config, items, index))
        if history:
            done.metrics.packs_bound = 0
        done.metrics.add(long)
        return done

    def _count(self, k: int) -> int:
        """The number of steps of a window."""
        if self._index is None or k in self._known:
            return len(self._window(k).steps)
        first = len(self._index.steps) - self.num_windows()
        taken = self._history[0].steps if k == 0 and self._history else 0
        return self._index.steps[first + k] - taken

    def _total(self, end: int | None = None) -> int:
        """The number of steps of the epoch. With `end`, the counting stops at the first windows with at least `end`
        steps."""
        total = 0
        for k in range(self.num_windows()):
            if end is not None and total >= end:
                break
            total += self._count(k)
        return total

    def _steps(self, start: int, count: int) -> list[Step]:
        steps: list[Step] = []
        begin = 0
        for k in range(self.num_windows()):
            if begin >= start + count:
                break
            end = begin + self._count(k)
            if end > start:
                steps += self._window(k).steps[max(0, start - begin) : start + count - begin]
            begin = end
        return steps

    def _all_steps(self) -> Iterator[Step]:
        for k in range(self.num_windows()):
            yield from self._window(k).steps

    # Operations of the interface.

    def epoch(self) -> int:
        return self._epoch

    def consumed(self) -> int:
        return self._consumed

    def at_epoch(self, epoch: int) -> Batcher:
        return Batcher(self._recipe, epoch)

    def num_steps(self) -> int:
        return self._total()

    def metrics(self) -> Metrics:
        metrics = Metrics()
        for k in range(self.num_windows()):
            metrics.add(self._window(k).metrics)
        return metrics

    def ratio(self, name: str) -> int:
        require_ratio(name)
        return ratio(self._config, self.metrics(), name)

    def take(self, rank: int, start: int, count: int) -> Run:
        require(rank < self._config.world_size, "rank", rank)
        require(count <= min(MAX_WINDOW, MAX_U64 - start), "count", count)
        require_window(start, count, self._total(start + count))
        return run_of(self._config, [step[rank] for step in self._steps(start, count)])

    def step(self, step: int, first: int, count: int) -> Run:
        require(step < self._total(step + 1), "step", step)
        require_ranks(first, count, self._config.world_size)
        return run_of(self._config, self._steps(step, 1)[0][first : first + count])

    def locate(self, sample: int) -> list[BatchPlace]:
        require(sample < len(self._lengths), "sample", sample)
        with_it = [k for k in range(self.num_windows()) if sample in self._samples(k)]
        places = []
        begin = 0
        for k in range(max(with_it, default=-1) + 1):
            for at, step in enumerate(self._window(k).steps if k in with_it else [], begin):
                for rank, batch in enumerate(step):
                    places += [BatchPlace(at, rank, *place) for place in places_of(batch, sample)]
            begin += self._count(k)
        return places

    def shapes(self, filled: bool) -> list[BatchShape]:
        found: Counter[tuple[int, int]] = Counter()
        for step in self._all_steps():
            for batch in step:
                width = self._config.padded_length([item.length for row in batch.rows for item in row])
                rows = max(len(batch.rows), self._config.full_rows(width) if filled else 0)
                found[rows, width] += 1
        return [BatchShape(*shape, batches) for shape, batches in sorted(found.items())]

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for step in self._all_steps():
            for batch in step:
                found.update(le(len(batch.rows), 8))
                for row in batch.rows:
                    found.update(le(len(row), 8))
                    for item in row:
                        found.update(le(item.sample, 8) + le(item.start, 8) + le(item.length, 8))
        return found.hexdigest()

    def index(self, first: int, count: int) -> str:
        require(self._consumed == 0 and not self._history, "consumed", self._consumed, "contradiction")
        require(first <= self.num_windows(), "first", first)
        require(count <= self.num_windows() - first, "count", count)
        metrics = Metrics()
        windows = [self._window(k) for k in range(first, first + count)]
        for window in windows:
            metrics.add(window.metrics)
        steps = [len(window.steps) for window in windows]
        checksums = [
            checksum_of([self._lengths[sample] for sample in self._samples(k)]) for k in range(first, first + count)
        ]
        head = self._recipe.recipe_fingerprint(), self._epoch, self.num_windows()
        return Index(*head, first, steps, checksums, metrics).text()

    def use_index(self, index: str) -> None:
        found = read_index(index)
        width = self._config.width
        windows = windows_of(self._positions, width)
        require_same(found, self._recipe.recipe_fingerprint(), self._epoch, windows)
        require(len(found.steps) == windows, "index", None, "contradiction")
        begins = self._consumed % width == 0 and self._consumed // width < windows
        own = all((past.world_size, past.options) == self._here() for past in self._history)
        own = own and (not self._history or self._width == min(width, 2**53 - 1))
        sound = (self._consumed == self._positions or begins) and len(self._history) < 2 and own
        require(sound, "consumed", self._consumed, "contradiction")
        if self._history and self._consumed < self._positions:
            steps = self._history[0].steps
            require(steps <= found.steps[self._consumed // width], "history", f"{steps} steps")
        self._index = found

    def _here(self) -> tuple[int, dict[str, object]]:
        return self._config.world_size, self._recipe.options

    def state(self, steps: int) -> str:
        require(steps <= self._total(steps), "steps", steps)
        consumed, history = self._consumed, self._history
        if steps:
            k, end = 0, self._count(0)
            while end < steps:
                k += 1
                end += self._count(k)
            consumed, history = (
                (self._span(k)[1], ()) if end == steps else self._within(k, steps - end + self._count(k))
            )
        k = next((k for k in range(self.num_windows()) if self._span(k)[0] == consumed), 0)
        window = 0 if not history else self._width if k == 0 and self._history else min(self._config.width, 2**53 - 1)
        if steps == 0 or not history:
            checksum = self._checksum if history else 0
        else:
            checksum = checksum_of([self._lengths[sample] for sample in self._samples(k)])
        return write(self._recipe, self._epoch, consumed, history, window, checksum)

    def _within(self, k: int, steps: int) -> tuple[int, History]:
        """`consumed` and the history after `steps` steps of a window."""
        history = self._history if k == 0 else ()
        if history and history[-1][::2] == self._here():
            history = (*history[:-1], history[-1]._replace(steps=history[-1].steps + steps))
        else:
            history = (*history, Segment(self._config.world_size, steps, self._recipe.options))
        require(len(history) <= MAX_HISTORY, "history", f"of {len(history)} segments")
        return self._span(k)[0], history

    def resume(self, state: str) -> Batcher:
        return Batcher(self._recipe, *read(state, self._recipe, replans=False))

    def replan(self, state: str) -> Batcher:
        return Batcher(self._recipe, *read(state, self._recipe, replans=True))


def checksum_of(lengths: list[int]) -> int:
    found = 0
    for length in lengths:
        found = (found + length + 1) * 0x9E3779B97F4A7C15 % 2**64
    return found


def places_of(batch: Batch, sample: int) -> list[tuple[int, int, int]]:
    """The row, the index in the row, and the start of each item of a sample."""
    return [
        (row, index, item.start)
        for row, items in enumerate(batch.rows)
        for index, item in enumerate(items)
        if item.sample == sample
    ]
