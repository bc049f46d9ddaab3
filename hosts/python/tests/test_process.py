"""Pickles, copies, forks, other processes and threads: the deal is the same everywhere."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import samedeal
from limits import HANG
from samedeal import ChunkStream, Mesh, Sampler, ShardPlan
from samedeal.deal.binding import Deal

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def make(order: str = "torch") -> Sampler:
    sampler = Sampler(
        1000, seed=9, order=order, world_size=3, remainder="uneven", layout="contiguous", memory_limit=2**24
    )
    sampler.set_epoch(4)
    sampler.set_rank(2)
    return sampler


CLONES = [copy.copy, copy.deepcopy, *(lambda s, p=p: pickle.loads(pickle.dumps(s, p)) for p in range(6))]


@pytest.mark.parametrize("clone", CLONES)
def test_clones_are_equal_and_independent(clone: Callable[[Sampler], Sampler]) -> None:
    sampler = make()
    before = sampler.fingerprint()
    other = clone(sampler)
    assert repr(other) == repr(sampler)
    assert other.fingerprint() == before
    other.set_epoch(5)
    assert other.fingerprint() != before
    assert sampler.fingerprint() == before
    assert sampler.epoch == 4
    large = copy.copy(Sampler(10**7, order="torch", memory_limit=2**24))
    with pytest.raises(samedeal.OutOfMemoryError):
        large[0]


def test_pickles_are_small() -> None:
    sampler = Sampler(10**6, order="torch")
    sampler[0]
    assert len(pickle.dumps(sampler)) < 500


def test_subclasses_keep_their_attributes() -> None:
    other = pickle.loads(pickle.dumps(Named(10, "train")))
    assert type(other) is Named
    assert other.name == "train"
    assert list(other) == list(Sampler(10))


class Named(Sampler):
    def __init__(self, samples: int, name: str) -> None:
        super().__init__(samples)
        self.name = name


def read(sampler: Sampler) -> tuple[str, list[int]]:
    return sampler.fingerprint(), sampler.indices().tolist()


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_other_processes_get_the_same(method: str) -> None:
    samplers = [make(order) for order in samedeal.plain_orders()]
    wanted = [read(sampler) for sampler in samplers]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(read, samplers) == wanted
    assert [read(sampler) for sampler in samplers] == wanted


def deal_of(sampler: Sampler) -> Deal:
    def found(deal: Deal) -> Deal:
        return deal

    return sampler._engine.use(found)


def in_child(check: Callable[[], bool]) -> None:
    """Runs a check in a forked child, which must end within a minute."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            threading.Timer(60, os._exit, [2]).start()
            code = 0 if check() else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@forks
def test_a_fork_makes_an_engine_of_its_own() -> None:
    sampler = make()
    wanted = read(sampler)
    iterator = iter(sampler)
    first = next(iterator)
    inherited = deal_of(sampler)

    def check() -> bool:
        fresh = deal_of(sampler) is not inherited
        same = read(sampler) == wanted and [first, *iterator] == wanted[1]
        sampler.set_epoch(5)
        return fresh and same and read(sampler) != wanted and read(copy.copy(make())) == wanted

    in_child(check)
    assert deal_of(sampler) is inherited
    assert read(sampler) == wanted


@forks
def test_a_fork_while_other_threads_work() -> None:
    sampler = Sampler(10**6, order="fisher-yates")
    wanted = sampler.batch(3, 32).tolist()
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            sampler.indices()
            Sampler(100)[0]

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            in_child(lambda: sampler.batch(3, 32).tolist() == wanted)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@forks
@pytest.mark.parametrize("first", ["", "s[0]; "])
def test_children_that_end_like_programs(first: str) -> None:
    # The parent forks before or after it has compiled the component. Unlike a child of multiprocessing, this child
    # frees all objects.
    code = f"import os, samedeal; s = samedeal.Sampler(10) if {bool(first)} else None; {first}pid = os.fork();" + (
        "t = samedeal.Sampler(10); assert sorted(t) == list(range(10)); s = None;"
        "assert pid == 0 or os.waitpid(pid, 0)[1] == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG)


def test_threads_share_a_sampler() -> None:
    sampler = Sampler(300_000, seed=2, order="torch")
    wanted = sampler.indices()

    def work(number: int) -> bool:
        random = np.random.default_rng(number)
        for _ in range(150):
            i = int(random.integers(sampler.num_batches(100)))
            if not np.array_equal(sampler.batch(i, 100), wanted[100 * i : 100 * i + 100]):
                return False
            place = sampler.locate(wanted[i], 1)
            if place is None or place.position != i:
                return False
        return np.array_equal(sampler.indices(), wanted)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_threads_begin_at_once() -> None:
    # The threads meet in a new process, before the component is compiled.
    code = (
        "import samedeal; from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    assert len(set(pool.map(lambda _: samedeal.Sampler(1000).fingerprint(), range(32)))) == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG)
    unpickled = pickle.loads(pickle.dumps(make()))
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: id(deal_of(unpickled)), range(32)))) == 1


Thing = Sampler | ShardPlan | ChunkStream | Mesh


def things() -> list[Thing]:
    """An object of each other kind, moved to another epoch or rank if it has one."""
    sampler = Sampler.sharded([13, 0, 70], lanes=4, shuffle_window=8, seed=3, world_size=2, memory_limit=2**24)
    plan = ShardPlan(range(100), world_size=3, workers=2, seed=4, memory_limit=2**24)
    near = ShardPlan([5, 6], policy="locality-aware", holders=[[1], [2]], rank_nodes=[1, 2], world_size=2, bytes=[7, 8])
    sampler.set_rank(1)
    for moved in (sampler, plan, near):
        moved.set_epoch(5)
    return [sampler, plan, near, ChunkStream(1, 3, chunks=50, order="torch"), Mesh(6, {"dp": 3, "tp": 2}, ["dp"])]


def answer(thing: Thing) -> Any:
    """The answers of an object, for comparison with a copy."""
    if isinstance(thing, Sampler):
        return (
            repr(thing),
            read(thing),
            [[list(column) for column in thing.round(number).spans] for number in range(thing.num_rounds)],
        )
    if isinstance(thing, ShardPlan):
        readers = itertools.product(range(thing.world_size), range(thing.workers))
        shards = [thing.shards(*reader).tolist() for reader in readers]
        loads = thing.loads("workers")
        return repr(thing), shards, thing.rows(1).tolist(), thing.verify().ok, [*map(list, vars(loads).values())]
    if isinstance(thing, ChunkStream):
        return repr(thing), thing.chunks(0, 100).tolist()
    return repr(thing), [(thing.coordinates(rank), thing.data_rank(rank), thing.peers(rank)) for rank in range(6)]


@pytest.mark.parametrize("clone", CLONES)
def test_clones_of_every_kind(clone: Callable[[Thing], Thing]) -> None:
    for thing in things():
        before = answer(thing)
        other = clone(thing)
        assert type(other) is type(thing)
        assert answer(other) == before
        if isinstance(other, (Sampler, ShardPlan)):
            other.set_epoch(6)
            assert answer(other) != before
        assert answer(thing) == before


def test_clones_of_what_is_large_share_it() -> None:
    sampler = Sampler.sharded(np.ones(10**6, dtype=np.int64))
    plan = ShardPlan(np.ones(10**6, dtype=np.int64))
    for one in (sampler, plan):
        recipes = (each._engine.fixed[0] for each in (one, copy.copy(one)))
        assert np.shares_memory(*(recipe.lists[0][1] for recipe in recipes))
    assert len(pickle.dumps(sampler)) < 8.01 * 10**6


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_other_processes_get_the_same_of_every_kind(method: str) -> None:
    made = things()
    wanted = [answer(thing) for thing in made]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(answer, made) == wanted
    assert [answer(thing) for thing in made] == wanted


@forks
def test_a_fork_makes_engines_of_every_kind() -> None:
    made = things()
    wanted = [answer(thing) for thing in made]
    stream = iter(ChunkStream(0, 1))
    next(stream)

    def check() -> bool:
        same = [answer(thing) for thing in made] == wanted == [answer(thing) for thing in things()]
        for thing in made[:3]:
            thing.set_epoch(9)  # type: ignore[union-attr]
        return same and next(stream) == 1 and answer(made[1]) != wanted[1]

    in_child(check)
    assert [answer(thing) for thing in made] == wanted


@forks
def test_a_fork_while_other_threads_plan() -> None:
    plan = ShardPlan(range(1000), world_size=7, shuffle=True)
    wanted = plan.shards(3).tolist()
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            assert plan.shards(3).tolist() == wanted
            assert ShardPlan(range(50), world_size=5).verify().ok

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            in_child(lambda: plan.shards(3).tolist() == wanted and plan.verify().ok)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@forks
def test_a_child_compiles_what_the_parent_has_not() -> None:
    # The parent has used nothing, a sampler, a plan, or a sampler and a stream before it forks.
    for first in (
        "",
        "samedeal.Sampler(10)[0]",
        "samedeal.ShardPlan([1])",
        "samedeal.Sampler(10); samedeal.ChunkStream(0, 1)",
    ):
        code = f"import os, samedeal; {first}\npid = os.fork()\n" + (
            "assert samedeal.ShardPlan(range(9), world_size=3).verify().ok and len(samedeal.Sampler(10)[:]) == 10\n"
            "assert pid == 0 or os.waitpid(pid, 0)[1] == 0"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG)


def test_threads_share_every_kind() -> None:
    made = things()
    wanted = [answer(thing) for thing in made]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answer, made * 20)) == wanted * 20


def test_threads_plan_at_once() -> None:
    code = (
        "import samedeal; from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    assert all(pool.map(lambda n: samedeal.ShardPlan(range(n), world_size=3).verify().ok, range(32)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG)


def test_epochs_of_plans_do_not_mix() -> None:
    plan = ShardPlan([1000] * 500, world_size=5, shuffle=True)
    models = []
    for epoch in range(2):
        plan.set_epoch(epoch)
        models.append((plan.shards(2).tolist(), plan.rows(0).tolist()))
    stop = threading.Event()

    def move() -> None:
        for epoch in itertools.cycle((0, 1)):
            if stop.is_set():
                return
            plan.set_epoch(epoch)

    thread = threading.Thread(target=move)
    thread.start()
    try:
        for _ in range(200):
            assert plan.shards(2).tolist() in [shards for shards, _ in models]
            assert plan.rows(0).tolist() in [rows for _, rows in models]
            assert plan.verify().ok
    finally:
        stop.set()
        thread.join()
