"""Ray Train: workers that die, and who they are, on a local Ray; another number of them is in the tutorial."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import Mock

import pytest
import ray.train
import rayed
import torch
from jobs import RAY
from limits import HANG
from ray.train.torch.train_loop_utils import _WrappedDataLoader
from samedeal.torch import DistributedSampler, Resumable
from torch.utils.data import DataLoader

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the workers of all jobs wrote."""
    folder = tmp_path_factory.mktemp("ray")
    # What Ray writes to the home directory is not for that of the user.
    environment = os.environ | RAY | {"HOME": str(folder)}
    words = [sys.executable, str(HERE / "rayed.py"), str(folder)]
    job = subprocess.run(words, capture_output=True, text=True, timeout=HANG, env=environment, check=False)
    assert job.returncode == 0, job.stdout + job.stderr
    return folder


def batches(out: Path, begun: int, before: int | None = None) -> list[tuple[int, list[int]]]:
    """The epoch and the samples of the steps that all workers made who began with one, up to that which was saved."""
    logs = [(out / f"{rank}-{begun}.jsonl").read_text().splitlines() for rank in range(rayed.WORLD)]
    steps = [json.loads(line) for log in logs for line in log]
    return [(epoch, samples) for step, epoch, samples in steps if before is None or step <= before]


@pytest.fixture(scope="module")
def saved(out: Path) -> int:
    """The step that Ray had a checkpoint of when the worker died: the last one may have come too late."""
    [begun] = {int(log.stem.split("-")[1]) for log in out.glob("0-*.jsonl")} - {0}
    assert begun < rayed.DEATH
    return begun


def test_every_sample_is_trained_once(out: Path, saved: int) -> None:
    """By two workers, one of whom dies, and by two who take over."""
    jobs = [batches(out, 0, saved), batches(out, saved)]
    assert [sorted({epoch for epoch, _ in job}) for job in jobs] == [[0], [0, 1]]
    for epoch in range(rayed.EPOCHS):
        counts = Counter(i for job in jobs for at, samples in job if at == epoch for i in samples)
        assert counts == Counter(range(rayed.SAMPLES))


def test_what_was_lost_comes_again(out: Path, saved: int) -> None:
    """What was trained after the checkpoint is trained again, in the same order."""
    for rank in range(rayed.WORLD):
        lost, again = ((out / f"{rank}-{begun}.jsonl").read_text().splitlines() for begun in (0, saved))
        assert len(lost) in (rayed.DEATH, rayed.DEATH - 1)
        assert lost[saved:] == again[: len(lost) - saved]


def test_ray_says_who_a_worker_is(out: Path) -> None:
    for rank in range(rayed.WORLD):
        told = json.loads((out / f"look-{rank}.json").read_text())
        assert told == {"ray": [rank, rayed.WORLD], "group": False, "sampler": [rank, rayed.WORLD], "variables": 1}


def test_processes_that_are_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of a launcher count, whatever Ray makes of a process that it did not start."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(RuntimeError, match="outside of a Ray Train training function"):
        ray.train.get_context()
    assert DistributedSampler(range(8)).num_replicas == 4
    # Older versions have a context for all, of no experiment.
    for experiment, expected in ((None, (1, 4)), ("name", (2, 3))):
        context = Mock(**{"get_experiment_name.return_value": experiment})
        context.configure_mock(**{"get_world_rank.return_value": 2, "get_world_size.return_value": 3})
        monkeypatch.setattr(ray.train, "get_context", lambda context=context: context)
        sampler = DistributedSampler(range(8))
        assert (sampler.rank, sampler.num_replicas) == expected


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_that_reads_ahead(workers: int) -> None:
    """What `prepare_data_loader` makes takes a batch ahead, and begins anew whenever it is asked for an iterator."""

    def loader() -> Resumable:
        sampler = DistributedSampler(range(40), 1, 0, seed=5)
        plain = DataLoader(range(40), 4, sampler=sampler, num_workers=workers)
        return Resumable(_WrappedDataLoader(plain, torch.device("cpu"), auto_transfer=True))

    whole = [batch.tolist() for batch in loader()]
    assert sorted(i for batch in whole for i in batch) == list(range(40))
    first, rest = loader(), loader()
    for got, batch in enumerate(first, 1):
        assert batch.tolist() == whole[got - 1]
        rest.load_state_dict(first.state_dict())
        assert [batch.tolist() for batch in rest] == whole[got:]
