# %% [markdown]
# # Mixing datasets: weights that change at a resume, on another number of ranks
#
# Three directories of Parquet files are mixed 6 : 3 : 1. The run is killed on two ranks. It goes on with three, and
# from there on with other weights. In the end every source has the number of samples that its weights ask for, and
# within a pass over a source no sample is lost or seen twice.
#
# To run it: `python mix_datasets.py`, after `pip install 'hosts/python[torch,parquet]'`. It needs no GPU: ranks are
# processes.

# %%
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import samedeal
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from samedeal.torch import DistributedSampler, Resumable
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import ConcatDataset, DataLoader, Dataset

SIZES = {"web": 900, "code": 300, "books": 70}
BATCH = 8
DEATH = 40
"""The step after which the first run is killed."""
EVERY = 15
"""Steps between checkpoints."""
STEPS = 80
"""Steps of the second run."""

# %% [markdown]
# ## The data
#
# A dataset is a directory of Parquet files. `ConcatDataset` lays the three end to end: a blend counts its samples in
# the same way.


# %%
def write(folder):
    """Three directories of two files each."""
    for name, size in SIZES.items():
        (folder / name).mkdir()
        for part in range(2):
            rows = range(part, size, 2)
            table = pa.table({"source": [name] * len(rows), "row": list(rows), "value": [row / size for row in rows]})
            pq.write_table(table, folder / name / f"{part}.parquet")


class Rows(Dataset):
    """The rows of a directory."""

    def __init__(self, folder):
        self.table = pq.read_table(folder)

    def __len__(self):
        return len(self.table)

    def __getitem__(self, index):
        row = self.table.slice(index, 1).to_pylist()[0]
        return row["source"], row["row"], torch.tensor([row["value"], 1.0])


# %% [markdown]
# ## The order
#
# `blend` takes the size and the weight of each source. `samples` is the length of an epoch; here it is one long epoch,
# as in training that is counted in steps. `stage` gives the weights from a position on. A position is a sample, counted
# over all ranks: after s steps of two ranks with batches of 8, 16 s positions are taken.


# %%
def mix():
    """The order of the first run."""
    weights = {"web": 6, "code": 3, "books": 1}
    return samedeal.blend({name: (size, weights[name]) for name, size in SIZES.items()}, seed=42, samples=1_000_000)


# %% [markdown]
# ## The loop
#
# It is the loop of the tutorial on PyTorch. Only the order of the sampler is new.


# %%
def train(rank, world_size, folder, order, steps):
    """What each rank does."""
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous-{world_size}", rank=rank, world_size=world_size
    )
    data = ConcatDataset([Rows(folder / name) for name in SIZES])
    loader = Resumable(DataLoader(data, batch_size=BATCH, sampler=DistributedSampler(data, order=order), num_workers=1))
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    saved = folder / "checkpoint.pt"
    step = 0
    if saved.exists():
        checkpoint = torch.load(saved)
        model.load_state_dict(checkpoint["model"])
        loader.load_state_dict(checkpoint["loader"])
        step = checkpoint["step"]
    for sources, rows, values in loader:
        loss = model(values).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        # For the proof at the end: what each step has seen.
        with (folder / f"seen-{world_size}-{rank}.txt").open("a") as seen:
            for source, row in zip(sources, rows.tolist(), strict=True):
                print(step, source, row, file=seen)
        if rank == 0 and step % EVERY == 0:
            torch.save({"model": model.state_dict(), "loader": loader.state_dict(), "step": step}, folder / "part")
            (folder / "part").rename(saved)
        if world_size == 2 and step == DEATH:
            os.kill(os.getpid(), signal.SIGKILL)
        if step == steps:
            break
    dist.destroy_process_group()


# %% [markdown]
# ## Two runs
#
# The checkpoint says how many positions are taken. From there on the weights are 2 : 2 : 1. A stage that begins before
# the state's position would change what was read already: such an order does not resume, and the error says so.


# %%
def main(folder):
    """Both runs, and what they have seen."""
    write(folder)
    order = mix()
    try:
        mp.start_processes(train, (2, folder, order, STEPS), nprocs=2, start_method="spawn")
    except mp.ProcessExitedException as death:
        print(f"2 ranks: {death}")
    kept = torch.load(folder / "checkpoint.pt")["step"]
    taken = kept * 2 * BATCH
    longer = order.stage(taken, {"web": 2, "code": 2, "books": 1})
    mp.start_processes(train, (3, folder, longer, kept + STEPS), nprocs=3, start_method="spawn")

    # Each source sees its samples pass by pass, whatever ranks there are: count how often each was seen.
    seen = {name: Counter() for name in SIZES}
    for path in folder.glob("seen-*.txt"):
        for line in path.read_text().splitlines():
            step, source, row = line.split()
            # What came after the checkpoint went with the weights that were lost, and was trained again.
            if path.name.startswith("seen-3") or int(step) <= kept:
                seen[source][int(row)] += 1
    end = taken + STEPS * 3 * BATCH
    sampler = samedeal.Sampler(order=longer)
    counts = dict(zip(sampler.sources, sampler.source_counts(0, end)["count"].tolist(), strict=True))
    for name, size in SIZES.items():
        assert seen[name].total() == counts[name], name
        passes, rest = divmod(counts[name], size)
        # Every pass is complete: all samples have the same number, or one more of the pass that goes on.
        times = Counter(seen[name][row] for row in range(size))
        assert times == Counter({passes: size - rest, passes + 1: rest}) - Counter(), (name, times)
    print(f"{taken} samples at 6 : 3 : 1 on two ranks, {end - taken} at 2 : 2 : 1 on three: {counts}, each exactly")
    try:
        early = order.stage(taken - 1, {"web": 1, "code": 1, "books": 1})
        state = samedeal.Sampler(order=order, world_size=2).state(kept * BATCH)
        samedeal.Sampler(order=early, world_size=3).resume(state)
    except samedeal.ContradictionError as error:
        print(error)
    else:
        raise AssertionError("a stage in the past was taken")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
