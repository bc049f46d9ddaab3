"""A training with Trainer that ends early, and is continued: `trained.py OUT CHECKPOINTS [STEP]`.

Each kind of data trains a model of its own. Without STEP, all models are trained to the end. With STEP, they are
trained to the end, and then anew up to this step, and the last one is killed there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from samedeal.torch import BatchSampler, DistributedSampler
from samedeal.transformers import Trainer
from torch import nn
from torch.utils.data import Dataset
from transformers import TrainerCallback, TrainingArguments

EPOCHS = 2
SAMPLES = 251
ACCUMULATED = 3
EVERY = 2
"""Steps between checkpoints."""
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]
RUNS = [("torch", 0), ("budget", 0), ("budget", 2), ("torch", 2)]


class Features(Dataset[Any]):  # type: ignore[misc]
    """A sample as its number, and features that depend on it."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"ids": index, "x": torch.sin(torch.arange(1, 5) * (index + 1)), "unused": "text"}


class Model(nn.Module):  # type: ignore[misc]
    """A model that records its samples, and returns its loss."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.seen: list[list[int]] = []

    def forward(self, ids: Any, x: Any) -> dict[str, Any]:
        self.seen.append(ids.tolist())
        return {"loss": (self.layers(x).squeeze(1) - x.sum(1)).square().sum()}


class Watcher(TrainerCallback):  # type: ignore[misc]
    """A callback that records the samples of each step, and ends the run."""

    def __init__(self, model: Model, log: Any, death: int | None, kills: bool) -> None:
        self.model, self.log, self.death, self.kills = model, log, death, kills

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.log.write(json.dumps([state.global_step, state.epoch, state.max_steps, self.model.seen]) + "\n")
        self.log.flush()
        self.model.seen.clear()
        if state.global_step == self.death:
            if self.kills:
                os.kill(os.getpid(), signal.SIGKILL)
            control.should_training_stop = True


def train(kind: str, workers: int, out: Path, checkpoints: Path, death: int | None) -> None:
    """Trains one model."""
    name = f"{kind}-{workers}"
    arguments = TrainingArguments(
        output_dir=str(out / name),
        use_cpu=True,
        ddp_backend="gloo",
        ddp_find_unused_parameters=False,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=ACCUMULATED,
        num_train_epochs=EPOCHS,
        save_steps=EVERY,
        learning_rate=0.01,
        seed=5,
        dataloader_num_workers=workers,
        dataloader_persistent_workers=workers > 0,
        dataloader_pin_memory=False,
        disable_tqdm=True,
        report_to=[],
    )
    sampler: Any = None
    if kind == "budget":
        sampler = BatchSampler(LENGTHS, seed=5, max_tokens=400)
    elif kind != "torch":
        sampler = DistributedSampler(Features(), seed=5, order=kind)
    model = Model()
    with (out / f"{name}-{arguments.process_index}.jsonl").open("w") as log:
        watcher = Watcher(model, log, death, (kind, workers) == RUNS[-1])
        trainer = Trainer(model, arguments, train_dataset=Features(), train_sampler=sampler, callbacks=[watcher])
        found = sorted((checkpoints / name).glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
        trainer.train(resume_from_checkpoint=str(found[-1]) if found else None)
    if death is None:
        weights = [parameter.detach().numpy().tobytes().hex() for parameter in model.parameters()]
        (out / f"{name}-{arguments.process_index}.weights").write_text(json.dumps(weights))


def main(out: Path, checkpoints: Path, death: int | None) -> None:
    """Trains all models to the end, or up to the step at which they stop."""
    torch.set_num_threads(1)
    if death is not None:
        (out / "whole").mkdir(exist_ok=True)
        for kind, workers in RUNS:
            train(kind, workers, out / "whole", checkpoints, None)
    for kind, workers in RUNS:
        train(kind, workers, out, checkpoints, death)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else None)
