"""Accelerate: loaders that it would deal a second time, and a training that is killed and resumed on any world size."""

from __future__ import annotations

import gc
import itertools
import json
import pickle
import subprocess
import warnings
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import accelerate
import accelerated
import measured
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from accelerate import data_loader
from jobs import logs, preload, ranks, torchrun
from samedeal import ContradictionError, Mesh, Schedule, WrongTypeError
from samedeal.accelerate import PreparedLoader, prepare
from samedeal.torch import (
    BatchSampler,
    DistributedSampler,
    EpochWarning,
    Resumable,
    ShardedDataset,
    StepBatchSampler,
    to_tensors,
    verify_ranks,
)
from torch.utils.data import DataLoader

HERE = Path(__file__).parent
WORLD = 2
DEATH = 11
"""The batch of each model after which the job ends: within an epoch, and within a step of accumulated gradients."""


preload("accelerate", "samedeal.accelerate")


def run(world_size: int, out: Path, *arguments: Any, start: Any = ranks) -> subprocess.CompletedProcess[str]:
    out.mkdir()
    job: subprocess.CompletedProcess[str] = start(world_size, HERE / "accelerated.py", out, *arguments)
    return job


def batches(out: Path, name: str, world_size: int) -> list[list[Any]]:
    """For each batch of each rank: the epoch, the samples, and whether the gradients made a step."""
    return logs(out, name, world_size)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that was killed."""
    folder = tmp_path_factory.mktemp("killed")
    job = run(WORLD, folder / "out", folder / "none", DEATH, start=torchrun)
    assert "SIGKILL" in job.stderr, job.stderr
    assert not list((folder / "out").glob("*.weights"))
    return folder / "out"


def test_every_sample_is_read_once(killed: Path, tmp_path: Path) -> None:
    """The world size stays; the tutorial shows other world sizes."""
    job = run(WORLD, tmp_path / "rest", killed)
    assert job.returncode == 0, job.stderr
    for kind, workers in accelerated.RUNS:
        name = f"{kind}-{workers}"
        steps = json.loads((killed / name / "steps.json").read_text())
        assert steps == DEATH // accelerated.ACCUMULATED * accelerated.ACCUMULATED
        before = [log[:steps] for log in batches(killed, name, WORLD)]
        after = batches(tmp_path / "rest", name, WORLD)
        for epoch in range(accelerated.EPOCHS):
            first, rest = (
                [i for log in logs for at, samples, _ in log if at == epoch for i in samples]
                for logs in (before, after)
            )
            assert bool(first) == (epoch == 0)
            left = accelerated.SAMPLES - len(first)
            padding = 0 if kind == "budget" else -left % WORLD
            assert len(rest) == left + padding
            assert {*first, *rest} == set(range(accelerated.SAMPLES))
        assert [one + other for one, other in zip(before, after, strict=True)] == batches(killed / "whole", name, WORLD)
        for rank in range(WORLD):
            weights = f"{name}-{rank}.weights"
            assert (tmp_path / "rest" / weights).read_text() == (killed / "whole" / weights).read_text()


def test_a_second_deal_loses_samples_and_is_told(killed: Path) -> None:
    told = [json.loads((killed / f"twice-{rank}.json").read_text()) for rank in range(WORLD)]
    for name in told[0]:
        for (kind, field, text), _ in (one[name] for one in told):
            assert (kind, field) == ("ContradictionError", "loader")
            assert "samedeal.accelerate.prepare" in text
            assert ("DataLoaderDispatcher" if name.startswith("dispatched") else "BatchSamplerShard") in text
        seen = {i for one in told for i in one[name][1]}
        # Only about half of the samples are seen: each loader deals its batches a second time, so the first samples
        # come again.
        assert len(seen) < accelerated.SAMPLES * 0.6, name


def shards(batch_sampler: Any, world_size: int = 2, *ranks: int, **options: Any) -> list[list[list[int]]]:
    """The batches that Accelerate gives to some processes, by default to all, of a batch sampler."""
    made = [
        data_loader.BatchSamplerShard(batch_sampler, world_size, rank, **options) for rank in ranks or range(world_size)
    ]
    return [[list(batch) for batch in one] for one in made]


def test_how_accelerate_deals() -> None:
    """The rules of `even_batches` and `split_batches` in Accelerate's documentation, which are the reason to leave
    dealt batches alone."""
    plain = torch.utils.data.BatchSampler(range(10), 4, drop_last=False)
    # Batches go to the processes in turn, and the first samples fill up the last batches.
    assert shards(plain) == [[[0, 1, 2, 3], [8, 9, 0, 1]], [[4, 5, 6, 7], [2, 3, 4, 5]]]
    assert shards(plain, even_batches=False) == [[[0, 1, 2, 3], [8, 9]], [[4, 5, 6, 7]]]
    assert shards(plain, split_batches=True) == [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [0, 1]]]
    dropped = torch.utils.data.BatchSampler(range(10), 4, drop_last=True)
    assert shards(dropped) == [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]
    # If batches have different lengths, Accelerate deals whole batches in turn: without padding, but one batch comes
    # twice.
    ours = BatchSampler([5, 1, 4, 2, 3, 3], max_tokens=9, rank=0, world_size=1, tail="keep")
    given = shards(ours)
    assert len(ours) % 2 == 1
    assert len(given[0]) == len(given[1]) == len(ours) // 2 + 1
    assert given[1][-1] in (given[0][0], given[1][0])


@pytest.mark.parametrize("epoch", [0, 3])
def test_steps_have_the_samples_that_accelerate_gives_them(epoch: int) -> None:
    """The seed is the same as with `use_seedable_sampler`. Only the process that gets a sample differs."""
    data = range(96)
    theirs, ours = [], []
    for rank in range(2):
        seedable = data_loader.SeedableRandomSampler(data, data_seed=7, generator=torch.Generator())
        seedable.set_epoch(epoch)
        theirs.append(shards(torch.utils.data.BatchSampler(seedable, 8, drop_last=False), 2, rank)[0])
        sampler = DistributedSampler(data, 2, rank, seed=7)
        sampler.set_epoch(epoch)
        ours.append([*torch.utils.data.BatchSampler(sampler, 8, drop_last=False)])
    for step in range(6):
        assert {*theirs[0][step], *theirs[1][step]} == {*ours[0][step], *ours[1][step]}


def test_one_process() -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    loader = prepare(accelerator, DataLoader(range(20), 4, sampler=DistributedSampler(range(20), 1, 0)))
    assert isinstance(loader, PreparedLoader)
    assert (len(loader), loader.dataset) == (5, range(20))
    last = []
    for number, batch in enumerate(loader):
        assert batch.device == accelerator.device
        last.append(accelerator.gradient_state.end_of_dataloader)
        # No sample of this batch is padding, so `gather_for_metrics` cuts nothing off.
        assert len(accelerator.gather_for_metrics(batch)) == 4
        if number == 1:
            state = loader.state_dict()
    assert last == [False] * 4 + [True]
    # A loop that is left early must remove its loader from the gradient state.
    for _ in loader:
        break
    assert loader not in accelerator.gradient_state.dataloader_references
    loader.load_state_dict(state)
    seen = [*itertools.chain(*loader)]
    assert (len(seen), len({int(i) for i in seen})) == (12, 12)
    # With one process, nothing is dealt again. `verify_ranks` finds the sampler within Accelerate's own loaders.
    verify_ranks(accelerator.prepare(DataLoader(range(20), 4, sampler=DistributedSampler(range(20), 1, 0))))
    verify_ranks(data_loader.skip_first_batches(loader.loader, 2))


@pytest.mark.parametrize("workers", [0, 2])
def test_steps(workers: int) -> None:
    """A training in global steps ends, is marked at its end, and is resumed from a state."""

    def prepared() -> PreparedLoader:
        sampler = StepBatchSampler(range(20), 8, steps=7, seed=3, rank=1, world_size=2)
        return prepare(accelerator, DataLoader(range(20), batch_sampler=sampler, num_workers=workers))

    accelerator = accelerate.Accelerator(cpu=True)
    loader, ends, seen = prepared(), [], []
    for number, batch in enumerate(loader):
        ends.append(accelerator.gradient_state.end_of_dataloader)
        seen.append(batch.tolist())
        if number == 2:
            state = loader.state_dict()
    assert ends == [False] * 6 + [True]
    schedule = Schedule(20, 8, seed=3, rank=1, world_size=2)
    assert seen == [schedule.batch(step).tolist() for step in range(7)]
    again = prepared()
    again.load_state_dict(state)
    assert len(again) == 4
    assert [batch.tolist() for batch in again] == seen[3:]


@pytest.mark.parametrize("workers", [0, 2])
def test_files(tmp_path: Path, workers: int) -> None:
    """A dataset in files, which has no sampler, is prepared, ended and resumed in the same way."""
    for number, rows in enumerate((50, 0, 83)):
        ids = range(50 * bool(number), 50 * bool(number) + rows)
        table = pa.table({"id": pa.array(ids, pa.int64())})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    accelerator = accelerate.Accelerator(cpu=True)
    dataset = ShardedDataset(tmp_path, batch_size=8, transform=to_tensors, seed=1)
    loader = prepare(accelerator, DataLoader(dataset, batch_size=None, num_workers=workers))
    assert accelerator.prepare(loader) is loader
    ends, seen = [], []
    for number, batch in enumerate(loader):
        ends.append(accelerator.gradient_state.end_of_dataloader)
        seen += batch["id"].tolist()
        if number == 4:
            state, first = loader.state_dict(), list(seen)
    assert ends == [False] * (len(loader) - 1) + [True]
    assert {*seen} == set(range(133))
    loader.load_state_dict(state)
    assert first + [i for batch in loader for i in batch["id"].tolist()] == seen


@pytest.mark.parametrize("world_size", [3, 4])
def test_metrics_have_each_sample_once(tmp_path: Path, world_size: int) -> None:
    """Every sample has one result, without those of padding. (Accelerate's own loader also returns 22 results for 22
    samples.)"""
    (tmp_path / "shards").mkdir()
    pq.write_table(pa.table({"id": range(measured.SAMPLES)}), tmp_path / "shards" / "0.parquet")
    job = ranks(world_size, HERE / "measured.py", tmp_path, tmp_path / "shards")
    assert job.returncode == 0, job.stderr
    told = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(world_size)]
    assert all(one == told[0] for one in told)
    for name, found in told[0].items():
        left = measured.SAMPLES
        if name == "dropped":
            # Each rank has six or eight samples, padding included. Whole batches of three have six of them.
            left = min(measured.SAMPLES, 6 * world_size)
            assert len(found["ids"]) == len({*found["ids"]}) == left
        else:
            assert sorted(found["ids"]) == list(range(measured.SAMPLES)), name
        assert sorted(found["tokens"]) == sorted([*found["ids"], *found["ids"]])
        assert found["objects"] == [str(i) for i in found["ids"]]
        if name in ("samples-4", "workers", "units"):
            # Each rank gives one number for each step. With one sample in a batch, this number would be taken for one
            # of the sample.
            assert found["losses"] == [world_size] * found["steps"]
        # The rest of an epoch has padding of its own.
        left -= found["consumed"]
        assert len(found["rest"]) == len({*found["rest"]}) == left or name == "dropped", name
        assert {*found["rest"]} <= {*found["ids"]} or name == "dropped"


@pytest.mark.parametrize("whole_windows", [True, False])
def test_a_state_counts_what_the_model_was_updated_with(tmp_path: Path, whole_windows: bool) -> None:
    """A state may be saved after any batch, even if a window of accumulation goes on into the next epoch, and in the
    first window after a resume."""
    data = range(22)

    def made() -> tuple[accelerate.Accelerator, PreparedLoader, Any, Any]:
        plugin = accelerate.utils.GradientAccumulationPlugin(num_steps=4, sync_with_dataloader=whole_windows)
        accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_plugin=plugin)
        model = torch.nn.Linear(1, 1)
        model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.01))
        loader = prepare(accelerator, DataLoader(data, 2, sampler=DistributedSampler(data, 1, 0, seed=1)))
        return accelerator, loader, model, optimizer

    def train(folder: Path, saved: Path | None = None) -> tuple[list[Any], list[int]]:
        """Each batch with the rate and the update that it made, and the number of batches in the model after it."""
        accelerator, loader, model, optimizer = made()
        if saved is not None:
            accelerator.load_state(str(saved))
        seen: list[Any] = []
        updated = [0]
        for epoch in range(loader.epoch, 3):
            loader.set_epoch(epoch)
            for batch in loader:
                with accelerator.accumulate(model):
                    accelerator.backward(model(batch.float().unsqueeze(1)).sum())
                    optimizer.step()
                    optimizer.zero_grad()
                seen.append((epoch, batch.tolist(), accelerator.sync_gradients))
                updated.append(len(seen) if accelerator.sync_gradients else updated[-1])
                accelerator.save_state(str(folder / str(len(seen))))
        return seen, updated

    whole, updated = train(tmp_path / "whole")
    assert len(whole) == 33
    assert [done for done in updated if done % 11 == 0 and done] != [] or not whole_windows
    for saved in (1, 3, 4, 6, 10, 11, 12, 14, 22, 33):
        folder = tmp_path / f"rest-{saved}"
        rest, again = train(folder, tmp_path / "whole" / str(saved))
        assert rest == whole[updated[saved] :], saved
        if saved == 6:
            # The resumed training saves again in its first window of accumulation.
            third, _ = train(tmp_path / "third", folder / "2")
            assert third == rest[again[2] :]


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    plain = DataLoader(range(20), 4)
    with pytest.raises(WrongTypeError, match="SequentialSampler"):
        prepare(accelerator, plain)
    with pytest.raises(WrongTypeError, match=r"an accelerate\.Accelerator"):
        prepare(None, plain)
    good = DataLoader(range(20), 4, sampler=DistributedSampler(range(20), 1, 0))
    with pytest.raises(ContradictionError, match="prepared by Accelerate"):
        prepare(accelerator, accelerator.prepare(good))
    with monkeypatch.context() as patch:
        # Two processes share data, as with tensor parallelism, which would need a device for each process.
        sharing = SimpleNamespace(non_data_parallel_size=2)
        patch.setattr(accelerate.Accelerator, "parallelism_config", property(lambda self: sharing))
        with pytest.raises(ContradictionError, match="of which 2 share data"):
            prepare(accelerator, good)
        shared = DistributedSampler(range(20), 2, 0, mesh=Mesh(2, {"dp": 1, "tp": 2}, shard=["dp"]))
        verify_ranks(shared)
        assert len(prepare(accelerator, DataLoader(range(20), 4, sampler=shared))) == 5
    del accelerator._custom_objects[:]
    assert isinstance(prepare(accelerator, Resumable(good)), PreparedLoader)
    for wrong in (plain, accelerator.prepare(plain)):
        with pytest.raises(WrongTypeError, match="or a loader with one"):
            verify_ranks(wrong)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("resumed", [False, True])
def test_a_retry_with_smaller_batches_begins_where_the_first_one_did(
    tmp_path: Path, workers: int, resumed: bool
) -> None:
    """With `find_executable_batch_size`, the samples of the attempt that ran out of memory come again, and its loader
    is no longer in checkpoints."""
    data = range(64)
    accelerator = accelerate.Accelerator(cpu=True)
    sampler = DistributedSampler(data, 1, 0, seed=5)
    whole = [*sampler]
    if resumed:
        other = accelerate.Accelerator(cpu=True)
        made = DataLoader(data, 8, sampler=DistributedSampler(data, 1, 0, seed=5))
        next(iter(prepare(other, made)))
        other.save_state(str(tmp_path / "saved"))
    attempts: list[list[int]] = []

    @accelerate.utils.find_executable_batch_size(starting_batch_size=16)  # type: ignore[untyped-decorator]
    def train(batch_size: int) -> None:
        accelerator.free_memory()
        attempts.append([])
        sampler = DistributedSampler(data, 1, 0, seed=5)
        loader = prepare(accelerator, DataLoader(data, batch_size, sampler=sampler, num_workers=workers))
        if resumed:
            accelerator.load_state(str(tmp_path / "saved"))
        for number, batch in enumerate(loader):
            if batch_size > 4 and number == 2:
                raise RuntimeError("CUDA out of memory.")
            attempts[-1] += batch.tolist()
        accelerator.save_state(str(tmp_path / "end"))

    train()
    first = 8 if resumed else 0
    # Accelerate makes batches smaller by a tenth, until there is memory for them.
    assert len(attempts) > 5
    assert attempts[0] == whole[first : first + 32]
    assert attempts[-1] == whole[first:]
    assert [path.name for path in (tmp_path / "end").glob("custom*")] == ["custom_checkpoint_0.pkl"]


@pytest.mark.parametrize("files", [False, True])
def test_a_retry_may_read_the_same_sampler_again(tmp_path: Path, files: bool) -> None:
    """A sampler that a failed attempt has read gives its epoch from the beginning, without a warning."""
    data = range(64)
    pq.write_table(pa.table({"id": data}), tmp_path / "0.parquet")
    accelerator = accelerate.Accelerator(cpu=True)
    sampler = DistributedSampler(data, 1, 0, seed=5)
    dataset = ShardedDataset(tmp_path, batch_size=4, transform=to_tensors, rank=0, world_size=1)
    seen: list[int] = []

    @accelerate.utils.find_executable_batch_size(starting_batch_size=16)  # type: ignore[untyped-decorator]
    def train(batch_size: int) -> None:
        accelerator.free_memory()
        plain: Any = DataLoader(data, batch_size, sampler=sampler)
        loader = prepare(accelerator, DataLoader(dataset, batch_size=None) if files else plain)
        loader.set_epoch(0)
        seen.clear()
        for number, batch in enumerate(loader):
            if batch_size == 16 and number == 2:
                raise RuntimeError("CUDA out of memory.")
            seen.extend(batch["id"].tolist() if files else batch.tolist())

    with warnings.catch_warnings():
        warnings.simplefilter("error", EpochWarning)
        train()
    assert seen == ([row["id"] for row in ShardedDataset(tmp_path)] if files else [*sampler])


def test_nothing_outlives_its_names() -> None:
    """Accelerator, loader, dataset and sampler are freed at once, without the garbage collector."""

    class Data(list[int]):
        """A dataset that can have weak references."""

    accelerator = accelerate.Accelerator(cpu=True)
    data = Data(range(20))
    loader = prepare(accelerator, DataLoader(data, 4, sampler=DistributedSampler(data, 1, 0)))
    for batch in loader:
        accelerator.gather_for_metrics(batch)
        break
    loader.state_dict()
    watched = [weakref.ref(one) for one in (accelerator, loader, data, loader.sampler)]
    gc.collect()
    gc.disable()
    try:
        # The accelerator holds the objects that it saves in checkpoints.
        accelerator.free_memory()
        del loader, data, batch
        assert [one() is None for one in watched] == [False, True, True, True]
        del accelerator
        assert watched[0]() is None
    finally:
        gc.enable()


def test_a_prepared_loader_is_not_taken_apart() -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    loader = prepare(accelerator, DataLoader(range(20), 4, sampler=DistributedSampler(range(20), 1, 0)))
    with pytest.raises(AttributeError, match="goes on by load_state_dict"):
        accelerate.skip_first_batches(loader, 2)
    running = Resumable(DataLoader(range(20), 4, sampler=DistributedSampler(range(20), 1, 0)))
    next(iter(running))
    running.load_state_dict(running.state_dict())
    with pytest.raises(AttributeError, match="skip a part again"):
        accelerate.skip_first_batches(running, 1)
    assert type(pickle.loads(pickle.dumps(accelerator.gradient_state))) is type(accelerator.gradient_state)
