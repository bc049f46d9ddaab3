"""What is measured of a process: time and memory, and what it finds on the machine."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter


def done(began: float, result: object) -> float:
    """The time since; whatever is handed in lives until now, so that taking it apart is not part of it."""
    return perf_counter() - began


def reset_peak() -> int:
    """Begins the measurement of the peak memory anew; the memory that is in use now."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(field: str) -> int:
    """What the kernel says about this process's memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(field))
    return int(kilobytes) << 10


def with_compiled() -> None:
    """Makes this machine one that has run samedeal before: wasmtime keeps what it has compiled."""
    subprocess.run([sys.executable, "-c", "import samedeal; samedeal.Sampler(1)[0]"], check=True)


@contextmanager
def without_compiled() -> Iterator[None]:
    """Nothing that an earlier process has compiled is found within."""
    before = {name: os.environ.pop(name, None) for name in ("HOME", "XDG_CACHE_HOME")}
    # What wasmtime writes, it writes when it has the time.
    with TemporaryDirectory(ignore_cleanup_errors=True) as home:
        os.environ["HOME"] = home
        yield
    os.environ.update({name: value for name, value in before.items() if value is not None})
