"""One rank that reads several sources: `blending.py DATA OUT STATE WORKERS STEPS STAGES SAMPLES [LANES [DEATH]]`.

STATE is the state to resume, or "-". STEPS is the number of steps after which a state is saved; with 0, the rank reads
two epochs. The rank ends then, or goes on until rank 1 is killed after DEATH steps.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
import torch.distributed as dist
from decoding import Decoded
from samedeal.files.groups import Groups
from samedeal.torch import Resumable, ShardedDataset, verify_ranks
from torch.utils.data import DataLoader

WEIGHTS = {"web": 7, "code": 2, "math": 1}
COLUMNS = ("source", "id", "padding", "sample")
decoded = Decoded()
"""How many rows this process has decoded."""
# At the top level, so that workers of any start method count.
Groups.decoded = decoded.counted  # type: ignore[method-assign, assignment]


def with_count(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
    """A batch, and how many rows its worker has decoded up to it."""
    return batch, decoded.rows


def main(
    data: Path,
    out: Path,
    state: str,
    workers: int,
    steps: int,
    stages: list[Any],
    samples: int,
    lanes: int = 6,
    death: int = 0,
) -> None:
    """Reads in step with the other ranks, and writes the samples of each step."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dataset = ShardedDataset(
        {name: data / name for name in WEIGHTS},
        weights=WEIGHTS,
        stages=stages,
        samples=samples,
        batch_size=8,
        seed=3,
        lanes=lanes,
        shuffle_window=16,
        transform=with_count,
        sample_column="sample",
        padding_column="padding",
        source_column="source",
    )
    loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=workers, persistent_workers=True))
    if state != "-":
        loader.load_state_dict(torch.load(state))
    taken = 0
    # A rank that is killed leaves the lines that it has written.
    with (out / f"rows-{rank}.jsonl").open("w", buffering=1) as log:
        for epoch in range(loader.epoch, 2):
            loader.set_epoch(epoch)
            verify_ranks(loader)
            for step, (batch, count) in enumerate(loader):
                told = [[epoch, *(row[name] for name in COLUMNS), step, count] for row in batch.to_pylist()]
                log.write("".join(f"{json.dumps(line)}\n" for line in told))
                taken += 1
                if rank == 0 and taken == steps:
                    torch.save(loader.state_dict(), out / "state")
                if rank == 1 and death and taken == death:
                    os.kill(os.getpid(), signal.SIGKILL)
                dist.all_reduce(torch.ones(1))
                if taken == steps and not death:
                    break
            if taken == steps and not death:
                break
    if rank == 0 and not steps:
        torch.save(loader.state_dict(), out / "state")
    dist.destroy_process_group()


if __name__ == "__main__":
    folder, place, text = sys.argv[1:4]
    main(
        *(Path(folder), Path(place), text, int(sys.argv[4]), int(sys.argv[5]), json.loads(sys.argv[6])),
        *map(int, sys.argv[7:]),
    )
