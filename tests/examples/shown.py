"""Runs what the README of an example shows: the commands, and what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def environment() -> dict[str, str]:
    """That of the caller, with the programs that the examples name on the path."""
    folders = [Path(sys.executable).parent, Path(os.environ.get("SAMEDEAL_WAC", ROOT / "target/wac/bin"))]
    added = {
        "PATH": os.pathsep.join([*map(str, folders), os.environ["PATH"]]),
        # Where samedeal keeps what it has compiled.
        "XDG_CACHE_HOME": str(ROOT / "target/examples/cache"),
        # Errors of programs in Rust without the places in their sources.
        "RUST_BACKTRACE": "0",
        "PYTHONUNBUFFERED": "1",
    }
    return {**os.environ, **added}


def commands(example: str) -> list[tuple[str, list[str]]]:
    """Each command of the README, after `$ ` in blocks of the language `console`, with the lines that it prints."""
    page = (EXAMPLES / example / "README.md").read_text(encoding="utf-8")
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found[-1][0].endswith("\\"):
                found[-1] = (f"{found[-1][0]}\n{line}", [])
            else:
                found[-1][1].append(line)
    assert found, f"{example}: its README shows no command"
    return found


def scripts(example: str) -> list[str]:
    """The blocks of the language `sh`, each of which a user pastes into a terminal as a whole."""
    page = (EXAMPLES / example / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def run(example: str) -> list[str]:
    """Runs the commands in turn, and compares what they print with what is shown. Returns what all of them print."""
    printed: list[str] = []
    for command, shown in commands(example):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=EXAMPLES / example,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        lines = done.stdout.splitlines()
        # A command whose output is not shown must succeed. A failure that is shown is meant.
        assert lines == shown if shown else done.returncode == 0, (
            f"$ {command}\n{done.stdout}\n(exit code {done.returncode})"
        )
        printed += lines
    return printed
