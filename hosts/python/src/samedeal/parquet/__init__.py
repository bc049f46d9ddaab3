"""Datasets in Parquet files, read by many readers without overlap.

Needs pyarrow: `pip install samedeal[parquet]`.
"""

from ._files import Shards
from ._reading import ahead, batches, read_samples, read_shards

__all__ = ["Shards", "ahead", "batches", "read_samples", "read_shards"]
