"""Cases that cross from one host to another: the cases of a round, the hosts, and the cells that cannot exist."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

HOSTS = ("rust", "python", "node", "chromium", "command")
"""The hosts of every round."""
ALL_HOSTS = (*HOSTS, "firefox")
"""The hosts of `cargo xtask crossing`."""

SAMPLERS = ("feistel", "fisher-yates", "sharded", "blend")
BATCHERS = ("bucket", "budget", "pack")
READINGS = ("reading", "reading of a blend", "reading of whole shards")
NAMES = (*SAMPLERS, *BATCHERS, *READINGS, "ledger", "plan", "schedule", "split")
"""The cases, in the order of the table."""

HOLES = {
    "a": "The command makes plans and readings of files by options, and has no recipe of them. It continues them.",
    "b": "The command writes no state of batches. It continues them.",
    "c": "The command does not claim positions. It replays the log.",
}
"""For each letter in the tables: the reason why a host cannot begin a case."""


@dataclass(frozen=True)
class Case:
    """A recipe that is read step by step, or whose positions are claimed."""

    name: str
    kind: str
    recipe: dict[str, Any]
    epoch: int
    batch_size: int = 1
    end: int = 0
    """The end of the case in steps or ids, if it is not the end of the epoch."""
    lengths: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    samples: int = 0
    """Number of samples that are read once each; 0 if samples are not read once each."""
    others: tuple[dict[str, int], ...] = ()
    """Other deals that can continue after a state: another world size, another number of workers."""

    @property
    def deal(self) -> dict[str, int]:
        """The world size and the number of workers of the recipe."""
        deal = self.recipe.get("deal", {})
        return {member: deal[member] for member in ("world_size", "workers") if member in deal}

    @property
    def counts_on(self) -> bool:
        """Whether steps are counted from the beginning of the epoch even after a state, not from the state on."""
        return self.kind in ("schedule", "plan", "split")

    def asked(self, files: str) -> dict[str, Any]:
        """The case in the form that the programs take."""
        return {
            "kind": self.kind,
            "recipe": json.dumps(self.recipe, ensure_ascii=False),
            "epoch": str(self.epoch),
            "batch_size": self.batch_size,
            "end": self.end,
            "lengths": self.lengths,
            "sizes": self.sizes,
            "files": files,
        }


KINDS = {
    **dict.fromkeys(SAMPLERS, "sampler"),
    **dict.fromkeys(BATCHERS, "batcher"),
    **dict.fromkeys(READINGS, "reading"),
}
"""The kind of each case whose name is not that of its kind."""


def hole(began: str, name: str) -> str:
    """A letter for the reason why a host cannot begin a case and leave it to others (`HOLES` explains it); empty if it
    can."""
    letters = {"reading": "a", "plan": "a", "batcher": "b", "ledger": "c"}
    return letters.get(KINDS.get(name, name), "") if began == "command" else ""


def goes_between(host: str, name: str) -> bool:
    """Whether a host can continue a case, and then leave it to another host."""
    return not hole(host, name) or name in READINGS


def cases_of(random: Random) -> list[Case]:
    """The cases of a round. Their seeds, epochs and sizes are random."""

    def seed() -> int | str:
        number = random.choice([random.randrange(100), random.randrange(-(2**63), 2**63)])
        # A recipe writes a seed of 2^53 or more as a text, because many JSON readers would lose its last digits.
        return number if abs(number) < 2**53 else str(number)

    def epoch() -> int:
        return random.choice([random.randrange(10), random.randrange(2**42)])

    def sizes(count: int, most: int) -> list[int]:
        return [random.randrange(most + 1) for _ in range(count - 1)] + [most]

    deals = {"world_size": 4, "remainder": "uneven"}
    worlds = tuple({"world_size": number} for number in (1, 2, 3, 6))
    cases = []
    for name in ("feistel", "fisher-yates"):
        samples = random.randrange(600, 900)
        recipe = {"order": {"name": name, "samples": samples, "seed": seed()}, "deal": deals}
        cases.append(Case(name, "sampler", recipe, epoch(), 8, samples=samples, others=worlds))
    shards = sizes(11, 120)
    order = {"name": "sharded", "sizes": shards, "seed": seed(), "lanes": 12, "shuffle_window": 8}
    recipe = {"order": order, "deal": deals}
    cases.append(Case("sharded", "sampler", recipe, epoch(), 8, samples=sum(shards), others=worlds))
    sources = [{"name": "web", "weight": 7, "samples": 400}, {"name": "Bücher", "weight": 3, "samples": 90}]
    order = {"name": "blend", "seed": seed(), "samples": random.randrange(600, 900), "sources": sources}
    cases.append(Case("blend", "sampler", {"order": order, "deal": deals}, epoch(), 8, others=worlds))

    # The recipe and the state have a hash of the lengths, because a list of more than 256 items is too long for them.
    lengths = [random.randrange(1, 98) for _ in range(random.randrange(400, 600))]
    batches: dict[str, dict[str, Any]] = {
        "bucket": {"strategy": "bucket", "max_batch_size": 8, "quantiles": 6},
        "budget": {"strategy": "budget", "max_tokens": 500},
        "pack": {"strategy": "pack", "capacity": 128, "max_batch_size": 4},
    }
    for name, batch in batches.items():
        recipe = {"order": {"seed": seed()}, "deal": {"world_size": 2}, "batch": batch}
        others = tuple({"world_size": number} for number in (1, 3))
        cases.append(Case(name, "batcher", recipe, epoch(), lengths=lengths, samples=len(lengths), others=others))

    readers = {"world_size": 2, "workers": 2}
    others = ({"world_size": 3, "workers": 1}, {"world_size": 1, "workers": 3})
    shards = sizes(11, 50)
    order = {"name": "sharded", "sizes": shards, "seed": seed(), "lanes": 12, "shuffle_window": 4}
    uneven = readers | {"remainder": "uneven"}
    recipe = {"order": order, "deal": uneven, "batch": {"batch_size": 8}}
    cases.append(Case("reading", "reading", recipe, epoch(), samples=sum(shards), others=others))
    web = {"name": "web", "weight": 7, "order": {"name": "sharded", "sizes": sizes(5, 60), "lanes": 4}}
    code = {"name": "code", "weight": 2, "order": {"name": "sharded", "sizes": sizes(3, 20), "lanes": 3}}
    order = {"name": "blend", "seed": seed(), "samples": random.randrange(250, 350), "sources": [web, code]}
    recipe = {"order": order, "deal": uneven, "batch": {"batch_size": 8}}
    cases.append(Case("reading of a blend", "reading", recipe, epoch(), others=others))
    shards = sizes(23, 30)
    recipe = {"shards": {"sizes": shards, "seed": seed()}, "deal": readers, "batch": {"batch_size": 8}}
    cases.append(Case("reading of whole shards", "reading", recipe, epoch(), samples=sum(shards), others=others))

    samples = random.randrange(500, 700)
    recipe = {"order": {"name": "feistel", "samples": samples, "seed": seed()}}
    cases.append(Case("ledger", "ledger", recipe, epoch(), 40, samples=samples))
    # There are more than 256 shards, so the recipe has a hash of their sizes.
    shards = sizes(300, 3)
    recipe = {"shards": {"seed": seed(), "reshuffle": True}, "deal": {"world_size": 3, "workers": 2}}
    cases.append(Case("plan", "plan", recipe, epoch(), sizes=shards))
    stages = [{"from": random.randrange(2, 20), "global_batch_size": 36}]
    order = {"name": "feistel", "samples": random.randrange(200, 300), "seed": seed()}
    recipe = {"order": order, "deal": {"world_size": 4}, "steps": {"global_batch_size": 24, "stages": stages}}
    cases.append(Case("schedule", "schedule", recipe, 0, end=28, others=worlds))
    parts = [{"name": name, "weight": random.randrange(1, 10)} for name in ("test", "validation", "training")]
    cases.append(Case("split", "split", {"split": {"seed": seed(), "parts": parts}}, 0, end=1_500))
    assert tuple(case.name for case in cases) == NAMES
    return cases
