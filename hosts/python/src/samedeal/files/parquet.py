"""Parquet files. A part is a row group."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .format import Footer, Format
from .location import Location

DECODED_BYTES = 1 << 30
"""The most bytes that are decoded at a time, if each text is as long as texts of its column can be."""
MOST_BYTES = 1 << 28
MOST_TIMES = 64
"""Decoded rows are refused if they have more than MOST_BYTES bytes, and also more than MOST_TIMES times the bytes that
the columns to read have in the whole file, not compressed."""


class ParquetFile(pq.ParquetFile):  # type: ignore[misc]
    """A Parquet file that is open."""

    interleaves = True

    @functools.cached_property
    def footer(self) -> Footer:
        """The facts of the file's own footer."""
        metadata = self.metadata
        groups = self._groups()
        rows = np.array([group.num_rows for group in groups], dtype=np.int64)
        if rows.sum() != metadata.num_rows:
            raise OSError(f"its footer says {metadata.num_rows} rows, and {rows.sum()} in its row groups")
        return Footer(self.schema_arrow, rows, [group.total_byte_size for group in groups], self._stored)

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of row groups, fewer than `rows` at a time if texts may be long.

        Raises:
            OSError: The rows have far more bytes than the file (see `MOST_TIMES`), so they are no data.
        """
        stored, longest = self._size(tuple(columns))
        rows = min(rows, DECODED_BYTES // max(1, longest) + 1)
        # One column after the other, without threads, since many readers run at a time.
        for batch in self.iter_batches(rows, row_groups=parts, columns=list(columns), use_threads=False):
            if batch.nbytes > max(MOST_BYTES, MOST_TIMES * stored):
                own = f"these columns of the file have {stored:,}"
                told = f"{batch.num_rows} rows become {batch.nbytes:,} bytes, though {own}"
                raise OSError(f"{told}: refused, as more than {MOST_TIMES} times of it is no data")
            yield batch

    def close(self, force: bool = True) -> None:
        """Closes the file and its source."""
        super().close(force=force)

    @functools.cached_property
    def _known_sizes(self) -> dict[tuple[str, ...], tuple[int, int]]:
        return {}

    def _size(self, columns: tuple[str, ...]) -> tuple[int, int]:
        """Bytes of the columns in the file, not compressed, and about how many bytes the texts of one row can have."""
        if columns not in self._known_sizes:
            sizes = [_sizes(group, columns) for group in self._groups()]
            longest = max((text for _, text in sizes), default=1)
            self._known_sizes[columns] = sum(size for size, _ in sizes), longest
        return self._known_sizes[columns]

    def _stored(self) -> dict[str, int]:
        names, stored = self.schema_arrow.names, dict[str, int]()
        for group in self._groups():
            for i in range(self.metadata.num_columns):
                column = group.column(i)
                # A nested column of the table is several columns of the file, whose sizes are added.
                name = column.path_in_schema if column.path_in_schema in names else _root(column, names)
                stored[name] = stored.get(name, 0) + column.total_compressed_size
        return stored

    def _groups(self) -> list[pq.RowGroupMetaData]:
        return [self.metadata.row_group(i) for i in range(self.metadata.num_row_groups)]


class Parquet(Format):
    """Parquet files."""

    name = "Parquet"
    suffixes = (".parquet",)

    def open(self, location: Location, index: Any = None) -> ParquetFile:
        """Opens a file to read it from beginning to end.

        Each column is read through a buffer. Nothing is read ahead, because that would keep the data of all following
        row groups in memory.
        """
        source = location.open()
        try:
            return ParquetFile(source, pre_buffer=False, buffer_size=location.buffer)
        except BaseException:
            source.close()
            raise


def _root(column: Any, names: Sequence[str]) -> str:
    path: str = column.path_in_schema
    return next((name for name in names if path.startswith(f"{name}.")), path)


def _sizes(group: pq.RowGroupMetaData, columns: Sequence[str]) -> tuple[int, int]:
    """Bytes of the columns of a row group, not compressed; and about how many bytes the texts of one row can have."""
    stored = longest = 0
    for i in range(group.num_columns):
        column = group.column(i)
        if column.path_in_schema.partition(".")[0] not in columns and column.path_in_schema not in columns:
            continue
        packed = max(1, column.total_compressed_size)
        # Limited, because a wrong footer may have any number.
        size = min(column.total_uncompressed_size, MOST_TIMES * packed)
        stored += size
        if column.physical_type == "BYTE_ARRAY" and column.has_dictionary_page:
            # The compressed size of the dictionary: one text may be nearly all of it, and any row may have that text.
            texts = max(0, column.data_page_offset - (column.dictionary_page_offset or 0))
            longest += min(size, 4 * size * texts // packed)
    return stored, longest
