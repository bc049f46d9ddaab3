"""The core module of the component, compiled once per process, when it is first needed.

wasmtime-py crosses the component boundary at about a microsecond per list element. So this host takes the one core
module that does the work out of the component and calls it by the canonical ABI (`core.py`, `abi.py`); a test holds
the two ways against each other.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakSet

import wasmtime
from wasmtime import _bindings as capi
from wasmtime import _ffi

from . import cache

PACKAGE = Path(__file__).parents[1]
"""Where a build puts what it makes."""

COMPONENT = PACKAGE / "samedeal.wasm"

for _each in (COMPONENT, PACKAGE / "bindings" / "__init__.py"):
    if not _each.is_file():
        raise ImportError(
            f"{_each} is missing: this installation lacks what a build makes. Install a wheel of samedeal, "
            "or run `cargo xtask build` in a checkout."
        )

# The component answers with out-of-memory where a call finds less than 64 KiB; memory grows by pages of 64 KiB, and
# blocks have headers. With less than this even the name of the order would find no room, which traps.
_HEADROOM = 2**18


# One instance serves one resource here, so its handle is the thing itself, which the component never drops. In
# WebAssembly and not in Python: what interrupts a callback into Python gets lost in the engine, and so does the result.
_HANDLES = """(module
  (func (export "new") (param i32) (result i32) local.get 0)
  (func (export "drop") (param i32) unreachable))"""


class Compiled(NamedTuple):
    """What all instances of the component share in a process."""

    engine: wasmtime.Engine
    core: wasmtime.Module
    handles: wasmtime.Module
    imports: tuple[str, ...]
    """For each import of the core module, the export of `handles` that it gets."""
    least_memory: int
    """Bytes of memory that an instance cannot do without: what it begins with, and what a call needs."""
    most_memory: int
    """Bytes of memory that an instance can use."""
    reserved: int
    """Bytes of address space that an instance reserves."""

    def instantiate(self, store: wasmtime.Store) -> wasmtime.Instance:
        """An instance of the core module."""
        handles = wasmtime.Instance(store, self.handles, []).exports(store)
        return wasmtime.Instance(store, self.core, [handles[name] for name in self.imports])


class Process:
    """The compiled component of this process, and what has been made from it. A forked child gets a new one."""

    def __init__(self, artefacts: dict[bool, list[bytes]] | None = None, *, forked: bool = False) -> None:
        self.owned: WeakSet[Any] = WeakSet()
        self._artefacts = artefacts or {}
        """The machine code, by whether the address space has a limit."""
        self._forked = forked
        self._compiled: Compiled | None = None
        # Held while something is made that is made once: it nests, samplers upon the compiled component.
        self.lock = threading.RLock()

    def compiled(self) -> Compiled:
        """Compiles at the first call, and imports NumPy meanwhile: each is half of the time to the first index."""
        with self.lock:
            if self._compiled is None and "numpy" not in sys.modules:
                thread = threading.Thread(target=self._try_to_compile, name="samedeal-compile")
                # Where no thread can start, one comes after the other.
                with contextlib.suppress(RuntimeError):
                    thread.start()
                import numpy  # noqa: F401

                if thread.ident is not None:
                    thread.join()
            return self._compiled or self._compile()

    def successor(self) -> Process:
        """For a forked child, or an end: nothing made before is used again, nor taken apart."""
        things = [*self.owned, *(self._compiled or ())]
        for thing in things:
            # Another thread of the parent may have been inside of it, so that its locks stay closed here for ever.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
        return Process(self._artefacts, forked=True)

    def _try_to_compile(self) -> None:
        # What fails here fails again in the thread that is waiting for it, which can tell.
        with contextlib.suppress(Exception):
            self._compile()

    def _compile(self) -> Compiled:
        config = wasmtime.Config()
        # The threads of a parallel compilation do not outlive a fork: a child would wait for them for ever.
        config.parallel_compilation = not self._forked
        reserved, limited = 2**32, _is_space_limited()
        if limited:
            # The default, 4 GiB, is all that 32 bits can reach, so that no access needs a check: up to 40 % faster.
            reserved = 2**23
            # `Config` of earlier versions has no names for these.
            capi.wasmtime_config_memory_reservation_set(config.ptr(), reserved)
            capi.wasmtime_config_memory_guard_size_set(config.ptr(), 2**16)
            capi.wasmtime_config_memory_reservation_for_growth_set(config.ptr(), 2**26)
        artefacts = self._artefacts.get(limited)
        engine = wasmtime.Engine(config)
        if artefacts is None:
            sources = (core_module(COMPONENT.read_bytes()), _HANDLES.encode())
            modules, codes = zip(*(_made(engine, source, limited) for source in sources), strict=True)
            # For forked children, whose engines have no threads.
            self._artefacts[limited] = [*codes]
        else:
            modules = tuple(wasmtime.Module.deserialize(engine, artefact) for artefact in artefacts)
        core, handles = modules
        imports = tuple("new" if str(wanted.name).startswith("[resource-new]") else "drop" for wanted in core.imports)
        memory = next(export.type for export in core.exports if export.name == "memory")
        assert isinstance(memory, wasmtime.MemoryType)
        least, most = memory.limits.min << 16, (memory.limits.max or 2**16) << 16
        self._compiled = Compiled(engine, core, handles, imports, least + _HEADROOM, most, reserved)
        return self._compiled


def _made(engine: wasmtime.Engine, source: bytes, limited: bool) -> tuple[wasmtime.Module, bytes]:
    """The module, from the machine code of an earlier process if there is any, else compiled; and its machine code."""
    library = Path(_ffi.filename)
    found = library.stat()
    # Which library it is, since a process of another one may have the same folder. wasmtime itself refuses code of
    # another major version, of other options, and for a processor that has more than this one.
    of = f"{library.parent.name} {found.st_size} {found.st_mtime_ns} {limited}\n".encode()
    code = cache.load(of + source)
    if code is not None:
        with contextlib.suppress(wasmtime.WasmtimeError):
            return wasmtime.Module.deserialize(engine, code), code
    module = wasmtime.Module(engine, source)
    code = bytes(module.serialize())
    cache.keep(of + source, code)
    return module, code


def _is_space_limited() -> bool:
    """Whether the address space of this process has a limit (`ulimit -v`)."""
    if sys.platform in ("emscripten", "wasi", "win32"):
        return False
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def core_module(component: bytes) -> bytes:
    """The first core module of a component binary: the one that the interface is compiled into.

    A component is an 8-byte preamble and sections: an id, the size as LEB128, the content. Id 1 is a core module.
    """
    at = 8
    while at < len(component):
        section, at = component[at], at + 1
        size = shift = 0
        while True:
            byte, at = component[at], at + 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if section == 1:
            return component[at : at + size]
        at += size
    raise ImportError("a component of this installation holds no core module; install samedeal again")


process = Process()


def _after_fork_in_child() -> None:
    global process
    process = process.successor()


@atexit.register
def _at_exit() -> None:
    # Where PyTorch was imported first, the interpreter takes wasmtime apart before what is made of it. Its destructors
    # would fail, and say so.
    process.successor()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
