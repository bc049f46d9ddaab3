"""The types of the canonical ABI in memory and as arguments, also types that no function of the interface uses yet."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
import pytest
from samedeal.engine import abi


class Memory:
    """The memory of an instance, with its allocations."""

    def __init__(self) -> None:
        self.bytes = bytearray(2**12)
        self.end = 8

    def allocate(self, size: int, align: int) -> int:
        at = self.end + -self.end % align
        self.end = at + size
        return at

    def view(self, at: int, length: int) -> memoryview:
        return memoryview(self.bytes)[at : at + length]

    def unpack(self, layout: struct.Struct, at: int) -> tuple[Any, ...]:
        return layout.unpack_from(self.bytes, at)

    def string(self, at: int, length: int) -> str:
        return self.bytes[at : at + length].decode()

    def u64s(self, at: int, count: int) -> Any:
        return np.frombuffer(self.bytes, dtype=np.int64, count=count, offset=at)

    def u32s(self, at: int, count: int) -> Any:
        return np.frombuffer(self.bytes, dtype=np.uint32, count=count, offset=at)


class Choice(NamedTuple):
    kind: str
    value: Any


class Pair(NamedTuple):
    small: int
    choice: Choice | None


class Thing(abi.Handle):
    pass


CHOICE = abi.variant(Choice, {"wide": abi.U64, "text": abi.STRING, "none": abi.UNIT, "small": abi.U8})
PAIR = abi.record(Pair, {"small": abi.U16, "choice": abi.option(CHOICE)})
THING = Thing.of(Memory(), 7)  # type: ignore[arg-type]

CASES: list[tuple[abi.Type[Any], Any, int, list[int] | None]] = [
    # The type, a value, the number of its bytes in memory, and its numbers as arguments unless these are addresses.
    (abi.U8, 255, 1, [255]),
    (abi.U16, 2**16 - 1, 2, [2**16 - 1]),
    (abi.S32, -1, 4, [2**32 - 1]),
    (abi.S32, 2**31 - 1, 4, [2**31 - 1]),
    (abi.S64, -(2**63), 8, [2**63]),
    (abi.BOOL, True, 1, [1]),
    (abi.STRING, "naïve ✓", 8, None),
    (CHOICE, Choice("wide", 2**64 - 1), 16, [0, 2**64 - 1, 0]),
    (CHOICE, Choice("text", "naïve ✓"), 16, None),
    (CHOICE, Choice("none", None), 16, [2, 0, 0]),
    (CHOICE, Choice("small", 9), 16, [3, 9, 0]),
    (abi.option(CHOICE), None, 24, [0, 0, 0, 0]),
    (abi.option(CHOICE), Choice("small", 9), 24, [1, 3, 9, 0]),
    (PAIR, Pair(3, Choice("wide", 5)), 32, [3, 1, 0, 5, 0]),
    (PAIR, Pair(3, None), 32, [3, 0, 0, 0, 0]),
    (abi.listing(PAIR), (Pair(1, None), Pair(2, Choice("text", "x")), Pair(3, Choice("none", None))), 8, None),
    (abi.listing(abi.STRING), (), 8, None),
    (abi.group(abi.U8, abi.U64, abi.BOOL), (1, 2, False), 24, [1, 2, 0]),
    (abi.group(), (), 0, []),
    (abi.enum(("a", "b")), "b", 1, [1]),
    (abi.handle(Thing), THING, 4, [7]),
    (abi.variant(Choice, {"a": abi.UNIT, "b": abi.UNIT}), Choice("b", None), 1, [1]),
]


@pytest.mark.parametrize(("kind", "value", "size", "flat"), CASES, ids=lambda each: str(each)[:30])
def test_values_come_back(kind: abi.Type[Any], value: Any, size: int, flat: list[int] | None) -> None:
    memory: Any = Memory()
    assert kind.size == size
    assert size % kind.align == 0
    layout = struct.Struct("<" + kind.format)
    at = memory.allocate(layout.size, kind.align)
    numbers = kind.lower(memory, value)
    assert len(numbers) == kind.width
    layout.pack_into(memory.bytes, at, *numbers)
    found = kind.lift(memory, memory.unpack(layout, at))
    if isinstance(value, Thing):
        assert (found.core, found.handle) == (memory, value.handle)
    else:
        assert found == value
        assert type(found) is type(value)
    arguments = kind.flatten(memory, value)
    assert len(arguments) == kind.flat
    assert flat is None or list(arguments) == flat


def test_lists_of_numbers() -> None:
    memory: Any = Memory()
    lists: list[tuple[abi.Type[Any], Any]] = [
        (abi.U64S, np.array([1, 2**53], dtype=np.int64)),
        (abi.WIDE_U64S, np.array([1, 2**64 - 1], dtype=np.uint64)),
        (abi.U32S, np.array([0, 2**32 - 1], dtype=np.uint32)),
    ]
    for kind, values in lists:
        found = kind.lift(memory, kind.lower(memory, values))
        assert found.dtype == values.dtype
        assert found.tolist() == values.tolist()
        assert not np.shares_memory(found, np.frombuffer(memory.bytes, dtype=np.uint8))
