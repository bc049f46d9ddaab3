"""Counts the rows that are decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from samedeal.files.groups import Groups

_known = Groups.decoded


class Decoded:
    """How many rows `Groups` decoded, where `counted` is in the place of `Groups.decoded`."""

    def __init__(self) -> None:
        self.rows = 0

    @property
    def counted(self) -> Callable[..., Iterator[pa.RecordBatch]]:
        """`Groups.decoded`, which counts."""

        def counted(groups: Groups, *args: Any) -> Iterator[pa.RecordBatch]:
            for batch in _known(groups, *args):
                self.rows += batch.num_rows
                yield batch

        return counted
