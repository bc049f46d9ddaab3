"""Mixtures of Parquet files in directories: rows per second, the first batch, and how often a row is decoded.

    cargo xtask bench --only mixtures
    target/venv-peers/bin/python tests/bench/mixtures.py [--smoke]

Three directories have 32 files each, of 8,000 to 16,000 rows in row groups of 2,000: a text of about 45 words, a whole
number and a float. A mixture takes 70:20:10 of them, with as many rows as the first directory has. A batch is a
dictionary with a list of texts and two tensors. Hugging Face's datasets makes the same mixture of streams with a
shuffle buffer for each directory, of as many rows as samedeal has in its lanes. Every value is of a process of its own;
the programs take turns. Ratios are of the smallest values, since other work of the machine only adds to a time.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WEIGHTS = {"web": 70, "code": 20, "math": 10}
FIRST = "web"
GROUP = 2_000
BATCH = 256
LANES = 64
BUFFER = LANES * 256
"""Rows in the shuffle buffer of a stream: those of all lanes of a directory, in windows of 256."""
ROUNDS = 5


class Size(NamedTuple):
    """How much is measured."""

    files: int
    least: int
    most: int
    streamed: int
    """Rows that are read of the streams of Hugging Face, which are slower."""
    readers: tuple[tuple[int, int], ...]
    """Numbers of readers and of lanes, with which decoded rows are counted."""


WHOLE = Size(32, 8_000, 16_000, 60_000, ((8, 8), (1, LANES), (8, LANES), (64, LANES), (256, 256)))
SMOKE = Size(2, 2_000, 4_000, 2_048, ((1, LANES), (2, LANES)))


class Row(NamedTuple):
    """A line of the table."""

    title: str
    unit: str
    ours: list[float]
    other: str
    theirs: list[float]
    must: str


def texts(rows: int, numbers: np.random.Generator) -> pa.Array:
    """Texts of 15 to 75 words out of 20,000, of which some are far more frequent than others."""
    letters = numbers.integers(97, 123, (20_000, 10), dtype=np.uint8).view("S10").ravel()
    words = pa.array([word[: 2 + at % 9].decode() for at, word in enumerate(letters.tolist())])
    counts = numbers.integers(15, 76, rows)
    chosen = words.take(pa.array(np.minimum(numbers.zipf(1.2, int(counts.sum())) - 1, 19_999)))
    lists = pa.ListArray.from_arrays(pa.array(np.concatenate(([0], np.cumsum(counts))), pa.int32()), chosen)
    return pa.compute.binary_join(lists, " ")


def write(folder: Path, size: Size) -> None:
    """The files of all directories."""
    for seed, name in enumerate(WEIGHTS):
        (folder / name).mkdir()
        numbers = np.random.default_rng(seed)
        for file in range(size.files):
            rows = int(numbers.integers(size.least, size.most + 1))
            label, score = numbers.integers(0, 100, rows), numbers.random(rows, dtype=np.float32)
            table = pa.table({"text": texts(rows, numbers), "label": label, "score": score})
            pq.write_table(table, folder / name / f"{file:02}.parquet", row_group_size=GROUP)


def ours(folder: Path, side: str, **options: Any) -> Any:
    """A dataset of samedeal: of one directory (without every hundredth row), or a mixture."""
    from samedeal.parquet import Shards
    from samedeal.torch import ShardedDataset

    place: dict[str, Any] = {"batch_size": BATCH, "rank": 0, "world_size": 1, "lanes": LANES, **options}
    if side == "filtered":
        found = Shards.find(folder / FIRST)
        place["order"] = lambda files: files.exclude(range(0, found.samples, 100))
        return ShardedDataset(found, **place)
    if side == "directory":
        return ShardedDataset(folder / FIRST, **place)
    parts = {name: Shards.find(folder / name) for name in WEIGHTS}
    # With a multiple of the lanes, the mixture is made lane by lane.
    samples = parts[FIRST].samples // place["lanes"] * place["lanes"]
    return ShardedDataset(parts, weights=WEIGHTS, samples=samples, by_lane=True, **place)


def batches_of(side: str, folder: Path, workers: int, size: int) -> Iterable[Any]:
    """The batches of one side."""
    from torch.utils.data import DataLoader

    if side != "datasets":
        from samedeal.torch import to_tensors

        dataset = ours(folder, side, batch_size=size, transform=to_tensors)
        return DataLoader(dataset, batch_size=None, num_workers=workers)
    import datasets

    streams = [
        datasets.load_dataset("parquet", data_files=str(folder / name / "*.parquet"), split="train", streaming=True)
        for name in WEIGHTS
    ]
    shuffled = [stream.shuffle(seed=1, buffer_size=BUFFER) for stream in streams]
    shares = [weight / sum(WEIGHTS.values()) for weight in WEIGHTS.values()]
    mixed = datasets.interleave_datasets(shuffled, probabilities=shares, seed=1, stopping_strategy="all_exhausted")
    return DataLoader(mixed, batch_size=size, num_workers=workers)


def taken(side: str, folder: Path, workers: int, size: int, most: int) -> dict[str, float]:
    """Seconds to the first batch, with the making of the dataset, and seconds for each row after an eighth of them."""
    # Imports are left out.
    importlib.import_module("datasets" if side == "datasets" else "samedeal.torch")
    began = now = perf_counter()
    first = warm = 0.0
    rows = ahead = 0
    for batch in batches_of(side, folder, workers, size):
        now = perf_counter()
        rows += len(batch["text"])
        if not first:
            first = now - began
        if not warm and rows >= most / 8:
            warm, ahead = now, rows
        if rows >= most:
            break
    return {"first": first, "row": (now - warm) / max(1, rows - ahead)}


def decoded(folder: Path, side: str, readers: int, lanes: int) -> dict[str, float]:
    """How many rows all readers of an epoch decode for each row that they give."""
    from samedeal.files.groups import Groups

    # The tests of decoded rows count them in the same way.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hosts/python/tests/distributed"))
    counted = importlib.import_module("decoding").Decoded()
    Groups.decoded = counted.counted  # type: ignore[method-assign]
    given = 0
    for reader in range(readers):
        dataset = ours(folder, side, rank=reader, world_size=readers, lanes=lanes)
        assert dataset.shard_info().reads == 1
        given += sum(batch.num_rows for batch in dataset)
    return {"times": counted.rows / given}


def measured(folder: Path, *words: object) -> dict[str, float]:
    """The values that a process of its own measures."""
    command = [sys.executable, __file__, "--folder", str(folder), "--measure", *map(str, words)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


def rows(folder: Path, size: Size, rounds: int) -> Iterator[Row]:
    """All lines of the table."""
    all_rows = sum(pq.read_metadata(path).num_rows for path in (folder / FIRST).iterdir())
    sides = [(side, workers, BATCH) for workers in (0, 2, 4) for side in ("directory", "mixture")]
    sides += [("datasets", 0, BATCH), ("datasets", 2, BATCH), ("directory", 0, 32), ("directory", 2, 32)]
    found: dict[tuple[str, int, int], list[dict[str, float]]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side in sides:
            most = size.streamed if side[0] == "datasets" else all_rows - LANES
            found[side].append(measured(folder, "taken", *side, most))

    def of(side: str, workers: int, value: str = "row", rows: int = BATCH) -> list[float]:
        return [one[value] for one in found[side, workers, rows]]

    for workers in (0, 2, 4):
        title = f"a row of a mixture, {workers} workers"
        yield Row(title, "s", of("mixture", workers), "one directory", of("directory", workers), ">= 0.85x")
    for workers, must in ((0, ">= 5x"), (2, ">= 4x")):
        title = f"a row of a mixture, {workers} workers, beside streams"
        yield Row(title, "s", of("mixture", workers), "datasets", of("datasets", workers), must)
    for batch, must in ((BATCH, ">= 1x"), (32, "")):
        title = f"a row of one directory, batches of {batch}, 2 workers"
        yield Row(title, "s", of("directory", 2, rows=batch), "no workers", of("directory", 0, rows=batch), must)
    streams = of("datasets", 0, "first")
    yield Row("first batch of a mixture", "s", of("mixture", 0, "first"), "datasets", streams, "<= 0.5 s")
    yield Row("first batch of one directory", "s", of("directory", 0, "first"), "", [], "<= 0.3 s")
    for readers, lanes in size.readers:
        for side in ("directory", "filtered", "mixture"):
            times = measured(folder, "decoded", side, readers, lanes)["times"]
            yield Row(f"decodings of a row, {side}, {readers} readers of {lanes} lanes", "x", [times], "", [], "")


def slug(title: str) -> str:
    """A title in the form that ids have."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def shown(values: list[float], unit: str) -> str:
    """The median and the smallest value."""
    scale, name = (1.0, "x") if unit == "x" else (1e6, " us") if min(values) < 1e-3 else (1.0, " s")
    return f"{median(values) * scale:.3g}{name} ({min(values) * scale:.3g})"


def answer(folder: Path, words: list[str]) -> dict[str, float]:
    """The values that `measured` asks for."""
    warnings.simplefilter("ignore")
    if words[0] == "taken":
        return taken(words[1], folder, *map(int, words[2:]))
    return decoded(folder, words[1], *map(int, words[2:]))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="measure next to nothing, to see that everything works")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(answer(options.folder, options.measure)))
        return
    size = SMOKE if options.smoke else WHOLE
    print("| | median (smallest) | other | times, of the smallest | must |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), size)
        for row in rows(Path(name), size, 1 if options.smoke else ROUNDS):
            other = f"{shown(row.theirs, row.unit)}, {row.other}" if row.theirs else ""
            times = f"{min(row.theirs) / min(row.ours):.2f}x" if row.theirs else ""
            print(f"| {row.title} | {shown(row.ours, row.unit)} | {other} | {times} | {row.must} |")
            print(f"figure: mixtures.{slug(row.title)}.samedeal {row.unit}", *row.ours)
            if row.theirs:
                print(f"figure: mixtures.{slug(row.title)}.{slug(row.other)} {row.unit}", *row.theirs, flush=True)
    packages = ("samedeal", "datasets", "torch", "pyarrow", "numpy", "wasmtime")
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    print(f"versions: CPython {platform.python_version()}, {versions}")


if __name__ == "__main__":
    main()
