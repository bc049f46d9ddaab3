# %% [markdown]
# # Lightning: killed on two devices, resumed on three
#
# A run is killed in the middle of its second epoch. It goes on with another number of devices, from the checkpoint that
# Lightning saved last, and in each epoch every sample is still trained once.
#
# To run it: `python train_with_lightning.py`, after `pip install 'hosts/python[torch]' lightning`. It needs no GPU:
# processes take the place of devices.

# %%
import json
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import torch
from lightning import LightningDataModule, LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from samedeal.lightning import ResumableData
from samedeal.torch import DistributedSampler
from torch.multiprocessing import ProcessExitedException
from torch.utils.data import DataLoader, Dataset

SAMPLES = 192
EPOCHS = 3
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)

# %% [markdown]
# ## The data
#
# A data module is made resumable by one more base class, and by a sampler of samedeal under its training loader. The
# sampler is called as PyTorch's is, and gives the same order. Rank and world size are not its parameters: the process
# group says them.


# %%
class Waves(Dataset):
    """A sample is its number, and a few values of a wave."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return index, torch.sin(torch.arange(1, 5) * (index + 1))


class Data(ResumableData, LightningDataModule):
    """What there is to train with."""

    def train_dataloader(self):
        data = Waves()
        return DataLoader(data, batch_size=8, sampler=DistributedSampler(data, seed=42), num_workers=1)


# %% [markdown]
# ## The model
#
# It learns the sum of the values. For the proof at the end, it writes down which samples each step has seen. In the
# first run a step comes at which all processes are killed, as a cluster would.


# %%
class Model(LightningModule):
    """A model that may not live long."""

    def __init__(self, name, death=None):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.name, self.death = name, death

    def training_step(self, batch):
        if self.global_step == self.death:
            os.kill(os.getpid(), signal.SIGKILL)
        samples, values = batch
        with (folder / f"{self.name}-{self.global_rank}.jsonl").open("a") as log:
            log.write(json.dumps([self.global_step, self.current_epoch, samples.tolist()]) + "\n")
        return torch.nn.functional.mse_loss(self.layer(values).squeeze(1), values.sum(1))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def trainer(devices):
    """Saves every fourth step. The strategy is that of notebooks: processes are forked from this one."""
    saved = ModelCheckpoint(folder, filename="{step}", every_n_train_steps=4, save_top_k=-1)
    return Trainer(
        accelerator="cpu",
        devices=devices,
        strategy="ddp_notebook",
        max_epochs=EPOCHS,
        callbacks=[saved],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


# %% [markdown]
# ## Two devices, until they are killed
#
# An epoch is 192 samples, 8 a step on each of two devices: 12 steps. Step 18 is the middle of epoch 1; it is never
# made, and the last checkpoint is that of step 16.

# %%
try:
    trainer(devices=2).fit(Model("two", death=18), datamodule=Data())
except ProcessExitedException as error:
    print("killed:", error)
last = max(folder.glob("*.ckpt"), key=lambda path: path.stat().st_mtime_ns)
print("saved last:", last.name)
assert last.name == "step=16.ckpt"

# %% [markdown]
# What the checkpoint says about the data is a short text, the same for all ranks, which every language reads: of
# epoch 1, the first 64 positions are consumed, four steps of two times eight samples.

# %%
state = torch.load(last, weights_only=True)["Data"]["train_dataloader"]
print(state)
assert json.loads(state["samedeal"])["consumed"] == 4 * 2 * 8
assert state["batches"] == 4

# %% [markdown]
# ## Three devices go on
#
# Nothing is said about the data but `ckpt_path`. The rest of epoch 1 is dealt among three, at once: nothing is
# replayed.

# %%
trainer(devices=3).fit(Model("three"), datamodule=Data(), ckpt_path=last)

# %% [markdown]
# ## The proof
#
# What counts is what is in the weights: of the first run, the steps up to the checkpoint.


# %%
def seen(name, world_size, steps):
    """The epoch and the number of each sample in these steps, on all ranks."""
    for rank in range(world_size):
        for line in (folder / f"{name}-{rank}.jsonl").read_text().splitlines():
            step, epoch, samples = json.loads(line)
            if step in steps:
                yield from ((epoch, sample) for sample in samples)


counts = Counter([*seen("two", 2, range(16)), *seen("three", 3, range(16, 1000))])
for epoch in range(EPOCHS):
    of_epoch = [counts[epoch, sample] for sample in range(SAMPLES)]
    again = sum(of_epoch) - SAMPLES
    print(f"epoch {epoch}: {SAMPLES} samples, {of_epoch.count(0)} missing, {again} twice")
    # 128 samples are left of epoch 1, which do not divide by three: PyTorch's sampler repeats one of them.
    assert min(of_epoch) == 1
    assert again == (1 if epoch == 1 else 0)
