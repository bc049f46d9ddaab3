"""Jobs of several ranks, as `torchrun` starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from limits import HANG


def torchrun(world_size: int, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """A script and its arguments, in so many processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world_size)]
    # One thread each: the ranks share few cores.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    words = [*command, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=HANG, env=environment, check=False)


def logs(out: Path, name: str, world_size: int) -> list[list[Any]]:
    """What each rank has written, a line at a time."""
    texts = [(out / f"{name}-{rank}.jsonl").read_text().splitlines() for rank in range(world_size)]
    return [[json.loads(line) for line in text] for text in texts]
