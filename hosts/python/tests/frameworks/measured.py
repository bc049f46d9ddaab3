"""An evaluation on all ranks: `measured.py OUT SHARDS` writes what `gather_for_metrics` returns for each loader."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from accelerate import Accelerator
from samedeal import ContradictionError
from samedeal.accelerate import prepare
from samedeal.torch import BatchSampler, DistributedSampler, ShardedDataset, to_tensors
from torch.utils.data import DataLoader

SAMPLES = 22


def loaders(shards: Path) -> dict[str, Any]:
    """Loaders of samples and of rows, with and without workers, with padding in one batch and in two."""
    data = range(SAMPLES)
    made: dict[str, Any] = {}
    for size in (1, 4, 5, 30):
        made[f"samples-{size}"] = DataLoader(data, size, sampler=DistributedSampler(data, seed=2))
    made["workers"] = DataLoader(data, 3, sampler=DistributedSampler(data, seed=2), num_workers=2)
    made["units"] = DataLoader(data, 3, sampler=DistributedSampler(data, seed=2, unit=6))
    made["dropped"] = DataLoader(data, 3, sampler=DistributedSampler(data, seed=2), drop_last=True)
    for workers in (0, 2):
        lengths = [1 + sample % 5 for sample in data]
        batches = BatchSampler(lengths, max_tokens=8, tail="duplicate", seed=2)
        made[f"batches-{workers}"] = DataLoader(data, batch_sampler=batches, num_workers=workers)
        rows = ShardedDataset(shards, batch_size=3, transform=to_tensors, shuffle=False)
        made[f"unequal-{workers}"] = DataLoader(
            data, batch_sampler=BatchSampler(lengths, max_tokens=8, seed=2), num_workers=workers
        )
        made[f"rows-{workers}"] = DataLoader(rows, batch_size=None, num_workers=workers)
    return made


def refused_shapes(accelerator: Accelerator) -> None:
    """Checks that batches that cannot be gathered are refused on all ranks, before a rank waits for another one."""
    data = range(SAMPLES)
    batches = BatchSampler([1 + sample % 5 for sample in data], max_tokens=8, seed=2)
    loader = prepare(accelerator, DataLoader(data, batch_sampler=batches))
    for ids in loader:
        width = 3 + accelerator.process_index
        for tensor in (ids.new_zeros(len(ids), width), ids.new_zeros([len(ids), *[1] * width])):
            with pytest.raises(ContradictionError, match="first dimension only"):
                accelerator.gather_for_metrics(tensor)
        assert accelerator.gather_for_metrics(ids.new_zeros(len(ids), 3)).shape[1] == 3


def main(out: Path, shards: Path) -> None:
    """Gathers tensors of several shapes, and objects, for a whole epoch and for the rest of it."""
    accelerator = Accelerator(cpu=True)
    found: dict[str, Any] = {}
    for name, plain in loaders(shards).items():
        loader = prepare(accelerator, plain)
        whole: dict[str, list[Any]] = {"ids": [], "tokens": [], "objects": [], "losses": []}
        # The state of a sampler with units can only be taken after whole units.
        steps, half = len(loader), len(loader) // 4 * 2 if name == "units" else len(loader) // 2
        state, consumed = loader.state_dict(), 0
        for number, batch in enumerate(loader, 1):
            ids = batch["id"] if isinstance(batch, dict) else batch
            gathered = accelerator.gather_for_metrics({"ids": [ids, ids.repeat_interleave(2)]})["ids"]
            assert accelerator.gather_for_metrics([ids])[0].tolist() == gathered[0].tolist()
            whole["ids"] += gathered[0].tolist()
            whole["tokens"] += gathered[1].tolist()
            whole["objects"] += accelerator.gather_for_metrics([str(i) for i in ids.tolist()])
            whole["losses"].append(len(accelerator.gather_for_metrics(ids.sum())))
            if number == half:
                state, consumed = loader.state_dict(), len(whole["ids"])
        loader.load_state_dict(state)
        rest: list[int] = []
        for batch in loader:
            rest += accelerator.gather_for_metrics(batch["id"] if isinstance(batch, dict) else batch).tolist()
        found[name] = {**whole, "rest": rest, "steps": steps, "consumed": consumed}
    refused_shapes(accelerator)
    (out / f"{accelerator.process_index}.json").write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
