"""The canonical ABI: the types of the interface as data, how values enter an instance and how they leave it.

The modules of `generated`, which are generated from the WIT, are written in these words. A value of any of these types
is a fixed run of numbers, texts and lists being the address and the length of what they hold. In memory the numbers lie
as `format` says; as arguments they follow one another, if there are at most 16 of them, and else lie in memory too.
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
"""Numbers, and the payload of a variant in memory, whose cases lie differently, as bytes."""
_MOST_ARGUMENTS = 16
_MASK32 = 2**32 - 1


# Neither is a dataclass: `dataclasses` imports `inspect`, which takes a third of the time of `import samedeal`.
class Lift(Generic[T]):
    """How a result is read."""

    def __init__(self, read: Callable[[Core, int], T | SamedealError]) -> None:
        self.read = read
        """Takes what the call returned: a number, or where in memory the result lies."""


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
        """Its numbers in memory, as `struct` has it, filled up to a multiple of `align`."""
        self.align = align
        self.width = width
        """How many numbers it is in memory."""
        self.lower = lower
        """Puts a value into the instance, as it lies in memory. The component takes over what is allocated for it."""
        self.lift = lift
        """Takes a value out of the instance; the next call may overwrite what is left there."""
        self.flat = flat
        """How many numbers it is as an argument."""
        self.flatten = flatten
        """Puts a value into the instance, as an argument."""

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
    """One of these names, in the order of the interface."""
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
"""A `list<u64>`. What the component hands out fits in 53 bits."""
U64S_VIEW: Type[NDArray[np.int64]] = _plain("II", lambda core, numbers: core.u64s(*numbers), _lower_u64s)
"""A `list<u64>` where it lies. The next call may overwrite it."""
WIDE_U64S: Type[NDArray[np.uint64]] = _plain(
    "II", lambda core, numbers: core.u64s(*numbers).astype("uint64"), _lower_u64s
)
"""A `list<u64>` whose numbers may take 64 bits."""
U32S: Type[NDArray[np.uint32]] = _plain("II", lambda core, numbers: core.u32s(*numbers).copy(), _lower_u32s)
"""A `list<u32>`."""


def listing(item: Type[T]) -> Type[tuple[T, ...]]:
    """A list of a few things that are not numbers."""
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
    """A value or None."""
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
    """A record: a tuple with these fields in this order, by their names in the interface. `make` makes one."""
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
    """One of these cases, by their names in the interface: a tuple of the name and what it holds."""
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
"""The content of a case, or of a `result`, without a value."""


class Handle:
    """A resource of the interface: an object in an instance, by its number there."""

    core: Core
    handle: int

    @classmethod
    def of(cls: type[H], core: Core, handle: int) -> H:
        """That of a number which the instance gave."""
        made = cls.__new__(cls)
        made.core, made.handle = core, handle
        return made

    def drop(self) -> None:
        """Frees it in the instance."""
        raise NotImplementedError


def handle(kind: type[H]) -> Type[H]:
    """A resource, owned or borrowed."""
    return _plain("I", lambda core, numbers: kind.of(core, numbers[0]), lambda core, value: (value.handle,))


def _joined(types: Iterable[Type[Any]]) -> tuple[str, int]:
    """The layout of one after the other, and the alignment."""
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
    """How a `result` lies in memory (a tag and, at the alignment of both, a value or a failure); what reads that."""
    at = max(item.align, error.align)
    layout = struct.Struct("<" + error.format)

    def failure(core: Core, pointer: int) -> SamedealError:
        return raised(*error.lift(core, core.unpack(layout, pointer + at)))

    return struct.Struct(f"<B{at - 1}x{item.format}"), failure


NOTHING: Lift[None] = Lift(lambda core, result: None)
"""No result."""


_WANTED = "wanted"
"""The kind of a failure that is no error: see `batches`."""


class Function(Generic[T]):
    """A function of the interface. The arguments must have been checked to cross."""

    def __init__(self, name: str, lift: Lift[T], parameters: dict[str, Type[Any]]) -> None:
        self.name = name
        self.lift = lift.read
        self.parameters = parameters
        """By their names in the interface."""
        # Most functions take numbers that cross as they are.
        self._as_they_are = all(any(item is plain for plain in (U32, U64, BOOL)) for item in parameters.values())
        layout, self._align = _joined(parameters.values())
        self._layout = struct.Struct("<" + layout)
        self._in_memory = sum(item.flat for item in parameters.values()) > _MOST_ARGUMENTS

    def __call__(self, core: Core, *arguments: Any) -> T:
        """Calls it, again whenever the lengths that it asked for were given; a failure is raised."""
        while True:
            try:
                return self.read(core, self.lift, *arguments)
            except SamedealError as error:
                if error.kind != _WANTED or core.give is None:
                    raise
            # Whatever is raised here, it goes on where it was when it is called again.
            core.give(arguments[0])

    def read(self, core: Core, lift: Callable[[Core, int], U | SamedealError], *arguments: Any) -> U:
        """A call from its arguments to its post-return, its result read in another way.

        A failure is raised when all is done. Where an exception of anybody else's (a signal handler's) comes between,
        what the component handed out is lost, and the instance is not `whole` any more.
        """
        address, post = core.functions.get(self.name) or core.function(self.name)
        core.whole = False
        if not self._as_they_are:
            arguments = self._lower(core, arguments)
        result = core.call(address, *arguments)
        if post is None:
            lifted = lift(core, result)
        else:
            # Only the lower half of a 32-bit result is written.
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
