"""Configuration: section 1."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .base import MAX_SAMPLES, require
from .deal import num_dealt
from .orders import require_range


@dataclass(frozen=True)
class Config:
    order: str
    samples: int
    seed: int
    world_size: int
    remainder: str
    layout: str
    unit: int = 1
    epoch: int = 0
    rank: int = 0
    consumed: int = 0

    def check(self) -> None:
        """Checks all rules. The first broken one decides."""
        require_range(self.order, self.samples, self.seed)
        require(self.world_size > 0, "world_size", self.world_size)
        whole = self.consumed == self.samples or self.consumed % self.unit == 0
        require(self.consumed <= self.samples and whole, "consumed", self.consumed)
        require(replace(self, consumed=0).end() <= MAX_SAMPLES, "samples", self.samples)
        require(self.end() <= MAX_SAMPLES, "samples", self.samples)
        require(self.rank < self.world_size, "rank", self.rank)

    def positions(self) -> int:
        """P of section 4."""
        return num_dealt(self.samples - self.consumed, self.world_size, self.unit, self.remainder)

    def end(self) -> int:
        return self.consumed + self.positions()
