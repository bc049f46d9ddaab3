"""Machine code of the component, kept for the next process.

Loading it is running it. So it is kept only where nobody but this user and the superuser can write, in a folder that
samedeal made and marked. Where there is no such place, nothing is kept: that costs time, and nothing else. The Rust
host uses the same folder by the same rules (`hosts/rust/src/cache.rs`).
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

# The module that `random` takes: `hashlib` takes milliseconds to load OpenSSL.
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
_OVERFLOW_USER = 65534
"""The number that Linux shows for each user without a number of its own, in a user namespace: this one and others."""
_AT_SECURE = 23
_STALE = 60
"""Seconds after which an incomplete file or folder is that of a process that has ended: writing takes less than one."""
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def load(key: bytes, use: Callable[[bytes, str | bytes], T | None]) -> T | None:
    """The result of `use` on the code that was kept under a key; None if there is none, or if `use` returns None.

    `use` takes the facts and the code: the path of a file that begins with it, for mapping, or bytes that begin with
    it.
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
    """Keeps code, and short facts about it, under a key, which names all that decides whether the code can run.

    The answer is why the code is not kept; None if it is.
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
    """Why there is no folder for code; None if there is one. It is made if it is missing."""
    try:
        _folder()
    except (OSError, RuntimeError, ValueError) as error:
        return str(error)
    return None


def path_of(key: bytes) -> str:
    """The file of a key. If there is no folder, an `OSError` says why."""
    return os.path.join(_folder(), _name(key))


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


def _has_more_rights_than_its_caller() -> bool:
    """Whether the caller of this program may be another user than the one whose rights it has, or can take back.

    These are set-user-ID programs, programs with file capabilities, and a superuser who became a user for a while.
    Of such a program, the caller wrote the environment, or a user wrote the code that the superuser would run.
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
    # Other systems have a question of their own for it.
    ask = getattr(ctypes.CDLL(None), "issetugid", None)
    return ask is not None and bool(ask())


def _base() -> str:
    """Where the caches of this user are."""
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
    """The folder, which is made if it is missing. If there is no safe place for it, an `OSError` says why."""
    base = _base()
    if not os.path.lexists(base):
        # Only this folder is made, and none above it: without a home directory there is no cache.
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
    """Where a path of folders leads. An `OSError` says if others than this user and the superuser can change that.

    Every name on the way is looked at, and links are followed one by one: the folder in which a name is, the link
    itself, and the folders that it leads through must all be safe.
    """
    user = _user()
    if user is None:
        # Folders of users are their own there.
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
        # Where everybody can write, `sticky` keeps what this user and the superuser have there.
        is_safe = not found.st_mode & _WRITABLE or found.st_mode & stat.S_ISVTX
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(f"{to} is no folder")
        if not is_safe:
            raise PermissionError(f"other users can write to {to} (mode {stat.S_IMODE(found.st_mode):04o})")
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
        # Another process may have been faster.
        if not isinstance(error, OSError) or not os.path.lexists(folder):
            raise


def _make_private(folder: str) -> None:
    """Makes a folder for this user alone, whatever the umask takes away."""
    os.mkdir(folder, 0o700)
    if os.name == "posix" and os.lstat(folder).st_mode & 0o777 != 0o700:
        os.chmod(folder, 0o700)


def _open(path: str, folder: int | None = None) -> IO[bytes]:
    """Opens a file of this user, and nothing else. Neither a link is followed nor a pipe waited for."""
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
    """Writes a file under another name first, so that it is there as a whole or not at all.

    `sync` waits until the data is on the disk: a name may outlive a loss of power, and its data not.
    """
    if sys.platform != "win32" and sys.platform not in ("emscripten", "wasi"):
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        # Writing more would end a program that does not ignore SIGXFSZ.
        if most != resource.RLIM_INFINITY and most < len(data):
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


def _is_stale(found: os.stat_result) -> bool:
    """Whether nobody writes it any more. A time in the future is that of a clock that was wrong."""
    return abs(time.time() - found.st_mtime) > _STALE


def _prune(folder: str, written: str) -> None:
    """Deletes, of what this or the Rust host made here, stale parts, and the oldest files where there are many.

    The file that was just written stays. One of the future counts as the oldest: its time says nothing.
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
    """Deletes folders beside the own one that ended processes have left half made, and nothing else."""
    above, name = os.path.split(folder)
    for other in os.listdir(above):
        if other.startswith(f"{name}.") and _is_random(other[len(name) + 1 :]):
            with contextlib.suppress(OSError):
                _remove_leftover(os.path.join(above, other))


def _remove_leftover(folder: str) -> None:
    """Deletes such a folder if it is of this user, stale, and holds no more than a part of the marker.

    It is looked at through a descriptor, so that nobody can put another one in its place. (Windows opens no folders.)
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
    """Whether a name may end so by `_random`."""
    return len(end) == 16 and not set(end) - set("0123456789abcdef")


def _random() -> str:
    return os.urandom(8).hex()
