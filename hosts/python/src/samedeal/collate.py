"""Makes arrays for a model from sequences of different length: padded, or packed into shared rows.

>>> from samedeal import collate
>>> collate.pad([[5, 6, 7], [8]]).values.tolist()
[[5, 6, 7], [8, 0, 0]]
>>> packed = collate.pack([[5, 6, 7], [8], [9, 9]], row_ends=[2, 3], width=4)
>>> packed.values.tolist(), packed.position_ids.tolist(), packed.cu_seqlens.tolist()
([[5, 6, 7, 8], [9, 9, 0, 0]], [[0, 1, 2, 0], [0, 1, 0, 0]], [0, 3, 4, 6])
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from .batch.binding import PADDING, Collation
from .engine import arguments as check
from .engine.errors import ContradictionError, OutOfMemoryError, OutOfRangeError, WrongTypeError
from .engine.instance import Engine

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .generated import collation

__all__ = ["Packed", "Padded", "pack", "pad"]


class Padded(NamedTuple):
    """Padded sequences, one row for each."""

    values: NDArray[Any]
    """Rows x width, of the type of the sequences; if tokens are arrays themselves, their dimensions come last."""
    attention_mask: NDArray[np.bool_]
    """Rows x width: whether a cell has a token."""


class Packed(NamedTuple):
    """Packed sequences, which share rows."""

    values: NDArray[Any]
    """Rows x width, of the type of the sequences; if tokens are arrays themselves, their dimensions come last."""
    position_ids: NDArray[np.int32]
    """The place of each cell in its sequence; 0 for padding."""
    segment_ids: NDArray[np.int32]
    """The number of the sequence of each cell in its row, from 1; 0 for padding."""
    cu_seqlens: NDArray[np.int32]
    """The beginnings of all sequences laid end to end without padding, and the end of the last one."""
    max_seqlen: int
    """The length of the longest sequence."""


def pad(
    sequences: ArrayLike | Iterable[ArrayLike],
    offsets: ArrayLike | Iterable[SupportsIndex] | None = None,
    *,
    padding_value: Any = 0,
    side: str = "right",
    pad_to_multiple_of: SupportsIndex = 1,
    width: SupportsIndex | None = None,
) -> Padded:
    """Pads sequences: one row for each, as wide as the longest sequence.

    Args:
        sequences: The sequences, of tokens of any type; or, with `offsets`, all of them end to end.
        offsets: Where each sequence begins in `sequences`, and where the last one ends: one number more than there are
            sequences.
        padding_value: Value of cells without a token.
        side: On which side of a row the padding is, "right" or "left".
        pad_to_multiple_of: The width is rounded up to a multiple of this number.
        width: A fixed width. By default, the length of the longest sequence.

    Raises:
        OutOfRangeError: `width` is less than the longest sequence, `pad_to_multiple_of` is 0, there are more than 2**26
            cells, or the type of the tokens cannot hold `padding_value`.
        UnknownNameError: There is no such side.
        WrongTypeError: A value is not of the type that its parameter takes.
        ContradictionError: Offsets do not ascend from 0 to the number of tokens, or tokens have different shapes.
        OutOfMemoryError: There is no memory for so many cells.
    """
    tokens, lengths = _tokens(sequences, offsets)
    cells = padded_cells(lengths, width=width, pad_to_multiple_of=pad_to_multiple_of, side=side)
    values, mask = _gathered(tokens, cells.token_indices, (len(lengths), cells.width), padding_value)
    return Padded(values, mask)


def pack(
    sequences: ArrayLike | Iterable[ArrayLike],
    offsets: ArrayLike | Iterable[SupportsIndex] | None = None,
    *,
    row_ends: ArrayLike | Iterable[SupportsIndex] | None = None,
    width: SupportsIndex | None = None,
    padding_value: Any = 0,
) -> Packed:
    """Packs several sequences into each row, and makes the arrays that keep these sequences apart in attention.

    Args:
        sequences: The sequences, of tokens of any type; or, with `offsets`, all of them end to end.
        offsets: Where each sequence begins in `sequences`, and where the last one ends: one number more than there are
            sequences.
        row_ends: How many sequences there are up to the end of each row, such as `Batch.row_ends`; by default all are
            in one row.
        width: Cells of a row, such as `Batch.padded_length`; by default as many as the fullest row has tokens.
        padding_value: Value of cells without a token.

    Raises:
        OutOfRangeError: A row holds more than `width` tokens, there are more than 2**26 cells, or the type of the
            tokens cannot hold `padding_value`.
        WrongTypeError: A value is not of the type that its parameter takes.
        ContradictionError: `row_ends` do not ascend to the number of sequences, or `offsets` to the number of tokens;
            or tokens have different shapes.
        OutOfMemoryError: There is no memory for so many cells.
    """
    tokens, lengths = _tokens(sequences, offsets)
    cells, shape = packed_cells(lengths, row_ends=row_ends, width=width)
    values, _ = _gathered(tokens, cells.token_indices, shape, padding_value)
    return Packed(
        values,
        cells.position_ids.view(np.int32).reshape(shape),
        cells.segment_ids.view(np.int32).reshape(shape),
        cells.cu_seqlens.view(np.int32),
        cells.max_seqlen,
    )


def padded_cells(
    lengths: NDArray[np.uint32], *, width: SupportsIndex | None, pad_to_multiple_of: SupportsIndex, side: str
) -> collation.Padded:
    """The source of each cell of `pad`: the number of a token, or `PADDING`."""
    wide = None if width is None else check.integer("width", width, check.U32)
    every = check.integer("pad_to_multiple_of", pad_to_multiple_of, check.U32_FROM_1)
    return _engine().use(Collation.pad, lengths, wide, every, check.name("side", side))


def packed_cells(
    lengths: NDArray[np.uint32],
    *,
    row_ends: ArrayLike | Iterable[SupportsIndex] | None,
    width: SupportsIndex | None,
) -> tuple[collation.Packed, tuple[int, int]]:
    """The source of each cell of `pack`, and the shape: rows and width."""
    if row_ends is None:
        ends = np.full(min(len(lengths), 1), len(lengths), dtype=np.uint32)
    else:
        ends = check.u32s("row_ends", row_ends, check.U32)
    if width is None:
        upto = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        # Wrong ends are only cut here: the call below raises an error for them.
        rows = np.diff(upto[np.minimum(ends, len(lengths))], prepend=0)
        wide = min(max(int(rows.max(initial=0)), 0), check.U32_MAX)
    else:
        wide = check.integer("width", width, check.U32)
    return _engine().use(Collation.pack, lengths, ends, wide), (len(ends), wide)


def lengths_of(sequences: Sequence[Any]) -> NDArray[np.uint32]:
    """How many tokens each sequence has."""
    return np.fromiter(map(len, sequences), dtype=np.uint32, count=len(sequences))


@functools.cache
def _engine() -> Engine[Collation, None]:
    return Engine(Collation, None)


def _tokens(sequences: Any, offsets: Any) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """All tokens end to end, and how many of them each sequence has."""
    if offsets is None:
        return _end_to_end(sequences)
    tokens = _array("sequences", sequences, "all tokens end to end")
    ends = check.u64s("offsets", offsets, check.COUNT).astype(np.int64)
    if len(ends) == 0 or ends[0] != 0 or ends[-1] != len(tokens) or (np.diff(ends) < 0).any():
        raise ContradictionError("offsets", f"{len(ends)} numbers", f"0, ascending, and {len(tokens)} at last")
    lengths = np.diff(ends)
    if lengths.max(initial=0) > check.U32_MAX:
        raise OutOfRangeError("offsets", str(lengths.max()), f"sequences of up to {check.U32_MAX} tokens")
    return tokens, lengths.astype(np.uint32)


def _end_to_end(sequences: Any) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    allowed = "a list of sequences of tokens"
    meant = isinstance(sequences, Iterable) and not isinstance(sequences, (str, bytes, bytearray, Mapping, Set))
    if not meant or getattr(sequences, "ndim", 2) < 2:
        raise WrongTypeError("sequences", check.described(sequences), allowed)
    parts = [_array("sequences", part, allowed) for part in check.listed("sequences", sequences)]
    # Empty sequences do not decide the type of the tokens.
    known = [part for part in parts if len(part)]
    if not known:
        return np.zeros(0, dtype=parts[0].dtype if parts else np.int64), np.zeros(len(parts), dtype=np.uint32)
    shapes = {part.shape[1:] for part in known}
    if len(shapes) > 1:
        first, second, *_ = sorted(map(str, shapes))
        raise ContradictionError("sequences", f"tokens of shapes {first} and {second}", "tokens of one shape")
    return np.concatenate(known), lengths_of(parts)


def _array(field: str, values: Any, allowed: str) -> NDArray[Any]:
    if isinstance(values, bytearray):
        # NumPy takes it for numbers.
        raise WrongTypeError(field, check.described(values), allowed)
    found = check.any_array(field, values, allowed)
    if found.ndim == 0 or found.dtype.kind == "O":
        raise WrongTypeError(field, check.described(values), allowed)
    return found


def _gathered(
    tokens: NDArray[Any], sources: NDArray[np.uint32], shape: tuple[int, int], padding_value: Any
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The cells with their tokens and the padding value, and a mask of the cells with tokens."""
    filler = _filler(padding_value, tokens.dtype)
    mask = sources != PADDING
    try:
        values = np.full((len(sources), *tokens.shape[1:]), filler, dtype=tokens.dtype)
    except (MemoryError, ValueError) as error:
        raise OutOfMemoryError("lengths", f"{len(sources)} cells", "fewer or smaller cells") from error
    values[mask] = tokens[sources[mask]]
    return values.reshape((*shape, *tokens.shape[1:])), mask.reshape(shape)


def _filler(value: Any, dtype: np.dtype[Any]) -> Any:
    """The padding value as a value of the type of the tokens. Raises an error if this type cannot hold it."""
    allowed = f"a value of the type {dtype}"
    try:
        given = np.asarray(value)
        with np.errstate(all="ignore"):
            filler = given.astype(dtype)
        if dtype.kind in "fc":
            # A number that is too large becomes infinite, and is refused.
            same = given.ndim == 0 and bool(np.isfinite(filler) or not np.isfinite(given))
        else:
            same = given.ndim == 0 and bool(filler == given)
    except OverflowError as error:
        raise OutOfRangeError("padding_value", check.shown(value), allowed) from error
    except Exception as error:
        raise WrongTypeError("padding_value", check.described(value), allowed) from error
    if given.ndim or check.is_masked(value) or given.dtype.kind not in (*"iufc", dtype.kind):
        raise WrongTypeError("padding_value", check.described(value), allowed)
    if not same:
        raise OutOfRangeError("padding_value", check.shown(value), allowed)
    return filler
