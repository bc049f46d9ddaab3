"""The facts from the footers of all files of a dataset."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import UnknownNameError
from .format import Format
from .location import Location, Store
from .schemas import check_names, unified

if TYPE_CHECKING:
    from numpy.typing import NDArray


DIGEST = 32
"""The bytes of a digest."""


@dataclass(frozen=True)
class Identities:
    """The size and the footer of each file, by which it is told from another file of as many rows.

    A lost file whose size is unknown has zeros.
    """

    sizes: NDArray[np.int64]
    """Bytes of the file."""
    digests: NDArray[np.uint8]
    """The 32 bytes of `Footer.digest`."""

    def difference(self, number: int, size: int | None, digest: str | None, known: str) -> str | None:
        """How a file differs from the one that was known (`at the start`, for example); None if it does not."""
        if size != self.sizes[number]:
            return f"has {size} bytes now, and had {self.sizes[number]} {known}"
        if digest != self.digests[number].tobytes().hex():
            return f"is another file than {known}, though it has as many bytes: its footer differs"
        return None


@dataclass(frozen=True)
class Facts:
    """The facts about files that are needed before their rows are read. Arrays have an item for each file."""

    schema: pa.Schema
    """The columns to read, in the types that hold the values of all files."""
    rows: NDArray[np.int64]
    bytes: NDArray[np.int64]
    """The bytes of all parts in memory, in all columns, about."""
    largest: NDArray[np.int64]
    """The rows and the bytes of the largest part, in all columns."""
    stored: NDArray[np.int64] | None
    """For each file, how many bytes each column to read takes in it. None if the format does not know that."""
    identities: Identities | None
    """None if the format has no digests."""
    indexes: Mapping[int, Any] = field(default_factory=dict)
    """By the number of a file: `Footer.index`."""


class _Footer(NamedTuple):
    rows: int
    bytes: int
    largest: tuple[int, int]
    schema: pa.Schema
    stored: NDArray[np.int64] | None
    """The bytes of the columns to read, in the order of `schema`."""
    index: Any
    size: int | None
    digest: str | None


def read_footers(paths: Sequence[str], store: Store | None, format: Format, columns: Sequence[str] | None) -> Facts:
    """Reads the footers of files, side by side.

    Raises:
        OSError: A file cannot be read, is of another format, or its columns contradict those of another file.
        UnknownNameError: There is no such column.
    """
    read = functools.partial(_footer, store=store, format=format, columns=columns)
    with ThreadPoolExecutor(max_workers=min(16, len(paths))) as pool:
        footers = list(pool.map(read, paths))
    # In a format without schemas, a file without rows has no columns: it gets the columns of another file.
    full = next((footer.schema for footer in footers if len(footer.schema)), footers[0].schema)
    none = np.zeros(len(select(full, columns)), dtype=np.int64)
    footers = [
        each
        if each.rows or len(each.schema)
        else each._replace(schema=full, stored=None if each.stored is None else none)
        for each in footers
    ]
    for name in columns or ():
        if name not in footers[0].schema.names:
            raise UnknownNameError("columns", name[:64], ", ".join(footers[0].schema.names))
    schemas = [select(each.schema, columns) for each in footers]
    schema = unified(schemas, paths)
    numbers = np.array([(each.rows, each.bytes, *each.largest) for each in footers], dtype=np.int64)
    stored = _stored([each.stored for each in footers], schemas, schema.names)
    indexes = {number: each.index for number, each in enumerate(footers) if each.index is not None}
    return Facts(schema, numbers[:, 0], numbers[:, 1], numbers[:, 2:], stored, _identities(footers), indexes)


def select(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """The schema of the columns that are read and that the file has."""
    if columns is None:
        return schema
    return pa.schema([schema.field(name) for name in columns if name in schema.names])


def _footer(path: str, store: Store | None, format: Format, columns: Sequence[str] | None) -> _Footer:
    try:
        file = format.open(Location(path, store))
        try:
            footer = file.footer
            check_names(footer.schema)
            names = select(footer.schema, columns).names
            sizes = None if footer.stored is None else footer.stored(names)
        finally:
            file.close()
    except UnicodeDecodeError as error:
        raise OSError(f"{path}: a column has a name that is not UTF-8: {error.object[:64]!r}") from None
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path}: not a {format.name} file, or cut off: {error}") from error
    if footer.digest is not None and not re.fullmatch("[0-9a-f]{64}", footer.digest):
        raise OSError(f"{path}: the format {format.name} gives a digest that is no SHA-256: {footer.digest[:64]!r}")
    parts = [(int(rows), int(size)) for rows, size in zip(footer.rows, footer.bytes, strict=True)]
    rows, bytes = (sum(column) for column in zip(*parts, strict=True)) if parts else (0, 0)
    schema = footer.schema.remove_metadata()
    largest = max(parts, default=(0, 0))
    stored = None if sizes is None else np.array([sizes.get(name, 0) for name in names], dtype=np.int64)
    return _Footer(rows, bytes, largest, schema, stored, footer.index, footer.size, footer.digest)


def _stored(
    stored: Sequence[NDArray[np.int64] | None], schemas: Sequence[pa.Schema], names: list[str]
) -> NDArray[np.int64] | None:
    """The bytes of the columns `names` in each file. The files may have them in another order."""
    lines = []
    for sizes, schema in zip(stored, schemas, strict=True):
        if sizes is None:
            return None
        own = schema.names
        if own != names:
            by_name = dict(zip(own, sizes, strict=True))
            sizes = np.array([by_name[name] for name in names], dtype=np.int64)
        lines.append(sizes)
    return np.stack(lines)


def _identities(footers: Sequence[_Footer]) -> Identities | None:
    sizes = [each.size for each in footers if each.size is not None]
    digests = [each.digest for each in footers if each.digest is not None]
    if not len(sizes) == len(digests) == len(footers):
        return None
    return Identities(
        np.array(sizes, dtype=np.int64),
        np.frombuffer(bytes.fromhex("".join(digests)), dtype=np.uint8).reshape(-1, DIGEST),
    )
