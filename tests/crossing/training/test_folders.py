"""A ledger in a folder that readers in Python, Node and Rust share, some of which are killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from samedeal import Sampler
from samedeal.ledger import FolderLog, Replay

ROOT = Path(__file__).resolve().parents[3]
SAMPLES, BLOCK, LEASE, SECONDS = 1200, 10, 1.0, 0.005
PYTHON = """
import sys, time
from samedeal import ContradictionError, Sampler
from samedeal.ledger import FolderLog, Ledger

path, (reader, samples, block_size), (lease, seconds) = sys.argv[1], map(int, sys.argv[2:5]), map(float, sys.argv[5:])
for claim in Ledger(Sampler(samples, seed=5), FolderLog(path), reader=reader, block_size=block_size, lease=lease):
    start, count = claim.start, len(claim)
    time.sleep(seconds * count)
    claim.commit()
    print(start, count, flush=True)
"""


def begun(language: str, path: Path, reader: int, samples: int = SAMPLES) -> subprocess.Popen[str]:
    """A reader that works on each sample for `SECONDS`."""
    program = {
        "node": ["node", str(Path(__file__).with_name("claim.mjs"))],
        "python": [sys.executable, "-c", PYTHON],
        "rust": [str(ROOT / "target/debug/examples/claim")],
    }
    command = [*program[language], str(path), *map(str, (reader, samples, BLOCK, LEASE, SECONDS))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def numbers(line: str) -> tuple[int, int]:
    """The start and the count of a run."""
    start, count = map(int, line.split())
    return start, count


def first_run(reader: subprocess.Popen[str]) -> tuple[int, int]:
    """The first run that a reader commits."""
    assert reader.stdout is not None
    return numbers(reader.stdout.readline())


def test_readers_of_all_languages_commit_every_sample_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    # The debug build of the Rust host needs long to compile the component, once on a machine.
    begun("rust", tmp_path / "compiled", 0, samples=1).communicate(timeout=600)
    # Readers in Rust start last, because they are so fast that they would leave nothing to the others.
    readers = [begun(language, path, number) for number, language in enumerate(["node", "python"] * 2)]
    found = [[first_run(reader)] for reader in readers]
    readers += [begun("rust", path, number) for number in (4, 5)]
    found += [[first_run(reader)] for reader in readers[4:]]
    # One reader of each language is killed after a commit, most likely while it has a claim.
    killed = (0, 1, 4)
    for number in killed:
        readers[number].kill()
    for number, process in enumerate(readers):
        found[number] += [numbers(line) for line in process.communicate(timeout=600)[0].splitlines()]
        assert (process.returncode == 0) == (number not in killed)
    names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
    assert names == [f"{number:016}.json" for number in range(len(names))]
    replay = Replay(FolderLog(path))
    assert replay.progress().finished
    # Killed readers may not have printed all of their commits.
    committed = {(run.reader, run.start, run.count) for run in replay.commits}
    assert committed >= {(number, *run) for number, runs in enumerate(found) for run in runs}
    assert sorted(position for _, start, count in committed for position in range(start, start + count)) == [
        *range(SAMPLES)
    ]
    # Node's replay is the same as Python's.
    script = (
        "import { replayLedger, Sampler } from './dist/index-files.js'; import { FolderLog } from './dist/node.js';"
        "const replay = replayLedger(await new FolderLog(process.argv[1]).entries());"
        f"console.log(JSON.stringify([...replay.samples(new Sampler({SAMPLES}, {{ seed: 5 }}))]));"
    )
    command = ["node", "--input-type=module", "-e", script, str(path)]
    done = subprocess.run(command, cwd=ROOT / "hosts/js", capture_output=True, text=True, check=True)
    own = [sample for run in replay.samples(Sampler(SAMPLES, seed=5)) for sample in run.tolist()]
    assert json.loads(done.stdout) == own
    # The command's replay is the same, too. It is written in Rust.
    command = [str(ROOT / "target/debug/samedeal"), "ledger", str(path), "--reader=0", "--readers=1", "--format=text"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == own
