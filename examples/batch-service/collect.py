"""Collects the results that count, by the log of the service: python collect.py LOG RESULTS."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from samedeal.ledger import FileLog, Replay


def collect(log: Path, results: Path) -> dict[int, str]:
    """The result of each sample.

    A file whose claim was not committed is a rest of a trainer that was stopped. Its samples were dealt again.
    """
    collected: dict[int, str] = {}
    for run in Replay(FileLog(log)).commits:
        for sample, result in json.loads((results / f"{run.claim}.json").read_text(encoding="utf-8")).items():
            if int(sample) in collected:
                raise SystemExit(f"sample {sample} was committed twice")
            collected[int(sample)] = result
    return collected


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(f"{len(collect(Path(sys.argv[1]), Path(sys.argv[2])))} samples, each committed once")
