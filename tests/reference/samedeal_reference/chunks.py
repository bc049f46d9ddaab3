"""Chunk streams and verification: section 7."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .base import MAX_SAMPLES, require, require_window
from .orders import make_order, require_name, require_range

MOST_SHUFFLED = 2**24


class ChunkStream:
    def __init__(self, chunks: int | None, reader: int, readers: int, order: str, seed: int, epoch: int) -> None:
        require_name(order)
        require(readers > 0, "readers", readers)
        require(reader < readers, "reader", reader)
        require(chunks != 0, "chunks", chunks)
        require(chunks is not None or order == "sequential", "order", order, "contradiction")
        require(order != "sharded", "order", order, "contradiction")
        require_range(order, chunks or 0, seed, "chunks")
        self._chunks, self._reader, self._readers = chunks, reader, readers
        self._order, self._seed, self._epoch = order, seed, epoch

    def chunks(self, start: int, count: int) -> list[int]:
        require_window(start, count, (MAX_SAMPLES - self._reader) // self._readers + 1)
        if self._chunks is not None and count > 0 and self._order not in ("sequential", "feistel"):
            epochs = {(self._reader + i * self._readers) // self._chunks for i in range(start, start + count)}
            require(len(epochs) <= 2 or len(epochs) * self._chunks <= MOST_SHUFFLED, "count", count)
        return [self._chunk(self._reader + i * self._readers) for i in range(start, start + count)]

    def _chunk(self, g: int) -> int:
        if self._chunks is None:
            return g
        cycle, position = divmod(g, self._chunks)
        return make_order(self._order, self._chunks, self._seed, (self._epoch + cycle) % 2**64).sample(position)


@dataclass(frozen=True)
class Verification:
    overlaps: list[int]
    gaps: list[int]


@dataclass(frozen=True)
class VerificationInRuns:
    overlaps: list[int]
    gap_runs: list[int]


def verify(shards: int, offsets: list[int], assigned: list[int]) -> Verification:
    overlaps, first = compare(shards, offsets, assigned)
    return Verification(overlaps, [shard for shard in range(shards) if shard not in first])


def verify_in_runs(shards: int, offsets: list[int], assigned: list[int]) -> VerificationInRuns:
    overlaps, first = compare(shards, offsets, assigned)
    runs: list[int] = []
    for before, shard in pairwise([-1, *sorted(first), shards]):
        if shard - before > 1:
            runs += [before + 1, shard - before - 1]
    return VerificationInRuns(overlaps, runs)


def compare(shards: int, offsets: list[int], assigned: list[int]) -> tuple[list[int], dict[int, int]]:
    """The overlaps, and the first reader of each shard that has any."""
    ends = bool(offsets) and offsets[0] == 0 and offsets[-1] == len(assigned)
    require(ends and all(a <= b for a, b in pairwise(offsets)), "offsets", None, "contradiction")
    first: dict[int, int] = {}
    overlaps: list[int] = []
    for reader, (start, end) in enumerate(pairwise(offsets)):
        for shard in assigned[start:end]:
            require(shard < shards, "assigned", shard)
            if shard in first:
                overlaps += [shard, first[shard], reader]
            else:
                first[shard] = reader
    return overlaps, first
