"""The lengths of samples, read in place: a plan reads only the lengths that it needs."""

from __future__ import annotations

import math
import operator
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..engine import arguments as check
from ..engine.errors import ContradictionError, SamedealError, WrongTypeError
from ..engine.sources import LengthsSource
from .mapped import Mapped, checksum, place

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_ALLOWED = "an array or a list of whole numbers; of a file, numpy.load(path, mmap_mode='r')"
_BLOCK = 2**20
"""How many lengths are written to a file, or added to a checksum, at a time."""


class Lengths:
    """The lengths of the samples of a dataset."""

    def __init__(self, given: Any, samples: int | None, read: Callable[[NDArray[np.int64]], Any]) -> None:
        """Takes the given object, the number of samples (None if unknown), and a function that reads lengths."""
        self.given, self.samples, self._read = given, samples, read
        self.longest = 0
        """The largest length that was read so far."""

    @classmethod
    def of(cls, given: Any, known: Mapping[int, int] = MappingProxyType({})) -> Lengths:
        """Lengths from an array, a column or a list, or from an object or a function that gives them by sample indices.

        `known` has checksums of lengths in a memory-mapped file, as `Mapped.known`.

        Raises:
            WrongTypeError: The value is of another type.
            OutOfRangeError: The value is an iterator, and a length is outside its range.
        """
        if hasattr(given, "take") and hasattr(given, "chunks"):
            # `take` of a chunked array of Arrow is used, because its `__array__` copies all lengths.
            return cls(given, check.length("lengths", given, _ALLOWED), _Taken(given))
        if (column := _arrow_column(given)) is not None:
            return cls(given, check.length("lengths", given, _ALLOWED), column)
        if hasattr(given, "__array__"):
            array = check.array("lengths", given, _ALLOWED)
            at = place(given)
            return cls(given, len(array), array.__getitem__ if at is None else Mapped(given, at[0], at[2], known))
        if isinstance(given, (str, bytes, bytearray, Mapping, Set)):
            raise WrongTypeError("lengths", check.described(given), _ALLOWED)
        if isinstance(given, Sequence):
            return cls(given, check.length("lengths", given, _ALLOWED), _Items(given))
        if hasattr(given, "__len__") and hasattr(given, "__getitem__"):
            return cls(given, check.length("lengths", given, _ALLOWED), _Asked(given))
        if callable(given):
            # The order says how many samples there are.
            return cls(given, None, given)
        if not isinstance(given, Iterable):
            raise WrongTypeError("lengths", check.described(given), _ALLOWED)
        # An iterator can be read only once, so its lengths are stored.
        listed = check.u32s("lengths", given, check.U32)
        return cls(listed, len(listed), listed.__getitem__)

    def __reduce__(self) -> Any:
        """Pickles the given object; for a memory-mapped file, its path and checksums in place of its contents."""
        if self.samples is None or isinstance(self._read, _Asked):
            check.sent("lengths", self.given, "a function or an object")
        at = place(self.given)
        if at is None:
            return Lengths.of, (self.given,)
        windows = self._read.known.copy() if isinstance(self._read, Mapped) else {}
        return _opened, (*at, checksum(self.given), windows)

    def in_file(self, path: Path) -> Lengths:
        """Lengths that other processes can read: lengths in memory are written to a file.

        A memory-mapped file is used as it is, and so is a function or an object of the user, which defines its own
        pickling.
        """
        import numpy

        if not self.samples or place(self.given) is not None or isinstance(self._read, _Asked):
            return self
        file = numpy.lib.format.open_memmap(path, mode="w+", dtype=numpy.uint32, shape=(self.samples,))
        for first in range(0, self.samples, _BLOCK):
            last = min(first + _BLOCK, self.samples)
            try:
                file[first:last] = self.at(numpy.arange(first, last))
            except SamedealError:
                # The wrong length may be of a sample that the order leaves out: only a plan that needs it raises an
                # error.
                return self
        file.flush()
        return Lengths.of(numpy.load(path, mmap_mode="r"))

    def identity(self) -> int | None:
        """A checksum of all lengths.

        None if a function or an object of the user gives them, which may be slow, or if a length is wrong.
        """
        import numpy

        if self.samples is None or isinstance(self._read, _Asked):
            return None
        found = self.samples
        for first in range(0, self.samples, _BLOCK):
            try:
                found = zlib.crc32(self.at(numpy.arange(first, min(first + _BLOCK, self.samples))).tobytes(), found)
            except SamedealError:
                # The wrong length may be of a sample that the order leaves out: only a plan that needs it raises an
                # error.
                return None
        return found

    def at(self, samples: NDArray[np.int64], before: int = 0) -> NDArray[np.uint32]:
        """The lengths of these samples. A failure names a sample by its index plus `before`.

        Raises:
            WrongTypeError: A length is no whole number.
            OutOfRangeError: A length is outside its range.
            ContradictionError: There are not as many lengths as samples.
        """
        found: NDArray[Any] = self._read(samples)
        if getattr(found, "dtype", None) != "uint32" or type(found).__module__ != "numpy" or found.ndim != 1:
            found = check.u32s("lengths", found, check.U32, lambda index: f"sample {samples[index] + before}")
        if len(found) != len(samples):
            allowed = f"{len(samples)}, one for each sample that was asked for"
            raise ContradictionError("lengths", f"{len(found)} numbers", allowed)
        self.longest = max(self.longest, int(found.max(initial=0)))
        return found


def _opened(
    path: str, dtype: str, offset: int, shape: tuple[int, ...], known: int, windows: Mapping[int, int]
) -> Lengths:
    """Opens the memory-mapped file that a pickle names. `windows` has checksums of lengths, as `Mapped.known`.

    Raises:
        ContradictionError: The file has other lengths now.
        OSError: The file cannot be opened.
    """
    import numpy

    allowed = f"those of the file {path} as it was when the batcher was pickled"
    end = offset + math.prod(shape) * numpy.dtype(dtype).itemsize
    if (size := os.path.getsize(path)) < end:
        raise ContradictionError("lengths", f"a file of {size} bytes", allowed)
    array = numpy.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape)
    if checksum(array) != known:
        raise ContradictionError("lengths", "other bytes", allowed)
    return Lengths.of(array, windows)


class _Items:
    """A sequence, which gives its items one by one."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    def __call__(self, samples: NDArray[np.int64]) -> Sequence[Any]:
        numbers = samples.tolist()
        return operator.itemgetter(*numbers)(self._values) if len(numbers) > 1 else [self._values[i] for i in numbers]


class _Asked:
    """An object that gives lengths by an array of sample indices."""

    def __init__(self, source: LengthsSource) -> None:
        self._source = source

    def __call__(self, samples: NDArray[np.int64]) -> Any:
        try:
            return self._source[samples]
        except (TypeError, LookupError) as error:
            # The object may be a dataset, which gives samples one by one.
            allowed = f"{_ALLOWED}, or what gives lengths by an array of sample indices"
            raise WrongTypeError("lengths", check.described(self._source), allowed) from error


class _Taken:
    """A chunked column of Arrow. `rows`, if given, is a column that has the row of each sample."""

    def __init__(self, column: Any, rows: Any = None) -> None:
        self._column, self._rows = column, rows

    def __call__(self, samples: NDArray[np.int64]) -> NDArray[Any]:
        import pyarrow

        places = pyarrow.array(samples)
        if self._rows is not None:
            places = self._rows.take(places)
        found: NDArray[Any] = self._column.take(places).to_numpy()
        return found


def _arrow_column(given: Any) -> _Taken | None:
    """The Arrow column of a column of a Hugging Face dataset; None if it is computed, or has no whole numbers."""
    source: Any = getattr(given, "source", None)
    name = getattr(given, "column_name", "")
    if getattr(source, "_format_type", "custom") == "custom" or not hasattr(source, "data"):
        return None
    if not getattr(source.features[name], "dtype", "").startswith(_KINDS):
        return None
    rows = source._indices
    return _Taken(source.data.column(name), None if rows is None else rows.column(0))


_KINDS = ("int", "uint")
"""The beginnings of the names of Arrow's types of whole numbers."""


def is_numbers(column: Any) -> bool:
    """Whether a column of NumPy, Arrow or Hugging Face has whole numbers, which are then read in place."""
    if getattr(getattr(column, "dtype", None), "kind", "") in ("i", "u") or _arrow_column(column) is not None:
        return True
    return hasattr(column, "take") and str(getattr(column, "type", "")).startswith(_KINDS)


class Joined(Lengths):
    """The lengths of the sources of a blend, one source after the other, read in place."""

    def __init__(self, parts: Sequence[tuple[str, Lengths, int]]) -> None:
        """Takes the name of each source, its lengths, and how many samples it has."""
        import numpy

        self._parts = parts
        self._ends = numpy.cumsum([samples for _, _, samples in parts])
        super().__init__({name: part.given for name, part, _ in parts}, int(self._ends[-1]), self._joined)

    def __reduce__(self) -> Any:
        """Pickles the parts."""
        return Joined, (self._parts,)

    def identity(self) -> int | None:
        """A checksum over the checksums of the parts; None if a part has none."""
        found = [part.identity() for _, part, _ in self._parts]
        return None if None in found else zlib.crc32(str(found).encode())

    def in_file(self, path: Path) -> Lengths:
        """The lengths of all parts, each written to a file of its own."""
        return Joined(
            [
                (name, part.in_file(path.with_name(f"{number}-{path.name}")), samples)
                for number, (name, part, samples) in enumerate(self._parts)
            ]
        )

    def _joined(self, samples: NDArray[np.int64]) -> NDArray[np.uint32]:
        import numpy

        which = numpy.searchsorted(self._ends, samples, side="right")
        found = numpy.empty(len(samples), dtype=numpy.uint32)
        for number in numpy.unique(which).tolist():
            own, before = which == number, int(self._ends[number - 1]) if number else 0
            found[own] = self._parts[number][1].at(samples[own] - before, before)
        return found
