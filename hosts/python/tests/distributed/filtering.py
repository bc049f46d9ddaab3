"""One rank that reads the rows that pass a filter: `filtering.py DATA OUT STATE WORKERS DEATH FILTERS...`.

STATE is the state to resume, or "-". FILTERS has the value of the column `kind` that each rank takes. Rank 1 is killed
after DEATH steps; with 0, the epoch is read to its end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pyarrow.compute as pc
import torch
import torch.distributed as dist
from samedeal import ContradictionError
from samedeal.files import Shards, matching
from samedeal.torch import Resumable, ShardedDataset, verify_ranks
from torch.utils.data import DataLoader


def main(data: Path, out: Path, state: str, workers: int, death: int, kinds: list[str]) -> None:
    """Reads in step with the other ranks, and writes the rows of each step."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    shards = Shards.find(data)
    rows = matching(shards, pc.field("kind") == int(kinds[rank]))
    dataset = ShardedDataset(
        shards, batch_size=8, lanes=4, shuffle_window=16, order=lambda files: files.subset(rows), remainder="drop"
    )
    loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))
    if state != "-":
        loader.load_state_dict(torch.load(state))
    try:
        verify_ranks(loader)
    except ContradictionError as error:
        (out / f"refused-{rank}").write_text(str(error))
        return
    with (out / f"rows-{rank}.jsonl").open("w", buffering=1) as log:
        for step, batch in enumerate(loader):
            log.write(json.dumps(batch.column("id").to_pylist()) + "\n")
            dist.all_reduce(torch.ones(1))
            if step + 1 == death and rank == 0:
                torch.save(loader.state_dict(), out / "state")
            if step == death and rank == 1 and death:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, place, text, count, step, *kinds = sys.argv[1:]
    main(Path(folder), Path(place), text, int(count), int(step), kinds)
