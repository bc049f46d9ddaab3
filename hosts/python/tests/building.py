"""A process that builds an index and is killed in the middle: `building.py FOLDER 1|2|ray [PARTS [group]]`.

The process is killed after it has planned PARTS parts, alone or with its process group. Without PARTS, it prints how
many parts it has planned.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from limits import HANG
from samedeal import Batcher, build_index

PARTS = 20
"""Number of parts of the index. Each part has one window."""
OPTIONS: dict[str, Any] = {"max_tokens": 2048, "world_size": 2, "batch_window": 2048}


def batcher(folder: Path) -> Batcher:
    """The batcher whose index is built."""
    return Batcher(np.load(folder / "lengths.npy", mmap_mode="r"), **OPTIONS)


def on_ray(plan: Any, parts: list[Any]) -> Iterator[str]:
    """A `map` function over Ray Data, as in the tutorial."""
    import ray

    rows = ray.data.from_items([{"part": part} for part in parts], override_num_blocks=PARTS // 4)
    for row in rows.map(lambda row: {"index": plan(row["part"])}).iter_rows():
        yield row["index"]


def check_that_it_goes_on(how: str, folder: Path, victim: str, **environment: str) -> None:
    """Kills a process that builds an index, removes two of its parts, and lets another process build the rest."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        # The process gets a process group of its own, which can be killed as a whole. Its output is read until the last
        # process of the group has ended.
        words = [sys.executable, __file__, str(folder), how, *arguments]
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=HANG,
            env=os.environ | environment,
            start_new_session=True,
            check=False,
        )

    lengths = np.random.default_rng(3).integers(1, 300, 2048 * PARTS, dtype=np.uint32)
    np.save(folder / "lengths.npy", lengths)
    killed = run("9", *(["group"] if victim == "group" else []))
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    assert not (folder / "plan.json").exists()
    parts = sorted(folder.glob("plan.json.*.parts/*-1-*.json"))
    assert len(parts) == 9
    parts[3].unlink()
    parts[5].write_text(parts[5].read_text()[:-9])
    rest = run()
    assert rest.returncode == 0, rest.stdout + rest.stderr
    assert rest.stdout.split()[-1] == str(PARTS - 7)
    assert {path.name for path in folder.iterdir()} == {"lengths.npy", "plan.json"}
    assert (folder / "plan.json").read_text() == Batcher(lengths, **OPTIONS).index(0, PARTS) + "\n"


def main(folder: Path, how: str, death: int | None, victim: int) -> None:
    """Builds the index in one of three ways, and kills itself after a number of parts."""
    if how == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80 * 2**20, log_to_driver=False)
    planned = 0

    def progress(done: int, windows: int) -> None:
        nonlocal planned
        planned += 1
        if planned == death:
            os.kill(victim, signal.SIGKILL)

    build_index(batcher(folder), folder / "plan.json", workers=on_ray if how == "ray" else int(how), progress=progress)
    print(planned)


if __name__ == "__main__":
    # `os.kill` takes a negative number as a process group.
    group = -os.getpgrp() if sys.argv[4:] else os.getpid()
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else None, group)
