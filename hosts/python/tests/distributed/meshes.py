"""A rank of a job with meshes of PyTorch: `meshes.py OUT` writes its reader number in each mesh, or the error."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch.distributed as dist
from conftest import write
from samedeal import SamedealError
from samedeal.torch import BatchSampler, DistributedSampler, ShardedDataset, StepBatchSampler, verify_ranks
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh


def main(out: Path) -> None:
    """Tries each mesh."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    files = write(out / f"files-{rank}", (40, 20))
    hybrid = init_device_mesh("cpu", (2, 2, 1), mesh_dim_names=("dp_replicate", "dp_shard", "tp"))
    both = hybrid["dp_replicate", "dp_shard"]
    alone = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp_replicate", "dp_shard"))
    grid = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    meshes: dict[str, Any] = {
        "both": both,
        "flat": both._flatten("dp"),
        "whole": alone,
        "sliced whole": alone["dp_replicate", "dp_shard"],
        "one": hybrid["dp_shard"],
        "data": grid["dp"],
        "tensor": grid,
        "nameless": init_device_mesh("cpu", (2, 2)),
        "two ranks": DeviceMesh("cpu", [1, 3]),
        "other": 5,
    }
    told: dict[str, Any] = {}
    for name, mesh in meshes.items():
        try:
            sampler = DistributedSampler(range(100), mesh=mesh)
            others = (
                BatchSampler([1] * 100, max_tokens=4, mesh=mesh),
                StepBatchSampler(range(100), 12, mesh=mesh),
                ShardedDataset(files, mesh=mesh),
            )
            told[name] = sampler.rank, sampler.num_replicas
            assert {(other.rank, other.world_size) for other in others} == {told[name]}
        except SamedealError as error:
            told[name] = f"{type(error).__name__}: {error}"
            continue
        if name != "two ranks":
            for one in (sampler, *others):
                verify_ranks(one)
    (out / f"{rank}.json").write_text(json.dumps(told))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
