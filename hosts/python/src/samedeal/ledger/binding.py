"""The resources of the interface for a ledger, and for one reader of it (a client)."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.core import Core
from ..generated import ledger
from ..generated.limits import MAX_TEXT

_MEMORY = 2**31
"""The memory limit of an instance. A claimed run takes only a few bytes."""
_WINDOW = 2**12
"""How many entries are passed to the component at a time."""


class Progress(ledger.Progress):
    """How far the readers of a ledger have come."""

    __slots__ = ()

    @property
    def finished(self) -> bool:
        """Whether every position is committed."""
        return self.committed == self.positions


class Machine(ledger.Ledger):
    """A `ledger` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(self, header: str) -> None:
        super().__init__(Core(_MEMORY, "header", header), header)

    def progress(self) -> Progress:
        """How far the readers have come."""
        return Progress(*super().progress())


class Client(ledger.Client):
    """A `client` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(
        self,
        state: str,
        reader: int,
        session: int,
        block_size: int | None = None,
        lease_ms: int | None = None,
        checkpoint_interval: int | None = None,
    ) -> None:
        core = Core(_MEMORY, "state", state)
        options = ledger.ClientOptions(core, state, reader, session)
        if block_size is not None:
            options.set_block_size(block_size)
        if lease_ms is not None:
            options.set_lease_ms(lease_ms)
        if checkpoint_interval is not None:
            options.set_checkpoint_interval(checkpoint_interval)
        super().__init__(core, options)
        options.drop()

    def tell(self, first: int, entries: Sequence[str], now_ms: int) -> ledger.Instruction:
        """Passes the entries from number `first` on to the client; an empty list if the log has none yet."""
        # Cuts an entry that is too long: the component still refuses it.
        texts = [entry[: MAX_TEXT + 1] for entry in entries]
        step = self.tell_entries(texts[:_WINDOW], now_ms)
        for start in range(_WINDOW, len(texts), _WINDOW):
            # The client may continue at another entry, after a checkpoint. Then the client needs no more of `texts`.
            if step.action != "read" or step.number != first + start:
                break
            step = self.tell_entries(texts[start : start + _WINDOW], now_ms)
        return step

    def progress(self) -> Progress:
        """How far the readers have come, as far as the log was read."""
        return Progress(*super().progress())


def header(state: str, block_size: int, lease_ms: int) -> str:
    """The first entry of a log."""
    return ledger.header(Core(_MEMORY, "state", state), state, block_size, lease_ms)
