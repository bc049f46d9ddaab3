"""Blocks of code that need PyTorch and training frameworks, in an environment that has them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import run
from pages import ROOT, blocks
from samedeal import Sampler
from test_pages import name, parts, run_page


@pytest.mark.parametrize("page", parts(under_torch=True), ids=name)
def test_page(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path / "page", under_torch=True) > 0


KILLED = """
import os, runpy, sys
renames, most = os.replace, 2
def replace(*names):
    global most
    most -= 1
    if most < 0:
        os._exit(9)
    renames(*names)
os.replace = replace
sys.argv = ["in_order.py", "shards", "ordered", "80"]
runpy.run_path("in_order.py", run_name="__main__")
"""
"""Runs a program that is killed before its third rename."""


def test_a_dataset_is_written_in_order_through_kills(tmp_path: Path) -> None:
    page = tmp_path / "page"
    run.folder(page)
    [program] = [
        block for block in blocks(ROOT / "docs/how-to/write-in-order.md") if block.title and "in_order" in block.title
    ]
    run.program(program, page)
    codes = []
    while not codes or codes[-1] == 9:
        codes.append(run.finished([sys.executable, "-c", KILLED], page).returncode)
    # The renames of the job, the table, three files and four pieces.
    assert codes == [9, 9, 9, 9, 0]
    rows = pq.read_table([page / f"ordered/{piece:05}.parquet" for piece in range(4)], columns=["id", "sample"])
    assert rows["sample"].to_pylist() == Sampler(300, seed=42).indices(0, 300).tolist()
    assert rows["id"] == rows["sample"]
    # A piece whose rows are not all there gets no name.
    (page / "ordered/00002.parquet").unlink()
    shutil.rmtree(page / "ordered/parts/1/piece=2")
    done = run.finished([sys.executable, "in_order.py", "shards", "ordered", "80"], page)
    assert done.returncode == 1
    assert "ordered/00002.parquet would have other rows" in done.stderr
    assert not (page / "ordered/00002.parquet").exists()
