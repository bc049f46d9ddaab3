"""Parquet files as the shards of a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .. import MissingError, UnknownNameError, WrongTypeError

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
    """How many bytes of compressed column data each holds."""
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
            MissingError: There is no file.
            UnknownNameError: There is no such column.
        """
        found = tuple(_find(paths))
        if not found:
            raise MissingError("paths", "", "at least one Parquet file, or a directory that holds some")
        with ThreadPoolExecutor(max_workers=min(16, len(found))) as pool:
            footers = list(pool.map(_footer, found))
        schema = _select(footers[0][2], columns)
        for path, (_, _, other) in zip(found, footers, strict=True):
            try:
                same = _select(other, columns).equals(schema)
            except UnknownNameError:
                same = False
            if not same:
                raise OSError(f"{path}: its columns differ from those of {found[0]}; read a selection that all have")
        sizes, weights = (np.array([footer[i] for footer in footers], dtype=np.int64) for i in (0, 1))
        return cls(found, sizes, weights, schema)

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
            raise OSError(f"{path}: {error}") from error
        if file.metadata.num_rows != self.sizes[shard]:
            file.close()
            raise OSError(f"{path}: holds {file.metadata.num_rows} rows now, and held {self.sizes[shard]} at the start")
        return file


def _footer(path: str) -> tuple[int, int, pa.Schema]:
    try:
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path}: not a Parquet file, or cut off: {error}") from error
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    size = sum(group.column(i).total_compressed_size for group in groups for i in range(metadata.num_columns))
    return metadata.num_rows, size, schema.remove_metadata()


def _select(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    if columns is None:
        return schema
    for name in columns:
        if name not in schema.names:
            raise UnknownNameError("columns", name, ", ".join(schema.names))
    return pa.schema([schema.field(name) for name in columns])


def _find(paths: Paths) -> Iterator[str]:
    several: Iterable[Any] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    for path in several:
        if not isinstance(path, (str, os.PathLike)):
            raise WrongTypeError("paths", repr(path)[:64], "paths of files and directories")
        place = Path(path)
        if not place.is_dir():
            yield str(place)
            continue
        below = [file for file in place.rglob("*.parquet") if file.is_file()]
        if not below:
            raise MissingError("paths", str(place), f"*.parquet files below {place}")
        yield from map(str, sorted(below, key=lambda file: os.fsencode(file.relative_to(place).as_posix())))
