"""Divides a dataset into parts, as PyTorch's `random_split` does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, SupportsIndex

from torch.utils.data import Subset

from .. import ContradictionError, OutOfRangeError, Split, WrongTypeError
from ..engine import arguments as check
from ..engine.warn import warn
from .sized import length_of

_ALLOWED = "whole numbers, or fractions whose sum is 1 and, as PyTorch adds them, not above 1"


def random_split(
    dataset: Any, lengths: Sequence[SupportsIndex | float], seed: SupportsIndex = 0, *, generator: Any = None
) -> list[Subset[Any]]:
    """Divides a dataset at random into parts of exact sizes: `torch.utils.data.random_split` with a seed.

    The parts follow from the seed, the sizes and the length of the dataset alone. They are the same in every process
    and every language: they are those of `samedeal.Split(sizes={"0": ..., "1": ...}, seed=seed)`. The indices of a part
    are ascending, because samplers shuffle.

    If data are added later, use `samedeal.Split` with weights: no sample then changes its part.

    Args:
        dataset: Any object with a `len`.
        lengths: The number of samples of each part, whose sum is the length of the dataset. Or fractions whose sum is
            1, with the rule of PyTorch: each part gets the whole number below its share, and the samples that are left
            go to the parts one by one, from the first part on.
        seed: Seed of the split. PyTorch's function takes a generator instead.
        generator: Must be None. Give a `seed` instead.

    Raises:
        ContradictionError: The sum of the lengths is not the length of the dataset, or the sum of fractions is not 1,
            or there is a `generator`.
        OutOfRangeError: A length is negative, or a fraction is not 0 to 1.
        WrongTypeError: A value is not of the type that its parameter takes.

    >>> from samedeal.torch import random_split
    >>> training, validation = random_split(range(10), [0.8, 0.2], seed=7)
    >>> len(training), sorted([*training, *validation]) == list(range(10))
    (8, True)
    """
    if generator is not None:
        raise ContradictionError("generator", check.described(generator), "None: pass seed=..., the same on all ranks")
    samples = length_of(dataset)
    sizes = _sizes(samples, check.items("lengths", lengths, "a list of numbers"))
    number = check.seed(seed)
    if samples == 0:
        return [Subset(dataset, []) for _ in sizes]
    split = Split(sizes={str(part): size for part, size in enumerate(sizes)}, seed=number)
    return [Subset(dataset, split.indices(part).tolist()) for part in range(len(sizes))]


def _sizes(samples: int, lengths: list[Any]) -> list[int]:
    """How many samples each part has, by the rule of PyTorch."""
    try:
        # Added by `sum`, as in PyTorch, since rounding decides whether the sum of fractions is above 1.
        total = sum(lengths)
        shares = math.isclose(total, 1) and total <= 1
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongTypeError("lengths", check.described(lengths), _ALLOWED) from error
    if shares:
        for length in lengths:
            if not 0 <= length <= 1:
                raise OutOfRangeError("lengths", check.shown(length), "fractions from 0 to 1")
        sizes = [math.floor(samples * length) for length in lengths]
        for number in range(samples - sum(sizes)):
            sizes[number % len(sizes)] += 1
        for number, size in enumerate(sizes):
            if size == 0 and samples:
                warn(f"part {number} of random_split has no samples")
        return sizes
    whole = all(hasattr(length, "__index__") for length in lengths)
    if not whole and all(0 <= length <= 1 for length in lengths):
        raise ContradictionError("lengths", f"fractions with a sum of {check.shown(total)}", _ALLOWED)
    for length in lengths:
        if not hasattr(length, "__index__"):
            raise WrongTypeError("lengths", f"{check.shown(length)}, with a sum of {check.shown(total)}"[:64], _ALLOWED)
    sizes = [check.integer("lengths", length, check.COUNT) for length in lengths]
    if sum(sizes) != samples:
        allowed = f"{samples} in all, the length of the dataset, or fractions whose sum is 1"
        raise ContradictionError("lengths", f"{sum(sizes)} in all", allowed)
    return sizes
