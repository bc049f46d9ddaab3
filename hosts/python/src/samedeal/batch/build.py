"""Builds the index of a plan with several processes, or with a function like `map` that uses many machines."""

from __future__ import annotations

import contextlib
import copy
import json
import multiprocessing
import os
import re
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import starmap
from multiprocessing.connection import wait
from pathlib import Path
from typing import SupportsIndex

from ..engine import arguments as check
from ..engine.errors import ContradictionError, SamedealError, WrongTypeError
from .batcher import Batcher
from .binding import Where
from .index import join_indices
from .lengths import Lengths

Part = tuple[int, int]
"""Windows that are planned together: the number of the first one, and how many they are."""
Mapper = Callable[[Callable[[Part], str], list[Part]], Iterable[str]]
"""A function such as `map`."""

_PARTS = 256
"""The most parts of an epoch. A process that is killed loses only the work on one part."""
_ATTEMPTS = 10
_WORKERS = check.Width(1, check.U32_MAX, *check.U32_FROM_1[2:])


def build_index(
    batcher: Batcher,
    path: str | os.PathLike[str],
    *,
    workers: SupportsIndex | Mapper | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str:
    """Plans the whole epoch of a batcher with several processes, and writes the index of it.

    With the index (`Batcher.use_index`), every rank knows at once how many steps the epoch has. One process calls this.
    The file is the same for any number of workers. Until it is complete, its parts are stored in a folder beside it:
    after an interruption, call this again, and only the missing parts are planned.

    Processes are started anew, as `multiprocessing` does it with "spawn": a script must call this below
    `if __name__ == "__main__"`. Each process opens a memory-mapped file of lengths itself. A function or an object of
    your own that gives lengths is pickled. All other lengths are written to a file in that folder, which each process
    opens.

    Args:
        batcher: The batcher, whose epoch is planned as a whole.
        path: The file to write.
        workers: Number of processes. By default, the number of processors that this process may use; with 1, no other
            process is started. Or a function like `map`, such as `map` of an executor: it gets a function and a list of
            parts, and gives the result of that function for each part, in any order. That function can be pickled, and
            may run on other machines, which must have the memory-mapped file of lengths (for other lengths, the folder
            of parts) under the same path.
        progress: Called with the number of windows that are planned, and with the number of all windows.

    Returns:
        The text of the index.

    Raises:
        OutOfRangeError: `workers` is not 1 or more, `path` is no path, or a sample is too long.
        WrongTypeError: A value is of another type, or `workers` gives something else than the parts. With several
            processes, a function or an object that gives lengths cannot be pickled.
        ContradictionError: `workers` does not give all parts.
        OutOfMemoryError: There is no memory for the plan of a window.
        OSError: A file cannot be written.
        RuntimeError: A process was killed, or could not start.
    """
    if workers is None or not callable(workers):
        most = _processors() if workers is None else check.integer("workers", workers, _WORKERS)
        workers = _pool(most) if most > 1 else None
    if not isinstance(batcher, Batcher):
        raise WrongTypeError("batcher", check.described(batcher), "a Batcher")
    # If the path is a link, the file that it leads to is written.
    target, told = Path(os.path.realpath(check.path(path, "file"))), check.progress(progress)
    whole = _whole(batcher)
    windows = whole.num_windows
    folder = target.parent / f"{target.name}.{whole.recipe_fingerprint()[:16]}-{whole.epoch}.parts"
    folder.mkdir(parents=True, exist_ok=True)
    size = max(1, -(-windows // _PARTS))
    parts = [(first, min(size, windows - first)) for first in range(0, windows, size)] or [(0, 0)]
    own = _head(whole.index(0, 0))
    # A part file has a checksum of the lengths in its name, so that parts of other lengths are not used.
    identity = (batcher._engine.fixed[1] or Lengths.of(batcher.lengths)).identity()
    mark = "" if identity is None else f"-{identity:08x}"
    known = _known(folder, parts, own, mark)
    for text in _planned(whole, folder, [part for part in parts if part not in known], workers):
        found = _part_of(text, own)
        if found not in parts:
            raise WrongTypeError("workers", check.described(text), _MAP)
        if found not in known:
            _write(folder, _file(folder, found, mark), text)
            known[found] = text
            if told is not None:
                told(sum(count for _, count in known), windows)
    if len(known) < len(parts):
        raise ContradictionError("workers", f"{len(known)} of {len(parts)} parts", _MAP)
    text = join_indices(known.values())
    _write(folder, target, f"{text}\n")
    # The folder may be gone: another process that built the same index removes it, too.
    _remove(folder)
    return text


_MAP = "a function that gives, as `map` does, what its first argument returns for each part"


def _whole(batcher: Batcher) -> Batcher:
    """A copy of the batcher for the whole of its epoch."""
    made = copy.copy(batcher)
    made._engine.config = Where(batcher.epoch)
    return made


def _shared(batcher: Batcher, folder: Path) -> Batcher:
    """A copy of the batcher for other processes, which read the lengths from files."""
    made = copy.copy(batcher)
    recipe, lengths, limit = batcher._engine.fixed
    made._engine.fixed = recipe, None if lengths is None else lengths.in_file(folder / "lengths.npy"), limit
    return made


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _file(folder: Path, part: Part, mark: str) -> Path:
    return folder / f"{part[0]}-{part[1]}{mark}.json"


def _head(text: str) -> tuple[object, ...]:
    """The members that all parts of one index have in common."""
    found = json.loads(text)
    return found["recipe_fingerprint"], found["epoch"], found["windows"]


def _known(folder: Path, parts: list[Part], own: tuple[object, ...], mark: str) -> dict[Part, str]:
    """The texts of the parts whose files are complete."""
    known = {}
    for part in parts:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = _file(folder, part, mark).read_text(encoding="utf-8")
            if _part_of(text, own) == part:
                known[part] = text
    return known


def _part_of(index: str, own: tuple[object, ...]) -> Part | None:
    """The part of a text, if the text is a complete part of the index with the members `own`."""
    try:
        text = join_indices([index])
    except (OSError, SamedealError):
        # A function of the user may give anything, even no text.
        return None
    found = json.loads(text)
    return (found["first"], len(found["steps"])) if _head(text) == own else None


def _planned(batcher: Batcher, folder: Path, parts: list[Part], mapper: Mapper | None) -> Iterable[str]:
    """The index texts of parts, in any order, each as soon as it is planned."""
    if mapper is None or not parts:
        return starmap(batcher.index, parts)
    given = mapper(_Planner(uuid.uuid4().hex, _shared(batcher, folder)), parts)
    if not isinstance(given, Iterable):
        raise WrongTypeError("workers", check.described(given), _MAP)
    return given


class _Planner:
    """A function that plans a part, and can be pickled for other processes."""

    def __init__(self, key: str, batcher: Batcher) -> None:
        self.key, self._batcher = key, batcher

    def __call__(self, part: Part) -> str:
        return self._batcher.index(*part)

    def __reduce__(self) -> tuple[object, ...]:
        return _received, (self.key, self._batcher)


_last: _Planner | None = None


def _received(key: str, batcher: Batcher) -> _Planner:
    """The planner of this process, cached: some executors send it with each part, each time with a new batcher."""
    global _last
    if _last is None or _last.key != key:
        _last = _Planner(key, batcher)
    return _last


def _pool(workers: int) -> Mapper:
    """A `map` with a pool of processes, which exist while the result is iterated."""

    def mapper(plan: Callable[[Part], str], parts: list[Part]) -> Iterator[str]:
        check.pickles("lengths", plan, "a function or an object that does not pickle", _SENT)
        context = multiprocessing.get_context("spawn")
        count = min(workers, len(parts))
        with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(plan,)) as pool:
            try:
                yield from pool.map(_next, parts)
            except BrokenProcessPool as error:
                raise RuntimeError(_BROKEN) from error
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    return mapper


_BROKEN = (
    "a process that plans ended before its work was done. A script must call build_index below "
    '`if __name__ == "__main__":`, because processes are started anew and import it. Or the process was killed, mostly '
    "for want of memory: pass a smaller number of workers. Parts that are done are kept; call build_index again"
)


_SENT = "with several workers, one that pickles: a function of a module, and no lambda; or workers=1"


def _begin(plan: Callable[[Part], str]) -> None:
    """Begins a process of the pool. `plan` is not used here: `_last` was set when `plan` was unpickled."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # Without this, a process of the pool would wait for ever after its parent was killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _next(part: Part) -> str:
    assert _last is not None
    return _last(part)


_MADE = re.compile(r"\d+-\d+(-[0-9a-f]{8})?\.json|(\d+-)*lengths\.npy|.+\.\d+\.tmp")
"""The names of files that this module writes into a folder of parts."""


def _remove(folder: Path) -> None:
    """Removes the files of this module from the folder of parts, and the folder if it is empty then."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _MADE.fullmatch(path.name):
                path.unlink(missing_ok=True)
        folder.rmdir()


def _write(folder: Path, path: Path, text: str) -> None:
    """Writes a file under a temporary name and renames it, so that the file is complete or missing.

    The temporary file is in the folder of parts, so that nothing is left beside the index if this process is killed.
    """
    other = folder / f"{path.name}.{os.getpid()}.tmp"
    for attempt in range(_ATTEMPTS):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            other.write_text(text, encoding="utf-8")
            os.replace(other, path)
        except FileNotFoundError:
            # Another process has finished the same index, and removed the folder.
            if attempt + 1 == _ATTEMPTS:
                raise
        else:
            return
