"""Configuration: section 1."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .base import MAX_SAMPLES, ceil_div, require
from .orders import require_range


@dataclass(frozen=True)
class Config:
    order: str
    samples: int
    seed: int
    world_size: int
    remainder: str
    layout: str
    epoch: int = 0
    rank: int = 0
    consumed: int = 0

    def check(self) -> None:
        """The first broken rule decides."""
        require_range(self.order, self.samples, self.seed)
        require(self.world_size > 0, "world-size", self.world_size)
        require(self.consumed <= self.samples, "consumed", self.consumed)
        require(replace(self, consumed=0).end() <= MAX_SAMPLES, "samples", self.samples)
        require(self.end() <= MAX_SAMPLES, "samples", self.samples)
        require(self.rank < self.world_size, "rank", self.rank)

    def positions(self) -> int:
        """P of section 4."""
        left = self.samples - self.consumed
        if self.remainder == "drop":
            return left // self.world_size * self.world_size
        return ceil_div(left, self.world_size) * self.world_size if self.remainder == "pad" else left

    def end(self) -> int:
        return self.consumed + self.positions()
