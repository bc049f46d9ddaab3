"""The common part of all chains: groups of readers that read one epoch, one group after the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Group:
    """Readers that together read a part of an epoch, and then save a state."""

    world_size: int
    workers: int
    batch_size: int
    remainder: str
    layout: str
    part: float
    """The share of the rest that the group reads. The last group reads all of it."""


@dataclass(frozen=True)
class Chain:
    """An epoch, and the groups that read it."""

    options: dict[str, Any]
    epoch: int
    groups: tuple[Group, ...]


def groups(rng: random.Random, most: int = 9) -> tuple[Group, ...]:
    """One to six groups. Some have more readers than there are samples left; some equal the group before."""
    found: list[Group] = []
    for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 6))):
        if found and rng.random() < 0.25:
            found.append(replace(found[-1], part=rng.random()))
            continue
        found.append(
            Group(
                rng.choice((1, 2, 3, rng.randint(1, most), rng.randint(1, 4 * most) if rng.random() < 0.1 else 4)),
                rng.choice((1, 1, 2, 3)),
                rng.choice((1, 2, 3, 5, 8)),
                rng.choice(("pad", "drop", "uneven")),
                rng.choice(("strided", "rotated")),
                rng.choice((0.0, rng.random() ** 2, rng.random(), rng.random(), 1.0)),
            )
        )
    return tuple(found)


def smaller(chain: Chain) -> Iterator[Chain]:
    """Chains that are one step simpler."""
    for number in range(len(chain.groups)):
        if len(chain.groups) > 1:
            yield replace(chain, groups=chain.groups[:number] + chain.groups[number + 1 :])
    for number, group in enumerate(chain.groups):
        for change in ({"workers": 1}, {"batch_size": 1}, {"world_size": 1}, {"world_size": 2}, {"part": 0.5}):
            simple = replace(group, **change)
            if simple != group:
                yield replace(chain, groups=(*chain.groups[:number], simple, *chain.groups[number + 1 :]))
    if chain.epoch:
        yield replace(chain, epoch=0)


def shrunk(chain: Chain, fails: Callable[[Chain], bool]) -> Chain:
    """A simpler chain that fails, too."""
    for _ in range(100):
        found = next((simple for simple in smaller(chain) if _size(simple) < _size(chain) and fails(simple)), None)
        if found is None:
            break
        chain = found
    return chain


def _size(chain: Chain) -> tuple[int, int]:
    numbers = sum(group.world_size + group.workers + group.batch_size + (group.part != 0.5) for group in chain.groups)
    return len(chain.groups), numbers + bool(chain.epoch)
