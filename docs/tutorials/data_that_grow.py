# %% [markdown]
# # Data that grow: more samples in the middle of an epoch
#
# A run has read a part of an epoch when more files arrive. It goes on with the larger dataset: every sample that was
# not seen yet, old or new, is seen once in this epoch, and none is seen again. Later epochs have all samples.
#
# To run it: `python data_that_grow.py`, after `pip install 'hosts/python[torch]'`. It needs no GPU: ranks are
# processes.

# %%
import tempfile
from collections import Counter
from pathlib import Path

import samedeal
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from samedeal.torch import DistributedSampler, Resumable
from torch.utils.data import DataLoader, Dataset

OLD, NEW = 500, 740
BATCH = 10

# %% [markdown]
# ## The data
#
# Samples keep their numbers when the dataset grows: new ones come at the end.


# %%
class Samples(Dataset):
    """A dataset that has `count` samples today."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index


# %% [markdown]
# ## The loop
#
# `steps` is where this run ends, so that there is something to resume.


# %%
def read(rank, world_size, folder, order, count, steps, epochs):
    """What each rank does."""
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous-{world_size}", rank=rank, world_size=world_size
    )
    data = Samples(count)
    sampler = DistributedSampler(data, order=order, drop_last=False)
    loader = Resumable(DataLoader(data, batch_size=BATCH, sampler=sampler, num_workers=1))
    saved = folder / "checkpoint.pt"
    if saved.exists():
        loader.load_state_dict(torch.load(saved))
    for epoch in range(loader.epoch, epochs):
        loader.set_epoch(epoch)
        for number, samples in enumerate(loader):
            with (folder / f"seen-{world_size}-{rank}.txt").open("a") as seen:
                print(epoch, *samples.tolist(), file=seen)
            if number + 1 == steps:
                break
        if steps:
            break
    dist.barrier()
    if rank == 0 and steps:
        torch.save(loader.state_dict(), saved)
    dist.destroy_process_group()


# %% [markdown]
# ## Before and after
#
# The first run takes 16 steps of two ranks: 320 of the 500 samples. Then the dataset has 740. `grow` says from which
# epoch and position on; everything before stays as it was, so that the state of the smaller dataset resumes.


# %%
def main(folder):
    """Both runs, and what they have seen."""
    order = samedeal.order("feistel", OLD, seed=7)
    mp.start_processes(read, (2, folder, order, OLD, 16, 1), nprocs=2, start_method="spawn")
    taken = 16 * 2 * BATCH

    grown = order.grow(epoch=0, consumed=taken, samples=NEW)
    mp.start_processes(read, (4, folder, grown, NEW, 0, 2), nprocs=4, start_method="spawn")

    epochs = {0: Counter(), 1: Counter()}
    for path in folder.glob("seen-*.txt"):
        for line in path.read_text().splitlines():
            epoch, *samples = map(int, line.split())
            epochs[epoch].update(samples)
    for epoch, seen in epochs.items():
        # 740 is a multiple of 4, and so is what is left of the first epoch: nothing is padded.
        assert seen == Counter(range(NEW)), epoch
    print(f"{taken} of {OLD} samples, then {NEW - taken} of {NEW}: each of them once, and once in the epoch after it")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
