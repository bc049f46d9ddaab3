"""JSON lines: a file with a JSON object in each line. A part is about a megabyte of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import WrongTypeError
from ..engine.arguments import described
from .format import File, Footer, Format
from .location import Location

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PART = 1 << 20
"""About how many bytes of lines a part has."""
_MEMORY = 2
"""About how many bytes of memory a byte of JSON becomes."""
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2"}


class _Index(NamedTuple):
    """The places of the parts."""

    schema: pa.Schema
    ends: NDArray[np.int64]
    """Where each part ends, in bytes."""
    rows: NDArray[np.int64]
    """How many lines of each part are not empty."""


class _JsonFile:
    def __init__(self, source: pa.NativeFile, index: _Index) -> None:
        self._source, self._index = source, index

    @property
    def footer(self) -> Footer:
        """The facts that the scan of the file found."""
        index = self._index
        return Footer(index.schema, index.rows, _MEMORY * np.diff(index.ends, prepend=0), None, index)

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of each part together."""
        _, ends, counts = self._index
        for part in parts:
            begin = int(ends[part - 1]) if part else 0
            self._source.seek(begin)
            data = self._source.read(int(ends[part]) - begin)
            table = _parsed(data, self._index.schema, begin)
            if table.num_rows != counts[part]:
                told = f"has {table.num_rows} objects from byte {begin} on, and had {counts[part]} lines at the start"
                raise OSError(told)
            yield from table.select(list(columns)).to_batches()

    def close(self) -> None:
        """Closes the file."""
        self._source.close()


class JsonLines(Format):
    """JSON lines.

    Columns and types are those of the first megabyte of a file, unless a schema is given. A column that is missing in
    an object is null. A column that the schema does not have, or a value of another type, is an error.
    """

    name = "JSON lines"
    suffixes = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst")

    def __init__(self, schema: pa.Schema | None = None) -> None:
        """Takes the schema of all files; with None, the schema of each file is found.

        Raises:
            WrongTypeError: The value is no schema.
        """
        if schema is not None and not isinstance(schema, pa.Schema):
            raise WrongTypeError("schema", described(schema), "a pyarrow.Schema, or None")
        self._schema = schema

    def open(self, location: Location, index: Any = None) -> File:
        """Opens a file. Without an index, all of it is read once, to find its lines."""
        source = location.open()
        try:
            start = bytes(source.read(4))
            for magic, kind in _PACKED.items():
                if start.startswith(magic):
                    raise OSError(f"packed by {kind}, so that no row can be found: unpack it, or write Parquet")
            if index is None:
                index = self._scanned(source)
            size = int(index.ends[-1]) if len(index.ends) else 0
            if source.size() != size:
                raise OSError(f"has {source.size()} bytes now, and had {size} at the start")
            return _JsonFile(source, index)
        except BaseException:
            source.close()
            raise

    def _scanned(self, source: pa.NativeFile) -> _Index:
        ends: list[int] = []
        rows: list[int] = []
        schema, at = self._schema, 0
        source.seek(0)
        for lines in _parts(source):
            if schema is None and lines.strip():
                schema = _found(lines)
            at += len(lines)
            ends.append(at)
            rows.append(sum(1 for line in lines.split(b"\n") if line.strip()))
        own = pa.schema([]) if schema is None else schema
        return _Index(own, np.array(ends, dtype=np.int64), np.array(rows, dtype=np.int64))


def _parts(source: pa.NativeFile) -> Iterator[bytes]:
    """The bytes of a file, about a megabyte of whole lines at a time."""
    rest: list[bytes] = []
    while block := bytes(source.read(_PART)):
        # The last line may have no end.
        end = len(block) if len(block) < _PART else block.rfind(b"\n") + 1
        if not end:
            rest.append(block)
            continue
        yield b"".join([*rest, block[:end]])
        rest = [block[end:]] if end < len(block) else []
    if rest:
        yield b"".join(rest)


def _parsed(data: bytes, schema: pa.Schema | None, begin: int) -> pa.Table:
    from pyarrow import json

    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"null"):
        # In the first line, it would end the process (pyarrow 26).
        raise OSError(f"a line has null in place of an object, after byte {begin}")
    # One block, since a line must not be longer than a block.
    reading = json.ReadOptions(use_threads=False, block_size=min(2**31 - 1, len(data) + 1))
    parsing = None
    if schema is not None:
        parsing = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    try:
        return json.read_json(pa.BufferReader(data), read_options=reading, parse_options=parsing)
    except pa.ArrowException as error:
        hint = "" if schema is None else "; if its type or its columns are new, pass JsonLines(schema) as the format"
        raise OSError(f"{error} after byte {begin}{hint}") from error


def _found(lines: bytes) -> pa.Schema:
    """The schema of the first lines."""
    return pa.schema([field.with_type(_plain(field.type)) for field in _parsed(lines, None, 0).schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without times: a text that happens to look like a time stays a text, as in other lines."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind
