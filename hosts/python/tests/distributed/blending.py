"""One rank that reads several sources: `blending.py DATA OUT STATE WORKERS STEPS STAGES SAMPLES`.

STATE is the state to resume, or "-". STEPS is the number of steps; with 0, the rank reads two epochs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from samedeal.torch import Resumable, ShardedDataset, verify_ranks
from torch.utils.data import DataLoader

WEIGHTS = {"web": 7, "code": 2, "math": 1}


def main(data: Path, out: Path, state: str, workers: int, steps: int, stages: list[Any], samples: int) -> None:
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
        lanes=6,
        shuffle_window=16,
        padding_column="padding",
        source_column="source",
    )
    loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=workers, persistent_workers=True))
    if state != "-":
        loader.load_state_dict(torch.load(state))
    taken = 0
    with (out / f"rows-{rank}.jsonl").open("w") as log:
        for epoch in range(loader.epoch, 2):
            loader.set_epoch(epoch)
            verify_ranks(loader)
            for batch in loader:
                for row in batch.to_pylist():
                    log.write(json.dumps([epoch, row["source"], row["id"], row["padding"]]) + "\n")
                dist.all_reduce(torch.ones(1))
                taken += 1
                if taken == steps:
                    break
            if taken == steps:
                break
    if rank == 0:
        torch.save(loader.state_dict(), out / "state")
    dist.destroy_process_group()


if __name__ == "__main__":
    folder, place, text = sys.argv[1:4]
    main(Path(folder), Path(place), text, int(sys.argv[4]), int(sys.argv[5]), json.loads(sys.argv[6]), int(sys.argv[7]))
