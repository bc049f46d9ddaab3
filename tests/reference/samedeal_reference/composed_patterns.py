"""The patterns of `blend` and `blend-exact`: section 15."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Protocol

from .base import ceil_div, require

MAX_PERIOD = 2**20


class Pattern(Protocol):
    """A pattern: the source of each position n = 0, 1, 2, ..."""

    def source(self, n: int) -> int: ...

    def count(self, i: int, n: int) -> int:
        """The number of positions below n that source i has."""

    def nth(self, i: int, number: int) -> int:
        """The position of the element `number` of source i."""

    def bound(self, i: int) -> int: ...


@dataclass(frozen=True)
class Node:
    """A node or a leaf of the tree of `blend`."""

    weight: int
    number: int
    children: tuple[Node, Node] | None = None

    def left_of(self, n: int) -> int:
        """The number of the first n positions of this node that its left child gets."""
        assert self.children
        return (2 * n * self.children[0].weight + self.weight) // (2 * self.weight)


class Tree:
    def __init__(self, weights: list[int]) -> None:
        items = [Node(weight, i) for i, weight in enumerate(weights) if weight]
        while len(items) > 1:
            items.sort(key=lambda node: (node.weight, node.number), reverse=True)
            left, right = items.pop(), items.pop()
            items.append(Node(left.weight + right.weight, min(left.number, right.number), (left, right)))
        self.root = items[0]
        # For each source, the path from the root to its leaf: each node, and the side of the next one.
        self.ways: dict[int, list[tuple[Node, int]]] = {}
        self._walk(self.root, [])

    def _walk(self, node: Node, way: list[tuple[Node, int]]) -> None:
        if node.children is None:
            self.ways[node.number] = way
            return
        for side, child in enumerate(node.children):
            self._walk(child, [*way, (node, side)])

    def source(self, n: int) -> int:
        node = self.root
        while node.children:
            left = node.left_of(n)
            is_left = node.left_of(n + 1) > left
            n = left if is_left else n - left
            node = node.children[not is_left]
        return node.number

    def count(self, i: int, n: int) -> int:
        if i not in self.ways:
            return 0
        for node, side in self.ways[i]:
            n = n - node.left_of(n) if side else node.left_of(n)
        return n

    def nth(self, i: int, number: int) -> int:
        for node, side in reversed(self.ways[i]):
            assert node.children
            weight, own = node.weight, node.children[side].weight
            # The smallest n such that the child gets `number` + 1 of the first n + 1 positions. Of n positions, it gets
            # round(n * own / weight). Halves are rounded up for the left child, and therefore down for the right one.
            if side:
                number = weight * (2 * number + 1) // (2 * own)
            else:
                number = ceil_div(weight * (2 * number + 1), 2 * own) - 1
        return number

    def bound(self, i: int) -> int:
        way = self.ways.get(i, [])
        own = [node.children[side].weight for node, side in way if node.children]
        return sum(ceil_div(500000 * own[-1], weight) for weight in own)


class Tijdeman:
    def __init__(self, weights: list[int], field: str = "weight") -> None:
        divisor = math.gcd(*weights)
        a = self.a = [weight // divisor for weight in weights]
        self.period = sum(a)
        require(self.period <= MAX_PERIOD, field, self.period)
        there = self.there = [i for i in range(len(a)) if a[i] > 0]
        self.sources: list[int] = []
        self.positions: list[list[int]] = [[] for _ in a]
        m = 2 * len(there) - 2
        t = [0] * len(a)
        for n in range(1, self.period + 1):
            able = [i for i in there if t[i] + 1 <= a[i] and n * m * a[i] >= (t[i] * m + 1) * self.period]
            if m == 0:
                able = there
            chosen = able[0]
            for i in able[1:]:
                if ((t[i] + 1) * m - 1) * a[chosen] < ((t[chosen] + 1) * m - 1) * a[i]:
                    chosen = i
            t[chosen] += 1
            self.sources.append(chosen)
            self.positions[chosen].append(n - 1)

    def source(self, n: int) -> int:
        return self.sources[n % self.period]

    def count(self, i: int, n: int) -> int:
        periods, rest = divmod(n, self.period)
        return periods * self.a[i] + bisect_left(self.positions[i], rest)

    def nth(self, i: int, number: int) -> int:
        periods, rest = divmod(number, self.a[i])
        return periods * self.period + self.positions[i][rest]

    def bound(self, i: int) -> int:
        k = len(self.there)
        return ceil_div(10**6 * (2 * k - 3), 2 * k - 2) if k > 1 and self.a[i] else 0
