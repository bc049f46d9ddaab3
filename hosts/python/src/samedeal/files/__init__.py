"""Datasets in files of any format, read by many readers without overlap.

Needs pyarrow: `pip install 'hosts/python[parquet]'` in a checkout.
"""

from .filters import matching
from .format import File, Footer, Format
from .jsonl import JsonLines
from .location import Location
from .prefetch import ahead
from .reading import Marks, batches, read_reader, read_rows
from .shards import Shards
from .sources import Sources

__all__ = [
    "File",
    "Footer",
    "Format",
    "JsonLines",
    "Location",
    "Marks",
    "Shards",
    "Sources",
    "ahead",
    "batches",
    "matching",
    "read_reader",
    "read_rows",
]
