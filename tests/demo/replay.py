"""One epoch over a folder of Parquet files as one of several ranks: the Python part of `cargo xtask demo`.

    python replay.py DIR --column text --rank 0 --world-size 4 --batch-size 32

The samples are the rows of all *.parquet files below DIR whose names do not begin with . or _, laid end to end in the
order of the paths. Prints a JSON object: the number of samples and batches, the first and the last five indices, and
the SHA-256 over each sample in the order seen, as its length in bytes (8 bytes, little-endian) and its bytes.
"""

import argparse
import hashlib
import importlib.metadata
import json
import time
from pathlib import Path

import pyarrow.parquet as pq
import samedeal


def is_hidden(path: Path) -> bool:
    """Whether a part of a path below the folder marks it as a hidden or temporary file."""
    return any(part.startswith((".", "_")) for part in path.parts)


def read(folder: Path, column: str) -> list[bytes]:
    """One column of the whole dataset, text as UTF-8."""
    files = [file for file in folder.rglob("*.parquet") if file.is_file() and not is_hidden(file.relative_to(folder))]
    files.sort(key=lambda file: file.relative_to(folder).as_posix().encode())
    values = (value for file in files for value in pq.ParquetFile(file).read([column])[column].to_pylist())
    return [value.encode() if isinstance(value, str) else value for value in values]


def main() -> None:
    """Reads epoch 0."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--column", default="text")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world-size", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()

    start = time.perf_counter()
    dataset = read(options.folder, options.column)
    sampler = samedeal.Sampler(len(dataset), seed=0, epoch=0, rank=options.rank, world_size=options.world_size)
    digest = hashlib.sha256()
    seen: list[int] = []
    batches = 0
    for batch in sampler.batches(options.batch_size):
        batches += 1
        for index in batch.tolist():
            digest.update(len(dataset[index]).to_bytes(8, "little"))
            digest.update(dataset[index])
            seen.append(index)
    seconds = time.perf_counter() - start

    engine = f"python (wasmtime-py {importlib.metadata.version('wasmtime')})"
    result = {"engine": engine, "samples": len(seen), "batches": batches, "first": seen[:5], "last": seen[-5:]}
    print(json.dumps({**result, "sha256": digest.hexdigest(), "seconds": seconds}))


if __name__ == "__main__":
    main()
