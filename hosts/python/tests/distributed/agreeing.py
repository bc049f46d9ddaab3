"""A rank of a job whose ranks agree or not: `agreeing.py OUT` writes the answer of `verify_ranks` in each case."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import samedeal
import torch
import torch.distributed as dist
from conftest import write
from samedeal import Batcher, Mesh, SamedealError
from samedeal.parquet import Shards
from samedeal.torch import (
    BatchSampler,
    DistributedSampler,
    PackedDataset,
    Resumable,
    ShardedDataset,
    StepBatchSampler,
    random_split,
    verify_ranks,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.utils.data import ConcatDataset, DataLoader, Subset
from torch.utils.data import DistributedSampler as Theirs

LENGTHS = [3, 9, 4, 4, 7, 1, 2, 5] * 10


def cases(rank: int, world_size: int, files: Path, equal: Path, even: Path) -> dict[str, Any]:
    """A sampler for each case. If ranks differ, only the last rank differs from the others."""
    data, odd = range(100), rank == world_size - 1
    first: dict[str, Any] = {"num_replicas": world_size, "rank": rank}
    grid: dict[str, Any] = (
        {"mesh": Mesh(world_size, {"dp": world_size // 2, "tp": 2}, shard=["dp"])} if world_size % 2 == 0 else {}
    )

    device: dict[str, Any] = {}
    if world_size % 2 == 0:
        # All ranks along "tp" read the same samples.
        device["mesh"] = init_device_mesh("cpu", (world_size // 2, 2), mesh_dim_names=("dp", "tp"))["dp"]
        assert DistributedSampler(data, **device).rank == DistributedSampler(data, **grid).rank == rank // 2

    def moved(sampler: Any, epoch: int) -> Any:
        sampler.set_epoch(epoch)
        return sampler

    def taken(sampler: Any, samples: int) -> Any:
        sampler.load_state_dict(sampler.state_dict(samples))
        return sampler

    def blended(weight: int = 2, **options: Any) -> samedeal.Order:
        return samedeal.blend({"a": (60, weight), "b": (40, 1)}, **options)

    plain = samedeal.order("feistel", 100)
    part = Subset(data, list(range(rank * 20, rank * 20 + 20)))
    return {
        "fine": DistributedSampler(data),
        "fine batches": BatchSampler(LENGTHS, max_tokens=20),
        "fine loader": Resumable(DataLoader(data, 4, sampler=DistributedSampler(data))),
        "fine mesh": DistributedSampler(data, **grid),
        "fine device mesh": DistributedSampler(data, **device),
        "fine batches in a mesh": BatchSampler(LENGTHS, max_tokens=20, **device),
        "fine subset": DistributedSampler(Subset(data, list(range(50)))),
        "fine order": DistributedSampler(data, order=blended(stages=[(9, [1, 1])])),
        "sources": DistributedSampler(data, order=blended(3 if odd else 2)),
        "stages": DistributedSampler(data, order=blended(stages=[(9 + odd, [1, 1])])),
        "positions": DistributedSampler(data, order=blended(samples=100 + odd)),
        "indices": DistributedSampler(data, order=plain.exclude([7 + odd])),
        "of": DistributedSampler(data, order=plain.exclude([7 + odd]).skip([(0, 0, 1)])),
        "seed": DistributedSampler(data, seed=int(odd)),
        "dataset_size": DistributedSampler(range(100 + odd)),
        "order": DistributedSampler(data, order="feistel" if odd else "python"),
        "epoch": moved(DistributedSampler(data), 3 + odd),
        "remainder": DistributedSampler(data, drop_last=odd),
        "consumed": taken(DistributedSampler(data), 2 + odd),
        "dataset": DistributedSampler(part),
        "rank": DistributedSampler(data, num_replicas=world_size, rank=0 if odd else rank),
        "world_size": DistributedSampler(data, num_replicas=1, rank=0),
        "world_size too": DistributedSampler(data, num_replicas=world_size + odd, rank=rank),
        "world_size twice": DistributedSampler(data, num_replicas=2 * world_size, rank=rank),
        "sampler": BatchSampler(LENGTHS, max_tokens=20) if odd else DistributedSampler(data),
        "lengths": BatchSampler([*LENGTHS[:-1], 6 if odd else 7], max_tokens=20),
        # The recipe has a hash of some of the lengths. The length that differs here is not among these.
        "window_lengths": BatchSampler(changed(odd), max_tokens=20, order="sequential"),
        "max_tokens": BatchSampler(LENGTHS, max_tokens=20 + odd),
        "history": taken(BatchSampler(LENGTHS, max_tokens=20), 1 + odd),
        "seed and epoch": moved(DistributedSampler(data, seed=int(odd)), 1 + odd),
        "fine files": Resumable(DataLoader(ShardedDataset(files), batch_size=None, num_workers=2)),
        # Without a worker or with one, a single process reads all rows of the rank.
        "fine workers": DataLoader(ShardedDataset(even), batch_size=None, num_workers=int(odd)),
        # All ranks have the same number of steps, but their readers take part in two different deals.
        "workers": DataLoader(ShardedDataset(even), batch_size=None, num_workers=1 + odd),
        "workers of shards": Resumable(
            DataLoader(ShardedDataset(equal, deal="shards"), batch_size=None, num_workers=1 + odd)
        ),
        "seed of files": ShardedDataset(files, seed=int(odd)),
        "lanes of files": DataLoader(ShardedDataset(files, lanes=8 + odd), batch_size=None),
        "fine files of another folder": ShardedDataset(elsewhere(equal, "same") if odd else equal),
        "files": ShardedDataset(elsewhere(equal, "renamed", "000") if odd else equal),
        "files of other rows": ShardedDataset(rewritten(equal) if odd else equal),
        "files of other rows in manifests": ShardedDataset(
            rewritten(equal) if odd else equal, manifest=manifest(rewritten(equal) if odd else equal)
        ),
        "fine files of a manifest": ShardedDataset(equal, manifest=manifest(equal) if odd else None),
        "lost files": ShardedDataset(equal, batch_size=5, lost={equal / "001.parquet": 12} if odd else None),
        "dataset of packed rows": DistributedSampler(packed(int(odd))),
        "fine packed rows": DistributedSampler(packed(1)),
        "dataset of joined rows": DistributedSampler(ConcatDataset([packed(1), packed(int(odd))])),
        "dataset of a part of rows": StepBatchSampler(Subset(packed(int(odd)), range(24)), 12),
        "dataset of a split": DistributedSampler(random_split(data, [0.5, 0.5], seed=int(odd))[0]),
        "fine joined rows": DistributedSampler(ConcatDataset([packed(1), Subset(packed(2), range(9)), data])),
        "consumed of files": taken(ShardedDataset(files), 2 + odd),
        "unit": DistributedSampler(data, unit=1 + odd),
        "fine steps": StepBatchSampler(data, 12),
        "fine steps of a training": DataLoader(data, batch_sampler=StepBatchSampler(data, 12, steps=5)),
        "fine steps in a mesh": StepBatchSampler(data, 12, **device),
        "seed of steps": StepBatchSampler(data, 12, seed=int(odd)),
        "stages of steps": StepBatchSampler(data, [(0, 12), (3 + odd, 24)]),
        "global_batch_size of steps": StepBatchSampler(data, 12 * (1 + odd)),
        "step": taken(StepBatchSampler(data, 12), 1 + odd),
        "steps of a training": StepBatchSampler(data, 12, steps=5 + odd),
        "steps of an endless training": StepBatchSampler(data, 12, steps=5 if odd else None),
        "batch_size": Resumable(DataLoader(data, 4 + odd, sampler=DistributedSampler(data))),
        "drop_last": DataLoader(data, 4, drop_last=odd, sampler=DistributedSampler(data)),
        "steps of shards": DataLoader(ShardedDataset(files, deal="shards", batch_size=5), batch_size=None),
        "steps of a rest": Resumable(DataLoader(ShardedDataset(files, deal="shards"), batch_size=None, num_workers=1)),
        "steps of uneven readers": DataLoader(ShardedDataset(files, remainder="uneven"), batch_size=None),
        "steps of a subclass": DataLoader(range(101), sampler=Unpadded(range(101))),
        # The number of steps depends on the workers of a loader, and a dataset without a loader does not know them.
        "fine shards": ShardedDataset(files, deal="shards"),
        "fine equal shards": DataLoader(ShardedDataset(equal, deal="shards", batch_size=9), batch_size=None),
        "broken": DistributedSampler(Shrinking(odd), **first),
        "broken loader": DataLoader(data, sampler=(Theirs if odd else DistributedSampler)(data)),
        "broken otherwise": DataLoader(data, sampler=(Failing if odd else DistributedSampler)(data)),
    }


def changed(odd: bool) -> list[int]:
    """Many lengths. If odd, one of them differs, and the recipe's hash does not cover it."""
    many = [5] * 40_000
    told = Batcher(many, max_tokens=20).recipe_fingerprint()
    others = ([*many[:at], 6, *many[at + 1 :]] for at in range(0, 8_192, 16))
    return (
        next(other for other in others if Batcher(other, max_tokens=20).recipe_fingerprint() == told) if odd else many
    )


def elsewhere(files: Path, name: str, renamed: str | None = None) -> Path:
    """A copy of a folder, in which a file may have another name that sorts alike."""
    found = files.parent / f"{files.name}-{name}"
    shutil.copytree(files, found, dirs_exist_ok=True)
    for path in found.glob(f"{renamed}.parquet"):
        path.rename(path.with_name(f"{path.stem}a.parquet"))
    return found


def rewritten(files: Path) -> Path:
    """A copy of a folder, in which a file has other rows, as many as before."""
    found = elsewhere(files, "rewritten")
    table = pq.read_table(found / "000.parquet")
    pq.write_table(table.take(list(range(len(table)))[::-1]), found / "000.parquet")
    return found


def manifest(files: Path) -> Path:
    """A manifest of a folder."""
    Shards.save_manifest(files, files.with_suffix(".manifest"))
    return files.with_suffix(".manifest")


def packed(seed: int) -> PackedDataset:
    """Rows of 80 samples, packed with a seed."""
    return PackedDataset(range(80), capacity=10, lengths=LENGTHS, seed=seed)


class Unpadded(DistributedSampler):
    """A sampler whose ranks get different numbers of samples."""

    def __init__(self, dataset: Any) -> None:
        super().__init__(dataset)
        self.num_samples = len(range(self.rank, len(dataset), self.num_replicas))


class Failing(DistributedSampler):
    """A sampler that fails when it is asked for its place."""

    def _current(self) -> Any:
        raise OSError("gone")


class Shrinking:
    """A dataset that has lost its length, on the odd rank only."""

    def __init__(self, odd: bool) -> None:
        self.odd, self.asked = odd, 0

    def __len__(self) -> int:
        self.asked += 1
        if self.odd and self.asked > 1:
            raise TypeError
        return 10


def main(out: Path) -> None:
    """Calls `verify_ranks` for each case."""
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank, world_size = dist.get_rank(), dist.get_world_size()
    files = write(out / f"files-{rank}", (20, 13))
    equal = write(out / f"equal-{rank}", (10, 12, 11, 10))
    even = write(out / f"even-{rank}", (25, 15))
    told: dict[str, Any] = {}
    made = cases(rank, world_size, files, equal, even)
    for name, sampler in made.items():
        try:
            verify_ranks(sampler)
            told[name] = None
        except (SamedealError, OSError) as error:
            told[name] = [type(error).__name__, getattr(error, "field", None), str(error)]
    # `equal_steps=False` allows unequal steps, for loops whose ranks do not wait for each other, such as evaluations.
    verify_ranks(made["steps of shards"], equal_steps=False)
    told["fine unequal steps"] = None
    sampler = DistributedSampler(range(100))
    group = dist.new_group([0, 1])
    if rank < 2:
        verify_ranks(DistributedSampler(range(9), num_replicas=2, rank=rank), group)
    times = []
    for _ in range(50):
        dist.barrier()
        began = time.perf_counter()
        verify_ranks(sampler)
        times.append(time.perf_counter() - began)
    told["milliseconds"] = sorted(times)[len(times) // 2] * 1e3
    (out / f"{rank}.json").write_text(json.dumps(told))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
