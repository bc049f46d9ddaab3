"""Replays of ledgers: the samples that were read, from the log."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..deal.sampler import Sampler
from ..engine import arguments as check
from ..engine.errors import ContradictionError, SamedealError, WrongTypeError
from ..engine.tables import table
from ..generated.ledger import CommittedRun, Event
from ..generated.limits import MAX_TEXT
from .binding import Machine, Progress
from .ledger import _whole
from .log import Log, checked, text_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_WINDOW = 2**12
"""How many entries are applied at a time."""


class Replay:
    """Which reader read which samples, and in which order, from the log of a ledger.

    The log need not be trusted: an entry that does not follow from the entries before it is an error.
    """

    def __init__(self, log: Log) -> None:
        """Reads all of a log.

        Args:
            log: A log, such as a `FileLog`.

        Raises:
            SamedealError: The log is no log of a ledger. The message has the line.
            OSError: The log cannot be read.
        """
        checked("log", log, "read")
        entries = [text_of(entry) for entry in log.read(0)]
        while more := log.read(len(entries)):
            entries += map(text_of, more)
        if not entries:
            raise ContradictionError("log", f"empty: {log!r}", "the log of a ledger")
        self._entries = entries
        """The entries as they were read here. The log is not read again: it may grow, or may be readable only once."""
        machine, self._length = Machine(entries[0]), 0
        for part in self._parts():
            end = machine.progress().entries + len(part)
            try:
                self._length += len(machine.replay(part, 0, 1))
            except SamedealError:
                self._length += self._one_by_one(machine, end)
        self._progress = machine.progress()
        self._state = machine.initial_state()

    def _parts(self) -> Iterator[list[str]]:
        """The entries in windows. Cuts an entry that is too long: the component still refuses it."""
        for start in range(0, len(self._entries), _WINDOW):
            yield [entry[: MAX_TEXT + 1] for entry in self._entries[start : start + _WINDOW]]

    def _one_by_one(self, machine: Machine, end: int) -> int:
        """Applies entries up to number `end` one by one, so that an error has the line. Returns the number of runs."""
        runs = 0
        for number in range(machine.progress().entries, end):
            try:
                runs += len(machine.replay([self._entries[number][: MAX_TEXT + 1]], 0, 1))
            except SamedealError as error:
                value = f"{error.value} (line {number + 1} of the log)"
                raise type(error)(error.field, value, error.allowed) from None
        return runs

    @cached_property
    def commits(self) -> list[CommittedRun]:
        """The runs that were committed, in the order of the log."""
        return list(self._runs(0, 1))

    def _runs(self, reader: int, readers: int) -> Iterator[CommittedRun]:
        """The runs that a reader reads in a replay."""
        machine = Machine(self._entries[0])
        for part in self._parts():
            yield from machine.replay(part, reader, readers)

    def next_event(self) -> Event | None:
        """The next entry about runs, of any reader: a claim, commit, release or join; None after the last one.

        The first call returns the first entry.

        `commits`, `samples` and `progress` do not depend on these calls. A copy of the replay begins with the first
        entry.
        """
        return next(self._events, None)

    @cached_property
    def _events(self) -> Iterator[Event]:
        machine = Machine(self._entries[0])
        return (event for entry in self._entries if (event := machine.apply(entry)))

    def __getstate__(self) -> dict[str, Any]:
        """The attributes without the iterator over events, whose instance cannot be pickled."""
        return {name: value for name, value in self.__dict__.items() if name != "_events"}

    def progress(self) -> Progress:
        """How much of the epoch was done."""
        return self._progress

    def samples(
        self, sampler: Sampler, reader: SupportsIndex = 0, readers: SupportsIndex = 1
    ) -> Iterator[NDArray[np.int64]]:
        """The sample indices that were committed, run by run, in the order of the log.

        Reader r of n replays the commits of all readers whose number mod n is r. If the readers of the run had the
        numbers 0 to n - 1, each of n readers reads the same samples again. A single reader reads all samples, in the
        order of the log.

        Args:
            sampler: A sampler with the dataset, seed and order of the ledger. Its rank and epoch do not matter.
            reader: Number of this reader, 0 to `readers` - 1.
            readers: Number of readers.

        Raises:
            OutOfRangeError: `readers` is 0, or `reader` is not below it.
            ContradictionError: The ledger has another order, dataset or seed.
        """
        count, own = (
            check.integer(name, value, check.U32) for name, value in (("readers", readers), ("reader", reader))
        )
        # Raises the component's error if `reader` and `readers` do not fit together.
        Machine(self._entries[0]).replay((), own, count)
        if not isinstance(sampler, Sampler):
            raise WrongTypeError("sampler", check.described(sampler), "a samedeal.Sampler")
        order = _whole(sampler)
        order.resume(self._state)
        return self._replayed(order, self._runs(own, count))

    def _replayed(self, order: Sampler, runs: Iterator[CommittedRun]) -> Iterator[NDArray[np.int64]]:
        first = order.consumed
        for run in runs:
            at, end = run.start - first, run.start - first + run.count
            # Read in pieces, since the log of another host may have runs of up to 2**32 - 1 positions.
            for start in range(at, end, 2**20):
                yield order.indices(start, min(start + 2**20, end))

    def __len__(self) -> int:
        """How many runs were committed."""
        return self._length

    def __repr__(self) -> str:
        """The number of positions and of runs in one line."""
        done, all_of_it = self._progress.committed, self._progress.positions
        return f"<Replay of {done} of {all_of_it} positions in {self._length} runs>"

    def _repr_html_(self) -> str:
        """A table for notebooks, a row for each of the first runs."""
        rows = ((run.number, run.reader, run.start, run.count) for run in self._runs(0, 1))
        return table(repr(self), ("entry", "reader", "start", "count"), rows, self._length)
