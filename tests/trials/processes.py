"""Training jobs of real processes, killed at any moment and resumed from their checkpoints on other world sizes.

Steps after the last checkpoint of a job are not in the model that continues, and are done again. So the steps of a life
count up to the checkpoint from which the next life continues; the steps of the last life count to its end. By these
steps, every sample of every epoch is trained on once, and padding is counted.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tally import Tally, require, same

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "hosts/python/tests"), str(HERE.parents[1] / "hosts/python/tests/started")]

import jobs  # noqa: E402

EPOCHS, GLOBAL_BATCH = 2, 12
"""The values of `job.py`."""
LIVES = 12
"""The largest number of lives in which a job is killed. After them it runs to its end."""
SIZES = (50, 1, 0, 47, 22)
"""Number of rows of each file."""


@dataclass(frozen=True)
class Life:
    """The time between two kills of a job."""

    world_size: int
    workers: int
    deaths: tuple[tuple[int, float], ...]
    """The ranks that are killed, and the seconds from the making of the process group to each kill."""


@dataclass(frozen=True)
class Drawn:
    """A job, with its lives."""

    kind: str
    batch_size: int
    every: int
    """Steps between checkpoints."""
    lives: tuple[Life, ...]


def draw(rng: random.Random) -> Drawn:
    """Draws a job."""
    kind = rng.choice(("torch", "feistel", "budget", "files", "steps"))
    lives = []
    for _ in range(LIVES):
        world_size = rng.choice((1, 2, 2, 3, 4) if kind == "steps" else (1, 2, 2, 3, 4, 5))
        victims = rng.sample(range(world_size), rng.choice((1, 1, world_size)))
        deaths = tuple(
            (rank, rng.choice((rng.random() * 0.1, rng.random() * 0.6, rng.random() * 1.5))) for rank in victims
        )
        lives.append(Life(world_size, rng.choice((0, 0, 1, 2)), deaths))
    return Drawn(kind, rng.choice((1, 2, 4)), rng.choice((1, 3, 7)), tuple(lives))


def run(drawn: Drawn) -> Tally:
    """Runs the lives of a job until all epochs are done, and checks the samples."""
    folder = Path(tempfile.mkdtemp())
    try:
        return _run(drawn, folder)
    finally:
        shutil.rmtree(folder)


def _run(drawn: Drawn, folder: Path) -> Tally:
    tally, samples = Tally(trials=1), sum(SIZES)
    tally.expected = EPOCHS * samples
    if drawn.kind == "files":
        _write(folder / "files")
    checkpoint = folder / "checkpoint.json"
    ends: list[tuple[int, Life, int | None]] = []
    """For each life that counts: its number, the life, and the step at which the next one continues."""
    for number in range(LIVES + 1):
        life = drawn.lives[number] if number < LIVES else Life(2, 1, ())
        options = {
            "kind": drawn.kind,
            "samples": samples,
            "files": str(folder / "files"),
            "batch_size": drawn.batch_size,
            "workers": life.workers,
            "every": drawn.every,
            "life": number,
            "deaths": {str(rank): seconds for rank, seconds in life.deaths},
            "checkpoint": str(checkpoint),
            "log": str(folder),
        }
        tally.resumptions += checkpoint.exists()
        done = jobs.ranks(life.world_size, HERE / "job.py", json.dumps(options))
        if done.returncode == 0:
            require(len(list(folder.glob(f"{number}-*.done"))) == life.world_size, "all ranks come to the end", done)
            ends.append((number, life, None))
            break
        require("SIGKILL" in done.stderr, "a rank ends only where it is killed", done.stderr[-3000:])
        tally.kills += life.world_size
        saved = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"life": None, "steps": 0}
        ends.append((number, life, saved["steps"] if saved["life"] == number else 0))
    _check(drawn, folder, ends, tally)
    return tally


def _write(folder: Path) -> None:
    folder.mkdir()
    first = 0
    for number, size in enumerate(SIZES):
        table = pa.table({"id": pa.array(range(first, first + size), pa.int64())})
        pq.write_table(table, folder / f"{number:03}.parquet", row_group_size=20)
        first += size


def _check(drawn: Drawn, folder: Path, ends: list[tuple[int, Life, int | None]], tally: Tally) -> None:
    epochs: list[list[int]] = [[] for _ in range(EPOCHS)]
    padding = [0] * EPOCHS
    for number, life, steps in ends:
        for rank in range(life.world_size):
            path = folder / f"{number}-{rank}.jsonl"
            # The kill may have cut off the last line.
            lines = path.read_text().split("\n")[:-1] if path.exists() else []
            counted = lines if steps is None else lines[:steps]
            require(
                steps is None or len(counted) == steps, "a checkpoint is of steps that all ranks took", number, rank
            )
            read: list[tuple[int, list[Any]]] = [json.loads(line) for line in lines]
            tally.samples += sum(len(got) for _, got in read)
            tally.redone += sum(len(got) for _, got in read[len(counted) :])
            for epoch, got in read[: len(counted)]:
                epochs[epoch] += got
    if drawn.kind == "steps":
        _check_steps(epochs[0], tally)
        return
    for epoch, found in enumerate(epochs):
        counts = Counter(found)
        repeated = Counter({sample: count - 1 for sample, count in counts.items() if count > 1})
        padding[epoch] = sum(repeated.values())
        same(counts.keys(), range(sum(SIZES)), f"every sample of epoch {epoch} is trained on")
        require(padding[epoch] == _padding(drawn, folder, ends, epoch), "padding is what is said", epoch, repeated)
    tally.repeated = sum(padding)


def _padding(drawn: Drawn, folder: Path, ends: list[tuple[int, Life, int | None]], epoch: int) -> int:
    """The number of repeated samples in an epoch. The life that reached its end padded the rest to a multiple of the
    number of its readers."""
    if drawn.kind == "budget":
        return 0
    before = 0
    for number, life, steps in ends:
        own = 0
        later = False
        for rank in range(life.world_size):
            path = folder / f"{number}-{rank}.jsonl"
            lines = path.read_text().split("\n")[:-1] if path.exists() else []
            read = [json.loads(line) for line in (lines if steps is None else lines[:steps])]
            own += sum(len(got) for at, got in read if at == epoch)
            later = later or any(at > epoch for at, _ in read)
        readers = life.world_size * (max(1, life.workers) if drawn.kind == "files" else 1)
        if later or steps is None:
            return -(sum(SIZES) - before) % readers if before < sum(SIZES) else 0
        before += own
        if before >= sum(SIZES):
            # Killed at the last steps of the epoch: if only padding is left, the next life does not read it.
            return before - sum(SIZES)
    raise AssertionError("some life comes to the end")


def _check_steps(found: list[int], tally: Tally) -> None:
    """Checks that steps go on across the end of an epoch: whole epochs have every sample once, and the last one is cut
    off."""
    samples = sum(SIZES)
    taken = EPOCHS * samples // GLOBAL_BATCH * GLOBAL_BATCH
    require(len(found) == taken, "all steps are taken once", len(found), taken)
    counts = Counter(found)
    short = EPOCHS * samples - taken
    same(
        (EPOCHS - counts[sample] for sample in range(samples) if counts[sample] != EPOCHS),
        [1] * short,
        "no sample comes twice in an epoch",
    )
    tally.dropped = short
