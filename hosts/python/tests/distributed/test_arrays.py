"""Arrays of any type and byte order. PyTorch accepts only some of them."""

from __future__ import annotations

import numpy as np
import pytest
from samedeal.torch import PadCollator, WeightedRandomSampler


@pytest.mark.parametrize("kind", [">f8", "<f8", ">i4", "<i8", ">u2"])
def test_weights_of_any_type(kind: str) -> None:
    weights = np.array([1, 2, 6], dtype=kind)
    sampler = WeightedRandomSampler(weights, 9, num_replicas=1, rank=0)
    assert sampler.weights.tolist() == [1, 2, 6]


@pytest.mark.parametrize("kind", [">i8", "<i8", ">i4"])
def test_sequences_of_either_byte_order(kind: str) -> None:
    batch = PadCollator()([{"input_ids": np.array(row, dtype=kind)} for row in ([1, 2, 3], [4])])
    assert batch["input_ids"].tolist() == [[1, 2, 3], [4, 0, 0]]
