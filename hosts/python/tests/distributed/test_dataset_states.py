"""States of `ShardedDataset`, taken and resumed by any number of ranks and workers."""

from __future__ import annotations

import importlib
import io
import itertools
import json
import pickle
import warnings
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import SIZES as LARGE_SIZES
from conftest import write
from samedeal import (
    ContradictionError,
    MissingError,
    MovedError,
    OutOfRangeError,
    Reading,
    SamedealError,
    Sampler,
    UnknownMemberError,
    WrongTypeError,
)
from samedeal.parquet import batches
from samedeal.torch import EpochWarning, Resumable, ShardedDataset
from torch.utils.data import DataLoader
from tqdm import tqdm

SIZES = (5, 0, 1, 13, 8, 2)
SAMPLES = sum(SIZES)
DEALS: dict[str, dict[str, Any]] = {
    "pad": {"lanes": 3, "shuffle_window": 2},
    "drop": {"lanes": 3, "shuffle_window": 2, "remainder": "drop"},
    "uneven": {"lanes": 4, "shuffle_window": 3, "remainder": "uneven"},
    "stored": {"shuffle": False, "remainder": "uneven"},
    "drop last": {"lanes": 3, "shuffle_window": 2, "remainder": "uneven", "drop_last": True},
    "shards": {"deal": "shards"},
    "plain": {"deal": "shards", "shuffle": False, "policy": "round-robin"},
    "shards drop last": {"deal": "shards", "drop_last": True},
}
READERS = [(1, 2, 2), (2, 2, 1), (2, 3, 2), (3, 2, 3)]
"""(ranks, workers, batch size)."""
LARGE: dict[str, dict[str, Any]] = {"samples": {"lanes": 8, "shuffle_window": 16}, "shards": {"deal": "shards"}}
OTHERS = [*READERS, (1, 1, 1), (2, 1, 4), (1, 4, 3)]

pytestmark = [
    pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning"),
    pytest.mark.filterwarnings("ignore::samedeal.torch.StepsWarning"),
]

Batches = list[list[int]]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards with few rows each."""
    return write(tmp_path_factory.mktemp("small") / "shards", SIZES, row_group=4)


class Job:
    """All ranks of a job, whose loaders take batches from their workers in turn."""

    def __init__(self, folder: Path, deal: str, readers: tuple[int, int, int], state: Any = None) -> None:
        world_size, self.workers, size = readers
        options = {
            "columns": ["id"],
            "seed": 3,
            "epoch": 2,
            "world_size": world_size,
            "batch_size": size,
            **DEALS[deal],
        }
        self.ranks = [ShardedDataset(folder, rank=rank, **options) for rank in range(world_size)]
        for dataset in self.ranks if state is not None else ():
            dataset.load_state_dict(state)
        self.whole = [self._loader(dataset) for dataset in self.ranks]

    def _loader(self, dataset: ShardedDataset) -> Batches:
        """The batches that a loader gives in a pass, one from each worker in turn. A worker without further batches is
        left out."""
        assert dataset.batch_size is not None
        queues = []
        for worker in range(self.workers):
            reader = dataset._group(self.workers).reader(dataset._core, dataset.rank, worker)
            found = batches(reader.tables(dataset.marks), dataset.batch_size, dataset.drop_last)
            queues.append([batch.column("id").to_pylist() for batch in found])
        turns = itertools.zip_longest(*queues)
        made = [batch for turn in turns for batch in turn if batch is not None]
        assert dataset._length(self.workers) == len(made)
        return made

    @property
    def steps(self) -> int:
        """Number of steps of the rank that has most."""
        most = max(map(len, self.whole))
        assert self.ranks[0].steps(self.workers) == (min(map(len, self.whole)), most)
        return most

    def take(self, steps: int) -> tuple[list[int], Any]:
        """The samples of the first steps, and the state that any rank saves after them."""
        states = []
        for dataset, own in zip(self.ranks, self.whole, strict=True):
            count = dataset._expect_steps(self.workers)
            if steps <= len(own):
                count.steps = steps
                states.append(dataset.state_dict())
        assert all(state == states[0] for state in states)
        return [i for own in self.whole for batch in own[:steps] for i in batch], json.loads(json.dumps(states[0]))


def check_rest(deal: str, first: list[int], job: Job) -> None:
    """Checks that the first samples and the rest are the epoch, up to the remainder that the deal pads or drops."""
    rest = [i for own in job.whole for batch in own for i in batch]
    seen = Counter(first + rest)
    readers = len(job.ranks) * job.workers
    if deal in ("uneven", "stored", "shards", "plain"):
        assert seen == Counter(range(SAMPLES))
    elif deal == "pad":
        assert set(seen) == set(range(SAMPLES))
        assert seen.total() - SAMPLES == -(SAMPLES - len(first)) % readers or not rest
    else:
        assert set(seen.values()) == {1}
        # The deal leaves out or repeats the remainder that cannot be divided among the readers, or among batches of
        # each reader.
        size = 2 if deal == "drop" else job.ranks[0].batch_size
        assert size is not None
        assert SAMPLES - seen.total() <= readers * (size - 1)


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("readers", READERS)
def test_every_step_on_the_same_readers(small: Path, deal: str, readers: tuple[int, int, int]) -> None:
    job = Job(small, deal, readers)
    for steps in range(job.steps + 1):
        state = job.take(steps)[1]
        again = Job(small, deal, readers, state)
        assert again.whole == [own[steps:] for own in job.whole]
        # A second state, taken after the resume, is the state of a run without interruption.
        for more in {1, again.steps // 2} if again.steps else ():
            assert again.take(more)[1] == job.take(steps + more)[1]


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("readers", READERS)
def test_every_step_on_other_readers(small: Path, deal: str, readers: tuple[int, int, int]) -> None:
    job = Job(small, deal, readers)
    others = itertools.cycle(other for other in OTHERS if other != readers)
    for steps in range(job.steps):
        first, state = job.take(steps)
        then = Job(small, deal, next(others), state)
        check_rest(deal, first, then)
        if steps % 2 == 0:
            continue
        # A second and a third interruption, each continued by another group of readers.
        for _ in range(2):
            more, state = then.take(then.steps // 3)
            first += more
            then = Job(small, deal, next(others), state)
            check_rest(deal, first, then)
        assert len(json.dumps(state)) < 1_000


def ids(batch: Any) -> list[int]:
    """The samples of a batch, as a transform."""
    found: list[int] = batch.column("id").to_pylist()
    return found


def dataset_of(data: Path, deal: str, rank: int, world_size: int, **options: Any) -> ShardedDataset:
    options = {"columns": ["id"], "batch_size": 50, "seed": 1, "transform": ids, **LARGE[deal], **options}
    return ShardedDataset(data, rank=rank, world_size=world_size, **options)


def loader_of(dataset: ShardedDataset, workers: int, made: Any = DataLoader, **options: Any) -> Any:
    return made(dataset, batch_size=None, num_workers=workers, **options)


def take(loader: Any, count: int) -> Batches:
    return list(itertools.islice(loader, count))


@pytest.mark.parametrize(("deal", "method"), [("samples", "fork"), ("samples", "spawn"), ("shards", "fork")])
def test_what_the_loop_got_of_workers_that_are_ahead(data: Path, deal: str, method: str) -> None:
    how: dict[str, Any] = {"multiprocessing_context": method, "prefetch_factor": 3, "persistent_workers": True}
    dataset = dataset_of(data, deal, 1, 2)
    loader = Resumable(loader_of(dataset, 2, **how))
    with tqdm(loader, file=io.StringIO()) as bar:
        whole = list(bar)
        assert bar.total == bar.n == len(whole) == len(loader)
    loader.set_epoch(1)
    others = list(loader)
    loader.set_epoch(0)
    for done in (1, len(whole) - 2):
        # Persistent workers follow the state.
        assert take(loader, done) == whole[:done]
        state = loader.state_dict()
        assert len(loader) == len(whole)
        loader.load_state_dict(state)
        assert len(loader) == len(whole) - done
        assert dataset.shard_info(0, 2).samples > 0
        passed = iter(loader)
        assert next(passed) == whole[done]
        assert len(loader) == len(whole) - done
        assert loader.state_dict() != state
        assert list(passed) == whole[done + 1 :]
        # The epoch after the rest is complete.
        loader.set_epoch(1)
        assert len(loader) == len(others)
        assert list(loader) == others
        loader.load_state_dict(state)
        assert loader.epoch == 0
        with pytest.warns(EpochWarning, match="left of epoch 0 is forgotten"):
            loader.set_epoch(1)
        assert take(loader, 2) == others[:2]
        loader.set_epoch(0)
    again = Resumable(loader_of(dataset_of(data, deal, 1, 2), 2))
    again.load_state_dict(pickle.loads(pickle.dumps(state)))
    again.set_epoch(0)
    assert list(again) == whole[done:]
    assert len(again) == len(whole)


@pytest.mark.parametrize("deal", LARGE)
@pytest.mark.filterwarnings("ignore:epoch 0 is read")
def test_without_workers_the_dataset_counts(data: Path, deal: str) -> None:
    dataset = dataset_of(data, deal, 0, 2)
    whole = list(dataset)
    assert dataset.state_dict() == dataset.state_dict(len(whole))
    with pytest.raises(OutOfRangeError, match="taken"):
        dataset.state_dict(10**6)
    passed = iter(dataset)
    assert [next(passed) for _ in range(5)] == whole[:5]
    state = dataset.state_dict()
    assert state == passed.state_dict() == dataset.state_dict(5)  # type: ignore[attr-defined]
    twin = dataset_of(data, deal, 0, 2)
    twin.load_state_dict(state)
    assert twin.steps().max == dataset.steps().max - 5
    rest = iter(twin)
    assert next(rest) == whole[5]
    assert list(rest) == whole[6:]
    assert list(twin) == whole
    # The state also resumes single rows, and batches of another size.
    rows = dataset_of(data, deal, 0, 2, batch_size=None, transform=lambda row: row["id"])
    rows.load_state_dict(state)
    assert list(rows) == [i for batch in whole[5:] for i in batch]
    # The workers of a plain loader read ahead of the loop, by an unknown number of batches, so its state is refused.
    plain = loader_of(dataset, 2)
    assert len(take(plain, 3)) == 3
    with pytest.raises(MissingError, match="Resumable"):
        dataset.state_dict()
    twin.load_state_dict(dataset.state_dict(3))
    assert list(Resumable(loader_of(twin, 2))) == list(Resumable(loader_of(dataset_of(data, deal, 0, 2), 2)))[3:]


@pytest.mark.parametrize("deal", LARGE)
@pytest.mark.parametrize(("workers", "options"), [(0, {}), (2, {}), (2, {"snapshot_every_n_steps": 3})])
@pytest.mark.filterwarnings("ignore:epoch . is read")
def test_under_the_loader_of_torchdata(data: Path, deal: str, workers: int, options: dict[str, Any]) -> None:
    made = importlib.import_module("torchdata.stateful_dataloader").StatefulDataLoader
    whole = []
    for epoch in (0, 1):
        dataset = dataset_of(data, deal, 1, 2, epoch=epoch)
        whole.append(list(loader_of(dataset, workers)))
    for done in (1, 7, len(whole[0]) - 1, len(whole[0])):
        iterator = iter(loader := loader_of(dataset_of(data, deal, 1, 2), workers, made, **options))
        assert take(iterator, done) == whole[0][:done]
        if done == len(whole[0]):
            assert list(iterator) == []
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        del iterator
        dataset = dataset_of(data, deal, 1, 2)
        loader = loader_of(dataset, workers, made, **options)
        loader.load_state_dict(state)
        if done == len(whole[0]):
            dataset.set_epoch(1)
            assert list(loader) == whole[1]
        else:
            assert list(loader) == whole[0][done:]
            dataset.set_epoch(1)
            assert list(loader) == whole[1]
    # A state after the last batch leaves no batches, so the next pass reads the epoch that is set.
    iterator = iter(loader := loader_of(dataset_of(data, deal, 1, 2), workers, made, **options))
    take(iterator, len(whole[0]))
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    del iterator
    dataset = dataset_of(data, deal, 1, 2)
    loader = loader_of(dataset, workers, made, **options)
    loader.load_state_dict(state)
    if workers or deal == "shards":
        # A worker knows only its own part of the epoch, and another rank may have more files. So it does not know
        # whether anything is left, and the warning names the method to call.
        dataset.set_epoch(0)
        assert list(loader) == []
    dataset.set_epoch(1)
    assert list(loader) == whole[1]
    # The dictionary of the loader, or a part of it, has a state only if there are no workers.
    iterator = iter(loader := loader_of(dataset_of(data, deal, 1, 2), workers, made))
    take(iterator, 4)
    state = loader.state_dict()
    del iterator
    dataset = dataset_of(data, deal, 1, 2)
    if workers == 0:
        for part in (state, state["fetcher_state"], state["dataset_state"]):
            dataset.load_state_dict(part)
            assert list(dataset) == whole[0][4:]
    else:
        each = state["_snapshot"]["_worker_snapshots"]["worker_0"]
        for part in (state, state["_snapshot"], each, each["fetcher_state"]):
            with pytest.raises(WrongTypeError, match=r"StatefulDataLoader; allowed: .*num_workers=0.*Resumable"):
                dataset.load_state_dict(part)
    # A state of Resumable has the place where the next pass begins. The workers of this loader follow it, too.
    counted = Resumable(loader_of(dataset_of(data, deal, 1, 2), workers))
    take(counted, 5)
    dataset = dataset_of(data, deal, 1, 2)
    dataset.load_state_dict(counted.state_dict())
    loader = loader_of(dataset, workers, made, **options)
    iterator = iter(loader)
    assert take(iterator, 4) == whole[0][5:9]
    state = loader.state_dict()
    del iterator
    loader = loader_of(dataset_of(data, deal, 1, 2), workers, made, **options)
    loader.load_state_dict(state)
    assert list(loader) == whole[0][9:]


def test_a_state_of_one_worker_goes_with_it_alone(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def inside(worker: int, workers: int) -> Any:
        info = SimpleNamespace(id=worker, num_workers=workers)
        monkeypatch.setattr("samedeal.torch.place.get_worker_info", lambda: info)
        found: Any = iter(dataset_of(data, "samples", 0, 2))
        return found

    first = inside(1, 3)
    whole = list(first)
    first = inside(1, 3)
    assert take(first, 4) == whole[:4]
    state = first.state_dict()
    again = inside(1, 3)
    again.load_state_dict(state)
    assert list(again) == whole[4:]
    for other, field in ((inside(0, 3), "worker"), (inside(1, 4), "workers")):
        with pytest.raises(ContradictionError) as caught:
            other.load_state_dict(state)
        assert caught.value.field == field
    for wrong in ({}, {"samedeal": "{}"}, {**state, "reader": 3}, {**state, "reader": {"world_size": 2}}):
        with pytest.raises(WrongTypeError):
            again.load_state_dict(wrong)
    monkeypatch.undo()
    with pytest.raises(WrongTypeError, match="one loader worker"):
        dataset_of(data, "samples", 0, 2).load_state_dict(state)


@pytest.mark.parametrize("deal", LARGE)
def test_states_that_are_not_of_this_dataset(data: Path, small: Path, deal: str) -> None:
    def told(error: type[SamedealError], dataset: ShardedDataset, state: Any) -> SamedealError:
        before = dataset._core.epoch, dataset.steps(2)
        with pytest.raises(error) as caught:
            dataset.load_state_dict(state)
        assert before == (dataset._core.epoch, dataset.steps(2))
        return caught.value

    dataset = dataset_of(data, deal, 0, 2)
    loader = Resumable(loader_of(dataset, 2))
    take(loader, 5)
    state = loader.state_dict()
    saved = json.loads(state["samedeal"])
    (segment,) = saved["history"]

    def text(**changes: Any) -> dict[str, str]:
        return {"samedeal": json.dumps(saved | changes)}

    def past(*segments: dict[str, Any]) -> dict[str, str]:
        return text(history=list(segments))

    other = told(ContradictionError, dataset_of(data, deal, 0, 2, seed=7), state)
    assert (other.field, other.value) == ("seed", "7")
    assert other.allowed.startswith("1, as in the state")
    other = told(ContradictionError, dataset_of(small, deal, 0, 2), state)
    assert (other.field, other.value) == ("paths", "6 files of 29 rows")
    options: dict[str, Any] = {"lanes": 7} if deal == "samples" else {"policy": "round-robin"}
    told(ContradictionError, dataset_of(data, deal, 0, 2, **options), state)
    sections = {"samples": "the section order", "shards": "the section shards"}
    another = "shards" if deal == "samples" else "samples"
    other = told(ContradictionError, dataset_of(data, another, 0, 2), state)
    assert (other.field, other.value) == ("recipe", sections[another])
    assert other.allowed.startswith(f"{sections[deal]}, as in the state")
    for wrong in (None, "{}", {}, {"samedeal": 3}, {"samedeal": "{}"}, {"samedeal": "[" * 9_000}):
        told(WrongTypeError, dataset, wrong)
    told(OutOfRangeError, dataset, {"samedeal": " " * (2**24 + 1)})
    for history in (3, "x", [3], [dict(list(segment.items())[1:])]):
        told(WrongTypeError, dataset, text(history=history))
    unknown = told(UnknownMemberError, dataset, text(history=[{**segment, "more": 1}]))
    assert (unknown.path, unknown.value) == ("history[0]", "more")
    for name, value in (("world_size", 0), ("workers", 2**17), ("batch_size", 0), ("steps", 10**5), ("steps", 0)):
        told(OutOfRangeError, dataset, past({**segment, name: value}))
    for name, odd in (("world_size", 2.0), ("steps", "1"), ("drop_last", 1), ("batch_size", -1), ("steps", 2**70)):
        told(WrongTypeError, dataset, past({**segment, name: odd}))
    # Every reader of every segment is counted one by one. The limit of readers keeps such a state from taking forever.
    many = {**segment, "steps": 1, "batch_size": 1, "world_size": 2**21, "workers": 1}
    counted = told(OutOfRangeError, dataset, past(*[many] * 9))
    assert counted.field == "history"
    assert counted.value.endswith(" readers")
    parts: list[dict[str, Any]] = [
        {"kind": "sampler"},
        {"recipe": 3},
        {"epoch": -1},
        {"consumed": 10**6},
    ]
    for part in parts:
        told(OutOfRangeError if "consumed" in part else WrongTypeError, dataset, text(**part))
    later = told(OutOfRangeError, dataset, text(samedeal=2, more=None))
    assert later.field == "samedeal"
    assert "update samedeal" in str(later)
    with pytest.raises(WrongTypeError, match="a state of a sampler"):
        Sampler.sharded(LARGE_SIZES, seed=1, lanes=8, shuffle_window=16).resume(state["samedeal"])
    with pytest.raises(ContradictionError, match="batch_size is 4"):
        Resumable(DataLoader(dataset, batch_size=4))
    dataset.load_state_dict(state)
    assert dataset._core.is_rest


@pytest.mark.parametrize("taken", [5, 6])
def test_states_are_what_any_host_resumes(data: Path, taken: int) -> None:
    loader = Resumable(loader_of(dataset_of(data, "samples", 0, 2), 2))
    take(loader, taken)
    state = loader.state_dict()
    assert set(state) == {"samedeal"}
    reading = Reading(LARGE_SIZES, seed=1, lanes=8, shuffle_window=16).resume(state["samedeal"])
    assert reading.is_rest
    assert reading.num_samples(0) == sum(LARGE_SIZES) - taken * 2 * 50
    dataset = dataset_of(data, "samples", 0, 1)
    dataset.load_state_dict(state)
    assert [i for batch in dataset for i in batch] == reading.indices(0).tolist()


@pytest.mark.parametrize("workers", [0, 2])
def test_an_epoch_that_was_read_is_left_without_a_warning(data: Path, workers: int) -> None:
    """The loader's length is the length of the whole epoch, however much of the epoch is left."""

    def made() -> Resumable:
        return Resumable(loader_of(dataset_of(data, "samples", 0, 2), workers))

    loader = made()
    whole = len(loader)
    iterator = iter(loader)
    for _ in range(whole):
        next(iterator)
    state = loader.state_dict()
    again = made()
    again.load_state_dict(state)
    assert (len(again), again.epoch_length) == (0, whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EpochWarning)
        again.set_epoch(1)
    assert len(list(again)) == whole
    again.load_state_dict(loader.state_dict(batches=1))
    with pytest.warns(EpochWarning, match="left of epoch 0 is forgotten"):
        again.set_epoch(1)


@pytest.mark.filterwarnings("ignore::samedeal.torch.EpochWarning")
@pytest.mark.parametrize("workers", [0, 2])
def test_passes_of_others_do_not_count(small: Path, workers: int) -> None:
    dataset = ShardedDataset(small, rank=0, world_size=1, batch_size=2, columns=["id"], lanes=4, shuffle_window=2)
    loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))
    start = loader.state_dict()
    length = len(loader)
    assert list(DataLoader(dataset, batch_size=None, num_workers=2 - workers))
    assert loader.state_dict() == start
    batches = iter(loader)
    first = list(itertools.islice(batches, 3))
    state = loader.state_dict()
    assert state != start
    next(iter(dataset))
    assert loader.state_dict() == state
    assert len(first) + len(list(batches)) == length
    batches = iter(loader)
    next(batches)
    loader.set_epoch(1)
    with pytest.raises(MovedError):
        next(batches)


UNEQUAL: dict[str, dict[str, Any]] = {
    "round robin": {"deal": "shards", "shuffle": False, "policy": "round-robin", "worker_policy": "round-robin"},
    "uneven": {"lanes": 4, "shuffle_window": 3, "remainder": "uneven"},
}


def unequal(folder: Path, deal: str, world_size: int, state: Any = None) -> list[ShardedDataset]:
    """The datasets of all ranks, each made as in its own process."""
    options: dict[str, Any] = {"batch_size": 20, "columns": ["id"], "transform": ids, **UNEQUAL[deal]}
    ranks = [ShardedDataset(folder, rank=rank, world_size=world_size, **options) for rank in range(world_size)]
    for dataset in ranks if state is not None else ():
        dataset.load_state_dict(state)
    return ranks


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files with 40 and 101 rows. If files are dealt, the two ranks have 2 and 6 batches. If samples are dealt,
    they have 71 and 70 rows."""
    return write(tmp_path_factory.mktemp("two") / "shards", (40, 101))


@pytest.mark.filterwarnings("ignore::samedeal.torch.StepsWarning", "ignore:epoch 0 is read")
@pytest.mark.parametrize("deal", UNEQUAL)
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("world_size", [1, 2, 3, 5])
def test_a_pass_that_has_ended_leaves_nothing_to_any_rank(two: Path, deal: str, workers: int, world_size: int) -> None:
    loaders = [Resumable(loader_of(dataset, workers)) for dataset in unequal(two, deal, world_size)]
    assert sorted(i for loader in loaders for batch in loader for i in batch) == list(range(141))
    states = [loader.state_dict() for loader in loaders]
    # The rank with the fewest batches has the same state as the rank with the most.
    assert all(state == states[0] for state in states)
    if workers == 0:
        # The dataset's own counter agrees.
        datasets = unequal(two, deal, world_size)
        assert all(list(dataset) is not None for dataset in datasets)
        assert [dataset.state_dict() for dataset in datasets] == states
    for other in (1, 2, 3):
        assert all(len(Resumable(loader_of(dataset, 0))) == 0 for dataset in unequal(two, deal, other, states[0]))


@pytest.mark.filterwarnings("ignore::samedeal.torch.StepsWarning")
@pytest.mark.parametrize("deal", UNEQUAL)
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 6])
def test_ranks_that_have_fewer_batches_took_all_of_them(two: Path, deal: str, steps: int) -> None:
    def taken(ranks: list[ShardedDataset]) -> tuple[list[int], list[Any]]:
        """The samples that the loops got in `steps` steps, and the states of the loops that had as many steps."""
        read, states = [], []
        for dataset in ranks:
            loader = Resumable(loader_of(dataset, 0))
            batches = take(loader, min(steps, len(loader)))
            read += [i for batch in batches for i in batch]
            if len(batches) == steps:
                states.append(loader.state_dict())
        assert all(state == states[0] for state in states)
        return read, states

    first, states = taken(unequal(two, deal, 2))
    if not states:
        assert sorted(first) == list(range(141))
        return
    for other in (1, 2, 3, 5):
        rest = unequal(two, deal, other, states[0])
        assert sorted(first + [i for dataset in rest for batch in dataset for i in batch]) == list(range(141))
    # A second interruption, after the same number of steps, on another world size.
    more, again = taken(unequal(two, deal, 3, states[0]))
    for other in (1, 2, 3, 5) if again else ():
        rest = unequal(two, deal, other, again[0])
        assert sorted(first + more + [i for dataset in rest for batch in dataset for i in batch]) == list(range(141))


@pytest.mark.filterwarnings("ignore:epoch 0 is read")
@pytest.mark.parametrize(
    ("deal", "options", "told"),
    [
        ("samples", {"lanes": 7}, "lanes is 7; allowed: 8, as in the state"),
        ("samples", {"shuffle_window": 9}, "shuffle_window is 9; allowed: 16, as in the state"),
        ("stored", {"shuffle": True}, "order is sharded; allowed: sequential, as in the state"),
        (
            "shards",
            {"policy": "round-robin"},
            "policy is round-robin; allowed: size-aware, as in the state",
        ),
        ("shards", {"worker_policy": "round-robin"}, "worker_policy is round-robin; allowed: size-aware, as in"),
        ("shards", {"shuffle": False}, "shuffle is false; allowed: true, as in the state"),
        ("shards", {"shuffle_rows": False}, "shuffle_rows is false; allowed: true, as in"),
        ("shards", {"reshuffle": True}, "reshuffle is true; allowed: false, as in"),
        ("shards", {"balance_by": "bytes"}, "balance_by is bytes; allowed: samples, as in"),
        ("weighed", {"columns": ["id"]}, "bytes in the columns id; allowed: "),
        *((deal, "sizes", "of 24 rows; allowed: 23, as in") for deal in ("samples", "stored", "shards")),
        *(
            (deal, "files", "paths is 9 files of 2238 rows; allowed: shards 8, as in")
            for deal in ("samples", "stored", "shards")
        ),
    ],
)
def test_what_differs_from_a_state_is_named(data: Path, tmp_path: Path, deal: str, options: Any, told: str) -> None:
    deals: dict[str, dict[str, Any]] = {
        **LARGE,
        "stored": {"shuffle": False},
        "weighed": {"deal": "shards", "balance_by": "bytes", "columns": ["id", "text"]},
    }

    def made(folder: Path, **more: Any) -> ShardedDataset:
        return ShardedDataset(folder, **{"batch_size": 50, "rank": 0, "world_size": 2, **deals[deal], **more})

    dataset = made(data)
    next(passed := iter(dataset))
    state = json.loads(json.dumps(passed.state_dict()))  # type: ignore[attr-defined]
    if isinstance(options, str):
        sizes = list(LARGE_SIZES)
        # The total number of rows stays equal.
        sizes[4:6] = [24, sizes[5] - 1] if options == "sizes" else sizes[4:6]
        other = made(write(tmp_path, (*sizes, *([0] if options == "files" else []))))
    else:
        other = made(data, **options)
    with pytest.raises(ContradictionError) as caught:
        other.load_state_dict(state)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 600
    dataset.load_state_dict(state)


def test_another_remainder_goes_on(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=50, rank=0, world_size=2, remainder="pad")
    dataset.load_state_dict(ShardedDataset(data, batch_size=50, rank=0, world_size=2, remainder="drop").state_dict(3))
    assert dataset.shard_info().samples == len(dataset.sampler()) - 150
