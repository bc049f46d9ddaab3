"""Datasets in Parquet files, read by many readers without overlap.

Needs pyarrow: `pip install 'hosts/python[parquet]'` in a checkout.

These are the names of `samedeal.files`, which reads other formats too.
"""

from __future__ import annotations

from .files import Marks, Shards, Sources, ahead, batches, read_reader, read_rows

__all__ = [
    "Marks",
    "Shards",
    "Sources",
    "ahead",
    "batches",
    "read_reader",
    "read_rows",
]
