"""The promises of sections 1, 4, 6 and 10 of SPEC.md about `unit`, tested with the second implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
from samedeal_reference import Failure, Sampler

LAYOUTS = ("strided", "contiguous", "rotated")
REMAINDERS = ("drop", "pad", "uneven")
DEALS = list(product(REMAINDERS, LAYOUTS))


def sampler(samples: int, world_size: int, rank: int = 0, epoch: int = 1, **deal: Any) -> Sampler:
    order = {"name": "sequential", "samples": samples}
    return Sampler(json.dumps({"order": order, "deal": {"world_size": world_size, **deal}}), [], epoch, rank)


def ranks_of(samples: int, world_size: int, consumed: int = 0, **deal: Any) -> list[Sampler]:
    return [sampler(samples, world_size, rank, **deal).rest(consumed) for rank in range(world_size)]


def dealt(of: Sampler, end: int | None = None) -> list[int]:
    """The positions of a rank, or the first `end` of them. With `sequential`, the samples equal their positions."""
    n = of.num_samples()
    count = n if end is None else min(n, end)
    positions = list(of._positions()[:count])
    assert of.indices(0, count) == [position % of.epoch_length() for position in positions]
    return positions


def random_deals(seed: int) -> list[tuple[int, int, int, int]]:
    """Numbers of samples, world sizes, units, and numbers of consumed positions."""
    words = random.Random(seed)
    found = []
    for _ in range(12):
        unit = words.choice([1, 2, 3, 4, 7, 16])
        samples = words.choice([0, 1, unit - 1, unit, unit + 1, words.randint(0, 150)])
        world_size = words.choice([1, 2, 3, 5, 8, 40])
        consumed = words.choice([0, samples, words.randint(0, samples // unit) * unit])
        found.append((samples, world_size, unit, consumed))
    return found


@pytest.mark.parametrize(("remainder", "layout"), DEALS)
@pytest.mark.parametrize("seed", range(5))
def test_units_stay_together_and_nothing_is_lost(remainder: str, layout: str, seed: int) -> None:
    for samples, world_size, unit, consumed in random_deals(seed):
        deal = {"remainder": remainder, "layout": layout, "unit": unit}
        ranks = ranks_of(samples, world_size, consumed, **deal)
        first = ranks[0]
        end = consumed + first.num_positions()
        owner: dict[int, tuple[int, int]] = {}
        for rank, one in enumerate(ranks):
            positions = dealt(one)
            assert positions == sorted(set(positions))
            assert one.num_padding() == sum(position >= samples for position in positions)
            owner |= {position: (rank, index) for index, position in enumerate(positions)}
        # Every dealt position is dealt once.
        assert sorted(owner) == list(range(consumed, end))
        assert sum(one.num_samples() for one in ranks) == end - consumed
        assert first.num_dropped() == max(0, samples - end)
        for position, (rank, index) in owner.items():
            # A unit belongs to one rank, where it is contiguous.
            start = consumed + (position - consumed) // unit * unit
            assert owner[start] == (rank, index - (position - start))
            assert index // unit * unit == index - (position - start)
            place = first.place_of(position, 4)
            assert (place.rank, place.index_in_rank) == (rank, index)
        counts = [one.num_samples() for one in ranks]
        if remainder == "uneven":
            assert end == samples
            units = [-(-count // unit) for count in counts]
            assert max(units) - min(units) <= 1
            # At most one unit has fewer positions.
            assert sum(count % unit > 0 for count in counts) <= 1
        else:
            assert len(set(counts)) == 1
            assert counts[0] % unit == 0
            assert abs(end - samples) < unit * world_size


@pytest.mark.parametrize(("remainder", "layout"), DEALS)
@pytest.mark.parametrize("seed", range(5))
def test_resume_on_another_number_of_ranks(remainder: str, layout: str, seed: int) -> None:
    """A run may continue on other world sizes any number of times: all positions are dealt once."""
    words = random.Random(f"{remainder} {layout} {seed}")
    for samples, _, unit, _ in random_deals(seed):
        seen: Counter[int] = Counter()
        consumed = 0
        while True:
            world_size = words.choice([1, 2, 3, 5, 8])
            ranks = ranks_of(samples, world_size, consumed, remainder=remainder, layout=layout, unit=unit)
            most = max(one.num_samples() for one in ranks)
            whole = [0, most] if layout == "contiguous" and world_size > 1 else [*range(0, most, unit), most]
            taken = words.choice(whole)
            states = {one.state(taken) for one in ranks}
            assert len(states) == 1
            if taken == most and remainder != "uneven":
                # At the end of the epoch, dropped and padded positions are counted.
                positions = [position for one in ranks for position in dealt(one)]
                assert sum(one.num_padding() for one in ranks) == sum(position >= samples for position in positions)
                seen.update(position for position in positions if position < samples)
                if most:
                    dropped = ranks[0].num_dropped()
                    assert seen == Counter(range(samples - dropped))
                break
            seen.update(position for one in ranks for position in dealt(one, taken))
            consumed = ranks[0].resume(states.pop()).consumed()
            assert sorted(seen) == list(range(consumed))
            if consumed == samples:
                assert seen == Counter(range(samples))
                break
            if taken == 0 and most == 0:
                break


def test_groups_of_copies_stay_with_a_rank() -> None:
    """In a dataset with four copies of every prompt, each prompt has its copies in one rank, for every layout."""
    for layout, world_size in product(LAYOUTS, (1, 3, 5)):
        order = {"name": "copies", "copies": 4, "of": {"samples": 31, "seed": 2}}
        deal = {"world_size": world_size, "layout": layout, "unit": 4, "remainder": "pad"}
        recipe = json.dumps({"order": order, "deal": deal})
        for rank in range(world_size):
            one = Sampler(recipe, [], 3, rank)
            mine = one.indices(0, one.num_samples())
            assert all(len(set(mine[at : at + 4])) == 1 for at in range(0, len(mine), 4))


def test_last_unit_worked_out_by_hand() -> None:
    """Ten positions in units of four: 0 to 3, 4 to 7, and 8 and 9."""
    uneven = {"remainder": "uneven", "unit": 4}
    assert [dealt(one) for one in ranks_of(10, 2, layout="strided", **uneven)] == [[0, 1, 2, 3, 8, 9], [4, 5, 6, 7]]
    assert [dealt(one) for one in ranks_of(10, 2, layout="contiguous", **uneven)] == [[*range(8)], [8, 9]]
    assert [one.num_samples() for one in ranks_of(10, 4, layout="strided", **uneven)] == [4, 4, 2, 0]
    drop, pad = (ranks_of(10, 2, remainder=remainder, unit=4) for remainder in ("drop", "pad"))
    assert [dealt(one) for one in drop] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [one.indices(0, one.num_samples()) for one in pad] == [[0, 1, 2, 3, 8, 9, 0, 1], [4, 5, 6, 7, 2, 3, 4, 5]]
    assert (drop[0].num_dropped(), pad[0].num_padding(), pad[1].num_padding()) == (2, 2, 4)


def test_most_of_a_state_is_that_of_the_rank_that_has_most() -> None:
    """Ranks 0 and 1 have one unit each. In some epochs, rank 0 has the shorter one."""
    found = set()
    for epoch in range(8):
        ranks = [sampler(6, 2, rank, epoch, unit=4, layout="rotated", remainder="uneven") for rank in range(2)]
        counts = tuple(one.num_samples() for one in ranks)
        found.add(counts)
        states = {one.state(4) for one in ranks}
        assert len(states) == 1
        assert '"consumed":6}' in next(iter(states))
    assert found == {(4, 2), (2, 4)}


def failure(call: Any) -> tuple[str, str, str | None]:
    with pytest.raises(Failure) as caught:
        call()
    return caught.value.kind, caught.value.field, caught.value.value


@pytest.mark.parametrize("unit", [0, 2**20 + 1, 2**64 - 1])
def test_unit_out_of_range(unit: int) -> None:
    # `unit` is checked after the members of `deal` before it.
    assert failure(lambda: sampler(5, 1, unit=unit)) == ("out-of-range", "unit", str(unit))
    assert failure(lambda: sampler(5, 0, unit=unit)) == ("out-of-range", "world_size", "0")
    assert failure(lambda: sampler(5, 1, unit=unit, layout="no")) == ("unknown-name", "layout", "no")


def test_failures_of_units() -> None:
    one = sampler(10, 2, unit=4)
    for consumed in (1, 2, 5, 9):
        assert failure(lambda consumed=consumed: one.rest(consumed)) == ("out-of-range", "consumed", str(consumed))
    assert [one.rest(consumed).num_samples() for consumed in (0, 4, 8, 10)] == [8, 4, 4, 0]
    assert failure(lambda: one.state(3)) == ("out-of-range", "taken", "3")
    assert failure(lambda: one.state(9)) == ("out-of-range", "taken", "9")
    assert failure(lambda: sampler(30, 2, unit=4, layout="contiguous").state(3))[1] == "layout"
    # A state with another unit is valid at positions where units begin.
    other = sampler(12, 1, unit=3)
    assert failure(lambda: sampler(12, 2, unit=4).resume(other.state(3))) == ("out-of-range", "consumed", "3")
    assert sampler(12, 2, unit=4).resume(other.state(12)).consumed() == 12
    assert sampler(12, 2, unit=2).resume(other.state(6)).consumed() == 6


def test_pad_of_many_units() -> None:
    """The end of the dealt positions must be below 2^53."""
    most = 2**53 - 1
    assert failure(lambda: sampler(most, 2**32 - 1, unit=2**20))[1] == "samples"
    few = sampler(1, 2**32 - 1, unit=2**20, remainder="pad")
    assert few.num_positions() == (2**32 - 1) * 2**20
    # The number of copies does not fit into 32 bits.
    assert few.place_of(0, 1).num_padding == 2**32 - 1
    assert few.place_of(few.num_positions() - 3, 1).num_padding == 2


def test_unit_of_one_is_not_written() -> None:
    assert "unit" not in sampler(5, 2, unit=1).recipe()
    assert sampler(5, 2, unit=1).recipe() == sampler(5, 2).recipe()
    assert sampler(5, 2, unit=2).recipe().endswith('"layout":"strided","unit":2}}')


def test_rounds_have_no_units() -> None:
    recipe = {"order": {"sizes": [7, 30], "lanes": 2, "shuffle_window": 4}, "deal": {"world_size": 2, "unit": 2}}
    one = Sampler(json.dumps(recipe), [], 0, 0)
    for call in (one.num_rounds, lambda: one.round(0), lambda: one.round(2**63)):
        assert failure(call) == ("contradiction", "unit", "2")
    recipe["deal"]["layout"] = "rotated"
    turned = Sampler(json.dumps(recipe), [], 0, 0)
    for call in (turned.num_rounds, lambda: turned.round(2**63)):
        assert failure(call) == ("contradiction", "layout", "rotated")
