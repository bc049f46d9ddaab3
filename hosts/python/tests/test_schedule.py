"""Trainings in global steps: the same samples at each step on any number of ranks."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from typing import Any

import numpy as np
import pytest
import samedeal
from hostile import NOT_WHOLE, fails
from samedeal import (
    ContradictionError,
    MissingError,
    Order,
    OutOfRangeError,
    SamedealError,
    Sampler,
    Schedule,
    UnknownNameError,
    WrongTypeError,
)

SAMPLES = 53
SIZES = [(0, 12), (5, 24), (9, 48)]


def a_blend() -> Order:
    return samedeal.blend({"web": (40, 3), "code": (13, 1)}, seed=4)


def draws(order: Any, count: int) -> list[int]:
    """The samples at the first positions of all epochs in a row, from samplers."""
    found: list[int] = []
    for epoch in itertools.count():
        if len(found) >= count:
            return found[:count]
        options = {"order": order} if isinstance(order, Order) else {"samples": order, "seed": 7}
        found += Sampler(**options, epoch=epoch).indices().tolist()
    raise AssertionError


def a_schedule(order: Any, **options: Any) -> Schedule:
    seed = None if isinstance(order, Order) else 7
    return Schedule(order, SIZES, seed=seed, **options)


@pytest.mark.parametrize("order", [SAMPLES, a_blend(), samedeal.order("feistel", 30, seed=7).copies(4)])
@pytest.mark.parametrize("world_size", [1, 2, 3, 4, 6])
def test_steps_go_on_over_epochs_and_do_not_depend_on_ranks(order: Any, world_size: int) -> None:
    ranks = [a_schedule(order, world_size=world_size, rank=rank, layout="strided") for rank in range(world_size)]
    first, expected, at = ranks[0], draws(order, 400), 0
    for step in range(14):
        size = 12 if step < 5 else 24 if step < 9 else 48
        assert (first.global_batch_size(step), first.samples_consumed(step)) == (size, at)
        parts = [schedule.batch(step).tolist() for schedule in ranks]
        dealt = [part[i] for i in range(size // world_size) for part in parts]
        assert dealt == expected[at : at + size]
        if step < 7:
            place = first.place_of(step)
            assert first.step_of(place.epoch, place.position) == step
            assert first.step_of_consumed(at) == first.step_of_consumed(at + size - 1) == step
        at += size


@pytest.mark.parametrize("world_size", range(1, 6))
def test_groups_are_on_one_rank_also_after_a_resume(world_size: int) -> None:
    order, copies = samedeal.order("feistel", 21, seed=2).copies(3), 3
    size = 2 * copies * 60
    ranks = [Schedule(order, size, world_size=world_size, rank=rank, unit=copies) for rank in range(world_size)]
    state = Schedule(order, size, world_size=1, unit=copies).state(4)
    step = ranks[0].resume(state)
    assert step == 4
    for number in (0, step):
        found = [schedule.batch(number).reshape(-1, copies) for schedule in ranks]
        assert all((groups == groups[:, :1]).all() for groups in found)
        prompts = sorted(np.concatenate(found)[:, 0].tolist())
        whole = Schedule(order, size, unit=copies).batch(number)
        assert prompts == sorted(whole[::copies].tolist())


def test_runs_of_steps_are_joined() -> None:
    schedule = a_schedule(SAMPLES, world_size=3, rank=2)
    whole = [schedule.batch(step).tolist() for step in range(30)]
    assert schedule.indices(0, 30).tolist() == list(itertools.chain(*whole))
    assert schedule.indices(4, 7).tolist() == list(itertools.chain(*whole[4:11]))
    assert schedule.indices(3, 0).tolist() == schedule.indices(schedule.num_steps, 0).tolist() == []
    assert [batch.tolist() for batch in schedule.batches(2, stop=12)] == whole[2:12]
    assert [batch.tolist() for batch in itertools.islice(schedule, 4)] == whole[:4]
    assert schedule.at_rank(0).rank == 0
    assert schedule.at_rank(0).at_rank(2).batch(8).tolist() == whole[8]
    large = Schedule(1000, 2**19)
    assert large.indices(0, 5).tolist() == draws_of(large, 5)


def draws_of(schedule: Schedule, steps: int) -> list[int]:
    return [sample for step in range(steps) for sample in schedule.batch(step).tolist()]


def test_a_sample_is_found() -> None:
    ranks = [a_schedule(SAMPLES, world_size=2, rank=rank) for rank in range(2)]
    for sample, step in itertools.product((0, 17, 52), (0, 3, 11)):
        place = ranks[0].locate(sample, step)
        assert place is not None
        assert place.step >= step
        assert ranks[place.rank].batch(place.step)[place.index_in_batch] == sample
        assert Sampler(SAMPLES, seed=7, epoch=place.epoch).sample_at(place.position) == sample
        assert ranks[0].step_of_consumed(place.samples_consumed) == place.step
        assert place == ranks[1].locate(sample, step)
        assert all(sample not in ranks[rank].indices(step, place.step - step) for rank in range(2))


@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 3), (6, 2)])
def test_a_run_resumes_on_other_ranks_with_the_same_samples(before: int, after: int) -> None:
    states = {a_schedule(SAMPLES, world_size=before, rank=rank).state(7) for rank in range(before)}
    (state,) = states
    resumed = [a_schedule(SAMPLES, world_size=after, rank=rank) for rank in range(after)]
    assert {schedule.resume(state) for schedule in resumed} == {7}
    assert {schedule.resume({"samedeal": state}) for schedule in resumed} == {7}
    dealt = sorted(sample for schedule in resumed for sample in schedule.batch(7))
    assert dealt == sorted(a_schedule(SAMPLES).batch(7))


def test_later_batch_sizes_may_change_and_earlier_ones_may_not() -> None:
    state = Schedule(SAMPLES, SIZES, seed=7).state(7)
    assert Schedule(SAMPLES, [*SIZES[:2], (7, 100)], seed=7).resume(state) == 7
    with fails(ContradictionError, "stages"):
        Schedule(SAMPLES, [(0, 12), (6, 24)], seed=7).resume(state)
    with fails(ContradictionError, "global_batch_size"):
        Schedule(SAMPLES, 24, seed=7).resume(state)
    with fails(ContradictionError, "seed"):
        Schedule(SAMPLES, SIZES, seed=8).resume(state)
    with fails(WrongTypeError, "state"):
        Schedule(SAMPLES, SIZES, seed=7).resume(Sampler(SAMPLES, seed=7).state(3))
    with fails(WrongTypeError, "state"):
        Schedule(SAMPLES, SIZES, seed=7).resume("{}")


def test_a_blend_that_got_a_stage_goes_on() -> None:
    state = Schedule(a_blend(), 8).state(5)
    assert Schedule(a_blend().stage(40, [1, 1]), 8, world_size=2).resume(state) == 5
    with fails(ContradictionError, "stages"):
        Schedule(a_blend().stage(39, [1, 1]), 8).resume(state)


def test_the_recipe_says_all() -> None:
    schedule = a_schedule(SAMPLES, world_size=2, rank=1, unit=3, layout="contiguous")
    sections = json.loads(schedule.recipe)
    assert sections["steps"]["stages"] == [{"from": 5, "global_batch_size": 24}, {"from": 9, "global_batch_size": 48}]
    assert (schedule.unit, schedule.layout, schedule.order, schedule.seed) == (3, "contiguous", "feistel", 7)
    assert (schedule.dataset_size, schedule.world_size, schedule.rank) == (SAMPLES, 2, 1)
    again = Schedule.from_recipe(schedule.recipe, rank=1)
    assert again.recipe_fingerprint() == schedule.recipe_fingerprint()
    for made in (again, pickle.loads(pickle.dumps(schedule)), copy.copy(schedule)):
        assert made.indices(0, 12).tolist() == schedule.indices(0, 12).tolist()
    twin = eval(repr(schedule), {"Schedule": Schedule, "Order": Order})
    assert twin.indices(0, 12).tolist() == schedule.indices(0, 12).tolist()
    assert twin.recipe == schedule.recipe


def test_lists_beside_the_recipe() -> None:
    order = samedeal.order("feistel", 1000, seed=1).subset(range(0, 1000, 2))
    schedule = Schedule(order, 10)
    again = Schedule.from_recipe(schedule.recipe, lists=order.lists)
    assert again.indices(0, 60).tolist() == schedule.indices(0, 60).tolist()
    assert sorted(schedule.indices(0, 50)) == list(range(0, 1000, 2))
    with fails(MissingError, "indices"):
        Schedule.from_recipe(schedule.recipe)


@pytest.mark.parametrize(
    ("error", "field", "given"),
    [
        (ContradictionError, "global_batch_size", {"global_batch_size": 5, "world_size": 2}),
        (ContradictionError, "global_batch_size", {"global_batch_size": 6, "world_size": 2, "unit": 2}),
        (OutOfRangeError, "global_batch_size", {"global_batch_size": 0}),
        (OutOfRangeError, "global_batch_size", {"global_batch_size": 2**32}),
        (MissingError, "global_batch_size", {"global_batch_size": []}),
        (MissingError, "global_batch_size", {"global_batch_size": [(1, 4)]}),
        (OutOfRangeError, "from", {"global_batch_size": [(0, 4), (0, 8)]}),
        (OutOfRangeError, "from", {"global_batch_size": [(0, 4), (5, 8), (5, 8)]}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": [4, 8]}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": [(0, 4, 5)]}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": {0: 4}}),
        (WrongTypeError, "global_batch_size", {"global_batch_size": "4"}),
        (OutOfRangeError, "rank", {"rank": 1}),
        (OutOfRangeError, "world_size", {"world_size": 0}),
        (OutOfRangeError, "unit", {"unit": 0}),
        (UnknownNameError, "layout", {"layout": "diagonal"}),
        (UnknownNameError, "name", {"order": "sideways"}),
        (OutOfRangeError, "samples", {"order_or_samples": 0}),
        (ContradictionError, "seed", {"order_or_samples": a_blend(), "seed": 3}),
        (ContradictionError, "order", {"order_or_samples": a_blend(), "order": "torch"}),
    ],
)
def test_what_is_no_schedule(error: type[SamedealError], field: str, given: dict[str, Any]) -> None:
    options: dict[str, Any] = {"order_or_samples": 10, "global_batch_size": 4, **given}
    with fails(error, field):
        Schedule(**options)


def test_numbers_are_whole() -> None:
    for value in NOT_WHOLE:
        check_numbers(value)


def check_numbers(value: Any) -> None:
    schedule = Schedule(10, 4)
    for field, ask in (
        ("samples", lambda: Schedule(value, 4)),
        ("step", lambda: schedule.batch(value)),
        ("step", lambda: schedule.state(value)),
        ("start", lambda: schedule.indices(value)),
        ("count", lambda: schedule.indices(0, value)),
        ("samples_consumed", lambda: schedule.step_of_consumed(value)),
        ("epoch", lambda: schedule.step_of(value)),
        ("sample", lambda: schedule.locate(value)),
        ("rank", lambda: schedule.at_rank(value)),
    ):
        with fails(WrongTypeError, field):
            ask()


def test_what_lies_beyond_the_end() -> None:
    schedule = Schedule(10, 4)
    end = schedule.num_steps
    assert end > 2**50
    for step in (end, -1, 2**64):
        with fails(OutOfRangeError, "step"):
            schedule.batch(step)
        with fails(OutOfRangeError, "step"):
            schedule.global_batch_size(step)
    for step in (end + 1, -1, 2**64):
        with fails(OutOfRangeError, "step"):
            schedule.state(step)
    assert schedule.resume(schedule.state(end)) == end
    with fails(OutOfRangeError, "count"):
        schedule.indices(end - 1, 2)
    with fails(OutOfRangeError, "count"):
        Schedule(10, 2**21).indices(0, 1)
    with fails(OutOfRangeError, "start"):
        schedule.batches(end + 1)
    with fails(OutOfRangeError, "stop"):
        schedule.batches(0, stop=end + 1)
    with fails(OutOfRangeError, "sample"):
        schedule.locate(10)
    with fails(OutOfRangeError, "position"):
        schedule.step_of(0, 10)
    with fails(OutOfRangeError, "rank"):
        schedule.at_rank(1)
    with fails(ContradictionError, "remainder"):
        Schedule.from_recipe(
            {"order": {"samples": 10}, "deal": {"remainder": "pad"}, "steps": {"global_batch_size": 4}}
        )


def test_more_samples_than_memory_are_refused_at_once() -> None:
    for count in (2**31, Schedule(2**20, 2**19).num_steps):
        with pytest.raises(samedeal.OutOfMemoryError) as caught:
            Schedule(2**20, 2**19).indices(0, count)
        assert (caught.value.field, caught.value.value) == ("count", str(count))


def test_epochs_bound_the_steps() -> None:
    assert Schedule(1003, 64, epochs=1).num_steps == 15
    assert Schedule(1003, 64, epochs=2).num_steps == 31
    blend = samedeal.blend({"a": (10, 1), "b": (20, 2)}, samples=30)
    assert Schedule(blend, 4, epochs=2).num_steps == 15
    with pytest.raises(OutOfRangeError, match="count"):
        Schedule(1003, 64, epochs=1).indices(0, 16)
    for epochs in (0, -1, 2**53):
        with pytest.raises(OutOfRangeError, match="epochs"):
            Schedule(1003, 64, epochs=epochs)
    assert Schedule(1003, 64, epochs=1).resume(Schedule(1003, 64).state(7)) == 7


def test_a_step_of_all_ranks_is_that_of_each() -> None:
    schedule = Schedule(10, [(0, 6), (3, 12)], seed=1, world_size=3)
    for number in (0, 2, 3, 9):
        ranks = [schedule.at_rank(rank).batch(number).tolist() for rank in range(3)]
        assert [own.tolist() for own in schedule.step(number)] == ranks
    with pytest.raises(OutOfRangeError, match="step is -1; allowed: 0 to "):
        schedule.step(-1)
