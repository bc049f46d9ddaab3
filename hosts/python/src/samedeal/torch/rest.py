"""How far an epoch has come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Progress:
    """Where the next pass begins."""

    epoch: int
    """In which epoch."""
    state: str | None = None
    """After which state of it; none at its beginning."""
    is_rest: bool = False
    """Whether that leaves less than the whole epoch."""

    def set_epoch(self, epoch: int) -> None:
        """Goes to another epoch, of which nothing is taken."""
        self.epoch, self.state, self.is_rest = epoch, None, False
