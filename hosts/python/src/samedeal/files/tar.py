"""Tar files of WebDataset: successive members of one name, apart from their endings, are a row. A part is some rows."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from .format import File, Footer, Format
from .location import Location

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PART = 1 << 18
"""How many bytes a part has at least. The last part may have fewer."""
_KEY = "__key__"
# WebDataset divides the name of a member in this way into the key of a row and an ending.
_NAME = re.compile(r"^((?:.*/|)[^.]+)[.]([^/]*)$")
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


class _Index(NamedTuple):
    """The places of the parts."""

    size: int
    """Bytes of the file."""
    columns: list[str]
    """The endings of all members, sorted."""
    places: NDArray[np.int64]
    """Where the first member of each part begins, in bytes."""
    rows: NDArray[np.int64]
    """How many rows each part has."""
    bytes: NDArray[np.int64]
    """How many bytes the members of each part have."""


class _TarFile:
    def __init__(self, source: pa.NativeFile, index: _Index) -> None:
        self._source, self._index = source, index

    @property
    def footer(self) -> Footer:
        """The facts that the scan of the file found."""
        _, columns, _, rows, sizes = self._index
        fields = [(_KEY, pa.string()), *((name, pa.binary()) for name in columns)]
        return Footer(pa.schema(fields if columns else []), rows, sizes, None, self._index)

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The rows, `rows` at a time."""
        index, schema = self._index, self.footer.schema
        schema = pa.schema([schema.field(name) for name in columns])
        self._source.seek(int(index.places[parts.start]))
        left = int(index.rows[parts.start : parts.stop].sum())
        made: list[dict[str, bytes | str | None]] = []
        for _, key, members, file in _rows(self._source):
            row: dict[str, bytes | str | None] = dict.fromkeys(columns)
            for member, name in members:
                if name in row:
                    row[name] = _data(file, member)
            if _KEY in row:
                row[_KEY] = key
            made.append(row)
            left -= 1
            if len(made) == rows or not left:
                yield pa.RecordBatch.from_pylist(made, schema=schema)
                made = []
            if not left:
                return
        raise OSError("has fewer rows than at the start")

    def close(self) -> None:
        """Closes the file."""
        self._source.close()


class Tar(Format):
    """Tar files of WebDataset. Columns are `__key__`, a text, and the bytes of each ending of the file's members."""

    name = "tar"
    suffixes = (".tar", ".tar.gz", ".tgz", ".tar.zst")

    def open(self, location: Location, index: _Index | None = None) -> File:
        """Opens a file. Without an index, the heads of all members are read once."""
        source = location.open()
        try:
            start = bytes(source.read(8))
            for magic, kind in _PACKED.items():
                if start.startswith(magic):
                    raise OSError(f"packed by {kind}, so that no row can be found: unpack it")
            source.seek(0)
            if index is None:
                index = _scanned(source)
            if source.size() != index.size:
                raise OSError(f"has {source.size()} bytes now, and had {index.size} at the start")
            return _TarFile(source, index)
        except BaseException:
            source.close()
            raise


class _Raw(io.RawIOBase):
    """A file of pyarrow as `io.BufferedReader` takes it. It stays open if the buffer is closed."""

    def __init__(self, source: pa.NativeFile) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return int(self._source.tell())

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._source.seek(offset, whence))

    def readinto(self, buffer: object) -> int:
        return int(self._source.readinto(buffer))


def _rows(source: pa.NativeFile) -> Iterator[tuple[int, str, list[tuple[tarfile.TarInfo, str]], tarfile.TarFile]]:
    """The rows from a place on: where the first member begins, the key, the members with their endings, and the file.

    Raises:
        OSError: It is no tar file, is cut off, or a row has two members of one ending.
    """
    buffered: IO[bytes] = io.BufferedReader(_Raw(source), 1 << 17)
    try:
        file = tarfile.TarFile(fileobj=buffered, errors="strict")
        key, place = "", 0
        members: list[tuple[tarfile.TarInfo, str]] = []
        for member in file:
            # Without this, `tarfile` keeps the heads of all members in memory.
            file.members = []  # type: ignore[attr-defined]
            known = _NAME.match(member.name)
            if not member.isreg() or known is None or re.fullmatch("__.*__", member.name.rpartition("/")[2]):
                continue
            own, name = known[1], known[2].lower()
            if own != key:
                if members:
                    yield place, key, members, file
                key, members, place = own, [], member.offset
            if any(name == other for _, other in members):
                raise OSError(f"the row {own!r} has two members .{name}")
            members.append((member, name))
        if members:
            yield place, key, members, file
        # A tar file ends with blocks of zeros. Without them it may have been cut off between two members.
        buffered.seek(file.offset)
        if buffered.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise OSError("it has no mark of its end")
    except (tarfile.TarError, UnicodeError) as error:
        raise OSError(str(error)) from error


def _data(file: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    data = file.extractfile(member)
    try:
        found = b"" if data is None else data.read()
    except tarfile.TarError as error:
        raise OSError(f"{member.name}: {error}") from error
    if len(found) != member.size:
        raise OSError(f"{member.name} is cut off")
    return found


def _scanned(source: pa.NativeFile) -> _Index:
    columns: set[str] = set()
    places: list[int] = []
    rows: list[int] = []
    sizes: list[int] = []
    for place, _, members, _ in _rows(source):
        if not sizes or sizes[-1] >= _PART:
            places.append(place)
            rows.append(0)
            sizes.append(0)
        rows[-1] += 1
        sizes[-1] += sum(member.size for member, _ in members)
        columns.update(name for _, name in members)
    arrays = (np.array(each, dtype=np.int64) for each in (places, rows, sizes))
    return _Index(source.size(), sorted(columns), *arrays)
