"""Instances that answer for a ledger, and for one reader of it."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine import arguments as check
from ..engine.core import Core
from ..generated import ledger

_MEMORY = 2**31
"""Memory limit: what is claimed takes a few bytes a run."""
_WINDOW = 2**12
"""How many entries are told at a time."""


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
        super().__init__(Core(_MEMORY, "header", header), header)

    def progress(self) -> Progress:
        """How far the readers have come."""
        return Progress(*super().progress())


class Client(ledger.Client):
    """A `client` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(
        self,
        state: str,
        reader: int,
        life: int,
        block: int | None = None,
        lease: int | None = None,
        checkpoint_interval: int | None = None,
    ) -> None:
        core = Core(_MEMORY, "state", state)
        options = ledger.ClientOptions(core, state, reader, life)
        if block is not None:
            options.set_block(block)
        if lease is not None:
            options.set_lease(lease)
        if checkpoint_interval is not None:
            options.set_checkpoint_interval(checkpoint_interval)
        super().__init__(core, options)
        options.drop()

    def tell(self, first: int, entries: Sequence[str], now: int) -> ledger.Instruction:
        """Tells the entries from number `first` on, as they were read; none at the end of the log."""
        # The component refuses an entry that is too long, and needs no more of it for that.
        texts = [entry[: check.TEXT + 1] for entry in entries]
        step = self.tell_entries(texts[:_WINDOW], now)
        for start in range(_WINDOW, len(texts), _WINDOW):
            # It may go on elsewhere, behind a checkpoint.
            if step.action != "read" or step.number != first + start:
                break
            step = self.tell_entries(texts[start : start + _WINDOW], now)
        return step

    def progress(self) -> Progress:
        """How far the readers have come, as far as the log was read."""
        return Progress(*super().progress())


def header(state: str, block: int, lease: int) -> str:
    """The first entry of a log."""
    return ledger.header(Core(_MEMORY, "state", state), state, block, lease)
