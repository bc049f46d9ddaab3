"""Trainer: the samples that it reads, and a training with it that is killed and resumed on any world size."""

from __future__ import annotations

import functools
import gc
import itertools
import os
import signal
import subprocess
import time
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jobs
import pytest
import torch
import trained
import transformers
from samedeal import ContradictionError, MissingError, WrongTypeError
from samedeal.torch import BatchSampler, DistributedSampler, EpochWarning
from samedeal.transformers import SamedealState, Trainer, TrainerMixin
from torch.utils.data import RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler
from transformers import TrainerCallback, TrainingArguments
from transformers.trainer_callback import TrainerState
from transformers.trainer_pt_utils import LengthGroupedSampler

HERE = Path(__file__).parent
WORLD = 2
DEATH = 3
"""The step of each model after which the job ends: within an epoch, one step after a checkpoint."""


jobs.preload("samedeal.transformers")


def run(world_size: int, out: Path, *arguments: Any, start: Any = jobs.ranks) -> subprocess.CompletedProcess[str]:
    out.mkdir()
    job: subprocess.CompletedProcess[str] = start(world_size, HERE / "trained.py", out, *arguments)
    return job


def steps(out: Path, name: str, world_size: int) -> list[list[Any]]:
    """For each rank and step: the number of the step, the epoch, the last step, and the samples of each batch."""
    return jobs.logs(out, name, world_size)


def samples(logs: list[list[Any]], epoch: int) -> list[int]:
    return [i for log in logs for _, at, _, seen in log if epoch < at <= epoch + 1 for batch in seen for i in batch]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that was killed."""
    folder = tmp_path_factory.mktemp("killed")
    job = run(WORLD, folder / "out", folder / "none", DEATH, start=jobs.torchrun)
    assert "SIGKILL" in job.stderr, job.stderr
    return folder / "out"


def test_every_sample_is_trained_on_once(killed: Path, tmp_path: Path) -> None:
    """The world size stays; the tutorial shows other world sizes."""
    job = run(WORLD, tmp_path / "rest", killed)
    assert job.returncode == 0, job.stderr
    for kind, workers in trained.RUNS:
        name = f"{kind}-{workers}"
        before = [log[: trained.EVERY] for log in steps(killed, name, WORLD)]
        after = steps(tmp_path / "rest", name, WORLD)
        for epoch in range(trained.EPOCHS):
            first, rest = samples(before, epoch), samples(after, epoch)
            assert bool(first) == (epoch == 0)
            left = trained.SAMPLES - len(first)
            assert len(rest) == left + (0 if kind == "budget" else -left % WORLD), name
            assert {*first, *rest} == set(range(trained.SAMPLES)), name
        # Steps are counted on after the resume, and the progress ends at the planned number of steps.
        numbers, at, most, _ = zip(*after[0], strict=True)
        assert numbers == tuple(range(trained.EVERY + 1, most[0] + 1))
        assert set(most) == {numbers[-1]}
        assert 1.0 in at
        assert at[-1] == trained.EPOCHS
        assert list(at) == sorted(at)
        assert [one + other for one, other in zip(before, after, strict=True)] == steps(killed / "whole", name, WORLD)
        for rank in range(WORLD):
            weights = f"{name}-{rank}.weights"
            assert (tmp_path / "rest" / weights).read_text() == (killed / "whole" / weights).read_text()


def arguments(out: Path, **options: Any) -> TrainingArguments:
    known: dict[str, Any] = {"per_device_train_batch_size": 8, "num_train_epochs": 1, "save_steps": 4, "report_to": []}
    known |= {"use_cpu": True, "disable_tqdm": True, "dataloader_pin_memory": False, "save_strategy": "steps"}
    return TrainingArguments(output_dir=str(out), **known | options)


class Steps(TrainerCallback):  # type: ignore[misc]
    """Records the steps that the Trainer reports."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.numbers.append(state.global_step)


class Endless(torch.utils.data.IterableDataset[Any]):  # type: ignore[misc]
    """Data without a length."""

    def __iter__(self) -> Iterator[Any]:
        return iter(trained.Features()[i] for i in itertools.count())


def trainer_of(out: Path, made: Any = Trainer, given: Any = None, **options: Any) -> Any:
    more = {} if given is None else {"train_sampler": given}
    return made(trained.Model(), arguments(out, **options), train_dataset=trained.Features(), **more)


def test_steps_have_the_samples_of_trainers_own(tmp_path: Path) -> None:
    """With one process, `transformers.Trainer` and this Trainer have the same samples, in the same order."""
    both = []
    for made in (transformers.Trainer, Trainer):
        trainer = trainer_of(tmp_path, made, num_train_epochs=2, seed=11)
        trainer.train()
        both.append(trainer.model.seen)
    assert both[0] == both[1]
    assert sorted(i for batch in both[0][:32] for i in batch) == list(range(trained.SAMPLES))


@pytest.mark.parametrize("options", [{"save_strategy": "epoch"}, {"max_steps": 50}, {"num_train_epochs": 1.5}])
def test_trainings_that_end_in_other_places(tmp_path: Path, options: dict[str, Any]) -> None:
    sampler = DistributedSampler(trained.Features(), 1, 0, order="feistel", seed=4)
    epochs = {"num_train_epochs": 2} | options
    whole = trainer_of(tmp_path / "whole", given=sampler, **epochs)
    whole.train()
    expected = {"save_strategy": 64, "max_steps": 50, "num_train_epochs": 48}[next(iter(options))]
    assert (whole.state.global_step, len(whole.model.seen)) == (expected, expected)
    first = 32 if "save_strategy" in options else 36
    again = trainer_of(tmp_path / "rest", given=sampler, **epochs)
    again.train(resume_from_checkpoint=str(tmp_path / "whole" / f"checkpoint-{first}"))
    assert again.state.global_step == expected
    assert again.model.seen == whole.model.seen[first:]
    assert again.state.epoch == whole.state.epoch
    # With `ignore_data_skip`, the epoch begins again, as users of this option want.
    anew = trainer_of(tmp_path / "anew", given=sampler, **epochs, ignore_data_skip=True)
    anew.train(resume_from_checkpoint=str(tmp_path / "whole" / f"checkpoint-{first}"))
    assert anew.model.seen[0] == whole.model.seen[32]


def test_epochs_need_not_be_equally_long(tmp_path: Path) -> None:
    """The number of batches within a budget differs from epoch to epoch."""
    lengths = [1 + (i * 7919 % 97) ** 2 // 40 for i in range(trained.SAMPLES)]
    steps = 0
    sampler = BatchSampler(lengths, max_tokens=1_000, batch_window=20, seed=1, rank=0, world_size=1)
    counts = []
    for epoch in range(4):
        sampler.set_epoch(epoch)
        counts.append(len(sampler))
    assert len(set(counts)) > 1
    trainer = trainer_of(tmp_path, given=sampler, num_train_epochs=4, save_steps=sum(counts[:3]) - 1)
    watcher = Steps()
    trainer.add_callback(watcher)
    trainer.train()
    assert watcher.numbers == list(range(1, sum(counts) + 1))
    assert trainer.state.max_steps == sum(counts)
    for count in counts:
        epoch_of = trainer.model.seen[steps : steps + count]
        assert sorted(i for batch in epoch_of for i in batch) == list(range(trained.SAMPLES))
        steps += count
    again = trainer_of(tmp_path / "rest", given=sampler, num_train_epochs=4)
    again.train(resume_from_checkpoint=str(tmp_path / f"checkpoint-{sum(counts[:3]) - 1}"))
    assert again.model.seen == trainer.model.seen[sum(counts[:3]) - 1 :]
    assert again.state.epoch == 4.0


def test_a_resume_of_many_steps_is_at_once(tmp_path: Path) -> None:
    """Finished steps are neither read nor dealt: the loader is only asked for the rest."""

    class Counting(trained.Features):
        asked = 0

        def __getitem__(self, index: int) -> dict[str, Any]:
            Counting.asked += 1
            return super().__getitem__(index)

    trainer = trainer_of(tmp_path, save_steps=30)
    trainer.train()
    data = Counting()
    again = Trainer(trained.Model(), arguments(tmp_path / "rest"), train_dataset=data)
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-30"))
    assert Counting.asked == trained.SAMPLES - 30 * 8


@pytest.mark.parametrize("kind", ["default", "feistel", "budget"])
def test_a_resume_gives_no_warning(tmp_path: Path, kind: str) -> None:
    """The checkpoint is in the middle of an epoch, at the end of the first, or at the end of the training."""

    def trainer(folder: str) -> Any:
        given: Any = None
        if kind == "feistel":
            given = DistributedSampler(trained.Features(), 1, 0, order="feistel", seed=4)
        elif kind == "budget":
            given = BatchSampler(trained.LENGTHS, max_tokens=400, rank=0, world_size=1)
        return trainer_of(tmp_path / folder, given=given, num_train_epochs=2, save_steps=1)

    whole = trainer("whole")
    first = len(whole.get_train_dataloader())
    whole.train()
    for saved in (4, first, first + 4, whole.state.max_steps):
        again = trainer(f"rest-{saved}")
        with warnings.catch_warnings():
            warnings.simplefilter("error", EpochWarning)
            again.train(resume_from_checkpoint=str(tmp_path / "whole" / f"checkpoint-{saved}"))
        assert again.model.seen == whole.model.seen[saved:]


def test_a_state_that_a_training_does_not_read_is_told(tmp_path: Path) -> None:
    sampler = DistributedSampler(trained.Features(), 1, 0, seed=42)
    state = sampler.state_dict(100)
    sampler.load_state_dict(state)
    with pytest.warns(EpochWarning, match="what a state had left of epoch 0 is forgotten"):
        trainer_of(tmp_path, given=sampler).train()


def test_callbacks_that_are_restored(tmp_path: Path) -> None:
    whole = trainer_of(tmp_path)
    whole.train()
    again = trainer_of(tmp_path / "rest", restore_callback_states_from_checkpoint=True)
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-16"))
    assert again.model.seen == whole.model.seen[16:]
    third = trainer_of(tmp_path / "third")
    third.train(resume_from_checkpoint=str(tmp_path / "rest" / "checkpoint-28"))
    assert third.model.seen == whole.model.seen[28:]


def test_a_checkpoint_says_who_took_it(tmp_path: Path) -> None:
    """The ranks and the batch size, so that a command that explains the checkpoint needs no options."""

    def taken_by(folder: str, step: int) -> Any:
        state = TrainerState.load_from_json(str(tmp_path / folder / f"checkpoint-{step}" / "trainer_state.json"))
        return SamedealState.within(state).get("taken_by")

    trainer_of(tmp_path / "whole", max_steps=8).train()
    assert taken_by("whole", 4) == taken_by("whole", 8) == {"world_size": 1, "from": 0, "batch_size": 8}
    # Equal ranks keep the position at which they began, and others begin anew.
    for folder, size, begun in (("same", 8, 0), ("other", 4, 32)):
        again = trainer_of(tmp_path / folder, max_steps=8, per_device_train_batch_size=size)
        again.train(resume_from_checkpoint=str(tmp_path / "whole" / "checkpoint-4"))
        assert taken_by(folder, 8) == {"world_size": 1, "from": begun, "batch_size": size}
    budget = BatchSampler(trained.LENGTHS, max_tokens=400, rank=0, world_size=1)
    trainer_of(tmp_path / "budget", given=budget, max_steps=4).train()
    assert taken_by("budget", 4) is None


@pytest.mark.parametrize("kind", ["default", "feistel", "budget", "resumed"])
def test_nothing_outlives_its_names(tmp_path: Path, kind: str) -> None:
    """Trainer, model, dataset and sampler are freed at once, without the garbage collector."""
    data = trained.Features()
    given: Any = None
    if kind == "feistel":
        given = DistributedSampler(data, 1, 0, order="feistel")
    elif kind == "budget":
        given = BatchSampler(trained.LENGTHS, max_tokens=400, rank=0, world_size=1)
    options = {"max_steps": 5, "gradient_accumulation_steps": 2}
    if kind == "resumed":
        trainer_of(tmp_path, **options).train()
    trainer = Trainer(trained.Model(), arguments(tmp_path, **options), train_dataset=data, train_sampler=given)
    watched = [weakref.ref(one) for one in (trainer, trainer.model, data)]
    if given is not None:
        watched.append(weakref.ref(given))
    gc.collect()
    gc.disable()
    try:
        trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4") if kind == "resumed" else None)
        watched.append(weakref.ref(trainer._batches))
        del trainer, data, given
        assert [one() for one in watched] == [None] * len(watched)
    finally:
        gc.enable()


class Saver(TrainerCallback):  # type: ignore[misc]
    """Saves at the n-th call of an event, or sends a signal that saves, and ends the training."""

    def __init__(self, event: str, call: int) -> None:
        self.event, self.calls_left = event, call
        self.trainer: Any = None
        self.updated = 0
        """Number of batches with which the model was updated."""
        self.saved: int | None = None
        """The value of `updated` when the model was saved."""

    def on_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.updated = len(self.trainer.model.seen)
        self.told("on_optimizer_step", control)

    def on_substep_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.told("on_substep_end", control)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.told("on_pre_optimizer_step", control)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.told("on_step_begin", control)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.told("on_step_end", control)

    def told(self, event: str, control: Any) -> None:
        self.calls_left -= event == self.event.removeprefix("signal in ")
        if self.calls_left or self.saved is not None:
            return
        self.saved = self.updated
        if event == self.event:
            self.trainer._save_checkpoint(self.trainer.model, None)
            control.should_training_stop = True
            return
        [manager] = [one.jit_manager for one in self.trainer.callback_handler.callbacks if hasattr(one, "jit_manager")]
        manager.kill_wait = 0
        os.kill(os.getpid(), signal.SIGTERM)
        while not manager.is_checkpoint_requested:
            time.sleep(0.001)


@pytest.mark.parametrize(
    ("kind", "event", "call"),
    [
        ("default", "on_substep_end", 5),
        ("default", "on_substep_end", 21),
        ("budget", "on_substep_end", 1),
        ("default", "on_pre_optimizer_step", 1),
        ("budget", "on_pre_optimizer_step", 11),
        ("default", "on_optimizer_step", 4),
        ("default", "on_step_end", 4),
        ("default", "on_step_end", 11),
        ("default", "on_step_begin", 5),
        ("default", "signal in on_substep_end", 5),
        ("budget", "signal in on_substep_end", 21),
    ],
)
def test_a_checkpoint_counts_what_the_model_was_updated_with(tmp_path: Path, kind: str, event: str, call: int) -> None:
    """A checkpoint between two updates, in the short last window of an epoch, or by a signal: no sample is lost or
    comes twice."""

    def made(folder: str) -> Any:
        given = None if kind == "default" else BatchSampler(trained.LENGTHS, max_tokens=400, rank=0, world_size=1)
        options: dict[str, Any] = {"gradient_accumulation_steps": 3, "num_train_epochs": 2, "save_strategy": "no"}
        return trainer_of(tmp_path / folder, given=given, enable_jit_checkpoint="signal" in event, **options)

    whole = made("whole")
    whole.train()
    first, saver = made("first"), Saver(event, call)
    saver.trainer = first
    first.add_callback(saver)
    first.train()
    [saved] = (tmp_path / "first").glob("checkpoint-*")
    assert saver.saved is not None
    assert event in ("on_optimizer_step", "on_step_end", "on_step_begin") or saver.saved < len(first.model.seen)
    rest = made("rest")
    rest.train(resume_from_checkpoint=str(saved))
    assert rest.model.seen == whole.model.seen[saver.saved :]
    if event != "on_optimizer_step":
        # At the event `on_optimizer_step`, the Trainer has not counted the update yet, so the number of steps differs.
        assert rest.state.global_step == whole.state.global_step


class Repeating(torch.utils.data.Sampler[int]):  # type: ignore[misc]
    """A sampler that gives each index twice, as trainers of groups do."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return 2 * len(self.dataset)

    def __iter__(self) -> Iterator[int]:
        return iter([i for i in range(len(self.dataset)) for _ in range(2)])


class Reversed(SequentialSampler):  # type: ignore[misc]
    """A subclass of a known sampler."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self))[::-1])


def with_sampler(made: Any) -> type[Any]:
    """A trainer whose `_get_train_sampler` returns the sampler that `made` makes."""

    class Base(transformers.Trainer):  # type: ignore[misc]
        def _get_train_sampler(self, train_dataset: Any = None) -> Any:
            return made(self.train_dataset)

    return type("Own", (TrainerMixin, Base), {})


def collated(rows: list[Any]) -> Any:
    """A batch without the column that the model does not accept."""
    return torch.utils.data.default_collate([{name: row[name] for name in ("ids", "x")} for row in rows])


def with_loader(**options: Any) -> type[Any]:
    """A trainer whose `get_train_dataloader` makes a loader of its own."""

    class Base(transformers.Trainer):  # type: ignore[misc]
        def get_train_dataloader(self) -> Any:
            made = {name: value(self.train_dataset) if callable(value) else value for name, value in options.items()}
            return torch.utils.data.DataLoader(self.train_dataset, collate_fn=collated, **made)

    return type("Own", (TrainerMixin, Base), {})


def with_wrapper() -> type[Any]:
    class Base(transformers.Trainer):  # type: ignore[misc]
        def get_train_dataloader(self) -> Any:
            return Wrapper(super().get_train_dataloader())

    return type("Own", (TrainerMixin, Base), {})


OURS = functools.partial(DistributedSampler, num_replicas=1, rank=0)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (
            with_sampler(Repeating),
            r"Repeating.*such as samedeal\.torch\.DistributedSampler\(dataset, \.\.\.\)",
        ),
        (with_loader(sampler=Repeating), r"Repeating.*train_sampler="),
        (with_loader(batch_sampler=lambda data: [[0, 1], [0, 1]]), "list.*train_sampler="),
        (with_loader(batch_sampler=lambda data: BatchSampler(trained.LENGTHS, max_tokens=400)), "pass it as"),
        (with_loader(batch_size=None), "train_sampler="),
        (with_sampler(Reversed), "Reversed"),
        (with_sampler(lambda data: RandomSampler(data, replacement=True)), "once.*WeightedRandomSampler"),
        (with_sampler(lambda data: RandomSampler(data, num_samples=10)), "once.*WeightedRandomSampler"),
        (with_sampler(lambda data: SequentialSampler(range(9))), "SequentialSampler.* once"),
        (with_sampler(lambda data: SubsetRandomSampler([1, 2, 3])), "SubsetRandomSampler"),
        (with_sampler(lambda data: WeightedRandomSampler([1.0] * 251, 251)), r"samedeal\.torch\.WeightedRandomSampler"),
        (
            with_sampler(lambda data: LengthGroupedSampler(8, data, trained.LENGTHS)),
            r"LengthGroupedSampler.*BatchSampler\(lengths",
        ),
        (with_sampler(OURS), "pass it as train_sampler="),
        (with_wrapper(), "Wrapper"),
    ],
)
def test_a_sampler_of_the_trainers_own_is_not_thrown_away(tmp_path: Path, made: Any, told: str) -> None:
    trainer = trainer_of(tmp_path, made)
    with pytest.raises(ContradictionError, match=told):
        trainer.train()
    assert trainer.model.seen == []


def test_samplers_that_are_replaced_keep_their_order(tmp_path: Path) -> None:
    """torch's samplers are replaced: a shuffled order stays shuffled, and a sequential order stays sequential."""
    torch_own = functools.partial(torch.utils.data.DistributedSampler, num_replicas=1, rank=0, seed=7)
    for number, (made, expected) in enumerate(
        [
            (with_sampler(SequentialSampler), range(251)),
            (with_loader(batch_size=8), range(251)),
            (with_loader(batch_size=8, drop_last=True), range(248)),
            (with_sampler(torch_own), [*torch_own(trained.Features())]),
            (with_sampler(functools.partial(torch_own, shuffle=False)), range(251)),
            (with_loader(sampler=RandomSampler, batch_size=8), [*OURS(trained.Features(), seed=42)]),
        ]
    ):
        trainer = trainer_of(tmp_path / str(number), made)
        trainer.train()
        assert [i for batch in trainer.model.seen for i in batch] == [*expected]
    # A sampler that is given to the trainer takes precedence over the trainer's own.
    given = DistributedSampler(trained.Features(), 1, 0, order="feistel", seed=4)
    trainer = trainer_of(tmp_path / "given", with_sampler(Repeating), given=given)
    trainer.train()
    given.set_epoch(0)
    assert [i for batch in trainer.model.seen for i in batch] == [*given]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongTypeError, match="train_sampler"):
        trainer_of(tmp_path, given=torch.utils.data.SequentialSampler(range(3)))
    with pytest.raises(ContradictionError, match="for 9 samples; allowed: 251"):
        trainer_of(tmp_path, given=DistributedSampler(range(9), 1, 0)).train()
    with pytest.raises(ContradictionError, match="train_sampling_strategy"):
        trainer_of(tmp_path, train_sampling_strategy="group_by_length").get_train_dataloader()
    with pytest.raises(ContradictionError, match="dataloader_in_order"):
        trainer_of(tmp_path, dataloader_in_order=False, dataloader_num_workers=1).train()
    stream = Trainer(trained.Model(), arguments(tmp_path, max_steps=4), train_dataset=Endless())
    told = "train_dataset is <Endless>; allowed: a dataset that has a len.*ShardedDataset under samedeal.accelerate"
    with pytest.raises(WrongTypeError, match=told):
        stream.train()
    transformers.Trainer(trained.Model(), arguments(tmp_path), train_dataset=trained.Features()).train()
    with pytest.raises(MissingError, match="TrainerMixin, or ignore_data_skip=True"):
        trainer_of(tmp_path).train(resume_from_checkpoint=True)
    trainer_of(tmp_path / "own").train()
    with pytest.raises(ContradictionError, match="seed is 43; allowed: 42"):
        trainer_of(tmp_path / "own", seed=43).train(resume_from_checkpoint=True)


def test_the_loader_knows_the_size_of_a_step(tmp_path: Path) -> None:
    """The attributes are those of the loader that `transformers.Trainer` makes."""
    theirs = trainer_of(tmp_path, transformers.Trainer).get_train_dataloader()
    loader = trainer_of(tmp_path).get_train_dataloader()
    assert (loader.total_batch_size, len(loader)) == (theirs.total_batch_size, len(theirs)) == (8, 32)
    among_three = DistributedSampler(trained.Features(), 3, 1)
    assert trainer_of(tmp_path, given=among_three).get_train_dataloader().total_batch_size == 24
    budget = BatchSampler(trained.LENGTHS, rank=0, world_size=1, max_tokens=400)
    loader = trainer_of(tmp_path, given=budget).get_train_dataloader()
    assert not hasattr(loader, "total_batch_size")
    assert len(loader) == len(budget)


class Wrapper:
    """Several loaders, one after the other."""

    def __init__(self, *loaders: Any) -> None:
        self.loaders = loaders

    def __len__(self) -> int:
        return sum(map(len, self.loaders))

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.loaders)


class Once(Trainer):
    """A trainer that wraps its loader."""

    def get_train_dataloader(self) -> Any:
        return Wrapper(super().get_train_dataloader())


class Twice(Trainer):
    """A trainer that would read the dataset twice in an epoch."""

    def get_train_dataloader(self) -> Any:
        return Wrapper(super().get_train_dataloader(), super().get_train_dataloader())


class Own(Trainer):
    """A trainer with a loader that no sampler of this package deals."""

    def get_train_dataloader(self) -> Any:
        return torch.utils.data.DataLoader(trained.Features(), 8)


def test_a_loader_of_a_subclass_is_read_whole_or_refused(tmp_path: Path) -> None:
    wrapped = trainer_of(tmp_path, Once)
    wrapped.train()
    plain = trainer_of(tmp_path)
    plain.train()
    assert wrapped.model.seen == plain.model.seen
    twice = trainer_of(tmp_path, Twice)
    with pytest.raises(ContradictionError, match="a Wrapper of 64 batches, where the sampler deals 32; allowed: "):
        twice.train()
    assert twice.model.seen == []
    own = trainer_of(tmp_path, Own)
    with pytest.raises(ContradictionError, match=r"allowed: what super\(\)\.get_train_dataloader\(\) gives"):
        own.train()
    assert own.model.seen == []


class Large(trained.Model):
    """A model that has no memory for batches of eight after some steps."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def forward(self, ids: Any, x: Any) -> dict[str, Any]:
        if len(ids) == 8 and len(self.seen) == self.after:
            self.seen.clear()
            raise RuntimeError("CUDA out of memory.")
        return super().forward(ids, x)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("resumed", [False, True])
def test_a_retry_with_smaller_batches_begins_where_the_first_one_did(
    tmp_path: Path, given: bool, resumed: bool
) -> None:
    """With `auto_find_batch_size`, the samples of the attempt that ran out of memory come again."""
    data = trained.Features()

    def train(model: trained.Model, checkpoint: str | None = None, **options: Any) -> list[int]:
        sampler = DistributedSampler(data, 1, 0, seed=5) if given else None
        how = arguments(tmp_path / "out", seed=5, **options)
        trainer = Trainer(model, how, train_dataset=data, train_sampler=sampler)
        trainer.train(resume_from_checkpoint=checkpoint)
        return [i for batch in model.seen for i in batch]

    whole = train(trained.Model())
    checkpoint = str(tmp_path / "out" / "checkpoint-4") if resumed else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", EpochWarning)
        found = train(Large(3), checkpoint, auto_find_batch_size=True, save_strategy="no")
    assert found == whole[32 if resumed else 0 :]
