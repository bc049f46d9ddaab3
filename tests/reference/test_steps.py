"""The promises of section 17 of SPEC.md about steps over epochs, tested with the second implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import chain
from typing import Any

import pytest
from composing import EVERY, plain
from samedeal_reference import Failure, Schedule
from samedeal_reference.base import MAX_SAMPLES
from samedeal_reference.composed import Plain, make
from samedeal_reference.steps import StepPlace

LAYOUTS = ("strided", "contiguous", "rotated")
Stages = list[tuple[int, int]]


def recipe(order: dict[str, Any], sizes: int | Stages, deal: dict[str, Any] | None = None) -> str:
    first, *stages = [(0, sizes)] if isinstance(sizes, int) else sizes
    steps: dict[str, Any] = {"global_batch_size": first[1]}
    if stages:
        steps["stages"] = [{"from": start, "global_batch_size": size} for start, size in stages]
    return json.dumps({"order": order, "deal": deal or {}, "steps": steps})


def ranks_of(order: dict[str, Any], sizes: int | Stages, **deal: Any) -> list[Schedule]:
    first = Schedule(recipe(order, sizes, deal), [], 0)
    return [first.at_rank(rank) for rank in range(first.world_size())]


def failure(call: Any) -> tuple[str, str, str | None]:
    with pytest.raises(Failure) as caught:
        call()
    return caught.value.kind, caught.value.field, caught.value.value


def random_sizes(words: random.Random, together: int) -> Stages:
    stages = [(0, together * words.randint(2, 4))]
    for _ in range(words.randint(0, 3)):
        stages.append((stages[-1][0] + words.randint(1, 5), together * words.randint(1, 4)))
    return stages


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("section", EVERY, ids=lambda section: section["name"])
def test_every_draw_is_in_one_step_of_one_rank(section: dict[str, Any], layout: str) -> None:
    """Every draw is in one step, also across the ends of epochs, and a step has the same samples on every world
    size."""
    words = random.Random(f"{section['name']} {layout}")
    order = make(section, [])
    sizes = random_sizes(words, 12)
    steps = 8
    draws = [order.sample(*order.find(draw)) for draw in range(sum(size_at(sizes, step) for step in range(steps)))]
    assert len(draws) > 3 * order.length(0)
    for world_size, unit in ((1, 4), (2, 3), (12, 1)):
        ranks = ranks_of(section, sizes, world_size=world_size, unit=unit, layout=layout)
        first = ranks[0]
        owner: dict[int, tuple[int, int, int]] = {}
        for step in range(steps):
            begin, size = first.samples_consumed(step), first.global_batch_size(step)
            assert (begin, size) == (sum(size_at(sizes, s) for s in range(step)), size_at(sizes, step))
            taken = [one.indices(step, 1) for one in ranks]
            assert all(len(mine) == size // world_size for mine in taken)
            assert Counter(chain.from_iterable(taken)) == Counter(draws[begin : begin + size])
            for draw in range(begin, begin + size):
                rank, index = first._deal(step).place(draw)
                assert taken[rank][index] == draws[draw]
                owner[draw] = (step, rank, index)
                # A unit belongs to one rank, where it is contiguous.
                start = draw // unit * unit
                assert owner[start] == (step, rank, index - (draw - start))
                assert first.step_of_consumed(draw) == step
                assert first.step_of(*order.find(draw)) == step
            at = first.begin_of(step)
            assert (at.epoch, at.position) == order.find(begin)
        assert len(set(owner.values())) == len(owner) == len(draws)
        # A run of steps equals its steps one after the other.
        for one in ranks:
            assert one.indices(3, 3) == [sample for step in range(3, 6) for sample in one.indices(step, 1)]


def size_at(sizes: Stages, step: int) -> int:
    return [size for start, size in sizes if start <= step][-1]


@pytest.mark.parametrize("section", EVERY, ids=lambda section: section["name"])
def test_locate(section: dict[str, Any]) -> None:
    words = random.Random(section["name"])
    order = make(section, [])
    sizes = random_sizes(words, 6)
    ranks = ranks_of(section, sizes, world_size=3, unit=2)
    steps = 30
    draws = [order.sample(*order.find(draw)) for draw in range(ranks[0].samples_consumed(steps))]
    for sample in range(order.range):
        for step in (0, 1, words.randint(2, steps)):
            begin = ranks[0].samples_consumed(step)
            found = ranks[0].locate(sample, step)
            if sample not in draws[begin:]:
                assert found is None or found.samples_consumed >= len(draws)
                continue
            assert found is not None
            assert found.samples_consumed == draws.index(sample, begin)
            assert (found.epoch, found.position) == order.find(found.samples_consumed)
            mine = ranks[found.rank].indices(found.step, 1)
            assert mine[found.index_in_batch] == sample
            assert ranks[0].step_of_consumed(found.samples_consumed) == found.step >= step


def test_locate_where_a_sample_comes_late_or_never() -> None:
    """The cost of a search does not grow with the epochs that lie between."""
    rare = {"name": "balance", "classes": [0, 1, 2], "factors": [10**6, 1, 0]}
    one = Schedule(recipe(rare, 2), [], 0)
    found = one.locate(1, 0)
    assert found is not None
    assert 0 < found.epoch <= 10**6
    assert one.indices(found.step, 1)[found.index_in_batch] == 1
    assert one.locate(2, 0) is None
    for never in ({"name": "exclude", "of": plain(5), "indices": [2]}, {"name": "windows", "sizes": [9], "length": 2}):
        assert Schedule(recipe({"name": "copies", "copies": 2, "of": never}, 4), [], 0).locate(3, 7) is None or (
            never["name"] == "exclude"
        )
    gone = {"name": "skip", "of": plain(5), "ranges": [{"epoch": 10**9, "start": 0, "count": 5}]}
    late = Schedule(recipe(gone, 1), [], 0)
    at = late.locate(2, late.step_of(10**9 - 1, 4) + 1)
    assert at is not None
    assert at.epoch == 10**9 + 1
    # A source whose weight becomes 0 is not drawn after that, so the search ends.
    sources = [{"name": "a", "samples": 3}, {"name": "b", "samples": 4}]
    ended = {"name": "blend", "sources": sources, "stages": [{"from": 20, "weights": [1, 0]}]}
    assert Schedule(recipe(ended, 2), [], 0).locate(5, 10) is None
    assert Schedule(recipe(ended, 2), [], 0).locate(5, 2) is not None


def test_locate_in_epochs_that_end() -> None:
    """In a blend that ends, samples are searched in 2^12 later epochs; so they are in orders that contain one."""
    ended = {"name": "blend", "exhaustion": "stop", "sources": [{"name": "a", "order": {"name": "sequential"}}]}
    ended["sources"][0]["order"]["samples"] = 2

    def found(first: int, **members: Any) -> StepPlace | None:
        ranges = [{"epoch": epoch, "start": 1, "count": 1} for epoch in range(first, first + members.pop("count"))]
        skipped = {"name": "skip", "of": ended | members, "ranges": ranges}
        return Schedule(recipe(skipped, 1), [], 0).locate(1, 2 * first)

    first = 3
    near = found(first, count=2**12)
    assert near is not None
    assert (near.epoch, near.position, near.samples_consumed) == (first + 2**12, 1, 2 * first + 2**12 + 1)
    assert found(first, count=2**12 + 1) is None
    shared = found(first, count=2**12, exhaustion="repeat", index_space="shared")
    assert shared == near
    assert found(first, count=2**12 + 1, exhaustion="repeat", index_space="shared") is None
    # In this order, epochs do not end early and no sources are shared, so it is searched to its end.
    all_of_it = found(first, count=2**12 + 1, exhaustion="repeat")
    assert all_of_it is not None
    assert all_of_it.epoch == first + 2**12 + 1
    # Every epoch draws the same part of this source, so the sample outside of this part is never found.
    part = ended | {"exhaustion": "fail", "samples": 1}
    assert Schedule(recipe(part, 1), [], 0).locate(1, 0) is None


@pytest.mark.parametrize("section", EVERY, ids=lambda section: section["name"])
def test_resume_on_another_number_of_ranks(section: dict[str, Any]) -> None:
    """Other ranks continue where some stopped: all steps together have every draw once."""
    words = random.Random(section["name"])
    order = make(section, [])
    sizes = random_sizes(words, 12)
    seen: Counter[int] = Counter()
    step, state = 0, None
    for _ in range(6):
        world_size, unit = words.choice([(1, 1), (2, 3), (3, 4), (4, 1), (12, 1)])
        ranks = ranks_of(section, sizes, world_size=world_size, unit=unit, layout=words.choice(LAYOUTS))
        if state is not None:
            assert {one.step_of_state(state) for one in ranks} == {step}
        end = step + words.randint(0, 4)
        seen.update(sample for one in ranks for sample in one.indices(step, end - step))
        states = {one.state(end) for one in ranks}
        assert len(states) == 1
        step, state = end, states.pop()
    total = ranks[0].samples_consumed(step)
    assert seen == Counter(order.sample(*order.find(draw)) for draw in range(total))


def test_units_are_aligned_in_every_epoch_of_copies() -> None:
    """A group of copies belongs to one rank, even in a step with the end of an epoch and the beginning of the next
    one."""
    order = {"name": "copies", "copies": 4, "of": {"samples": 7}}
    for layout in LAYOUTS:
        for one in ranks_of(order, [(0, 12), (5, 24)], world_size=3, unit=4, layout=layout):
            taken = one.indices(0, 20)
            assert all(len(set(taken[at : at + 4])) == 1 for at in range(0, len(taken), 4))


def test_steps_end_where_draws_end() -> None:
    # Two epochs of 2^52 - 1 positions. A third one would exceed 2^53 - 1.
    whole = Schedule(recipe({"name": "sequential", "samples": 2**52 - 1}, 2), [], 0)
    assert whole.num_steps() == 2**52 - 1
    last = whole.num_steps() - 1
    assert whole.indices(last, 1) == [2**52 - 3, 2**52 - 2]
    assert '"epoch":2,"consumed":0,"step":4503599627370495}' in whole.state(whole.num_steps())
    assert whole.step_of_state(whole.state(whole.num_steps())) == whole.num_steps()
    # Steps of four leave two draws.
    left = Schedule(recipe({"name": "sequential", "samples": 2**52 - 1}, 4), [], 0)
    assert left.num_steps() == 2**51 - 1
    assert left.samples_consumed(left.num_steps()) == 2**53 - 4
    assert '"epoch":1,"consumed":4503599627370493,"step":2251799813685247}' in left.state(left.num_steps())
    assert failure(lambda: left.step_of_consumed(2**53 - 4))[:2] == ("out-of-range", "samples_consumed")
    assert failure(lambda: left.step_of(1, 2**52 - 3)) == ("out-of-range", "epoch", "1")
    assert failure(lambda: left.step_of(1, 2**52 - 1))[:2] == ("out-of-range", "position")
    assert failure(lambda: left.step_of(2, 2**60)) == ("out-of-range", "epoch", "2")
    assert left.locate(2**52 - 2, left.num_steps() - 1) is None
    one = Schedule(recipe({"name": "sequential", "samples": 1}, 1), [], 0)
    assert one.num_steps() == MAX_SAMPLES
    assert one.indices(MAX_SAMPLES - 1, 1) == [0]
    none = Schedule(recipe({"name": "sequential", "samples": 2**53 - 1}, [(0, 2**31), (1, 2**31 + 2)]), [], 0)
    assert none.num_steps() == 1 + (2**53 - 1 - 2**31) // (2**31 + 2)
    # A stage that begins after the last step has no effect.
    after = Schedule(recipe({"name": "sequential", "samples": 2**53 - 1}, [(0, 4), (2**53 - 1, 8)]), [], 0)
    assert after.num_steps() == (2**53 - 1) // 4


def test_windows_of_indices() -> None:
    one = Schedule(recipe(plain(10), [(0, 2**20), (2, 2**31)]), [], 0)
    assert failure(lambda: one.indices(0, 2)) == ("out-of-range", "count", "2")
    assert failure(lambda: one.indices(2, 1)) == ("out-of-range", "count", "1")
    assert one.indices(one.num_steps(), 0) == []
    end = one.num_steps()
    assert failure(lambda: one.indices(end, 1)) == ("out-of-range", "count", "1")
    assert failure(lambda: one.indices(end + 1, 0)) == ("out-of-range", "start", str(end + 1))
    for call in (one.global_batch_size, one.begin_of):
        assert failure(lambda call=call: call(end)) == ("out-of-range", "step", str(end))
    for call in (one.samples_consumed, one.state, lambda step: one.locate(0, step)):
        assert failure(lambda call=call: call(end + 1)) == ("out-of-range", "step", str(end + 1))
    assert failure(lambda: one.locate(10, end + 1)) == ("out-of-range", "sample", "10")
    assert failure(lambda: one.at_rank(1)) == ("out-of-range", "rank", "1")


def test_steps_of_a_past_with_other_ranks() -> None:
    """Six ranks took steps of six samples. Four ranks cannot take such steps, but they know which samples these steps
    took."""
    sizes: Stages = [(0, 6), (5, 18), (9, 8)]
    before, after = (ranks_of(plain(50), sizes[: 2 * k], world_size=w) for k, w in ((1, 6), (2, 4)))
    state = before[0].state(9)
    assert {one.step_of_state(state) for one in after} == {9}
    assert [after[0].samples_consumed(step) for step in (1, 5, 9, 10)] == [6, 30, 102, 110]
    assert failure(lambda: after[0].indices(4, 2)) == ("contradiction", "global_batch_size", "6")
    assert failure(lambda: after[0].indices(8, 2)) == ("contradiction", "global_batch_size", "18")
    assert after[0].indices(4, 0) == []
    sample = before[0].indices(0, 1)[0]
    assert failure(lambda: after[0].locate(sample, 0)) == ("contradiction", "global_batch_size", "6")
    found = after[0].locate(sample, 9)
    assert found is not None
    assert after[found.rank].indices(found.step, 1)[found.index_in_batch] == sample
    order = make(plain(50), [])
    seen = Counter(sample for one in before for sample in one.indices(0, 9))
    seen.update(sample for one in after for sample in one.indices(9, 6))
    assert seen == Counter(order.sample(*order.find(draw)) for draw in range(102 + 48))


# States


BEFORE: Stages = [(0, 8), (3, 16), (9, 32)]


def changed(sizes: int | Stages, order: dict[str, Any] | None = None, **deal: Any) -> Schedule:
    return Schedule(recipe(order or plain(50), sizes, deal), [], 0)


def test_stages_from_the_step_on_may_differ() -> None:
    state = changed(BEFORE).state(5)
    assert state == (
        '{"samedeal":1,"kind":"schedule","recipe":{"order":{"name":"feistel","samples":50,"seed":3},"steps":'
        '{"global_batch_size":8,"stages":[{"from":3,"global_batch_size":16},{"from":9,"global_batch_size":32}]}},'
        '"epoch":1,"consumed":6,"step":5}'
    )
    for sizes in ([(0, 8), (3, 16)], [(0, 8), (3, 16), (5, 64)], [*BEFORE[:2], (9, 24)]):
        assert changed(sizes).step_of_state(state) == 5
    assert failure(lambda: changed(8).step_of_state(state)) == ("contradiction", "stages", "without entry 0")
    assert failure(lambda: changed([(0, 8), (3, 16), (4, 16)]).step_of_state(state))[2] == "with a new entry 1"
    assert failure(lambda: changed([(0, 8), (3, 24)]).step_of_state(state))[2] == "not as in the state at entry 0"
    assert failure(lambda: changed([(0, 16), (3, 16)]).step_of_state(state)) == (
        "contradiction",
        "global_batch_size",
        "16",
    )
    # A stage that begins at this step is not an earlier one.
    assert changed([(0, 8)]).step_of_state(changed(BEFORE).state(3)) == 3
    # At step 0, all members may differ.
    assert changed(24).step_of_state(changed(BEFORE).state(0)) == 0


def test_failures_of_resume() -> None:
    one = changed(BEFORE)
    state = one.state(5)

    def fails(*pair: str, here: Schedule = one) -> tuple[str, str, str | None]:
        return failure(lambda: here.step_of_state(state.replace(*pair)))

    assert fails('"samedeal":1', '"new":null,"samedeal":2') == ("out-of-range", "samedeal", "2")
    assert fails('"kind":"schedule"', '"kind":"sampler"')[:2] == ("wrong-type", "state")
    assert fails(',"step":5', "")[:2] == ("wrong-type", "state")
    assert fails('"step":5', '"step":5,"positions":50') == ("unknown-member", "state", "positions")
    assert fails('"from":3', '"from":3,"weights":[1]') == ("unknown-member", "stages", "weights")
    assert fails('"steps":{', '"deal":{},"steps":{') == ("unknown-member", "recipe", "deal")
    assert fails('"seed":3', '"seed":4') == ("contradiction", "seed", "3")
    assert fails('"global_batch_size":8,', "") == ("contradiction", "global_batch_size", "8")
    assert fails('"from":3,', "") == ("contradiction", "stages", "not as in the state at entry 0")
    assert fails('"step":5', '"step":' + str(2**60)) == ("out-of-range", "step", str(2**60))
    last = changed([(0, 8), (3, 16), (9, 32)]).num_steps()
    assert fails('"step":5', f'"step":{last + 1}')[:2] == ("out-of-range", "step")
    assert fails('"step":5', '"step":6') == ("contradiction", "consumed", "position 22 of epoch 1")
    assert fails('"epoch":1', '"epoch":0') == ("contradiction", "consumed", "position 6 of epoch 1")
    assert fails('"consumed":6', '"consumed":7') == ("contradiction", "consumed", "position 6 of epoch 1")


def test_an_order_that_got_more() -> None:
    """Additions that begin where the state ends, or later, are allowed."""
    growth = [{"epoch": 1, "consumed": 6, "samples": 70}]
    grown = {"name": "grown", "samples": 50, "seed": 3}
    state = changed(BEFORE).state(5)
    after = changed(BEFORE, grown | {"growth": growth})
    assert after.step_of_state(state) == 5
    assert after.indices(0, 5) == changed(BEFORE).indices(0, 5)
    early = [{"epoch": 1, "consumed": 5, "samples": 70}]
    assert failure(lambda: changed(BEFORE, grown | {"growth": early}).step_of_state(state))[1] == "growth"


def test_states_that_lie_about_their_place() -> None:
    """Epochs that cannot be used, and positions that no epoch has, are refused."""
    for section in EVERY:
        one = changed(24, section)
        state = one.state(0)
        for epoch, consumed in ((0, 2**63), (2**64 - 1, 0), (2**64 - 1, 2**64 - 1), (1, 5)):
            written = f'"{epoch}"' if epoch > MAX_SAMPLES else epoch
            text = state.replace('"epoch":0,"consumed":0,"step":0', f'"epoch":{written},"consumed":{consumed},"step":0')
            assert text != state
            found = failure(lambda text=text, one=one: one.step_of_state(text))
            if epoch == 2**64 - 1 and not isinstance(make(section, []), Plain):
                assert found == ("out-of-range", "epoch", str(epoch))
            else:
                assert found[0] == "contradiction"


def test_a_past_with_other_ranks() -> None:
    """Twelve ranks trained, then four, and now three. Three ranks can take the steps after the last stage whose batch
    size is no multiple of three."""
    sizes = [(0, 12), (3, 8), (5, 9)]
    three, four, twelve = (ranks_of(plain(40), sizes[:last], world_size=n) for n, last in ((3, 3), (4, 2), (12, 1)))
    for step in range(9):
        here = Schedule(recipe(plain(40), sizes, {"world_size": 3}), [], 1)
        state = (twelve if step <= 3 else four if step <= 5 else three)[0].state(step)
        if step >= 5:
            assert here.step_of_state(state) == step
            assert len(here.indices(step, 1)) == 3
            assert here.locate(7, step) is not None
        else:
            for call in (lambda h=here, s=state: h.step_of_state(s), lambda h=here, n=step: h.indices(n, 1)):
                assert failure(call) == ("contradiction", "global_batch_size", "8")
    assert failure(lambda: three[0].locate(three[0]._order.sample(0, 0), 0)) == (
        "contradiction",
        "global_batch_size",
        "8",
    )


# Reading


ORDER = {"order": {"samples": 5}}
STEPS = {"steps": {"global_batch_size": 4}}


def stage(*members: int | None) -> dict[str, int]:
    return {
        name: value for name, value in zip(("from", "global_batch_size"), members, strict=True) if value is not None
    }


def staged(*stages: dict[str, int], size: int = 4) -> dict[str, Any]:
    return {**ORDER, "deal": {"world_size": 2}, "steps": {"global_batch_size": size, "stages": list(stages)}}


CONTRADICTED = ("contradiction", "global_batch_size", "3")
REFUSED: list[tuple[dict[str, Any], tuple[str, str, str | None]]] = [
    (STEPS, ("missing", "order", "")),
    (ORDER, ("missing", "steps", "")),
    (ORDER | {"steps": {}}, ("missing", "global_batch_size", "")),
    (ORDER | STEPS | {"batch": {}}, ("contradiction", "batch", "there")),
    (ORDER | STEPS | {"deal": {"workers": 1}}, ("contradiction", "workers", "there")),
    (ORDER | {"steps": {"from": 1}}, ("unknown-member", "steps", "from")),
    (staged({"weights": 1}), ("unknown-member", "stages", "weights")),
    ({"order": {}} | STEPS | {"deal": {"layout": "no"}}, ("missing", "samples", "")),
    ({"order": {"name": "no"}, "steps": {}}, ("unknown-name", "name", "no")),
    (ORDER | STEPS | {"deal": {"layout": "no", "world_size": 2**32}}, ("out-of-range", "world_size", str(2**32))),
    (ORDER | STEPS | {"deal": {"layout": "no", "unit": 0}}, ("unknown-name", "layout", "no")),
    (ORDER | {"steps": {}, "deal": {"unit": 0}}, ("out-of-range", "unit", "0")),
    (ORDER | {"deal": {"remainder": "pad", "world_size": 0}}, ("contradiction", "remainder", "there")),
    (ORDER | STEPS | {"deal": {"world_size": 0, "layout": "no"}}, ("out-of-range", "world_size", "0")),
    (staged(*[{}] * (2**16 + 1), size=3), ("out-of-range", "stages", "65537 objects")),
    (staged({}, size=3), ("missing", "from", "")),
    (staged(stage(0, None), size=3), ("out-of-range", "from", "0")),
    (staged(stage(1, None), size=3), ("missing", "global_batch_size", "")),
    (staged(stage(0, 8), size=3), ("out-of-range", "from", "0")),
    (staged(stage(2, 8), stage(2, None)), ("missing", "global_batch_size", "")),
    (staged(stage(2, 8), stage(2, 0)), ("out-of-range", "global_batch_size", "0")),
    (staged(stage(2, 8), stage(2, 8)), ("out-of-range", "from", "2")),
    (staged(stage(2, 3), stage(3, 0)), ("out-of-range", "global_batch_size", "0")),
    (staged(stage(2, 2**32), size=3), ("out-of-range", "global_batch_size", str(2**32))),
    (staged(stage(2, 6), stage(3, 5)), ("contradiction", "global_batch_size", "5")),
    (staged(size=3), ("contradiction", "global_batch_size", "3")),
    (staged(stage(2, 4), stage(3, 5), size=3), ("contradiction", "global_batch_size", "5")),
    (staged(stage(2, 5), stage(3, 7), size=3), ("contradiction", "global_batch_size", "7")),
    (ORDER | {"deal": {"unit": 2}, "steps": {"global_batch_size": 3, "stages": [stage(1, 4)]}}, CONTRADICTED),
    (ORDER | STEPS | {"deal": {"unit": 3}}, ("contradiction", "global_batch_size", "4")),
    ({"order": {"samples": 0}} | STEPS, ("out-of-range", "samples", "0")),
    (
        {"order": {"name": "copies", "copies": 2, "of": {"samples": 2**53 - 1}}, "deal": {"layout": "no"}} | STEPS,
        ("out-of-range", "epoch", "0"),
    ),
]


@pytest.mark.parametrize(("document", "expected"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_refused(document: dict[str, Any], expected: tuple[str, str, str | None]) -> None:
    assert failure(lambda: Schedule(json.dumps(document), [], 9)) == expected


def test_canonical_text() -> None:
    one = Schedule(json.dumps({**ORDER, **STEPS}), [], 0)
    assert one.recipe() == (
        '{"samedeal":1,"order":{"name":"feistel","samples":5,"seed":0},"deal":{"world_size":1,"layout":"strided"},'
        '"steps":{"global_batch_size":4}}'
    )
    assert (
        Schedule(json.dumps(staged(stage(3, 8)) | {"deal": {"unit": 2}}), [], 0)
        .recipe()
        .endswith(
            '"deal":{"world_size":1,"layout":"strided","unit":2},'
            '"steps":{"global_batch_size":4,"stages":[{"from":3,"global_batch_size":8}]}}'
        )
    )
    assert failure(lambda: Schedule(json.dumps({**ORDER, **STEPS}), [], 1)) == ("out-of-range", "rank", "1")
    # An order that has samples twice has another default layout.
    assert changed(4, {"name": "copies", "copies": 2, "of": plain(3)}).layout() == "rotated"
