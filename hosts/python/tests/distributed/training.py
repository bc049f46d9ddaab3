"""A training with DDP and FSDP that is killed, and resumed from the checkpoint of rank 0.

    training.py DATA OUT CHECKPOINTS [STEP]

Several models train in turn, one step each, so that one job covers all kinds of loaders.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, ShardedDataset, verify_ranks
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, Dataset

WORLD = 2
"""Two ranks: their sum of gradients does not depend on the order. With three ranks, DDP adds in an order that follows
its buckets, which it makes anew after a step."""
EPOCHS = 2
SAMPLES = 251
EVERY = 3
"""Steps between checkpoints."""
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]
BATCHES: dict[str, dict[str, Any]] = {
    "budget": {"max_tokens": 500},
    "pack": {"strategy": "pack", "capacity": 128, "max_batch_size": 2},
}
FILES: dict[str, dict[str, Any]] = {"files": {"lanes": 12, "shuffle_window": 4}}
"""Options of a dataset in files, which has the same number of samples."""


class Run(NamedTuple):
    """A training: its kind of loader, its number of workers, and whether FSDP shards its model."""

    kind: str
    workers: int
    fsdp: bool = False
    """Whether the ranks share the parameters. Otherwise each rank has all of them."""

    @property
    def name(self) -> str:
        """The name of the files of this run."""
        return f"{self.kind}-{self.workers}" + ("-fsdp" if self.fsdp else "")


RUNS = [Run("torch", 0), Run("torch", 2), Run("feistel", 0), Run("budget", 0), Run("budget", 2), Run("pack", 2)]
RUNS += [Run("files", 0), Run("files", 2), Run("torch", 0, fsdp=True), Run("pack", 0, fsdp=True)]
FULL = StateDictOptions(full_state_dict=True, cpu_offload=True)
"""A checkpoint has each parameter as a whole, so that any world size can load it."""
OTHER_WORKERS = {0: 3, 2: 1}
"""Number of workers that read files when the run continues on another world size."""


class Features(Dataset[Any]):  # type: ignore[misc]
    """A sample as its number, and features that depend on it."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.sin(torch.arange(1, 5) * (index + 1))


def read(batch: Any) -> tuple[list[int], torch.Tensor]:
    """A batch of rows of a file, as `collate` makes it."""
    return collate([Features()[index] for index in batch.column("id").to_pylist()])


def collate(samples: list[Any]) -> tuple[list[int], torch.Tensor]:
    """The batch of a step, in which a rank may have no sample."""
    return [index for index, _ in samples], torch.stack([x for _, x in samples]) if samples else torch.zeros(0, 4)


def loader_of(kind: str, workers: int, files: Path) -> Resumable:
    """The loader of a run."""
    if kind in FILES:
        rows = ShardedDataset(files, columns=["id"], batch_size=8, transform=read, seed=5, **FILES[kind])
        return Resumable(DataLoader(rows, batch_size=None, num_workers=workers, persistent_workers=workers > 0))
    how: dict[str, Any] = {"collate_fn": collate, "num_workers": workers, "persistent_workers": workers > 0}
    data = Features()
    if kind in BATCHES:
        return Resumable(DataLoader(data, batch_sampler=BatchSampler(LENGTHS, seed=5, **BATCHES[kind]), **how))
    return Resumable(DataLoader(data, 8, sampler=DistributedSampler(data, seed=5, order=kind), **how))


def distributed(model: nn.Module, fsdp: bool) -> nn.Module:
    """The model, distributed over all ranks."""
    if not fsdp:
        return nn.parallel.DistributedDataParallel(model)
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    return model


def train(run: Run, files: Path, out: Path, checkpoints: Path, same: bool) -> Iterator[None]:
    """Trains one model, and pauses after each step."""
    rank, (kind, workers, fsdp), name = dist.get_rank(), run, run.name
    loader = loader_of(kind, workers if same or kind not in FILES else OTHER_WORKERS[workers], files)
    torch.manual_seed(3)
    model = distributed(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)), fsdp)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    steps = 0
    if (saved := checkpoints / f"{name}.pt").exists():
        found = torch.load(saved)
        states = {"model_state_dict": found["model"], "optim_state_dict": found["optimizer"]}
        set_state_dict(model, optimizer, **states, options=FULL)
        loader.load_state_dict(found["loader"])
        steps = found["steps"]
    with (out / f"{name}-{rank}.jsonl").open("w") as log:
        for epoch in range(loader.epoch, EPOCHS):
            loader.set_epoch(epoch)
            verify_ranks(loader)
            expected = len(loader)
            for number, (samples, x) in enumerate(loader):
                assert number < expected
                loss = (model(x).squeeze(1) - x.sum(1)).square().sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
                log.write(json.dumps([epoch, samples]) + "\n")
                log.flush()
                if steps % EVERY == 0:
                    states = dict(
                        zip(("model", "optimizer"), get_state_dict(model, optimizer, options=FULL), strict=True)
                    )
                    if rank == 0:
                        torch.save({**states, "loader": loader.state_dict(), "steps": steps}, out / f"{name}.part")
                        (out / f"{name}.part").rename(out / f"{name}.pt")
                yield
            assert number + 1 == expected if expected else True
    parameters, _ = get_state_dict(model, optimizer, options=FULL)
    weights = [parameter.numpy().tobytes().hex() for parameter in parameters.values()]
    (out / f"{name}-{rank}.weights").write_text(json.dumps(weights))


def main(files: Path, out: Path, checkpoints: Path, death: int | None) -> None:
    """Trains all models to the end, or up to the step at which this rank is killed."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    same = dist.get_world_size() == WORLD
    runs = [train(run, files, out, checkpoints, same) for run in RUNS]
    steps = 0
    while runs:
        runs = [run for run in runs if next(run, "done") is None]
        steps += 1
        if steps == death:
            os.kill(os.getpid(), signal.SIGKILL)
    dist.destroy_process_group()


if __name__ == "__main__":
    data, out, checkpoints = map(Path, sys.argv[1:4])
    main(data, out, checkpoints, int(sys.argv[4]) if sys.argv[4:] else None)
