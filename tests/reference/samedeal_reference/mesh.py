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
    def __init__(self, world: int, axes: list[Axis]) -> None:
        require(world > 0, "world", world)
        require(len(axes) <= 64, "axes", None)
        for i, axis in enumerate(axes):
            require(axis.size > 0, "axes", None)
            require(axis.name not in [other.name for other in axes[:i]], "axes", None, "contradiction")
        require(math.prod(axis.size for axis in axes) == world, "axes", None, "contradiction")
        self._world, self._axes = world, axes
        self._dividing = [i for i, axis in enumerate(axes) if axis.role == "divide"]

    def data_world(self) -> int:
        return math.prod(self._axes[i].size for i in self._dividing)

    def coordinates(self, rank: int) -> list[int]:
        require(rank < self._world, "rank", rank)
        coordinates: list[int] = []
        for axis in reversed(self._axes):
            rank, x = divmod(rank, axis.size)
            coordinates.insert(0, x)
        return coordinates

    def data_rank(self, rank: int) -> int:
        coordinates, number = self.coordinates(rank), 0
        for i in self._dividing:
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
        require(self._world // self.data_world() <= MAX_WINDOW, "axes", None)
        return [other for other in range(self._world) if self.data_rank(other) == mine]
