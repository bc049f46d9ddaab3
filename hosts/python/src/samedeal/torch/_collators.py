"""From the samples of a batch to the tensors that a model takes: what a DataLoader calls `collate_fn`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np
import torch

from .. import ContradictionError, OutOfRangeError, WrongTypeError
from .. import _arguments as check
from .._batching import PADDING
from ..collate import lengths_of, packed_cells, padded_cells

INPUTS, MASK, LABELS = "input_ids", "attention_mask", "labels"
_IGNORED = -100
"""What torch's cross-entropy takes for no label."""


class _Collator:
    """What both have in common: samples to columns of sequences, and columns to their cells."""

    def __init__(
        self,
        padding_value: Any,
        label_padding: Any,
        padding: Mapping[str, Any] | None,
        max_length: SupportsIndex | None,
    ) -> None:
        self.padding = {INPUTS: padding_value, LABELS: label_padding, **(padding or {})}
        for name, value in self.padding.items():
            if not isinstance(value, (bool, int, float)):
                raise WrongTypeError("padding-value", check.described(value), f"a number, for {name}")
        self.max_length = None if max_length is None else check.integer("max-length", max_length, check.U32)

    def _columns(self, samples: Sequence[Any]) -> tuple[dict[str, list[torch.Tensor]], dict[str, Any]]:
        """The sequences of each column, and what there is once for each sample."""
        if isinstance(samples, (str, bytes, Mapping)) or not isinstance(samples, Sequence):
            raise WrongTypeError("samples", check.described(samples), "a list of samples")
        records = [sample if isinstance(sample, Mapping) else {INPUTS: sample} for sample in samples]
        if not records:
            # A rank may have nothing in a step.
            return {INPUTS: []}, {}
        names = list(records[0])
        for record in records:
            if set(record) != set(names) or INPUTS not in record:
                found = ", ".join(map(str, record)) or "none"
                raise ContradictionError(
                    "samples", check.shown(found), f"the same columns in each, one of them {INPUTS}"
                )
        sequences: dict[str, list[torch.Tensor]] = {}
        single: dict[str, Any] = {}
        for name in names:
            values = [record[name] for record in records]
            if name == INPUTS or (name != INPUTS and _is_sequence(values[0])):
                sequences[name] = [self._sequence(name, value) for value in values]
            else:
                single[name] = _stacked(values)
        lengths = [len(part) for part in sequences[INPUTS]]
        for name, parts in sequences.items():
            for i, part in enumerate(parts):
                if len(part) != lengths[i]:
                    value = f"{len(part)} tokens of {name} in sample {i}"
                    raise ContradictionError("samples", check.shown(value), f"{lengths[i]}, as {INPUTS} has")
        return sequences, single

    def _sequence(self, name: str, value: Any) -> torch.Tensor:
        try:
            found = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
        except Exception as error:
            raise WrongTypeError("samples", check.described(value), f"a sequence of numbers as {name}") from error
        if found.ndim == 0:
            raise WrongTypeError("samples", check.described(value), f"a sequence of numbers as {name}")
        if found.numel() == 0 and not isinstance(value, (torch.Tensor, np.ndarray)):
            # What an empty list holds has no type.
            found = found.to(torch.int64)
        return found if self.max_length is None else found[: self.max_length]

    def _cells(
        self, name: str, parts: list[torch.Tensor], sources: np.ndarray[Any, Any], shape: tuple[int, int]
    ) -> torch.Tensor:
        """The tokens of a column in their cells."""
        known = [part for part in parts if len(part)] or parts[:1] or [torch.zeros(0, dtype=torch.int64)]
        dtype, value = known[0].dtype, self.padding.get(name, 0)
        for part in known[1:]:
            dtype = torch.promote_types(dtype, part.dtype)
        if not dtype.is_floating_point and (isinstance(value, float) or not _fits(value, dtype)):
            raise OutOfRangeError("padding-value", check.shown(value), f"a value of the type {dtype}, for {name}")
        filler = torch.full((1, *known[0].shape[1:]), value, dtype=dtype)
        try:
            # Behind all tokens, where cells of padding find it.
            tokens = torch.cat([*known, filler])
        except RuntimeError as error:
            shapes = ", ".join(sorted({str(tuple(part.shape[1:])) for part in known}))
            raise ContradictionError("samples", check.shown(shapes), f"tokens of one shape as {name}") from error
        index = np.minimum(sources, len(tokens) - 1, dtype=np.int64)
        return tokens.index_select(0, torch.from_numpy(index)).reshape((*shape, *tokens.shape[1:]))


class PadCollator(_Collator):
    """Samples to padded tensors, a row for each: a `collate_fn`.

    A sample is a dictionary with a sequence `input_ids`, and others of the same length such as `labels` and
    `attention_mask`; or it is a sequence alone. What is there once for each sample is stacked. The result is a
    dictionary of tensors: those columns, and an `attention_mask`, 1 where a token is.
    """

    def __init__(
        self,
        *,
        padding_value: float = 0,
        label_padding: float = _IGNORED,
        padding: Mapping[str, float] | None = None,
        side: str = "right",
        multiple: SupportsIndex = 1,
        width: SupportsIndex | None = None,
        max_length: SupportsIndex | None = None,
    ) -> None:
        """Checks the parameters.

        Args:
            padding_value: What is in `input_ids` where no token is.
            label_padding: The same for `labels`; -100 is what torch's cross-entropy leaves out.
            padding: The same for other columns, by name; 0 by default.
            side: On which side of a row the padding is, "right" or "left".
            multiple: The width is rounded up to a multiple of it.
            width: A width for all batches, in place of that of the longest sample.
            max_length: How many tokens of a sample are kept.

        Raises:
            SamedealError: A value is not allowed.
        """
        super().__init__(padding_value, label_padding, padding, max_length)
        self._layout: dict[str, Any] = {"width": width, "multiple": multiple, "side": side}
        padded_cells(np.zeros(0, dtype=np.uint32), **self._layout)

    def __call__(self, samples: Sequence[Any]) -> dict[str, Any]:
        """The tensors of a batch.

        Raises:
            SamedealError: The samples do not go together, or one is longer than `width`.
        """
        sequences, single = self._columns(samples)
        lengths = lengths_of(sequences[INPUTS])
        cells = padded_cells(lengths, **self._layout)
        shape = (len(lengths), cells.width)
        mask = torch.from_numpy((cells.sources != PADDING).reshape(shape)).to(torch.int64)
        made = {name: self._cells(name, parts, cells.sources, shape) for name, parts in sequences.items()}
        return {MASK: mask, **made, **single}


class PackCollator(_Collator):
    """Samples to packed tensors, rows that samples share: a `collate_fn`.

    Takes what `PadCollator` takes. The result is a dictionary of tensors, rows x capacity: the columns, an
    `attention_mask` (1 where a token is, and not in which sample), `position_ids` that begin anew in each sample and
    `segment_ids` (which sample of the row, from 1; 0 where it is padding); and what attention over sequences of
    different length takes, `cu_seqlens` (int32: where each sample begins among all tokens without padding, and the end)
    and `max_seqlen` (an int).

    Samples fill rows in the order in which they come: those of a batch of a `BatchSampler` with the strategy "pack" fit
    into the rows that it planned, or fewer.
    """

    def __init__(
        self,
        capacity: SupportsIndex | None = None,
        *,
        padding_value: float = 0,
        label_padding: float = _IGNORED,
        padding: Mapping[str, float] | None = None,
        mask_first_label: bool = True,
        max_length: SupportsIndex | None = None,
    ) -> None:
        """Checks the parameters.

        Args:
            capacity: Tokens of a row; by default all samples of a batch are in one row, without padding.
            padding_value: What is in `input_ids` where no token is.
            label_padding: The same for `labels`; -100 is what torch's cross-entropy leaves out.
            padding: The same for other columns, by name; 0 by default.
            mask_first_label: Whether the first label of each sample becomes `label_padding`: a model that shifts
                `labels` itself would predict it from the sample before. Not where labels are shifted already.
            max_length: How many tokens of a sample are kept.

        Raises:
            SamedealError: A value is not allowed.
        """
        super().__init__(padding_value, label_padding, padding, max_length)
        self.capacity = None if capacity is None else check.integer("capacity", capacity, check.U32_FROM_1)
        if self.capacity == 0:
            raise OutOfRangeError("capacity", "0", check.U32_FROM_1.allowed)
        self.mask_first_label = check.boolean("mask-first-label", mask_first_label)

    def __call__(self, samples: Sequence[Any]) -> dict[str, Any]:
        """The tensors of a batch.

        Raises:
            SamedealError: The samples do not go together, or one is longer than `capacity`.
        """
        sequences, single = self._columns(samples)
        if self.mask_first_label and LABELS in sequences:
            sequences[LABELS] = [self._without_first(part) for part in sequences[LABELS]]
        lengths = lengths_of(sequences[INPUTS])
        ends = None if self.capacity is None else _row_ends(lengths.tolist(), self.capacity)
        cells, shape = packed_cells(lengths, row_ends=ends, width=self.capacity)
        made = {name: self._cells(name, parts, cells.sources, shape) for name, parts in sequences.items()}
        segments = _signed(cells.segment_ids, shape)
        return {
            MASK: (segments > 0).to(torch.int64),
            **made,
            "position_ids": _signed(cells.position_ids, shape).to(torch.int64),
            "segment_ids": segments,
            "cu_seqlens": torch.from_numpy(cells.cu_seqlens.view(np.int32)),
            "max_seqlen": cells.max_seqlen,
            **single,
        }

    def _without_first(self, labels: torch.Tensor) -> torch.Tensor:
        own = labels.clone()
        own[:1] = self.padding[LABELS]
        return own


def _row_ends(lengths: list[int], capacity: int) -> list[int]:
    """Where rows end that are filled one after the other; the component tells of a sample that fits into none."""
    ends: list[int] = []
    held = 0
    for i, length in enumerate(lengths):
        if i and held + length > capacity:
            ends.append(i)
            held = 0
        held += length
    return [*ends, len(lengths)] if lengths else []


def _signed(values: np.ndarray[Any, Any], shape: tuple[int, int]) -> torch.Tensor:
    return torch.from_numpy(values.view(np.int32)).reshape(shape)


def _is_sequence(value: Any) -> bool:
    if hasattr(value, "ndim"):
        return bool(value.ndim)
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _stacked(values: list[Any]) -> Any:
    """A tensor of numbers; a list of what else there is."""
    if all(isinstance(value, (bool, int, float, torch.Tensor, np.generic)) for value in values):
        make: Callable[..., torch.Tensor] = torch.as_tensor
        return torch.stack([make(value) for value in values])
    return values


def _fits(value: int, dtype: torch.dtype) -> bool:
    if dtype == torch.bool:
        return value in (0, 1)
    if dtype.is_complex:
        return True
    limits = torch.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)
