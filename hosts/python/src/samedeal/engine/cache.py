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
from typing import IO, TYPE_CHECKING, TypeVar

if sys.platform == "linux":
    from mmap import MAP_POPULATE, MAP_SHARED, PROT_READ, mmap

if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap

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
_TAIL = struct.Struct("<QQ")
"""The end of a file, after the code and the facts: how many bytes of facts there are, and the sum of both."""
_MOST_FILES = 32
_MOST_BYTES = 1 << 26
_MOST_LINKS = 40
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def load(key: bytes, use: Callable[[bytes, str | bytes], T | None]) -> T | None:
    """What `use` makes of what was kept under a key; None if there is nothing, or if `use` returns None.

    `use` takes the facts and the code: the path of a file that begins with it, for mapping, or bytes that begin with
    it.
    """
    with contextlib.suppress(OSError, RuntimeError, ValueError, struct.error):
        folder = _folder()
        if folder is not None:
            path = os.path.join(folder, _name(key))
            with _open(path) as file:
                found = os.fstat(file.fileno())
                if found.st_size > _MOST_BYTES:
                    return None
                if sys.platform == "linux" and _is_on_a_disk_of_this_machine(found):
                    with mmap(file.fileno(), 0, flags=MAP_SHARED | MAP_POPULATE, prot=PROT_READ) as mapped:
                        facts = _facts(mapped)
                    made = None if facts is None else use(facts, path)
                    if facts is None or made is not None:
                        return made
                whole = file.read()
            facts = _facts(whole)
            return None if facts is None else use(facts, whole)
    return None


def keep(key: bytes, facts: bytes, code: bytes) -> None:
    """Keeps code, and short facts about it, under a key, which names all that decides whether the code can run."""
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        folder = _folder()
        if folder is not None:
            _write(os.path.join(folder, _name(key)), code + facts + _TAIL.pack(len(facts), _sum(code + facts)))
            _prune(folder)


def can_keep() -> bool:
    """Whether there is a folder for code. It is made if it is missing."""
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        return _folder() is not None
    return False


def _is_on_a_disk_of_this_machine(found: os.stat_result) -> bool:
    """Whether a file can be mapped.

    On a disk of this machine, a file that is mapped stays what it was when another one is renamed to its name, or when
    it is deleted, and samedeal does nothing else to files. So it is as safe as the library of the engine, which is
    mapped from a folder of this user as well: nobody but this user can write to it in its place. In a network file
    system, another machine may delete the file under a process that has mapped it, which ends the process (SIGBUS).
    """
    device = found.st_dev
    return sys.platform == "linux" and os.path.exists(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")


def _facts(whole: bytes | mmap) -> bytes | None:
    """The facts in a file; None if it is not whole as it was."""
    end = len(whole) - _TAIL.size
    size, total = _TAIL.unpack(whole[end:])
    return whole[end - size : end] if size <= end and _sum(whole, end) == total else None


def _sum(data: bytes | mmap, end: int | None = None) -> int:
    """The sum of the words of data: finds what a disk or a crash does to a file, in a third of a millisecond."""
    import numpy

    end = len(data) if end is None else end
    words = numpy.frombuffer(data, "<u8", end // 8)
    total = int(words.sum(dtype="u8")) + int.from_bytes(data[8 * len(words) : end], "little")
    # A file stays mapped as long as there is something that looks into it.
    del words
    return total % 2**64


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
