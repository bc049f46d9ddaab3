"""Objects of frameworks that get methods of this package."""

from __future__ import annotations

import functools
from typing import Any


def extend(one: Any, methods: Any) -> None:
    """Puts methods before those of an object, whose class becomes a subclass of both.

    A method in the object's own dictionary would keep the object alive until a garbage collection.
    """
    if not isinstance(one, methods):
        original: Any = type(one)
        one.__class__ = _extended(methods, original)


@functools.cache
def _extended(methods: Any, original: Any) -> Any:
    def reduced(self: Any, protocol: int) -> Any:
        """Pickles it as what it was: no module has this class."""
        known: Any = object.__reduce_ex__(self, 2)
        return _new, (original,), *known[2:]

    own = {"__module__": original.__module__, "__reduce_ex__": reduced}
    return type(original.__name__, (methods, original), own)


def _new(original: Any) -> Any:
    return original.__new__(original)
