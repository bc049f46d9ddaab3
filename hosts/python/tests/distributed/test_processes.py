"""Real ranks, with real loader workers, over real Parquet files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reader
from conftest import SAMPLES, SIZES, damaged
from jobs import alone, ranks, torchrun
from limits import HANG
from samedeal import Sampler, ShardPlan

HERE = Path(__file__).parent
WORLDS = (1, 3)
DEALS = tuple(reader.DEALS)
SPAWNED = {1: ["spawn:2:samples", "spawn:1:plain"], 3: ["spawn:2:shards"]}


def combinations(world_size: int) -> list[str]:
    """Every deal with every number of workers. Spawned workers are rare, because each imports torch anew."""
    usual = [f"default:{workers}:{deal}" for workers in range(4) for deal in DEALS]
    return usual + SPAWNED[world_size]


def expected(combination: str, epoch: int, rank: int, world_size: int) -> list[list[int]]:
    """The samples that each worker of a rank must read, from the plan and the sampler."""
    _, count, deal = combination.split(":")
    workers = max(1, int(count))
    options: dict[str, Any] = dict(reader.DEALS[deal])
    if options.pop("deal", "samples") == "samples":
        readers = [(rank + world_size * worker, world_size * workers) for worker in range(workers)]
        return [
            Sampler.sharded(SIZES, seed=11, epoch=epoch, rank=number, world_size=of, **options).indices().tolist()
            for number, of in readers
        ]
    options = {"shuffle": True, "policy": "size-aware", "worker_policy": "size-aware", **options}
    plan = ShardPlan(SIZES, world_size=world_size, workers=workers, seed=11, epoch=epoch, **options)
    bases = np.cumsum((0, *SIZES)).tolist()

    def rows_of(plan: ShardPlan, shard: int) -> list[int]:
        return plan.rows(shard).tolist() if options["shuffle"] else list(range(SIZES[shard]))

    return [
        [bases[shard] + row for shard in plan.shards(rank, worker).tolist() for row in rows_of(plan, shard)]
        for worker in range(workers)
    ]


@pytest.mark.parametrize("world_size", WORLDS)
def test_every_sample_once_and_in_order(data: Path, tmp_path: Path, world_size: int) -> None:
    run = ranks(world_size, HERE / "reader.py", data, tmp_path, *combinations(world_size))
    assert run.returncode == 0, run.stderr
    records: list[dict[str, Any]] = []
    for rank in range(world_size):
        records += json.loads((tmp_path / f"{rank}.json").read_text())
    assert len(records) == world_size * len(combinations(world_size)) * reader.EPOCHS
    for combination in combinations(world_size):
        for epoch in range(reader.EPOCHS):
            found = [r for r in records if r["combination"] == combination and r["epoch"] == epoch]
            for record in found:
                told = (combination, epoch, record["rank"])
                assert record["readers"] == expected(*told, world_size), told
            everything = sorted(i for record in found for ids in record["readers"] for i in ids)
            steps = [record["steps"] for record in found]
            assert [min(steps), max(steps)] == found[0]["promised"], combination
            if combination.endswith("padded"):
                # Every rank has the same number of steps. The repetitions that this needs are counted.
                assert len(set(steps)) == 1
                assert set(everything) == set(range(SAMPLES))
                readers = world_size * len(found[0]["readers"])
                assert len(everything) == -(-SAMPLES // readers) * readers
            else:
                assert everything == list(range(SAMPLES)), combination


def test_epochs_are_told_apart_by_workers_that_live_on() -> None:
    """The test above compares each epoch with `expected`, also in spawned workers that persist. So `expected` must
    differ between epochs."""
    assert expected("spawn:2:samples", 0, 0, 1) != expected("spawn:2:samples", 1, 0, 1)


def test_a_dimension_of_a_device_mesh_gives_peers_the_same_samples(data: Path, tmp_path: Path) -> None:
    run = ranks(4, HERE / "meshed.py", data, tmp_path)
    assert run.returncode == 0, run.stderr
    found = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(4)]
    assert [(rank, world_size) for rank, world_size, _ in found] == [(0, 2), (0, 2), (1, 2), (1, 2)]
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert set(found[0][2]) | set(found[2][2]) == set(range(SAMPLES))


@pytest.mark.parametrize("what", ["rank", "worker"])
def test_a_reader_that_dies_ends_the_run_and_spoils_nothing(data: Path, tmp_path: Path, what: str) -> None:
    run = ranks(3, HERE / "dying.py", data, tmp_path, what)
    assert run.returncode != 0
    # PyTorch names the signal of a worker that is a child of the rank; workers of a fork server are not.
    told = ("SIGKILL",) if what == "rank" else ("killed by signal", "exited unexpectedly")
    assert any(words in run.stderr for words in told), run.stderr
    assert not list(tmp_path.glob("*.done"))
    for rank in range(3):
        batches = [json.loads(line) for line in (tmp_path / f"{rank}.jsonl").read_text().splitlines()]
        options = {"lanes": 12, "shuffle_window": 8, "world_size": 6}
        workers = [Sampler.sharded(SIZES, rank=rank + 3 * worker, **options).indices() for worker in range(2)]  # type: ignore[arg-type]
        assert rank == 1 or batches
        for step, batch in enumerate(batches):
            at = step // 2 * 16
            assert batch == workers[step % 2][at : at + 16].tolist()


def test_validate_finds_a_good_run_good(data: Path) -> None:
    """The command runs under torchrun, as users start it."""
    run = torchrun(2, "-m", "samedeal.validate", data, "--workers", "2", "--batch-size", "100", "--epochs", "1")
    assert run.returncode == 0, run.stderr
    assert f"{SAMPLES:,} samples in {len(SIZES)} shards" in run.stdout
    assert "every sample was read as often as it should be" in run.stdout


@pytest.mark.parametrize("remainder", ["drop", "uneven"])
def test_validate_knows_what_is_to_be_left_out(data: Path, remainder: str) -> None:
    run = ranks(1, "-m", "samedeal.validate", data, "--workers", "4", "--remainder", remainder, "--epochs", "1")
    assert run.returncode == 0, run.stderr
    assert "every sample was read as often as it should be" in run.stdout


def test_a_dataset_that_is_older_than_the_process_group(data: Path) -> None:
    run = alone(HERE / "early.py", data)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{SAMPLES} samples once\n"


def test_validate_warns_of_unequal_steps(data: Path) -> None:
    arguments = ["--deal", "shards", "--policy", "round-robin", "--no-shuffle", "--epochs", "1", "--batch-size", "10"]
    run = ranks(2, "-m", "samedeal.validate", data, *arguments)
    assert run.returncode == 0, run.stderr
    assert "ranks end at different steps" in run.stdout


def test_validate_finds_a_wrong_run_wrong(data: Path) -> None:
    run = ranks(2, HERE / "twice.py", data, "--remainder", "uneven")
    assert run.returncode == 1
    assert "read too often" in run.stdout
    assert "read 2 times, 1 expected" in run.stdout or "read 0 times, 1 expected" in run.stdout


def test_validate_refuses_what_it_cannot_check(tmp_path: Path) -> None:
    for arguments, told in ([str(tmp_path)], "parquet"), ([str(tmp_path), "--epochs", "0"], "1 or more"):
        run = alone("-m", "samedeal.validate", *arguments)
        assert run.returncode == 2
        assert told in run.stderr


@pytest.mark.parametrize("workers", [0, 1])
def test_validate_tells_of_corrupt_pages_in_one_line(data: Path, tmp_path: Path, workers: int) -> None:
    folder = damaged(data, tmp_path / "damaged")
    # A rank that reads other files does not wait for the rank that failed.
    words = ["-m", "samedeal.validate", folder, "--deal", "shards", "--workers", str(workers), "--epochs", "1"]
    run = ranks(2, *words)
    assert run.returncode != 0
    lines = [line for line in run.stderr.splitlines() if line.startswith("samedeal.validate:")]
    assert len(lines) == 1
    assert f": {folder / '005.parquet'}: " in lines[0]
    assert "failed: 2\n" in run.stderr
    assert "Traceback" not in run.stderr
    assert "WRONG" not in run.stdout
    run = alone(*words)
    assert run.returncode == 2
    assert [line for line in run.stderr.splitlines() if "Warning" not in line][-1].startswith(
        "samedeal.validate: rank 0: "
    )
    assert "Traceback" not in run.stderr


def test_validate_reads_in_stored_order(data: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "samedeal.validate",
        str(data),
        "--no-shuffle",
        "--remainder",
        "drop",
        "--workers",
        "2",
    ]
    run = subprocess.run(words, capture_output=True, text=True, timeout=HANG, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("every sample was read as often as it should be") == 2
