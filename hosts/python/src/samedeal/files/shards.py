"""Files as the shards of a dataset."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import pyarrow as pa

from .. import ContradictionError, MissingError, UnknownNameError, WrongTypeError
from ..engine import arguments as check
from .format import File, Format
from .formats import PARQUET
from .location import Location, Store
from .paths import Paths, find
from .schemas import check_names, unified

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BUFFER = check.Width(0, 2**31 - 1, f"0 to {2**31 - 1} bytes")


@dataclass(frozen=True, eq=False)
class Shards:
    """The files of a dataset. Sample indices count the rows of all files, in the order of `paths`."""

    paths: tuple[str, ...]
    """The path of each shard."""
    sizes: NDArray[np.int64]
    """How many rows each shard has."""
    bytes: NDArray[np.int64]
    """How many bytes the columns to read take in each shard, compressed. If a format does not know this (see
    `samedeal.files.Footer`): the bytes of all columns."""
    schema: pa.Schema
    """The columns to read, and the types in which they come from all shards."""
    store: Store | None = None
    """The file system of the shards; None for files of this machine."""
    largest: NDArray[np.int64] | None = None
    """The largest row group of each shard: its rows, and the bytes of the columns to read in it, not compressed."""
    lost: frozenset[int] = frozenset()
    """The numbers of the shards that are not there any more. Their rows keep their indices, and are left out."""
    format: Format = PARQUET
    """The format of the shards."""
    indexes: Mapping[int, Any] = field(default_factory=dict, repr=False)
    """By the number of a shard: `Footer.index`, with which it is opened again without a scan."""

    @staticmethod
    def find(
        paths: Paths,
        columns: Sequence[str] | None = None,
        *,
        filesystem: Any = None,
        lost: Mapping[str | os.PathLike[str], SupportsIndex] | None = None,
        format: str | Format | None = None,
    ) -> Shards:
        """Reads the footers of files, not their data.

        JSON lines, tar files and Arrow streams have no footers, and are scanned once.

        A directory stands for all regular files below it, at any depth, whose names end in a suffix of the format, such
        as ".parquet" (in lower case). They are sorted by the bytes of their paths relative to the directory, with '/'
        between parts. Files and directories whose names begin with '.' or '_' are ignored. Symbolic links are followed.
        A broken link, a link back to a directory above it, and a directory that cannot be listed are errors.

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
            format: "parquet", "arrow" (Arrow files and streams, Feather, datasets that Hugging Face saved), "jsonl",
                "tar" (WebDataset), "mds" (Mosaic) or "lance"; or a format of your own. By default, it follows from the
                names of the files: Parquet, unless all of them are of another format.

        Raises:
            OSError: A file cannot be read, is of another format, or its columns contradict those of another file.
            MissingError: There is no file or no column, or the package for a file system or a format is not installed.
            ContradictionError: A file or a column is named twice, or the paths belong to several file systems or
                formats.
            UnknownNameError: There is no such column or format.
            WrongTypeError: A value is no path, no file system or no format.
        """
        columns = _listed(columns)
        found, store, gone, known = find(paths, filesystem, _lost(lost), format)
        there = [path for number, path in enumerate(found) if number not in gone]
        if not there:
            raise MissingError("paths", "", "at least one file that was not lost")
        with ThreadPoolExecutor(max_workers=min(16, len(there))) as pool:
            footers = list(pool.map(functools.partial(_footer, store=store, format=known), there))
        # In a format without schemas, a file without rows has no columns: it gets the columns of another file.
        full = next((footer.schema for footer in footers if len(footer.schema)), footers[0].schema)
        footers = [each if each.rows or len(each.schema) else each._replace(schema=full) for each in footers]
        for name in columns or ():
            if name not in footers[0].schema.names:
                raise UnknownNameError("columns", name[:64], ", ".join(footers[0].schema.names))
        schemas = [_select(footer.schema, columns) for footer in footers]
        schema = unified(schemas, there)
        for number, rows in sorted(gone.items()):
            footers.insert(number, _Facts(rows, 0, {}, schema, (0, 0), None))
        sizes = np.array([footer.rows for footer in footers], dtype=np.int64)
        bytes = np.array([footer.bytes_of(schema.names) for footer in footers], dtype=np.int64)
        largest = np.array([footer.largest for footer in footers], dtype=np.int64)
        # The sizes are of all columns, so they are reduced in proportion to the columns to read.
        largest[:, 1] = largest[:, 1] * (bytes / [max(1, footer.bytes_of(footer.stored)) for footer in footers])
        indexes = {number: each.index for number, each in enumerate(footers) if each.index is not None}
        return Shards(found, sizes, bytes, schema, store, largest, frozenset(gone), known, indexes)

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

    def open(self, shard: int, buffer: int) -> File:
        """Opens a shard to read it from beginning to end. It must have the same number of rows as before.

        About `buffer` bytes are read at a time; of each column, if the format stores columns apart. A Parquet file
        comes as a `pyarrow.parquet.ParquetFile`.

        Raises:
            OutOfRangeError: There is no such shard.
            OSError: The file cannot be read, or has another number of rows than before.
        """
        shard = check.one_of("shard", shard, len(self))
        path = self.paths[shard]
        buffer = check.integer("buffer", buffer, _BUFFER)
        try:
            file = self.format.open(Location(path, self.store, buffer), self.indexes.get(shard))
            try:
                rows = sum(map(int, file.footer.rows))
            except BaseException:
                file.close()
                raise
        except (pa.ArrowException, OSError) as error:
            hint = ""
            if isinstance(error, OSError) and error.errno == errno.EMFILE:
                hint = " (a reader has each file open in which it has a lane: raise `ulimit -n`, or take fewer lanes)"
            elif isinstance(error, FileNotFoundError):
                hint = f" (to go on without it, resume with lost={{{path!r}: {self.sizes[shard]}}})"
            raise OSError(f"{path}: {error}{hint}") from error
        if rows != self.sizes[shard]:
            file.close()
            raise OSError(f"{path}: holds {rows} rows now, and held {self.sizes[shard]} at the start")
        return file


class _Facts(NamedTuple):
    """The facts from a footer that `Shards` needs."""

    rows: int
    bytes: int
    """The bytes of all parts in memory, about."""
    stored: Mapping[str, int]
    schema: pa.Schema
    largest: tuple[int, int]
    """The rows and the bytes of the largest part."""
    index: Any

    def bytes_of(self, names: Iterable[str]) -> int:
        """How many bytes these columns take in the file, or all columns take in memory if that is unknown."""
        return sum(self.stored.get(name, 0) for name in names) if self.stored else self.bytes


def _footer(path: str, store: Store | None, format: Format) -> _Facts:
    try:
        file = format.open(Location(path, store))
        try:
            footer = file.footer
            stored = {} if footer.stored is None else footer.stored()
            check_names(footer.schema)
        finally:
            file.close()
    except UnicodeDecodeError as error:
        raise OSError(f"{path}: a column has a name that is not UTF-8: {error.object[:64]!r}") from None
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path}: not a {format.name} file, or cut off: {error}") from error
    parts = [(int(rows), int(size)) for rows, size in zip(footer.rows, footer.bytes, strict=True)]
    rows, bytes = (sum(column) for column in zip(*parts, strict=True)) if parts else (0, 0)
    schema = footer.schema.remove_metadata()
    return _Facts(rows, bytes, stored, schema, max(parts, default=(0, 0)), footer.index)


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
