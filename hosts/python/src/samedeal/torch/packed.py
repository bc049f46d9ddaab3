"""A dataset whose items are packed rows of another dataset. The same samples share a row in every epoch."""

from __future__ import annotations

import bisect
import copy
import itertools
import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from torch.utils.data import Dataset

from .. import Batcher, ContradictionError, MissingError, WrongTypeError
from ..batch.binding import Plan
from ..batch.index import text_of
from ..batch.lengths import Lengths
from ..engine import arguments as check
from ..engine.errors import IndexOutOfRangeError
from .batches import check_options, lengths_or_column
from .parts import Part, parts_of, read_parts
from .sized import length_of

_HELD = 2**24
"""The most items of all cached windows. Without a cache, rows in shuffled order would plan their windows each time."""
_TAKEN = 2**14
"""The most rows that one call takes from a plan."""

_OWN: dict[str, Any] = {
    "strategy": "pack",
    # Each row is one step: the number of a row is the number of its step, and an index of steps is an index of rows.
    "max_batch_size": 1,
    "tail": "keep",
    "rank": 0,
    "world_size": 1,
}
"""Options that rows are always packed with."""


class PackedRow(list[Any]):
    """The samples of one row. `PackCollator` keeps them in a row of their own."""

    capacity: int | None
    """The tokens of a row."""

    def __init__(self, samples: Iterable[Any], capacity: int | None = None) -> None:
        """Takes the samples of a row, and the capacity that was planned for all rows of the dataset."""
        super().__init__(samples)
        self.capacity = capacity


class _Window(NamedTuple):
    """The rows of a window."""

    samples: np.ndarray[Any, Any]
    starts: np.ndarray[Any, Any]
    lengths: np.ndarray[Any, Any]
    ends: np.ndarray[Any, Any]
    """The first item of each row, and the end of the last row."""

    @classmethod
    def of(cls, plan: Plan, start: int, end: int) -> _Window:
        """Plans the rows `start` to `end` - 1."""
        runs = [plan.take(0, first, min(_TAKEN, end - first)) for first in range(start, end, _TAKEN)]
        before = np.cumsum([0, *(len(run.samples) for run in runs)])
        ends = [run.row_ends + first for run, first in zip(runs, before, strict=False)]
        samples, starts, lengths = (np.concatenate([run[field] for run in runs]) for field in range(3))
        return cls(samples, starts, lengths, np.concatenate([before[:1], *ends]))


class PackedDataset(Dataset[PackedRow]):
    """The samples of a dataset in rows of at most `capacity` tokens: item i is the list of the samples in row i.

    Rows have numbers: a `DistributedSampler`, a blend or a `StepBatchSampler` deals them like any samples, in another
    order in each epoch, and resumes on any number of ranks. Use a `PackCollator` as `collate_fn`: it has the capacity
    of the rows.

    Its main use is to mix datasets **by tokens**. Blends count samples, and samples of one dataset may be ten times as
    long as those of another one. Rows are of one length:

        rows = {name: PackedDataset(data, capacity=8192, column="input_ids") for name, data in datasets.items()}
        dataset, order = interleave(rows, {"web": 7, "code": 3}, seed=42)
        sampler = DistributedSampler(dataset, order=order)
        loader = DataLoader(dataset, batch_size=4, sampler=sampler, collate_fn=PackCollator(8192))

    In every prefix, the rows of each dataset are in proportion to its weight (`Sampler.source_bounds` says how
    exactly). `fill` is the share of cells that have tokens, mostly more than 0.95. If `fill` differs between datasets,
    divide the weight of each dataset by its `fill`, as a whole number, such as `round(7e6 / rows["web"].fill)`.

    Documents that are longer than a row come whole with `too_long="split"`: each row has the part of them that was
    planned for it. All tokens come once.

    Nothing is packed when the dataset is made: rows are planned a window of samples at a time, when one of them is
    read. `len`, which samplers and blends need, `tokens` and `fill` plan all windows, once; with an index (`use_index`)
    they plan nothing. One job makes the index, with `samedeal.build_index(rows.batcher, path)`. Windows that were
    planned are cached, up to 2**24 samples in all.

    The same samples share a row in every epoch. `BatchSampler` with the strategy "pack" packs each epoch anew, and
    mixes by samples.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        capacity: SupportsIndex,
        lengths: Any = None,
        column: str | None = None,
        unit: str | None = None,
        **options: Any,
    ) -> None:
        """Checks the options.

        Args:
            dataset: Gives samples by number.
            capacity: Number of tokens in a row.
            lengths: As for `samedeal.Batcher`.
            column: In place of `lengths`: the column of the dataset that has lengths, or the sequences themselves. The
                dataset gives it as `dataset[column]`, as those of Hugging Face do.
            unit: What to count in a column of texts, as for `BatchSampler`.
            options: Other parameters of `Batcher` for the strategy "pack": `seed`, `packing`, `too_long`,
                `batch_window`, and so on. With `too_long="split"` or "truncate", rows have parts of samples, which are
                cut as a `PartsDataset` cuts them. With "drop", samples that are too long are in no row.

        Raises:
            SamedealError: A value is not allowed, or contradicts another one, as in `Batcher`.
            TypeError: `Batcher` has no such parameter.
        """
        if (lengths is None) == (column is None):
            if lengths is None:
                raise MissingError("lengths", "", "lengths, or a column")
            raise ContradictionError("lengths", "there", "lengths, or a column; not both")
        check_options("PackedDataset", options, _OWN)
        if options.get("too_long") == "single":
            raise ContradictionError("too_long", "single", "another one: every row has the same number of tokens")
        found = Lengths.of(lengths_or_column(lengths, dataset, column, unit))
        count = length_of(dataset)
        if found.samples not in (None, count):
            raise ContradictionError("lengths", f"{found.samples} numbers", f"{count}, one for each sample")
        self.dataset = dataset
        self.capacity = check.integer("capacity", capacity, check.U32_FROM_1)
        self._batcher = Batcher(found.given, capacity=self.capacity, **_OWN, **options)
        self._cuts = options.get("too_long") in ("split", "truncate")
        self._num_windows = self._batcher.num_windows
        # Threads need no lock, because both attributes are replaced, not changed. If a thread replaces a longer value
        # of another thread, windows are planned again, which costs only time.
        self._ends: list[int] = [0]
        """0, then the number of rows up to the end of the first window, of the second, and so on, as far as known."""
        self._held: dict[int, _Window] = {}

    @property
    def batcher(self) -> Batcher:
        """A copy of the `Batcher` whose steps are the rows: for `samedeal.build_index`, and for all other questions."""
        return copy.copy(self._batcher)

    def use_index(self, index: str | os.PathLike[str]) -> None:
        """Uses the index of the rows, so that `len`, `tokens` and `fill` plan nothing.

        Args:
            index: The path of a file that `samedeal.build_index(rows.batcher, path)` wrote, or its text.

        Raises:
            WrongTypeError: The text is no index, or was changed.
            ContradictionError: The index is of other rows, or does not have all windows.
            OSError: The file cannot be read.
        """
        text = text_of(index)
        self._batcher.use_index(text)
        self._keep(_ends_in(text))

    @property
    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe of the packing: datasets with equal fingerprints have the same rows."""
        return self._batcher.recipe_fingerprint()

    @property
    def tokens(self) -> int:
        """Number of tokens in all rows."""
        self._all_ends()
        return self._batcher.metrics().tokens

    @property
    def fill(self) -> float:
        """The share of all cells that have tokens."""
        return self.tokens / (len(self) * self.capacity) if len(self) else 1.0

    def __len__(self) -> int:
        """Number of rows. This plans all windows, once, unless there is an index."""
        return self._all_ends()[-1]

    def __getitem__(self, row: SupportsIndex) -> PackedRow:
        """The samples of a row, or the parts of samples that are in it; negative numbers count from the end.

        Raises:
            IndexOutOfRangeError: There is no such row.
            OutOfRangeError: A sample of its window is too long.
            WrongTypeError: A sample that may be cut has no tokens that can be cut.
            ContradictionError: A sample has fewer tokens than its length said.
        """
        parts = self.parts(row)
        samples = read_parts(self.dataset, parts) if self._cuts else (self.dataset[part.sample] for part in parts)
        return PackedRow(samples, self.capacity)

    def samples(self, row: SupportsIndex) -> np.ndarray[Any, Any]:
        """The indices of the samples of a row; negative numbers count from the end.

        Raises:
            IndexOutOfRangeError: There is no such row.
            OutOfRangeError: A sample of its window is too long.
        """
        window, items = self._found(row)
        return window.samples[items]

    def parts(self, row: SupportsIndex) -> list[Part]:
        """The parts of samples that are in a row, in order; negative numbers count from the end.

        Raises:
            IndexOutOfRangeError: There is no such row.
            OutOfRangeError: A sample of its window is too long.
        """
        window, items = self._found(row)
        return parts_of(values[items] for values in window[:3])

    def _found(self, row: SupportsIndex) -> tuple[_Window, slice]:
        """The window of a row, and which of its items are in the row."""
        given = check.whole("row", row)
        number = given + len(self) if given < 0 else given
        ends = self._ends
        while number >= ends[-1] and len(ends) <= self._num_windows:
            [rows] = json.loads(self._batcher.index(len(ends) - 1, 1))["steps"]
            ends = [*ends, ends[-1] + rows]
        self._keep(ends)
        if not 0 <= number < ends[-1]:
            allowed = f"{-ends[-1]} to {ends[-1] - 1}" if ends[-1] else "none: there are no rows"
            raise IndexOutOfRangeError("row", check.shown(given), allowed)
        which = bisect.bisect_right(ends, number) - 1
        window = self._held.get(which) or self._read(which, *ends[which : which + 2])
        own = number - ends[which]
        return window, slice(window.ends[own], window.ends[own + 1])

    def _read(self, which: int, start: int, end: int) -> _Window:
        """Plans a window and caches it. Drops the oldest windows while all together have more than `_HELD` items."""
        window = self._batcher._engine.use(_Window.of, start, end)
        held = {**self._held, which: window}
        items = sum(len(one.samples) for one in held.values())
        for oldest in list(held)[:-1]:
            if items <= _HELD:
                break
            items -= len(held.pop(oldest).samples)
        self._held = held
        return window

    def _all_ends(self) -> list[int]:
        """The ends of all windows, in rows. Plans all windows, if they are not known."""
        ends = self._ends
        if len(ends) <= self._num_windows:
            text = self._batcher.index(0, self._num_windows)
            self._batcher.use_index(text)
            ends = _ends_in(text)
            self._keep(ends)
        return ends

    def _keep(self, ends: list[int]) -> None:
        """Stores the ends of windows, unless another thread has stored more."""
        if len(ends) > len(self._ends):
            self._ends = ends

    def __getstate__(self) -> dict[str, Any]:
        """The attributes for pickle and copy, without the cached windows."""
        check.sent("dataset", self.dataset, "a dataset")
        return {**self.__dict__, "_held": {}}


def _ends_in(index: str) -> list[int]:
    """The ends of the windows of an index, in rows."""
    return [0, *itertools.accumulate(json.loads(index)["steps"])]


def rows_in(samples: Any) -> list[PackedRow] | None:
    """The rows of a batch, if they were packed before.

    Raises:
        WrongTypeError: Some samples of the batch are packed rows, and others are not.
    """
    if not isinstance(samples, list) or not any(isinstance(sample, PackedRow) for sample in samples):
        return None
    for row in samples:
        if not isinstance(row, PackedRow):
            raise WrongTypeError("samples", check.described(row), "rows of a PackedDataset, as the others are")
    return samples
