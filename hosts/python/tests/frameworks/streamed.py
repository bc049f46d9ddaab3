"""Ranks that read Hugging Face's datasets: `streamed.py OUT first|rest`.

`first` reads whole epochs, and a part of one of each kind, and saves its state. `rest` reads the rest, on any world
size.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from datasets import Dataset, IterableDataset
from datasets.distributed import split_dataset_by_node
from samedeal import SamedealError, Sampler
from samedeal.torch import BatchSampler, DistributedSampler, PadCollator, Resumable, verify_ranks
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

SAMPLES = 250
SHARDS = 10
TAKEN = 5
"""Number of batches before an epoch is interrupted."""
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]


def rows() -> Dataset:
    """A map-style dataset. Sample i has LENGTHS[i] tokens, each of them i."""
    columns = {"id": list(range(SAMPLES)), "length": LENGTHS, "input_ids": [[i] * LENGTHS[i] for i in range(SAMPLES)]}
    return Dataset.from_dict(columns).with_format("torch")


def generate(shards: list[int]) -> Iterator[dict[str, int]]:
    """The samples of some shards, made without files."""
    for shard in shards:
        for number in range(SAMPLES // SHARDS):
            yield {"id": shard * (SAMPLES // SHARDS) + number}


def stream() -> IterableDataset:
    """A stream of sample numbers from a generator."""
    return IterableDataset.from_generator(generate, gen_kwargs={"shards": list(range(SHARDS))})


def loader_of(kind: str, workers: int) -> Resumable:
    """A loader of a map-style dataset."""
    data = rows()
    if kind == "budget":
        batches = BatchSampler(data, column="length", max_tokens=400, seed=3)
        return Resumable(DataLoader(data, batch_sampler=batches, collate_fn=PadCollator(), num_workers=workers))
    data = data.select_columns(["id"])
    return Resumable(DataLoader(data, 8, sampler=DistributedSampler(data, seed=3), num_workers=workers))


def ids(batch: Any) -> list[int]:
    """The samples of a batch."""
    found: list[int] = (batch["id"] if "id" in batch else batch["input_ids"][:, 0]).tolist()
    return found


def by_node(workers: int) -> StatefulDataLoader:
    """A loader of a stream as the library divides it: whole shards for ranks and workers."""
    own = split_dataset_by_node(stream(), dist.get_rank(), dist.get_world_size(), strategy="shards")
    return StatefulDataLoader(own, 8, num_workers=workers)


def shard_by_shard(state: str | None, count: int | None) -> tuple[list[int], str]:
    """Samples of a stream whose shards a sampler deals: up to `count` of them, and the state after them."""
    data, (rank, world_size) = stream(), (dist.get_rank(), dist.get_world_size())
    sampler = Sampler(data.num_shards, seed=3, rank=rank, world_size=world_size, remainder="uneven")
    if state is not None:
        sampler.resume(state)
    seen = []
    for shard in sampler.indices()[:count].tolist():
        for batch in data.shard(data.num_shards, shard).iter(8):
            seen += batch["id"]
    return seen, sampler.state(len(sampler) if count is None else count)


def first(out: Path, rank: int) -> dict[str, Any]:
    """Reads whole epochs, and a part of one of each kind."""
    told: dict[str, Any] = {}
    for kind, workers in itertools.product(("rows", "budget"), (0, 2)):
        whole = [ids(batch) for batch in loader_of(kind, workers)]
        loader = loader_of(kind, workers)
        verify_ranks(loader)
        part = [ids(batch) for batch in itertools.islice(loader, TAKEN)]
        state = loader.state_dict()
        again = loader_of(kind, workers)
        again.load_state_dict(state)
        rest = [ids(batch) for batch in again]
        told[f"{kind}-{workers}"] = {"whole": whole, "part": part, "rest": rest, "state": state}
    for workers in (0, 2):
        whole = [ids(batch) for batch in by_node(workers)]
        loader = by_node(workers)
        part = [ids(batch) for batch in itertools.islice(loader, 3)]
        again = by_node(workers)
        again.load_state_dict(loader.state_dict())
        told[f"stream-{workers}"] = {"whole": whole, "part": part, "rest": [ids(batch) for batch in again]}
    taken, reached = shard_by_shard(None, 2)
    told["shards"] = {"part": [taken], "state": reached}
    divided = rows().shard(dist.get_world_size(), rank)
    try:
        verify_ranks(DistributedSampler(divided))
    except SamedealError as error:
        told["divided"] = str(error)
    return told


def rest(out: Path) -> dict[str, Any]:
    """The rest of the parts."""
    saved = json.loads((out / "first-0.json").read_text())
    told: dict[str, Any] = {}
    for kind, workers in itertools.product(("rows", "budget"), (0, 2)):
        loader = loader_of(kind, workers)
        loader.load_state_dict(saved[f"{kind}-{workers}"]["state"])
        verify_ranks(loader)
        told[f"{kind}-{workers}"] = [ids(batch) for batch in loader]
    told["shards"] = [shard_by_shard(saved["shards"]["state"], None)[0]]
    return told


def main(out: Path, what: str) -> None:
    """Reads, and writes the samples."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    told = first(out, rank) if what == "first" else rest(out)
    (out / f"{what}-{rank}.json").write_text(json.dumps(told))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
