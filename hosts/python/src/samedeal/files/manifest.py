"""Manifests: the facts from the footers of all files of a dataset, in one file.

The file is a stream of Arrow (IPC), and the SHA-256 of its bytes behind it. A row is a file of the dataset. The
metadata of the stream has the member `samedeal.manifest`, a JSON object with the version, the format of the files and
the schema of the dataset.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import struct
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from .. import UnknownNameError
from ..engine import arguments as check
from .footers import DIGEST, Facts, Identities, select
from .location import Location, opened
from .schemas import check_names

VERSION = 1
MOST_BYTES = 1 << 31
"""The most bytes of a manifest. They are read into memory."""
_DOCUMENT = b"samedeal.manifest"
_NUMBERS = ("size", "rows", "bytes", "largest_rows", "largest_bytes")


class Manifest(NamedTuple):
    """The files of a dataset, by their names, and the facts about them."""

    format: str
    """The name of their format."""
    names: tuple[str, ...]
    """Their paths relative to the directory, with '/' between parts."""
    facts: Facts


def write(path: Path, manifest: Manifest) -> None:
    """Writes a manifest under a temporary name and renames it, so that the file is complete or missing.

    Raises:
        OSError: The file cannot be written.
    """
    facts, identities = manifest.facts, manifest.facts.identities
    assert identities is not None
    has_stored = facts.stored is not None
    more = () if facts.stored is None else facts.stored.T
    columns = (identities.sizes, facts.rows, facts.bytes, *facts.largest.T, *more)
    digests = pa.py_buffer(identities.digests.tobytes())
    arrays = [
        pa.array(manifest.names, pa.string()),
        pa.Array.from_buffers(pa.binary(DIGEST), len(manifest.names), [None, digests]),
        *(pa.array(np.ascontiguousarray(column)) for column in columns),
    ]
    schema = base64.b64encode(facts.schema.serialize()).decode()
    members = {"version": VERSION, "format": manifest.format, "schema": schema, "stored": has_stored}
    own = _schema(facts.schema if has_stored else None).with_metadata({_DOCUMENT: json.dumps(members)})
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, own) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=own))
    data = stream.getvalue().to_pybytes()
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        part.write_bytes(data + hashlib.sha256(data).digest())
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


def is_manifest(path: Path) -> bool:
    """Whether a file of this machine is a manifest, of any version. Only its first bytes are read."""
    try:
        with opened(str(path)) as source:
            return _DOCUMENT in (pa.ipc.open_stream(source).schema.metadata or {})
    except (pa.ArrowException, OSError):
        return False


def read(location: Location, columns: Sequence[str] | None, *, by_url: bool) -> Manifest:
    """Reads a manifest, with the bytes of these columns. The file is not trusted.

    `by_url` says that the files are opened by URLs, to which their names are added.

    Raises:
        OSError: The file cannot be read, is no manifest, is damaged, or is of another version.
        UnknownNameError: The dataset has no such column, or the manifest was made without it.
    """
    with location.open() as source:
        size = source.size()
        data = source.read_buffer(size) if size <= MOST_BYTES else None
    try:
        if data is None:
            raise OSError(f"it has {size:,} bytes, and {MOST_BYTES:,} are allowed")
        if len(data) != size or hashlib.sha256(data[:-DIGEST]).digest() != data[-DIGEST:].to_pybytes():
            raise OSError("the SHA-256 at its end differs")
        format, schema, has_stored, table = _parsed(data[:-DIGEST])
        names = tuple(table["name"].to_pylist())
        check_members(names, schema, by_url=by_url)
        wanted = select(schema, columns)
        at = [schema.names.index(name) for name in wanted.names] if has_stored else []
        numbers = np.array([table[name].to_numpy() for name in (*_NUMBERS, *map(_stored, at))])
        if (numbers < 0).any():
            raise OSError("it has a number below 0")
        # The bytes that columns take are added across all of them. The sum as floats is inexact, but does not overflow.
        for each in (*numbers[: len(_NUMBERS)], numbers[len(_NUMBERS) :]):
            if each.sum(dtype=np.float64) > 2 * check.MAX_EXACT or each.sum() > check.MAX_EXACT:
                raise OSError(f"it has rows or bytes whose sum is above {check.MAX_EXACT:,}")
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, RecursionError, struct.error) as error:
        raise OSError(f"{location.path}: not a manifest, or damaged: {error}") from error
    for name in columns or ():
        if name not in wanted.names:
            raise UnknownNameError("columns", name[:64], ", ".join(schema.names))
    sizes, rows, bytes, *largest = numbers[: len(_NUMBERS)]
    stored = numbers[len(_NUMBERS) :].T if has_stored else None
    digests = np.frombuffer(b"".join(table["footer"].to_pylist()), dtype=np.uint8).reshape(-1, DIGEST)
    facts = Facts(wanted, rows, bytes, np.stack(largest, axis=1), stored, Identities(sizes, digests))
    return Manifest(format, names, facts)


def _schema(dataset: pa.Schema | None) -> pa.Schema:
    """The columns of a manifest. `dataset` is the schema of the dataset, if the bytes of its columns are known."""
    numbers = [*_NUMBERS, *(map(_stored, range(len(dataset))) if dataset is not None else ())]
    fields = [("name", pa.string()), ("footer", pa.binary(DIGEST)), *((name, pa.int64()) for name in numbers)]
    return pa.schema(fields)


def _stored(number: int) -> str:
    """The name of the column with the bytes that column `number` of the dataset takes in each file."""
    return f"bytes_{number}"


def _parsed(stream: pa.Buffer) -> tuple[str, pa.Schema, bool, pa.Table]:
    """The format and the schema of the dataset, whether the bytes of its columns are known, and all rows."""
    reader = pa.ipc.open_stream(stream)
    members = json.loads((reader.schema.metadata or {})[_DOCUMENT])
    version, format, has_stored = members["version"], members["format"], members["stored"]
    if version != VERSION:
        raise OSError(f"it has version {str(version)[:24]}, and this version of samedeal reads {VERSION}")
    if not isinstance(format, str) or not isinstance(has_stored, bool):
        raise TypeError("a member of its metadata has another type")
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(members["schema"], validate=True)))
    check_names(schema)
    expected = _schema(schema if has_stored else None)
    if not reader.schema.equals(expected):
        raise OSError(f"it has the columns {str(reader.schema.names)[:256]}, or one of another type")
    # A few compressed bytes could become all of the memory.
    if any(map(_is_compressed, pa.ipc.MessageReader.open_stream(stream))):
        raise OSError("it is compressed")
    batches, left = [], len(stream)
    for batch in reader:
        # Arrow does not check what it reads: wrong offsets would be read beyond their buffers.
        batch.validate(full=True)
        batches.append(batch)
        # Several columns may be the same bytes of the stream.
        left -= batch.nbytes
        if left < 0:
            raise OSError("its columns have more bytes than the file")
    table = pa.Table.from_batches(batches, reader.schema)
    if not len(table) or any(column.null_count for column in table.columns):
        raise OSError("it has no row, or a null")
    return format, schema, has_stored, table


def _is_compressed(message: pa.Message) -> bool:
    """Whether a message has a compressed body. pyarrow does not tell, so this reads the metadata, a flatbuffer.

    Arrow has verified the flatbuffer when it read the message.
    """
    if message.type != "record batch":
        return False
    data = message.metadata

    def field(table: int, number: int) -> int:
        """The place of a member of a table; 0 if the member is not there."""
        entries = table - struct.unpack_from("<i", data, table)[0]
        (size,) = struct.unpack_from("<H", data, entries)
        at = 4 + 2 * number
        (offset,) = struct.unpack_from("<H", data, entries + at) if at < size else (0,)
        return table + offset if offset else 0

    # In Message.fbs of Arrow, `header` is member 2 of a message, and `compression` is member 3 of a record batch. Old
    # versions of Arrow named it in `custom_metadata`, member 4 of the message, which a manifest does not have.
    (root,) = struct.unpack_from("<I", data)
    header = field(root, 2)
    return bool(field(root, 4) or field(header + struct.unpack_from("<I", data, header)[0], 3))


def check_members(names: Sequence[str], schema: pa.Schema, *, by_url: bool) -> None:
    """Raises an error unless the names are different paths that stay below the directory that they are relative to.

    In a URL, '%2e' is a dot, and '?' and '#' end the path.

    Raises:
        OSError: A name leads elsewhere, or comes twice; or the dataset has no column, or one twice.
    """
    if not len(schema) or len(set(schema.names)) != len(schema):
        raise OSError("it has no column, or a column twice")
    for name in names:
        own = unquote(name) if by_url else name
        leads_away = not {"", ".", ".."}.isdisjoint(own.split("/")) or (by_url and not {"?", "#"}.isdisjoint(name))
        if leads_away or "\0" in own or (os.sep != "/" and os.sep in own):
            raise OSError(f"it has the name {name[:64]!r}, which is no path below a directory")
    if len(set(names)) != len(names):
        raise OSError("it has a name twice")
