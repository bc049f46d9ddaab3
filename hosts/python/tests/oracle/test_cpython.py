"""The order "python" against CPython's own shuffle."""

from __future__ import annotations

import random

import pytest
from samedeal import Sampler

SEEDS = [0, 1, -1, 42, 2**31, 2**32 - 1, 2**32, 2**32 + 1, -(2**32), 2**40 + 7, -(2**40), 2**62, -(2**62)]


@pytest.mark.parametrize("samples", [0, 1, 2, 3, 5, 10, 255, 256, 257, 1000, 65_537])
@pytest.mark.parametrize("seed", SEEDS)
def test_shuffle(samples: int, seed: int) -> None:
    for epoch in (0, 1, 2**33):
        wanted = list(range(samples))
        random.Random(seed + epoch).shuffle(wanted)
        assert Sampler(samples, seed=seed, epoch=epoch, order="python").indices().tolist() == wanted


def test_seeds_beyond_64_bits() -> None:
    for seed, epoch in ((2**63 - 1, 2**64 - 1), (-(2**63), 0), (-(2**63), 2**63), (-1, 1), (2**63 - 1, 1)):
        wanted = list(range(100))
        random.Random(seed + epoch).shuffle(wanted)
        assert Sampler(100, seed=seed, epoch=epoch, order="python").indices().tolist() == wanted
