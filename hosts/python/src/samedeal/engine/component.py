"""The core module of the component, compiled or loaded once per process, when it is first needed.

wasmtime-py takes about a microsecond for each list element that it passes to or from a component. So this host takes
the core module that does the work out of the component and calls it by the canonical ABI (`core.py`, `abi.py`). A test
compares the results of both ways.
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
"""The folder into which a build puts the component and the generated modules."""

COMPONENT = os.path.join(PACKAGE, "samedeal.wasm")

_WINCH_SINCE = 45
"""The first major version of wasmtime whose C API selects Winch. All golden cases were run on 45 and later versions."""

for _each in (COMPONENT, os.path.join(PACKAGE, "generated", "__init__.py")):
    if not os.path.isfile(_each):
        raise ImportError(
            f"{_each} is missing: this installation lacks what a build makes. Install a wheel of samedeal, "
            "or run `cargo xtask build` in a checkout."
        )


class Process:
    """The compiled component of this process, and its compilation. A forked child gets a new `Process`.

    The first process on a machine begins with code of Winch, where Winch can be used (see `_run`): this code is ready
    in a quarter of the time. Meanwhile, a thread compiles faster code with Cranelift and caches it for later processes.
    New instances use the faster code as soon as it is there.
    """

    def __init__(self, codes: dict[bool, tuple[bytes, bytes]] | None = None, *, forked: bool = False) -> None:
        self._codes = codes or {}
        """Machine code that was compiled here or in a parent, by whether the address space has a limit."""
        self._forked = forked
        self._compiled: Compiled | None = None
        self._thread: threading.Thread | None = None
        self._not_kept: str | None = None
        """The reason why the code that was compiled here is not cached."""
        self._first = threading.Event()
        """Set when the thread has compiled for the first time, or has failed."""
        # Guards objects that are made once in a process: the compiled component, and the `_Home` of each
        # `instance.Engine`.
        self.lock = threading.RLock()

    def compiled(self) -> Compiled:
        """The compiled component for new instances. The first call makes it; faster code may replace it later."""
        with self.lock:
            return self._compiled or self._begin()

    def settle(self) -> None:
        """Waits for the thread that compiles.

        Called before a fork, because the child has no such thread: it would wait for ever for locks that the thread
        held in the engine, and it would have to compile again.
        """
        if self._thread is not None:
            # A signal handler may call this before the thread was started.
            with contextlib.suppress(RuntimeError):
                self._thread.join()

    def kept_at(self) -> tuple[str | None, str]:
        """The file in which the machine code is cached for later processes; if there is none, None and the reason."""
        self.compiled()
        self.settle()
        try:
            path = kept_at(COMPONENT, _is_space_limited())
        except (OSError, RuntimeError, ValueError) as error:
            return None, str(error)
        return (path, "") if os.path.isfile(path) else (None, self._not_kept or f"{path} was deleted")

    def successor(self) -> Process:
        """The `Process` of a forked child, which takes over the machine code and nothing else."""
        return Process(self._codes, forked=True)

    def _begin(self) -> Compiled:
        limited = _is_space_limited()
        if self._thread is None:
            code = self._codes.get(limited)
            self._compiled = loaded(code, limited) if code else kept(COMPONENT, limited)
            if self._compiled is not None:
                return self._compiled
            # No daemon thread: a program that ends meanwhile waits for it, so that the next program finds cached code.
            self._thread = threading.Thread(target=self._run, args=(COMPONENT, limited), name="samedeal-compile")
            try:
                self._thread.start()
            except RuntimeError:
                # No thread can start (any more), so everything is done here.
                self._thread = None
                return self._compile(COMPONENT, limited)
        # NumPy is imported while the thread compiles: the import is half of the time to the first index.
        import numpy  # noqa: F401

        self._first.wait()
        # If the compilation failed in the thread, it fails here again, and the caller gets the error.
        return self._compiled or self._compile(COMPONENT, limited)

    def _run(self, component: str, limited: bool) -> None:
        with contextlib.suppress(Exception):
            try:
                # Winch is used only with a cache, since each process would otherwise compile twice, and only without a
                # limit of the address space, in which two compilers may not fit.
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
    """Whether Winch in this wasmtime compiles the whole component, with its vector instructions, for this processor."""
    if sys.platform == "win32" or os.uname().machine != "x86_64":
        return False
    from importlib import metadata

    # In earlier major versions, the number of Winch means another compiler.
    with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
        return int(metadata.version("wasmtime").partition(".")[0]) >= _WINCH_SINCE
    return False


process = Process()


def _before_fork() -> None:
    # If a signal handler raises an exception meanwhile, Python prints it, and the process forks nevertheless.
    process.settle()


def _after_fork_in_child() -> None:
    global process
    process = process.successor()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)
