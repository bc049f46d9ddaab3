"""Parquet files. A part is a row group."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .format import Footer, Format
from .location import Location

_END = 1 << 16
"""How many bytes are read from the end of a file: enough for most footers."""
DECODED_BYTES = 1 << 30
"""The most bytes that are decoded at a time, if each text is as long as texts of its column can be."""
MOST_BYTES = 1 << 28
MOST_TIMES = 64
"""Decoded rows are refused if they have more than MOST_BYTES bytes, and also more than MOST_TIMES times the bytes that
the columns to read have in the whole file, not compressed."""


class ParquetFile(pq.ParquetFile):  # type: ignore[misc]
    """A Parquet file that is open."""

    interleaves = True

    def __init__(self, source: pa.NativeFile, **options: Any) -> None:
        """Reads the footer. `options` are those of `pyarrow.parquet.ParquetFile`."""
        end = _end(source)
        # pyarrow would read the end of the file again, which is slow in a store.
        super().__init__(source, metadata=pq.read_metadata(pa.BufferReader(end)), pre_buffer=False, **options)
        self._length, self._digest = source.size(), hashlib.sha256(end).hexdigest()

    @functools.cached_property
    def footer(self) -> Footer:
        """The facts of the file's own footer."""
        metadata, groups = self.metadata, self._groups
        rows = np.array([group.num_rows for group in groups], dtype=np.int64)
        if rows.sum() != metadata.num_rows:
            raise OSError(f"its footer says {metadata.num_rows} rows, and {rows.sum()} in its row groups")
        sizes = [group.total_byte_size for group in groups]
        return Footer(self.schema_arrow, rows, sizes, self._stored, None, self._length, self._digest)

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
            leaves = [leaf for name in columns for leaf in self._leaves.get(name, ())]
            sizes = [_sizes(group, leaves) for group in self._groups]
            longest = max((text for _, text in sizes), default=1)
            self._known_sizes[columns] = sum(size for size, _ in sizes), longest
        return self._known_sizes[columns]

    def _stored(self, names: Collection[str]) -> dict[str, int]:
        leaves = {name: self._leaves.get(name, ()) for name in names}
        return {
            name: sum(group.column(leaf).total_compressed_size for group in self._groups for leaf in own)
            for name, own in leaves.items()
        }

    @functools.cached_property
    def _groups(self) -> list[pq.RowGroupMetaData]:
        return [self.metadata.row_group(i) for i in range(self.metadata.num_row_groups)]

    @functools.cached_property
    def _leaves(self) -> dict[str, list[int]]:
        """By the name of a column of the table: the columns of the file that it is stored in, several if nested."""
        names = set(self.footer.schema.names)
        found: dict[str, list[int]] = {}
        schema = self.metadata.schema
        for leaf in range(len(schema)):
            # Not `path_in_schema` of a row group, since pyarrow ends the process where that is damaged.
            name = path = schema.column(leaf).path
            # A nested column has parts after dots. Names may contain dots, too.
            while name and name not in names:
                name = name.rpartition(".")[0]
            found.setdefault(name or path, []).append(leaf)
        return found


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
            return ParquetFile(source, buffer_size=location.buffer)
        except BaseException:
            source.close()
            raise


def _end(source: pa.NativeFile) -> bytes:
    """The last bytes of a file, which are its footer; other bytes if it is no Parquet file."""
    size = source.size()
    end: bytes = source.read_at(min(size, _END), max(0, size - _END))
    # The last 8 bytes are the length of the footer and the mark "PAR1".
    length = int.from_bytes(end[-8:-4], "little") + 8
    if len(end) < length <= size and end.endswith(b"PAR1"):
        end = source.read_at(length, size - length)
    return end[-length:]


def _sizes(group: pq.RowGroupMetaData, leaves: Sequence[int]) -> tuple[int, int]:
    """Bytes of the columns of a row group, not compressed; and about how many bytes the texts of one row can have."""
    stored = longest = 0
    for leaf in leaves:
        column = group.column(leaf)
        packed = max(1, column.total_compressed_size)
        # Limited, because a wrong footer may have any number.
        size = min(column.total_uncompressed_size, MOST_TIMES * packed)
        stored += size
        if column.physical_type == "BYTE_ARRAY" and column.has_dictionary_page:
            # The compressed size of the dictionary: one text may be nearly all of it, and any row may have that text.
            texts = max(0, column.data_page_offset - (column.dictionary_page_offset or 0))
            longest += min(size, 4 * size * texts // packed)
    return stored, longest
