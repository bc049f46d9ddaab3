"""Recipes: everything that decides a run, as one JSON document that the core reads, completes and writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .engine import arguments as check
from .engine.core import Core
from .engine.errors import OutOfMemoryError, OutOfRangeError, WrongTypeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WIDE = 10**24
"""Integers from here on are refused: no member takes them, and Python cannot write integers of too many digits."""
_WRITTEN = re.compile("-?[0-9]{16,}")
"""A pattern for numbers that are strings in JSON (see `written`)."""


class Recipe(NamedTuple):
    """A recipe as it was given: its text, and long lists beside the text."""

    text: str
    lists: tuple[Any, ...] = ()
    """The lists that the recipe has only as a hash, or not at all: their paths and their numbers."""

    def core(self, memory_limit: int) -> Core:
        """A new instance for the recipe, which has room for the lists."""
        core = Core(memory_limit, "recipe", f"of {len(self.text)} characters")
        room = core.room()
        for name, numbers in self.lists:
            room -= numbers.nbytes
            if room < 0:
                raise OutOfMemoryError(_field(name), str(len(numbers)), "what fits into memory")
        return core

    @property
    def options(self) -> dict[str, Any]:
        """The given values, by the names of parameters."""
        found: dict[str, Any] = {}
        for members in json.loads(self.text).values():
            if isinstance(members, dict):
                found |= {"order" if name == "name" else name: value for name, value in members.items()}
        return found | dict(self.lists)


def made(sections: Mapping[str, Mapping[str, Any]], **lists: Any) -> Recipe:
    """The recipe of options that were given to a call: those that are not None, section by section."""
    own = {name: list for name, list in lists.items() if list is not None}
    return read({name: given(options) for name, options in sections.items()}, own)


def read(recipe: str | Mapping[str, Any], lists: Mapping[str, Any] | None = None) -> Recipe:
    """A recipe from a dictionary or a text of JSON, and the lists beside it, by their paths."""
    return beside(recipe, numbers(lists))


def beside(recipe: str | Mapping[str, Any], lists: Mapping[str, NDArray[np.uint64]]) -> Recipe:
    """A recipe, and lists that were checked already, by their paths."""
    return Recipe(text(recipe), tuple(lists.items()))


def numbers(lists: Mapping[str, Any] | None) -> dict[str, NDArray[np.uint64]]:
    """Lists of whole numbers by their paths, checked, as new arrays."""
    if lists is None:
        return {}
    if not isinstance(lists, Mapping):
        raise WrongTypeError("lists", check.described(lists), "a dictionary of lists, by their paths")
    by_path = {check.crossing("lists", path): own for path, own in lists.items()}
    return {path: check.u64s(_field(path), own, check.COUNT) for path, own in by_path.items()}


def _field(path: str) -> str:
    """The name of a list in a failure: its own name, without the path to it."""
    return path.rpartition("/")[2]


def text(recipe: str | Mapping[str, Any], field: str = "recipe") -> str:
    """A recipe in JSON as it is passed to the component, from a dictionary or a text."""
    if isinstance(recipe, Mapping):
        try:
            recipe = json.dumps(_quoted(recipe), default=_plain, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise WrongTypeError(
                field, str(error)[:64], "what JSON has: numbers, texts, lists, dictionaries"
            ) from error
    if not isinstance(recipe, str):
        raise WrongTypeError(field, check.described(recipe), "a dictionary, or a text of JSON")
    return check.document(field, recipe)


def is_given(options: Mapping[str, Any]) -> bool:
    """Whether any of these options was given."""
    return any(value is not None for value in options.values())


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not None, as members."""
    return {_name(name): _member(name, value) for name, value in options.items() if value is not None}


def _name(parameter: str) -> str:
    """The name of the member for a parameter."""
    return "name" if parameter == "order" else parameter


def _member(field: str, value: Any) -> Any:
    """An option as JSON has it. The core checks whether the member takes a value of this type."""
    if isinstance(value, str):
        return check.name(field, value)
    if isinstance(value, float):
        return value
    if check.is_boolean(value):
        return bool(value)
    return whole(field, value)


def whole(field: str, value: Any) -> int | str:
    """A checked whole number for a recipe, in the form of `written`."""
    return written(number(field, value))


def written(number: int) -> int | str:
    """A whole number as JSON has it: beyond 2**53 - 1 as a string, because JSON tools round such numbers."""
    return number if abs(number) <= check.MAX_EXACT else str(number)


def _quoted(value: Any) -> Any:
    """Members with their whole numbers in the form of `written`. Lists of numbers stay as they are."""
    from numbers import Integral

    if isinstance(value, Mapping):
        return {name: _quoted(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
        return [_quoted(member) for member in value]
    is_whole = isinstance(value, Integral) and not check.is_boolean(value)
    return written(int(value)) if is_whole else value


def is_fraction(value: Any) -> bool:
    """Whether a value is a number that may have a fraction: a float of Python or NumPy, or a `Fraction`."""
    from numbers import Real

    return isinstance(value, Real) and not hasattr(value, "__index__")


def weight(field: str, value: Any, of: str) -> float | str:
    """A weight as JSON has it; `of` says in a failure whose weight it is. The core makes whole numbers of fractions."""
    from math import isfinite

    allowed = f"a number {of}, such as 7 or 0.7"
    if is_fraction(value):
        # The text of a NumPy float of 32 bits has only the digits that identify it: 0.7, and not 0.699999988.
        found = float(str(value)) if type(value).__module__ == "numpy" else float(value)
        if not isfinite(found):
            raise OutOfRangeError(field, str(found), allowed)
        return found
    try:
        return whole(field, value)
    except WrongTypeError as error:
        raise WrongTypeError(field, error.value, allowed) from None


def number(field: str, value: Any) -> int:
    """A whole number for a recipe, checked."""
    whole = check.whole(field, value)
    if abs(whole) >= _WIDE:
        raise OutOfRangeError(field, check.shown(whole), "a number of 64 bits")
    return whole


def call(name: str, first: Any, options: Mapping[str, Any]) -> str:
    """A call as `repr` shows it, with long lists abridged."""
    return f"{name}({_shown(first)}, {listed(options)})"


def listed(options: Mapping[str, Any]) -> str:
    """Options as `repr` shows them in a call."""
    return ", ".join(f"{name}={_shown(value)}" for name, value in options.items())


def _shown(value: Any) -> str:
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) > check.FEW:
        return f"<{len(value)} numbers>"
    if isinstance(value, str) and _WRITTEN.fullmatch(value):
        return value
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def _plain(value: Any) -> Any:
    """An array as a list, a number of NumPy as a number of Python, and a mapping as a dictionary."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
