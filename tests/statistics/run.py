"""Tests whether shuffles can be distinguished from uniform ones.

    run.py [--seeds N] [--quick] [--csv FILE]

Every p-value counts in two judgements: the smallest one of a shuffle, times their number (Bonferroni), and all of them
together, which must be uniform (Kolmogorov and Smirnov). Seeds are fixed, so the same command gives the same p-values.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import battery
import limits
from battery import Finding
from scipy import stats
from sources import SOURCES, WEAK, Source

ALPHA = 0.001
"""The probability with which a good shuffle fails each of the two judgements. Since seeds are fixed, it fails always or
never."""


def judged(findings: list[Finding]) -> tuple[float, float]:
    """The smallest p-value, corrected for their number, and the p-value of all of them being uniform."""
    values = [finding.p for finding in findings]
    return min(1.0, min(values) * len(values)), float(stats.kstest(values, "uniform").pvalue)


def quick(source: Source) -> Source:
    """A source with a part of its numbers of samples."""
    return Source(
        source.name,
        source.take,
        exhaustive=source.exhaustive[-2:] if source.is_weak else (3, 4, 5),
        small=tuple(n for n in source.small if n in (50, 257, 289)),
        large=tuple(n for n in source.large if n == 10**12 or source.is_weak),
        even_only=source.even_only,
        is_weak=source.is_weak,
    )


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Tests of shuffles")
    parser.add_argument("--seeds", type=int, default=5_000, help="permutations of each test; 200 or more")
    parser.add_argument("--quick", action="store_true", help="fewer numbers of samples")
    parser.add_argument("--csv", type=Path, help="a file for all p-values")
    options = parser.parse_args()
    if options.seeds < 200:
        parser.error(f"--seeds is {options.seeds}; allowed: 200 or more")
    print(f"{options.seeds:,} permutations for each test; known facts:\n")
    for fact in limits.facts():
        print(f"- {fact}")
    print("\n| shuffle | p-values | smallest | times their number | all are uniform | smallest of | seconds |")
    print("|---|---:|---:|---:|---:|---|---:|")
    good, everything = True, []
    for source in (*SOURCES, *WEAK):
        start = time.monotonic()
        findings = battery.run(quick(source) if options.quick else source, options.seeds)
        smallest = min(findings, key=lambda finding: finding.p)
        corrected, together = judged(findings)
        passes = corrected >= ALPHA and together >= ALPHA
        good = good and passes != source.is_weak
        word = "" if passes != source.is_weak else " **FAILED**" if not source.is_weak else " **PASSED, and must not**"
        print(
            f"| {source.name}{word} | {len(findings)} | {smallest.p:.2g} | {corrected:.2g} | {together:.2g} "
            f"| {smallest.test}, {smallest.of} | {time.monotonic() - start:.0f} |",
            flush=True,
        )
        everything += findings
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        part = options.csv.with_suffix(".part")
        with part.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(Finding._fields)
            writer.writerows(everything)
        part.rename(options.csv)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
