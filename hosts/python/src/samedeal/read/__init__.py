"""Readers of a dataset in shards: what every loader worker of every rank reads."""

from ._binding import ReadRound
from ._reading import Reading

__all__ = ["ReadRound", "Reading"]
