"""Blends with `by_lane` of section 15."""

from __future__ import annotations

from math import gcd

from .composed_blend import Blend, Stage


class LaneBlend(Blend):
    """A blend in which each lane follows the pattern on its own."""

    rotated = False

    @property
    def lanes_apart(self) -> int | None:
        return self.lanes

    def count(self, i: int, n: int) -> int:
        """The number of positions below n that source i has in all lanes."""
        return sum(self.in_lane(i, lane, self._steps(lane, n)) for lane in range(self.lanes))

    def _steps(self, lane: int, n: int) -> int:
        """The number of positions of a lane below n."""
        return (n + self.lanes - 1 - lane) // self.lanes

    def _phase(self, stage: Stage, lane: int) -> int:
        return sum(stage.weights) // gcd(*stage.weights) * lane // self.lanes

    def in_lane(self, i: int, lane: int, steps: int) -> int:
        """The number of draws of source i among the first positions of a lane."""
        total = 0
        for stage, end in zip(self.stages, [*(stage.start for stage in self.stages[1:]), None], strict=True):
            begin = stage.start // self.lanes
            last = steps if end is None else min(steps, end // self.lanes)
            if begin >= last:
                break
            total += self._in_stage(stage, i, lane, last - begin)
        return total

    def _in_stage(self, stage: Stage, i: int, lane: int, steps: int) -> int:
        h = self._phase(stage, lane)
        q, within = divmod(steps, self.run)
        whole = (stage.pattern.count(i, h + q) - stage.pattern.count(i, h)) * self.run
        return whole + (within if within and stage.pattern.source(h + q) == i else 0)

    def _size(self, i: int, lane: int) -> int:
        """The samples of a lane of source i."""
        return (self.sources[i].order.length(0) + self.lanes - 1 - lane) // self.lanes

    def _drawn(self, i: int, lane: int, draw: int) -> tuple[int, int]:
        """The epoch and the position of a draw of a lane in source i."""
        size = self._size(i, lane)
        return (draw // size, draw % size * self.lanes + lane) if size else (0, 0)

    def source(self, epoch: int, position: int) -> tuple[int, int]:
        n = epoch * self.len + position
        stage, lane, steps = self._stage_of(n), n % self.lanes, n // self.lanes
        q = (steps - stage.start // self.lanes) // self.run
        i = stage.pattern.source(self._phase(stage, lane) + q)
        e, at = self._drawn(i, lane, self.in_lane(i, lane, steps))
        return i, e * self.sources[i].order.length(0) + at

    def next_draws(self, epoch: int, position: int) -> list[tuple[int, int]]:
        n = epoch * self.len + position
        lane, steps = n % self.lanes, n // self.lanes
        return [self._drawn(i, lane, self.in_lane(i, lane, steps)) for i in range(len(self.sources))]

    def bounds(self) -> list[int]:
        return [2 * bound for bound in super().bounds()]

    def _nth(self, i: int, lane: int, draw: int) -> int | None:
        """The position n at which a lane makes a draw of source i."""
        for stage, end in zip(self.stages, [*(stage.start for stage in self.stages[1:]), None], strict=True):
            if end is not None:
                here = self._in_stage(stage, i, lane, (end - stage.start) // self.lanes)
                if draw >= here:
                    draw -= here
                    continue
            if not stage.weights[i]:
                return None
            h = self._phase(stage, lane)
            q, within = divmod(draw, self.run)
            element = stage.pattern.nth(i, stage.pattern.count(i, h) + q) - h
            return stage.start + (element * self.run + within) * self.lanes + lane
        return None

    def _passes(self, i: int, n: int) -> tuple[int, int]:
        """The least and the greatest pass over source i in which a lane is at position n."""
        lanes = range(min(self.lanes, self.sources[i].order.length(0)))
        passes = [self.in_lane(i, lane, self._steps(lane, n)) // self._size(i, lane) for lane in lanes]
        return min(passes), max(passes)

    def _first(self, sample: int, low: int, end: int, more: list[int]) -> int | None:
        found = []
        for i, source in enumerate(self.sources):
            own = sample - self.offsets[i]
            if not 0 <= own < source.order.range:
                continue
            e, last = self._passes(i, low)[0], self._passes(i, end)[1]
            while e <= last:
                at = source.order.position(e, own)
                if at is None:
                    # The view leaves the sample out, in every epoch.
                    break
                lane = at % self.lanes
                n = self._nth(i, lane, e * self._size(i, lane) + at // self.lanes)
                if n is not None and low <= n < end:
                    found.append(n)
                    # A later pass can only come before n if a lane has begun it before n.
                    end, last = n, min(last, self._passes(i, n)[1])
                e += 1
        return min(found, default=None)
