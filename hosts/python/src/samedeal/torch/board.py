"""Memory that all processes of a loader share, so that persistent workers follow to the next epoch."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .. import ContradictionError
from ..files.failures import joined
from ..generated.limits import MAX_TEXT
from .rest import Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EPOCH, _REST, _LAST_READ, _TOLD_EPOCH, _TOLD_LANES, _TOLD_STEPS, _TOLD_MIXING, _TOLD_GROUPS = range(8)
_TOLD_ALONE, _BEGUN, _LANES, _WINDOW, _BYTES = range(8, 13)
_NONE = -1
_STATE = 8 * (_BYTES + 1)
"""The byte at which the state begins, after the numbers."""
SLOTS = 65
"""Slots with ranges of failed rows: of the main process, and of 64 workers. None waits, because each process writes
to its own slot."""
_COUNTS = (_STATE + MAX_TEXT) // 8
"""Where the number of ranges of each slot stands. The numbers are together, so that to ask for them needs one page."""
_OWN, _EACH = 2**16, 2**12
"""How many ranges the slot of the main process has room for, and that of a worker."""
_RANGE = 16
"""Bytes of a range: the first sample and the number of samples."""
_RECORDS = 8 * (_COUNTS + SLOTS)
"""The byte at which the ranges begin: those of the main process, and then those of the workers."""
_SIZE = _RECORDS + _RANGE * (_OWN + (SLOTS - 1) * _EACH)
FAILED = "failed_rows"
"""The member of a state, beside its text, that has the rows that failed: pairs of a sample and a number of samples."""


class Board:
    """Numbers and a state in memory that loader workers share.

    Forked workers share memory with their parent without a name or a descriptor, and only pages that are written take
    space. For workers that are started otherwise, shared memory with a name is made when the first of them gets the
    pickle. From then on, every value is written to both memories.
    """

    def __init__(self) -> None:
        """Makes a board. `tell` has not written to it yet."""
        self._named: torch.Tensor | None = None
        self._parts = [memoryview(mmap.mmap(-1, _SIZE))]
        """The memories that are written. This process reads the last one."""
        self.last_read = None

    def tell(self, progress: Progress, workers: int) -> None:
        """Writes for the workers where the next pass begins. `workers`: how many they are; 0 if that is unknown."""
        text = (progress.state or "").encode()
        for part in self._parts:
            part[_STATE : _STATE + len(text)] = text
        self._set(_EPOCH, progress.epoch)
        self._set(_REST, int(progress.is_rest))
        self._set(_BEGUN, workers)
        self._set(_BYTES, len(text))

    def progress(self) -> Progress:
        """The place at which the next pass begins, as `tell` wrote it."""
        text = str(self._parts[-1][_STATE : _STATE + self._get(_BYTES)], "utf-8")
        return Progress(self._get(_EPOCH), text or None, bool(self._get(_REST)))

    @property
    def workers(self) -> int:
        """How many workers read the newest pass; 0 if none do, or if the number is unknown."""
        return self._get(_BEGUN)

    @workers.setter
    def workers(self, workers: int) -> None:
        self._set(_BEGUN, workers)

    @property
    def lanes(self) -> tuple[int, int]:
        """The lanes and the shuffle window that were chosen, or those of the state that was loaded since."""
        return self._get(_LANES), self._get(_WINDOW)

    @lanes.setter
    def lanes(self, lanes: tuple[int, int]) -> None:
        self._set(_LANES, lanes[0])
        self._set(_WINDOW, lanes[1])

    @property
    def last_read(self) -> int | None:
        """The epoch that was read last."""
        epoch = self._get(_LAST_READ)
        return None if epoch == _NONE else epoch

    @last_read.setter
    def last_read(self, epoch: int | None) -> None:
        self._set(_LAST_READ, _NONE if epoch is None else epoch)

    def forget_read(self) -> None:
        """Called when another epoch or state was set: nothing of it was read, and no warning was given."""
        self.last_read = None
        self._set(_TOLD_EPOCH, 0)

    def is_first_of_epochs(self) -> bool:
        """Whether no process has warned yet of an epoch that is read again. Records that one has."""
        return self._is_first(_TOLD_EPOCH)

    def is_first_of_lanes(self) -> bool:
        """Whether this process is the first that warns of shared lanes."""
        return self._is_first(_TOLD_LANES)

    def is_first_of_steps(self) -> bool:
        """Whether this process is the first that warns of ranks that end at different steps."""
        return self._is_first(_TOLD_STEPS)

    def is_first_of_mixing(self) -> bool:
        """Whether this process is the first that warns of readers with few lanes."""
        return self._is_first(_TOLD_MIXING)

    def is_first_of_groups(self) -> bool:
        """Whether this process is the first that warns of row groups in which many lanes lie."""
        return self._is_first(_TOLD_GROUPS)

    def is_first_alone(self) -> bool:
        """Whether no process has checked yet if it reads all samples without knowing its rank. Records that one has."""
        return self._is_first(_TOLD_ALONE)

    @property
    def num_records(self) -> int:
        """How many ranges of failed rows all processes have recorded."""
        return int(np.frombuffer(self._parts[-1], "<i8", SLOTS, 8 * _COUNTS).sum())

    def records(self) -> NDArray[np.int64]:
        """The first sample and the number of samples of each range, in any order."""
        found = [np.zeros(0, dtype=np.int64)]
        for slot in range(SLOTS):
            if count := self._get(_COUNTS + slot):
                found.append(np.frombuffer(self._parts[-1], "<i8", 2 * count, _slot(slot)))
        return np.concatenate(found).reshape(-1, 2)

    def record(self, slot: int, first: int, count: int) -> bool:
        """Adds a range to the slot of this process: 0, or 1 + the number of the worker. Returns False if it is full."""
        known = self._get(_COUNTS + slot)
        if known == _room(slot):
            return False
        at = (_slot(slot) + _RANGE * known) // 8
        self._set(at, first)
        self._set(at + 1, count)
        # Last, so that no other process reads a range before it is complete.
        self._set(_COUNTS + slot, known + 1)
        return True

    def check_room(self, slot: int, ranges: int) -> None:
        """Raises an error if the slot of this process has no room for so many more ranges.

        Raises:
            ContradictionError: There is no room.
        """
        _check_room(ranges, _room(slot) - self._get(_COUNTS + slot))

    def copied(self) -> Board:
        """A separate board with the same contents."""
        return _of_contents(*self._contents())

    def __reduce__(self) -> tuple[Callable[..., Board], tuple[bytes, list[list[int]]]]:
        """Pickles the contents, for example into a file: the copy shares no memory."""
        return _of_contents, self._contents()

    def _contents(self) -> tuple[bytes, list[list[int]]]:
        return self._bytes(), self._joined()

    def _joined(self) -> list[list[int]]:
        """The ranges of all slots as another memory gets them: all in the slot of the main process.

        This slot has less room than all slots together, so that ranges that touch one another become one.

        Raises:
            ContradictionError: There is no room for them.
        """
        ranges = joined(self.records()).tolist()
        _check_room(len(ranges), _OWN)
        return [[first, end - first] for first, end in ranges]

    def _bytes(self) -> bytes:
        """The bytes of the numbers and of the state."""
        return bytes(self._parts[-1][: _STATE + self._get(_BYTES)])

    def _get(self, at: int) -> int:
        return int.from_bytes(self._parts[-1][8 * at : 8 * at + 8], "little", signed=True)

    def _set(self, at: int, number: int) -> None:
        for part in self._parts:
            part[8 * at : 8 * at + 8] = number.to_bytes(8, "little", signed=True)

    def _is_first(self, at: int) -> bool:
        first = not self._get(at)
        self._set(at, 1)
        return first

    def _restore(self, records: list[list[int]]) -> None:
        """Writes ranges into the newest memory, in the slot of the main process."""
        for slot in range(SLOTS):
            self._set(_COUNTS + slot, 0)
        for first, count in records:
            self.record(0, first, count)

    def _add(self, named: torch.Tensor) -> None:
        self._named = named
        self._parts.append(memoryview(named.numpy()))


def _slot(slot: int) -> int:
    """The byte at which the ranges of a slot begin."""
    return _RECORDS if slot == 0 else _RECORDS + _RANGE * (_OWN + (slot - 1) * _EACH)


def _room(slot: int) -> int:
    """How many ranges a slot has room for."""
    return _EACH if slot else _OWN


def _check_room(ranges: int, room: int) -> None:
    if ranges > room:
        allowed = f"up to {room}: there is no room for more separate ranges of rows that failed"
        raise ContradictionError(FAILED, f"{ranges} ranges", allowed)


def _of_contents(content: bytes, records: list[list[int]]) -> Board:
    board = Board()
    board._parts[0][: len(content)] = content
    for first, count in records:
        board.record(0, first, count)
    return board


def _of_tensor(named: torch.Tensor) -> Board:
    """The board of a worker, with the memory that its parent writes to."""
    board = Board()
    board._add(named)
    return board


def _to_worker(board: Board) -> tuple[Any, ...]:
    if board._named is None:
        records = board._joined()
        named = torch.zeros(_SIZE, dtype=torch.uint8)
        content = board._bytes()
        named[: len(content)] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        board._add(named.share_memory_())
        board._restore(records)
    return _of_tensor, (board._named,)


# Only for the pickler of `multiprocessing`; other pickles are separate copies.
ForkingPickler.register(Board, _to_worker)
