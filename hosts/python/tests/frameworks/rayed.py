"""Workers of a local Ray that write their rank: `rayed.py OUT`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ray
import ray.train
import ray.train.torch
import samedeal
import torch.distributed as dist
from ray.train import RunConfig, ScalingConfig
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
from samedeal.torch import BatchSampler, DistributedSampler
from torch.utils.data import DataLoader

WORLD = 2


def look(config: dict[str, Any]) -> None:
    """Writes the rank of a worker without a process group, where Ray sets no variables."""
    context = ray.train.get_context()
    sampler = DistributedSampler(range(10), shuffle=False)
    # Ray replaces the sampler of a loader unless the sampler knows its rank.
    prepared = ray.train.torch.prepare_data_loader(DataLoader(range(10), 2, sampler=sampler))
    assert prepared.sampler is sampler
    batches = DataLoader(range(10), batch_sampler=BatchSampler([1] * 10, max_tokens=2))
    unchanged = ray.train.torch.prepare_data_loader(batches, add_dist_sampler=False)
    assert unchanged.batch_sampler is batches.batch_sampler
    told = {"ray": [context.get_world_rank(), context.get_world_size()], "group": dist.is_initialized()}
    told |= {"sampler": [sampler.rank, sampler.num_replicas], "variables": samedeal.detect_rank().world_size}
    Path(config["out"], f"look-{context.get_world_rank()}.json").write_text(json.dumps(told))


def main(out: Path) -> None:
    """Runs a job on one local Ray."""
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 * 2**20, log_to_driver=False)
    try:
        # The driver is not a worker, so Ray gives it no rank.
        assert DistributedSampler(range(10)).num_replicas == 1
        DataParallelTrainer(
            look,
            train_loop_config={"out": str(out)},
            scaling_config=ScalingConfig(num_workers=WORLD),
            run_config=RunConfig(storage_path=str(out / "storage")),
        ).fit()
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
