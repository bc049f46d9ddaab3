"""What all processes of a loader share, so that workers which live on follow to the next epoch."""

from __future__ import annotations

import torch

from ._rest import MAX_STRETCHES, Progress, Stretch

_EPOCH, _CONSUMED, _LAST_READ, _TOLD_EPOCH, _TOLD_LANES, _TOLD_STEPS, _TOLD_MIXING, _BEGUN, _STRETCHES = range(9)
_NONE = -1
# The last ones are how many stretches there are, and these.
_NUMBERS = _STRETCHES + 1 + MAX_STRETCHES * len(Stretch._fields)


class Board:
    """Numbers in memory that workers see too; a pickle on its way to one holds the same memory."""

    def __init__(self) -> None:
        """What the next pass reads is not told yet."""
        self._numbers = torch.zeros(_NUMBERS, dtype=torch.int64).share_memory_()
        self.last_read = None

    def tell(self, progress: Progress, workers: int) -> None:
        """Tells the workers of the next pass where it begins; how many they are, where somebody knows, else 0."""
        numbers = [int(number) for stretch in progress.history for number in stretch]
        self._numbers[_EPOCH], self._numbers[_CONSUMED] = progress.epoch, progress.consumed
        self._numbers[_BEGUN], self._numbers[_STRETCHES] = workers, len(progress.history)
        self._numbers[_STRETCHES + 1 : _STRETCHES + 1 + len(numbers)] = torch.tensor(numbers, dtype=torch.int64)

    def progress(self) -> Progress:
        """Where the next pass begins, as told."""
        width, numbers = len(Stretch._fields), self._numbers.tolist()
        first = _STRETCHES + 1
        found = []
        for at in range(first, first + numbers[_STRETCHES] * width, width):
            world, workers, batch_size, drop_last, steps = numbers[at : at + width]
            found.append(Stretch(world, workers, batch_size, bool(drop_last), steps))
        return Progress(numbers[_EPOCH], numbers[_CONSUMED], tuple(found))

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

    def copied(self) -> Board:
        """A board of its own that says the same."""
        twin = Board()
        twin._numbers.copy_(self._numbers)
        return twin

    def __setstate__(self, state: dict[str, torch.Tensor]) -> None:
        """From a pickle, which may have been a file."""
        self._numbers = state["_numbers"].share_memory_()

    def _is_first(self, at: int) -> bool:
        first = not self._numbers[at]
        self._numbers[at] = 1
        return first
