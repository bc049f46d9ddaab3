"""The component's core module, compiled once per process.

wasmtime-py crosses the component boundary at about a microsecond per list element. So this host takes the one core
module that does the work out of the component and calls it by the canonical ABI (`_core.py`, `_deal.py`); a test holds
the two ways against each other.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakSet

import wasmtime

PATH = Path(__file__).with_name("samedeal.wasm")
if not PATH.is_file():
    raise ImportError(
        f"{PATH} is missing: the component is not in this installation. Install a wheel of samedeal, "
        "or run `cargo xtask build` in a checkout."
    )

INTERFACE = "samedeal:deal/sampling@0.1.0"

# The component answers with out-of-memory where a call finds less than 64 KiB; memory grows by pages of 64 KiB, and
# blocks have headers. With less than this even the name of the order would find no room, which traps.
_HEADROOM = 2**18


# One instance serves one sampler here, so its handle is the thing itself, which the component never drops. In
# WebAssembly and not in Python: what interrupts a callback into Python gets lost in the engine, and so does the result.
_HANDLES = """(module
  (func (export "[resource-new]sampler") (param i32) (result i32) local.get 0)
  (func (export "[resource-drop]sampler") (param i32) unreachable))"""


class Compiled(NamedTuple):
    """What all instances of a process share."""

    engine: wasmtime.Engine
    core: wasmtime.Module
    handles: wasmtime.Module
    least_memory: int
    """Bytes of memory that a sampler cannot do without: what an instance begins with, and what a call needs."""

    def instantiate(self, store: wasmtime.Store) -> wasmtime.Instance:
        """An instance of the core module."""
        linker = wasmtime.Linker(self.engine)
        linker.define_instance(store, f"[export]{INTERFACE}", wasmtime.Instance(store, self.handles, []))
        return linker.instantiate(store, self.core)


class Process:
    """The compiled component of this process, and what has been made from it. A forked child gets a new one."""

    def __init__(self, artefacts: list[bytes] | None = None, *, forked: bool = False) -> None:
        self.owned: WeakSet[Any] = WeakSet()
        self._artefacts = artefacts
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
        """For a forked child: nothing made before the fork is used again, nor taken apart."""
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
        engine = wasmtime.Engine(config)
        if self._artefacts is None:
            modules = [wasmtime.Module(engine, source) for source in (core_module(PATH.read_bytes()), _HANDLES)]
            # Kept in memory for forked children, never in a file: loading it is running it.
            self._artefacts = [bytes(module.serialize()) for module in modules]
        else:
            modules = [wasmtime.Module.deserialize(engine, artefact) for artefact in self._artefacts]
        core, handles = modules
        memory = next(export.type for export in core.exports if export.name == "memory")
        assert isinstance(memory, wasmtime.MemoryType)
        self._compiled = Compiled(engine, core, handles, (memory.limits.min << 16) + _HEADROOM)
        return self._compiled


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
    raise ImportError(f"{PATH} holds no core module")


process = Process()


def _after_fork_in_child() -> None:
    global process
    process = process.successor()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
