"""The canonical ABI: the types of the interface as data, which write values into an instance and read them from it.

The modules of `generated` use these types. A value of a type is a fixed number of numbers; a text or a list is an
address and a length. In memory, the numbers have the layout `format`. As arguments, they are passed one by one if there
are at most 16 of them, and otherwise in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .core import Core, NoRoomError
from .errors import OutOfMemoryError, SamedealError, raised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
U = TypeVar("U")
H = TypeVar("H", bound="Handle")
Numbers = Sequence[Any]
"""The numbers of a value. A variant in memory has its payload as bytes, since the layouts of its cases differ."""
_MOST_ARGUMENTS = 16
_MASK32 = 2**32 - 1


# `Lift` and `Type` are no dataclasses: `dataclasses` imports `inspect`, a third of the time of `import samedeal`.
class Lift(Generic[T]):
    """A way to read the result of a call."""

    def __init__(self, read: Callable[[Core, int], T | SamedealError]) -> None:
        self.read = read
        """Reads the result from the number that the call returned: the value itself, or its address in memory."""


class Type(Generic[T]):
    """A type of the interface."""

    def __init__(
        self,
        format: str,
        align: int,
        width: int,
        lower: Callable[[Core, T], Numbers],
        lift: Callable[[Core, Numbers], T],
        flat: int,
        flatten: Callable[[Core, T], Numbers],
    ) -> None:
        self.format = format
        """The layout of the numbers in memory, as a format of `struct`, padded to a multiple of `align`."""
        self.align = align
        self.width = width
        """How many numbers a value has in memory."""
        self.lower = lower
        """Makes the numbers of a value for memory. The component takes over the memory of texts and lists."""
        self.lift = lift
        """Makes a value from its numbers in memory. The next call may overwrite memory that the value refers to."""
        self.flat = flat
        """How many numbers a value has as an argument."""
        self.flatten = flatten
        """Makes the numbers of a value as an argument; `lower` makes the numbers of a value in memory."""

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return struct.calcsize("<" + self.format)


def _plain(format: str, lift: Callable[[Core, Numbers], T], lower: Callable[[Core, T], Numbers]) -> Type[T]:
    return Type(format, struct.calcsize("<" + format[0]), len(format), lower, lift, len(format), lower)


def _number(core: Core, value: int) -> Numbers:
    return (value,)


def _unsigned(format: str) -> Type[int]:
    return _plain(format, lambda core, numbers: numbers[0], _number)


def _signed(format: str, bits: int) -> Type[int]:
    mask = (1 << bits) - 1
    return _plain(
        format,
        lambda core, numbers: numbers[0] - (numbers[0] >> (bits - 1) << bits),
        lambda core, value: (value & mask,),
    )


U8, U16, U32, U64 = map(_unsigned, "BHIQ")
S32, S64 = _signed("I", 32), _signed("Q", 64)
BOOL: Type[bool] = _plain("B", lambda core, numbers: numbers[0] != 0, lambda core, value: (int(value),))


def enum(names: tuple[T, ...]) -> Type[T]:
    """An enum: one of these names, which are in the order of the interface."""
    return _plain("B", lambda core, numbers: names[numbers[0]], lambda core, value: (names.index(value),))


def _lower_string(core: Core, value: str) -> Numbers:
    encoded = value.encode()
    at = core.allocate(len(encoded), 1)
    core.view(at, len(encoded))[:] = encoded
    return at, len(encoded)


STRING: Type[str] = _plain("II", lambda core, numbers: core.string(*numbers), _lower_string)


def _lower_u64s(core: Core, values: NDArray[np.uint64] | NDArray[np.int64]) -> Numbers:
    at = core.allocate(8 * len(values), 8)
    core.u64s(at, len(values))[:] = values.view("int64")
    return at, len(values)


def _lower_u32s(core: Core, values: NDArray[np.uint32]) -> Numbers:
    at = core.allocate(4 * len(values), 4)
    core.u32s(at, len(values))[:] = values
    return at, len(values)


U64S: Type[NDArray[np.int64]] = _plain("II", lambda core, numbers: core.u64s(*numbers).copy(), _lower_u64s)
"""A `list<u64>`, read as a copy with int64: numbers that the component returns fit in 53 bits."""
U64S_VIEW: Type[NDArray[np.int64]] = _plain("II", lambda core, numbers: core.u64s(*numbers), _lower_u64s)
"""A `list<u64>`, read as a view of the instance's memory. The next call may overwrite it."""
WIDE_U64S: Type[NDArray[np.uint64]] = _plain(
    "II", lambda core, numbers: core.u64s(*numbers).astype("uint64"), _lower_u64s
)
"""A `list<u64>` whose numbers may take 64 bits."""
U32S: Type[NDArray[np.uint32]] = _plain("II", lambda core, numbers: core.u32s(*numbers).copy(), _lower_u32s)
"""A `list<u32>`."""


def listing(item: Type[T]) -> Type[tuple[T, ...]]:
    """A list of values that are not plain numbers. They are read one by one, so the list should be short."""
    layout = struct.Struct("<" + item.format)

    def lower(core: Core, values: Sequence[T]) -> Numbers:
        at = core.allocate(layout.size * len(values), item.align)
        for i, value in enumerate(values):
            numbers = item.lower(core, value)
            layout.pack_into(core.view(at + layout.size * i, layout.size), 0, *numbers)
        return at, len(values)

    def lift(core: Core, numbers: Numbers) -> tuple[T, ...]:
        at, count = numbers
        return tuple(item.lift(core, core.unpack(layout, at + layout.size * i)) for i in range(count))

    return _plain("II", lift, lower)


def option(item: Type[T]) -> Type[T | None]:
    """An option: a value or None."""
    layout, align = _joined((BOOL, item))
    nothing = struct.unpack("<" + layout, bytes(struct.calcsize("<" + layout)))

    def lower(core: Core, value: T | None) -> Numbers:
        return nothing if value is None else (1, *item.lower(core, value))

    def flatten(core: Core, value: T | None) -> Numbers:
        return (0,) * (1 + item.flat) if value is None else (1, *item.flatten(core, value))

    def lift(core: Core, numbers: Numbers) -> T | None:
        return item.lift(core, numbers[1:]) if numbers[0] else None

    return Type(layout, align, 1 + item.width, lower, lift, 1 + item.flat, flatten)


def record(make: Callable[..., T], fields: dict[str, Type[Any]]) -> Type[T]:
    """A record: a tuple with these fields in this order, by their names in the interface. `make` takes their values."""
    types = tuple(fields.values())
    layout, align = _joined(types)
    width = sum(item.width for item in types)

    def lower(core: Core, value: Any) -> Numbers:
        return _lower_all(core, fields, value)

    def flatten(core: Core, value: Any) -> Numbers:
        return _lower_all(core, fields, value, flat=True)

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

    return Type(layout, align, width, lower, lift, sum(item.flat for item in types), flatten)


def group(*types: Type[Any]) -> Type[Any]:
    """A tuple without names."""
    return record(lambda *values: values, {str(i): item for i, item in enumerate(types)})


def variant(make: Callable[[Any, Any], T], cases: dict[str, Type[Any]]) -> Type[T]:
    """A variant: a tuple of the name of a case, as in the interface, and the value of that case."""
    names, types = list(cases), list(cases.values())
    layouts = [struct.Struct("<" + item.format) for item in types]
    size, align = max(layout.size for layout in layouts), max(item.align for item in types)
    layout = f"B{align - 1}x{size}s"
    layout += f"{-struct.calcsize('<' + layout) % align}x"
    flat = max(item.flat for item in types)

    def lower(core: Core, value: Any) -> Numbers:
        name, held = value
        tag = names.index(name)
        return tag, layouts[tag].pack(*types[tag].lower(core, held))

    def flatten(core: Core, value: Any) -> Numbers:
        name, held = value
        tag = names.index(name)
        numbers = types[tag].flatten(core, held)
        return (tag, *numbers, *(0,) * (flat - len(numbers)))

    def lift(core: Core, numbers: Numbers) -> T:
        tag, payload = numbers
        return make(names[tag], types[tag].lift(core, layouts[tag].unpack_from(payload)))

    return Type(layout, align, 2, lower, lift, 1 + flat, flatten)


UNIT: Type[None] = Type("", 1, 0, lambda core, value: (), lambda core, numbers: None, 0, lambda core, value: ())
"""The type of a case, or of a side of a `result`, that has no value."""


class Handle:
    """A resource of the interface: an object in an instance. The instance knows the object by the number `handle`."""

    core: Core
    handle: int

    @classmethod
    def of(cls: type[H], core: Core, handle: int) -> H:
        """The resource with a handle that the instance returned."""
        made = cls.__new__(cls)
        made.core, made.handle = core, handle
        return made

    def drop(self) -> None:
        """Frees the resource in the instance."""
        raise NotImplementedError


def handle(kind: type[H]) -> Type[H]:
    """A resource, owned or borrowed."""
    return _plain("I", lambda core, numbers: kind.of(core, numbers[0]), lambda core, value: (value.handle,))


def _joined(types: Iterable[Type[Any]]) -> tuple[str, int]:
    """The layout of values of these types one after the other, and its alignment."""
    layout, size, align = "", 0, 1
    for item in types:
        gap = -size % item.align
        layout += f"{gap}x{item.format}"
        size += gap + item.size
        align = max(align, item.align)
    return f"{layout}{-size % align}x", align


def _lower_all(core: Core, fields: dict[str, Type[Any]], values: Iterable[Any], flat: bool = False) -> list[Any]:
    numbers: list[Any] = []
    for (name, item), value in zip(fields.items(), values, strict=True):
        try:
            numbers += item.flatten(core, value) if flat else item.lower(core, value)
        except NoRoomError as error:
            raise OutOfMemoryError(name, str(len(value)), "what fits into memory") from error
    return numbers


def scalar(item: Type[T]) -> Lift[T]:
    """Reads a result that is one number."""
    mask = (1 << 8 * item.size) - 1
    return Lift(lambda core, result: item.lift(core, (result & mask,)))


def returned(item: Type[T]) -> Lift[T]:
    """Reads a result in memory."""
    layout, lift = struct.Struct("<" + item.format), item.lift
    return Lift(lambda core, pointer: lift(core, core.unpack(layout, pointer)))


def fallible(item: Type[T], error: Type[Any]) -> Lift[T]:
    """Reads a `result` of a value or a failure."""
    layout, failure, lift = *result(item, error), item.lift

    def read(core: Core, pointer: int) -> T | SamedealError:
        tag, *numbers = core.unpack(layout, pointer)
        return failure(core, pointer) if tag else lift(core, numbers)

    return Lift(read)


def result(item: Type[Any], error: Type[Any]) -> tuple[struct.Struct, Callable[[Core, int], SamedealError]]:
    """The layout of a `result` in memory (a tag and, aligned for both, a value or a failure); a reader of a failure."""
    at = max(item.align, error.align)
    layout = struct.Struct("<" + error.format)

    def failure(core: Core, pointer: int) -> SamedealError:
        return raised(*error.lift(core, core.unpack(layout, pointer + at)))

    return struct.Struct(f"<B{at - 1}x{item.format}"), failure


NOTHING: Lift[None] = Lift(lambda core, result: None)
"""Reads nothing: the call has no result."""


_WANTED = "wanted"
"""The kind of failure with which a batcher asks for lengths. The call is repeated once the lengths were supplied."""


class Function(Generic[T]):
    """A function of the interface. The caller checks that arguments fit the WIT types."""

    def __init__(self, name: str, lift: Lift[T], parameters: dict[str, Type[Any]]) -> None:
        self.name = name
        self.lift = lift.read
        self.parameters = parameters
        """The types of the parameters, by their names in the interface."""
        # Most functions take only numbers that need no conversion, so their calls skip `_lower`.
        self._as_they_are = all(any(item is plain for plain in (U32, U64, BOOL)) for item in parameters.values())
        layout, self._align = _joined(parameters.values())
        self._layout = struct.Struct("<" + layout)
        self._in_memory = sum(item.flat for item in parameters.values()) > _MOST_ARGUMENTS

    def __call__(self, core: Core, *arguments: Any) -> T:
        """Calls the function, and calls it again each time it asked for lengths and got them. Raises its failures."""
        while True:
            try:
                return self.read(core, self.lift, *arguments)
            except SamedealError as error:
                if error.kind != _WANTED or core.give is None:
                    raise
            # If `give` raises, the windows that were planned so far are kept, and the next call continues after them.
            core.give(arguments[0])

    def read(self, core: Core, lift: Callable[[Core, int], U | SamedealError], *arguments: Any) -> U:
        """Makes one call, from its arguments to its post-return, and reads the result with `lift`.

        A failure is raised after the post-return. If another exception interrupts the call (from a signal handler),
        memory of the result is lost, and the instance is not `whole` any more.
        """
        address, post = core.functions.get(self.name) or core.function(self.name)
        core.whole = False
        if not self._as_they_are:
            arguments = self._lower(core, arguments)
        result = core.call(address, *arguments)
        if post is None:
            lifted = lift(core, result)
        else:
            # The engine writes only the lower half of the slot of a 32-bit result.
            pointer = result & _MASK32
            if core.may_move:
                core.refresh()
            lifted = lift(core, pointer)
            core.call(post, pointer)
        core.whole = True
        if isinstance(lifted, SamedealError):
            raise lifted
        return lifted

    def _lower(self, core: Core, arguments: Iterable[Any]) -> tuple[int, ...]:
        numbers = _lower_all(core, self.parameters, arguments, flat=not self._in_memory)
        if not self._in_memory:
            return tuple(numbers)
        at = core.allocate(self._layout.size, self._align)
        self._layout.pack_into(core.view(at, self._layout.size), 0, *numbers)
        return (at,)
