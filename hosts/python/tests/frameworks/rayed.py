"""Training on a local Ray, with a worker that dies: `rayed.py OUT`."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import ray
import ray.train
import ray.train.torch
import samedeal
import torch
import torch.distributed as dist
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, verify_ranks
from torch import nn
from torch.utils.data import DataLoader

WORLD = 2
EPOCHS = 2
SAMPLES = 64
BATCH = 4
EVERY = 2
"""Steps between checkpoints."""
DEATH = 5
"""The step before which a worker dies, the first time."""


def train(config: dict[str, Any]) -> None:
    """What each worker does."""
    context = ray.train.get_context()
    rank, world_size = context.get_world_rank(), context.get_world_size()
    torch.manual_seed(3)
    data = [(i, torch.sin(torch.arange(1, 5) * (i + 1))) for i in range(SAMPLES)]
    sampler = DistributedSampler(data, seed=5)
    assert (sampler.rank, sampler.num_replicas) == (rank, world_size) == (dist.get_rank(), dist.get_world_size())
    prepared = ray.train.torch.prepare_data_loader(DataLoader(data, BATCH, sampler=sampler, num_workers=rank))
    assert prepared.sampler is sampler
    loader = Resumable(prepared)
    batches = DataLoader(data, batch_sampler=BatchSampler([1] * SAMPLES, max_tokens=BATCH, seed=5))
    unchanged = ray.train.torch.prepare_data_loader(batches, add_dist_sampler=False)
    assert unchanged.batch_sampler is batches.batch_sampler
    model = ray.train.torch.prepare_model(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    step, first = 0, not ray.train.get_checkpoint()
    if checkpoint := ray.train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            found = torch.load(Path(folder) / "state.pt")
        model.load_state_dict(found["model"])
        loader.load_state_dict(found["loader"])
        step = found["step"]
    log = Path(config["out"]) / f"{rank}-{step}.jsonl"
    with log.open("w") as lines:
        for epoch in range(loader.epoch, EPOCHS):
            loader.set_epoch(epoch)
            verify_ranks(loader)
            for samples, x in loader:
                if step == DEATH and first and rank == 1:
                    os.kill(os.getpid(), signal.SIGKILL)
                optimizer.zero_grad()
                (model(x).squeeze(1) - x.sum(1)).square().sum().backward()
                optimizer.step()
                step += 1
                lines.write(json.dumps([step, epoch, samples.tolist()]) + "\n")
                lines.flush()
                if step % EVERY == 0:
                    save(rank, {"model": model.state_dict(), "loader": loader.state_dict(), "step": step})


def save(rank: int, state: dict[str, Any]) -> None:
    """Every worker reports; one of them has the state, which is that of all."""
    with tempfile.TemporaryDirectory() as folder:
        if rank == 0:
            torch.save(state, Path(folder) / "state.pt")
        ray.train.report({"step": state["step"]}, checkpoint=Checkpoint.from_directory(folder) if rank == 0 else None)


def look(config: dict[str, Any]) -> None:
    """Who a worker is where there is no process group, and Ray sets no variables."""
    context = ray.train.get_context()
    sampler = DistributedSampler(range(10), shuffle=False)
    told = {"ray": [context.get_world_rank(), context.get_world_size()], "group": dist.is_initialized()}
    told |= {"sampler": [sampler.rank, sampler.num_replicas], "variables": samedeal.detect_rank().world_size}
    Path(config["out"], f"look-{context.get_world_rank()}.json").write_text(json.dumps(told))


def main(out: Path) -> None:
    """Two jobs on one Ray."""
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 * 2**20, log_to_driver=False)
    try:
        # The driver is no worker, and is told nothing by Ray.
        assert DistributedSampler(range(10)).num_replicas == 1
        for trainer, what, failures in ((TorchTrainer, train, 1), (DataParallelTrainer, look, 0)):
            trainer(
                what,
                train_loop_config={"out": str(out)},
                scaling_config=ScalingConfig(num_workers=WORLD),
                run_config=RunConfig(
                    storage_path=str(out / "storage"), failure_config=FailureConfig(max_failures=failures)
                ),
            ).fit()
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
