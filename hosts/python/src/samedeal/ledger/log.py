"""Logs of ledgers."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from ..engine import arguments as check
from ..engine.errors import ContradictionError, OutOfRangeError, WrongTypeError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


_BEGINNINGS = (b'{"samedeal":1,"kind":"ledger"', b'{"event":"')
"""The beginnings of lines of a log: of the first line, and of any other line."""
_CHECKPOINT = '{"event":"checkpoint","number":'
"""The beginning of a checkpoint. Its number follows."""
_TAIL = 4096
"""How many bytes before the next entry are compared, to recognise the log in a file that may have been replaced."""
_WINDOW = 4096
"""How many entries are read at a time."""
_ALLOWED = "a file that is the log of a ledger, or not there yet"
_SEARCHED = 1 << 16
"""How many bytes are searched for a checkpoint at a time."""


_END: ContextVar[float | None] = ContextVar("samedeal_end", default=None)
"""The time at which a wait for a lock ends, by `time.monotonic`; None without a limit."""


NUMBER = check.Width(0, check.MAX_EXACT, f"0 to {check.MAX_EXACT}")
"""The range of the number of an entry."""


class Log(Protocol):
    """A list of entries that all readers share. An entry is a text of one line. The list only grows.

    To write a log of your own, use a store that many processes can read, and in which only one of them can write a new
    key: such as a table with a unique column, or a key-value store with compare-and-set.

    A log may have a third method, `last_checkpoint()`: the last entry that begins with
    `{"event":"checkpoint","number":`, if it can be found without reading all entries; otherwise None. A reader that
    opens the log then reads only the first entry, and the entries after that checkpoint.
    """

    def read(self, start: int) -> Sequence[str | bytes]:
        """The entries from number `start` on, or only the first ones of them; as texts, or as bytes in UTF-8."""

    def append(self, number: int, entry: str) -> bool:
        """Appends the entry if it becomes entry number `number`.

        Returns whether it did: False if the log has more or fewer than `number` entries, or if another reader appends
        an entry at the same time and is first.
        """


class MemoryLog:
    """A log in this process, for readers that are threads."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        """Makes a log with these entries."""
        self._entries = check.items("entries", entries, "a list of texts")
        for entry in self._entries:
            text_of(entry)
        self._lock = threading.Lock()

    def read(self, start: int) -> Sequence[str]:
        """The entries from number `start` on."""
        return self._entries[check.integer("start", start, NUMBER) :]

    def append(self, number: int, entry: str) -> bool:
        """Appends the entry if it becomes entry number `number`. Returns whether it did."""
        number, entry = check.integer("number", number, NUMBER), line_of(entry)
        with self._lock:
            if number != len(self._entries):
                return False
            self._entries.append(entry)
            return True

    def last_checkpoint(self) -> str | None:
        """The last checkpoint, if there is one."""
        entries = self._entries
        numbers = range(len(entries) - 1, 0, -1)
        return next((entries[number] for number in numbers if is_checkpoint(entries[number])), None)


class _Mark(NamedTuple):
    """The place of a checkpoint in a file."""

    number: int
    """The number of the entry."""
    start: int
    """The byte of the file at which the entry begins."""


class _Known(NamedTuple):
    """How far a file was read, and the facts by which the log in it is recognised."""

    entries: int = 0
    """How many entries were read."""
    end: int = 0
    """The byte of the file at which the next entry begins."""
    identity: tuple[int, int] = (0, 0)
    """The device and the inode of the file."""
    first: bytes = b""
    """The first bytes of the file."""
    last: bytes = b""
    """The bytes before `end`."""


class FileLog:
    """A log in a file, with one entry in each line, for processes of one machine. A writer locks the file.

    If the file ends with a part of a line (because a writer was killed) or with zero bytes (after a loss of power), the
    next writer cuts them off. Each read costs only the new entries. If the file is replaced, or deleted and created
    again, it is another log: readers of the old log get an error, and append nothing. A `FileLog` can be pickled, and
    works after a fork.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """The file need not exist yet."""
        self.path = check.path(path, "file")
        self._known = _Known()
        self._mark: _Mark | None = None
        """The last checkpoint that was found: reading starts there."""

    def __repr__(self) -> str:
        """The call that makes an equal log."""
        return f"FileLog({str(self.path)!r})"

    def read(self, start: int) -> Sequence[str]:
        """The entries from number `start` on, or the first ones of them.

        Raises:
            ContradictionError: Entries before `start`, which were read, are not in the file any more.
            OSError: The file cannot be read. A missing file is no error.
            TimeoutError: Another process holds the lock of the file, and `Ledger.claim` has a timeout.
        """
        start = check.integer("start", start, NUMBER)
        try:
            with self._opened(os.O_RDONLY) as descriptor:
                return self._new(descriptor, start, _WINDOW)
        except FileNotFoundError:
            self._check_same(start, same=False)
            return []

    def append(self, number: int, entry: str) -> bool:
        """Appends the entry if it becomes entry number `number`. Returns whether it did.

        Raises:
            ContradictionError: The file is no log, or another log than the one that was read.
            OSError: The file cannot be written.
        """
        number, entry = check.integer("number", number, NUMBER), line_of(entry)
        try:
            with self._opened(os.O_RDWR | (0 if number else os.O_CREAT)) as descriptor:
                return self._append(descriptor, number, entry)
        except FileNotFoundError:
            if number == 0:
                raise
            self._check_same(number, same=False)
            return False

    def _append(self, descriptor: int, number: int, entry: str) -> bool:
        before = self._known
        faster = self._new(descriptor, number, 1)
        known = self._known
        if faster or known.entries != number:
            if faster and before.entries == number:
                # Forgets the entry that was just read, since the caller reads it next.
                self._known = before
            return False
        self._cut(descriptor)
        os.lseek(descriptor, known.end, os.SEEK_SET)
        left = line = entry.encode() + b"\n"
        while left:
            left = left[os.write(descriptor, left) :]
        # Records the entry, so that the next call recognises the log by it.
        self._learn(descriptor, 1, line)
        return True

    def last_checkpoint(self) -> str | None:
        """The last checkpoint, if there is one. It is searched from the end of the file.

        Raises:
            OSError: The file cannot be read. A missing file is no error.
        """
        try:
            with self._opened(os.O_RDONLY) as descriptor, open(descriptor, "rb", closefd=False) as file:
                return self._find_checkpoint(file)
        except FileNotFoundError:
            return None

    @contextmanager
    def _opened(self, flags: int) -> Iterator[int]:
        """The file with its lock: exclusive for a writer, shared for readers."""
        # Without blocking: to open a pipe would wait for its other end.
        flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        done = False
        while not done:
            descriptor = os.open(self.path, flags, 0o666)
            try:
                mode = os.fstat(descriptor).st_mode
                if stat.S_ISDIR(mode):
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self.path))
                if not stat.S_ISREG(mode):
                    raise ContradictionError("log", f"{self.path}: no regular file", _ALLOWED)
                with _locked(descriptor, self.path, shared=not flags & os.O_RDWR):
                    # If another file has replaced this one meanwhile, no other process reads this file any more: the
                    # loop opens the new file.
                    if done := self._is_there(descriptor):
                        yield descriptor
            finally:
                os.close(descriptor)

    def _is_there(self, descriptor: int) -> bool:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == _identity(descriptor)

    def _find_checkpoint(self, file: BinaryIO) -> str | None:
        # A checkpoint is never the first line, so a line feed comes before it.
        beginning = b"\n" + _CHECKPOINT.encode()
        end = searched = file.seek(0, os.SEEK_END)
        while searched > 0:
            low = max(0, searched - _SEARCHED)
            # Blocks overlap, so that no beginning is cut in two.
            high = min(end, searched + len(beginning) - 1)
            file.seek(low)
            at = file.read(high - low).rfind(beginning)
            if at < 0:
                searched = low
                continue
            start = low + at + 1
            file.seek(start)
            # The last line may be incomplete.
            line = file.readline()
            entry = line.decode(errors="replace").removesuffix("\n")
            number = _checkpoint_number(entry)
            if line.endswith(b"\n") and number is not None:
                self._mark = _Mark(number, start)
                return entry
            searched = low + at
        return None

    def _cut(self, descriptor: int) -> None:
        """Cuts off an incomplete line, which a killed writer or a loss of power left. Refuses a file that is no log."""
        known = self._known
        os.lseek(descriptor, known.end, os.SEEK_SET)
        left = os.read(descriptor, len(_BEGINNINGS[0])).rstrip(b"\0")
        torn = any(beginning.startswith(left[: len(beginning)]) for beginning in _BEGINNINGS)
        while torn and not left and (part := os.read(descriptor, 1 << 20)):
            # Zero bytes with other bytes after them are no damage, but another kind of file.
            torn = not part.strip(b"\0")
        if not torn:
            value = f"{self.path}: line {known.entries + 1} is no entry, and has no end"
            raise ContradictionError("log", value, _ALLOWED)
        os.ftruncate(descriptor, known.end)

    def _new(self, descriptor: int, start: int, most: int) -> list[str]:
        """The complete lines from number `start` on, at most `most`."""
        if self._known.entries:
            self._check_same(start, self._is_same(descriptor))
        if self._known.entries > start:
            # The caller reads from an earlier entry again, so the file is read from its beginning.
            self._known = _Known()
        self._skip(descriptor, start)
        known = self._known
        os.lseek(descriptor, known.end, os.SEEK_SET)
        data, found, wanted = bytearray(), 0, start + most - known.entries
        while found < wanted and (part := os.read(descriptor, 1 << 20)):
            data += part
            found += part.count(b"\n")
        lines = data.split(b"\n", wanted)[:-1]
        self._learn(descriptor, len(lines), data[: sum(map(len, lines)) + len(lines)])
        # Entries are not checked here, but by the component's `apply`.
        return [line.decode(errors="replace") for line in lines[max(0, start - known.entries) :]]

    def _skip(self, descriptor: int, start: int) -> None:
        """Goes to the last checkpoint that was found, if that comes before entry `start`."""
        known, mark = self._known, self._mark
        if mark is None or not known.entries < mark.number <= start:
            return
        size = min(mark.start, _TAIL)
        os.lseek(descriptor, mark.start - size, os.SEEK_SET)
        before = os.read(descriptor, size)
        beginning = f"{_CHECKPOINT}{mark.number},".encode()
        if not before.endswith(b"\n") or os.read(descriptor, len(beginning)) != beginning:
            # The file was replaced meanwhile.
            return
        os.lseek(descriptor, 0, os.SEEK_SET)
        first = known.first or os.read(descriptor, size)
        self._known = _Known(mark.number, mark.start, _identity(descriptor), first, before)

    def _learn(self, descriptor: int, entries: int, text: bytes | bytearray) -> None:
        """Records that these entries were read after the known ones, and the bytes that recognise the log."""
        known = self._known
        first, last = known.first or bytes(text[:_TAIL]), bytes((known.last + text[-_TAIL:])[-_TAIL:])
        self._known = _Known(known.entries + entries, known.end + len(text), _identity(descriptor), first, last)

    def _is_same(self, descriptor: int) -> bool:
        """Whether the file still has the bytes that were read. A new file may have got the inode of the old one."""
        known = self._known
        if _identity(descriptor) != known.identity:
            return False
        for at, expected in ((0, known.first), (known.end - len(known.last), known.last)):
            os.lseek(descriptor, at, os.SEEK_SET)
            if os.read(descriptor, len(expected)) != expected:
                return False
        return True

    def _check_same(self, start: int, same: bool) -> None:
        """Raises an error if the file has another log than the one that was read, except for a read from 0 on."""
        known = self._known
        if same or not known.entries:
            return
        if start > 0:
            value = f"{self.path}: another log than the one of which {known.entries} entries were read"
            raise ContradictionError("log", value, "the same file for the whole epoch: open the ledger anew")
        self._known = _Known()


def line_of(entry: Any) -> str:
    """The text of an entry, if a file can have it as a line."""
    allowed = "a text of one line"
    if not isinstance(entry, str):
        raise WrongTypeError("entry", check.described(entry), allowed)
    text = check.crossing("entry", entry)
    if "\n" in text or text != entry:
        raise OutOfRangeError("entry", check.described(entry), allowed)
    return text


def checked(field: str, log: Any, *methods: str) -> None:
    """Raises an error if `log` does not have these methods of a log."""
    if isinstance(log, type) or not all(callable(getattr(log, method, None)) for method in methods):
        raise WrongTypeError(field, check.described(log), "a log, such as FileLog(path)")


def is_checkpoint(entry: Any) -> bool:
    """Whether an entry is a checkpoint, by its beginning."""
    return isinstance(entry, str) and entry.startswith(_CHECKPOINT)


def _checkpoint_number(checkpoint: str) -> int | None:
    """The number of a checkpoint in the log, from its text; None if the text is no checkpoint."""
    number = checkpoint.removeprefix(_CHECKPOINT).partition(",")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) <= 16 else None


def _identity(descriptor: int) -> tuple[int, int]:
    """The device and the inode of an open file."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def text_of(entry: Any) -> str:
    """The text of an entry of a log, from text or from UTF-8. Invalid bytes are escaped, and then the entry is invalid.

    Raises:
        WrongTypeError: The entry is neither text nor bytes.
    """
    if isinstance(entry, (bytes, bytearray)):
        return entry.decode(errors="backslashreplace")
    if isinstance(entry, str):
        return entry.encode(errors="backslashreplace").decode()
    raise WrongTypeError("entry", check.described(entry), "text, or bytes of UTF-8, as the log was given it")


def copy_log(source: Log, target: Log) -> int:
    """Copies the entries that are in `source` and not in `target` to the end of `target`. Returns how many.

    Raises:
        ContradictionError: An entry of `target` differs from that of `source`.
        OSError: A file cannot be written.
    """
    checked("source", source, "read")
    checked("target", target, "read", "append")
    copied = number = 0
    while entries := source.read(number):
        there = target.read(number)
        # Both logs may give fewer entries at a time than they have.
        for place, given in enumerate(entries[: len(there) or None]):
            entry = text_of(given)
            found = there[place : place + 1] or ([entry] if target.append(number, entry) else target.read(number)[:1])
            if [*map(text_of, found)] != [entry]:
                raise ContradictionError("target", f"another log from entry {number} on", "a copy of the source")
            copied += place >= len(there)
            number += 1
    return copied


@contextmanager
def until(end: float | None) -> Iterator[None]:
    """A context in which a wait for the lock of a file ends at this time."""
    token = _END.set(end)
    try:
        yield
    finally:
        _END.reset(token)


def seconds_left() -> float | None:
    """How many seconds are left to wait for a lock, 0 or more; None without a limit."""
    end = _END.get()
    return None if end is None else max(0.0, end - time.monotonic())


@contextmanager
def _locked(descriptor: int, path: Path, shared: bool) -> Iterator[None]:
    """Holds the lock of a file, exclusive or shared. The system releases it if the process ends."""
    if sys.platform != "win32" and seconds_left() is None:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    else:
        pause = 0.001
        while not _try_to_lock(descriptor, shared):
            seconds = seconds_left()
            if seconds == 0:
                told = "another process holds the lock of this log; if it is stopped, continue it (SIGCONT) or end it"
                raise TimeoutError(errno.ETIMEDOUT, told, str(path))
            time.sleep(pause if seconds is None else min(pause, seconds))
            pause = min(2 * pause, 0.05)
    try:
        yield
    finally:
        if sys.platform == "win32":
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def _try_to_lock(descriptor: int, shared: bool) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
