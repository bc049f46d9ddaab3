"""What a trial counts, and how it fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass
class Tally:
    """Sums over trials."""

    trials: int = 0
    resumptions: int = 0
    kills: int = 0
    """Processes that were killed, calls whose answer was lost, and logs that were cut."""
    expected: int = 0
    """Samples that all epochs of the trials have."""
    samples: int = 0
    """Samples that were taken, with repetitions."""
    repeated: int = 0
    """How many of them were repetitions that the interface counts, such as padding."""
    dropped: int = 0
    """Samples that the interface says it leaves out."""
    redone: int = 0
    """Samples that a killed process took after its last checkpoint, and that are taken again for this reason."""

    @property
    def lost(self) -> int:
        """Samples that nobody took, and that nothing accounts for."""
        return max(0, self._balance)

    @property
    def twice(self) -> int:
        """Samples that came too often."""
        return max(0, -self._balance)

    @property
    def _balance(self) -> int:
        return self.expected - self.dropped - (self.samples - self.repeated - self.redone)

    def add(self, other: Tally) -> None:
        """Adds the counts of another one."""
        for field in fields(Tally):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Violation(AssertionError):
    """A trial in which something does not hold."""


def require(holds: object, what: str, *values: object) -> None:
    """Raises a violation that says what does not hold, with the values that show it."""
    if not holds:
        shown = "; ".join(repr(value)[:300] for value in values)
        raise Violation(f"{what}: {shown}" if shown else what)


def same(found: Iterable[object], expected: Iterable[object], what: str) -> None:
    """Raises a violation unless both have the same things, each as often as the other one has it."""
    one, other = Counter(found), Counter(expected)
    require(
        one == other, what, f"twice {sorted(one - other, key=repr)[:9]}", f"lost {sorted(other - one, key=repr)[:9]}"
    )
