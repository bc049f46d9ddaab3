"""Objects of frameworks that get methods of this package."""

from __future__ import annotations

import functools
from typing import Any


def extend(one: Any, methods: type) -> None:
    """Puts methods before those of an object, whose class becomes a subclass of both.

    A method in the object's own dictionary would keep the object alive until a garbage collection.
    """
    if not isinstance(one, methods):
        one.__class__ = _extended(methods, type(one))


@functools.cache
def _extended(methods: type, original: type) -> type:
    def __reduce_ex__(self: Any, protocol: int) -> Any:
        """Pickles it as what it was: no module has this class."""
        _, _, *rest = object.__reduce_ex__(self, 2)
        return _new, (original,), *rest

    own = {"__module__": original.__module__, "__reduce_ex__": __reduce_ex__}
    return type(original.__name__, (methods, original), own)


def _new(original: type) -> Any:
    return original.__new__(original)
