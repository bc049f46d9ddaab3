"""The resource `split` of the interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..engine.instance import Resource
from ..generated import splits
from ..recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Parts(Resource, splits.Split):
    """A `split` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(self, config: None, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text)
        self.current = config

    def part_of_texts(self, keys: Sequence[bytes]) -> NDArray[np.uint32]:
        """The number of the part of each text, which is in UTF-8.

        All texts cross the interface as one, since each string costs a call of the component.
        """
        return self.part_of_keys(*laid(keys))


def laid(keys: Sequence[bytes]) -> tuple[str, NDArray[np.uint32]]:
    """Texts in UTF-8 as one text, and the end of each."""
    import numpy

    ends = numpy.cumsum(numpy.fromiter(map(len, keys), dtype=numpy.uint32, count=len(keys)), dtype=numpy.uint32)
    return b"".join(keys).decode(), ends
