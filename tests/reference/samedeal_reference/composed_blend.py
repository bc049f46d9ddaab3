"""The orders `blend` and `blend-exact` of section 15."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from .base import MAX_SAMPLES, Failure, require
from .composed_base import Composed
from .composed_patterns import Pattern, Tijdeman, Tree


@dataclass(frozen=True)
class Source:
    name: str
    weight: int
    order: Composed


@dataclass(frozen=True)
class Stage:
    start: int
    weights: list[int]
    pattern: Pattern
    before: list[int]
    """For each source: the number of its positions below `start`."""


class Blend(Composed):
    steady = True
    single = False
    breaks = None

    def __init__(self, section: dict[str, Any], sources: list[Source], lanes: int = 1) -> None:
        self.sources = sources
        self.seed = section["seed"]
        self.exact = section["name"] == "blend-exact"
        self.exhaustion = section.get("exhaustion", "repeat")
        self.passes = section.get("max_passes", 1)
        self.run = section.get("run_length", 1)
        self.lanes = lanes
        self.row = self.run * lanes
        self.ends = (
            self.exhaustion in ("stop", "fail")
            or section.get("index_space") == "shared"
            or section.get("by_lane", False)
        )
        ranges = [source.order.range for source in sources]
        shared = section.get("index_space", "joined") == "shared"
        self.offsets = [0 if shared else sum(ranges[:i]) for i in range(len(sources))]
        self.range = max(ranges) if shared else sum(ranges)
        require(self.range <= MAX_SAMPLES, "sources", self.range)
        self.stages: list[Stage] = []
        self._stage(0, [source.weight for source in sources])
        samples, stages = section.get("samples"), section.get("stages", [])
        if self.exhaustion == "repeat":
            self._add_stages(stages)
            weighed = sum(source.order.length(0) for source in sources if source.weight > 0)
            self.len = weighed + -weighed % self.row if samples is None else samples
        else:
            require(not stages, "stages", f"{len(stages)} objects", "contradiction")
            for source in sources:
                require(source.order.steady, "sources", source.name, "contradiction")
            self.len = self._exhausted(samples)
        shown = f"more than {MAX_SAMPLES}" if self.exhaustion == "stop" else self.len
        require(self.len <= MAX_SAMPLES, "samples", shown)
        require(self.len % self.row == 0, "samples", self.len, "contradiction")
        require(samples in (None, self.len), "samples", samples, "contradiction")

    def _add_stages(self, stages: list[dict[str, Any]]) -> None:
        require((len(stages) + 1) * len(self.sources) <= 2**16, "stages", f"{len(stages)} objects")
        for stage in stages:
            start, weights = stage["from"], stage["weights"]
            require(self.stages[-1].start < start, "from", start)
            require(start % self.row == 0, "from", start, "contradiction")
            require(len(weights) == len(self.sources), "weights", f"{len(weights)} numbers", "contradiction")
            self._stage(start, weights)

    def _stage(self, start: int, weights: list[int]) -> None:
        field = "weights" if start > 0 else "weight"
        require(0 < sum(weights) <= MAX_SAMPLES, field, sum(weights))
        for weight, source in zip(weights, self.sources, strict=True):
            require(weight == 0 or source.order.length(0) >= self.lanes, field, weight, "contradiction")
        self._begin(start, weights)

    def _begin(self, start: int, weights: list[int]) -> None:
        before = [self.count(i, start) if self.stages else 0 for i in range(len(weights))]
        field = "weights" if start > 0 else "weight"
        pattern = Tijdeman(weights, field) if self.exact else Tree(weights)
        self.stages.append(Stage(start, list(weights), pattern, before))

    def _exhausted(self, samples: int | None) -> int:
        """L, the length of an epoch of a blend without `repeat`."""
        most = [self.passes * source.order.length(0) for source in self.sources]
        if self.exhaustion == "stop":
            end = self._end(most)[0]
            return end if end > MAX_SAMPLES else end - end % self.run
        if self.exhaustion == "fail":
            if samples is None:
                raise Failure("missing", "samples", "")
            require(samples <= self._end(most)[0], "samples", samples)
            return samples
        weights = [source.weight for source in self.sources]
        there = sum(weight > 0 for weight in weights)
        require(there * len(weights) <= 2**16, "sources", None)
        while True:
            end, leaves = self._end(most)
            weights[leaves] = 0
            if not any(weights):
                return end
            self._begin(end, weights)

    def _end(self, most: list[int]) -> tuple[int, int]:
        """The first position at which a source of the last stage would need more draws than it has, and the number of
        this source."""
        last = self.stages[-1]
        active = [i for i, weight in enumerate(last.weights) if weight]
        return min((self._place(last, i, most[i]), i) for i in active)

    def _place(self, stage: Stage, i: int, draw: int) -> int:
        """The position at which source i makes a draw, if this stage lasts that long."""
        run, within = divmod(draw - stage.before[i], self.run)
        return stage.start + stage.pattern.nth(i, run) * self.run + within

    def _stage_of(self, n: int) -> Stage:
        return self.stages[bisect_right(self.stages, n, key=lambda stage: stage.start) - 1]

    def count(self, i: int, n: int) -> int:
        """The number of positions below n that source i has. With `repeat`, n counts over all epochs, otherwise within
        one."""
        # The counts at the end of a stage are those at the beginning of the next one.
        stage = self._stage_of(n)
        run, within = divmod(n - stage.start, self.run)
        own = within > 0 and stage.pattern.source(run) == i
        return stage.before[i] + stage.pattern.count(i, run) * self.run + (within if own else 0)

    def draw(self, n: int) -> tuple[int, int]:
        """The source of position n, and the number of its draw."""
        stage = self._stage_of(n)
        i = stage.pattern.source((n - stage.start) // self.run)
        return i, self.count(i, n)

    def bounds(self) -> list[int]:
        return [self.run * sum(stage.pattern.bound(i) for stage in self.stages) for i in range(len(self.sources))]

    def length(self, epoch: int) -> int:
        return self.len

    def source(self, epoch: int, position: int) -> tuple[int, int]:
        """The source of a position, and the number of its draw over all epochs."""
        if self.exhaustion == "repeat":
            return self.draw(epoch * self.len + position)
        i, draw = self.draw(position)
        return i, epoch * self.passes * self.sources[i].order.length(0) + draw

    def sample(self, epoch: int, position: int) -> int:
        i, draw = self.source(epoch, position)
        order = self.sources[i].order
        return self.offsets[i] + order.sample(*order.find(draw))

    def nth(self, i: int, number: int) -> int:
        """The position n at which source i makes a draw."""
        stage = self.stages[bisect_right(self.stages, number, key=lambda stage: stage.before[i]) - 1]
        return self._place(stage, i, number)

    def start(self, epoch: int) -> tuple[int, list[int]]:
        """The n of position 0 of an epoch. For each source: the number of draws that it made before n began to
        count."""
        if self.exhaustion == "repeat":
            return epoch * self.len, [0] * len(self.sources)
        # A source without a weight makes no passes.
        return 0, [epoch * self.passes * s.order.length(0) if s.weight else 0 for s in self.sources]

    def next_draws(self, epoch: int, position: int) -> list[tuple[int, int]]:
        """For each source: the epoch and the position in it of its next draw."""
        draws = zip(self.sources, self.draws(epoch, position), strict=True)
        # A source without draws makes no pass.
        return [source.order.find(draw) if source.order.length(0) else (0, 0) for source, draw in draws]

    def draws(self, epoch: int, position: int) -> list[int]:
        """For each source: the number of its first draw at this position or later."""
        n, more = self.start(epoch)
        return [self.count(i, n + position) + more[i] for i in range(len(self.sources))]

    def first(self, epoch: int, sample: int, start: int) -> int | None:
        if start >= self.len:
            return None
        n, more = self.start(epoch)
        at = self._first(sample, n + start, n + self.len, more)
        return None if at is None else at - n

    def _first(self, sample: int, low: int, end: int, more: list[int]) -> int | None:
        """The first n with a sample, from `low` on and before `end`. `more[i]` is the number of draws of source i that
        n does not count."""
        found = []
        for i, source in enumerate(self.sources):
            own = sample - self.offsets[i]
            if 0 <= own < source.order.range:
                draw = source.order.first_draw(own, self.count(i, low) + more[i], self.count(i, end) + more[i])
                if draw is not None:
                    found.append(self.nth(i, draw - more[i]))
        return min(found, default=None)

    def has_epoch(self, epoch: int) -> bool:
        most = (epoch + 1) * self.passes * max(source.order.length(0) for source in self.sources)
        return super().has_epoch(epoch) and (self.exhaustion == "repeat" or most <= MAX_SAMPLES)

    def first_draw(self, sample: int, low: int, end: int) -> int | None:
        if low >= end:
            return None
        if self.exhaustion == "repeat":
            # The positions of all epochs form a single sequence.
            return self._first(sample, low, end, [0] * len(self.sources))
        e, position = divmod(low, self.len)
        while e * self.len < end:
            at = self.first(e, sample, position)
            if at is not None:
                return e * self.len + at if e * self.len + at < end else None
            if position == 0 and not self._may_come(sample):
                return None
            e, position = e + 1, 0
        return None

    def _may_come(self, sample: int) -> bool:
        """Whether a sample may be in some epochs and not in others. This is so if an epoch draws only a part of its
        source."""
        for i, source in enumerate(self.sources):
            here, order = self.count(i, self.len), source.order
            # Even a source that is drawn completely may have other samples in other epochs, if its order is not single.
            is_part = here < self.passes * order.length(0) or not order.single
            if here > 0 and is_part and 0 <= sample - self.offsets[i] < order.range:
                return True
        return False
