"""A training loop that saves its state, and is killed some steps later: `train.py OUT`."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from samedeal.torch import BatchSampler, DistributedSampler, Resumable
from torch.utils.data import DataLoader

WORLD = 2
SAMPLES = 1_003
SEED, EPOCH = 5, 3
BATCH = 8
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]
SAMPLERS = ("torch", "feistel")
"""Orders of samplers."""
BATCHERS: dict[str, dict[str, Any]] = {
    "budget": {"max_tokens": 500},
    "pack": {"strategy": "pack", "capacity": 128, "max_batch_size": 2},
}
SAVED, DEATH = 11, 14
"""The step after which a state is saved, and the step after which all processes are killed."""


def loader_of(kind: str) -> Resumable:
    """A loader of sample numbers, with a worker that reads ahead."""
    how: dict[str, Any] = {"collate_fn": list, "num_workers": 1}
    data = range(SAMPLES)
    if kind in BATCHERS:
        return Resumable(DataLoader(data, batch_sampler=BatchSampler(LENGTHS, seed=SEED, **BATCHERS[kind]), **how))
    return Resumable(DataLoader(data, BATCH, sampler=DistributedSampler(data, seed=SEED, order=kind), **how))


def main(out: Path) -> None:
    """Runs an epoch with several loaders, one step of each in turn."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    loaders = {kind: loader_of(kind) for kind in (*SAMPLERS, *BATCHERS)}
    for loader in loaders.values():
        loader.set_epoch(EPOCH)
    passes = {kind: iter(loader) for kind, loader in loaders.items()}
    read: dict[str, list[list[int]]] = {kind: [] for kind in loaders}
    for step in range(1, DEATH + 1):
        for kind, batches in passes.items():
            read[kind].append(next(batches))
        # Every rank waits for all others, as in a training step.
        dist.all_reduce(torch.ones(1))
        if step == SAVED:
            (out / f"{rank}.json").write_text(json.dumps(read))
            for kind, loader in loaders.items():
                # The state is equal on all ranks. Each rank writes its own, so that a test can check this.
                (out / f"{kind}-{rank}.state").write_text(loader.state_dict()["samedeal"])
    dist.barrier()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
