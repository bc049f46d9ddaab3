"""The promises of section 15 of SPEC.md about the layout `rotated`, tested with the second implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest
from composing import blend
from samedeal_reference import Failure, Sampler


def sampler(samples: int, world_size: int, rank: int, remainder: str = "uneven", epoch: int = 1) -> Sampler:
    deal = {"world_size": world_size, "remainder": remainder, "layout": "rotated"}
    recipe = {"order": {"samples": samples, "seed": 4}, "deal": deal}
    return Sampler(json.dumps(recipe), [], epoch, rank)


def dealt(samplers: list[Sampler], start: int = 0, count: int | None = None) -> list[list[int]]:
    ends = [s.num_samples() if count is None else min(s.num_samples(), start + count) for s in samplers]
    return [s.indices(start, max(0, end - start)) for s, end in zip(samplers, ends, strict=True)]


@pytest.mark.parametrize("remainder", ["uneven", "drop", "pad"])
@pytest.mark.parametrize(("samples", "world_size"), [(0, 3), (1, 1), (2, 8), (40, 4), (43, 4), (301, 7), (64, 64)])
def test_rotated_deals_everything(samples: int, world_size: int, remainder: str) -> None:
    all_ranks = [sampler(samples, world_size, rank, remainder) for rank in range(world_size)]
    seen = Counter(sample for taken in dealt(all_ranks) for sample in taken)
    first = all_ranks[0]
    assert sum(seen.values()) == first.num_positions()
    if remainder == "uneven":
        assert seen == Counter(range(samples))
    if remainder == "drop":
        assert max(seen.values(), default=1) == 1
    if remainder == "pad":
        assert set(seen) == set(range(samples))
    assert sum(s.num_padding() for s in all_ranks) == max(0, first.num_positions() - samples)
    # A position's place and a rank's samples must agree.
    places = set()
    for position in range(first.num_positions()):
        place = first.place_of(position, 1)
        places.add((place.rank, place.index_in_rank))
        assert all_ranks[place.rank].indices(place.index_in_rank, 1) == [first.sample_at(position)]
    assert len(places) == first.num_positions()
    assert places == {(rank, i) for rank, s in enumerate(all_ranks) for i in range(s.num_samples())}


def test_rotated_rows_have_every_rank_once() -> None:
    first = sampler(400, 5, 0)
    starts = set()
    for row in range(80):
        ranks = [first.place_of(5 * row + x, 1).rank for x in range(5)]
        assert sorted(ranks) == list(range(5))
        assert all((b - a) % 5 == 1 for a, b in pairwise(ranks))
        starts.add(ranks[0])
    assert starts == set(range(5))


def test_rotated_begins_rows_by_epoch_and_position() -> None:
    def begins(epoch: int, first: int) -> list[int]:
        return [sampler(2**40, 16, 0, epoch=epoch).place_of(first + 16 * row, 1).rank for row in range(50)]

    assert begins(1, 0) == begins(1, 0)
    # Positions with the same lower 32 bits have different rotations, too.
    different = [begins(1, 0), begins(2, 0), begins(1, 2**32), begins(1, 2**33)]
    assert all(a != b for i, a in enumerate(different) for b in different[:i])


@pytest.mark.parametrize("remainder", ["uneven", "drop", "pad"])
@pytest.mark.parametrize("taken", [0, 1, 7, 24])
def test_rotated_goes_on_at_a_whole_row(taken: int, remainder: str) -> None:
    all_ranks = [sampler(103, 4, rank, remainder) for rank in range(4)]
    states = {s.state(taken) for s in all_ranks}
    assert len(states) == 1
    rest = [s.resume(next(iter(states))) for s in all_ranks]
    assert dealt(rest) == [taken_by[taken:] for taken_by in dealt(all_ranks)]
    # On fewer ranks after a resume, each position that is left is dealt once.
    fewer = [sampler(103, 3, rank).resume(next(iter(states))) for rank in range(3)]
    before = Counter(sample for part in dealt(all_ranks, 0, taken) for sample in part)
    assert before + Counter(sample for part in dealt(fewer) for sample in part) == Counter(range(103))


def test_rotated_spreads_a_source_over_all_ranks() -> None:
    """With `strided`, each rank would get samples of one source only."""
    made = blend([1, 1, 1, 1], [100, 100, 100, 100], "blend-exact")
    first = sampler(400, 4, 0)
    of_rank: list[Counter[int]] = [Counter() for _ in range(4)]
    strided: list[Counter[int]] = [Counter() for _ in range(4)]
    for position in range(400):
        i, _ = made.source(0, position)
        of_rank[first.place_of(position, 1).rank][i] += 1
        strided[position % 4][i] += 1
    assert all(len(sources) == 1 for sources in strided)
    assert all(len(sources) == 4 for sources in of_rank)


def test_rotated_has_no_rounds() -> None:
    deal = {"world_size": 3, "layout": "rotated"}
    one = Sampler(json.dumps({"order": {"sizes": [7, 30]}, "deal": deal}), [], 2, 1)
    for ask in (one.num_rounds, lambda: one.round(0)):
        with pytest.raises(Failure) as caught:
            ask()
        assert (caught.value.kind, caught.value.field) == ("contradiction", "layout")


def test_rotated_is_the_default_where_samples_come_twice() -> None:
    for name, layout in (("blend", "rotated"), ("feistel", "strided")):
        members = {"sources": [{"name": "a", "samples": 7}]} if name == "blend" else {"samples": 7}
        assert Sampler(json.dumps({"order": {"name": name, **members}}), [], 0, 0).layout() == layout
