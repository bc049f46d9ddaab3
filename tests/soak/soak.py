"""A process of Python and one of Node work for a long time; their memory and latencies must stay constant.

soak.py [--minutes M] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from pathlib import Path

from judge import MEBIBYTE, Interval, judged

HERE = Path(__file__).resolve().parent
WORKERS = {
    "Python": [sys.executable, str(HERE / "work.py")],
    "Node": ["node", "--expose-gc", str(HERE / "work.mjs")],
}
INTERVALS = 60
"""Number of intervals in a run of up to an hour. In a longer run, an interval is a minute."""


def followed(name: str, seconds: float, found: dict[str, list[Interval]], failed: list[str]) -> None:
    """Runs a process to its end, and collects its measurements."""
    interval = min(60.0, seconds / INTERVALS)
    command = [*WORKERS[name], str(seconds), str(interval)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told: Interval = json.loads(line)
            found[name].append(told)
            if len(found[name]) % 10 == 1:
                print(f"{name:>8}  minute {told['seconds'] / 60:5.1f}  {told['rss'] / MEBIBYTE:7.1f} MiB", flush=True)
    if process.returncode:
        failed.append(f"{name} ended with {process.returncode}")


def run(seconds: float) -> tuple[dict[str, list[Interval]], list[str]]:
    """Runs all processes side by side; returns their measurements, and the errors."""
    found: dict[str, list[Interval]] = {name: [] for name in WORKERS}
    failed: list[str] = []
    threads = [threading.Thread(target=followed, args=(name, seconds, found, failed)) for name in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found, failed


def report(found: dict[str, list[Interval]]) -> bool:
    """Prints a table for each process; returns whether all verdicts hold."""
    good = True
    for name, intervals in found.items():
        verdicts = judged(intervals)
        operations = sum(each["operations"] for each in intervals)
        first, last = (intervals[at]["rss"] / MEBIBYTE for at in (len(intervals) // 2, -1))
        print(f"\n{name}: {intervals[-1]['seconds'] / 60:.1f} minutes, {operations:,} operations")
        print(f"memory {first:.1f} MiB in the middle, {last:.1f} MiB at the end\n")
        print("| what | grew by | limit | |\n|---|---:|---:|---|")
        for each in verdicts:
            failed = "" if each.holds else "FAILED"
            print(f"| {each.name} | {each.found:.2f} {each.unit} | {each.limit:g} {each.unit} | {failed} |")
        good = good and all(each.holds for each in verdicts)
    return good


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--json", type=Path, help="keeps what the processes told")
    options = parser.parse_args()
    found, failed = run(options.minutes * 60)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        part = options.json.with_suffix(".part")
        part.write_text(json.dumps(found))
        part.rename(options.json)
    if failed:
        print("\n".join(failed))
        return 1
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
