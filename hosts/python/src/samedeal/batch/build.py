"""Building the index of a plan with several processes, or with what runs functions on many machines."""

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
"""Windows that are planned together: the first one, and how many."""
Mapper = Callable[[Callable[[Part], str], list[Part]], Iterable[str]]
"""A function such as `map`."""

_PARTS = 256
"""In so many parts an epoch is planned, at most: what a process that was killed loses is part of one."""
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
    It is the same file for any number of workers. Parts of it are kept in a folder beside it until it is there: after
    an interruption, call this again, and it goes on with the parts that are missing.

    Processes are started anew, as `multiprocessing` does it with "spawn": a script must call this below
    `if __name__ == "__main__"`. They open a memory-mapped file of lengths themselves. A function or an object of your
    own is pickled. All other lengths are written to a file in the folder, which they open.

    Args:
        batcher: The batcher, whose epoch is planned as a whole.
        path: The file to write.
        workers: Number of processes. By default, as many as this process may use processors; with 1, there is no other
            process. Or a function like `map`, such as `map` of an executor: it gets a function and a list of parts, and
            gives what the function returns for each of them, in any order. The function pickles, and may run on other
            machines: then a memory-mapped file of lengths must have the same path there, or, for other lengths, the
            folder.
        progress: Called with the number of windows that are planned, and with the number of all windows.

    Returns:
        The text of the index.

    Raises:
        OutOfRangeError: `workers` is not 1 or more, `path` is no path, or a sample is too long.
        WrongTypeError: A value is of another type, or `workers` gives something else than the parts. With several
            processes, a function or an object that gives lengths does not pickle.
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
    # Of a link, the file that it names is written.
    target, told = Path(os.path.realpath(check.path(path, "file"))), check.progress(progress)
    whole = _whole(batcher)
    windows = whole.num_windows
    folder = target.parent / f"{target.name}.{whole.recipe_fingerprint()[:16]}-{whole.epoch}.parts"
    folder.mkdir(parents=True, exist_ok=True)
    size = max(1, -(-windows // _PARTS))
    parts = [(first, min(size, windows - first)) for first in range(0, windows, size)] or [(0, 0)]
    own = _head(whole.index(0, 0))
    # A part is of the lengths that it was planned with: if they changed since, it is not taken.
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
    # Another process that builds the same index may have removed it.
    _remove(folder)
    return text


_MAP = "a function that gives, as `map` does, what its first argument returns for each part"


def _whole(batcher: Batcher) -> Batcher:
    """Another batcher, of the whole epoch."""
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
    return found["fingerprint"], found["epoch"], found["windows"]


def _known(folder: Path, parts: list[Part], own: tuple[object, ...], mark: str) -> dict[Part, str]:
    """The parts that are there, whole."""
    known = {}
    for part in parts:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = _file(folder, part, mark).read_text(encoding="utf-8")
            if _part_of(text, own) == part:
                known[part] = text
    return known


def _part_of(index: str, own: tuple[object, ...]) -> Part | None:
    """The part that a text is, if it is whole, and a part of the same index."""
    try:
        text = join_indices([index])
    except (OSError, SamedealError):
        # Maybe no text: a function such as `map` gives anything.
        return None
    found = json.loads(text)
    return (found["first"], len(found["steps"])) if _head(text) == own else None


def _planned(batcher: Batcher, folder: Path, parts: list[Part], mapper: Mapper | None) -> Iterable[str]:
    """The indices of parts, in any order, as they are planned."""
    if mapper is None or not parts:
        return starmap(batcher.index, parts)
    given = mapper(_Planner(uuid.uuid4().hex, _shared(batcher, folder)), parts)
    if not isinstance(given, Iterable):
        raise WrongTypeError("workers", check.described(given), _MAP)
    return given


class _Planner:
    """Plans parts, in other processes too."""

    def __init__(self, key: str, batcher: Batcher) -> None:
        self.key, self._batcher = key, batcher

    def __call__(self, part: Part) -> str:
        return self._batcher.index(*part)

    def __reduce__(self) -> tuple[object, ...]:
        return _received, (self.key, self._batcher)


_last: _Planner | None = None


def _received(key: str, batcher: Batcher) -> _Planner:
    """The planner of this process. Some unpickle it for each part: its batcher should not begin anew each time."""
    global _last
    if _last is None or _last.key != key:
        _last = _Planner(key, batcher)
    return _last


def _pool(workers: int) -> Mapper:
    """A `map` of processes that are there as long as it is iterated."""

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
    """Begins a process of the pool, which has received the planner with this."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A process of a pool would wait for ever if the one that it works for was killed.
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
    """Removes the folder of parts, unless there are files of others in it: those stay."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _MADE.fullmatch(path.name):
                path.unlink(missing_ok=True)
        folder.rmdir()


def _write(folder: Path, path: Path, text: str) -> None:
    """Writes a file under another name first, so that it is there as a whole or not at all.

    That is in the folder, so that nothing is left beside the index if this process is killed.
    """
    other = folder / f"{path.name}.{os.getpid()}.tmp"
    for attempt in range(_ATTEMPTS):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            other.write_text(text, encoding="utf-8")
            os.replace(other, path)
        except FileNotFoundError:
            # Another process was done with the same index, and has removed the folder.
            if attempt + 1 == _ATTEMPTS:
                raise
        else:
            return
