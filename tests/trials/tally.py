"""The counts of a trial, and its failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass
class Tally:
    """Counts, summed over trials."""

    trials: int = 0
    resumptions: int = 0
    kills: int = 0
    """Processes that were killed, calls whose answer was lost, and logs that were cut."""
    expected: int = 0
    """Number of samples in all epochs of the trials."""
    samples: int = 0
    """Number of samples that were taken, with repetitions."""
    repeated: int = 0
    """Number of taken samples that the interface counts as repetitions, such as padding."""
    dropped: int = 0
    """Number of samples that the interface reports as dropped."""
    redone: int = 0
    """Number of samples that a killed process took after its last checkpoint, so that they are taken again."""

    @property
    def lost(self) -> int:
        """Number of samples that were never taken and are in no other count."""
        return max(0, self._balance)

    @property
    def twice(self) -> int:
        """Number of samples that came too often."""
        return max(0, -self._balance)

    @property
    def _balance(self) -> int:
        return self.expected - self.dropped - (self.samples - self.repeated - self.redone)

    def add(self, other: Tally) -> None:
        """Adds the counts of another tally."""
        for field in fields(Tally):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Violation(AssertionError):
    """An error for a trial in which a condition does not hold."""


def require(holds: object, what: str, *values: object) -> None:
    """Raises a violation unless a condition holds. It has the values that show the fault."""
    if not holds:
        shown = "; ".join(repr(value)[:300] for value in values)
        raise Violation(f"{what}: {shown}" if shown else what)


def same(found: Iterable[object], expected: Iterable[object], what: str) -> None:
    """Raises a violation unless both have the same items, each equally often."""
    one, other = Counter(found), Counter(expected)
    require(
        one == other, what, f"twice {sorted(one - other, key=repr)[:9]}", f"lost {sorted(other - one, key=repr)[:9]}"
    )
