"""Where readers of a ledger write what they do."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from .._errors import ContradictionError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


_BEGINNINGS = (b'{"samedeal":1,"kind":"ledger"', b'{"event":"')
"""Of lines of a log, the longest one first."""


class Log(Protocol):
    """A list of texts of one line that readers share. It only grows.

    What is needed is a store that many can read, and in which one of several that write the same key is first: such as
    a table with a unique number, or a key-value store with compare-and-set.
    """

    def read(self, start: int) -> Sequence[str]:
        """The entries from number `start` on, or the first ones of them."""

    def append(self, number: int, entry: str) -> bool:
        """Makes this entry number `number`, if there are as many before it, and no other; whether it is there now."""


class MemoryLog:
    """A log in this process, for readers that are threads."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        """With these entries at first."""
        self._entries = list(entries)
        self._lock = threading.Lock()

    def read(self, start: int) -> Sequence[str]:
        """The entries from number `start` on."""
        return self._entries[start:]

    def append(self, number: int, entry: str) -> bool:
        """Makes this entry number `number`, unless there is one already."""
        with self._lock:
            if number != len(self._entries):
                return False
            self._entries.append(entry)
            return True


class FileLog:
    """A log in a file, an entry a line, for processes of one machine: whoever appends locks the file.

    What a writer that was killed has left of a line is cut off by the next one. Reading costs what is new. It pickles,
    and goes on on the other side of a fork.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """The file need not be there yet."""
        self.path = Path(path)
        self._read: tuple[int, int] = 0, 0
        """How many entries were read, and where in the file the next one begins."""

    def __repr__(self) -> str:
        """The call that makes an equal one."""
        return f"FileLog({str(self.path)!r})"

    def read(self, start: int) -> Sequence[str]:
        """The entries from number `start` on.

        Raises:
            OSError: The file cannot be read; that there is none is no error.
        """
        try:
            with self.path.open("rb") as file, _locked(file.fileno(), shared=True):
                return self._new(file.fileno(), start)
        except FileNotFoundError:
            return []

    def append(self, number: int, entry: str) -> bool:
        """Makes this entry number `number`, unless there is one already.

        Raises:
            ContradictionError: It is no log.
            OSError: The file cannot be written.
        """
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with _locked(descriptor):
                self._new(descriptor, number)
                known, at = self._read
                if known != number:
                    return False
                self._cut(descriptor)
                os.lseek(descriptor, at, os.SEEK_SET)
                line = entry.encode() + b"\n"
                while line:
                    line = line[os.write(descriptor, line) :]
                return True
        finally:
            os.close(descriptor)

    def _cut(self, descriptor: int) -> None:
        """Cuts off what a writer has left of a line; of a file that is no log, nothing."""
        known, at = self._read
        os.lseek(descriptor, at, os.SEEK_SET)
        left = os.read(descriptor, len(_BEGINNINGS[0]))
        if left and not any(beginning.startswith(left[: len(beginning)]) for beginning in _BEGINNINGS):
            value = f"{self.path}: line {known + 1} is no entry, and has no end"
            raise ContradictionError("log", value, "a file that is the log of a ledger, or not there yet")
        os.ftruncate(descriptor, at)

    def _new(self, descriptor: int, start: int) -> list[str]:
        """The whole lines from number `start` on."""
        known, at = self._read
        if known > start or os.fstat(descriptor).st_size < at:
            # Somebody begins anew, or another file has this name now.
            known, at = 0, 0
        os.lseek(descriptor, at, os.SEEK_SET)
        data = bytearray()
        while part := os.read(descriptor, 1 << 20):
            data += part
        end = data.rfind(b"\n") + 1
        # An entry that is none is told by whoever applies it.
        lines = data[:end].decode(errors="replace").split("\n")[:-1]
        new = lines[max(0, start - known) :]
        self._read = known + len(lines), at + end
        return new


def copy_log(source: Log, target: Log) -> int:
    """Appends to a log what it lacks of another one, such as that of a store which ends with the job; how many entries.

    Raises:
        ContradictionError: It has entries that are not those of the other one.
        OSError: A file cannot be written.
    """
    copied = number = 0
    while entries := source.read(number):
        there = target.read(number)
        for place, entry in enumerate(entries):
            found = there[place : place + 1] or ([entry] if target.append(number, entry) else target.read(number)[:1])
            if [*found] != [entry]:
                raise ContradictionError("target", f"another log from entry {number} on", "a copy of the source")
            copied += place >= len(there)
            number += 1
    return copied


@contextmanager
def _locked(descriptor: int, shared: bool = False) -> Iterator[None]:
    """Holds the lock of a file, alone or beside other readers; it goes with the process that holds it."""
    if sys.platform == "win32":
        os.lseek(descriptor, 0, os.SEEK_SET)
        while True:
            try:
                # Tries for ten seconds.
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                break
            except OSError:
                continue
        try:
            yield
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
