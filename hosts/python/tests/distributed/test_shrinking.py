"""A run that is killed twice within an epoch, and continues each time with another world size and another budget of
tokens."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import torch
from jobs import logs, ranks
from shrinking import EPOCHS, EVERY, LENGTHS, SAMPLES

HERE = Path(__file__).parent
LIVES = [(2, 512, 47), (3, 256, 71), (1, 384, None)]
"""For each job: its world size, its budget, and the step after which all of its ranks are killed."""


def test_every_sample_is_read_once(tmp_path: Path) -> None:
    counts = [Counter[int]() for _ in range(EPOCHS)]
    checkpoint = tmp_path / "none"
    for number, (world_size, max_tokens, death) in enumerate(LIVES):
        out = tmp_path / str(number)
        out.mkdir()
        job = ranks(world_size, HERE / "shrinking.py", out, checkpoint, max_tokens, *([death] if death else []))
        if death is None:
            assert job.returncode == 0, job.stderr
            kept = None
        else:
            assert "SIGKILL" in job.stderr, job.stderr
            checkpoint = out / "checkpoint.pt"
            kept = torch.load(checkpoint)["steps"]
            # The last steps before the kill are not in the checkpoint, so their samples are read again.
            assert 0 < death - kept < EVERY
        steps = [log[:kept] for log in logs(out, "steps", world_size)]
        # Every rank has the same number of steps in each epoch.
        assert len({tuple(epoch for epoch, _, _ in log) for log in steps}) == 1
        for log in steps:
            for epoch, tokens, samples in log:
                assert tokens == len(samples) * max(LENGTHS[sample] for sample in samples)
                assert tokens <= max_tokens
                counts[epoch].update(samples)
        # The job is killed within the first epoch.
        assert death is None or sum(counts[0].values()) < SAMPLES
    for count in counts:
        assert count == Counter(range(SAMPLES))
