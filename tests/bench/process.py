"""Measurements of a process: time and memory, and the caches that it finds on the machine."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


def done(began: float, result: object) -> float:
    """Seconds since `began`. The result stays alive until then, so that the time does not include freeing it."""
    return perf_counter() - began


def reset_peak() -> int:
    """Resets the measurement of the peak memory; returns the memory in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(field: str) -> int:
    """A field of this process's memory in bytes, as the kernel counts it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(field))
    return int(kilobytes) << 10


def with_compiled(measure: Callable[..., T]) -> Callable[..., T]:
    """Wraps a measurement: an earlier process has cached the compiled code."""

    def measured(*arguments: int) -> T:
        subprocess.run([sys.executable, "-c", "import samedeal; samedeal.Sampler(1)[0]"], check=True)
        return measure(*arguments)

    return measured


def without_compiled(measure: Callable[..., T]) -> Callable[..., T]:
    """Wraps a measurement: the cache of compiled code is empty."""

    def measured(*arguments: int) -> T:
        before = {name: os.environ.pop(name, None) for name in ("HOME", "XDG_CACHE_HOME")}
        with TemporaryDirectory() as home:
            os.environ["HOME"] = home
            found = measure(*arguments)
        os.environ.update({name: value for name, value in before.items() if value is not None})
        return found

    return measured
