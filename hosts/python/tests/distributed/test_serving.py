"""Loader workers of the tests' own ranks: where they come from, and that none is left."""

from __future__ import annotations

import json
import time
from pathlib import Path

import forks
import pytest
from jobs import ranks, torchrun
from watch import lives

HERE = Path(__file__).parent


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
@pytest.mark.parametrize(("start", "end"), [(ranks, "end"), (ranks, "kill"), (torchrun, "kill")])
def test_workers_start_without_threads_and_end_with_their_rank(tmp_path: Path, start: object, end: str) -> None:
    job = start(1, HERE / "serving.py", tmp_path, end)  # type: ignore[operator]
    assert (job.returncode == 0) == (end == "end"), job.stderr
    rank, found = json.loads((tmp_path / "places.json").read_text())
    workers, parents, readers = (set(column) for column in zip(*found, strict=True))
    assert len(workers) == 4
    # The workers are forks, so they have not imported anything again.
    assert readers == {rank}
    assert len(parents) == 1
    assert (parents == {rank}) != forks.HANGS
    while any(map(lives, workers | parents)):
        time.sleep(0.01)
