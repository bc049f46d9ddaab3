"""Runs programs, and ends those that stand still.

A program stands still if all its processes together have used almost no processor time for two minutes, and none of
them waited for a processor or a disk. The time of a clock does not count, so a busy machine ends no program.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Mapping
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

STILL = 120
"""Number of looks, one a second, in which a program that stands still makes no progress."""
IDLE = 0.03
"""The share of a processor that loops use in which processes wait for each other. It is 0.7 % for two ranks under
`torchrun`."""
RUNNABLE = 0.5
"""The share of looks that may find such a loop at work. It is up to 30 % where six processes share a core. A program
that works is always found at work."""
MOST = 1800
"""Seconds of processor time after which a program counts as hung. Without /proc they are seconds of a clock."""
PROC = Path("/proc")
STARTED = Path(__file__).parent / "started"


class StandsStillError(AssertionError):
    """A program makes no progress."""


class Progress:
    """Whether a program makes progress, from the looks at it."""

    def __init__(self, still: int = STILL) -> None:
        self._used: deque[float] = deque(maxlen=still + 1)
        self._runnable: deque[bool] = deque(maxlen=still)
        self._still = still

    def stands(self, used: float, runnable: bool) -> bool:
        """Adds a look: seconds of processor time, and whether a process could run or waited for a disk."""
        self._used.append(used)
        self._runnable.append(runnable)
        # When a process ends and nobody waits for it, its time is gone, which is progress too.
        moved = max(self._used) - min(self._used)
        return (
            len(self._used) > self._still
            and moved < IDLE * self._still
            and sum(self._runnable) < RUNNABLE * self._still
        )


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables (default: those of this process) with which Python programs print their stacks when they are asked."""
    known = dict(os.environ if variables is None else variables)
    return known | {"PYTHONPATH": os.pathsep.join(filter(None, (str(STARTED), known.get("PYTHONPATH"))))}


def run(
    words: Iterable[Any], *, cwd: Any = None, env: Mapping[str, str] | None = None, still: int = STILL
) -> subprocess.CompletedProcess[str]:
    """Runs a program, as `subprocess.run` does with captured output. If it stands still, it is killed with all
    processes that it has started, and the error has their stacks."""
    command = [*map(str, words)]
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "out"), Path(folder, "err")
        with paths[0].open("w") as out, paths[1].open("w") as err:
            process = subprocess.Popen(command, cwd=cwd, env=environment(env), stdout=out, stderr=err)
        watcher = Watcher({process.pid: " ".join(command)}, [paths[1]], still)
        try:
            while process.poll() is None:
                try:
                    process.wait(1)
                except subprocess.TimeoutExpired:
                    watcher.look(paths)
        except BaseException:
            watcher.kill()
            process.kill()
            process.wait()
            raise
        return subprocess.CompletedProcess(command, process.returncode, *(path.read_text() for path in paths))


def ended(sentinels: list[Any], watcher: Watcher, paths: Iterable[Path]) -> list[Any]:
    """Waits until one of several processes of `multiprocessing` ends."""
    while not (found := wait(sentinels, 1)):
        watcher.look(paths)
    return found


class Watcher:
    """Looks at processes and at those that they have started.

    `roots` has a name for each process, and `errors` are the files to which they write their errors.
    """

    def __init__(self, roots: dict[int, str], errors: list[Path], still: int = STILL) -> None:
        self._roots, self._errors, self._still = roots, errors, still
        self._progress, self._begun = Progress(still), time.monotonic()
        found = {pid: _process(PROC / str(pid)) for pid in roots}
        self._starts = {pid: one.start for pid, one in found.items() if one is not None}

    def look(self, paths: Iterable[Path]) -> None:
        """Looks once. Raises an error with the stacks, and with the output in `paths`, if the processes stand still."""
        if not (PROC / "self/stat").exists():
            if time.monotonic() - self._begun > MOST:
                raise StandsStillError(f"{MOST} seconds are over\n{_output(paths)}")
            return
        found = self._tree()
        used = sum(one.used for one in found.values())
        if self._progress.stands(used, any(one.runnable() for one in found.values())):
            told = f"have used almost no processor time in {self._still} looks"
        elif used > MOST:
            told = f"have used {MOST} seconds of processor time"
        else:
            return
        output = _output(paths)
        stacks = "".join(self._stacks(one) for one in found.values())
        raise StandsStillError(f"processes {told}, so they are ended\n{stacks}\n{output}")

    def kill(self) -> None:
        """Kills all processes, if /proc shows them. They are stopped first, so that they start no new ones."""
        if not PROC.exists():
            return
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for pid in self._tree():
                _send(pid, sent)

    def _tree(self) -> dict[int, _Process]:
        every = {one.pid: one for one in map(_process, PROC.glob("[0-9]*")) if one is not None}
        # The number of a process that has ended may be that of another process now.
        found = {pid: every[pid] for pid, start in self._starts.items() if pid in every and every[pid].start == start}
        while more := {pid: one for pid, one in every.items() if one.parent in found and pid not in found}:
            found |= more
        return found

    def _stacks(self, one: _Process) -> str:
        """The name of a process, and the stacks of its threads if it prints them."""
        name = self._roots.get(one.pid) or one.name()
        told = f"-- process {one.pid}, started by {one.parent}, {one.rank()}: {name}\n"
        if not one.catches(signal.SIGUSR1):
            return told
        before = [path.stat().st_size for path in self._errors]
        _send(one.pid, signal.SIGUSR1)
        time.sleep(1)
        for path, size in zip(self._errors, before, strict=True):
            told += path.read_bytes()[size:].decode(errors="replace")
        return told


class _Process:
    """A process, as /proc shows it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.pid = folder, int(folder.name)
        # The name of the program is in parentheses, and may have some of its own.
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        self.parent = int(fields[1])
        self.used = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        """Seconds of processor time, with those of the children that have ended."""
        self.start = int(fields[19])
        """When the process began, which tells it apart from others with its number."""

    def runnable(self) -> bool:
        """Whether a thread runs, waits for a processor, or waits for a disk."""
        for path in self.folder.glob("task/*/stat"):
            try:
                if path.read_text().rpartition(")")[2].split()[0] in "RD":
                    return True
            except OSError:
                continue
        return False

    def name(self) -> str:
        return self._read("cmdline").replace("\0", " ").strip()[:200]

    def rank(self) -> str:
        variables = dict(word.partition("=")[::2] for word in self._read("environ").split("\0"))
        return f"rank {variables['RANK']}" if "RANK" in variables else "no rank"

    def catches(self, sent: signal.Signals) -> bool:
        """Whether the process handles a signal. It would end by the signal otherwise."""
        for line in self._read("status").splitlines():
            name, _, mask = line.partition(":")
            if name == "SigCgt":
                return bool(int(mask, 16) >> (sent - 1) & 1)
        return False

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return ""


def _process(folder: Path) -> _Process | None:
    try:
        return _Process(folder)
    except (OSError, IndexError):
        return None


def lives(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _send(pid: int, sent: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, sent)


def _output(paths: Iterable[Path]) -> str:
    return "\n".join(f"-- {path.name}\n{path.read_text(errors='replace')[-5000:]}" for path in paths if path.exists())
