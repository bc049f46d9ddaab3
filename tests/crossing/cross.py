"""Rounds of crossing, and the page that shows them: `cross.py [--rounds N] [--seed S] [HOST ...]`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import page
from cases import ALL_HOSTS
from crossing import Crossing
from found import Round
from programs import ROOT

FOLDER = ROOT / "target/crossing"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first round; the next one has the next seed")
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"only these, and rust, of {', '.join(ALL_HOSTS)}")
    given = parser.parse_args()
    if unknown := {*given.hosts} - {*ALL_HOSTS}:
        parser.error(f"unknown host: {', '.join(sorted(unknown))}; there are {', '.join(ALL_HOSTS)}")
    hosts = tuple(host for host in ALL_HOSTS if not given.hosts or host in {"rust", *given.hosts})
    rounds: list[Round] = []
    started = time.monotonic()
    for seed in range(given.seed, given.seed + max(1, given.rounds)):
        began = time.monotonic()
        found = Crossing(seed, FOLDER / str(seed), hosts).run()
        rounds.append(found)
        wrong = [error for errors in found.errors.values() for error in errors]
        done = (
            f"{sum(found.agreed.values())} continuations agree, {found.kills} programs killed, {found.twice} read twice"
        )
        print(f"seed {seed}: {done}, {len(wrong)} differ, {time.monotonic() - began:.0f} s", flush=True)
        for error in wrong:
            print(f"  {error}", file=sys.stderr)
    agreed = sum((found.agreed for found in rounds), Counter())
    failed = sum(len(found.errors) for found in rounds)
    print(f"{sum(agreed.values())} passed, {failed} failed in {time.monotonic() - started:.2f}s")
    if not failed and hosts == ALL_HOSTS:
        page.write(ROOT / page.PAGE, rounds)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
