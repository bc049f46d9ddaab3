"""Splits: section 16."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from itertools import accumulate
from typing import Any

from .base import MAX_SAMPLES, MAX_WINDOW, Failure, require, require_window
from .composed_base import permutation
from .members import SPLIT
from .recipe_text import fingerprint, written
from .recipes import canonical, checked, read_recipe

Part = dict[str, Any]


def read_parts(parts: list[Part]) -> None:
    """Checks the parts together."""
    names: set[str] = set()
    share = "size" if "size" in parts[0] else "weight"
    for part in parts:
        name = part["name"]
        require(name not in names, "name", name, "contradiction")
        names.add(name)
        if "weight" in part and "size" in part:
            raise Failure("contradiction", "weight", part["weight"])
        if share not in part and "size" not in part:
            raise Failure("missing", share, "")
        if share not in part:
            raise Failure("contradiction", "size", part["size"])
    total = 0
    for part in parts:
        total += part[share]
        require(total <= MAX_SAMPLES, share, part[share])
    require(total > 0, share, parts[0][share])


class Split:
    def __init__(self, recipe: str) -> None:
        section = checked(SPLIT, read_recipe(recipe, [], "split")["split"])
        parts = section["parts"]
        read_parts(parts)
        self._sized = "size" in parts[0]
        share = "size" if self._sized else "weight"
        self._names = [part["name"] for part in parts]
        self._seed = section["seed"]
        # The sums c of the specification. The last sum is t.
        self._sums = list(accumulate(part[share] for part in parts))
        self._ids = self._sums[-1] if self._sized else MAX_SAMPLES
        if "samples" in section:
            fits = self._sized and section["samples"] == self._ids
            require(fits, "samples", section["samples"], "contradiction")
        samples = self._ids if self._sized else None
        self._text = written({"samedeal": 1, "split": canonical(SPLIT, section | {"samples": samples})})

    def recipe(self) -> str:
        return self._text

    def recipe_fingerprint(self) -> str:
        return fingerprint(self._text)

    def parts(self) -> list[str]:
        return list(self._names)

    def _part(self, x: int) -> int:
        """The part of an id: the smallest i with H(x) * t < c[i] * m."""
        h = permutation(self._ids, "split", self._seed, 0, 0).sample(x)
        return bisect_right(self._sums, h * self._sums[-1], key=lambda c: c * self._ids)

    def part_of(self, ids: list[int]) -> list[int]:
        require(len(ids) <= MAX_WINDOW, "ids", f"{len(ids)} numbers")
        for x in ids:
            require(x < self._ids, "ids", x)
        return [self._part(x) for x in ids]

    def part_of_run(self, start: int, count: int) -> list[int]:
        require_window(start, count, self._ids)
        return [self._part(x) for x in range(start, start + count)]

    def part_of_keys(self, keys: list[str]) -> list[int]:
        if self._sized:
            raise Failure("contradiction", "sizes", "given")
        require(len(keys) <= MAX_WINDOW, "keys", f"{len(keys)} texts")
        return [self._part(id_of(key)) for key in keys]

    def members(self, part: int, start: int, count: int) -> list[int]:
        require(part < len(self._names), "part", part)
        found = self.part_of_run(start, count)
        return [start + i for i, here in enumerate(found) if here == part]

    def among_ids(self, ids: list[int], rest: str) -> str:
        """The recipe that `exact-sizes` finds for these ids."""
        self._check_sizes()
        require(len(ids) <= MAX_WINDOW, "ids", f"{len(ids)} numbers")
        for x in ids:
            require(x < MAX_SAMPLES, "ids", x)
        return self._exact([(x, 0) for x in ids], rest)

    def among_keys(self, keys: list[str], rest: str) -> str:
        """The recipe that `exact-sizes` finds for these texts."""
        self._check_sizes()
        require(len(keys) <= MAX_WINDOW, "keys", f"{len(keys)} texts")
        return self._exact([(id_of(key), number_of(key) % 2**11) for key in keys], rest)

    def _check_sizes(self) -> None:
        require(self._sized, "weights", "given", "contradiction")

    def _exact(self, keys: list[tuple[int, int]], rest: str) -> str:
        """The recipe of exact sizes among keys: the id of each, and the second number of its hash."""
        pi = permutation(MAX_SAMPLES, "split", self._seed, 0, 0)
        k = sorted({(pi.sample(x), low) for x, low in keys})
        require(self._sums[-1] <= len(k), "size", self._sums[-1])
        parts, before = [], 0
        for name, c in zip(self._names, self._sums, strict=True):
            if 0 < c < len(k):
                require(k[c - 1][0] != k[c][0], "size", c, "contradiction")
            end = 0 if c == 0 else MAX_SAMPLES if c == len(k) else k[c][0]
            parts.append({"name": name, "weight": end - before})
            before = end
        parts.append({"name": rest, "weight": MAX_SAMPLES - before})
        return Split(written({"samedeal": 1, "split": {"seed": self._seed, "parts": parts}})).recipe()


def number_of(key: str) -> int:
    """The number of the first 8 bytes of the SHA-256 of a text."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")


def id_of(key: str) -> int:
    """The id of a text."""
    return (number_of(key) >> 11) % MAX_SAMPLES
