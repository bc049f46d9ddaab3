"""What Python shows of samplers in another form than the interface has it."""

from __future__ import annotations

from ..bindings import sampling


class Round(sampling.Round):
    """What a rank reads before it hands out a run of its samples, with the order "sharded".

    `spans` has a row for each: lane, shard, first sample within it, count.
    """

    __slots__ = ()

    @classmethod
    def of(cls, found: sampling.Round) -> Round:
        """With the spans in rows."""
        return cls(found.start, found.count, found.spans.reshape(-1, 4))
