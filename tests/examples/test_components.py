"""Components of other languages composed with samedeal.wasm, and C: all have the results of the Python host."""

from __future__ import annotations

import pytest
from samedeal import Sampler
from shown import run


def deal() -> list[str]:
    sampler = Sampler(100, seed=42, epoch=2, rank=1, world_size=4)
    return [" ".join(map(str, batch)) for batch in sampler.batches(10)]


@pytest.mark.parametrize("example", ["rust-guest", "js-guest", "python-guest", "c", "c-without-engine"])
def test_deal(example: str) -> None:
    printed = run(example)
    assert printed[-4:-1] == deal()
    assert printed[-1].endswith("rank is 7; allowed: 0 to 3")
