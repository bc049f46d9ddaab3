"""A store that fails, and the time of its readers. Both are simulated, so that a trial can be repeated."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any


class World:
    """The elapsed time, and the clocks of the readers, which start and run differently."""

    def __init__(self, rng: random.Random) -> None:
        """Begins at 0."""
        self.rng = rng
        self.now = 0.0
        """The elapsed time in seconds."""
        self.clocks: list[tuple[float, float]] = [(0.0, 1.0)]
        """The stack of the clocks of readers whose calls are nested at the moment: the start and the rate of each
        clock."""

    def monotonic(self) -> float:
        """The time on the current reader's clock."""
        begun, rate = self.clocks[-1]
        return begun + rate * self.now

    def monotonic_ns(self) -> int:
        """The time on the current reader's clock, in nanoseconds."""
        return int(self.monotonic() * 1e9)

    def sleep(self, seconds: float) -> None:
        """Lets the current reader wait."""
        self.now += seconds / self.clocks[-1][1]


class LateError(OSError):
    """An error of a store that did not answer in time."""


class Store:
    """The entries of a log, and requests that have not arrived."""

    def __init__(self) -> None:
        """Begins empty."""
        self.entries: list[str] = []
        self.late: list[tuple[int, str]] = []
        """Appends that may still arrive although their callers have given up."""

    def append(self, number: int, entry: str) -> bool:
        """Appends an entry, as a log does."""
        if number != len(self.entries):
            return False
        self.entries.append(entry)
        return True

    def deliver(self, rng: random.Random) -> None:
        """Lets one of the late requests arrive, in any order."""
        if self.late:
            self.append(*self.late.pop(rng.randrange(len(self.late))))


class Connection:
    """The log as one reader sees it. Some answers never come, and other readers may act before an answer comes."""

    def __init__(self, world: World, store: Store, others: Callable[[], None]) -> None:
        """Takes `others`, which is called at every point where other readers can act."""
        self.world, self.store, self.others = world, store, others
        self.faults = 0.0
        """The probability that a call fails."""
        self.failed = 0

    def _fails(self) -> bool:
        failed = self.world.rng.random() < self.faults
        self.failed += failed
        return failed

    def read(self, start: int) -> list[Any]:
        """The entries, or only the first few of them, as text or as bytes."""
        rng = self.world.rng
        self.others()
        found: list[Any] = self.store.entries[start:]
        if rng.random() < 0.3:
            found = found[: rng.randint(1, 3)]
        if rng.random() < 0.2:
            found = [entry.encode() for entry in found]
        if rng.random() < 0.2:
            # Other readers append while the answer is on its way.
            self.others()
        if self._fails():
            raise LateError("no answer to read")
        return found

    def append(self, number: int, entry: str) -> bool:
        """Appends the entry at once, later, or never."""
        rng = self.world.rng
        self.others()
        if self._fails():
            if rng.random() < 0.5:
                self.store.late.append((number, entry))
            raise LateError("the request was lost, or is late")
        added = self.store.append(number, entry)
        self.others()
        if self._fails():
            raise LateError("the answer was lost")
        return added
