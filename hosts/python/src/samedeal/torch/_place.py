"""Which reader a process is."""

from __future__ import annotations

import torch.distributed
from torch.utils.data import get_worker_info

from .. import Mesh, MissingError, detect_rank


def data_rank(rank: int | None, world: int | None, mesh: Mesh | None) -> tuple[int, int]:
    """Which of how many data-parallel readers this process is.

    Explicit values win; then the process group, where one is there; then the launcher's variables. With a mesh these
    say which rank of the mesh the process is.
    """
    if (rank is None) != (world is None):
        given, field = ("world", "rank") if rank is None else ("rank", "world")
        raise MissingError(field, "", f"{field} too, where {given} is given")
    if rank is None or world is None:
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
        else:
            found = detect_rank()
            rank, world = found.rank, found.world
    if mesh is None:
        return rank, world
    return mesh.data_rank(rank), mesh.data_world


def worker() -> tuple[int, int]:
    """Which of how many loader workers this process is: 0 of 1 where there are none."""
    info = get_worker_info()
    return (0, 1) if info is None else (info.id, info.num_workers)
