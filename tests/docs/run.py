"""Runs the blocks of a page in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from pages import ROOT, Block

sys.path.append(str(ROOT / "hosts/python/tests"))

import watch

COMMANDS = ("samedeal", "python", "torchrun", "accelerate", "node", "cat", "ls")
"""The first words that a command may have in blocks of the language `console`."""
SHARDS = 3
ROWS = 100
"""Numbers for the dataset `shards`, which each folder has: its files, and the rows of a file."""


def folder(path: Path) -> Path:
    """Makes a folder with everything that pages use: the dataset `shards`, and the npm package."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (path / "shards").mkdir(parents=True)
    for shard in range(SHARDS):
        ids = range(ROWS * shard, ROWS * (shard + 1))
        texts = [" ".join(["word"] * (1 + i * 37 % 50)) for i in ids]
        table = pa.table({"id": ids, "text": texts, "length": [1 + i * 37 % 50 for i in ids]})
        pq.write_table(table, path / "shards" / f"{shard}.parquet")
    modules = path / "node_modules"
    modules.mkdir()
    (modules / "samedeal").symlink_to(ROOT / "hosts/js")
    for name in ("apache-arrow", "esbuild", "hyparquet", "hyparquet-compressors", "hyparquet-writer"):
        (modules / name).symlink_to(ROOT / "hosts/js/node_modules" / name)
    shutil.copy(ROOT / "tests/bench/data/kjv-lengths.json", path / "lengths.json")
    return path


def environment(path: Path) -> dict[str, str]:
    """The caller's environment without the variables of a launcher, with the programs of this environment and the
    command."""
    launcher = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    kept = {name: value for name, value in os.environ.items() if name not in launcher}
    folders = [str(ROOT / "target/debug"), str(Path(sys.executable).parent), os.environ["PATH"]]
    # The cache of compiled components is kept, because the debug build of the command needs many seconds to compile
    # one.
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    quiet = {
        # One thread for each process: the processes of a page share few cores.
        "OMP_NUM_THREADS": "1",
        # Some libraries write to the home directory, print colours, and report their use.
        "HOME": str(path),
        "NO_COLOR": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        # Ray must not watch for machines that a cloud takes away. Workers get time to start, because the machine may be
        # busy.
        "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
        "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "600",
        # Ray notices the end of a job early.
        "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.2",
        # Ray starts no process in advance.
        "RAY_enable_worker_prestart": "0",
        "RAY_prestart_worker_first_driver": "0",
        # Ray's workers get as much of a busy machine as other processes do.
        "RAY_worker_niceness": "0",
        "XDG_CACHE_HOME": cache,
    }
    return {**kept, **quiet, "PATH": os.pathsep.join(folders)}


def finished(words: list[str | Path], path: Path) -> subprocess.CompletedProcess[str]:
    return watch.run(words, cwd=path, env=environment(path))


def call(words: list[str | Path], path: Path, where: str) -> str:
    """The output of a program, which must succeed."""
    done = finished(words, path)
    assert done.returncode == 0, f"{where}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def python(blocks: list[Block], path: Path) -> None:
    """Runs blocks of Python as one session."""
    given = path / ".session.json"
    given.write_text(json.dumps([{"where": block.where, "code": block.code} for block in blocks]), encoding="utf-8")
    call([sys.executable, ROOT / "tests/docs/session.py", given], path, blocks[0].where)


def javascript(block: Block, path: Path) -> None:
    """Runs a block as a module. Its output must be in its comments, after statements or at the beginning of lines."""
    script = path / "block.mjs"
    script.write_text(block.code, encoding="utf-8")
    printed = call(["node", script], path, block.where)
    shown = re.findall(r"(?:;|^) ?// (.*)$", block.code, re.MULTILINE)
    assert printed.splitlines() == shown, f"{block.where} prints\n{printed}"


def typescript(block: Block, path: Path) -> None:
    """Checks the types of a block."""
    script = path / "block.mts"
    script.write_text(block.code, encoding="utf-8")
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"]
    call([ROOT / "hosts/js/node_modules/.bin/tsc", *options, "--types", "", script], path, block.where)


def console(block: Block, path: Path) -> None:
    """Runs the commands of a block, each with its expected lines. A line `...` stands for any number of lines."""
    found: list[tuple[str, list[str]]] = []
    for line in block.code.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        else:
            found[-1][1].append(line.rstrip())
    for command, shown in found:
        assert command.split()[0] in COMMANDS, f"{block.where}: {command}"
        done = finished(["bash", "-euo", "pipefail", "-c", command], path)
        # A job whose whole expected output was printed has succeeded, even if it crashed at shutdown.
        is_through = bool(shown) and command.startswith("torchrun ") and crashed_at_shutdown(done.stderr)
        assert done.returncode == 0 or is_through, f"{block.where}: $ {command}\n{done.stdout}\n{done.stderr}"
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        if shown:
            assert matches(shown, lines), f"{block.where}: $ {command}\n" + "\n".join(lines)


def crashed_at_shutdown(errors: str) -> bool:
    """Whether threads of Gloo ended PyTorch during the shutdown of Python (pytorch/pytorch#179291), without an earlier
    error."""
    before, crash, _ = errors.partition("terminate called without an active exception")
    return bool(crash) and "Traceback" not in before


def matches(shown: list[str], lines: list[str]) -> bool:
    """Whether the printed lines match the expected ones."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def program(block: Block, path: Path) -> None:
    """Writes a block with a title to a file, which a command of the page runs."""
    assert block.title is not None
    target = path / block.title
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(block.code, encoding="utf-8")
