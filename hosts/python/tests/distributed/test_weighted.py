"""The sampler by weights: exact counts over all ranks, states, and differences to PyTorch's sampler."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from samedeal import ContradictionError, OutOfRangeError, SamedealError, WrongTypeError
from samedeal.torch import DistributedSampler, Resumable, WeightedRandomSampler
from torch.utils.data import DataLoader

# 90 samples of a frequent class, 9 of a rare one, and one that never comes.
WEIGHTS = [1.0] * 90 + [10.0] * 9 + [0.0]
NUM = 90


def sampler_of(rank: int, world_size: int, weights: Any = WEIGHTS, count: int = NUM, **options: Any) -> Any:
    return WeightedRandomSampler(weights, count, num_replicas=world_size, rank=rank, seed=3, **options)


def epoch_of(world_size: int, epoch: int, **options: Any) -> Counter[int]:
    """Number of times that all ranks see each sample, without padding."""
    seen: Counter[int] = Counter()
    for rank in range(world_size):
        sampler = sampler_of(rank, world_size, **options)
        sampler.set_epoch(epoch)
        core = sampler._core
        indices = list(sampler)
        seen.update(indices[: len(indices) - core.num_padding])
    return seen


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_counts_are_shares_rounded_in_each_epoch_and_near_them_over_all(world_size: int) -> None:
    # The expected counts of a sample in an epoch, by class: 0.5, 5 and 0.
    factors = [weight * NUM / sum(WEIGHTS) for weight in WEIGHTS]
    total: Counter[int] = Counter()
    for epoch in range(40):
        seen = epoch_of(world_size, epoch)
        assert seen.total() == NUM
        assert all(seen[sample] in (int(factor), -int(-factor // 1)) for sample, factor in enumerate(factors))
        # The samples of a class together have the share of the class.
        assert sum(seen[sample] for sample in range(90)) == 45
        total += seen
        assert all(abs(total[sample] - (epoch + 1) * factor) < 3 for sample, factor in enumerate(factors))
    assert epoch_of(world_size, 0) == epoch_of(1, 0)
    assert list(sampler_of(0, 1)) != sorted(sampler_of(0, 1))


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 1), (4, 5)])
def test_a_run_resumes_on_other_ranks(before: int, after: int) -> None:
    seen: Counter[int] = Counter()
    states = set()
    for rank in range(before):
        sampler = sampler_of(rank, before, drop_last=True)
        loader = Resumable(DataLoader(range(100), 5, sampler=sampler, collate_fn=list, num_workers=2 * (rank == 0)))
        seen.update(itertools.chain(*itertools.islice(loader, 3)))
        states.add(loader.state_dict()["samedeal"])
    (state,) = states
    left = NUM - 15 * before
    assert left % after == 0
    for rank in range(after):
        sampler = sampler_of(rank, after, drop_last=True)
        sampler.load_state_dict({"samedeal": state})
        assert len(sampler) == left // after
        seen.update(sampler)
    assert seen == epoch_of(1, 0)


def test_weights_of_any_kind_and_scale() -> None:
    expected = list(sampler_of(0, 1))
    for weights in (
        torch.tensor(WEIGHTS),
        torch.tensor(WEIGHTS, dtype=torch.double),
        np.array(WEIGHTS, dtype=np.float32),
        [int(weight) for weight in WEIGHTS],
        [weight / 7 for weight in WEIGHTS],
        tuple(weight * 1e9 for weight in WEIGHTS),
    ):
        sampler = sampler_of(0, 1, weights)
        assert list(sampler) == expected
        assert sampler.weights.dtype == torch.double
        assert sampler.replacement is True
    assert isinstance(sampler_of(0, 1), DistributedSampler)


def test_it_is_near_to_what_pytorch_draws() -> None:
    theirs = Counter(torch.utils.data.WeightedRandomSampler(WEIGHTS, 9_000, generator=torch.manual_seed(1)))
    ours = Counter(sampler_of(0, 1, count=9_000))
    assert ours.keys() == theirs.keys()
    # The counts of random draws deviate by chance.
    assert all(abs(theirs[sample] - ours[sample]) < 6 * ours[sample] ** 0.5 for sample in ours)


@pytest.mark.parametrize(
    ("error", "field", "given"),
    [
        (ContradictionError, "num_samples", {"replacement": False}),
        (ContradictionError, "num_samples", {"weights": [1, 2, 0, 3], "replacement": False}),
        (ContradictionError, "generator", {"generator": torch.Generator()}),
        (WrongTypeError, "replacement", {"replacement": 1}),
        (WrongTypeError, "num_samples", {"num_samples": 3.0}),
        (OutOfRangeError, "num_samples", {"num_samples": 0}),
        (OutOfRangeError, "num_samples", {"num_samples": -1}),
        (OutOfRangeError, "weights", {"weights": [1.0, -1.0]}),
        (OutOfRangeError, "weights", {"weights": [1.0, float("nan")]}),
        (OutOfRangeError, "weights", {"weights": [1.0, float("inf")]}),
        (OutOfRangeError, "weights", {"weights": [0.0, 0.0]}),
        (OutOfRangeError, "weights", {"weights": []}),
        (OutOfRangeError, "weights", {"weights": [1.0, 1e-30]}),
        (WrongTypeError, "weights", {"weights": "abc"}),
        (WrongTypeError, "weights", {"weights": 3}),
        (WrongTypeError, "weights", {"weights": [[1.0], [2.0]]}),
        (WrongTypeError, "weights", {"weights": ["a", "b"]}),
        (WrongTypeError, "weights", {"weights": None}),
        (WrongTypeError, "seed", {"seed": 0.5}),
    ],
)
def test_what_cannot_be_meant(error: type[SamedealError], field: str, given: dict[str, Any]) -> None:
    options: dict[str, Any] = {"weights": [1, 2], "num_samples": 4, "num_replicas": 1, "rank": 0, **given}
    with pytest.raises(SamedealError) as caught:
        WeightedRandomSampler(**options)
    assert (type(caught.value), caught.value.field) == (error, field)
    assert len(caught.value.value) <= 64


def test_without_replacement_a_sample_comes_once_at_most_and_in_proportion() -> None:
    # Five draws without replacement. Samples 0 and 3 come in every epoch, because 5 * 400 > 605 and 4 * 90 > 205. The
    # others share three draws.
    weights = [400, 9, 3, 90, 0, 30, 30, 30, 12, 1]
    sampler = sampler_of(0, 1, weights, 5, replacement=False)
    assert sampler.replacement is False
    seen: Counter[int] = Counter()
    for epoch in range(1_000):
        sampler.set_epoch(epoch)
        samples = list(sampler)
        assert len(set(samples)) == len(samples) == 5
        seen.update(samples)
    shares = [1.0 if weight > 30 else 3 * weight / 115 for weight in weights]
    assert all(abs(seen[sample] - 1_000 * share) < 7 for sample, share in enumerate(shares))
    # Nine draws have all samples with a weight.
    assert sorted(sampler_of(0, 1, weights, 9, replacement=False)) == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert epoch_of(3, 1, weights=weights, count=6, replacement=False) == epoch_of(
        1, 1, weights=weights, count=6, replacement=False
    )
    with pytest.raises(ContradictionError, match="num_samples is 10; allowed: up to 9 without replacement"):
        sampler_of(0, 1, weights, 10, replacement=False)


@pytest.mark.parametrize("asked", [5, 300, 1_000, 2_500])
def test_every_epoch_is_as_long_as_asked_though_all_weights_differ(asked: int) -> None:
    different = (1 + np.arange(1000) / 10_000).tolist()
    sampler = sampler_of(0, 1, different, asked)
    seen: Counter[int] = Counter()
    for epoch in range(10):
        sampler.set_epoch(epoch)
        assert len(sampler) == sampler.num_samples == asked
        samples = list(sampler)
        assert len(samples) == asked
        seen.update(samples)
    total = sum(different)
    assert all(abs(seen[sample] - 10 * asked * weight / total) < 3 for sample, weight in enumerate(different))


@pytest.mark.parametrize("asked", [1, 2, 5])
def test_an_epoch_may_be_much_shorter_than_the_weights(asked: int) -> None:
    assert len(sampler_of(0, 1, np.ones(3_000_000), asked)) == asked
    for weights in (np.ones(100), np.arange(1, 101)):
        sampler = sampler_of(0, 1, weights, asked)
        seen: Counter[int] = Counter()
        for epoch in range(300):
            sampler.set_epoch(epoch)
            assert len(sampler) == asked
            seen.update(sampler)
        factors = weights * (300 * asked / weights.sum())
        assert all(abs(seen[sample] - factor) < 5 for sample, factor in enumerate(factors.tolist()))


def test_small_weights_are_seen_beside_large_ones() -> None:
    weights = np.concatenate((np.full(1_000_000, 1e-3), np.ones(1_000_000)))
    samples = np.array(list(sampler_of(0, 1, weights, 100_000)))
    # The first million samples have 1 / 1001 of the weight, which is 99.9 draws.
    assert 99 <= int((samples < 1_000_000).sum()) <= 101


def test_a_weight_that_would_become_0_is_an_error_that_says_the_scale() -> None:
    with pytest.raises(OutOfRangeError, match=r"at index 1\); allowed: 0, or at least 2\^-52 of all weights"):
        sampler_of(0, 1, [0.5, 1e-20, 0.5], 10)
    sampler_of(0, 1, [0.5, 2**-52, 0.5], 10)
    # Every weight may be another one.
    weights = 1 / np.arange(1.0, 80_001)
    weights /= weights.sum()
    assert len(sampler_of(0, 1, weights, 1_000)) == 1_000
