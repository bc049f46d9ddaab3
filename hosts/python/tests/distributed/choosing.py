"""One rank that reads with lanes that the dataset chose: `choosing.py DATA OUT STATE WORKERS READERS STEPS`.

STATE is the state to resume, or "-". The rank stops after STEPS steps, when rank 0 saves a state, or reads the epoch to
its end if STEPS is 0.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
from samedeal.torch import LanesNote, Resumable, ShardedDataset, verify_ranks
from torch.utils.data import DataLoader


def main(data: Path, out: Path, state: str, workers: int, readers: int, steps: int) -> None:
    """Reads in step with the other ranks, and writes the rows and what the dataset said."""
    dist.init_process_group("gloo")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", LanesNote)
        dataset = ShardedDataset(data, batch_size=8, lanes="auto", max_readers=readers, padding_column="padding")
    loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))
    if state != "-":
        loader.load_state_dict(torch.load(state))
    verify_ranks(loader)
    rows: list[int] = []
    for taken, batch in enumerate(loader, 1):
        rows += [row["id"] for row in batch.to_pylist() if not row["padding"]]
        dist.all_reduce(torch.ones(1))
        if taken == steps:
            break
    if dist.get_rank() == 0:
        torch.save(loader.state_dict(), out / "state")
    notes = sum(warning.category is LanesNote for warning in said)
    reads = dataset.shard_info(workers=workers).reads
    order = json.loads(dataset.recipe)["order"]
    found = {"rows": rows, "notes": notes, "lanes": order["lanes"], "reads": reads}
    (out / f"{dist.get_rank()}.json").write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    folder, place, text = sys.argv[1:4]
    main(Path(folder), Path(place), text, *map(int, sys.argv[4:]))
