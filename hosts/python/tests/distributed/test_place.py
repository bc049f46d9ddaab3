"""The rank of a sampler, if only a part of rank and world size is given."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from jobs import ranks
from samedeal import ContradictionError, Mesh, MissingError, OutOfRangeError, SamedealError, Sampler, WrongTypeError
from samedeal.torch import BatchSampler, DistributedSampler, RankWarning, ShardedDataset, StepBatchSampler
from torch.utils.data import DataLoader
from torch.utils.data import DistributedSampler as Theirs

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("given", [{"num_replicas": 2}, {"num_replicas": 1}, {"rank": 0}, {"rank": 1}])
def test_half_of_a_place_is_refused_where_nobody_says_the_other_half(given: dict[str, Any]) -> None:
    """PyTorch refuses half of a place as well: with rank 0 in every process, half of the data would never be read."""
    with pytest.raises(ValueError, match="init_process_group"):
        Theirs(range(10), **given)
    shared: dict[str, Any] = {"mesh": Mesh(2, {"dp": 2}, shard=["dp"])}
    for mesh in ({}, shared):
        with pytest.raises(MissingError, match=r"init_process_group") as caught:
            DistributedSampler(range(10), **given, **mesh)
        missing, there = ("num_replicas", "rank") if "rank" in given else ("rank", "num_replicas")
        assert caught.value.field == missing
        assert f"where {there} is given" in str(caught.value)


def others(data: Path) -> list[Callable[..., Any]]:
    """Constructors that take `world_size`, and `num_replicas`, which is PyTorch's name for it."""
    return [
        lambda **given: BatchSampler([1, 2, 3, 4], max_tokens=8, **given),
        lambda **given: StepBatchSampler(range(24), 12, **given),
        lambda **given: ShardedDataset(data, **given),
    ]


def test_the_other_samplers_refuse_half_of_a_place(data: Path) -> None:
    for make in others(data):
        for given in ("rank", "world_size", "num_replicas"):
            with pytest.raises(MissingError, match=f"where {given} is given") as caught:
                make(**{given: 1})
            assert caught.value.field == ("world_size" if given == "rank" else "rank")
    with pytest.raises(SamedealError, match="mesh"):
        # The mesh alone does not tell which of its ranks this process is.
        DistributedSampler(range(10), mesh=Mesh(2, {"dp": 2}, shard=["dp"]))


def test_the_number_of_ranks_has_two_names(data: Path) -> None:
    for make in others(data):
        for given in ({"num_replicas": 4}, {"num_replicas": 4, "world_size": 4}):
            made = make(rank=3, **given)
            assert (made.rank, made.world_size) == (3, 4)
        with pytest.raises(ContradictionError, match="num_replicas is 4; allowed: 2, as world_size") as caught:
            make(rank=1, world_size=2, num_replicas=4)
        assert caught.value.field == "num_replicas"
        with pytest.raises(SamedealError, match="num_replicas is 'four'"):
            make(rank=1, world_size=2, num_replicas="four")
        with pytest.raises(SamedealError, match="num_replicas is 0; allowed: 1 to"):
            make(rank=0, num_replicas=0)


def test_half_of_a_place_is_completed_by_the_launcher(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    cases: list[tuple[dict[str, Any], tuple[int, int]]] = [({"num_replicas": 2}, (1, 2)), ({"rank": 3}, (3, 4))]
    for given, place in cases:
        sampler = DistributedSampler(range(10), **given)
        assert (sampler.rank, sampler.num_replicas) == place
        for make in others(data):
            made = make(**given)
            assert (made.rank, made.world_size) == place


def test_half_of_a_place_is_completed_by_the_group(tmp_path: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        sampler = DistributedSampler(range(10), num_replicas=3)
        assert (sampler.rank, sampler.num_replicas) == (0, 3)
    finally:
        dist.destroy_process_group()


def test_a_rank_that_is_too_large_is_told_by_the_name_of_what_was_passed(data: Path) -> None:
    with pytest.raises(OutOfRangeError, match="rank is 7; allowed: 0 to 3, as num_replicas=4") as caught:
        DistributedSampler(range(10), num_replicas=4, rank=7)
    assert (caught.value.field, caught.value.max) == ("rank", 3)
    for make in others(data):
        for name in ("world_size", "num_replicas"):
            with pytest.raises(OutOfRangeError, match=f"allowed: 0 to 3, as {name}=4"):
                make(**{name: 4}, rank=7)


def test_a_pass_of_everything_warns_once_where_nobody_says_the_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = DistributedSampler(range(10), shuffle=False)
    with pytest.warns(RankWarning, match="num_replicas=1, rank=0"):
        assert [*sampler] == [*range(10)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler.set_epoch(1)
        assert [*sampler] == [*range(10)]
        len(DistributedSampler(range(10)))
        list(DistributedSampler(range(10), num_replicas=1, rank=0))
        dataset = range(10)
        later = DistributedSampler(dataset)
        dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
        try:
            assert len([*later]) == 10
        finally:
            dist.destroy_process_group()
        monkeypatch.setenv("RANK", "0")
        monkeypatch.setenv("WORLD_SIZE", "1")
        list(DistributedSampler(dataset))


def test_batches_warn_too() -> None:
    for sampler in (BatchSampler([3, 4], max_tokens=10), StepBatchSampler(range(10), global_batch_size=2, steps=3)):
        with pytest.warns(RankWarning, match="num_replicas=1, rank=0"):
            list(sampler)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RankWarning)
            list(sampler)


def test_a_state_under_another_key_is_found(data: Path) -> None:
    sampler = DistributedSampler(range(10), num_replicas=1, rank=0)
    state = sampler.state_dict()
    inner: dict[str, Any] = {"step": 3}
    inner["self"] = inner
    for given, place in (
        ({"model": 3, "loader": state}, r"there is one under \['loader'\]: pass that"),
        ({"trainer": {"model": inner, "data": {0: state}}}, r"one under \['trainer'\]\['data'\]\[0\]: pass that"),
    ):
        for resume in (sampler.load_state_dict, Sampler(10, order=sampler.order).resume):
            with pytest.raises(WrongTypeError, match=place):
                resume(given)
    for without in (inner, {"loader": {"samedeal": 3}}):
        with pytest.raises(WrongTypeError, match=r"a dictionary with 'samedeal'$"):
            sampler.load_state_dict(without)


def test_meshes_of_pytorch(tmp_path: Path) -> None:
    """A mesh may have one dimension or several, or be flattened. A rank outside of its mesh gets an error."""
    run = ranks(4, HERE / "meshes.py", tmp_path)
    assert run.returncode == 0, run.stderr
    told = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(4)]
    for name in ("both", "flat", "whole", "sliced whole"):
        assert [one[name] for one in told] == [[rank, 4] for rank in range(4)], name
    assert [one["one"] for one in told] == [[rank % 2, 2] for rank in range(4)]
    assert [one["data"] for one in told] == [[rank // 2, 2] for rank in range(4)]
    assert [told[rank]["two ranks"] for rank in (1, 3)] == [[0, 2], [1, 2]]
    for rank in (0, 2):
        text = told[rank]["two ranks"]
        assert text.startswith(f"ContradictionError: mesh is a mesh without rank {rank}; allowed: one that "), text
    wanted = 'the dimensions along which ranks get different samples, such as mesh["dp"]'
    for name, found in (
        ("tensor", "ContradictionError: mesh is a mesh with the dimension tp;"),
        ("nameless", "ContradictionError: mesh is a mesh of several dimensions without names;"),
        ("other", "WrongTypeError: mesh is 5; allowed: a samedeal.Mesh, or a DeviceMesh of"),
    ):
        assert all(one[name].startswith(found) and wanted in one[name] for one in told), told[0][name]


@pytest.mark.parametrize("variables", [{}, {"PMIX_RANK": "1"}, {"PALS_RANKID": "0"}])
@pytest.mark.parametrize("workers", [0, 2])
def test_files_that_every_process_reads(
    data: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], workers: int
) -> None:
    """If the rank is unknown, a dataset warns once, as samplers do."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.warns(UserWarning, match="PMIX_RANK|PALS_RANKID") if variables else contextlib.nullcontext():
        dataset = ShardedDataset(data, batch_size=64)
    if workers == 0:
        with pytest.warns(RankWarning, match="reads all samples"):
            next(iter(dataset))
    else:
        next(iter(DataLoader(dataset, batch_size=None, num_workers=workers)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RankWarning)
        next(iter(dataset))


def test_a_step_of_a_slurm_job(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step has fewer processes than the job, so the dataset reads everything."""
    step = {"SLURM_PROCID": "1", "SLURM_NTASKS": "8", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    for name, value in step.items():
        monkeypatch.setenv(name, value)
    for made in (DistributedSampler(range(40)), ShardedDataset(data)):
        assert made.rank == 1
    assert len(DistributedSampler(range(40))) == 20
