"""The promises of sections 9, 10 and 14 of SPEC.md about batches of composed orders, tested with the second
implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
from composing import EVERY, PLAIN, plain
from samedeal_reference import Batcher, BatchRecipe, Failure
from samedeal_reference.composed import make

COMPOSED = [section for section in EVERY if section["name"] not in PLAIN]
STRATEGIES: list[dict[str, Any]] = [
    {"strategy": "pad-to-max", "max_batch_size": 3},
    {"strategy": "bucket", "max_batch_size": 2, "quantiles": 3},
    {"strategy": "budget", "max_tokens": 40},
    {"strategy": "budget", "max_tokens": 40, "keep_order": True},
    {"strategy": "budget", "max_tokens": 40, "counting": "unpadded", "batch_window": 16},
    {"strategy": "pack", "capacity": 30, "max_length": 30},
]


def lengths_of(section: dict[str, Any]) -> list[int]:
    return random.Random(section["name"]).choices(range(40), k=make(section, []).range)


def batcher(section: dict[str, Any], batch: dict[str, Any], epoch: int = 0, world_size: int = 3) -> Batcher:
    recipe = {"order": section, "deal": {"world_size": world_size}, "batch": {"too_long": "split", **batch}}
    return Batcher(BatchRecipe(json.dumps(recipe), lengths_of(section), []), epoch)


def items(of: Batcher, world_size: int, count: int | None = None) -> list[tuple[int, int, int]]:
    """All items of the first steps: sample, start, length."""
    steps = of.num_steps() if count is None else count
    runs = [of.take(rank, 0, steps) for rank in range(world_size)]
    return [item for run in runs for item in zip(run.samples, run.starts, run.lengths, strict=True)]


def expected(section: dict[str, Any], epoch: int, most: int) -> list[tuple[int, int, int]]:
    """The parts of each sample of the epoch."""
    lengths = lengths_of(section)
    found = []
    for sample in make(section, []).epoch(epoch):
        length = lengths[sample]
        parts = [(sample, start, min(most, length - start)) for start in range(0, length, most)]
        found += parts or [(sample, 0, 0)]
    return found


@pytest.mark.parametrize("batch", STRATEGIES, ids=lambda batch: " ".join(map(str, batch.values())))
@pytest.mark.parametrize("section", COMPOSED, ids=lambda section: section["name"])
def test_every_item_of_an_epoch_is_in_one_batch(section: dict[str, Any], batch: dict[str, Any]) -> None:
    most = batch.get("max_tokens", batch.get("capacity", 2**32))
    for epoch in range(4):
        for world_size in (1, 3):
            made = batcher(section, batch | {"tail": "keep"}, epoch, world_size)
            assert Counter(items(made, world_size)) == Counter(expected(section, epoch, most))
            dropped = batcher(section, batch | {"tail": "drop"}, epoch, world_size)
            left = Counter(expected(section, epoch, most)) - Counter(items(dropped, world_size))
            assert left.total() == dropped.metrics().dropped


@pytest.mark.parametrize("section", COMPOSED, ids=lambda section: section["name"])
def test_items_are_in_the_order_of_samples_and_of_their_parts(section: dict[str, Any]) -> None:
    """A rank alone, with one item in each batch, gets the items in the order of the queue."""
    for epoch in range(3):
        made = batcher(section, {"strategy": "pad-to-max", "max_batch_size": 1, "max_length": 7}, epoch, 1)
        assert items(made, 1) == expected(section, epoch, 7)
        # A sample that comes twice counts twice.
        lengths = lengths_of(section)
        assert made.metrics().split == sum(lengths[sample] > 7 for sample in make(section, []).epoch(epoch))


@pytest.mark.parametrize("batch", STRATEGIES, ids=lambda batch: " ".join(map(str, batch.values())))
@pytest.mark.parametrize("section", COMPOSED[:-1], ids=lambda section: section["name"])
def test_resume_on_another_number_of_ranks(section: dict[str, Any], batch: dict[str, Any]) -> None:
    words = random.Random(f"{section['name']} {batch}")
    most = batch.get("max_tokens", batch.get("capacity", 2**32))
    batch = batch | {"tail": "keep"}
    seen: Counter[tuple[int, int, int]] = Counter()
    made = batcher(section, batch, 2, 3)
    for world_size, following in ((3, 2), (2, 5), (5, 1)):
        steps = words.randint(0, made.num_steps())
        seen.update(items(made, world_size, steps))
        made = batcher(section, batch, 0, following).resume(made.state(steps))
        assert made.epoch() == 2
    seen.update(items(made, 1))
    assert seen == Counter(expected(section, 2, most))


def test_locate_has_every_occurrence() -> None:
    section = {"name": "copies", "copies": 3, "of": plain(6)}
    made = batcher(section, {"strategy": "pad-to-max", "max_batch_size": 2, "tail": "keep"}, 1)
    for sample in range(6):
        places = made.locate(sample)
        assert len(places) == 3
        assert sorted(places, key=lambda place: (place.step, place.rank, place.row)) == places
        for place in places:
            assert made.take(place.rank, place.step, 1).samples[place.row] == sample


def failure(call: Any) -> tuple[str, str, str | None]:
    with pytest.raises(Failure) as caught:
        call()
    return caught.value.kind, caught.value.field, caught.value.value


def read(order: dict[str, Any], lengths: list[int] | None, *lists: tuple[str, list[int]], **more: Any) -> BatchRecipe:
    return BatchRecipe(json.dumps({"order": order, "batch": {"max_tokens": 99}, **more}), lengths, list(lists))


def test_failures_of_recipes() -> None:
    copies = {"name": "copies", "copies": 2, "of": {"samples": 3}}
    assert failure(lambda: read(copies, [1, 2])) == ("contradiction", "samples", "3")
    assert failure(lambda: Batcher(read(copies, None), 0)) == ("missing", "lengths", "")
    assert read({"sizes": [3]}, [1, 2, 3]).recipe() == read({"name": "sharded", "sizes": [3]}, [1, 2, 3]).recipe()
    assert failure(lambda: read({"name": "feistel", "sizes": [3]}, [1, 2, 3]))[:2] == ("contradiction", "sizes")
    assert failure(lambda: read({"name": "sharded"}, [1])) == ("missing", "sizes", "")
    assert failure(lambda: read({"name": "sharded", "sizes": [3]}, [1])) == ("contradiction", "samples", "3")
    assert '"lengths"' not in read({"name": "sharded", "sizes": [3]}, None).recipe()
    assert failure(lambda: read({"name": "exclude", "of": {"samples": 3}}, [1])) == ("missing", "indices", "")
    assert failure(lambda: read({"copies": 2, "samples": 2}, [1])) == ("contradiction", "copies", "2")
    assert failure(lambda: read({"lanes": 2, "copies": 2}, [1])) == ("contradiction", "lanes", "2")
    assert failure(lambda: read({}, [1], ("sizes", [1]))) == ("contradiction", "sizes", "1 numbers")
    assert failure(lambda: read(copies, [1], ("indices", [1]))) == ("contradiction", "indices", "1 numbers")
    assert failure(lambda: read(copies, [1], ("sources/indices", [1]))) == ("contradiction", "lists", "sources/indices")
    assert failure(lambda: read(copies, [1], ("weight", [1]))) == ("unknown-name", "lists", "weight")
    assert failure(lambda: read(copies, [1], deal={"unit": 0})) == ("contradiction", "unit", "there")
    buckets = {"strategy": "bucket", "max_batch_size": 2}
    made = read(copies, [1, 2, 3], ("boundaries", [2, 4]), batch=buckets)
    assert '"boundaries":[2,4]' in made.recipe()
    excluded = {"name": "exclude", "of": {"samples": 3}}
    made = read(excluded, [1, 2, 3], ("boundaries", [2, 4]), ("indices", [1]), batch=buckets)
    assert '"order":{"name":"exclude","of":{"name":"feistel","samples":3,"seed":0},"indices":[1]}' in made.recipe()


def test_epochs_that_cannot_be_used() -> None:
    sources = [{"name": "a", "samples": 3}]
    made = read({"name": "blend", "samples": 2**40, "sources": sources}, [1, 2, 3])
    assert failure(lambda: Batcher(made, 2**20))[:2] == ("out-of-range", "epoch")
    # Windows are made one at a time, so no memory grows with the size of the epoch. This epoch would not fit into
    # memory.
    assert len(Batcher(made, 0).take(0, 0, 3).batch_ends) == 3


def test_states_of_an_order_that_got_more() -> None:
    """An epoch of which steps were taken must not change; a later one may."""
    of = {"name": "copies", "copies": 2, "of": plain(9)}

    def skipping(*epochs: int) -> Batcher:
        ranges = [{"epoch": epoch, "start": 1, "count": 3} for epoch in epochs]
        section = {"name": "skip", "of": of, "ranges": ranges}
        recipe = {"order": section, "batch": {"max_tokens": 30}}
        return Batcher(BatchRecipe(json.dumps(recipe), [9] * 9, []), 4)

    state = skipping(2).state(1)
    assert skipping(2, 5).resume(state).num_steps() == skipping(2).num_steps() - 1
    assert failure(lambda: skipping(2, 4).resume(state)) == ("contradiction", "ranges", "too early at entry 1")
    assert failure(lambda: skipping(2, 3).resume(skipping(2).state(0)))[1] == "ranges"
    assert skipping(2, 4).resume(skipping(2).state(0)).num_steps() < skipping(2).num_steps()
