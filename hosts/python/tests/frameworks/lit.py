"""A training with Lightning that is interrupted, and continued from its checkpoint: `lit.py OUT CHECKPOINTS [STEP]`.

Several models are trained one after the other, so that one job covers all kinds of loaders.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from lightning import LightningDataModule, LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from samedeal.lightning import ResumableData
from samedeal.torch import BatchSampler, DistributedSampler
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

EPOCHS = 2
SAMPLES = 75
EVERY = 3
"""Steps between checkpoints."""
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]
RUNS = [("torch", 0, True), ("feistel", 2, False), ("budget", 0, True), ("budget", 2, False)]
"""The kind of batches, the number of workers, and the value of `use_distributed_sampler`."""


def name_of(kind: str, workers: int, replace: bool) -> str:
    return f"{kind}-{workers}-{replace}"


class Features(Dataset[Any]):  # type: ignore[misc]
    """A sample as its number, and features that depend on it."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.sin(torch.arange(1, 5) * (index + 1))


class Data(ResumableData, LightningDataModule):  # type: ignore[misc]
    """The data module of a run. With a rank and a world size, it needs no process group."""

    def __init__(self, kind: str, workers: int, rank: int | None = None, world_size: int | None = None) -> None:
        super().__init__()
        self.kind, self.workers, self.rank, self.world_size = kind, workers, rank, world_size

    def train_dataloader(self) -> Any:
        data, how = Features(), {"num_workers": self.workers, "persistent_workers": self.workers > 0}
        if self.kind == "budget":
            batches = BatchSampler(LENGTHS, max_tokens=350, seed=5, rank=self.rank, world_size=self.world_size)
            return DataLoader(data, batch_sampler=batches, **how)
        return DataLoader(
            data, 5, sampler=DistributedSampler(data, self.world_size, self.rank, seed=5, order=self.kind), **how
        )

    def val_dataloader(self) -> Any:
        return DataLoader(Subset(Features(), range(8)), 2)


class Interrupted(Exception):
    """An exception that ends a run."""


class Model(LightningModule):  # type: ignore[misc]
    """A small model that records its samples, and ends the run before the step `stop`."""

    def __init__(self, stop: int | None = None, kill: bool = False) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.stop, self.kill = stop, kill
        self.seen: list[dict[str, Any]] = []
        self.validated: list[int] = []

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        trainer = self.trainer
        if trainer.global_step == self.stop:
            if self.kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise Interrupted
        samples, x = batch
        record = {"epoch": trainer.current_epoch, "step": trainer.global_step, "batch": batch_idx}
        self.seen.append({**record, "batches": trainer.num_training_batches, "samples": samples.tolist()})
        return (self.layers(x).squeeze(1) - x.sum(1)).square().sum()

    def validation_step(self, batch: Any) -> None:
        self.validated += batch[0].tolist()

    def configure_optimizers(self) -> Any:
        return torch.optim.Adam(self.parameters(), lr=0.01)


def trainer_of(folder: Path, *callbacks: Any, **options: Any) -> Any:
    """A trainer that saves every few steps, and prints nothing."""
    warnings.filterwarnings("ignore", module="lightning")
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    saved = ModelCheckpoint(folder, "{step}", every_n_train_steps=EVERY, save_top_k=-1)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "num_sanity_val_steps": 0}
    options = {"accelerator": "cpu", "devices": 1, "max_epochs": EPOCHS, "callbacks": [saved, *callbacks]} | options
    return Trainer(**quiet, **options)


def checkpoint(folder: Path, step: int) -> Path:
    return folder / f"step={step}.ckpt"


def train(run: tuple[str, int, bool], out: Path, checkpoints: Path, stop: int | None, kill: bool) -> None:
    """Trains one model."""
    world_size, rank, name = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"]), name_of(*run)
    kind, workers, replace = run
    trainer = trainer_of(out / name, devices=world_size, strategy="ddp", use_distributed_sampler=replace)
    model = Model(stop, kill)
    found = checkpoint(checkpoints / name, 9)
    log = out / f"{name}-{rank}.json"
    if kill:
        # The process is killed before it could write its log, so the log is written now. Its content is not read.
        log.write_text("[]")
    try:
        trainer.fit(model, datamodule=Data(kind, workers), ckpt_path=found if found.exists() else None)
        weights = [parameter.detach().numpy().tobytes().hex() for parameter in model.parameters()]
    except Interrupted:
        weights = []
    sampler = type(trainer.val_dataloaders.sampler).__name__
    found_all = {"seen": model.seen, "weights": weights, "validation": sampler, "validated": model.validated}
    log.write_text(json.dumps(found_all))


if __name__ == "__main__":
    torch.set_num_threads(1)
    death = int(sys.argv[3]) if sys.argv[3:] else None
    for one in RUNS:
        train(one, Path(sys.argv[1]), Path(sys.argv[2]), death, kill=one == RUNS[-1])
