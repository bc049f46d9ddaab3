"""Meshes and detected ranks: answers and refusals."""

from __future__ import annotations

import itertools
from collections import ChainMap, OrderedDict
from typing import Any

import numpy as np
import pytest
from hostile import NOT_WHOLE, TOO_WIDE, Vicious, fails
from samedeal import (
    ContradictionError,
    Detection,
    Mesh,
    MissingError,
    OutOfRangeError,
    SamedealError,
    Sampler,
    UnknownNameError,
    WrongTypeError,
    detect_rank,
)
from samedeal.topology.binding import variables


def make(**changes: Any) -> Mesh:
    return Mesh(**{"world_size": 8, "axes": {"dp": 2, "tp": 2, "cp": 2}, "shard": ["dp"], **changes})


def test_peers_get_the_same_samples() -> None:
    mesh = make()
    samplers = [Sampler(100, rank=mesh.data_rank(rank), world_size=mesh.data_world_size) for rank in range(8)]
    for rank, other in itertools.product(range(8), repeat=2):
        common = set(samplers[rank]) & set(samplers[other])
        assert common == (set(samplers[rank]) if other in mesh.peers(rank) else set())


def test_coordinates_are_those_of_a_grid() -> None:
    mesh = Mesh(np.int64(24), {"pp": 2, "dp": np.uint8(3), "tp": 4}, shard=("dp", "pp"))
    grid = np.arange(24).reshape(2, 3, 4)
    for rank in range(24):
        place = mesh.coordinates(rank)
        assert list(place) == ["pp", "dp", "tp"]
        assert grid[tuple(place.values())] == rank
        assert mesh.rank_at(place) == mesh.rank_at(dict(reversed(place.items()))) == rank
        assert mesh.data_rank(rank) == place["pp"] * 3 + place["dp"]
        assert mesh.peers(rank) == grid[place["pp"], place["dp"]].tolist()
    assert mesh.data_world_size == 6
    assert mesh.axes == {"pp": 2, "dp": 3, "tp": 4}
    assert (mesh.world_size, mesh.shard) == (24, ("pp", "dp"))
    assert repr(mesh) == "Mesh(24, {'pp': 2, 'dp': 3, 'tp': 4}, shard=['pp', 'dp'])"
    assert repr(eval(repr(mesh))) == repr(mesh)


def test_meshes_of_little() -> None:
    assert Mesh(1, {}, shard=[]).coordinates(0) == {}
    assert Mesh(1, {}, []).rank_at({}) == 0
    assert Mesh(4, {"tp": 4}, []).data_world_size == 1
    assert Mesh(4, OrderedDict(dp=4), iter(["dp"])).peers(3) == [3]


@pytest.mark.parametrize("value", [*NOT_WHOLE, Vicious()], ids=lambda value: type(value).__name__)
def test_numbers_are_whole(value: Any) -> None:
    with fails(WrongTypeError, "world_size"):
        make(world_size=value)
    with fails(WrongTypeError, "axes"):
        make(axes={"dp": value})
    mesh = make()
    for call in (mesh.data_rank, mesh.coordinates, mesh.peers):
        with fails(WrongTypeError, "rank"):
            call(value)
    with fails(WrongTypeError, "coordinates"):
        mesh.rank_at({"dp": value, "tp": 0, "cp": 0})


@pytest.mark.parametrize("value", [*TOO_WIDE, 2**32], ids=lambda value: hex(value)[:20])
def test_numbers_cross(value: int) -> None:
    with fails(OutOfRangeError, "world_size"):
        make(world_size=value)
    with fails(OutOfRangeError, "axes"):
        make(axes={"dp": value})
    mesh = make()
    for call in (mesh.data_rank, mesh.coordinates, mesh.peers):
        with fails(OutOfRangeError, "rank"):
            call(value)
    with fails(OutOfRangeError, "coordinates"):
        mesh.rank_at({"dp": value, "tp": 0, "cp": 0})
    assert mesh.peers(0) == [0, 1, 2, 3]


def test_the_range_is_the_same_for_what_cannot_cross() -> None:
    mesh = make()
    for at in (-1, 8, 2**32):
        for call in (mesh.data_rank, mesh.coordinates, mesh.peers):
            with pytest.raises(OutOfRangeError) as caught:
                call(at)
            assert (caught.value.value, caught.value.allowed) == (str(at), "0 to 7")
        with pytest.raises(OutOfRangeError) as caught:
            mesh.rank_at({"dp": 0, "tp": 0, "cp": at})
        assert (caught.value.value, caught.value.allowed) == (f"cp = {at}", "0 to 1")


@pytest.mark.parametrize("axes", [None, 8, "dp", [("dp", 8)], {8: 8}, {None: 8}, {"dp", "tp"}])
def test_axes_are_sizes_by_name(axes: Any) -> None:
    with fails(WrongTypeError, "axes"):
        make(axes=axes)


def test_names_where_there_are_no_axes() -> None:
    with fails(UnknownNameError, "shard"):
        Mesh(1, {}, ["dp"])
    with fails(UnknownNameError, "coordinates"):
        Mesh(1, {}, []).rank_at({"dp": 0})


@pytest.mark.parametrize("shard", [None, 1, "dp", b"dp", {"dp": 2}, [None], [["dp"]]])
def test_shard_is_a_list_of_names(shard: Any) -> None:
    with fails(WrongTypeError, "shard"):
        make(shard=shard)


def test_divide_names_axes() -> None:
    with pytest.raises(UnknownNameError, match="shard is 'dq'; known: dp, tp, cp"):
        make(shard=["dp", "dq"])


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (OutOfRangeError, "world_size", {"world_size": 0, "axes": {}, "shard": []}),
        (OutOfRangeError, "axes", {"axes": {"dp": 0, "tp": 8}}),
        (ContradictionError, "axes", {"world_size": 9}),
        (ContradictionError, "axes", {"axes": {"dp": 2**32 - 1, "tp": 2**32 - 1}}),
        (OutOfRangeError, "axes", {"axes": {f"axis {i}": 1 for i in range(65)}}),
        (ContradictionError, "axes", {"axes": {"x" * 100: 8, "x" * 101: 1}, "shard": []}),
    ],
)
def test_meshes_that_cannot_be(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with fails(error, field):
        make(**options)


def test_a_contradiction_shows_the_arithmetic() -> None:
    with pytest.raises(
        ContradictionError, match="axes is dp 2 x tp 2 x cp 2 = 8; allowed: sizes whose product is the world"
    ):
        make(world_size=9)


def test_long_names_stay_what_they_are() -> None:
    mesh = Mesh(2, {"x" * 10**6: 2, "\ud800é": 1}, ["\ud800é"])
    assert list(mesh.coordinates(1)) == ["x" * 10**6, "\ud800é"]
    assert mesh.shard == ("\ud800é",)


@pytest.mark.parametrize("place", [None, 3, [0, 0, 0], "dp", {None: 0}])
def test_places_are_numbers_by_name(place: Any) -> None:
    with fails(WrongTypeError, "coordinates"):
        make().rank_at(place)


def test_places_have_all_axes_and_no_others() -> None:
    mesh = make()
    with fails(UnknownNameError, "coordinates"):
        mesh.rank_at({"dp": 0, "tp": 0, "cp": 0, "pp": 0})
    with fails(MissingError, "coordinates"):
        mesh.rank_at({"dp": 0, "tp": 0})
    assert mesh.rank_at({"dp": 1, "tp": 0, "cp": 0}) == 4


def test_too_many_peers() -> None:
    mesh = Mesh(2**21, {"tp": 2**21}, [])
    with fails(OutOfRangeError, "axes"):
        mesh.peers(0)
    assert mesh.data_world_size == 1


TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}


def test_detection() -> None:
    found = detect_rank(environment=TORCHRUN)
    assert found == Detection(3, 8, 1, 2, "torchrun", ("RANK=3", "WORLD_SIZE=8"), ())
    found = detect_rank(environment={"SLURM_PROCID": "1", "SLURM_NTASKS": "4", "SLURM_STEP_ID": "0", **TORCHRUN})
    assert (found.rank, found.launcher, found.warnings) == (3, "torchrun", ())  # one task for each node
    found = detect_rank(environment={"SLURM_PROCID": "1", "SLURM_NTASKS": "8", **TORCHRUN})
    assert found.warnings == ("slurm says SLURM_PROCID=1, SLURM_NTASKS=8; used: rank 3 of 8 (torchrun)",)
    found = detect_rank(np.int64(0), 2, environment=TORCHRUN)
    assert (found.rank, found.world_size) == (0, 2)
    assert found.warnings == ("not used: RANK=3, WORLD_SIZE=8; used: rank 0 of 2 (explicit)",)
    assert detect_rank(environment={"LOCAL_RANK": "0", "WORLD_SIZE": "1"}).used == ("LOCAL_RANK=0", "WORLD_SIZE=1")
    assert detect_rank(environment={"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}).launcher == "open-mpi"
    assert detect_rank(environment={}) == Detection(0, 1, None, None, "none", (), ())
    assert detect_rank(environment=ChainMap({}, {"RANK": " 1\n", "WORLD_SIZE": "2"})).rank == 1


def test_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in variables():
        monkeypatch.delenv(name, raising=False)
    assert detect_rank().launcher == "none"
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    assert detect_rank() == detect_rank(environment=TORCHRUN)


@pytest.mark.parametrize(
    ("error", "field", "environment"),
    [
        (WrongTypeError, "RANK", {"RANK": "x"}),
        (WrongTypeError, "RANK", {"RANK": "-1"}),
        (WrongTypeError, "RANK", {"RANK": "\udcff"}),
        (WrongTypeError, "LOCAL_RANK", {"LOCAL_RANK": "\ud800"}),
        (WrongTypeError, "RANK", {"RANK": "x" * 10**6}),
        (OutOfRangeError, "RANK", {"RANK": "9" * 10**6}),
        (OutOfRangeError, "RANK", {"RANK": "8", "WORLD_SIZE": "8"}),
        (MissingError, "WORLD_SIZE", {"RANK": "8"}),
        (MissingError, "RANK", {"WORLD_SIZE": "8"}),
        (MissingError, "RANK", {"LOCAL_RANK": "0"}),
    ],
    ids=lambda value: str(value).encode("ascii", "backslashreplace").decode()[:40],
)
def test_environments_that_cannot_be(error: type[SamedealError], field: str, environment: dict[str, str]) -> None:
    with fails(error, field):
        detect_rank(environment=environment)


def test_what_is_no_utf8_is_replaced() -> None:
    with pytest.raises(WrongTypeError, match="RANK is 3\ufffd;"):
        detect_rank(environment={"RANK": "3\udcff"})


@pytest.mark.parametrize("environment", [3, "RANK=3", [("RANK", "3")], Vicious()])
def test_an_environment_is_a_mapping(environment: Any) -> None:
    with fails(WrongTypeError, "environment"):
        detect_rank(environment=environment)


def test_values_are_strings() -> None:
    for value in (3, None, b"3", Vicious()):
        with fails(WrongTypeError, "RANK"):
            detect_rank(environment={"RANK": value})  # type: ignore[dict-item]
    assert detect_rank(environment={"OTHER": 3}).rank == 0  # type: ignore[dict-item]


@pytest.mark.parametrize("field", ["rank", "world_size"])
def test_explicit_values_are_checked(field: str) -> None:
    for value in [value for value in [*NOT_WHOLE, Vicious()] if value is not None]:
        with fails(WrongTypeError, field):
            detect_rank(**{field: value}, environment=TORCHRUN)
    for wide in [*TOO_WIDE, 2**32]:
        with fails(OutOfRangeError, field):
            detect_rank(**{field: wide}, environment=TORCHRUN)


def test_nodes_of_unequal_size_are_no_contradiction() -> None:
    """torchrun starts two processes on one node and one on another, below Slurm and below mpirun."""
    nodes = ({"RANK": "1", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}, {"RANK": "2", "LOCAL_RANK": "0"})
    for node, own in enumerate(nodes):
        inner = {"WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "1", **own}
        for group in ({}, {"GROUP_RANK": str(node), "GROUP_WORLD_SIZE": "2"}):
            for rank, size in (("SLURM_PROCID", "SLURM_NTASKS"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")):
                found = detect_rank(environment={**inner, **group, rank: str(node), size: "2"})
                assert (found.rank, found.world_size, found.warnings) == (int(own["RANK"]), 3, ())
                for wrong in ("1", "3", "4"):
                    found = detect_rank(environment={**inner, **group, rank: "0", size: wrong})
                    assert len(found.warnings) == 1, (found, wrong)
        other = detect_rank(environment={**inner, "SLURM_PROCID": str(1 - node), "SLURM_NTASKS": "2"})
        assert len(other.warnings) == 1
