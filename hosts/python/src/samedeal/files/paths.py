"""Finds the files that the paths of a dataset stand for, on this machine or in a store."""

from __future__ import annotations

import errno
import importlib
import os
import pickle
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from .. import ContradictionError, MissingError, OutOfRangeError, WrongTypeError
from ..engine.arguments import described

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_SUFFIX = ".parquet"


class Store:
    """A file system of pyarrow or fsspec that is not the one of this machine."""

    def __init__(self, system: Any) -> None:
        """A `pyarrow.fs.FileSystem`, or an `fsspec.AbstractFileSystem`."""
        self._system = system
        self._process = os.getpid()

    @property
    def system(self) -> Any:
        """The file system, as pyarrow takes it."""
        if self._process != os.getpid():
            # A forked child lacks the threads and connections of the client. A copy by pickle makes new ones.
            self._system = pickle.loads(pickle.dumps(self._system))
            self._process = os.getpid()
        own = self._system
        return own if isinstance(own, pafs.FileSystem) else pafs.PyFileSystem(pafs.FSSpecHandler(own))

    def files(self, path: str) -> Iterator[str]:
        """The file at a path, or the Parquet files below the directory at that path.

        Raises:
            OSError: There is nothing at the path, or the directory cannot be listed.
        """
        own = self._system
        if not isinstance(own, pafs.FileSystem):
            yield from self._files_of_fsspec(path)
            return
        (info,) = own.get_file_info([path])
        if info.type == pafs.FileType.NotFound:
            raise _missing(path)
        if info.type == pafs.FileType.File:
            yield path
            return
        root = path.rstrip("/") + "/"
        found = own.get_file_info(pafs.FileSelector(path, recursive=True))
        below = [each.path[len(root) :] for each in found if each.type == pafs.FileType.File]
        yield from (root + name for name in _chosen(path, below))

    def _files_of_fsspec(self, path: str) -> Iterator[str]:
        own = self._system
        try:
            info = own.info(path)
        except FileNotFoundError:
            raise _missing(path) from None
        if info["type"] != "directory":
            yield own.unstrip_protocol(info["name"])
            return
        # Not by `walk` of fsspec, which skips folders that cannot be listed without an error.
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
        yield from (own.unstrip_protocol(root + name) for name in _chosen(path, below))


class Found(NamedTuple):
    """The files of a dataset."""

    paths: tuple[str, ...]
    store: Store | None
    """The file system of the files; None for files of this machine."""
    lost: dict[int, int]
    """The number of rows of each lost file, by its index in `paths`."""


def find(paths: Paths, filesystem: Any = None, lost: Mapping[str, int] | None = None) -> Found:
    """The files that paths stand for, as `Shards.find` says. Lost files need not exist.

    Raises:
        OSError: A path leads nowhere, is no regular file, or cannot be listed.
        MissingError: There is no path; or a package is missing that knows the file system.
        ContradictionError: A file is named twice, a directory has no Parquet files, or paths are of several file
            systems.
        WrongTypeError: A value is no path, or no file system.
    """
    several: Iterable[Any] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if not isinstance(several, Iterable):
        raise WrongTypeError("paths", described(paths), "paths of files and directories")
    store = _store_of(filesystem)
    gone = {} if lost is None else lost
    schemes: dict[str, str] = {}
    named: list[tuple[str, str]] = []
    """Each file, and the path that it was found by."""
    for path in several:
        text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
        if not text or not isinstance(text, str):
            raise WrongTypeError("paths", described(path), "paths of files and directories")
        scheme, separator, _ = text.partition("://")
        if filesystem is None:
            schemes.setdefault(scheme if separator and scheme != "file" else "", text)
            if len(schemes) > 1:
                raise ContradictionError("paths", " and ".join(schemes.values()), "paths of one file system")
        if store is None and separator and scheme == "file":
            text = _local_of(text)
        elif filesystem is None and separator:
            store, text = _opened(text, scheme, store)
        if text in gone:
            files = [text]
        else:
            files = _with_lost(list(_local(text) if store is None else store.files(text)), text, gone)
        named.extend((file, text) for file in files)
    if not named:
        raise MissingError("paths", "", "at least one Parquet file, or a directory that holds some")
    _check_once(named, local=store is None)
    found = tuple(file for file, _ in named)
    for path in gone:
        if path not in found:
            allowed = "paths as the dataset has them: in a directory that is one of `paths`, or among these themselves"
            raise ContradictionError("lost", path[:256], allowed)
    return Found(found, store, {number: gone[path] for number, path in enumerate(found) if path in gone})


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
    # For files of this machine there is one rule, whatever file system names them.
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


def opened(path: str) -> pa.NativeFile:
    """Opens a regular file of this machine. A path that became a pipe since it was found could block for ever.

    Raises:
        OSError: It is no regular file, or cannot be opened.
    """
    # Opened without blocking and then checked: a check before would say nothing about the file that is opened later.
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, f"Not a regular file, but {_kind(mode)}", path)
        # Opened by the descriptor, which has the file that was checked, even if the path leads to another one by now.
        own = f"/proc/self/fd/{number}"
        return pa.OSFile(own if os.path.exists(own) else path)
    finally:
        os.close(number)


def _local_of(url: str) -> str:
    """The path of a file:// URL, as RFC 8089 has it."""
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise ContradictionError("paths", url[:256], "file:///path, without a host")
    return unquote(url[len("file://") + len(parts.netloc) :])


def _local(path: str) -> Iterator[str]:
    """The path of a file itself, or the Parquet files that a directory stands for."""
    _check_text(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if os.path.islink(path):
            raise _nowhere(path) from None
        raise _missing(path) from None
    if stat.S_ISDIR(mode):
        below = list(_below(path, "", [os.path.realpath(path)]))
        yield from (os.path.join(path, name) for name in _chosen(path, below))
        return
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"Not a regular file, but {_kind(mode)}", path)
    yield path


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


def _chosen(directory: str, below: list[str]) -> list[str]:
    """The Parquet files that a directory stands for, from all files below it, in their order."""
    found = [name for name in below if name.endswith(_SUFFIX) and not any(map(_is_hidden, name.split("/")))]
    if not found:
        raise ContradictionError("paths", directory, "a directory with *.parquet files below it")
    return sorted(found, key=str.encode)


def _is_hidden(name: str) -> bool:
    """Whether a name is that of a hidden or temporary file or directory."""
    return name.startswith((".", "_"))


def _check_text(path: str) -> None:
    if "\0" in path:
        raise OutOfRangeError("paths", described(path), "paths without the character 0")
    try:
        path.encode()
    except UnicodeEncodeError:
        # Bytes that are no text are escaped, so that the path can be printed.
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
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


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a directory"))
    return next((name for check, name in kinds if check(mode)), "a device")


def _missing(path: str) -> FileNotFoundError:
    pattern = " (patterns are not expanded: name the directory)" if "*" in path else ""
    return FileNotFoundError(errno.ENOENT, f"No such file or directory{pattern}", path)


def _nowhere(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "A symbolic link that leads nowhere", path)
