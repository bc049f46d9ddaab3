# %% [markdown]
# # Packing: several sequences in a row, with the loss of each alone
#
# Short sequences waste most of a padded batch. A packed batch puts several of them into one row, without padding
# between them. Attention must then keep them apart: a token may only see the tokens of its own sequence. Where it does
# not, no error is raised, and the model trains on something else.
#
# This tutorial packs a dataset, gives the batches to a Llama model of transformers, and compares the loss with that of
# the sequences one by one. Then it makes two common mistakes, and shows that the comparison finds them.
#
# To run it: `python pack_sequences.py`, after `pip install 'hosts/python[torch]' 'transformers[torch]>=5'`. It needs no
# GPU, and downloads nothing.

# %%
import tempfile

import torch
from samedeal.torch import BatchSampler, PackCollator, PadCollator
from samedeal.transformers import Trainer
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset
from transformers import LlamaConfig, LlamaForCausalLM, TrainingArguments

SAMPLES = 200
CAPACITY = 128
"""Tokens of a row."""
ROWS = 4
"""Rows of a batch."""

# %% [markdown]
# ## The data
#
# Sequences of 2 to 97 tokens. A tokenizer gives an `attention_mask` of ones beside them, as here; `PackCollator` leaves
# it out.


# %%
class Sequences(Dataset):
    """Sample i has lengths[i] tokens."""

    lengths = tuple(2 + (i * 7919 % 97) ** 2 % 96 for i in range(SAMPLES))

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        tokens = torch.randint(1, 100, (self.lengths[i],), generator=torch.Generator().manual_seed(i))
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}


data = Sequences()

# %% [markdown]
# ## The batches
#
# `BatchSampler` with `strategy="pack"` plans which samples share the rows of a batch, as many batches for each rank.
# `PackCollator` with the same capacity makes the tensors. Most of each row is tokens; of padded batches of the same
# samples it would be less.

# %%
sampler = BatchSampler(data.lengths, strategy="pack", capacity=CAPACITY, max_batch_size=ROWS, seed=42)
packed = list(DataLoader(data, batch_sampler=sampler, collate_fn=PackCollator(CAPACITY)))
padded = list(DataLoader(data, batch_sampler=sampler, collate_fn=PadCollator()))

for name, value in packed[0].items():
    print(f"{name:14}", tuple(value.shape) if torch.is_tensor(value) else value)
for name, batches in {"packed": packed, "padded": padded}.items():
    cells = sum(batch["input_ids"].numel() for batch in batches)
    print(f"{name}: {len(batches)} batches, {cells} cells, {sum(data.lengths) / cells:.0%} of them tokens")
assert sum(batch["input_ids"].numel() for batch in packed) < sum(batch["input_ids"].numel() for batch in padded)

# %% [markdown]
# `position_ids` begin anew in each sample. With them, transformers keeps the samples of a row apart under sdpa and
# eager attention, if there is neither a 2-D `attention_mask` nor a cache; so the batch has no mask, and `use_cache` is
# False.
# Flash attention takes `cu_seq_lens_q`, `cu_seq_lens_k`, `max_length_q` and `max_length_k`: where each sample begins in
# the rows laid end to end, padding included, and how long the longest one is.
#
# ## The model
#
# A small Llama with random weights. `initializer_range` is larger than usual, so that tokens matter to one another.

# %%
torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=100,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    max_position_embeddings=CAPACITY,
    initializer_range=0.5,
    bos_token_id=None,
    eos_token_id=None,
)
model = LlamaForCausalLM(config).eval()


def summed_loss(batches):
    """The sum of the losses of all labels."""
    with torch.no_grad():
        total = 0.0
        for batch in batches:
            logits = model(**batch).logits[:, :-1].double()
            labels = batch["labels"][:, 1:]
            total += cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum").item()
        return total


# %% [markdown]
# ## The check
#
# The losses of all sequences, one by one and without any mask, are summed. So are those of the packed batches. Do this
# with your own model, once, before a training with packed sequences: it is the only way to see that attention keeps
# them apart.

# %%
alone = summed_loss(
    {"input_ids": data[i]["input_ids"][None], "labels": data[i]["labels"][None]} for i in range(SAMPLES)
)
together = summed_loss(packed)
print(f"one by one: {alone:.2f}, packed: {together:.2f}")
assert abs(together / alone - 1) < 1e-5

# %% [markdown]
# All samples of a batch in one row, without padding, is the same: `PackCollator()` without a capacity.

# %%
one_row = list(DataLoader(data, batch_sampler=sampler, collate_fn=PackCollator()))
assert all(len(batch["input_ids"]) == 1 for batch in one_row)
assert abs(summed_loss(one_row) / alone - 1) < 1e-5

# %% [markdown]
# ## Two mistakes
#
# A 2-D mask says where tokens are, not to which sample they belong. If there is one, transformers does not look at
# `position_ids` any more, and each sample sees those before it in its row. A cache has the same effect, and `use_cache`
# is True by default in the configuration of most models. (`Trainer` turns it off.)

# %%
with_mask = [batch | {"attention_mask": torch.ones_like(batch["input_ids"])} for batch in packed]
with_cache = [batch | {"use_cache": True} for batch in packed]
for name, batches in {"a 2-D mask": with_mask, "a cache": with_cache}.items():
    wrong = summed_loss(batches)
    print(f"with {name}: {wrong:.2f}, {abs(wrong / alone - 1):.1%} off")
    assert abs(wrong / alone - 1) > 1e-3

# %% [markdown]
# ## A mask of four dimensions
#
# Some models do not look at `position_ids`. They may take a mask that says for each token which others it sees:
# `mask="4d"`. It takes capacity x capacity values for each row. Its type has to fit the attention of the model:
# `torch.bool` for sdpa, the type of the weights for sdpa and eager; flash attention takes no such mask.

# %%
collator = PackCollator(CAPACITY, mask="4d", mask_dtype=torch.bool)
masked = list(DataLoader(data, batch_sampler=sampler, collate_fn=collator))
print("attention_mask:", tuple(masked[0]["attention_mask"].shape))
assert abs(summed_loss(masked) / alone - 1) < 1e-5

# %% [markdown]
# ## Training
#
# `Trainer` takes the sampler and the collator as they are. So does that of transformers, on one process.

# %%
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=3,
        learning_rate=0.01,
        logging_strategy="epoch",
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        report_to=[],
    )
    trainer = Trainer(model, arguments, train_dataset=data, train_sampler=sampler, data_collator=PackCollator(CAPACITY))
    trainer.train()
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
print("loss of each epoch:", losses)
assert losses[-1] < losses[0]
