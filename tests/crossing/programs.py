"""The programs of all hosts: each reads a request from a file, prints lines, and may be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/crossing"
Line = dict[str, Any]

COMMANDS: dict[str, list[object]] = {
    "rust": [ROOT / "target/engine/debug/crossing-rust"],
    "python": [sys.executable, HERE / "host.py"],
    "node": ["node", HERE / "node.mjs"],
    "chromium": ["node", HERE / "page.mjs"],
    "firefox": ["node", HERE / "page.mjs"],
    "command": [sys.executable, HERE / "command.py"],
}
BROWSERS = ("chromium", "firefox")


@dataclass
class Told:
    """The lines of a program before it ended or was killed."""

    engine: str
    lines: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    """The lines of each job, by its id."""

    def reads(self, job: str) -> list[Any]:
        """The answers of each step of a job."""
        found = [line for line in self.lines[job] if "step" in line]
        assert [line["step"] for line in found] == list(range(len(found))), f"{job}: steps are missing"
        return [line["read"] for line in found]

    def states(self, job: str) -> list[str]:
        """The states after the steps of a job."""
        return [line["state"] for line in self.lines[job] if "state" in line]

    def last(self, job: str) -> Line:
        """The last line of a job."""
        return self.lines[job][-1] if self.lines[job] else {}


@dataclass
class Request:
    """The request for a program.

    If it has turns, the program is killed when it has printed `kill_after` steps, while it does a later one.
    """

    folder: Path
    jobs: list[Line] = field(default_factory=list)
    turns: list[Line] = field(default_factory=list)
    kill_after: int = 0

    def saved(self, name: str) -> Path:
        """The path at which the program saves a document."""
        return self.folder / f"{name}.json"


def job(case: dict[str, Any], name: str, **given: Any) -> dict[str, Any]:
    """A job of a request."""
    usual = {"from": "", "to": "", "world_size": None, "workers": None, "states": False, "replay": False}
    return {"id": name, "case": case, **usual, "log": "", "readers": [], "lease": 0, **given}


def run(host: str, request: Request) -> Told:
    """Runs the program of a host; returns its lines."""
    folder, turns = request.folder, request.turns
    folder.mkdir(parents=True)
    path = folder / "request.json"
    path.write_text(json.dumps({"jobs": request.jobs, "turns": turns}))
    command = [*COMMANDS[host], path, *([host] if host in BROWSERS else [])]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    with (folder / "errors").open("w+") as errors:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            # A new process group, so that all processes that it starts are killed with it.
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            begun = json.loads(process.stdout.readline() or "{}")
            told = Told(begun.get("engine", ""))
            steps, killed = 0, False
            for text in process.stdout:
                # The last line of a killed program can be incomplete.
                if not text.endswith("\n"):
                    break
                line = json.loads(text)
                if "job" in line:
                    told.lines[line["job"]].append(line)
                steps += "step" in line
                if turns and not killed and (steps == request.kill_after or "waits" in line):
                    os.killpg(begun["pid"], signal.SIGKILL)
                    killed = True
        finally:
            assert process.stdin is not None
            # A program that still runs because the test failed ends now.
            process.stdin.close()
            code = process.wait()
        errors.seek(0)
        if turns:
            # The server of a page survives the kill of the browser.
            assert code == (1 if host in BROWSERS else -signal.SIGKILL), f"{host} ended with {code}: {errors.read()}"
        else:
            assert code == 0, f"{host} ended with {code}: {errors.read()}"
    return told
