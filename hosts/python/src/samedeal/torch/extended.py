"""Objects of frameworks that get methods of this package."""

from __future__ import annotations

import functools
from typing import Any


def extend(one: Any, methods: Any) -> None:
    """Overrides methods of an object: its class becomes a subclass of `methods` and of its own class.

    A method in the object's own dictionary would be a cycle, which keeps the object until a garbage collection.
    """
    if not isinstance(one, methods):
        original: Any = type(one)
        one.__class__ = _extended(methods, original)


@functools.cache
def _extended(methods: Any, original: Any) -> Any:
    def reduced(self: Any, protocol: int) -> Any:
        """Pickles the object with its original class, because no module has the class that was made here."""
        known: Any = object.__reduce_ex__(self, 2)
        return _new, (original,), *known[2:]

    own = {"__module__": original.__module__, "__reduce_ex__": reduced}
    return type(original.__name__, (methods, original), own)


def _new(original: Any) -> Any:
    return original.__new__(original)
