"""The canonical ABI: the types of the interface as data, how values enter an instance and how they leave it.

A value of any of these types is a fixed run of numbers, texts and lists being the address and the length of what they
hold. In memory the numbers lie as `format` says; as arguments they follow one another, if there are at most 16 of them,
and else lie in memory too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._core import Core, NoRoomError
from ._errors import OutOfMemoryError, SamedealError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
U = TypeVar("U")
Numbers = Sequence[int]
_MOST_ARGUMENTS = 16
_MASK32 = 2**32 - 1
_MASK64 = 2**64 - 1


@dataclass(frozen=True)
class Lift(Generic[T]):
    """How a result is read."""

    read: Callable[[Core, int], T | SamedealError]
    """Takes what the call returned: a number, or where in memory the result lies."""


@dataclass(frozen=True)
class Type(Generic[T]):
    """A type of the interface."""

    format: str
    """Its numbers in memory, as `struct` has it, filled up to a multiple of `align`."""
    align: int
    width: int
    """How many numbers it is."""
    lower: Callable[[Core, T], Numbers]
    """Puts a value into the instance. The component takes over what is allocated for it."""
    lift: Callable[[Core, Numbers], T]
    """Takes a value out of the instance; the next call may overwrite what is left there."""

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return struct.calcsize("<" + self.format)


def _plain(format: str, lift: Callable[[Core, Numbers], T], lower: Callable[[Core, T], Numbers]) -> Type[T]:
    return Type(format, struct.calcsize("<" + format[0]), len(format), lower, lift)


def _number(core: Core, value: int) -> Numbers:
    return (value,)


U32: Type[int] = _plain("I", lambda core, numbers: numbers[0], _number)
U64: Type[int] = _plain("Q", lambda core, numbers: numbers[0], _number)
S64: Type[int] = _plain(
    "Q",
    lambda core, numbers: numbers[0] - (numbers[0] >> 63 << 64),
    lambda core, value: (value & _MASK64,),
)
BOOL: Type[bool] = _plain("B", lambda core, numbers: numbers[0] != 0, lambda core, value: (int(value),))


def enum(names: Sequence[str]) -> Type[str]:
    """One of these names, in the order of the interface."""
    return _plain("B", lambda core, numbers: names[numbers[0]], lambda core, value: (names.index(value),))


def _lower_string(core: Core, value: str) -> Numbers:
    encoded = value.encode()
    at = core.allocate(len(encoded), 1)
    core.view(at, len(encoded))[:] = encoded
    return at, len(encoded)


STRING: Type[str] = _plain("II", lambda core, numbers: core.string(*numbers), _lower_string)


def _lower_u64s(core: Core, values: NDArray[np.uint64]) -> Numbers:
    at = core.allocate(8 * len(values), 8)
    core.u64s(at, len(values))[:] = values.view("int64")
    return at, len(values)


def _lower_u32s(core: Core, values: NDArray[np.uint32]) -> Numbers:
    at = core.allocate(4 * len(values), 4)
    core.u32s(at, len(values))[:] = values
    return at, len(values)


def _lower_nothing(core: Core, value: Any) -> Numbers:
    raise NotImplementedError


def _lift_nothing(core: Core, numbers: Numbers) -> Any:
    raise NotImplementedError


U64S: Type[NDArray[np.int64]] = _plain("II", lambda core, numbers: core.u64s(*numbers).copy(), _lower_nothing)
"""A `list<u64>` that is handed out: its numbers fit in 53 bits."""
U64S_VIEW: Type[NDArray[np.int64]] = _plain("II", lambda core, numbers: core.u64s(*numbers), _lower_nothing)
"""The same where it lies. The next call may overwrite it."""
U32S: Type[NDArray[np.uint32]] = _plain("II", lambda core, numbers: core.u32s(*numbers).copy(), _lower_u32s)
"""A `list<u32>`."""
SIZES: Type[NDArray[np.uint64]] = _plain("II", lambda core, numbers: core.u64s(*numbers).astype("uint64"), _lower_u64s)
"""A `list<u64>` that is passed in, of any numbers."""


def listing(item: Type[T]) -> Type[list[T]]:
    """A list of a few things that are not numbers."""
    layout = struct.Struct("<" + item.format)

    def lower(core: Core, values: list[T]) -> Numbers:
        at = core.allocate(layout.size * len(values), item.align)
        for i, value in enumerate(values):
            numbers = item.lower(core, value)
            layout.pack_into(core.view(at + layout.size * i, layout.size), 0, *numbers)
        return at, len(values)

    def lift(core: Core, numbers: Numbers) -> list[T]:
        at, count = numbers
        return [item.lift(core, core.unpack(layout, at + layout.size * i)) for i in range(count)]

    return _plain("II", lift, lower)


def option(item: Type[T]) -> Type[T | None]:
    """A value or None."""
    layout, align = _joined((BOOL, item))

    def lower(core: Core, value: T | None) -> Numbers:
        return (0,) * (1 + item.width) if value is None else (1, *item.lower(core, value))

    def lift(core: Core, numbers: Numbers) -> T | None:
        return item.lift(core, numbers[1:]) if numbers[0] else None

    return Type(layout, align, 1 + item.width, lower, lift)


def record(make: Callable[..., T], **fields: Type[Any]) -> Type[T]:
    """A record: a tuple with these fields in this order, of which `make` makes one."""
    types = tuple(fields.values())
    layout, align = _joined(types)
    width = sum(item.width for item in types)

    def lower(core: Core, value: Any) -> Numbers:
        return _lower_all(core, fields, value)

    if width == len(types):

        def lift(core: Core, numbers: Numbers) -> T:
            return make(*[item.lift(core, numbers[i : i + 1]) for i, item in enumerate(types)])
    else:

        def lift(core: Core, numbers: Numbers) -> T:
            values, at = [], 0
            for item in types:
                values.append(item.lift(core, numbers[at : at + item.width]))
                at += item.width
            return make(*values)

    return Type(layout, align, width, lower, lift)


def variant(**cases: Type[Any]) -> Type[tuple[str, Any]]:
    """One of these, by its name in the interface, to be passed in: numbers of 32 bits, and what is made of them."""
    names = [name.replace("_", "-") for name in cases]
    types = tuple(cases.values())
    payload = max(types, key=lambda item: item.width)
    assert all(payload.format.startswith(item.format) for item in types)
    layout, align = _joined((BOOL, payload))

    def lower(core: Core, value: tuple[str, Any]) -> Numbers:
        kind, held = value
        tag = names.index(kind)
        numbers = types[tag].lower(core, held)
        return (tag, *numbers, *(0,) * (payload.width - len(numbers)))

    return Type(layout, align, 1 + payload.width, lower, _lift_nothing)


def _joined(types: Iterable[Type[Any]]) -> tuple[str, int]:
    """The layout of one after the other, and the alignment."""
    layout, size, align = "", 0, 1
    for item in types:
        gap = -size % item.align
        layout += f"{gap}x{item.format}"
        size += gap + item.size
        align = max(align, item.align)
    return f"{layout}{-size % align}x", align


def _lower_all(core: Core, fields: dict[str, Type[Any]], values: Iterable[Any]) -> list[int]:
    numbers: list[int] = []
    for (name, item), value in zip(fields.items(), values, strict=True):
        try:
            numbers += item.lower(core, value)
        except NoRoomError as error:
            field = name.replace("_", "-")
            raise OutOfMemoryError(field, str(len(value)), "what fits into memory") from error
    return numbers


def scalar(item: Type[T]) -> Lift[T]:
    """Reads a result that is one number."""
    mask = (1 << 8 * item.size) - 1
    return Lift(lambda core, result: item.lift(core, (result & mask,)))


def returned(item: Type[T]) -> Lift[T]:
    """Reads a result in memory."""
    layout, lift = struct.Struct("<" + item.format), item.lift
    return Lift(lambda core, pointer: lift(core, core.unpack(layout, pointer)))


def fallible(item: Type[T]) -> Lift[T]:
    """Reads a `result` of a value or a failure: a tag and, at the alignment of both, one of them."""
    at = max(item.align, 4)
    layout, lift = struct.Struct(f"<B{at - 1}x{item.format}"), item.lift

    def read(core: Core, pointer: int) -> T | SamedealError:
        tag, *numbers = core.unpack(layout, pointer)
        return core.failure(pointer + at) if tag else lift(core, numbers)

    return Lift(read)


UNIT: Type[None] = _plain("B", lambda core, numbers: None, _lower_nothing)
"""What a `result` without a value holds."""


NOTHING: Lift[None] = Lift(lambda core, result: None)
"""No result."""


class Function(Generic[T]):
    """A function of the interface. The arguments must have been checked to cross."""

    def __init__(self, name: str, lift: Lift[T], **parameters: Type[Any]) -> None:
        self._name = name
        self.lift = lift.read
        self._parameters = parameters
        # Most functions take numbers that cross as they are.
        self._as_they_are = all(item in (U32, U64, BOOL) for item in parameters.values())
        layout, self._align = _joined(parameters.values())
        self._layout = struct.Struct("<" + layout)
        self._in_memory = sum(item.width for item in parameters.values()) > _MOST_ARGUMENTS

    def __call__(self, core: Core, *arguments: Any) -> T:
        """Calls it; a failure is raised."""
        return self.read(core, self.lift, *arguments)

    def read(self, core: Core, lift: Callable[[Core, int], U | SamedealError], *arguments: Any) -> U:
        """A call from its arguments to its post-return, its result read in another way.

        A failure is raised when all is done. Where an exception of anybody else's (a signal handler's) comes between,
        what the component handed out is lost, and the instance is not `whole` any more.
        """
        address, post = core.function(self._name)
        core.whole = False
        if not self._as_they_are:
            arguments = self._lower(core, arguments)
        result = core.call(address, *arguments)
        if post is None:
            lifted = lift(core, result)
        else:
            # Only the lower half of a 32-bit result is written.
            pointer = result & _MASK32
            core.refresh()
            lifted = lift(core, pointer)
            core.call(post, pointer)
        core.whole = True
        if isinstance(lifted, SamedealError):
            raise lifted
        return lifted

    def _lower(self, core: Core, arguments: Iterable[Any]) -> tuple[int, ...]:
        numbers = _lower_all(core, self._parameters, arguments)
        if not self._in_memory:
            return tuple(numbers)
        at = core.allocate(self._layout.size, self._align)
        self._layout.pack_into(core.view(at, self._layout.size), 0, *numbers)
        return (at,)
