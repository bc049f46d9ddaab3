"""What all processes of a loader share, so that workers which live on follow to the next epoch."""

from __future__ import annotations

import torch

from ..engine import arguments as check
from .rest import Progress

_EPOCH, _REST, _LAST_READ, _TOLD_EPOCH, _TOLD_LANES, _TOLD_STEPS, _TOLD_MIXING, _TOLD_GROUPS, _BEGUN, _BYTES = range(10)
_NONE = -1
_NUMBERS = _BYTES + 1


class Board:
    """Numbers and a state in memory that workers see too; a pickle on its way to one holds the same memory."""

    def __init__(self) -> None:
        """What the next pass reads is not told yet."""
        self._numbers = torch.zeros(_NUMBERS, dtype=torch.int64).share_memory_()
        self._state = torch.zeros(check.STATE, dtype=torch.uint8).share_memory_()
        self.last_read = None

    def tell(self, progress: Progress, workers: int) -> None:
        """Tells the workers of the next pass where it begins; how many they are, where somebody knows, else 0."""
        text = (progress.state or "").encode()
        self._state[: len(text)] = torch.frombuffer(bytearray(text or b" "), dtype=torch.uint8)[: len(text)]
        self._numbers[_EPOCH], self._numbers[_REST] = progress.epoch, int(progress.is_rest)
        self._numbers[_BEGUN], self._numbers[_BYTES] = workers, len(text)

    def progress(self) -> Progress:
        """Where the next pass begins, as told."""
        text = bytes(self._state[: int(self._numbers[_BYTES])].tolist()).decode()
        return Progress(int(self._numbers[_EPOCH]), text or None, bool(self._numbers[_REST]))

    @property
    def workers(self) -> int:
        """How many workers read the newest pass; 0 where none do, or nobody knows."""
        return int(self._numbers[_BEGUN])

    @workers.setter
    def workers(self, workers: int) -> None:
        self._numbers[_BEGUN] = workers

    @property
    def last_read(self) -> int | None:
        """The epoch that was read last."""
        epoch = int(self._numbers[_LAST_READ])
        return None if epoch == _NONE else epoch

    @last_read.setter
    def last_read(self, epoch: int | None) -> None:
        self._numbers[_LAST_READ] = _NONE if epoch is None else epoch

    def is_first_of_epochs(self) -> bool:
        """Whether nobody has warned of an epoch that is read again; from now on, somebody has."""
        return self._is_first(_TOLD_EPOCH)

    def is_first_of_lanes(self) -> bool:
        """The same of lanes."""
        return self._is_first(_TOLD_LANES)

    def is_first_of_steps(self) -> bool:
        """The same of ranks that end at different steps."""
        return self._is_first(_TOLD_STEPS)

    def is_first_of_mixing(self) -> bool:
        """The same of readers with few lanes."""
        return self._is_first(_TOLD_MIXING)

    def is_first_of_groups(self) -> bool:
        """The same of row groups in which many lanes lie."""
        return self._is_first(_TOLD_GROUPS)

    def copied(self) -> Board:
        """A board of its own that says the same."""
        twin = Board()
        twin._numbers.copy_(self._numbers)
        twin._state.copy_(self._state)
        return twin

    def __setstate__(self, state: dict[str, torch.Tensor]) -> None:
        """From a pickle, which may have been a file."""
        self._numbers = state["_numbers"].share_memory_()
        self._state = state["_state"].share_memory_()

    def _is_first(self, at: int) -> bool:
        first = not self._numbers[at]
        self._numbers[at] = 1
        return first
