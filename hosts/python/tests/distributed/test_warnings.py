"""Each warning points to the line of the program that leads to it, whatever lies between."""

from __future__ import annotations

import ast
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import samedeal
import torch
from limits import HANG
from samedeal.engine.warn import warn
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, ShardedDataset, StepBatchSampler, random_split
from torch.utils.data import DataLoader

LENGTHS = [3, 9, 4, 4, 7, 1, 2, 5] * 10
HERE = Path(__file__).name


def test_all_warnings_go_one_way() -> None:
    """No other file counts the frames between a warning and the caller."""
    found = []
    for path in Path(samedeal.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("warn", "warn_explicit"):
                found.append(path.name)
    assert found == ["warn.py"]


class Echo(torch.utils.data.Dataset[Any]):  # type: ignore[misc]
    """A dataset that takes one index, or a list of them."""

    def __getitem__(self, index: Any) -> Any:
        return index


def empty_batches() -> None:
    sampler = BatchSampler([5, 5], max_tokens=5, rank=0, world_size=8)
    list(DataLoader(range(2), batch_sampler=sampler, collate_fn=list))


def an_epoch_again() -> None:
    sampler = DistributedSampler(range(10), 1, 0)
    loader = DataLoader(range(10), sampler=sampler, batch_size=2)
    list(loader)
    list(loader)


def an_epoch_again_counted() -> None:
    loader = Resumable(DataLoader(range(10), sampler=DistributedSampler(range(10), 1, 0), batch_size=2))
    list(loader)
    list(loader)


def batches_of_batches() -> None:
    sampler = BatchSampler(LENGTHS, max_tokens=20, rank=0, world_size=1)
    list(DataLoader(Echo(), batch_size=4, sampler=sampler, collate_fn=str))


def a_rest_that_is_forgotten() -> None:
    sampler = DistributedSampler(range(10), 1, 0)
    sampler.load_state_dict(DistributedSampler(range(10), 1, 0).state_dict(3))
    sampler.set_epoch(1)


def more_than_an_epoch() -> None:
    StepBatchSampler(range(10), global_batch_size=2, steps=30, rank=0, world_size=1)


def no_rank() -> None:
    list(DataLoader(range(10), sampler=DistributedSampler(range(10))))


def an_empty_part() -> None:
    random_split(range(3), [0.9, 0.1])


@pytest.mark.parametrize(
    "told",
    [
        empty_batches,
        an_epoch_again,
        an_epoch_again_counted,
        batches_of_batches,
        a_rest_that_is_forgotten,
        more_than_an_epoch,
        no_rank,
        an_empty_part,
    ],
    ids=lambda told: told.__name__,
)
def test_a_warning_points_to_the_program(told: Callable[[], None]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        told()
    lines = [(Path(each.filename).name, each.lineno) for each in caught]
    first = told.__code__.co_firstlineno
    assert lines
    assert all(name == HERE and first < line < first + 7 for name, line in lines), lines


def test_a_dataset_of_files(data: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dataset = ShardedDataset(data, deal="shards", batch_size=4, rank=0, world_size=3, lanes=None)
        list(DataLoader(dataset, batch_size=None))
        list(DataLoader(dataset, batch_size=None))
    assert {Path(each.filename).name for each in caught} == {HERE}
    assert {each.category.__name__ for each in caught} >= {"StepsWarning", "EpochWarning"}


def test_a_program_is_told_once_for_each_of_its_lines() -> None:
    program = """
import samedeal.torch
from torch.utils.data import DataLoader

def passes(sampler):
    for _ in range(2):
        list(DataLoader(range(10), sampler=sampler))

for _ in range(3):
    passes(samedeal.torch.DistributedSampler(range(10), 1, 0))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, check=True)
    assert done.stderr.count("EpochWarning") == 1
    assert "<string>:7: EpochWarning" in done.stderr


def test_other_packages_on_the_way_are_passed_over() -> None:
    names: dict[str, Any] = {"__name__": "torch.a", "warn": warn}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec("def f(): warn('told')\nf()", names)
    assert [Path(each.filename).name for each in caught] == [HERE]
