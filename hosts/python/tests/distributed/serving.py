"""Ranks that say where their loader workers come from, and one that is killed beside them: `serving.py OUT KILL`."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

READ_AT = os.getpid()
"""The process that has read this file. Its forks do not read it again."""


class Places(Dataset[Any]):  # type: ignore[misc]
    """Samples that are the number of the process that reads them, of its parent, and of the reader of this file."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> list[int]:
        return [os.getpid(), os.getppid(), READ_AT]


def main(out: Path, kill: bool) -> None:
    """Writes the places of the workers of two loaders."""
    dist.init_process_group("gloo")
    found = []
    for _ in range(2):
        loader = DataLoader(Places(), batch_size=None, num_workers=2, persistent_workers=True)
        # Threads of gloo end an operation right before the workers start.
        dist.all_reduce(torch.ones(1))
        found += list(batches := iter(loader))
    (out / "part").write_text(json.dumps([os.getpid(), found]))
    (out / "part").rename(out / "places.json")
    if kill:
        os.kill(os.getpid(), signal.SIGKILL)
    del batches
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "kill")
