"""`lanes="auto"`: the dataset chooses its lanes, and a state keeps those that it was made with."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs import ranks
from samedeal import ContradictionError, Order, OutOfRangeError, Reading, WrongTypeError, recipe_after
from samedeal.files import Shards, Sources
from samedeal.torch import LanesNote, LanesWarning, Resumable, ShardedDataset
from samedeal.torch.board import FAILED
from samedeal.torch.lanes import group_rows
from torch.utils.data import DataLoader

HERE = Path(__file__).parent
ROWS, FILES, GROUP = 9_600, 6, 40
pytestmark = pytest.mark.filterwarnings(
    "ignore::samedeal.torch.LanesNote", "ignore::samedeal.torch.LanesWarning", "ignore::samedeal.torch.EpochWarning"
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """9,600 rows in 6 files of different sizes, in row groups of 40."""
    folder = tmp_path_factory.mktemp("auto")
    for number, part in enumerate(np.split(np.arange(ROWS), [1_000, 3_000, 3_400, 6_000, 8_000])):
        pq.write_table(pa.table({"id": part}), folder / f"{number}.parquet", row_group_size=GROUP)
    return folder


def auto(paths: Any, rank: int = 0, world_size: int = 1, **options: Any) -> ShardedDataset:
    given = {"lanes": "auto", "batch_size": 8, "remainder": "uneven", **options}
    return ShardedDataset(paths, rank=rank, world_size=world_size, **given)


def all_of(paths: Any, world_size: int, **options: Any) -> list[ShardedDataset]:
    return [auto(paths, rank, world_size, **options) for rank in range(world_size)]


def lanes_of(dataset: ShardedDataset) -> tuple[int, int]:
    order = json.loads(dataset.recipe)["order"]
    while "lanes" not in order:
        order = order["of"] if "of" in order else order["sources"][0]["order"]
    return order["lanes"], order["shuffle_window"]


class Index:
    """A whole number of another library."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


def without_ends(files: Any) -> Any:
    return files.exclude([0, 9_599])


def rows_of(batches: Any, count: int | None = None) -> list[int]:
    return [row for batch in itertools.islice(batches, count) for row in batch.column("id").to_pylist()]


@pytest.mark.parametrize("readers", [1, 3, 8, 60, 120])
@pytest.mark.parametrize("batch", [None, 8, 200])
def test_the_choice_is_that_of_the_core(data: Path, readers: int, batch: int | None) -> None:
    dataset = auto(data, batch_size=batch, max_readers=readers)
    found = Reading([ROWS], batch_size=batch or 1).suggested_lanes(GROUP, readers)
    assert found is not None
    assert lanes_of(dataset) == (found.lanes, found.shuffle_window)
    assert found.lanes % readers == 0
    whole = auto(data, batch_size=batch, lanes=found.lanes, shuffle_window=found.shuffle_window)
    assert dataset.recipe == whole.recipe
    assert f"lanes={found.lanes}" in repr(dataset)


def test_the_number_of_ranks_counts_without_max_readers(data: Path) -> None:
    for world_size in (1, 3):
        for rank in range(world_size):
            expected = auto(data, lanes="auto", max_readers=8 * world_size)
            assert auto(data, rank, world_size).recipe.split('"deal"')[0] == expected.recipe.split('"deal"')[0]


@pytest.mark.filterwarnings("ignore::samedeal.torch.StepsWarning")
@pytest.mark.parametrize(("world_size", "workers"), [(8_192, 8), (9_000, 7), (40_000, 1), (65_536, 1)])
def test_many_ranks_have_fewer_workers_in_the_choice(data: Path, world_size: int, workers: int) -> None:
    told = f"at most {world_size * workers} readers .{world_size} ranks x {workers} worker{'s' * (workers > 1)};"
    with pytest.warns(LanesNote, match=told):
        dataset = auto(data, world_size=world_size)
    assert lanes_of(dataset)[0] == world_size * workers


def test_rank_0_says_once_what_was_chosen_and_why(data: Path) -> None:
    told = (
        r'^lanes="auto" chose lanes=64: 16 for each of at most 4 readers, with 9,600 rows in an epoch and about 40 '
        r"rows in a row group; and shuffle_window=256\. Each row is read once by any number of readers that divides 64,"
    )
    with pytest.warns(LanesNote, match=told) as caught:
        dataset = auto(data, world_size=4, max_readers=4)
    assert [warning.category for warning in caught] == [LanesNote]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader = Resumable(DataLoader(dataset, batch_size=None, num_workers=1))
        for epoch in range(2):
            loader.set_epoch(epoch)
            list(loader)
    with pytest.warns(LanesNote, match=r"8 readers \(1 rank x 8 workers; max_readers=N provides for another number\)"):
        auto(data, shuffle_window=32)
    with pytest.warns(LanesNote, match=r"vary about 67 times as much as by chance: smaller row groups, or"):
        auto(data, batch_size=200, max_readers=32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        auto(data, rank=1, world_size=4, max_readers=4)
        # Advice on other lanes would contradict the choice.
        warnings.simplefilter("ignore", LanesNote)
        next(iter(auto(data, batch_size=200, max_readers=32, world_size=32)))
    with pytest.warns(
        LanesWarning, match=r"5 readers .* do not divide 64 lanes.*; in a new run with max_readers=5 or lanes=65, each "
    ):
        next(iter(auto(data, world_size=5, max_readers=64)))


def test_one_row_needs_no_advice(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [0]}), tmp_path / "0.parquet")
    with pytest.warns(LanesNote, match="with 1 row in an epoch and about 1 row in a row group; and") as caught:
        auto(tmp_path, batch_size=200)
    assert "smaller" not in str(caught[0].message)


def test_a_given_window_stays(data: Path) -> None:
    assert lanes_of(auto(data, shuffle_window=32))[1] == 32
    dataset = auto(data, shuffle_window=32, max_readers=2)
    for window in (np.int64(32), Index(32)):
        assert lanes_of(auto(data, shuffle_window=window)) == lanes_of(dataset_of_32 := auto(data, shuffle_window=32))
        assert auto(data, shuffle_window=window).recipe == dataset_of_32.recipe
    for wrong in (0, -1, 2**20 + 1, 2**63, "8", True, 1.5):
        with pytest.raises((OutOfRangeError, WrongTypeError), match="shuffle_window is"):
            auto(data, shuffle_window=wrong)
    with pytest.raises(ContradictionError, match="shuffle_window"):
        dataset.load_state_dict(auto(data, lanes=4).state_dict(0))
    dataset.load_state_dict(auto(data, lanes=4, shuffle_window=32).state_dict(0))
    assert lanes_of(dataset) == (4, 32)


@pytest.mark.parametrize("then", [(3, 6), (1, 1), (5, 60)])
def test_lanes_of_a_state_win(data: Path, then: tuple[int, int]) -> None:
    """Files are unchanged, but another number of readers would choose other lanes."""
    begun = all_of(data, 2, max_readers=2, seed=5)
    lanes = lanes_of(begun[0])
    seen = [row for dataset in begun for row in rows_of(dataset, 100)]
    state = begun[0].state_dict(100)
    world_size, readers = then
    later = all_of(data, world_size, max_readers=readers, batch_size=200, seed=5)
    assert lanes_of(later[0]) != lanes
    for dataset in later:
        dataset.load_state_dict(state)
        assert lanes_of(dataset) == lanes
        assert json.loads(recipe_after(dataset.state_dict(0)["samedeal"]))["order"]["lanes"] == lanes[0]
        seen += rows_of(dataset)
    assert sorted(seen) == list(range(ROWS))
    # The next epochs have these lanes too, and so do copies and states of them.
    fixed = all_of(data, world_size, lanes=lanes[0], shuffle_window=lanes[1], batch_size=200, epoch=1, seed=5)
    for dataset, plain in zip(later, fixed, strict=True):
        expected = rows_of(plain)
        for each in (copy.copy(dataset), pickle.loads(pickle.dumps(dataset)), dataset):
            each.set_epoch(1)
            assert each.recipe == plain.recipe
            assert rows_of(each) == expected


def test_a_state_that_is_refused_changes_nothing(data: Path) -> None:
    dataset = auto(data, max_readers=2)
    before = dataset.recipe, rows_of(dataset, 3)
    others: tuple[dict[str, Any], ...] = ({"seed": 1}, {"lanes": 7, "seed": 1}, {"shuffle": False, "lanes": None})
    for other in others:
        with pytest.raises(ContradictionError):
            dataset.load_state_dict(auto(data, **{"lanes": 4, **other}).state_dict(0))
        assert (dataset.recipe, rows_of(dataset, 3)) == before


def test_an_order_is_made_once_for_a_state(data: Path) -> None:
    made: list[int] = []

    def order(files: Order) -> Order:
        made.append(1)
        return files.exclude([5])

    dataset = auto(data, order=order, max_readers=2, max_failed_rows=9)
    state = {**auto(data, lanes=4, order=order).state_dict(0), FAILED: [[3, 2]]}
    made.clear()
    dataset.load_state_dict(state)
    assert (len(made), lanes_of(dataset)[0], dataset.failed_rows) == (1, 4, [range(3, 5)])
    dataset.load_state_dict(state)
    begun: Any = iter(dataset)
    next(begun)
    begun.load_state_dict(state)
    assert len(made) == 1
    begun.load_state_dict({**auto(data, lanes=6, order=order).state_dict(0), FAILED: [[3, 3]]})
    assert (len(made), lanes_of(dataset)[0], dataset.failed_rows) == (3, 6, [range(3, 6)])


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("persistent", [False, True])
def test_workers_follow_to_the_lanes_of_a_state(data: Path, method: str, persistent: bool) -> None:
    """Also if the workers began before the state was loaded, with other lanes."""

    def loader_of(**options: Any) -> Resumable:
        known = {"num_workers": 2, "multiprocessing_context": method, "persistent_workers": persistent}
        return Resumable(DataLoader(auto(data, **options), batch_size=None, **known))

    first = loader_of(lanes=6)
    batches = iter(first)
    rows_of(batches, 4)
    state = first.state_dict()
    expected = rows_of(batches)
    first.set_epoch(1)
    after = rows_of(first)
    loader = loader_of(max_readers=2)
    next(iter(loader))
    assert lanes_of(loader.dataset) != (6, 256)
    loader.load_state_dict(state)
    assert rows_of(loader) == expected
    loader.set_epoch(1)
    assert rows_of(loader) == after


def test_a_mixture_has_one_number_of_lanes(data: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    pq.write_table(pa.table({"id": np.arange(4_000)}), small / "0.parquet", row_group_size=100)
    parts = {"large": data, "small": small}
    given: dict[str, Any] = {"weights": {"large": 3, "small": 1}, "max_readers": 4, "seed": 2}
    dataset = auto(parts, **given)
    assert group_rows(dataset.shards) == GROUP + 100
    found = Reading([ROWS + 4_000], batch_size=8).suggested_lanes(GROUP + 100, 4)
    assert found is not None
    sources = json.loads(dataset.recipe)["order"]["sources"]
    assert [source["order"]["lanes"] for source in sources] == [found.lanes] * 2
    assert json.loads(dataset.recipe)["order"]["by_lane"]
    assert dataset.shard_info(0, 4).reads == 1
    # Fewer rows in an epoch have fewer row groups.
    short = auto(parts, samples=2_800, **given)
    fewer = Reading([2_800], batch_size=8).suggested_lanes(GROUP + 100, 4)
    assert fewer is not None
    assert lanes_of(short)[0] == fewer.lanes < found.lanes

    begun = all_of(parts, 2, **given)
    before = [row for each in begun for row in rows_of(each, 30)]
    state = begun[0].state_dict(30)
    later = [auto(parts, rank, 4, **{**given, "max_readers": 20}, stages=iter([(9_600, [1, 1])])) for rank in range(4)]
    assert lanes_of(later[0])[0] != found.lanes
    for each in later:
        each.load_state_dict(state)
        before += rows_of(each)
    plain = auto(parts, lanes=found.lanes, weights=given["weights"], seed=2, stages=[(9_600, [1, 1])])
    assert sorted(before) == sorted(rows_of(plain))


def test_an_order_of_the_caller_is_made_again(data: Path) -> None:
    calls: list[Any] = []

    def without(files: Any) -> Any:
        calls.append(files)
        return files.exclude([0, 1, 9_599])

    known: dict[str, Any] = {"order": without, "seed": 4}
    dataset = auto(data, max_readers=2, **known)
    assert len(calls) == 1
    begun = auto(data, lanes=6, **known)
    seen = rows_of(begun, 50)
    dataset.load_state_dict(begun.state_dict(50))
    assert {order.to_dict()["lanes"] for order in calls[2:]} == {6}
    assert lanes_of(dataset)[0] == 6
    seen += rows_of(dataset)
    assert sorted(seen) == list(range(2, 9_599))


@pytest.mark.parametrize("look", [repr, lambda dataset: dataset.sampler(0, 2).indices().tolist()])
def test_the_main_process_takes_the_lanes_of_the_board(data: Path, look: Any) -> None:
    """Whatever is asked first after a worker has loaded a state with other lanes."""
    dataset = auto(data, max_readers=2)
    dataset._board.lanes = (6, 256)
    assert look(dataset) == look(auto(data, lanes=6))


def test_a_stateful_loader_reads_the_lanes_of_its_state(data: Path) -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader

    first = StatefulDataLoader(auto(data, lanes=6), batch_size=None, num_workers=2)
    batches = iter(first)
    rows_of(batches, 4)
    state = first.state_dict()
    expected = rows_of(batches)
    dataset = auto(data, max_readers=2)
    again = StatefulDataLoader(dataset, batch_size=None, num_workers=2)
    again.load_state_dict(state)
    assert rows_of(again) == expected
    assert "lanes=6" in repr(dataset)
    sampler, reading = dataset.sampler(0, 2), dataset.reading(2)
    assert sampler.indices().tolist() == reading.indices(0, 0).tolist()


def test_copies_have_the_order_of_the_caller(data: Path) -> None:
    state = auto(data, lanes=6, order=without_ends).state_dict(50)
    expected = auto(data, lanes=6, order=without_ends)
    expected.load_state_dict(state)
    rows = rows_of(expected)
    named = auto(data, max_readers=2, order=without_ends)
    unnamed = auto(data, max_readers=2, order=lambda files: files.exclude([0, 9_599]))
    sent = pickle.loads(pickle.dumps(unnamed))
    assert rows_of(sent) == rows_of(unnamed)
    told = r"lanes is 64; allowed: 6, with shuffle_window=256, as the state has: .*at the top level of a module"
    with pytest.raises(ContradictionError, match=told):
        sent.load_state_dict(state)
    for twin in (
        pickle.loads(pickle.dumps(named)),
        copy.deepcopy(named),
        copy.deepcopy(unnamed),
        copy.copy(unnamed),
        unnamed,
    ):
        twin.load_state_dict(state)
        assert rows_of(twin) == rows
    # After it, the state needs no other lanes.
    pickle.loads(pickle.dumps(unnamed)).load_state_dict(state)


def test_spawned_workers_make_the_order_of_the_caller_again(data: Path) -> None:
    state = auto(data, lanes=6, order=without_ends).state_dict(50)
    known = {"batch_size": None, "num_workers": 1, "multiprocessing_context": "spawn", "persistent_workers": True}
    loader = Resumable(DataLoader(auto(data, max_readers=2, order=without_ends), **known))
    next(iter(loader))
    loader.load_state_dict(state)
    expected = auto(data, lanes=6, order=without_ends)
    expected.load_state_dict(state)
    assert rows_of(loader) == rows_of(expected)


def test_a_mixture_has_lanes_that_divide_its_samples(tmp_path: Path) -> None:
    """192 lanes would be nearer to the batch size, but each of 8 readers would read all of them."""
    for name in "ab":
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"id": np.arange(20_000)}), tmp_path / name / "0.parquet", row_group_size=20)
    parts = {name: tmp_path / name for name in "ab"}
    given: dict[str, Any] = {"weights": {"a": 1, "b": 1}, "batch_size": 48, "max_readers": 8}
    assert lanes_of(auto(parts, **given)) == (192, 256)
    for options, lanes in (
        ({"samples": 25_600}, 160),
        ({"samples": np.int64(25_600), "by_lane": True}, 160),
        ({"samples": 25_600, "stages": [(64, {"a": 1, "b": 3})]}, 64),
        ({"samples": 192 * 100}, 192),
        ({"stages": [(Index(8), {"a": 1, "b": 3})]}, 8),
    ):
        with pytest.warns(LanesNote, match=rf"chose lanes={lanes}: {lanes // 8} for each .* by any number of readers"):
            dataset = auto(parts, **given, **options)
        assert lanes_of(dataset) == (lanes, 256)
        assert dataset.shard_info(0, 8).reads == 1
    told = r"lanes=192: .*by_lane=True was not possible, so that all readers read .*samples is 25601; .*samples=25728$"
    with pytest.warns(LanesNote, match=told):
        dataset = auto(parts, samples=25_601, **given)
    assert dataset.shard_info(0, 8).reads == 8
    # Where other numbers of lanes would not help, the choice stays.
    for options in ({"samples": 25_600, "by_lane": False}, {"samples": 25_600, "exhaustion": "fail"}):
        assert lanes_of(auto(parts, **given, **options))[0] == 192
    # Fewer lanes have larger windows, and the note is about them.
    given |= {"batch_size": 200, "max_readers": 4}
    assert lanes_of(auto(parts, **given)) == (400, 163)
    with pytest.warns(LanesNote, match=r"shuffle_window=256\. If neighbouring .* vary about 3 times"):
        assert lanes_of(auto(parts, samples=2**8 * 151, **given)) == (256, 256)


def test_row_groups_are_counted_in_every_file(data: Path, tmp_path: Path) -> None:
    shards = Shards.find(data)
    assert group_rows(shards) == GROUP
    Shards.save_manifest(data, tmp_path / "manifest")
    known = Shards.find(data, manifest=tmp_path / "manifest")
    assert group_rows(known) == GROUP
    lost = Shards.find(data, lost={shards.paths[0]: 1_000})
    assert group_rows(lost) == GROUP
    assert group_rows(Sources.join({"one": shards, "two": lost})) == 2 * GROUP
    empty = tmp_path / "empty"
    empty.mkdir()
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), empty / "0.parquet")
    assert group_rows(Shards.find(empty)) == 1
    # A row is in a row group of 10 rows or, three times as often, in one of 30.
    uneven = tmp_path / "uneven"
    uneven.mkdir()
    for number, rows in enumerate((10, 30)):
        pq.write_table(pa.table({"id": np.arange(rows)}), uneven / f"{number}.parquet")
    assert group_rows(Shards.find(uneven)) == 25
    lines = tmp_path / "lines"
    lines.mkdir()
    (lines / "0.jsonl").write_text("".join(f'{{"id": {i}}}\n' for i in range(500)))
    dataset = auto(lines, max_readers=2)
    assert sorted(rows_of(dataset)) == list(range(500))


def test_what_is_refused(data: Path) -> None:
    with pytest.raises(WrongTypeError, match=r"lanes is 'many'; allowed: a whole number, or \"auto\""):
        auto(data, lanes="many")
    for options in ({"deal": "shards", "remainder": None}, {"shuffle": False}):
        with pytest.raises(ContradictionError, match="lanes is auto"):
            auto(data, **options)
    for lanes in (None, 8):
        with pytest.raises(ContradictionError, match="max_readers is 8"):
            auto(data, lanes=lanes, max_readers=8)
    for number in (0, -1, 2**16 + 1):
        with pytest.raises(OutOfRangeError, match="max_readers is"):
            auto(data, max_readers=number)
    with pytest.raises(OutOfRangeError, match="max_readers is 3; allowed: 4 or more: there are so many ranks"):
        auto(data, world_size=4, max_readers=3)
    with pytest.raises(OutOfRangeError, match=r"^samples is 9007199254740992; allowed: 0 to 9007199254740991$"):
        auto({"a": data, "b": data}, weights={"a": 1, "b": 1}, samples=2**53)
    with pytest.raises(WrongTypeError, match="max_readers"):
        auto(data, max_readers="8")


def test_real_ranks_and_workers(data: Path, tmp_path: Path) -> None:
    """Two ranks with two workers each stop; three ranks with one worker, and another choice, read the rest."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    run = ranks(2, HERE / "choosing.py", data, first, "-", 2, 4, 50)
    assert not run.returncode, run.stderr
    run = ranks(3, HERE / "choosing.py", data, second, first / "state", 1, 120, 0)
    assert not run.returncode, run.stderr
    found = [json.loads((first / f"{rank}.json").read_text()) for rank in range(2)]
    rest = [json.loads((second / f"{rank}.json").read_text()) for rank in range(3)]
    assert {each["lanes"] for each in found + rest} == {64}
    assert [each["notes"] for each in found + rest] == [1, 0, 1, 0, 0]
    assert [each["reads"] for each in found + rest] == [1, 1, 3, 3, 3]
    assert sorted(row for each in found + rest for row in each["rows"]) == list(range(ROWS))
