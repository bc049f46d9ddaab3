"""Interruptions in the middle of a call: signal handlers, finalizers, exceptions out of them, and other threads."""

from __future__ import annotations

import contextlib
import gc
import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from samedeal import OutOfMemoryError, Sampler, ShardPlan
from samedeal.engine.core import Core

signals = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")

ROUNDS = 100_000
"""An upper limit of rounds, above the need of any of these loops, so that none runs forever."""


def inside(sampler: Sampler) -> bool:
    """Whether a call of this sampler is in progress that nothing else has interrupted yet."""
    home = sampler._engine._home
    return home is not None and home.idle is None


@contextlib.contextmanager
def alarms(handler: Callable[[], None]) -> Iterator[None]:
    """Calls a handler again and again, at any point of the code except in the handler itself."""
    live = True

    def ring(*_: Any) -> None:
        try:
            handler()
        finally:
            if live:
                signal.setitimer(signal.ITIMER_REAL, 0.0005)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    try:
        yield
    finally:
        live = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def place(sampler: Sampler) -> tuple[int, int, int]:
    """Epoch, rank and consumed positions of the component."""
    found: tuple[int, int, int] = sampler._engine.use(lambda deal: (deal.epoch(), deal.rank(), deal.consumed()))
    return found


@signals
@pytest.mark.parametrize("order", ["feistel", "torch"])
def test_signal_handlers_may_ask(order: str) -> None:
    sampler = Sampler(10_000, seed=3, order=order, world_size=2)
    config, fingerprint, model = place(sampler), sampler.fingerprint(), sampler.indices().tolist()
    nested = 0
    failures: list[BaseException] = []

    def handler() -> None:
        nonlocal nested
        nested += inside(sampler)
        try:
            assert place(sampler) == config
            assert sampler.num_batches(32) == 157
            assert sampler.batch(3, 32).tolist() == model[96:128]
            assert sampler.fingerprint() == fingerprint
        except BaseException as error:
            failures.append(error)

    with alarms(handler):
        for i in range(ROUNDS):
            number = i % 157
            assert sampler.batch(number, 32).tolist() == model[32 * number : 32 * number + 32]
            assert place(sampler) == config
            assert sampler.indices().tolist() == model
            if nested >= 100 or failures:
                break
    assert not failures
    assert nested >= 100


@signals
def test_signal_handlers_may_move_the_sampler() -> None:
    sampler = Sampler(1000, world_size=1000)
    epochs = itertools.count(1)
    nested, last = 0, 0
    seen: list[tuple[int, int, int]] = []

    def handler() -> None:
        nonlocal nested, last
        nested += inside(sampler)
        last = next(epochs)
        sampler.set_epoch(last)

    with alarms(handler):
        for i in range(ROUNDS):
            rank = i % 1000
            sampler.set_rank(rank)
            before = last
            state = sampler.rank, sampler.epoch, *place(sampler)
            index = sampler[0]
            if last == before:
                # No handler ran in between, so all values belong to one state, and no move was lost.
                assert state == (rank, before, before, rank, 0)
                seen.append((before, rank, index))
            if nested >= 100:
                break
    assert nested >= 100
    for epoch, rank, index in seen[:: len(seen) // 100 + 1]:
        assert Sampler(1000, world_size=1000, epoch=epoch, rank=rank)[0] == index


class Interrupted(Exception):
    pass


@signals
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # exceptions from finalizers
def test_interrupted_calls_leave_nothing_behind() -> None:
    # Memory for only a few lists: lists that are not freed would soon fill it.
    sampler = Sampler(2**20, memory_limit=2**24)
    wanted = sampler.batch(1, 2**17).tolist()
    model = sampler[:8].tolist()
    armed, interruptions = False, 0

    def handler() -> None:
        nonlocal armed
        if armed:
            armed = False
            raise Interrupted

    # The loop is in a function of its own: in a `with` around a loop, Python 3.13 does not catch an exception that is
    # raised at the jump back of the loop.
    def call_until_interrupted(is_long: int) -> None:
        nonlocal armed
        armed = True
        for _ in range(ROUNDS):
            if is_long:
                sampler.batch(1, 2**17)
            else:
                assert Sampler(2**20).batch(0, 8).tolist() == model
            # Python drops exceptions from finalizers, so the loop ends by the flag.
            if not armed:
                break

    with alarms(handler):
        for i in range(400):
            with contextlib.suppress(Interrupted):
                call_until_interrupted(i % 2)
            interruptions += not armed
    assert interruptions == 400
    assert sampler.batch(1, 2**17).tolist() == wanted


class Interrupter:
    """Raises an exception at a step of a call, as a signal handler can between any two steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, after: bool) -> None:
        self.armed = False
        self.error: Exception = Interrupted()
        step = getattr(Core, name)

        def interrupted(*arguments: Any) -> Any:
            result = step(*arguments) if after or not self.armed else None
            if self.armed:
                self.armed = False
                raise self.error
            return result

        monkeypatch.setattr(Core, name, interrupted)


@pytest.mark.parametrize("name", ["call", "refresh", "unpack", "u64s", "string"])
@pytest.mark.parametrize("after", [False, True])
def test_a_call_may_end_at_every_step(name: str, after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler(2**20, world_size=2, order="sequential", memory_limit=2**25)
    step = Interrupter(monkeypatch, name, after)
    for _ in range(50):
        for call in (
            lambda: sampler.batch(0, 2**18),
            lambda: sampler.set_rank(1),
            lambda: sampler.set_rank(2),
            lambda: sampler.set_epoch(sampler.epoch + 1),
            sampler.config_fingerprint,
        ):
            step.armed = True
            with contextlib.suppress(Interrupted, ValueError):
                call()
            step.armed = False
            # Whether the move was done or not, the component and the sampler agree.
            assert place(sampler) == (sampler.epoch, sampler.rank, 0)
            assert sampler[1] == 2 + sampler.rank
        sampler.set_rank(0)


@pytest.mark.parametrize("name", ["call", "refresh", "unpack", "view", "u64s", "u32s", "allocate"])
@pytest.mark.parametrize("after", [False, True])
def test_a_call_of_a_plan_may_end_at_every_step(name: str, after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ShardPlan(range(1000), world_size=3, shuffle=True, memory_limit=2**22)
    models = []
    for epoch in range(2):
        plan.set_epoch(epoch)
        models.append(plan.shards(1).tolist())
    step = Interrupter(monkeypatch, name, after)
    for i in range(50):
        for call in (
            lambda i=i: plan.set_epoch(i % 2),
            lambda: plan.shards(1),
            lambda: plan.loads(),
            lambda: plan.rows(999),
            lambda: ShardPlan(range(1000)),
            plan.verify,
        ):
            step.armed = True
            with contextlib.suppress(Interrupted):
                call()
            step.armed = False
            # Whether the move was done or not, the component and the plan agree.
            assert plan.shards(1).tolist() == models[plan.epoch]


def test_failures_out_of_a_handler_are_not_those_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler(2**20, memory_limit=2**24)
    step = Interrupter(monkeypatch, "unpack", True)
    step.error = OutOfMemoryError("samples", "1", "0")
    for _ in range(50):
        step.armed = True
        with pytest.raises(OutOfMemoryError, match="no memory for samples = 1;"):
            sampler.batch(0, 2**17)
    assert len(sampler.batch(0, 2**17)) == 2**17


@pytest.mark.parametrize("name", ["call", "unpack"])
def test_finalizers_may_ask(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler(1000, seed=3)
    config, model = place(sampler), sampler.indices().tolist()
    nested = []

    class Owner:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            nested.append((inside(sampler), place(sampler), sampler.batch(0, 10).tolist()))

    step = getattr(Core, name)
    collecting = False

    def collected(*arguments: Any) -> Any:
        # Frees an object in the middle of a call, as the garbage collector may when Python makes an object.
        nonlocal collecting
        result = step(*arguments)
        if not collecting:
            collecting = True
            Owner()
            gc.collect(0)
            collecting = False
        return result

    monkeypatch.setattr(Core, name, collected)
    for i in range(50):
        assert sampler.batch(i, 10).tolist() == model[10 * i : 10 * i + 10]
        assert sampler.locate(model[i], 10) == sampler.place_of(i, 10)
        assert place(sampler) == config
    assert sum(under_way for under_way, *_ in nested) >= 150
    assert all(found[1:] == (config, model[:10]) for found in nested)


@contextlib.contextmanager
def another_thread(step: Callable[[int], None]) -> Iterator[None]:
    """Calls a step again and again in another thread."""
    stop = threading.Event()

    def work() -> None:
        for i in itertools.count():
            if stop.is_set():
                return
            step(i)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


READS: dict[str, Callable[[Sampler], list[Any]]] = {
    "indices": lambda sampler: sampler.indices().tolist(),
    "slice": lambda sampler: sampler[:].tolist(),
    "every third": lambda sampler: sampler[::-3].tolist(),
    "a few": lambda sampler: sampler[::1000].tolist(),
    "samples": list,
    "batches": lambda sampler: [batch.tolist() for batch in sampler.batches(100)],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_reads_are_of_one_epoch_and_rank(read: Callable[[Sampler], list[Any]]) -> None:
    sampler = Sampler(400_001, world_size=2, remainder="uneven")
    models = []
    for epoch, rank in itertools.product(range(2), range(2)):
        sampler.set_epoch(epoch)
        sampler.set_rank(rank)
        models.append(read(sampler))

    def move(i: int) -> None:
        sampler.set_epoch(i % 2)
        sampler.set_rank(i // 2 % 2)

    with another_thread(move):
        for _ in range(50):
            # An iteration refuses to continue after a change of the sampler.
            with contextlib.suppress(RuntimeError):
                assert read(sampler) in models
