"""Training with DDP and FSDP in real processes: killed within an epoch, and resumed on this and other world sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import training
from conftest import write
from jobs import ranks
from samedeal.torch import DistributedSampler
from test_processes import HERE
from training import WORLD

DEATH = 23
"""The step of each model after which all processes of the job are killed, in the middle of an epoch."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples, in Parquet files."""
    return write(tmp_path_factory.mktemp("files") / "shards", (100, 1, 0, 90, 60), row_group=20)


def run(world_size: int, files: Path, out: Path, *arguments: Any) -> Any:
    out.mkdir()
    return ranks(world_size, HERE / "training.py", files, out, *arguments)


def batches(out: Path, name: str, world_size: int) -> list[list[tuple[int, list[int]]]]:
    """The epoch and the samples of each step, for each rank."""
    logs = [(out / f"{name}-{rank}.jsonl").read_text().splitlines() for rank in range(world_size)]
    return [[tuple(json.loads(line)) for line in log] for log in logs]


@pytest.fixture(scope="module")
def killed(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that was killed."""
    folder = tmp_path_factory.mktemp("killed")
    job = run(WORLD, files, folder / "out", folder / "none", DEATH)
    assert job.returncode != 0
    assert "SIGKILL" in job.stderr
    assert not list((folder / "out").glob("*.weights"))
    return folder / "out"


@pytest.mark.parametrize("world_size", [WORLD, 3])
def test_every_sample_is_read_once(files: Path, killed: Path, tmp_path: Path, world_size: int) -> None:
    job = run(world_size, files, tmp_path / "rest", killed)
    assert job.returncode == 0, job.stderr
    if world_size == WORLD:
        whole = run(WORLD, files, tmp_path / "whole", tmp_path / "none")
        assert whole.returncode == 0, whole.stderr
    middle = 0
    for each in training.RUNS:
        kind, workers, name = each.kind, each.workers, each.name
        saved = torch.load(killed / f"{name}.pt")
        steps = saved["steps"]
        assert 0 < DEATH - steps <= training.EVERY
        # Steps after the checkpoint are not in the weights, so their samples are read again, and do not count here.
        before = [log[:steps] for log in batches(killed, name, WORLD)]
        after = batches(tmp_path / "rest", name, world_size)
        for epoch in range(training.EPOCHS):
            first, rest = (
                [i for log in logs for at, samples in log if at == epoch for i in samples] for logs in (before, after)
            )
            middle += bool(first and rest)
            # PyTorch's samplers repeat some samples of the rest, so that every rank has an equal number.
            then = 1
            if kind in training.FILES:
                then = max(1, workers if world_size == WORLD else training.OTHER_WORKERS[workers])
            left, readers = training.SAMPLES - len(first), world_size * then
            if not rest:
                left, readers = training.SAMPLES, WORLD * (max(1, workers) if kind in training.FILES else 1)
            padding = 0 if kind in training.BATCHES else -left % readers
            assert len(first) + len(rest) == training.SAMPLES + padding, (name, epoch)
            assert {*first, *rest} == set(range(training.SAMPLES)), (name, epoch)
        if world_size == WORLD:
            assert [one + other for one, other in zip(before, after, strict=True)] == batches(
                tmp_path / "whole", name, WORLD
            )
            for rank in range(world_size):
                weights = f"{name}-{rank}.weights"
                assert (tmp_path / "rest" / weights).read_text() == (tmp_path / "whole" / weights).read_text()
    # Each run was interrupted within an epoch.
    assert middle == len(training.RUNS)


def test_the_state_is_what_any_host_reads(killed: Path) -> None:
    state = torch.load(killed / "torch-2.pt")["loader"]
    sampler = DistributedSampler(training.Features(), 1, 0, seed=5)
    sampler.load_state_dict(state)
    text = json.loads(state["samedeal"])
    assert (text["kind"], text["epoch"]) == ("sampler", sampler.epoch)
    assert len(sampler) == training.SAMPLES - text["consumed"]
