"""Where wasmtime keeps what it has compiled for the next process: loading that is running it."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


def configuration() -> str | None:
    """The path of a configuration for wasmtime, whose folder is made where there is none; None where it is not safe."""
    try:
        base = _base()
        if base is None or not base.is_dir():
            return None
        folder = base / "samedeal"
        folder.mkdir(mode=0o700, exist_ok=True)
        folder = folder.resolve()
        return str(_written(folder)) if _is_of_user(folder) else None
    except (OSError, RuntimeError, UnicodeError):
        # There is no such folder, nobody says which it is, or nothing can be written there: it costs time alone.
        return None


def _base() -> Path | None:
    """The folder for caches of this user, if there is one: without a home of its own, nothing is made."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else None
    given = os.environ.get("XDG_CACHE_HOME")
    if given and os.path.isabs(given):
        base = Path(given)
    else:
        home = Path.home()
        if not home.is_dir():
            return None
        base = home / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    base.mkdir(mode=0o700, exist_ok=True)
    return base


def _is_of_user(folder: Path) -> bool:
    """Whether nobody but this user and the superuser can write to a folder, or put another one in its place."""
    if sys.platform == "win32":
        # Folders of users are their own there.
        return True
    user = os.geteuid()
    own = folder.stat()
    return (
        own.st_uid == user
        and not own.st_mode & _WRITABLE
        and all(
            at.st_uid in (0, user) and (not at.st_mode & _WRITABLE or bool(at.st_mode & stat.S_ISVTX))
            for at in (parent.stat() for parent in folder.parents)
        )
    )


def _written(folder: Path) -> Path:
    """The configuration in a folder, made anew where it differs: at once, since other processes read it."""
    # Imported here and below: neither is needed by who imports samedeal.
    import json

    path = folder / "wasmtime.toml"
    text = f"[cache]\ndirectory = {json.dumps(str(folder))}\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        import tempfile

        number, part = tempfile.mkstemp(dir=folder)
        with open(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    return path
