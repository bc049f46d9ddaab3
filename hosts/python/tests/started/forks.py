"""Processes of jobs: they tell where they are, and their loader workers start without a thread that could hang them.

CPython before 3.10.15 and 3.11.10 has a fault (https://github.com/python/cpython/issues/112275): a forked child takes a
lock of the interpreter before it makes its locks new. If another thread held this lock at the fork, the child waits for
ever. Threads of gloo hold it for a moment when an operation has ended, so a loader worker that is forked then hangs.

In these versions, loader workers start from a fork server. It is forked from the rank itself, right before the rank
makes its first process group. So the server has no thread of gloo, and it has all modules that the rank has imported:
its workers start as fast as forked ones.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from multiprocessing import forkserver, resource_tracker, util
from types import ModuleType
from typing import Any

HANGS = sys.version_info < (3, 10, 15) or (3, 11) <= sys.version_info < (3, 11, 10)
"""Whether a fork beside threads of gloo may hang in this Python."""
GROUPS = "torch.distributed.distributed_c10d"
"""The module with the function that makes process groups."""
PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux."""


def install() -> None:
    """Prepares this process, before or after it imports torch."""
    # The signal makes a process print the stack of each thread, and go on.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        faulthandler.register(signal.SIGUSR1, file=2)
    if not HANGS or sys.platform != "linux":
        return
    if (module := sys.modules.get(GROUPS)) is not None:
        _wrap(module)
        # `torch.distributed` has the function too.
        sys.modules["torch.distributed"].init_process_group = module.init_process_group  # type: ignore[attr-defined]
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Wraps the function when its module is imported."""

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != GROUPS:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module: ModuleType) -> None:
                execute(module)
                _wrap(module)

            spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


def _wrap(module: Any) -> None:
    begin = module.init_process_group

    @functools.wraps(begin)
    def begun(*arguments: Any, **options: Any) -> Any:
        if multiprocessing.get_start_method(allow_none=True) in (None, "fork"):
            multiprocessing.set_start_method("forkserver", force=True)
            _serve()
        return begin(*arguments, **options)

    module.init_process_group = begun


def _serve() -> None:
    """Starts the fork server of `multiprocessing` as a fork of this process, and not as a new process."""
    resource_tracker.ensure_running()
    start = util.spawnv_passfds
    util.spawnv_passfds = _forked
    try:
        forkserver.ensure_running()
    finally:
        util.spawnv_passfds = start


def _forked(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
    """Forks the server. The last argument is its program, and the last descriptor tells it that it has to end.

    The workers of a server keep this descriptor open, so the workers of a rank that was killed would live on, and their
    server too. Here, the rank alone has the other end of the pipe. If the rank dies, the server ends, and with it its
    workers.
    """
    alive, held = os.pipe()
    child = os.fork()
    if child:
        os.close(alive)
        return child
    code = 1
    try:
        os.close(held)
        os.dup2(alive, passfds[-1])
        os.close(alive)
        os.register_at_fork(after_in_child=functools.partial(_end_with, os.getpid(), []))
        exec(args[-1], {})
    except SystemExit:
        code = 0
    except Exception:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _end_with(server: int, known: list[int]) -> None:
    """Lets a worker end when its server does, also if the server ends before PyTorch looks at it for the first time.

    `known` has the worker in processes that a worker forks: these have another parent.
    """
    if known:
        return
    known.append(os.getpid())
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != server:
        os._exit(1)
