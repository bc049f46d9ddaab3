"""One rank of a run: reads every combination through real loader workers and writes the samples that it got.

    python -m torch.distributed.run --standalone --nproc-per-node 2 reader.py DATA OUT COMBINATION...

A combination is a start method, a number of workers and a deal, such as `spawn:2:samples`. The method `default` is that
of the process: `fork`, or a fork server if `started/forks.py` says so.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch.distributed as dist
from samedeal.torch import ShardedDataset
from torch.utils.data import DataLoader, get_worker_info

EPOCHS = 2
BATCH_SIZE = 37
DEALS: dict[str, dict[str, Any]] = {
    "samples": {"lanes": 24, "shuffle_window": 16, "remainder": "uneven"},
    "padded": {"lanes": 5, "shuffle_window": 16},
    "shards": {"deal": "shards"},
    "plain": {"deal": "shards", "shuffle": False, "policy": "round-robin", "worker_policy": "round-robin"},
}


def seen(batch: Any) -> tuple[int, list[int]]:
    """The worker that read the batch, and the samples of the batch."""
    info = get_worker_info()
    return (0 if info is None else info.id), batch.column("id").to_pylist()


def main(data: Path, out: Path, combinations: list[str]) -> None:
    """Reads every combination, and writes the samples."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    records = []
    for combination in combinations:
        method, count, deal = combination.split(":")
        workers = int(count)
        dataset = ShardedDataset(data, batch_size=BATCH_SIZE, seed=11, transform=seen, **DEALS[deal])
        assert (dataset.rank, dataset.world_size) == (rank, dist.get_world_size())
        loader = DataLoader(
            dataset,
            batch_size=None,
            num_workers=workers,
            multiprocessing_context=method if workers and method != "default" else None,
            # Persistent workers must follow set_epoch, too.
            persistent_workers=workers > 0 and method == "spawn",
        )
        for epoch in range(EPOCHS):
            dataset.set_epoch(epoch)
            readers: dict[int, list[int]] = {worker: [] for worker in range(max(1, workers))}
            steps = 0
            for worker, ids in loader:
                readers[worker] += ids
                steps += 1
            records.append(
                {
                    "combination": combination,
                    "epoch": epoch,
                    "rank": rank,
                    "steps": steps,
                    "promised": dataset.steps(workers),
                    "readers": [readers[worker] for worker in sorted(readers)],
                }
            )
        dist.barrier()
    part = out / f"{rank}.json.{os.getpid()}"
    part.write_text(json.dumps(records))
    part.rename(out / f"{rank}.json")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
