"""The core module of the component, compiled or loaded once per process, when it is first needed.

wasmtime-py crosses the component boundary at about a microsecond per list element. So this host takes the one core
module that does the work out of the component and calls it by the canonical ABI (`core.py`, `abi.py`); a test holds
the two ways against each other.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading

from . import cache
from .capi import EngineError
from .code import Compiled, compiled, keep, kept, kept_at, loaded

if sys.platform != "win32" and sys.platform not in ("emscripten", "wasi"):
    import resource

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""Where a build puts what it makes."""

COMPONENT = os.path.join(PACKAGE, "samedeal.wasm")

_WINCH_SINCE = 45
"""The first major of wasmtime whose C API selects Winch. All golden cases were run on it, and on the majors after."""

for _each in (COMPONENT, os.path.join(PACKAGE, "generated", "__init__.py")):
    if not os.path.isfile(_each):
        raise ImportError(
            f"{_each} is missing: this installation lacks what a build makes. Install a wheel of samedeal, "
            "or run `cargo xtask build` in a checkout."
        )


class Process:
    """The compiled component of this process, and what has been made from it. A forked child gets a new one.

    The first process on a machine begins with code of Winch, after a quarter of the time, while a thread makes the code
    of Cranelift, and keeps it for later processes. Instances that are made from then on have it, too.
    """

    def __init__(self, codes: dict[bool, tuple[bytes, bytes]] | None = None, *, forked: bool = False) -> None:
        self._codes = codes or {}
        """Machine code that was compiled here or in a parent, by whether the address space has a limit."""
        self._forked = forked
        self._compiled: Compiled | None = None
        self._thread: threading.Thread | None = None
        self._not_kept: str | None = None
        """Why the code that was compiled here was not kept."""
        self._first = threading.Event()
        """Set when the thread has compiled for the first time, or has failed."""
        # Held while something is made that is made once: it nests, samplers upon the compiled component.
        self.lock = threading.RLock()

    def compiled(self) -> Compiled:
        """The compiled component of all instances. It is made at the first call, and a faster one may follow."""
        with self.lock:
            return self._compiled or self._begin()

    def settle(self) -> None:
        """Waits for the thread.

        Before a fork, because the child has no such thread: it would wait for the locks that the thread had in the
        engine, and would have to compile what the thread did not finish.
        """
        if self._thread is not None:
            # A signal handler may have come before its start.
            with contextlib.suppress(RuntimeError):
                self._thread.join()

    def kept_at(self) -> tuple[str | None, str]:
        """The file in which the machine code is kept for later processes; if there is none, None and the reason."""
        self.compiled()
        self.settle()
        try:
            path = kept_at(COMPONENT, _is_space_limited())
        except (OSError, RuntimeError, ValueError) as error:
            return None, str(error)
        return (path, "") if os.path.isfile(path) else (None, self._not_kept or f"{path} was deleted")

    def successor(self) -> Process:
        """For a forked child: nothing that was made before is used again."""
        return Process(self._codes, forked=True)

    def _begin(self) -> Compiled:
        limited = _is_space_limited()
        if self._thread is None:
            code = self._codes.get(limited)
            self._compiled = loaded(code, limited) if code else kept(COMPONENT, limited)
            if self._compiled is not None:
                return self._compiled
            # It is no daemon: a program that ends meanwhile waits for it, so that the next one finds the code.
            self._thread = threading.Thread(target=self._run, args=(COMPONENT, limited), name="samedeal-compile")
            try:
                self._thread.start()
            except RuntimeError:
                # No thread can start (any more), so everything is done here.
                self._thread = None
                return self._compile(COMPONENT, limited)
        # Meanwhile: it is half of the time to the first index.
        import numpy  # noqa: F401

        self._first.wait()
        # A compilation that failed in the thread fails here again, and is told.
        return self._compiled or self._compile(COMPONENT, limited)

    def _run(self, component: str, limited: bool) -> None:
        with contextlib.suppress(Exception):
            try:
                # Where nothing can be kept, each process would compile twice. Where address space is scarce, two
                # compilers may not fit.
                if not limited and has_winch() and cache.why_not() is None:
                    with contextlib.suppress(EngineError):
                        self._compiled = compiled(component, limited, parallel=not self._forked, winch=True)
                        self._first.set()
                self._compile(component, limited)
            finally:
                self._first.set()

    def _compile(self, component: str, limited: bool) -> Compiled:
        """Compiles with Cranelift, and keeps the code for later processes and for forked children."""
        self._compiled = made = compiled(component, limited, parallel=not self._forked)
        self._codes[limited] = made.code()
        self._not_kept = keep(component, self._codes[limited], limited)
        return made


def _is_space_limited() -> bool:
    """Whether the address space of this process has a limit (`ulimit -v`)."""
    if sys.platform != "win32" and sys.platform not in ("emscripten", "wasi"):
        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return False


def has_winch() -> bool:
    """Whether Winch compiles for this processor all that the component has, vectors included, in this wasmtime."""
    if sys.platform == "win32" or os.uname().machine != "x86_64":
        return False
    from importlib import metadata

    # Majors before take the number of Winch for that of another compiler.
    with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
        return int(metadata.version("wasmtime").partition(".")[0]) >= _WINCH_SINCE
    return False


process = Process()


def _before_fork() -> None:
    # An exception of a signal handler that comes meanwhile is shown, and the process forks. So it is in any such hook.
    process.settle()


def _after_fork_in_child() -> None:
    global process
    process = process.successor()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)
