"""Saved by Python, finished by others: a training job is killed, and the Rust command and Node read the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import train

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "hosts/python/tests"))

import watch  # noqa: E402

HANG = 1800
"""Seconds after which a process counts as hung."""
Ranks = list[list[list[int]]]
"""The samples of each batch of each rank."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that was killed."""
    out = tmp_path_factory.mktemp("killed")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(train.WORLD)]
    job = watch.run([*launcher, train.__file__, out])
    assert job.returncode != 0
    assert "SIGKILL" in job.stderr, job.stderr
    (out / "lengths.json").write_text(json.dumps(train.LENGTHS))
    return out


def rust(kind: str, killed: Path, world_size: int, rest: bool = True) -> Ranks:
    """The batches from the command, which runs once for each rank."""
    asked = ["batches", f"--seed={train.SEED}", f"--world-size={world_size}", "--all", "--json"]
    if kind in train.BATCHERS:
        options = train.BATCHERS[kind].items()
        asked += [str(killed / "lengths.json"), "--lengths"]
        asked += [f"--{name.replace('_', '-')}={value}" for name, value in options]
    else:
        asked += [f"--samples={train.SAMPLES}", f"--order={kind}", f"--batch-size={train.BATCH}"]
        asked += ["--remainder=uneven"]
    # The state has the epoch of the rest.
    asked += ["--resume", str(killed / f"{kind}-0.state")] if rest else [f"--epoch={train.EPOCH}"]
    ranks = []
    for rank in range(world_size):
        command = [ROOT / "target/debug/samedeal", *asked, f"--rank={rank}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)["batches"]
        ranks.append([batch["samples"] for batch in found] if kind in train.BATCHERS else found)
    return ranks


def node(kind: str, killed: Path, world_size: int) -> Ranks:
    """The batches from the npm package."""
    request = {
        "options": {"seed": train.SEED, "world_size": world_size},
        "state": (killed / f"{kind}-0.state").read_text(),
    }
    if kind in train.BATCHERS:
        names = {"max_batch_size": "maxBatchSize", "max_tokens": "maxTokens"}
        options = {names.get(name, name): value for name, value in train.BATCHERS[kind].items()}
        request["lengths"] = train.LENGTHS
    else:
        options = {"order": kind, "remainder": "uneven"}
        request |= {"samples": train.SAMPLES, "batchSize": train.BATCH}
    request["options"] |= options
    script = Path(__file__).with_name("rest.mjs")
    done = subprocess.run(
        ["node", script], input=json.dumps(request), capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr
    found: Ranks = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", [*train.SAMPLERS, *train.BATCHERS])
def test_the_rest_is_read_by_another_language(killed: Path, kind: str) -> None:
    states = {(killed / f"{kind}-{rank}.state").read_text() for rank in range(train.WORLD)}
    assert len(states) == 1
    read = [json.loads((killed / f"{rank}.json").read_text())[kind] for rank in range(train.WORLD)]
    assert [len(batches) for batches in read] == [train.SAVED] * train.WORLD
    hosts: list[tuple[Callable[[str, Path, int], Ranks], int]] = [(rust, 3), (node, 5), (node, 1)]
    for finish, world_size in hosts:
        rest = finish(kind, killed, world_size)
        assert len(rest) == world_size
        assert all(rest)
        seen = Counter(sample for ranks in (read, rest) for batches in ranks for batch in batches for sample in batch)
        # All samples of the epoch are there, and none comes twice.
        assert seen == Counter(range(train.SAMPLES)), (finish, world_size)


@pytest.mark.parametrize("kind", [*train.SAMPLERS, *train.BATCHERS])
def test_on_the_same_world_nothing_has_happened(killed: Path, kind: str) -> None:
    read = [json.loads((killed / f"{rank}.json").read_text())[kind] for rank in range(train.WORLD)]
    whole = rust(kind, killed, train.WORLD, rest=False)
    for finish in (rust, node):
        rest = finish(kind, killed, train.WORLD)
        assert [before + after for before, after in zip(read, rest, strict=True)] == whole
