"""TRL's trainers that generate: each prompt and each generation batch comes as often as with TRL alone."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import generated
import jobs
import pytest
import samedeal
import torch
from accelerate.data_loader import BatchSamplerShard
from generated import COPIES, PROMPTS, Own, trainer
from samedeal import ContradictionError
from samedeal.torch import BatchSampler, DistributedSampler
from samedeal.transformers import _plan_of, _Prompts
from trl import GRPOTrainer
from trl.trainer.utils import RepeatSampler

jobs.preload("samedeal.transformers", "trl")


def train(made: type[Any], out: Path, checkpoint: Path | None = None, **options: Any) -> tuple[list[list[int]], int]:
    seen: list[list[int]] = []
    one = trainer(made, out, seen, **options)
    one.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    return seen, one.state.global_step


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gradient_accumulation_steps": 1, "steps_per_generation": 2},
        {"num_iterations": 2},
        {"num_iterations": 2, "gradient_accumulation_steps": 1, "steps_per_generation": 2},
        {"shuffle_dataset": False},
        {"num_generations": 4, "per_device_train_batch_size": 2},
    ],
    ids=str,
)
def test_the_first_epoch_is_that_of_trl(tmp_path: Path, options: dict[str, Any]) -> None:
    theirs, ours = (train(made, tmp_path / made.__name__, **options) for made in (GRPOTrainer, Own))
    assert ours == theirs
    # A generation batch has whole groups of copies; the remainder is dropped.
    copies = options.get("num_generations", COPIES)
    assert set(Counter(i for batch in ours[0] for i in batch).values()) == {copies}


def test_a_training_goes_on(tmp_path: Path) -> None:
    """A checkpoint lies between two generation batches, or within one. In the second case, this generation batch comes
    again."""
    whole, steps = train(Own, tmp_path / "whole", num_train_epochs=2)
    rest, again = train(Own, tmp_path / "rest", tmp_path / "whole" / "checkpoint-4", num_train_epochs=2)
    assert (rest, again) == (whole[4:], steps)
    options: dict[str, Any] = {"num_iterations": 2}
    whole, steps = train(Own, tmp_path / "twice", **options)
    rest, again = train(Own, tmp_path / "more", tmp_path / "twice" / "checkpoint-3", **options)
    assert rest == whole[1:]
    # One update more: the first half of the generation batch was trained on before the checkpoint, and comes again.
    assert again == steps + 1


def test_a_training_goes_on_with_more_processes(tmp_path: Path) -> None:
    first, _ = train(Own, tmp_path / "one")
    (tmp_path / "two").mkdir()
    job = jobs.ranks(2, Path(generated.__file__), tmp_path / "two", tmp_path / "one" / "checkpoint-3")
    assert job.returncode == 0, job.stderr
    logs = [json.loads((tmp_path / "two" / f"{rank}.json").read_text()) for rank in range(2)]
    # Three updates of one process had 8 completions each; an update of two processes has 16.
    before, after = [i for batch in first[:3] for i in batch], [i for log, _ in logs for batch in log for i in batch]
    assert {step for _, step in logs} == {3 + len(after) // 16}
    assert set(Counter(before + after).values()) == {COPIES}
    assert PROMPTS - len(set(before + after)) == (PROMPTS - len(set(before))) % 8


@pytest.mark.parametrize(("processes", "copies", "local"), [(1, 2, 8), (2, 2, 6), (2, 4, 2), (3, 8, 8), (4, 2, 2)])
def test_batches_are_those_of_accelerate(processes: int, copies: int, local: int) -> None:
    """The batches are equal for any number of processes, even if processes share the copies of a prompt."""
    theirs = RepeatSampler(range(100), copies, processes * local // copies, repeat_count=3, seed=7)
    for rank in range(processes):
        batches = torch.utils.data.BatchSampler(theirs, local, drop_last=False)
        shard = BatchSamplerShard(batches, processes, rank) if processes > 1 else batches
        plan = _plan_of(torch.utils.data.DataLoader(range(100), batch_sampler=shard), None)
        order = samedeal.order("torch", 100, seed=plan.seed).copies(plan.copies)
        ours = _Prompts(range(100), processes, rank, order=order, unit=plan.batch_size, drop_last=True)
        theirs.generator.manual_seed(7)
        repeated = [batch for batch in torch.utils.data.BatchSampler(ours, local, True) for _ in range(plan.repeats)]
        # Accelerate deals the repetitions of a generation batch to the processes in turn.
        assert repeated == list(shard)


def test_a_sampler_that_does_not_repeat_is_refused(tmp_path: Path) -> None:
    data, order = range(PROMPTS), samedeal.order("feistel", PROMPTS, seed=3)
    for given in (
        DistributedSampler(data, 1, 0),
        DistributedSampler(data, 1, 0, order=order),
        DistributedSampler(data, 1, 0, order=order.copies(4), unit=4),
        DistributedSampler(data, 1, 0, order=order.copies(2), unit=3),
        BatchSampler([1] * PROMPTS, max_tokens=8),
    ):
        with pytest.raises(ContradictionError, match=r"train_sampler.*copies\(2\)"):
            trainer(Own, tmp_path, [], given).train()
    seen: list[list[int]] = []
    given = DistributedSampler(data, 1, 0, order=order.copies(2), unit=2, drop_last=True)
    trainer(Own, tmp_path, seen, given, num_iterations=2).train()
    flat = [i for batch in seen for i in batch]
    assert flat == samedeal.Sampler(order=order.copies(2)).indices().tolist()[: len(flat)]
    assert len(flat) == 48
