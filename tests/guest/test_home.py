"""Every host in a home with many files of a user, where all variables for folders point into this home: no file
changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
HANG = 1800
"""Seconds after which a process counts as hung."""
FOLDER = "samedeal-engine-v1"
PLACES = {
    "HOME": ".",
    "XDG_CACHE_HOME": "caches",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "XDG_RUNTIME_DIR": "run",
    "TMPDIR": "tmp",
    "TMP": "tmp",
    "TEMP": "tmp",
    "LOCALAPPDATA": "Local",
    "APPDATA": "Roaming",
    "USERPROFILE": ".",
    "CARGO_HOME": "cargo",
    "HF_HOME": "huggingface",
    "TORCH_HOME": "torch",
}
"""Variables, and the folders that they name."""
PYTHON = """
import sys
from pathlib import Path
from samedeal import Batcher, Sampler, ShardPlan
from samedeal.ledger import FileLog, FolderLog, Ledger
from samedeal.torch import Resumable, ShardedDataset
from torch.utils.data import DataLoader

home = Path(sys.argv[1])
print(Sampler(100, seed=1, order="torch").indices().sum(), ShardPlan([4, 5, 6]).shards(0))
print(sum(1 for _ in Batcher([3, 4, 5] * 9, strategy="budget", max_tokens=32)))
for log in FileLog(home / "runs/epoch.log"), FolderLog(home / "runs/epoch"):
    for claim in Ledger(Sampler(64), log, reader=0, block_size=16):
        pass
dataset = ShardedDataset(home / "shards", batch_size=8)
for workers in 0, 2:
    loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))
    for number, batch in enumerate(loader):
        if number == 3:
            loader.state_dict()
"""
NODE = """
import { readdir } from 'node:fs/promises';
import { Batcher, openLedger, Sampler } from 'INDEX';
import { FolderLog } from 'NODE';

const home = process.argv[1];
console.log(new Sampler(100, { seed: 1 }).indices(0, 3).length);
const ledger = await openLedger(new Sampler(64), new FolderLog(`${home}/runs/node`), { reader: 0, blockSize: 16 });
for (let claim = await ledger.claim(); claim; claim = await ledger.claim()) await claim.commit();
"""
COMMANDS = """
indices --samples=100 --order=torch --count=5
indices --samples=100 --format=npy --output=runs/indices.npy
state --samples=100 --taken=12
recipe --samples=100
batches lengths.json --lengths --max-tokens=32
blend --source=web:900:7 --source=books:100:3 --samples=1000
fingerprint --samples=100
locate --samples=100 --sample=3
mesh dp=2 tp=2 --shard=dp
shards shards --world-size=2
split --samples=100 --part=test:1 --part=training:9
verify --samples=100 --world-size=3
"""


@pytest.fixture(params=["apart", "at once"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home with files that a program could mistake for a cache, a temporary file or a log."""
    home = tmp_path / "home"
    folders = {*PLACES.values(), "project/.git", "shards", "runs", "caches/samedeal/modules", ".cache/samedeal/modules"}
    folders |= {".cache/wasmtime", "caches/wasmtime/modules", "tmp/samedeal", ".config/wasmtime", "config/wasmtime"}
    for folder in folders:
        (home / folder).mkdir(parents=True, exist_ok=True)
    for folder in [home, *(path for path in home.rglob("*") if path.is_dir())]:
        for name in (
            "main.py",
            "model.safetensors",
            ".main.py.1234.partial",
            "wasmtime.toml",
            "0000000000000000.json",
            "a.tmp",
        ):
            if folder.name not in ("shards", "runs"):
                (folder / name).write_text(f"text of {name}\n")
    (home / "config/wasmtime/config.toml").write_text(f'[cache]\ndirectory = "{home / "project"}"\n')
    os.mkfifo(home / "pipe")
    (home / "link").symlink_to("project")
    (home / "project/run.sh").write_text("#!/bin/sh\n")
    (home / "project/run.sh").chmod(0o750)
    (home / "lengths.json").write_text(json.dumps([3, 4, 5] * 9))
    for number in range(4):
        pq.write_table(pa.table({"x": np.arange(40) + number}), home / f"shards/{number}.parquet")
    for path in sorted(home.rglob("*"), reverse=True):
        os.utime(path, (1_700_000_000, 1_700_000_000), follow_symlinks=False)
    return home


@pytest.fixture
def environment(request: pytest.FixtureRequest, home: Path) -> dict[str, str]:
    """Variables that name a folder each, or all the same folder, which is in use."""
    together = request.node.callspec.params["home"] == "at once"
    places = {name: str(home / ("project" if together else folder)) for name, folder in PLACES.items()}
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, **places, "PYTHONDONTWRITEBYTECODE": "1"}


def everything_in(home: Path) -> dict[str, tuple[object, ...]]:
    """Names, kinds and modes of all files; also times and contents, except for folders."""
    found: dict[str, tuple[object, ...]] = {}
    for path in [home, *home.rglob("*")]:
        known = path.lstat()
        is_file = path.is_file() and not path.is_symlink()
        time = None if path.is_dir() and not path.is_symlink() else known.st_mtime_ns
        found[str(path.relative_to(home))] = (known.st_mode, time, path.read_bytes() if is_file else None)
    return found


def run(words: list[str], home: Path, environment: dict[str, str]) -> str:
    """The output of a program that is run in the home."""
    done = subprocess.run(words, env=environment, cwd=home, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def test_no_host_changes_a_file(home: Path, environment: dict[str, str]) -> None:
    before = everything_in(home)
    for _ in range(2):
        run([sys.executable, "-c", PYTHON, str(home)], home, environment)
        run(
            [str(ROOT / "target/engine/debug/examples/claim"), *["runs/rust", "0", "64", "16", "60", "0"]],
            home,
            environment,
        )
        script = NODE.replace("INDEX", str(ROOT / "hosts/js/dist/index-files.js"))
        script = script.replace("NODE", str(ROOT / "hosts/js/dist/node.js"))
        run(["node", "--input-type=module", "-e", script, str(home)], home, environment)
        for command in COMMANDS.strip().splitlines():
            over_component, native = (
                run([str(ROOT / f"target/{build}/samedeal"), *command.split()], home, environment)
                for build in ("engine/debug", "debug")
            )
            assert over_component == native, command
    after = everything_in(home)
    made = {name for name in after if name not in before}
    caches = Path(environment["XDG_CACHE_HOME"]).relative_to(home) / FOLDER
    assert {name for name in made if not name.startswith((f"{caches}/", "runs/"))} == {str(caches)}
    assert {Path(name).name for name in made if name.startswith("runs/") and name.count("/") == 1} == {
        "epoch.log",
        "epoch",
        "node",
        "rust",
        "indices.npy",
    }
    assert {name: known for name, known in after.items() if name in before} == before
    kinds = {name.partition("-")[0] for path in (home / caches).iterdir() for name in [path.name]}
    assert kinds == {"CACHEDIR.TAG", "python", "rust"}
