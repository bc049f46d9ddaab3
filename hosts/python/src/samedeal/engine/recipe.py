"""Recipes: everything that decides a run, as one JSON document that the core reads, completes and writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from . import arguments as check
from .errors import OutOfRangeError, WrongTypeError

_MOST = 2**20
"""Bytes of a recipe: a text that does not fit into the component's memory would end it."""
_WIDE = 10**24
"""Integers from here on are not written: Python writes only so many digits, and no member takes so many."""


def text(recipe: str | Mapping[str, Any]) -> str:
    """A recipe as text, from a dictionary or a text of JSON."""
    if isinstance(recipe, Mapping):
        try:
            recipe = json.dumps(recipe, default=_plain, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise WrongTypeError(
                "recipe", str(error)[:64], "what JSON has: numbers, texts, lists, dictionaries"
            ) from error
    if not isinstance(recipe, str):
        raise WrongTypeError("recipe", check.described(recipe), "a dictionary, or a text of JSON")
    encoded = recipe.encode("utf-8", "backslashreplace")
    if len(encoded) > _MOST:
        raise OutOfRangeError("recipe", f"of {len(encoded)} bytes", f"up to {_MOST}")
    return encoded.decode()


def section(options: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a section, from the options that were given: those that are not None."""
    return {name: _member(name.replace("_", "-"), value) for name, value in options.items() if value is not None}


def _member(field: str, value: Any) -> Any:
    """An option as JSON has it. Whether it is of the right type is for the core to say."""
    if isinstance(value, str):
        return check.name(field, value)
    if isinstance(value, (bool, float)):
        return value
    if isinstance(value, Iterable) and getattr(value, "ndim", None) != 0:
        return check.u32s(field, value, check.U32).tolist()
    number = check.whole(field, value)
    if abs(number) >= _WIDE:
        raise OutOfRangeError(field, check.shown(number), "a number of 64 bits")
    return number


def _plain(value: Any) -> Any:
    """An array as a list, and a number of NumPy as an integer."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
