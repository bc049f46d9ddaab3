"""Trials of exactly-once: random resumptions, processes that are killed, and logs that fail.

    trials.py [WORD ...] [--rounds N] [--seed S] [--trial T]

With words, only trials with one of them in their names run. A trial is determined by its name, the seed and its number.
The command ends at the first trial in which a sample is lost or comes twice, and prints how to repeat it.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chains.chain import Chain, shrunk
from tally import Tally


@dataclass(frozen=True)
class Trial:
    """A kind of trials, and the number of them in a run."""

    module: str
    rounds: int

    def load(self) -> Any:
        """Imports the module only now, because some modules need PyTorch."""
        return importlib.import_module(self.module)


TRIALS = {
    "chains of samplers": Trial("chains.samplers", 10_000),
    "chains of batchers": Trial("chains.batchers", 10_000),
    "chains of readings": Trial("chains.readings", 10_000),
    "chains of schedules": Trial("chains.schedules", 10_000),
    "chains of training loops": Trial("chains.loops", 600),
    "ledgers over logs that fail": Trial("ledgers", 10_000),
    "ledgers whose readers are killed": Trial("killed_readers", 200),
    "processes that are killed": Trial("processes", 200),
}
COLUMNS = ("trials", "resumptions", "kills", "samples", "repeated", "dropped", "redone", "lost", "twice")


def random_of(name: str, seed: int, number: int) -> random.Random:
    """The random numbers of a trial."""
    return random.Random(f"{seed}/{name}/{number}")


def row(name: str, tally: Tally, seconds: float) -> str:
    """A line of the table."""
    return f"| {name} | " + " | ".join(f"{getattr(tally, column):,}" for column in COLUMNS) + f" | {seconds:,.0f} |"


def failed(name: str, seed: int, number: int, drawn: Any, module: Any, error: BaseException) -> None:
    """Prints which trial failed, and a simpler one that fails too."""
    print(f"\nFAILED: trials.py '{name}' --seed {seed} --trial {number}")
    print(f"  {type(error).__name__}: {error}\n  {drawn}")
    if not isinstance(drawn, Chain):
        return
    simple = shrunk(drawn, lambda one: fails(module.run, one))
    if simple != drawn:
        print(f"a simpler one that fails:\n  {simple}")
        try:
            module.run(simple)
        except Exception:
            print("  " + traceback.format_exc(limit=-3).replace("\n", "\n  "))


def fails(run: Callable[[Any], Tally], drawn: Any) -> bool:
    """Whether a trial fails."""
    try:
        run(drawn)
    except Exception:
        return True
    return False


def tried(name: str, seed: int, numbers: range) -> tuple[Tally, bool]:
    """Makes trials of a kind; returns their tally, and whether all of them hold."""
    module, tally = TRIALS[name].load(), Tally()
    for number in numbers:
        drawn = module.draw(random_of(name, seed, number))
        try:
            tally.add(module.run(drawn))
            if tally.lost or tally.twice:
                raise AssertionError(f"{tally.lost} samples are lost, and {tally.twice} came twice")
        except Exception as error:
            failed(name, seed, number, drawn, module, error)
            return tally, False
        if sys.stdout.isatty() and number % 10 == 0:
            print(f"\r{name}: {number}", end="", flush=True)
    return tally, True


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Trials of exactly-once.")
    parser.add_argument("words", nargs="*", metavar="WORD", help=", ".join(TRIALS))
    parser.add_argument("--rounds", type=int, help="so many trials of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trial", type=int, help="the one trial with this number")
    options = parser.parse_args()
    names = [name for name in TRIALS if not options.words or any(word in name for word in options.words)]
    if not names:
        parser.error(f"no trials have {' or '.join(options.words)} in their names; there are {', '.join(TRIALS)}")
    if options.rounds is not None and options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; allowed: 1 or more")
    print(f"seed {options.seed}\n")
    print(f"| what | {' | '.join(COLUMNS)} | seconds |\n|---|{'---:|' * (len(COLUMNS) + 1)}")
    for name in names:
        start = time.monotonic()
        numbers = range(options.rounds or TRIALS[name].rounds)
        if options.trial is not None:
            numbers = range(options.trial, options.trial + 1)
        tally, good = tried(name, options.seed, numbers)
        if not good:
            return 1
        print(f"{chr(13) if sys.stdout.isatty() else ''}{row(name, tally, time.monotonic() - start)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
