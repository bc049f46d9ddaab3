"""Ledgers of the interface: their functions, and an instance that answers for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import _abi as abi
from ._abi import STRING, U32, U64, U64S, Function, Type, fallible, returned
from ._component import Component
from ._core import Core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_INTERFACE = "samedeal:deal/ledger@0.1.0"
_MEMORY = 2**31
"""Memory limit: what is claimed takes a few bytes a run."""

KINDS = ("claim", "commit", "release")
ENTRY, WAIT, HELD, FINISHED = "entry", "wait", "held", "finished"


@dataclass(frozen=True)
class Event:
    """An entry of a log, but the first one."""

    number: int
    """Which entry it is: the first one of the log is number 0."""
    kind: str
    """What happens: "claim", "commit" or "release"."""
    reader: int
    """Whose run it is."""
    start: int
    """The first position of the run."""
    count: int
    """How many there are."""
    claim: int
    """The number of the claim that the run is of: that of the entry itself, where it is one."""


class Progress(NamedTuple):
    """How far the readers of a ledger have come."""

    positions: int
    """How many positions there are."""
    committed: int
    """How many of them are committed."""
    claimed: int
    """How many are claimed, and not committed."""
    entries: int
    """How many entries were applied."""

    @property
    def finished(self) -> bool:
        """Whether every position is committed."""
        return self.committed == self.positions


Proposal = tuple[str, Any]
"""What a reader is told: "entry" and a text, "wait" and milliseconds, "held" or "finished" and nothing."""


def _proposal(core: Core, numbers: abi.Numbers) -> Proposal:
    tag, low, high = numbers
    if tag == 0:
        return ENTRY, core.string(low, high)
    return (WAIT, low | high << 32) if tag == 1 else ((HELD, FINISHED)[tag - 2], None)


# A text and a number of 64 bits are two numbers of 32 bits each, which lie where a number of 64 bits would.
_PROPOSAL: Type[Proposal] = Type("B7xII", 8, 3, abi._lower_nothing, _proposal)
_EVENT = abi.record(Event, number=U64, kind=abi.enum(KINDS), reader=U32, start=U64, count=U32, claim=U64)
_PROGRESS = abi.record(Progress, positions=U64, committed=U64, claimed=U64, entries=U64)


def _method(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return Function(f"{_INTERFACE}#[method]ledger.{name}", lift, this=U32, **parameters)


_header = Function(f"{_INTERFACE}#header", fallible(STRING), state=STRING, block=U32, lease=U64)
_ledger = Function(f"{_INTERFACE}#[constructor]ledger", fallible(U32), header=STRING)
_apply = _method("apply", fallible(abi.option(_EVENT)), entry=STRING, now=U64)
_claim = _method("claim", fallible(_PROPOSAL), reader=U32, now=U64)
_commit = _method("commit", fallible(STRING), claim=U64, done=U32)
_release = _method("release", fallible(STRING), claim=U64)
_held_by = _method("held-by", fallible(U64S), reader=U32)
_progress = _method("progress", returned(_PROGRESS))
_initial_state = _method("initial-state", returned(STRING))


class Machine:
    """A `ledger` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, header: str) -> None:
        self.core = Core(Component.PLANNING, _MEMORY, "header", header)
        self._this = _ledger(self.core, header)

    def apply(self, entry: str, now: int) -> Event | None:
        """Takes the next entry of the log."""
        return _apply(self.core, self._this, entry, now)

    def claim(self, reader: int, now: int) -> Proposal:
        """What a reader that wants more positions does."""
        return _claim(self.core, self._this, reader, now)

    def commit(self, claim: int, done: int) -> str:
        """The entry that says that a reader is through with the first positions of a claim."""
        return _commit(self.core, self._this, claim, done)

    def release(self, claim: int) -> str:
        """The entry that gives back what is left of a claim."""
        return _release(self.core, self._this, claim)

    def held_by(self, reader: int) -> NDArray[np.int64]:
        """What a reader holds, four numbers each."""
        return _held_by(self.core, self._this, reader)

    def progress(self) -> Progress:
        """How far the readers have come."""
        return _progress(self.core, self._this)

    def initial_state(self) -> str:
        """The state of the sampler whose positions these are."""
        return _initial_state(self.core, self._this)


def header(state: str, block: int, lease: int) -> str:
    """The first entry of a log."""
    return _header(Core(Component.PLANNING, _MEMORY, "state", state), state, block, lease)
