"""Functions for `collate_fn=` of a DataLoader: they make tensors of the samples of a batch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, SupportsIndex

import numpy as np
import torch

from .. import ContradictionError, MissingError, OutOfRangeError, UnknownNameError, WrongTypeError
from ..batch.binding import PADDING
from ..collate import lengths_of, packed_cells, padded_cells
from ..engine import arguments as check
from ..generated.collation import Packed, Padded
from .arrays import native
from .packed import rows_in
from .parts import INPUTS, is_sequence

MASK, LABELS = "attention_mask", "labels"
_IGNORED = -100
"""The label that torch's cross-entropy ignores."""
_MASKS = ("2d", "4d")
_FROM_1 = check.Width(1, *check.U32_FROM_1[1:])
_PACKED = (
    INPUTS,
    MASK,
    LABELS,
    "position_ids",
    "cu_seq_lens_q",
    "cu_seq_lens_k",
    "max_length_q",
    "max_length_k",
    "use_cache",
)
"""Columns that a packed batch always has. The option `segment_ids` of `PackCollator` names one more column, which must
have another name."""


class _Collator:
    """The common part of both collators: it divides samples into columns, and lays each column out in rows of cells."""

    own_width: Mapping[str, int | None] = MappingProxyType({})
    """The columns whose sequences may have another length than `input_ids`, and their fixed widths."""

    def __init__(
        self,
        padding_value: Any,
        label_padding: Any,
        padding: Mapping[str, Any] | None,
        max_length: SupportsIndex | None,
        fill_empty: bool,
    ) -> None:
        if padding is not None and not isinstance(padding, Mapping):
            raise WrongTypeError("padding", check.described(padding), "a dictionary: a number for each column")
        self.padding = {INPUTS: padding_value, LABELS: label_padding, **(padding or {})}
        for name, value in self.padding.items():
            if not isinstance(value, (bool, int, float)):
                raise WrongTypeError("padding_value", check.described(value), f"a number, for {name}")
        self.max_length = None if max_length is None else check.integer("max_length", max_length, check.U32)
        self.fill_empty = check.boolean("fill_empty", fill_empty)
        # A batch without samples gets these columns if no batch came before it: those of a causal language model.
        self._seen: dict[str, Any] = dict.fromkeys((INPUTS, LABELS), torch.zeros(0, dtype=torch.int64))
        self._single: dict[str, Any] = {}

    def check_plan(self, planner: str, capacity: int | None, max_length: int | None) -> None:
        """Raises if this collator makes other shapes than a sampler or a dataset has planned.

        Args:
            planner: The name of the class that made the plan, for the error.
            capacity: The tokens of a planned row; None if no rows are planned.
            max_length: The length at which the plan cuts samples; None if it cuts none.

        Raises:
            ContradictionError: The collator has another capacity, or cuts samples at another length.
            WrongTypeError: The name is no string.
        """
        planner = check.name("planner", planner)
        capacity = None if capacity is None else check.integer("capacity", capacity, check.U32)
        max_length = None if max_length is None else check.integer("max_length", max_length, check.U32)
        own = getattr(self, "capacity", None)
        if own is not None and capacity is not None and own != capacity:
            raise ContradictionError("capacity", str(own), f"{capacity}, the capacity of the {planner}")
        if max_length is not None and self.max_length != max_length:
            shown = "None" if self.max_length is None else str(self.max_length)
            allowed = f"{max_length} for the collator too: the {planner} has planned with samples that are cut there"
            raise ContradictionError("max_length", shown, allowed)

    def _columns(self, samples: Sequence[Any]) -> tuple[dict[str, list[torch.Tensor]], dict[str, Any]]:
        """The sequences of each column, and the values that each sample has only once."""
        if isinstance(samples, (str, bytes, Mapping)) or not isinstance(samples, Sequence):
            raise WrongTypeError("samples", check.described(samples), "a list of samples")
        records = [sample if isinstance(sample, Mapping) else {INPUTS: sample} for sample in samples]
        if not records:
            # A rank may have no samples in a step.
            return self._filler() if self.fill_empty else ({INPUTS: []}, {})
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
            if name == INPUTS or is_sequence(values[0]):
                sequences[name] = [self._sequence(name, value) for value in values]
            else:
                single[name] = _stacked(name, values)
        lengths = [len(part) for part in sequences[INPUTS]]
        for name in self.own_width:
            if name not in sequences:
                known = {"known": tuple(sequences)}
                raise UnknownNameError("own_width", check.shown(name), f"{', '.join(sequences)}, the sequences", known)
        for name, parts in sequences.items():
            for i, part in enumerate(parts):
                if len(part) != lengths[i] and name not in self.own_width:
                    value = f"{len(part)} tokens of {name} in sample {i}"
                    allowed = f"{lengths[i]}, as {INPUTS} has{self._advice(name)}"
                    raise ContradictionError("samples", check.shown(value), allowed)
        # Records the columns for a batch without samples.
        self._seen = {name: parts[0].new_empty(0, *parts[0].shape[1:]) for name, parts in sequences.items()}
        self._single = {
            name: values[:1].clone() if isinstance(values, torch.Tensor) else [None] for name, values in single.items()
        }
        return sequences, single

    def _advice(self, name: str) -> str:
        """The end of the error about a column of another length than `input_ids`: how to allow it."""
        return ""

    def _filler(self) -> tuple[dict[str, list[torch.Tensor]], dict[str, Any]]:
        """A row with one token of padding, in each column of the last batch and each one of `own_width`."""
        seen = self._seen | {
            name: torch.empty(0, dtype=torch.int64) for name in self.own_width if name not in self._seen
        }
        sequences = {name: [self._padded(name, like.new_empty(1, *like.shape[1:]))] for name, like in seen.items()}
        single = {
            name: self._padded(name, like.clone()) if isinstance(like, torch.Tensor) else like
            for name, like in self._single.items()
        }
        return sequences, single

    def _add_rows(self, count: int, sequences: dict[str, list[torch.Tensor]], single: dict[str, Any]) -> None:
        """Adds rows of padding: sequences without tokens, and values of padding."""
        for parts in sequences.values():
            parts += [parts[0].new_empty(0, *parts[0].shape[1:])] * count
        for name, values in single.items():
            if isinstance(values, torch.Tensor):
                filler = self._padded(name, values.new_empty(count, *values.shape[1:]))
                single[name] = torch.cat([values, filler])
            else:
                single[name] = [*values, *[None] * count]

    def _padded(self, name: str, like: torch.Tensor) -> torch.Tensor:
        return like.fill_(_padding_as(name, self.padding.get(name, 0), like.dtype))

    def _sequence(self, name: str, value: Any) -> torch.Tensor:
        if check.is_masked(value):
            raise WrongTypeError("samples", check.described(value), f"numbers as {name}, none of them masked")
        try:
            found = value if isinstance(value, torch.Tensor) else torch.as_tensor(native(value))
        except Exception as error:
            if isinstance(value, Sequence):
                _check_width(name, value)
            raise WrongTypeError("samples", check.described(value), f"a sequence of numbers as {name}") from error
        if found.ndim == 0:
            raise WrongTypeError("samples", check.described(value), f"a sequence of numbers as {name}")
        if found.numel() == 0 and not isinstance(value, (torch.Tensor, np.ndarray)):
            # An empty list has no type, so it gets the type of tokens.
            found = found.to(torch.int64)
        return found if self.max_length is None or name in self.own_width else found[: self.max_length]

    def _cells(
        self, name: str, parts: list[torch.Tensor], sources: np.ndarray[Any, Any], shape: tuple[int, int]
    ) -> torch.Tensor:
        """A column in its cells: cell i has token `sources[i]` of all sequences end to end, or the value of padding."""
        known = [part for part in parts if len(part)] or parts[:1] or [torch.zeros(0, dtype=torch.int64)]
        dtype, value = known[0].dtype, self.padding.get(name, 0)
        try:
            for part in known[1:]:
                dtype = torch.promote_types(dtype, part.dtype)
        except RuntimeError as error:
            # PyTorch knows no type for uint64 and int64 together.
            types = ", ".join(sorted({str(part.dtype) for part in known}))
            raise ContradictionError("samples", check.shown(types), f"tokens of one type as {name}") from error
        filler = torch.full((1, *known[0].shape[1:]), _padding_as(name, value, dtype), dtype=dtype)
        try:
            # The padding value comes after the last token. `np.minimum` below gives its index to all cells of padding.
            tokens = torch.cat([*known, filler])
        except RuntimeError as error:
            shapes = ", ".join(sorted({str(tuple(part.shape[1:])) for part in known}))
            raise ContradictionError("samples", check.shown(shapes), f"tokens of one shape as {name}") from error
        index = np.minimum(sources, len(tokens) - 1, dtype=np.int64)
        return tokens.index_select(0, torch.from_numpy(index)).reshape((*shape, *tokens.shape[1:]))


class PadCollator(_Collator):
    """A `collate_fn` that makes padded tensors, with one row for each sample.

    A sample is a sequence of tokens, or a dictionary with a sequence `input_ids` and other sequences of the same
    length, such as `labels` and `attention_mask`. Values that each sample has only once are stacked. The result is a
    dictionary of tensors: these columns, and an `attention_mask` that is 1 for tokens and 0 for padding.

    For a model with an encoder and a decoder, `own_width=["labels"]` pads the labels to the longest labels of the
    batch, as `DataCollatorForSeq2Seq` of transformers does.
    """

    def __init__(
        self,
        *,
        padding_value: float = 0,
        label_padding: float = _IGNORED,
        padding: Mapping[str, float] | None = None,
        side: str = "right",
        pad_to_multiple_of: SupportsIndex = 1,
        width: SupportsIndex | None = None,
        shapes: Iterable[tuple[SupportsIndex, SupportsIndex]] | None = None,
        own_width: Iterable[str] | Mapping[str, SupportsIndex | None] = (),
        max_length: SupportsIndex | None = None,
        fill_empty: bool = True,
    ) -> None:
        """Checks the parameters.

        Args:
            padding_value: Value of padding in `input_ids`.
            label_padding: Value of padding in `labels`. torch's cross-entropy ignores -100.
            padding: Values of padding in other columns, by name; 0 by default.
            side: The side of a row with the padding, "right" or "left".
            pad_to_multiple_of: The width is rounded up to a multiple of this number.
            width: A fixed width for all batches. By default, it is that of the longest sample.
            shapes: The shapes that batches may have, each a number of rows and a width, such as
                `BatchSampler.full_shapes`: a batch gets the smallest shape that holds it. There are no other shapes,
                even at the end of an epoch: `torch.compile` or XLA would compile each new shape. Rows of padding are
                added at the end. Their `attention_mask` is 0, their labels are `label_padding`, and values that each
                sample has only once are those of `padding`, or None.
            own_width: The columns that may have another length than `input_ids` in a sample, such as the labels of a
                translation. Each is padded on its own: to its longest sequence in the batch, rounded up to
                `pad_to_multiple_of`; or, in a dictionary, to the width of its name, if that is not None. Other columns
                with another length are an error. `max_length` does not cut these columns.
            max_length: Largest number of tokens of a sample. Longer samples are cut.
            fill_empty: Whether a batch without samples gets a row of padding. Its columns are those of the batch before
                it, or `input_ids` and `labels` if it is the first batch. A rank without samples in a step then runs the
                model, too: its gradients are 0, and a mean over its labels is nan.

        Raises:
            SamedealError: A value is not allowed.
        """
        super().__init__(padding_value, label_padding, padding, max_length, fill_empty)
        self._layout: dict[str, Any] = {"width": width, "pad_to_multiple_of": pad_to_multiple_of, "side": side}
        padded_cells(np.zeros(0, dtype=np.uint32), **self._layout)
        self.shapes = None if shapes is None else _shapes(shapes)
        if self.shapes is not None and (width is not None or int(pad_to_multiple_of) != 1):
            raise ContradictionError("shapes", str(self.shapes[:3]), "None, with width or pad_to_multiple_of")
        self.own_width = _own_width(own_width)
        for name, own in self.own_width.items():
            if own is None and self.shapes is not None:
                allowed = f"a dictionary with the width of {name}, because with shapes no width may vary"
                raise ContradictionError("own_width", check.shown(name), allowed)

    def __call__(self, samples: Sequence[Any]) -> dict[str, Any]:
        """The tensors of a batch.

        Raises:
            SamedealError: The samples do not fit together (columns, types, shapes), or one is longer than `width` or
                than the width of its column in `own_width`.
        """
        sequences, single = self._columns(samples)
        layout = self._layout
        if self.shapes is not None and sequences[INPUTS]:
            rows, width = self._shape(sequences[INPUTS])
            self._add_rows(rows - len(sequences[INPUTS]), sequences, single)
            layout = {**layout, "width": width}
        lengths = lengths_of(sequences[INPUTS])
        cells = padded_cells(lengths, **layout)
        shape = (len(lengths), cells.width)
        mask = torch.from_numpy((cells.token_indices != PADDING).reshape(shape)).to(torch.int64) * (len(samples) > 0)
        made = {}
        for name, parts in sequences.items():
            own = self._own_cells(name, parts) if name in self.own_width else cells
            made[name] = self._cells(name, parts, own.token_indices, (len(lengths), own.width))
        return {MASK: mask, **made, **single}

    def _own_cells(self, name: str, parts: list[torch.Tensor]) -> Padded:
        """The cells of a column that has a width of its own."""
        width, side = self.own_width[name], self._layout["side"]
        every = self._layout["pad_to_multiple_of"] if width is None else 1
        try:
            return padded_cells(lengths_of(parts), width=width, pad_to_multiple_of=every, side=side)
        except OutOfRangeError as error:
            raise OutOfRangeError("own_width", str(width), f"{error.allowed}, for {check.shown(name)}") from None

    def _advice(self, name: str) -> str:
        return f'; or own_width=["{check.shown(name)}"] of the collator, if this column has lengths of its own'

    def _shape(self, parts: list[torch.Tensor]) -> tuple[int, int]:
        """The smallest shape that holds a batch."""
        rows, longest = len(parts), max(map(len, parts))
        for shape in self.shapes or ():
            if shape[0] >= rows and shape[1] >= longest:
                return shape
        raise OutOfRangeError("shapes", str(self.shapes)[:64], f"one that holds {rows} rows of {longest} tokens")


class PackCollator(_Collator):
    """A `collate_fn` that makes packed tensors, in which several samples share a row.

    Samples are the same as for `PadCollator`. A causal language model of transformers takes the result as it is,
    `model(**batch)`, and computes each sample as if it were alone, with sdpa, eager and flash attention. The result is
    a dictionary of:

    - the columns, rows x capacity;
    - `position_ids` (int64), which start at 0 in each sample. transformers finds the samples of a row by them, but only
      without a 2-D `attention_mask` and without a cache. Therefore there is no `attention_mask`, and `use_cache` is
      False;
    - `cu_seq_lens_q` and `cu_seq_lens_k` (int32: where each sample begins if the rows are laid end to end, and where
      the last one ends), `max_length_q` and `max_length_k` (int): the arguments of flash attention for sequences of
      different length.

    Cells of padding are sequences of their own, none longer than the longest sample of the batch. They are in
    `cu_seq_lens_q` like samples, so the last number is rows x capacity. Their `labels` are `label_padding`.

    Samples fill rows in their order. A batch of a `BatchSampler` with the strategy "pack" fits into the rows that it
    planned, or fewer. Rows of a `PackedDataset` stay as they are, and have its capacity. Samples may have an
    `attention_mask` of ones, as tokenizers make it; it is left out.
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
        mask: str | None = None,
        mask_dtype: torch.dtype | None = None,
        segment_ids: str | None = None,
        rows: SupportsIndex | None = None,
        pad_sequences_to_multiple_of: SupportsIndex | None = None,
        fill_empty: bool = True,
    ) -> None:
        """Checks the parameters.

        Args:
            capacity: Number of tokens in a row. By default, the capacity of the `PackedDataset`; without a
                `PackedDataset`, all samples of a batch are then in one row, without padding.
            padding_value: Value of padding in `input_ids`.
            label_padding: Value of padding in `labels`. torch's cross-entropy ignores -100.
            padding: Values of padding in other columns, by name; 0 by default.
            mask_first_label: Whether the first label of each sample becomes `label_padding`. A model that shifts
                `labels` would otherwise predict it from the sample before. Use False if your labels are already
                shifted.
            max_length: Largest number of tokens of a sample. Longer samples are cut.
            mask: An `attention_mask`, for a model that does not find samples by `position_ids`. "4d" is rows x 1 x
                capacity x capacity: each token sees itself and the tokens before it in its sample. This mask is for
                eager and sdpa attention, not for flash attention, replaces the sliding window of a model that has one,
                and takes capacity**2 values for each row. "2d" is rows x capacity, 1 where a token is; models of
                transformers mix the samples of a row if they get it.
            mask_dtype: The type of "4d", which needs it: `torch.bool` (True where a token sees another) for sdpa
                attention, or the type of the model's weights (0 or its least number, to be added) for eager and sdpa.
                transformers computes something else, without an error, with a bool mask under eager attention, and may
                with another floating type under sdpa.
            segment_ids: The name of a column to add (int32), with the number of the sample in its row for each cell,
                from 1, and 0 for padding: such as "segment_ids", or "seq_idx" for the state-space models of
                transformers. By default there is no such column, since most models do not take it.
            rows: The number of rows that every batch gets, also the last ones of an epoch: rows of padding are added at
                the end. Give the `max_batch_size` of the plan.
            pad_sequences_to_multiple_of: The number of sequences in `cu_seq_lens_q` and `cu_seq_lens_k` is rounded up
                to a multiple of this number, with sequences of 0 tokens at the end. `max_length_q` and `max_length_k`
                are then the length of the longest sample that is allowed: `max_length`, or the capacity. With a number
                that is as large as any batch needs, and with `rows`, all batches have one shape, so that
                `torch.compile` or XLA compiles once.
            fill_empty: Whether a batch without samples gets a row of padding, as with `PadCollator`.

        Raises:
            SamedealError: A value is not allowed.
        """
        super().__init__(padding_value, label_padding, padding, max_length, fill_empty)
        self.capacity = None if capacity is None else check.integer("capacity", capacity, _FROM_1)
        self.rows = None if rows is None else check.integer("rows", rows, _FROM_1)
        every = pad_sequences_to_multiple_of
        self.pad_sequences_to_multiple_of = (
            None if every is None else check.integer("pad_sequences_to_multiple_of", every, _FROM_1)
        )
        self.mask_first_label = check.boolean("mask_first_label", mask_first_label)
        self.mask = None if mask is None else check.enum("mask", mask, _MASKS)
        self.mask_dtype = _mask_type(self.mask, mask_dtype)
        self.segment_ids = segment_ids
        if segment_ids is not None and (not isinstance(segment_ids, str) or segment_ids in _PACKED):
            allowed = f"a name, and none of {', '.join(_PACKED)}"
            raise WrongTypeError("segment-ids", check.described(segment_ids), allowed)

    def __call__(self, samples: Sequence[Any]) -> dict[str, Any]:
        """The tensors of a batch.

        Raises:
            ContradictionError: Rows of a `PackedDataset` have another capacity.
            SamedealError: The samples do not fit together (columns, types, shapes), or one is longer than `capacity`.
        """
        capacity = self.capacity
        if (packed := rows_in(samples)) is not None:
            for row in packed:
                self.check_plan("PackedDataset", row.capacity, None)
                capacity = row.capacity if capacity is None else capacity
                if row.capacity not in (None, capacity):
                    raise ContradictionError(
                        "samples", f"a row of {row.capacity} tokens", f"one of {capacity}, as others"
                    )
            if capacity is None:
                raise MissingError("capacity", "", "that of the PackedDataset, whose rows these are")
            samples = [sample for row in packed for sample in row]
        if capacity is None and (self.rows is not None or self.pad_sequences_to_multiple_of is not None):
            raise MissingError("capacity", "", "the tokens of a row, with rows or pad_sequences_to_multiple_of")
        sequences, single = self._columns(samples)
        own = sequences.pop(MASK, None)
        if own is not None and samples and self.mask != _MASKS[0]:
            _check_ones(own)
        if self.mask_first_label and LABELS in sequences:
            sequences[LABELS] = [self._without_first(part) for part in sequences[LABELS]]
        lengths = lengths_of(sequences[INPUTS])
        if capacity is not None and lengths.max(initial=0) > capacity:
            longest = f"at least {lengths.max()}, the longest sample (or too_long='split' when batches are planned)"
            raise OutOfRangeError("capacity", str(capacity), longest)
        ends = None if packed is None else list(itertools.accumulate(map(len, packed)))
        if ends is None and capacity is not None:
            ends = _row_ends(lengths.tolist(), capacity)
        if self.rows is not None and ends:
            if len(ends) > self.rows:
                raise OutOfRangeError("rows", str(self.rows), f"at least {len(ends)}, as many as this batch has")
            ends += [len(lengths)] * (self.rows - len(ends))
        cells, shape = packed_cells(lengths, row_ends=ends, width=capacity)
        made = {name: self._cells(name, parts, cells.token_indices, shape) for name, parts in sequences.items()}
        segments = _signed(cells.segment_ids, shape) * (len(samples) > 0)
        every = self.pad_sequences_to_multiple_of
        limit = cells.max_seqlen if every is None else self._longest(shape[1])
        filled = cells if ends is None else _filled(lengths, ends, limit, shape)
        bounds = torch.from_numpy(filled.cu_seqlens.view(np.int32))
        if every is not None:
            bounds = torch.cat([bounds, bounds[-1:].expand(-(len(bounds) - 1) % every)])
        made |= {
            "position_ids": _signed(filled.position_ids, shape).to(torch.int64),
            "cu_seq_lens_q": bounds,
            "cu_seq_lens_k": bounds,
            "max_length_q": filled.max_seqlen if every is None else limit,
            "max_length_k": filled.max_seqlen if every is None else limit,
            "use_cache": False,
        }
        if self.segment_ids is not None:
            made[self.segment_ids] = segments
        if self.mask_dtype is not None:
            made[MASK] = _causal(_signed(filled.segment_ids, shape), self.mask_dtype)
        elif self.mask is not None:
            ones = (segments > 0).to(torch.int64)
            made[MASK] = ones if own is None else self._cells(MASK, own, cells.token_indices, shape)
        return {**made, **single}

    def _longest(self, capacity: int) -> int:
        """The length of the longest sample that is allowed."""
        return capacity if self.max_length is None else min(self.max_length, capacity)

    def _without_first(self, labels: torch.Tensor) -> torch.Tensor:
        own = labels.clone()
        own[:1] = _padding_as(LABELS, self.padding[LABELS], labels.dtype)
        return own


def _shapes(given: Any) -> list[tuple[int, int]]:
    """Shapes that batches may have, those with the fewest cells first."""
    allowed = "pairs of two whole numbers: rows, width"
    found = []
    for pair in check.items("shapes", given, allowed):
        numbers = check.items("shapes", pair, allowed)
        if len(numbers) != 2:
            raise WrongTypeError("shapes", check.shown(pair), allowed)
        rows, width = (check.integer("shapes", number, _FROM_1) for number in numbers)
        found.append((rows, width))
    if not found:
        raise MissingError("shapes", "", allowed)
    return sorted(found, key=lambda shape: (shape[0] * shape[1], shape[1]))


def _own_width(given: Any) -> dict[str, int | None]:
    """The columns with a width of their own, and their fixed widths."""
    allowed = "the names of columns, such as labels, or a dictionary with a width for each name"
    if isinstance(given, Mapping):
        pairs: Iterable[tuple[Any, Any]] = given.items()
    else:
        pairs = ((name, None) for name in check.items("own_width", given, allowed))
    found = {}
    for name, width in pairs:
        if not isinstance(name, str):
            raise WrongTypeError("own_width", check.described(name), allowed)
        if name in (INPUTS, MASK):
            raise ContradictionError("own_width", name, "other columns: these two have the width of the batch")
        found[name] = None if width is None else check.integer("own_width", width, _FROM_1)
    return found


def _row_ends(lengths: list[int], capacity: int) -> list[int]:
    """The ends of rows that are filled one after the other. The caller has checked that no sample exceeds a row."""
    ends: list[int] = []
    held = 0
    for i, length in enumerate(lengths):
        if i and held + length > capacity:
            ends.append(i)
            held = 0
        held += length
    return [*ends, len(lengths)] if lengths else []


def _filled(lengths: np.ndarray[Any, Any], ends: list[int], longest: int, shape: tuple[int, int]) -> Packed:
    """The cells of rows that are filled up with sequences of padding.

    No sequence of padding is longer than `longest`, because a model may not know more positions.
    """
    parts: list[int] = []
    row_ends: list[int] = []
    first = 0
    for end in ends:
        own = lengths[first:end].tolist()
        whole, rest = divmod(shape[1] - sum(own), max(longest, 1))
        parts += [*own, *[max(longest, 1)] * whole, *[rest] * bool(rest)]
        row_ends.append(len(parts))
        first = end
    return packed_cells(np.array(parts, dtype=np.uint32), row_ends=row_ends, width=shape[1])[0]


def _causal(segments: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The mask of the tokens that each token sees: itself, and the tokens before it in its sample."""
    seen = (segments[:, None, :, None] == segments[:, None, None, :]).tril()
    if dtype == torch.bool:
        return seen
    least = torch.finfo(dtype).min
    return torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, least)


def _mask_type(mask: str | None, dtype: Any) -> torch.dtype | None:
    """The type of a mask of four dimensions, checked; None without such a mask."""
    allowed = 'torch.bool for sdpa attention, or the type of the model\'s weights, with mask="4d"'
    if dtype is None and mask == _MASKS[1]:
        raise MissingError("mask_dtype", "", allowed)
    if dtype is None:
        return None
    if not isinstance(dtype, torch.dtype) or not (dtype == torch.bool or dtype.is_floating_point):
        raise WrongTypeError("mask_dtype", check.shown(dtype), allowed)
    if mask != _MASKS[1]:
        raise ContradictionError("mask_dtype", check.shown(dtype), allowed)
    return dtype


def _check_ones(masks: list[torch.Tensor]) -> None:
    """Refuses samples that are padded already: their padding would be trained on."""
    for i, own in enumerate(masks):
        if not bool((own != 0).all()):
            allowed = f'1 for every token: pack samples without padding, or ask for mask="{_MASKS[0]}"'
            raise ContradictionError("samples", f"with 0 in {MASK} of sample {i}", allowed)


def _signed(values: np.ndarray[Any, Any], shape: tuple[int, int]) -> torch.Tensor:
    return torch.from_numpy(values.view(np.int32)).reshape(shape)


def _stacked(name: str, values: list[Any]) -> Any:
    """The values of a column: a tensor of numbers, or a list of other values."""
    for value in values:
        if check.is_masked(value):
            raise WrongTypeError("samples", check.described(value), f"a value as {name} that is not masked")
    if not all(isinstance(value, (bool, int, float, torch.Tensor, np.generic)) for value in values):
        return values
    _check_width(name, values)
    make: Callable[..., torch.Tensor] = torch.as_tensor
    tensors = [make(value) for value in values]
    try:
        return torch.stack(tensors)
    except RuntimeError as error:
        found = ", ".join(sorted({f"{tensor.dtype} of shape {tuple(tensor.shape)}" for tensor in tensors}))
        raise ContradictionError("samples", check.shown(found), f"one type and shape as {name}") from error


def _check_width(name: str, values: Sequence[Any]) -> None:
    """Refuses integers that int64 cannot hold."""
    for value in values:
        if isinstance(value, int) and not check.S64.least <= value <= check.S64.most:
            raise OutOfRangeError("samples", check.shown(value), f"{check.S64.allowed}, as {name}")


def _padding_as(name: str, value: float, dtype: torch.dtype) -> float:
    """A value of padding, if a column of this type can hold it."""
    if not _fits(value, dtype):
        raise OutOfRangeError("padding_value", check.shown(value), f"a value of the type {dtype}, for {name}")
    # PyTorch takes no int of more than 64 bits, whatever the type.
    return float(value) if dtype.is_floating_point or dtype.is_complex else value


def _fits(value: float, dtype: torch.dtype) -> bool:
    if dtype == torch.bool:
        return value in (0, 1) and not isinstance(value, float)
    if dtype.is_floating_point or dtype.is_complex:
        known = torch.zeros((), dtype=dtype).real.dtype
        # The value is not converted to a float first, since an int may be larger than any float.
        return (isinstance(value, float) and not math.isfinite(value)) or abs(value) <= torch.finfo(known).max
    limits = torch.iinfo(dtype)
    return not isinstance(value, float) and limits.min <= value <= limits.max
