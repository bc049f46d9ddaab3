"""`matching`: the rows of files that pass a filter, and a `ShardedDataset` of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as feather
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from decoding import Decoded
from hostile import fails
from jobs import logs, ranks
from samedeal import ContradictionError, Reading, WrongTypeError, sharded
from samedeal.files import Shards, Sources, matching
from samedeal.files.groups import Groups
from samedeal.torch import Resumable, ShardedDataset
from torch.utils.data import DataLoader

pytestmark = pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning", "ignore::samedeal.torch.StepsWarning")
HERE = Path(__file__).parent
SIZES = (700, 0, 1, 900)
FILTERS: list[Any] = [
    pc.field("kind") == 2,
    (pc.field("kind") != 2) & (pc.field("id") < 800),
    pc.field("text").is_null(),
    pc.field("text") > "row 5",
    pc.field("inner", "x") < 5,
    [("kind", "in", [1, 3]), ("id", ">=", 650)],
    [[("id", "==", 3)], [("id", "==", 1_500)]],
    pc.field("id") < 0,
    pc.field("id") >= 0,
    pc.scalar(True),
]


def table_of(first: int, size: int) -> pa.Table:
    ids = np.arange(first, first + size)
    texts = [None if row % 7 == 0 else f"row {row}" for row in ids.tolist()]
    columns: dict[str, Any] = {"id": ids, "kind": pa.array(ids % 5, pa.int8()), "text": pa.array(texts, pa.string())}
    return pa.table(
        columns | {"inner": pa.array([{"x": row % 9} for row in ids.tolist()], pa.struct({"x": pa.int64()}))}
    )


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The column `id` numbers the rows. Files have types of other widths."""
    folder = tmp_path_factory.mktemp("filtered")
    first = 0
    for number, size in enumerate(SIZES):
        table = table_of(first, size)
        if number == 3:
            table = table.set_column(1, "kind", table["kind"].cast(pa.int32()))
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=100)
        first += size
    return folder


@pytest.mark.parametrize("number", range(len(FILTERS)))
def test_the_rows_are_those_of_pyarrow(data: Path, number: int) -> None:
    shards = Shards.find(data, ["id"])
    found = matching(shards, FILTERS[number])
    expected = pq.read_table(data, filters=FILTERS[number]).column("id").to_pylist()
    assert found.tolist() == sorted(expected)
    assert found.dtype == np.int64
    root = pafs.SubTreeFileSystem(str(data), pafs.LocalFileSystem())
    names = [f"{number}.parquet" for number in range(len(SIZES))]
    assert matching(Shards.find(names, filesystem=root), FILTERS[number]).tolist() == found.tolist()


def test_rows_of_other_formats(tmp_path: Path) -> None:
    feather.write_feather(table_of(0, 300), str(tmp_path / "a.arrow"), chunksize=70)
    shards = Shards.find(tmp_path)
    assert matching(shards, pc.field("kind") == 2).tolist() == [*range(2, 300, 5)]
    with fails(ContradictionError, "filters"):
        matching(Shards.find(tmp_path, ["id"]), pc.field("kind") == 2)


def test_row_groups_that_cannot_have_rows_are_not_read(tmp_path: Path) -> None:
    """The pages of the first row groups are damaged, but statistics say that no row of them passes."""
    path = tmp_path / "a.parquet"
    pq.write_table(table_of(0, 1_000), path, row_group_size=100)
    end = pq.read_metadata(path).row_group(5).column(0).data_page_offset - 200
    content = bytearray(path.read_bytes())
    content[4:end] = bytes(end - 4)
    path.write_bytes(content)
    shards = Shards.find(path)
    assert matching(shards, pc.field("id") >= 700).tolist() == [*range(700, 1_000)]
    with pytest.raises(OSError, match=r"a\.parquet: "):
        matching(shards, pc.field("id") >= 300)


@pytest.mark.parametrize("workers", [0, 2])
def test_these_rows_are_dealt(data: Path, workers: int) -> None:
    """Each once, from a state in the middle of the epoch on other ranks. The recipe has the rows or their hash."""
    shards = Shards.find(data)
    rows = matching(shards, pc.field("kind") == 2)

    def loader_of(rank: int, world_size: int, rows: Any = rows) -> Resumable:
        dataset = ShardedDataset(
            shards,
            batch_size=8,
            lanes=4,
            shuffle_window=16,
            order=lambda files: files.subset(rows),
            padding_column="padding",
            rank=rank,
            world_size=world_size,
        )
        return Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))

    def real(loader: Any, steps: int) -> list[int]:
        return [
            row["id"] for batch in itertools.islice(loader, steps) for row in batch.to_pylist() if not row["padding"]
        ]

    first = [loader_of(rank, 2) for rank in range(2)]
    seen = [row for loader in first for row in real(loader, 6)]
    state = first[0].state_dict()
    for rank in range(3):
        loader = loader_of(rank, 3)
        loader.load_state_dict(state)
        seen += real(loader, 100)
    assert sorted(seen) == rows.tolist() == [*range(2, sum(SIZES), 5)]
    dataset = first[0].dataset
    indices = json.loads(dataset.recipe)["order"]["indices"]
    assert len(rows) > 256
    assert isinstance(indices, str)
    other = matching(shards, pc.field("kind") == 3)
    assert len(other) == len(rows)
    with fails(ContradictionError, "indices"):
        loader_of(0, 2, other).load_state_dict(state)


ROWS = [row for row in range(sum(SIZES)) if row % 3 or row % 100 < 50]
ORDERS: dict[str, Any] = {
    "sharded": lambda files: files.subset(range(sum(SIZES))),
    "subset": lambda files: files.subset(ROWS),
    "exclude": lambda files: files.subset(ROWS).exclude(ROWS[::5]),
    "skip": lambda files: files.skip([(0, 100, 48)]),
}


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("readers", [1, 2, 4])
def test_each_row_group_is_decoded_once_by_all_readers(
    data: Path, name: str, readers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is left out: but for the row groups in which lanes of two readers meet."""
    decoded = Decoded()
    monkeypatch.setattr(Groups, "decoded", decoded.counted)
    seen = []
    for reader in range(readers):
        options = {"order": ORDERS[name], "lanes": 4, "shuffle_window": 16, "remainder": "uneven"}
        dataset = ShardedDataset(data, batch_size=8, seed=3, rank=reader, world_size=readers, **options)
        assert dataset.shard_info().reads == 1
        seen += [row["id"] for batch in dataset for row in batch.to_pylist()]
    expected = Reading(order=ORDERS[name](sharded(SIZES, seed=3, lanes=4, shuffle_window=16)), remainder="uneven")
    assert sorted(seen) == sorted(expected.indices(0).tolist())
    # Each of the 4 lanes begins and ends within a row group of 100 rows.
    assert decoded.rows <= sum(SIZES) + 4 * 100


def test_what_cannot_be_meant(data: Path, tmp_path: Path) -> None:
    shards = Shards.find(data)
    wrong: Any
    for wrong in (3, "kind == 2", [("kind", "==")], [("kind", "is", 3)], None):
        with fails(WrongTypeError, "filters"):
            matching(shards, wrong)
    for wrong in (pc.field("none") == 3, pc.field("kind"), pc.field("text") == 3, pc.field("inner", "y") == 3):
        with fails(ContradictionError, "filters"):
            matching(shards, wrong)
    for wrong in (data, Sources.join({"a": shards})):
        with fails(WrongTypeError, "shards"):
            matching(wrong, pc.field("kind") == 2)
    with fails(ContradictionError, "shards"):
        matching(Shards.find(data, lost={data / "0.parquet": 700}), pc.field("kind") == 2)
    pq.write_table(table_of(0, 30), tmp_path / "a.parquet")
    shards = Shards.find(tmp_path)
    pq.write_table(table_of(5, 30), tmp_path / "a.parquet")
    with pytest.raises(OSError, match=r"a\.parquet: "):
        matching(shards, pc.field("kind") == 2)


def test_ranks_are_killed_and_go_on(data: Path, tmp_path: Path) -> None:
    """Real processes with workers. Ranks with different filters are refused before the first batch."""
    run = ranks(2, HERE / "filtering.py", data, tmp_path, "-", 2, 0, 2, 3)
    assert not run.returncode, run.stderr
    told = {(tmp_path / f"refused-{rank}").read_text() for rank in range(2)}
    assert len(told) == 1
    assert told.pop().startswith("indices is ")
    steps = 7
    run = ranks(2, HERE / "filtering.py", data, tmp_path, "-", 2, steps, 2, 2)
    assert "rank 1 failed: SIGKILL" in run.stderr
    seen = [row for log in logs(tmp_path, "rows", 2) for step in log[:steps] for row in step]
    run = ranks(3, HERE / "filtering.py", data, tmp_path, tmp_path / "state", 1, 0, 2, 2, 2)
    assert not run.returncode, run.stderr
    seen += [row for log in logs(tmp_path, "rows", 3) for step in log for row in step]
    passing = [*range(2, sum(SIZES), 5)]
    assert len(seen) == len(set(seen))
    assert set(seen) <= set(passing)
    # The remainder of the ranks and workers is dropped.
    assert len(passing) - len(seen) < 2 * 2 + 3
