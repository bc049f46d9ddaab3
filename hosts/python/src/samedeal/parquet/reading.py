"""What one reader reads: tables in the order of its deal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from .. import Reading
from .cursor import DECODED_ROWS, Cursor
from .files import Shards

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What a cursor holds of each column: the only one, and one of many lanes.
SHARD_BYTES = 1 << 23
LANES_BYTES = 1 << 24
LANE_BYTES = (1 << 15, 1 << 18)
# Spans of fewer rows than this, on average, are rows apart from one another.
FEW_ROWS = 8
# Rows are taken from so many bytes at once: Arrow counts the bytes of texts with 31 bits, unless they are made wide.
WIDE = 1 << 30
PIECE = 1 << 28


class Marks(NamedTuple):
    """Columns that are added."""

    sample: str | None = None
    """The index of each sample in the dataset."""
    padding: str | None = None
    """Whether the sample is padding."""


def read_reader(
    shards: Shards,
    reading: Reading,
    rank: int,
    worker: int = 0,
    *,
    start: int = 0,
    marks: Marks = Marks(),  # noqa: B008
) -> Iterator[pa.Table]:
    """The samples of a loader worker, in its order.

    Args:
        shards: Where they are stored.
        reading: Over `shards.sizes`.
        rank: Of the reader.
        worker: Of the reader.
        start: How many of its samples, the first ones, are left out.
        marks: Columns to add.

    Yields:
        A table or several for each round of the reading: a window of each lane of the reader, or a shard.

    Raises:
        OSError: A shard cannot be read, or is not as long as it was.
    """
    stored = not json.loads(reading.recipe).get("shards", {"shuffle_rows": True})["shuffle_rows"]
    bases = np.concatenate(([0], np.cumsum(shards.sizes)))
    cursors: dict[int, Cursor] = {}
    lanes = 1
    try:
        for begin, count, columns in reading.rounds(rank, worker, start):
            first = max(begin, start)
            spans = list(zip(*(column.tolist() for column in columns), strict=True))
            here = {lane for lane, *_ in spans}
            lanes = max(lanes, len(here))
            for lane in here - cursors.keys():
                least, most = LANE_BYTES
                held = SHARD_BYTES if lanes == 1 else min(most, max(least, LANES_BYTES // lanes))
                cursors[lane] = Cursor(shards, held)
            if stored:
                # A shard of any size, of which nothing has to be held.
                _, shard, row, length = spans[0]
                row, length = row + first - begin, length - (first - begin)
                at = int(bases[shard]) + row
                for run in cursors[0].read(shard, row, length):
                    yield _marked(pa.Table.from_batches([run]), at + np.arange(run.num_rows), run.num_rows, marks)
                    at += run.num_rows
                continue
            samples = reading.indices(rank, worker, first, begin + count)
            number = reading.round_of(rank, worker, begin)
            rows, padding = reading.round_rows(rank, worker, number, first - begin)
            own = count - (first - begin) - padding
            if len(here) == 1 and len(spans) * FEW_ROWS > count:
                # Rows that are stored apart from one another.
                yield from read_rows(shards, samples.tolist(), own, marks, cursors[here.pop()])
                continue
            read: list[pa.RecordBatch] = []
            for lane, shard, row, length in spans:
                read.extend(cursors[lane].read(shard, row, length))
            table = pa.Table.from_batches(read, shards.schema)
            del read
            yield from _taken(table, rows, samples, own, marks)
            del table
    finally:
        for cursor in cursors.values():
            cursor.close()


def read_rows(
    shards: Shards,
    samples: Sequence[int],
    real: int | None = None,
    marks: Marks = Marks(),  # noqa: B008
    cursor: Cursor | None = None,
) -> Iterator[pa.Table]:
    """Any samples, in this order, and in memory together: best some that are stored near one another.

    Args:
        shards: Where they are stored.
        samples: Their indices.
        real: How many of them, the first ones, are no padding; by default all.
        marks: Columns to add.
        cursor: Reads them, and stays open; by default one that is closed in the end.

    Yields:
        A table or several.

    Raises:
        OSError: A shard cannot be read, or is not as long as it was.
    """
    indices = np.asarray(samples, dtype=np.int64)
    stored, rows = np.unique(indices, return_inverse=True)
    if len(stored) == 0:
        return
    bases = np.concatenate(([0], np.cumsum(shards.sizes)))
    shard = np.searchsorted(bases, stored, side="right") - 1
    # To go on through what lies between two rows costs less than to begin anew, unless it is much.
    breaks = np.flatnonzero((np.diff(stored) > DECODED_ROWS) | (np.diff(shard) > 0)) + 1
    own_cursor = cursor is None
    cursor = cursor or Cursor(shards, SHARD_BYTES)
    read: list[pa.RecordBatch] = []
    try:
        for part in np.split(np.arange(len(stored)), breaks):
            own = stored[part]
            at, end = int(own[0]), int(own[-1]) + 1
            for run in cursor.read(int(shard[part[0]]), at - int(bases[shard[part[0]]]), end - at):
                wanted = own[(own >= at) & (own < at + run.num_rows)] - at
                read.append(run.take(pa.array(wanted)))
                at += run.num_rows
    finally:
        if own_cursor:
            cursor.close()
    table = pa.Table.from_batches(read, shards.schema)
    yield from _taken(table, rows, indices, len(indices) if real is None else real, marks)


def batches(tables: Iterator[pa.Table], size: int, drop_last: bool) -> Iterator[pa.RecordBatch]:
    """Tables cut into batches of `size` rows; the last one may be shorter, or is left out."""
    rest: list[pa.RecordBatch] = []
    held = 0
    for table in tables:
        for run in table.combine_chunks().to_batches():
            at = 0
            while held + run.num_rows - at >= size:
                part = run.slice(at, size - held)
                at += part.num_rows
                yield pa.concat_batches([*rest, part]) if rest else part
                rest, held = [], 0
            if at < run.num_rows:
                rest.append(run.slice(at))
                held += run.num_rows - at
    if rest and not drop_last:
        yield pa.concat_batches(rest)


def _taken(
    table: pa.Table, rows: NDArray[np.int64], samples: NDArray[np.int64], real: int, marks: Marks
) -> Iterator[pa.Table]:
    """Rows of a table, in pieces where it is large."""
    schema = table.schema
    piece = len(rows)
    if table.nbytes >= WIDE:
        table = table.cast(pa.schema([field.with_type(_wide(field.type)) for field in schema]))
        piece = max(1, len(rows) * PIECE // table.nbytes)
    for at in range(0, len(rows), piece):
        taken = table.take(rows[at : at + piece])
        yield _marked(taken.cast(schema), samples[at : at + piece], real - at, marks)


def _wide(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_binary(kind):
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.large_list(kind.value_field.with_type(_wide(kind.value_type)))
    return kind


def _marked(table: pa.Table, samples: NDArray[np.int64], real: int, marks: Marks) -> pa.Table:
    if marks.sample is not None:
        table = table.append_column(marks.sample, pa.array(samples))
    if marks.padding is not None:
        table = table.append_column(marks.padding, pa.array(np.arange(len(samples)) >= real))
    return table
