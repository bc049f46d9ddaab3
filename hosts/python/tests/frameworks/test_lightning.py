"""Lightning: training that is interrupted and resumed on any number of devices, and the counters of its trainer."""

from __future__ import annotations

import contextlib
import gc
import json
import pickle
import subprocess
import warnings
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lit
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from jobs import preload, ranks, torchrun
from lightning import LightningDataModule
from lightning.pytorch.callbacks import (
    Callback,
    GradientAccumulationScheduler,
    ModelCheckpoint,
    OnExceptionCheckpoint,
)
from lightning.pytorch.strategies import SingleDeviceStrategy
from lightning.pytorch.tuner import Tuner
from samedeal import ContradictionError, WrongTypeError
from samedeal.lightning import ResumableData
from samedeal.torch import BatchSampler, DistributedSampler, EpochWarning, Resumable, ShardedDataset, StepBatchSampler
from torch.utils.data import DataLoader, RandomSampler
from torchdata.stateful_dataloader import StatefulDataLoader

HERE = Path(__file__).parent
WORLD = 2
STOP, SAVED = 11, 9
"""The step before which training ends, in the second of two epochs of eight steps, and the last step that was saved."""


preload("lightning.pytorch", "samedeal.lightning")


def run(world_size: int, out: Path, *arguments: Any, start: Any = ranks) -> subprocess.CompletedProcess[str]:
    out.mkdir()
    job: subprocess.CompletedProcess[str] = start(world_size, HERE / "lit.py", out, *arguments)
    return job


def told(out: Path, name: str, world_size: int) -> list[dict[str, Any]]:
    return [json.loads((out / f"{name}-{rank}.json").read_text()) for rank in range(world_size)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    job = run(WORLD, folder / "out", folder / "none")
    assert job.returncode == 0, job.stderr
    return folder / "out"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that was killed while it trained the last of its models."""
    folder = tmp_path_factory.mktemp("stopped")
    job = run(WORLD, folder / "out", folder / "none", STOP, start=torchrun)
    assert "SIGKILL" in job.stderr, job.stderr
    return folder / "out"


def test_every_sample_is_trained_once(whole: Path, stopped: Path, tmp_path: Path) -> None:
    """The number of devices stays the same. The tutorial resumes on other numbers, and so does a test below, without a
    process group."""
    job = run(WORLD, tmp_path / "rest", stopped)
    assert job.returncode == 0, job.stderr
    for one in lit.RUNS:
        name = lit.name_of(*one)
        # Steps after the checkpoint are not in the weights, so their samples are read again.
        complete, after = told(whole, name, WORLD), told(tmp_path / "rest", name, WORLD)
        before = [rank["seen"][:SAVED] for rank in complete]
        assert {step["epoch"] for step in before[0]} == {0, 1}
        assert before[0][-1]["batch"] + 1 < before[0][-1]["batches"], name
        for epoch in range(lit.EPOCHS):
            first, rest = (
                Counter(i for log in logs for step in log if step["epoch"] == epoch for i in step["samples"])
                for logs in (before, [rank["seen"] for rank in after])
            )
            # PyTorch's samplers repeat a few samples, so that every rank has the same number.
            left = lit.SAMPLES - first.total() if rest else lit.SAMPLES
            padding = 0 if one[0] == "budget" else -left % WORLD
            assert {*first, *rest} == set(range(lit.SAMPLES)), (name, epoch)
            assert first.total() + rest.total() == lit.SAMPLES + padding, (name, epoch)
        # The trainer continues to count at the checkpoint, up to the end of the epoch.
        for rank in after:
            steps = rank["seen"]
            assert [step["step"] for step in steps] == list(range(SAVED, SAVED + len(steps)))
            assert [step["batch"] for step in steps] == list(range(before[0][-1]["batch"] + 1, steps[0]["batches"]))
        assert [rank["seen"] for rank in after] == [rank["seen"][SAVED:] for rank in complete], name
        assert [rank["weights"] for rank in after] == [rank["weights"] for rank in complete], name
        # The trainer still changes loaders without a sampler of this package.
        shares = one[2]
        assert {rank["validation"] for rank in after} == {"DistributedSampler" if shares else "SequentialSampler"}
        assert len(after[0]["validated"]) == (-(-8 // WORLD) if shares else 8)


@pytest.mark.parametrize("kind", ["torch", "budget"])
def test_a_resumable_may_be_a_loader_of_an_evaluation(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lightning asks such a loader for its batch sampler, and gives it a function that seeds its workers."""
    monkeypatch.setenv("PL_SEED_WORKERS", "1")
    model, loader = lit.Model(), Resumable(lit.Data(kind, 0, 0, 1).train_dataloader())
    lit.trainer_of(tmp_path).validate(model, loader, verbose=False)
    assert sorted(model.validated) == list(range(lit.SAMPLES))
    assert loader.loader.worker_init_fn is not None


def in_this_process(folder: Path, kind: str, world_size: int = 1, rank: int = 0, **options: Any) -> Any:
    """Trains as one rank of a world size, without a process group; returns the trainer and the model."""
    model = lit.Model(options.pop("stop", None))
    trainer = lit.trainer_of(folder, *options.pop("more", ()), **{"limit_val_batches": 0} | options.pop("trainer", {}))
    saved = options.pop("saved", None)
    trainer.fit(model, datamodule=lit.Data(kind, 0, rank, world_size), ckpt_path=saved, weights_only=False)
    return trainer, model


@pytest.mark.parametrize("kind", ["torch", "budget"])
@pytest.mark.parametrize(("every", "step"), [("steps", 8), ("epoch", 8), ("steps", 6)])
@pytest.mark.parametrize("max_steps", [-1, 1000])
def test_checkpoints_of_any_kind_go_on_with_any_world(
    tmp_path: Path, kind: str, every: str, step: int, max_steps: int
) -> None:
    """Checkpoints of the last step, of the end of an epoch, and within one; with a limit of epochs and with one of
    steps."""
    how = {"every_n_train_steps": 1} if every == "steps" else {"every_n_epochs": 1}
    logs = []
    for rank in range(WORLD):
        more = [ModelCheckpoint(tmp_path / "all", f"{rank}-{{step}}", save_top_k=-1, **how)]
        trainer, model = in_this_process(tmp_path / "regular", kind, WORLD, rank, more=more)
        assert len(model.seen) == 2 * trainer.num_training_batches
        logs.append(model.seen)
    if kind == "budget":
        # A budget makes fewer steps than batches of five samples would.
        step -= 8 - trainer.num_training_batches
    first = [i for log in logs for one in log[:step] for i in one["samples"]]
    for world_size in (1, WORLD, 4):
        rest = []
        for rank in range(world_size):
            options = {"trainer": {"max_steps": max_steps}, "saved": tmp_path / "all" / f"0-step={step}.ckpt"}
            trainer, model = in_this_process(tmp_path / "rest", kind, world_size, rank, **options)
            rest += [i for one in model.seen for i in one["samples"]]
            # Every epoch begins with batch 0 or at the checkpoint, and ends with the last batch of the length that it
            # states.
            ends = [one["batch"] + 1 == one["batches"] for one in model.seen]
            starts = [one["batch"] for one in model.seen[:1]] + [
                after["batch"] for after, last in zip(model.seen[1:], ends, strict=False) if last
            ]
            assert ends[-1]
            assert starts[1:] == [0] * (ends.count(True) - 1)
            if world_size == WORLD:
                assert [one["samples"] for one in model.seen] == [one["samples"] for one in logs[rank][step:]]
        counts = Counter(first + rest)
        assert set(counts) == set(range(lit.SAMPLES))
        padding = 0 if kind == "budget" else 2 * WORLD + world_size
        assert 2 * lit.SAMPLES <= counts.total() <= 2 * lit.SAMPLES + padding


class Watch(Callback):  # type: ignore[misc]
    """Reads the numbers that a progress bar shows, when the first batch has come."""

    def on_train_batch_start(self, trainer: Any, model: Any, batch: Any, batch_idx: int) -> None:
        if not hasattr(self, "first"):
            loader = trainer.train_dataloader
            self.first = (
                trainer.current_epoch,
                trainer.global_step,
                batch_idx,
                trainer.num_training_batches,
                len(loader),
            )
            self.dataset = loader.dataset


def test_progress_is_that_of_the_epoch(tmp_path: Path) -> None:
    with pytest.raises(lit.Interrupted):
        in_this_process(tmp_path, "torch", stop=20)
    watch = Watch()
    trainer, _ = in_this_process(tmp_path, "torch", saved=lit.checkpoint(tmp_path, 18), more=[watch])
    assert watch.first == (1, 18, 3, 15, 15)
    assert isinstance(watch.dataset, lit.Features)
    assert (trainer.current_epoch, trainer.global_step) == (2, 30)


def test_the_batch_that_an_error_has_interrupted_comes_again(tmp_path: Path) -> None:
    last = ModelCheckpoint(tmp_path, "error", save_on_exception=True)
    with pytest.raises(lit.Interrupted):
        in_this_process(tmp_path / "regular", "torch", stop=8, more=[last])
    [saved] = tmp_path.glob("*.ckpt")
    _, whole = in_this_process(tmp_path / "whole", "torch")
    _, rest = in_this_process(tmp_path / "rest", "torch", saved=saved)
    assert rest.seen == whole.seen[8:]


class At(Callback):  # type: ignore[misc]
    """Saves at an event of a batch, or raises there, so that an OnExceptionCheckpoint saves."""

    def __init__(self, event: str, epoch: int, batch: int, path: Path | None) -> None:
        self.place, self.path = (epoch, batch), path
        setattr(self, event, self.act)

    def act(self, trainer: Any, *_: Any) -> None:
        if self.place == (trainer.current_epoch, trainer.fit_loop.batch_idx) and not trainer.sanity_checking:
            if self.path is None:
                raise lit.Interrupted
            trainer.save_checkpoint(self.path)


WINDOWS: list[tuple[str, int, int, int]] = [
    # An epoch has 15 batches: windows of accumulation with 4, 4, 4 and 3.
    ("on_train_batch_end", 0, 1, 0),
    ("on_train_batch_end", 0, 5, 4),
    ("on_train_batch_end", 1, 7, 8),
    ("on_train_batch_end", 1, 13, 12),
    ("on_train_batch_end", 0, 14, 15),
    ("on_validation_end", 0, 5, 4),
    ("on_train_batch_start", 0, 0, 0),
    ("on_train_batch_start", 1, 6, 4),
    ("on_after_backward", 0, 6, 4),
    ("on_after_backward", 1, 3, 0),
    ("on_after_backward", 1, 14, 12),
    ("on_before_zero_grad", 0, 8, 8),
]


@pytest.mark.parametrize(("event", "epoch", "batch", "updated"), WINDOWS)
@pytest.mark.parametrize("raises", [False, True])
def test_a_checkpoint_counts_what_the_model_was_updated_with(
    tmp_path: Path, event: str, epoch: int, batch: int, updated: int, raises: bool
) -> None:
    """A checkpoint between two updates, in the short last window of an epoch, or after an error: no sample is lost or
    comes twice."""
    options: dict[str, Any] = {"accumulate_grad_batches": 4}
    if event == "on_validation_end":
        options |= {"val_check_interval": 6, "limit_val_batches": 1}
    _, whole = in_this_process(tmp_path / "whole", "torch", trainer=options)
    path = tmp_path / "saved.ckpt"
    at = At(event, epoch, batch, None if raises else path)
    more = [at, *([OnExceptionCheckpoint(tmp_path, "saved")] if raises else [])]
    with pytest.raises(lit.Interrupted) if raises else contextlib.nullcontext():
        in_this_process(tmp_path / "first", "torch", trainer=options, more=more)
    trainer, rest = in_this_process(tmp_path / "rest", "torch", trainer=options, saved=path)
    assert rest.seen == whole.seen[15 * epoch + updated :]
    assert (trainer.global_step, trainer.current_epoch) == (8, 2)
    # The resumed training saves a second checkpoint, which is resumed on another world size and with other windows.
    if (epoch, batch) == (0, 5):
        second = tmp_path / "second.ckpt"
        in_this_process(
            tmp_path / "more", "torch", trainer=options, saved=path, more=[At("on_train_batch_end", 0, 10, second)]
        )
        left = []
        for rank in range(2):
            _, other = in_this_process(
                tmp_path / "two", "torch", 2, rank, trainer={"accumulate_grad_batches": 2}, saved=second
            )
            left += [i for one in other.seen if one["epoch"] == 0 for i in one["samples"]]
        # One of the samples is padding.
        assert len(left) == 7 * 5 + 1
        assert {*left} >= {i for one in whole.seen[8:15] for i in one["samples"]}


def test_windows_that_change_or_end_early(tmp_path: Path) -> None:
    """A schedule of accumulation, the last step of a training, and the last batch of an epoch."""
    schedule = {0: 4, 1: 2}
    _, whole = in_this_process(tmp_path / "whole", "budget", more=[GradientAccumulationScheduler(dict(schedule))])
    length = whole.seen[0]["batches"]
    for epoch, batch, updated in ((0, 6, 4), (1, 4, 4)):
        path = tmp_path / f"{epoch}.ckpt"
        more = [GradientAccumulationScheduler(dict(schedule)), At("on_train_batch_end", epoch, batch, path)]
        in_this_process(tmp_path / "first", "budget", more=more)
        more = [GradientAccumulationScheduler(dict(schedule))]
        _, rest = in_this_process(tmp_path / "rest", "budget", more=more, saved=path)
        assert rest.seen == whole.seen[length * epoch + updated :]
    options = {"accumulate_grad_batches": 4, "max_steps": 3}
    _, whole = in_this_process(tmp_path / "limited", "torch", trainer=options)
    path = tmp_path / "limited.ckpt"
    in_this_process(tmp_path / "first", "torch", trainer=options, more=[At("on_train_batch_end", 0, 9, path)])
    trainer, rest = in_this_process(tmp_path / "rest", "torch", trainer=options, saved=path)
    assert (rest.seen, trainer.global_step) == (whole.seen[8:], 3)
    # Without accumulation, an error in the last batch of an epoch leaves this batch to the resume.
    _, whole = in_this_process(tmp_path / "plain", "torch")
    more = [At("on_before_backward", 0, 14, None), OnExceptionCheckpoint(tmp_path, "last")]
    with pytest.raises(lit.Interrupted):
        in_this_process(tmp_path / "first", "torch", more=more)
    _, rest = in_this_process(tmp_path / "rest", "torch", saved=tmp_path / "last.ckpt")
    assert rest.seen == whole.seen[14:]


class Manual(lit.Model):
    """A model that accumulates gradients itself, with an optimizer of Lightning or of torch."""

    def __init__(self, wrapped: bool) -> None:
        super().__init__()
        self.automatic_optimization, self.wrapped = False, wrapped

    def training_step(self, batch: Any, batch_idx: int) -> None:
        self.manual_backward(super().training_step(batch, batch_idx) / 3)
        optimizer = self.optimizers(use_pl_optimizer=self.wrapped)
        if batch_idx % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()


@pytest.mark.parametrize(("wrapped", "updated"), [(True, 6), (False, 8)])
def test_manual_optimization(tmp_path: Path, wrapped: bool, updated: int) -> None:
    """Lightning counts only the steps of its own optimizers; with other optimizers, each batch counts."""

    def train(saved: Path | None, *more: Any) -> list[Any]:
        model = Manual(wrapped)
        trainer = lit.trainer_of(tmp_path / "regular", *more, limit_val_batches=0, max_epochs=1)
        trainer.fit(model, datamodule=lit.Data("torch", 0, 0, 1), ckpt_path=saved, weights_only=False)
        return [one["samples"] for one in model.seen]

    whole = train(None, At("on_train_batch_end", 0, 7, tmp_path / "saved.ckpt"))
    assert train(tmp_path / "saved.ckpt") == whole[updated:]


class Late(SingleDeviceStrategy):  # type: ignore[misc]
    """A strategy that restores checkpoints after optimizers are made, as strategies of sharded models do."""

    restore_checkpoint_after_setup = True


class Scheduled(lit.Model):
    """A model that asks for the number of steps before the checkpoint is restored."""

    def setup(self, stage: str) -> None:
        self.steps = self.trainer.estimated_stepping_batches


class Optimized(lit.Model):
    def configure_optimizers(self) -> Any:
        self.steps = self.trainer.estimated_stepping_batches
        return super().configure_optimizers()


@pytest.mark.parametrize("made", [Scheduled, Optimized])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("step", "world_size"), [(6, 1), (15, 1), (18, 1), (6, 2)])
def test_the_length_may_be_asked_before_the_checkpoint_is_restored(
    tmp_path: Path, made: Any, late: bool, step: int, world_size: int
) -> None:
    """The length is asked in `setup` or in `configure_optimizers`, for a checkpoint within an epoch or at its end."""

    def train(saved: Path | None, world_size: int = 1) -> Any:
        model = made()
        strategy = {"strategy": Late(torch.device("cpu"))} if late else {}
        trainer = lit.trainer_of(tmp_path / "saved", limit_val_batches=0, **strategy)
        trainer.fit(model, datamodule=lit.Data("torch", 0, 0, world_size), ckpt_path=saved)
        return model

    whole = train(None)
    assert whole.steps == 30
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rest = train(lit.checkpoint(tmp_path / "saved", step), world_size)
    said = [str(one.message) for one in told if "estimated_stepping_batches was 16 before" in str(one.message)]
    assert len(said) == (world_size == 2 and (late or made is Scheduled))
    if world_size == 1:
        assert rest.steps == 30
        assert rest.seen == whole.seen[step:]
    else:
        # 19 updates if the checkpoint was loaded before the length was asked: 6 before, 5 of this epoch and 8 of the
        # next. Otherwise two epochs of 8 updates.
        assert rest.steps == (16 if late or made is Scheduled else 19)
        # 45 of 75 samples are left of the first epoch.
        assert [one["epoch"] for one in rest.seen] == [0] * 5 + [1] * 8
        assert rest.seen[4]["batches"] == 6 + 5


@pytest.mark.parametrize("kind", ["torch", "budget"])
@pytest.mark.parametrize("moment", ["whole", "resumed", "interrupted"])
def test_a_data_module_is_freed_with_its_last_reference(tmp_path: Path, kind: str, moment: str) -> None:
    """A trainer of Lightning refers to itself, so the collector frees it. But once it has another data module, the
    first one, its loader and its dataset are freed without the collector."""
    trainer = lit.trainer_of(tmp_path, limit_val_batches=0)
    model = lit.Model(stop=4 if moment == "interrupted" else None)
    if moment == "resumed":
        in_this_process(tmp_path, kind)
    data = lit.Data(kind, 0, 0, 1)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(lit.Interrupted):
            saved = lit.checkpoint(tmp_path, 6) if moment == "resumed" else None
            trainer.fit(model, datamodule=data, ckpt_path=saved, weights_only=False)
        loader = trainer.train_dataloader
        watched = [weakref.ref(one) for one in (data, loader, loader.dataset, loader._resumable.sampler)]
        del data, loader
        assert None not in [one() for one in watched]
        trainer.fit(lit.Model(), datamodule=lit.Data(kind, 0, 0, 1))
        assert [one() for one in watched] == [None] * len(watched)
    finally:
        gc.enable()


class Rated(lit.Model):
    """A model with a schedule for all updates of the training, which records the rate of each update."""

    def __init__(self, schedule: str) -> None:
        super().__init__()
        self.schedule = schedule
        self.rates: list[float] = []

    def configure_optimizers(self) -> Any:
        self.steps = steps = self.trainer.estimated_stepping_batches
        optimizer = torch.optim.SGD(self.parameters(), lr=1e-4)
        if self.schedule == "lambda":
            made: Any = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / steps)
        else:
            made = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-4, total_steps=steps)
        return [optimizer], [{"scheduler": made, "interval": "step"}]

    def on_before_optimizer_step(self, optimizer: Any) -> None:
        self.rates.append(optimizer.param_groups[0]["lr"])


@pytest.mark.parametrize("kind", ["torch", "budget"])
@pytest.mark.parametrize(("before", "after"), [((1, 1), (2, 1)), ((2, 2), (1, 4)), ((2, 3), (4, 1)), ((1, 4), (2, 2))])
@pytest.mark.parametrize("epoch", [0, 1])
@pytest.mark.parametrize("every", ["steps", "epoch"])
def test_the_estimate_after_a_resume_on_other_devices(
    tmp_path: Path, kind: str, before: tuple[int, int], after: tuple[int, int], epoch: int, every: str
) -> None:
    """Devices and accumulation, before and after: rates fall to the end, and the first window is complete."""

    def train(devices: int, accumulation: int, rank: int, saved: Path | None, *more: Any) -> Any:
        model = Rated("lambda")
        options = {"limit_val_batches": 0, "max_epochs": 3, "accumulate_grad_batches": accumulation}
        trainer = lit.trainer_of(tmp_path / "saved", *more, **options)
        data = lit.Data(kind, 0, rank, devices)
        trainer.fit(model, datamodule=data, ckpt_path=saved, weights_only=False)
        assert len(model.rates) + (0 if saved is None else updates) == trainer.global_step == model.steps
        return model

    updates = 0
    path = tmp_path / "saved.ckpt"
    batch = (before[1] if every == "steps" else train(*before, 0, None).seen[0]["batches"]) - 1
    whole = train(*before, 0, None, At("on_train_batch_end", epoch, batch, path))
    updates = torch.load(path, weights_only=False)["global_step"]
    for rank in range(after[0]):
        rest = train(*after, rank, path)
        # PyTorch saves the rate of the next update with the optimizer, so the first rate still follows the old
        # schedule.
        expected = [1 - updates / whole.steps, *(1 - i / rest.steps for i in range(updates + 1, rest.steps))]
        assert rest.rates == pytest.approx([1e-4 * rate for rate in expected])
        windows = Counter(one["step"] for one in rest.seen if one["epoch"] == rest.seen[0]["epoch"])
        assert list(windows.values())[:-1] == [after[1]] * (len(windows) - 1)
    assert whole.rates[0] == 1e-4


def test_a_schedule_that_was_saved_with_another_end(tmp_path: Path) -> None:
    """The warning has the right number of steps. Lightning loads the old number together with the schedule."""
    path = tmp_path / "saved.ckpt"
    options = {"limit_val_batches": 0, "max_epochs": 3}
    trainer = lit.trainer_of(tmp_path / "first", At("on_train_batch_end", 0, 5, path), **options)
    trainer.fit(Rated("cycle"), datamodule=lit.Data("torch", 0, 0, 1))
    trainer = lit.trainer_of(tmp_path / "rest", **options)
    with pytest.warns(UserWarning, match="the OneCycleLR was saved for 45 updates, and this training has 27: "):
        trainer.fit(Rated("cycle"), datamodule=lit.Data("torch", 0, 0, 2), ckpt_path=path, weights_only=False)
    # A trainer that has resumed is pickled like any other.
    plain = lit.trainer_of(tmp_path)
    plain.__class__ = type(trainer)
    assert type(pickle.loads(pickle.dumps(plain))) is type(lit.trainer_of(tmp_path))


def test_epochs_may_be_limited(tmp_path: Path) -> None:
    """The samples beyond the limit are not made up for: each epoch has an order of its own."""
    _, whole = in_this_process(tmp_path, "torch", trainer={"limit_train_batches": 4})
    assert [one["batch"] for one in whole.seen] == [0, 1, 2, 3] * 2
    _, rest = in_this_process(
        tmp_path / "rest", "torch", saved=lit.checkpoint(tmp_path, 6), trainer={"limit_train_batches": 4}
    )
    assert rest.seen == whole.seen[6:]


def test_the_state_is_what_any_host_reads(stopped: Path) -> None:
    checkpoint = torch.load(lit.checkpoint(stopped / lit.name_of(*lit.RUNS[0]), SAVED), weights_only=True)
    saved = checkpoint["Data"]["train_dataloader"]
    sampler = DistributedSampler(lit.Features(), 1, 0, seed=5)
    sampler.load_state_dict(saved)
    assert (sampler.epoch, saved["batches"]) == (1, 1)
    assert len(sampler) == lit.SAMPLES - json.loads(saved["samedeal"])["consumed"] == lit.SAMPLES - 5 * WORLD


@pytest.mark.parametrize("every", [0, 2])
def test_epochs_of_different_length(tmp_path: Path, every: int) -> None:
    """Each epoch is read to its end. One loader serves all, unless the trainer is configured to make new ones."""
    asked = []

    class Uneven(lit.Data):
        def train_dataloader(self) -> Any:
            asked.append("train")
            batches = BatchSampler(lit.LENGTHS, max_tokens=120, keep_order=True, seed=5, rank=0, world_size=1)
            return DataLoader(lit.Features(), batch_sampler=batches)

        def val_dataloader(self) -> Any:
            asked.append("val")
            return super().val_dataloader()

    model = lit.Model()
    trainer = lit.trainer_of(tmp_path, max_epochs=4, reload_dataloaders_every_n_epochs=every)
    trainer.fit(model, datamodule=Uneven("budget", 0))
    lengths = []
    for epoch in range(4):
        steps = [one for one in model.seen if one["epoch"] == epoch]
        assert sorted(i for one in steps for i in one["samples"]) == list(range(lit.SAMPLES))
        assert [(one["batch"], one["batches"]) for one in steps] == [(i, len(steps)) for i in range(len(steps))]
        lengths.append(len(steps))
    assert lengths == [55, 56, 56, 55]
    assert len(model.validated) == 4 * 8
    assert asked.count("val") == (2 if every else 1)
    # New loaders are made where the length changed, and two epochs later.
    assert asked.count("train") == (3 if every else 1)


def test_a_data_module_is_pickled(tmp_path: Path) -> None:
    """The data module is pickled with its trainer, as for processes that are spawned."""
    trainer = lit.trainer_of(tmp_path, limit_val_batches=0)
    trainer.datamodule = data = Other(sampled())
    again = pickle.loads(pickle.dumps(trainer)).datamodule
    assert len(again.train_dataloader()) == len(data.train_dataloader()) == 15


class Other(lit.Data):
    """A data module with another loader."""

    def __init__(self, loader: Any) -> None:
        super().__init__("torch", 0)
        self.loader = loader

    def train_dataloader(self) -> Any:
        return self.loader


def sampled() -> Any:
    return DataLoader(lit.Features(), 5, sampler=DistributedSampler(lit.Features(), 1, 0))


@pytest.mark.parametrize(
    "loader", [DataLoader(lit.Features(), 5, shuffle=True), [sampled(), sampled()], {"a": sampled()}, None]
)
def test_other_loaders_are_refused(tmp_path: Path, loader: Any) -> None:
    with pytest.raises(WrongTypeError, match="a DataLoader with samedeal"):
        lit.trainer_of(tmp_path).fit(lit.Model(), datamodule=Other(loader))


@pytest.mark.parametrize("workers", [0, 1])
def test_loaders_that_have_states_of_their_own(tmp_path: Path, workers: int) -> None:
    """Lightning alone would end the resumed epoch early with these loaders."""
    kinds: list[Callable[[], Any]] = [
        sampled,
        lambda: Resumable(sampled()),
        lambda: StatefulDataLoader(
            lit.Features(), 5, sampler=DistributedSampler(lit.Features(), 1, 0), num_workers=workers
        ),
    ]
    seen = []
    for number, kind in enumerate(kinds):
        for saved in (None, lit.checkpoint(tmp_path / str(number), 6)):
            model = lit.Model()
            trainer = lit.trainer_of(tmp_path / str(number), limit_val_batches=0, max_epochs=1)
            trainer.fit(model, datamodule=Other(kind()), ckpt_path=saved, weights_only=False)
            seen.append(model.seen[0 if saved else 6 :])
    assert len(seen[0]) == 15 - 6
    assert all(steps == seen[0] for steps in seen)


@pytest.mark.parametrize("workers", [0, 2])
def test_shards(tmp_path: Path, workers: int) -> None:
    """A dataset in files has no sampler in its DataLoader."""
    for number in range(4):
        pq.write_table(pa.table({"id": range(20 * number, 20 * number + 20)}), tmp_path / f"{number}.parquet")

    def samples(batch: Any) -> Any:
        ids = torch.tensor(batch["id"].to_pylist())
        return ids, torch.ones(len(ids), 4)

    def train(saved: Path | None) -> list[dict[str, Any]]:
        dataset = ShardedDataset(tmp_path, batch_size=4, transform=samples, seed=3)
        loader = DataLoader(dataset, batch_size=None, num_workers=workers)
        model = lit.Model()
        trainer = lit.trainer_of(tmp_path / "saved", limit_val_batches=0)
        trainer.fit(model, datamodule=Other(loader), ckpt_path=saved, weights_only=False)
        return model.seen

    whole = train(None)
    assert Counter(i for one in whole for i in one["samples"]) == {i: 2 for i in range(80)}
    assert train(lit.checkpoint(tmp_path / "saved", 27)) == whole[27:]


def test_ranks_of_different_length_are_refused(tmp_path: Path) -> None:
    """Lightning would wait forever for the rank that ends first."""
    (tmp_path / "shards").mkdir()
    for number, rows in enumerate((20, 13)):
        pq.write_table(pa.table({"id": range(rows)}), tmp_path / "shards" / f"{number}.parquet")
    run = ranks(2, HERE / "lit_shards.py", tmp_path)
    assert run.returncode == 0, run.stderr
    told = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    assert told[0] == told[1]
    whole, limited, ended, late, evaluated = told[0]
    assert "steps is 5 on rank 0, 0 on rank 1; allowed: at least one batch on every rank" in evaluated
    # The error comes before the first batch, on both ranks.
    assert whole[0] == 0
    assert "steps is 5 on rank 0, 4 on rank 1; allowed: the same on every rank" in whole[1]
    assert late == 4
    # If the trainer stops before the shortest rank ends, no rank waits for another one.
    assert (limited, ended) == (2, 3)


def test_overfitting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContradictionError, match="overfit_batches is 2"):
        lit.trainer_of(tmp_path, overfit_batches=2).fit(lit.Model(), datamodule=Other(sampled()))


def test_a_training_in_steps_is_refused(tmp_path: Path) -> None:
    """Lightning counts batches by epochs."""
    sampler = StepBatchSampler(lit.Features(), 5, steps=7, rank=0, world_size=1)
    loader = DataLoader(lit.Features(), batch_sampler=sampler)
    with pytest.raises(ContradictionError, match="sampler is a StepBatchSampler"):
        lit.trainer_of(tmp_path).fit(lit.Model(), datamodule=Other(loader))


def test_a_checkpoint_without_a_state_is_refused(tmp_path: Path) -> None:
    """Lightning would skip as many batches at the end as were read before, and read those again."""

    class Plain(LightningDataModule):  # type: ignore[misc]
        train_dataloader = staticmethod(lambda: DataLoader(lit.Features(), 5))

    lit.trainer_of(tmp_path, limit_val_batches=0, max_epochs=1).fit(lit.Model(), datamodule=Plain())
    with pytest.raises(ContradictionError, match="batches is 0; allowed: 6, as Lightning has counted"):
        in_this_process(tmp_path / "rest", "torch", saved=lit.checkpoint(tmp_path, 6))


def test_the_rest_of_a_data_module_is_left_alone(tmp_path: Path) -> None:
    class Counting(Other):
        value = 0

        def state_dict(self) -> dict[str, Any]:
            return {**super().state_dict(), "value": 7}

        def load_state_dict(self, state_dict: dict[str, Any]) -> None:
            super().load_state_dict(state_dict)
            self.value = state_dict["value"]

    data = Counting(sampled())
    assert data.train_dataloader() is data.loader
    assert data.state_dict() == {"value": 7}
    lit.trainer_of(tmp_path).fit(lit.Model(), datamodule=data)
    # A validation also loads states, but they must not move the training after it.
    again = Counting(sampled())
    trainer = lit.trainer_of(tmp_path / "again", limit_val_batches=1, max_epochs=1)
    model = lit.Model()
    trainer.validate(model, datamodule=again, ckpt_path=lit.checkpoint(tmp_path, 6), verbose=False, weights_only=False)
    assert again.value == 7
    trainer.fit(model, datamodule=again)
    assert [one["batch"] for one in model.seen] == list(range(15))


def test_the_order_of_base_classes_counts() -> None:
    """If Lightning's class came first, no state would be saved."""
    with pytest.raises(ContradictionError, match=r"class Data\(ResumableData, LightningDataModule\)"):
        type("Data", (LightningDataModule, ResumableData), {})


def test_what_lightning_documents(tmp_path: Path) -> None:
    """Plain samplers are replaced, unless they belong to a `ResumableData`; other samplers have their epochs set."""
    seen = []

    class Epochs(DistributedSampler):
        def set_epoch(self, epoch: Any) -> None:
            seen.append(epoch)
            super().set_epoch(epoch)

    own = Epochs(lit.Features(), 1, 0)
    options: dict[str, Any] = {"limit_val_batches": 0, "use_distributed_sampler": True, "max_epochs": 3}
    trainer = lit.trainer_of(tmp_path, **options)
    trainer.fit(lit.Model(), DataLoader(lit.Features(), 5, sampler=own))
    assert seen == [0, 1, 2]
    assert trainer.train_dataloader.sampler is own
    trainer = lit.trainer_of(tmp_path, **options)
    trainer.fit(lit.Model(), DataLoader(lit.Features(), 5, shuffle=True))
    assert isinstance(trainer.train_dataloader.sampler, RandomSampler)


def test_both_packages_are_served(tmp_path: Path) -> None:
    import pytorch_lightning

    class Data(ResumableData, pytorch_lightning.LightningDataModule):  # type: ignore[misc]
        def train_dataloader(self) -> Any:
            return sampled()

    class Model(pytorch_lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
            self.seen: list[int] = []

        def training_step(self, batch: Any) -> torch.Tensor:
            self.seen += batch[0].tolist()
            loss: torch.Tensor = self.layer(batch[1]).sum()
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.01)

    model = Model()
    options: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = pytorch_lightning.Trainer(accelerator="cpu", max_epochs=1, default_root_dir=tmp_path, **options)
    trainer.fit(model, datamodule=Data())
    assert sorted(model.seen) == list(range(lit.SAMPLES))


class Searched(lit.Model):
    def __init__(self) -> None:
        super().__init__()
        self.lr = 1e-6

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=self.lr)


class Shared(lit.Data):
    """A data module with one sampler for all loaders, or one for each."""

    def __init__(self, shared: bool) -> None:
        super().__init__("torch", 0, 0, 1)
        self.shared, self.batch_size = shared, 5

    def setup(self, stage: str) -> None:
        if not hasattr(self, "known"):
            self.known = self.made()

    def made(self) -> Any:
        return DistributedSampler(lit.Features(), 1, 0, seed=5)

    def train_dataloader(self) -> Any:
        return DataLoader(lit.Features(), self.batch_size, sampler=self.known if self.shared else self.made())


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("searched", ["lr", "batch"])
@pytest.mark.parametrize("batches", [6, 20])
def test_what_a_search_has_read_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool, searched: str, batches: int
) -> None:
    """A search for a learning rate or a batch size reads less than an epoch of 15 batches, or more."""
    monkeypatch.chdir(tmp_path)
    trainer = lit.trainer_of(tmp_path, limit_val_batches=0)
    model, data, tuner = Searched(), Shared(shared), Tuner(trainer)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EpochWarning)
        if searched == "lr":
            tuner.lr_find(model, datamodule=data, num_training=batches, min_lr=1e-9, max_lr=1e-6)
        else:
            tuner.scale_batch_size(model, datamodule=data, max_trials=2, steps_per_trial=batches)
        model.seen.clear()
        data.batch_size = 5
        trainer.fit(model, datamodule=data)
    _, whole = in_this_process(tmp_path / "whole", "torch")
    assert [one["samples"] for one in model.seen] == [one["samples"] for one in whole.seen]


def test_a_resume_plans_no_later_epoch_unless_somebody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the resume nor a checkpoint asks for the length of later epochs, which batches by tokens would have to
    plan."""
    path, second = tmp_path / "saved.ckpt", tmp_path / "second.ckpt"
    in_this_process(tmp_path / "first", "budget", more=[At("on_train_batch_end", 0, 2, path)])
    asked: list[int] = []
    length_of = Resumable._epoch_length_of

    def counted(self: Resumable, epoch: int) -> int:
        asked.append(epoch)
        return length_of(self, epoch)

    monkeypatch.setattr(Resumable, "_epoch_length_of", counted)
    in_this_process(tmp_path / "rest", "budget", 2, saved=path, more=[At("on_train_batch_end", 0, 3, second)])
    assert second.exists()
    assert asked == []
