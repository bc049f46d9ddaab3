"""A run in which one reader is killed in the middle of an epoch: `dying.py DATA OUT rank|worker`."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from samedeal.torch import ShardedDataset
from torch.utils.data import DataLoader, get_worker_info

VICTIM = 1


def ids_of(logs: list[Path] | None, batch: Any) -> list[int]:
    """The samples of a batch. With the logs of the other ranks, a worker is killed."""
    ids: list[int] = batch.column("id").to_pylist()
    info = get_worker_info()
    if logs is not None and info is not None and info.id == 1 and batch.num_rows:
        # The launcher ends the other ranks after this kill, so this rank waits until they all have read something.
        while not all(log.is_file() and log.stat().st_size for log in logs):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    return ids


def main(data: Path, out: Path, what: str) -> None:
    """Reads step by step with the other ranks, and writes the samples."""
    dist.init_process_group("gloo", timeout=timedelta(hours=1))
    rank = dist.get_rank()
    logs = [out / f"{other}.jsonl" for other in range(dist.get_world_size()) if other != VICTIM]

    seen = functools.partial(ids_of, logs if what == "worker" and rank == VICTIM else None)
    dataset = ShardedDataset(data, batch_size=16, lanes=12, shuffle_window=8, transform=seen)
    loader = DataLoader(dataset, batch_size=None, num_workers=2)
    with (out / f"{rank}.jsonl").open("w") as log:
        for step, ids in enumerate(loader):
            log.write(json.dumps(ids) + "\n")
            log.flush()
            if what == "rank" and rank == VICTIM and step == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            # Every rank waits here for all others, as in a training step.
            dist.all_reduce(torch.ones(1))
    (out / f"{rank}.done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
