"""Files as the shards of a dataset."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs

from .. import ContradictionError, MissingError, WrongTypeError
from ..engine import arguments as check
from . import manifest as manifests
from .footers import Facts, Identities, read_footers, select
from .format import File, Format
from .formats import FORMATS, PARQUET, chosen
from .location import Location, Store
from .manifest import Manifest
from .paths import Found, Paths, directory, find, located, target
from .schemas import unified

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
    """The largest row group of each shard: its rows, and about the bytes of the columns to read in it, not
    compressed."""
    lost: frozenset[int] = frozenset()
    """The numbers of the shards that are not there any more. Their rows keep their indices, and are left out."""
    format: Format = PARQUET
    """The format of the shards."""
    indexes: Mapping[int, Any] = field(default_factory=dict, repr=False)
    """By the number of a shard: `Footer.index`, with which it is opened again without a scan."""
    identities: Identities | None = field(default=None, repr=False)
    """The bytes of each file, and the digest of its footer; None if the format has none."""

    @staticmethod
    def find(
        paths: Paths,
        columns: Sequence[str] | None = None,
        *,
        filesystem: Any = None,
        lost: Mapping[str | os.PathLike[str], SupportsIndex] | None = None,
        format: str | Format | None = None,
        manifest: str | os.PathLike[str] | None = None,
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
            filesystem: A file system of pyarrow or fsspec that has the paths. It opens the manifest too, unless that is
                a file:// URL, which is of this machine. If workers read, it must be possible to pickle it.
            lost: Files that are not there any more, or damaged, and the number of rows that each had. They keep their
                places among the others, so that a state resumes. They are not opened, and their rows do not come. These
                may be all files, if the shards are a source of a mixture that has files in other sources.
            format: "parquet", "arrow" (Arrow files and streams, Feather, datasets that Hugging Face saved), "jsonl",
                "tar" (WebDataset), "mds" (Mosaic) or "lance"; or a format of your own. By default, it follows from the
                names of the files: Parquet, unless all of them are of another format.
            manifest: A file that `save_manifest` wrote: its path, or its URL. `paths` is then one directory. It is not
                listed, and no footers are read: the files and the facts about them are those of the manifest. The
                columns are some of those of the manifest. The first file is opened, to see that the manifest is of this
                directory. Every other one is compared when it is opened.

        Raises:
            OSError: A file cannot be read, is of another format, or its columns contradict those of another file. The
                manifest is damaged, or of a newer version.
            MissingError: There is no file or no column, or the package for a file system or a format is not installed.
            ContradictionError: A file or a column is named twice, or the paths belong to several file systems or
                formats.
            UnknownNameError: There is no such column or format.
            WrongTypeError: A value is no path, no file system or no format.
        """
        columns = _listed(columns)
        gone = _lost(lost)
        if manifest is not None:
            return _of_manifest(paths, manifest, columns, filesystem, gone, format)
        found, store, missing, known = find(paths, filesystem, gone, format)
        there = [number for number in range(len(found)) if number not in missing]
        if not there:
            # Of a source of a mixture, all files may be gone: the others have the columns.
            rows = np.array([missing[number] for number in range(len(found))], dtype=np.int64)
            nothing = np.zeros(len(found), dtype=np.int64)
            return Shards(found, rows, nothing, pa.schema([]), store, lost=frozenset(missing), format=known)
        facts = read_footers([found[number] for number in there], store, known, columns)
        return _made(found, there, missing, facts, store, known)

    @staticmethod
    def save_manifest(
        paths: str | os.PathLike[str],
        manifest: str | os.PathLike[str],
        columns: Sequence[str] | None = None,
        *,
        filesystem: Any = None,
        format: str | Format | None = None,
    ) -> None:
        """Reads the footers of the files of a directory, and writes a manifest, which `find` takes instead of them.

        Args:
            paths: The directory, as for `find`. The manifest has the paths of files relative to it.
            manifest: The path of the file to write, on this machine, or its file:// URL. A manifest that is there is
                replaced.
            columns: The columns that can be read with the manifest; all of them by default.
            filesystem: As for `find`.
            format: As for `find`. Formats without footers, such as JSON lines, can have no manifest.

        Raises:
            OSError: A file cannot be read, is of another format, or its columns contradict those of another file; or
                the manifest cannot be written.
            ContradictionError: The format can have no manifest, `paths` is no directory, the manifest would be taken
                for a file of the dataset, another file than a manifest is at its path, or it is a URL of a store.
            SamedealError: As for `find`.
        """
        columns = _listed(columns)
        own = target("manifest", manifest)
        root, store = directory(paths, filesystem)
        found = find(paths, filesystem, None, format)
        _check_apart(own, root, found)
        # The first file alone, because to scan all files of another format would take long.
        for several in (found.paths[:1], found.paths):
            facts = read_footers(several, found.store, found.format, columns)
            if facts.identities is None or facts.indexes:
                allowed = "a format whose files have footers, such as Parquet"
                raise ContradictionError("format", found.format.name, allowed)
        names = tuple(path[len(root) :].replace(os.sep, "/") for path in found.paths)
        try:
            manifests.check_members(names, facts.schema, by_url=_is_by_url(store))
        except OSError as error:
            raise OSError(f"{root}: there can be no manifest: {error}") from None
        manifests.write(own, Manifest(found.format.name, names, facts))

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

        If the format has digests (see `Footer.digest`), it must also have the same size and the same digest.

        About `buffer` bytes are read at a time; of each column, if the format stores columns apart. A Parquet file
        comes as a `pyarrow.parquet.ParquetFile`.

        Raises:
            OutOfRangeError: There is no such shard.
            OSError: The file cannot be read, or is not the file that it was.
        """
        return self._opened(shard, buffer, "at the start")

    def _opened(self, shard: int, buffer: int, known: str) -> File:
        """Opens a shard. `known` says in an error when, or where, it had the rows that it must have."""
        shard = check.one_of("shard", shard, len(self))
        path = self.paths[shard]
        buffer = check.integer("buffer", buffer, _BUFFER)
        try:
            file = self.format.open(Location(path, self.store, buffer), self.indexes.get(shard))
            try:
                footer = file.footer
                rows = sum(map(int, footer.rows))
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
            raise OSError(f"{path}: holds {rows} rows now, and held {self.sizes[shard]} {known}")
        if self.identities is not None:
            difference = self.identities.difference(shard, footer.size, footer.digest, known)
            if difference is not None:
                file.close()
                raise OSError(f"{path}: {difference}")
        return file


def _of_manifest(
    paths: Any,
    path: Any,
    columns: Sequence[str] | None,
    filesystem: Any,
    lost: Mapping[str, int],
    format: Any,
) -> Shards:
    """The shards below a directory that a manifest names. Only the first of them is opened."""
    root, store = directory(paths, filesystem)
    given = chosen(format)
    location = located("manifest", path, filesystem)
    try:
        name, names, facts = manifests.read(location, columns, by_url=_is_by_url(store))
    except FileNotFoundError as error:
        if filesystem is None or location.store is None:
            raise
        told = "no such file in `filesystem`, which opens the manifest too; file:// URLs are of this machine"
        raise FileNotFoundError(f"{location.path}: {told}") from error
    known = given or next((each for each in FORMATS.values() if each.name == name), None)
    if known is None:
        raise MissingError("format", "", f"the format {name[:64]!r}, of which the files of the manifest are")
    if known.name != name:
        raise ContradictionError("format", known.name, f"{name[:64]}, as in the manifest")
    found = tuple(root + each for each in names)
    numbers = {each: number for number, each in enumerate(found)}
    for each, rows in lost.items():
        if each not in numbers:
            raise ContradictionError("lost", each[:256], f"paths below {root[:256]} that the manifest names")
        if rows != facts.rows[numbers[each]]:
            raise ContradictionError("lost", f"{rows} rows of {each[:256]}", f"{facts.rows[numbers[each]]} rows")
    missing = {numbers[each]: rows for each, rows in lost.items()}
    there = next((number for number in range(len(found)) if number not in missing), None)
    if there is None:
        raise MissingError("paths", "", "at least one file that was not lost")
    # Lost files keep the facts of the manifest.
    shards = _made(found, [*numbers.values()], missing, facts, store, known)
    # If the manifest is of another directory, this is an error now, and not at the first batch.
    _check_first(shards, there, location.path)
    return shards


def _check_first(shards: Shards, number: int, manifest: str) -> None:
    """Raises an error unless a file of a manifest is the one of which the manifest has the size, footer and columns."""
    told = f"the manifest {manifest} is of another directory, or older than its files"
    try:
        file = shards._opened(number, 0, "in the manifest")
    except OSError as error:
        cause = error.__cause__
        if isinstance(cause, FileNotFoundError):
            lost = "or a file was lost that `lost` does not name"
            raise FileNotFoundError(f"{told}, {lost}: {shards.paths[number]}: no such file") from error
        if isinstance(cause, OSError) and cause.errno is not None:
            raise
        raise OSError(f"{told}: {error}") from error
    try:
        footer = file.footer
        own = select(footer.schema.remove_metadata(), shards.columns)
        # In a format without schemas, a file without rows has no columns.
        if len(own) or sum(map(int, footer.rows)):
            made = unified([shards.schema, own], [manifest, shards.paths[number]])
            if not made.equals(shards.schema):
                raise OSError(f"{shards.paths[number]}: has the columns {str(own)[:256]}")
    except (OSError, UnicodeDecodeError) as error:
        raise OSError(f"{told}: {error}") from error
    finally:
        file.close()


def _is_by_url(store: Store | None) -> bool:
    """Whether files of a store are opened by their URLs, and not by paths: by fsspec."""
    return store is not None and not isinstance(store.own, pafs.FileSystem)


def _made(
    paths: tuple[str, ...],
    known: list[int],
    lost: Mapping[int, int],
    facts: Facts,
    store: Store | None,
    format: Format,
) -> Shards:
    """The shards. The facts are about those with the numbers `known`; of the others, the rows in `lost` are known."""

    def whole(numbers: NDArray[Any]) -> NDArray[Any]:
        filled = np.zeros((len(paths), *numbers.shape[1:]), dtype=numbers.dtype)
        filled[known] = numbers
        return filled

    sizes, bytes, largest = whole(facts.rows), whole(facts.bytes), whole(facts.largest)
    sizes[list(lost)] = list(lost.values())
    own = facts.identities
    identities = None if own is None else Identities(whole(own.sizes), whole(own.digests))
    if facts.stored is not None:
        bytes = whole(facts.stored.sum(axis=1))
        if identities is not None:
            # The bytes are of all columns of the file, so they are reduced to about those of the columns to read.
            largest[:, 1] = largest[:, 1] * np.minimum(1, bytes / np.maximum(1, identities.sizes))
    indexes = {known[at]: index for at, index in facts.indexes.items()}
    return Shards(paths, sizes, bytes, facts.schema, store, largest, frozenset(lost), format, indexes, identities)


def _check_apart(path: Path, root: str, found: Found) -> None:
    """Raises an error if the manifest would replace another file, or if `find` would take it for one of the files."""
    own, folder = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    if found.store is None and str(own) in map(os.path.realpath, found.paths):
        raise ContradictionError("manifest", str(path)[:256], "a path that is not that of a file of the dataset")
    if os.path.lexists(path) and not manifests.is_manifest(path):
        allowed = "a new path, or that of a manifest, which is replaced: this file is there, and is no manifest"
        raise ContradictionError("manifest", str(path)[:256], allowed)
    if found.store is not None or not path.name.endswith(found.format.suffixes):
        return
    # Directories with files may be reached through links.
    below = own.is_relative_to(folder) and own.relative_to(folder).parts
    if str(own.parent) in {os.path.realpath(each) for each in set(map(os.path.dirname, found.paths))}:
        below = (own.name,)
    if below and not any(part.startswith((".", "_")) for part in below):
        allowed = f"a path outside of the directory, or a name that begins with '_' or does not end in {path.suffix}"
        raise ContradictionError("manifest", str(path)[:256], allowed)


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
