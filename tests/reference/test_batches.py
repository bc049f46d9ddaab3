"""The promises of sections 9 and 10 of SPEC.md about windows, states and indices, tested with the second
implementation.

To run it: `python -m pip install pytest`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

import pytest
from samedeal_reference import Batcher, BatchRecipe, BatchStream, join_indices

STRATEGIES: list[dict[str, Any]] = [
    {"strategy": "pad-to-max", "max_batch_size": 64},
    {"strategy": "bucket", "max_batch_size": 2, "batch_window": 16},
    {"strategy": "bucket", "max_batch_size": 2, "batch_window": 24, "separate_buckets": True, "boundaries": [12, 30]},
    {"max_tokens": 90, "batch_window": 20},
    {"max_tokens": 90, "batch_window": 16, "counting": "unpadded", "tail": "duplicate"},
    {"strategy": "pack", "capacity": 40, "batch_window": 30, "tail": "drop"},
]
SAMPLES = 300


def recipe(batch: dict[str, Any], world_size: int = 3, order: str = "feistel") -> BatchRecipe:
    text = {
        "order": {"name": order, "seed": 5},
        "deal": {"world_size": world_size},
        "batch": {"max_length": 40, **batch},
    }
    return BatchRecipe(json.dumps(text), random.Random(1).choices(range(41), k=SAMPLES), [])


def runs(of: Batcher, start: int = 0) -> list[Any]:
    return [of.take(rank, start, of.num_steps() - start) for rank in range(3)]


every = pytest.mark.parametrize("batch", STRATEGIES, ids=lambda batch: " ".join(map(str, batch.values())))


@every
def test_a_state_after_every_step_has_the_rest(batch: dict[str, Any]) -> None:
    made = Batcher(recipe(batch), 2)
    for steps in range(made.num_steps() + 1):
        rest = made.resume(made.state(steps))
        assert runs(rest) == runs(made, steps)
        assert rest.state(0) == made.state(steps)


@every
def test_parts_of_an_index_are_the_whole(batch: dict[str, Any]) -> None:
    made = Batcher(recipe(batch), 2)
    whole = made.index(0, made.num_windows())
    ends = sorted({0, made.num_windows() // 3, made.num_windows() // 2, made.num_windows()})
    parts = [made.index(first, end - first) for first, end in pairwise(ends)]
    assert join_indices([*parts[::-1], parts[0]]) == whole
    for steps in range(made.num_steps() + 1):
        rest = made.resume(made.state(steps))
        rest.use_index(whole)
        assert rest.num_steps() == made.num_steps() - steps


@every
def test_a_stream_has_the_batches_of_a_batcher(batch: dict[str, Any]) -> None:
    batch = {"bucket_width": 64, **batch} if batch.get("strategy") == "bucket" and "boundaries" not in batch else batch
    of = recipe(batch, order="sequential")
    assert of.lengths
    stream = BatchStream(of, 1, 2)
    found = []
    for sample, length in enumerate(of.lengths):
        stream.push([sample], [length])
        found.append(stream.take())
    stream.flush()
    while found[-1] or len(found) == SAMPLES:
        found.append(stream.take())
    whole = Batcher(of, 1)
    samples = [sample for run in found if run for sample in run.samples]
    assert samples == whole.take(2, 0, whole.num_steps()).samples
    assert stream.metrics() == whole.metrics()
