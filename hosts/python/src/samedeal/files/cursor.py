"""A place in a shard from which rows are read onwards."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Hashable, Iterator

import pyarrow as pa

from .format import File
from .groups import DECODED_ROWS, Groups, in_turn, nothing
from .shards import Shards


class Cursor:
    """Reads runs of rows.

    A run that begins at the end of the last one, or a few rows after it, is read onwards. A run among the last rows
    that were read comes from memory. Any other run is decoded from the beginning of its row group.
    """

    def __init__(self, shards: Shards, groups: Groups, name: Hashable = None, kept: int = 0) -> None:
        """Opens nothing yet. The last `kept` rows stay in memory. `name` is the name of this place in `groups`."""
        self._shards = shards
        self._groups = groups
        self._name = name
        self._file: File | None = None
        self._is_open = False
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._rest: pa.RecordBatch | None = None
        self._shard = self._row = 0
        self._most = kept
        self._kept: deque[pa.RecordBatch] = deque()
        self._behind = 0
        """How many rows are in `_kept`: those before `_row`."""

    def read(self, shard: int, first: int, count: int) -> Iterator[pa.RecordBatch]:
        """Rows `first` to `first + count - 1` of a shard, piece by piece.

        Raises:
            OSError: The shard cannot be read, or ends before the last row.
        """
        if shard in self._shards.lost:
            yield from nothing(self._shards.schema, count)
            return
        if shard == self._shard and 0 < self._row - first <= self._behind:
            before = min(count, self._row - first)
            yield from self._again(first, before)
            first, count = first + before, count - before
            if count == 0:
                return
        if not self.goes_on(shard, first):
            self._open(shard, first)
        for _ in self._take(first - self._row):
            pass
        yield from self._take(count)
        if self._row == self._shards.sizes[shard]:
            self.close()

    def goes_on(self, shard: int, row: int) -> bool:
        """Whether the cursor reads onwards to this row. To skip a few rows costs less than to open the shard again."""
        if shard in self._shards.lost:
            return True
        return self._is_open and shard == self._shard and 0 <= row - self._row <= DECODED_ROWS

    def _again(self, first: int, count: int) -> Iterator[pa.RecordBatch]:
        """Rows that were read before, from memory."""
        at = self._row - self._behind
        for batch in list(self._kept):
            start, end = max(first - at, 0), min(first + count - at, batch.num_rows)
            if start < end:
                yield batch.slice(start, end - start)
            at += batch.num_rows

    def close(self) -> None:
        """Closes the file."""
        self._groups.leave(self._name)
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._batches = iter(())
            self._groups.release(self._shard, self._file)
        self._file = self._rest = None
        self._is_open = False
        self._batches = iter(())

    def _open(self, shard: int, first: int) -> None:
        self._close_file()
        first = self._groups.expected(self._name, shard, first)
        group, begin = self._groups.of_row(shard, first)
        self._kept.clear()
        self._behind = 0
        if self._groups.shares(self._name, shard, first):
            shared = self._groups.read(self._name, shard, first)
            self._batches, begin = itertools.chain(shared, self._onwards(shard, group + 1)), first
        else:
            self._groups.leave(self._name)
            self._batches = self._onwards(shard, group)
        self._shard, self._row, self._is_open = shard, begin, True

    def _onwards(self, shard: int, group: int) -> Iterator[pa.RecordBatch]:
        """All rows from a row group on."""
        if group < self._groups.count(shard):
            self._file = self._groups.open(shard)
            for part in self._groups.parts(shard, group):
                yield from self._groups.decoded(self._file, shard, part)

    def _take(self, count: int) -> Iterator[pa.RecordBatch]:
        while count > 0:
            batch = self._rest
            if batch is None:
                path = self._shards.paths[self._shard]
                batch = in_turn(self._batches, path)
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
    """The rows with their columns in the order and the types of the dataset."""
    if batch.schema.equals(schema):
        return batch
    columns = []
    for field in schema:
        if field.name not in batch.schema.names:
            raise OSError(f"{path}: some of its rows have no column {field.name!r}")
        column = batch.column(field.name)
        try:
            columns.append(column if column.type == field.type else column.cast(field.type))
        except (pa.ArrowException, NotImplementedError) as error:
            told = f"column {field.name!r}, which is {column.type} here, is no {field.type}"
            raise OSError(f"{path}: {told}: {error}") from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)
