"""Meshes: section 8."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .base import MAX_WINDOW, require


@dataclass(frozen=True)
class Axis:
    name: str
    size: int
    role: str


class Mesh:
    def __init__(self, world_size: int, axes: list[Axis]) -> None:
        for axis in axes:
            require(axis.role in ("shard", "replicate"), "role", axis.role, "unknown-name")
        require(world_size > 0, "world_size", world_size)
        require(len(axes) <= 64, "axes", None)
        for i, axis in enumerate(axes):
            require(axis.size > 0, "axes", None)
            require(axis.name not in [other.name for other in axes[:i]], "axes", None, "contradiction")
        require(math.prod(axis.size for axis in axes) == world_size, "axes", None, "contradiction")
        self._world_size, self._axes = world_size, axes
        self._sharded = [i for i, axis in enumerate(axes) if axis.role == "shard"]

    def data_world_size(self) -> int:
        return math.prod(self._axes[i].size for i in self._sharded)

    def coordinates(self, rank: int) -> list[int]:
        require(rank < self._world_size, "rank", rank)
        coordinates: list[int] = []
        for axis in reversed(self._axes):
            rank, x = divmod(rank, axis.size)
            coordinates.insert(0, x)
        return coordinates

    def data_rank(self, rank: int) -> int:
        coordinates, number = self.coordinates(rank), 0
        for i in self._sharded:
            number = number * self._axes[i].size + coordinates[i]
        return number

    def rank_at(self, coordinates: list[int]) -> int:
        require(len(coordinates) == len(self._axes), "coordinates", None)
        rank = 0
        for axis, x in zip(self._axes, coordinates, strict=True):
            require(x < axis.size, "coordinates", None)
            rank = rank * axis.size + x
        return rank

    def peers(self, rank: int) -> list[int]:
        mine = self.data_rank(rank)
        require(self._world_size // self.data_world_size() <= MAX_WINDOW, "axes", None)
        return [other for other in range(self._world_size) if self.data_rank(other) == mine]
