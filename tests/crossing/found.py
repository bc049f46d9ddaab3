"""The result of a round, and the comparison of answers of hosts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from cases import Case

Key = tuple[str, str, str]
"""The host that began, the host that continued, and the case."""


@dataclass
class Round:
    """The result of a round."""

    seed: int
    hosts: tuple[str, ...]
    engines: dict[str, str] = field(default_factory=dict)
    agreed: Counter[Key] = field(default_factory=Counter)
    """Number of continuations that agree with those of the Rust host."""
    errors: dict[Key, list[str]] = field(default_factory=lambda: defaultdict(list))
    prints: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For each case: the fingerprint of the recipe, and the fingerprint of the samples."""
    twice: int = 0
    """Number of steps and claims that were read twice, because a program was killed before it saved them."""
    kills: int = 0

    def check(self, key: Key, *checks: tuple[bool, str], counts: bool = True) -> None:
        """Counts a continuation, or adds its errors."""
        wrong = [what for is_right, what in checks if not is_right]
        if wrong:
            self.errors[key] += [f"seed {self.seed}: {what}" for what in wrong]
        elif counts:
            self.agreed[key] += 1


def print_of(value: object) -> str:
    """A fingerprint of the answers of a case."""
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()


def items(case: Case, reads: list[Any]) -> Counter[Any]:
    """How often some steps read each sample, row or part."""
    ranks = [rank for step in reads for rank in step if rank is not None]
    if case.kind == "batcher":
        return Counter(sample for samples, *_ in ranks for sample in samples)
    if case.kind == "plan":
        return Counter(rank[0] for rank in ranks)
    return Counter(sample for rank in ranks for sample in rank)


def same(case: Case, some: list[Any], others: list[Any], host: str) -> bool:
    """Whether two hosts read the same.

    A rank without a batch has None or an empty one. The command shows no rows of shards.
    """

    def plain(reads: list[Any]) -> list[Any]:
        if case.kind == "plan" and host == "command":
            return [[rank and rank[:1] for rank in step] for step in reads]
        return [[rank or None for rank in step] for step in reads]

    return plain(some) == plain(others)
