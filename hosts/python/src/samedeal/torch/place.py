"""Finds the rank of this process, and its number as a loader worker."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch.distributed
import torch.distributed.device_mesh
from torch.utils.data import get_worker_info

from .. import ContradictionError, Mesh, MissingError, OutOfRangeError, WrongTypeError, detect_rank
from ..engine import arguments as check
from ..engine.warn import warn

RANKS = check.U32_FROM_1._replace(least=1)
"""The range of a number of ranks. Checked here, so that the error has the name of the parameter that was passed."""

_MESHES = (
    'the dimensions along which ranks get different samples, such as mesh["dp"] or mesh["dp_replicate", "dp_shard"]'
)
_LATER = (
    "make this object when the process group is there: after init_process_group or Accelerator(), and under Lightning "
    "in LightningDataModule.setup or train_dataloader"
)
_MODEL_PARALLEL = ("tp", "cp", "pp", "sp")
"""Names of dimensions along which ranks have the same samples: tensor, context, pipeline and sequence parallelism."""


class Place(NamedTuple):
    """The rank of this process in its job, and the number of ranks."""

    rank: int
    world_size: int
    explicit: bool
    """Whether the caller gave the numbers. Then a process group does not change them."""
    told: bool = True
    """Whether the numbers come from the caller, a process group or a launcher. Otherwise they are assumed."""


class RankWarning(UserWarning):
    """A sampler reads all samples, although it is unknown whether this is the only process."""


def warn_if_alone(sampler: Any) -> None:
    """Warns once if this process reads all samples, although it is unknown whether it is the only process."""
    if not sampler._warns or current(sampler._place).told:
        return
    sampler._warns = False
    text = (
        "no process group and no launcher says which rank this is, so this process reads all samples, and so does "
        "every other one: call torch.distributed.init_process_group before the first pass, or pass the number of ranks "
        "and the rank. For a single process, num_replicas=1, rank=0 silences this warning."
    )
    warn(text, RankWarning)


def find(rank: object, ranks: Mapping[str, object], mesh: object) -> tuple[Place, Mesh | None]:
    """The place of this process, and the `Mesh` that is still to be applied to it, if one was given.

    The place comes from the first of these that exists: explicit values, the process group, Ray Train, the launcher's
    variables. If only the rank or only the number of ranks is given, the other number comes from the rest of this list.

    Args:
        rank: The rank that was given, if any.
        ranks: The number of ranks that was given, if any, by the name of its parameter. There may be two names.
        mesh: The mesh that was given, if any.

    Raises:
        MissingError: Only one of rank and number of ranks is given, and no process group and no launcher says the
            other. Rank 0 of 1 is not assumed, because every process would then be the same rank.
        ContradictionError: Two different numbers of ranks are given, or values and a mesh that says them, too.
        SamedealError: A value is not allowed.
    """
    name, count = _number_of(ranks)
    own, count, known_mesh = _in_mesh(rank, count, mesh)
    if (own is None) != (count is None):
        missing, given = ("rank", name) if own is None else (name, "rank")
        told = _told()
        if told is None:
            needed = (
                f"{missing} too, where {given} is given and there is no process group and no launcher that says it: "
                "pass both, or call torch.distributed.init_process_group first"
            )
            raise MissingError(missing, "", needed)
        own, count = (told.rank, count) if own is None else (own, told.world_size)
    if own is None:
        return _told() or Place(0, 1, explicit=False, told=False), known_mesh
    size = check.integer(name, count, RANKS)
    try:
        known = detect_rank(check.whole("rank", own), size, environment={})
    except OutOfRangeError as error:
        # The error has the name of the parameter that was passed.
        allowed = error.allowed.replace("world_size", name)
        raise OutOfRangeError(error.field, error.value, allowed, error.facts) from None
    return Place(known.rank, known.world_size, explicit=True), known_mesh


def _number_of(ranks: Mapping[str, object]) -> tuple[str, object]:
    """The name of the parameter that was given, and its number of ranks; the first name and None if none was."""
    given = {name: value for name, value in ranks.items() if value is not None}
    if len(given) > 1:
        (first, count), (second, other) = ((name, check.integer(name, value, RANKS)) for name, value in given.items())
        if count != other:
            allowed = f"{count}, as {first}: both mean the number of ranks, so pass one of them"
            raise ContradictionError(second, str(other), allowed)
    return next(iter((given or ranks).items()))


def _told() -> Place | None:
    """The place from the process group, Ray Train or the launcher's variables; None if all of them are missing."""
    if (group := of_group()) is not None:
        return group
    if (worker := of_ray()) is not None:
        return worker
    try:
        found = detect_rank()
    except MissingError as error:
        # A trainer that starts the processes of a node itself sets the missing variables only when it makes the process
        # group, so the error advises to make this object after that.
        raise MissingError(error.field, error.value, f"{error.allowed}; or {_LATER}", error.facts) from None
    for warning in found.warnings:
        warn(warning)
    return None if found.launcher == "none" else Place(found.rank, found.world_size, explicit=False)


def of_group() -> Place | None:
    """The place in the process group, if there is one."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return Place(torch.distributed.get_rank(), torch.distributed.get_world_size(), explicit=False)
    return None


def of_ray() -> Place | None:
    """The place among the workers of Ray Train, if this is one. Trainers without torch set no launcher variables."""
    train = sys.modules.get("ray.train")
    if train is None:
        return None
    try:
        context = train.get_context()
        # Older versions have a context in every process; outside of a training, it has no experiment.
        if context.get_experiment_name() is None:
            return None
        return Place(context.get_world_rank(), context.get_world_size(), explicit=False)
    except Exception:
        # A process that is no worker gets a RuntimeError, or in Ray Tune a DeprecationWarning.
        return None


def current(known: Place) -> Place:
    """The place now. A process group that was made after the sampler replaces the launcher's variables."""
    return known if known.explicit else of_group() or known


def data_rank(place: Place, mesh: Mesh | None) -> tuple[int, int]:
    """The data-parallel rank of a process, and the number of these ranks.

    Raises:
        ContradictionError: The mesh is for another number of processes.
    """
    if mesh is None:
        return place.rank, place.world_size
    if not isinstance(mesh, Mesh):
        raise WrongTypeError("mesh", check.described(mesh), f"a samedeal.Mesh, or a DeviceMesh of {_MESHES}")
    if mesh.world_size != place.world_size:
        allowed = f"one of {place.world_size}, which is how many processes there are"
        raise ContradictionError("mesh", f"a mesh of {mesh.world_size} ranks", allowed)
    return mesh.data_rank(place.rank), mesh.data_world_size


def _in_mesh(rank: object, world_size: object, mesh: object) -> tuple[object, object, Mesh | None]:
    """Rank and world size from a `DeviceMesh` of PyTorch; for any other mesh or none, all three arguments as they are.

    Raises:
        ContradictionError: This rank is not in the mesh, or ranks get the same samples along one of its dimensions. Or
            rank and world size are given, too.
    """
    if not torch.distributed.is_available() or not isinstance(mesh, torch.distributed.device_mesh.DeviceMesh):
        # Any other value is checked where it is used.
        given: Any = mesh
        return rank, world_size, given
    if rank is not None or world_size is not None:
        raise ContradictionError("mesh", check.described(mesh), "none, where rank and world size are given")
    if mesh.ndim > 1:
        _check_dimensions(mesh.mesh_dim_names)
    coordinates = mesh.get_coordinate()
    if coordinates is None:
        value = f"a mesh without rank {torch.distributed.get_rank()}"
        raise ContradictionError("mesh", value, "one that this rank is in: each rank passes its own")
    place = 0
    for coordinate, size in zip(coordinates, mesh.shape, strict=True):
        place = place * size + coordinate
    return place, mesh.size(), None


def _check_dimensions(names: tuple[str, ...] | None) -> None:
    """Raises unless ranks get different samples along each of several dimensions, as far as names tell."""
    if names is None:
        raise ContradictionError("mesh", "a mesh of several dimensions without names", f"one of {_MESHES}")
    for name in names:
        if name in _MODEL_PARALLEL:
            raise ContradictionError("mesh", f"a mesh with the dimension {name}", f"one of {_MESHES}")


def worker() -> tuple[int, int]:
    """The number of this loader worker, and the number of workers; 0 and 1 outside of a worker."""
    info = get_worker_info()
    return (0, 1) if info is None else (info.id, info.num_workers)


def is_worker() -> bool:
    """Whether this process is a loader's worker."""
    return get_worker_info() is not None
