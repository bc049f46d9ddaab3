"""A training job that resumes from a checkpoint file, and is killed at an unknown moment: `job.py OPTIONS`.

Each rank writes the samples of a step before the ranks meet in this step. Rank 0 saves a checkpoint from time to time:
the state, and the number of steps that this life took before it. A rename replaces the file, so it is always whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, ShardedDataset, StepBatchSampler
from torch.utils.data import DataLoader

EPOCHS = 2
SEED = 5
STEP = 0.005
"""Seconds that a step takes."""
GLOBAL_BATCH = 12
"""The batch size of jobs in global steps: a multiple of every world size."""


def lengths(samples: int) -> list[int]:
    """Lengths of sequences."""
    return [1 + i * 7919 % 97 for i in range(samples)]


def ids(batch: Any) -> list[int]:
    """The samples of rows of files."""
    found: list[int] = batch.column("id").to_pylist()
    return found


def loader_of(options: dict[str, Any]) -> Resumable:
    """The loader of the job."""
    kind, samples = options["kind"], range(options["samples"])
    how: dict[str, Any] = {"collate_fn": list, "num_workers": options["workers"]}
    if kind == "files":
        rows = ShardedDataset(
            options["files"],
            columns=["id"],
            batch_size=options["batch_size"],
            transform=ids,
            seed=SEED,
            lanes=12,
            shuffle_window=4,
        )
        return Resumable(DataLoader(rows, **how | {"batch_size": None, "collate_fn": None}))
    if kind == "steps":
        steps = EPOCHS * len(samples) // GLOBAL_BATCH
        return Resumable(
            DataLoader(samples, batch_sampler=StepBatchSampler(samples, GLOBAL_BATCH, steps=steps, seed=SEED), **how)
        )
    if kind == "budget":
        return Resumable(
            DataLoader(samples, batch_sampler=BatchSampler(lengths(len(samples)), seed=SEED, max_tokens=400), **how)
        )
    sampler = DistributedSampler(samples, seed=SEED, order=kind)
    return Resumable(DataLoader(samples, options["batch_size"], sampler=sampler, **how))


def killer(seconds: float) -> int:
    """A process that kills this one after a time."""
    parent, child = os.getpid(), os.fork()
    if child:
        return child
    time.sleep(seconds)
    if os.getppid() == parent:
        os.kill(parent, signal.SIGKILL)
    os._exit(0)


def train(options: dict[str, Any], rank: int) -> None:
    """Trains from the checkpoint to the end."""
    checkpoint, loader = Path(options["checkpoint"]), loader_of(options)
    if checkpoint.exists():
        loader.load_state_dict(json.loads(checkpoint.read_text())["state"])
    steps = 0
    with Path(options["log"], f"{options['life']}-{rank}.jsonl").open("w") as log:
        for epoch in range(
            loader.epoch if options["kind"] != "steps" else 0, 1 if options["kind"] == "steps" else EPOCHS
        ):
            if options["kind"] != "steps":
                loader.set_epoch(epoch)
            for samples in loader:
                steps += 1
                log.write(json.dumps([epoch, samples]) + "\n")
                log.flush()
                time.sleep(STEP * (1 + rank % 2))
                dist.all_reduce(torch.ones(1))
                if rank == 0 and steps % options["every"] == 0:
                    part = checkpoint.with_suffix(".part")
                    part.write_text(json.dumps({"state": loader.state_dict(), "life": options["life"], "steps": steps}))
                    part.rename(checkpoint)
    # The file says that the rank is done. No rank writes it before all ranks are done.
    dist.barrier()
    Path(options["log"], f"{options['life']}-{rank}.done").touch()


def main(options: dict[str, Any]) -> None:
    """Runs one rank in one life of the job."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    death = options["deaths"].get(str(rank))
    child = None if death is None else killer(death)
    try:
        train(options, rank)
    finally:
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
