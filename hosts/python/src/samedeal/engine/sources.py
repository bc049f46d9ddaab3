"""The types of objects that give the lengths of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Source: TypeAlias = "ArrayLike | Iterable[SupportsIndex] | LengthsSource | Callable[[Any], Any]"


@runtime_checkable
class LengthsSource(Protocol):
    """An object that gives a `Batcher` the lengths of samples, in place of an array.

    Use a class of this kind for lengths that are computed or stored elsewhere. Arrays, memory-mapped files
    (`numpy.load(path, mmap_mode="r")`), columns of Arrow and Hugging Face, and lists need no such class. A column of a
    Parquet file is best saved once as a file of NumPy: a plan asks for samples at random places, and Parquet has no
    random access.

        numpy.save("lengths.npy", pyarrow.parquet.read_table(path, columns=["length"])["length"].to_numpy())
    """

    def __len__(self) -> int:
        """Number of samples."""
        ...

    def __getitem__(self, samples: Any, /) -> Any:
        """The lengths of these samples, in tokens: as many whole numbers as the array of sample indices has."""
        ...
