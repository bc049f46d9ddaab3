"""Datasets in files, read by many readers without overlap.

Needs pyarrow: `pip install 'hosts/python[parquet]'` in a checkout.
"""

from .shards import Shards
from .prefetch import ahead
from .reading import Marks, batches, read_reader, read_rows
from .sources import Sources

__all__ = [
    "Marks",
    "Shards",
    "Sources",
    "ahead",
    "batches",
    "read_reader",
    "read_rows",
]
