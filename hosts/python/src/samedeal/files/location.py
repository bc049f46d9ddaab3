"""Where a file of a dataset is, and how it is opened."""

from __future__ import annotations

import errno
import os
import pickle
import stat
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs


class Store:
    """A file system of pyarrow or fsspec that is not the one of this machine."""

    def __init__(self, system: Any) -> None:
        """A `pyarrow.fs.FileSystem`, or an `fsspec.AbstractFileSystem`."""
        self._system = system
        self._process = os.getpid()

    @property
    def own(self) -> Any:
        """The file system itself."""
        if self._process != os.getpid():
            # A forked child lacks the threads and connections of the client. A copy by pickle makes new ones.
            self._system = pickle.loads(pickle.dumps(self._system))
            self._process = os.getpid()
        return self._system

    @property
    def system(self) -> Any:
        """The file system, as pyarrow takes it."""
        own = self.own
        return own if isinstance(own, pafs.FileSystem) else pafs.PyFileSystem(pafs.FSSpecHandler(own))


@dataclass(frozen=True)
class Location:
    """A file of a dataset, on this machine or in a store."""

    path: str
    """The path of the file in its file system."""
    store: Store | None = None
    """The file system; None for files of this machine."""
    buffer: int = 1 << 20
    """About how many bytes a reader should read at a time."""

    def open(self) -> pa.NativeFile:
        """Opens the file for reading, at any place.

        Raises:
            OSError: It is no regular file, or cannot be opened.
        """
        return opened(self.path) if self.store is None else self.store.system.open_input_file(self.path)

    def read(self) -> bytes:
        """All bytes of a small file.

        Raises:
            OSError: The file cannot be read.
        """
        with self.open() as file:
            return bytes(file.read())


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
            raise OSError(errno.EINVAL, f"Not a regular file, but {kind_of(mode)}", path)
        # Where there is /proc, opened by the descriptor, which has the file that was checked, even if the path leads to
        # another file by now.
        own = f"/proc/self/fd/{number}"
        return pa.OSFile(own if os.path.exists(own) else path)
    finally:
        os.close(number)


def kind_of(mode: int) -> str:
    """The kind of a file that is not regular, from its mode."""
    kinds = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a directory"))
    return next((name for check, name in kinds if check(mode)), "a device")
