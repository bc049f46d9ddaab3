"""Random cases on the second implementation: `SAMEDEAL_CASES=folder python reference.py` prints a line per group."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

import samedeal_reference as reference
from test_reference import agree, failures, make, outcome, same

SECONDS = 2
"""Seconds of processor time for a case. A slower case is left out: the algorithms of this implementation are simple and
slow."""


class TooSlow(BaseException):
    """An error for a case that takes plain Python too long."""


def mismatch(case: dict[str, Any]) -> str | None:
    """The error of a case, or None."""
    for failure in failures(case):
        if not agree(failure):
            return f"the facts do not agree with the failure {failure}"
    try:
        subject = make(case)
    except reference.Failure as error:
        found = {"fails": vars(error)}
        if "fails" in case and same(found, case):
            return None
        return f"the constructor: {found}, and not {case.get('fails', 'an object')}"
    if "fails" in case:
        return f"the constructor succeeded, and not {case['fails']}"
    for i, call in enumerate(case["calls"]):
        found, subject = outcome(call, subject)
        if not same(found, call):
            return f"call {i}: {call}, and not {found}"
    return None


def give_up(_number: int, _frame: object) -> None:
    raise TooSlow


def main() -> int:
    """Runs every case of a folder."""
    signal.signal(signal.SIGPROF, give_up)
    all_failed = 0
    for path in sorted(Path(os.environ["SAMEDEAL_CASES"]).glob("*.json")):
        passed = failed = slow = 0
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            wrong: str | None
            try:
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                wrong = mismatch(case)
                signal.setitimer(signal.ITIMER_PROF, 0)
            except TooSlow:
                slow += 1
                continue
            except Exception as error:  # A fault of the second implementation is a finding; the other cases still run.
                signal.setitimer(signal.ITIMER_PROF, 0)
                wrong = f"{type(error).__name__}: {error}"
            if wrong is None:
                passed += 1
            else:
                failed += 1
                line = " ".join(wrong.split("\n"))
                print(f"{path.stem}: {case['name']}: {line[:2000]}", file=sys.stderr)
        print("matrix", "second implementation", path.stem, passed, failed, slow, sep="\t", flush=True)
        all_failed += failed
    return 1 if all_failed else 0


if __name__ == "__main__":
    sys.exit(main())
