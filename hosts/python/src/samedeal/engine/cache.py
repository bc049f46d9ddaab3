"""The cache of the component's machine code, for later processes.

To load machine code is to run it. So the cache is a folder that samedeal made and marked, and in which only this user
and the superuser can write. Without a place for such a folder, nothing is cached, which costs only time. The Rust host
uses the same folder by the same rules (`hosts/rust/src/cache.rs`).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import struct
import sys
import time
from typing import IO, TYPE_CHECKING, TypeVar

if sys.platform == "linux":
    from mmap import MAP_POPULATE, MAP_SHARED, PROT_READ, mmap
if sys.platform != "win32" and sys.platform not in ("emscripten", "wasi"):
    import resource

if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap

# Not from `hashlib`, which takes milliseconds to load OpenSSL. CPython has the function in a private module: `_sha2`
# from 3.12 on, else `_sha256`.
try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

T = TypeVar("T")

_FOLDER = "samedeal-engine-v1"
"""The name of the folder, with the version of its format: marker, names and files."""
_MARKER = "CACHEDIR.TAG"
"""The name of the marker file, by which backup programs recognise a cache (bford.info/cachedir)."""
_MARK = b"""Signature: 8a477f597d28d172789f06886806bc55
# samedeal made this folder (format 1). It holds machine code, and can be deleted.
"""
_NAME = r"(python|rust)-[0-9a-f]{64}\.code(\.[0-9a-f]{16})?"
"""A pattern for the names of files; the names of incomplete files have the random end."""
_TAIL = struct.Struct("<QQ")
"""The end of a file, after the code and the facts: the size of the facts in bytes, and the sum over both."""
_MOST_FILES = 32
_MOST_BYTES = 1 << 26
_MOST_LINKS = 40
_OVERFLOW_USER = 65534
"""The user number that Linux shows, in a user namespace, for every user that the namespace does not map."""
_AT_SECURE = 23
_STALE = 60
"""Seconds after which the writer of an incomplete file or folder must have ended: writing takes less than one."""
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def load(key: bytes, use: Callable[[bytes, str | bytes], T | None]) -> T | None:
    """Calls `use` with the cached code of a key. Returns its result; None if there is no code, or `use` returns None.

    `use` takes the facts and the code: the path of a file that begins with the code, for mapping, or bytes that begin
    with the code.
    """
    with contextlib.suppress(OSError, RuntimeError, ValueError, struct.error):
        folder = _folder()
        _remove_leftovers(folder)
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


def keep(key: bytes, facts: bytes, code: bytes) -> str | None:
    """Caches code and short facts about it under a key, which must name all that decides whether the code can run.

    Returns why the code could not be cached; None if it is cached.
    """
    try:
        folder = _folder()
        path = os.path.join(folder, _name(key))
        try:
            _write(path, code + facts + _TAIL.pack(len(facts), _sum(code + facts)))
        finally:
            _prune(folder, path)
    except (OSError, RuntimeError, ValueError) as error:
        return str(error)
    return None


def why_not() -> str | None:
    """The reason why there is no cache folder; None if there is one. Makes the folder if it is missing."""
    try:
        _folder()
    except (OSError, RuntimeError, ValueError) as error:
        return str(error)
    return None


def path_of(key: bytes) -> str:
    """The file of a key. If there is no folder, an `OSError` says why."""
    return os.path.join(_folder(), _name(key))


def _is_on_a_disk_of_this_machine(found: os.stat_result) -> bool:
    """Whether a file is on a disk of this machine, so that it is safe to map it.

    On such a disk, a mapped file keeps its contents when it is deleted, or when another file is renamed to its name;
    samedeal changes files in no other way. Only this user can write to the file in place, as to the library of the
    engine, which is mapped too. In a network file system, another machine may delete a file that a process has mapped,
    which ends the process (SIGBUS).
    """
    device = found.st_dev
    return sys.platform == "linux" and os.path.exists(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")


def _facts(whole: bytes | mmap) -> bytes | None:
    """The facts in a file; None if the file is damaged."""
    end = len(whole) - _TAIL.size
    size, total = _TAIL.unpack(whole[end:])
    return whole[end - size : end] if size <= end and _sum(whole, end) == total else None


def _sum(data: bytes | mmap, end: int | None = None) -> int:
    """The sum of 8-byte words, as a checksum against damage by a disk or a crash. Takes a third of a millisecond."""
    import numpy

    end = len(data) if end is None else end
    words = numpy.frombuffer(data, "<u8", end // 8)
    total = int(words.sum(dtype="u8")) + int.from_bytes(data[8 * len(words) : end], "little")
    # The file stays mapped as long as an array refers to the mapping.
    del words
    return total % 2**64


def _name(key: bytes) -> str:
    return f"python-{sha256(key).hexdigest()}.code"


def _user() -> int | None:
    """The number of this user; None on a system without user numbers."""
    if sys.platform == "win32":
        return None
    return os.geteuid()


def _has_more_rights_than_its_caller() -> bool:
    """Whether this program has, or can take back, the rights of another user than its caller.

    Such programs are set-user-ID programs, programs with file capabilities, and a superuser who became a user for a
    while. Their environment comes from the caller, so the cache could be in a folder of the caller; or the superuser
    would run code that a user wrote.
    """
    if sys.platform == "win32":
        return False
    if (os.getuid(), os.getgid()) != (os.geteuid(), os.getegid()):
        return True
    if sys.platform == "linux":
        if len({*os.getresuid()}) > 1 or len({*os.getresgid()}) > 1:
            return True
        getauxval = ctypes.CDLL(None).getauxval
        getauxval.restype, getauxval.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
        return bool(getauxval(_AT_SECURE))
    # Other systems have the function `issetugid` for this.
    ask = getattr(ctypes.CDLL(None), "issetugid", None)
    return ask is not None and bool(ask())


def _base() -> str:
    """The folder with the caches of this user."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        if _has_more_rights_than_its_caller():
            raise PermissionError("this program has more rights than its caller, or can take them back")
        if _user() == _OVERFLOW_USER:
            raise PermissionError(f"user {_OVERFLOW_USER} may be any user (a user namespace without a map)")
        base = os.environ.get("XDG_CACHE_HOME")
        if not base or not os.path.isabs(base):
            home = os.environ.get("HOME") or _home_of_user()
            base = os.path.join(home, "Library/Caches" if sys.platform == "darwin" else ".cache")
    if not base or not os.path.isabs(base):
        raise FileNotFoundError("this user has no home directory")
    return base


def _home_of_user() -> str:
    """The home directory in the password file; empty if there is none."""
    if sys.platform == "win32":
        return ""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _folder() -> str:
    """The cache folder, which is made if it is missing. If there is no safe place for it, an `OSError` says why."""
    base = _base()
    if not os.path.lexists(base):
        # Makes this folder, but none above it: without a home directory there is no cache.
        above, own = os.path.split(base.rstrip("/"))
        with contextlib.suppress(FileExistsError):
            _make_private(os.path.join(_resolved(above), own))
    folder = os.path.join(_resolved(base), _FOLDER)
    if not os.path.lexists(folder) or (_is_own(folder, 0o022) and not os.listdir(folder)):
        _make(folder)
    if not _is_own(folder, 0o077):
        mode = stat.S_IMODE(os.lstat(folder).st_mode)
        raise PermissionError(f"{folder} is no folder of this user with the mode 0700 (it has {mode:04o})")
    marker = os.path.join(folder, _MARKER)
    if _read(marker) != _MARK:
        raise PermissionError(f"{marker} is not what samedeal writes; delete the folder if it holds nothing of yours")
    return folder


def _resolved(path: str) -> str:
    """The folder that a path leads to. An `OSError` says if other users than the superuser can change where it leads.

    Every name on the way is checked, and links are followed one by one: all folders and links must belong to this user
    or the superuser, and other users must not be able to write to the folders.
    """
    user = _user()
    if user is None:
        # On Windows, folders of a user are private.
        if not os.path.isdir(path):
            raise NotADirectoryError(f"{path} is no folder")
        return os.path.realpath(path)
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
            raise PermissionError(f"{to} belongs to user {found.st_uid}, neither to user {user} nor to the superuser")
        if stat.S_ISLNK(found.st_mode):
            links += 1
            target = os.readlink(to)
            if links > _MOST_LINKS:
                raise OSError(f"{path} leads through more than {_MOST_LINKS} links")
            left += target.split("/")[::-1]
            at = "/" if target.startswith("/") else at
            continue
        # If everybody can write to the folder, the sticky bit protects the entries of this user and the superuser.
        is_safe = not found.st_mode & _WRITABLE or found.st_mode & stat.S_ISVTX
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(f"{to} is no folder")
        if not is_safe:
            raise PermissionError(f"other users can write to {to} (mode {stat.S_IMODE(found.st_mode):04o})")
        at = to
    return at


def _is_own(folder: str, refused: int) -> bool:
    """Whether the path is a folder of this user, no link, with none of the mode bits `refused`."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        return False
    user = _user()
    return user is None or (found.st_uid == user and found.st_mode & 0o700 == 0o700 and not found.st_mode & refused)


def _make(folder: str) -> None:
    """Makes the folder with its marker in one step, by a rename, which replaces an empty folder and nothing else."""
    part = f"{folder}.{_random()}"
    marker = os.path.join(part, _MARKER)
    try:
        _make_private(part)
        _write(marker, _MARK, sync=True)
        os.rename(part, folder)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(marker)
        with contextlib.suppress(OSError):
            os.rmdir(part)
        # Another process may have made the folder meanwhile.
        if not isinstance(error, OSError) or not os.path.lexists(folder):
            raise


def _make_private(folder: str) -> None:
    """Makes a folder with the mode 0700, whatever the umask is."""
    os.mkdir(folder, 0o700)
    if os.name == "posix" and os.lstat(folder).st_mode & 0o777 != 0o700:
        os.chmod(folder, 0o700)


def _open(path: str, folder: int | None = None) -> IO[bytes]:
    """Opens a regular file of this user; anything else is an error. Does not follow a link or wait for a pipe."""
    file = open(os.open(path, _READ, dir_fd=folder), "rb", buffering=0)  # noqa: SIM115
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


def _write(path: str, data: bytes, *, sync: bool = False) -> None:
    """Writes a file under a temporary name and renames it, so that the file is complete or missing.

    `sync` waits until the data is on the disk: a loss of power might otherwise leave the name without the data.
    """
    if (most := most_bytes()) < len(data):
        raise OSError(errno.EFBIG, f"files have at most {most} bytes (`ulimit -f`), and {len(data)} are needed")
    part = f"{path}.{_random()}"
    try:
        with open(os.open(part, _WRITE, 0o600), "wb") as file:
            if sys.platform != "win32":
                os.fchmod(file.fileno(), 0o600)
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def most_bytes() -> int:
    """The most bytes that a file of this process may have (`ulimit -f`).

    Writing more would send SIGXFSZ, which ends a program that does not ignore it.
    """
    if sys.platform != "win32" and sys.platform not in ("emscripten", "wasi"):
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if most != resource.RLIM_INFINITY:
            return most
    return sys.maxsize


def _is_stale(found: os.stat_result) -> bool:
    """Whether the writer of a file or folder must have ended. A time in the future counts too: a clock was wrong."""
    return abs(time.time() - found.st_mtime) > _STALE


def _prune(folder: str, written: str) -> None:
    """Deletes stale incomplete files and, if there are too many files, the oldest ones, also those of the Rust host.

    The file that was just written stays. A file with a time in the future counts as the oldest, since its time is
    wrong.
    """
    import re

    files = []
    latest = time.time() + _STALE
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        made = re.fullmatch(_NAME, name)
        if made is None or path == written:
            continue
        with contextlib.suppress(OSError):
            found = os.lstat(path)
            if made[2] and _is_stale(found):
                os.unlink(path)
            else:
                files.append((found.st_mtime if found.st_mtime <= latest else 0, path))
    for _, path in sorted(files)[: -(_MOST_FILES - 1)]:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _remove_leftovers(folder: str) -> None:
    """Deletes half-made folders beside the cache folder, which ended processes have left."""
    above, name = os.path.split(folder)
    for other in os.listdir(above):
        if other.startswith(f"{name}.") and _is_random(other[len(name) + 1 :]):
            with contextlib.suppress(OSError):
                _remove_leftover(os.path.join(above, other))


def _remove_leftover(folder: str) -> None:
    """Deletes a half-made folder if it belongs to this user, is stale, and holds at most a part of the marker.

    The folder is read through a descriptor, so that nobody can exchange it meanwhile. Windows cannot open a folder in
    this way: `os.open` raises an `OSError` there, and the folder stays.
    """
    at = os.open(folder, _READ)
    try:
        found = os.fstat(at)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != _user() or found.st_mode & 0o077 or not _is_stale(found):
            return
        for name in os.listdir(at):
            marker, dot, end = name.partition(f"{_MARKER}.")
            if name != _MARKER and not (dot and not marker and _is_random(end)):
                return
            with _open(name, at) as file:
                if not _MARK.startswith(file.read(2 * len(_MARK))):
                    return
            os.unlink(name, dir_fd=at)
        os.rmdir(folder)
    finally:
        os.close(at)


def _is_random(end: str) -> bool:
    """Whether the end of a name may be a result of `_random`."""
    return len(end) == 16 and not set(end) - set("0123456789abcdef")


def _random() -> str:
    return os.urandom(8).hex()
