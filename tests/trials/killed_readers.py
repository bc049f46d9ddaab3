"""Ledgers in a file, read by processes: some are killed at any moment, some are too slow for their lease."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ledgers import committed
from samedeal import Sampler
from samedeal.ledger import FileLog, Replay
from tally import Tally, require

READER = Path(__file__).resolve().with_name("reader.py")
HANG = 600
"""Seconds after which a reader counts as hung."""


@dataclass(frozen=True)
class Drawn:
    """An epoch, and the speeds and kills of its readers."""

    samples: int
    block_size: int
    lease: float
    speeds: tuple[float, ...]
    """For each reader: the seconds that a sample takes."""
    deaths: tuple[tuple[float, int], ...]
    """For each kill: the pause before it, and the reader. Another process takes its number."""


def draw(rng: random.Random) -> Drawn:
    """Draws a trial."""
    speeds = tuple(rng.choice((0.0005, 0.002, 0.01)) for _ in range(rng.randint(1, 3)))
    deaths = tuple((rng.random() * 0.5, rng.randrange(len(speeds))) for _ in range(rng.randint(1, 4)))
    return Drawn(rng.randint(50, 300), rng.choice((1, 8, 40)), rng.choice((0.2, 1.0, 60.0)), speeds, deaths)


def run(drawn: Drawn) -> Tally:
    """Reads the epoch and kills readers. Then checks the log, and the commits that the readers recorded."""
    with tempfile.TemporaryDirectory() as folder:
        return _run(drawn, Path(folder))


def _run(drawn: Drawn, folder: Path) -> Tally:
    tally = Tally(trials=1, expected=drawn.samples)
    path = folder / "log"
    lives = 0

    def begun(number: int) -> subprocess.Popen[bytes]:
        nonlocal lives
        lives += 1
        numbers = (number, drawn.samples, drawn.block_size, drawn.lease, drawn.speeds[number])
        command = [sys.executable, READER, path, folder / f"own-{number}-{lives}", *map(str, numbers)]
        return subprocess.Popen(command, stderr=subprocess.PIPE)

    running = [begun(number) for number in range(len(drawn.speeds))]
    try:
        for pause, number in drawn.deaths:
            time.sleep(pause)
            process = running[number]
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                tally.kills += 1
            code = process.wait(HANG)
            told = b"" if process.stderr is None else process.stderr.read()
            require(code in (0, -signal.SIGKILL), "a reader ends only where it is killed", told.decode()[-2000:])
            tally.resumptions += 1
            running[number] = begun(number)
        for process in running:
            told = process.communicate(timeout=HANG)[1]
            require(process.returncode == 0, "a reader comes to the end", told.decode()[-2000:])
    finally:
        for process in running:
            process.kill()
            process.wait()
    by_log = committed(path.read_text().splitlines())
    require(sorted(by_log) == list(range(drawn.samples)), "every position is committed once", by_log)
    known: dict[int, int] = {}
    for record in folder.glob("own-*"):
        reader = int(record.name.split("-")[1])
        for line in record.read_text().split("\n")[:-1]:
            start, count = map(int, line.split())
            for position in range(start, start + count):
                require(position not in known, "two readers were told that they committed a position", position)
                known[position] = reader
    require(
        all(by_log[position] == reader for position, reader in known.items()), "the log and the readers agree", known
    )
    # A killed reader may not have received the answer to its last commit.
    unheard = drawn.samples - len(known)
    require(unheard <= tally.kills * drawn.block_size, "a reader that lives hears of its commits", unheard)
    sampler = Sampler(drawn.samples, seed=5)
    replayed = [sample for part in Replay(FileLog(path)).samples(sampler) for sample in part.tolist()]
    require(sorted(replayed) == list(range(drawn.samples)), "the replay has every sample once", replayed)
    tally.samples = len(replayed)
    return tally
