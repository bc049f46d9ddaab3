"""The orders `grown`, `windows` and `balance` of section 15."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from .base import MAX_SAMPLES, below, require, stream
from .composed_base import Composed, permutation
from .composed_patterns import Tree
from .orders import Order


class Grown(Composed):
    single = True

    def __init__(self, samples: int, growth: list[dict[str, int]], seed: int) -> None:
        self.seed = seed
        self.entries = [(entry["epoch"], entry["consumed"], entry["samples"]) for entry in growth]
        self.samples = [samples, *(n for _, _, n in self.entries)]
        self.range = self.samples[-1]
        self.steady = not growth
        edges = {edge for epoch, _, _ in self.entries for edge in (epoch, epoch + 1)}
        self.breaks = sorted(edges - {0})

    def length(self, epoch: int) -> int:
        return self.samples[sum(e <= epoch for e, _, _ in self.entries)]

    def _stages(self, epoch: int) -> list[tuple[int, int, Order]]:
        """For each stage: d, D, and pi."""
        first = sum(e < epoch for e, _, _ in self.entries)
        stages = [(0, self.samples[first], permutation(self.samples[first], "feistel", self.seed, epoch, 0))]
        for k in range(first, len(self.entries)):
            e, consumed, samples = self.entries[k]
            if e != epoch:
                break
            left = samples - consumed
            stages.append((consumed, samples, permutation(left, "grown", self.seed, epoch, k + 1)))
        return stages

    def sample(self, epoch: int, position: int) -> int:
        stages = self._stages(epoch)
        t = max(t for t in range(len(stages)) if stages[t][0] <= position)
        u = stages[t][2].sample(position - stages[t][0])
        while t > 0:
            d, before = stages[t][0], stages[t - 1]
            # `old` elements of stage t - 1 are left after its positions. They are the first elements of stage t, and
            # the new samples come after them.
            old = before[1] - d
            if u >= old:
                return before[1] + (u - old)
            t -= 1
            u = before[2].sample(d - before[0] + u)
        return u

    def position(self, epoch: int, sample: int) -> int | None:
        if sample >= self.length(epoch):
            return None
        stages = self._stages(epoch)
        # The stage at which the sample was added, and its number among the elements that the stage orders.
        t = sum(size <= sample for _, size, _ in stages)
        u = sample - stages[t][0]
        while True:
            d, _, pi = stages[t]
            at = d + pi.position(u)
            if t + 1 == len(stages) or at < stages[t + 1][0]:
                return at
            t += 1
            u = at - stages[t][0]


class Windows(Composed):
    steady = single = True

    def __init__(self, sizes: list[int], length: int, stride: int, seed: int) -> None:
        self.seed, self.stride, self.window = seed, stride, length
        counts = [(size - length) // stride + 1 if size >= length else 0 for size in sizes]
        self.base = [0, *accumulate(sizes)]
        self.windows = [0, *accumulate(counts)]
        self.range, self.total = self.base[-1], self.windows[-1]

    def length(self, epoch: int) -> int:
        return self.total

    def sample(self, epoch: int, position: int) -> int:
        g = permutation(self.total, "feistel", self.seed, epoch, 0).sample(position)
        episode = bisect_right(self.windows, g) - 1
        return self.base[episode] + self.stride * (g - self.windows[episode])

    def position(self, epoch: int, sample: int) -> int | None:
        if sample >= self.range:
            return None
        episode = bisect_right(self.base, sample) - 1
        t, rest = divmod(sample - self.base[episode], self.stride)
        g = self.windows[episode] + t
        if rest or g >= self.windows[episode + 1]:
            return None
        return permutation(self.total, "feistel", self.seed, epoch, 0).position(g)


class Balance(Composed):
    single = False
    breaks = None

    def __init__(self, classes: list[int], factors: list[int], seed: int, samples: int | None = None) -> None:
        self.range, self.factors, self.seed = len(classes), factors, seed
        self.members: list[list[int]] = [[] for _ in factors]
        for sample, c in enumerate(classes):
            self.members[c].append(sample)
        self.samples, self.steady = samples, samples is not None
        self._found: tuple[tuple[int, int] | None, list[int]] = (None, [])
        if samples is not None:
            shares = [len(own) * factor for own, factor in zip(self.members, factors, strict=True)]
            require(1 <= sum(shares) <= MAX_SAMPLES, "factors", f"a sum of {sum(shares)}")
            self.tree = Tree(shares)
        self.phase = below(stream("balance phase", seed, 0), 10**6)
        """g, from which the phase of each class follows."""

    def seen(self, c: int, epoch: int) -> int:
        """T(c, e), the number of elements of a class in all epochs before this one."""
        if self.samples is not None:
            return self.tree.count(c, epoch * self.samples)
        phase = (self.phase + 618034 * c) % 10**6
        return (epoch * len(self.members[c]) * self.factors[c] + phase) // 10**6

    def begin(self, epoch: int) -> int:
        return sum(self.seen(c, epoch) for c in range(len(self.factors)))

    def length(self, epoch: int) -> int:
        return self.begin(epoch + 1) - self.begin(epoch)

    def sample(self, epoch: int, position: int) -> int:
        u = permutation(self.length(epoch), "balance", self.seed, epoch, 0).sample(position)
        c = 0
        while u >= (here := self.seen(c, epoch + 1) - self.seen(c, epoch)):
            u -= here
            c += 1
        members = self.members[c]
        sigma = permutation(len(members), "balance class", self.seed, 0, c)
        return members[sigma.sample((self.seen(c, epoch) + u) % len(members))]

    def first(self, epoch: int, sample: int, start: int) -> int | None:
        places = self._places(epoch, sample) if sample < self.range else []
        at = bisect_left(places, start)
        return places[at] if at < len(places) else None

    def _places(self, epoch: int, sample: int) -> list[int]:
        """All positions of a sample in an epoch, ascending. The last result is cached."""
        if self._found[0] == (epoch, sample):
            return self._found[1]
        c = next(c for c, members in enumerate(self.members) if sample in members)
        members = self.members[c]
        number = permutation(len(members), "balance class", self.seed, 0, c).position(members.index(sample))
        low, high = self.seen(c, epoch), self.seen(c, epoch + 1)
        before = sum(self.seen(b, epoch + 1) - self.seen(b, epoch) for b in range(c))
        pi = permutation(self.length(epoch), "balance", self.seed, epoch, 0)
        elements = range(low + (number - low) % len(members), high, len(members))
        self._found = (epoch, sample), sorted(pi.position(before + d - low) for d in elements)
        return self._found[1]

    def first_draw(self, sample: int, low: int, end: int) -> int | None:
        if low >= end or sample >= self.range:
            return None
        e, position = self.find(low)
        at = self.first(e, sample, position)
        if at is None:
            later = self._next_epoch(sample, e + 1)
            if later is None:
                return None
            e, at = later, self.first(later, sample, 0)
            assert at is not None
        draw = self.begin(e) + at
        return draw if draw < end else None

    def _next_epoch(self, sample: int, epoch: int) -> int | None:
        """The first epoch with a sample, from this one on."""
        c = next(c for c, members in enumerate(self.members) if sample in members)
        if self.factors[c] == 0:
            return None
        members = self.members[c]
        number = permutation(len(members), "balance class", self.seed, 0, c).position(members.index(sample))
        before = self.seen(c, epoch)
        element = before + (number - before) % len(members)
        low, high = epoch, epoch + 1
        while self.seen(c, high) <= element:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.seen(c, middle) <= element else (low, middle)
        return low
