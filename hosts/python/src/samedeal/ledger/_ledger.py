"""A reader of a ledger."""

from __future__ import annotations

import copy
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from .. import _arguments as check
from .. import _component
from .._errors import ContradictionError, OutOfRangeError, WrongTypeError
from .._ledgering import FINISHED, Event, Machine, Progress, header
from .._sampler import Sampler
from ._log import Log

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

POLL = 0.1
"""Seconds between two looks at a log in which nothing is free."""


class Claim:
    """A run of positions that a reader holds."""

    def __init__(self, ledger: Ledger, start: int, count: int) -> None:
        """Made by `Ledger.claim`."""
        self._ledger = ledger
        self.start = start
        """The first position of the run."""
        self.count = count
        """How many there are."""
        self.committed = 0
        """How many of them are committed, the first ones."""
        self.samples: NDArray[np.int64] = ledger.samples(start, count)
        """The sample indices of the run, in order."""
        self._seen = time.monotonic()

    def commit(self, count: SupportsIndex | None = None) -> None:
        """Says that the reader is through with the next `count` positions, by default with all that are left.

        Raises:
            OutOfRangeError: There are not so many left.
            ContradictionError: The reader was silent for longer than the lease, and others may have read them.
            OSError: The log cannot be written.
        """
        left = self.count - self.committed
        number = left if count is None else check.integer("count", count, check.Width(0, left, f"0 to {left}"))
        if left == 0:
            return
        start = self.start + self.committed
        self._ledger._append(lambda machine: machine.commit(self._ledger.reader, start, number))
        self.committed += number
        self._seen = time.monotonic()
        self._ledger._keep(self)

    def renew(self) -> None:
        """Says that the reader is still there: before a lease ends, where nothing is to be committed yet.

        Raises:
            ContradictionError: As in `commit`.
        """
        self.commit(0)

    def release(self) -> None:
        """Gives back what is not committed.

        Raises:
            ContradictionError: As in `commit`.
        """
        if self.committed < self.count:
            start = self.start + self.committed
            self._ledger._append(lambda machine: machine.release(self._ledger.reader, start))
            self.count = self.committed
            self.samples = self.samples[: self.count]
            self._ledger._keep(self)

    def __len__(self) -> int:
        """How many positions there are."""
        return self.count

    def __repr__(self) -> str:
        """Which run, and of whom."""
        return (
            f"<positions {self.start} to {self.start + self.count - 1} of reader {self._ledger.reader}, "
            f"{self.committed} committed>"
        )


class Ledger:
    """One reader of an epoch whose positions go to whoever claims them.

    Iterated, it claims run after run until the epoch is finished, and commits each when the next one is asked for.
    Readers wait while others hold what is left, and take over what a reader held that was silent for a lease. They need
    not agree on what time it is.

    A claim that was taken over cannot be committed any more. So a position is committed once, by one reader; but what
    that reader did with it before it fell silent, such as a step of training, only it knows: give leases longer than
    any pause.

    It does not pickle: each process, and each thread that claims, opens the log for itself.
    """

    def __init__(
        self,
        sampler: Sampler,
        log: Log,
        *,
        reader: SupportsIndex,
        block: SupportsIndex = 1024,
        lease: float = 60.0,
    ) -> None:
        """Reads the log, begins one that is empty, and gives back what an earlier life of this reader held.

        Args:
            sampler: Of what order: its epoch, from its `consumed` positions on. Its rank and world do not matter.
            log: Where all readers write, such as a `FileLog`, or a `samedeal.torch.StoreLog`. One for each epoch.
            reader: The number of this reader, 0 to 2**32 - 1: no other reader has it.
            block: How many positions a claim takes, 1 to 2**20, the same for all readers. The last claim of the slowest
                one is what the others may wait for.
            lease: After how many seconds without a word of it, a reader loses what it holds: 0.001 or more.

        Raises:
            SamedealError: A value is not allowed, or the log is one of something else.
            OSError: The log cannot be read or written.
        """
        if not isinstance(sampler, Sampler):
            raise WrongTypeError("sampler", check.described(sampler), "a samedeal.Sampler")
        self.reader = check.integer("reader", reader, check.U32)
        self.block = check.integer("block", block, check.Width(1, 2**20, f"1 to {2**20}"))
        self.lease = _seconds(lease)
        self.log = log
        self._order = _whole(sampler)
        self._first = self._order.consumed
        self._header = header(self._order.state(0), self.block)
        self._lock = threading.RLock()
        # Those that nobody holds any more, such as a loop that broke off, go to others when the lease is over.
        self._claims: weakref.WeakValueDictionary[int, Claim] = weakref.WeakValueDictionary()
        self._begin()
        for start in self._ask(lambda machine: machine.held_by(self.reader).tolist()[::2]):
            self._append(lambda machine, start=start: machine.release(self.reader, start))  # type: ignore[misc]

    def claim(self, timeout: float | None = None) -> Claim | None:
        """The next run of positions for this reader; None once all are committed.

        Waits while other readers hold what is left. (What this reader holds itself, it has to commit first: a wait for
        nothing else raises.)

        Args:
            timeout: For how many seconds to wait at most; for as long as it takes by default.

        Raises:
            TimeoutError: Nothing was free in time, or never will be.
            OSError: The log cannot be read or written.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self._try()
            if not isinstance(found, float):
                return found
            left = found if end is None else min(found, end - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"reader {self.reader} found nothing free in {timeout} s")
            if not self._others_hold():
                raise TimeoutError(f"all that is left is held by reader {self.reader} itself: commit it first")
            time.sleep(min(left, POLL))

    def __iter__(self) -> Iterator[Claim]:
        """Run after run, each committed when the next one is asked for, unless that was done."""
        while (claim := self.claim()) is not None:
            yield claim
            claim.commit()

    def progress(self) -> Progress:
        """How far all readers have come, by the log as it is now."""
        with self._lock:
            self._catch_up()
            return self._ask(Machine.progress)

    def samples(self, start: SupportsIndex, count: SupportsIndex) -> NDArray[np.int64]:
        """The sample indices at positions `start` to `start + count - 1`."""
        first = check.whole("start", start) - self._first
        return self._order.indices(first, first + check.whole("count", count))

    def __repr__(self) -> str:
        """Whose, and of what."""
        return f"<Ledger of {self._order!r}, reader {self.reader}, block {self.block}, lease {self.lease} s>"

    def _try(self) -> Claim | float | None:
        """A claim, or for how many seconds to wait, or nothing once all is committed."""
        told: list[Any] = []

        def propose(machine: Machine) -> str | None:
            kind, value = machine.claim(self.reader, _now())
            told[:] = kind, value
            return value if kind == "entry" else None

        while True:
            event = self._append(propose)
            kind, value = told
            if event is None:
                return None if kind == FINISHED else value / 1000
            if event.kind == "claim":
                claim = Claim(self, event.start, event.count)
                self._claims[event.start] = claim
                return claim

    def _others_hold(self) -> bool:
        with self._lock:
            own: list[int] = self._ask(lambda machine: machine.held_by(self.reader)).tolist()
            return sum(own[1::2]) < self._ask(Machine.progress).claimed

    def _keep(self, claim: Claim) -> None:
        """Renews what else this reader holds, where it was long silent about it."""
        if claim.committed == claim.count:
            self._claims.pop(claim.start, None)
        late = time.monotonic() - self.lease / 4
        for other in [*self._claims.values()]:
            if other is not claim and other._seen < late:
                try:
                    other.renew()
                except ContradictionError:
                    # It is lost, which whoever commits it is told.
                    self._claims.pop(other.start, None)

    def _append(self, propose: Callable[[Machine], str | None]) -> Event | None:
        """Appends what a reader that knows all of the log proposes, and applies it; None where it proposes nothing."""
        with self._lock:
            attempt = 0
            while True:
                before = self._entries
                self._catch_up()
                if attempt and self._entries == before:
                    allowed = "one that shows the entry for which it refused another"
                    raise ContradictionError("log", f"without an entry number {before}", allowed)
                entry = self._ask(propose)
                if entry is None:
                    return None
                if self.log.append(self._entries, entry):
                    return self._apply(entry)
                if attempt > 2:
                    # Others that take as long are always first: not all at the same time.
                    time.sleep(random.uniform(0, 0.001 * min(attempt, 100)))
                attempt += 1

    def _catch_up(self) -> None:
        if self._process is not _component.process or not self._machine.core.whole:
            # On the other side of a fork, or after a call that was interrupted: the log knows.
            self._begin()
        while entries := self.log.read(self._entries):
            for entry in entries:
                self._apply(entry)

    def _begin(self) -> None:
        """A ledger that has read the log, which has a first entry then."""
        self._process = _component.process
        self._machine = Machine(self._header, max(1, round(self.lease * 1000)))
        self._entries = 0
        if not self.log.read(0):
            self.log.append(0, self._header)
        self._catch_up()
        if self._entries == 0:
            raise ContradictionError("log", "empty", "one that shows what was appended to it")

    def _apply(self, entry: str) -> Event | None:
        event = self._ask(lambda machine: machine.apply(entry, _now()))
        self._entries += 1
        return event

    def _ask(self, function: Callable[[Machine], T]) -> T:
        return function(self._machine)

    def __reduce__(self) -> Any:
        """Refuses: a copy would be another reader of the same number."""
        raise TypeError("a Ledger does not pickle: open one in each process, each with a reader number of its own")


def _whole(sampler: Sampler) -> Sampler:
    """The same order, for one rank alone."""
    found = copy.copy(sampler)
    found._engine.set(lambda config: config._replace(rank=0, world=1, remainder="uneven", layout="strided"))
    return found


def _seconds(lease: Any) -> float:
    if isinstance(lease, bool) or not isinstance(lease, (int, float)):
        raise WrongTypeError("lease", check.described(lease), "a number of seconds")
    if not 0.001 <= lease <= 2**43:
        raise OutOfRangeError("lease", str(lease), f"0.001 to {2**43} seconds")
    return float(lease)


def _now() -> int:
    """Milliseconds on a clock that does not go back."""
    return time.monotonic_ns() // 1_000_000
