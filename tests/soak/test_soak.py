"""The judge finds growth, and both processes do all kinds of work.

Their measurements are not judged, because a test may run beside others.
"""

from __future__ import annotations

import random

import pytest
import soak
from judge import MEBIBYTE, Interval, Verdict, judged

KINDS = ("samplers", "ledgers")


def told(minutes: int, leak: float = 0.0, drift: float = 0.0, tail: float = 0.0) -> list[Interval]:
    """Measurements of a process on a machine with changing load. Memory and times grow by the given amounts in each
    minute."""
    rng = random.Random(7)
    intervals: list[Interval] = []
    for minute in range(minutes):
        load, tails = rng.choice((1.0, 3.0)), rng.choice((2.0, 8.0))

        def latency(more: float, factor: float = load) -> tuple[float, float]:
            return factor * more * rng.uniform(0.9, 1.1), factor * rng.uniform(0.9, 1.1)

        intervals.append(
            {
                "seconds": 60.0 * minute,
                "rss": round((80 + leak * minute + rng.choice((0, 0, 0, 30))) * MEBIBYTE),
                "operations": 1000,
                "processor": {kind: latency(1 + drift * minute) for kind in KINDS},
                "p99": {kind: latency(1 + tail * minute, load * tails) for kind in KINDS},
            }
        )
    return intervals


def broken(verdicts: list[Verdict]) -> set[str]:
    return {each.name for each in verdicts if not each.holds}


@pytest.mark.parametrize("minutes", [12, 60])
def test_a_busy_machine_is_no_growth(minutes: int) -> None:
    verdicts = judged(told(minutes))
    assert len(verdicts) == 1 + 2 * len(KINDS)
    assert not broken(verdicts)


def test_growth_is_found() -> None:
    assert broken(judged(told(60, leak=0.3))) == {"memory"}
    assert broken(judged(told(60, drift=0.05))) == {f"{kind}, processor" for kind in KINDS}
    assert broken(judged(told(60, tail=0.1))) == {f"{kind}, 99th percentile" for kind in KINDS}


def test_too_little_is_not_judged() -> None:
    with pytest.raises(ValueError, match="12 intervals"):
        judged(told(11))


def test_both_processes_do_all_kinds_of_work() -> None:
    found, failed = soak.run(3)
    assert not failed
    kinds = [{*intervals[0]["p99"]} for intervals in found.values()]
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) == 10
    for intervals in found.values():
        # A busy machine leaves time for few operations, but each kind is done at least once.
        assert all(each["operations"] >= 10 and each["rss"] > MEBIBYTE for each in intervals)
