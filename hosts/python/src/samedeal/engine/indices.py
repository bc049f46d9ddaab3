"""Arrays of sample indices whose elements are plain integers of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .errors import OutOfMemoryError

WINDOW = 2**16
"""The most indices that are read at a time: half a megabyte, so that they are still in the cache of the processor."""


def empty(count: int, dtype: Any = np.int64) -> Any:
    """A new array, whose numbers are not set yet."""
    try:
        return np.empty(count, dtype=dtype)
    except (MemoryError, ValueError) as error:
        raise OutOfMemoryError("count", str(count), "a shorter run") from error


def read(start: int, stop: int, ask: Callable[[int, int], Any], dtype: Any = np.int64) -> Any:
    """The numbers `start` to `stop` - 1, read in windows by `ask(start, count)`."""
    out = empty(stop - start, dtype)
    for at in range(start, stop, WINDOW):
        count = min(WINDOW, stop - at)
        out[at - start : at - start + count] = ask(at, count)
    return out


class Indices(np.ndarray[Any, np.dtype[np.int64]]):
    """An array that gives `int` where it is iterated or indexed by a number, because some datasets accept only `int`.

    A `DataLoader` passes to its dataset what iteration over a batch gives, and a `Subset` passes what indexing gives.
    All other operations are those of an array. Results of arithmetic are plain arrays.
    """

    def __iter__(self) -> Iterator[Any]:
        """The elements."""
        return iter(self.tolist()) if self.ndim == 1 else super().__iter__()

    def __getitem__(self, at: Any) -> Any:
        """An element, or a part."""
        found = super().__getitem__(at)
        return int(found) if isinstance(found, np.integer) else found

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """The result of arithmetic: a plain array."""
        plain = array.view(np.ndarray)
        return plain[()] if return_scalar or plain.ndim == 0 else plain

    def __repr__(self) -> str:
        """The text of any array: this class adds nothing to it."""
        return repr(self.view(np.ndarray))
