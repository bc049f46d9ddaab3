"""Readers of a dataset in shards: what every loader worker of every rank reads."""

from .binding import ReadRound
from .reading import Reading

__all__ = ["ReadRound", "Reading"]
