"""Batches that Node wrote to an Arrow file equal those of the Python host, and are read from the mapped file."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
from samedeal import Sampler
from shown import EXAMPLES, run

FOLDER = EXAMPLES / "arrow-indices"


def test_batches() -> None:
    run("arrow-indices")
    specification = importlib.util.spec_from_file_location("arrow_reader", FOLDER / "read.py")
    assert specification
    assert specification.loader
    read = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(read)
    allocated = pa.total_allocated_bytes()
    with read.open_batches(FOLDER / "dist/rank-3.arrow") as batches:
        metadata = batches.metadata
        sampler = Sampler.from_recipe(metadata["recipe"], rank=int(metadata["rank"]), epoch=int(metadata["epoch"]))
        expected = list(sampler.batches(int(metadata["batch_size"])))
        assert len(batches) == len(expected) == 3907
        for number, batch in enumerate(expected):
            np.testing.assert_array_equal(batches[number], batch)
        assert not batches[0].flags.owndata
        assert not batches[0].flags.writeable
        assert pa.total_allocated_bytes() == allocated


def test_failures_leave_no_file(tmp_path: Path) -> None:
    for options, message in [
        (["--samples=100", "--batch-size=0"], "batchSize is 0; allowed: 1 to 4294967295"),
        (["--samples=5000000000", "--batch-size=3"], "samples is above 2^32: this column has 32 bits"),
        (["--samples=0", "--batch-size=3"], "rank 0 has no batch: a file of Arrow begins with one"),
        (["--samples=3"], "Usage: node write.mjs OUTPUT --samples N --batch-size B"),
    ]:
        command = ["node", str(FOLDER / "write.mjs"), str(tmp_path / "batches.arrow"), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr.strip()) == (1, message)
        assert not list(tmp_path.iterdir())
