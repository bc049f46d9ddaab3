"""Machine code of the modules of the component: compiled here, or cached by an earlier process."""

from __future__ import annotations

import os
import zlib

from . import cache, capi

# The module that the component imports: `new` turns an object into a handle, `drop` frees a handle. One instance serves
# one resource here, so the handle is the object's own number, and the component never drops a handle. The module is
# WebAssembly, not Python: an exception that interrupts a Python callback is lost in the engine, and so is the result.
# (module
#   (func (export "new") (param i32) (result i32) local.get 0)
#   (func (export "drop") (param i32) unreachable))
HANDLES = bytes.fromhex(
    "0061736d01000000010a0260017f017f60017f000303020001070e02036e657700000464726f7000010a0a02040020000b0300000b"
)

# Bytes that a call needs beside the initial memory. The component fails with out-of-memory if a call finds less than 64
# KiB free; memory grows by pages of 64 KiB, and blocks have headers. With less than this, there would be no room even
# for the name of an order, and the component would trap.
_HEADROOM = 2**18


class Compiled:
    """The core module of a component and `HANDLES`, compiled by one engine: instances are made from both."""

    def __init__(
        self, engine: capi.Engine, core: capi.Module, handles: capi.Module, facts: bytes, limited: bool
    ) -> None:
        self.engine = engine
        self._core = core
        self._handles = handles
        self._facts = facts
        least, most, *names = facts.decode().split(" ")
        self._imports = ["new" if name.startswith("[resource-new]") else "drop" for name in names]
        self.least_memory = (int(least) << 16) + _HEADROOM
        """The fewest bytes of memory that an instance needs: its initial memory and `_HEADROOM`."""
        self.most_memory = int(most) << 16
        """The most bytes of memory that an instance can use."""
        self.reserved = _reserved(limited)
        """Bytes of address space that an instance reserves."""

    def instantiate(self, memory_limit: int) -> tuple[capi.Store, capi.Instance]:
        """An instance of the core module, in a store of its own."""
        store = capi.Store(self.engine, memory_limit)
        handles = store.instantiate(self._handles)
        exports = {name: handles.export(name) for name in ("new", "drop")}
        return store, store.instantiate(self._core, [exports[name] for name in self._imports])

    def code(self) -> tuple[bytes, bytes]:
        """The machine code: that of `HANDLES`, after a line about the component, and that of the core module."""
        return self._facts + b"\n" + self._handles.code(), self._core.code()


def compiled(component: str, limited: bool, *, parallel: bool = False, winch: bool = False) -> Compiled:
    """Compiles a component.

    `limited` says whether the address space has a limit. `parallel` compiles on threads that stay: a forked child does
    not have these threads, and would wait for them for ever. `winch` compiles in a quarter of the time, to slower code.
    """
    with open(component, "rb") as file:
        source = core_module(file.read())
    engine = _engine(limited, len(source), parallel=parallel, winch=winch)
    core, handles = (capi.Module.compiled(engine, module) for module in (source, HANDLES))
    facts = " ".join(map(str, [*core.memory(), *core.imports()]))
    return Compiled(engine, core, handles, facts.encode(), limited)


def loaded(code: tuple[bytes, str | bytes], limited: bool) -> Compiled | None:
    """A component from machine code that another engine made; None if the engine refuses it."""
    # Code in a file holds the first content of a memory already, so that the engine makes no file for it.
    engine = _engine(limited, 0 if isinstance(code[1], str) else len(code[1]))
    facts, _, small = code[0].partition(b"\n")
    try:
        core, handles = (capi.Module.loaded(engine, part) for part in (code[1], small))
    except capi.EngineError:
        return None
    return Compiled(engine, core, handles, facts, limited)


def kept(component: str, limited: bool) -> Compiled | None:
    """The component from the cache; None if no earlier process stored it there."""
    try:
        key = _key(component, limited)
    except OSError:
        return None
    return cache.load(key, lambda *code: loaded(code, limited))


def keep(component: str, code: tuple[bytes, bytes], limited: bool) -> str | None:
    """Caches machine code for later processes. Returns why that is not possible; None if the code is cached."""
    try:
        key = _key(component, limited)
    except OSError as error:
        return str(error)
    return cache.keep(key, *code)


def kept_at(component: str, limited: bool) -> str:
    """The cache file of a component's code, which may not exist yet. If there is no folder, an `OSError` says why."""
    return cache.path_of(_key(component, limited))


def _reserved(limited: bool) -> int:
    # Without a limit of the address space, an instance reserves all addresses of 32 bits, so that no access to its
    # memory needs a check: up to 40 % faster.
    return 2**23 if limited else 2**32


def _engine(limited: bool, written: int, *, parallel: bool = False, winch: bool = False) -> capi.Engine:
    # The engine writes the first content of a memory into a file in memory, from which each instance maps it in half of
    # the time of a copy. The file has at most `written` bytes. Where files may not have so many, instances get copies.
    fits = written <= cache.most_bytes()
    reserved = _reserved(limited) if limited else None
    return capi.Engine(winch=winch, parallel=parallel, reserved=reserved, copy_on_write=fits)


def _key(component: str, limited: bool) -> bytes:
    """The key under which the code of a component is cached.

    The component is identified by its size and a checksum. A cryptographic digest would take five times as long and
    protect no better: a user who can change the component can change this file, too.
    """
    # The key has the exact version of the engine, its settings and the component, as in the Rust host
    # (`hosts/rust/src/cache.rs`). wasmtime itself refuses code of another major version, of other options, and for a
    # processor with features that this one lacks.
    machine = os.path.basename(os.path.dirname(capi.FILE))
    return f"3 {machine} {_engine_version()} {limited} {_checksum(component)}".encode()


def _engine_version() -> str:
    """The version of wasmtime, from the name of the folder that pip makes beside a package.

    `importlib.metadata` would take milliseconds. Without such a folder, the version is unknown, and nothing is cached.
    """
    packages = os.path.dirname(os.path.dirname(os.path.dirname(capi.FILE)))
    found = [name for name in os.listdir(packages) if name.startswith("wasmtime-") and name.endswith(".dist-info")]
    if not found:
        raise FileNotFoundError(f"{packages} does not name the version of wasmtime")
    return " ".join(sorted(found))


def _checksum(path: str) -> str:
    size = checksum = 0
    chunk = bytearray(2**16)
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(chunk):
            checksum = zlib.crc32(memoryview(chunk)[:count], checksum)
            size += count
    return f"{size} {checksum:08x}"


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
