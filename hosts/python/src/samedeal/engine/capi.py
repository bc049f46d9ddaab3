"""wasmtime's C API: the functions that this host calls, in the library that the package `wasmtime` brings.

The package itself is imported only if `_found` does not find its library. The package declares two thousand functions
and types, which takes longer than the rest of `import samedeal`, and its calls cost 60 to 140 microseconds. Here,
objects of the library are addresses. The headers of the C API say who frees which object. The memory layouts that are
used here are the same in every version that the wheel allows.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from ctypes import addressof, byref, c_bool, c_char_p, c_int64, c_size_t, c_uint8, c_uint64, c_void_p
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = {"linux": "_libwasmtime.so", "darwin": "_libwasmtime.dylib"}
"""The file name of the library, on systems where its folder has the system's name for the processor."""


def _found() -> str:
    """The file of the library."""
    spec = find_spec("wasmtime")
    if sys.platform != "win32" and spec is not None and sys.platform in _NAMES and sys.maxsize > 2**32:
        machine = os.uname().machine.replace("arm64", "aarch64")
        for folder in spec.submodule_search_locations or ():
            file = os.path.join(folder, f"{sys.platform}-{machine}", _NAMES[sys.platform])
            if os.path.isfile(file):
                return file
    # The package itself knows other places, and raises an error if the library is nowhere.
    from wasmtime import _ffi

    return str(_ffi.filename)


FILE = _found()
"""The file of the library."""

_library = ctypes.CDLL(FILE)


def function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the library."""
    return ctypes.CFUNCTYPE(result, *arguments)((name, _library))


class _Bytes(ctypes.Structure):
    """An array of bytes that the library allocated."""

    _fields_ = (("size", c_size_t), ("data", c_void_p))

    size: int
    data: int | None


_bytes_delete = function("wasm_byte_vec_delete", None, c_void_p)
_error_message = function("wasmtime_error_message", None, c_void_p, c_void_p)
_error_delete = function("wasmtime_error_delete", None, c_void_p)
_trap_message = function("wasm_trap_message", None, c_void_p, c_void_p)
_trap_delete = function("wasm_trap_delete", None, c_void_p)
_config_new = function("wasm_config_new", c_void_p)
_parallel_set = function("wasmtime_config_parallel_compilation_set", None, c_void_p, c_bool)
_strategy_set = function("wasmtime_config_strategy_set", None, c_void_p, c_uint8)
_reservation_set = function("wasmtime_config_memory_reservation_set", None, c_void_p, c_uint64)
_guard_set = function("wasmtime_config_memory_guard_size_set", None, c_void_p, c_uint64)
_growth_set = function("wasmtime_config_memory_reservation_for_growth_set", None, c_void_p, c_uint64)
_copy_on_write_set = function("wasmtime_config_memory_init_cow_set", None, c_void_p, c_bool)
_engine_new = function("wasm_engine_new_with_config", c_void_p, c_void_p)
_engine_delete = function("wasm_engine_delete", None, c_void_p)
_module_new = function("wasmtime_module_new", c_void_p, c_void_p, c_char_p, c_size_t, c_void_p)
_module_serialize = function("wasmtime_module_serialize", c_void_p, c_void_p, c_void_p)
_module_deserialize = function("wasmtime_module_deserialize", c_void_p, c_void_p, c_char_p, c_size_t, c_void_p)
_module_deserialize_file = function("wasmtime_module_deserialize_file", c_void_p, c_void_p, c_char_p, c_void_p)
_module_imports = function("wasmtime_module_imports", None, c_void_p, c_void_p)
_module_exports = function("wasmtime_module_exports", None, c_void_p, c_void_p)
_module_delete = function("wasmtime_module_delete", None, c_void_p)
_imports_delete = function("wasm_importtype_vec_delete", None, c_void_p)
_import_name = function("wasm_importtype_name", c_void_p, c_void_p)
_exports_delete = function("wasm_exporttype_vec_delete", None, c_void_p)
_export_type = function("wasm_exporttype_type", c_void_p, c_void_p)
_as_memory = function("wasm_externtype_as_memorytype_const", c_void_p, c_void_p)
_memory_least = function("wasmtime_memorytype_minimum", c_uint64, c_void_p)
_memory_most = function("wasmtime_memorytype_maximum", c_bool, c_void_p, c_void_p)
_store_new = function("wasmtime_store_new", c_void_p, c_void_p, c_void_p, c_void_p)
_store_context = function("wasmtime_store_context", c_void_p, c_void_p)
_store_limiter = function("wasmtime_store_limiter", None, c_void_p, c_int64, c_int64, c_int64, c_int64, c_int64)
_store_delete = function("wasmtime_store_delete", None, c_void_p)
_instance_new = function("wasmtime_instance_new", c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p)
_export_get = function("wasmtime_instance_export_get", c_bool, c_void_p, c_void_p, c_char_p, c_size_t, c_void_p)

EXTERN = 32
"""The size of an export in bytes: its kind and, from byte `OF` on, its contents."""
OF = 8
INSTANCE = 16
"""The size of an instance in bytes."""
_WINCH = 2
"""The number of the compiler Winch in the C API."""

_Extern = c_uint64 * (EXTERN // 8)

_life = 0
"""Increased by 1 in a forked child and at the end of the process. Objects that were made before are then not freed."""


class EngineError(Exception):
    """An error of the engine, with the text of wasmtime."""


def _message(of: Any, thing: int, delete: Any) -> str:
    """The text of an error or a trap. Frees the error or the trap."""
    text = _Bytes()
    of(thing, byref(text))
    said = ctypes.string_at(text.data, text.size).rstrip(b"\0").decode(errors="replace") if text.data else ""
    _bytes_delete(byref(text))
    delete(thing)
    return said


def error_text(error: int) -> str:
    """The text of an error. Frees the error."""
    return _message(_error_message, error, _error_delete)


def trap_text(trap: int) -> str:
    """The text of a trap. Frees the trap."""
    return _message(_trap_message, trap, _trap_delete)


def _check(error: int | None) -> None:
    if error:
        raise EngineError(error_text(error))


class _Owned:
    """An object of the library, which is freed with this object of Python.

    The library's object is not freed in a forked child: a thread of the parent may have held its locks, which then stay
    locked for ever. It is not freed at the end of the process either, where other threads may still use it.
    """

    _life = -1

    def __init__(self, address: int, delete: Any) -> None:
        self.address = address
        self._delete = delete
        self._life = _life

    def __del__(self) -> None:
        # At the end of the interpreter, `_life` of the module is None, so nothing is freed.
        if self._life == _life:
            self._delete(self.address)


class Engine(_Owned):
    """An engine of wasmtime: the compiler of modules and its settings."""

    def __init__(self, *, winch: bool, parallel: bool, reserved: int | None, copy_on_write: bool) -> None:
        """Makes an engine that compiles with Winch or Cranelift, on threads of its own or on the caller's thread.

        `reserved` is the address space that each memory reserves at first, in bytes; if None, 4 GiB and more. With
        `copy_on_write`, all instances map one file with their first content; without it, each gets a copy.
        """
        config = _config_new()
        _parallel_set(config, parallel)
        _copy_on_write_set(config, copy_on_write)
        if winch:
            _strategy_set(config, _WINCH)
        if reserved is not None:
            _reservation_set(config, reserved)
            _guard_set(config, 2**16)
            _growth_set(config, 2**26)
        # The engine takes over the configuration, which therefore is not freed here.
        super().__init__(_engine_new(config), _engine_delete)


class Module(_Owned):
    """A compiled module."""

    def __init__(self, make: Any, engine: Engine, *given: Any) -> None:
        made = c_void_p()
        _check(make(engine.address, *given, byref(made)))
        assert made.value is not None
        super().__init__(made.value, _module_delete)

    @classmethod
    def compiled(cls, engine: Engine, source: bytes) -> Module:
        """Compiles WebAssembly."""
        return cls(_module_new, engine, source, len(source))

    @classmethod
    def loaded(cls, engine: Engine, code: bytes | str) -> Module:
        """Loads machine code that `Module.code` gave: bytes, or the path of a file, which must never change.

        To load machine code is to run it.
        """
        if isinstance(code, str):
            return cls(_module_deserialize_file, engine, os.fsencode(code))
        return cls(_module_deserialize, engine, code, len(code))

    def code(self) -> bytes:
        """The machine code of the module."""
        found = _Bytes()
        _check(_module_serialize(self.address, byref(found)))
        code = ctypes.string_at(found.data or 0, found.size)
        _bytes_delete(byref(found))
        return code

    def imports(self) -> list[str]:
        """The names of the module's imports, without the names of the modules that they come from."""
        found = _Bytes()
        _module_imports(self.address, byref(found))
        names = []
        for item in _items(found):
            name = _Bytes.from_address(_import_name(item))
            names.append(ctypes.string_at(name.data, name.size).decode() if name.data else "")
        _imports_delete(byref(found))
        return names

    def memory(self) -> tuple[int, int]:
        """The smallest and the largest number of pages (of 64 KiB) of the module's memory."""
        found, most = _Bytes(), c_uint64()
        _module_exports(self.address, byref(found))
        kinds = (_as_memory(_export_type(item)) for item in _items(found))
        memory = next(kind for kind in kinds if kind)
        limits = _memory_least(memory), most.value if _memory_most(memory, byref(most)) else 2**16
        _exports_delete(byref(found))
        return limits


def _items(found: _Bytes) -> list[int]:
    """The addresses in a list that the library allocated."""
    return list((c_void_p * found.size).from_address(found.data)) if found.data else []


class Store(_Owned):
    """A store of wasmtime: owns instances and their memory, and frees them with itself."""

    def __init__(self, engine: Engine, memory_limit: int) -> None:
        """Makes an empty store, in which each memory grows up to `memory_limit` bytes."""
        super().__init__(_store_new(engine.address, None, None), _store_delete)
        _store_limiter(self.address, memory_limit, -1, -1, -1, -1)
        self.context: int = _store_context(self.address)
        """The context, which most functions take in place of the store."""

    def instantiate(self, module: Module, imports: Sequence[Any] = ()) -> Instance:
        """An instance of a module, whose imports are these exports of other instances."""
        made, trap = Instance(self.context), c_void_p()
        given = (_Extern * len(imports))(*imports)
        _check(_instance_new(self.context, module.address, given, len(imports), made.address, byref(trap)))
        if trap.value:
            raise EngineError(trap_text(trap.value))
        return made


class Instance:
    """An instance of a module, which its store owns."""

    def __init__(self, context: int) -> None:
        self._context = context
        self._numbers = (c_uint64 * (INSTANCE // 8))()
        self.address = addressof(self._numbers)

    def export(self, name: str) -> Any:
        """The export of this name, or None."""
        found = _Extern()
        encoded = name.encode()
        return found if _export_get(self._context, self.address, encoded, len(encoded), byref(found)) else None


def _forget() -> None:
    global _life
    _life += 1


# At the end of the process, nothing is freed: threads may still use the library.
atexit.register(_forget)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
