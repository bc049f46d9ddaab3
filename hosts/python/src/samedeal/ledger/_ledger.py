"""A reader of a ledger."""

from __future__ import annotations

import contextlib
import copy
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeVar

from .. import _arguments as check
from .. import _component
from .._errors import ContradictionError, OutOfRangeError, SamedealError, WrongTypeError
from .._ledgering import ENTRY, HELD, WAIT, Machine, Progress, header
from .._sampler import Sampler
from ..bindings.ledger import Event
from ._log import Log, text_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

POLL = 0.1
"""Seconds between two looks at a log in which nothing is free."""


class Claim:
    """A run of positions that a reader holds."""

    def __init__(self, ledger: Ledger, number: int, start: int, count: int, done: int = 0) -> None:
        """Made by `Ledger.claim`."""
        self._ledger = ledger
        self._number = number
        """Of its entry in the log."""
        self._done = done
        """How many positions the entry took before those of this object."""
        self.start = start + done
        """The first position of the run."""
        self.count = count - done
        """How many there are."""
        self.committed = 0
        """How many of them are committed, the first ones."""
        self.lost = False
        """Whether what is not committed was given back, or taken over, as far as is known."""
        self._told = 0
        """How many positions the calls of `commit` that have returned took."""
        self._released = False
        """Whether its reader gave it back."""

    @cached_property
    def samples(self) -> NDArray[np.int64]:
        """The sample indices of the run, in order."""
        return self._ledger.samples(self.start, self.count)

    def commit(self, count: SupportsIndex | None = None) -> None:
        """Says that the reader is through with the next `count` positions, by default with all that are left.

        After an error of the log, nobody knows whether that was written: commit the same again, before anything else,
        and nothing is committed twice.

        Raises:
            OutOfRangeError: There are not so many left.
            ContradictionError: The reader does not hold them any more, and others may have read them: it was silent for
                longer than the lease, or another process has its number.
            OSError: The log cannot be written.
        """
        left = self.count - self._told
        number = left if count is None else check.integer("count", count, check.Width(0, left, f"0 to {left}"))
        if left == 0:
            return
        goal = self._told + number

        def propose(machine: Machine) -> str | None:
            # What was appended, though the log had not said so, is known by now.
            known = self.committed >= goal and number > 0
            return None if known else machine.commit(self._number, self._done + max(goal, self.committed))

        self._ledger._write(propose)
        self._told = goal

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

        def propose(machine: Machine) -> str | None:
            nothing = self.committed == self.count or self._released
            return None if nothing else machine.release(self._number)

        self._ledger._write(propose)

    def __len__(self) -> int:
        """How many positions there are."""
        return self.count

    def __repr__(self) -> str:
        """Which run, and of whom."""
        return (
            f"<positions {self.start} to {self.start + self.count - 1} of reader {self._ledger.reader}, "
            f"{self.committed} committed>"
        )


class Wait(NamedTuple):
    """That nothing is free."""

    seconds: float
    """For how long at most."""
    held: bool
    """Whether this reader itself holds all that is left."""


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
            block: How many positions a claim takes, 1 to 2**32 - 1, the same for all readers. The last claim of the
                slowest one is what the others may wait for.
            lease: After how many seconds without an entry of it, a reader loses what it holds: 0.001 or more, the same
                for all readers.

        Raises:
            SamedealError: A value is not allowed, or the log is one of something else.
            OSError: The log cannot be read or written.
        """
        if not isinstance(sampler, Sampler):
            raise WrongTypeError("sampler", check.described(sampler), "a samedeal.Sampler")
        if not all(callable(getattr(log, method, None)) for method in ("read", "append")):
            raise WrongTypeError("log", check.described(log), "a log, such as FileLog(path)")
        self.reader = check.integer("reader", reader, check.U32)
        self.block = check.integer("block", block, check.U32_FROM_1)
        self.lease = _seconds(lease)
        self.log = log
        self._order = _whole(sampler)
        self._first = self._order.consumed
        self._header = header(self._order.state(0), self.block, max(1, round(self.lease * 1000)))
        self._lock = threading.RLock()
        self._busy = False
        self._own: set[int] = set()
        """The numbers of claims of this object, and no other of the same reader: a former life may still be there."""
        # Those of them that nobody has any more, such as a loop that broke off, are given out again.
        self._claims: weakref.WeakValueDictionary[int, Claim] = weakref.WeakValueDictionary()
        self._unsure: tuple[int, str] | None = None
        """An entry of which the log has not said whether it was appended, and the number that it would have."""
        with self._turn():
            self._begin()
            # Others may give back the same meanwhile.
            while self._append(self._release) is not None:
                pass

    def claim(self, timeout: float | None = None) -> Claim | None:
        """The next run of positions for this reader; None once all are committed.

        Waits while other readers hold what is left.

        Args:
            timeout: For how many seconds to wait at most; for as long as it takes by default.

        Raises:
            ContradictionError: This reader itself holds all that is left: it has to commit or release that first.
            TimeoutError: Nothing was free in time.
            OSError: The log cannot be read or written.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self._try()
            if not isinstance(found, Wait):
                return found
            if found.held:
                allowed = "a commit or a release of what it holds first"
                raise ContradictionError("claim", f"all that is left, held by reader {self.reader} itself", allowed)
            left = found.seconds if end is None else min(found.seconds, end - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"reader {self.reader} found nothing free in {timeout} s")
            time.sleep(min(left, POLL))

    def __iter__(self) -> Iterator[Claim]:
        """Run after run, each committed when the next one is asked for, unless that was done.

        What is not committed of the last one of a loop that breaks off is the next claim.
        """
        while (claim := self.claim()) is not None:
            done = False
            try:
                yield claim
                claim.commit()
                done = True
            finally:
                if not done:
                    self._claims.pop(claim._number, None)

    def progress(self) -> Progress:
        """How far all readers have come, by the log as it is now."""
        with self._turn():
            self._catch_up()
            return self._ask(Machine.progress)

    def samples(self, start: SupportsIndex, count: SupportsIndex) -> NDArray[np.int64]:
        """The sample indices at positions `start` to `start + count - 1`."""
        first = check.whole("start", start) - self._first
        return self._order.indices(first, first + check.whole("count", count))

    def __repr__(self) -> str:
        """Whose, and of what."""
        return f"<Ledger of {self._order!r}, reader {self.reader}, block {self.block}, lease {self.lease} s>"

    def _try(self) -> Claim | Wait | None:
        """A claim, or that nothing is free, or nothing once all is committed."""
        told: list[Any] = []

        def propose(machine: Machine) -> str | None:
            told[:] = machine.claim(self.reader, _now())
            return told[1] if told[0] == ENTRY else None

        with self._turn():
            self._catch_up()
            if (claim := self._adopted()) is not None:
                return claim
            while (event := self._append(propose)) is not None:
                if event.kind == "claim":
                    return self._known(Claim(self, event.claim, event.start, event.count))
            kind, value = told
            if kind == WAIT:
                return Wait(value / 1000, held=False)
            return Wait(0, held=True) if kind == HELD else None

    def _adopted(self) -> Claim | None:
        """A claim of its own that nobody has: a loop broke off, or a log had not said that it was appended."""
        held = self._ask(lambda machine: machine.held_by(self.reader)).reshape(-1, 4).tolist()
        for number, start, count, done in held:
            if number in self._own and number not in self._claims:
                return self._known(Claim(self, number, start, count, done))
        return None

    def _known(self, claim: Claim) -> Claim:
        self._own.add(claim._number)
        self._claims[claim._number] = claim
        return claim

    def _release(self, machine: Machine) -> str | None:
        """Gives back something that this reader holds."""
        held = machine.held_by(self.reader).tolist()
        return machine.release(held[0]) if held else None

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One call at a time."""
        with self._lock:
            if self._busy:
                # It may hold the lock of a file, for which this would wait for ever.
                raise RuntimeError("a ledger is asked in the middle of a call of its own, such as by a signal handler")
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    def _write(self, propose: Callable[[Machine], str | None]) -> None:
        with self._turn():
            self._append(propose)

    def _append(self, propose: Callable[[Machine], str | None]) -> Event | None:
        """Appends what a reader that knows all of the log proposes, and applies it; None where it proposes nothing."""
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
            self._unsure = self._entries, entry
            if self.log.append(self._entries, entry):
                return self._apply(entry)
            self._unsure = None
            if attempt > 2:
                # Others that take as long are always first: not all at the same time.
                time.sleep(random.uniform(0, 0.001 * min(attempt, 100)))
            attempt += 1

    def _catch_up(self) -> None:
        if self._process is not _component.process or not (self._whole and self._machine.core.whole):
            # On the other side of a fork, or after a call that was interrupted: the log knows.
            if self._process is not _component.process:
                # What nobody has there, the parent gives out.
                self._own.clear()
            self._begin()
        while entries := self.log.read(self._entries):
            for entry in entries:
                self._apply(text_of(entry))

    def _begin(self) -> None:
        """A ledger that has read the log, which has a first entry then."""
        self._whole = False
        self._process = _component.process
        self._machine = Machine(self._header)
        self._entries = 0
        self._whole = True
        self._catch_up()
        if self._entries == 0:
            # Or somebody else does meanwhile.
            self.log.append(0, self._header)
            self._catch_up()
        if self._entries == 0:
            raise ContradictionError("log", "empty", "one that shows what was appended to it")

    def _apply(self, entry: str) -> Event | None:
        # Where this is interrupted, nobody knows what was applied.
        self._whole = False
        try:
            event = self._ask(lambda machine: machine.apply(entry, _now()))
        except SamedealError:
            self._whole = True
            raise
        own = self._unsure == (self._entries, entry)
        if self._unsure is not None and self._unsure[0] == self._entries:
            self._unsure = None
        self._entries += 1
        self._whole = True
        if event is None:
            return None
        if own and event.kind == "claim":
            self._own.add(event.claim)
        if (claim := self._claims.get(event.claim)) is not None:
            if event.kind == "commit":
                claim.committed = event.start + event.count - claim.start
            claim.lost = event.kind == "release"
            claim._released = claim.lost and own
            if claim.lost or claim.committed == claim.count:
                self._own.discard(event.claim)
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
