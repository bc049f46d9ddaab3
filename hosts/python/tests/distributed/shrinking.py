"""One rank of a job that is killed, and continued with another world size and a smaller budget.

    shrinking.py OUT CHECKPOINT MAX_TOKENS [STEP]

If CHECKPOINT exists, the job is resumed from it. With STEP, all processes of the job are killed after this step.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from samedeal import ContradictionError
from samedeal.torch import BatchSampler, Resumable, verify_ranks
from torch import nn
from torch.utils.data import DataLoader, Dataset

SAMPLES = 3_000
LENGTHS = [1 + i * 7919 % 97 for i in range(SAMPLES)]
WINDOW = 500
"""Number of samples in a window of batches. When a job is killed, some windows are complete, one is open, and others
are not begun."""
EPOCHS = 2
EVERY = 3
"""Steps between checkpoints."""


class Sequences(Dataset[Any]):  # type: ignore[misc]
    """Sample i: the number i, and LENGTHS[i] tokens."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.full((LENGTHS[index],), index / SAMPLES)


def collate(samples: list[Any]) -> tuple[list[int], torch.Tensor]:
    """Rows that are padded to the length of the longest row."""
    return [index for index, _ in samples], nn.utils.rnn.pad_sequence([row for _, row in samples], batch_first=True)


def main(out: Path, checkpoint: Path, max_tokens: int, death: int | None) -> None:
    """Trains, and writes the samples of each step."""
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    sampler = BatchSampler(LENGTHS, max_tokens=max_tokens, batch_window=WINDOW, seed=11)
    loader = Resumable(DataLoader(Sequences(), batch_sampler=sampler, collate_fn=collate, num_workers=2))
    torch.manual_seed(3)
    model = nn.parallel.DistributedDataParallel(nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if checkpoint.exists():
        found = torch.load(checkpoint)
        model.load_state_dict(found["model"])
        with pytest.raises(ContradictionError, match="max_tokens is"):
            sampler.load_state_dict(found["loader"])
        sampler.load_state_dict(found["loader"], replan=True)
    steps = 0
    with (out / f"steps-{rank}.jsonl").open("w") as log:
        for epoch in range(loader.epoch, EPOCHS):
            loader.set_epoch(epoch)
            verify_ranks(loader)
            expected = len(loader)
            taken = 0
            for samples, rows in loader:
                loss = model(rows.unsqueeze(2)).square().mean()
                optimizer.zero_grad()
                # The backward pass makes every rank wait for all others.
                loss.backward()
                optimizer.step()
                taken += 1
                steps += 1
                log.write(json.dumps([epoch, rows.numel(), samples]) + "\n")
                log.flush()
                if rank == 0 and steps % EVERY == 0:
                    saved = {"model": model.state_dict(), "loader": loader.state_dict(), "steps": steps}
                    torch.save(saved, out / "part")
                    (out / "part").rename(out / "checkpoint.pt")
                if steps == death:
                    os.kill(os.getpid(), signal.SIGKILL)
            assert taken == expected
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if sys.argv[4:] else None)
