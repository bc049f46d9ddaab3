"""Checks of what cannot cross into the component. What can is left for the component to judge."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._errors import OutOfRangeError, UnknownNameError, WrongTypeError

U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
MAX_EXACT = 2**53 - 1
"""The end of every count, index and position of the interface."""


class Width(NamedTuple):
    """What crosses (`least` to `most`), and what is worth trying, for the message."""

    least: int
    most: int
    allowed: str


COUNT = Width(0, U64_MAX, f"0 to {MAX_EXACT}")
U64 = Width(0, U64_MAX, f"0 to {U64_MAX}")
S64 = Width(-(2**63), 2**63 - 1, f"{-(2**63)} to {2**63 - 1}")
RANK = Width(0, U32_MAX, "0 to world - 1")
MEMORY = Width(0, 2**63 - 1, f"up to {2**31} bytes")
U32_FROM_1 = Width(0, U32_MAX, f"1 to {U32_MAX}")


def whole(field: str, value: Any) -> int:
    """`value` as an `int`, if it is a whole number (NumPy's included); a bool is not."""
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        hint = ", such as len(dataset)" if field == "samples" else ""
        raise WrongTypeError(field, described(value), f"a whole number{hint}") from None


def integer(field: str, value: Any, width: Width) -> int:
    """`value` as an `int` that crosses as this width."""
    number = whole(field, value)
    if width.least <= number <= width.most:
        return number
    raise OutOfRangeError(field, shown(number), width.allowed)


def number(field: str, value: Any, count: Callable[[], int]) -> int:
    """`value` as the number of one of `count()` things, if it crosses: `count` is asked for the message alone."""
    given = whole(field, value)
    if 0 <= given <= U64_MAX:
        return given
    raise OutOfRangeError(field, shown(given), below(count()))


def below(count: int) -> str:
    """The numbers of `count` things, as the component says it."""
    return f"0 to {count - 1}" if count else "none, there are none"


def boolean(field: str, value: Any) -> bool:
    """`value` as a `bool`, if it is one (NumPy's included)."""
    if value is True or value is False:
        return bool(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise WrongTypeError(field, described(value), "True or False")


def name(field: str, value: Any) -> str:
    """`value`, if it is a string, cut behind any name that could be known."""
    if not isinstance(value, str):
        raise WrongTypeError(field, described(value), "a name")
    return value[:65].encode("utf-8", "backslashreplace").decode()


def enum(field: str, value: Any, names: Sequence[str]) -> str:
    """`value`, if it is one of the names of an enum of the interface."""
    given = name(field, value)
    if given in names:
        return given
    raise UnknownNameError(field, given[:64], ", ".join(names))


def shown(value: Any) -> str:
    """A value as a failure shows it: at most 64 characters, and never a second failure."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:
        # An int of thousands of digits, a broken __repr__.
        text = hex(value) if isinstance(value, int) else f"<{type(value).__name__}>"
    return text[:64]


def described(value: Any) -> str:
    """A value of the wrong type: strings in quotes, and of what is no number (a dataset, a tensor) its type alone."""
    if value is None or isinstance(value, (int, float, complex)):
        return shown(value)
    if isinstance(value, str):
        # Not what a subclass makes of it.
        return str.__repr__(str.__getitem__(value, slice(64)))[:64]
    return f"<{type(value).__name__[:62]}>"
