"""The common part of all orders of section 15, and the orders of section 3 in this form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .base import MAX_SAMPLES, MAX_U64, Failure, require, stream
from .orders import TABLES, Order, feistel, make_order, require_range
from .sharded import Sharding, make_sharded


@lru_cache(maxsize=256)
def permutation(m: int, purpose: str, seed: int, epoch: int, index: int) -> Order:
    """The permutation of m by (purpose, seed, epoch, index)."""
    return feistel(m, stream(purpose, seed, epoch, index))


class Composed:
    """An order X of section 15: R is `range`, len(e) is `length`, X(e, p) is `sample`."""

    range: int
    steady: bool
    single: bool

    @property
    def rotated(self) -> bool:
        """Whether the rows of the order's deal are rotated: each row begins with another rank."""
        return not self.single

    @property
    def lanes_apart(self) -> int | None:
        """The number of lanes, if the order keeps them apart."""
        return None

    has_table = False
    ends = False
    """Whether the order is a blend with `stop` or `fail`, or contains one."""
    breaks: Sequence[int] | None = ()
    """Epochs above 0, ascending. Between two of them, every epoch has the same samples. None if they are too many."""

    def length(self, epoch: int) -> int:
        raise NotImplementedError

    def sample(self, epoch: int, position: int) -> int:
        raise NotImplementedError

    def position(self, epoch: int, sample: int) -> int | None:
        """The position of a sample in an epoch, for orders that are single; None if the epoch does not have the
        sample."""
        raise NotImplementedError

    def first(self, epoch: int, sample: int, start: int) -> int | None:
        """The first position of a sample in an epoch, from `start` on."""
        at = self.position(epoch, sample) if sample < self.range else None
        return at if at is not None and at >= start else None

    def begin(self, epoch: int) -> int:
        if self.steady:
            return epoch * self.length(0)
        assert self.breaks is not None
        ends = [e for e in self.breaks if e < epoch]
        return sum((e - b) * self.length(b) for b, e in zip([0, *ends], [*ends, epoch], strict=True))

    def find(self, draw: int) -> tuple[int, int]:
        """The epoch and the position of a draw."""
        low, high = 0, 1
        while self.begin(high) <= draw:
            # An order with positions has draws without end, so this ends even for the largest number in a state.
            assert high < 2**256
            low, high = high, 2 * high
        # Of all epochs that begin at the same draw, the last one is found: the epochs before it are empty.
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.begin(middle) <= draw else (low, middle)
        return low, draw - self.begin(low)

    def has_epoch(self, epoch: int) -> bool:
        """Whether an epoch can be used."""
        return epoch < MAX_U64 and self.begin(epoch + 1) <= MAX_SAMPLES

    def require_epoch(self, epoch: int) -> None:
        require(self.has_epoch(epoch), "epoch", epoch)

    def first_draw(self, sample: int, low: int, end: int) -> int | None:
        """The first draw of a sample, from `low` on and before `end`."""
        assert self.breaks is not None
        if low >= end:
            return None
        e, position = self.find(low)
        while (begin := self.begin(e)) < end:
            at = self.first(e, sample, position)
            if at is not None:
                return begin + at if begin + at < end else None
            if position:
                e, position = e + 1, 0
                continue
            # The sample is in no position of this whole epoch, so it is in no epoch before the next break.
            later = [b for b in self.breaks if b > e]
            if not later:
                return None
            e = later[0]
        return None

    def epoch(self, epoch: int) -> list[int]:
        """All samples of an epoch, in order."""
        return [self.sample(epoch, position) for position in range(self.length(epoch))]

    def occurrences(self, sample: int, epoch: int) -> list[int]:
        """The positions of a sample, by reading the whole epoch: for small orders."""
        return [position for position, here in enumerate(self.epoch(epoch)) if here == sample]


class Plain(Composed):
    """An order of section 3."""

    steady = single = True

    def __init__(self, name: str, samples: int, seed: int, sharding: Sharding | None = None) -> None:
        if name not in ("feistel", "sequential", *TABLES) and sharding is None:
            raise Failure("unknown-name", "name", name)
        require_range(name, samples, seed)
        self.name, self.range, self.seed, self.sharding = name, samples, seed, sharding
        self.has_table = name in TABLES
        self._made: tuple[int, Order] | None = None

    @property
    def lanes_apart(self) -> int | None:
        return self.sharding.lanes if self.sharding else None

    def _order(self, epoch: int) -> Order:
        if self._made is None or self._made[0] != epoch:
            sharding = self.sharding
            made = make_sharded(sharding, self.seed, epoch) if sharding else None
            self._made = epoch, made or make_order(self.name, self.range, self.seed, epoch)
        return self._made[1]

    def length(self, epoch: int) -> int:
        return self.range

    def sample(self, epoch: int, position: int) -> int:
        return self._order(epoch).sample(position)

    def position(self, epoch: int, sample: int) -> int | None:
        return self._order(epoch).position(sample)
