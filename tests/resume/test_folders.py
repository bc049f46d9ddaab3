"""A ledger in a folder that readers in Python and in Node share, some of whom are killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from samedeal import Sampler
from samedeal.ledger import FolderLog, Schedule

SAMPLES, BLOCK, LEASE = 400, 10, 1.0
PYTHON = """
import sys, time
from samedeal import ContradictionError, Sampler
from samedeal.ledger import FolderLog, Ledger

path, (reader, samples, block), (lease, seconds) = sys.argv[1], map(int, sys.argv[2:5]), map(float, sys.argv[5:])
for claim in Ledger(Sampler(samples, seed=5), FolderLog(path), reader=reader, block=block, lease=lease):
    start, count = claim.start, len(claim)
    time.sleep(seconds * count)
    claim.commit()
    print(start, count, flush=True)
"""


def begun(language: str, path: Path, reader: int, seconds: float) -> subprocess.Popen[str]:
    """A reader for which each sample takes so long."""
    program = {"node": ["node", str(Path(__file__).with_name("claim.mjs"))], "python": [sys.executable, "-c", PYTHON]}
    command = [*program[language], str(path), *map(str, (reader, SAMPLES, BLOCK, LEASE, seconds))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def numbers(line: str) -> tuple[int, int]:
    """The start and the count of a run."""
    start, count = map(int, line.split())
    return start, count


def test_readers_of_both_languages_commit_every_sample_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    languages = ["node", "python", "node", "python"]
    readers = [begun(language, path, number, 0.002) for number, language in enumerate(languages)]
    found: list[list[tuple[int, int]]] = [[], [], [], []]
    # One of each language dies after its first commit, most likely with a claim in its hands.
    for number in (0, 1):
        output = readers[number].stdout
        assert output is not None
        found[number].append(numbers(output.readline()))
        readers[number].kill()
    for number, process in enumerate(readers):
        found[number] += [numbers(line) for line in process.communicate(timeout=600)[0].splitlines()]
        assert (process.returncode == 0) == (number > 1)
    assert all(found)
    names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
    assert names == [f"{number:016}.json" for number in range(len(names))]
    schedule = Schedule(FolderLog(path))
    assert schedule.progress().finished
    # Those that were killed may not have said all that they committed.
    committed = {(run.reader, run.start, run.count) for run in schedule.commits}
    assert committed >= {(number, *run) for number, runs in enumerate(found) for run in runs}
    assert sorted(position for _, start, count in committed for position in range(start, start + count)) == [
        *range(SAMPLES)
    ]
    # Node replays what Python replays.
    script = (
        "import { replayLedger, Sampler } from './dist/index-files.js'; import { FolderLog } from './dist/node.js';"
        "const schedule = replayLedger(await new FolderLog(process.argv[1]).entries());"
        f"console.log(JSON.stringify([...schedule.samples(new Sampler({SAMPLES}, {{ seed: 5 }}))]));"
    )
    host = Path(__file__).resolve().parents[2] / "hosts/js"
    command = ["node", "--input-type=module", "-e", script, str(path)]
    done = subprocess.run(command, cwd=host, capture_output=True, text=True, check=True)
    own = [sample for run in schedule.replay(Sampler(SAMPLES, seed=5)) for sample in run.tolist()]
    assert json.loads(done.stdout) == own
