"""Finds the rank of a process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import SupportsIndex

from ..engine import arguments as check
from ..engine.errors import WrongTypeError
from ..generated.launch import Detection
from .binding import detect, variables


def detect_rank(
    rank: SupportsIndex | None = None,
    world_size: SupportsIndex | None = None,
    *,
    environment: Mapping[str, str] | None = None,
) -> Detection:
    """The rank of this process and the number of ranks, from the environment variables that launchers set.

    Explicit values win; then the first of torchrun, Open MPI, MVAPICH, PMI, JSM, Flux and Slurm whose rank is set.
    LOCAL_RANK counts only if the world size equals LOCAL_WORLD_SIZE, or is 1, since it is a number within one node. If
    nothing is set, the process is rank 0 of 1.

    Args:
        rank: Number of this process in the job, if it is known.
        world_size: Number of processes, if it is known.
        environment: The variables; by default those of this process.

    Raises:
        WrongTypeError: A variable is no number.
        OutOfRangeError: A variable is too large, or a rank is not below the world size.
        MissingError: There is a rank without a world size, a world size above 1 without a rank, or LOCAL_RANK alone.
            The message says what to set.
    """
    given = os.environ if environment is None else environment
    if not isinstance(given, Mapping):
        raise WrongTypeError("environment", check.described(given), "values by name, such as os.environ")
    found = [(name, check.variable(name, given[name])) for name in variables() if name in given]
    if world_size is None:
        return detect(found, None if rank is None else check.integer("rank", rank, check.U32), None)
    ranks = check.integer("world_size", world_size, check.U32_FROM_1)
    return (
        detect(found, None, ranks)
        if rank is None
        else check.asked(lambda number: detect(found, number, ranks), [check.u32("rank", rank)])
    )
