"""The schedule of a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, SupportsIndex

from ..bindings.ledger import Event
from ..deal.sampler import Sampler
from ..engine import arguments as check
from ..engine.errors import ContradictionError, SamedealError, WrongTypeError
from ..engine.tables import table
from .binding import Machine, Progress
from .ledger import _whole
from .log import Log, text_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Schedule:
    """Which reader read which samples, and in which order, from the log of a ledger.

    The log need not be trusted: an entry that does not follow from the entries before it is an error.
    """

    def __init__(self, log: Log) -> None:
        """Reads all of a log.

        Args:
            log: A log, such as a `FileLog`.

        Raises:
            SamedealError: It is no log of a ledger. The message has the line.
            OSError: The log cannot be read.
        """
        if not callable(getattr(log, "read", None)):
            raise WrongTypeError("log", check.described(log), "a log, such as FileLog(path)")
        entries = [text_of(entry) for entry in log.read(0)]
        while more := log.read(len(entries)):
            entries += map(text_of, more)
        if not entries:
            raise ContradictionError("log", f"empty: {log!r}", "the log of a ledger")
        machine = Machine(entries[0])
        self.commits: list[Event] = []
        """The runs that were committed, in the order of the log."""
        for number, entry in enumerate(entries):
            try:
                event = machine.apply(entry, 0)
            except SamedealError as error:
                value = f"{error.value} (line {number + 1} of the log)"
                raise type(error)(error.field, value, error.allowed) from None
            if event is not None and event.kind == "commit" and event.count:
                self.commits.append(event)
        self._progress = machine.progress()
        self._state = machine.initial_state()

    def progress(self) -> Progress:
        """How much of the epoch was done."""
        return self._progress

    def replay(
        self, sampler: Sampler, reader: SupportsIndex = 0, readers: SupportsIndex = 1
    ) -> Iterator[NDArray[np.int64]]:
        """The sample indices that were committed, run by run, in the order of the log.

        Reader r of n replays the commits of all readers whose number mod n is r. If the readers of the run had the
        numbers 0 to n - 1, each of n readers reads the same samples again. With one reader, it reads all samples in the
        order of the log.

        Args:
            sampler: A sampler with the dataset, seed and order of the ledger. Its rank and epoch do not matter.
            reader: Number of this reader, 0 to `readers` - 1.
            readers: Number of readers.

        Raises:
            ContradictionError: The ledger has another order, dataset or seed.
        """
        count = check.integer("readers", readers, check.Width(1, check.U32_MAX, check.U32_FROM_1.allowed))
        own = check.number("reader", reader, lambda: count, count - 1)
        if not isinstance(sampler, Sampler):
            raise WrongTypeError("sampler", check.described(sampler), "a samedeal.Sampler")
        order = _whole(sampler)
        order.resume(self._state)
        return self._replayed(order, own, count)

    def _replayed(self, order: Sampler, reader: int, readers: int) -> Iterator[NDArray[np.int64]]:
        first = order.consumed
        for commit in self.commits:
            if commit.reader % readers == reader:
                at, end = commit.start - first, commit.start - first + commit.count
                # The log of another host may have runs of up to 2**32 - 1.
                for start in range(at, end, 2**20):
                    yield order.indices(start, min(start + 2**20, end))

    def __len__(self) -> int:
        """How many runs were committed."""
        return len(self.commits)

    def __repr__(self) -> str:
        """How much there is."""
        done, all_of_it = self._progress.committed, self._progress.positions
        return f"<Schedule of {done} of {all_of_it} positions in {len(self.commits)} runs>"

    def _repr_html_(self) -> str:
        """A table for notebooks, a row for each of the first runs."""
        rows = ((run.number, run.reader, run.start, run.count) for run in self.commits)
        return table(repr(self), ("entry", "reader", "start", "count"), rows, len(self.commits))
