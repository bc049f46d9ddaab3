"""Writes a small dataset in shards: python make_shards.py FOLDER. With a dataset of your own, leave this out."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SIZES = [40, 25, 0, 60, 35]


def main(folder: Path) -> None:
    """Writes rows with an id, and the length of a text. In one shard, the texts are long."""
    folder.mkdir(parents=True, exist_ok=True)
    first = 0
    for shard, size in enumerate(SIZES):
        ids = range(first, first + size)
        lengths = [100 + i % 7 + (5000 if shard == 3 else 0) for i in ids]
        pq.write_table(pa.table({"id": pa.array(ids, pa.int64()), "length": lengths}), folder / f"{shard}.parquet")
        first += size


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
