"""`ShardedDataset` in one process."""

from __future__ import annotations

import copy
import functools
import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import samedeal
import torch
from conftest import SAMPLES, SIZES, damaged, write
from limits import HANG
from samedeal import (
    Batcher,
    ContradictionError,
    Mesh,
    MissingError,
    OutOfRangeError,
    Reading,
    Sampler,
    ShardPlan,
    UnknownNameError,
    WrongTypeError,
)
from samedeal.parquet import Shards
from samedeal.torch import (
    BatchSampler,
    DistributedSampler,
    LanesWarning,
    PackedDataset,
    PartsDataset,
    ShardedDataset,
    StepsWarning,
    to_tensors,
)
from samedeal.torch.tensors import compact
from torch.utils.data import DataLoader

pytestmark = pytest.mark.filterwarnings("ignore::samedeal.torch.StepsWarning")


def rows_of(plan: ShardPlan, shard: int, shuffle: bool) -> list[int]:
    return plan.rows(shard).tolist() if shuffle else list(range(SIZES[shard]))


def ids(dataset: ShardedDataset) -> list[int]:
    assert dataset.batch_size is not None
    return [i for batch in dataset for i in batch.column("id").to_pylist()]


@pytest.mark.parametrize(("lanes", "window"), [(1, 1), (1, 5_000), (4, 10), (6, 64), (64, 1_024), (3_000, 7)])
@pytest.mark.parametrize("world_size", [1, 2, 3, 5])
@pytest.mark.parametrize("remainder", ["pad", "drop", "uneven"])
@pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning")
def test_samples_come_in_the_order_of_the_sampler(
    data: Path, lanes: int, window: int, world_size: int, remainder: str
) -> None:
    for rank in range(world_size):
        place = {
            "lanes": lanes,
            "shuffle_window": window,
            "remainder": remainder,
            "rank": rank,
            "world_size": world_size,
        }
        dataset = ShardedDataset(data, batch_size=50, columns=["id"], seed=3, epoch=1, **place)  # type: ignore[arg-type]
        sampler = Sampler.sharded(SIZES, seed=3, epoch=1, **place)  # type: ignore[arg-type]
        assert ids(dataset) == sampler.indices().tolist()


@pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning")
def test_padding_of_more_readers_than_samples(tmp_path: Path) -> None:
    folder = write(tmp_path, (2, 1))
    for rank in range(7):
        dataset = ShardedDataset(folder, batch_size=2, rank=rank, world_size=7, lanes=2, shuffle_window=2)
        expected = Sampler.sharded([2, 1], rank=rank, world_size=7, lanes=2, shuffle_window=2).indices().tolist()
        assert ids(dataset) == expected
        assert len(expected) == 1


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("policy", ["round-robin", "size-aware"])
@pytest.mark.parametrize("balance_by", ["samples", "bytes"])
def test_whole_shards_come_as_planned(data: Path, shuffle: bool, policy: str, balance_by: str) -> None:
    seen = []
    for rank in range(3):
        dataset = ShardedDataset(
            data,
            batch_size=32,
            deal="shards",
            policy=policy,
            balance_by=balance_by,
            shuffle=shuffle,
            rank=rank,
            world_size=3,
        )
        info = dataset.shard_info()
        plan = dataset.plan()
        assert isinstance(plan, ShardPlan)
        assert info.shards == tuple(plan.shards(rank).tolist())
        bases = np.cumsum((0, *SIZES))
        expected = [int(bases[shard] + row) for shard in info.shards for row in rows_of(plan, shard, shuffle)]
        assert ids(dataset) == expected
        assert info.samples == len(expected)
        seen += expected
    assert sorted(seen) == list(range(SAMPLES))
    assert (seen == sorted(seen)) is False


def test_workers_are_numbered_within_their_rank(data: Path) -> None:
    dataset = ShardedDataset(data, rank=1, world_size=2)
    assert dataset.sampler(2, 3).rank == 1 + 2 * 2
    assert dataset.sampler().rank == 1
    with pytest.raises(OutOfRangeError, match="worker is 3"):
        dataset.sampler(3, 3)
    assert "2,238 rows in 8 shards" in repr(dataset)
    assert "rank 1 of 2" in repr(dataset)


def test_rows_are_dictionaries(data: Path) -> None:
    rows = list(ShardedDataset(data, lanes=2, shuffle_window=8))
    assert len(rows) == SAMPLES
    for row in rows:
        i = row["id"]
        assert row == {"id": i, "text": f"sample {i}", "value": i / 2, "vector": [i] * 3}


def test_batches_and_what_is_left_of_them(data: Path) -> None:
    sizes = [batch.num_rows for batch in ShardedDataset(data, batch_size=100)]
    assert sizes == [100] * (SAMPLES // 100) + [SAMPLES % 100]
    dropped = [batch.num_rows for batch in ShardedDataset(data, batch_size=100, drop_last=True)]
    assert dropped == [100] * (SAMPLES // 100)
    assert all(isinstance(batch, pa.RecordBatch) for batch in ShardedDataset(data, batch_size=100))


def test_tensors(data: Path) -> None:
    batch = next(iter(ShardedDataset(data, batch_size=16, transform=to_tensors)))
    assert batch["id"].dtype == torch.int64
    assert batch["value"].dtype == torch.float32
    assert torch.equal(batch["value"], batch["id"] / 2)
    assert torch.equal(batch["vector"], batch["id"].unsqueeze(1).expand(-1, 3))
    assert batch["text"] == [f"sample {i}" for i in batch["id"].tolist()]
    some = pa.record_batch({"a": pa.array(["x", None]), "b": pa.array([True, False])})
    assert to_tensors(some)["a"] == ["x", None]
    for holes in (pa.array([1, None]), pa.array([[1, None], [3, 4]], pa.list_(pa.int64(), 2))):
        with pytest.raises(MissingError, match="column c, which has nulls"):
            to_tensors(pa.record_batch({"c": holes}))
    with pytest.raises(TypeError, match="batch_size"):
        next(iter(ShardedDataset(data, transform=to_tensors)))
    assert torch.equal(to_tensors(some)["b"], torch.tensor([True, False]))


def test_all_of_the_name_of_a_column_counts(tmp_path: Path) -> None:
    name = "x" * 90
    pq.write_table(pa.table({name: [5, 6]}), tmp_path / "a.parquet")
    with pytest.raises(ContradictionError, match="a name that no other column has"):
        ShardedDataset(tmp_path, sample_column=name)
    with pytest.raises(ContradictionError, match="a name that no other column has"):
        ShardedDataset(tmp_path, padding_column=name)
    for other in (name[:65], f"{name}x"):
        found = list(ShardedDataset(tmp_path, sample_column=other))
        assert {row[other]: row[name] for row in found} == {0: 5, 1: 6}


def test_the_sample_column_is_the_index(data: Path) -> None:
    for deal in ("samples", "shards"):
        for batch in ShardedDataset(data, batch_size=64, deal=deal, columns=["id"], sample_column="sample"):
            assert batch.schema.names == ["id", "sample"]
            assert batch.column("sample").equals(batch.column("id"))


def test_columns_are_chosen_in_any_order(data: Path) -> None:
    batch = next(iter(ShardedDataset(data, batch_size=4, columns=["value", "id"])))
    assert batch.schema.names == ["value", "id"]
    assert batch.column("value").to_pylist() == [i / 2 for i in batch.column("id").to_pylist()]


def test_epochs_differ_and_come_again(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=64)
    orders = []
    for epoch in (0, 1, 2**40):
        dataset.set_epoch(epoch)
        assert dataset.epoch == epoch
        orders.append(ids(dataset))
    assert orders[0] != orders[1] != orders[2]
    assert ids(ShardedDataset(data, batch_size=64, epoch=1)) == orders[1]


def test_an_epoch_that_is_read_twice_is_told_once(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=64, rank=0, world_size=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ids(dataset)
        dataset.set_epoch(1)
        ids(dataset)
    with pytest.warns(UserWarning, match=r"epoch 1 is read again.*set_epoch"):
        ids(dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ids(dataset)
        # Without a shuffle, all epochs are equal on purpose, so there is no warning.
        plain = ShardedDataset(data, batch_size=64, deal="shards", shuffle=False, rank=0, world_size=1)
        assert ids(plain) == ids(plain)


def test_steps_are_equal_where_promised(data: Path) -> None:
    for remainder in ("pad", "drop"):
        for workers in (1, 2, 3):
            for rank in range(4):
                dataset = ShardedDataset(data, batch_size=50, rank=rank, world_size=4, remainder=remainder)
                assert dataset.steps(workers).equal
    steps = ShardedDataset(data, batch_size=50, rank=0, world_size=4, deal="shards").steps()
    assert not steps.equal
    assert steps.max == -(-1_611 // 50)


def test_a_mesh_gives_peers_the_same_samples(data: Path) -> None:
    mesh = Mesh(4, {"dp": 2, "tp": 2}, shard=["dp"])
    read = [ids(ShardedDataset(data, batch_size=64, rank=rank, world_size=4, mesh=mesh)) for rank in range(4)]
    assert read[0] == read[1]
    assert read[2] == read[3]
    assert sorted(read[0] + read[2])[:3] == [0, 1, 2]
    assert set(read[0]).isdisjoint(read[2]) or SAMPLES % 2


def test_the_rank_comes_from_the_launcher(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "5")
    dataset = ShardedDataset(data, batch_size=64)
    assert (dataset.rank, dataset.world_size) == (2, 5)
    monkeypatch.delenv("RANK")
    with pytest.raises(MissingError, match="RANK"):
        ShardedDataset(data)


def test_a_dataset_survives_a_pickle(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=64, epoch=7, rank=1, world_size=2)
    copy: ShardedDataset = pickle.loads(pickle.dumps(dataset))
    assert ids(copy) == ids(dataset)
    copy.set_epoch(8)
    assert (copy.epoch, dataset.epoch) == (8, 7)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what a process has")
def test_many_datasets_take_no_descriptors_and_no_memory_with_a_name(data: Path) -> None:
    def had() -> tuple[int, int]:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        return len(os.listdir("/proc/self/fd")), sum("/dev/shm" in line or "torch_" in line for line in maps)

    before = had()
    datasets = [ShardedDataset(data, batch_size=64, epoch=epoch) for epoch in range(100)]
    assert had() == before
    assert [dataset.epoch for dataset in datasets] == [*range(100)]


@pytest.mark.parametrize("order", [["fork", "spawn"], ["spawn", "fork"]])
def test_workers_of_two_kinds_follow_one_dataset(data: Path, order: list[str]) -> None:
    dataset = ShardedDataset(data, batch_size=64)
    wanted = {epoch: ids(ShardedDataset(data, batch_size=64, epoch=epoch)) for epoch in range(3)}
    loaders = [
        DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context=how, persistent_workers=True)
        for how in order
    ]
    for epoch in range(3):
        dataset.set_epoch(epoch)
        for loader in loaders:
            found = [i for batch in loader for i in batch.column("id").to_pylist()]
            assert found == wanted[epoch]
            # Warnings about an epoch that is read again are not tested here.
            dataset._board.last_read = None


def test_stopping_early_ends_the_reading(data: Path) -> None:
    before = threading.active_count()
    for deal in ("samples", "shards"):
        iterator = iter(ShardedDataset(data, batch_size=8, deal=deal))
        next(iterator)
        iterator.close()  # type: ignore[attr-defined]
    assert threading.active_count() <= before
    gc.disable()
    try:
        iterator = iter(dataset := ShardedDataset(data, batch_size=8))
        next(iterator)
        # The dataset's counter of batches must not keep the iterator alive.
        del iterator
        assert threading.active_count() <= before
        assert dataset.state_dict() == dataset.state_dict(1)
    finally:
        gc.enable()


def test_a_fork_waits_for_no_thread_of_its_parent(data: Path) -> None:
    iterator = iter(ShardedDataset(data, batch_size=8))
    next(iterator)
    child = os.fork()
    if child == 0:
        # If the child hangs, this alarm ends it.
        signal.alarm(60)
        try:
            list(iterator)
        except RuntimeError:
            del iterator
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert next(iterator).num_rows == 8


@pytest.mark.filterwarnings("ignore:epoch 0 is read")
def test_under_a_loader_without_workers(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=64, transform=to_tensors)
    through = [i for batch in DataLoader(dataset, batch_size=None) for i in batch["id"].tolist()]
    rows = ShardedDataset(data, columns=["id", "text"])
    collated = [i for batch in DataLoader(rows, batch_size=64) for i in batch["id"].tolist()]
    assert through == collated == dataset.sampler().indices().tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"columns": ["id", "nothing"]}, UnknownNameError, "nothing"),
        ({"transform": 3}, TypeError, "function"),
        ({"deal": "shards", "shuffle": "yes"}, TypeError, "^shuffle is"),
        ({"deal": "rows"}, UnknownNameError, "samples, shards"),
        ({"lanes": 0}, OutOfRangeError, "lanes"),
        ({"shuffle_window": 2**20 + 1}, OutOfRangeError, "shuffle_window"),
        ({"remainder": "cut"}, UnknownNameError, "remainder"),
        ({"policy": "size-aware"}, ContradictionError, "policy .* single samples are dealt"),
        ({"deal": "shards", "lanes": 4}, ContradictionError, "lanes .* whole shards are dealt"),
        ({"deal": "shards", "policy": "best"}, UnknownNameError, "round-robin"),
        ({"batch_size": 0}, OutOfRangeError, "batch_size"),
        ({"epoch": -1}, OutOfRangeError, "epoch"),
        ({"rank": 2, "world_size": 2}, OutOfRangeError, "rank"),
        ({"rank": 2}, MissingError, "world_size"),
        ({"sample_column": "id"}, ContradictionError, "sample_column"),
        ({"drop_last": 1}, TypeError, "drop_last"),
        ({"drop_last": True}, ContradictionError, "batch_size"),
        ({"columns": "id"}, TypeError, "list of names"),
        ({"columns": []}, MissingError, "at least one"),
        ({"columns": ["id", "id"]}, ContradictionError, "once"),
        ({"padding_column": "value"}, ContradictionError, "padding_column"),
        ({"sample_column": "a", "padding_column": "a"}, ContradictionError, "padding_column"),
        ({"deal": "shards", "policy": "locality-aware"}, ContradictionError, "size-aware or round-robin"),
        ({"mesh": "dp"}, TypeError, "Mesh"),
        ({"rank": 0, "world_size": 4, "mesh": Mesh(8, {"dp": 8}, shard=["dp"])}, ContradictionError, "mesh of 8"),
        ({"rank": 0, "world_size": 4, "mesh": Mesh(2, {"dp": 2}, shard=["dp"])}, ContradictionError, "mesh of 2"),
        ({"batch_size": 1.5}, TypeError, "batch_size"),
    ],
)
def test_bad_arguments(data: Path, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ShardedDataset(data, **arguments)


def test_bad_files(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ContradictionError, match=f"paths is .*{tmp_path.name}; allowed: a directory with"):
        ShardedDataset(tmp_path)
    with pytest.raises(MissingError, match="paths"):
        ShardedDataset([])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ShardedDataset(tmp_path / "nowhere.parquet")
    with pytest.raises(FileNotFoundError, match="not expanded"):
        ShardedDataset(f"{data}/*.parquet")
    for wrong in (None, 3, "", [b"x"]):
        with pytest.raises(TypeError, match="paths"):
            ShardedDataset(wrong)  # type: ignore[arg-type]
    folder = tmp_path / "broken"
    shutil.copytree(data, folder)
    whole = (folder / "005.parquet").read_bytes()
    (folder / "005.parquet").write_bytes(whole[:-100])
    with pytest.raises(OSError, match=r"005\.parquet.*cut off"):
        ShardedDataset(folder)
    (folder / "005.parquet").write_bytes(whole)
    pq.write_table(pa.table({"other": [1]}), folder / "009.parquet")
    with pytest.raises(
        OSError, match=r"009\.parquet: has no column 'id', .* and has column 'other', unlike .*000\.parquet"
    ):
        ShardedDataset(folder)


@pytest.mark.parametrize("deal", ["samples", "shards"])
def test_files_that_change_under_way_are_an_error(data: Path, tmp_path: Path, deal: str) -> None:
    folder = tmp_path / "changing"
    shutil.copytree(data, folder)
    dataset = ShardedDataset(folder, batch_size=64, deal=deal)
    shorter = pq.read_table(folder / "003.parquet").slice(1)
    pq.write_table(shorter, folder / "003.parquet")
    with pytest.raises(OSError, match=r"003\.parquet: holds 399 rows now, and held 400"):
        list(dataset)
    (folder / "003.parquet").unlink()
    dataset.set_epoch(1)
    with pytest.raises(OSError, match=r"003\.parquet"):
        list(dataset)


def test_a_file_is_named_once(data: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.parquet"
    link.symlink_to(data / "003.parquet")
    for again in (data / "003.parquet", link):
        with pytest.raises(ContradictionError, match="each file once"):
            ShardedDataset([data, again])


def test_shards_that_were_found_before(data: Path) -> None:
    shards = Shards.find(data, ["id"])
    assert ids(ShardedDataset(shards, batch_size=64)) == ids(ShardedDataset(data, batch_size=64))
    with pytest.raises(ContradictionError, match="columns"):
        ShardedDataset(shards, columns=["id"])
    assert (Shards.find(data, ["id"]).bytes < Shards.find(data).bytes).all()


def test_padding_is_marked(data: Path) -> None:
    place = {"rank": 4, "world_size": 5, "lanes": 5, "shuffle_window": 8}
    marked = ShardedDataset(data, batch_size=100, padding_column="padding", **place)  # type: ignore[arg-type]
    flags = [flag for batch in marked for flag in batch.column("padding").to_pylist()]
    assert marked.shard_info().num_padding == 1
    assert flags == [False] * (len(flags) - 1) + [True]


def test_large_tables_are_taken_in_pieces(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [batch.to_pylist() for batch in ShardedDataset(data, batch_size=64)]
    monkeypatch.setattr("samedeal.files.reading.WIDE", 1)
    monkeypatch.setattr("samedeal.files.reading.PIECE", 1_000)
    pieces = list(ShardedDataset(data, batch_size=64))
    assert [batch.to_pylist() for batch in pieces] == whole
    assert pieces[0].schema.field("text").type == pa.string()


def test_rows_may_stay_in_order_within_shuffled_shards(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=64, deal="shards", shuffle_rows=False, seed=1)
    shards = dataset.shard_info().shards
    bases = np.cumsum((0, *SIZES)).tolist()
    assert shards is not None
    assert shards != tuple(sorted(shards))
    assert ids(dataset) == [bases[shard] + row for shard in shards for row in range(SIZES[shard])]


def test_lanes_that_readers_share_are_told_once(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=64, rank=0, world_size=3)
    with pytest.warns(LanesWarning, match=r"3 readers .* do not divide 64 lanes.* decoded by 3 of them; lanes=63"):
        ids(dataset)
    assert dataset.shard_info().reads == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset.set_epoch(1)
        ids(dataset)
        other = ShardedDataset(data, batch_size=32, rank=0, world_size=4)
        ids(other)
    assert other.shard_info().reads == 1


def test_readers_of_few_lanes_are_told_once(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=32, rank=0, world_size=8)
    advice = (
        r"8 readers of 64 lanes have 8 lanes each.* from 8 places .* about 4 times .* lanes=128, shuffle_window=128"
    )
    with pytest.warns(LanesWarning, match=advice):
        ids(dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LanesWarning)
        dataset.set_epoch(1)
        ids(dataset)
        # These give no warning: the advised number of lanes, another rank, all lanes in one rank, and whole files.
        ids(ShardedDataset(data, batch_size=32, rank=0, world_size=8, lanes=128, shuffle_window=128))
        ids(ShardedDataset(data, batch_size=32, rank=1, world_size=8))
        ids(ShardedDataset(data, batch_size=32, rank=0, world_size=1))
        ids(ShardedDataset(data, batch_size=32, rank=0, world_size=2, deal="shards"))


def test_an_iteration_stays_in_its_epoch(data: Path) -> None:
    dataset = ShardedDataset(data, batch_size=3_000)
    iterator = iter(dataset)
    dataset.set_epoch(1)
    assert next(iterator).column("id").to_pylist() == ids(ShardedDataset(data, batch_size=64))
    twin = copy.copy(dataset)
    twin.set_epoch(5)
    assert dataset.epoch == 1


def test_what_leaves_a_worker_is_no_larger_than_it_is(data: Path) -> None:
    batch = next(iter(ShardedDataset(data, batch_size=8)))
    table = pa.table({"a": pa.array(["x", "y", "x"] * 1_000).dictionary_encode(), "b": range(3_000)}).to_batches()[0]
    for part in (batch, table.slice(100, 8)):
        small = compact(part)
        assert small.equals(part)
        assert len(pickle.dumps(small)) < 4_000
    loader = DataLoader(ShardedDataset(data, batch_size=8), batch_size=None, num_workers=1)
    assert all(len(pickle.dumps(batch)) < 4_000 for batch in loader)


def test_an_iterator_at_the_end_of_the_process_is_quiet(data: Path) -> None:
    script = (
        "import sys; from samedeal.torch import ShardedDataset\n"
        f"it = iter(ShardedDataset({str(data)!r}, batch_size=8, rank=0, world_size=1)); next(it)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_page_that_is_damaged_is_an_error(data: Path, tmp_path: Path) -> None:
    folder = damaged(data, tmp_path / "damaged")
    with pytest.raises(OSError, match=r"005\.parquet"):
        list(ShardedDataset(folder, batch_size=64))


def test_memory_is_that_of_windows(tmp_path: Path) -> None:
    # The file has 128 MB of incompressible rows. A reader by windows holds only a small part of them in memory at a
    # time.
    rows = 32_768
    noise = np.random.default_rng(0).bytes(4_096 * rows)
    blob = pa.FixedSizeBinaryArray.from_buffers(pa.binary(4_096), rows, [None, pa.py_buffer(noise)])
    pq.write_table(pa.table({"blob": blob}), tmp_path / "a.parquet", row_group_size=512, compression="none")
    del noise, blob
    base, most = pa.total_allocated_bytes(), 0
    for _ in ShardedDataset(tmp_path, batch_size=64, lanes=8, shuffle_window=64):
        most = max(most, pa.total_allocated_bytes() - base)
    assert 0 < most < 32 * 2**20


@pytest.mark.parametrize("world_size", [1, 2, 3, 5])
@pytest.mark.parametrize("remainder", ["pad", "drop", "uneven"])
@pytest.mark.parametrize("size", [7, 1_500])
def test_rows_in_stored_order(data: Path, world_size: int, remainder: str, size: int) -> None:
    for rank in range(world_size):
        place = {"remainder": remainder, "rank": rank, "world_size": world_size}
        options = {"columns": ["id"], "shuffle": False, "padding_column": "padding", **place}
        dataset = ShardedDataset(data, batch_size=size, **options)  # type: ignore[arg-type]
        expected = Sampler(SAMPLES, order="sequential", **place)  # type: ignore[arg-type]
        assert ids(dataset) == expected.indices().tolist() == dataset.sampler().indices().tolist()
        flags = [flag for batch in dataset for flag in batch.column("padding").to_pylist()]
        assert flags == [i >= len(expected) - expected.num_padding for i in range(len(expected))]
        assert dataset.shard_info().reads == world_size
        # The rest of the epoch. The state of the dataset is also a state of a sampler.
        passed = iter(dataset)
        first = next(passed).column("id").to_pylist()
        state = dataset.state_dict()
        again = ShardedDataset(data, batch_size=size, **options)  # type: ignore[arg-type]
        again.load_state_dict(state)
        assert first + ids(again) == expected.indices().tolist()


def test_an_evaluation_is_read_again_without_a_word(data: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for workers in (0, 2):
            dataset = ShardedDataset(data, batch_size=64, shuffle=False, transform=to_tensors, rank=0, world_size=3)
            loader = DataLoader(dataset, batch_size=None, num_workers=workers)
            passes = [[i for batch in loader for i in batch["id"].tolist()] for _ in range(3)]
            assert passes[0] == passes[1] == passes[2]
            assert sorted(passes[0]) == list(range(0, SAMPLES, 3))
    rows = ShardedDataset(data, batch_size=64, deal="shards", shuffle=False, shuffle_rows=True)
    ids(rows)
    with pytest.warns(UserWarning, match="epoch 0 is read again"):
        ids(rows)
    for name in ("lanes", "shuffle_window"):
        with pytest.raises(ContradictionError, match=f"^{name} is 4; allowed: none with the order sequential"):
            ShardedDataset(data, shuffle=False, **{name: 4})  # type: ignore[arg-type]


@pytest.mark.filterwarnings("default::samedeal.torch.StepsWarning")
def test_ranks_that_end_at_different_steps_are_told_of_at_once(data: Path, tmp_path: Path) -> None:
    with pytest.warns(StepsWarning, match=r"4 ranks have 2 to 33 batches of an epoch; .*hang.*deal=\"samples\""):
        dataset = ShardedDataset(data, batch_size=50, deal="shards", rank=0, world_size=4)
    folder = write(tmp_path, (40, 40))
    with pytest.warns(
        StepsWarning, match=r"3 ranks have 0 to 4 batches .* and 1 of 3 readers .* have no batches: .* 2 "
    ):
        ShardedDataset(folder, batch_size=10, deal="shards", rank=0, world_size=3)
    with pytest.warns(StepsWarning, match=r"7 ranks have 11 to 12 rows .*remainder=\"pad\""):
        ShardedDataset(folder, rank=0, world_size=7, remainder="uneven", lanes=7)
    with pytest.warns(
        StepsWarning, match=r"^90 of 90 readers \(90 ranks x 1 workers\) have no rows: there are 80 rows"
    ):
        ShardedDataset(folder, rank=0, world_size=90, remainder="drop", lanes=90)
    with pytest.warns(StepsWarning, match=r"^4 of 4 readers \(4 ranks x 1 workers\) have no batches"):
        ShardedDataset(folder, rank=0, world_size=4, batch_size=30, drop_last=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The warning comes once. Other ranks do not warn, and neither do datasets in which every reader has batches.
        ids(dataset)
        ShardedDataset(data, batch_size=50, deal="shards", rank=1, world_size=4)
        ShardedDataset(data, batch_size=50, rank=0, world_size=4)
        two = ShardedDataset(folder, batch_size=10, deal="shards", rank=0, world_size=2)
        ids(two)
        reader = ShardedDataset(folder, batch_size=10, deal="shards", rank=0, world_size=1)
    # The number of workers is known from the first pass on.
    reader._board.workers = 0
    with pytest.warns(StepsWarning, match=r"^1 of 3 readers \(1 ranks x 3 workers\) have no batches"):
        reader._warn(3)


@pytest.mark.parametrize("deal", [{}, {"remainder": "uneven"}, {"remainder": "drop"}, {"deal": "shards"}])
@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning")
def test_readers_without_a_batch_are_counted(tmp_path: Path, deal: dict[str, Any], drop_last: bool) -> None:
    folder = write(tmp_path, (5, 0, 1, 13, 8, 2))
    for world_size, workers, size in ((1, 2, 2), (3, 4, 3), (5, 9, 1), (2, 20, 1)):
        options = {"batch_size": size, "drop_last": drop_last, "world_size": world_size, **deal}
        ranks = [ShardedDataset(folder, rank=rank, **options) for rank in range(world_size)]
        without = 0
        for dataset in ranks:
            for worker in range(workers):
                rows = dataset.shard_info(worker, workers).samples
                without += rows < (size if drop_last else 1)
        assert ranks[0]._reading(workers).num_idle_readers == without


@pytest.mark.parametrize("deal", ["samples", "shards"])
@pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning")
def test_the_recipe_is_that_of_the_reading(data: Path, deal: str) -> None:
    group: dict[str, Any] = {"deal": deal, "seed": 3, "batch_size": 50, "drop_last": True}
    ranks = [ShardedDataset(data, **group, rank=rank, world_size=2) for rank in range(2)]
    for workers in (0, 1, 2):
        wanted = Reading(SIZES, world_size=2, workers=max(1, workers), **group)
        for dataset in ranks:
            assert dataset.reading(workers).recipe == wanted.recipe
            assert dataset.recipe_fingerprint(workers) == wanted.recipe_fingerprint()
    assert ranks[0].recipe == ranks[1].recipe == Reading(SIZES, world_size=2, **group).recipe
    ranks[1].set_epoch(4)
    assert (ranks[1].recipe, ranks[1].reading(2).epoch) == (ranks[0].recipe, 4)
    # The batches that the reading predicts for the first worker must be the batches that this worker reads.
    reading = ranks[1].reading(2)
    loader = DataLoader(ShardedDataset(data, **group, epoch=4, rank=1, world_size=2), batch_size=None, num_workers=2)
    read = [batch.column("id").to_pylist() for batch in loader]
    own = reading.indices(1, 0).tolist()
    assert read[0] == own[:50]
    assert len(read) == reading.num_steps(1)


def test_recipes_of_samplers_are_those_of_what_they_deal() -> None:
    sampler = DistributedSampler(range(100), 4, 3, seed=7, drop_last=True)
    wanted = Sampler(100, seed=7, order=sampler.order, world_size=4, remainder="drop")
    assert (sampler.recipe, sampler.recipe_fingerprint()) == (wanted.recipe, wanted.recipe_fingerprint())
    sampler.set_epoch(5)
    sampler.load_state_dict(sampler.state_dict(10))
    assert sampler.recipe == wanted.recipe
    batches = BatchSampler([5, 9, 2, 7] * 9, max_tokens=20, seed=7, rank=1, world_size=2)
    plan = Batcher([5, 9, 2, 7] * 9, max_tokens=20, seed=7, world_size=2)
    assert (batches.recipe, batches.recipe_fingerprint()) == (plan.recipe, plan.recipe_fingerprint())


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_a_transform_that_workers_cannot_get_is_refused_by_name(data: Path, start: str) -> None:
    dataset = ShardedDataset(data, batch_size=10, transform=lambda batch: batch)
    loader = DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context=start)
    with pytest.raises(WrongTypeError, match=r"transform is .*; allowed: a function that pickles, .* forkserver"):
        iter(loader)
    # Other picklers work as usual, because the check is only made when a loader starts workers.
    dataset.__getstate__()


class Holds(torch.utils.data.Dataset[Any]):  # type: ignore[misc]
    """A dataset of a user, which has any object in an attribute."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        return index

    def get_part(self, sample: int, start: int, length: int) -> int:
        return sample


def asked(samples: Any) -> Any:
    return np.full(len(samples), 3)


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_an_option_that_workers_cannot_get_is_refused_by_name(start: str) -> None:
    def unpicklable(samples: Any) -> Any:
        return asked(samples)

    order, four = samedeal.blend({"a": (2, 1), "b": (2, 1)}), samedeal.order("feistel", 4)
    lengths = r"lengths is .*; allowed: a function or an object that pickles, as workers start with spawn"
    dataset = r"dataset is .*; allowed: a dataset that pickles, .* forkserver"
    for made, told in (
        (PackedDataset([[1]] * 4, capacity=8, lengths=unpicklable, order=four), lengths),
        (PackedDataset(Holds(unpicklable), capacity=8, lengths=[3] * 4), dataset),
        (PartsDataset(Holds(functools.partial(unpicklable, 1))), dataset),
        (PartsDataset(PartsDataset(Holds(unpicklable))), r"dataset is <Holds>"),
        (Holds(PackedDataset([[1]] * 4, capacity=8, lengths=unpicklable, order=four)), lengths),
        (PartsDataset(Holds(Batcher(unpicklable, order=order, max_tokens=9))), lengths),
        (Holds(Batcher({"a": [1, 2], "b": unpicklable}, order=order, max_tokens=9)), lengths),
        (Holds(Batcher(Unpicklable(), max_tokens=9)), lengths),
    ):
        with pytest.raises(WrongTypeError, match=told):
            iter(DataLoader(made, batch_size=1, num_workers=1, multiprocessing_context=start))
    # Other objects that plain pickle does not take, but a new process does, are no error.
    fine = PartsDataset(Holds([multiprocessing.get_context(start).Queue(), torch.ones(3), np.ones(3)]))
    packed = Holds(PackedDataset([[1]] * 4, capacity=8, lengths=asked, order=four))
    for good in (fine, packed):
        one: Any = [(1, 0, 1)] if good is fine else [1]
        assert list(DataLoader(good, sampler=one, num_workers=1, multiprocessing_context=start)) == [torch.tensor([1])]


class Unpicklable:
    """Lengths of a user that do not pickle."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __len__(self) -> int:
        return 4

    def __getitem__(self, samples: Any) -> Any:
        return asked(samples)


def test_a_dataset_before_the_process_group_says_where_to_make_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Variables that Lightning sets in the processes that it starts.
    for name, value in {"LOCAL_RANK": "1", "NODE_RANK": "0", "WORLD_SIZE": "4"}.items():
        monkeypatch.setenv(name, value)
    for name in ("RANK", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingError, match=r"RANK is missing.*or make this object when .* LightningDataModule\.setup"):
        ShardedDataset(data, batch_size=10)
