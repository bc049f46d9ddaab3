# %% [markdown]
# # PyTorch: killed on two ranks, resumed on three
#
# A run with DDP is killed in the middle of its second epoch, as machines are. It goes on with another number of ranks
# from what rank 0 saved last, and in each epoch every sample is still trained once.
#
# To run it: `python train_with_pytorch.py`, after `pip install 'hosts/python[torch]'`. It needs no GPU: ranks are
# processes.

# %%
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from samedeal.torch import DistributedSampler, Resumable, verify_ranks
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

SAMPLES = 192
EPOCHS = 3
DEATH = 18
"""The step after which the first run is killed."""
EVERY = 5
"""Steps between checkpoints."""

# %% [markdown]
# ## The data
#
# Nothing about it is special.


# %%
class Waves(Dataset):
    """A sample is its number, and a few values of a wave."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return index, torch.sin(torch.arange(1, 5) * (index + 1))


# %% [markdown]
# ## The loop
#
# Three lines differ from a loop with PyTorch's own sampler. The sampler is imported from samedeal; it gives the same
# indices in the same order. `Resumable` takes the place of the loader, and knows which batches the *loop* got,
# however many the workers have read ahead. And `verify_ranks` stops all ranks with a clear message where one of them
# would read something else.
#
# The checkpoint holds `loader.state_dict()` beside the model: a short text, which says how far the epoch has come.
# One rank saves it for all.


# %%
def train(rank, world_size, folder):
    """What each rank does."""
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous-{world_size}", rank=rank, world_size=world_size
    )
    data = Waves()
    sampler = DistributedSampler(data, seed=42)
    loader = Resumable(DataLoader(data, batch_size=8, sampler=sampler, num_workers=1))
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    steps, saved = 0, folder / "checkpoint.pt"
    if saved.exists():
        checkpoint = torch.load(saved)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        loader.load_state_dict(checkpoint["loader"])
        steps = checkpoint["steps"]
    for epoch in range(loader.epoch, EPOCHS):
        loader.set_epoch(epoch)  # of the epoch that is resumed, the rest stays
        verify_ranks(loader)
        for number, (samples, values) in enumerate(loader):
            loss = (model(values).squeeze(1) - values.sum(1)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            # For the proof at the end: what each step has seen.
            with (folder / f"seen-{world_size}-{rank}.txt").open("a") as seen:
                print(steps, epoch, *samples.tolist(), file=seen)
            if rank == 0 and steps % EVERY == 0:
                states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                torch.save(states | {"loader": loader.state_dict(), "steps": steps}, folder / "part")
                (folder / "part").rename(saved)
                print(f"{world_size} ranks: saved after batch {number + 1} of {len(loader)} of epoch {epoch}")
            if world_size == 2 and steps == DEATH:
                os.kill(os.getpid(), signal.SIGKILL)
    dist.destroy_process_group()


# %% [markdown]
# ## Two runs
#
# The first has two ranks, and both of them are killed, a few steps after a checkpoint. The second has three, and
# begins with that checkpoint: at once, since what was read before is neither read nor computed again.
#
# Then the proof: what was trained before the checkpoint, and what was trained after it, is in each epoch every sample
# once.


# %%
def main(folder):
    """Both runs, and what they have seen."""
    try:
        mp.start_processes(train, (2, folder), nprocs=2, start_method="spawn")
    except mp.ProcessExitedException as death:
        print(f"2 ranks: {death}")
    kept = torch.load(folder / "checkpoint.pt")["steps"]
    mp.start_processes(train, (3, folder), nprocs=3, start_method="spawn")

    epochs = {}
    for path in folder.glob("seen-*.txt"):
        for line in path.read_text().splitlines():
            step, epoch, *samples = map(int, line.split())
            # What came after the checkpoint went with the weights that were lost, and was trained again.
            if path.name.startswith("seen-3") or step <= kept:
                epochs.setdefault(epoch, Counter()).update(samples)
    assert sorted(epochs) == [*range(EPOCHS)]
    for epoch, seen in epochs.items():
        assert seen == Counter(range(SAMPLES)), epoch
    print(f"killed after step {DEATH}, resumed after step {kept}: in {EPOCHS} epochs, each of {SAMPLES} samples once")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
