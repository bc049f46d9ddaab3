"""Ranks that are compared in the middle of a pass after one of them was replaced."""

from __future__ import annotations

import json
from pathlib import Path

from jobs import ranks

HERE = Path(__file__).parent
FIELDS = {"samples": "consumed", "batches": "history", "steps": "step", "endless": "step", "files": "consumed"}


def test_a_replaced_rank_is_where_the_others_are(tmp_path: Path) -> None:
    run = ranks(2, HERE / "replacing.py", tmp_path)
    assert run.returncode == 0, run.stderr
    told, other = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    assert told == other
    for kind, (by_loader, by_sampler) in told.items():
        name, workers, counted, steps = kind.split(", ")[:4]
        known = counted == "counted" or workers == "0 workers"
        if steps == "2 of 3" and known:
            assert by_loader.startswith(FIELDS[name]), (kind, by_loader)
            assert by_sampler.startswith(FIELDS[name]), (kind, by_sampler)
        else:
            # There is no error if the rank has not read a batch yet: a rank that begins its first pass looks the same.
            assert (by_loader, by_sampler) == (None, None), (kind, by_loader, by_sampler)
