"""One rank that leaves out rows that fail: `failing.py DATA OUT STATE WORKERS DEATH`.

STATE is the state to resume, or "-". Rank 1 is killed after DEATH steps; with 0, the epoch is read to its end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import torch
import torch.distributed as dist
from samedeal.torch import Resumable, ShardedDataset, verify_ranks
from torch.utils.data import DataLoader


def picky(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Fails for some samples."""
    for sample in batch.column("sample").to_pylist():
        if sample % 50 == 0:
            raise ValueError(f"no use for {sample}")
    return batch


def main(data: Path, out: Path, state: str, workers: int, death: int) -> None:
    """Reads in step with the other ranks, and writes the samples of each step."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dataset = ShardedDataset(
        data,
        batch_size=16,
        lanes=8,
        shuffle_window=16,
        seed=5,
        transform=picky,
        sample_column="sample",
        padding_column="padding",
        max_failed_rows=1_000,
    )
    loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))
    if state != "-":
        loader.load_state_dict(torch.load(state))
    verify_ranks(loader)
    with (out / f"rows-{rank}.jsonl").open("w", buffering=1) as log:
        log.write(json.dumps([[each.start, len(each)] for each in dataset.failed_rows]) + "\n")
        for step, batch in enumerate(loader):
            log.write(json.dumps([row["sample"] for row in batch.to_pylist() if not row["padding"]]) + "\n")
            dist.all_reduce(torch.ones(1))
            if step + 1 == death:
                dataset.share_failed_rows()
                if rank == 0:
                    torch.save(loader.state_dict(), out / "state")
            if step == death and rank == 1 and death:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
