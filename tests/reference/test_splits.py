"""The promises of section 16 of SPEC.md about splits, tested with the second implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from typing import Any

import pytest
from samedeal_reference import Failure, Split
from samedeal_reference.base import MAX_SAMPLES

HOLDOUT = {"test": 10, "validation": 10, "training": 80}


def text(parts: list[dict[str, Any]], **more: Any) -> str:
    return json.dumps({"split": {"parts": parts, **more}}, ensure_ascii=False)


def weighted(weights: dict[str, int], seed: int = 0) -> Split:
    return Split(text([{"name": name, "weight": weight} for name, weight in weights.items()], seed=seed))


def sized(sizes: list[int], seed: int = 0) -> Split:
    return Split(text([{"name": f"p{i}", "size": size} for i, size in enumerate(sizes)], seed=seed))


def failure(call: Any) -> tuple[str, str, str | None]:
    with pytest.raises(Failure) as caught:
        call()
    return caught.value.kind, caught.value.field, caught.value.value


@pytest.mark.parametrize("seed", range(10))
def test_sizes_are_exact(seed: int) -> None:
    words = random.Random(seed)
    sizes = [words.choice([0, 1, words.randint(0, 400)]) for _ in range(words.randint(1, 6))]
    sizes[words.randrange(len(sizes))] += 1
    made = sized(sizes, seed)
    total = sum(sizes)
    found = made.part_of_run(0, total)
    assert Counter(found) == Counter({i: size for i, size in enumerate(sizes) if size})
    assert [made.members(i, 0, total) for i in range(len(sizes))] == [
        [x for x, part in enumerate(found) if part == i] for i in range(len(sizes))
    ]
    assert made.part_of([*range(total)][::-1]) == found[::-1]
    assert failure(lambda: made.part_of([0, total, total + 1])) == ("out-of-range", "ids", str(total))


def test_sizes_are_mixed() -> None:
    """The ids of a part are mixed: the first half of the ids is not the first part."""
    found = sized([500, 500], 1).part_of_run(0, 500)
    assert 200 < sum(found) < 300
    assert found != sized([500, 500], 2).part_of_run(0, 500)


@pytest.mark.parametrize("weights", [[10, 10, 80], [1, 1], [1, 0, 3], [1, 999], [2**52, 2**51], [1] * 20])
@pytest.mark.parametrize("first", [0, 2**31, 2**53 - 1 - 20_000])
def test_shares_are_about_those_of_the_weights(weights: list[int], first: int) -> None:
    """Shares are within five standard deviations, for any range of ids."""
    made = weighted({f"p{i}": weight for i, weight in enumerate(weights)}, 7)
    n = 20_000
    found = Counter(made.part_of_run(first, n))
    for i, weight in enumerate(weights):
        share = weight / sum(weights)
        assert abs(found[i] - n * share) <= 5 * (n * share * (1 - share)) ** 0.5
        assert (found[i] == 0) == (weight == 0)


def test_neighbours_do_not_share_a_part() -> None:
    """Two neighbours are in one part as often as any two ids."""
    found = weighted({"a": 1, "b": 1}, 3).part_of_run(0, 20_000)
    for distance in (1, 2, 3, 16, 1000):
        equal = sum(a == b for a, b in zip(found, found[distance:], strict=False))
        assert abs(equal - (len(found) - distance) / 2) <= 5 * (len(found) / 4) ** 0.5


@pytest.mark.parametrize("seed", range(10))
def test_weight_moves_between_neighbours_only(seed: int) -> None:
    words = random.Random(seed)
    weights = [words.randint(0, 50) for _ in range(5)]
    i = words.randrange(4)
    weights[i + 1] += 1
    more = weights.copy()
    moved = words.randint(1, weights[i + 1])
    more[i], more[i + 1] = more[i] + moved, more[i + 1] - moved
    before, after = (weighted({f"p{k}": weight for k, weight in enumerate(all_of)}) for all_of in (weights, more))
    pairs = set(zip(before.part_of_run(0, 3000), after.part_of_run(0, 3000), strict=True))
    assert all(x == y or (x, y) == (i + 1, i) for x, y in pairs)
    assert (i + 1, i) in pairs


def test_weights_in_proportion_are_one_split() -> None:
    small, large = (weighted({name: k * weight for name, weight in HOLDOUT.items()}) for k in (1, 10**9))
    assert small.part_of_run(0, 3000) == large.part_of_run(0, 3000)


def test_part_worked_out_by_hand() -> None:
    """With sizes, H is a permutation of the ids, and the part follows from the sums of sizes."""
    from samedeal_reference.composed_base import permutation

    pi = permutation(10, "split", -4, 0, 0)
    assert sized([3, 0, 7], -4).part_of_run(0, 10) == [0 if pi.sample(x) < 3 else 2 for x in range(10)]


def test_keys() -> None:
    made = weighted(HOLDOUT, 5)
    keys = ["a", "a.tar", "straße", "", "a" * 1000]
    ids = [int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little") >> 11 for key in keys]
    assert all(x < MAX_SAMPLES for x in ids)
    assert made.part_of_keys(keys) == made.part_of(ids)
    assert made.part_of_keys([]) == []
    assert failure(lambda: sized([3]).part_of_keys([])) == ("contradiction", "sizes", "given")
    assert failure(lambda: made.part_of_keys(["a"] * (2**20 + 1))) == ("out-of-range", "keys", "1048577 texts")


def test_the_last_id() -> None:
    made = weighted(HOLDOUT)
    assert len(made.part_of_run(MAX_SAMPLES - 1, 1)) == 1
    assert made.part_of_run(MAX_SAMPLES, 0) == []
    assert failure(lambda: made.part_of_run(MAX_SAMPLES, 1)) == ("out-of-range", "count", "1")
    assert failure(lambda: made.part_of_run(MAX_SAMPLES + 1, 0)) == ("out-of-range", "start", str(MAX_SAMPLES + 1))
    assert failure(lambda: made.part_of([MAX_SAMPLES])) == ("out-of-range", "ids", str(MAX_SAMPLES))
    assert failure(lambda: made.members(3, MAX_SAMPLES + 1, 0)) == ("out-of-range", "part", "3")


def test_canonical_text() -> None:
    made = weighted({"a": 1, "b": 2})
    parts = '"parts":[{"name":"a","weight":1},{"name":"b","weight":2}]}}'
    assert made.recipe() == '{"samedeal":1,"split":{"seed":0,' + parts
    assert Split(made.recipe()).recipe() == made.recipe()
    exact = '{"samedeal":1,"split":{"seed":-3,"samples":5,"parts":[{"name":"a","size":5}]}}'
    assert Split(text([{"size": 5, "name": "a"}], seed=-3)).recipe() == exact
    assert Split(exact).recipe_fingerprint() == hashlib.sha256(exact.encode()).hexdigest()


A, B = {"name": "a", "weight": 1}, {"name": "b", "weight": 1}
SIZED = {"name": "a", "size": 1}
REFUSED: list[tuple[str, tuple[str, str, str | None]]] = [
    ("{}", ("missing", "split", "")),
    ('{"split":{}}', ("missing", "parts", "")),
    ('{"split":{"parts":[]}}', ("missing", "parts", "")),
    ('{"split":{"parts":[' + "{}," * 2**16 + "{}]}}", ("out-of-range", "parts", "65537 objects")),
    ('{"samedeal":2}', ("out-of-range", "samedeal", "2")),
    ('{"order":{"samples":3}}', ("contradiction", "order", "there")),
    ('{"steps":{}}', ("contradiction", "steps", "there")),
    ('{"splits":{}}', ("unknown-member", "recipe", "splits")),
    ('{"split":{"ratio":1}}', ("unknown-member", "split", "ratio")),
    ('{"split":{"parts":[{"share":1}]}}', ("unknown-member", "parts", "share")),
    ('{"split":{"parts":[{"name":1}]}}', ("wrong-type", "name", None)),
    ('{"split":{"parts":[{"name":"a","name":"a"}]}}', ("contradiction", "name", "there twice")),
    ('{"split":{"parts":[{"name":"a","weight":-1}]}}', ("out-of-range", "weight", "-1")),
    ('{"split":{"parts":{}}}', ("wrong-type", "parts", None)),
    (text([{"weight": 1}, {"name": ""}]), ("missing", "name", "")),
    (text([A, {"name": ""}]), ("out-of-range", "name", "")),
    (text([A, {"name": "é" * 128}, {}]), ("missing", "name", "")),
    (text([A, {"name": "é" * 128}, B]), ("missing", "weight", "")),
    (text([A, {"name": "é" * 129}]), ("out-of-range", "name", "é" * 64)),
    (text([A, A | {"size": 1}]), ("contradiction", "name", "a")),
    (text([A, B | {"size": 5}]), ("contradiction", "weight", "1")),
    (text([{"name": "a"}, {"name": ""}]), ("out-of-range", "name", "")),
    (text([A, {"name": "b"}]), ("missing", "weight", "")),
    (text([SIZED, {"name": "b"}]), ("missing", "size", "")),
    (text([SIZED, B]), ("missing", "size", "")),
    (text([A, {"name": "b", "size": 5}]), ("contradiction", "size", "5")),
    (text([A, B | {"weight": 2**53 - 1}]), ("out-of-range", "weight", str(2**53 - 1))),
    (text([SIZED | {"size": 2**64 - 1}]), ("out-of-range", "size", str(2**64 - 1))),
    (text([A | {"weight": 0}, B | {"weight": 0}]), ("out-of-range", "weight", "0")),
    (text([SIZED | {"size": 0}], samples=0), ("out-of-range", "size", "0")),
    (text([A], samples=1), ("contradiction", "samples", "1")),
    (text([SIZED], samples=2), ("contradiction", "samples", "2")),
]


@pytest.mark.parametrize(("recipe", "expected"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_refused(recipe: str, expected: tuple[str, str, str | None]) -> None:
    assert failure(lambda: Split(recipe)) == expected


@pytest.mark.parametrize("seed", range(6))
def test_sizes_are_exact_among_keys(seed: int) -> None:
    words = random.Random(seed)
    sizes = [words.choice([0, 1, words.randint(0, 40)]) for _ in range(words.randint(1, 5))]
    sizes[words.randrange(len(sizes))] += 1
    keys = [f"key {words.randrange(300)}" for _ in range(500)]
    made = sized(sizes, seed)
    recipe = made.among_keys(keys, "rest")
    assert recipe == made.among_keys(keys[::-1] + keys[:9], "rest")
    found = Counter(Split(recipe).part_of_keys([*set(keys)]))
    assert found == Counter({i: size for i, size in enumerate([*sizes, len(set(keys)) - sum(sizes)]) if size})
    # A key is in a part, or in one before it, if a part before has more keys.
    sizes[0] += 7
    parts, more = (Split(each.among_keys(keys, "rest")).part_of_keys(keys) for each in (made, sized(sizes, seed)))
    assert all(now <= before for before, now in zip(parts, more, strict=True))
    ids = [words.randrange(1000) for _ in range(200)]
    exact = Split(sized([20, 10], seed).among_ids(ids, "rest"))
    assert Counter(exact.part_of([*set(ids)]))[0] == 20


def test_exact_sizes_that_are_refused() -> None:
    one, other = "k4560557", "k125374070"
    assert failure(lambda: sized([1]).among_keys([one, other], "rest")) == ("contradiction", "size", "1")
    assert Split(sized([2]).among_keys([one, other, one], "rest")).part_of_keys([one, other]) == [0, 0]
    assert failure(lambda: sized([2, 1]).among_ids([1, 2, 2], "rest")) == ("out-of-range", "size", "3")
    assert failure(lambda: sized([1]).among_ids([1, 2], "p0")) == ("contradiction", "name", "p0")
    assert failure(lambda: weighted(HOLDOUT).among_ids([1], "rest")) == ("contradiction", "weights", "given")
