"""A dataset of packed rows: samples of one source that share a row, packed once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np
from torch.utils.data import Dataset

from .. import Batcher, ContradictionError, WrongTypeError
from ..batch.lengths import Lengths
from ..engine import arguments as check
from ..engine.errors import IndexOutOfRangeError
from .batches import check_options, cut_at, lengths_or_column

_AT_A_TIME = 1024
"""Rows of a batch of the plan: rows are the same in any batch, and few batches are quick to go through."""

_OWN: dict[str, Any] = {
    "strategy": "pack",
    "max_batch_size": _AT_A_TIME,
    "tail": "keep",
    "rank": 0,
    "world_size": 1,
}
"""What rows are packed with, whatever else is given."""


class PackedRow(list[Any]):
    """The samples of one row. `PackCollator` keeps them in a row of their own."""

    capacity: int | None
    """The tokens of a row."""
    max_length: int | None
    """Where longer samples are to be cut, if there are such samples in the dataset."""

    def __init__(self, samples: Iterable[Any], capacity: int | None = None, max_length: int | None = None) -> None:
        """Takes the samples of a row, and what was planned for all rows of the dataset."""
        super().__init__(samples)
        self.capacity, self.max_length = capacity, max_length


class PackedDataset(Dataset[PackedRow]):
    """The samples of a dataset in rows of at most `capacity` tokens: item i is the list of the samples in row i.

    Rows are packed once, when the dataset is made, so that they have numbers: a `DistributedSampler`, a blend or a
    `StepBatchSampler` deals them like any samples, in another order in each epoch, and resumes on any number of ranks.
    Use a `PackCollator` as `collate_fn`: it has the capacity of the rows.

    Its main use is to mix datasets **by tokens**. Blends count samples, and samples of one dataset may be ten times as
    long as those of another one. Rows are of one length:

        rows = {name: PackedDataset(data, capacity=8192, column="input_ids") for name, data in datasets.items()}
        dataset, order = interleave(rows, {"web": 7, "code": 3}, seed=42)
        sampler = DistributedSampler(dataset, order=order)
        loader = DataLoader(dataset, batch_size=4, sampler=sampler, collate_fn=PackCollator(8192))

    In every prefix, the rows of each dataset are in proportion to its weight (`Sampler.source_bounds` says how
    exactly). Of the cells of a row, `fill` are tokens on average, mostly more than 0.95: if that differs between
    datasets, divide their weights by it, as whole numbers, such as `round(7e6 / rows["web"].fill)`.

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
        """Packs the rows.

        Args:
            dataset: Gives samples by number.
            capacity: Number of tokens in a row.
            lengths: The length of every sample, in tokens.
            column: In place of `lengths`: the column of the dataset that has lengths, or the sequences themselves. The
                dataset gives it as `dataset[column]`, as those of Hugging Face do.
            unit: What to count in a column of texts, as for `BatchSampler`.
            options: Other parameters of `Batcher` for the strategy "pack": `seed`, `packing`, `too_long`,
                `batch_window`, and so on. With `too_long="truncate"`, give the collator the same `max_length`. With
                "drop", samples that are too long are in no row.

        Raises:
            SamedealError: A value is not allowed, or contradicts another one, as in `Batcher`.
            TypeError: `Batcher` has no such parameter.
        """
        if (lengths is None) == (column is None):
            raise ContradictionError(
                "lengths", "None" if lengths is None else "there", "lengths, or a column; not both"
            )
        check_options("PackedDataset", options, _OWN)
        if options.get("too_long") == "split":
            raise ContradictionError("too-long", "split", "another; a row has whole samples")
        found = Lengths.of(lengths_or_column(lengths, dataset, column, unit))
        try:
            count = len(dataset)
        except TypeError as error:
            raise WrongTypeError("dataset", check.described(dataset), "a dataset that has a len") from error
        if found.samples != count:
            raise ContradictionError("lengths", f"{found.samples} numbers", f"{count}, one for each sample")
        self.dataset = dataset
        self.capacity = check.integer("capacity", capacity, check.U32_FROM_1)
        batcher = Batcher(found.given, capacity=self.capacity, **_OWN, **options)
        samples, ends, tokens, before = [], [np.zeros(1, dtype=np.int64)], 0, 0
        for batch in batcher:
            samples.append(batch.samples)
            ends.append(batch.row_ends.astype(np.int64) + before)
            tokens += int(batch.lengths.sum(dtype=np.int64))
            before += len(batch.samples)
        end = cut_at({"capacity": self.capacity, **options})
        self._cut = end if batcher.metrics().truncated else None
        self._samples = np.concatenate([*samples, np.zeros(0, dtype=np.int64)])
        self._ends = np.concatenate(ends)
        self.tokens = tokens
        """Number of tokens in all rows."""
        self.recipe_fingerprint = batcher.recipe_fingerprint()
        """SHA-256 over the recipe of the packing: two datasets that have it in common have the same rows."""

    @property
    def fill(self) -> float:
        """The part of all cells that has tokens."""
        return self.tokens / (len(self) * self.capacity) if len(self) else 1.0

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._ends) - 1

    def __getitem__(self, row: SupportsIndex) -> PackedRow:
        """The samples of a row; negative numbers count from the end.

        Raises:
            IndexOutOfRangeError: There is no such row.
        """
        samples = (self.dataset[int(sample)] for sample in self.samples(row))
        return PackedRow(samples, self.capacity, self._cut)

    def samples(self, row: SupportsIndex) -> np.ndarray[Any, Any]:
        """The indices of the samples of a row; negative numbers count from the end.

        Raises:
            IndexOutOfRangeError: There is no such row.
        """
        number, count = check.whole("row", row), len(self)
        if not -count <= number < count:
            raise IndexOutOfRangeError(
                "row", str(number), f"{-count} to {count - 1}" if count else "none: there are no rows"
            )
        number %= count
        return self._samples[self._ends[number] : self._ends[number + 1]]


def rows_in(samples: Any) -> list[PackedRow] | None:
    """The rows of a batch, if they were packed before.

    Raises:
        WrongTypeError: Some of them are packed rows, and others are not.
    """
    if not isinstance(samples, list) or not any(isinstance(sample, PackedRow) for sample in samples):
        return None
    for row in samples:
        if not isinstance(row, PackedRow):
            raise WrongTypeError("samples", check.described(row), "rows of a PackedDataset, as the others are")
    return samples
