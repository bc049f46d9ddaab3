# %% [markdown]
# # Trainer: batches by a budget of tokens, killed on two processes, resumed on three
#
# The `Trainer` of transformers deals batches of a fixed number of sequences, and to resume in the middle of an epoch,
# it goes through all that was done of it; on another number of processes, its count of steps points to another place.
# `samedeal.transformers.Trainer` is the same class with one more parameter, `train_sampler`. What deals the data is
# saved with its checkpoints, and `train(resume_from_checkpoint=...)` goes on at once, on any number of processes.
#
# To run it: `python train_with_transformers.py`, after `pip install 'hosts/python[torch]' 'transformers[torch]>=5'`. It
# needs no GPU, and downloads nothing.

# %%
import json
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import torch
from accelerate import debug_launcher
from samedeal.torch import BatchSampler, PadCollator
from samedeal.transformers import Trainer
from torch.multiprocessing import ProcessExitedException
from torch.utils.data import Dataset
from transformers import TrainerCallback, TrainingArguments

SAMPLES = 300
EPOCHS = 2
BUDGET = 512
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)

# %% [markdown]
# ## The data
#
# Sequences of 2 to 97 tokens, of which the first is the number of the sample, for the proof at the end.


# %%
class Sequences(Dataset):
    """Sample i is a sequence that begins with i."""

    lengths = tuple(2 + i * 7919 % 96 for i in range(SAMPLES))

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return {"input_ids": [index, *(j % 50 for j in range(1, self.lengths[index]))]}


# %% [markdown]
# ## The model
#
# It guesses each token from the one before it. A transformer would be trained in the same way.


# %%
class Bigrams(torch.nn.Module):
    """A table of what follows what."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(SAMPLES, 50)
        self.seen = []

    def forward(self, input_ids, attention_mask):
        self.seen += input_ids[:, 0].tolist()
        self.tokens = input_ids.numel()
        logits, targets = self.table(input_ids[:, :-1]), input_ids[:, 1:] % 50
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
        return {"loss": (losses * attention_mask[:, 1:]).sum() / BUDGET}


class Watcher(TrainerCallback):
    """Writes down what each step has seen, and may kill the process, as a cluster would."""

    def __init__(self, log, death):
        self.log, self.death = log, death

    def on_step_end(self, args, state, control, model, **kwargs):
        assert model.tokens <= BUDGET
        self.log.write(json.dumps([state.global_step, state.epoch, model.seen]) + "\n")
        self.log.flush()
        model.seen = []
        if state.global_step == self.death:
            os.kill(os.getpid(), signal.SIGKILL)


# %% [markdown]
# ## The training
#
# The sampler plans batches of at most 512 tokens, padding included, as many for each process, and learns rank and
# world size from the process group. Everything else is as ever. `verify_ranks` is called by itself, before each epoch.


# %%
def train(name, resume_from=None, death=None):
    """One process of a run."""
    arguments = TrainingArguments(
        str(folder / name),
        num_train_epochs=EPOCHS,
        save_steps=5,
        learning_rate=0.1,
        use_cpu=True,
        ddp_find_unused_parameters=False,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        report_to=[],
    )
    sampler = BatchSampler(Sequences.lengths, max_tokens=BUDGET, seed=42)
    with (folder / f"{name}-{arguments.process_index}.jsonl").open("w") as log:
        trainer = Trainer(
            Bigrams(),
            arguments,
            train_dataset=Sequences(),
            train_sampler=sampler,
            data_collator=PadCollator(),
            callbacks=[Watcher(log, death)],
        )
        trainer.train(resume_from_checkpoint=resume_from)
    # What was said of the end of the run has come true.
    assert trainer.state.global_step == trainer.state.max_steps
    assert trainer.state.epoch == EPOCHS


# %% [markdown]
# ## Two processes, until they are killed

# %%
try:
    debug_launcher(train, ("two", None, 23), num_processes=2)
except ProcessExitedException as error:
    print("killed:", error)
saved = folder / "two" / "checkpoint-20"
assert saved.exists()
assert not (folder / "two" / "checkpoint-25").exists()

# %% [markdown]
# What the checkpoint says of the data is a short text, which every language reads: on two ranks, so many steps of the
# epoch.

# %%
state = json.loads((saved / "trainer_state.json").read_text())["stateful_callbacks"]["SamedealState"]["attributes"][
    "saved"
]
print(state)

# %% [markdown]
# ## Three processes go on
#
# Steps count on from 20, and there are fewer of them, since there are more processes.

# %%
debug_launcher(train, ("three", str(saved)), num_processes=3)

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
                yield from (((0 if epoch <= 1 else 1), sample) for sample in samples)


first, then = [*seen("two", 2, range(21))], [*seen("three", 3, range(21, 1000))]
counts = Counter([*first, *then])
for epoch in range(EPOCHS):
    of_epoch = [counts[epoch, sample] for sample in range(SAMPLES)]
    print(f"epoch {epoch}: {SAMPLES} samples, {of_epoch.count(0)} missing, {sum(of_epoch) - SAMPLES} twice")
    assert of_epoch == [1] * SAMPLES
# The checkpoint was in the middle of an epoch.
assert {epoch for epoch, _ in first} & {epoch for epoch, _ in then}
