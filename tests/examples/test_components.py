"""Components of other languages that are composed with samedeal.wasm, and C: all give the results of the Python
host."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from samedeal import Batcher, Sampler
from shown import run

printed = functools.cache(run)
"""The output of an example, whose commands run once."""


def deal() -> list[str]:
    sampler = Sampler(100, seed=42, epoch=2, rank=1, world_size=4)
    return [" ".join(map(str, batch)) for batch in sampler.batches(10)]


@pytest.mark.parametrize("example", ["rust-guest", "js-guest", "python-guest", "c", "c-without-engine"])
def test_deal(example: str) -> None:
    lines = printed(example)
    at = lines.index(deal()[0])
    assert lines[at : at + 3] == deal()
    assert lines[at + 3].endswith("rank is 7; allowed: 0 to 3")


def test_batches_by_tokens_in_c() -> None:
    """A program that is asked for lengths gets the same batches as a host that has all lengths, also after a resume on
    another number of ranks."""
    lengths = np.arange(20_000) % 50 + 1
    before = Batcher(lengths, seed=7, world_size=2, max_tokens=64)
    after = Batcher(lengths, seed=7, rank=2, world_size=3, max_tokens=64)
    lines = printed("c")
    at = lines.index(f"{before.num_steps} steps")
    assert lines[at + 1 : at + 4] == [" ".join(map(str, before.batch(step).samples)) for step in range(3)]
    after.resume(before.state(3))
    at = lines.index(f"{after.num_steps} steps")
    assert lines[at + 1 : at + 3] == [" ".join(map(str, after.batch(step).samples)) for step in range(2)]
