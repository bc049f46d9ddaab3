"""States of samplers under loaders: plain and torchdata's, with workers that read ahead, on any world size."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import pickle
import signal
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import samedeal
import torch
from samedeal import Batcher, ContradictionError, MovedError, OutOfRangeError, SamedealError, Sampler, WrongTypeError
from samedeal.torch import (
    BatchSampler,
    DistributedSampler,
    EpochWarning,
    Resumable,
    ShardedDataset,
    StateWarning,
    StepBatchSampler,
)
from torch.utils.data import DataLoader, Dataset
from torchdata.stateful_dataloader import StatefulDataLoader

SAMPLES = 1_003
LENGTHS = np.random.default_rng(3).integers(1, 200, SAMPLES)
KINDS = ("samples", "budget", "pack")


class Numbers(Dataset[int]):  # type: ignore[misc]
    """Sample i is the number i."""

    def __init__(self, count: int = SAMPLES) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        return index


def sampler_of(kind: str, rank: int, world_size: int, **options: Any) -> Any:
    if kind == "samples":
        return DistributedSampler(Numbers(), world_size, rank, seed=7, **options)
    strategy: dict[str, Any] = {
        "budget": {"max_tokens": 4_000},
        "pack": {"strategy": "pack", "capacity": 512, "max_batch_size": 3},
    }
    return BatchSampler(LENGTHS, rank=rank, world_size=world_size, seed=7, tail="keep", **strategy[kind], **options)


def loader_of(kind: str, rank: int, world_size: int, workers: int = 0, made: Any = DataLoader, **options: Any) -> Any:
    sampler = sampler_of(kind, rank, world_size)
    how: dict[str, Any] = {"batch_size": 16, "sampler": sampler} if kind == "samples" else {"batch_sampler": sampler}
    return made(Numbers(), collate_fn=list, num_workers=workers, **how, **options)


def take(batches: Any, count: int) -> list[list[int]]:
    return list(itertools.islice(batches, count))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [0, 2])
def test_what_the_loop_got_is_what_a_state_counts(kind: str, workers: int) -> None:
    whole = {epoch: list(loader_of(kind, 1, 4)) for epoch in (0,)}[0]
    running = Resumable(loader_of(kind, 1, 4, workers))
    for epoch in (0, 1):
        running.set_epoch(epoch)
        got = take(running, 5)
        state = running.state_dict()
        assert state == running.sampler.state_dict()
        assert epoch or got == whole[:5]
        again = Resumable(loader_of(kind, 1, 4, workers))
        again.load_state_dict(pickle.loads(pickle.dumps(state)))
        again.set_epoch(again.epoch)
        fresh = loader_of(kind, 1, 4)
        getattr(fresh, "batch_sampler" if kind != "samples" else "sampler").set_epoch(epoch)
        rest = list(fresh)[5:]
        # Progress bars ask for the length before the pass and during it.
        assert len(again) == len(rest)
        steps: list[list[int]] = []
        for batch in again:
            assert len(again) == len(rest) or len(steps) + 1 == len(rest)
            steps.append(batch)
        assert (again.epoch, steps) == (epoch, rest)
        # After a resumed pass, the length is that of a whole epoch, whether or not set_epoch was called.
        assert len(again) == len(whole) if epoch == 0 else len(again) > len(rest)
        assert sorted(itertools.chain(*again)) == sorted(itertools.chain(*got, *rest))
        again.set_epoch(epoch + 1)
        fresh = loader_of(kind, 1, 4)
        getattr(fresh, "batch_sampler" if kind != "samples" else "sampler").set_epoch(epoch + 1)
        assert list(again) == list(fresh)


PASSED = (
    "dataset",
    "batch_size",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "prefetch_factor",
    "persistent_workers",
    "multiprocessing_context",
    "generator",
    "timeout",
    "worker_init_fn",
    "batch_sampler",
)
"""Attributes of a loader that a `Resumable` has."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", [DataLoader, StatefulDataLoader])
def test_attributes_of_the_loader_can_be_read(kind: str, made: Any) -> None:
    loader = loader_of(kind, 0, 2, workers=2, made=made, generator=torch.Generator(), prefetch_factor=3, timeout=60)
    running = Resumable(loader)
    for name in PASSED:
        assert getattr(running, name) is getattr(loader, name)
    assert (running.num_workers, running.batch_size) == (2, 16 if kind == "samples" else None)
    running.worker_init_fn = print
    assert loader.worker_init_fn is print
    for name in PASSED:
        if name != "worker_init_fn":
            with pytest.raises(AttributeError, match=name):
                setattr(running, name, None)


def test_the_batch_sampler_of_a_rest_is_not_given() -> None:
    """`skip_first_batches` of Accelerate would skip batches of the rest."""
    data = Numbers(40)
    steps = StepBatchSampler(data, [(0, 8)], rank=0, world_size=1, epochs=1)
    for loader in (loader_of("samples", 0, 2), loader_of("budget", 0, 2), DataLoader(data, batch_sampler=steps)):
        running = Resumable(loader)
        assert len(take(running, 2)) == 2
        state = running.state_dict()
        assert running.batch_sampler is loader.batch_sampler
        running.load_state_dict(state)
        assert not hasattr(running, "batch_sampler")
        rest = iter(running)
        next(rest)
        with pytest.raises(AttributeError, match="skip_first_batches"):
            _ = running.batch_sampler
        assert list(rest)
        assert running.batch_sampler is loader.batch_sampler


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_state_of_fewer_batches_than_the_loop_got(kind: str, workers: int) -> None:
    """A loop may save between two updates of the model. It may do so in a resumed pass, and after its end."""
    whole = list(loader_of(kind, 1, 4))
    loader = Resumable(loader_of(kind, 1, 4, workers))
    with pytest.raises(OutOfRangeError, match=r"batches is 1; allowed: 0 to 0, what the loop got"):
        loader.state_dict(batches=1)
    assert loader.state_dict(batches=0) == loader.state_dict()
    batches, states = iter(loader), [loader.state_dict()]
    for _ in range(3):
        next(batches)
        states.append(loader.state_dict())
    assert [loader.state_dict(batches=done) for done in range(4)] == states
    for wrong in (4, -1):
        with pytest.raises(OutOfRangeError):
            loader.state_dict(batches=wrong)
    again = Resumable(loader_of(kind, 1, 4, workers))
    again.load_state_dict(states[3])
    rest = list(again)
    assert rest == whole[3:]
    for done in range(len(rest) + 1):
        third = Resumable(loader_of(kind, 1, 4))
        third.load_state_dict(again.state_dict(batches=done))
        assert list(third) == rest[done:]


@pytest.mark.parametrize("kind", KINDS)
def test_the_length_of_an_epoch_is_that_of_the_whole(kind: str) -> None:
    """The length is the same before, during and after a resume, even on another world size, because schedules of
    learning rates depend on it."""
    loader = Resumable(loader_of(kind, 1, 4))
    take(loader, 4)
    state = loader.state_dict()
    for world_size in (4, 3):
        fresh, again = (Resumable(loader_of(kind, 1, world_size)) for _ in range(2))
        again.load_state_dict(state)
        assert len(again) < again.epoch_length == fresh.epoch_length == len(fresh)
        assert again.sampler.epoch_length == len(fresh.sampler)
        next(iter(again))
        assert again.epoch_length == fresh.epoch_length
        again.set_epoch(1)
        fresh.set_epoch(1)
        assert again.epoch_length == fresh.epoch_length == len(again)
    for drop_last in (False, True):
        loader = Resumable(DataLoader(Numbers(), 32, sampler=DistributedSampler(Numbers(), 4, 1), drop_last=drop_last))
        loader.load_state_dict(loader.sampler.state_dict(64))
        assert (len(loader) + 2, loader.epoch_length) == ((7, 7) if drop_last else (8, 8))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("world_sizes", [(4, 4, 4), (4, 3, 1), (1, 6, 2)])
def test_any_world_takes_what_is_left(kind: str, world_sizes: tuple[int, ...]) -> None:
    seen: Counter[int] = Counter()
    state = None
    for number, world_size in enumerate(world_sizes):
        loaders = [Resumable(loader_of(kind, rank, world_size, 2 if rank == 0 else 0)) for rank in range(world_size)]
        if state is not None:
            for loader in loaders:
                loader.load_state_dict(state)
        (length,) = {len(loader) for loader in loaders}
        count = length if number + 1 == len(world_sizes) else max(1, length // 3)
        padding = 0
        for loader in loaders:
            seen.update(itertools.chain(*take(loader, count)))
            if kind == "samples" and count == length:
                count_of: Any = loader.sampler._count
                padding += count_of.place.core.num_padding
        (text,) = {loader.state_dict()["samedeal"] for loader in loaders}
        state = {"samedeal": text}
    assert set(seen) == set(range(SAMPLES))
    # PyTorch's remainder repeats the first samples of the rest, and no others.
    assert seen.total() == SAMPLES + padding
    for loader in loaders:
        loader.load_state_dict(state)  # type: ignore[arg-type]
        assert (len(loader), list(loader)) == (0, [])
        assert len(loader) > 0


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("rows", [False, True])
def test_padding_of_the_batch_that_the_loop_got(tmp_path: Path, rows: bool, workers: int) -> None:
    """Padding of samples and of rows can be left out. Then each sample comes once, in an epoch and in the rest of
    one."""
    pq.write_table(pa.table({"id": range(100)}), tmp_path / "a.parquet")

    def loader_of(rank: int, world_size: int) -> Resumable:
        if rows:
            dataset = ShardedDataset(tmp_path, batch_size=4, lanes=4, rank=rank, world_size=world_size)
            return Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))
        sampler = DistributedSampler(range(100), world_size, rank)
        return Resumable(DataLoader(Numbers(100), 4, sampler=sampler, num_workers=workers, collate_fn=list))

    def own(loader: Resumable, steps: int | None) -> list[int]:
        found: list[int] = []
        assert loader.num_padding == 0
        for batch in itertools.islice(loader, steps):
            values = batch.column("id").to_pylist() if rows else batch
            found += values[: len(values) - loader.num_padding]
        return found

    loaders = [loader_of(rank, 7) for rank in range(7)]
    assert sorted(sample for loader in loaders for sample in own(loader, None)) == list(range(100))
    assert 1 in {loader.num_padding for loader in loaders}
    loaders = [loader_of(rank, 7) for rank in range(7)]
    seen = [sample for loader in loaders for sample in own(loader, 2)]
    for rank in range(3):
        loader = loader_of(rank, 3)
        loader.load_state_dict(loaders[0].state_dict())
        seen += own(loader, None)
    assert sorted(seen) == list(range(100))


@pytest.mark.parametrize("drop_last", [False, True])
def test_questions_are_of_the_next_pass(drop_last: bool) -> None:
    """The next pass may be the rest of an epoch, even on another world size."""
    before = DistributedSampler(Numbers(), 4, 0, seed=7, drop_last=drop_last)
    before.set_epoch(2)
    take(before, 100)
    for state in (None, before.state_dict(100)):
        ranks = [DistributedSampler(Numbers(), 7, rank, seed=7, drop_last=drop_last) for rank in range(7)]
        for rank in ranks:
            if state is None:
                rank.set_epoch(2)
            else:
                rank.load_state_dict(state)
        copy = ranks[0].as_sampler()
        given: list[list[int]] = []
        dealt: set[int] = set()
        for number, sampler in enumerate(ranks):
            copy.set_rank(number)
            assert sampler.fingerprint() == copy.fingerprint()
            padding, dropped = sampler.num_padding, sampler.num_dropped
            given.append(list(sampler))
            assert given[-1] == list(copy)
            own = given[-1][: len(given[-1]) - padding]
            assert dealt.isdisjoint(own)
            dealt.update(own)
        left = SAMPLES - (400 if state else 0)
        assert dropped == left % 7 * drop_last
        assert len(dealt) == left - dropped
        ranks[0].load_state_dict(before.state_dict(0 if state is None else 100))
        for sample in range(0, SAMPLES, 50):
            place = ranks[0].locate(sample, 16)
            if place is None:
                assert sample not in itertools.chain(*given)
            else:
                assert given[place.rank][place.index_in_rank] == sample
                assert divmod(place.index_in_rank, 16) == (place.batch, place.index_in_batch)
    copy.set_epoch(9)
    assert ranks[0].epoch == 2


def test_a_subclass_that_deals_another_number_answers_no_questions() -> None:
    sampler = DistributedSampler(Numbers(), 4, 0)
    sampler.num_samples = 5
    for ask in (lambda: sampler.num_padding, lambda: sampler.num_dropped, sampler.fingerprint, sampler.as_sampler):
        with pytest.raises(ContradictionError, match="num_samples is 5; allowed: 251"):
            ask()


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_those_of_the_package(kind: str) -> None:
    sampler = sampler_of(kind, 0, 4)
    assert sampler.state_dict()["samedeal"].count('"epoch":0') == 1
    batches = iter(sampler)
    for _ in range(7):
        next(batches)
        core: Sampler | Batcher = sampler._core
        expected = sampler._pass.taken
        assert sampler.state_dict()["samedeal"] == core.state(expected)
        assert batches.state_dict() == {"samedeal": core.state(expected)}
        assert sampler.state_dict(expected) == sampler.state_dict()
    assert sampler.state_dict(3)["samedeal"] == core.state(3)
    with pytest.raises(OutOfRangeError, match="taken" if kind == "samples" else "steps"):
        sampler.state_dict(10**6)
    sampler.set_epoch(1)
    assert sampler.state_dict() == {"samedeal": core.state(0)}
    if kind == "samples":
        assert '"epoch":0' in batches.state_dict()["samedeal"]


def test_a_state_says_who_took_it() -> None:
    loader = Resumable(loader_of("samples", 1, 4))
    assert loader.state_dict().keys() == {"samedeal"}
    take(loader, 3)
    state = loader.state_dict()
    consumed = json.loads(state["samedeal"])["consumed"]
    size = consumed // 4 // 3
    assert state["taken_by"] == {"world_size": 4, "from": 0, "batch_size": size}
    # The member `taken_by` only informs people, so a wrong value in it is no error.
    other = Resumable(loader_of("samples", 0, 2))
    other.load_state_dict({**state, "taken_by": {"world_size": "many"}})
    other.load_state_dict(state)
    # No rank has read a batch since the state was loaded, so the state is still the same.
    assert other.state_dict() == state
    take(other, 1)
    assert other.state_dict()["taken_by"] == {"world_size": 2, "from": consumed, "batch_size": size}
    other.set_epoch(5)
    assert other.state_dict().keys() == {"samedeal"}
    # Ranks that continue on the same world size keep `from`, even if one of them was started again.
    again = Resumable(loader_of("samples", 1, 4))
    again.load_state_dict(state)
    take(again, 1)
    take(loader, 4)
    assert again.state_dict() == loader.state_dict()
    assert again.state_dict()["taken_by"] == state["taken_by"]


@pytest.mark.parametrize("kind", KINDS)
def test_breaking_off_and_beginning_again(kind: str) -> None:
    whole = list(loader_of(kind, 0, 2))
    loader = Resumable(loader_of(kind, 0, 2))
    assert take(loader, 3) == whole[:3]
    assert list(loader) == whole
    take(loader, 4)
    state = loader.state_dict()
    take(loader, 1)
    loader.load_state_dict(state)
    # A loop may look at the first batches, and then begin its pass again.
    assert take(loader, 2) == whole[4:6]
    loader.set_epoch(0)
    assert list(loader) == whole[4:]
    loader.set_epoch(0)
    assert list(loader) == whole
    loader.set_epoch(2)
    loader.load_state_dict(state)
    assert loader.epoch == 0
    assert list(loader) == whole[4:]
    loader.load_state_dict(state)
    loader.set_epoch(1)
    assert len(loader) == len(list(loader)) > len(whole) - 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_pass_that_was_ended_does_not_go_on(kind: str, workers: int) -> None:
    loader = Resumable(loader_of(kind, 0, 2, workers))
    state = loader.state_dict()
    for move in (partial(loader.set_epoch, 1), partial(loader.load_state_dict, state)):
        batches = iter(loader)
        take(batches, 2)
        move()
        moved = loader.state_dict()
        with pytest.raises(MovedError, match="another one, which iter"):
            next(batches)
        assert loader.state_dict() == moved
    assert issubclass(MovedError, RuntimeError)
    # A loop that has all batches may set the next epoch before it ends.
    for number, _ in enumerate(loader, 1):
        if number == len(loader):
            loader.set_epoch(1)
    assert loader.epoch == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [0, 2])
def test_passes_of_others_do_not_count(kind: str, workers: int) -> None:
    loader = Resumable(loader_of(kind, 0, 2, workers))
    whole = list(loader_of(kind, 0, 2))
    start = loader.state_dict()
    sampler = loader.sampler
    list(sampler)
    assert loader.state_dict() == start
    batches = iter(loader)
    got = take(batches, 2)
    state = loader.state_dict()
    for count in (None, 1):
        took = list(itertools.islice(sampler, count))
        assert took
        assert loader.state_dict() == state
    got += take(batches, 1)
    # The sampler still counts the batches of the loop, and not those of the passes that others made.
    state = loader.state_dict()
    assert sampler.state_dict() == state
    assert got + list(batches) == whole


@pytest.mark.parametrize("kind", KINDS)
def test_the_package_takes_what_loaders_gave(kind: str) -> None:
    loader = Resumable(loader_of(kind, 1, 4))
    take(loader, 3)
    state = loader.state_dict()
    cores: list[Sampler | Batcher] = [sampler_of(kind, 1, 4)._core for _ in range(2)]
    for core, given in zip(cores, (state, state["samedeal"]), strict=True):
        core.resume(given)
    assert cores[0].state(0) == cores[1].state(0) == state["samedeal"]
    for value in ({}, {"samedeal": 1}, {"samedeal": "{}"}):
        with pytest.raises(WrongTypeError) as caught:
            cores[0].resume(value)
        assert caught.value.field == "state"


@pytest.mark.parametrize("drop_last", [False, True])
def test_ranks_of_uneven_length(drop_last: bool) -> None:
    """For an evaluation: each sample comes once, none is dropped or repeated."""
    data = Numbers(22)

    def made(rank: int, world_size: int = 4) -> Resumable:
        sampler = DistributedSampler(data, world_size, rank, seed=2, remainder="uneven")
        assert sampler.total_size == 22
        assert (sampler.num_padding, sampler.num_dropped) == (0, 0)
        return Resumable(DataLoader(data, 2, sampler=sampler, collate_fn=list, drop_last=drop_last))

    loaders = [made(rank) for rank in range(4)]
    given = [list(loader) for loader in loaders]
    assert [len(loader.sampler) for loader in loaders] == [6, 6, 5, 5]
    if not drop_last:
        assert sorted(i for own in given for batch in own for i in batch) == list(range(22))
    # After all loops have ended, even a rank with fewer samples has the state of the end.
    assert len({loader.state_dict()["samedeal"] for loader in loaders}) == 1
    # In the middle of its loop, even a rank without further samples knows that other ranks have some.
    for steps in range(4 - drop_last):
        partly = [made(rank) for rank in range(4)]
        assert [len(take(loader, steps)) for loader in partly] == [steps] * 4
        (state,) = {loader.state_dict()["samedeal"] for loader in partly}
        assert json.loads(state)["consumed"] == min(steps * 8, 22)
    assert len(list(loaders[0].sampler)) == 6
    assert loaders[3].sampler.state_dict()["samedeal"] == loaders[0].sampler.state_dict()["samedeal"]
    rest = []
    for rank in range(3):
        loader = made(rank, 3)
        loader.load_state_dict({"samedeal": Sampler(22, seed=2, order=loader.sampler.order, world_size=4).state(2)})
        rest += list(loader.sampler)
    assert len(rest) == len({*rest}) == 14
    with pytest.raises(ContradictionError, match='remainder is uneven; allowed: "drop"'):
        DistributedSampler(data, 4, 0, drop_last=True, remainder="uneven")
    assert list(DistributedSampler(data, 4, 3, remainder="drop")) == list(
        DistributedSampler(data, 4, 3, drop_last=True)
    )
    with pytest.raises(SamedealError, match="known: pad, drop, uneven"):
        DistributedSampler(data, 4, 0, remainder="even")


def test_rank_0_need_not_have_most_samples() -> None:
    """With units and the layout `rotated`, which an order with copies has, rank 0 can have the short last unit."""
    order = samedeal.order("feistel", 5, seed=3).copies(2)
    states = []
    for rank in range(3):
        sampler = DistributedSampler(Numbers(5), num_replicas=3, rank=rank, order=order, unit=4, remainder="uneven")
        loader = Resumable(DataLoader(Numbers(5), 4, sampler=sampler, collate_fn=list))
        batches = list(loader)
        assert [len(batch) for batch in batches] == [[2], [4], [4]][rank]
        states.append(loader.state_dict()["samedeal"])
    assert json.loads(states[0])["consumed"] == 10
    assert len({*states}) == 1


@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_that_are_dropped(drop_last: bool) -> None:
    def made() -> Resumable:
        sampler = DistributedSampler(Numbers(), 4, 1)
        return Resumable(DataLoader(Numbers(), 32, sampler=sampler, drop_last=drop_last, collate_fn=list))

    whole = list(made())
    assert len(whole) == (7 if drop_last else 8)
    for done in range(len(whole) + 1):
        first, second = made(), made()
        take(first, done)
        second.load_state_dict(first.state_dict())
        assert len(second) == len(whole) - done
        assert list(second) == whole[done:]
        assert len(second) == len(whole)


def test_samples_one_by_one() -> None:
    loader = Resumable(DataLoader(Numbers(), batch_size=None, sampler=DistributedSampler(Numbers(), 4, 1)))
    take(loader, 9)
    assert loader.state_dict()["samedeal"].count('"consumed":36') == 1


def test_a_group_that_comes_after_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        whole = sampler_of(kind, 0, 4)
        next(iter(whole))
        sampler = sampler_of(kind, 0, 1)
        sampler.load_state_dict(whole.state_dict())
        sampler._place = sampler._place._replace(rank=1, world_size=3)
        twin = sampler_of(kind, 1, 3)
        twin.load_state_dict(whole.state_dict())
        assert len(sampler) == len(twin)
        assert list(sampler) == list(twin)


def test_a_dataset_that_grew_does_not_resume() -> None:
    data = list(range(20))
    sampler = DistributedSampler(data, 2, 0)
    sampler.load_state_dict({"samedeal": Sampler(20, order=sampler.order, world_size=2).state(3)})
    data.append(20)
    with pytest.raises(ContradictionError, match="changed its length") as caught:
        len(sampler)
    assert (caught.value.field, caught.value.value) == ("samples", "21")
    data.pop()
    assert len(sampler) == 7
    data.append(20)
    # The next epoch has the samples that the dataset has then.
    sampler.set_epoch(1)
    assert len(sampler) == 11


def test_a_start_counts() -> None:
    whole = list(sampler_of("budget", 0, 2))
    for count in (0, 2):
        sampler = sampler_of("budget", 0, 2, start=3)
        rest = sampler_of("budget", 0, 2)
        if count:
            take(sampler, count)
        for state in (sampler.state_dict(), sampler.state_dict(count)):
            rest.load_state_dict(state)
            assert list(rest) == whole[3 + count :]
        loader = Resumable(DataLoader(Numbers(), batch_sampler=sampler, collate_fn=list, num_workers=2))
        take(loader, 1)
        rest.load_state_dict(loader.state_dict())
        assert list(rest) == whole[4:]


def test_a_signal_handler_may_ask() -> None:
    sampler = DistributedSampler(range(200_000), 2, 0, order="feistel")
    asked: list[int] = []

    def ask() -> None:
        asked.append(json.loads(sampler.state_dict()["samedeal"])["consumed"])

    def interrupt(*_: Any) -> None:
        ask()
        # The next signal is set after this one was handled: on a slow machine, handlers would otherwise nest without
        # end.
        signal.setitimer(signal.ITIMER_REAL, 0.0005)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    try:
        for _ in range(5):
            for number, _ in enumerate(sampler):
                if number % 50_000 == 0:
                    ask()
                    assert asked[-1] == 2 * (number + 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(asked) > 10


@pytest.mark.parametrize("kind", KINDS)
def test_states_of_something_else_are_refused(kind: str) -> None:
    sampler = sampler_of(kind, 0, 2)
    state = sampler.state_dict()
    other = "budget" if kind == "samples" else "samples"
    for value in (None, "{}", {}, {"samedeal": 3}, {"samedeal": "{}"}, sampler_of(other, 0, 2).state_dict()):
        with pytest.raises(WrongTypeError) as caught:
            sampler.load_state_dict(value)
        assert caught.value.field == "state"
    twin = sampler_of(kind, 0, 2, order="sequential")
    with pytest.raises(ContradictionError) as refused:
        twin.load_state_dict(state)
    assert refused.value.field == "name"
    assert list(twin) == list(sampler_of(kind, 0, 2, order="sequential"))


def test_loaders_that_cannot_be_counted() -> None:
    data, mine = Numbers(), DistributedSampler(Numbers(), 2, 0)

    class Sharded(torch.utils.data.BatchSampler):  # type: ignore[misc]
        """A batch sampler that would shard the samples a second time."""

    loaders: list[tuple[type[SamedealError], Any]] = [
        (WrongTypeError, DataLoader(data)),
        (WrongTypeError, DataLoader(data, sampler=torch.utils.data.DistributedSampler(data, 2, 0))),
        (WrongTypeError, DataLoader(data, batch_sampler=Sampler(10).batches(2))),
        (WrongTypeError, DataLoader(data, batch_sampler=Sharded(mine, 4, False))),
        (WrongTypeError, [1, 2, 3]),
        (ContradictionError, DataLoader(data, sampler=mine, num_workers=2, in_order=False)),
        (ContradictionError, DataLoader(Numbers(60), 4, sampler=mine)),
        (ContradictionError, DataLoader(Numbers(60), batch_sampler=sampler_of("budget", 0, 2))),
    ]
    for error, loader in loaders:
        with pytest.raises(SamedealError) as caught:
            Resumable(loader)
        assert type(caught.value) is error


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("workers", "options"), [(0, {}), (2, {}), (2, {"snapshot_every_n_steps": 3})])
def test_under_the_loader_of_torchdata(kind: str, workers: int, options: dict[str, Any]) -> None:
    made = importlib.import_module("torchdata.stateful_dataloader").StatefulDataLoader

    def sampler_in(loader: Any) -> Any:
        return loader.sampler if kind == "samples" else loader.batch_sampler

    whole = []
    for epoch in (0, 1, 2):
        loader = loader_of(kind, 1, 4)
        sampler_in(loader).set_epoch(epoch)
        whole.append(list(loader))
    for done, ends in ((0, False), (1, False), (7, False), (-1, False), (None, True), (None, False)):
        loader = loader_of(kind, 1, 4, workers, made, **options)
        iterator = iter(loader)
        done = len(whole[0][:done])
        assert take(iterator, done) == whole[0][:done]
        if ends:
            assert list(iterator) == []
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        del iterator
        loader = loader_of(kind, 1, 4, workers, made, **options)
        loader.load_state_dict(state)
        if done == len(whole[0]):
            # After a complete epoch, the epoch that is set comes next. It can be resumed, too.
            sampler_in(loader).set_epoch(1)
            if options and not ends:
                # This state is older than the last batch: only torchdata knows that the loop got all batches.
                with pytest.warns(EpochWarning, match="epoch 1 was set, and then a state of epoch 0 was loaded"):
                    assert list(loader) == []
                sampler_in(loader).set_epoch(1)
            iterator = iter(loader)
            assert take(iterator, 4) == whole[1][:4]
            state = loader.state_dict()
            assert list(iterator) == whole[1][4:]
            loader = loader_of(kind, 1, 4, workers, made, **options)
            loader.load_state_dict(state)
            sampler_in(loader).set_epoch(1)
            assert list(loader) == whole[1][4:]
        else:
            sampler_in(loader).set_epoch(0)
            assert list(loader) == whole[0][done:]
            sampler_in(loader).set_epoch(1)
            assert list(loader) == whole[1]
        sampler_in(loader).set_epoch(2)
        assert list(loader) == whole[2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [0, 2])
def test_torchdata_on_another_world(kind: str, workers: int) -> None:
    made = importlib.import_module("torchdata.stateful_dataloader").StatefulDataLoader
    seen: list[int] = []
    states = []
    for rank in range(4):
        loader = loader_of(kind, rank, 4, workers, made)
        iterator = iter(loader)
        seen += itertools.chain(*take(iterator, 4))
        states.append(loader.state_dict())
        del iterator
    last = None
    for rank in range(3):
        loader = loader_of(kind, rank, 3, workers, made)
        loader.load_state_dict(states[0])
        own = list(itertools.chain(*loader))
        seen += own
        last = loader
    padding = 0
    if kind == "samples":
        assert last is not None
        padding = -(SAMPLES - 4 * 4 * 16) % 3
    assert len(seen) == SAMPLES + padding
    assert set(seen) == set(range(SAMPLES))


def parts_of(state: Any) -> list[Any]:
    """The dictionary of torchdata, and all dictionaries in it that have a state."""
    if not isinstance(state, dict):
        return []
    inner = [part for value in state.values() for part in parts_of(value)]
    return [state, *inner] if inner or "samedeal" in state else []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_dictionary_of_torchdata_has_the_state_in_it(kind: str, workers: int) -> None:
    made = importlib.import_module("torchdata.stateful_dataloader").StatefulDataLoader
    loader = loader_of(kind, 1, 4, workers, made)
    iterator = iter(loader)
    take(iterator, 5)
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    following = list(itertools.chain(*iterator))
    parts = parts_of(state)
    assert len(parts) >= (5 if workers else 3)
    for part in parts:
        sampler = sampler_of(kind, 1, 4)
        sampler.load_state_dict(part)
        again = list(sampler)
        assert (again if kind == "samples" else list(itertools.chain(*again))) == following


def test_dictionaries_of_torchdata_that_do_not_fit_say_what_to_pass() -> None:
    torchdata = importlib.import_module("torchdata.stateful_dataloader")
    theirs = importlib.import_module("torchdata.stateful_dataloader.sampler").StatefulDistributedSampler
    sampler = sampler_of("samples", 1, 4)
    for workers in (0, 2):
        loader = torchdata.StatefulDataLoader(Numbers(), 8, sampler=theirs(Numbers(), 4, 1), num_workers=workers)
        iterator = iter(loader)
        take(iterator, 2)
        state = loader.state_dict()
        del iterator
        main = state["_snapshot"]["_main_snapshot"] if workers else state
        for part in (state, main, main["_sampler_iter_state"], main["_sampler_iter_state"]["sampler_state"]):
            with pytest.raises(WrongTypeError, match=r"StatefulDataLoader; allowed: .*samedeal\.Sampler\(.*state\("):
                sampler.load_state_dict(part)
    # The loop got 7 batches, but the state in the dictionary is that after 6 batches.
    loader = loader_of("samples", 1, 4, 2, torchdata.StatefulDataLoader, snapshot_every_n_steps=3)
    iterator = iter(loader)
    take(iterator, 7)
    with pytest.raises(ContradictionError, match=r"1 batches old; allowed: .*snapshot_every_n_steps=1"):
        sampler.load_state_dict(loader.state_dict())
    assert len(sampler) == len(sampler_of("samples", 1, 4))


def test_a_rest_that_nobody_reads_is_told_of() -> None:
    def resumed() -> Resumable:
        sampler = DistributedSampler(range(40), 2, 0, seed=3)
        sampler.set_epoch(2)
        loader = Resumable(DataLoader(range(40), 4, sampler=sampler))
        state = sampler.state_dict(8)
        loader.set_epoch(0)
        loader.load_state_dict(state)
        return loader

    with pytest.warns(EpochWarning, match="left of epoch 2 is forgotten"):
        resumed().set_epoch(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # After a state of the last batch, nothing is left.
        for kind in KINDS:
            ended, again = Resumable(loader_of(kind, 0, 2)), Resumable(loader_of(kind, 0, 2))
            take(ended, len(ended))
            again.load_state_dict(ended.state_dict())
            again.set_epoch(1)
            assert len(list(again)) == again.epoch_length
        loader = resumed()
        assert loader.epoch == 2
        for epoch in range(loader.epoch, 4):
            loader.set_epoch(epoch)
            assert len([*loader]) == (3 if epoch == 2 else 5)
        loader = resumed()
        next(iter(loader))
        loader.set_epoch(3)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("made", [DataLoader, StatefulDataLoader])
def test_a_state_that_counts_what_workers_have_fetched(made: Any, batched: bool, workers: int) -> None:
    """The state of a plain loader with workers is ahead of the loop until the loop has all batches. The state of
    torchdata's loader counts the batches of the loop."""
    data = range(400)
    sampler: Any = DistributedSampler(data, 1, 0)
    how: dict[str, Any] = {"batch_size": 20, "sampler": sampler}
    if batched:
        sampler = BatchSampler([1] * 400, max_tokens=20, rank=0, world_size=1)
        how = {"batch_sampler": sampler}
    batches = iter(made(data, num_workers=workers, **how))
    is_wrong = workers > 0 and made is DataLoader
    for _ in range(5):
        next(batches)
    with pytest.warns(StateWarning, match="Resumable") if is_wrong else contextlib.nullcontext():
        sampler.state_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("error", StateWarning)
        sampler.state_dict(5 if batched else 100)
        assert len([*batches]) == 15
        sampler.state_dict()
