"""Jobs of several ranks: started by `torchrun`, or as processes in which PyTorch is imported already.

Every rank is a process of its own, in a process group of its job. Users start jobs by `torchrun`, so each framework has
one job under it. `ranks` starts the other jobs faster: a server imports the slow modules once, and forks the processes
of all of them.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import forks
import watch
from limits import HANG

ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""One thread for each rank, because the ranks share few cores."""
PRELOADED = ["torch", "torch._dynamo", "samedeal.torch"]
"""Modules that the server imports. PyTorch imports the second one for the first distributed model."""

RAY = ONE_THREAD | {
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": str(HANG),
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.2",
    "RAY_enable_worker_prestart": "0",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_worker_niceness": "0",
}
"""Variables of jobs under Ray Train. No process watches for machines that a cloud takes away, and none is started in
advance. On a busy machine, workers may start slowly, but they get as much of it as other processes. The controller does
not wait two seconds between reports."""


def preload(*modules: str) -> None:
    """Adds modules that the server imports. It has an effect only before the first job."""
    PRELOADED.extend(modules)


def torchrun(world_size: int, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Runs a script, or `-m` and a module, with arguments, in `world_size` processes under torchrun."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world_size)]
    return watch.run([*command, *arguments], env=os.environ | ONE_THREAD)


def ranks(world_size: int, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Runs a script in `world_size` processes without `torchrun`, but with the variables that it sets. Ends when the
    first rank fails."""
    # This process keeps the store, as torchrun's agent does. So the port is known, and no other process can take it.
    from torch.distributed import TCPStore

    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=HANG))
    words = [*map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, str(rank)) for rank in range(world_size)]
        failed = _run(
            [(words, _environment(rank, world_size, store.port), str(places[rank])) for rank in range(world_size)]
        )
        out, err = ("".join(place.with_suffix(end).read_text() for place in places) for end in (".out", ".err"))
    for rank, code in failed.items():
        err += f"rank {rank} failed: {signal.Signals(-code).name if code < 0 else code}\n"
    return subprocess.CompletedProcess(words, int(bool(failed)), out, err)


def alone(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """Runs a script in one process, without the variables of a launcher."""
    words = [*map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "0")
        failed = _run([(words, os.environ | ONE_THREAD, str(place))])
        out, err = (place.with_suffix(end).read_text() for end in (".out", ".err"))
    return subprocess.CompletedProcess(words, failed.get(0, 0), out, err)


def _environment(rank: int, world_size: int, port: int) -> dict[str, str]:
    """The variables that `torchrun` sets for a rank."""
    told: dict[str, Any] = {"RANK": rank, "WORLD_SIZE": world_size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": world_size}
    told |= {
        "GROUP_RANK": 0,
        "GROUP_WORLD_SIZE": 1,
        "ROLE_NAME": "default",
        "ROLE_RANK": rank,
        "ROLE_WORLD_SIZE": world_size,
    }
    told |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_USE_AGENT_STORE": True}
    told |= {"TORCHELASTIC_RUN_ID": "job", "TORCHELASTIC_RESTART_COUNT": 0, "TORCHELASTIC_MAX_RESTARTS": 0}
    return os.environ | ONE_THREAD | {name: str(value) for name, value in told.items()}


def _run(jobs: list[tuple[list[str], dict[str, str], str]]) -> dict[int, int]:
    """Runs processes side by side until one of them fails; returns the exit codes other than 0, by the number of the
    process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with _set(ONE_THREAD):
        processes = [context.Process(target=_begin, args=job) for job in jobs]
        for process in processes:
            process.start()
    started = enumerate(zip(processes, jobs, strict=True))
    names = {process.pid or 0: f"rank {number} of {' '.join(job[0])}" for number, (process, job) in started}
    paths = [Path(job[2] + end) for job in jobs for end in (".out", ".err")]
    watcher = watch.Watcher(names, paths[1::2])
    failed: dict[int, int] = {}
    running = {process.sentinel: number for number, process in enumerate(processes)}
    try:
        while running and not failed:
            for sentinel in watch.ended([*running], watcher, paths):
                number = running.pop(sentinel)
                processes[number].join()
                if code := processes[number].exitcode:
                    failed[number] = code
    except watch.StandsStillError:
        watcher.kill()
        raise
    finally:
        # The other processes are ended, as torchrun does. A process in an uninterruptible call does not end by a
        # signal.
        for number in running.values():
            processes[number].terminate()
        for number in running.values():
            processes[number].join(30)
            processes[number].kill()
            processes[number].join()
    return failed


@contextmanager
def _set(variables: dict[str, str]) -> Iterator[None]:
    """Sets variables while the server starts, because libraries read them when they are imported."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin(words: list[str], environment: dict[str, str], place: str) -> None:
    """The work of a process: runs the script with an environment, and writes its output to files."""
    for number, end in ((1, ".out"), (2, ".err")):
        file = os.open(place + end, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    # Processes that the script starts use the platform's start method, and not that of this server.
    multiprocessing.set_start_method(None, force=True)
    forks.install()
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path.insert(0, str(Path(words[0]).parent))
        runpy.run_path(words[0], run_name="__main__")


def logs(out: Path, name: str, world_size: int) -> list[list[Any]]:
    """The lines that each rank has written."""
    texts = [(out / f"{name}-{rank}.jsonl").read_text().splitlines() for rank in range(world_size)]
    return [[json.loads(line) for line in text] for text in texts]
