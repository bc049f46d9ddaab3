"""Arrow IPC files (Feather version 2) and streams, as Hugging Face saves them. A part is a record batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from .format import File, Footer, Format
from .location import Location

_MAGIC = b"ARROW1"
_END = b"\xff\xff\xff\xff\0\0\0\0"
"""The mark of the end of a stream."""
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd", b"FE": "Feather version 1"}


class _Index(NamedTuple):
    """The record batches of a file."""

    size: int
    """Bytes of the file."""
    schema: pa.Schema
    rows: list[int]
    """How many rows each record batch has."""
    places: list[int]
    """Where each record batch of a stream begins, in bytes. A file with a footer has none of them."""


class _ArrowFile:
    """A file whose record batches are read one after the other."""

    def __init__(self, source: pa.NativeFile, index: _Index) -> None:
        self._source, self._index = source, index

    @property
    def footer(self) -> Footer:
        """The facts that were found when the file was opened for the first time."""
        size, schema, rows, _ = self._index
        total = max(1, sum(rows))
        return Footer(schema, rows, [size * each // total for each in rows], None, self._index)

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The record batches as they are in the file, so `rows` has no effect."""
        for part, batch in zip(parts, self._read(parts, columns), strict=True):
            # Arrow does not check what it reads: wrong offsets would be read beyond their buffers.
            batch.validate(full=True)
            if batch.num_rows != self._index.rows[part]:
                known = self._index.rows[part]
                raise OSError(f"a record batch has {batch.num_rows} rows now, and had {known} at the start")
            yield batch

    def _read(self, parts: range, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        reader = _reader(self._source, [self._index.schema.names.index(name) for name in columns])
        return (reader.get_batch(part) for part in parts)

    def close(self) -> None:
        """Closes the file."""
        self._source.close()


class _ArrowStream(_ArrowFile):
    """A file without a footer, whose record batches follow each other."""

    def _read(self, parts: range, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for part in parts:
            self._source.seek(self._index.places[part])
            message = pa.ipc.read_message(self._source)
            yield pa.ipc.read_record_batch(message, self._index.schema).select(list(columns))


class Arrow(Format):
    """Arrow files and streams, and Feather files of version 2.

    A directory that `datasets.Dataset.save_to_disk` wrote stands for the files that its state.json names.
    """

    name = "Arrow"
    suffixes = (".arrow", ".feather", ".ipc")

    def open(self, location: Location, index: Any = None) -> File:
        """Opens a file or a stream. Without an index, a stream is scanned once, to find its record batches."""
        source = location.open()
        try:
            start = bytes(source.read(len(_MAGIC)))
            source.seek(0)
            for magic, kind in _PACKED.items():
                if start.startswith(magic):
                    raise OSError(f"{kind}, which cannot be read from the middle: write it as an Arrow file")
            is_file = start == _MAGIC
            if index is None:
                index = _looked_up(source) if is_file else _scanned(location, source)
            if source.size() != index.size:
                raise OSError(f"has {source.size()} bytes now, and had {index.size} at the start")
            return _ArrowFile(source, index) if is_file else _ArrowStream(source, index)
        except BaseException:
            source.close()
            raise

    def choose(self, names: Sequence[str], read: Callable[[str], bytes]) -> Sequence[str]:
        """The files with the suffixes; in a dataset of Hugging Face, only those that its state.json names.

        Other files in such a directory are caches of `map` and `filter`.

        Raises:
            OSError: The directory has several splits, a file is missing, or the dataset has a mapping of indices.
        """
        known = set(names)
        for name in names:
            if name.rpartition("/")[2] == "dataset_dict.json":
                raise OSError(f"{name}: a DatasetDict; name the directory of one split")
        states = [name for name in names if name.rpartition("/")[2] == "state.json"]
        found: list[str] = []
        for state in states:
            folder = state.rpartition("/")[0]
            if f"{folder}/dataset_info.json".lstrip("/") in known:
                found += _saved(state, read(state), known)
        folders = {name.rpartition("/")[0] for name in found}
        others = [name for name in super().choose(names, read) if name.rpartition("/")[0] not in folders]
        return sorted([*found, *others], key=str.encode) if others else found


def _saved(state: str, text: bytes, known: set[str]) -> list[str]:
    """The files of a dataset that Hugging Face saved, in its order."""
    try:
        members = json.loads(text)
        names = [each["filename"] for each in members["_data_files"]]
        mapped = bool(members.get("_indices_data_files") or members.get("_indices_files"))
    except (ValueError, KeyError, TypeError):
        raise OSError(f"{state}: not what save_to_disk writes") from None
    if mapped:
        raise OSError(f"{state}: the rows are chosen by a mapping of indices: save dataset.flatten_indices()")
    folder = state[: -len("state.json")]
    for name in names:
        if not isinstance(name, str) or folder + name not in known:
            raise OSError(f"{state} names {name!r}, which is not there")
    return [folder + name for name in names]


def _looked_up(source: pa.NativeFile) -> _Index:
    """The record batches of a file with a footer."""
    schema = pa.ipc.open_file(source).schema
    # The footer has no numbers of rows, so the narrowest column of each batch is read for its length.
    reader = _reader(source, _narrowest(schema))
    rows = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    return _Index(source.size(), schema, rows, [])


def _reader(source: pa.NativeFile, fields: list[int]) -> pa.RecordBatchFileReader:
    return pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields))


def _scanned(location: Location, source: pa.NativeFile) -> _Index:
    """The places of all record batches of a stream."""
    if location.store is None:
        # Mapped into memory, so that the columns are not read.
        source = pa.memory_map(location.path)
    schema = pa.ipc.read_schema(source)
    rows: list[int] = []
    places: list[int] = []
    while True:
        place = source.tell()
        try:
            message = pa.ipc.read_message(source)
        except EOFError:
            break
        if message.type == "dictionary":
            raise OSError("a stream with dictionaries, which cannot be read from the middle: write it as an Arrow file")
        rows.append(pa.ipc.read_record_batch(message, schema).num_rows)
        places.append(place)
    source.seek(place)
    if source.read(len(_END)) != _END:
        # The stream may have been cut off between two record batches.
        raise OSError("it has no mark of its end")
    return _Index(source.size(), schema, rows, places)


def _narrowest(schema: pa.Schema) -> list[int]:
    def width(kind: pa.DataType) -> int:
        try:
            return int(kind.bit_width)
        except ValueError:
            return 1 << 31

    return [min(range(len(schema)), key=lambda at: width(schema.field(at).type))] if len(schema) else []
