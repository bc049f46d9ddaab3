"""An instance that answers for a ledger."""

from __future__ import annotations

from ._component import Component
from ._core import Core
from .bindings import ledger

_MEMORY = 2**31
"""Memory limit: what is claimed takes a few bytes a run."""

ENTRY, WAIT, HELD = "entry", "wait", "held"


class Progress(ledger.Progress):
    """How far the readers of a ledger have come."""

    __slots__ = ()

    @property
    def finished(self) -> bool:
        """Whether every position is committed."""
        return self.committed == self.positions


class Machine(ledger.Ledger):
    """A `ledger` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, header: str) -> None:
        super().__init__(Core(Component.PLANNING, _MEMORY, "header", header), header)

    def progress(self) -> Progress:
        """How far the readers have come."""
        return Progress(*super().progress())


def header(state: str, block: int, lease: int) -> str:
    """The first entry of a log."""
    return ledger.header(Core(Component.PLANNING, _MEMORY, "state", state), state, block, lease)
