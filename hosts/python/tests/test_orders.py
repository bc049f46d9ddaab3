"""Composed orders: the promises of each, and values that are refused."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import samedeal
from hostile import NOT_WHOLE, Vicious, fails
from samedeal import (
    ContradictionError,
    MissingError,
    Order,
    OutOfRangeError,
    Sampler,
    UnknownMemberError,
    UnknownNameError,
    WrongTypeError,
)
from samedeal.ledger import Ledger, MemoryLog

WEB, CODE, BOOKS = 1000, 400, 30


def a_blend(**options: Any) -> Order:
    return samedeal.blend({"web": (WEB, 7), "code": (CODE, 2), "books": (BOOKS, 1)}, seed=42, **options)


def dealt(order: Order, world_size: int, epoch: int = 0) -> list[int]:
    """The samples of all ranks, in the order of positions."""
    ranks = [Sampler(order=order, epoch=epoch, world_size=world_size, rank=rank) for rank in range(world_size)]
    found = {}
    for rank, sampler in enumerate(ranks):
        own = [at for at in range(sampler.num_positions) if rank_of(sampler, at) == rank]
        places = {sampler.place_of(at, 1).index_in_rank: at for at in own}
        for index, sample in enumerate(sampler):
            found[places[index]] = sample
    return [found[at] for at in sorted(found)]


def rank_of(sampler: Sampler, position: int) -> int:
    return sampler.place_of(position, 1).rank


def names_of(sampler: Sampler, samples: Any) -> Counter[str]:
    return Counter(sampler.sources[sampler.source_of(int(sample)).source] for sample in samples)


def test_a_blend_has_exact_counts_at_every_position() -> None:
    sampler = Sampler(order=a_blend())
    assert (sampler.dataset_size, sampler.epoch_length, sampler.sources) == (1430, 1430, ("web", "code", "books"))
    samples = sampler.indices()
    assert names_of(sampler, samples[:100]) == {"web": 70, "code": 20, "books": 10}
    counted = [0, 0, 0]
    for end, sample in enumerate(samples.tolist(), 1):
        counted[sampler.source_of(sample).source] += 1
        for count, weight, bound in zip(counted, (7, 2, 1), sampler.source_bounds.tolist(), strict=True):
            assert abs(count - Fraction(weight * end, 10)) * 10**6 <= bound
        if end % 97 == 0:
            assert sampler.source_counts(0, end)["count"].tolist() == counted
            assert sampler.source_counts(end)["first"].tolist() == counted
    assert sampler.source_counts(10, 30)["count"].sum() == 20


def test_the_columns_of_counts_say_where_each_source_is() -> None:
    sampler = Sampler(order=a_blend(), epoch=1)
    found = sampler.source_counts()
    assert set(found) >= {"first", "count", "from_pass", "from_position", "to_pass", "to_position"}
    assert all(numbers.dtype == np.int64 and len(numbers) == 3 for numbers in found.values())
    sizes = np.array([WEB, CODE, BOOKS])
    assert (found["from_pass"] * sizes + found["from_position"] == found["first"]).all()
    assert (found["to_pass"] * sizes + found["to_position"] == found["first"] + found["count"]).all()
    # In the second epoch, each source continues where it ended in the first one.
    assert found["first"].tolist() == Sampler(order=a_blend()).source_counts()["count"].tolist()


def test_every_pass_of_a_source_is_whole() -> None:
    sampler = Sampler(order=a_blend())
    books: list[int] = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        books += [place.index for place in map(sampler.source_of, sampler) if place.source == 2]
    assert len(books) == 429
    passes = [books[at : at + BOOKS] for at in range(0, 420, BOOKS)]
    assert all(sorted(each) == list(range(BOOKS)) for each in passes)
    assert len({tuple(each) for each in passes}) == len(passes)


def test_exact_blends_stay_within_one_sample() -> None:
    order = samedeal.blend({"a": (10, 5), "b": (10, 3), "c": (10, 1), "d": (10, 4)}, exact=True, samples=130)
    sampler = Sampler(order=order)
    assert sampler.order == "blend-exact"
    assert (sampler.source_bounds == -(-5 * 10**6 // 6)).all()
    for end in range(131):
        counts = sampler.source_counts(0, end)["count"].tolist()
        assert all(
            abs(count - Fraction(weight * end, 13)) < 1 for count, weight in zip(counts, (5, 3, 1, 4), strict=True)
        )


def test_a_blend_over_ranks_is_the_whole_order() -> None:
    order = a_blend()
    whole = Sampler(order=order).indices().tolist()
    for world_size in (1, 2, 5):
        assert dealt(order, world_size) == whole


def test_ranks_get_samples_of_every_source() -> None:
    order = samedeal.blend({"a": (500, 1), "b": (500, 1)})
    for layout, kinds in ((None, 2), ("rotated", 2), ("strided", 1)):
        sampler = Sampler(order=order, world_size=2, layout=layout)
        assert len(names_of(sampler, sampler)) == kinds
    assert Sampler(order=order).layout == "rotated"
    assert Sampler(order=samedeal.order("feistel", 9).exclude([1])).layout == "strided"


def test_a_stage_changes_what_comes_after_it_alone() -> None:
    before, after = a_blend(samples=10_000), a_blend(samples=10_000).stage(5000, {"web": 1, "books": 0, "code": 1})
    assert after == a_blend(samples=10_000, stages=[(5000, [1, 1, 0])])
    old, new = Sampler(order=before), Sampler(order=after)
    assert (old[:5000] == new[:5000]).all()
    assert new.source_counts(5000)["count"].tolist() == [2500, 2500, 0]
    assert before.to_dict().get("stages") is None


def test_a_run_resumes_with_a_stage_and_a_source_on_another_world() -> None:
    order = a_blend(samples=12_000)
    first = [Sampler(order=order, world_size=4, rank=rank) for rank in range(4)]
    seen = [sample for sampler in first for sample in sampler[:1500]]
    state = first[0].state(1500)
    more = order.stage(6000, {"web": 1, "code": 1, "books": 1, "math": 1}, sources={"math": 50})
    rest = []
    for rank in range(3):
        sampler = Sampler(order=more, world_size=3, rank=rank)
        sampler.resume(state)
        assert (sampler.consumed, sampler.dataset_size) == (6000, 1480)
        rest += list(sampler)
    counted = names_of(Sampler(order=more), seen)
    assert counted == {"web": 4200, "code": 1200, "books": 600}
    assert names_of(Sampler(order=more), rest) == dict.fromkeys(("web", "code", "books", "math"), 1500)
    # The passes of each source continue after the resume: "web" has 4,200 draws in all.
    web = Counter(sample for sample in [*seen, *rest] if sample < WEB)
    assert sorted(set(web.values())) == [5, 6]
    # A stage that begins before the state would change samples that were read.
    with fails(ContradictionError, "stages"):
        Sampler(order=order.stage(5999, [1, 1, 1])).resume(state)


def test_what_happens_when_a_source_is_through() -> None:
    sources = {"a": (100, 3), "b": (30, 1), "c": (50, 1)}
    stop = Sampler(order=samedeal.blend(sources, exhaustion="stop"))
    counts = stop.source_counts()["count"].tolist()
    assert max(Fraction(counts[0], 100), Fraction(counts[1], 30), Fraction(counts[2], 50)) == 1
    whole = Sampler(order=samedeal.blend(sources, exhaustion="renormalize", max_passes=2))
    assert whole.source_counts()["count"].tolist() == [200, 60, 100]
    assert set(Counter(whole).values()) == {2}
    assert len(Sampler(order=samedeal.blend(sources, exhaustion="fail", samples=100))) == 100
    with fails(OutOfRangeError, "samples"):
        Sampler(order=samedeal.blend(sources, exhaustion="fail", samples=181))


def test_batches_of_one_source_and_of_all() -> None:
    sources = {"a": (100, 5), "b": (30, 2), "c": (50, 1)}
    of_one = samedeal.blend(sources, run_length=8, samples=1600)
    for rank in range(3):
        sampler = Sampler(order=of_one, world_size=3, rank=rank, unit=8)
        batches = np.asarray([[sampler.source_of(int(i)).source for i in batch] for batch in sampler.batches(8)])
        assert (batches == batches[:, :1]).all()
        assert set(batches[:, 0]) == {0, 1, 2}
    assert Sampler(order=of_one).source_counts()["count"].tolist() == [1000, 400, 200]
    single = Sampler(order=samedeal.blend(sources, samples=1600)).source_bounds
    assert Sampler(order=of_one).source_bounds.tolist() == (8 * single).tolist()
    # If the weights add up to the batch size, or to a divisor of it, every batch is divided in proportion.
    of_all = samedeal.blend(sources, samples=1600)
    for rank in range(3):
        sampler = Sampler(order=of_all, world_size=3, rank=rank, unit=16)
        for batch in sampler.batches(16):
            assert Counter(sampler.source_of(int(i)).source for i in batch) == {0: 10, 1: 4, 2: 2}
    state = Sampler(order=of_one).state(80)
    with fails(ContradictionError, "run_length"):
        Sampler(order=samedeal.blend(sources, samples=1600)).resume(state)
    later = Sampler(order=of_one.stage(88, [1, 1, 1]))
    later.resume(state)
    assert later[:8].tolist() == Sampler(order=of_one)[80:88].tolist()
    for options in ({"samples": 1601}, {"exhaustion": "fail", "samples": 9}, {"stages": [(4, [1, 1, 1])]}):
        with pytest.raises(ContradictionError, match="multiple of 8, which is run_length"):
            Sampler(order=samedeal.blend(sources, run_length=8, **options))
    with fails(ContradictionError, "run_length"):
        Sampler(order=samedeal.blend(sources, run_length=8, exhaustion="renormalize"))


def test_sources_may_be_parts_of_one_dataset() -> None:
    rows = samedeal.order("feistel", 1000, seed=1)
    order = samedeal.blend(
        {"even": (rows.subset(range(0, 1000, 2)), 1), "odd": (rows.subset(range(1, 1000, 2)), 3)}, index_space="shared"
    )
    sampler = Sampler(order=order)
    assert (sampler.dataset_size, sampler.epoch_length) == (1000, 1000)
    assert Counter(sample % 2 for sample in sampler) == {0: 250, 1: 750}
    with fails(ContradictionError, "index_space"):
        sampler.source_of(0)
    assert set(order.lists) == {"sources/even/indices", "sources/odd/indices"}


def test_sources_may_be_blends_and_shards() -> None:
    inner = samedeal.blend({"x": (10, 1), "y": (20, 1)})
    shards = samedeal.sharded([40] * 300, lanes=4, shuffle_window=8)
    order = samedeal.blend({"inner": (inner, 1), "shards": (shards, 1)}, samples=120)
    sampler = Sampler(order=order)
    assert sampler.dataset_size == 30 + 12_000
    assert names_of(sampler, sampler) == {"inner": 60, "shards": 60}
    assert list(order.lists) == ["sources/shards/sizes"]


def test_growth_in_the_middle_of_an_epoch() -> None:
    order = samedeal.order("feistel", 100, seed=5)
    old = [Sampler(order=order, epoch=2, world_size=4, rank=rank) for rank in range(4)]
    seen = [sample for sampler in old for sample in sampler[:10]]
    state = old[0].state(10)
    grown = order.grow(2, 40, 150).grow(2, 90, 160)
    assert grown == samedeal.grown(100, [(2, 40, 150), (2, 90, 160)], seed=5)
    for world_size in (1, 3):
        rest = []
        for rank in range(world_size):
            sampler = Sampler(order=grown, world_size=world_size, rank=rank, remainder="uneven")
            sampler.resume(state)
            rest += list(sampler)
        assert sorted([*seen, *rest]) == list(range(160))
    lengths = [Sampler(order=grown, epoch=epoch).epoch_length for epoch in range(4)]
    assert lengths == [100, 100, 160, 160]
    assert list(Sampler(order=grown, epoch=3)) == list(Sampler(160, seed=5, epoch=3))


def test_a_million_of_a_billion_samples_are_left_out() -> None:
    bad = np.arange(0, 10**9, 1000)
    order = samedeal.order("feistel", 10**9, seed=3).exclude(bad)
    sampler = Sampler(order=order, world_size=64, rank=5)
    assert (sampler.epoch_length, sampler.dataset_size) == (10**9 - 10**6, 10**9)
    some = sampler[1_000_000:1_000_200]
    assert len(set(some.tolist())) == 200
    assert (some % 1000 != 0).all()
    assert sampler.locate(5000, 32) is None
    place = sampler.locate(int(some[7]), 32)
    assert place is not None
    assert (place.rank, place.index_in_rank) == (5, 1_000_007)
    # The list is passed beside the text, wherever the order is nested, and never copied.
    nested = samedeal.blend({"web": (order.copies(2), 1)})
    assert np.shares_memory(nested.lists["sources/web/of/indices"], order.lists["indices"])
    assert len(nested.to_json()) < 200
    assert len(sampler.recipe) < 300


def test_views_keep_the_order() -> None:
    whole = list(Sampler(1000, seed=9, epoch=4))
    order = samedeal.order("feistel", 1000, seed=9)
    some = list(range(0, 1000, 3))
    assert list(Sampler(order=order.exclude(some), epoch=4)) == [sample for sample in whole if sample % 3]
    assert list(Sampler(order=order.subset(some), epoch=4)) == [sample for sample in whole if sample % 3 == 0]
    assert list(Sampler(order=order.skip([(3, 0, 5), (4, 10, 20)]), epoch=4)) == whole[:10] + whole[30:]
    assert list(Sampler(order=order.copies(3), epoch=4)) == [sample for sample in whole for _ in range(3)]
    for name in samedeal.plain_orders():
        order = samedeal.order(name, 50, 1).exclude([7])
        assert list(Sampler(order=order)) == [sample for sample in Sampler(50, seed=1, order=name) if sample != 7]


def test_positions_are_skipped_after_a_state() -> None:
    order = samedeal.order("feistel", 100, seed=2)
    state = Sampler(order=order, world_size=2).state(25)
    sampler = Sampler(order=order.skip([(0, 60, 10)]))
    sampler.resume(state)
    whole = list(Sampler(order=order))
    assert list(sampler) == whole[50:60] + whole[70:]
    with fails(ContradictionError, "ranges"):
        Sampler(order=order.skip([(0, 49, 10)])).resume(state)


def test_copies_for_groups() -> None:
    ranks = [Sampler(order=samedeal.order("feistel", 90).copies(4), world_size=4, rank=rank) for rank in range(4)]
    assert ranks[0].layout == "rotated"
    assert len({tuple(rank) for rank in ranks}) == 1


def test_windows_of_episodes() -> None:
    sizes = [10, 3, 4, 9] * 100
    for length, stride in ((4, None), (4, 1), (3, 5)):
        step = length if stride is None else stride
        begins = [0, *itertools.accumulate(sizes)]
        expected = [
            begin + at for begin, size in zip(begins, sizes, strict=False) for at in range(0, size - length + 1, step)
        ]
        order = samedeal.windows(sizes, length, stride, seed=3)
        sampler = Sampler(order=order)
        assert sorted(sampler) == expected
        assert list(sampler) != expected
        assert sampler.dataset_size == sum(sizes)


@pytest.mark.parametrize(
    "factors",
    [[0.5, 2, 0], [0.5, 2.0, 0.0], [Fraction(1, 2), np.int32(2), 0], np.array([0.5, 2, 0])],
)
def test_balance_is_exact(factors: Any) -> None:
    classes = np.repeat([0, 1, 2], [600, 101, 50])
    order = samedeal.balance(classes, factors, seed=8)
    assert order == samedeal.balance(classes.tolist(), (Fraction(1, 2), 2, 0.0), 8)
    assert order.to_dict()["factors"] == [500_000, 2_000_000, 0]
    sampler, seen = Sampler(order=order, world_size=2), Counter[int]()
    for epoch in range(4):
        sampler.set_epoch(epoch)
        samples: list[int] = []
        for rank in range(2):
            sampler.set_rank(rank)
            samples += sampler[: len(sampler) - sampler.num_padding].tolist()
        found = Counter(samples)
        assert sampler.epoch_length == len(samples) == 502
        assert {found[sample] for sample in range(600)} == {0, 1}
        assert {found[sample] for sample in range(600, 701)} == {2}
        assert not any(found[sample] for sample in range(701, 751))
        seen += found
    assert {seen[sample] for sample in range(600)} <= {1, 2, 3}


@pytest.mark.parametrize("replacement", [True, False])
def test_weights_decide_how_often(replacement: bool) -> None:
    weights = np.repeat([5, 1, 0], [10, 100, 7])
    order = samedeal.weighted(weights, 30, seed=8, replacement=replacement)
    assert order == samedeal.weighted(weights.tolist(), 30, 8, replacement=replacement)
    assert order.to_dict().get("replacement", True) is replacement
    seen = Counter[int]()
    for epoch in range(20):
        samples = dealt(order, 2, epoch)
        found = Counter(samples)
        assert Sampler(order=order, epoch=epoch).epoch_length == len(samples) == 30
        assert {found[sample] for sample in range(10)} <= {1, 2}
        assert replacement or set(found.values()) == {1}
        # The large weights have a third of the draws. Without replacement, each of these samples is drawn in every
        # epoch.
        assert sum(found[sample] for sample in range(10)) == 10
        seen += found
    assert not any(seen[sample] for sample in range(110, 117))
    assert all(abs(seen[sample] - 20 * 0.2) < 3 for sample in range(10, 110))


def test_weights_that_cannot_be_meant() -> None:
    with fails(OutOfRangeError, "weights"):
        Sampler(order=samedeal.weighted([0, 0]))
    with fails(OutOfRangeError, "weights"):
        Sampler(order=samedeal.weighted([2**53 - 1, 1]))
    with fails(ContradictionError, "samples"):
        Sampler(order=samedeal.weighted([1, 0, 2], 3, replacement=False))
    with fails(WrongTypeError, "replacement"):
        samedeal.weighted([1], replacement=1)  # type: ignore[arg-type]
    # An epoch may have no draws.
    assert list(Sampler(order=samedeal.weighted([1, 2], 0))) == []


def test_epochs_may_differ_in_length() -> None:
    order = samedeal.order("sequential", 10).skip([(1, 0, 4)])
    sampler = Sampler(order=order, world_size=3)
    batches = sampler.batches(2)
    lengths = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        lengths.append((sampler.epoch_length, len(sampler), len(batches), sum(map(len, batches))))
    assert lengths == [(10, 4, 2, 4), (6, 2, 1, 2), (10, 4, 2, 4)]


def test_every_occurrence_is_found() -> None:
    sampler = Sampler(order=samedeal.blend({"a": (5, 1), "b": (50, 1)}, samples=103), world_size=4, remainder="pad")
    positions = [at for at in range(sampler.num_positions) if sampler.sample_at(at) == 3]
    found, place = [], sampler.locate(3, 4)
    while place is not None:
        found.append(place.position)
        assert place == sampler.locate_from(3, place.position, 4)
        place = sampler.locate_from(3, place.position + 1, 4)
    assert found == positions
    assert len(found) > 10
    assert sampler.locate_from(3, sampler.num_positions, 4) is None


def test_epochs_end_where_whole_numbers_do() -> None:
    sampler = Sampler(order=samedeal.blend({"a": (10, 1)}, samples=2**52))
    before = sampler[:5].tolist()
    for epoch in (1, 2**64 - 1):
        with fails(OutOfRangeError, "epoch"):
            sampler.set_epoch(epoch)
    assert (sampler.epoch, sampler[:5].tolist()) == (0, before)


def test_a_ledger_of_a_blend() -> None:
    excluded = samedeal.order("feistel", WEB, seed=1).exclude(range(300))
    order = samedeal.blend({"web": (excluded, 1), "code": (CODE, 1)}, samples=200)
    sampler = Sampler(order=order, world_size=8)
    ledger = Ledger(sampler, MemoryLog(), reader=0)
    given = []
    while (claim := ledger.claim(64)) is not None:
        given += claim.samples.tolist()
        claim.commit()
    assert given == Sampler(order=order).indices().tolist()


def test_orders_are_values() -> None:
    order = samedeal.blend({"web": (samedeal.order("feistel", 5000, 1).subset(range(2500)), 3), "code": (7, 1)}, seed=2)
    for other in (
        pickle.loads(pickle.dumps(order)),
        copy.copy(order),
        copy.deepcopy(order),
        Order(order.to_dict(), order.lists),
    ):
        assert other == order
        assert hash(other) == hash(order)
        assert Sampler(order=other).recipe == Sampler(order=order).recipe
        assert not other.lists["sources/web/indices"].flags.writeable
    assert order != samedeal.blend(
        {"web": (samedeal.order("feistel", 5000, 1).subset(range(1, 2501)), 3), "code": (7, 1)}, seed=2
    )
    assert order != order.copies(1)
    assert order != "blend"
    changes: list[Callable[[], Any]] = [
        lambda: setattr(order, "_members", {}),
        lambda: delattr(order, "_lists"),
        lambda: order.lists.update({}),  # type: ignore[attr-defined]
    ]
    for change in changes:
        with pytest.raises(AttributeError):
            change()
    order.to_dict()["sources"].clear()
    assert len(order.to_dict()["sources"]) == 2
    short = samedeal.order("feistel", 10).exclude([1, 2])
    assert eval(repr(short), {"Order": Order}) == short
    assert json.loads(short.to_json()) == short.to_dict()


def test_what_was_given_may_change_afterwards() -> None:
    indices = np.arange(1000)
    order = samedeal.order("feistel", 5000).subset(indices)
    known = Sampler(order=order).indices().tolist()
    indices += 1
    assert Sampler(order=order).indices().tolist() == known


@pytest.mark.parametrize("count", [256, 257])
def test_long_lists_are_beside_the_text(count: int) -> None:
    order = samedeal.order("feistel", 1000).subset(range(count)).copies(1)
    assert (list(order.lists) == ["of/indices"]) == (count > 256)
    made = Sampler(order=order)
    assert Sampler.from_recipe(made.recipe, lists=order.lists).recipe == made.recipe
    assert Sampler.from_recipe({"order": order.to_dict()}, lists=order.lists).recipe == made.recipe
    if count > 256:
        with fails(ContradictionError, "indices"):
            Sampler.from_recipe(made.recipe, lists={"of/indices": range(1, 258)})


def test_a_sampler_shows_its_order() -> None:
    order = a_blend()
    sampler = Sampler(order=order, world_size=3, rank=2, epoch=5)
    assert repr(sampler) == f"Sampler(order={order!r}, world_size=3, epoch=5, rank=2)"
    again = eval(repr(sampler), {"Order": Order, "Sampler": Sampler})
    assert list(again) == list(sampler)
    assert repr(Sampler(order=samedeal.order("torch", 10), rank=0)) == "Sampler(10, order='torch', epoch=0, rank=0)"
    copied = pickle.loads(pickle.dumps(sampler))
    assert list(copied) == list(sampler)


FEISTEL = samedeal.order("feistel", 10)
BLEND = samedeal.blend({"a": (10, 1), "b": (10, 1)})
NUMBERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "order samples": ("samples", lambda value: samedeal.order("feistel", value)),
    "order seed": ("seed", lambda value: samedeal.order("feistel", 10, value)),
    "lanes": ("lanes", lambda value: samedeal.sharded([1], value)),
    "shuffle_window": ("shuffle_window", lambda value: samedeal.sharded([1], 1, value)),
    "source": ("samples", lambda value: samedeal.blend({"a": (value, 1)})),
    "weight": ("weight", lambda value: samedeal.blend({"a": (1, value)})),
    "blend samples": ("samples", lambda value: samedeal.blend({"a": (1, 1)}, samples=value)),
    "max_passes": ("max_passes", lambda value: samedeal.blend({"a": (1, 1)}, max_passes=value)),
    "run_length": ("run_length", lambda value: samedeal.blend({"a": (1, 1)}, run_length=value)),
    "stage": ("from", lambda value: BLEND.stage(value, [1, 1])),
    "weights": ("weights", lambda value: BLEND.stage(1, [1, value])),
    "weights by name": ("weight", lambda value: BLEND.stage(1, {"a": 1, "b": value})),
    "grown samples": ("samples", lambda value: samedeal.grown(value, [])),
    "grown epoch": ("epoch", lambda value: samedeal.grown(1, [(value, 0, 2)])),
    "grown consumed": ("consumed", lambda value: FEISTEL.grow(0, value, 20)),
    "indices": ("indices", lambda value: FEISTEL.exclude([value])),
    "subset": ("indices", lambda value: FEISTEL.subset([value])),
    "range": ("count", lambda value: FEISTEL.skip([(0, 0, value)])),
    "copies": ("copies", lambda value: FEISTEL.copies(value)),
    "length": ("length", lambda value: samedeal.windows([10], value)),
    "stride": ("stride", lambda value: samedeal.windows([10], 1, value)),
    "classes": ("classes", lambda value: samedeal.balance([value], [1])),
    "draws": ("samples", lambda value: samedeal.weighted([1], value)),
    "weights of samples": ("weights", lambda value: samedeal.weighted([value])),
}
OPTIONAL = {"order seed", "lanes", "shuffle_window", "blend samples", "max_passes", "run_length", "stride", "draws"}
LISTED = {"weights", "indices", "subset", "classes", "weights of samples"}
FRACTIONS = {"weight", "weights", "weights by name"}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_whole(name: str) -> None:
    field, make = NUMBERS[name]
    for value in [*NOT_WHOLE, Vicious()]:
        if (value is None and name in OPTIONAL) or (name in FRACTIONS and isinstance(value, float)):
            continue
        with fails(WrongTypeError, field):
            make(value)
    for value in (10**5000, -(10**5000)):
        with fails(OutOfRangeError, field):
            make(value)
    # Integers of NumPy are accepted.
    assert make(np.int32(1)) == make(1)


LISTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "sizes": ("sizes", lambda value: samedeal.sharded(value)),
    "episodes": ("sizes", lambda value: samedeal.windows(value, 1)),
    "classes": ("classes", lambda value: samedeal.balance(value, [1])),
    "factors": ("factors", lambda value: samedeal.balance([0], value)),
    "weights of samples": ("weights", samedeal.weighted),
    "exclude": ("indices", lambda value: FEISTEL.exclude(value)),
    "subset": ("indices", lambda value: FEISTEL.subset(value)),
    "skip": ("ranges", lambda value: FEISTEL.skip(value)),
    "a range": ("ranges", lambda value: FEISTEL.skip([value])),
    "growth": ("growth", lambda value: samedeal.grown(1, value)),
    "a growth": ("growth", lambda value: samedeal.grown(1, [value])),
    "stages": ("stages", lambda value: samedeal.blend({"a": (1, 1)}, stages=value)),
    "a stage": ("stages", lambda value: samedeal.blend({"a": (1, 1)}, stages=[value])),
    "weights": ("weights", lambda value: BLEND.stage(1, value)),
    "sources": ("sources", lambda value: samedeal.blend(value)),
    "more sources": ("sources", lambda value: BLEND.stage(1, [1, 1], sources=value)),
    "a source": ("sources", lambda value: samedeal.blend({"a": value})),
    "lists": ("lists", lambda value: Order({"name": "feistel"}, value)),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    "value", [3, "12", b"12", True, 1.5, {1, 2}, np.array(3), Vicious()], ids=lambda value: type(value).__name__
)
def test_lists_are_lists(name: str, value: Any) -> None:
    field, make = LISTS[name]
    with fails(WrongTypeError, field):
        make(value)


def test_parts_have_their_number() -> None:
    cases: list[tuple[str, Callable[[], Any]]] = [
        ("ranges", lambda: FEISTEL.skip([(0, 1)])),
        ("growth", lambda: samedeal.grown(1, [(0, 1, 2, 3)])),
        ("sources", lambda: samedeal.blend({"a": (10,)})),  # type: ignore[dict-item]
        ("stages", lambda: samedeal.blend({"a": (10, 1)}, stages=[(1,)])),  # type: ignore[list-item]
    ]
    for field, make in cases:
        with fails(WrongTypeError, field):
            make()


def test_weights_may_be_decimal_fractions() -> None:
    def recipe(order: samedeal.Order) -> str:
        return samedeal.Sampler(order=order).recipe

    whole = samedeal.blend({"web": (10, 7), "code": (10, 3)}, stages=[(5, [1, 3])])
    shares = samedeal.blend({"web": (10, 0.7), "code": (10, 0.3)}, stages=[(5, {"web": 0.25, "code": 0.75})])
    assert recipe(shares) == recipe(whole)
    before = samedeal.blend({"web": (10, np.float32(0.7)), "code": (10, Fraction(3, 10))})
    for weights in ([0.25, 0.75], np.array([0.25, 0.75], dtype=np.float32), np.array([1, 3]), (0.5, 1.5)):
        assert recipe(before.stage(5, weights)) == recipe(whole)
    fitted = samedeal.Sampler(order=samedeal.blend({"a": (10, 0.14285714285714288), "b": (10, 0.8571428571428571)}))
    assert [source["weight"] for source in json.loads(fitted.recipe)["order"]["sources"]] == [
        142857142857143,
        857142857142857,
    ]


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("weight", lambda: samedeal.blend({"web": (10, 7), "code": (10, "3")})),  # type: ignore[dict-item]
        ("weight", lambda: BLEND.stage(5, {"a": 7, "b": None})),  # type: ignore[arg-type]
        ("weights", lambda: samedeal.blend({"web": (10, 7), "code": (10, 3)}).stage(5, [0.7, "3"])),  # type: ignore[arg-type]
    ],
)
def test_a_weight_that_is_no_number_names_its_source(field: str, make: Callable[[], Any]) -> None:
    with fails(WrongTypeError, field) as caught:
        make()
    assert any(f"the source {name!r}" in str(caught.value) for name in ("code", "b"))


def test_a_share_that_would_become_nothing_is_refused() -> None:
    with fails(OutOfRangeError, "weight"):
        samedeal.Sampler(order=samedeal.blend({"web": (10, 1), "code": (10, 1e-30)}))
    for value in (math.nan, math.inf):
        with fails(OutOfRangeError, "weight"):
            samedeal.blend({"web": (10, value), "code": (10, 1)})


def test_a_factor_that_is_not_in_millionths_names_its_class() -> None:
    with fails(OutOfRangeError, "factors") as caught:
        samedeal.balance([0, 1], [1.0, 5 / 9])
    assert "class 1" in str(caught.value)


@pytest.mark.parametrize("factors", [[7, 1, 0], np.array([7, 1, 0]), (np.int64(7), 1, 0)])
def test_balance_with_a_length_has_it_in_every_epoch(factors: Any) -> None:
    classes = np.repeat([0, 1, 2], [600, 101, 50])
    order = samedeal.balance(classes, factors, seed=8, samples=11)
    assert (order.to_dict()["samples"], order.to_dict()["factors"]) == (11, [7, 1, 0])
    sampler, seen = Sampler(order=order), Counter[int]()
    for epoch in range(500):
        sampler.set_epoch(epoch)
        assert sampler.epoch_length == len(sampler) == 11
        seen.update(sampler[:].tolist())
    for sample, factor in ((s, 7 if s < 600 else 1 if s < 701 else 0) for s in range(751)):
        assert abs(seen[sample] - 5500 * factor / 4301) < 2


def test_a_small_factor_is_refused_with_what_to_do() -> None:
    with fails(OutOfRangeError, "factors") as caught:
        samedeal.balance([0, 1], [1.0, 1e-9])
    assert "pass whole numbers and samples=" in str(caught.value)
    assert Sampler(order=samedeal.balance([0, 1], [1_000_000_000, 1], samples=5)).epoch_length == 5
    with fails(WrongTypeError, "factors") as caught:
        samedeal.balance([0, 1], [0.7, 0.3], samples=5)
    assert "samedeal.whole_weights makes them of floats" in str(caught.value)
    for factors in ([0, 0], [2**53 - 1, 1]):
        with fails(OutOfRangeError, "factors") as caught:
            Sampler(order=samedeal.balance([0, 1], factors, samples=5))
        assert "only their proportions count" in str(caught.value)


def test_weights_of_a_stage_are_of_its_sources() -> None:
    with fails(UnknownNameError, "source") as caught:
        BLEND.stage(5, {"a": 1, "b": 1, "c": 1})
    assert caught.value.known == ("a", "b")
    with fails(MissingError, "weight"):
        BLEND.stage(5, {"a": 1})
    with fails(ContradictionError, "order"):
        FEISTEL.stage(5, [1])
    # The core refuses growth of other orders, as in all hosts.
    for other in (BLEND, FEISTEL.exclude([1]), Order({"samples": 3})):
        with fails(ContradictionError, "growth") as caught:
            Sampler(order=other.grow(0, 1, 20))
        assert "it goes with order grown" in caught.value.allowed


def test_orders_of_any_dictionary_do_not_break() -> None:
    members: dict[str, Any]
    stages: Any
    for members in ({"sources": 3}, {"sources": [3]}, {"sources": [{}]}, {"sources": [{"name": 3}]}):
        with fails(WrongTypeError, "sources"):
            Order({"name": "blend", **members}).stage(1, [1])
    for stages in ("", [[]], [{"weights": 3}]):
        with fails(WrongTypeError, "stages"):
            Order({"name": "blend", "stages": stages}).stage(1, [1])
    with fails(WrongTypeError, "growth"):
        Order({"name": "grown", "growth": {}}).grow(0, 1, 20)
    with fails(MissingError, "sources"):
        Sampler(order=Order({"name": "blend"}).stage(1, [1]))
    for value in (3, None, "feistel", [1]):
        with fails(WrongTypeError, "order"):
            Order(value)  # type: ignore[arg-type]
    for broken in ({"samples": object()}, {"samples": 10**5000}):
        with fails(WrongTypeError, "recipe"):
            Order(broken)


@pytest.mark.parametrize("factors", [[0.5, True], [0.5, None], [1, "1"], [1, [1]]])
def test_factors_are_numbers(factors: Any) -> None:
    with fails(WrongTypeError, "factors"):
        samedeal.balance([0, 1], factors)


@pytest.mark.parametrize("factor", [Fraction(1, 3), 1 / 3, 0.1234567, float("inf"), float("nan"), -0.5])
def test_factors_have_six_decimals(factor: Any) -> None:
    with fails(OutOfRangeError, "factors"):
        samedeal.balance([0], [factor])
    assert samedeal.balance([0], [0.1, 2.5]).to_dict()["factors"] == [100_000, 2_500_000]


@pytest.mark.parametrize(
    ("error", "field", "order"),
    [
        (UnknownNameError, "name", samedeal.order("shuffle", 10)),
        (OutOfRangeError, "samples", samedeal.order("feistel", -1)),
        (OutOfRangeError, "seed", samedeal.order("feistel", 1, 2**63)),
        (MissingError, "sources", samedeal.blend({})),
        (OutOfRangeError, "name", samedeal.blend({"": (1, 1)})),
        (OutOfRangeError, "name", samedeal.blend({"a/b": (1, 1)})),
        (OutOfRangeError, "weight", samedeal.blend({"a": (1, 0)})),
        (OutOfRangeError, "weight", samedeal.blend({"a": (1, 2**20), "b": (1, 1)}, exact=True)),
        (ContradictionError, "weight", samedeal.blend({"a": (0, 1)})),
        (ContradictionError, "name", samedeal.blend({"a": (samedeal.order("torch", 5), 1)})),
        (UnknownNameError, "exhaustion", samedeal.blend({"a": (1, 1)}, exhaustion="wrap")),
        (UnknownNameError, "index_space", samedeal.blend({"a": (1, 1)}, index_space="own")),
        (MissingError, "samples", samedeal.blend({"a": (1, 1)}, exhaustion="fail")),
        (ContradictionError, "max_passes", samedeal.blend({"a": (1, 1)}, max_passes=2)),
        (OutOfRangeError, "from", BLEND.stage(0, [1, 1])),
        (ContradictionError, "weights", BLEND.stage(5, [1])),
        (OutOfRangeError, "consumed", FEISTEL.grow(0, 11, 20)),
        (OutOfRangeError, "samples", FEISTEL.grow(0, 5, 10)),
        (ContradictionError, "growth", FEISTEL.grow(1, 5, 20).grow(0, 5, 30)),
        (OutOfRangeError, "indices", FEISTEL.exclude([10])),
        (ContradictionError, "indices", FEISTEL.exclude([2, 1])),
        (ContradictionError, "indices", FEISTEL.subset([1, 1])),
        (ContradictionError, "of", BLEND.exclude([1])),
        (OutOfRangeError, "count", FEISTEL.skip([(0, 5, 6)])),
        (ContradictionError, "ranges", FEISTEL.skip([(1, 0, 1), (0, 0, 1)])),
        (OutOfRangeError, "copies", FEISTEL.copies(0)),
        (OutOfRangeError, "length", samedeal.windows([10], 0)),
        (OutOfRangeError, "stride", samedeal.windows([10], 1, 0)),
        (OutOfRangeError, "classes", samedeal.balance([1], [1])),
        (OutOfRangeError, "factors", samedeal.balance([0], [4295])),
        (UnknownMemberError, "order", Order({"name": "feistel", "samples": 5, "lane": 3})),
        (UnknownNameError, "lists", Order({"name": "feistel", "samples": 5}, {"of/lengths": [1]})),
        (ContradictionError, "lists", Order({"name": "feistel", "samples": 5}, {"of/indices": [1]})),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_with_an_order_is_said(error: Any, field: str, order: Order) -> None:
    with fails(error, field):
        Sampler(order=order)


def test_an_order_has_its_own_samples_and_seed() -> None:
    with fails(ContradictionError, "samples"):
        Sampler(10, order=FEISTEL)
    with fails(ContradictionError, "seed"):
        Sampler(order=FEISTEL, seed=0)
    with fails(MissingError, "samples"):
        Sampler()
    with fails(WrongTypeError, "order"):
        Sampler(10, order=FEISTEL.to_dict())  # type: ignore[arg-type]


def test_deep_orders_end() -> None:
    order = FEISTEL
    for _ in range(30):
        order = order.copies(1)
    with fails(OutOfRangeError, "recipe"):
        Sampler(order=order)


def test_sources_are_asked_of_blends_alone() -> None:
    sampler = Sampler(10)
    questions: list[Callable[[], Any]] = [
        lambda: sampler.sources,
        lambda: sampler.source_bounds,
        lambda: sampler.source_counts(),
        lambda: sampler.source_of(0),
    ]
    for ask in questions:
        with fails(ContradictionError, "name"):
            ask()


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("start", lambda sampler, value: sampler.source_counts(value)),
        ("end", lambda sampler, value: sampler.source_counts(0, value)),
        ("sample", lambda sampler, value: sampler.source_of(value)),
        ("sample", lambda sampler, value: sampler.locate_from(value, 0, 1)),
        ("position", lambda sampler, value: sampler.locate_from(0, value, 1)),
        ("batch_size", lambda sampler, value: sampler.locate_from(0, 0, value)),
    ],
)
def test_calls_check_what_they_take(field: str, call: Callable[[Sampler, Any], Any]) -> None:
    sampler = Sampler(order=BLEND)
    for value in [*NOT_WHOLE, Vicious()]:
        if value is not None or field != "end":
            with fails(WrongTypeError, field):
                call(sampler, value)
    for value in (-1, 2**53, 2**64, 10**5000):
        with fails(OutOfRangeError, field):
            call(sampler, value)
    assert sampler.source_counts()["count"].tolist() == [10, 10]


def test_states_of_many_sources_resume() -> None:
    order = samedeal.blend({f"source {number}": (100, 1 + number % 7) for number in range(300)}, samples=10_000)
    sampler = Sampler(order=order, world_size=2)
    state = sampler.state(1000)
    assert len(state) > 2**14
    again = Sampler(order=order, world_size=2)
    again.resume(state)
    assert again.consumed == 2000
    assert list(again) == list(sampler[1000:])


@pytest.mark.parametrize("number", [3, 2**53, 2**63])
def test_an_order_is_that_of_its_members(number: int) -> None:
    """Numbers that JSON tools would round are written as texts, even numbers that no sampler accepts."""
    orders = (
        samedeal.order("feistel", 10).copies(number),
        samedeal.order("feistel", number),
        samedeal.blend({"a": (1, number)}).stage(number, {"a": 1}),
    )
    for order in orders:
        again = samedeal.Order(order.to_dict(), order.lists)
        assert (again, hash(again)) == (order, hash(order))


def test_a_step_of_no_size_is_refused() -> None:
    with pytest.raises(samedeal.OutOfRangeError, match="batch_size is 0; allowed: 1 to 4294967295"):
        samedeal.Sampler(50, world_size=4).step(0, 0)
