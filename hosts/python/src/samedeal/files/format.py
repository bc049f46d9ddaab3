"""The protocol between the readers of a dataset and a format of files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa

from .location import Location

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Footer(NamedTuple):
    """The facts about a file that are needed before its rows are read."""

    schema: pa.Schema
    """The columns of the file."""
    rows: Sequence[int] | NDArray[np.int64]
    """How many rows each part of the file has. Reading can begin at each part."""
    bytes: Sequence[int] | NDArray[np.int64]
    """About how many bytes the rows of each part take in memory, in all columns."""
    stored: Callable[[Collection[str]], Mapping[str, int]] | None = None
    """How many bytes each of these columns takes in the file, if the format knows. It is called before the file is
    closed."""
    index: Any = None
    """A value with which `Format.open` opens the file again without scanning it. It must pickle. It is held in memory
    for every file of a dataset, and sent to loader workers, so it must be much smaller than the file."""
    size: int | None = None
    """How many bytes the file has. If it has another number when it is opened again, that is an error."""
    digest: str | None = None
    """SHA-256 of the bytes of the file that describe its rows (in Parquet: its footer), in hexadecimal. If it is
    another one when the file is opened again, that is an error. `verify_ranks` compares it between ranks, and a
    manifest keeps it. Only formats with `size` and `digest`, and without `index`, can have a manifest."""


class File(Protocol):
    """A file that is open.

    If it has an attribute `interleaves` that is true, several iterations of `batches` may go on side by side, and all
    lanes of a reader share the file. Otherwise, each lane opens the file for itself.
    """

    @property
    def footer(self) -> Footer:
        """The facts about the file."""

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Reads successive parts, with these columns in any order.

        Batches may be of any size, and go across the borders of parts. `rows` is the number of rows for which the
        reader has memory; a format that decodes row by row gives batches of `rows` rows.

        Raises:
            OSError: The rows cannot be read. The message needs no path, which is added.
        """

    def close(self) -> None:
        """Closes the file. It is called once or several times."""


class Format(Protocol):
    """A format of files. A class of your own should be derived from this one, which has `choose`."""

    name: str
    """The name in error messages."""
    suffixes: tuple[str, ...]
    """How the names of files end, in lower case."""

    def open(self, location: Location, index: Any = None) -> File:
        """Opens a file. `index` is `Footer.index` of the same file, if it was opened before.

        Raises:
            OSError: The file is of another format, is cut off, or is not the file that `index` is of. The message needs
                no path, which is added.
        """

    def choose(self, names: Sequence[str], read: Callable[[str], bytes]) -> Sequence[str]:
        """The files of a dataset in a directory, in their order. By default, those with one of the suffixes.

        Args:
            names: All files below the directory, sorted by the bytes of their relative paths, with '/' between parts.
            read: Reads one of these files, by its name: for a file that lists the others.

        Raises:
            OSError: A file that lists the others cannot be used.
        """
        return [name for name in names if name.endswith(self.suffixes)]
