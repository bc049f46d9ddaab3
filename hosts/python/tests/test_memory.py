"""Memory limits, and the state of objects after a limit was met."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import samedeal
from limits import HANG, stores
from samedeal import (
    ChunkStream,
    ContradictionError,
    Mesh,
    OutOfMemoryError,
    OutOfRangeError,
    Sampler,
    ShardPlan,
    verify_shards,
)
from samedeal.deal.binding import Deal
from samedeal.engine import component as components
from samedeal.shard.binding import Plan


@pytest.mark.parametrize("order", ["fisher-yates", "torch", "torch-2.5", "python", "dotnet"])
def test_a_table_beyond_the_limit(order: str) -> None:
    sampler = Sampler(10**7, order=order, world_size=3, memory_limit=2**24)
    for _ in range(20):
        for call in (lambda: sampler[0], sampler.indices, sampler.fingerprint, lambda: sampler.locate(0, 1)):
            with pytest.raises(OutOfMemoryError) as caught:
                call()
            assert (caught.value.kind, caught.value.field, caught.value.value) == (
                "out-of-memory",
                "samples",
                "10000000",
            )
        sampler.set_epoch(sampler.epoch + 1)
    assert sampler.place_of(10**7, 32).rank == 1
    assert sampler.num_samples == 3_333_334
    assert sampler.epoch == 20


def test_a_window_beyond_the_limit() -> None:
    sampler = Sampler(2**20, memory_limit=2**21)
    wanted = Sampler(2**20).indices()
    for _ in range(20):
        with pytest.raises(OutOfMemoryError, match="no memory for batch_size = 1048576"):
            sampler.batch(0, 2**20)
        assert sampler.batch(5, 32).tolist() == wanted[160:192].tolist()
    assert (sampler.indices() == wanted).all()


def test_a_state_beyond_the_limit() -> None:
    zeros = ",".join(["0"] * 500_000)
    order = f'{{"name":"feistel","samples":10,"seed":0,"sizes":[{zeros}]}}'
    state = f'{{"samedeal":1,"kind":"sampler","recipe":{{"order":{order}}},"epoch":0,"consumed":0}}'
    # The list in the text takes four times as much memory as the text while it is read.
    for limit, error in ((2**22, OutOfMemoryError), (2**25, ContradictionError)):
        sampler = Sampler(10, memory_limit=limit)
        for _ in range(3):
            with pytest.raises(error):
                sampler._engine.use(lambda deal: deal.resume(state))
            assert sorted(sampler) == list(range(10))


def test_samplers_do_not_starve_each_other() -> None:
    limit = 2**23
    large = [Sampler(10**6, order="torch", memory_limit=limit) for _ in range(20)]
    assert len({sampler.fingerprint() for sampler in large}) == 1


def test_the_least_memory() -> None:
    least = components.process.compiled().least_memory
    with pytest.raises(OutOfRangeError, match=f"memory_limit is {least - 1}; allowed: {least} or more bytes"):
        Sampler(10, memory_limit=least - 1)
    for order in samedeal.plain_orders():
        sampler = Sampler(10, order=order, memory_limit=least)
        for _ in range(1000):
            sampler.set_epoch(sampler.epoch + 1)
            assert sorted(sampler) == list(range(10))
            with pytest.raises(OutOfRangeError):
                sampler.sample_at(10)


def test_samplers_give_their_memory_back() -> None:
    before = stores()
    for _ in range(50):
        assert Sampler(10**5, order="torch")[0] >= 0
    assert stores() <= before


@pytest.mark.skipif(sys.platform != "linux", reason="limits address space as Linux does")
def test_no_address_space() -> None:
    code = """
import resource, samedeal
samplers = [samedeal.Sampler(10)]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, resource.RLIM_INFINITY))
try:
    samedeal.Sampler(10)
except samedeal.OutOfMemoryError as error:
    print(error.kind, error.field)
assert sorted(samplers[0]) == list(range(10))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG, capture_output=True, text=True)
    assert done.stdout.split() == ["out-of-memory", "recipe"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits address space as Linux does")
def test_many_objects_fit_into_a_limited_address_space() -> None:
    """By default, each object would reserve 4 GiB of addresses, and only one would fit."""
    code = """
import itertools, resource
resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, 8 * 10**9))
import samedeal
samplers = [samedeal.Sampler(1000 + number, order="torch") for number in range(200)]
assert all(sorted(sampler) == list(range(len(sampler))) for sampler in samplers)
batches = [*samedeal.Batcher(list(range(1, 2000)) * 100, strategy="budget", max_tokens=10**5)]
assert sorted(sample for batch in batches for sample in batch.samples) == list(range(199_900))
# A table that is larger than what is reserved at first.
assert len({*samedeal.Sampler(3 * 10**6, order="torch")}) == 3 * 10**6
try:
    for number in itertools.count():
        samplers.append(samedeal.Sampler(1000 + number))
except samedeal.OutOfMemoryError as error:
    print(error)
assert len(samplers) > 400
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG, capture_output=True, text=True)
    assert (
        "fewer objects at a time: no address space (`ulimit -v`) is left, of which each reserves 8 MiB" in done.stdout
    )


def test_a_trap_ends_one_call_alone() -> None:
    sampler, other = Sampler(10), Sampler(10)

    def trap(deal: Deal) -> int:
        deal.handle = 0xFFFFFFF0
        return deal.sample_at(0)

    for _ in range(2):
        with pytest.raises(RuntimeError, match="defect of samedeal"):
            sampler._engine.use(trap)
        # After the error, the instance is in an unknown state, so there must be a new one.
        assert list(sampler) == list(other) == list(Sampler(10))


def least() -> int:
    return components.process.compiled().least_memory


def test_the_least_memory_of_plans_and_streams() -> None:
    limit = least()
    for make in (
        lambda limit: ShardPlan([1, 2], memory_limit=limit),
        lambda limit: ChunkStream(0, 1, memory_limit=limit),
    ):
        with pytest.raises(OutOfRangeError, match=f"memory_limit is {limit - 1}; allowed: {limit} or more bytes"):
            make(limit - 1)
    plan = ShardPlan(range(100), world_size=3, shuffle=True, memory_limit=limit)
    stream = ChunkStream(0, 2, chunks=10, order="fisher-yates", memory_limit=limit)
    for epoch in range(1000):
        plan.set_epoch(epoch)
        assert plan.verify().ok
        with pytest.raises(OutOfRangeError):
            plan.shards(3)
        assert len(stream.chunks(epoch, 5)) == 5
        with pytest.raises(OutOfRangeError):
            stream.chunks(2**53, 1)


# The limits go from one without room for a second list to one without room for the answer.
LIMITS = [2**17 + 2**k for k in range(16, 21)]


@pytest.mark.parametrize("more", LIMITS)
@pytest.mark.parametrize("policy", ["round-robin", "size-aware", "locality-aware"])
def test_lists_that_do_not_fit_are_refused(more: int, policy: str) -> None:
    limit = least() + more
    refused = fitted = 0
    for count in (2**k + extra for k in range(8, 18) for extra in (0, 2**k // 3)):
        sizes = np.arange(count) + 1
        options: dict[str, Any] = (
            {"holders": [[0]] * count, "rank_nodes": [0, 1, 0]} if policy == "locality-aware" else {}
        )
        try:
            plan = ShardPlan(
                sizes, bytes=sizes, world_size=3, policy=policy, shuffle=True, memory_limit=limit, **options
            )
        except OutOfMemoryError:
            refused += 1
            continue
        fitted += 1
        for epoch in range(3):
            # A new epoch needs memory for the old plan and the new one.
            before = plan.epoch, plan.shards(1).tolist()
            try:
                plan.set_epoch(epoch)
            except OutOfMemoryError:
                assert (plan.epoch, plan.shards(1).tolist()) == before
            assert plan.verify().ok
    assert refused
    assert fitted


@pytest.mark.parametrize("more", LIMITS)
def test_shards_that_do_not_fit_are_refused(more: int) -> None:
    limit = least() + more
    refused = fitted = 0
    for count in (2**k + extra for k in range(8, 18) for extra in (0, 2**k // 3)):
        try:
            sampler = Sampler.sharded([3] * count, lanes=8, memory_limit=limit)
        except OutOfMemoryError:
            refused += 1
            continue
        # The sampler exists. Only the first index shows whether its order fits into the memory.
        assert len(sampler) == 3 * count
        for _ in range(3):
            try:
                assert 0 <= sampler[0] < 3 * count
                assert sampler.round(0).start == 0
                fitted += 1
            except OutOfMemoryError:
                refused += 1
            assert sampler.shard_of(3 * count - 1) == (count - 1, 2)
            sampler.set_epoch(sampler.epoch + 1)
    assert refused
    assert fitted


def test_a_failed_list_is_told_by_its_name() -> None:
    limit = least() + 2**21
    few, many = np.ones(10, dtype=np.int64), np.ones(10**6, dtype=np.int64)
    with pytest.raises(OutOfMemoryError, match="no memory for sizes = 1000000; allowed: what fits into memory"):
        ShardPlan(many, memory_limit=limit)
    with pytest.raises(OutOfMemoryError, match="no memory for bytes = 1000000;"):
        ShardPlan(few, bytes=many, memory_limit=limit)
    with pytest.raises(OutOfMemoryError, match="no memory for holders = 1000009;"):
        ShardPlan(few, holders=[many, *[[1]] * 9], rank_nodes=[1], memory_limit=limit)
    with pytest.raises(OutOfMemoryError, match="no memory for sizes = 1000000;"):
        Sampler.sharded(many, memory_limit=least() + 2**21)


def test_windows_of_rows_beyond_the_limit() -> None:
    limit = least() + 2**18
    plan = ShardPlan([10**6, 5], memory_limit=limit)
    rows = ShardPlan([10**6, 5]).rows(0, 999_990).tolist()
    for _ in range(20):
        with pytest.raises(OutOfMemoryError, match="no memory for count = 65536"):
            plan.rows(0)
        assert plan.rows(0, 999_990).tolist() == rows
        assert plan.verify().ok
    with pytest.raises(OutOfMemoryError):
        ShardPlan([2**53 - 1]).rows(0)


def test_tables_of_streams_beyond_the_limit() -> None:
    stream = ChunkStream(0, 2, chunks=10**7, order="torch", memory_limit=2**22)
    for _ in range(5):
        with pytest.raises(OutOfMemoryError):
            stream.chunks(0, 5)
        assert stream.chunks(0, 0).tolist() == []


def test_every_kind_gives_its_memory_back() -> None:
    before = stores()
    for _ in range(50):
        assert ShardPlan(np.ones(10**5, dtype=np.int64)).verify().ok
        assert ChunkStream(0, 2, chunks=10**5, order="torch").chunks(0, 1)[0] >= 0
        assert Mesh(2, {"tp": 2}, []).peers(0) == [0, 1]
        assert verify_shards(2, [[0, 1]]).ok
        assert samedeal.detect_rank(environment={}).world_size == 1
        with pytest.raises(OutOfRangeError):
            ShardPlan([2**53])
    assert stores() <= before


@pytest.mark.skipif(sys.platform != "linux", reason="limits address space as Linux does")
def test_no_address_space_for_plans() -> None:
    code = """
import resource, numpy, samedeal
plan = samedeal.ShardPlan(range(10), world_size=2, policy="round-robin", shuffle=False)
mesh = samedeal.Mesh(1, {}, [])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, resource.RLIM_INFINITY))
for make in (
    lambda: samedeal.ShardPlan([1]),
    lambda: samedeal.ChunkStream(0, 1),
    lambda: samedeal.Mesh(1, {}, []),
    lambda: samedeal.detect_rank(environment={}),
    lambda: samedeal.verify_shards(1, [[0]]),
):
    try:
        make()
    except samedeal.OutOfMemoryError as error:
        print(error.kind)
assert plan.shards(1).tolist() == [1, 3, 5, 7, 9] and mesh.peers(0) == [0]
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG, capture_output=True, text=True)
    assert done.stdout.split() == ["out-of-memory"] * 5


def test_a_trap_ends_one_call_of_a_plan_alone() -> None:
    plan = ShardPlan(range(10), world_size=2, shuffle=True)
    plan.set_epoch(3)
    before = plan.shards(0).tolist()

    def trap(plan: Plan) -> int:
        plan.handle = 0xFFFFFFF0
        return plan.num_shards(0, 0)

    for _ in range(2):
        with pytest.raises(RuntimeError, match="defect of samedeal"):
            plan._engine.use(trap)
        assert plan.shards(0).tolist() == before
