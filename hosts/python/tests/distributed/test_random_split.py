"""Parts of a dataset whose lengths follow PyTorch's rule."""

from __future__ import annotations

import warnings
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
from samedeal import ContradictionError, OutOfRangeError, SamedealError, Split, WrongTypeError
from samedeal.torch import random_split
from torch.utils.data import Subset

LENGTHS: list[tuple[int, list[Any]]] = [
    (10, [7, 3]),
    (10, [0, 10]),
    (10, [0.7, 0.3]),
    (11, [0.5, 0.5]),
    (103, [0.8, 0.1, 0.1]),
    (7, [1 / 3, 1 / 3, 1 / 3]),
    (3, [0.25, 0.25, 0.25, 0.25]),
    (10, [1]),
    (1, [1]),
    (0, [0, 0]),
    (0, [0.5, 0.5]),
    (1000, [0.1] * 10),
]


@pytest.mark.parametrize(("samples", "lengths"), LENGTHS)
@pytest.mark.filterwarnings("ignore:.*of random_split has no samples", "ignore:Length of split")
def test_parts_are_as_long_as_those_of_pytorch(samples: int, lengths: list[Any]) -> None:
    dataset = [f"sample {number}" for number in range(samples)]
    parts = random_split(dataset, lengths, seed=4)
    theirs = torch.utils.data.random_split(dataset, lengths, generator=torch.manual_seed(1))
    assert [len(part) for part in parts] == [len(part) for part in theirs]
    assert all(isinstance(part, Subset) for part in parts)
    assert sorted(item for part in parts for item in part) == sorted(dataset)
    again = random_split(dataset, lengths, seed=4)
    assert [part.indices for part in parts] == [part.indices for part in again]


def test_it_is_the_split_of_every_language() -> None:
    first, second = random_split(range(1000), [800, 200], seed=9)
    split = Split(sizes={"0": 800, "1": 200}, seed=9)
    assert (first.indices, second.indices) == (split.indices("0").tolist(), split.indices("1").tolist())
    assert second.indices != random_split(range(1000), [800, 200], seed=8)[1].indices
    assert second.indices != list(range(800, 1000))


def test_an_empty_part_of_fractions_is_told_of() -> None:
    with pytest.warns(UserWarning, match="part 1 of random_split has no samples"):
        random_split(range(3), [0.999, 0.001])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        random_split(range(3), [3, 0])


@pytest.mark.parametrize(
    ("error", "field", "given"),
    [
        (ContradictionError, "lengths", {"lengths": [3, 3]}),
        (ContradictionError, "lengths", {"lengths": []}),
        (OutOfRangeError, "lengths", {"lengths": [11, -1]}),
        (OutOfRangeError, "lengths", {"lengths": [1.5, -0.5]}),
        (ContradictionError, "lengths", {"lengths": [0.7, 0.2]}),
        (ContradictionError, "lengths", {"lengths": [0.6, 0.5]}),
        (WrongTypeError, "lengths", {"lengths": [2.5, 7.5]}),
        (WrongTypeError, "lengths", {"lengths": [float("nan"), 0.5]}),
        (WrongTypeError, "lengths", {"lengths": ["a", "b"]}),
        (WrongTypeError, "lengths", {"lengths": 10}),
        (WrongTypeError, "lengths", {"lengths": "10"}),
        (WrongTypeError, "lengths", {"lengths": [None]}),
        (WrongTypeError, "dataset", {"dataset": iter([])}),
        (WrongTypeError, "dataset", {"dataset": range(2**70)}),
        (WrongTypeError, "dataset", {"dataset": MagicMock(__len__=lambda _: -1)}),
        (WrongTypeError, "seed", {"seed": torch.Generator()}),
        (ContradictionError, "generator", {"generator": torch.Generator()}),
    ],
)
def test_what_cannot_be_meant(error: type[SamedealError], field: str, given: dict[str, Any]) -> None:
    with pytest.raises(SamedealError) as caught:
        random_split(**{"dataset": range(10), "lengths": [5, 5]} | given)
    assert (type(caught.value), caught.value.field) == (error, field)
