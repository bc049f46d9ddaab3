"""Lance datasets. Each dataset, a directory, is one shard. Its parts (see `format.Footer`) are Lance's fragments."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from .. import MissingError
from .format import File, Footer, Format
from .location import Location

_process: dict[str, int] = {}
"""The number of the process that used Lance first, under the key "id". Forked children inherit it."""


class _LanceFile:
    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._fragments = dataset.get_fragments()

    @property
    def footer(self) -> Footer:
        """The schema of the dataset, and the rows of its fragments."""
        rows = [fragment.count_rows() for fragment in self._fragments]
        # Lance has no sizes of columns. Values of a variable length count as 64 bytes.
        width = sum(_width(field.type) for field in self._dataset.schema)
        return Footer(self._dataset.schema, rows, [width * each for each in rows], None, self._dataset.version)

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The rows in the order of the fragments, `rows` at a time."""
        for part in parts:
            yield from self._fragments[part].to_batches(columns=list(columns), batch_size=rows)

    def close(self) -> None:
        """Forgets the dataset, which has no file that is open."""
        self._fragments = []


class Lance(Format):
    """Lance datasets. All readers read the version that there was at the start."""

    name = "Lance"
    suffixes = (".lance",)

    def open(self, location: Location, index: Any = None) -> File:
        """Opens a dataset of this machine, in the version `index`, or in the newest one.

        Raises:
            MissingError: The package `pylance` is not installed.
        """
        if location.store is not None:
            raise OSError("Lance opens only paths of this machine here")
        try:
            lance = importlib.import_module("lance")
        except ImportError as error:
            raise MissingError("format", "", f"the package pylance ({error})") from error
        # A forked child does not have the threads of Lance, and would wait for them for ever.
        if _process.setdefault("id", os.getpid()) != os.getpid():
            context = 'start the workers anew: DataLoader(..., multiprocessing_context="spawn")'
            raise OSError(f"Lance was used before this process was forked, and cannot be used after that; {context}")
        try:
            return _LanceFile(lance.dataset(location.path.rstrip("/"), version=index))
        except ValueError as error:
            raise OSError(str(error)) from error

    def choose(self, names: Sequence[str], read: Callable[[str], bytes]) -> Sequence[str]:
        """The datasets below a directory, each with its fragments in its directory `data`; or the directory itself."""
        found: dict[str, None] = {}
        for name in names:
            folder, _, data = name.rpartition("/")[0].rpartition("/")
            if data == "data" and name.endswith(self.suffixes):
                found[folder] = None
        return list(found)


def _width(kind: pa.DataType) -> int:
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return 64
