"""The rank of a process from the variables of launchers: section 8."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Failure, require

LAUNCHERS = {
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    "open-mpi": (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    "mvapich": (
        "MV2_COMM_WORLD_RANK",
        "MV2_COMM_WORLD_SIZE",
        "MV2_COMM_WORLD_LOCAL_RANK",
        "MV2_COMM_WORLD_LOCAL_SIZE",
    ),
    "pmi": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    "jsm": ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"),
    "flux": ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", None),
    "slurm": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
}

OF_STEP = {"SLURM_NTASKS": "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE": "SLURM_STEP_TASKS_PER_NODE"}
UNUSED = ["PMIX_RANK", "PMI_ID", "ALPS_APP_PE", "PALS_RANKID", "CLOUD_TPU_TASK_ID", "TPU_WORKER_ID"]

# The Unicode property White_Space. Without an argument, `str.strip` would also remove four control characters.
WHITE_SPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


@dataclass(frozen=True)
class Detection:
    rank: int
    world_size: int
    local_rank: int | None
    local_world_size: int | None
    launcher: str
    used: list[str]
    warnings: int  # Number of warnings; their texts are for people.


def variables() -> list[str]:
    own = [name for line in LAUNCHERS.values() for name in line if name is not None]
    return [*own, "SLURM_STEP_ID", "GROUP_RANK", "GROUP_WORLD_SIZE", *OF_STEP.values(), *UNUSED]


class Environment:
    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        # If a name comes twice, its last value counts.
        self.values = {name: value.strip(WHITE_SPACE) for name, value in pairs}

    def line(self, launcher: str) -> list[str | None]:
        """The variables of a launcher. Variables of a Slurm step replace those of the job."""
        own = [(name, OF_STEP.get(name or "")) for name in LAUNCHERS[launcher]]
        return [step if step is not None and self.is_set(step) else name for name, step in own]

    def is_set(self, name: str) -> bool:
        return self.values.get(name, "") != ""

    def number(self, name: str | None) -> int | None:
        if name is None or not self.is_set(name):
            return None
        text = self.values[name]
        require(all(c in "0123456789" for c in text), name, text, "wrong-type")
        require(int(text) < 2**32, name, text)
        return int(text)

    def number_or_none(self, name: str | None) -> int | None:
        try:
            return self.number(name)
        except Failure:
            return None


def detect(environment: list[tuple[str, str]], rank: int | None, world_size: int | None) -> Detection:
    env = Environment(environment)
    launcher = next((name for name, line in LAUNCHERS.items() if env.is_set(line[0])), None)
    rank_name, world_name, local_rank_name, local_world_name = env.line(launcher or "torchrun")
    used = [f"{name}={value}" for name, value in (("rank", rank), ("world_size", world_size)) if value is not None]
    explicit = len(used)

    read_local_rank = env.number if rank is None or world_size is None else env.number_or_none
    local_rank = read_local_rank(local_rank_name)
    local_world_size = env.number_or_none(local_world_name)

    rank_field, found_rank = "rank", rank
    if rank is None:
        rank_field = rank_name
        found_rank = env.number(rank_name)
        if found_rank is None and local_rank is not None:
            all_ranks = env.number("WORLD_SIZE") if world_size is None else world_size
            if all_ranks != 1 or local_rank != 0:
                require(all_ranks is not None and env.number("LOCAL_WORLD_SIZE") == all_ranks, "RANK", "", "missing")
            rank_field, found_rank = "LOCAL_RANK", local_rank
        if found_rank is not None:
            used.append(f"{rank_field}={found_rank}")

    world_field, found_world = "world_size", world_size
    if world_size is None:
        world_field, found_world = world_name, env.number(world_name)
        if found_world is not None:
            used.append(f"{world_field}={found_world}")

    require(found_world != 0, world_field, 0)
    if found_rank is None:
        require(found_world in (None, 1), "RANK", "", "missing")
        name, found_rank, found_world = "none", 0, 1
    else:
        if found_world is None:
            raise Failure("missing", world_name if launcher else "world_size", "")
        require(found_rank < found_world, rank_field, found_rank)
        name = "explicit" if len(used) == explicit else launcher or "torchrun"
    warnings = 0
    here = found_rank, found_world, local_rank, local_world_size
    for other in LAUNCHERS:
        line = env.line(other)
        their_rank, their_world = env.number_or_none(line[0]), env.number_or_none(line[1])
        if other == (launcher or "torchrun"):
            warnings += their_rank not in (None, found_rank) or their_world not in (None, found_world)
        elif their_rank is not None and their_world is not None:
            agrees = (their_rank, their_world) == (found_rank, found_world)
            group, groups = (env.number_or_none(name) for name in ("GROUP_RANK", "GROUP_WORLD_SIZE"))
            if (launcher or "torchrun") == "torchrun" and group is not None and groups is not None:
                agrees |= their_world == groups and their_rank < groups and holds(*here, group, groups)
            elif local_world_size and their_world * local_world_size == found_world:
                agrees |= their_rank == found_rank // local_world_size
            else:
                agrees |= holds(*here, their_rank, their_world)
            warnings += not agrees
    warnings += local_rank is not None and local_world_size is not None and local_rank >= local_world_size
    warnings += name == "slurm" and found_world != 1 and not env.is_set("SLURM_STEP_ID")
    warnings += sum(env.is_set(unused) for unused in UNUSED) if name == "none" else 0
    return Detection(found_rank, found_world, local_rank, local_world_size, name, used, warnings)


def holds(
    rank: int, world_size: int, local_rank: int | None, local_world_size: int | None, node: int, nodes: int
) -> bool:
    """Whether node number `node` of `nodes` can have the process. Each node has at least one process."""
    if local_rank is None or local_world_size is None or node >= nodes or local_rank >= local_world_size:
        return False
    before = rank - local_rank
    after = world_size - before - local_world_size
    return all(
        count >= least and (least > 0 or count == 0) for count, least in ((before, node), (after, nodes - 1 - node))
    )
