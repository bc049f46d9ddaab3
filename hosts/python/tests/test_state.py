"""States of samplers: taken anywhere, resumed on any world size."""

from __future__ import annotations

import copy
import itertools
import json
import os
import pickle
from typing import Any

import pytest
from hostile import fails
from samedeal import ContradictionError, OutOfRangeError, Sampler, WrongTypeError


@pytest.mark.parametrize("order", ["feistel", "torch", "sequential"])
@pytest.mark.parametrize("world_sizes", [(8, 6, 5, 1), (1, 3), (4, 4, 4)])
def test_no_sample_is_lost_or_seen_twice(order: str, world_sizes: tuple[int, ...]) -> None:
    whole = Sampler(1_003, seed=5, epoch=2, order=order).indices().tolist()
    seen: list[int] = []
    state = Sampler(1_003, seed=5, epoch=2, order=order).state(0)
    for number, world_size in enumerate(world_sizes):
        ranks = [
            Sampler(1_003, seed=5, order=order, rank=r, world_size=world_size, remainder="uneven")
            for r in range(world_size)
        ]
        for sampler in ranks:
            sampler.resume(state)
        taken = len(ranks[0]) if number + 1 == len(world_sizes) else len(ranks[0]) // 3
        steps = itertools.zip_longest(*(sampler[:taken].tolist() for sampler in ranks))
        seen += [sample for step in steps for sample in step if sample is not None]
        states = {sampler.state(taken) for sampler in ranks}
        (state,) = states
    assert seen == whole
    assert json.loads(state)["consumed"] == 1_003


def test_what_a_state_changes() -> None:
    sampler = Sampler(100, world_size=4, rank=1, epoch=6)
    state = sampler.state(5)
    other = Sampler(100, world_size=3, rank=2)
    running = iter(other)
    next(running)
    other.resume(state)
    with pytest.raises(RuntimeError, match="moved"):
        next(running)
    assert (other.epoch, other.consumed, other.world_size, other.rank, len(other)) == (6, 20, 3, 2, 27)
    for twin in (pickle.loads(pickle.dumps(other)), copy.copy(other), eval(repr(other))):
        assert twin.fingerprint() == other.fingerprint()
    assert other.sample_at(3) == sampler.sample_at(3)
    with fails(OutOfRangeError, "position"):
        other.place_of(3, 1)
    other.set_rank(0)
    other.set_epoch(6)
    assert other.consumed == 20
    other.set_epoch(7)
    assert (other.consumed, len(other)) == (0, 34)


def test_states_of_something_else_are_refused() -> None:
    sampler = Sampler(100, seed=3)
    state = sampler.state(5)
    for other, field in (
        (Sampler(101, seed=3), "samples"),
        (Sampler(100, seed=4), "seed"),
        (Sampler(100, seed=3, order="torch"), "name"),
        (Sampler.sharded([100], seed=3), "name"),
    ):
        with fails(ContradictionError, field):
            other.resume(state)
        assert other.consumed == 0
    with fails(ContradictionError, "shards"):
        Sampler.sharded([50, 50], seed=3).resume(Sampler.sharded([100], seed=3).state(5))
    for text in ("", "{}", state[:-1], state.replace("sampler", "batcher"), "\ud800", "[" * 10_000):
        with fails(WrongTypeError, "state"):
            sampler.resume(text)
    values: list[Any] = [None, 3, state.encode(), json.loads(state)]
    for value in values:
        with fails(WrongTypeError, "state"):
            sampler.resume(value)
    with fails(OutOfRangeError, "state"):
        sampler.resume(state + " " * 2**24)
    with fails(OutOfRangeError, "taken"):
        sampler.state(101)
    with fails(OutOfRangeError, "consumed"):
        Sampler(100, consumed=101)
    with fails(ContradictionError, "layout"):
        Sampler(100, world_size=2, layout="contiguous").state(3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_state_holds_on_both_sides_of_a_fork() -> None:
    sampler = Sampler(100, world_size=2)
    sampler.resume(sampler.state(9))
    wanted = sampler.fingerprint()
    child = os.fork()
    if child == 0:
        os._exit(0 if sampler.fingerprint() == wanted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
