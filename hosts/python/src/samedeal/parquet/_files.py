"""Parquet files as the shards of a dataset."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .. import ContradictionError, MissingError, UnknownNameError, WrongTypeError
from .._arguments import described

if TYPE_CHECKING:
    from numpy.typing import NDArray

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


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
    """The columns to read, the same in all of them."""

    @classmethod
    def find(cls, paths: Paths, columns: Sequence[str] | None = None) -> Shards:
        """Reads the footers of Parquet files, not their data.

        Args:
            paths: Files and directories, one or several. A directory stands for all *.parquet below it, in the order of
                the bytes of their paths relative to it, as the command `samedeal` has it.
            columns: The columns that will be read; all of them by default.

        Raises:
            OSError: A file cannot be read, is not Parquet, or has other columns than the first one.
            MissingError: There is no file, or no column.
            ContradictionError: A file or a column is named twice.
            UnknownNameError: There is no such column.
        """
        _check_columns(columns)
        found = tuple(_find(paths))
        if not found:
            raise MissingError("paths", "", "at least one Parquet file, or a directory that holds some")
        seen: dict[str, str] = {}
        for path in found:
            other = seen.setdefault(os.path.realpath(path), path)
            if other is not path:
                again = f"{path}, which is {other}," if path != other else f"{path}, by itself and by its directory,"
                raise ContradictionError("paths", again, "each file once")
        with ThreadPoolExecutor(max_workers=min(16, len(found))) as pool:
            footers = list(pool.map(_footer, found))
        schema = _select(footers[0].schema, columns)
        for path, footer in zip(found, footers, strict=True):
            try:
                same = _select(footer.schema, columns).equals(schema)
            except UnknownNameError:
                same = False
            if not same:
                raise OSError(f"{path}: its columns differ from those of {found[0]}; read a selection that all have")
        sizes = np.array([footer.rows for footer in footers], dtype=np.int64)
        weights = [sum(footer.bytes.get(name, 0) for name in schema.names) for footer in footers]
        return cls(found, sizes, np.array(weights, dtype=np.int64), schema)

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
            file = pq.ParquetFile(path, pre_buffer=False, buffer_size=buffer)
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


def _footer(path: str) -> _Footer:
    try:
        metadata = pq.read_metadata(path)
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
    if columns is None:
        return schema
    for name in columns:
        if name not in schema.names:
            raise UnknownNameError("columns", name[:64], ", ".join(schema.names))
    return pa.schema([schema.field(name) for name in columns])


def _find(paths: Paths) -> Iterator[str]:
    several: Iterable[Any] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if not isinstance(several, Iterable):
        raise WrongTypeError("paths", described(paths), "paths of files and directories")
    for path in several:
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            raise WrongTypeError("paths", described(path), "paths of files and directories")
        place = Path(path)
        if not place.is_dir():
            if not place.exists():
                pattern = " (patterns are not expanded: name the directory)" if "*" in str(place) else ""
                raise FileNotFoundError(errno.ENOENT, f"No such file or directory{pattern}", str(path))
            yield str(place)
            continue
        below = [file for file in place.rglob("*.parquet") if file.is_file()]
        if not below:
            raise MissingError("paths", str(place), f"a directory with *.parquet files below it; {place} has none")
        yield from map(str, sorted(below, key=lambda file: os.fsencode(file.relative_to(place).as_posix())))
