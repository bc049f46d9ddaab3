"""Arrays of sample indices whose elements are plain integers of Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Indices(np.ndarray[Any, np.dtype[np.int64]]):
    """An array that gives `int` where it is iterated or indexed by a number: datasets may take nothing else.

    A `DataLoader` passes to its dataset what iteration over a batch gives, and a `Subset` passes what indexing gives.
    Everything else is as with any array. Results of arithmetic are plain arrays.
    """

    def __iter__(self) -> Iterator[Any]:
        """The elements."""
        return iter(self.tolist()) if self.ndim == 1 else super().__iter__()

    def __getitem__(self, at: Any) -> Any:
        """An element, or a part."""
        found = super().__getitem__(at)
        return int(found) if isinstance(found, np.integer) else found

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What arithmetic gives."""
        plain = array.view(np.ndarray)
        return plain[()] if return_scalar or plain.ndim == 0 else plain

    def __repr__(self) -> str:
        """As that of any array."""
        return repr(self.view(np.ndarray))
