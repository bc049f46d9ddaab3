"""One instance of the core module, called through wasmtime's C API and read by the canonical ABI.

An unchecked call with a kept argument buffer costs about a microsecond. What it does not check (number and types of
arguments) is checked here by whoever writes a call down, and by the test that holds every call against wasmtime-py's
component API.
"""

from __future__ import annotations

import ctypes
from ctypes import addressof, c_size_t, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple

from . import capi
from . import component as components
from .errors import OutOfMemoryError, OutOfRangeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from struct import Struct

    import numpy as np
    from numpy.typing import NDArray


# It is called most, so it declares no arguments and gets objects of ctypes that were made before: nothing is converted.
_call = capi.function("wasmtime_func_call_unchecked", c_void_p)
_memory_data = capi.function("wasmtime_memory_data", c_void_p, c_void_p, c_void_p)
_memory_size = capi.function("wasmtime_memory_data_size", c_size_t, c_void_p, c_void_p)

# Arguments and results are 16 bytes each; the canonical ABI passes at most 16 arguments.
_SLOTS = 16
_NUM_SLOTS = c_size_t(_SLOTS)

# Memory that lists leave free, so that the component can answer: it checks for half of this before it keeps anything.
_ROOM_TO_ANSWER = 2**17

# Bytes of an argument that always fit: half of what the component checks for before it keeps anything.
_ALWAYS = 2**15

# Names and values are at most this long; room for them is part of the least memory.
_SMALL = 2**12

_MASK32 = 2**32 - 1

_MISSING: set[str] = set()
"""Names of post-returns that the component does not have: each instance would look for them."""


class Function(NamedTuple):
    """A function of the instance and its post-return, as addresses that hold for as long as the instance."""

    address: c_void_p
    post: c_void_p | None


class NoRoomError(Exception):
    """There is no memory for an argument."""


class TrapError(RuntimeError):
    """The component ended in the middle of a call."""


class Core:
    """One instance in a store of its own, for one resource and one caller at a time.

    An instance costs a tenth of a millisecond and keeps resources apart: each has its memory limit, gives its memory
    back when it goes (linear memory never shrinks), and a trap ends it alone.
    """

    def __init__(self, memory_limit: int, field: str = "memory_limit", value: str = "") -> None:
        """Makes an instance. If there is no address space for it, the error names the field and its value."""
        compiled = components.process.compiled()
        if memory_limit < compiled.least_memory:
            raise OutOfRangeError("memory_limit", str(memory_limit), f"{compiled.least_memory} or more bytes")
        self._most_memory = min(memory_limit, compiled.most_memory)
        try:
            self._store, self._instance = compiled.instantiate(memory_limit)
        except capi.EngineError as error:
            # All imports are given, so that only a lack of address space can be the cause.
            reason = str(error).partition("\n")[0]
            space = "no address space (`ulimit -v`) is left, of which each reserves"
            allowed = f"fewer objects at a time: {space} {compiled.reserved >> 20} MiB ({reason})"
            raise OutOfMemoryError(field, value or str(memory_limit), allowed) from error
        self.whole = False
        """Whether every call has run to its end, with a result or a failure; if not, this must not be used again."""
        self.give: Callable[[int], None] | None = None
        """Gives what a resource of this number asks for, if resources of this instance do."""
        self._context = self._store.context
        # The arguments, and last where a trap is put: an address too.
        self._arguments = (c_uint64 * (2 * _SLOTS + 1))()
        self._slots = memoryview(self._arguments).cast("B").cast("Q")
        at = addressof(self._arguments)
        self._call_of = c_void_p(self._context), c_void_p(at), c_void_p(at + 16 * _SLOTS)
        """Addresses that every call takes: the store, the arguments and the trap."""
        self.may_move = compiled.reserved < 2**32
        """Whether the memory may move when it grows: not where all that it can become is reserved."""
        self._exports: list[Any] = []
        self.functions: dict[str, Function] = {}
        """Functions that were called, by their names. Each is looked for once."""
        self._memory_at = self._export("memory") or 0
        self._base = self._size = 0
        self.refresh()

    def function(self, name: str) -> Function:
        """A function that the component exports."""
        found = self.functions.get(name)
        if found is None:
            after = f"cabi_post_{name}"
            function, post = self._export(name), None if after in _MISSING else self._export(after)
            if post is None:
                _MISSING.add(after)
            if function is None:
                raise RuntimeError(f"the component has no function {name}")
            found = self.functions[name] = Function(c_void_p(function), None if post is None else c_void_p(post))
        return found

    def _export(self, name: str) -> int | None:
        """Where an export is, for as long as the instance."""
        item = self._instance.export(name)
        if item is None:
            return None
        self._exports.append(item)
        return addressof(item) + capi.OF

    def call(self, address: c_void_p, *arguments: int) -> int:
        """Calls the function at this address; its result, if it has one, as 64 bits."""
        slots = self._slots
        at = 0
        for argument in arguments:
            slots[at] = argument
            at += 2
        context, arguments_at, trap_at = self._call_of
        error = _call(context, address, arguments_at, _NUM_SLOTS, trap_at)
        if error or slots[-1]:
            raise self._trapped(error)
        return slots[0]

    def allocate(self, size: int, align: int) -> int:
        """A block of the instance's memory, for the component to take over, or a `NoRoomError`."""
        if size == 0:
            return align
        if size > _SMALL and size > self.room():
            raise NoRoomError
        try:
            at = self.call(self.function("cabi_realloc").address, 0, 0, align, size) & _MASK32
        except TrapError as error:
            # So it does where the system has no memory.
            raise NoRoomError from error
        self.refresh()
        return at

    def room(self) -> int:
        """How many bytes an argument may take."""
        # Memory that has grown to its end is not full: what is small goes into what was given back.
        return max(_ALWAYS, self._room_to_grow())

    def _room_to_grow(self) -> int:
        return self._most_memory - int(_memory_size(self._context, self._memory_at)) - _ROOM_TO_ANSWER

    def refresh(self) -> None:
        """Finds the memory after a call: it may have grown, and moved with it."""
        base = _memory_data(self._context, self._memory_at)
        if base != self._base:
            self._map(base)

    def _map(self, base: int) -> None:
        import numpy

        self._base = base
        self._size = _memory_size(self._context, self._memory_at)
        self._bytes = memoryview((ctypes.c_uint8 * self._size).from_address(base)).cast("B")
        self._int64 = numpy.frombuffer(self._bytes, dtype=numpy.int64)
        self._uint32 = numpy.frombuffer(self._bytes, dtype=numpy.uint32)

    def _reach(self, end: int) -> None:
        """Makes the views reach to `end`, which the component says is within its memory."""
        if end > self._size:
            self._map(_memory_data(self._context, self._memory_at))
            if end > self._size:
                raise RuntimeError(
                    "the component handed out memory that it does not have; this is a defect of samedeal"
                )

    def unpack(self, layout: Struct, pointer: int) -> tuple[Any, ...]:
        """A record."""
        if pointer + layout.size > self._size:
            self._reach(pointer + layout.size)
        return layout.unpack_from(self._bytes, pointer)

    def view(self, pointer: int, length: int) -> memoryview:
        """A run of bytes, to read or write. The next call may overwrite it."""
        self._reach(pointer + length)
        return self._bytes[pointer : pointer + length]

    def u64s(self, pointer: int, count: int) -> NDArray[np.int64]:
        """A view of a `list<u64>` whose values fit in 53 bits. The next call may overwrite it."""
        if pointer + 8 * count > self._size:
            self._reach(pointer + 8 * count)
        return self._int64[pointer >> 3 : (pointer >> 3) + count]

    def u32s(self, pointer: int, count: int) -> NDArray[np.uint32]:
        """A view of a `list<u32>`. The next call may overwrite it."""
        self._reach(pointer + 4 * count)
        return self._uint32[pointer >> 2 : (pointer >> 2) + count]

    def string(self, pointer: int, length: int) -> str:
        """A `string`."""
        return str(self.view(pointer, length), "utf-8")

    def _trapped(self, error: int | None) -> TrapError:
        reason = capi.error_text(error) if error else capi.trap_text(self._slots[-1])
        self._slots[-1] = 0
        return TrapError(f"the component trapped; this is a defect of samedeal, please report it. {reason}")
