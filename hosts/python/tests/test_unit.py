"""Units: neighbours that every deal keeps together, such as the answers to one prompt."""

from __future__ import annotations

import itertools
import json

import pytest
import samedeal
from hostile import NOT_WHOLE, TOO_WIDE, fails
from samedeal import ContradictionError, OutOfRangeError, SamedealError, Sampler, WrongTypeError
from samedeal.__main__ import main

PROMPTS, COPIES = 23, 4
GROUPS = samedeal.order("feistel", PROMPTS, seed=5).copies(COPIES)


def groups_of(sampler: Sampler, start: int = 0) -> list[int]:
    """The prompts of a rank. All copies of a prompt follow one another."""
    taken = sampler[start:].tolist()
    assert len(taken) % COPIES == 0
    found = [taken[at : at + COPIES] for at in range(0, len(taken), COPIES)]
    assert all(len(set(group)) == 1 for group in found)
    return [group[0] for group in found]


@pytest.mark.parametrize("layout", ["strided", "contiguous", "rotated"])
@pytest.mark.parametrize("world_size", range(1, 6))
def test_every_group_is_on_one_rank(world_size: int, layout: str) -> None:
    ranks = [
        Sampler(order=GROUPS, world_size=world_size, rank=rank, layout=layout, unit=COPIES, remainder="uneven")
        for rank in range(world_size)
    ]
    assert {sampler.unit for sampler in ranks} == {COPIES}
    found = [group for sampler in ranks for group in groups_of(sampler)]
    assert sorted(found) == list(range(PROMPTS))


@pytest.mark.parametrize(("before", "after"), list(itertools.product(range(1, 6), repeat=2)))
def test_groups_stay_together_when_a_run_resumes_on_other_ranks(before: int, after: int) -> None:
    taken = 2 * COPIES
    first = [
        Sampler(order=GROUPS, world_size=before, rank=rank, unit=COPIES, remainder="uneven") for rank in range(before)
    ]
    (state,) = {sampler.state(taken) for sampler in first}
    seen = [group for sampler in first for group in groups_of(sampler)[:2]]
    for rank in range(after):
        sampler = Sampler(order=GROUPS, world_size=after, rank=rank, unit=COPIES, remainder="uneven")
        sampler.resume(state)
        seen += groups_of(sampler)
    assert sorted(seen) == list(range(PROMPTS))


def test_padding_repeats_whole_groups() -> None:
    ranks = [Sampler(order=GROUPS, world_size=4, rank=rank, unit=COPIES) for rank in range(4)]
    assert {len(sampler) for sampler in ranks} == {6 * COPIES}
    assert sum(sampler.num_padding for sampler in ranks) == COPIES
    assert len({group for sampler in ranks for group in groups_of(sampler)}) == PROMPTS
    dropped = Sampler(order=GROUPS, world_size=4, unit=COPIES, remainder="drop")
    assert (len(dropped), dropped.num_dropped) == (5 * COPIES, 3 * COPIES)


def test_states_are_taken_after_whole_units() -> None:
    sampler = Sampler(12, seed=1, world_size=2, unit=3)
    with fails(OutOfRangeError, "taken"):
        sampler.state(2)
    assert json.loads(sampler.state(3))["consumed"] == 6
    with fails(OutOfRangeError, "consumed"):
        Sampler(12, seed=1, world_size=2, unit=3, consumed=2)


def test_a_unit_is_part_of_the_recipe_if_it_is_not_1() -> None:
    assert "unit" not in Sampler(12, unit=1).recipe
    sampler = Sampler(12, unit=3, world_size=2, rank=1)
    assert json.loads(sampler.recipe)["deal"]["unit"] == 3
    assert "unit=3" in repr(sampler)
    again = Sampler.from_recipe(sampler.recipe, rank=1)
    assert (again.unit, again.indices().tolist()) == (3, sampler.indices().tolist())
    assert Sampler.sharded([5, 7], unit=3).unit == 3
    with fails(ContradictionError, "unit"):
        Sampler.sharded([5, 7], unit=3).round(0)


def test_a_unit_is_a_whole_number() -> None:
    for unit in NOT_WHOLE:
        if unit is not None:
            with fails(WrongTypeError, "unit"):
                Sampler(12, unit=unit)


def test_a_unit_has_a_range() -> None:
    for unit in (0, 2**20 + 1):
        with fails(OutOfRangeError, "unit"):
            Sampler(12, unit=unit)
    for unit in TOO_WIDE:
        # The unit is no natural number, or needs more than 64 bits.
        with pytest.raises(SamedealError) as caught:
            Sampler(12, unit=unit)
        assert caught.value.field == "unit"


def test_the_command_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "--samples", "12", "--unit", "3", "--world-size", "2", "--taken", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["consumed"] == 6
    assert main(["verify", "--samples", "100", "--unit", "8", "--world-size", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"]
    assert main(["state", "--samples", "12", "--unit", "3", "--world-size", "2", "--taken", "2"]) == 2
    assert "taken is 2" in capsys.readouterr().err
