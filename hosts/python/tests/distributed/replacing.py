"""A job in which one rank is replaced in the middle of a pass: `replacing.py OUT` writes the answers of
`verify_ranks`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from conftest import write
from samedeal import SamedealError
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, ShardedDataset, StepBatchSampler, verify_ranks
from torch.utils.data import DataLoader

LENGTHS = [3, 9, 4, 4, 7, 1, 2, 5, 6, 2] * 10
DATA = range(100)


def loaders(files: Path, workers: int) -> dict[str, Any]:
    """A loader for each kind of sampler."""
    options: dict[str, Any] = {"num_workers": workers}
    lists: dict[str, Any] = {**options, "collate_fn": list}
    return {
        "samples": DataLoader(DATA, 4, sampler=DistributedSampler(DATA, seed=3), **options),
        "batches": DataLoader(DATA, batch_sampler=BatchSampler(LENGTHS, max_tokens=20), **lists),
        "steps": DataLoader(DATA, batch_sampler=StepBatchSampler(DATA, 12, steps=20), **lists),
        "endless": DataLoader(DATA, batch_sampler=StepBatchSampler(DATA, 12), **lists),
        "files": DataLoader(ShardedDataset(files, batch_size=3), batch_size=None, **options),
    }


def sampler_of(loader: Any) -> Any:
    """The sampler, or the dataset, behind a loader, which `verify_ranks` takes as well."""
    return (
        loader.dataset
        if loader.batch_size is None and loader.batch_sampler is None
        else (loader.batch_sampler if loader.batch_size is None else loader.sampler)
    )


def verified(source: Any) -> str | None:
    """The error of `verify_ranks` on this rank, or None."""
    try:
        verify_ranks(source)
    except SamedealError as error:
        return f"{error.field}: {error.value}"
    return None


def main(out: Path) -> None:
    """Replaces the last rank in each loader."""
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank, world_size = dist.get_rank(), dist.get_world_size()
    files = write(out / f"files-{rank}", (40, 20))
    is_new = rank == world_size - 1
    told: dict[str, Any] = {}
    for workers in (0, 1):
        for counted in (True, False):
            # The replaced rank resumes in three ways: after as many batches as the other ranks, after fewer, and
            # without a state.
            for steps in (3, 2, 0):
                made, fresh = loaders(files, workers), loaders(files, workers)
                for name, loader in made.items():
                    source = Resumable(loader) if counted else loader
                    sampler = sampler_of(loader)
                    batches = iter(source)
                    states = [source.state_dict() if counted else None]
                    for _ in range(3):
                        next(batches)
                        states.append(source.state_dict() if counted else None)
                    if not counted:
                        own = Resumable(loaders(files, 0)[name])
                        states = [own.state_dict()]
                        for _, _ in zip(range(3), own, strict=False):
                            states.append(own.state_dict())
                    if is_new:
                        loader = fresh[name]
                        source = Resumable(loader) if counted else loader
                        sampler = sampler_of(loader)
                        if steps:
                            sampler.load_state_dict(states[steps])
                        batches = iter(())
                    kind = f"{name}, {workers} workers, {'counted' if counted else 'not counted'}, {steps} of 3"
                    told[kind] = verified(source), verified(sampler)
                    if is_new:
                        batches = iter(source)
                    if steps == 3:
                        # The replaced rank continues together with the others.
                        next(batches)
                        told[f"{kind}, and one more"] = verified(source), verified(sampler)
                    del batches
    (out / f"{rank}.json").write_text(json.dumps(told))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
