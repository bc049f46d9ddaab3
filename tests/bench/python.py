"""Measurements in Python: a line on standard input asks for one, a line on standard output has the result.

Each measurement imports the programs that it measures, so that one in a new process only pays for its own imports.
Times are in seconds, memory in bytes.
"""

import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import perf_counter

from process import done, memory, reset_peak, with_compiled, without_compiled
from resuming import (
    first_batch_grain,
    first_batch_loader,
    first_batch_loader_torch,
    lists,
    pass_grain,
    passes,
    resume_feistel,
    resume_grain,
    resume_order_torch,
    resume_sampler,
    resume_torchdata,
    verify_ranks,
)

BATCH = 32
ROWS = 1024


def versions() -> str:
    """The versions of the measured programs, as text for people."""
    import platform
    from importlib.metadata import version

    packages = ("wasmtime", "numpy", "torch", "torchdata", "grain", "pyarrow")
    python = f"CPython {platform.python_version()}"
    return ", ".join([python, *(f"{package} {version(package)}" for package in packages)])


def start() -> float:
    """Seconds from the import to the first index."""
    began = perf_counter()
    import samedeal

    _ = samedeal.Sampler(10**8, world_size=8)[0]
    return perf_counter() - began


def rank(samples: int, world_size: int, epoch: int) -> float:
    """All indices of a rank as an array, constructor included."""
    import samedeal

    began = perf_counter()
    indices = samedeal.Sampler(samples, epoch=epoch, world_size=world_size).indices()
    return done(began, indices)


def rank_list(samples: int, world_size: int, epoch: int) -> float:
    """All indices of a rank as a list of int."""
    import samedeal

    began = perf_counter()
    indices = samedeal.Sampler(samples, epoch=epoch, world_size=world_size).indices().tolist()
    return done(began, indices)


def rank_order_torch(samples: int, world_size: int, epoch: int) -> float:
    """All indices of a rank as an array, in torch's order."""
    import samedeal

    began = perf_counter()
    indices = samedeal.Sampler(samples, epoch=epoch, world_size=world_size, order="torch").indices()
    return done(began, indices)


def rank_torch(samples: int, world_size: int, epoch: int) -> float:
    """All indices of a rank as a list, from torch's own sampler."""
    sampler = torch_sampler(samples, world_size)
    began = perf_counter()
    sampler.set_epoch(epoch)
    indices = list(sampler)
    return done(began, indices)


def same_as_torch(samples: int, world_size: int, epoch: int) -> float:
    """1 if the order `torch` gives the indices of torch's own sampler."""
    import samedeal

    sampler = torch_sampler(samples, world_size)
    sampler.set_epoch(epoch)
    ours = samedeal.Sampler(samples, epoch=epoch, world_size=world_size, order="torch").indices()
    return float(ours.tolist() == list(sampler))


def first_batch(samples: int, world_size: int, epoch: int) -> tuple[float, float]:
    """Seconds to the first batch, and the peak memory until then, beyond that of the imports."""
    import numpy  # noqa: F401  (samedeal imports it with its first sampler; torch's side has it as well)
    import samedeal

    before = reset_peak()
    began = perf_counter()
    batch = next(iter(samedeal.Sampler(samples, epoch=epoch, world_size=world_size).batches(BATCH)))
    return done(began, batch), memory("VmHWM") - before


def first_batch_torch(samples: int, world_size: int, epoch: int) -> tuple[float, float]:
    """Seconds and memory to the first batch, with torch's own sampler."""
    sampler = torch_sampler(samples, world_size)
    before = reset_peak()
    began = perf_counter()
    sampler.set_epoch(epoch)
    batch = list(islice(iter(sampler), BATCH))
    return done(began, batch), memory("VmHWM") - before


def per_index(samples: int, count: int, epoch: int) -> float:
    """Seconds for each index that is read in bulk."""
    import samedeal

    sampler = samedeal.Sampler(samples, epoch=epoch)
    _ = sampler[0]
    began = perf_counter()
    indices = sampler.indices(0, count)
    return done(began, indices) / count


def one_by_one(samples: int, count: int, epoch: int) -> float:
    """Seconds for each index that is read alone."""
    import samedeal

    sampler = samedeal.Sampler(samples, epoch=epoch)
    _ = sampler[0]
    began = perf_counter()
    indices = [sampler[i] for i in range(count)]
    return done(began, indices) / count


def per_index_grain(samples: int, count: int, epoch: int) -> float:
    """Seconds for each index from grain, which only has calls for single indices, in the cheapest form of a call."""
    import logging

    logging.getLogger("absl").setLevel(logging.ERROR)  # grain logs a warning about a missing jax
    from grain.experimental import index_shuffle

    last = samples - 1
    began = perf_counter()
    # grain itself uses 4 rounds.
    indices = [index_shuffle(i, last, epoch, 4) for i in range(count)]
    return done(began, indices) / count


def batch(samples: int, count: int, epoch: int) -> float:
    """Seconds for each batch at random."""
    import random

    import samedeal

    sampler = samedeal.Sampler(samples, epoch=epoch, world_size=8)
    numbers = random.Random(epoch).choices(range(sampler.num_batches(BATCH)), k=count)
    _ = sampler.batch(0, BATCH)
    began = perf_counter()
    for number in numbers:
        sampler.batch(number, BATCH)
    return (perf_counter() - began) / count


def locate(samples: int, count: int, epoch: int) -> float:
    """Seconds to find the rank and batch of a sample at random."""
    import random

    import samedeal

    sampler = samedeal.Sampler(samples, epoch=epoch, world_size=8)
    numbers = random.Random(epoch).choices(range(samples), k=count)
    _ = sampler.locate(0, batch_size=BATCH)
    began = perf_counter()
    for number in numbers:
        sampler.locate(number, batch_size=BATCH)
    return (perf_counter() - began) / count


def randperm(samples: int, epoch: int) -> float:
    """torch's shuffle, in native code on one thread."""
    import torch

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(epoch)
    began = perf_counter()
    permutation = torch.randperm(samples, generator=generator)
    return done(began, permutation)


def stream_pyarrow(rows: int, epoch: int) -> float:
    """Parquet files that pyarrow alone reads one after the other, in batches."""
    import pyarrow.parquet as pq

    files = sorted(parquet_files(rows).glob("*.parquet"))
    began = perf_counter()
    found = 0
    for file in files:
        for part in pq.ParquetFile(file).iter_batches(ROWS):
            found += part.num_rows
    assert found == rows
    return perf_counter() - began


def stream_shards(rows: int, epoch: int) -> float:
    """The files in batches of the same size, dealt as whole shards."""
    return stream(rows, epoch, deal="shards", shuffle=False)


def stream_shuffled(rows: int, epoch: int) -> float:
    """The files dealt as whole shards, with the shards and the rows of each shuffled."""
    return stream(rows, epoch, deal="shards")


def stream_samples(rows: int, epoch: int) -> float:
    """The files in the order `sharded`."""
    return stream(rows, epoch)


def stream(rows: int, epoch: int, **options: object) -> float:
    """Reads every batch of a dataset."""
    from samedeal.torch import ShardedDataset

    folder = parquet_files(rows)
    began = perf_counter()
    found = sum(part.num_rows for part in ShardedDataset(folder, batch_size=ROWS, epoch=epoch, **options))
    assert found == rows
    return perf_counter() - began


def parquet_files(rows: int) -> Path:
    """Eight files of texts of 240 letters with two numbers each. They are read before, so that the disk is not
    measured."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = Path(__file__).resolve().parents[2] / "target" / "bench" / f"texts-{rows}"
    if not folder.is_dir():
        new = folder.with_suffix(".new")
        new.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng(0)
        for file in range(8):
            count = rows // 8
            letters = random.integers(97, 123, 240 * count, dtype=np.uint8)
            ends = np.arange(0, 240 * count + 1, 240, dtype=np.int32)
            texts = pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(letters))
            label = random.integers(0, 1_000, count)
            table = pa.table({"id": np.arange(count) + file * count, "label": label, "text": texts})
            pq.write_table(table, new / f"{file}.parquet", row_group_size=1 << 15)
        new.rename(folder)
    for file in folder.iterdir():
        file.read_bytes()
    return folder


def plan_budget(count: int, most: int, budget: int, epoch: int) -> tuple[float, float, int]:
    """A plan of batches within a budget."""
    return plan(count, most, epoch, max_tokens=budget)


def plan_pack(count: int, most: int, capacity: int, epoch: int) -> tuple[float, float, int]:
    """A plan of packs."""
    return plan(count, most, epoch, strategy="pack", capacity=capacity)


def plan(count: int, most: int, epoch: int, **options: object) -> tuple[float, float, int]:
    """Seconds to plan batches of `count` sequences, seconds for a step at random, and the number of steps."""
    import random

    import samedeal
    from lengths import log_normal

    lengths = log_normal(count, most)
    began = perf_counter()
    batcher = samedeal.Batcher(lengths, epoch=epoch, **options)
    steps = batcher.num_steps
    planned = perf_counter() - began
    numbers = random.Random(epoch).choices(range(steps), k=min(1_000, count))
    began = perf_counter()
    for number in numbers:
        batcher.batch(number)
    return planned, (perf_counter() - began) / len(numbers), steps


def torch_sampler(samples: int, world_size: int):
    """Torch's sampler over a dataset that takes no memory."""
    from torch.utils.data import DistributedSampler

    return DistributedSampler(range(samples), num_replicas=world_size, rank=0)


MEASUREMENTS: dict[str, Callable[..., object]] = {
    measurement.__name__: measurement
    for measurement in (
        versions,
        rank,
        rank_list,
        rank_order_torch,
        rank_torch,
        same_as_torch,
        first_batch_torch,
        per_index,
        one_by_one,
        per_index_grain,
        batch,
        locate,
        randperm,
        stream_pyarrow,
        stream_shards,
        stream_shuffled,
        stream_samples,
        plan_budget,
        plan_pack,
        resume_feistel,
        resume_order_torch,
        resume_torchdata,
        resume_grain,
        resume_sampler,
        passes,
        lists,
        pass_grain,
        first_batch_grain,
        first_batch_loader_torch,
        verify_ranks,
    )
}

# Measurements that begin with compiling, unless the cache has the code: each is taken with and without the cache.
for measurement in (start, first_batch, first_batch_loader):
    MEASUREMENTS[measurement.__name__] = with_compiled(measurement)
    MEASUREMENTS[f"{measurement.__name__}_once"] = without_compiled(measurement)

for line in sys.stdin:
    name, *arguments = line.split()
    answer = MEASUREMENTS[name](*map(int, arguments))
    print(*(answer if isinstance(answer, tuple) else [answer]), flush=True)
