"""Machine code of the component, kept for the next process.

Loading it is running it. So it is kept only where nobody but this user and the superuser can write, in a folder that
samedeal made and marked. Where there is no such place, nothing is kept: that costs time, and nothing else. The Rust
host uses the same folder by the same rules (`hosts/rust/src/cache.rs`).
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import sys
from mmap import PROT_READ, mmap
from typing import IO, TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

# As `random` has it: `hashlib` takes milliseconds to load OpenSSL.
try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

T = TypeVar("T")

_FOLDER = "samedeal-engine-v1"
"""The number is that of this format: marker, names and files."""
_MARKER = "CACHEDIR.TAG"
"""The name by which programs that make backups know a cache (bford.info/cachedir)."""
_MARK = b"""Signature: 8a477f597d28d172789f06886806bc55
# samedeal made this folder (format 1). It holds machine code, and can be deleted.
"""
_NAME = r"(python|rust)-[0-9a-f]{64}\.code(\.[0-9a-f]{16})?"
"""The name of a file, or of one that is not complete yet."""
_HEAD = struct.Struct("<QQQ")
"""What a file begins with: the sum of what follows, and how many bytes of facts and of code follow."""
_FACTS = 2**16
"""Where facts end."""
_ALL = 2**64 - 1
_MOST_FILES = 32
_MOST_BYTES = 1 << 26
_MOST_LINKS = 40
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def load(key: bytes, use: Callable[[bytes, str | bytes], T | None]) -> T | None:
    """What `use` makes of what was kept under a key; None if there is nothing, or if `use` returns None.

    `use` takes the facts and the code: as the path of a file, which it may map, or as bytes.
    """
    with contextlib.suppress(OSError, RuntimeError, ValueError, struct.error):
        folder = _folder()
        if folder is not None:
            with _open(os.path.join(folder, _name(key))) as file:
                head = file.read(_FACTS)
                total, *sizes = _HEAD.unpack(head[: _HEAD.size])
                start = _HEAD.size + sizes[0]
                if start <= len(head) and os.fstat(file.fileno()).st_size == start + sizes[1] <= _MOST_BYTES:
                    kept = _Kept(file, head[_HEAD.size : start], start, sizes[1], total)
                    return kept.mapped(use) or kept.copied(use)
    return None


def keep(key: bytes, facts: bytes, code: bytes) -> None:
    """Keeps code, and short facts about it, under a key, which names all that decides whether the code can run."""
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        folder = _folder()
        if folder is not None and _HEAD.size + len(facts) <= _FACTS:
            head = _HEAD.pack(_sum(facts) + _sum(code) & _ALL, len(facts), len(code))
            _write(os.path.join(folder, _name(key)), head + facts + code)
            _prune(folder)


def can_keep() -> bool:
    """Whether there is a folder for code. It is made if it is missing."""
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        return _folder() is not None
    return False


class _Kept:
    """A file that holds so many bytes of code from `start` on, and their sum together with that of the facts."""

    def __init__(self, file: IO[bytes], facts: bytes, start: int, size: int, total: int) -> None:
        self.file, self.facts, self.start, self.size, self.total = file, facts, start, size, total

    def mapped(self, use: Callable[[bytes, str | bytes], T | None]) -> T | None:
        """Uses a copy in a file without a name, in memory, whose pages need not be copied once more.

        The file in the folder itself is not for mapping. Somebody may write to it in its place, and another machine
        with the same home may delete it: a process that has mapped it would run something else, or end by SIGBUS.
        """
        if sys.platform != "linux" or not hasattr(os, "memfd_create"):
            return None
        copy = os.memfd_create("samedeal")
        try:
            done = 0
            while done < self.size:
                sent = os.sendfile(copy, self.file.fileno(), self.start + done, self.size - done)
                if sent == 0:
                    return None
                done += sent
            with mmap(copy, self.size, prot=PROT_READ) as code:
                is_whole = self._is_whole(code)
            path = f"/proc/self/fd/{copy}"
            return use(self.facts, path) if is_whole and os.path.exists(path) else None
        finally:
            os.close(copy)

    def copied(self, use: Callable[[bytes, str | bytes], T | None]) -> T | None:
        """Uses the code as it was read."""
        self.file.seek(self.start)
        code = self.file.read(self.size)
        return use(self.facts, code) if len(code) == self.size and self._is_whole(code) else None

    def _is_whole(self, code: bytes | mmap) -> bool:
        return _sum(self.facts) + _sum(code) & _ALL == self.total


def _sum(code: bytes | mmap) -> int:
    """The sum of the code as words: enough to find what a disk or a crash does to a file, in a third of a millisecond."""
    import numpy

    words = numpy.frombuffer(code, "<u8", len(code) // 8)
    total = int(words.sum(dtype="u8")) + int.from_bytes(code[8 * len(words) :], "little")
    # A buffer cannot be closed before what looks into it is gone.
    del words
    return total


def _name(key: bytes) -> str:
    return f"python-{sha256(key).hexdigest()}.code"


def _user() -> int | None:
    """This user; None where the system has no numbers of users."""
    if sys.platform == "win32":
        return None
    return os.geteuid()


def _base() -> str | None:
    """Where the caches of this user are, if the environment has a say."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        if (os.getuid(), os.getgid()) != (os.geteuid(), os.getegid()):
            # Of a program that has more rights than its caller, the caller wrote the environment.
            return None
        base = os.environ.get("XDG_CACHE_HOME")
        if not base or not os.path.isabs(base):
            base = os.path.join(os.path.expanduser("~"), "Library/Caches" if sys.platform == "darwin" else ".cache")
    return base if base and os.path.isabs(base) else None


def _folder() -> str | None:
    """The folder, which is made if it is missing; None if there is no safe place for it."""
    base = _base()
    if base is None:
        return None
    if not os.path.lexists(base):
        # Only this folder is made, and none above it: without a home directory there is no cache.
        above, own = os.path.split(base.rstrip("/"))
        safe = _resolved(above)
        if safe is None:
            return None
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.join(safe, own), 0o700)
    safe = _resolved(base)
    if safe is None:
        return None
    folder = os.path.join(safe, _FOLDER)
    if not os.path.lexists(folder) or (_is_own(folder, 0o022) and not os.listdir(folder)):
        _make(folder)
    return folder if _is_own(folder, 0o077) and _read(os.path.join(folder, _MARKER)) == _MARK else None


def _resolved(path: str) -> str | None:
    """Where a path of folders leads, if nobody but this user and the superuser can change where that is.

    Every name on the way is looked at, and links are followed one by one: the folder in which a name is, the link
    itself, and the folders that it leads through must all be safe.
    """
    user = _user()
    if user is None:
        # Folders of users are their own there.
        return os.path.realpath(path) if os.path.isdir(path) else None
    at, links = "", 0
    left = ["/", *path.split("/")][::-1]
    while left:
        name = left.pop()
        if name == "..":
            at = os.path.dirname(at)
            continue
        if name in ("", "."):
            continue
        to = os.path.join(at, name)
        found = os.lstat(to)
        if found.st_uid not in (0, user):
            return None
        if stat.S_ISLNK(found.st_mode):
            links += 1
            target = os.readlink(to)
            if links > _MOST_LINKS:
                return None
            left += target.split("/")[::-1]
            at = "/" if target.startswith("/") else at
            continue
        # Where everybody can write, `sticky` keeps what this user and the superuser have there.
        is_safe = not found.st_mode & _WRITABLE or found.st_mode & stat.S_ISVTX
        if not stat.S_ISDIR(found.st_mode) or not is_safe:
            return None
        at = to
    return at


def _is_own(folder: str, refused: int) -> bool:
    """Whether it is a folder of this user, and no link, with none of these modes."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        return False
    user = _user()
    return user is None or (found.st_uid == user and found.st_mode & 0o700 == 0o700 and not found.st_mode & refused)


def _make(folder: str) -> None:
    """Makes the folder with its marker, at once: in the place of an empty one, and of nothing else."""
    part = f"{folder}.{_random()}"
    os.mkdir(part, 0o700)
    marker = os.path.join(part, _MARKER)
    try:
        _write(marker, _MARK)
        os.rename(part, folder)
    except OSError:
        # Another process was faster, or the disk is full.
        with contextlib.suppress(OSError):
            os.unlink(marker)
        os.rmdir(part)


def _open(path: str) -> IO[bytes]:
    """Opens a file of this user, and nothing else. Neither a link is followed nor a pipe waited for."""
    file = open(os.open(path, _READ), "rb", buffering=0)  # noqa: SIM115
    found, user = os.fstat(file.fileno()), _user()
    is_own = user is None or (found.st_uid == user and not found.st_mode & _WRITABLE)
    if stat.S_ISREG(found.st_mode) and is_own:
        return file
    file.close()
    raise PermissionError(path)


def _read(path: str) -> bytes:
    """The beginning of a file of this user."""
    with _open(path) as file:
        return file.read(2 * len(_MARK))


def _write(path: str, data: bytes) -> None:
    """Writes a file under another name first, so that it is there as a whole or not at all."""
    part = f"{path}.{_random()}"
    descriptor = os.open(part, _WRITE, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError:
        os.unlink(part)
        raise


def _prune(folder: str) -> None:
    """Deletes the oldest files that this or the Rust host made here, where there are many, and nothing else."""
    import re

    names = [name for name in os.listdir(folder) if re.fullmatch(_NAME, name)]
    paths = sorted((os.path.join(folder, name) for name in names), key=lambda path: os.lstat(path).st_mtime_ns)
    for path in paths[:-_MOST_FILES]:
        os.unlink(path)


def _random() -> str:
    return os.urandom(8).hex()
