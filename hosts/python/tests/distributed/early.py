"""Ranks that learn their number after their datasets are made, as with `torch.multiprocessing`."""

from __future__ import annotations

import sys
import tempfile

import torch.distributed as dist
import torch.multiprocessing as mp
from samedeal.torch import ShardedDataset
from torch.utils.data import DataLoader


def ids(batch: object) -> list[int]:
    """The samples of a batch."""
    found: list[int] = batch.column("id").to_pylist()  # type: ignore[attr-defined]
    return found


def rank(number: int, data: str, store: str) -> None:
    """One rank of two."""
    dataset = ShardedDataset(data, batch_size=64, remainder="uneven", transform=ids)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=number, world_size=2)
    for workers, method in ((0, None), (2, None), (1, "spawn")):
        loader = DataLoader(dataset, batch_size=None, num_workers=workers, multiprocessing_context=method)
        dataset.set_epoch(dataset.epoch + 1) if workers == 2 else None
        mine = [i for batch in loader for i in batch]
        both: list[list[int]] = [[], []]
        dist.all_gather_object(both, mine)
        everything = sorted(both[0] + both[1])
        assert everything == list(range(len(everything))), (workers, method)
    if number == 0:
        print(f"{len(everything)} samples once")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(rank, (sys.argv[1], f"{folder}/store"), nprocs=2, start_method="fork")
