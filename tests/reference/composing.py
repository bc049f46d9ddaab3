"""Helpers that make composed orders for tests."""

from __future__ import annotations

from typing import Any

from samedeal_reference.composed import Blend, Composed, make

PLAIN = ("feistel", "sequential", "fisher-yates", "torch", "torch-2.5", "python", "dotnet")


def order(name: str, **members: Any) -> Composed:
    return make({"name": name, **members}, [])


def plain(samples: int, name: str = "feistel", seed: int = 3) -> dict[str, Any]:
    return {"name": name, "samples": samples, "seed": seed}


EVERY: list[dict[str, Any]] = [
    *({"name": name, "samples": 20, "seed": 1} for name in PLAIN),
    {"name": "sharded", "sizes": [3, 0, 9, 5], "lanes": 2, "shuffle_window": 3},
    {"name": "blend", "samples": 9, "sources": [{"name": "a", "samples": 4}, {"name": "b", "samples": 5}]},
    {
        "name": "grown",
        "samples": 6,
        "growth": [
            {"epoch": 2, "consumed": 4, "samples": 9},
            {"epoch": 2, "consumed": 5, "samples": 10},
            {"epoch": 2, "consumed": 10, "samples": 30},
            {"epoch": 5, "consumed": 0, "samples": 31},
        ],
    },
    {"name": "exclude", "of": plain(20), "indices": [0, 7, 19]},
    {"name": "subset", "of": plain(20), "indices": [0, 7, 19]},
    {"name": "skip", "of": plain(9), "ranges": [{"epoch": 1, "start": 0, "count": 9}]},
    {"name": "copies", "of": plain(5), "copies": 3},
    {"name": "windows", "sizes": [10, 2, 0, 7], "length": 3, "stride": 2},
    {
        "name": "skip",
        "ranges": [{"epoch": 1, "start": 2, "count": 5}],
        "of": {
            "name": "blend-exact",
            "index_space": "shared",
            "samples": 23,
            "sources": [
                {"name": "a", "weight": 3, "order": {"name": "copies", "copies": 2, "of": {"samples": 4}}},
                {
                    "name": "b",
                    "weight": 2,
                    "order": {"name": "balance", "classes": [0, 1, 0], "factors": [700000, 2300000]},
                },
                {"name": "c", "order": {"name": "subset", "indices": [1, 5], "of": {"samples": 6}}},
                {"name": "d", "weight": 0, "samples": 50},
            ],
        },
    },
    {
        "name": "blend",
        "exhaustion": "renormalize",
        "max_passes": 2,
        "sources": [{"name": "a", "weight": 5, "samples": 4}, {"name": "b", "weight": 2, "samples": 5}],
    },
    {
        "name": "skip",
        "ranges": [{"epoch": 1, "start": 2, "count": 3}],
        "of": {
            "name": "blend",
            "exhaustion": "stop",
            "sources": [{"name": "a", "weight": 2, "samples": 4}, {"name": "b", "samples": 9}],
        },
    },
    {
        "name": "blend-exact",
        "exhaustion": "fail",
        "samples": 5,
        "sources": [{"name": "a", "samples": 3}, {"name": "b", "samples": 7}],
    },
    {"name": "balance", "classes": [0, 1, 1, 0, 2, 2, 2], "factors": [1500000, 300000, 0]},
    {"name": "weighted", "weights": [5, 1, 0, 3, 1, 2], "samples": 9},
    {"name": "weighted", "weights": [5, 1, 0, 3, 1, 2], "samples": 3, "replacement": False},
]
"""One small order of every kind. Their epochs differ."""


def blend(weights: list[int], sizes: list[int], name: str = "blend", **members: Any) -> Blend:
    pairs = zip(weights, sizes, strict=True)
    sources = [{"name": f"s{i}", "weight": weight, "samples": size} for i, (weight, size) in enumerate(pairs)]
    made = order(name, sources=sources, **members)
    assert isinstance(made, Blend)
    return made
