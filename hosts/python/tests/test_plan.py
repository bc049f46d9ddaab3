"""Plans and verification: answers and refusals."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hostile import NOT_WHOLE, TOO_WIDE, UNKNOWN, Vicious, fails
from notebook import cells
from samedeal import (
    ContradictionError,
    Loads,
    LoadSummary,
    MissingError,
    OutOfRangeError,
    Overlaps,
    SamedealError,
    ShardPlan,
    Steps,
    UnknownNameError,
    Verification,
    WrongTypeError,
    verify_shards,
)

SAMPLES = [50, 10, 30, 20, 40, 0]
BYTES = [100, 200, 300, 400, 500, 600]
NEAR: dict[str, Any] = {
    "policy": "locality-aware",
    "holders": [[7], [9, 7], [7], [9], (9,), {7, 9}],
    "rank_nodes": [7, 9],
    "world_size": 2,
}
BLIND: dict[str, Any] = {"policy": "round-robin", "worker_policy": "round-robin", "shuffle": False}


def make(**changes: Any) -> ShardPlan:
    return ShardPlan(**{"sizes": SAMPLES, **changes})


def readers(plan: ShardPlan) -> list[list[int]]:
    return [plan.shards(*reader).tolist() for reader in itertools.product(range(plan.world_size), range(plan.workers))]


def test_worked_example() -> None:
    plan = ShardPlan([1] * 100, world_size=8, workers=4, **BLIND)
    assert plan.shards(0, 0).tolist() == plan.shards(0).tolist() == [0, 32, 64, 96]
    assert plan.shards(0, 1).tolist() == [8, 40, 72]
    assert plan.shards(1).tolist() == [1, 33, 65, 97]
    assert plan.shards(np.int64(7), np.uint8(3)).tolist() == [31, 63, 95]
    assert plan.num_shards(7, 3) == 3
    assert plan.shards(0).dtype == np.uint32


@pytest.mark.parametrize("policy", ["round-robin", "size-aware", "locality-aware"])
@pytest.mark.parametrize("worker_policy", ["round-robin", "size-aware"])
@pytest.mark.parametrize("mixed", [{}, {"shuffle": False}, {"reshuffle": True}, {"shuffle": False, "reshuffle": True}])
def test_every_shard_has_one_reader(policy: str, worker_policy: str, mixed: dict[str, bool]) -> None:
    options = {"world_size": 2, "policy": policy, "worker_policy": worker_policy, "workers": 2, "seed": 5, **mixed}
    if policy == "locality-aware":
        options |= NEAR
    plan = make(**options)
    before = readers(plan)
    assert sorted(itertools.chain(*before)) == list(range(6))
    assert type(plan.verify()) is Verification
    assert plan.verify().ok
    assert verify_shards(6, before).ok
    plan.set_epoch(3)
    assert plan.epoch == 3
    assert plan.verify().ok
    assert readers(plan) == readers(make(**options, epoch=3))
    plan.set_epoch(0)
    assert readers(plan) == before


def test_loads_and_balance() -> None:
    plan = make(bytes=BYTES, workers=2, **NEAR)
    loads = plan.loads()
    assert type(loads) is Loads
    for tier, groups in (
        ("ranks", [readers(plan)[0] + readers(plan)[1], readers(plan)[2] + readers(plan)[3]]),
        ("workers", readers(plan)),
    ):
        loads = plan.loads(tier)
        assert loads.shards.tolist() == [len(group) for group in groups]
        assert loads.samples.tolist() == [sum(SAMPLES[shard] for shard in group) for group in groups]
        assert loads.bytes is not None
        assert loads.local is not None
        assert loads.bytes.tolist() == [sum(BYTES[shard] for shard in group) for group in groups]
        nodes = NEAR["rank_nodes"] if tier == "ranks" else [7, 7, 9, 9]
        assert loads.local.tolist() == [
            sum(BYTES[shard] for shard in group if node in NEAR["holders"][shard])
            for group, node in zip(groups, nodes, strict=True)
        ]
        for balance_by in ("samples", "bytes"):
            values = getattr(loads, balance_by).tolist()
            balance = plan.load_summary(tier, balance_by)
            assert balance == LoadSummary(min(values), max(values), sum(values), len(groups))
            assert balance.imbalance == pytest.approx(max(values) / (sum(values) / len(values)))
    assert plan.load_summary() == plan.load_summary("ranks", "samples")
    # The imbalance has six decimal places.
    assert ShardPlan([3, 1, 1], world_size=3).load_summary().imbalance == 1.8
    assert ShardPlan([4, 2, 1], world_size=3).load_summary().imbalance == 1.714286
    assert ShardPlan([], world_size=5).load_summary().imbalance == 1.0


def test_loads_in_a_notebook() -> None:
    rows = cells(make(world_size=2, bytes=BYTES, **BLIND).loads()._repr_html_())
    assert rows[0] == ["reader", "shards", "samples", "bytes"]
    assert rows[1:] == [["0", "3", "120", "900"], ["1", "3", "30", "1200"]]
    assert make().loads().bytes is None
    assert make().loads().local is None
    shown = ShardPlan([1] * 300, world_size=300).loads()._repr_html_()
    assert "the first 100 of 300" in shown
    assert len(cells(shown)) == 101


def test_steps() -> None:
    plan = make(world_size=2, workers=2, **BLIND)
    assert readers(plan) == [[0, 4], [2], [1, 5], [3]]
    for size, drop_last, most in ((1, False, 120), (32, False, 4), (32, True, 2)):
        least = {1: 30, 32: 2 if not drop_last else 0}[size]
        assert plan.steps(size, drop_last) == Steps(least, most)
        assert not plan.steps(size, drop_last).equal
    assert make().steps(7).equal


def test_rows() -> None:
    plan = make()
    assert plan.rows(5).tolist() == []
    assert make(shuffle=False).rows(0, 3, 6).tolist() == [3, 4, 5]
    shuffled = make(seed=3)
    rows = shuffled.rows(0)
    assert sorted(rows.tolist()) == list(range(50)) != rows.tolist()
    assert shuffled.rows(0, 10, 13).tolist() == rows[10:13].tolist()
    # Whether shards are shuffled does not change the order of their rows.
    assert make(seed=3, shuffle=False, shuffle_rows=True).rows(0).tolist() == rows.tolist()
    shuffled.set_epoch(1)
    assert shuffled.rows(0).tolist() != rows.tolist()


def test_config_fingerprint() -> None:
    plan = make(seed=3)
    found = plan.config_fingerprint()
    assert len(found) == 64
    assert make(seed=3).config_fingerprint() == found
    others = [make(**{"seed": 3, name: value}) for name, value in CHANGES.items()]
    assert len({found, *(other.config_fingerprint() for other in others)}) == 1 + len(CHANGES)
    plan.set_epoch(1)
    assert plan.config_fingerprint() == make(seed=3, epoch=1).config_fingerprint() != found


CHANGES: dict[str, Any] = {
    "sizes": SAMPLES[::-1],
    "bytes": BYTES,
    "world_size": 2,
    "workers": 2,
    "policy": "round-robin",
    "worker_policy": "round-robin",
    "shuffle": False,
    "shuffle_rows": False,
    "reshuffle": True,
    "seed": 4,
    "epoch": 2,
}


def test_what_is_longer_than_a_window() -> None:
    plan = ShardPlan(np.ones(200_001, dtype=np.int64), seed=1)
    assert sorted(plan.shards(0).tolist()) == list(range(200_001))
    assert plan.verify().ok
    rows = ShardPlan([200_001]).rows(0)
    assert sorted(rows.tolist()) == list(range(200_001))
    many = ShardPlan(np.arange(100_000), world_size=50_000, workers=3, **BLIND)
    loads = many.loads("workers")
    assert loads.shards.tolist()[:6] == [1, 1, 0, 1, 1, 0]
    assert int(loads.samples.sum()) == sum(range(100_000))
    assert many.loads().samples.tolist() == [50_000 + 2 * rank for rank in range(50_000)]


def test_properties_and_the_call_that_makes_an_equal_plan() -> None:
    options = {"workers": 3, "balance_by": "bytes", "tolerance": 0, "reshuffle": True, "seed": -1, **NEAR}
    plan = make(bytes=BYTES, **options)
    plan.set_epoch(4)
    assert plan.sizes.tolist() == SAMPLES
    assert plan.bytes is not None
    assert plan.bytes.tolist() == BYTES
    assert (plan.world_size, plan.workers, plan.seed, plan.epoch) == (2, 3, -1, 4)
    members = json.loads(plan.recipe)["shards"]
    found = [
        members[name] for name in ("policy", "worker_policy", "balance_by", "shuffle", "shuffle_rows", "reshuffle")
    ]
    assert found == ["locality-aware", "size-aware", "bytes", True, True, True]
    assert (members["tolerance"], members["rank_nodes"], members["holder_offsets"][1:3]) == (0, [7, 9], [1, 3])
    assert readers(eval(repr(plan))) == readers(plan)
    assert repr(eval(repr(plan))) == repr(plan)
    plain = make()
    assert plain.bytes is None
    assert repr(eval(repr(plain))) == repr(plain)
    assert repr(ShardPlan(range(101), workers=2)) == "ShardPlan(<101 numbers>, workers=2, epoch=0)"


@pytest.mark.parametrize("options", [{}, {**NEAR, "tolerance": 7}, {"balance_by": "bytes", "bytes": BYTES, "seed": 5}])
def test_a_plan_is_made_again_by_its_recipe(options: dict[str, Any]) -> None:
    plan = make(workers=2, epoch=3, **options)
    assert plan.recipe_fingerprint() == hashlib.sha256(plan.recipe.encode()).hexdigest()
    for recipe in (plan.recipe, json.loads(plan.recipe)):
        again = ShardPlan.from_recipe(recipe, epoch=3)
        assert (again.recipe, readers(again)) == (plan.recipe, readers(plan))
        assert again.config_fingerprint() == plan.config_fingerprint()
    many = ShardPlan(range(300), world_size=2)
    assert readers(ShardPlan.from_recipe(many.recipe, lists={"sizes": range(300)})) == readers(many)
    with pytest.raises(MissingError, match="sizes is missing"):
        ShardPlan.from_recipe(many.recipe)
    with pytest.raises(ContradictionError, match="sizes"):
        ShardPlan.from_recipe(many.recipe, lists={"sizes": range(1, 301)})


def test_the_sizes_are_those_that_were_given() -> None:
    sizes = np.array(SAMPLES)
    plan = make(sizes=sizes, policy="size-aware", world_size=3)
    before = readers(plan)
    sizes[:] = 1
    plan.sizes[0] = 1
    plan.set_epoch(1)
    plan.set_epoch(0)
    assert readers(plan) == before
    assert plan.sizes.tolist() == SAMPLES


NO_LISTS: list[Any] = [3, 1.5, "12", b"12", {1: 2}, {1, 2}, Vicious(), np.array([1.0]), np.array([[1]]), np.array(True)]


@pytest.mark.parametrize("field", ["sizes", "bytes", "rank_nodes"])
def test_lists_are_of_whole_numbers_that_cross(field: str) -> None:
    name = field
    for value in NO_LISTS:
        with fails(WrongTypeError, name):
            make(**{**NEAR, field: value})
    for item in [*NOT_WHOLE, Vicious()]:
        with fails(WrongTypeError, name):
            make(**{**NEAR, field: [1, item]})
    for wide in TOO_WIDE:
        with fails(OutOfRangeError, name):
            make(**{**NEAR, field: [1, wide]})


LISTS: dict[str, Callable[[Any], Any]] = {
    "holders": lambda lists: make(**{**NEAR, "holders": lists}),
    "assigned": lambda lists: verify_shards(6, lists),
}


@pytest.mark.parametrize("field", LISTS)
def test_lists_of_lists(field: str) -> None:
    call = LISTS[field]
    call(np.zeros((6, 2), dtype=np.int8))
    for value in [*NO_LISTS, [1], [[1], 2], [[1], "2"], [[1], {2: 3}]]:
        if not isinstance(value, np.ndarray) or value.ndim < 2:
            with fails(WrongTypeError, field):
                call(value)
    for item in [*NOT_WHOLE, Vicious()]:
        with fails(WrongTypeError, field):
            call([[1], [0, item]])
    for wide in TOO_WIDE:
        with fails(OutOfRangeError, field):
            call([[1], [0, wide]])


NUMBERS = ["world_size", "workers", "tolerance", "seed", "epoch", "memory_limit"]


@pytest.mark.parametrize("field", NUMBERS)
def test_numbers_are_checked(field: str) -> None:
    near = NEAR if field == "tolerance" else {}
    for value in [*NOT_WHOLE, Vicious()]:
        if value is None and field not in ("epoch", "memory_limit"):
            continue
        with fails(WrongTypeError, field):
            make(**{**near, field: value})
    for wide in (2**64, -(2**64), 10**5000):
        with fails(OutOfRangeError, field):
            make(**{**near, field: wide})


@pytest.mark.parametrize("field", ["shuffle", "shuffle_rows", "reshuffle"])
@pytest.mark.parametrize("value", [0, 1, "", "yes", np.int64(1)])
def test_switches_are_bools(field: str, value: Any) -> None:
    with fails(WrongTypeError, field):
        make(**{field: value})
    assert make(**{field: np.bool_(False)}).verify().ok


@pytest.mark.parametrize("field", ["policy", "worker_policy", "balance_by"])
def test_names_must_be_known(field: str) -> None:
    for value in UNKNOWN:
        with fails(UnknownNameError, field):
            make(**{field: value})
    for no_name in (0, True, b"samples", Vicious()):
        with fails(WrongTypeError, field):
            make(**{field: no_name})


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (OutOfRangeError, "world_size", {"world_size": 0}),
        (OutOfRangeError, "workers", {"workers": 0}),
        (OutOfRangeError, "workers", {"world_size": 2**22, "workers": 2}),
        (OutOfRangeError, "sizes", {"sizes": [2**53]}),
        (OutOfRangeError, "sizes", {"sizes": [2**63, 2**63, 5]}),
        (OutOfRangeError, "bytes", {"sizes": [1], "bytes": [2**53]}),
        (UnknownNameError, "worker_policy", {"worker_policy": "locality-aware"}),
        (ContradictionError, "bytes", {"bytes": [1]}),
        (MissingError, "bytes", {"balance_by": "bytes"}),
        (MissingError, "holders", {"policy": "locality-aware"}),
        (ContradictionError, "rank_nodes", {"rank_nodes": [1]}),
        (ContradictionError, "tolerance", {"tolerance": 5}),
        (MissingError, "rank_nodes", {"policy": "locality-aware", "holders": [[1]] * 6}),
        (MissingError, "holders", {**NEAR, "holders": [[1]] * 5 + [[]]}),
        (ContradictionError, "holder_offsets", {**NEAR, "holders": [[1]] * 5}),
        (ContradictionError, "rank_nodes", {**NEAR, "rank_nodes": [1]}),
    ],
)
def test_configurations_that_cannot_be(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with fails(error, field):
        make(**options)


CALLS: dict[str, tuple[str, Callable[[ShardPlan, Any], Any]]] = {
    "set_epoch": ("epoch", lambda plan, value: plan.set_epoch(value)),
    "num_shards of a rank": ("rank", lambda plan, value: plan.num_shards(value)),
    "num_shards of a worker": ("worker", lambda plan, value: plan.num_shards(0, value)),
    "shards of a rank": ("rank", lambda plan, value: plan.shards(value)),
    "shards of a worker": ("worker", lambda plan, value: plan.shards(0, value)),
    "rows of": ("shard", lambda plan, value: plan.rows(value)),
    "rows from": ("start", lambda plan, value: plan.rows(0, value)),
    "rows to": ("stop", lambda plan, value: plan.rows(0, 0, value)),
    "steps": ("batch_size", lambda plan, value: plan.steps(value)),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_checks_and_leaves_the_plan_working(name: str) -> None:
    field, call = CALLS[name]
    plan = make(world_size=2, workers=2, seed=1)
    before = readers(plan)
    for value in [*NOT_WHOLE, Vicious()]:
        if value is None and name == "rows to":
            continue
        with fails(WrongTypeError, field):
            call(plan, value)
    for value in TOO_WIDE + [2**32, 51, 0] * (name not in ("set_epoch", "steps")):
        if value != 0:
            with fails(OutOfRangeError, field):
                call(plan, value)
    assert readers(plan) == before
    assert plan.epoch == 0


@pytest.mark.parametrize(
    ("error", "field", "call"),
    [
        (OutOfRangeError, "batch_size", lambda plan: plan.steps(0)),
        (WrongTypeError, "drop_last", lambda plan: plan.steps(1, 1)),
        (OutOfRangeError, "stop", lambda plan: plan.rows(0, 3, 2)),
        (UnknownNameError, "tier", lambda plan: plan.loads("rank")),
        (WrongTypeError, "tier", lambda plan: plan.loads(None)),
        (UnknownNameError, "tier", lambda plan: plan.load_summary("worker")),
        (UnknownNameError, "balance_by", lambda plan: plan.load_summary("ranks", "tokens")),
        (MissingError, "bytes", lambda plan: plan.load_summary("ranks", "bytes")),
    ],
)
def test_every_call_has_its_range(error: type[SamedealError], field: str, call: Callable[[ShardPlan], Any]) -> None:
    plan = make()
    for _ in range(3):
        with fails(error, field):
            call(plan)
    assert plan.verify().ok


def test_no_shards() -> None:
    plan = ShardPlan([], world_size=3, workers=2)
    assert readers(plan) == [[]] * 6
    assert plan.loads("workers").shards.tolist() == [0] * 6
    assert plan.load_summary().imbalance == 1.0
    assert plan.steps(4) == (0, 0)
    assert plan.verify().ok


def test_what_readers_have() -> None:
    found = verify_shards(np.int64(5), [[0, 1], [], np.array([3, 1]), (3, 3)])
    assert type(found.overlaps) is Overlaps
    assert [*map(list, found.overlaps)] == [[1, 3, 3], [0, 2, 2], [2, 3, 3]]
    assert [*map(list, found.gaps)] == [[2, 4], [1, 1]]
    assert not found.ok
    assert verify_shards(3, np.array([[2], [0], [1]])).ok
    assert verify_shards(0, []).ok
    gaps = verify_shards(9, iter([[1], [7, 4]])).gaps
    assert (gaps.first_shard.tolist(), gaps.num_shards.tolist()) == ([0, 2, 5, 8], [1, 2, 2, 1])


def test_what_readers_cannot_have() -> None:
    for shards in (5, -1, 2**32):
        with pytest.raises(OutOfRangeError) as caught:
            verify_shards(5, [[0], [shards]])
        # The component refuses the 5. It gets one flat list, so its error names no list and no index.
        told = "5" if shards == 5 else f"{shards} (at index 0 of list 1)"
        assert (caught.value.field, caught.value.value, caught.value.allowed) == ("assigned", told, "0 to 4")
    for value in [*NOT_WHOLE, Vicious()]:
        with fails(WrongTypeError, "num_shards"):
            verify_shards(value, [])
    for wide in [*TOO_WIDE, 2**32]:
        with fails(OutOfRangeError, "num_shards"):
            verify_shards(wide, [])


@pytest.mark.parametrize("shards", [10**8, 2**32 - 1])
def test_gaps_take_no_memory(shards: int) -> None:
    gaps = verify_shards(shards, [[0], [1]]).gaps
    assert (gaps.first_shard.tolist(), gaps.num_shards.tolist()) == ([2], [shards - 2])
    many = 10_000_000
    assert verify_shards(many, [np.arange(many, dtype=np.uint32)]).ok
