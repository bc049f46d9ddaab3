"""Datasets in Parquet files, read by many readers without overlap.

Needs pyarrow: `pip install samedeal[parquet]`.
"""

from ._ahead import ahead
from ._files import Shards
from ._reading import Marks, batches, read_reader, read_rows

__all__ = [
    "Marks",
    "Shards",
    "ahead",
    "batches",
    "read_reader",
    "read_rows",
]
