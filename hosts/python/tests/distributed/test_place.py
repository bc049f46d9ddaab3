"""Which rank a sampler is of, where only a part of it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from samedeal import Mesh, MissingError, SamedealError
from samedeal.torch import BatchSampler, DistributedSampler, ShardedDataset
from torch.utils.data import DistributedSampler as Theirs


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("given", [{"num_replicas": 2}, {"num_replicas": 1}, {"rank": 0}, {"rank": 1}])
def test_half_of_a_place_is_refused_where_nobody_says_the_other_half(given: dict[str, Any]) -> None:
    """As PyTorch does: rank 0 of every process would leave half of the data unread."""
    with pytest.raises(ValueError, match="init_process_group"):
        Theirs(range(10), **given)
    shared: dict[str, Any] = {"mesh": Mesh(2, {"dp": 2}, shard=["dp"])}
    for mesh in ({}, shared):
        with pytest.raises(MissingError, match=r"init_process_group") as caught:
            DistributedSampler(range(10), **given, **mesh)
        missing, there = ("num-replicas", "rank") if "rank" in given else ("rank", "num_replicas")
        assert caught.value.field == missing
        assert f"where {there} is given" in str(caught.value)


def test_the_other_samplers_refuse_half_of_a_place(data: Path) -> None:
    made: list[Callable[..., Any]] = [lambda **given: BatchSampler([1, 2, 3, 4], max_tokens=8, **given)]
    made.append(lambda **given: ShardedDataset(data, **given))
    for make in made:
        for given in ({"rank": 0}, {"world_size": 2}):
            with pytest.raises(MissingError):
                make(**given)
    with pytest.raises(SamedealError, match="mesh"):
        # Which of its ranks this process is, nobody says.
        DistributedSampler(range(10), mesh=Mesh(2, {"dp": 2}, shard=["dp"]))


def test_half_of_a_place_is_completed_by_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    cases: list[tuple[dict[str, Any], tuple[int, int]]] = [({"num_replicas": 2}, (1, 2)), ({"rank": 3}, (3, 4))]
    for given, place in cases:
        sampler = DistributedSampler(range(10), **given)
        assert (sampler.rank, sampler.num_replicas) == place


def test_half_of_a_place_is_completed_by_the_group(tmp_path: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        sampler = DistributedSampler(range(10), num_replicas=3)
        assert (sampler.rank, sampler.num_replicas) == (0, 3)
    finally:
        dist.destroy_process_group()
