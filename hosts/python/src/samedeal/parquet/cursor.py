"""A place in a shard from which rows are read onwards."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .files import Shards

# Rows that are decoded at a time, at most: enough that a call costs nothing beside them.
DECODED_ROWS = 8_192


class Cursor:
    """Reads runs of rows.

    A run that goes on where the last one ended, or a few rows behind, costs the rows up to its end; another one begins
    with its row group, if it does not lie among the last rows that were read.
    """

    def __init__(self, shards: Shards, held: int, kept: int = 0) -> None:
        """At no place yet.

        About `held` bytes are decoded at a time, and read at a time of each column. The last `kept` rows stay at hand.
        """
        self._shards = shards
        self._held = held
        self._file: pq.ParquetFile | None = None
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._rest: pa.RecordBatch | None = None
        self._shard = self._row = 0
        self._most = kept
        self._kept: deque[pa.RecordBatch] = deque()
        self._behind = 0
        """How many rows these are: those before `_row`."""

    def read(self, shard: int, first: int, count: int) -> Iterator[pa.RecordBatch]:
        """Rows `first` to `first + count - 1` of a shard, piece by piece.

        Raises:
            OSError: The shard cannot be read, or ends before.
        """
        if shard == self._shard and 0 < self._row - first <= self._behind:
            before = min(count, self._row - first)
            yield from self._again(first, before)
            first, count = first + before, count - before
            if count == 0:
                return
        # To go on through a few rows that nobody wants costs less than to begin the row group again.
        if self._file is None or shard != self._shard or not 0 <= first - self._row <= DECODED_ROWS:
            self._open(shard, first)
        for _ in self._take(first - self._row):
            pass
        yield from self._take(count)
        if self._row == self._shards.sizes[shard]:
            self.close()

    def _again(self, first: int, count: int) -> Iterator[pa.RecordBatch]:
        """Rows that were read before."""
        at = self._row - self._behind
        for batch in list(self._kept):
            start, end = max(first - at, 0), min(first + count - at, batch.num_rows)
            if start < end:
                yield batch.slice(start, end - start)
            at += batch.num_rows

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = self._rest = None
            self._batches = iter(())

    def _open(self, shard: int, first: int) -> None:
        self.close()
        file = self._shards.open(shard, self._held)
        footers = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        groups = np.array([footer.num_rows for footer in footers])
        ends = groups.cumsum()
        width = sum(footer.total_byte_size for footer in footers) // len(groups) // max(1, int(groups.mean()))
        decoded = min(DECODED_ROWS, self._held // max(1, width) + 1)
        group = int(np.searchsorted(ends, first, side="right"))
        self._kept.clear()
        self._behind = 0
        self._file, self._shard, self._row = file, shard, int(ends[group] - groups[group])
        # One column after the other: a reader is one of many.
        self._batches = file.iter_batches(
            decoded, row_groups=range(group, len(groups)), columns=self._shards.columns, use_threads=False
        )

    def _take(self, count: int) -> Iterator[pa.RecordBatch]:
        while count > 0:
            batch = self._rest
            if batch is None:
                path = self._shards.paths[self._shard]
                try:
                    batch = next(self._batches, None)
                except (pa.ArrowException, OSError) as error:
                    raise OSError(f"{path}: {error}") from error
                if batch is None:
                    raise OSError(f"{path}: ends after {self._row} of the rows that its footer promises")
                batch = _cast(batch, self._shards.schema, path)
            part = batch.slice(0, count)
            self._rest = batch.slice(count) if batch.num_rows > count else None
            self._row += part.num_rows
            count -= part.num_rows
            self._keep(part)
            yield part

    def _keep(self, part: pa.RecordBatch) -> None:
        if not self._most:
            return
        self._kept.append(part)
        self._behind += part.num_rows
        while self._behind - self._kept[0].num_rows >= self._most:
            self._behind -= self._kept.popleft().num_rows


def _cast(batch: pa.RecordBatch, schema: pa.Schema, path: str) -> pa.RecordBatch:
    """The columns in the order and the types of the dataset."""
    if batch.schema.equals(schema):
        return batch
    columns = []
    for field in schema:
        column = batch.column(field.name)
        try:
            columns.append(column if column.type == field.type else column.cast(field.type))
        except (pa.ArrowException, NotImplementedError) as error:
            told = f"column {field.name!r}, which is {column.type} here, is no {field.type}"
            raise OSError(f"{path}: {told}: {error}") from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)
