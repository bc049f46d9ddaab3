"""The promises of section 15 of SPEC.md about blends, tested with the second implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import islice

import pytest
from composing import blend, order, plain
from samedeal_reference import Failure
from samedeal_reference.base import MAX_SAMPLES, stream
from samedeal_reference.composed import Blend, make, source_seed
from samedeal_reference.composed_patterns import Tijdeman, Tree


def random_weights(words: random.Random, most: int) -> list[int]:
    """A few weights: small, equal or far apart. Some can be zero, but not all."""
    top = words.choice([1, 2, 10, most])
    weights = [words.choice([0, 1, words.randint(1, top)]) for _ in range(words.randint(1, 9))]
    return weights if any(weights) else [1]


def errors(pattern: Tree | Tijdeman, weights: list[int], n: int) -> list[Fraction]:
    """For each source: the difference of its count in the first n positions from exact proportion."""
    total = sum(weights)
    return [abs(pattern.count(i, n) - Fraction(n * weight, total)) for i, weight in enumerate(weights)]


def within(pattern: Tree | Tijdeman, weights: list[int], n: int) -> bool:
    bounds = [Fraction(pattern.bound(i), 10**6) for i in range(len(weights))]
    return all(error <= bound for error, bound in zip(errors(pattern, weights, n), bounds, strict=True))


# Patterns


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [Tree, Tijdeman])
def test_a_pattern_is_one(kind: type[Tree | Tijdeman], seed: int) -> None:
    """The source, the count and the inverse of a pattern agree, and no count exceeds its bound."""
    words = random.Random(f"{kind.__name__} {seed}")
    weights = random_weights(words, 40)
    pattern = kind(weights)
    counts = [0] * len(weights)
    for n in range(min(3 * sum(weights), 500)):
        assert counts == [pattern.count(i, n) for i in range(len(weights))]
        assert within(pattern, weights, n)
        i = pattern.source(n)
        assert weights[i] > 0
        assert pattern.nth(i, counts[i]) == n
        counts[i] += 1


@pytest.mark.parametrize(
    ("kind", "weights", "sources"),
    [
        # Leaves 0 and 2 are joined to a node with the number 0. It is taken before leaf 1, which has the same weight.
        (Tree, [1, 2, 1], [0, 1, 2, 1]),
        # The lighter child is on the left, and gets the half position first.
        (Tree, [3, 1], [0, 1, 0, 0]),
        # At n = 2, both sources have (2 t - 1) / a = 1, so the first one is chosen.
        (Tijdeman, [3, 1], [0, 0, 1, 0]),
        (Tijdeman, [0, 4], [1]),
    ],
)
def test_pattern_worked_out_by_hand(kind: type[Tree | Tijdeman], weights: list[int], sources: list[int]) -> None:
    pattern = kind(weights)
    assert [pattern.source(n) for n in range(2 * len(sources))] == 2 * sources


@pytest.mark.parametrize("seed", range(200))
def test_tijdeman(seed: int) -> None:
    """The deviation is at most 1 - 1 / (2 k - 2), and 0 at the end of a period."""
    words = random.Random(seed)
    weights = random_weights(words, 30)
    pattern = Tijdeman(weights)
    k = sum(weight > 0 for weight in weights)
    most = Fraction(2 * k - 3, 2 * k - 2) if k > 1 else Fraction(0)
    total = sum(weights)
    assert all(max(errors(pattern, weights, n)) <= most for n in range(pattern.period + 1))
    assert not any(errors(pattern, weights, pattern.period))
    assert pattern.period == total // (total // pattern.period)


@pytest.mark.parametrize("weights", [[1] * 7, [1, 1], [5, 3], [10**5, 1, 1], [100, 99, 98, 1], [2, 2, 2, 1000]])
def test_tijdeman_of_chosen_weights(weights: list[int]) -> None:
    pattern = Tijdeman(weights)
    words = random.Random(0)
    assert all(within(pattern, weights, n) for n in [0, 1, 2, *(words.randrange(pattern.period) for _ in range(500))])


def test_tijdeman_of_too_long_a_period() -> None:
    with pytest.raises(Failure):
        Tijdeman([2**20, 1])
    assert Tijdeman([2**52, 2**52]).period == 2


@pytest.mark.parametrize("seed", range(100))
def test_bound_of_large_weights(seed: int) -> None:
    """The sum of the weights is near 2^53 - 1, and positions are as large."""
    words = random.Random(seed)
    left, weights = MAX_SAMPLES, []
    for _ in range(words.randint(1, 12)):
        weights.append(words.choice([1, words.randint(1, left // 2), words.randint(0, 100)]))
        left -= weights[-1]
    weights.append(left if words.random() < 0.7 else 1)
    assert sum(weights) <= MAX_SAMPLES
    pattern = Tree(weights)
    edges = [0, 1, MAX_SAMPLES - 1, MAX_SAMPLES]
    for n in [*edges, *(words.randrange(2 ** words.randint(1, 53)) for _ in range(100))]:
        assert within(pattern, weights, n)
        assert sum(pattern.count(i, n) for i in range(len(weights))) == n
        i = pattern.source(n)
        assert [pattern.count(j, n + 1) - pattern.count(j, n) for j in range(len(weights))] == [
            int(j == i) for j in range(len(weights))
        ]
        assert pattern.nth(i, pattern.count(i, n)) == n
        # All intermediate numbers of an implementation fit into 128 bits.
        assert 2 * (n + 1) * sum(weights) + sum(weights) < 2**128


def test_bound_is_small() -> None:
    """The bound is at most 1.68 samples and 76 nodes, for any number of sources."""
    fibonacci = [1, 1]
    while sum(fibonacci) + sum(fibonacci[-2:]) <= MAX_SAMPLES:
        fibonacci.append(sum(fibonacci[-2:]))
    words = random.Random(2)
    lists = [fibonacci, [2 * number for number in fibonacci[:60]] + [1], [1] * 500]
    for weights in [*lists, *(words.choices(range(1, 1000), k=words.randint(2, 60)) for _ in range(100))]:
        pattern = Tree(weights)
        longest = max(len(way) for way in pattern.ways.values())
        assert longest <= 76
        assert all(pattern.bound(i) <= 1680000 + longest for i in range(len(weights)))


def test_bound_is_reached() -> None:
    """For two equal weights, the bound is exact: no smaller one holds."""
    pattern = Tree([1, 1])
    assert pattern.bound(0) == 500000
    assert max(errors(pattern, [1, 1], 1)) == Fraction(1, 2)


# Blends


def passes(made: Blend, epochs: int) -> list[list[int]]:
    """For each source: its samples in the first epochs, in order."""
    given: list[list[int]] = [[] for _ in made.sources]
    for epoch in range(epochs):
        for position in range(made.length(epoch)):
            i, draw = made.source(epoch, position)
            assert draw == len(given[i]) or made.exhaustion != "repeat"
            given[i].append(made.sample(epoch, position) - made.offsets[i])
    return given


@pytest.mark.parametrize("name", ["blend", "blend-exact"])
@pytest.mark.parametrize("seed", range(10))
def test_repeat_makes_whole_passes(name: str, seed: int) -> None:
    words = random.Random(seed)
    weights = random_weights(words, 9)
    sizes = [words.randint(1, 12) for _ in weights]
    made = blend(weights, sizes, name, samples=words.randint(1, 40), seed=seed)
    for i, (given, size) in enumerate(zip(passes(made, 6), sizes, strict=True)):
        assert (len(given) == 0) == (weights[i] == 0)
        for at in range(0, len(given), size):
            one = given[at : at + size]
            assert len(set(one)) == len(one)
            assert set(one) <= set(range(size))
            # The order of a pass is the order of the source's own epoch, whatever the other sources are.
            assert one == made.sources[i].order.epoch(at // size)[: len(one)]


def test_repeat_is_len_of_all_sources_by_default() -> None:
    assert blend([1, 2], [5, 7]).length(4) == 12


def test_index_spaces() -> None:
    joined, shared = (blend([1, 1], [3, 5], index_space=space) for space in ("joined", "shared"))
    assert (joined.range, shared.range) == (8, 5)
    assert sorted(joined.epoch(0)) != sorted(shared.epoch(0))
    assert max(joined.epoch(0)) == 7
    assert max(shared.epoch(0)) < 5


@pytest.mark.parametrize("name", ["blend", "blend-exact"])
@pytest.mark.parametrize("seed", range(10))
def test_stop(name: str, seed: int) -> None:
    """L is the first position at which a source has no draw left, by counting."""
    words = random.Random(seed)
    weights = random_weights(words, 9)
    sizes = [words.randint(1, 9) for _ in weights]
    most = words.randint(1, 3)
    made = blend(weights, sizes, name, exhaustion="stop", max_passes=most)
    endless = blend(weights, sizes, name, samples=10**6)
    given: Counter[int] = Counter()
    n = 0
    while given[i := endless.draw(n)[0]] < most * sizes[i]:
        given[i] += 1
        n += 1
    assert made.length(0) == made.length(5) == n
    assert [made.count(i, n) for i in range(len(weights))] == [given[i] for i in range(len(weights))]
    # Epoch 2 begins with new whole passes.
    for position in range(n):
        i, draw = made.source(2, position)
        assert 2 * most * sizes[i] <= draw < 3 * most * sizes[i]
    assert blend(weights, sizes, name, exhaustion="fail", max_passes=most, samples=n).epoch(2) == made.epoch(2)
    with pytest.raises(Failure):
        blend(weights, sizes, name, exhaustion="fail", max_passes=most, samples=n + 1)


@pytest.mark.parametrize("name", ["blend", "blend-exact"])
@pytest.mark.parametrize("seed", range(20))
def test_renormalize(name: str, seed: int) -> None:
    """Every source makes exactly its number of passes in every epoch."""
    words = random.Random(seed)
    weights = random_weights(words, 9)
    sizes = [words.randint(1, 9) for _ in weights]
    most = words.randint(1, 3)
    made = blend(weights, sizes, name, exhaustion="renormalize", max_passes=most)
    there = [size if weight else 0 for weight, size in zip(weights, sizes, strict=True)]
    assert made.length(0) == most * sum(there)
    for epoch in (0, 3):
        seen = Counter(made.epoch(epoch))
        for i, size in enumerate(there):
            assert all(seen[made.offsets[i] + sample] == most for sample in range(size))
    # Until the first source leaves, the positions are those of `stop`.
    stop = blend(weights, sizes, name, exhaustion="stop", max_passes=most)
    assert made.epoch(1)[: stop.length(1)] == stop.epoch(1)


@pytest.mark.parametrize("seed", range(10))
def test_renormalize_stays_within_its_bounds(seed: int) -> None:
    words = random.Random(seed)
    weights = [words.randint(1, 9) for _ in range(5)]
    made = blend(weights, [words.randint(1, 30) for _ in weights], exhaustion="renormalize")
    exact = [Fraction(0)] * 5
    for n in range(made.length(0)):
        stage = made._stage_of(n)
        exact = [x + Fraction(weight, sum(stage.weights)) for x, weight in zip(exact, stage.weights, strict=True)]
        for i, bound in enumerate(made.bounds()):
            assert abs(made.count(i, n + 1) - exact[i]) <= Fraction(bound, 10**6)


@pytest.mark.parametrize("name", ["blend", "blend-exact"])
def test_a_source_that_comes_later_changes_nothing_before(name: str) -> None:
    short = blend([3, 1], [11, 6], name, samples=20, stages=[{"from": 30, "weights": [1, 1]}])
    stages = [{"from": 30, "weights": [1, 1, 0]}, {"from": 73, "weights": [1, 1, 2]}]
    long = blend([3, 1, 0], [11, 6, 8], name, samples=20, stages=stages)
    ours, theirs = ([sample for epoch in range(6) for sample in made.epoch(epoch)] for made in (short, long))
    assert ours[:73] == theirs[:73]
    assert ours != theirs
    # Draws go on across the ends of stages, so all passes are whole.
    for i, given in enumerate(passes(long, 6)):
        size = long.sources[i].order.range
        assert all(len(set(given[at : at + size])) == size for at in range(0, len(given) - size + 1, size))
    assert long.bounds()[2] == long.stages[2].pattern.bound(2) > 0


def test_a_source_that_comes_later_does_not_change_the_default_length() -> None:
    assert blend([1], [5]).length(0) == 5
    assert blend([1, 0], [5, 7]).length(0) == 5


def test_seeds_of_sources() -> None:
    """The seed of a source follows from its name, whatever its place in the list. A given seed stays."""
    made = blend([1, 1], [500, 500], seed=9)
    first, second = (source.order for source in made.sources)
    assert first.epoch(0) != second.epoch(0)
    assert first.epoch(0) == order("feistel", samples=500, seed=source_seed(9, "s0")).epoch(0)
    turned = order("blend", seed=9, sources=[{"name": name, "samples": 500} for name in ("s1", "s0")])
    assert isinstance(turned, Blend)
    assert turned.sources[1].order.epoch(0) == first.epoch(0)
    given = order("blend", seed=9, sources=[{"name": "s0", "order": plain(500)}])
    assert isinstance(given, Blend)
    assert given.sources[0].order.epoch(0) == order(**plain(500)).epoch(0)
    x, y = islice(stream("blend source s0", 9, 0), 2)
    assert source_seed(9, "s0") % 2**64 == x + 2**32 * y
    assert -(2**63) <= source_seed(9, "s0") < 2**63


def test_seeds_of_orders_within_a_source() -> None:
    """The seed of a source also holds for the orders within it."""
    within = {"name": "copies", "copies": 1, "of": {"name": "exclude", "indices": [3], "of": {"samples": 300}}}
    made = order("blend", seed=9, samples=9, sources=[{"name": "s0", "order": within}])
    assert isinstance(made, Blend)
    seed = source_seed(9, "s0")
    plain_order = order("feistel", samples=300, seed=seed)
    assert made.sources[0].order.epoch(2) == [sample for sample in plain_order.epoch(2) if sample != 3]


def test_a_blend_of_blends() -> None:
    inner = {"name": "blend", "samples": 10, "sources": [{"name": "a", "samples": 4}, {"name": "b", "samples": 9}]}
    outer = {"name": "blend-exact", "sources": [{"name": "x", "order": inner}, {"name": "y", "samples": 5}]}
    made = make(outer | {"samples": 12}, [])
    assert isinstance(made, Blend)
    assert made.range == 18
    for i, given in enumerate(passes(made, 8)):
        source = made.sources[i].order
        assert given == [source.sample(*source.find(draw)) for draw in range(len(given))]


def test_sources_that_cannot_be_exhausted() -> None:
    grows = {"name": "grown", "samples": 5, "growth": [{"epoch": 1, "consumed": 0, "samples": 6}]}
    with pytest.raises(Failure):
        order("blend", exhaustion="stop", sources=[{"name": "a", "order": grows}])
    made = order("blend", samples=16, sources=[{"name": "a", "order": grows}])
    assert sorted(made.epoch(0)) == sorted([*range(5), *range(6), *made.epoch(0)[11:]])
