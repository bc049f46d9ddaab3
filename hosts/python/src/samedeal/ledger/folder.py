"""A log of a ledger in a folder, which programs without locks of files can share."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from uuid import uuid4

from ..engine import arguments as check
from ..engine.errors import ContradictionError
from .log import NUMBER, is_checkpoint, line_of

_NAME = re.compile(r"[0-9]{16}\.json")
"""The name of an entry, as `_name` makes it."""
_WINDOW = 64
"""How many entries are read at a time: few, since a reader skips from the first ones to the last checkpoint."""


class FolderLog:
    """A log in a folder, for processes of one machine that have no common lock of files.

    Each entry is a file. Its name is its number, and its content is its line. `FolderLog` of the packages for
    JavaScript and Rust uses the same folder. If all processes are Python or Rust, `FileLog` is faster. The files in
    the order of their names are the lines of a log in one file; `copy_log` writes such a file.

    An entry is written to a temporary file (`.*.tmp`) and then linked to its name, so it is complete or missing. A
    process that is killed may leave a temporary file, which no reader opens. If the folder is replaced, or deleted and
    made again, it is another log: readers of the old log get an error, and append nothing. A `FolderLog` can be
    pickled, and works after a fork.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """The folder need not exist yet, but its parent folder must exist."""
        self.path = check.path(path, "folder")
        self._known: dict[int, str] = {}
        """The last entry that was read and entry 1, by number, to recognise the log. Entry 1 has 64 random bits."""

    def __repr__(self) -> str:
        """The call that makes an equal log."""
        return f"FolderLog({str(self.path)!r})"

    def read(self, start: int) -> Sequence[str]:
        """The entries from number `start` on, or the first ones of them.

        Raises:
            ContradictionError: Entries before `start`, which were read, are not in the folder any more.
            OSError: A file cannot be read. A missing folder is no error.
        """
        start = check.integer("start", start, NUMBER)
        self._check_same(start)
        entries: list[str] = []
        while len(entries) < _WINDOW and (entry := self._entry(start + len(entries))) is not None:
            entries.append(entry)
        if entries:
            self._learn(start + len(entries) - 1, entries[-1])
        return entries

    def append(self, number: int, entry: str) -> bool:
        """Appends the entry if it becomes entry number `number`. Returns whether it did.

        Raises:
            ContradictionError: The folder has another log than the one that was read.
            OSError: The file cannot be written.
        """
        number, entry = check.integer("number", number, NUMBER), line_of(entry)
        self._check_same(number)
        if number > 0 and self._entry(number - 1) is None:
            return False
        if number == 0:
            self.path.mkdir(exist_ok=True)
        temporary = self.path / f".{uuid4()}.tmp"
        try:
            with temporary.open("xb") as file:
                file.write(entry.encode() + b"\n")
                file.flush()
                # Written to the disk first: after a loss of power, there must be no name without the content.
                os.fsync(file.fileno())
                own = os.fstat(file.fileno())
            try:
                os.link(temporary, self.path / _name(number))
            except FileExistsError:
                # A file server may have made the link, lost its answer, and refused the repeated request. The temporary
                # file then has two links.
                if temporary.stat().st_nlink < 2:
                    return False
        finally:
            temporary.unlink(missing_ok=True)
        try:
            self._check_same(number)
        except ContradictionError:
            # The folder was replaced after the first check. The entry is in the other log, where it must not stay, or
            # it went with the folder: then the name is that of an entry of the other log.
            path = self.path / _name(number)
            with suppress(FileNotFoundError):
                if os.path.samestat(path.stat(), own):
                    path.unlink()
            raise
        self._learn(number, entry)
        return True

    def last_checkpoint(self) -> str | None:
        """The last checkpoint, if there is one.

        Raises:
            OSError: The folder cannot be read. A missing folder is no error.
        """
        try:
            names = sorted(filter(_NAME.fullmatch, os.listdir(self.path)), reverse=True)
        except FileNotFoundError:
            return None
        # A checkpoint is never entry 0.
        entries = (self._entry(int(name[:16])) for name in names if int(name[:16]))
        return next(filter(is_checkpoint, entries), None)

    def _entry(self, number: int) -> str | None:
        """The text of an entry, if it exists. It is not checked here, but by the component's `apply`."""
        try:
            return (self.path / _name(number)).read_bytes().decode(errors="replace").removesuffix("\n")
        except FileNotFoundError:
            return None

    def _learn(self, number: int, entry: str) -> None:
        second = self._known.get(1) or (self._entry(1) if number > 1 else None)
        self._known = {**({1: second} if second is not None else {}), number: entry}

    def _check_same(self, start: int) -> None:
        """Raises an error if the folder has another log than the one that was read, except for a read from 0 on."""
        if start == 0:
            self._known = {}
        for number, entry in self._known.items():
            if self._entry(number) != entry:
                value = f"another log: entry {number} is not the one that was read, in {self.path}"
                raise ContradictionError("log", value, "the same folder for the whole epoch: open the ledger anew")


def _name(number: int) -> str:
    return f"{number:016}.json"
