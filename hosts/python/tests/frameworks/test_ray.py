"""Ray Train: the rank of a worker on a local Ray, and its loaders. In the tutorial, workers are killed and others
continue.

Ray Data: an index of batches.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
import ray.train
import rayed
import torch
import watch
from building import check_that_it_goes_on
from jobs import RAY
from ray.train.torch.train_loop_utils import _WrappedDataLoader
from samedeal.torch import DistributedSampler, Resumable
from torch.utils.data import DataLoader

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the workers of a job wrote their answers."""
    folder = tmp_path_factory.mktemp("ray")
    # Ray writes to the home directory, which must not be that of the user.
    environment = os.environ | RAY | {"HOME": str(folder)}
    job = watch.run([sys.executable, HERE / "rayed.py", folder], env=environment)
    assert job.returncode == 0, job.stdout + job.stderr
    return folder


def test_ray_says_who_a_worker_is(out: Path) -> None:
    for rank in range(rayed.WORLD):
        told = json.loads((out / f"look-{rank}.json").read_text())
        assert told == {"ray": [rank, rayed.WORLD], "group": False, "sampler": [rank, rayed.WORLD], "variables": 1}


def test_processes_that_are_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of a launcher decide, whatever Ray answers in a process that it did not start."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(RuntimeError, match="outside of a Ray Train training function"):
        ray.train.get_context()
    assert DistributedSampler(range(8)).num_replicas == 4
    # Older versions of Ray have a context in every process. It then has no name of an experiment.
    for experiment, expected in ((None, (1, 4)), ("name", (2, 3))):
        context = Mock(**{"get_experiment_name.return_value": experiment})
        context.configure_mock(**{"get_world_rank.return_value": 2, "get_world_size.return_value": 3})
        monkeypatch.setattr(ray.train, "get_context", lambda context=context: context)
        sampler = DistributedSampler(range(8))
        assert (sampler.rank, sampler.num_replicas) == expected


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_that_reads_ahead(workers: int) -> None:
    """A loader from `prepare_data_loader` reads one batch ahead, and each of its iterators begins from the start."""

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


def test_an_index_by_ray_data_goes_on_after_a_kill(tmp_path: Path) -> None:
    """The index equals the index that one process builds, byte for byte."""
    (tmp_path / "home").mkdir()
    (tmp_path / "index").mkdir()
    check_that_it_goes_on("ray", tmp_path / "index", "group", **RAY, HOME=str(tmp_path / "home"))
