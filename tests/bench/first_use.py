"""The cost of the first use of the Python host: `first_use.py [--processes 9] [--beside FOLDER]`.

Every measurement runs in a new process. A figure is the minimum of its measurements, in milliseconds:

- `import`: `import samedeal`, without the start of the interpreter; `after numpy`: this import if NumPy is
  imported already; `numpy`: `import numpy` alone.
- `first batch`: from the imports of both to the first batch, if an earlier process has cached the code.
- `first time`: the same time if the cache is empty; `its peak`: the peak memory in megabytes, while the code is cached.

`--beside` names the folder `src` of another checkout (after a build). Its processes take turns with these, so that
other work of the machine disturbs both.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parents[2] / "hosts/python/src"
BATCH = "next(iter(samedeal.Sampler(10**6, seed=1, world_size=8).batches(32)))"
TIMED = "import time\nbegan = time.perf_counter()\n{}\nprint((time.perf_counter() - began) * 1000)"
IMPORT = TIMED.format("import samedeal")
FIRST = f"import numpy, samedeal\n{TIMED.format(BATCH)}"
PEAK = f"""import resource, threading, numpy, samedeal
{BATCH}
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * ({1 if sys.platform == "darwin" else 2**10}) / 10**6)"""
FIGURES = {
    "import": (IMPORT, False),
    "import, after numpy": (f"import numpy\n{IMPORT}", False),
    "numpy": (TIMED.format("import numpy"), False),
    "first batch": (FIRST, False),
    "first time": (FIRST, True),
    "first time, its peak": (PEAK, True),
}
"""For each figure: a program that prints its number, and whether the cache must be empty before the program starts."""


def measured(source: Path, code: str, home: Path) -> float:
    """The number that a program prints in a new process, with its caches in this home."""
    # Python may cache bytecode, as in an installed package.
    unset = ("PYTHONDONTWRITEBYTECODE", "XDG_CACHE_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    environment = {**kept, "HOME": str(home), "LOCALAPPDATA": str(home), "PYTHONPATH": str(source)}
    words = [sys.executable, "-c", code]
    return float(subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main() -> None:
    """Measures, and prints a line for each figure: its name, and the number of each checkout."""
    parser = argparse.ArgumentParser(description="What the first use of the Python host costs.")
    parser.add_argument("--processes", type=int, default=9, help="how many new processes each figure is the least of")
    parser.add_argument("--smoke", action="store_true", help="one process for each figure")
    parser.add_argument("--beside", type=Path, help="the folder src of the Python host in another checkout")
    options = parser.parse_args()
    sources = [HERE, *([options.beside.resolve()] if options.beside else [])]
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for source in sources:
            # Fills the caches of compiled code and of bytecode.
            measured(source, FIRST, home)
        for name, (code, is_first) in FIGURES.items():
            found: list[list[float]] = [[] for _ in sources]
            for _ in range(1 if options.smoke else options.processes):
                for source, numbers in zip(sources, found, strict=True):
                    if is_first:
                        with TemporaryDirectory() as fresh:
                            numbers.append(measured(source, code, Path(fresh)))
                    else:
                        numbers.append(measured(source, code, home))
            print(f"{name:<28}", *(f"{min(numbers):9.2f}" for numbers in found), flush=True)
            unit, scale = ("B", 10**6) if code is PEAK else ("s", 10**-3)
            identifier = name.replace(",", "").replace(" ", "-")
            print(f"figure: first-use.{identifier} {unit}", *(number * scale for number in found[0]), flush=True)
    print(f"versions: CPython {platform.python_version()}, wasmtime {metadata.version('wasmtime')}")


if __name__ == "__main__":
    main()
