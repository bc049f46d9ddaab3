"""Parts of samples, for samples that are too long for a batch or a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from torch.utils.data import Dataset

from .. import ContradictionError, WrongTypeError
from ..engine import arguments as check
from ..engine.errors import IndexOutOfRangeError
from .sized import length_of

INPUTS = "input_ids"


class Part(NamedTuple):
    """A part of a sample, which a `BatchSampler` with `too_long="split"` gives in place of an index.

    The part is the whole sample if the sample is not too long.
    """

    sample: int
    """The index of the sample."""
    start: int
    """The first token of the part in the sample."""
    length: int
    """The number of tokens in the part."""

    def __index__(self) -> int:
        """Raises an error, since only a dataset that takes numbers and no parts calls this.

        Raises:
            WrongTypeError: Always, because a part is no sample index.
        """
        raise WrongTypeError(
            "dataset", f"one that has no {self}", "PartsDataset(dataset), which gives parts of samples"
        )


def parts_of(items: Iterable[np.ndarray[Any, Any]]) -> list[Part]:
    """The parts with these samples, starts and lengths."""
    return [Part(*part) for part in zip(*(values.tolist() for values in items), strict=True)]


class PartsDataset(Dataset[Any]):
    """A dataset that gives parts of its samples: `dataset[Part(sample, start, length)]` has these tokens alone.

    Use it with a `BatchSampler` that has `too_long="split"`:

        sampler = BatchSampler(lengths, max_tokens=16_384, max_length=4_096, too_long="split")
        loader = DataLoader(PartsDataset(dataset), batch_sampler=sampler, collate_fn=PadCollator())

    A sample is a sequence of tokens, or a dictionary with a sequence `input_ids` and other sequences of the same
    length, as for the collators. Values that a sample has only once are in each of its parts. A sample that has several
    parts in a batch is read once for this batch.

    If the dataset has a method `get_part(sample, start, length)`, it is called instead, and no whole sample is read:
    for tokens in a memory-mapped file, or for samples of another kind. A dataset of your own may also take a `Part` in
    its `__getitem__`, without this class.
    """

    def __init__(self, dataset: Any) -> None:
        """Takes the dataset, which gives samples by number."""
        self.dataset = dataset

    def __len__(self) -> int:
        """Number of samples of the dataset.

        Raises:
            WrongTypeError: The dataset has no length.
        """
        return length_of(self.dataset)

    def __getstate__(self) -> dict[str, Any]:
        """The attributes for pickle and copy."""
        check.sent("dataset", self.dataset, "a dataset")
        return self.__dict__

    def __getitem__(self, part: Part | tuple[int, int, int]) -> Any:
        """A part of a sample.

        Raises:
            WrongTypeError: The value is no `Part`, or the sample has no tokens that can be cut.
            IndexOutOfRangeError: There is no such sample.
            ContradictionError: The sample has fewer tokens than its length said.
        """
        return self.__getitems__([part])[0]

    def __getitems__(self, parts: Iterable[Part | tuple[int, int, int]]) -> list[Any]:
        """The parts of a batch; a `DataLoader` asks for them together."""
        count = len(self)
        return read_parts(self.dataset, [_checked(part, count) for part in parts])


def _checked(part: Any, count: int) -> Part:
    if not isinstance(part, tuple) or len(part) != len(Part._fields):
        allowed = 'a samedeal.torch.Part, as a BatchSampler with too_long="split" gives them'
        raise WrongTypeError("part", check.described(part), allowed)
    found = Part(*(check.integer("part", number, check.COUNT) for number in part))
    if found.sample >= count:
        raise IndexOutOfRangeError("part", f"of sample {found.sample}", check.below(count))
    return found


def read_parts(dataset: Any, parts: Sequence[Part]) -> list[Any]:
    """Parts of the samples of a dataset. Each sample is read once, unless the dataset has a method `get_part`."""
    if callable(get_part := getattr(dataset, "get_part", None)):
        return [get_part(*part) for part in parts]
    samples = {part.sample: None for part in parts}
    whole = {sample: dataset[sample] for sample in samples}
    return [_cut(whole[part.sample], part) for part in parts]


def _cut(sample: Any, part: Part) -> Any:
    if not isinstance(sample, Mapping):
        return _tokens(INPUTS, sample, part)
    if INPUTS not in sample:
        _refuse(sample)
    return {
        name: _tokens(name, value, part) if name == INPUTS or is_sequence(value) else value
        for name, value in sample.items()
    }


def _tokens(name: str, value: Any, part: Part) -> Any:
    if not is_sequence(value):
        _refuse(value)
    if len(value) < (end := part.start + part.length):
        found = f"{len(value)} tokens of {name} in sample {part.sample}"
        raise ContradictionError("samples", check.shown(found), f"{end} or more: its length was planned with")
    return value[part.start : end]


def _refuse(value: Any) -> None:
    allowed = f"tokens, or a dictionary with {INPUTS}; or a dataset with a method get_part(sample, start, length)"
    raise WrongTypeError("samples", check.described(value), allowed)


def is_sequence(value: Any) -> bool:
    """Whether a value of a sample has an item for each token."""
    if hasattr(value, "ndim"):
        return bool(value.ndim)
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
