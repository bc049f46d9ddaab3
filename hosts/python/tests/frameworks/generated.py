"""Training with TRL's GRPOTrainer, which generates: `generated.py OUT [CHECKPOINT]` writes which prompts it read."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import datasets
import torch
from samedeal.transformers import TrainerMixin
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

PROMPTS = 25
COPIES = 2
"""Completions that are compared with each other."""


class Own(TrainerMixin, GRPOTrainer):  # type: ignore[misc]
    """The trainer of TRL with states."""


def trainer(made: type[Any], out: Path, seen: list[list[int]], given: Any = None, **options: Any) -> Any:
    """A trainer of a model that says one word. It adds the prompts of each batch to `seen`."""
    words = {"<pad>": 0, "<end>": 1, **{f"w{i}": i + 2 for i in range(PROMPTS)}}
    known = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
    known.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=known, pad_token="<pad>", eos_token="<end>")
    torch.manual_seed(0)
    shape = {"vocab_size": len(words), "hidden_size": 8, "intermediate_size": 8, "max_position_embeddings": 16}
    model = LlamaForCausalLM(LlamaConfig(num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, **shape))

    def reward(number: list[int], **_: Any) -> list[float]:
        seen.append(list(number))
        return [float(i) for i in range(len(number))]

    rows = {"prompt": [f"w{i}" for i in range(PROMPTS)], "number": list(range(PROMPTS))}
    config: dict[str, Any] = {
        "per_device_train_batch_size": 4,
        "num_generations": COPIES,
        "gradient_accumulation_steps": 2,
    }
    config |= {"num_train_epochs": 1, "save_steps": 1, "seed": 5, "max_completion_length": 1, "temperature": 1.0}
    config |= {"use_cpu": True, "bf16": False, "disable_tqdm": True, "report_to": [], "dataloader_pin_memory": False}
    config |= {"ddp_backend": "gloo"} if "RANK" in os.environ else {}
    arguments = GRPOConfig(output_dir=str(out), **config | options)
    more = {} if given is None else {"train_sampler": given}
    return made(model, reward, arguments, datasets.Dataset.from_dict(rows), processing_class=tokenizer, **more)


if __name__ == "__main__":
    torch.set_num_threads(1)
    read: list[list[int]] = []
    one = trainer(Own, Path(sys.argv[1]), read, save_strategy="no")
    one.train(resume_from_checkpoint=sys.argv[2] if sys.argv[2:] else None)
    Path(sys.argv[1], f"{os.environ['RANK']}.json").write_text(json.dumps([read, one.state.global_step]))
    torch.distributed.destroy_process_group()
