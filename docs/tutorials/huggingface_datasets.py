# %% [markdown]
# # Hugging Face's datasets: rows and streams, on any number of ranks
#
# A `Dataset`, whose rows have numbers, goes under the samplers of samedeal as it is, and batches may be planned by a
# column of lengths. An `IterableDataset` has no numbers: its shards have, and what deals those is a sampler, too.
#
# To run it: `python huggingface_datasets.py`, after `pip install 'hosts/python[torch]' datasets`. It needs no GPU, and
# downloads nothing.

# %%
import itertools
import json
import tempfile
from collections import Counter
from pathlib import Path

import torch.distributed as dist
from datasets import Dataset, IterableDataset
from samedeal import ContradictionError, Sampler
from samedeal.torch import BatchSampler, DistributedSampler, PadCollator, Resumable, verify_ranks
from torch.multiprocessing import start_processes
from torch.utils.data import DataLoader

SAMPLES = 300
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)


def on_ranks(world_size, function, *arguments):
    """Calls a function in that many processes, which form a group, and gives what each of them returned."""
    store = tempfile.mktemp(dir=folder)
    start_processes(one_rank, (world_size, store, function, arguments), nprocs=world_size, start_method="fork")
    return [json.loads(Path(f"{store}-{rank}").read_text()) for rank in range(world_size)]


def one_rank(rank, world_size, store, function, arguments):
    """What each process does."""
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world_size)
    Path(f"{store}-{rank}").write_text(json.dumps(function(*arguments)))
    dist.destroy_process_group()


# %% [markdown]
# ## Rows
#
# The library's dataset as it comes from `load_dataset`: here a small one of our own, of sequences whose first token
# is their number. Batches of at most 512 tokens are planned by the column `length`; without one, `column="input_ids"`
# measures them.

# %%
rows = Dataset.from_dict(
    {
        "input_ids": [[i, *range(1, 1 + i * 7919 % 97)] for i in range(SAMPLES)],
        "length": [1 + i * 7919 % 97 for i in range(SAMPLES)],
    }
).with_format("torch")


def make_loader():
    """A loader that knows what the training loop got of it."""
    batches = BatchSampler(rows, column="length", max_tokens=512, seed=42)
    return Resumable(DataLoader(rows, batch_sampler=batches, collate_fn=PadCollator(), num_workers=2))


def read(state=None, steps=None):
    """What one rank reads: up to so many steps, and where the epoch stands then."""
    loader = make_loader()
    if state is not None:
        loader.load_state_dict(state)
    verify_ranks(loader)
    seen = [batch["input_ids"][:, 0].tolist() for batch in itertools.islice(loader, steps)]
    return seen, loader.state_dict()


# %% [markdown]
# Two ranks read five steps, and stop. Three others read what is left.

# %%
first = on_ranks(2, read, None, 5)
state = first[0][1]
assert state == first[1][1], "one state resumes all ranks"
rest = on_ranks(3, read, state)
print("steps:", [len(seen) for seen, _ in first], "then", [len(seen) for seen, _ in rest])
counts = Counter(sample for seen, _ in first + rest for batch in seen for sample in batch)
assert counts == Counter(range(SAMPLES))
print(f"{len(counts)} samples, each of them once")

# %% [markdown]
# ## Rows that were divided before
#
# `split_dataset_by_node` and `shard` divide a dataset, and a sampler would divide it once more. `verify_ranks` knows
# parts of a dataset by their fingerprint.


# %%
def divided():
    """What ranks are told that divide twice."""
    part = rows.shard(dist.get_world_size(), dist.get_rank())
    try:
        verify_ranks(DistributedSampler(part))
    except ContradictionError as error:
        return str(error)


told = on_ranks(2, divided)
print(told[0])
assert all("would be divided twice" in text for text in told)

# %% [markdown]
# ## Streams
#
# A stream has shards: files, or whatever a generator is given. Where they are Parquet files,
# `samedeal.torch.ShardedDataset` reads them itself, row by row in one order for any number of ranks, and is what to
# take. For all others, let a sampler deal the *numbers of the shards*. Each is read once and from its beginning, by
# one rank; a state says how many each rank has done, and is resumed on any number of ranks.


# %%
def generate(pages):
    """What no file has."""
    for page in pages:
        for line in range(10):
            yield {"id": 10 * page + line}


def read_shards(state=None, count=None):
    """What one rank reads: up to so many shards, and where the epoch stands then."""
    stream = IterableDataset.from_generator(generate, gen_kwargs={"pages": list(range(SAMPLES // 10))})
    rank, world_size = dist.get_rank(), dist.get_world_size()
    sampler = Sampler(stream.num_shards, seed=42, rank=rank, world_size=world_size, remainder="uneven")
    if state is not None:
        sampler.resume(state)
    mine = sampler.indices()[:count].tolist()
    seen = []
    for number in mine:
        for batch in stream.shard(stream.num_shards, number).iter(batch_size=4):
            seen += batch["id"]
    return seen, sampler.state(len(mine))


first = on_ranks(2, read_shards, None, 4)
rest = on_ranks(4, read_shards, first[0][1])
print("samples:", [len(seen) for seen, _ in first], "then", [len(seen) for seen, _ in rest])
counts = Counter(sample for seen, _ in first + rest for sample in seen)
assert counts == Counter(range(SAMPLES))
print(f"{len(counts)} samples, each of them once")

# %% [markdown]
# Ranks with more or larger shards end later: `remainder="uneven"` says so of the shards, and nobody knows how many
# samples each of them holds. A training loop that waits for all ranks at each step ends with the first of them, or
# uses PyTorch's `Join`.
#
# Within a shard, and on the same number of ranks and workers, the library resumes by itself:
# `split_dataset_by_node(stream, rank, world_size, strategy="shards")` under torchdata's `StatefulDataLoader`, whose
# state each rank saves for itself.
