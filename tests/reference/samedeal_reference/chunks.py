"""Chunk streams, their recipes, and verification: sections 7 and 14."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .base import MAX_SAMPLES, require, require_window
from .members import DEAL_OF_CHUNKS, ORDER_OF_CHUNKS
from .orders import make_order, require_name, require_range
from .recipe_text import written
from .recipes import canonical, checked, read_recipe

MOST_SHUFFLED = 2**24


class ChunkStream:
    def __init__(self, recipe: str, epoch: int, reader: int) -> None:
        fields = read_recipe(recipe, [], "chunk-stream")
        section = fields["order"]
        order = section.get("name", "feistel" if "chunks" in section else "sequential")
        require_name(order)
        section, deal = checked(ORDER_OF_CHUNKS, section), checked(DEAL_OF_CHUNKS, fields["deal"])
        chunks, seed, readers = section.get("chunks"), section["seed"], deal["readers"]
        require(reader < readers, "reader", reader)
        require(chunks is not None or order == "sequential", "name", order, "contradiction")
        require(order != "sharded", "name", order, "contradiction")
        require_range(order, chunks or 0, seed, "chunks")
        order_text = canonical(ORDER_OF_CHUNKS, section | {"name": order})
        self._text = written({"samedeal": 1, "order": order_text, "deal": deal})
        self._chunks, self._reader, self._readers = chunks, reader, readers
        self._order, self._seed, self._epoch = order, seed, epoch

    def recipe(self) -> str:
        return self._text

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
class Overlaps:
    shard: list[int]
    first_reader: list[int]
    other_reader: list[int]


@dataclass(frozen=True)
class ShardRuns:
    first_shard: list[int]
    num_shards: list[int]


@dataclass(frozen=True)
class Verification:
    overlaps: Overlaps
    gaps: ShardRuns


def verify(num_shards: int, offsets: list[int], assigned: list[int]) -> Verification:
    ends = bool(offsets) and offsets[0] == 0 and offsets[-1] == len(assigned)
    require(ends and all(a <= b for a, b in pairwise(offsets)), "offsets", None, "contradiction")
    first: dict[int, int] = {}
    overlaps = Overlaps([], [], [])
    for reader, (start, end) in enumerate(pairwise(offsets)):
        for shard in assigned[start:end]:
            require(shard < num_shards, "assigned", shard)
            if shard in first:
                overlaps.shard.append(shard)
                overlaps.first_reader.append(first[shard])
                overlaps.other_reader.append(reader)
            else:
                first[shard] = reader
    gaps = ShardRuns([], [])
    for before, shard in pairwise([-1, *sorted(first), num_shards]):
        if shard - before > 1:
            gaps.first_shard.append(before + 1)
            gaps.num_shards.append(shard - before - 1)
    return Verification(overlaps, gaps)
