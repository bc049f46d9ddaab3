"""The layout `rotated` of section 15."""

from __future__ import annotations

from functools import lru_cache

from .base import MASK32, stream
from .orders import mix


class Rotation:
    def __init__(self, seed: int, epoch: int, world_size: int) -> None:
        words = stream("rotated", seed, epoch)
        self.k = [next(words) for _ in range(4)]
        self.world_size = world_size

    def h(self, a: int) -> int:
        """The rank that begins the row whose first position is a."""
        upper = (a >> 32) * 0x85EBCA6B & MASK32
        first = mix((a & MASK32) ^ upper, self.k[0], self.k[1], 2**32 - 1)
        return mix(first, self.k[2], self.k[3], self.world_size)


@lru_cache(maxsize=8)
def rotation(seed: int, epoch: int, world_size: int) -> Rotation:
    return Rotation(seed, epoch, world_size)
