"""The promises of section 15 of SPEC.md about composed orders other than blends, tested with the second implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from composing import EVERY, PLAIN, order, plain
from samedeal_reference import Failure
from samedeal_reference.base import below, stream
from samedeal_reference.composed import Balance, Blend, Weighted, make
from samedeal_reference.composed_base import permutation
from samedeal_reference.composed_weighted import quotients

# Draws and epochs


@pytest.mark.parametrize("section", EVERY, ids=lambda section: section["name"])
def test_draws_are_epochs_end_to_end(section: dict[str, Any]) -> None:
    made = make(section, [])
    draws = [sample for epoch in range(8) for sample in made.epoch(epoch)]
    assert made.begin(8) == len(draws)
    assert [made.sample(*made.find(draw)) for draw in range(len(draws))] == draws
    assert all(0 <= sample < made.range for sample in draws)
    lengths = [made.length(epoch) for epoch in range(8)]
    assert not made.steady or len(set(lengths)) == 1
    assert [made.begin(epoch) for epoch in range(8)] == [sum(lengths[:epoch]) for epoch in range(8)]
    made.require_epoch(8)


@pytest.mark.parametrize("section", EVERY, ids=lambda section: section["name"])
def test_inverse(section: dict[str, Any]) -> None:
    made = make(section, [])
    for epoch in range(7):
        found = [made.occurrences(sample, epoch) for sample in range(made.range)]
        assert sum(len(positions) for positions in found) == made.length(epoch)
        for sample, positions in enumerate(found):
            for start in range(made.length(epoch) + 1):
                later = [position for position in positions if position >= start]
                assert made.first(epoch, sample, start) == (later[0] if later else None)
        if made.single:
            assert all(len(positions) <= 1 for positions in found)
            assert [made.position(epoch, sample) for sample in range(made.range)] == [
                positions[0] if positions else None for positions in found
            ]


def test_epochs_that_cannot_be_used() -> None:
    made = order("copies", of=plain(2**52), copies=1)
    made.require_epoch(0)
    with pytest.raises(Failure):
        made.require_epoch(1)


# Grown


@pytest.mark.parametrize("seed", range(20))
def test_grown(seed: int) -> None:
    """Each growth adds its samples to the rest, once, and moves no sample that was dealt before."""
    words = random.Random(seed)
    size = words.choice([1, 10, 300])
    samples, epoch, consumed = size, 0, -1
    growth: list[dict[str, int]] = []
    for _ in range(words.randint(1, 6)):
        if words.random() < 0.4:
            epoch, consumed = epoch + words.randint(1, 2), -1
        consumed = words.randint(consumed + 1, samples)
        samples += words.choice([1, words.randint(1, 300)])
        growth.append({"epoch": epoch, "consumed": consumed, "samples": samples})
        before = order("grown", samples=size, growth=growth[:-1], seed=seed)
        after = order("grown", samples=size, growth=growth, seed=seed)
        for earlier in range(epoch):
            assert after.epoch(earlier) == before.epoch(earlier)
        assert after.epoch(epoch)[:consumed] == before.epoch(epoch)[:consumed]
        for one in range(epoch, epoch + 2):
            assert sorted(after.epoch(one)) == list(range(samples))
    assert after.epoch(epoch + 1) == order("feistel", samples=samples, seed=seed).epoch(epoch + 1)
    assert order("grown", samples=size, seed=seed).epoch(4) == order("feistel", samples=size, seed=seed).epoch(4)


def test_left_of_a_stage_is_samples_less_positions() -> None:
    """U[t] is D[t] - d[t]: each stage orders exactly the samples that were not dealt before it."""
    entries = [{"epoch": 0, "consumed": 3, "samples": 20}, {"epoch": 0, "consumed": 15, "samples": 40}]
    made = order("grown", samples=8, growth=entries)
    epoch = made.epoch(0)
    assert set(epoch[:3]) <= set(range(8))
    assert set(epoch[3:15]) <= set(range(20)) - set(epoch[:3])
    assert set(epoch[15:]) == set(range(40)) - set(epoch[:15])
    # The last stage permutes its elements by the permutation with the number 2. The new samples are the elements from 5
    # on.
    pi = permutation(40 - 15, "grown", 0, 0, 2)
    new = [position for position in range(25) if pi.sample(position) >= 20 - 15]
    assert [epoch[15 + position] for position in new] == [20 + pi.sample(position) - 5 for position in new]
    assert len(new) == 20


@pytest.mark.parametrize(
    "growth",
    [
        [{"epoch": 0, "consumed": 9, "samples": 10}],
        [{"epoch": 0, "consumed": 3, "samples": 7}],
        [{"epoch": 0, "consumed": 3, "samples": 8}],
        [{"epoch": 0, "consumed": 3, "samples": 9}, {"epoch": 0, "consumed": 3, "samples": 10}],
        [{"epoch": 1, "consumed": 0, "samples": 9}, {"epoch": 0, "consumed": 0, "samples": 10}],
        [{"epoch": 1, "consumed": 5, "samples": 9}, {"epoch": 1, "consumed": 4, "samples": 10}],
    ],
)
def test_growth_that_cannot_be(growth: list[dict[str, int]]) -> None:
    with pytest.raises(Failure):
        order("grown", samples=8, growth=growth)


# Views


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("of", [*PLAIN, "grown", "windows", "skip"])
def test_views_keep_the_order(of: str, seed: int) -> None:
    words = random.Random(f"{of} {seed}")
    inner = plain(40, of, seed)
    if of == "windows":
        inner = {"name": of, "sizes": [20, 11, 9], "length": 2, "stride": 1}
    if of == "grown":
        inner = {"name": of, "samples": 30, "growth": [{"epoch": 1, "consumed": 12, "samples": 40}]}
    if of == "skip":
        inner = {"name": of, "of": plain(40), "ranges": [{"epoch": 1, "start": 3, "count": 30}]}
    indices = sorted(words.sample(range(40), words.randint(0, 40)))
    whole = make(inner, [])
    for epoch in range(3):
        full = whole.epoch(epoch)
        exclude, subset = (order(name, of=inner, indices=indices) for name in ("exclude", "subset"))
        assert exclude.epoch(epoch) == [sample for sample in full if sample not in indices]
        assert subset.epoch(epoch) == [sample for sample in full if sample in indices]
        assert exclude.single
        assert subset.single
        assert exclude.steady == subset.steady == (of not in ("grown", "skip"))
        for view in (exclude, subset):
            assert [view.position(epoch, sample) for sample in view.epoch(epoch)] == list(range(view.length(epoch)))


@pytest.mark.parametrize("seed", range(10))
def test_skip(seed: int) -> None:
    words = random.Random(seed)
    inner = {"name": "copies", "of": plain(20), "copies": 2}
    whole = make(inner, [])
    ranges = []
    for epoch in (0, 2):
        edges = sorted(words.choices(range(41), k=2 * words.randint(1, 4)))
        spans = zip(edges[::2], edges[1::2], strict=True)
        ranges += [{"epoch": epoch, "start": start, "count": end - start} for start, end in spans]
    made = order("skip", of=inner, ranges=ranges)
    for epoch in range(4):
        gone = {r["start"] + i for r in ranges if r["epoch"] == epoch for i in range(r["count"])}
        kept = [sample for position, sample in enumerate(whole.epoch(epoch)) if position not in gone]
        assert made.epoch(epoch) == kept
        assert made.length(epoch) == len(kept)
    assert not made.steady
    assert not made.single
    assert order("skip", of=inner, ranges=[]).steady


def test_views_that_cannot_be() -> None:
    twice = {"name": "copies", "of": plain(4), "copies": 2}
    for wrong in (
        {"name": "exclude", "of": twice, "indices": [1]},
        {"name": "exclude", "of": plain(4), "indices": [1, 1]},
        {"name": "subset", "of": plain(4), "indices": [4]},
        {"name": "skip", "of": plain(4), "ranges": [{"epoch": 0, "start": 2, "count": 3}]},
        {"name": "skip", "of": plain(4), "ranges": [{"epoch": 0, "start": s, "count": 2} for s in (0, 1)]},
    ):
        with pytest.raises(Failure):
            make(wrong, [])


def test_copies_lie_together() -> None:
    made = order("copies", of=plain(7), copies=3)
    assert made.epoch(2) == [sample for sample in order(**plain(7)).epoch(2) for _ in range(3)]
    assert (made.range, made.length(0), made.steady, made.single) == (7, 21, True, False)


def test_lists_beside_the_recipe() -> None:
    """The lists are named by the path of their member."""
    sizes = [4, 0, 6]
    inner = {"name": "windows", "length": 2, "seed": 1}
    cut = {"name": "exclude", "of": {"name": "exclude", "of": plain(9)}}
    section = {
        "name": "blend",
        "samples": 30,
        "sources": [{"name": "web", "order": inner}, {"name": "b", "order": cut}],
    }
    lists = [("sources/web/sizes", sizes), ("sources/b/indices", [1, 2]), ("sources/b/of/indices", [5])]
    made = make(section, lists)
    assert isinstance(made, Blend)
    web, b = (source.order for source in made.sources)
    assert web.epoch(0) == make(inner | {"sizes": sizes}, []).epoch(0)
    assert set(b.epoch(0)) == set(range(9)) - {1, 2, 5}
    with pytest.raises(Failure):
        make(section, lists[1:])


# Windows, balance and weighted


def test_windows() -> None:
    sizes, length, stride = [10, 2, 3, 0, 7], 3, 2
    made = order("windows", sizes=sizes, length=length, stride=stride, seed=5)
    starts, base = [], 0
    for size in sizes:
        starts += [base + at for at in range(0, size, stride) if at + length <= size]
        base += size
    for epoch in range(4):
        assert sorted(made.epoch(epoch)) == starts
    assert made.epoch(0) != made.epoch(1)
    assert made.range == sum(sizes)
    by_default = order("windows", sizes=sizes, length=length, seed=5)
    assert sorted(by_default.epoch(0)) == [0, 3, 6, 12, 15, 18]


@pytest.mark.parametrize("seed", range(15))
def test_balance(seed: int) -> None:
    words = random.Random(seed)
    factors = [words.choice([0, 10**6, words.randint(1, 4 * 10**6), 500000, 333333]) for _ in range(4)]
    classes = [words.choice([0, 0, 0, 1, 1, 3]) for _ in range(words.randint(1, 60))]
    made = order("balance", classes=classes, factors=factors, seed=seed)
    assert isinstance(made, Balance)
    totals = [0] * len(classes)
    history = [totals]
    for epoch in range(12):
        seen = Counter(made.epoch(epoch))
        for sample, c in enumerate(classes):
            rate = Fraction(factors[c], 10**6)
            assert seen[sample] in (rate.__floor__(), rate.__ceil__())
            # A sample is drawn by systematic sampling. Its number in sigma[c] determines its phase.
            number, n = number_of(made, sample, c), len(made.members[c])
            own = (below(stream("balance phase", seed, 0), 10**6) + 618034 * c) % 10**6
            phase = (Fraction(own, 10**6) + n - 1 - number) / n
            assert seen[sample] == (rate * (epoch + 1) + phase).__floor__() - (rate * epoch + phase).__floor__()
        totals = [total + seen[sample] for sample, total in enumerate(totals)]
        history.append(totals)
    # The deviation is below 1 over any run of epochs, not only from the first one on.
    for start in range(len(history)):
        for end in range(start, len(history)):
            for sample, c in enumerate(classes):
                exact = Fraction((end - start) * factors[c], 10**6)
                assert abs(history[end][sample] - history[start][sample] - exact) < 1


def number_of(made: Balance, sample: int, c: int) -> int:
    """The number of a sample in the list of its class, in the order of sigma[c]."""
    members = made.members[c]
    return permutation(len(members), "balance class", made.seed, 0, c).position(members.index(sample))


def test_balance_of_many_small_classes() -> None:
    """Classes have different phases, so that not all of them have their elements in the same epochs."""
    made = order("balance", classes=list(range(1000)), factors=[300000] * 1000, seed=3)
    assert all(abs(made.length(epoch) - 300) <= 3 for epoch in range(20))


def test_balance_up_to_one_has_no_sample_twice() -> None:
    made = order("balance", classes=[0] * 10 + [1] * 7, factors=[10**6, 700000])
    for epoch in range(10):
        assert len(set(made.epoch(epoch))) == made.length(epoch)


def test_balance_shuffles_every_epoch() -> None:
    made = order("balance", classes=[0] * 9, factors=[10**6])
    assert sorted(made.epoch(0)) == sorted(made.epoch(1)) == list(range(9))
    assert made.epoch(0) != made.epoch(1)


@pytest.mark.parametrize("seed", range(20))
def test_weighted(seed: int) -> None:
    words = random.Random(seed)
    weights = [words.choice([0, 1, 1, words.randint(1, 60)]) for _ in range(words.randint(1, 20))] + [3]
    some, replacement = sum(weight > 0 for weight in weights), seed % 2 == 0
    samples = words.randint(1, 40 if replacement else some)
    made = order("weighted", weights=weights, samples=samples, seed=seed, replacement=replacement)
    assert isinstance(made, Weighted)
    chances = [Fraction(samples * weight, sum(weights)) for weight in weights]
    if not replacement:
        chances = chances_without_replacement(weights, samples)
        assert [made.line.index(sample) for sample in made.certain] == sorted(map(made.line.index, made.certain))
        assert all(chances[sample] == 1 for sample in made.certain)
    counts: Counter[int] = Counter()
    for epoch in range(12):
        all_of_epoch = made.epoch(epoch)
        here = Counter(all_of_epoch)
        for sample, chance in enumerate(chances):
            assert made.seen(sample, epoch) == counts[sample]
            assert here[sample] in (chance.__floor__(), chance.__ceil__())
            places = [position for position, own in enumerate(all_of_epoch) if own == sample]
            assert made.first(epoch, sample, 0) == (places[0] if places else None)
        counts += here
    # Far on, epochs cannot be read one by one, so only the counts are checked.
    for sample, chance in enumerate(chances):
        assert abs(made.seen(sample, 10**6) - chance * 10**6) < 7


def chances_without_replacement(weights: list[int], samples: int) -> list[Fraction]:
    """Each chance is min(1, c * weight), with the c for which the chances add up to the number of samples."""
    for certain in range(samples + 1):
        ranked = sorted(weights, reverse=True)
        rest = sum(ranked[certain:])
        c = Fraction(samples - certain, rest) if rest else Fraction(0)
        chances = [min(Fraction(1), c * weight) for weight in weights]
        if sum(chances) == samples:
            return chances
    raise AssertionError


def test_neighbours_of_a_weighted_order_do_not_exclude_each_other() -> None:
    """Without the permutation sigma, systematic sampling would take every seventh sample in an epoch."""
    pairs = 0
    for seed in range(10):
        here = set(order("weighted", weights=[3] * 700, samples=100, seed=seed).epoch(1))
        pairs += sum(sample + 1 in here for sample in here)
    assert 100 < pairs < 190


@pytest.mark.parametrize("count", range(12))
def test_sums_of_quotients(count: int) -> None:
    for modulus, step, offset in product(range(1, 9), range(12), range(-9, 20)):
        own = sum((offset + number * step) // modulus for number in range(count))
        assert quotients(count, offset, modulus, step) == own
