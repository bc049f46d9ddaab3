"""The rate of each update after a resume on other ranks, with the formula of the page about learning rates.

The test of Lightning is beside those of its trainer. Ranks are played one after the other in this process.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import accelerate
import pytest
import samedeal.transformers
import torch
import trained
from samedeal.accelerate import prepare
from samedeal.torch import BatchSampler, DistributedSampler, Resumable
from torch.utils.data import DataLoader
from transformers import TrainerCallback, TrainingArguments

SAMPLES, SIZE, EPOCHS, RATE = 110, 4, 3, 0.01
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]

MOMENTS = {"nothing was read": (0, 0), "within an accumulation": (1, 1), "last batch": (0, None)}
"""The epoch and the number of its batches after which a training ends; None for all of them."""
RANKS = [((1, 1), (2, 1)), ((2, 3), (3, 2)), ((3, 1), (1, 4)), ((2, 2), (2, 3))]
"""World size and accumulation, before and after the resume."""

moments = pytest.mark.parametrize("moment", MOMENTS)
other_ranks = pytest.mark.parametrize(("before", "after"), RANKS)
kinds = pytest.mark.parametrize("kind", ["samples", "budget"])


def loader_of(kind: str, world_size: int, rank: int = 0) -> DataLoader[Any]:
    data = torch.arange(SAMPLES)
    if kind == "samples":
        return DataLoader(data, SIZE, sampler=DistributedSampler(data, world_size, rank, seed=3))
    # All samples are one window of 110, so that epochs have equally many batches, as the formula of the page assumes.
    batches = BatchSampler(LENGTHS, max_tokens=400, order="sequential", rank=rank, world_size=world_size)
    return DataLoader(data, batch_sampler=batches)


def total_of(done: int, loader: Any, accumulation: int) -> int:
    """The number of updates of the whole training, as the page has it."""
    later = EPOCHS - loader.epoch - 1
    found: int = done + math.ceil(len(loader) / accumulation) + later * math.ceil(loader.epoch_length / accumulation)
    return found


def scheduled(optimizer: Any, done: int, total: int) -> Any:
    """A schedule as on the page, which is made anew after `done` updates."""
    optimizer.param_groups[0]["initial_lr"] = RATE
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / total, last_epoch=done - 1)


def with_torch(kind: str, place: tuple[int, int], rank: int, saved: Any, stop: Any) -> tuple[list[float], int, Any]:
    """Trains to the end, or up to `stop`. Returns the rate of each update, the number of all updates, and a state."""
    world_size, accumulation = place
    loader = Resumable(loader_of(kind, world_size, rank))
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    done = 0
    if saved:
        loader.load_state_dict(saved["loader"])
        done = saved["done"]
    total = total_of(done, loader, accumulation)
    schedule = scheduled(optimizer, done, total)
    rates: list[float] = []
    for epoch in range(loader.epoch, EPOCHS):
        loader.set_epoch(epoch)
        updated, length = 0, len(loader)
        if stop == (epoch, 0):
            return rates, total, {"loader": loader.state_dict(), "done": done}
        for number, batch in enumerate(loader, 1):
            model(batch.float().unsqueeze(1)).mean().backward()
            if number % accumulation == 0 or number == length:
                rates.append(optimizer.param_groups[0]["lr"])
                optimizer.step()
                optimizer.zero_grad()
                schedule.step()
                done, updated = done + 1, number
            if stop == (epoch, number) or (stop == (epoch, None) and number == length):
                return rates, total, {"loader": loader.state_dict(updated), "done": done}
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0)
    return rates, total, None


def with_accelerate(
    kind: str, place: tuple[int, int], rank: int, saved: Any, stop: Any, folder: Path
) -> tuple[list[float], int, Any]:
    world_size, accumulation = place
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=accumulation)
    model = torch.nn.Linear(1, 1)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=RATE))
    loader = prepare(accelerator, loader_of(kind, world_size, rank))
    done = 0
    if saved:
        accelerator.load_state(str(folder))
        done = saved["done"]
    total = total_of(done, loader, accumulation)
    own = optimizer.optimizer
    schedule = scheduled(own, done, total)
    rates: list[float] = []

    def save() -> tuple[list[float], int, Any]:
        accelerator.save_state(str(folder))
        return rates, total, {"done": done}

    for epoch in range(loader.epoch, EPOCHS):
        loader.set_epoch(epoch)
        length = len(loader)
        if stop == (epoch, 0):
            return save()
        for number, batch in enumerate(loader, 1):
            with accelerator.accumulate(model):
                accelerator.backward(model(batch.float().unsqueeze(1)).mean())
                rate = own.param_groups[0]["lr"]
                optimizer.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                rates.append(rate)
                schedule.step()
                done += 1
            if stop == (epoch, number) or (stop == (epoch, None) and number == length):
                return save()
    assert own.param_groups[0]["lr"] == pytest.approx(0)
    return rates, total, None


@kinds
@other_ranks
@moments
@pytest.mark.parametrize("framework", ["torch", "accelerate"])
def test_each_rate_is_of_the_whole_training(
    tmp_path: Path, framework: str, kind: str, before: tuple[int, int], after: tuple[int, int], moment: str
) -> None:
    def train(place: tuple[int, int], rank: int, saved: Any, stop: Any) -> tuple[list[float], int, Any]:
        if framework == "torch":
            return with_torch(kind, place, rank, saved, stop)
        return with_accelerate(kind, place, rank, saved, stop, tmp_path / "saved")

    rates, total, state = train(before, 0, None, MOMENTS[moment])
    assert rates == pytest.approx([RATE * (1 - update / total) for update in range(state["done"])])
    for rank in range(after[0]):
        found, total, _ = train(after, rank, state, None)
        assert found == pytest.approx([RATE * (1 - update / total) for update in range(state["done"], total)])


class Rates(TrainerCallback):  # type: ignore[misc]
    """Records the rate of each update. Saves and ends a training after a number of batches of an epoch."""

    def __init__(self, stop: Any) -> None:
        self.stop = stop
        self.rates: list[float] = []
        self.trainer: Any = None
        self.batches: list[int] = []
        """How many batches each epoch had so far."""

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.batches.append(0)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, optimizer: Any = None, **kwargs: Any) -> None:
        self.rates.append(optimizer.param_groups[0]["lr"])

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.stop == (0, 0):
            self.save(control)

    def on_substep_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.batches[-1] += 1
        self.save_at_stop(control)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.batches[-1] += 1
        self.save_at_stop(control)

    def save_at_stop(self, control: Any) -> None:
        if self.stop is not None and self.stop == (len(self.batches) - 1, self.batches[-1]):
            self.save(control)

    def save(self, control: Any) -> None:
        self.trainer._save_checkpoint(self.trainer.model, None)
        self.stop, control.should_training_stop = None, True


@pytest.mark.parametrize("kind", ["samples", "budget"])
@other_ranks
@moments
def test_each_rate_of_transformers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    before: tuple[int, int],
    after: tuple[int, int],
    moment: str,
) -> None:
    # There is one process, which plays each of the ranks.
    monkeypatch.setattr(samedeal.transformers, "verify_ranks", lambda sampler: None)

    def train(place: tuple[int, int], rank: int, saved: Path | None, stop: Any) -> tuple[Any, list[float]]:
        world_size, accumulation = place
        data = trained.Features()
        sampler: Any = DistributedSampler(data, world_size, rank, seed=3)
        if kind == "budget":
            sampler = BatchSampler(trained.LENGTHS, max_tokens=800, seed=3, rank=rank, world_size=world_size)
        if stop == (0, None):
            stop = (0, len(sampler) if kind == "budget" else -(-len(sampler) // 8))
        options: dict[str, Any] = {"report_to": [], "use_cpu": True, "disable_tqdm": True, "save_strategy": "no"}
        arguments = TrainingArguments(
            output_dir=str(tmp_path / "saved"),
            num_train_epochs=EPOCHS,
            learning_rate=RATE,
            gradient_accumulation_steps=accumulation,
            dataloader_pin_memory=False,
            **options,
        )
        rates = Rates(stop)
        made = samedeal.transformers.Trainer(
            trained.Model(), arguments, train_dataset=data, train_sampler=sampler, callbacks=[rates]
        )
        rates.trainer = made
        made.train(resume_from_checkpoint=None if saved is None else str(saved))
        return made, rates.rates

    whole, rates = train(before, 0, None, MOMENTS[moment])
    [saved] = (tmp_path / "saved").glob("checkpoint-*")
    # The Trainer makes the first step, even if the training is to stop before it.
    done = 0 if moment == "nothing was read" else len(rates)
    assert done == int(saved.name.removeprefix("checkpoint-"))
    assert rates == pytest.approx([RATE * (1 - update / whole.state.max_steps) for update in range(len(rates))])
    for rank in range(after[0]):
        rest, found = train(after, rank, saved, None)
        total = rest.state.max_steps
        # PyTorch saves the rate of the next update with the optimizer, so the first rate follows the old schedule.
        first = 1 - done / whole.state.max_steps
        assert found == pytest.approx([RATE * one for one in (first, *(1 - i / total for i in range(done + 1, total)))])
        assert rest.state.global_step == total
