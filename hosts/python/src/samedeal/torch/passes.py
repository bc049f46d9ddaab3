"""Passes over a dataset in files: their items, and the states of their progress."""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .. import ContradictionError, OutOfRangeError, Reading, WrongTypeError
from ..engine import arguments as check
from ..files import ahead, batches
from ..files.failures import joined
from .board import FAILED
from .deals import Reader
from .failing import Applied
from .nested import PREFETCH
from .place import is_worker
from .rest import Progress
from .states import Pass, Start, text_of, warn_of_earlier_epoch, wrapped
from .tensors import Sent, compact, to_tensors
from .torchdata import READER

if TYPE_CHECKING:
    from .dataset import ShardedDataset


class Opening(Start):
    """The place at which a pass of a dataset began."""

    def __init__(self, dataset: ShardedDataset, progress: Progress, workers: int) -> None:
        self.progress = progress
        self.workers = workers
        self.group = dataset._group(workers)
        self._board = dataset._board

    @functools.cached_property
    def reading(self) -> Reading:
        """The reading of the epoch, or of the rest of it, at this place."""
        return self.group.reading(self.progress)

    def after(self, taken: int) -> dict[str, Any]:
        """The state after every rank took `taken` batches, or all its batches if it has fewer."""
        try:
            return self._with_failed(wrapped(self.reading.state(taken)))
        except OutOfRangeError as error:
            if error.field != "steps":
                raise
            # The error has the name of the parameter of `state_dict`.
            raise OutOfRangeError("taken", error.value, error.allowed) from None

    def _with_failed(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state with the rows that failed so far on this rank, if there are any."""
        if not self._board.num_records:
            return state
        ranges = joined(self._board.records()).tolist()
        return state | {FAILED: [[first, end - first] for first, end in ranges]}

    def ended(self, taken: int) -> dict[str, Any]:
        """The state after the pass ended on every rank, even on ranks that had more batches than this one."""
        return self.after(self.reading.steps.max)


class _Given(Pass):
    """The progress of a pass. The dataset refers to this object, not to the iterator, which is freed with the loop."""

    place: Opening

    def __init__(self, place: Opening, taken: int = 0) -> None:
        self.place = place
        self.taken = taken
        self.ended = False
        """Whether the pass has ended: another item was requested after the last one."""

    def state_dict(self) -> dict[str, Any]:
        """The state after every rank took as many items as this pass gave.

        If this pass has ended, it is the state after the pass ended on every rank.
        """
        return self.place.ended(self.taken) if self.ended else self.place.after(self.taken)


class Items:
    """The items that a reader gives in a pass, one after the other."""

    def __init__(self, owner: ShardedDataset, place: Opening, worker: int, *, sends: bool = False) -> None:
        """`sends`: whether the items go from a loader worker to the main process as they are."""
        self._owner = owner
        self._worker = worker
        self._inside = is_worker()
        self._sends = sends
        self.given = _Given(place)
        self.reader = self._read()

    def _read(self) -> Reader:
        owner, given = self._owner, self.given
        owner._find_rank()
        reader = owner._group(given.place.workers).reader(given.place.progress, owner.rank, self._worker, given.taken)
        # The generator must not refer to this iterator: the garbage collector frees a cycle on any thread, perhaps on
        # the prefetch thread that closing waits for.
        made = _made(owner, reader, given.place.progress.epoch, self._worker, self._inside, self._sends)
        self._items = made
        return reader

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        try:
            item = next(self._items)
        except StopIteration:
            self.given.ended = True
            self._owner._ended(self.given)
            raise
        self.given.taken += 1
        return item

    def close(self) -> None:
        """Ends the reading."""
        self._items.close()

    def state_dict(self) -> dict[str, Any]:
        """The state after every rank took as much as this pass gave; in a worker, the progress of this worker alone."""
        if not self._inside:
            return self.given.state_dict()
        return self.given.place.after(0) | {READER: self._identity() | {"taken": self.given.taken}}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues this pass from a state.

        Raises:
            ContradictionError: The state is of another dataset; or, in a worker, of other workers.
            WrongTypeError: The value is no state.
        """
        taken = 0
        if self._inside:
            text_of(state_dict)
            reader = state_dict.get(READER)
            own = self._identity()
            if not isinstance(reader, Mapping) or reader.keys() != {*own, "taken"}:
                raise WrongTypeError("state", check.described(reader), "what state_dict gave in a loader worker")
            for name, value in own.items():
                if reader[name] != value:
                    allowed = f"{check.shown(reader[name])}, which the state is of: one of Resumable goes with any"
                    raise ContradictionError(name, str(value), allowed)
            taken = check.integer("taken", reader["taken"], check.COUNT)
            state_dict = {key: value for key, value in state_dict.items() if key != READER}
        elif state_dict == self.state_dict():
            return
        slot = 1 + self._worker if self._inside else 0
        loaded = self._owner._parsed(state_dict, slot)
        self._owner._take(loaded, slot)
        progress = loaded.progress
        begun = self.given.place.progress.epoch
        if progress.epoch < begun and not self._inside and self._owner._is_empty(progress):
            # The state ends an earlier epoch, and another epoch was set since. This pass stays as it is.
            return
        if progress.epoch < begun and self._worker == 0:
            # In a worker, also if nothing is left here: a worker does not know whether other workers have items left.
            warn_of_earlier_epoch(begun, progress.epoch)
        self.close()
        # Changes `given` in place, because the dataset counts by this object.
        self.given.place, self.given.taken = Opening(self._owner, progress, self.given.place.workers), taken
        self.given.ended = False
        self.reader = self._read()

    def _identity(self) -> dict[str, int]:
        own = self.given.place.group
        return {
            "world_size": own.world_size,
            "workers": own.workers,
            "worker": self._worker,
            "batch_size": own.batch_size,
        }


def _made(
    owner: ShardedDataset, reader: Reader, epoch: int, worker: int, inside: bool, sends: bool
) -> Generator[Any, None, None]:
    failures = owner._failures(1 + worker if inside else 0)
    source = ahead(reader.tables(owner.marks, failures))
    size = owner.batch_size
    items = _rows(source) if size is None else batches(source, size, owner.drop_last)

    def made_of(item: Any) -> Any:
        if sends and owner.transform is to_tensors and size is not None:
            return Sent(item, as_tensors=True)
        made = item if owner.transform is None else owner.transform(item)
        if inside and isinstance(made, pa.RecordBatch):
            made = Sent(made) if sends else compact(made)
        return made

    applied = Applied(made_of, reader, owner.shards, owner.marks, failures)
    # The number of items that are read if a caller takes only the first one: in a worker, the loader fetches PREFETCH
    # more ahead.
    look = 1 + PREFETCH if inside else 1
    number = 0
    try:
        for item in items:
            number += 1
            if number > look and worker == 0:
                owner._board.last_read = epoch
            yield applied(number - 1, item)
        if number and not inside:
            owner._board.last_read = epoch
    finally:
        source.close()


def _rows(tables: Iterator[pa.Table]) -> Iterator[dict[str, Any]]:
    for table in tables:
        for batch in table.to_batches(max_chunksize=1024):
            yield from batch.to_pylist()
