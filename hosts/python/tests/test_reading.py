"""`Reading`: the samples of every loader worker of every rank, beyond the golden cases."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from typing import Any

import numpy as np
import pytest
from samedeal import (
    ContradictionError,
    MissingError,
    OutOfRangeError,
    Reading,
    SamedealError,
    Steps,
    UnknownNameError,
    WrongTypeError,
)

SIZES = [40, 0, 100, 7]
GROUP: dict[str, Any] = {"world_size": 2, "workers": 3, "batch_size": 4}


def all_of(reading: Reading, world_size: int, workers: int) -> list[int]:
    readers = [(rank, worker) for rank in range(world_size) for worker in range(workers)]
    return [i for rank, worker in readers for i in reading.indices(rank, worker).tolist()]


@pytest.mark.parametrize(
    "options", [{"remainder": "uneven"}, {"deal": "shards"}, {"shuffle": False, "remainder": "uneven"}]
)
def test_every_sample_once_over_a_chain_of_groups(options: dict[str, Any]) -> None:
    state: str | None = None
    seen: list[int] = []
    for world_size, workers, size, steps in ((2, 3, 4, 5), (3, 2, 3, 4), (1, 2, 5, 3), (4, 1, 2, 0)):
        reading = Reading(SIZES, seed=5, world_size=world_size, workers=workers, batch_size=size, **options)
        reading = reading.at_epoch(2) if state is None else reading.resume(state)
        assert reading.epoch == 2
        assert reading.is_rest == (state is not None)
        queues = [[reading.indices(rank, worker) for worker in range(workers)] for rank in range(world_size)]
        left = all_of(reading, world_size, workers)
        assert sorted(seen + left) == list(range(sum(SIZES)))
        for own in queues:
            batches = [[part[at : at + size] for at in range(0, len(part), size)] for part in own]
            turns = [parts[turn] for turn in range(max(map(len, batches))) for parts in batches if turn < len(parts)]
            # A rank with fewer steps has taken all of its steps.
            seen += [i for batch in turns[:steps] for i in batch.tolist()]
        state = reading.state(steps)
    assert Reading(SIZES, seed=5, **options).resume(state).num_samples(0) == sum(SIZES) - len(seen)


def test_rounds_hold_what_they_promise() -> None:
    bases = np.cumsum([0, *SIZES])
    for options in (
        {"lanes": 6, "shuffle_window": 4},
        {"shuffle": False},
        {"deal": "shards"},
        {"deal": "shards", "shuffle": False},
    ):
        whole = Reading(SIZES, **GROUP, **options)
        for reading in (whole, Reading(SIZES, world_size=2, workers=2, batch_size=3, **options).resume(whole.state(4))):
            samples = reading.indices(1, 1)
            at = 0
            for start, count, spans in reading.rounds(1, 1):
                assert start == at
                rows = {
                    int(bases[shard]) + row
                    for _, shard, first, n in zip(*spans, strict=True)
                    for row in range(first, first + n)
                }
                assert set(samples[start : start + count].tolist()) <= rows
                at += count
            assert at == len(samples) == reading.num_samples(1, 1)
            half = list(reading.rounds(1, 1, at // 2)) if at else []
            assert not at or half[0].start <= at // 2 < half[0].start + half[0].count
            assert list(reading.rounds(1, 1, at)) == []


def test_it_never_changes_and_travels() -> None:
    reading = Reading(SIZES, seed=1, **GROUP)
    moved = reading.at_epoch(7)
    assert (reading.epoch, moved.epoch) == (0, 7)
    rest = reading.resume(moved.state(2))
    assert (rest.epoch, rest.is_rest, reading.is_rest) == (7, True, False)
    for twin in (pickle.loads(pickle.dumps(rest)), copy.copy(rest), copy.deepcopy(rest)):
        assert np.array_equal(twin.indices(1, 2), rest.indices(1, 2))
    options = "order='sharded', seed=1, world_size=2, workers=3, batch_size=4, epoch=7"
    assert repr(moved) == f"<Reading of 4 shards, {options}>"
    assert repr(rest) == f"<Reading of 4 shards, {options}, the rest>"
    assert isinstance(rest.steps, Steps)
    assert (
        rest.recipe
        == reading.recipe
        == (
            '{"samedeal":1,"order":{"name":"sharded","samples":147,"seed":1,"lanes":64,"shuffle_window":256,"shards":4,'
            '"sizes":[40,0,100,7]},"deal":{"world_size":2,"workers":3,"remainder":"pad"},'
            '"batch":{"batch_size":4,"drop_last":false}}'
        )
    )
    assert rest.recipe_fingerprint() == hashlib.sha256(rest.recipe.encode()).hexdigest()
    assert rest.sizes.tolist() == SIZES
    assert (rest.seed, rest.world_size, rest.workers, rest.batch_size) == (1, 2, 3, 4)
    assert reading.resume({"samedeal": moved.state(2)}).state(0) == rest.state(0)


@pytest.mark.parametrize("options", [{}, {"shuffle": False}, {"deal": "shards"}, {"deal": "shards", "shuffle": False}])
def test_a_reading_is_made_again_by_its_recipe(options: dict[str, Any]) -> None:
    for sizes in (SIZES, np.arange(300)):
        reading = Reading(sizes, **GROUP, **options).at_epoch(3)
        for recipe in (reading.recipe, json.loads(reading.recipe)):
            again = Reading.from_recipe(recipe, lists={"sizes": sizes}, epoch=3)
            assert (again.recipe, again.epoch) == (reading.recipe, 3)
            assert all_of(again, 2, 3) == all_of(reading, 2, 3)
        with pytest.raises(ContradictionError, match="sizes"):
            Reading.from_recipe(reading.recipe, lists={"sizes": [*sizes[:-1], 3]})
    with pytest.raises(MissingError, match="sizes is missing"):
        Reading.from_recipe(reading.recipe)


def test_batches_are_taken_in_turn() -> None:
    reading = Reading([40, 100], world_size=2, workers=3, batch_size=16, remainder="uneven", seed=5)
    for rank in range(2):
        taken = [reading.batch_at(rank, step) for step in range(reading.num_steps(rank))]
        assert [batch.step for batch in taken] == list(range(len(taken)))
        for worker in range(3):
            own = [reading.batch(rank, worker, number) for number in range(reading.num_batches(rank, worker))]
            assert own == [batch for batch in taken if batch.worker == worker]
            assert sum(batch.count for batch in own) == reading.num_samples(rank, worker)
    with pytest.raises(OutOfRangeError) as caught:
        reading.batch_at(0, reading.num_steps(0))
    assert caught.value.field == "step"


def test_rows_of_rounds() -> None:
    bases = np.concatenate(([0], np.cumsum(SIZES)))
    padded = 0
    for options in ({"lanes": 6, "shuffle_window": 5}, {"deal": "shards"}):
        reading = Reading(SIZES, **GROUP, **options)
        for rank, worker in ((0, 0), (1, 2)):
            everything = [reading.round(rank, worker, number) for number in range(reading.num_rounds(rank, worker))]
            given = list(reading.rounds(rank, worker))
            assert [found.start for found in everything if found.count] == [found.start for found in given]
            for start, count, spans in given:
                number = reading.round_of(rank, worker, start)
                assert [column.tolist() for column in everything[number].spans] == [column.tolist() for column in spans]
                rows, padding = reading.round_rows(rank, worker, number)
                stored = np.concatenate(
                    [bases[shard] + np.arange(row, row + many) for _, shard, row, many in zip(*spans, strict=True)]
                )
                assert stored[rows].tolist() == reading.indices(rank, worker, start, start + count).tolist()
                assert reading.round_rows(rank, worker, number, 1, count).rows.tolist() == rows[1:].tolist()
                padded += padding
        with pytest.raises(OutOfRangeError, match="stop"):
            reading.round_rows(0, 0, 0, 0, 10**6)
    assert padded == Reading(SIZES, **GROUP, lanes=6, shuffle_window=5).num_padding(1, 2) > 0


def test_advice_about_lanes() -> None:
    reading = Reading(SIZES, world_size=3)
    assert (reading.reads_per_row, reading.lanes_read_once, reading.mixing_advice) == (3, 63, None)
    found = Reading([1_003], world_size=8, batch_size=32).mixing_advice
    assert found is not None
    assert found._asdict() == {"lanes_per_reader": 8, "variance_ratio": 4, "lanes": 128, "shuffle_window": 128}
    for none in (Reading(SIZES, shuffle=False), Reading(SIZES, deal="shards"), reading.resume(reading.state(1))):
        assert (none.lanes_read_once, none.mixing_advice) == (None, None)
    reading = Reading([400_000], batch_size=256)
    suggested = reading.suggested_lanes(group_rows=2_000, readers=8)
    assert suggested is not None
    assert suggested._asdict() == {"lanes": 96, "shuffle_window": 256, "variance_ratio": 21}
    divides = reading.suggested_lanes(2_000, 8, multiples=[720, 1_200, 400_000])
    assert divides is not None
    assert divides._asdict() == {"lanes": 80, "shuffle_window": 256, "variance_ratio": 26}
    assert reading.suggested_lanes(2_000, 8, multiples=np.array([721])) == suggested
    with pytest.raises(OutOfRangeError, match="multiples"):
        reading.suggested_lanes(2_000, 8, multiples=[8, -1])
    assert [reading.suggested_lanes(*wrong) for wrong in ((0, 8), (2_000, 0), (2_000, 2**16 + 1))] == [None] * 3


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (WrongTypeError, "seed", {"seed": "1"}),
        (WrongTypeError, "shuffle", {"shuffle": 1}),
        (WrongTypeError, "deal", {"deal": 3}),
        (UnknownNameError, "deal", {"deal": "rows"}),
        (UnknownNameError, "remainder", {"remainder": "x" * 10**6}),
        (OutOfRangeError, "seed", {"seed": 2**63}),
        (OutOfRangeError, "lanes", {"lanes": 2**32}),
        (OutOfRangeError, "lanes", {"lanes": 0}),
        (OutOfRangeError, "shuffle_window", {"shuffle_window": -1}),
        (OutOfRangeError, "world_size", {"world_size": -1}),
        (OutOfRangeError, "world_size", {"world_size": 2**22 + 1}),
        (OutOfRangeError, "batch_size", {"batch_size": 0}),
        (ContradictionError, "lanes", {"deal": "shards", "lanes": 4}),
        (ContradictionError, "policy", {"policy": "size-aware"}),
        (MissingError, "bytes", {"deal": "shards", "balance_by": "bytes"}),
        (ContradictionError, "bytes", {"deal": "shards", "bytes": [1, 2, 3, 4]}),
        (ContradictionError, "bytes", {"deal": "shards", "balance_by": "bytes", "bytes": [1]}),
    ],
)
def test_options_that_are_not_allowed(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with pytest.raises(error) as caught:
        Reading(SIZES, **options)
    assert caught.value.field == field


def test_questions_that_are_not_allowed() -> None:
    reading = Reading(SIZES, **GROUP)
    for ask, field in (
        (lambda: reading.num_samples(2), "rank"),
        (lambda: reading.num_samples(0, 3), "worker"),
        (lambda: reading.indices(0, 0, 99), "start"),
        (lambda: reading.indices(0, 0, 2, 1), "stop"),
        (lambda: list(reading.rounds(0, 0, 99)), "start"),
        (lambda: reading.state(10**6), "steps"),
        (lambda: reading.num_steps(-1), "rank"),
        (lambda: reading.num_rounds(0, 3), "worker"),
        (lambda: reading.round(0, 0, reading.num_rounds(0)), "number"),
        (lambda: reading.round(2, 0, 0), "rank"),
        (lambda: reading.at_epoch(2**64), "epoch"),
    ):
        with pytest.raises(OutOfRangeError) as caught:
            ask()
        assert caught.value.field == field
    with pytest.raises(ContradictionError, match=r"^shards is"):
        reading.shards(0)
    with pytest.raises(WrongTypeError, match=r"^state is"):
        reading.resume(3)


def test_a_step_of_all_ranks_is_that_of_each() -> None:
    reading = Reading([40, 10], deal="shards", world_size=3, workers=2, batch_size=8)
    most = reading.steps.max
    for number in range(most):
        ranks = range(reading.world_size)
        own = [reading.batch_at(rank, number) if number < reading.num_steps(rank) else None for rank in ranks]
        assert reading.step(number) == own
    with pytest.raises(OutOfRangeError, match=f"step is {most}; allowed: 0 to {most - 1}"):
        reading.step(most)
