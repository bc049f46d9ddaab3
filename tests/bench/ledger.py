"""Times of four readers, one of which is four times slower: with a fixed deal, with a ledger, and in the ideal case.

    python tests/bench/ledger.py [--smoke]

Every reader is a process that sleeps a fixed time for each sample, so that only waiting is measured, not the machine.
In a fixed deal, each reader gets a quarter. With a ledger, readers claim blocks from a `FileLog`, and commit every
batch. The ideal is the number of samples, divided by the sum of the speeds. Times begin when all readers are ready, and
end with the last one.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import multiprocessing
import platform
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from samedeal import Sampler
from samedeal.ledger import FileLog, Ledger, MemoryLog, Replay

READERS = 4
SLOW = 4
"""How many times slower the last reader is than the others."""
BATCH = 16
ROUNDS = 3


def work(samples: NDArray[np.int64], pause: float) -> None:
    """Reads a batch."""
    time.sleep(pause * len(samples))


def fixed(samples: int, path: Path, reader: int, block_size: int) -> Iterator[NDArray[np.int64]]:
    """A quarter of the epoch."""
    yield from Sampler(samples, seed=1, rank=reader, world_size=READERS, remainder="uneven").batches(BATCH)


def claimed(samples: int, path: Path, reader: int, block_size: int) -> Iterator[NDArray[np.int64]]:
    """The samples that a reader claims."""
    for claim in Ledger(Sampler(samples, seed=1), FileLog(path), reader=reader, block_size=block_size):
        for start in range(0, len(claim), BATCH):
            batch = claim.samples[start : start + BATCH]
            yield batch
            claim.commit(len(batch))


def read(deal: Any, samples: int, path: Path, reader: int, block_size: int, pause: float, ready: Barrier) -> None:
    """The work of one reader."""
    # Every process compiles the component once, before the time is taken.
    Ledger(Sampler(1), MemoryLog(), reader=0).claim()
    own = pause * (SLOW if reader == READERS - 1 else 1)
    ready.wait()
    for batch in deal(samples, path, reader, block_size):
        work(batch, own)


def measured(deal: Any, samples: int, block_size: int, pause: float) -> tuple[float, Replay | None]:
    """Seconds until the last reader ends, and the replay, if there is a log."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path, ready = Path(folder) / "log", context.Barrier(READERS + 1)
        arguments = [(deal, samples, path, reader, block_size, pause, ready) for reader in range(READERS)]
        processes = [context.Process(target=read, args=one) for one in arguments]
        for process in processes:
            process.start()
        ready.wait()
        began = time.perf_counter()
        for process in processes:
            process.join()
        taken = time.perf_counter() - began
        assert all(process.exitcode == 0 for process in processes)
        return taken, Replay(FileLog(path)) if path.exists() else None


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="few samples, once: whether it runs")
    smoke = parser.parse_args().smoke
    samples, pause, rounds = (640, 0.0005, 1) if smoke else (3_200, 0.004, ROUNDS)
    ideal = samples * pause / (READERS - 1 + 1 / SLOW)
    print(f"{samples} samples, {READERS} readers at {pause * 1000} ms a sample, one of them {SLOW} times slower")
    print(f"{'deal':<24}{'seconds':>9}{'of ideal':>10}{'slow reader has':>18}")
    print(f"{'ideal':<24}{ideal:>9.2f}{1:>10.3f}{1 / (SLOW * (READERS - 1) + 1):>18.1%}")
    deals = [
        ("fixed-shares", fixed, 0),
        *((f"ledger-block-size-{block_size}", claimed, block_size) for block_size in (16, 64, 128)),
    ]
    times: dict[str, list[float]] = {name: [] for name, _, _ in deals}
    shares: dict[str, list[float]] = {name: [] for name, _, _ in deals}
    shares["fixed-shares"].append(1 / READERS)
    for _ in range(rounds):
        for name, deal, block_size in deals:
            taken, replay = measured(deal, samples, block_size, pause)
            times[name].append(taken)
            if replay is not None:
                every = np.concatenate([*replay.samples(Sampler(samples, seed=1))])
                assert sorted(every) == list(range(samples)), "not every sample once"
                own = sum(commit.count for commit in replay.commits if commit.reader == READERS - 1)
                shares[name].append(own / samples)
    for name, taken_in in times.items():
        print(f"{name:<24}{median(taken_in):>9.2f}{median(taken_in) / ideal:>10.3f}{median(shares[name]):>18.1%}")
    times["ideal"], shares["ideal"] = [ideal], [1 / (SLOW * (READERS - 1) + 1)]
    for name, taken_in in times.items():
        print(f"figure: ledger.{name}.time s", *taken_in)
        print(f"figure: ledger.{name}.divided-by-the-ideal x", *(taken / ideal for taken in taken_in))
        print(f"figure: ledger.{name}.share-of-the-slow-reader share", *shares[name])
    packages = ("samedeal", "numpy", "wasmtime")
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    print(f"versions: CPython {platform.python_version()}, {versions}")


if __name__ == "__main__":
    main()
