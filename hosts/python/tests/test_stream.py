"""Chunk streams: answers and refusals."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hostile import NOT_WHOLE, Vicious, fails
from samedeal import (
    ChunkStream,
    ContradictionError,
    OutOfRangeError,
    SamedealError,
    Sampler,
    UnknownNameError,
    WrongTypeError,
)


def test_streams() -> None:
    assert ChunkStream(1, 2).chunks(0, 5).tolist() == [1, 3, 5, 7, 9]
    assert ChunkStream(3, 4, chunks=12, order="sequential").chunks(0, 3).tolist() == [3, 7, 11]
    stream = ChunkStream(1, 3, chunks=10, order="feistel", seed=4, epoch=2)
    cycles = [Sampler(10, order="feistel", seed=4, epoch=epoch).indices() for epoch in range(2, 2002)]
    wanted = np.concatenate(cycles)[1::3]
    assert stream.chunks(0, 6000).tolist() == wanted[:6000].tolist()
    assert stream.chunks(100, 7).tolist() == wanted[100:107].tolist()
    assert list(itertools.islice(stream, 3000)) == wanted[:3000].tolist()
    assert all(type(chunk) is int for chunk in itertools.islice(stream, 3))
    assert (stream.reader, stream.epoch) == (1, 2)
    endless = ChunkStream(1, 3)
    assert repr(eval(repr(endless))) == repr(endless) == "ChunkStream(1, readers=3, epoch=0)"
    assert eval(repr(stream)).chunks(0, 60).tolist() == wanted[:60].tolist()
    text = '{"samedeal":1,"order":{"name":"feistel","chunks":10,"seed":4},"deal":{"readers":3}}'
    assert stream.recipe == text
    again = ChunkStream.from_recipe(json.loads(text), reader=1, epoch=2)
    assert (again.recipe, again.chunks(0, 60).tolist()) == (text, wanted[:60].tolist())
    # The order has a default only if the number of chunks is given.
    assert ChunkStream(0, 1, chunks=5).chunks(0, 5).tolist() == Sampler(5).indices().tolist()
    assert ChunkStream(0, 1).chunks(0, 5).tolist() == [0, 1, 2, 3, 4]


def test_a_stream_that_does_end() -> None:
    # Places are counted up to 2**53 - 1. With this number of readers, a few steps reach the limit.
    stream = ChunkStream(0, 2**32 - 1)
    found = []
    with fails(OutOfRangeError, "count"):
        for chunk in stream:
            found.append(chunk)
    assert found == [i * (2**32 - 1) for i in range(len(found))]
    assert found[-1] + 2 * (2**32 - 1) > 2**53 - 1


@pytest.mark.parametrize("field", ["reader", "readers", "chunks", "seed", "epoch", "memory_limit", "start", "count"])
def test_numbers_of_streams_are_checked(field: str) -> None:
    def call(value: Any) -> Any:
        if field in ("start", "count"):
            return ChunkStream(0, 1).chunks(**{"start": 0, "count": 1, field: value})
        return ChunkStream(**{"reader": 0, "readers": 2, field: value})

    for value in [*NOT_WHOLE, Vicious()]:
        if value is None and field in ("chunks", "readers", "seed"):
            continue
        with fails(WrongTypeError, field):
            call(value)
    for wide in (2**64, -(2**64), 10**5000):
        with fails(OutOfRangeError, field):
            call(wide)


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (OutOfRangeError, "readers", {"readers": 0}),
        (OutOfRangeError, "reader", {"reader": 2}),
        (OutOfRangeError, "chunks", {"chunks": 2**53}),
        (OutOfRangeError, "chunks", {"chunks": 0}),
        (OutOfRangeError, "seed", {"chunks": 5, "order": "dotnet", "seed": 2**31}),
        (UnknownNameError, "name", {"order": "x" * 10**6}),
        (ContradictionError, "name", {"order": "feistel"}),
        (ContradictionError, "name", {"order": "sharded", "chunks": 4}),
    ],
)
def test_streams_that_cannot_be(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with fails(error, field):
        ChunkStream(**{"reader": 0, "readers": 2, **options})


def test_a_stream_still_works_after_a_failure() -> None:
    stream = ChunkStream(0, 2, chunks=100, order="torch")
    before = stream.chunks(3, 9).tolist()
    for run in ((2**53, 1), (0, 2**20 + 1)):
        with pytest.raises(OutOfRangeError):
            stream.chunks(*run)
    assert stream.chunks(3, 9).tolist() == before
