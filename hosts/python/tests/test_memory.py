"""Memory limits, and what remains after they are met."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest
import samedeal
from samedeal import OutOfMemoryError, OutOfRangeError, Sampler, _component
from samedeal._component import Component
from samedeal._deal import Deal


@pytest.mark.parametrize("order", ["fisher-yates", "torch", "torch-2.5", "python", "dotnet"])
def test_a_table_beyond_the_limit(order: str) -> None:
    sampler = Sampler(10**7, order=order, world=3, memory_limit=2**24)
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
    assert sampler.config.epoch == 20


def test_a_window_beyond_the_limit() -> None:
    sampler = Sampler(2**20, memory_limit=2**21)
    wanted = Sampler(2**20).indices()
    for _ in range(20):
        with pytest.raises(OutOfMemoryError, match="no memory for batch_size = 1048576"):
            sampler.batch(0, 2**20)
        assert sampler.batch(5, 32).tolist() == wanted[160:192].tolist()
    assert (sampler.indices() == wanted).all()


def test_samplers_do_not_starve_each_other() -> None:
    limit = 2**23
    large = [Sampler(10**6, order="torch", memory_limit=limit) for _ in range(20)]
    assert len({sampler.fingerprint() for sampler in large}) == 1


def test_the_least_memory() -> None:
    least = _component.process.compiled(Component.SAMPLING).least_memory
    with pytest.raises(OutOfRangeError, match=f"memory_limit is {least - 1}; allowed: {least} or more bytes"):
        Sampler(10, memory_limit=least - 1)
    for order in samedeal.orders():
        sampler = Sampler(10, order=order, memory_limit=least)
        for _ in range(1000):
            sampler.set_epoch(sampler.epoch + 1)
            assert sorted(sampler) == list(range(10))
            with pytest.raises(OutOfRangeError):
                sampler.sample_at(10)


def test_samplers_give_their_memory_back() -> None:
    before = len(_component.process.owned)
    for _ in range(50):
        assert Sampler(10**5, order="torch")[0] >= 0
    gc.collect()
    assert len(_component.process.owned) <= before


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
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True)
    assert done.stdout.split() == ["out-of-memory", "samples"]


def test_a_trap_ends_one_call_alone() -> None:
    sampler, other = Sampler(10), Sampler(10)

    def trap(deal: Deal) -> int:
        deal._this = 0xFFFFFFF0
        return deal.sample_at(0)

    for _ in range(2):
        with pytest.raises(RuntimeError, match="defect of samedeal"):
            sampler._engine.use(trap)
        # Its instance is in an unknown state: it must have got a new one.
        assert list(sampler) == list(other) == list(Sampler(10))
