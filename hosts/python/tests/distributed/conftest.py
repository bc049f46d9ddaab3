"""Real Parquet shards of uneven size."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# Rows of each shard: one is empty, one is a single row, one is larger than all others together.
SIZES = (137, 1, 0, 400, 23, 1_611, 64, 2)
SAMPLES = sum(SIZES)


def write(folder: Path, sizes: tuple[int, ...] = SIZES, row_group: int = 100) -> Path:
    """Writes a shard for each size. The column `id` is the index of the sample."""
    folder.mkdir(parents=True, exist_ok=True)
    first = 0
    for number, size in enumerate(sizes):
        ids = np.arange(first, first + size, dtype=np.int64)
        table = pa.table(
            {
                "id": ids,
                "text": pa.array([f"sample {i}" for i in ids], pa.string()),
                "value": ids.astype(np.float32) / 2,
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(ids, 3)), 3),
            }
        )
        pq.write_table(table, folder / f"{number:03}.parquet", row_group_size=row_group)
        first += size
    return folder


def damaged(data: Path, folder: Path) -> Path:
    """A copy of the shards, in which pages of 005.parquet are damaged."""
    shutil.copytree(data, folder)
    path = folder / "005.parquet"
    content = bytearray(path.read_bytes())
    content[4:2_000] = bytes(1_996)
    path.write_bytes(content)
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of shards."""
    return write(tmp_path_factory.mktemp("data") / "shards")
