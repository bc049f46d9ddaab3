"""Runs the commands in the README of an example, and compares their output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def environment() -> dict[str, str]:
    """The caller's environment, with the programs of the examples on the path."""
    folders = [Path(sys.executable).parent, Path(os.environ.get("SAMEDEAL_WAC", ROOT / "target/wac/bin"))]
    added = {
        "PATH": os.pathsep.join([*map(str, folders), os.environ["PATH"]]),
        # The cache of samedeal's compiled code.
        "XDG_CACHE_HOME": str(ROOT / "target/examples/cache"),
        # Errors of Rust programs come without a backtrace.
        "RUST_BACKTRACE": "0",
        "PYTHONUNBUFFERED": "1",
    }
    return {**os.environ, **added}


def commands(example: str) -> list[tuple[str, list[str]]]:
    """Each command of the README (after `$ ` in blocks of the language `console`), with its expected lines."""
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
    """The blocks of the language `sh`. A user pastes each of them into a terminal as a whole."""
    page = (EXAMPLES / example / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def run(example: str) -> list[str]:
    """Runs the commands in turn, and compares their output with the README. Returns the output of all of them."""
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
        # A command without expected lines must succeed. A failure with expected lines is intended.
        assert lines == shown if shown else done.returncode == 0, (
            f"$ {command}\n{done.stdout}\n(exit code {done.returncode})"
        )
        printed += lines
    return printed
