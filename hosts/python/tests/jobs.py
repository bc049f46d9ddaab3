"""Jobs of several ranks: as `torchrun` starts them, and as processes that begin with PyTorch imported.

Every rank is a process of its own, in a process group of its own job. `torchrun` is what users have: each framework has
a job under it. `ranks` starts the others: its processes are forked from a server that has imported once what a rank
would spend seconds on.
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
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from limits import HANG

ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""Of each rank: they share few cores."""
PRELOADED = ["torch", "torch._dynamo", "samedeal.torch"]
"""What the server imports. PyTorch imports the second one for the first model that is distributed."""

RAY = ONE_THREAD | {
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": str(HANG),
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.2",
    "RAY_enable_worker_prestart": "0",
    "RAY_prestart_worker_first_driver": "0",
}
"""Of jobs under Ray Train: no process that watches for machines of a cloud being taken away, and none that waits for
work; on a busy machine, workers may start slowly; the controller does not wait two seconds between reports."""


def preload(*modules: str) -> None:
    """Adds modules that ranks will find imported. Has an effect before the first job."""
    PRELOADED.extend(modules)


def torchrun(world_size: int, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """A script, or `-m` and a module, and its arguments, in so many processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world_size)]
    words = [*command, *map(str, arguments)]
    environment = os.environ | ONE_THREAD
    return subprocess.run(words, capture_output=True, text=True, timeout=HANG, env=environment, check=False)


def ranks(world_size: int, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """The same without `torchrun`, in the environment that it makes. Ends with the first rank that fails."""
    # As torchrun's agent, this process holds the store, whose port is therefore known and taken.
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
    """The same in one process, of which no launcher says that it is a rank."""
    words = [*map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "0")
        failed = _run([(words, os.environ | ONE_THREAD, str(place))])
        out, err = (place.with_suffix(end).read_text() for end in (".out", ".err"))
    return subprocess.CompletedProcess(words, failed.get(0, 0), out, err)


def _environment(rank: int, world_size: int, port: int) -> dict[str, str]:
    """What `torchrun` tells a rank."""
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
    """Runs processes side by side, until one of them fails: the exit codes of those that did, by their numbers."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with _set(ONE_THREAD):
        processes = [context.Process(target=_begin, args=job) for job in jobs]
        for process in processes:
            process.start()
    failed: dict[int, int] = {}
    running = {process.sentinel: number for number, process in enumerate(processes)}
    try:
        while running and not failed:
            ended = wait(list(running), HANG)
            if not ended:
                raise subprocess.TimeoutExpired(jobs[0][0], HANG)
            for sentinel in ended:
                number = running.pop(sentinel)  # type: ignore[arg-type]
                processes[number].join()
                if code := processes[number].exitcode:
                    failed[number] = code
    finally:
        # As torchrun ends what is left of a job. A process may be at work that no signal interrupts.
        for number in running.values():
            processes[number].terminate()
        for number in running.values():
            processes[number].join(30)
            processes[number].kill()
            processes[number].join()
    return failed


@contextmanager
def _set(variables: dict[str, str]) -> Iterator[None]:
    """The server is started with them: libraries read them when they are imported."""
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
    """What a process does: the script, with this environment and files for what it prints."""
    for number, end in ((1, ".out"), (2, ".err")):
        file = os.open(place + end, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    # What the process starts is started as on this platform, and not as it was itself.
    multiprocessing.set_start_method(None, force=True)
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path.insert(0, str(Path(words[0]).parent))
        runpy.run_path(words[0], run_name="__main__")


def logs(out: Path, name: str, world_size: int) -> list[list[Any]]:
    """What each rank has written, a line at a time."""
    texts = [(out / f"{name}-{rank}.jsonl").read_text().splitlines() for rank in range(world_size)]
    return [[json.loads(line) for line in text] for text in texts]
