"""Single numbers of a memory-mapped file, read without mapping their pages."""

from __future__ import annotations

import mmap
import os
import sys
import weakref
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..engine.errors import ContradictionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_READ = 2**14
"""How many bytes are mapped for the cost of one read, if the file is in memory: a page fault maps 64 kB, and costs as
much as four reads."""

_PIECE = 2**14
_PIECES = 2**12
"""The most pieces of a file that go into its checksum."""
_WINDOWS = 2**14
"""The most windows whose checksums are kept. With more, the checksums are collected anew."""


def place(given: Any) -> tuple[Any, ...] | None:
    """The place of a memory-mapped array: file, type, first byte, shape. None for other arrays, or if it is unknown."""
    import numpy

    if not isinstance(given, numpy.memmap) or not given.flags.c_contiguous or not given.filename or not given.size:
        return None
    # A part of a mapped array has the `offset` of the whole array, so the first byte is computed from addresses.
    start = given.offset - given.offset % mmap.ALLOCATIONGRANULARITY
    base = numpy.frombuffer(given._mmap, dtype=numpy.uint8).ctypes.data  # type: ignore[attr-defined]
    return str(given.filename), given.dtype.str, start + given.ctypes.data - base, given.shape


def checksum(array: NDArray[Any]) -> int:
    """A checksum of the bytes of a mapped array; of pieces only, if the array is large.

    Each worker process opens the file and compares the checksum. To read all of a large file would take seconds. A
    change between the pieces is seen in each window that was planned before (`Mapped.known`), and in all windows where
    the batcher has an index, as that of a `PackedDataset` whose length is known: the index has a checksum of each
    window. The time of the file is not compared, since a copy has another one.
    """
    import numpy

    data = array.reshape(-1).view(numpy.uint8).data
    count = min(_PIECES, -(-len(data) // _PIECE))
    found = 0
    for number in range(count):
        first = number * (len(data) - _PIECE) // max(1, count - 1) if count == _PIECES else number * _PIECE
        found = zlib.crc32(data[first : first + _PIECE], found)
    return found


class Mapped:
    """A mapped array of one dimension, which gives its values by their indices.

    A window of a large dataset needs few values of many pages. A page fault for each value takes four times as long as
    a read, and if the file is not in memory, page faults wait for the disk one after the other. So values are read at
    first, and pieces that are not in memory are requested from the disk together. Once the reads have cost as much as
    mapping the whole file, values come from the mapping.
    """

    def __init__(self, array: NDArray[Any], path: str, start: int, known: Mapping[int, int]) -> None:
        """Takes the array, the path of its file, which is opened later, and the byte of its first value in the file.

        `known` has the checksums that another process has found.
        """
        self._array, self._path, self._start = array, path, start
        self.known = dict(known)
        """Checksums of values that were read together, such as those of a window, by a checksum of their indices.

        Empty if the checksum of the file is of all its bytes."""
        # Only a Python that was built on Linux has `RWF_NOWAIT`.
        self._left = array.nbytes // _READ if hasattr(os, "RWF_NOWAIT") and array.ndim == 1 else 0
        """How many reads are left until they have cost as much as page faults for the whole file. At 0, values come
        from the mapping."""
        self._file: int | None = None

    def __call__(self, samples: NDArray[np.int64]) -> NDArray[Any]:
        """The values at these indices.

        Raises:
            ContradictionError: They were others when the same indices were read before.
        """
        found = self._values(samples)
        if self._array.nbytes > _PIECES * _PIECE:
            which = len(samples) << 64 | zlib.crc32(samples.tobytes()) << 32 | zlib.adler32(samples.tobytes())
            if len(self.known) >= _WINDOWS:
                self.known.clear()
            if self.known.setdefault(which, own := zlib.crc32(found.tobytes())) != own:
                allowed = f"those of the file {self._path} as they were when these {len(samples)} were read before"
                raise ContradictionError("lengths", "other lengths", allowed)
        return found

    def _values(self, samples: NDArray[np.int64]) -> NDArray[Any]:
        import numpy

        if self._left:
            first = numpy.flatnonzero(numpy.diff(samples, prepend=-2) != 1)
            if len(first) <= self._left and self._opened():
                self._left -= len(first)
                sizes = numpy.diff(first, append=len(samples)) * self._array.itemsize
                found = self._pieces(samples[first] * self._array.itemsize, sizes.tolist())
                if found is not None:
                    return numpy.frombuffer(found, dtype=self._array.dtype)
            self._left = 0
        return self._array[samples]

    def _opened(self) -> bool:
        """Opens the file. Returns whether the path still leads to the file that is mapped."""
        if self._file is None:
            try:
                file = os.open(self._path, os.O_RDONLY)
            except OSError:
                return False
            weakref.finalize(self, os.close, file)
            if _is_mapped(file, self._array.ctypes.data):
                self._file = file
        return self._file is not None

    def _pieces(self, places: NDArray[np.int64], sizes: list[int]) -> bytearray | None:
        """The bytes of pieces of the file; None if the file system cannot say which bytes are in memory."""
        if sys.platform != "linux" or self._file is None:
            return None
        file = self._file
        found, done, waits = bytearray(sum(sizes)), 0, os.RWF_NOWAIT
        pieces = [(self._start + at, size) for at, size in zip(places.tolist(), sizes, strict=True)]
        view = memoryview(found)
        for number, (at, size) in enumerate(pieces):
            piece = [view[done : done + size]]
            try:
                read = os.preadv(file, piece, at, waits)
            except BlockingIOError:
                read = 0
            except OSError:
                return None
            if read < size:
                if not waits or os.preadv(file, piece, at) < size:
                    return None
                # Requests all further pieces at once, so that the disk reads them in parallel.
                waits = 0
                for other, length in pieces[number + 1 :]:
                    os.posix_fadvise(file, other, length, os.POSIX_FADV_WILLNEED)
            done += size
        return found


def _is_mapped(file: int, address: int) -> bool:
    """Whether this open file is mapped at the address, and writes to the file are seen in the mapping."""
    if sys.platform != "linux":
        return False
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                span, access, _, device, inode = line.split(maxsplit=5)[:5]
                first, end = (int(number, 16) for number in span.split("-"))
                if first <= address < end:
                    major, minor = (int(number, 16) for number in device.split(":"))
                    info = os.fstat(file)
                    return access.endswith("s") and (info.st_dev, info.st_ino) == (os.makedev(major, minor), int(inode))
    except OSError:
        pass
    return False
