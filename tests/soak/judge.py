"""Judges whether the memory and the latencies of a process stay constant."""

from __future__ import annotations

from statistics import median
from typing import Literal, NamedTuple, TypedDict

MEBIBYTE = 1 << 20
GROWTH = 4 * MEBIBYTE
"""Bytes by which memory may grow over the second half of a run, by the line of Theil and Sen."""
MIDDLE, TAIL = 1.5, 2.0
"""Factors by which medians of processor times and 99th percentiles of latencies may grow, from the second sixth of a
run to the last one."""


class Interval(TypedDict):
    """The measurements of a process in an interval."""

    seconds: float
    rss: int
    operations: int
    p99: dict[str, tuple[float, float]]
    """For each kind of work: the 99th percentile of its latency, and that of its control."""
    processor: dict[str, tuple[float, float]]
    """For each kind of work: the median of its processor time, and that of its control. (The median of latencies jumps
    with the load of a busy machine.)"""


class Verdict(NamedTuple):
    """A quantity that must not grow, and its limit."""

    name: str
    found: float
    limit: float
    unit: str

    @property
    def holds(self) -> bool:
        """Whether the quantity is within its limit."""
        return self.found <= self.limit


def slope(points: list[tuple[float, float]]) -> float:
    """The slope of Theil and Sen: the median of the slopes between all pairs of points. Outliers do not move it."""
    return median((b - y) / (a - x) for i, (x, y) in enumerate(points) for a, b in points[i + 1 :])


def judged(intervals: list[Interval]) -> list[Verdict]:
    """The verdicts about one process.

    A time is divided by that of its control in the same interval, because other processes of the machine make both
    longer. The first sixth of a run is left out: the process warms up.
    """
    if len(intervals) < 12:
        raise ValueError(f"a judgement needs 12 intervals or more, and not {len(intervals)}")
    second = intervals[len(intervals) // 2 :]
    points = [(each["seconds"], float(each["rss"])) for each in second]
    grown = slope(points) * (points[-1][0] - points[0][0])
    verdicts = [Verdict("memory", grown / MEBIBYTE, GROWTH / MEBIBYTE, "MiB")]
    sixth = len(intervals) // 6
    begin, end = intervals[sixth : 2 * sixth], intervals[-sixth:]
    for kind in intervals[0]["p99"]:
        middle, tail = (ratio(end, what, kind) / ratio(begin, what, kind) for what in ("processor", "p99"))
        verdicts.append(Verdict(f"{kind}, processor", middle, MIDDLE, "x"))
        verdicts.append(Verdict(f"{kind}, 99th percentile", tail, TAIL, "x"))
    return verdicts


def ratio(intervals: list[Interval], what: Literal["processor", "p99"], kind: str) -> float:
    """How many times longer a kind takes than its control: the median over intervals."""
    return median(own / control for own, control in (each[what][kind] for each in intervals))
