# %% [markdown]
# # Ray Data: the index of a corpus, then two ranks, then three
#
# Batches by length are planned while they are read, so a run needs no preparation. But before its epoch is planned as a
# whole, no rank knows how many steps it has. Ray Data plans it here, on all the machines of a cluster, and writes that
# into an index, a small file. This is interrupted in the middle, and goes on. Then two ranks train with the index, and
# three go on from their state. Each sample is read once.
#
# To run it: `python index_with_ray.py`, after `pip install 'hosts/python[torch]' 'ray[data]'`. It needs no GPU and no
# cluster. It takes about a minute on two cores. Most of this time, processes start, and import PyTorch and Ray.

# %%
import itertools
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from samedeal import Batcher, build_index
from samedeal.parquet import Shards, read_rows
from samedeal.torch import BatchSampler, Resumable, verify_ranks
from torch.utils.data import DataLoader, Dataset

SAMPLES = 12_000
FILES = 6
OPTIONS = {"max_tokens": 2_048, "batch_window": 1_024, "seed": 42}
TASKS = 4
"""To start a task takes longer than to plan a part, so there are few: some for each processor."""
STOP = 50
"""The steps of two ranks. Three take the rest of the epoch."""


# %% [markdown]
# ## A corpus
#
# Parquet files with a column of tokens. The first token of a document is its number, for the proof at the end.


# %%
def write_corpus(folder):
    """Documents of 1 to some hundred tokens; most of them are short."""
    folder.mkdir()
    lengths = np.random.default_rng(0).lognormal(4, 0.8, SAMPLES).clip(1, 1_000).astype(np.int64)
    for number, samples in enumerate(np.array_split(np.arange(SAMPLES), FILES)):
        tokens = [np.full(lengths[sample], sample, dtype=np.int32) for sample in samples]
        pq.write_table(pa.table({"tokens": tokens}), folder / f"{number}.parquet", row_group_size=500)


# %% [markdown]
# ## Lengths
#
# A plan asks for the lengths of samples at random places, so they are written into one file of NumPy, which every
# process opens without reading it. Here, a task of Ray Data measures a file of the corpus. If the tokenizer has saved
# lengths, this step is not needed.


# %%
def write_lengths(shards, path):
    """The lengths of all documents, in the order of the files."""

    def measured(row):
        tokens = pq.read_table(row["file"], columns=["tokens"])["tokens"]
        return {"first": row["first"], "lengths": pc.list_value_length(tokens).to_numpy()}

    starts = np.cumsum([0, *shards.sizes[:-1]])
    files = [{"file": str(file), "first": int(first)} for file, first in zip(shards.paths, starts, strict=True)]
    lengths = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint32, shape=(shards.samples,))
    for row in ray.data.from_items(files).map(measured).iter_rows():
        lengths[row["first"] : row["first"] + len(row["lengths"])] = row["lengths"]


# %% [markdown]
# ## The index
#
# `workers` of `build_index` is a number of processes, or a function like `map`. This one has the parts planned by Ray
# Data, some of them in each task. What it sends is small: the path of the lengths is in the function, a part is two
# numbers, and what comes back is a text of some hundred bytes. With several machines, the lengths are on a disk that
# all of them have.
#
# One part kills its process the first time. Ray starts the task again.


# %%
def on_ray(plan, parts):
    """As `map(plan, parts)`, in any order."""

    def planned(row):
        if 2 in row["part"] and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"index": plan(row["part"])}

    mark = folder / "killed"
    rows = ray.data.from_items([{"part": part} for part in parts], override_num_blocks=TASKS)
    return (row["index"] for row in rows.map(planned).iter_rows())


def write_index(path):
    """Interrupted with Ctrl-C after three parts, and called again."""

    def interrupted(done, windows):
        print(f"{done} of {windows} windows")
        if done == 3:
            raise KeyboardInterrupt

    def told(done, windows):
        left.append(windows - done)

    left = []
    # The index is for two ranks, whichever of them the batcher is of.
    batcher = Batcher(np.load(folder / "lengths.npy", mmap_mode="r"), world_size=2, **OPTIONS)
    try:
        build_index(batcher, path, workers=on_ray, progress=interrupted)
    except KeyboardInterrupt:
        print("interrupted")
    text = build_index(batcher, path, workers=on_ray, progress=told)
    print(f"went on with the last {len(left)} of {batcher.num_windows} windows")
    assert len(left) == batcher.num_windows - 3
    # The same file as that of one process, or of any number of them.
    assert text == build_index(batcher, folder / "other.json", workers=1)
    print(f"{path.name} has {path.stat().st_size} bytes")


# %% [markdown]
# ## The training
#
# A rank opens the lengths, which takes no time, and the index, so that `len` plans nothing. The rest is as in a
# training without an index. For the proof, each rank notes the first token of each document. Two ranks stop after some
# steps, and rank 0 saves a state. Three ranks begin with the rest of the window that is open in it. The index says
# nothing about them, because it is that of two ranks.


# %%
class Corpus(Dataset):
    """Documents as tensors of tokens."""

    def __init__(self, shards):
        self.shards = shards

    def __len__(self):
        return self.shards.samples

    def __getitems__(self, samples):
        tables = read_rows(self.shards, samples)
        return [torch.tensor(tokens) for table in tables for tokens in table["tokens"].to_pylist()]


def padded(documents):
    """Rows that are padded to the longest one."""
    return torch.nn.utils.rnn.pad_sequence(documents, batch_first=True, padding_value=-1)


def train(rank, world_size, folder):
    """What each rank does."""
    group = f"file://{folder}/rendezvous-{world_size}"
    dist.init_process_group("gloo", init_method=group, rank=rank, world_size=world_size)
    sampler = BatchSampler(np.load(folder / "lengths.npy", mmap_mode="r"), **OPTIONS)
    if world_size == 2:
        sampler.use_index(folder / "epoch-0.json")
    corpus = Corpus(Shards.find(folder / "corpus"))
    loader = Resumable(DataLoader(corpus, batch_sampler=sampler, collate_fn=padded, num_workers=1))
    saved = folder / "state.pt"
    if saved.exists():
        loader.load_state_dict(torch.load(saved))
    verify_ranks(loader)
    if rank == 0:
        print(f"{world_size} ranks: {len(loader)} steps")
    steps = 0
    with (folder / f"seen-{world_size}-{rank}.txt").open("w") as seen:
        for rows in itertools.islice(loader, STOP if world_size == 2 else None):
            assert rows.numel() <= OPTIONS["max_tokens"]
            print(*rows[:, 0].tolist(), file=seen)
            # Where a training adds up gradients, all ranks wait for each other.
            dist.all_reduce(torch.ones(1))
            steps += 1
    if rank == 0 and world_size == 2:
        torch.save(loader.state_dict(), saved)
    dist.destroy_process_group()


# %% [markdown]
# ## All of it, and the proof


# %%
def main():
    """Ray, then the two jobs."""
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=10**9, log_to_driver=False)
    write_corpus(folder / "corpus")
    write_lengths(Shards.find(folder / "corpus"), folder / "lengths.npy")
    write_index(folder / "epoch-0.json")
    ray.shutdown()
    for world_size in (2, 3):
        mp.start_processes(train, (world_size, folder), nprocs=world_size, start_method="spawn")
    counts, steps = Counter(), {}
    for path in folder.glob("seen-*.txt"):
        lines = path.read_text().splitlines()
        steps.setdefault(path.name[:6], set()).add(len(lines))
        counts.update(int(sample) for line in lines for sample in line.split())
    print(f"steps of two and of three ranks: {sorted(steps.items())}")
    assert all(len(numbers) == 1 for numbers in steps.values())
    assert counts == Counter(range(SAMPLES))
    print(f"{SAMPLES} documents, each of them once")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        main()
