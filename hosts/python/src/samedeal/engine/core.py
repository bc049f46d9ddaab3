"""One instance of the core module, called through wasmtime's C API and read by the canonical ABI.

An unchecked call with a reused argument buffer costs about a microsecond. wasmtime does not check the number and the
types of its arguments. The generated calls must be right, and a test compares every call with wasmtime-py's component
API.
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


# The most frequent call: it declares no arguments and gets prepared ctypes objects, so that nothing is converted.
_call = capi.function("wasmtime_func_call_unchecked", c_void_p)
_memory_data = capi.function("wasmtime_memory_data", c_void_p, c_void_p, c_void_p)
_memory_size = capi.function("wasmtime_memory_data_size", c_size_t, c_void_p, c_void_p)

# Arguments and results are 16 bytes each; the canonical ABI passes at most 16 arguments.
_SLOTS = 16
_NUM_SLOTS = c_size_t(_SLOTS)

# Memory that lists must leave free for an answer. The component requires half of this before it allocates anything.
_ROOM_TO_ANSWER = 2**17

# Bytes of an argument that always fit: half of the free memory that the component requires before an allocation.
_ALWAYS = 2**15

# The most bytes of an argument whose room is not checked, such as a name: the least memory has room for it.
_SMALL = 2**12

_MASK32 = 2**32 - 1

_MISSING: set[str] = set()
"""Names of post-returns that the component does not have, so that only the first instance looks for them."""


class Function(NamedTuple):
    """The addresses of a function and of its post-return, which are valid as long as the instance exists."""

    address: c_void_p
    post: c_void_p | None


class NoRoomError(Exception):
    """There is no memory for an argument."""


class TrapError(RuntimeError):
    """The component ended in the middle of a call."""


class Core:
    """One instance in a store of its own, for one resource and one caller at a time.

    To make an instance takes a tenth of a millisecond. In return, each resource has its own memory limit, its memory is
    freed with the instance (linear memory never shrinks), and a trap ends only one resource.
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
        """Whether all calls so far have run to their end, with a result or a failure; False before the first call.

        If this is False after a call, that call was interrupted, and no further call is allowed.
        """
        self.give: Callable[[int], None] | None = None
        """A function that gives a resource the lengths that the resource asks for. Called with the handle of the
        resource; None if no resource of this instance asks."""
        self._context = self._store.context
        # The slots of the arguments, and a last slot for the address of a trap.
        self._arguments = (c_uint64 * (2 * _SLOTS + 1))()
        self._slots = memoryview(self._arguments).cast("B").cast("Q")
        at = addressof(self._arguments)
        self._call_of = c_void_p(self._context), c_void_p(at), c_void_p(at + 16 * _SLOTS)
        """Addresses that every call takes: the store, the arguments and the trap."""
        self.may_move = compiled.reserved < 2**32
        """Whether the memory may move when it grows. It does not if address space for its largest size is reserved."""
        self._exports: list[Any] = []
        self.functions: dict[str, Function] = {}
        """The functions that were called, by their names, so that each is looked up once."""
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
        """The address of an export, valid as long as the instance exists; None if there is no such export."""
        item = self._instance.export(name)
        if item is None:
            return None
        self._exports.append(item)
        return addressof(item) + capi.OF

    def call(self, address: c_void_p, *arguments: int) -> int:
        """Calls the function at this address. Returns the 64 bits of its result, if it has one."""
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
        """The address of a new block of the instance's memory, for the component to own. Raises a `NoRoomError`."""
        if size == 0:
            return align
        if size > _SMALL and size > self.room():
            raise NoRoomError
        try:
            at = self.call(self.function("cabi_realloc").address, 0, 0, align, size) & _MASK32
        except TrapError as error:
            # The component traps if the system has no memory.
            raise NoRoomError from error
        self.refresh()
        return at

    def room(self) -> int:
        """How many bytes an argument may take."""
        # Memory that cannot grow any more has blocks that were freed, into which small arguments fit.
        return max(_ALWAYS, self._room_to_grow())

    def _room_to_grow(self) -> int:
        return self._most_memory - int(_memory_size(self._context, self._memory_at)) - _ROOM_TO_ANSWER

    def refresh(self) -> None:
        """Finds the memory again after a call, which may have made it grow and move."""
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
        """Maps the memory again if the views end before `end`, an address that the component returned."""
        if end > self._size:
            self._map(_memory_data(self._context, self._memory_at))
            if end > self._size:
                raise RuntimeError(
                    "the component handed out memory that it does not have; this is a defect of samedeal"
                )

    def unpack(self, layout: Struct, pointer: int) -> tuple[Any, ...]:
        """The numbers of a record at an address."""
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
        """The text of a `string`."""
        return str(self.view(pointer, length), "utf-8")

    def _trapped(self, error: int | None) -> TrapError:
        reason = capi.error_text(error) if error else capi.trap_text(self._slots[-1])
        self._slots[-1] = 0
        return TrapError(f"the component trapped; this is a defect of samedeal, please report it. {reason}")
