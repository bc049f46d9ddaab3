"""Building the index of a plan with several processes."""

from __future__ import annotations

import contextlib
import copy
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import SupportsIndex

from ..engine import arguments as check
from ..engine.errors import SamedealError
from .batcher import Batcher
from .binding import Where
from .index import join_indices

_PARTS = 256
"""In so many parts an epoch is planned, at most: what a process that was killed loses is part of one."""
_WORKERS = check.Width(1, check.U32_MAX, *check.U32_FROM_1[2:])


def build_index(
    batcher: Batcher,
    path: str | os.PathLike[str],
    *,
    workers: SupportsIndex | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str:
    """Plans the whole epoch of a batcher with several processes, and writes the index of it.

    With the index (`Batcher.use_index`), every rank knows at once how many steps the epoch has. It is the same file for
    any number of processes. Parts of it are kept in a folder beside it until it is there: after an interruption, call
    this again, and it goes on with the parts that are missing.

    Processes are started anew, as `multiprocessing` does it with "spawn": a script must call this below
    `if __name__ == "__main__"`. They open a memory-mapped file of lengths themselves; an array in memory is written to
    a file for them; other lengths are pickled.

    Args:
        batcher: The batcher, whose epoch is planned as a whole.
        path: The file to write.
        workers: Number of processes. By default, as many as this process may use processors; with 1, there is no other
            process.
        progress: Called with the number of windows that are planned, and with the number of all windows.

    Returns:
        The text of the index.

    Raises:
        OutOfRangeError: `workers` is not 1 or more, or a sample is too long.
        OutOfMemoryError: There is no memory for the plan of a window.
        OSError: A file cannot be written.
    """
    most = _processors() if workers is None else check.integer("workers", workers, _WORKERS)
    whole = _whole(batcher)
    windows, target = whole.num_windows, Path(path)
    folder = target.with_name(f"{target.name}.{whole.recipe_fingerprint()[:16]}-{whole.epoch}.parts")
    folder.mkdir(parents=True, exist_ok=True)
    size = max(1, -(-windows // _PARTS))
    parts = [(first, min(size, windows - first)) for first in range(0, windows, size)] or [(0, 0)]
    missing = [part for part in parts if not _is_there(folder, part)]
    done = windows - sum(count for _, count in missing)
    for count in _planned(whole, folder, missing, min(most, len(missing))):
        done += count
        if progress is not None:
            progress(done, windows)
    text = join_indices(_file(folder, part) for part in parts)
    _write(target, text)
    shutil.rmtree(folder)
    return text


def _whole(batcher: Batcher) -> Batcher:
    """Another batcher, of the whole epoch."""
    made = copy.copy(batcher)
    made._engine.config = Where(batcher.epoch)
    return made


def _shared(batcher: Batcher, folder: Path) -> Batcher:
    """The same, so that other processes read the lengths from files."""
    made = copy.copy(batcher)
    recipe, lengths, limit = batcher._engine.fixed
    made._engine.fixed = recipe, None if lengths is None else lengths.in_file(folder / "lengths.npy"), limit
    return made


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _file(folder: Path, part: tuple[int, int]) -> Path:
    return folder / f"{part[0]}-{part[1]}.json"


def _is_there(folder: Path, part: tuple[int, int]) -> bool:
    """Whether a part is there, whole."""
    try:
        text = join_indices([_file(folder, part)])
        found = json.loads(text)
    except (OSError, SamedealError):
        return False
    return (found["first"], len(found["steps"])) == part


def _planned(batcher: Batcher, folder: Path, parts: list[tuple[int, int]], workers: int) -> Iterator[int]:
    """Plans parts, and gives the number of windows of each when it is there."""
    if workers <= 1:
        for part in parts:
            yield _plan(batcher, folder, part)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _begin, (_shared(batcher, folder), folder)) as pool:
        try:
            yield from pool.map(_next, parts)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_work: tuple[Batcher, Path]
"""What a process of the pool plans, and where it writes parts."""


def _begin(batcher: Batcher, folder: Path) -> None:
    global _work
    _work = batcher, folder


def _next(part: tuple[int, int]) -> int:
    return _plan(*_work, part)


def _plan(batcher: Batcher, folder: Path, part: tuple[int, int]) -> int:
    """Plans the windows of a part, and writes their index."""
    _write(_file(folder, part), batcher.index(*part))
    return part[1]


def _write(path: Path, text: str) -> None:
    """Writes a file under another name first, so that it is there as a whole or not at all."""
    other = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        other.write_text(text, encoding="utf-8")
        os.replace(other, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            other.unlink()
