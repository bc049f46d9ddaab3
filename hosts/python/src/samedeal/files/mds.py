"""MDS files of Mosaic Streaming. The parts of a shard (see `format.Footer`) are runs of its rows."""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import MissingError
from .format import File, Footer, Format
from .location import Location

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PART = 1 << 18
"""About how many bytes a part has."""
_TYPES = {"int": pa.int64(), "str_int": pa.int64(), "str_float": pa.float64()}
"""Types of numbers whose encodings are not named as NumPy's types are."""
_NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


class _Column(NamedTuple):
    name: str
    size: int | None
    """Bytes of each value; None if they differ."""
    type: pa.DataType
    decode: Callable[[bytes], Any]


class _MdsFile:
    def __init__(self, source: pa.NativeFile) -> None:
        """Reads the head of the file: the places of the rows, and the columns."""
        self._source = source
        (count,) = self._numbers(1)
        self._places = self._numbers(int(count) + 1).astype(np.int64)
        """Where each row begins, in bytes, and where the last one ends."""
        head = 4 * (int(count) + 2)
        if (np.diff(self._places, prepend=head) < 0).any() or self._places[-1] != source.size():
            raise OSError(f"its head says {self._places[-1]} bytes, and there are {source.size()}")
        try:
            members = json.loads(bytes(source.read(int(self._places[0]) - head)))
            columns = (members[f"column_{each}"] for each in ("names", "sizes", "encodings"))
            self._columns = [_column(*each) for each in zip(*columns, strict=True)]
        except (KeyError, TypeError, ValueError):
            raise OSError("its head does not have the columns of an MDS file") from None
        # A part begins with the first row after each multiple of _PART.
        firsts = np.flatnonzero(np.diff((self._places[:-1] - self._places[0]) // _PART, prepend=-1))
        self._firsts = np.append(firsts, int(count)).astype(np.int64)
        """The first row of each part, and the number of rows."""

    def _numbers(self, count: int) -> NDArray[np.uint32]:
        data = bytes(self._source.read(4 * count)) if 4 * count <= self._source.size() else b""
        if len(data) != 4 * count:
            raise OSError("its head is cut off")
        return np.frombuffer(data, "<u4")

    @property
    def footer(self) -> Footer:
        """The head of the file."""
        schema = pa.schema([(column.name, column.type) for column in self._columns])
        return Footer(schema, np.diff(self._firsts), np.diff(self._places[self._firsts]))

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The rows, `rows` at a time."""
        first, end = int(self._firsts[parts.start]), int(self._firsts[parts.stop])
        chosen = [(at, column) for at, column in enumerate(self._columns) if column.name in columns]
        schema = pa.schema([(column.name, column.type) for _, column in chosen])
        for at in range(first, end, rows):
            places = self._places[at : min(at + rows, end) + 1]
            self._source.seek(int(places[0]))
            data = bytes(self._source.read(int(places[-1] - places[0])))
            if len(data) != places[-1] - places[0]:
                raise OSError("it is cut off")
            starts = (places - places[0]).tolist()
            values = [self._values(data[own:after]) for own, after in itertools.pairwise(starts)]
            made = [_decoded(column, [row[k] for row in values]) for k, column in chosen]
            yield pa.RecordBatch.from_arrays(made, schema=schema)

    def _values(self, row: bytes) -> list[bytes]:
        """The bytes of each column. A row begins with the sizes of values without a fixed size; all values follow."""
        free = [column.size is None for column in self._columns]
        given = iter(np.frombuffer(row[: 4 * sum(free)], "<u4").tolist())
        at, values = 4 * sum(free), []
        for column in self._columns:
            size = next(given) if column.size is None else column.size
            values.append(row[at : at + size])
            at += size
        if at != len(row):
            raise OSError("a row is of another length than its columns")
        return values

    def close(self) -> None:
        """Closes the file."""
        self._source.close()


class Mds(Format):
    """MDS files, not packed.

    Texts, numbers and arrays of a known type come decoded, by the package `mosaicml-streaming`. Other values (images,
    pickles, arrays of any type) come as the bytes that are in the file.
    """

    name = "MDS"
    suffixes = (".mds", ".mds.zstd", ".mds.gz", ".mds.br", ".mds.snappy", ".mds.bz2")

    def open(self, location: Location, index: Any = None) -> File:
        """Opens a file, and reads the places of its rows, 4 bytes for each."""
        if not location.path.endswith(".mds"):
            raise OSError("packed, so that no row can be found: unpack it")
        source = location.open()
        try:
            return _MdsFile(source)
        except BaseException:
            source.close()
            raise

    def choose(self, names: Sequence[str], read: Callable[[str], bytes]) -> Sequence[str]:
        """The shards that each index.json names, in its order; without an index.json, all MDS files.

        Raises:
            OSError: A shard is not there, or is packed.
        """
        known = set(names)
        found: list[str] = []
        for name in names:
            folder, _, last = name.rpartition("/")
            if last == "index.json":
                found += [f"{folder}/{shard}".lstrip("/") for shard in _shards(name, read(name))]
        for shard in found:
            if shard not in known:
                raise OSError(f"{shard} is named in index.json, and is not there (packed shards are to be unpacked)")
        return found or super().choose(names, read)


def _shards(name: str, text: bytes) -> list[str]:
    try:
        return [str(shard["raw_data"]["basename"]) for shard in json.loads(text)["shards"]]
    except (ValueError, KeyError, TypeError):
        raise OSError(f"{name}: not an index of MDS files") from None


def _column(name: str, size: int | None, encoding: str) -> _Column:
    kind, _, rest = encoding.partition(":")
    value, _, shape = rest.partition(":")
    if encoding in _NUMBERS or encoding in _TYPES:
        return _Column(name, size, _TYPES.get(encoding) or _of_numpy(encoding), _decoder(encoding))
    if encoding in ("str", "json"):
        return _Column(name, size, pa.string(), bytes.decode)
    if kind == "ndarray" and value in _NUMBERS:
        own = _of_numpy(value)
        decode = _decoder(encoding)
        dimensions = [int(each) for each in shape.split(",")] if shape else []
        for length in reversed(dimensions):
            own = pa.list_(own, length)
        if dimensions:
            return _Column(name, size, own, lambda data: decode(data).tolist())
        return _Column(name, size, pa.list_(own), lambda data: _flat(decode(data)))
    return _Column(name, size, pa.binary(), lambda data: data)


def _decoded(column: _Column, values: list[bytes]) -> pa.Array:
    try:
        return pa.array([column.decode(value) for value in values], column.type)
    except (ValueError, IndexError, KeyError) as error:
        raise OSError(f"a value of column {column.name!r} cannot be decoded: {error}") from error


def _of_numpy(name: str) -> pa.DataType:
    return pa.from_numpy_dtype(np.dtype(name))


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim != 1:
        raise OSError(f"an array has {values.ndim} dimensions, and its column no shape")
    return values


def _decoder(encoding: str) -> Callable[[bytes], Any]:
    """The function of Mosaic that decodes values. It is imported at its first use, since the package imports much."""
    known: Any = None

    def decode(data: bytes) -> Any:
        nonlocal known
        if known is None:
            try:
                known = importlib.import_module("streaming.base.format.mds.encodings").mds_decode
            except ImportError as error:
                allowed = f"the package mosaicml-streaming, which decodes {encoding} ({error})"
                raise MissingError("format", "", allowed) from error
        return known(encoding, data)

    return decode
