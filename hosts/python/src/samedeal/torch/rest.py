"""The progress of an epoch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Progress:
    """The place at which the next pass begins."""

    epoch: int
    """The epoch."""
    state: str | None = None
    """The state of the epoch from which the pass continues; None at the beginning of the epoch."""
    is_rest: bool = False
    """Whether less than the whole epoch is left."""

    def set_epoch(self, epoch: int) -> None:
        """Moves to the beginning of another epoch."""
        self.epoch, self.state, self.is_rest = epoch, None, False
