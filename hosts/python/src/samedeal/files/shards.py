"""Parquet files as the shards of a dataset."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .. import ContradictionError, MissingError, UnknownNameError, WrongTypeError
from ..engine import arguments as check
from .paths import Paths, Store, find, opened
from .schemas import check_names, unified

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BUFFER = check.Width(0, 2**31 - 1, f"0 to {2**31 - 1} bytes")


@dataclass(frozen=True, eq=False)
class Shards:
    """The Parquet files of a dataset. Sample indices count the rows of all files, in this order."""

    paths: tuple[str, ...]
    """The path of each shard."""
    sizes: NDArray[np.int64]
    """How many rows each shard has."""
    bytes: NDArray[np.int64]
    """How many bytes the columns to read take in each shard, compressed."""
    schema: pa.Schema
    """The columns to read, and the types in which they come from all shards."""
    store: Store | None = None
    """The file system of the shards; None for files of this machine."""
    largest: NDArray[np.int64] | None = None
    """The largest row group of each shard: its rows, and the bytes of the columns to read in it, not compressed."""
    lost: frozenset[int] = frozenset()
    """The numbers of the shards that are not there any more. Their rows keep their indices, and are left out."""

    @staticmethod
    def find(
        paths: Paths,
        columns: Sequence[str] | None = None,
        *,
        filesystem: Any = None,
        lost: Mapping[str | os.PathLike[str], SupportsIndex] | None = None,
    ) -> Shards:
        """Reads the footers of Parquet files, not their data.

        A directory stands for all regular files below it, at any depth, whose names end in ".parquet" (in lower case).
        They are sorted by the bytes of their paths relative to the directory, with '/' between parts. Files and
        directories whose names begin with '.' or '_' are ignored. Symbolic links are followed. A broken link, a link
        back to a directory above it, and a directory that cannot be listed are errors.

        Files may have their columns in another order, and in types that differ only in width: `string` and
        `large_string`, int32 and int64, dictionaries with indices of any width. `schema` has the wider type.
        `string_view` becomes `string`, and indices of dictionaries have at least 32 bits.

        Args:
            paths: One or several files or directories, also as URLs, such as `file:///data` and `s3://bucket/data`.
                fsspec opens URLs if it is installed, otherwise pyarrow.
            columns: The columns that will be read; all of them by default.
            filesystem: A file system of pyarrow or fsspec that has the paths. If workers read, it must be possible to
                pickle it.
            lost: Files that are not there any more, or damaged, and the number of rows that each had. They keep their
                places among the others, so that a state resumes. They are not opened, and their rows do not come.

        Raises:
            OSError: A file cannot be read, is not Parquet, or its columns contradict those of another file.
            MissingError: There is no file or no column, or the package for a file system is not installed.
            ContradictionError: A file or a column is named twice, or the paths belong to several file systems.
            UnknownNameError: There is no such column.
            WrongTypeError: A value is no path or no file system.
        """
        columns = _listed(columns)
        found, store, gone = find(paths, filesystem, _lost(lost))
        there = [path for number, path in enumerate(found) if number not in gone]
        if not there:
            raise MissingError("paths", "", "at least one file that was not lost")
        with ThreadPoolExecutor(max_workers=min(16, len(there))) as pool:
            footers = list(pool.map(functools.partial(_footer, store=store), there))
        for name in columns or ():
            if name not in footers[0].schema.names:
                raise UnknownNameError("columns", name[:64], ", ".join(footers[0].schema.names))
        schemas = [_select(footer.schema, columns) for footer in footers]
        schema = unified(schemas, there)
        for number, rows in sorted(gone.items()):
            footers.insert(number, _Footer(rows, {}, schema, (0, 0)))
        sizes = np.array([footer.rows for footer in footers], dtype=np.int64)
        weights = [sum(footer.bytes.get(name, 0) for name in schema.names) for footer in footers]
        bytes = np.array(weights, dtype=np.int64)
        largest = np.array([footer.largest for footer in footers], dtype=np.int64)
        # Reduced to the columns to read, about.
        largest[:, 1] = largest[:, 1] * (bytes / [max(1, sum(footer.bytes.values())) for footer in footers])
        return Shards(found, sizes, bytes, schema, store, largest, frozenset(gone))

    def __len__(self) -> int:
        """How many shards there are."""
        return len(self.paths)

    @property
    def samples(self) -> int:
        """Number of rows in all files."""
        return int(self.sizes.sum())

    @property
    def columns(self) -> list[str]:
        """The names of the columns to read."""
        return list(self.schema.names)

    def open(self, shard: int, buffer: int) -> pq.ParquetFile:
        """Opens a shard to read it from beginning to end. It must have the same number of rows as before.

        Each column is read through a buffer of `buffer` bytes. Nothing is read ahead, because that would keep the data
        of all following row groups in memory.

        Raises:
            OutOfRangeError: There is no such shard.
            OSError: The file cannot be read, or has another number of rows than before.
        """
        path = self.paths[check.one_of("shard", shard, len(self))]
        buffer = check.integer("buffer", buffer, _BUFFER)
        try:
            source = opened(path) if self.store is None else path
            file = pq.ParquetFile(source, pre_buffer=False, buffer_size=buffer, filesystem=_system(self.store))
        except (pa.ArrowException, OSError) as error:
            hint = ""
            if isinstance(error, OSError) and error.errno == errno.EMFILE:
                hint = " (a reader has a file open for each of its lanes: raise `ulimit -n`, or take fewer lanes)"
            elif isinstance(error, FileNotFoundError):
                hint = f" (to go on without it, resume with lost={{{path!r}: {self.sizes[shard]}}})"
            raise OSError(f"{path}: {error}{hint}") from error
        if file.metadata.num_rows != self.sizes[shard]:
            file.close(force=True)
            raise OSError(f"{path}: holds {file.metadata.num_rows} rows now, and held {self.sizes[shard]} at the start")
        return file


class _Footer(NamedTuple):
    rows: int
    bytes: dict[str, int]
    schema: pa.Schema
    largest: tuple[int, int]


def _system(store: Store | None) -> Any:
    return None if store is None else store.system


def _footer(path: str, store: Store | None) -> _Footer:
    try:
        if store is None:
            with opened(path) as source:
                metadata = pq.read_metadata(source)
        else:
            metadata = pq.read_metadata(path, filesystem=store.system)
        schema = metadata.schema.to_arrow_schema()
        check_names(schema)
    except UnicodeDecodeError as error:
        raise OSError(f"{path}: a column has a name that is not UTF-8: {error.object[:64]!r}") from None
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path}: not a Parquet file, or cut off: {error}") from error
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    if rows != metadata.num_rows:
        raise OSError(f"{path}: its footer says {metadata.num_rows} rows, and {rows} in its row groups")
    sizes: dict[str, int] = {}
    for group in groups:
        for i in range(metadata.num_columns):
            column = group.column(i)
            # The column of the table: a nested column has several of these parts.
            name = column.path_in_schema if column.path_in_schema in schema.names else _root(column, schema)
            sizes[name] = sizes.get(name, 0) + column.total_compressed_size
    largest = max(((group.num_rows, group.total_byte_size) for group in groups), default=(0, 0))
    return _Footer(rows, sizes, schema.remove_metadata(), largest)


def _root(column: Any, schema: pa.Schema) -> str:
    path: str = column.path_in_schema
    return next((name for name in schema.names if path.startswith(f"{name}.")), path)


def _lost(lost: Any) -> dict[str, int]:
    """The rows of each file that was lost, by its path."""
    allowed = "a dictionary: for the path of each file, the number of rows that it had"
    if lost is None:
        return {}
    if not isinstance(lost, Mapping):
        raise WrongTypeError("lost", check.described(lost), allowed)
    found: dict[str, int] = {}
    for path, rows in lost.items():
        text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
        if not isinstance(text, str):
            raise WrongTypeError("lost", check.described(path), allowed)
        found[text] = check.integer("lost", rows, check.COUNT)
    return found


def _listed(columns: Any) -> list[str] | None:
    """The names of columns, from a list of any kind."""
    if columns is None:
        return None
    names = check.items("columns", columns, "a list of names")
    if not all(isinstance(name, str) for name in names):
        raise WrongTypeError("columns", check.described(columns), "a list of names")
    if not names:
        raise MissingError("columns", "", "at least one column")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ContradictionError("columns", twice[0][:64], "each column once")
    return names


def _select(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """The schema of the columns that are read and that the file has."""
    if columns is None:
        return schema
    return pa.schema([schema.field(name) for name in columns if name in schema.names])
