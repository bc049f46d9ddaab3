"""The choice of `lanes="auto"` over real Parquet files, beside the default of 64 lanes.

    PYTHONPATH=hosts/python/src target/venv-torch/bin/python tests/bench/auto_lanes.py [--smoke]

32 files of 8,000 to 16,000 rows in row groups of 2,000 (those of `mixtures.py`), and 500 files of 100 to 400 rows, are
read by R readers in batches of 256 rows. The figures are of one epoch, over all readers:

decoded  rows that are decoded for each row that is given
excess   variance of the mean stored place of a batch, divided by that of random batches
time     processor time for a row, and to the first batch of a reader (the median), with the making of the dataset from
         footers that were read before
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import mixtures
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BATCH = 256
READERS = (1, 2, 8, 64, 256)


def write_small(folder: Path, files: int) -> None:
    """Many files, each of one small row group."""
    folder.mkdir()
    numbers = np.random.default_rng(9)
    for file in range(files):
        rows = int(numbers.integers(100, 400))
        score = numbers.random(rows, dtype=np.float32)
        table = pa.table(
            {"text": mixtures.texts(rows, numbers), "label": numbers.integers(0, 100, rows), "score": score}
        )
        pq.write_table(table, folder / f"{file:03}.parquet")


def measured(folder: str, readers: int, lanes: str) -> dict[str, float]:
    """The figures of one epoch."""
    from samedeal.files import Shards
    from samedeal.files.groups import Groups
    from samedeal.torch import ShardedDataset

    warnings.simplefilter("ignore")
    pa.set_cpu_count(1)
    # The tests of decoded rows count them in the same way.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hosts/python/tests/distributed"))
    counted = importlib.import_module("decoding").Decoded()
    Groups.decoded = counted.counted  # type: ignore[method-assign]
    options: dict[str, Any] = {"lanes": "auto", "max_readers": readers} if lanes == "auto" else {"lanes": int(lanes)}
    shards = Shards.find(folder)
    given, squares, firsts, began = 0, [], [], process_time()
    for rank in range(readers):
        now, first = process_time(), None
        known = {"batch_size": BATCH, "remainder": "uneven", "sample_column": "sample", **options}
        dataset = ShardedDataset(shards, rank=rank, world_size=readers, **known)
        for batch in dataset:
            first = process_time() - now if first is None else first
            given += batch.num_rows
            if batch.num_rows == BATCH:
                squares.append((batch.column("sample").to_numpy().mean() - (shards.samples - 1) / 2) ** 2)
        firsts.append(first or 0.0)
    order = json.loads(dataset.recipe)["order"]
    chance = (shards.samples**2 - 1) / 12 / BATCH
    return {
        "lanes": order["lanes"],
        "window": order["shuffle_window"],
        "decoded": counted.rows / given,
        "excess": float(np.mean(squares)) / chance if squares else float("nan"),
        "row": 1e6 * (process_time() - began) / given,
        "first": 1e3 * median(firsts),
    }


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="few rows, to see that it works")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        folder, readers, lanes = options.measure
        print(json.dumps(measured(folder, int(readers), lanes)))
        return
    size = mixtures.SMOKE if options.smoke else mixtures.WHOLE
    print("| files | readers | | lanes | window | decoded | excess | processor time of a row | first batch |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        mixtures.write(Path(name), size)
        write_small(Path(name) / "small", 8 if options.smoke else 500)
        for title, folder in (("large", mixtures.FIRST), ("small", "small")):
            for readers in READERS[: 2 if options.smoke else None]:
                for lanes in ("64", "auto"):
                    # A process of its own, so that no other reader has warmed it.
                    words = [sys.executable, __file__, "--measure", str(Path(name) / folder), str(readers), lanes]
                    run = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True)
                    found = json.loads(run.stdout)
                    counts = f"{found['lanes']} | {found['window']} | {found['decoded']:.2f} | {found['excess']:.1f}"
                    times = f"{found['row']:.1f} us | {found['first']:.0f} ms"
                    print(f"| {title} | {readers} | {lanes} | {counts} | {times} |", flush=True)


if __name__ == "__main__":
    main()
