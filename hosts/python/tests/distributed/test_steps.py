"""Trainings in global steps under loaders: with workers, persistent ones, states, and on any world size."""

from __future__ import annotations

import importlib
import itertools
import json
import pickle
import warnings
from collections import Counter
from typing import Any

import pytest
import samedeal
import torch
from samedeal import (
    ContradictionError,
    MovedError,
    OutOfRangeError,
    SamedealError,
    Schedule,
    WrongTypeError,
)
from samedeal.torch import BatchSampler, DistributedSampler, EpochWarning, Resumable, StepBatchSampler
from torch.utils.data import DataLoader, Dataset

SAMPLES, SIZE, STEPS = 101, 12, 25
COPIES = 3


class Endless(list[int]):
    """A list whose length is larger than any list can have."""

    def __len__(self) -> int:
        return 10**30


class Numbers(Dataset[int]):  # type: ignore[misc]
    """Sample i is the number i."""

    def __init__(self, count: int = SAMPLES) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        return index


def sampler_of(rank: int, world_size: int, steps: int | None = STEPS, size: Any = SIZE, **options: Any) -> Any:
    options = {"seed": 7, **options} if not isinstance(options.get("order"), samedeal.Order) else options
    return StepBatchSampler(Numbers(), size, steps=steps, rank=rank, world_size=world_size, **options)


def loader_of(rank: int, world_size: int, workers: int = 0, made: Any = DataLoader, **options: Any) -> Any:
    how = {"num_workers": workers, "persistent_workers": workers > 0}
    return made(Numbers(), batch_sampler=sampler_of(rank, world_size, **options), collate_fn=list, **how)


def take(batches: Any, count: int) -> list[list[int]]:
    return list(itertools.islice(batches, count))


def whole_of(rank: int, world_size: int, steps: int = STEPS) -> list[list[int]]:
    schedule = Schedule(SAMPLES, SIZE, seed=7, world_size=world_size, rank=rank)
    return [schedule.batch(step).tolist() for step in range(steps)]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_pass_is_the_training(workers: int) -> None:
    loader = loader_of(1, 3, workers)
    assert len(loader) == STEPS
    assert list(loader) == whole_of(1, 3)
    endless = loader_of(1, 3, workers, steps=None)
    assert take(endless, 40) == whole_of(1, 3, 40)
    with pytest.raises(TypeError, match="endless"):
        len(endless)
    assert (endless.batch_sampler.steps, loader.batch_sampler.steps) == (None, STEPS)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("steps", [STEPS, None])
def test_what_the_loop_got_is_what_a_state_counts(workers: int, steps: int | None) -> None:
    running = Resumable(loader_of(1, 4, workers, steps=steps))
    assert json.loads(running.state_dict()["samedeal"])["step"] == 0
    whole = whole_of(1, 4)
    batches = iter(running)
    for done in range(1, 8):
        assert next(batches) == whole[done - 1]
        state = running.state_dict()
        assert state == running.sampler.state_dict()
        assert json.loads(state["samedeal"])["step"] == done
        assert running.sampler.samples_consumed == done * SIZE
    assert json.loads(running.state_dict(batches=4)["samedeal"])["step"] == 4
    again = Resumable(loader_of(1, 4, workers, steps=steps))
    again.load_state_dict(pickle.loads(pickle.dumps(state)))
    assert again.sampler.step == 7
    if steps is None:
        with pytest.raises(TypeError, match="endless"):
            _ = again.epoch_length
    else:
        assert (again.epoch_length, len(again)) == (STEPS, STEPS - 7)
    # Frameworks set the epoch before each pass. This must not move a training in steps.
    again.set_epoch(again.epoch)
    assert take(again, STEPS - 7) == whole[7:]
    assert json.loads(again.state_dict()["samedeal"])["step"] == STEPS
    if steps is not None:
        assert len(again) == STEPS - 7


@pytest.mark.parametrize("world_sizes", [(4, 4, 4), (4, 3, 1), (1, 6, 2)])
def test_any_world_takes_what_is_left(world_sizes: tuple[int, ...]) -> None:
    seen: list[list[int]] = []
    state = None
    for number, world_size in enumerate(world_sizes):
        loaders = [Resumable(loader_of(rank, world_size, 2 if rank == 0 else 0)) for rank in range(world_size)]
        for loader in loaders:
            if state is not None:
                loader.load_state_dict(state)
        last = number + 1 == len(world_sizes)
        parts = [list(loader) if last else take(loader, 7) for loader in loaders]
        seen += [sorted(itertools.chain(*step)) for step in zip(*parts, strict=True)]
        (text,) = {loader.state_dict()["samedeal"] for loader in loaders}
        state = {"samedeal": text}
    # Each step has the samples that it would have without a resume, so each epoch has every sample once.
    assert seen == [sorted(step) for step in whole_of(0, 1)]
    drawn = Counter(itertools.chain(*seen))
    assert drawn.total() == STEPS * SIZE
    assert set(drawn.values()) <= {2, 3}


@pytest.mark.parametrize("world_size", range(1, 6))
@pytest.mark.parametrize("before", [1, 4])
def test_groups_are_in_one_batch_of_one_rank(world_size: int, before: int) -> None:
    order, size = samedeal.order("feistel", SAMPLES, seed=2).copies(COPIES), 60 * COPIES

    def made(rank: int, of: int) -> Resumable:
        return Resumable(loader_of(rank, of, 2 if rank == 0 else 0, order=order, size=size, unit=COPIES, steps=4))

    first = [made(rank, before) for rank in range(before)]
    parts = [take(loader, 2) for loader in first]
    (state,) = {loader.state_dict()["samedeal"] for loader in first}
    for rank in range(world_size):
        loader = made(rank, world_size)
        loader.load_state_dict({"samedeal": state})
        parts.append(list(loader))
    prompts: list[int] = []
    for batch in itertools.chain(*parts):
        groups = torch.tensor(batch).reshape(-1, COPIES)
        assert (groups == groups[:, :1]).all()
        prompts += groups[:, 0].tolist()
    # 240 groups are two epochs and a part of the third.
    counts = Counter(prompts)
    assert (counts.total(), len(counts)) == (240, SAMPLES)
    assert set(counts.values()) == {2, 3}


@pytest.mark.parametrize(("workers", "options"), [(0, {}), (2, {}), (2, {"snapshot_every_n_steps": 3})])
def test_under_the_loader_of_torchdata(workers: int, options: dict[str, Any]) -> None:
    made = importlib.import_module("torchdata.stateful_dataloader").StatefulDataLoader

    def loader_with_states() -> Any:
        sampler = sampler_of(1, 4)
        return made(Numbers(), batch_sampler=sampler, collate_fn=list, num_workers=workers, **options)

    whole = whole_of(1, 4)
    for done in (0, 1, 7, STEPS - 1):
        loader = loader_with_states()
        iterator = iter(loader)
        assert take(iterator, done) == whole[:done]
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        del iterator
        loader = loader_with_states()
        loader.load_state_dict(state)
        assert list(loader) == whole[done:]


def test_torchdata_on_another_world() -> None:
    made = importlib.import_module("torchdata.stateful_dataloader").StatefulDataLoader
    loaders = [loader_of(rank, 4, 2, made) for rank in range(4)]
    iterators = [iter(loader) for loader in loaders]
    parts = [take(iterator, 5) for iterator in iterators]
    states = [loader.state_dict() for loader in loaders]
    del iterators
    rest = []
    for rank in range(3):
        loader = loader_of(rank, 3, 2, made)
        loader.load_state_dict(states[0])
        rest.append(list(loader))
    steps = [*zip(*parts, strict=True), *zip(*rest, strict=True)]
    assert [sorted(itertools.chain(*step)) for step in steps] == [sorted(step) for step in whole_of(0, 1)]


def test_states_of_the_sampler_itself() -> None:
    sampler = sampler_of(0, 2)
    batches = iter(sampler)
    whole = whole_of(0, 2)
    assert take(batches, 3) == whole[:3]
    schedule = sampler.schedule
    assert sampler.state_dict() == {"samedeal": schedule.state(3)}
    assert sampler.state_dict(2) == {"samedeal": schedule.state(2)}
    with pytest.raises(OutOfRangeError, match="taken"):
        sampler.state_dict(STEPS + 1)
    sampler.load_state_dict(sampler.state_dict())
    assert (sampler.step, len(sampler)) == (3, STEPS - 3)
    assert sampler.state_dict(2) == {"samedeal": schedule.state(5)}
    assert list(sampler) == whole[3:]
    assert sampler.state_dict() == {"samedeal": schedule.state(STEPS)}
    with pytest.raises(OutOfRangeError, match="taken"):
        sampler.state_dict(STEPS - 2)
    sampler.load_state_dict({"samedeal": schedule.state(STEPS)})
    assert (len(sampler), list(sampler)) == (0, [])
    with pytest.raises(OutOfRangeError, match="step"):
        sampler.load_state_dict({"samedeal": schedule.state(STEPS + 1)})
    assert sampler.step == STEPS


def test_a_pass_begins_with_the_step_that_is_set() -> None:
    sampler = sampler_of(0, 2)
    whole = whole_of(0, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Reading the first steps once is allowed, for a look at the data.
        assert take(sampler, 1) == whole[:1]
        assert take(sampler, 5) == whole[:5]
        sampler.step = 5
        assert take(sampler, 4) == whole[5:9]
    with pytest.warns(EpochWarning, match="the steps from 5 on are given again"):
        assert take(sampler, 2) == whole[5:7]
    assert sampler.epoch == 0
    sampler.step = 20
    assert sampler.epoch == 2
    for step in (STEPS + 1, -1):
        with pytest.raises(OutOfRangeError, match="step"):
            sampler.step = step
    with pytest.raises(WrongTypeError, match="step"):
        sampler.step = 1.5
    assert sampler.step == 20
    twin = pickle.loads(pickle.dumps(sampler))
    assert list(twin) == whole[20:]


def test_a_pass_that_was_ended_does_not_go_on() -> None:
    loader = Resumable(loader_of(0, 2, 2))
    batches = iter(loader)
    take(batches, 2)
    loader.load_state_dict(loader.state_dict())
    with pytest.raises(MovedError, match="another one, which iter"):
        next(batches)
    assert take(loader, 1) == whole_of(0, 2)[2:3]


def test_batch_sizes_in_stages() -> None:
    sizes = [(0, 6), (4, 12)]
    loader = Resumable(loader_of(1, 3, size=iter(sizes), steps=6))
    assert [len(batch) for batch in loader] == [2] * 4 + [4] * 2
    state = loader.state_dict()
    other = sampler_of(0, 2, size=[*sizes, (6, 20)], steps=8)
    other.load_state_dict(state)
    assert [len(batch) for batch in other] == [10, 10]
    with pytest.raises(ContradictionError, match="stages"):
        sampler_of(0, 2, size=[(0, 6), (5, 12)]).load_state_dict(state)


def test_ranks_are_those_of_the_mesh_and_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    sampler = StepBatchSampler(Numbers(), SIZE, seed=7)
    assert (sampler.rank, sampler.world_size) == (3, 4)
    assert take(sampler, 3) == whole_of(3, 4, 3)
    mesh = samedeal.Mesh(4, {"dp": 2, "tp": 2}, shard=["dp"])
    shared = StepBatchSampler(Numbers(), SIZE, seed=7, mesh=mesh)
    assert (shared.rank, shared.world_size) == (1, 2)
    assert take(shared, 3) == whole_of(1, 2, 3)


@pytest.mark.parametrize(
    ("error", "field", "given"),
    [
        (ContradictionError, "global_batch_size", {"global_batch_size": 5, "world_size": 2}),
        (OutOfRangeError, "global_batch_size", {"global_batch_size": 0}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": "12"}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": None}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": {0: 4}}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": Endless([1, 2])}),
        (OutOfRangeError, "steps", {"steps": -1}),
        (OutOfRangeError, "steps", {"steps": 2**53}),
        (WrongTypeError, "steps", {"steps": 0.5}),
        (WrongTypeError, "dataset", {"dataset": iter([])}),
        (WrongTypeError, "order", {"order": 3}),
        (ContradictionError, "seed", {"order": samedeal.order("feistel", 10), "seed": 3}),
        (ContradictionError, "dataset", {"order": samedeal.order("feistel", 11)}),
        (OutOfRangeError, "rank", {"rank": 2, "world_size": 2}),
    ],
)
def test_what_cannot_be_meant(error: type[SamedealError], field: str, given: dict[str, Any]) -> None:
    options: dict[str, Any] = {"dataset": range(10), "global_batch_size": 4, "rank": 0, "world_size": 1, **given}
    with pytest.raises(SamedealError) as caught:
        StepBatchSampler(**options)
    assert (type(caught.value), caught.value.field) == (error, field)


def test_states_of_something_else_are_refused() -> None:
    sampler = sampler_of(0, 2)
    for value in (None, {}, {"samedeal": "{}"}, DistributedSampler(range(SAMPLES), 2, 0).state_dict()):
        with pytest.raises(WrongTypeError, match="state"):
            sampler.load_state_dict(value)
    with pytest.raises(ContradictionError, match="seed"):
        sampler.load_state_dict(sampler_of(0, 2, seed=8).state_dict())
    with pytest.raises(WrongTypeError, match="state"):
        BatchSampler([3] * SAMPLES, max_tokens=9, rank=0, world_size=1).load_state_dict(sampler.state_dict())


def test_loaders_that_cannot_be_meant() -> None:
    with pytest.raises(ContradictionError, match="dataset"):
        Resumable(DataLoader(Numbers(7), batch_sampler=sampler_of(0, 2)))
    with pytest.warns(samedeal.torch.BatchWarning, match="batch_sampler="):
        next(iter(DataLoader(Numbers(), batch_size=2, sampler=sampler_of(0, 2), collate_fn=list)), None)
    data = list(range(20))
    sampler = StepBatchSampler(data, 4, rank=0, world_size=1)
    data.append(20)
    with pytest.raises(ContradictionError, match="dataset"):
        next(iter(sampler))


def test_epochs_bound_the_steps() -> None:
    bounded = StepBatchSampler(range(1003), 64, epochs=1, rank=0, world_size=1)
    assert (bounded.steps, len(bounded)) == (15, 15)
    seen = [sample for batch in bounded for sample in batch]
    assert len(set(seen)) == len(seen) == 15 * 64
    with pytest.raises(OutOfRangeError, match="steps is 16; allowed: 0 to 15, as many as 1 epochs have"):
        StepBatchSampler(range(1003), 64, steps=16, epochs=1, rank=0, world_size=1)
    assert StepBatchSampler(range(1003), 64, steps=16, epochs=2, rank=0, world_size=1).steps == 16
    for epochs in (0, -1, 2**53):
        with pytest.raises(OutOfRangeError, match="epochs"):
            StepBatchSampler(range(1003), 64, epochs=epochs, rank=0, world_size=1)
    # A state can be resumed in a training with more epochs.
    next(iter(bounded))
    longer = StepBatchSampler(range(1003), 64, epochs=3, rank=0, world_size=1)
    longer.load_state_dict(bounded.state_dict(1))
    assert longer.step == 1


def test_samples_that_nobody_asked_for_again_are_told() -> None:
    with pytest.warns(EpochWarning, match="seen again from step 15 on.* pass epochs=2"):
        StepBatchSampler(range(1003), 64, steps=16, rank=0, world_size=1)
    with pytest.warns(EpochWarning, match="pass epochs=4"):
        StepBatchSampler(range(10), 4, steps=8, rank=0, world_size=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StepBatchSampler(range(1003), 64, steps=15, rank=0, world_size=1)
        StepBatchSampler(range(1000), 10, steps=100, rank=0, world_size=1)
        StepBatchSampler(range(1003), 64, steps=16, epochs=2, rank=0, world_size=1)
        StepBatchSampler(range(1003), 64, rank=0, world_size=1)
