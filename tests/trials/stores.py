"""A store that fails, and the time of its readers: simulated, so that a trial is the same every time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any


class World:
    """The time that passes, and the clocks of all readers, which do not agree."""

    def __init__(self, rng: random.Random) -> None:
        """Begins at 0."""
        self.rng = rng
        self.now = 0.0
        """Seconds."""
        self.clocks: list[tuple[float, float]] = [(0.0, 1.0)]
        """Of the readers that make a call now, one within the other: where the clock began, and how fast it goes."""

    def monotonic(self) -> float:
        """What the clock of the present reader shows."""
        begun, rate = self.clocks[-1]
        return begun + rate * self.now

    def monotonic_ns(self) -> int:
        """The same in nanoseconds."""
        return int(self.monotonic() * 1e9)

    def sleep(self, seconds: float) -> None:
        """The present reader waits."""
        self.now += seconds / self.clocks[-1][1]


class LateError(OSError):
    """The store did not answer in time."""


class Store:
    """The entries, and requests that are on their way."""

    def __init__(self) -> None:
        """Begins empty."""
        self.entries: list[str] = []
        self.late: list[tuple[int, str]] = []
        """Requests to append that were given up, and that the store still may get."""

    def append(self, number: int, entry: str) -> bool:
        """As a log has it."""
        if number != len(self.entries):
            return False
        self.entries.append(entry)
        return True

    def deliver(self, rng: random.Random) -> None:
        """The store gets one of the late requests, in any order."""
        if self.late:
            self.append(*self.late.pop(rng.randrange(len(self.late))))


class Connection:
    """The log as one reader has it. Some answers never come, and others do something before an answer comes."""

    def __init__(self, world: World, store: Store, others: Callable[[], None]) -> None:
        """`others` is called where others can do something."""
        self.world, self.store, self.others = world, store, others
        self.faults = 0.0
        """How often a call fails."""
        self.failed = 0

    def _fails(self) -> bool:
        failed = self.world.rng.random() < self.faults
        self.failed += failed
        return failed

    def read(self, start: int) -> list[Any]:
        """The entries, or the first ones of them, as text or as bytes."""
        rng = self.world.rng
        self.others()
        found: list[Any] = self.store.entries[start:]
        if rng.random() < 0.3:
            found = found[: rng.randint(1, 3)]
        if rng.random() < 0.2:
            found = [entry.encode() for entry in found]
        if rng.random() < 0.2:
            # The answer is on its way while others append.
            self.others()
        if self._fails():
            raise LateError("no answer to read")
        return found

    def append(self, number: int, entry: str) -> bool:
        """Appends, or does not, or will later."""
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
