"""Reads that take several calls of an instance. Each is one function: no caller moves the sampler during it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..engine import arguments as check
from ..engine.errors import IndexOutOfRangeError, MovedError, OutOfMemoryError, OutOfRangeError
from ..engine.instance import Engine
from .binding import Deal, Where, max_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..generated.types import NamedList

WINDOW = 2**16
"""How many indices are read at a time: half a megabyte, so that they are still in the cache of the processor."""

ITERATION_WINDOW = 2**13
"""How many indices iteration reads at a time: fewer than `WINDOW`, so that the first one comes soon."""

FIRST_WINDOW = 2**9
"""How many indices are read for the first batches of a pass: few, so that the first batch comes soon."""

MOST_RANKS = 2**25
"""The most ranks whose batches are read at once, since each batch is an array."""

SPARSE = 256
"""With a step above this one, a slice is read index by index: a call costs as much as some hundred indices in a
window."""


def indices(deal: Deal, start: SupportsIndex, stop: SupportsIndex | None) -> NDArray[np.int64]:
    """A run of this rank's samples."""
    return _read(deal, *check.run(start, stop, deal.num_samples()))


def step(deal: Deal, number: int, batch_size: int, drop_last: bool) -> list[NDArray[np.int64]]:
    """The batch of every rank at step `number`."""
    import numpy as np

    world_size = deal.world_size()
    if world_size > MOST_RANKS:
        raise OutOfMemoryError("world_size", str(world_size), f"up to {MOST_RANKS} ranks; ask a rank for its batch")
    # If `batch_size` is 0, the component raises the error, in the call of `deal.step` below.
    window = max(1, max_count() // max(1, batch_size))
    found: list[NDArray[np.int64]] = []
    while len(found) < world_size:
        count = min(window, world_size - len(found))
        samples, counts = deal.step(number, batch_size, drop_last, len(found), count)
        found += np.split(check.indices(samples), np.cumsum(counts)[:-1])
    return found


def item(deal: Deal, number: int) -> int:
    """One sample; negative numbers count from the end."""
    end = deal.num_samples()
    if not -end <= number < end:
        raise IndexOutOfRangeError("index", check.shown(number), f"{-end} to {end - 1}" if end else "none")
    return int(deal.indices(number % end, 1)[0])


def part(deal: Deal, at: slice) -> NDArray[np.int64]:
    """A slice of this rank's samples, like that of a list. The step is not 0."""
    run = range(*at.indices(deal.num_samples()))
    if run.step == 1:
        return _read(deal, run.start, max(run.start, run.stop))
    backwards = run.step < 0
    if backwards:
        run = run[::-1]
    out = _empty(len(run))
    if run.step > SPARSE:
        for i, number in enumerate(run):
            out[i] = deal.indices(number, 1)[0]
    else:
        per_window = WINDOW // run.step
        for i in range(0, len(run), per_window):
            window = run[i : i + per_window]
            out[i : i + len(window)] = _read(deal, window[0], window[-1] + 1)[:: run.step]
    return out[::-1].copy() if backwards else out


def whole_slice(at: slice) -> slice:
    """The slice with whole numbers as `int`. Raises an error for other values, and for a step of 0."""
    named = zip(("start", "stop", "step"), (at.start, at.stop, at.step), strict=True)
    start, stop, step = (None if part is None else check.whole(name, part) for name, part in named)
    if step == 0:
        raise OutOfRangeError("step", "0", "any other whole number")
    return slice(start, stop, step)


def source_counts(deal: Deal, start: Any, end: Any) -> tuple[NamedList, ...]:
    """The counts of each source in a run of positions."""
    first, last = check.run(start, end, deal.epoch_length(), "end")
    return deal.source_counts(first, last - first)


class Pass:
    """One pass over the samples of a rank, bound to the epoch, rest and rank that it begins with."""

    def __init__(
        self, engine: Engine[Deal, Where], batch_size: int = 1, drop_last: bool = False, start: int = 0
    ) -> None:
        self._engine = engine
        self._size = batch_size
        self._config, self._end = engine.use(_extent, batch_size, drop_last, start)
        self._start = start * batch_size

    def has_moved(self) -> bool:
        """Whether the sampler is at another place now."""
        return self._config is not self._engine.config

    def values(self) -> Iterator[int]:
        """The samples one by one."""
        engine, config = self._engine, self._config
        for window in self._windows(ITERATION_WINDOW):
            for value in window.tolist():
                if engine.config is not config:
                    _stay(config, engine.config)
                yield value

    def batches(self) -> Iterator[NDArray[np.int64]]:
        """The samples batch by batch."""
        # Imported here, since the module needs NumPy.
        from ..engine.indices import Indices

        engine, config, size = self._engine, self._config, self._size
        for window in self._windows(*(max(window // size, 1) * size for window in (FIRST_WINDOW, WINDOW))):
            for at in range(0, len(window), size):
                if engine.config is not config:
                    _stay(config, engine.config)
                yield window[at : at + size].view(Indices)

    def _windows(self, *sizes: int) -> Iterator[NDArray[np.int64]]:
        """Windows of these sizes, one after the other; all further windows have the last size."""
        start = self._start
        for size in chain(sizes, repeat(sizes[-1])):
            if start >= self._end:
                return
            stop = min(start + size, self._end)
            yield self._engine.use(_window, self._config, start, stop)
            start = stop


def batches_left(deal: Deal, batch_size: int, drop_last: bool, start: int) -> int:
    """How many batches there are from number `start` on; 0 if `start` is the number of all batches."""
    count = deal.num_batches(batch_size, drop_last)
    if not 0 <= start <= count:
        raise OutOfRangeError("start", check.shown(start), f"0 to {count}")
    return count - start


def _extent(deal: Deal, batch_size: int, drop_last: bool, start: int) -> tuple[Where, int]:
    """The configuration of a pass, and the number of the sample before which it ends."""
    batches = start + batches_left(deal, batch_size, drop_last, start)
    end = min(batches * batch_size, deal.num_samples())
    if batch_size > WINDOW and min(batch_size, end) > max_count():
        # The first batch is the longest: if it is too long, the component raises the error here.
        deal.batch(0, batch_size, drop_last)
    return deal.current, end


def _window(deal: Deal, config: Where, start: int, stop: int) -> NDArray[np.int64]:
    _stay(config, deal.current)
    return _read(deal, start, stop)


def _stay(config: Where, current: Where) -> None:
    if current != config:
        value = "a pass of a sampler that moved to another epoch or rank during iteration"
        raise MovedError("iterator", value, "another one: call iter() again after set_epoch or set_rank")


def _read(deal: Deal, start: int, stop: int) -> NDArray[np.int64]:
    out = _empty(stop - start)
    for at in range(start, stop, WINDOW):
        end = min(at + WINDOW, stop)
        deal.indices_into(out[at - start : end - start], at)
    return out


def _empty(count: int) -> NDArray[np.int64]:
    # A copy of the function of `engine.indices`: that module needs NumPy, and to import it here at every call is
    # slower.
    import numpy

    try:
        return numpy.empty(count, dtype=numpy.int64)
    except (MemoryError, ValueError) as error:
        raise OutOfMemoryError("count", str(count), "a shorter run") from error
