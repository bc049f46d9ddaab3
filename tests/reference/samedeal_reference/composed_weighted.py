"""The order `weighted` of section 15."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from .base import MAX_SAMPLES, require, stream
from .composed_base import Composed, permutation

GOLDEN = 11400714819323198485


class Weighted(Composed):
    steady = True
    single = False
    breaks = None

    def __init__(self, weights: list[int], seed: int, samples: int, replacement: bool) -> None:
        self.range, self.seed, self.samples = len(weights), seed, samples
        require(1 <= sum(weights) <= MAX_SAMPLES, "weights", f"a sum of {sum(weights)}")
        sure: set[int] = set()
        if not replacement:
            require(samples <= sum(w > 0 for w in weights), "samples", samples, "contradiction")
            rest = sum(weights)
            for sample in sorted(range(len(weights)), key=lambda sample: -weights[sample]):
                if (samples - len(sure)) * weights[sample] <= rest:
                    break
                sure.add(sample)
                rest -= weights[sample]
        words = stream("weighted phase", seed, 0)
        self.bits = next(words) + (next(words) << 32)
        sigma = permutation(len(weights), "weighted order", seed, 0, 0)
        classes = {weight: number for number, weight in enumerate(sorted(set(weights)))}
        rho = permutation(len(classes), "weighted classes", seed, 0, 0)
        self.line = sorted(range(len(weights)), key=lambda i: (rho.position(classes[weights[i]]), sigma.position(i)))
        self.place = {sample: j for j, sample in enumerate(self.line)}
        self.certain = [sample for sample in self.line if sample in sure]
        self.c = [0, *accumulate(0 if sample in sure else weights[sample] for sample in self.line)]
        self.total, self.drawn = self.c[-1], samples - len(sure)

    def length(self, epoch: int) -> int:
        return self.samples

    def phase(self, epoch: int) -> int:
        """u(e), the phase of an epoch."""
        return (self.bits + epoch * GOLDEN) % 2**64 * self.total >> 64

    def draw(self, epoch: int, k: int) -> int:
        """The sample of draw k."""
        m = len(self.certain)
        if k < m:
            return self.certain[k]
        return self.line[bisect_right(self.c, ((k - m) * self.total + self.phase(epoch)) // self.drawn) - 1]

    def sample(self, epoch: int, position: int) -> int:
        return self.draw(epoch, permutation(self.samples, "weighted", self.seed, epoch, 0).sample(position))

    def draws(self, epoch: int, sample: int) -> range:
        """The draws of a sample in an epoch."""
        if sample in self.certain:
            k = self.certain.index(sample)
            return range(k, k + 1)
        j, m = self.place[sample], len(self.certain)
        low, high = (-((self.phase(epoch) - c * self.drawn) // self.total) for c in self.c[j : j + 2])
        return range(m + low, m + high)

    def first(self, epoch: int, sample: int, start: int) -> int | None:
        if sample >= self.range:
            return None
        pi = permutation(self.samples, "weighted", self.seed, epoch, 0)
        places = sorted(pi.position(k) for k in self.draws(epoch, sample))
        at = bisect_left(places, start)
        return places[at] if at < len(places) else None

    def seen(self, sample: int, epoch: int) -> int:
        """The number of draws of a sample in all epochs before this one."""
        if sample in self.certain:
            return epoch
        j = self.place[sample]
        low, high = (self._before(c * self.drawn, epoch) for c in self.c[j : j + 2])
        return high - low

    def _before(self, a: int, epochs: int) -> int:
        """The sum of ceil((a - u(e)) / T) over epochs."""
        q, r = divmod(a, self.total)
        # u(e) < r exactly if the 64 bits of e are below `bits`.
        bits = -(-(r << 64) // self.total)
        return epochs * q + quotients(epochs, self.bits, 2**64) - quotients(epochs, self.bits - bits, 2**64)

    def first_draw(self, sample: int, low: int, end: int) -> int | None:
        if low >= end or sample >= self.range:
            return None
        e, position = divmod(low, self.samples)
        at = self.first(e, sample, position)
        if at is None:
            e += 1
            before, high = self.seen(sample, e), e + 1
            while self.seen(sample, high) == before:
                if high * self.samples >= end:
                    return None
                high *= 2
            while high - e > 1:
                middle = (e + high) // 2
                e, high = (middle, high) if self.seen(sample, middle) == before else (e, middle)
            at = self.first(e, sample, 0)
            assert at is not None
        draw = e * self.samples + at
        return draw if draw < end else None


def quotients(count: int, offset: int, modulus: int, step: int = GOLDEN) -> int:
    """The sum of (offset + i * step) // modulus for i from 0 to count - 1."""
    whole = count * (count - 1) // 2 * (step // modulus) + count * (offset // modulus)
    step, offset = step % modulus, offset % modulus
    top = (offset + count * step) // modulus
    if top == 0:
        return whole
    # To reduce the numbers, the points below the line are counted in columns of the other axis.
    return whole + count * top - quotients(top, modulus - offset + step - 1, step, modulus)
