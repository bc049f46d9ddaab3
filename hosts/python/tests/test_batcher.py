"""Batchers and streams of batches: answers and refusals."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import multiprocessing
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hostile import NOT_WHOLE, TOO_WIDE, UNKNOWN, Vicious, fails
from limits import HANG, stores
from notebook import cells
from samedeal import (
    Batch,
    Batcher,
    BatchStream,
    ContradictionError,
    Metrics,
    MissingError,
    OutOfMemoryError,
    OutOfRangeError,
    SamedealError,
    UnknownNameError,
    WrongTypeError,
)
from samedeal.batch.binding import Plan
from samedeal.engine import component as components
from samedeal.generated.batches import Batcher as RawBatcher

LENGTHS = np.random.default_rng(7).integers(0, 500, 3_000)
STRATEGIES: dict[str, dict[str, Any]] = {
    "pad-to-max": {"max_batch_size": 16},
    "bucket": {"max_batch_size": 16, "bucket_width": 64},
    "budget": {"max_tokens": 4_000},
    "pack": {"capacity": 600, "max_batch_size": 2},
}


def make(strategy: str = "budget", lengths: Any = LENGTHS, **options: Any) -> Batcher:
    return Batcher(lengths, strategy=strategy, **{**STRATEGIES.get(strategy, {}), **options})


def plain(batches: Any) -> list[Any]:
    """Batches as lists."""
    return [tuple(part.tolist() if isinstance(part, np.ndarray) else part for part in batch) for batch in batches]


@pytest.mark.parametrize("world_size", [1, 3])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_sample_once_and_no_batch_over_its_budget(strategy: str, world_size: int) -> None:
    window = {} if strategy == "pad-to-max" else {"batch_window": 512}
    batcher = make(strategy, world_size=world_size, seed=9, **window)
    metrics = batcher.metrics()
    mixed = 0
    counted = dict.fromkeys(("items", "rows", "tokens", "padded", "cost", "slowest", "slowest_cost"), 0)
    seen: list[int] = []
    for step in range(len(batcher)):
        padded, costs = [], []
        for rank in range(world_size):
            batch = batcher.batch(step, rank)
            rows, width = batch.shape
            assert LENGTHS[batch.samples].tolist() == batch.lengths.tolist()
            assert [sample for row in batch.rows() for sample in row] == batch.samples.tolist()
            assert len(batch.rows()) == rows
            held = [int(LENGTHS[row].sum()) for row in batch.rows()]
            assert max(held, default=0) <= width
            if strategy == "pack":
                assert width == 600
                assert rows <= 2
            elif strategy == "budget":
                assert rows * width <= 4_000
            else:
                assert rows <= 16
                assert width == max(held)
            mixed += len({-(-length // 64) for length in batch.lengths.tolist() if length}) > 1
            padded.append(rows * width)
            costs.append(batch.cost)
            seen += batch.samples.tolist()
            counted["items"] += len(batch.samples)
            counted["rows"] += rows
            counted["tokens"] += int(batch.lengths.sum())
        counted["padded"] += sum(padded)
        counted["cost"] += sum(costs)
        counted["slowest"] += max(padded)
        counted["slowest_cost"] += max(costs)
    assert sorted(seen) == list(range(3_000))
    # A batch mixes buckets only where the rests of the buckets are joined, at the end of a window.
    assert strategy != "bucket" or mixed <= 4 * world_size * batcher.num_windows
    assert {name: getattr(metrics, name) for name in counted} == counted
    assert metrics.steps == len(batcher) == batcher.num_steps
    assert batcher.world_size == world_size


def test_ratios() -> None:
    def ratios(lengths: list[int], **options: Any) -> tuple[float, float, float, float]:
        found = Batcher(lengths, order="sequential", **options).metrics()
        assert pickle.loads(pickle.dumps(found)) == found
        return found.padding_ratio, found.budget_utilization, found.slowest_rank_utilization, found.cost_imbalance

    # Ratios have six decimal places.
    assert ratios([3, 1], strategy="pad-to-max") == (0.333333, 1.0, 0.666667, 1.0)
    assert ratios([4, 2], strategy="pad-to-max", max_batch_size=1, world_size=2) == (0.0, 1.0, 0.75, 1.333333)
    assert ratios([3, 1, 2], strategy="pack", capacity=4) == (0.25, 0.75, 0.75, 1.0)
    assert ratios([3, 1], max_cost=30, counting="weighted", quadratic=1)[1] == 0.466667
    stream = BatchStream(max_tokens=10)
    stream.push([0, 1], [3, 1])
    stream.flush()
    assert len(stream.take()) == 1
    assert (stream.metrics().padding_ratio, stream.metrics().budget_utilization) == (0.333333, 0.4)
    nothing = Batcher([], max_tokens=5).metrics()
    assert (nothing.padding_ratio, nothing.budget_utilization) == (0.0, 1.0)
    assert (nothing.slowest_rank_utilization, nothing.cost_imbalance) == (1.0, 1.0)
    assert make("pack").metrics().packs_bound > 0


def test_metrics_in_a_notebook() -> None:
    metrics = make("pack").metrics()
    found = dict(cells(metrics._repr_html_()))
    assert found.keys() == {"name", *vars(metrics)}
    assert {"steps", "too_long", "padding_ratio", "cost_imbalance"} <= found.keys()
    assert found["tokens"] == str(metrics.tokens)
    assert found["padding_ratio"] == f"{metrics.padding_ratio:.6g}"
    # A newer component may have more metrics.
    more = Metrics(**vars(metrics), waits=3)
    assert (more.waits, dict(cells(more._repr_html_()))["waits"]) == (3, "3")
    assert more != metrics


def batch_of(made: Batcher | BatchStream) -> dict[str, Any]:
    """The section `batch` of a recipe."""
    found: dict[str, Any] = json.loads(made.recipe)["batch"]
    return found


def test_the_core_has_the_defaults() -> None:
    usual = {"too_long": "error", "tail": "even-split"}
    padded = {"strategy": "budget", "counting": "padded"}
    assert batch_of(Batcher([1], max_batch_size=8, max_length=64)) == padded | usual | {
        "max_batch_size": 8,
        "max_length": 64,
        "max_tokens": 512,
        "batch_size_multiple": 1,
        "lengths": [1],
    }
    assert "max_batch_size" not in batch_of(Batcher([1], max_tokens=3))
    assert batch_of(Batcher([1], strategy="pad-to-max"))["max_batch_size"] == 32
    packs = batch_of(Batcher([1], strategy="pack", max_length=64))
    assert (packs["capacity"], packs["max_batch_size"], packs["packing"]) == (64, 1, "fast")
    buckets = batch_of(Batcher([1, 100], strategy="bucket"))
    assert buckets["max_batch_size"] == 32
    assert not {"bucket_width", "boundaries", "quantiles", "batch_window", "max_tokens"} & buckets.keys()
    assert batch_of(Batcher([1, 100], strategy="bucket", bucket_width=30))["bucket_width"] == 30
    assert batch_of(Batcher([1, 2, 3, 4], strategy="bucket", quantiles=2))["quantiles"] == 2
    assert batch_of(Batcher([1, 2], strategy="bucket", boundaries=(1,)))["boundaries"] == [1]
    assert (Batcher([1], max_tokens=1).world_size, BatchStream(max_tokens=1).world_size) == (1, 1)
    assert "lengths" not in batch_of(BatchStream(max_tokens=1))


def test_buckets_of_width_are_those_of_their_multiples() -> None:
    for max_tokens in (None, 2_000):
        short = make("bucket", max_tokens=max_tokens)
        whole = make("bucket", max_tokens=max_tokens, bucket_width=None, boundaries=range(64, 2**16, 64))
        assert short.fingerprint() == whole.fingerprint()


def test_defaults_follow_the_world_and_the_lengths() -> None:
    # There are more samples than in the window of one rank, and half as many as fit into the window of 64 ranks.
    lengths = np.random.default_rng(3).gamma(1.0, 50.0, 60_000).astype(int) + 1
    for world_size in (1, 64):
        follows = Batcher(lengths, max_tokens=1_500, world_size=world_size).metrics()
        assert follows.padding_ratio < 0.07
    assert Batcher(lengths, max_tokens=1_500, world_size=64, batch_window=8_192).metrics().padding_ratio > 0.1
    one, many = Batcher(lengths, max_tokens=1_500), Batcher(lengths, max_tokens=1_500, world_size=64)
    many.resume(one.state(200))
    taken = [sample for step in range(200) for sample in one.batch(step).samples.tolist()]
    left = [s for rank in range(64) for batch in many.batches(0, rank) for s in batch.samples.tolist()]
    assert sorted(taken + left) == list(range(60_000))
    # The rest of one rank's window is smaller than a step of 64 ranks.
    assert many.metrics().padding_ratio < 0.1
    short = lengths % 60 + 1
    assert Batcher(short, strategy="bucket").metrics().padding_ratio < 0.05
    assert Batcher(short, strategy="bucket", bucket_width=64).metrics().padding_ratio > 0.3


UNUSED: list[tuple[str, Any, dict[str, Any]]] = [
    ("bucket_width", 64, {"strategy": "budget"}),
    ("boundaries", [3], {"strategy": "pack"}),
    ("quantiles", 30, {"strategy": "budget"}),
    ("linear", 1, {}),
    ("quadratic", 0, {"counting": "unpadded"}),
    ("max_tokens", 600, {"strategy": "pack"}),
    ("max_cost", 600, {"strategy": "bucket"}),
    ("batch_size_multiple", 1, {"counting": "unpadded"}),
    ("capacity", 600, {"strategy": "bucket"}),
    ("packing", "fast", {}),
    ("batch_window", 9, {"strategy": "pad-to-max"}),
]


@pytest.mark.parametrize(("field", "value", "options"), UNUSED, ids=[case[0] for case in UNUSED])
def test_options_without_effect_are_refused(field: str, value: Any, options: dict[str, Any]) -> None:
    given: dict[str, Any] = {**options, field: value}
    for call in (make, make_stream) if field != "quantiles" else (make,):
        with fails(ContradictionError, field) as caught:
            call(**given)
        assert f"strategy {options.get('strategy', 'budget')}" in caught.value.allowed


def test_options_that_are_none_are_not_given() -> None:
    nothing = dict.fromkeys(("linear", "batch_size_multiple", "packing", "batch_window", "quantiles", "tail", "seed"))
    for strategy in ("pad-to-max", "budget", "pack"):
        assert make(strategy, **nothing).recipe == make(strategy).recipe


def test_messages_name_options_as_they_are_in_python() -> None:
    with pytest.raises(OutOfRangeError, match=r"; or choose with too_long what happens to longer ones$"):
        len(Batcher([5, 9], max_tokens=9, max_length=8))


def test_too_long_and_tail() -> None:
    lengths = [3, 50, 7]
    cut = Batcher(lengths, max_tokens=10, too_long="truncate")
    assert sorted(int(n) for batch in cut for n in batch.lengths) == [3, 7, 10]
    assert cut.metrics().truncated == 1
    assert Batcher(lengths, max_tokens=10, too_long="drop").metrics().too_long == 1
    parts = Batcher(lengths, max_tokens=20, too_long="split", order="sequential")
    found = {(int(s), int(at), int(n)) for b in parts for s, at, n in zip(b.samples, b.starts, b.lengths, strict=True)}
    assert found == {(0, 0, 3), (1, 0, 20), (1, 20, 20), (1, 40, 10), (2, 0, 7)}
    assert Batcher(lengths, max_tokens=10, too_long="single").metrics().over_budget == 1
    assert Batcher([1, 1, 1], max_tokens=1, world_size=2, tail="duplicate").metrics().repeated == 1
    assert Batcher([1, 1, 1], max_tokens=1, world_size=2, tail="drop").metrics().dropped == 1
    assert Batcher([1, 1, 1], max_tokens=1, world_size=2, tail="keep").metrics().empty == 1


def test_epochs_and_ranks() -> None:
    batcher = make(world_size=2, rank=1)
    first = plain(batcher)
    assert first == plain(batcher.batches(rank=1)) == [plain([batcher.batch(i)])[0] for i in range(len(batcher))]
    assert plain(batcher.batches(5)) == first[5:]
    assert plain(batcher.batches(len(batcher))) == []
    prints = batcher.fingerprint()
    batcher.set_epoch(1)
    assert batcher.epoch == 1
    assert plain(batcher) != first
    assert batcher.fingerprint() == make(world_size=2, epoch=1).fingerprint() != prints
    assert batcher.recipe == make(world_size=2).recipe
    batcher.set_epoch(0)
    assert plain(batcher) == first
    assert batcher.fingerprint() == prints
    assert (batcher.rank, batcher.world_size) == (1, 2)
    assert batcher.lengths.tolist() == LENGTHS.tolist()


def test_a_pass_never_mixes_epochs() -> None:
    batcher = make()
    running = iter(batcher)
    next(running)
    batcher.set_epoch(1)
    with pytest.raises(RuntimeError, match="moved during iteration"):
        next(running)


def test_repr_and_copies() -> None:
    for batcher in (
        make(lengths=[5, 9, 3], world_size=2, rank=1, seed=-4, epoch=2),
        make("bucket", lengths=[5, 90, 3]),
        make("pack", lengths=[5, 90, 3], packing="optimal"),
        make("pad-to-max", lengths=[], counting="weighted", quadratic=3),
    ):
        again = eval(repr(batcher))
        assert repr(again) == repr(batcher)
        for twin in (again, pickle.loads(pickle.dumps(batcher)), copy.copy(batcher), copy.deepcopy(batcher)):
            assert plain(twin) == plain(batcher)
            assert twin.fingerprint() == batcher.fingerprint()
            before = batcher.epoch
            twin.set_epoch(7)
            assert batcher.epoch == before
    assert "<3000 numbers>" in repr(make())


def test_anything_that_is_a_list_of_lengths() -> None:
    wanted = make(lengths=[4, 0, 9]).fingerprint()
    for lengths in ((4, 0, 9), np.array([4, 0, 9], dtype=np.uint8), iter([4, 0, 9]), [np.int64(4), 0, 9]):
        assert make(lengths=lengths).fingerprint() == wanted


def test_threads_share_one() -> None:
    batcher = make()
    wanted = plain(batcher)
    found: dict[int, Any] = {}

    def read(number: int) -> None:
        found[number] = plain(batcher)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number] == wanted for number in range(4))


def _seen(batcher: Batcher, queue: Any) -> None:
    queue.put(plain(batcher))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    batcher = make()
    wanted = plain(batcher)
    queue = context.Queue()
    process = context.Process(target=_seen, args=(batcher, queue))
    process.start()
    assert queue.get(timeout=HANG) == wanted
    process.join(60)
    assert plain(batcher) == wanted


def test_memory_limits() -> None:
    least = components.process.compiled().least_memory
    with fails(OutOfRangeError, "memory_limit"):
        make(memory_limit=least - 1)
    assert plain(make(lengths=[3, 4], memory_limit=least)) == plain(make(lengths=[3, 4]))
    for count in (10**5, 10**6):
        lengths = np.ones(count, dtype=np.uint32)
        with pytest.raises(OutOfMemoryError):
            Batcher(lengths, max_tokens=10, batch_window=count, memory_limit=least + 2**17).batch(0)
    # One batch has all samples, which do not fit into the memory limit. The error says so, and smaller calls still
    # work.
    batcher = Batcher(np.zeros(2**17, dtype=np.uint32), max_tokens=10**6, batch_window=2**18, memory_limit=5_250_000)
    for _ in range(3):
        with fails(OutOfMemoryError, "count"):
            batcher.batch(0)
        with fails(OutOfMemoryError, "count"):
            next(iter(batcher))
        assert batcher.metrics().items == 2**17


def test_batches_too_large_together_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    batcher = make()
    wanted = plain(batcher)
    counts = []
    take = Plan.take

    def sparse(plan: Plan, rank: int, start: int, count: int) -> Any:
        counts.append(count)
        if count > 1:
            raise OutOfMemoryError("count", str(count), "fewer batches at a time")
        return take(plan, rank, start, count)

    monkeypatch.setattr(Plan, "take", sparse)
    assert plain(batcher) == wanted
    # The last call finds that there are no more batches.
    assert counts.count(1) == len(wanted) + 1


def test_they_give_their_memory_back() -> None:
    before = stores()
    for _ in range(30):
        make()
        make_stream()
    assert stores() <= before


NUMBERS = ["seed", "epoch", "rank", "world_size", "max_batch_size", "max_length", "max_tokens", "batch_size_multiple"]
NUMBERS += ["batch_window", "memory_limit"]
ELSEWHERE: dict[str, dict[str, Any]] = {
    "max_cost": {"counting": "weighted", "max_tokens": None},
    "linear": {"counting": "weighted", "max_tokens": None, "max_cost": 10**9},
    "quadratic": {"counting": "weighted", "max_tokens": None, "max_cost": 10**9},
    "capacity": {"strategy": "pack"},
    "bucket_width": {"strategy": "bucket"},
    "quantiles": {"strategy": "bucket", "bucket_width": None},
}
"""Options without which a number is not used."""
BESIDE = {"epoch", "rank", "memory_limit"}
"""Parameters that are no members of the recipe. This host has their defaults, and refuses None."""
NAMES = ["order", "strategy", "counting", "packing", "too_long", "tail"]


def refuses_what_is_no_number(field: str, call: Callable[..., Any]) -> None:
    for value in [*NOT_WHOLE, Vicious()]:
        if value is not None or field in BESIDE:
            with fails(WrongTypeError, field):
                call(**{**ELSEWHERE.get(field, {}), field: value})
    for wide in (2**64, -(2**64), 10**5000):
        with fails(OutOfRangeError, field):
            call(**{**ELSEWHERE.get(field, {}), field: wide})


@pytest.mark.parametrize("field", [*NUMBERS, *ELSEWHERE])
def test_numbers_are_checked(field: str) -> None:
    refuses_what_is_no_number(field, make)


@pytest.mark.parametrize("field", NAMES)
def test_names_must_be_known(field: str) -> None:
    options: dict[str, Any] = {"strategy": "pack", "capacity": 3} if field == "packing" else {"max_tokens": 3}
    for value in UNKNOWN:
        with fails(UnknownNameError, "name" if field == "order" else field):
            Batcher([1], **{**options, field: value})
    for no_name in (0, True, 1.5, b"budget", Vicious()):
        with fails(WrongTypeError, "name" if field == "order" and isinstance(no_name, (int, float)) else field):
            Batcher([1], **{**options, field: no_name})


@pytest.mark.parametrize("field", ["lengths", "boundaries"])
def test_lists_are_of_whole_numbers_that_cross(field: str) -> None:
    call: Callable[..., Any] = functools.partial(make, "bucket", bucket_width=None)
    for value in (7, "12", b"12", {1: 2}, {1, 2}, np.ones((2, 2), dtype=int), np.ones(2), object()):
        with fails(WrongTypeError, field):
            call(**{field: value})
    for item in [*NOT_WHOLE, Vicious()]:
        with fails(WrongTypeError, field):
            call(**{field: [1, item]})
    for wide in [*TOO_WIDE, 2**32]:
        with fails(OutOfRangeError, field):
            call(**{field: [1, wide]})


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (MissingError, "max_tokens", {"max_tokens": None}),
        (MissingError, "max_tokens", {"max_tokens": None, "max_length": 9}),
        (MissingError, "max_cost", {"max_tokens": None, "counting": "weighted"}),
        (MissingError, "capacity", {"strategy": "pack", "max_tokens": None}),
        (MissingError, "sizes", {"order": "sharded"}),
        (OutOfRangeError, "max_tokens", {"max_tokens": 0}),
        (OutOfRangeError, "capacity", {"strategy": "pack", "max_tokens": None, "capacity": 0}),
        (OutOfRangeError, "max_batch_size", {"strategy": "bucket", "max_tokens": None, "max_batch_size": 0}),
        (OutOfRangeError, "max_batch_size", {"max_batch_size": 0}),
        (OutOfRangeError, "batch_size_multiple", {"batch_size_multiple": 0}),
        (OutOfRangeError, "world_size", {"world_size": 0}),
        (OutOfRangeError, "world_size", {"world_size": 2**20 + 1}),
        (OutOfRangeError, "rank", {"rank": 1}),
        (OutOfRangeError, "bucket_width", {"strategy": "bucket", "bucket_width": 0}),
        (OutOfRangeError, "quantiles", {"strategy": "bucket", "quantiles": 0}),
        (ContradictionError, "boundaries", {"strategy": "bucket", "boundaries": [2, 1]}),
        (ContradictionError, "boundaries", {"strategy": "bucket", "boundaries": [2], "quantiles": 3}),
        (ContradictionError, "bucket_width", {"strategy": "bucket", "bucket_width": 3, "quantiles": 3}),
        (OutOfRangeError, "lengths", {"lengths": [1, 11]}),
        (OutOfRangeError, "lengths", {"lengths": [1, 6], "max_length": 5}),
        (WrongTypeError, "lengths", {"lengths": None}),
    ],
)
def test_batchers_that_cannot_be(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with fails(error, field):
        Batcher(**{"lengths": [1, 2, 3], "max_tokens": 10, **options}).batch(0)


CALLS: dict[str, tuple[str, Callable[[Batcher, Any], Any]]] = {
    "set_epoch": ("epoch", lambda batcher, value: batcher.set_epoch(value)),
    "batch": ("step", lambda batcher, value: batcher.batch(value)),
    "batch of a rank": ("rank", lambda batcher, value: batcher.batch(0, value)),
    "batches": ("start", lambda batcher, value: batcher.batches(value)),
    "batches of a rank": ("rank", lambda batcher, value: batcher.batches(0, value)),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_checks_and_leaves_the_batcher_working(name: str) -> None:
    field, call = CALLS[name]
    batcher = make(world_size=2)
    before = plain(batcher)
    for value in [*NOT_WHOLE, Vicious()]:
        if not (value is None and "rank" in name):
            with fails(WrongTypeError, field):
                call(batcher, value)
    for wide in TOO_WIDE + [2**32, 10**6] * (name != "set_epoch"):
        with fails(OutOfRangeError, field) as caught:
            call(batcher, wide)
        assert (
            field in ("epoch", "start") or caught.value.allowed == f"0 to {len(batcher) - 1 if field == 'step' else 1}"
        )
    assert plain(batcher) == before
    assert batcher.epoch == 0


def test_no_samples() -> None:
    batcher = Batcher([], max_tokens=3, world_size=2)
    assert len(batcher) == 0
    assert list(batcher) == []
    with fails(OutOfRangeError, "step") as caught:
        batcher.batch(0)
    assert caught.value.allowed == "none, there are none"


def make_stream(strategy: str = "budget", **options: Any) -> BatchStream:
    return BatchStream(strategy=strategy, **{"max_length": 500, **STRATEGIES[strategy], **options})


@pytest.mark.parametrize("piece", [1, 100, 3_000])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_stream_gives_what_a_batcher_gives(strategy: str, piece: int) -> None:
    options: dict[str, Any] = {
        "world_size": 2,
        "rank": 1,
        "batch_window": 256,
        "seed": 3,
        "epoch": 1,
        "max_length": 500,
    }
    if strategy == "pad-to-max":
        del options["batch_window"]
    batcher = make(strategy, order="sequential", **options)
    stream = make_stream(strategy, **options)
    found: list[Batch] = []
    for start in range(0, 3_000, piece):
        stream.push(range(start, start + piece), LENGTHS[start : start + piece])
        found += stream
    # The stream still holds a window, and the rest of the window before. With "pad-to-max", a window has 8,192 samples,
    # which are more than all of these.
    assert len(found) > 0.8 * len(batcher) or strategy == "pad-to-max"
    stream.flush()
    found += stream
    assert stream.take() == []
    assert plain(found) == plain(batcher)
    assert stream.metrics() == batcher.metrics()
    assert (stream.rank, stream.world_size) == (1, 2)


def test_numbers_of_samples_are_ones_own() -> None:
    stream = BatchStream(max_tokens=9)
    stream.push([2**53 - 1, 5], [4, 4])
    stream.flush()
    (batch,) = stream
    assert sorted(batch.samples.tolist()) == [5, 2**53 - 1]


@pytest.mark.parametrize("field", sorted({*NUMBERS, *ELSEWHERE} - {"quantiles"}))
def test_numbers_of_streams_are_checked(field: str) -> None:
    refuses_what_is_no_number(field, make_stream)


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (MissingError, "max_tokens", {"max_tokens": None}),
        (OutOfRangeError, "batch_window", {"batch_window": 2**24 + 1}),
        (OutOfRangeError, "rank", {"rank": 2, "world_size": 2}),
        (OutOfRangeError, "world_size", {"world_size": 0}),
        (UnknownNameError, "tail", {"tail": "even_split"}),
    ],
)
def test_streams_that_cannot_be(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with fails(error, field):
        BatchStream(**{"max_tokens": 10, **options})


def test_a_stream_still_works_after_a_failure() -> None:
    stream = BatchStream(max_tokens=10, batch_window=2)
    with fails(ContradictionError, "lengths"):
        stream.push([1, 2], [3])
    with fails(OutOfRangeError, "samples"):
        stream.push([2**53], [3])
    with fails(OutOfRangeError, "lengths"):
        stream.push([1, 2], [3, 11])
    for value in [*NOT_WHOLE, Vicious()]:
        with fails(WrongTypeError, "samples"):
            stream.push([value], [1])
        with fails(WrongTypeError, "lengths"):
            stream.push([1], [value])
    for wide in TOO_WIDE:
        with fails(OutOfRangeError, "samples"):
            stream.push([wide], [1])
    stream.push([0, 1, 2], [3, 3, 3])
    stream.flush()
    with fails(ContradictionError, "samples"):
        stream.push([3], [3])
    assert sorted(itertools.chain.from_iterable(batch.samples.tolist() for batch in stream)) == [0, 1, 2]


def test_a_push_beyond_the_memory_leaves_the_stream_as_it_was() -> None:
    stream = BatchStream(max_tokens=10, batch_window=4, memory_limit=2**22)
    stream.push(range(3), [3] * 3)
    for _ in range(3):
        with fails(OutOfMemoryError, "samples"):
            stream.push(np.arange(10**6), np.ones(10**6, dtype=int))
    stream.push([3, 4], [3, 3])
    stream.flush()
    assert sorted(itertools.chain.from_iterable(batch.samples.tolist() for batch in stream)) == [0, 1, 2, 3, 4]


def test_a_stream_does_not_leave_its_process() -> None:
    stream = BatchStream(max_tokens=10)
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="does not pickle"):
            leave(stream)
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            try:
                stream.push([1], [1])
            except RuntimeError:
                os._exit(7)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    stream.push([1], [1])


def test_a_stream_that_was_interrupted_says_so() -> None:
    stream = BatchStream(max_tokens=10)
    stream._stream.core.whole = False
    with pytest.raises(RuntimeError, match="interrupted"):
        stream.push([1], [1])


def test_an_iteration_that_is_broken_off_loses_nothing() -> None:
    stream = BatchStream(max_tokens=100, batch_window=50)
    stream.push(range(500), [7] * 500)
    stream.flush()
    seen = []
    for batch in stream:
        seen += batch.samples.tolist()
        break
    seen += [sample for batch in stream.take() for sample in batch.samples.tolist()]
    assert len(seen) <= 50
    seen += [sample for batch in stream for sample in batch.samples.tolist()]
    assert sorted(seen) == list(range(500))


def test_states_go_on_where_they_were_taken() -> None:
    batcher = make(world_size=2, epoch=3)
    state = batcher.state(4)
    rest = make(world_size=2)
    rest.resume(state)
    assert (rest.epoch, rest.consumed, len(rest)) == (3, 0, len(batcher) - 4)
    assert plain(rest) == plain(batcher.batches(4))
    assert rest.state(1) == batcher.state(5)
    for twin in (pickle.loads(pickle.dumps(rest)), copy.copy(rest)):
        assert plain(twin) == plain(rest)
    running = iter(rest)
    next(running)
    rest.resume(batcher.state(5))
    with pytest.raises(RuntimeError, match="moved during iteration"):
        next(running)
    rest.set_epoch(3)
    assert len(rest) == len(batcher) - 5
    rest.set_epoch(4)
    assert rest.state(0) == make(world_size=2, epoch=4).state(0)
    other = make(world_size=3)
    other.resume(state)
    taken = [int(sample) for rank in (0, 1) for step in range(4) for sample in batcher.batch(step, rank).samples]
    left = [int(sample) for rank in range(3) for batch in other.batches(rank=rank) for sample in batch.samples]
    assert sorted(taken + left) == list(range(len(batcher.lengths)))
    with fails(ContradictionError, "seed"):
        make(seed=9, world_size=2).resume(state)
    with fails(OutOfRangeError, "state"):
        rest.resume(" " * (2**24 + 1))
    with fails(WrongTypeError, "state"):
        rest.resume(b"{}")  # type: ignore[arg-type]
    with fails(OutOfRangeError, "steps"):
        rest.state(-1)
    assert rest.epoch == 4


def test_samples_are_found_where_they_are() -> None:
    batcher = make(world_size=3, tail="duplicate")
    for sample in range(0, len(batcher.lengths), 7):
        for place in batcher.locate(sample):
            batch = batcher.batch(place.step, place.rank)
            assert batch.rows()[place.row][place.index_in_row] == sample
    with fails(OutOfRangeError, "sample"):
        batcher.locate(len(batcher.lengths))


def test_an_engine_that_is_left_between_resuming_and_telling_where_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batcher = make(world_size=2)
    state = batcher.state(4)
    before = plain(batcher)

    def left(plan: Plan) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as inner:
        inner.setattr(RawBatcher, "epoch", left)
        with pytest.raises(KeyboardInterrupt):
            batcher.resume(state)
    assert plain(batcher) == before


def test_a_step_of_all_ranks_is_that_of_each() -> None:
    batcher = Batcher([3, 9, 4, 4, 7, 1, 2, 8], max_tokens=16, world_size=2)
    for number in range(len(batcher)):
        ranks = [batcher.batch(number, rank).samples.tolist() for rank in range(2)]
        assert [own.samples.tolist() for own in batcher.step(number)] == ranks
    with pytest.raises(OutOfRangeError, match=f"step is {2**70}; allowed: 0 to {len(batcher) - 1}"):
        batcher.step(2**70)


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 500},
        {"strategy": "bucket", "boundaries": [10, 40], "max_tokens": 500, "max_batch_size": 9, "pad_to_bucket": True},
        {"strategy": "pack", "capacity": 50, "max_batch_size": 3},
        {"strategy": "pad-to-max", "max_batch_size": 5},
    ],
)
@pytest.mark.parametrize("tail", ["even-split", "keep", "duplicate"])
def test_shapes_are_those_of_the_batches(options: dict[str, Any], tail: str) -> None:
    lengths = np.random.default_rng(6).integers(1, 41, 301)
    batcher = Batcher(lengths, tail=tail, world_size=3, **options)
    batches = [batch for step in range(len(batcher)) for batch in batcher.step(step)]
    for filled in (False, True):
        found = Counter((batch.full_rows if filled else batch.shape[0], batch.padded_length) for batch in batches)
        assert {(shape.rows, shape.padded_length): shape.batches for shape in batcher.shapes(filled)} == found
    assert batcher.shapes() == batcher.shapes(False)
    assert all(batch.shape[0] <= batch.full_rows for batch in batches)
