"""Packed batches in real models of transformers: the loss equals that of the sequences one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from samedeal.torch import BatchSampler, PackCollator, PadCollator
from samedeal.transformers import Trainer
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch._dynamo.testing import CompileCounter
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.utils.data import DataLoader
from transformers import (
    AttentionInterface,
    DataCollatorForSeq2Seq,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    TrainingArguments,
)

CAPACITY = 48
CLOSE = 1e-6
"""The largest relative difference of losses by rounding: eager attention computes its softmax in float32."""
FAR = 1e-3
"""The smallest relative difference of losses by wrong attention in these models."""
SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZES: dict[str, Any] = {"vocab_size": 50, "bos_token_id": None, "eos_token_id": None, "initializer_range": 0.5}
LLAMA = LlamaConfig(**SIZES, **SHAPE, num_key_value_heads=2, max_position_embeddings=64)
MODELS: dict[str, tuple[Any, Any]] = {
    "llama": (LlamaForCausalLM, LLAMA),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**SIZES, **SHAPE, num_key_value_heads=2, max_position_embeddings=64)),
    "sliding": (MistralForCausalLM, MistralConfig(**SIZES, **SHAPE, num_key_value_heads=2, sliding_window=6)),
    # The model has only as many positions as the longest sample has tokens.
    "gpt2": (GPT2LMHeadModel, GPT2Config(**SIZES, n_embd=32, n_layer=2, n_head=4, n_positions=29)),
}


class Sequences(torch.utils.data.Dataset[dict[str, Any]]):  # type: ignore[misc]
    """Sequences as a tokenizer returns them, each with a mask of ones. The first tokens of some samples are no
    labels."""

    lengths = tuple(1 + (i * 7919 % 97) ** 2 % 29 for i in range(60))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, i: int) -> dict[str, Any]:
        tokens = torch.randint(1, 50, (self.lengths[i],), generator=torch.Generator().manual_seed(i))
        labels = tokens.clone()
        labels[: i % 3] = -100
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": labels}


def varlen(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float, **given: Any
) -> tuple[Any, None]:
    """The result of flash attention for sequences of different length, computed from its arguments alone."""
    assert attention_mask is None
    assert given["max_length_q"] == given["max_length_k"] == int(given["cu_seq_lens_q"].diff().max())
    rows, heads, width, size = query.shape
    repeated = (key.repeat_interleave(heads // key.shape[1], 1), value.repeat_interleave(heads // value.shape[1], 1))
    # Rows are joined end to end, as `_flash_attention_forward` joins them.
    q, k, v = (part.transpose(1, 2).reshape(rows * width, heads, size) for part in (query, *repeated))
    cuts = [given[f"cu_seq_lens_{name}"].tolist() for name in "qk"]
    assert cuts[0][-1] == cuts[1][-1] == len(q)
    found = []
    for i in range(len(cuts[0]) - 1):
        mine, seen = (slice(ends[i], ends[i + 1]) for ends in cuts)
        own = [part.transpose(0, 1) for part in (q[mine], k[seen], v[seen])]
        found.append(scaled_dot_product_attention(*own, is_causal=True, scale=scaling).transpose(0, 1))
    return torch.cat(found).reshape(rows, width, heads, size), None


AttentionInterface.register("varlen", varlen)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def model_of(kind: str, attention: str, dtype: torch.dtype = torch.float64) -> Any:
    """A small model with random weights, which are large enough that tokens influence each other."""
    torch.manual_seed(1)
    made, config = MODELS[kind]
    return made._from_config(config, attn_implementation=attention).to(dtype).eval()


def summed(model: Any, batches: Any) -> float:
    """The loss over all labels of the batches. The model shifts the labels, as usual."""
    with torch.no_grad():
        total = 0.0
        for batch in batches:
            logits, labels = model(**batch).logits[:, :-1], batch["labels"][:, 1:]
            total += float(cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum"))
        return total


def one_by_one(model: Any) -> float:
    data = Sequences()
    return summed(model, ({name: value[None] for name, value in data[i].items()} for i in range(len(data))))


def packed(collator: PackCollator, rows: int = 3) -> DataLoader[Any]:
    """A loader of packed batches: several rows with padding, or one row without, as the collator says."""
    options: dict[str, Any] = {"strategy": "pack", "capacity": CAPACITY, "max_batch_size": rows}
    sampler = BatchSampler(Sequences.lengths, rank=0, world_size=1, seed=4, **options)
    return DataLoader(Sequences(), batch_sampler=sampler, collate_fn=collator)


def off(found: float, wanted: float) -> float:
    return abs(found / wanted - 1)


# The attention of this test, "varlen", does not support a sliding window.
ATTENTIONS = [
    (kind, attention)
    for kind in MODELS
    for attention in ("sdpa", "eager", "varlen")
    if (kind, attention) != ("sliding", "varlen")
]


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("kind", "attention"), ATTENTIONS)
def test_the_loss_is_that_of_the_sequences_one_by_one(kind: str, attention: str, rows: int) -> None:
    wanted = one_by_one(model_of(kind, "sdpa"))
    model = model_of(kind, attention)
    for collator in (PackCollator(CAPACITY), PackCollator()):
        batches = list(packed(collator, rows))
        assert max(len(batch["input_ids"]) for batch in batches) == (1 if collator.capacity is None else rows)
        assert off(summed(model, batches), wanted) < CLOSE


@pytest.mark.parametrize("kind", MODELS)
def test_a_mask_of_ones_or_a_cache_mixes_samples(kind: str) -> None:
    """With a mask of ones or a cache, the same batches have another loss, so the collator leaves both out."""
    model = model_of(kind, "sdpa")
    wanted = one_by_one(model)
    assert off(summed(model, packed(PackCollator(CAPACITY, mask="2d"))), wanted) > FAR
    batches = list(packed(PackCollator(CAPACITY)))
    assert off(summed(model, [batch | {"use_cache": True} for batch in batches]), wanted) > FAR


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "gpt2"])
def test_masks_of_four_dimensions(kind: str, attention: str) -> None:
    """Masks of four dimensions keep samples apart if positions cannot: here the model gets other positions, and has a
    cache."""
    model = model_of(kind, attention)
    wanted = one_by_one(model)
    for dtype in (torch.float64, torch.bool)[: 2 if attention == "sdpa" else 1]:
        for collator in (
            PackCollator(CAPACITY, mask="4d", mask_dtype=dtype),
            PackCollator(mask="4d", mask_dtype=dtype),
        ):
            batches = [batch | {"use_cache": True} for batch in packed(collator)]
            assert off(summed(model, batches), wanted) < CLOSE


@pytest.mark.parametrize("capacity", [CAPACITY, None])
def test_trainer_takes_it(tmp_path: Path, capacity: int | None) -> None:
    """Both Trainers: the gradients of a step and the loss of an evaluation equal those of the samples one by one."""
    data = Sequences()
    alone = model_of("llama", "sdpa")
    count = 0
    for i in range(len(data)):
        labels = data[i]["labels"]
        count += int((labels[1:] != -100).sum())
    (sum_of_losses(alone, data) / count).backward()
    for made, more in (
        (transformers.Trainer, {}),
        (Trainer, {"train_sampler": BatchSampler(data.lengths, max_tokens=10**4, rank=0, world_size=1)}),
    ):
        model = model_of("llama", "sdpa")
        arguments = TrainingArguments(
            str(tmp_path),
            per_device_train_batch_size=len(data),
            per_device_eval_batch_size=len(data),
            max_steps=1,
            optim="sgd",
            learning_rate=1.0,
            max_grad_norm=0,
            lr_scheduler_type="constant",
            use_cpu=True,
            disable_tqdm=True,
            save_strategy="no",
            report_to=[],
            dataloader_pin_memory=False,
        )
        trainer = made(
            model, arguments, train_dataset=data, eval_dataset=data, data_collator=PackCollator(capacity), **more
        )
        loss = trainer.evaluate()["eval_loss"]
        assert off(loss * count, one_by_one(alone)) < CLOSE
        before = [parameter.detach().clone() for parameter in model.parameters()]
        trainer.train()
        for old, new, wanted in zip(before, model.parameters(), alone.parameters(), strict=True):
            torch.testing.assert_close(old - new.detach(), wanted.grad, rtol=1e-4, atol=1e-6)


def sum_of_losses(model: Any, data: Sequences) -> Any:
    total: Any = 0
    for i in range(len(data)):
        sample = {name: value[None] for name, value in data[i].items()}
        logits, labels = model(**sample).logits[:, :-1], sample["labels"][:, 1:]
        total = total + cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    return total


@pytest.mark.parametrize("collator", [PadCollator(), PackCollator(CAPACITY)], ids=["pad", "pack"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_rank_without_samples_adds_nothing(name: str, attention: str, collator: Any) -> None:
    made, config = MODELS[name]
    model = made._from_config(config, attn_implementation=attention)
    sampler = BatchSampler([3, 4, 5], max_tokens=8, rank=7, world_size=8)
    [batch] = DataLoader(Sequences(), batch_sampler=sampler, collate_fn=collator)
    loss = model(**batch, num_items_in_batch=5).loss
    loss.backward()
    assert loss.item() == 0
    gradients = [own.grad for own in model.parameters() if own.grad is not None]
    assert gradients
    assert not any(gradient.any() for gradient in gradients)


BUCKETS: dict[str, Any] = {
    "strategy": "bucket",
    "boundaries": [8, 16, 29],
    "max_tokens": 100,
    "max_length": 29,
    "separate_buckets": True,
}
ROWS: dict[str, Any] = {"strategy": "pack", "capacity": CAPACITY, "max_batch_size": 4, "tail": "keep"}


def served(options: dict[str, Any], collator: Any, world_size: int = 1) -> list[Any]:
    """The batches of all ranks."""
    ranks = [BatchSampler(Sequences.lengths, rank=rank, world_size=world_size, **options) for rank in range(world_size)]
    loaders = [DataLoader(Sequences(), batch_sampler=rank, collate_fn=collator) for rank in ranks]
    return [batch for loader in loaders for batch in loader]


def full_shapes(options: dict[str, Any]) -> list[tuple[int, int]]:
    return BatchSampler(Sequences.lengths, rank=0, world_size=1, **options).full_shapes


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_rows_of_padding_change_no_loss_and_no_gradient(kind: str, attention: str) -> None:
    # Eager attention computes its softmax in float32, in which the mask value of float64 is infinite. A row in which
    # all cells are masked would give nan.
    model = model_of(kind, attention, torch.float32)
    shapes = full_shapes(BUCKETS)
    filled = served(BUCKETS, PadCollator(shapes=shapes), 2)
    plain = served(BUCKETS, PadCollator(), 2)
    assert {tuple(batch["input_ids"].shape) for batch in filled} == set(shapes)
    assert any(len(one["input_ids"]) < len(other["input_ids"]) for one, other in zip(plain, filled, strict=True))
    for batch, wanted in zip(filled, plain, strict=True):
        rows = len(wanted["input_ids"])
        assert not batch["attention_mask"][rows:].any()
        assert (batch["labels"][rows:] == -100).all()
        if not (wanted["labels"][:, 1:] >= 0).any():
            # A batch without labels has no mean loss.
            continue
        model.zero_grad()
        loss = model(**wanted).loss
        loss.backward()
        gradients = [own.grad.clone() for own in model.parameters()]
        model.zero_grad()
        other = model(**batch).loss
        other.backward()
        assert off(other.item(), loss.item()) < 1e-5
        for own, gradient in zip(model.parameters(), gradients, strict=True):
            torch.testing.assert_close(own.grad, gradient, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("kind", "attention"), ATTENTIONS)
def test_full_packed_batches_have_the_same_loss(kind: str, attention: str) -> None:
    collator = PackCollator(CAPACITY, rows=4, pad_sequences_to_multiple_of=64, max_length=29)
    batches = served(ROWS, collator, 2)
    assert {tuple(batch["input_ids"].shape) for batch in batches} == {(4, CAPACITY)}
    assert {tuple(batch["cu_seq_lens_q"].shape) for batch in batches} == {(65,)}
    assert {batch["max_length_q"] for batch in batches} == {29}
    assert min(len(batch["input_ids"]) for batch in served(ROWS, PackCollator(CAPACITY), 2)) < 4
    if attention == "varlen":
        # The attention "varlen" needs the exact length of the longest sequence.
        longest = [int(batch["cu_seq_lens_q"].diff().max()) for batch in batches]
        names = ("max_length_q", "max_length_k")
        batches = [batch | dict.fromkeys(names, most) for batch, most in zip(batches, longest, strict=True)]
    assert off(summed(model_of(kind, attention), batches), one_by_one(model_of(kind, "sdpa"))) < CLOSE


def compiled(batches: list[Any], function: Any) -> int:
    """Number of times that a function of batches is compiled for these batches."""
    torch._dynamo.reset()
    counter = CompileCounter()
    called = torch.compile(function, backend=counter, dynamic=False)
    for batch in batches:
        called(**batch)
    torch._dynamo.reset()
    found: int = counter.frame_count
    return found


def test_a_model_is_compiled_once_for_each_boundary() -> None:
    model = model_of("llama", "sdpa")
    shapes = full_shapes(BUCKETS)
    assert len(shapes) == 3 < compiled(served(BUCKETS, PadCollator(), 2), model)
    assert compiled(served(BUCKETS, PadCollator(shapes=shapes), 2), model) == 3


def test_a_model_of_packed_rows_is_compiled_once() -> None:
    full = PackCollator(CAPACITY, rows=4, pad_sequences_to_multiple_of=64)
    assert compiled(served(ROWS, full, 2), model_of("llama", "sdpa")) == 1

    def attend(input_ids: Any, cu_seq_lens_q: Any, max_length_q: int, **others: Any) -> Any:
        # A function of the arguments of flash attention.
        return (cu_seq_lens_q.diff() < max_length_q).sum() + input_ids.sum()

    assert compiled(served(ROWS, full, 2), attend) == 1 < compiled(served(ROWS, PackCollator(CAPACITY), 2), attend)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("every", [1, 8])
def test_labels_of_their_own_length(side: str, every: int) -> None:
    """The collator of transformers for a model with an encoder and a decoder gives the same tensors."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel({"[PAD]": 0}, "[PAD]")), pad_token="[PAD]", padding_side=side
    )
    samples = [{"input_ids": [1, 2, 3], "labels": [5, 6, 7, 8, 9, 4]}, {"input_ids": [1, 2, 3, 4], "labels": [5]}]
    theirs = DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=every)([dict(sample) for sample in samples])
    made = PadCollator(own_width=["labels"], side=side, pad_to_multiple_of=every)(samples)
    assert {*made} == {*theirs}
    for name, values in made.items():
        assert values.tolist() == theirs[name].tolist(), name
    assert made["labels"].shape == (2, 6 if every == 1 else 8)
