"""Hugging Face's datasets: map-style datasets and streams, in real ranks with real workers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import streamed
from datasets import Dataset
from jobs import preload, ranks, torchrun
from limits import HANG
from samedeal import Sampler, WrongTypeError
from samedeal.torch import BatchSampler, DistributedSampler, PackedDataset, StepBatchSampler, random_split
from torch.utils.data import DataLoader

HERE = Path(__file__).parent
WORLD = 2


preload("datasets", "torchdata.stateful_dataloader")


def run(world_size: int, out: Path, what: str) -> list[dict[str, Any]]:
    """The results of all ranks. The first part runs under torchrun."""
    job = (torchrun if what == "first" else ranks)(world_size, HERE / "streamed.py", out, what)
    assert job.returncode == 0, job.stderr
    return [json.loads((out / f"{what}-{rank}.json").read_text()) for rank in range(world_size)]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("streamed")


@pytest.fixture(scope="module")
def first(out: Path) -> list[dict[str, Any]]:
    return run(WORLD, out, "first")


def samples(batches: Iterable[list[list[int]]]) -> list[int]:
    return sorted(chain.from_iterable(chain.from_iterable(batches)))


@pytest.mark.parametrize("kind", ["rows-0", "rows-2", "budget-0", "budget-2", "stream-0", "stream-2"])
def test_an_epoch_and_its_two_parts(first: list[dict[str, Any]], kind: str) -> None:
    for told in first:
        assert told[kind]["part"] + told[kind]["rest"] == told[kind]["whole"]
    assert samples(told[kind]["whole"] for told in first) == list(range(streamed.SAMPLES))


def test_another_world_reads_what_is_left(first: list[dict[str, Any]], out: Path) -> None:
    rest = run(3, out, "rest")
    for kind in rest[0]:
        before, after = samples(told[kind]["part"] for told in first), samples(told[kind] for told in rest)
        left = streamed.SAMPLES - len(before)
        # PyTorch's sampler repeats one or two samples, so that every rank has the same number.
        assert len(after) == left + (-left % 3 if kind.startswith("rows") else 0)
        assert {*before, *after} == set(range(streamed.SAMPLES))
        assert before
        assert after


def test_data_that_were_divided_before(first: list[dict[str, Any]]) -> None:
    for told in first:
        assert "would be divided twice" in told["divided"]


def test_a_batch_is_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    given = Dataset.__getitems__

    def counting(self: Any, keys: list[int]) -> Any:
        asked.append(len(keys))
        return given(self, keys)

    monkeypatch.setattr(Dataset, "__getitems__", counting)
    data = streamed.rows().select_columns(["id"])
    list(DataLoader(data, 16, sampler=DistributedSampler(data, 2, 0)))
    assert asked == [16] * 7 + [13]


@pytest.mark.parametrize("kind", [None, "torch", "numpy", "arrow", "pandas"])
def test_lengths_of_a_column_in_any_format(kind: str | None) -> None:
    data = streamed.rows().with_format(kind)
    expected = [*BatchSampler(streamed.LENGTHS, max_tokens=400, rank=0, world_size=1)]
    for column in ("length", "input_ids"):
        assert [*BatchSampler(data, column=column, max_tokens=400, rank=0, world_size=1)] == expected
    with pytest.raises(WrongTypeError, match="the column 'width'"):
        BatchSampler(data, column="width", max_tokens=400, rank=0, world_size=1)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (DistributedSampler, {"num_replicas": 1, "rank": 0}),
        (StepBatchSampler, {"global_batch_size": 4, "epochs": 1}),
        (random_split, {"lengths": [1.0]}),
        (PackedDataset, {"lengths": [1], "capacity": 8}),
    ],
)
def test_streams_have_no_numbers(kind: Any, options: dict[str, Any]) -> None:
    """The error says how to read a stream, and that works."""
    stream = streamed.stream()
    with pytest.raises(
        WrongTypeError, match=r"a dataset that has a len; a stream has none: .*ShardedDataset"
    ) as caught:
        kind(stream, **options)
    assert caught.value.field == "dataset"
    assert "`for shard in samedeal.Sampler(shards, ...)`" in caught.value.allowed
    shards = stream.num_shards
    seen = []
    for rank in range(2):
        for shard in Sampler(shards, rank=rank, world_size=2, remainder="uneven"):
            seen += [str(row) for row in stream.shard(shards, shard)]
    assert sorted(seen) == sorted(str(row) for row in stream)


class Broken(list[int]):
    """A dataset whose length is no number of samples."""

    def __len__(self) -> int:
        return -1


def test_a_length_that_is_none() -> None:
    for dataset in (Broken(), 5):
        with pytest.raises(WrongTypeError, match=r"a dataset that has a len$"):
            DistributedSampler(dataset, 1, 0)


def test_nothing_is_said_at_the_end() -> None:
    """An exit prints nothing, whichever module is imported first, and whichever objects are still alive."""
    code = "import datasets, torch, samedeal\nkept = samedeal.Sampler(9), samedeal.Batcher([1], max_tokens=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True)
    assert done.stderr == ""
