"""A training with Accelerate that ends early, and is continued: `accelerated.py OUT CHECKPOINTS [STEP]`.

Each kind of loader trains a model of its own. Without STEP, all models are trained to the end. With STEP, they are
trained to the end, and then anew up to this step, and the last one is killed there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from samedeal import SamedealError
from samedeal.accelerate import prepare
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, ShardedDataset, to_tensors, verify_ranks
from torch import nn
from torch.utils.data import DataLoader, Dataset

EPOCHS = 2
SAMPLES = 251
ACCUMULATED = 4
"""Batches whose gradients make a step. The number does not divide the batches of an epoch."""
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]
RUNS = [("torch", 0), ("budget", 2), ("torch", 2)]


class Features(Dataset[Any]):  # type: ignore[misc]
    """A sample as its number, and features that depend on it."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.sin(torch.arange(1, 5) * (index + 1))


def loader_of(kind: str, workers: int = 0) -> Any:
    """The loader of a run."""
    data = Features()
    if kind == "budget":
        return DataLoader(data, batch_sampler=BatchSampler(LENGTHS, seed=5, max_tokens=400), num_workers=workers)
    return DataLoader(data, 8, sampler=DistributedSampler(data, seed=5, order=kind), num_workers=workers)


def train(kind: str, workers: int, out: Path, checkpoints: Path, death: int | None) -> None:
    """Trains one model."""
    name = f"{kind}-{workers}"
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=ACCUMULATED)
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters(), lr=0.01))
    loader = prepare(accelerator, loader_of(kind, workers))
    assert accelerator.prepare(loader) is loader
    steps = 0
    if (saved := checkpoints / name).exists():
        accelerator.load_state(str(saved))
        steps = json.loads((saved / "steps.json").read_text())
    with (out / f"{name}-{accelerator.process_index}.jsonl").open("w") as log:
        for epoch in range(loader.epoch, EPOCHS):
            loader.set_epoch(epoch)
            verify_ranks(loader)
            expected = len(loader)
            for number, (samples, x) in enumerate(loader):
                with accelerator.accumulate(model):
                    loss = (model(x).squeeze(1) - x.sum(1)).square().sum()
                    accelerator.backward(loss)
                    optimizer.step()
                    optimizer.zero_grad()
                steps += 1
                last = number + 1 == expected
                assert accelerator.gradient_state.end_of_dataloader == last
                log.write(json.dumps([epoch, samples.tolist(), accelerator.sync_gradients]) + "\n")
                log.flush()
                assert accelerator.sync_gradients or not last
                if accelerator.sync_gradients:
                    # The checkpoint overwrites the previous one. A real run can be killed in the middle of this, so it
                    # would write to a new place.
                    accelerator.save_state(str(out / name))
                    (out / name / "steps.json").write_text(json.dumps(steps))
                    accelerator.wait_for_everyone()
                if steps == death:
                    if (kind, workers) == RUNS[-1]:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return
            assert number + 1 == expected
            assert not accelerator.gradient_state.in_dataloader
    weights = [parameter.detach().numpy().tobytes().hex() for parameter in model.parameters()]
    (out / f"{name}-{accelerator.process_index}.weights").write_text(json.dumps(weights))


def prepared_twice(out: Path) -> None:
    """Writes what `accelerator.prepare` returns for loaders that are dealt already, and the errors of `verify_ranks`
    about it."""
    told: dict[str, Any] = {}
    for name, options in {
        "plain": {},
        "split": {"split_batches": True},
        "dispatched": {"dispatch_batches": True},
        "uneven": {"even_batches": False},
        "stateful": {"use_stateful_dataloader": True},
    }.items():
        accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(**options))
        loader = accelerator.prepare(loader_of("torch"))
        found: Any = None
        try:
            verify_ranks(loader)
        except SamedealError as error:
            found = [type(error).__name__, error.field, str(error)]
        told[name] = [found, sorted({i for samples, _ in loader for i in samples.tolist()})]
    pq.write_table(pa.table({"id": range(64)}), out / f"files-{accelerator.process_index}.parquet")
    files = ShardedDataset(out / f"files-{accelerator.process_index}.parquet", batch_size=8, transform=to_tensors)
    try:
        verify_ranks(Accelerator(cpu=True).prepare(DataLoader(files, batch_size=None)))
    except SamedealError as error:
        told["dispatched files"] = [[type(error).__name__, error.field, str(error)], []]
    for loader in (loader_of("budget"), Resumable(loader_of("torch"))):
        verify_ranks(loader)
    (out / f"twice-{accelerator.process_index}.json").write_text(json.dumps(told))


def main(out: Path, checkpoints: Path, death: int | None) -> None:
    """Trains all models to the end, or up to the step at which they stop."""
    torch.set_num_threads(1)
    if death is not None:
        Accelerator(cpu=True)
        prepared_twice(out)
        (out / "whole").mkdir(exist_ok=True)
        for kind, workers in RUNS:
            train(kind, workers, out / "whole", checkpoints, None)
    for kind, workers in RUNS:
        train(kind, workers, out, checkpoints, death)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else None)
