"""Parquet files as the shards of a dataset."""

from __future__ import annotations

import errno
import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .. import ContradictionError, MissingError, UnknownNameError, WrongTypeError
from ..engine.arguments import described
from .paths import Paths, Store, find
from .schemas import unified

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Shards:
    """The Parquet files of a dataset: sample indices count through their rows in this order."""

    paths: tuple[str, ...]
    """Where each shard is stored."""
    sizes: NDArray[np.int64]
    """How many rows each holds."""
    bytes: NDArray[np.int64]
    """How many bytes the columns to read take in each, compressed."""
    schema: pa.Schema
    """The columns to read, and the types in which they come from all of them."""
    store: Store | None = None
    """The file system that they are in, where it is not that of this machine."""

    @classmethod
    def find(cls, paths: Paths, columns: Sequence[str] | None = None, *, filesystem: Any = None) -> Shards:
        """Reads the footers of Parquet files, not their data.

        A directory stands for every regular file below it, at any depth, whose name ends in .parquet (this case only),
        in the byte order of their paths relative to the directory with '/' between parts. Names that begin with '.' or
        '_' (files and directories) are passed over. Symbolic links are followed. A link that leads nowhere, or back to
        a directory above it, and a directory that cannot be listed, are errors.

        Files may have the columns in another order, and in types that differ in width alone: `string` beside
        `large_string`, int32 beside int64, dictionaries with indices of any width. `schema` has the wider type.
        `string_view` is read as `string`, and indices of dictionaries are of 32 bits at least.

        Args:
            paths: Files and directories, one or several; also as URLs, such as `file:///data` and `s3://bucket/data`,
                which fsspec opens where it is installed, else pyarrow.
            columns: The columns that will be read; all of them by default.
            filesystem: A file system of pyarrow or fsspec, in which the paths are. It must survive a pickle, if workers
                are to read.

        Raises:
            OSError: A file cannot be read, is not Parquet, or its columns do not go with those of another file.
            MissingError: There is no file, or no column; or a package is missing that knows a file system.
            ContradictionError: A file or a column is named twice, or paths are of several file systems.
            UnknownNameError: There is no such column.
            WrongTypeError: This is no path, or no file system.
        """
        _check_columns(columns)
        found, store = find(paths, filesystem)
        with ThreadPoolExecutor(max_workers=min(16, len(found))) as pool:
            footers = list(pool.map(functools.partial(_footer, store=store), found))
        for name in columns or ():
            if name not in footers[0].schema.names:
                raise UnknownNameError("columns", name[:64], ", ".join(footers[0].schema.names))
        schemas = [_select(footer.schema, columns) for footer in footers]
        schema = unified(schemas, found)
        sizes = np.array([footer.rows for footer in footers], dtype=np.int64)
        weights = [sum(footer.bytes.get(name, 0) for name in schema.names) for footer in footers]
        return cls(found, sizes, np.array(weights, dtype=np.int64), schema, store)

    def __len__(self) -> int:
        """How many shards there are."""
        return len(self.paths)

    @property
    def samples(self) -> int:
        """How many rows all of them hold."""
        return int(self.sizes.sum())

    @property
    def columns(self) -> list[str]:
        """The names of the columns to read."""
        return list(self.schema.names)

    def open(self, shard: int, buffer: int) -> pq.ParquetFile:
        """Opens a shard, which must still be as long as it was, to be read onwards.

        It is read through a buffer of so many bytes for each column, and not ahead, which would hold the column data of
        all that follows.

        Raises:
            OSError: It cannot be read, or holds another number of rows than before.
        """
        path = self.paths[shard]
        try:
            file = pq.ParquetFile(path, pre_buffer=False, buffer_size=buffer, filesystem=_system(self.store))
        except (pa.ArrowException, OSError) as error:
            hint = ""
            if isinstance(error, OSError) and error.errno == errno.EMFILE:
                hint = " (a reader has a file open for each of its lanes: raise `ulimit -n`, or take fewer lanes)"
            raise OSError(f"{path}: {error}{hint}") from error
        if file.metadata.num_rows != self.sizes[shard]:
            file.close()
            raise OSError(f"{path}: holds {file.metadata.num_rows} rows now, and held {self.sizes[shard]} at the start")
        return file


class _Footer(NamedTuple):
    rows: int
    bytes: dict[str, int]
    schema: pa.Schema


def _system(store: Store | None) -> Any:
    return None if store is None else store.system


def _footer(path: str, store: Store | None) -> _Footer:
    try:
        metadata = pq.read_metadata(path, filesystem=_system(store))
        schema = metadata.schema.to_arrow_schema()
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
            # The column of the table, of which this may be a part.
            name = column.path_in_schema if column.path_in_schema in schema.names else _root(column, schema)
            sizes[name] = sizes.get(name, 0) + column.total_compressed_size
    return _Footer(rows, sizes, schema.remove_metadata())


def _root(column: Any, schema: pa.Schema) -> str:
    path: str = column.path_in_schema
    return next((name for name in schema.names if path.startswith(f"{name}.")), path)


def _check_columns(columns: Sequence[str] | None) -> None:
    if columns is None:
        return
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise WrongTypeError("columns", described(columns), "a list of names")
    if not columns:
        raise MissingError("columns", "", "at least one column")
    twice = [name for name in columns if list(columns).count(name) > 1]
    if twice:
        raise ContradictionError("columns", twice[0][:64], "each column once")


def _select(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """Those of the columns that there are."""
    if columns is None:
        return schema
    return pa.schema([schema.field(name) for name in columns if name in schema.names])
