"""Seeds from 2**63 on, as `torch.initial_seed()` returns them."""

from __future__ import annotations

import pytest
import torch
from samedeal import OutOfRangeError
from samedeal.torch import DistributedSampler


@pytest.mark.parametrize("seed", [2**63, 2**63 + 5, 13294458481572122726, 2**64 - 1])
def test_the_same_indices_as_torch(seed: int) -> None:
    ours = DistributedSampler(range(101), num_replicas=2, rank=1, seed=seed)
    theirs = torch.utils.data.DistributedSampler(range(101), num_replicas=2, rank=1, seed=seed)
    assert list(ours) == list(theirs)


def test_others_are_refused() -> None:
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(OutOfRangeError, match="seed"):
            DistributedSampler(range(101), num_replicas=2, rank=1, seed=seed)
