"""Collation: section 9."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

from .base import ceil_div, require

MAX_CELLS = 2**26
PADDING = 2**32 - 1


@dataclass(frozen=True)
class Padded:
    width: int
    token_indices: list[int]


@dataclass(frozen=True)
class Packed:
    token_indices: list[int]
    position_ids: list[int]
    segment_ids: list[int]
    cu_seqlens: list[int]
    max_seqlen: int


def require_cells(lengths: list[int], rows: int, width: int) -> None:
    require(max(rows * width, sum(lengths)) <= MAX_CELLS, "lengths", None)


def pad(lengths: list[int], width: int | None, pad_to_multiple_of: int, side: str) -> Padded:
    require(side in ("right", "left"), "side", side, "unknown-name")
    longest = max(lengths, default=0)
    require(pad_to_multiple_of > 0, "pad_to_multiple_of", pad_to_multiple_of)
    width = longest if width is None else width
    require(width >= longest, "width", width)
    cells = ceil_div(width, pad_to_multiple_of) * pad_to_multiple_of
    require(cells < 2**32, "width", width)
    require_cells(lengths, len(lengths), cells)
    token_indices: list[int] = []
    for first, end in pairwise(accumulate(lengths, initial=0)):
        padding = [PADDING] * (cells - (end - first))
        tokens = list(range(first, end))
        token_indices += padding + tokens if side == "left" else tokens + padding
    return Padded(cells, token_indices)


def pack(lengths: list[int], row_ends: list[int], width: int) -> Packed:
    ends = [0, *row_ends]
    ascending = all(a <= b for a, b in pairwise(ends))
    require(ascending and ends[-1] == len(lengths), "row_ends", None, "contradiction")
    require_cells(lengths, len(row_ends), width)
    offsets = list(accumulate(lengths, initial=0))
    token_indices: list[int] = []
    positions: list[int] = []
    segments: list[int] = []
    for first, end in pairwise(ends):
        tokens = offsets[end] - offsets[first]
        require(tokens <= width, "row_ends", None)
        padding = width - tokens
        token_indices += [*range(offsets[first], offsets[end]), *[PADDING] * padding]
        for i, length in enumerate(lengths[first:end], 1):
            positions += range(length)
            segments += [i] * length
        positions += [0] * padding
        segments += [0] * padding
    return Packed(token_indices, positions, segments, offsets, max(lengths, default=0))
