"""Finds the files that the paths of a dataset stand for, on this machine or in a store."""

from __future__ import annotations

import errno
import importlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from .. import ContradictionError, MissingError, OutOfRangeError, WrongTypeError
from ..engine import arguments as check
from ..engine.arguments import described
from .format import Format
from .formats import PARQUET, chosen, of_file, of_files
from .location import Location, Store, kind_of

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class _Folder(NamedTuple):
    """A directory, and all files below it at any depth that are not hidden."""

    root: str
    """The beginning of the path of each file, before its name."""
    names: list[str]
    """The paths of the files relative to the directory, with '/' between parts, sorted by their bytes."""


class Found(NamedTuple):
    """The files of a dataset."""

    paths: tuple[str, ...]
    store: Store | None
    """The file system of the files; None for files of this machine."""
    lost: dict[int, int]
    """The number of rows of each lost file, by its index in `paths`."""
    format: Format
    """The format of all files."""


def find(
    paths: Paths,
    filesystem: Any = None,
    lost: Mapping[str, int] | None = None,
    format: str | Format | None = None,
) -> Found:
    """The files that paths stand for, as `Shards.find` says. Lost files need not exist.

    Raises:
        OSError: A path leads nowhere, is no regular file, or cannot be listed.
        MissingError: There is no path; or a package is missing that knows the file system; or a directory has files of
            several formats, and none was named.
        ContradictionError: A file is named twice, a directory has no files of the format, or paths are of several file
            systems or formats.
        UnknownNameError: There is no format of this name.
        WrongTypeError: A value is no path, no file system or no format.
    """
    several: Iterable[Any] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if not isinstance(several, Iterable):
        raise WrongTypeError("paths", described(paths), "paths of files and directories")
    store = _store_of(filesystem)
    known = chosen(format)
    formats: dict[str, Format] = {}
    gone = {} if lost is None else lost
    schemes: dict[str, str] = {}
    named: list[tuple[str, str]] = []
    """Each file, and the path that it was found by."""
    for path in several:
        text = _text("paths", path, "paths of files and directories")
        if filesystem is None:
            scheme, separator, _ = text.partition("://")
            schemes.setdefault(scheme if separator and scheme != "file" else "", text)
            if len(schemes) > 1:
                raise ContradictionError("paths", " and ".join(schemes.values()), "paths of one file system")
        text, store = _resolved(text, filesystem, store)
        if text in gone:
            place: str | _Folder = text
        elif (
            store is None
            and not os.path.lexists(text)
            and any(file.startswith(os.path.join(text, "")) for file in gone)
        ):
            # The directory is gone with its files.
            place = _Folder(os.path.join(text, ""), [])
        else:
            place = _local(text) if store is None else _stored(text, store)
        if isinstance(place, str):
            own, files = known or of_file(place), [place]
        else:
            own = known or of_files(place.names, text)
            files = _with_lost(_chosen(place, own, store), text, gone)
            if not files:
                allowed = f"a directory with *{own.suffixes[0]} files below it"
                raise ContradictionError("paths", text, allowed)
        formats[own.name] = own
        if len(formats) > 1:
            allowed = "files of one format; several sources may be of several formats"
            raise ContradictionError("paths", " and ".join(f"{name} files" for name in formats), allowed)
        named.extend((file, text) for file in files)
    if not named:
        raise MissingError("paths", "", f"at least one {(known or PARQUET).name} file, or a directory that holds some")
    _check_once(named, local=store is None)
    found = tuple(file for file, _ in named)
    for path in gone:
        if path not in found:
            allowed = "paths as the dataset has them: in a directory that is one of `paths`, or among these themselves"
            raise ContradictionError("lost", path[:256], allowed)
    (own,) = formats.values()
    return Found(found, store, {number: gone[path] for number, path in enumerate(found) if path in gone}, own)


def directory(path: Any, filesystem: Any = None) -> tuple[str, Store | None]:
    """The beginning of the paths of all files below one directory, which is not listed, and its file system.

    Raises:
        OSError: There is no such directory on this machine.
        ContradictionError: There are several paths, or the path is that of a file on this machine.
        MissingError: A package is missing that knows the file system.
        WrongTypeError: A value is no path or no file system.
    """
    allowed = "one directory, with a manifest"
    if isinstance(path, Iterable) and not isinstance(path, (str, bytes)):
        raise ContradictionError("paths", described(path), allowed)
    text, store = _resolved(_text("paths", path, allowed), filesystem, _store_of(filesystem))
    if store is None:
        _check_text(text)
        if not os.path.exists(text):
            raise _missing(text)
        if not os.path.isdir(text):
            raise ContradictionError("paths", text[:256], allowed)
    return _root(text, store), store


def located(field: str, path: Any, filesystem: Any = None) -> Location:
    """A file by its path or URL. `field` is the name of the parameter that has it. URLs of files are of this machine.

    Raises:
        ContradictionError: A file:// URL has a host.
        MissingError: A package is missing that knows the file system.
        WrongTypeError: A value is no path or no file system.
        OutOfRangeError: A path of this machine has a character 0.
    """
    text = _text(field, path, "the path of a file")
    if text.startswith("file://"):
        text, store = _local_of(text, field), None
    else:
        text, store = _resolved(text, filesystem, _store_of(filesystem))
    if store is None:
        _check_text(text, field)
    return Location(text, store)


def target(field: str, path: Any) -> Path:
    """The path of a file to write on this machine, from a path or a file:// URL.

    Raises:
        ContradictionError: It is a URL of another scheme, or with a host.
        WrongTypeError: The value is no path.
        OutOfRangeError: No file can have this path.
    """
    own = check.path(path, field)
    text = os.fspath(path)
    scheme, separator, _ = text.partition("://")
    if not separator:
        return own
    if scheme != "file":
        raise ContradictionError(field, text[:256], "a path on this machine: copy the file to a store yourself")
    return check.path(_local_of(text, field), field)


def _text(field: str, path: Any, allowed: str) -> str:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not text or not isinstance(text, str):
        raise WrongTypeError(field, described(path), allowed)
    return text


def _resolved(path: str, filesystem: Any, store: Store | None) -> tuple[str, Store | None]:
    """A path or URL as its file system has it, and the file system. `store` is that of the paths before it."""
    scheme, separator, _ = path.partition("://")
    if store is None and separator and scheme == "file":
        return _local_of(path), store
    if filesystem is None and separator:
        store, path = _opened(path, scheme, store)
    return path, store


def _root(path: str, store: Store | None) -> str:
    """The beginning of the path of each file below a directory."""
    if store is None:
        return os.path.join(path, "")
    own = store.own
    if isinstance(own, pafs.FileSystem):
        return path.rstrip("/") + "/"
    return str(own.unstrip_protocol(own._strip_protocol(path).rstrip("/") + "/"))


def _with_lost(files: list[str], path: str, lost: Mapping[str, int]) -> list[str]:
    """The files that a path stands for, and the lost ones below it, in their order."""
    root = os.path.join(path, "")
    below = [file for file in lost if file.startswith(root) and file not in files]
    if not below:
        return files
    return sorted([*files, *below], key=lambda file: file[len(root) :].encode())


def _store_of(filesystem: Any) -> Store | None:
    if filesystem is None or isinstance(filesystem, pafs.LocalFileSystem):
        return None
    if isinstance(filesystem, pafs.FileSystem):
        return Store(filesystem)
    if not callable(getattr(filesystem, "unstrip_protocol", None)):
        allowed = "a pyarrow.fs.FileSystem or an fsspec file system"
        raise WrongTypeError("filesystem", described(filesystem), allowed)
    protocols = filesystem.protocol
    local = {"file", "local"}.intersection([protocols] if isinstance(protocols, str) else protocols)
    # Files of this machine are found in one way, whatever file system was passed for them.
    return None if local else Store(filesystem)


def _opened(url: str, scheme: str, known: Store | None) -> tuple[Store, str]:
    """The file system of a URL, and the path in it."""
    fsspec: Any = None
    try:
        fsspec = importlib.import_module("fsspec")
    except ImportError:
        reason = "fsspec is not installed"
    if fsspec is not None:
        try:
            return known or Store(fsspec.url_to_fs(url)[0]), url
        except (ImportError, ValueError) as error:
            reason = str(error)
    try:
        system, path = pafs.FileSystem.from_uri(url)
    except (OSError, ValueError) as error:
        allowed = f"a package that knows {scheme}:// ({reason}; pyarrow: {error})"
        raise MissingError("filesystem", "", allowed) from error
    return known or Store(system), path


def _local_of(url: str, field: str = "paths") -> str:
    """The path of a file:// URL, as RFC 8089 has it."""
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise ContradictionError(field, url[:256], "file:///path, without a host")
    return unquote(url[len("file://") + len(parts.netloc) :])


def _local(path: str) -> str | _Folder:
    """A regular file of this machine by its path, or a directory with the files below it."""
    _check_text(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if os.path.islink(path):
            raise _nowhere(path) from None
        raise _missing(path) from None
    if stat.S_ISDIR(mode):
        return _folder(_root(path, None), _below(path, "", [os.path.realpath(path)]))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"Not a regular file, but {kind_of(mode)}", path)
    return path


def _stored(path: str, store: Store) -> str | _Folder:
    """A file of a store by its path, or a directory with the files below it.

    Raises:
        OSError: There is nothing at the path, or the directory cannot be listed.
    """
    own = store.own
    if not isinstance(own, pafs.FileSystem):
        return _stored_by_fsspec(path, store)
    (info,) = own.get_file_info([path])
    if info.type == pafs.FileType.NotFound:
        raise _missing(path)
    if info.type == pafs.FileType.File:
        return path
    root = _root(path, store)
    found = own.get_file_info(pafs.FileSelector(path, recursive=True))
    return _folder(root, (each.path[len(root) :] for each in found if each.type == pafs.FileType.File))


def _stored_by_fsspec(path: str, store: Store) -> str | _Folder:
    own = store.own
    try:
        info = own.info(path)
    except FileNotFoundError:
        raise _missing(path) from None
    if info["type"] != "directory":
        return str(own.unstrip_protocol(info["name"]))
    # Not by `walk` of fsspec, which raises no error for a folder that cannot be listed, but skips it.
    root = own._strip_protocol(path).rstrip("/") + "/"
    below: list[str] = []
    waiting = [""]
    while waiting:
        part = waiting.pop()
        for each in own.ls(root + part, detail=True):
            name = each["name"].rstrip("/").rpartition("/")[2]
            if not name or _is_hidden(name) or each["name"].rstrip("/") == (root + part).rstrip("/"):
                continue
            if each["type"] == "directory":
                waiting.append(f"{part}{name}/")
            else:
                below.append(part + name)
    return _folder(_root(path, store), below)


def _folder(root: str, below: Iterable[str]) -> _Folder:
    shown = [name for name in below if not any(map(_is_hidden, name.split("/")))]
    return _Folder(root, sorted(shown, key=str.encode))


def _below(root: str, part: str, above: list[str]) -> Iterator[str]:
    """All regular files below a directory, by their paths relative to `root`, links followed."""
    with os.scandir(os.path.join(root, part.rstrip("/")) if part else root) as entries:
        found = [entry for entry in entries if not _is_hidden(entry.name)]
    for entry in found:
        name, place = entry.name, os.path.join(root, part, entry.name)
        _check_text(place)
        is_directory = entry.is_dir()
        if not is_directory and entry.is_symlink():
            try:
                is_directory = stat.S_ISDIR(os.stat(place).st_mode)
            except FileNotFoundError:
                raise _nowhere(place) from None
        if is_directory:
            real = os.path.realpath(place)
            if any(other == real or other.startswith(real.rstrip("/") + "/") for other in above):
                raise OSError(errno.ELOOP, f"A link that leads back to {real}, a directory above it", place)
            yield from _below(root, f"{part}{name}/", [*above, real])
        elif entry.is_file():
            yield part + name


def _chosen(folder: _Folder, format: Format, store: Store | None) -> list[str]:
    """The paths of the files of a format that a directory stands for, in their order."""

    def read(name: str) -> bytes:
        return Location(folder.root + name, store).read()

    try:
        names = format.choose(folder.names, read)
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{folder.root}: not {format.name} files: {error}") from error
    # An empty name stands for the directory itself.
    return [folder.root + name if name else folder.root.rstrip("/" + os.sep) for name in names]


def _is_hidden(name: str) -> bool:
    """Whether a name is that of a hidden or temporary file or directory."""
    return name.startswith((".", "_"))


def _check_text(path: str, field: str = "paths") -> None:
    if "\0" in path:
        raise OutOfRangeError(field, described(path), "paths without the character 0")
    try:
        path.encode()
    except UnicodeEncodeError:
        # Bytes that are no text are escaped, so that the path can be printed.
        try:
            shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:
            shown = path.encode("utf-8", "backslashreplace").decode()
        raise OSError(errno.EILSEQ, "Its name is not UTF-8", shown) from None


def _check_once(named: list[tuple[str, str]], *, local: bool) -> None:
    seen: dict[str, tuple[str, str]] = {}
    for file, by in named:
        real = os.path.realpath(file) if local else file
        if real not in seen:
            seen[real] = file, by
            continue
        other, other_by = seen[real]
        if other != file:
            value = f"{file} and {other}, which are one file"
        elif by == other_by:
            value = f"{file}, twice" if by == file else f"{file}, twice, in {by}"
        else:
            value = f"{file}, twice, once by {' and once by '.join(_how(file, each) for each in (other_by, by))}"
        raise ContradictionError("paths", value, "each file once")


def _how(file: str, by: str) -> str:
    return "itself" if by == file else f"its directory {by}"


def _missing(path: str) -> FileNotFoundError:
    pattern = " (patterns are not expanded: name the directory)" if "*" in path else ""
    return FileNotFoundError(errno.ENOENT, f"No such file or directory{pattern}", path)


def _nowhere(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "A symbolic link that leads nowhere", path)
