"""What is left of an epoch that readers took in turns: how far they came, and what that leaves.

A loader takes batches from the workers of its rank in turn. In the middle of a turn, some readers are a batch ahead of
the others, so that what was read is no beginning of the epoch. How far it came is then two things: how many positions
were consumed when the turn began, and a `Stretch`, the steps that every rank has taken since. It is all that a state
needs, and the same on all ranks: on as many ranks and workers as before, every reader goes on where it stood; on
others, what is left is dealt anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ContradictionError, OutOfRangeError, WrongTypeError
from .. import _arguments as check

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_STRETCHES = 64
"""The most stretches of a history, as a batcher has it."""
MAX_WORKERS = 2**16
MAX_READERS = 2**22
"""The most readers of all stretches of a state together: each of them is counted through."""


class Stretch(NamedTuple):
    """Steps that every rank has taken, or all that it had."""

    world: int
    """Of how many ranks."""
    workers: int
    """Loader workers of each, at least 1."""
    batch_size: int
    """Samples of each batch."""
    drop_last: bool
    """Whether the last samples were left out where they do not divide: by readers, or, of whole shards, by batches."""
    steps: int
    """How many."""


_WIDTHS = {
    "world": check.Width(1, check.U32_MAX, check.U32_FROM_1.allowed),
    "workers": check.Width(1, MAX_WORKERS, f"1 to {MAX_WORKERS}"),
    "batch_size": check.Width(1, check.U32_MAX, check.U32_FROM_1.allowed),
    "steps": check.Width(1, check.MAX_EXACT, f"1 to {check.MAX_EXACT}"),
}


@dataclass
class Progress:
    """How far an epoch has come."""

    epoch: int
    """Which one."""
    consumed: int = 0
    """How many of its positions, the first ones, were consumed when the first stretch began."""
    history: tuple[Stretch, ...] = ()
    """What was taken since, oldest first."""

    def set_epoch(self, epoch: int) -> None:
        """Goes to another epoch, of which nothing is taken."""
        self.epoch, self.consumed, self.history = epoch, 0, ()

    def split(self, now: Stretch) -> tuple[tuple[Stretch, ...], int]:
        """What came before these readers began, and how many steps they have taken, if they were the last ones."""
        if self.history and self.history[-1]._replace(steps=now.steps) == now:
            return self.history[:-1], self.history[-1].steps
        return self.history, 0


def stretches(state: Mapping[str, Any]) -> tuple[Stretch, ...]:
    """The history in a state, which anybody may have written.

    Raises:
        WrongTypeError: It is none.
        OutOfRangeError: A number is outside its range, or there are too many stretches.
    """
    found = state.get(check.HISTORY, ())
    allowed = "what state_dict gave"
    if not isinstance(found, (list, tuple)):
        raise WrongTypeError(check.HISTORY, check.described(found), allowed)
    if len(found) > MAX_STRETCHES:
        raise OutOfRangeError(check.HISTORY, f"of {len(found)} worlds", f"up to {MAX_STRETCHES}")
    made = []
    for item in found:
        if not isinstance(item, Mapping) or item.keys() != set(Stretch._fields):
            raise WrongTypeError(check.HISTORY, check.described(item), f"one of {', '.join(Stretch._fields)}")
        numbers = {name: check.integer(name.replace("_", "-"), item[name], width) for name, width in _WIDTHS.items()}
        made.append(Stretch(drop_last=check.boolean("drop-last", item["drop_last"]), **numbers))
    readers = sum(stretch.world * stretch.workers for stretch in made)
    if readers > MAX_READERS:
        raise OutOfRangeError(check.HISTORY, f"of {readers} readers", f"up to {MAX_READERS}, of all stretches together")
    return tuple(made)


_MARK = f'-{check.HISTORY}"'
"""What the kind of a text ends with that says too little without its history."""


def marked(text: str) -> str:
    """The text of a state that has a history: of a kind that nobody takes for a whole state."""
    head, kind, rest = text.partition('"kind":"')
    return head + kind + rest.replace('"', _MARK, 1)


def unmarked(text: str, history: bool) -> str:
    """The text as it was.

    Raises:
        ContradictionError: It is of a state with a history, and there is none, or the other way round.
    """
    if (_MARK in text) != history:
        value = "there, of a state that has none" if history else "missing, of a state that has one"
        raise ContradictionError(check.HISTORY, value, "all of what state_dict gave")
    return text.replace(_MARK, '"', 1)


class _Turn(NamedTuple):
    """A turn that was torn, of `readers` samples each time round: in each round, the first `gone` were taken.

    Its positions are from `start` to `stop` - 1; those that are left of them are numbered from `first` to `stop` - 1.
    """

    start: int
    stop: int
    readers: int
    gone: int

    @property
    def first(self) -> int:
        rounds, part = divmod(self.stop - self.start, self.readers)
        return self.stop - rounds * (self.readers - self.gone) - max(0, part - self.gone)

    def positions(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which ones have these numbers; all others stay as they are."""
        rounds, column = np.divmod(numbers - self.first, self.readers - self.gone)
        return np.where(numbers < self.stop, self.start + rounds * self.readers + self.gone + column, numbers)


class Left:
    """The positions of an epoch that are left, numbered in order from `consumed` on: the last one keeps its own number.

    So a deal of which `consumed` are consumed deals them, remainder and all: only those numbered below `plain` are
    others than their numbers say, namely those that are left of turns that were torn.
    """

    def __init__(self, samples: int, consumed: int) -> None:
        """Those behind the first `consumed` ones."""
        self.samples = samples
        self.consumed = self.plain = consumed
        self.origin, self.history = consumed, tuple[Stretch, ...]()
        """The shortest way to say what is left: how many were consumed, and the stretches since."""
        self._turns: tuple[_Turn, ...] = ()

    def after(self, stretch: Stretch) -> Left:
        """What is left once every rank has taken so many steps of these.

        Raises:
            OutOfRangeError: There are not so many.
        """
        readers = stretch.world * stretch.workers
        turn = readers * stretch.batch_size
        end = self.samples
        if stretch.drop_last:
            end -= (self.samples - self.consumed) % readers
        turns, part = divmod(stretch.steps, stretch.workers)
        most = -(-(end - self.consumed) // turn)
        if turns + (part > 0) > most:
            raise OutOfRangeError("steps", str(stretch.steps), f"0 to {most * stretch.workers}")
        start = min(self.consumed + turns * turn, end)
        torn = _Turn(start, min(start + turn, end) if part else start, readers, part * stretch.world)
        then = Left(self.samples, torn.first)
        then.plain = max(self.plain, torn.stop)
        # Once a turn begins behind those that were torn before, they need no mention.
        fresh = start >= self.plain
        then.origin = start if fresh else self.origin
        then.history = ((stretch._replace(steps=part),) if part else ()) if fresh else (*self.history, stretch)
        then._turns = (() if fresh else self._turns) + ((torn,) if part else ())
        return then

    def positions(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which positions have these numbers."""
        for turn in reversed(self._turns):
            numbers = turn.positions(numbers)
        return numbers


def turns(batches: NDArray[np.int64], steps: int) -> tuple[NDArray[np.int64], int]:
    """How many of their batches the workers of a rank have given after so many steps, and whose turn it is.

    A worker that has no more drops out.
    """
    least, most = 0, int(batches.max(initial=0))
    while least < most:
        middle = (least + most + 1) // 2
        if int(np.minimum(batches, middle).sum()) <= steps:
            least = middle
        else:
            most = middle - 1
    given = np.minimum(batches, least)
    late = np.flatnonzero(batches > least)[: steps - int(given.sum())]
    given[late] += 1
    return given, (int(late[-1]) + 1) % len(batches) if len(late) else 0
