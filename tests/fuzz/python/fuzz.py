"""Calls everything that is public in the Python package, with arguments of every kind, and checks the results.

    python tests/fuzz/python/fuzz.py --minutes 10 --seed 1 [--only Sampler.batch] [--environment torch]

The calls are made in a process of their own (`worker.py`), so that a crash or a hang is a finding. The last line of the
output is a JSON object; failures are in it as scripts. The same seed makes the same programs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import surface

HERE = Path(__file__).parent
SILENT = 60
"""Seconds after which a call counts as hung. A busy machine may need that long for a call."""
MOST_FAILURES = 30
GROWTH = 64
"""Megabytes by which a process may grow between its warm-up and its end."""
HEADER = "# The last of these calls did not come to an end.\n"


class Watched:
    """A process that runs programs."""

    def __init__(self, modules: tuple[str, ...], seed: int, seconds: float, only: str, calls: int, file: Path) -> None:
        """Starts the process."""
        self.file = file
        file.write_bytes(b"\0" * (1 << 20))
        self.told = file.with_suffix(".err")
        given = [",".join(modules), str(seed), str(seconds), only, file, str(calls)]
        with self.told.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, HERE / "worker.py", *given],
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONFAULTHANDLER": "1"},
            )

    def program(self) -> str:
        """The program that runs, or that ran last."""
        return self.file.read_bytes().partition(b"\0")[0].decode("utf-8", "replace")

    def lines(self) -> Any:
        """The lines that the process prints, and finally an error if it did not end by itself."""
        assert self.process.stdout is not None
        selector = selectors.DefaultSelector()
        selector.register(self.process.stdout, selectors.EVENT_READ)
        before, since = "", time.monotonic()
        while True:
            if selector.select(timeout=1):
                line = self.process.stdout.readline()
                if not line:
                    break
                yield json.loads(line)
            program = self.program()
            if program != before:
                before, since = program, time.monotonic()
            elif time.monotonic() - since > SILENT:
                self.process.kill()
                self.process.wait()
                yield {"failure": ["hang", _last(program), f"no end in {SILENT} s", HEADER + program]}
                return
        code = self.process.wait()
        if code:
            told = self.told.read_text(errors="replace")[-2000:]
            program = self.program()
            yield {"failure": [f"crash {code}", _last(program), told, HEADER + program]}


def _last(program: str) -> str:
    return program.rstrip("\n").rpartition("\n")[2][:200]


def run(modules: tuple[str, ...], seed: int, seconds: float, only: str = "", calls: int = 0) -> dict[str, Any]:
    """Runs programs for `seconds`, or up to `calls` calls; returns a summary."""
    started = time.monotonic()
    total: dict[str, Any] = {"host": "python", "calls": 0, "seconds": 0.0, "errors": {}, "slowest_ms": 0.0}
    total |= {"slowest": "", "memory_growth_mb": 0.0, "failures": []}
    failures: dict[tuple[str, str], Any] = {}
    turn = 0
    with tempfile.TemporaryDirectory() as folder:
        while True:
            left = seconds - (time.monotonic() - started)
            state: dict[str, Any] = {}
            ended = False
            for line in Watched(modules, seed + 1_000_003 * turn, left, only, calls, Path(folder) / "running").lines():
                if "failure" in line:
                    kind, what, text, script = line["failure"]
                    if (kind, what) not in failures:
                        failures[kind, what] = {"kind": kind, "what": what, "text": text, "script": script}
                        print(f"\n{kind}: {what}: {text}\n{script}", file=sys.stderr)
                    continue
                state, ended = line, line["done"]
                told = f"{state['calls']} calls of {state['called']} of {state['of']} names"
                print(f"\r{state['seconds']:.0f} s, {told}, {len(failures)} failures ", end="", file=sys.stderr)
            if state:
                total["calls"] += state["calls"]
                for kind, count in state["errors"].items():
                    total["errors"][kind] = total["errors"].get(kind, 0) + count
                if state["slowest"][0] * 1000 > total["slowest_ms"]:
                    total["slowest_ms"], total["slowest"] = round(state["slowest"][0] * 1000, 1), state["slowest"][1]
                total["called"], total["of"] = state["called"], state["of"]
                total["memory_growth_mb"] = round(max(total["memory_growth_mb"], state["growth"]), 1)
            turn += 1
            # A process that died is started again with other programs, unless it failed before its first call.
            if (
                ended
                or not state
                or len(failures) >= MOST_FAILURES
                or time.monotonic() - started > seconds
                or turn > 20
            ):
                break
    if total["memory_growth_mb"] > GROWTH:
        text = f"{total['memory_growth_mb']} MB more than after the warm-up"
        failures["memory", ""] = {"kind": "memory", "what": "", "text": text, "script": ""}
    print(file=sys.stderr)
    total["failures"] = list(failures.values())
    total["seconds"] = round(time.monotonic() - started, 1)
    return total


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--calls", type=int, default=0, help="stop after so many calls, in place of minutes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="what the name begins with, such as Sampler.batch or torch.")
    parser.add_argument("--environment", choices=("core", "torch"), default="core", help="which modules")
    options = parser.parse_args()
    has_torch = importlib.util.find_spec("torch") is not None
    not_run = ["samedeal.torch: --environment torch"] if options.environment == "core" else []
    if options.environment == "torch" and not has_torch:
        print(json.dumps({"host": "python", "calls": 0, "failures": [], "not_run": ["torch is not installed"]}))
        return 1
    if options.environment == "torch":
        import generators_torch

        not_run += generators_torch.NOT_RUN
    modules = surface.TORCH if options.environment == "torch" else surface.CORE
    found = run(modules, options.seed, options.minutes * 60, options.only, options.calls)
    print(json.dumps({**found, "seed": options.seed, "not_run": not_run}))
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
