"""Files of a dataset that are lost in the middle of a run: the other files are read to the end, in the same batches."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile import fails
from samedeal import ContradictionError, MissingError, OutOfRangeError, Reading, WrongTypeError
from samedeal.parquet import Marks, Shards, read_reader, read_rows
from samedeal.torch import Resumable, ShardedDataset
from torch.utils.data import DataLoader

pytestmark = pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning", "ignore::samedeal.torch.StepsWarning")

SIZES = (300, 200, 0, 400, 100)
STARTS = np.cumsum((0, *SIZES)).tolist()
LOST = set(range(STARTS[3], STARTS[4]))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for number, (first, size) in enumerate(zip(STARTS, SIZES, strict=False)):
        rows = range(first, first + size)
        table = pa.table({"id": pa.array(rows, pa.int64()), "text": [f"row {row}" for row in rows]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    return tmp_path


def loader_of(data: Path, rank: int, world_size: int, workers: int = 0, **options: Any) -> Any:
    given = {"batch_size": 8, "lanes": 4, "shuffle_window": 16, "padding_column": "padding", **options}
    if given.get("deal") == "shards":
        given |= {"lanes": None, "shuffle_window": None}
    dataset = ShardedDataset(data, rank=rank, world_size=world_size, **given)
    return Resumable(DataLoader(dataset, batch_size=None, num_workers=workers))


def real(batches: Any) -> list[list[int]]:
    """The samples of each batch, without padding."""
    columns = [
        zip(batch.column("id").to_pylist(), batch.column("padding").to_pylist(), strict=True) for batch in batches
    ]
    return [[sample for sample, padding in column if not padding] for column in columns]


def without(batches: list[list[int]]) -> list[list[int]]:
    return [[sample for sample in batch if sample not in LOST] for batch in batches]


@pytest.mark.parametrize("deal", ["samples", "shards"])
@pytest.mark.parametrize("workers", [0, 2])
def test_the_others_stay_in_their_batches(data: Path, deal: str, workers: int) -> None:
    options: dict[str, Any] = {"deal": deal, "workers": workers}
    whole = [real(loader_of(data, rank, 2, **options)) for rank in range(2)]
    first = [loader_of(data, rank, 2, **options) for rank in range(2)]
    seen = [real(itertools.islice(loader, 10)) for loader in first]
    state = first[0].state_dict()
    (data / "3.parquet").unlink()
    lost = {data / "3.parquet": 400}
    for rank in range(2):
        loader = loader_of(data, rank, 2, lost=lost, **options)
        loader.load_state_dict(state)
        batches = list(loader)
        # The number of steps is as before, and every step has samples.
        assert len(batches) == len(whole[rank]) - 10
        assert all(batch.num_rows for batch in batches)
        assert [*seen[rank], *real(batches)] == [*whole[rank][:10], *without(whole[rank][10:])]
        # The next epoch is read completely, too.
        loader.set_epoch(1)
        own = real(loader)
        assert not LOST & set(itertools.chain(*own))


@pytest.mark.parametrize("order", [None, lambda files: files.exclude([5, 450, 950])])
def test_the_rest_on_other_readers(data: Path, order: Any) -> None:
    first = [loader_of(data, rank, 2, order=order, lanes=4, remainder="drop") for rank in range(2)]
    seen = [sample for loader in first for batch in real(itertools.islice(loader, 10)) for sample in batch]
    (data / "3.parquet").unlink()
    state = first[0].state_dict()
    for rank in range(3):
        lost = {str(data / "3.parquet"): 400}
        loader = loader_of(data, rank, 3, 2, order=order, lost=lost, batch_size=5, remainder="uneven")
        loader.load_state_dict(state)
        seen += itertools.chain(*real(loader))
    excluded = set() if order is None else {5, 450, 950}
    assert len(seen) == len(set(seen))
    assert set(seen) - LOST == set(range(1000)) - LOST - excluded


def test_a_state_resumes_with_the_file_again(data: Path) -> None:
    lost = {str(data / "3.parquet"): 400}
    loader = loader_of(data, 0, 1, lost=lost)
    found = real(itertools.islice(loader, 50))
    again = loader_of(data, 0, 1)
    again.load_state_dict(loader.state_dict())
    whole = real(loader_of(data, 0, 1))
    assert [*found, *real(again)] == [*without(whole[:50]), *whole[50:]]


def test_the_error_says_how_to_go_on(data: Path) -> None:
    path = data / "3.parquet"
    loader = loader_of(data, 0, 1)
    list(itertools.islice(loader, 3))
    state = loader.state_dict()
    loader = loader_of(data, 0, 1)
    path.unlink()
    with pytest.raises(OSError, match=r"to go on without it, resume with lost=\{'.*3\.parquet': 400\}"):
        list(loader)
    # A directory without the file does not show that a file is missing, so the state is refused.
    with pytest.raises(ContradictionError, match=r"if files were lost, name them: lost=\{path: rows\}"):
        loader_of(data, 0, 1).load_state_dict(state)
    # The given number of rows of the lost file is wrong, so the state is refused.
    with pytest.raises(ContradictionError, match="samples 1000, as in the state"):
        loader_of(data, 0, 1, lost={str(path): 399}).load_state_dict(state)
    resumed = loader_of(data, 0, 1, lost={str(path): 400})
    resumed.load_state_dict(state)


def test_rows_that_are_padding_alone_are_the_first_ones(tmp_path: Path) -> None:
    for name, ids in (("a", [0, 1]), ("b", list(range(2, 30)))):
        pq.write_table(pa.table({"id": ids}), tmp_path / f"{name}.parquet")
    names: dict[str, Any] = {"sample_column": "sample", "padding_column": "padding"}
    dataset = ShardedDataset(
        tmp_path, batch_size=5, shuffle=False, rank=0, world_size=1, lost={tmp_path / "b.parquet": 28}, **names
    )
    found = [batch.to_pydict() for batch in dataset]
    assert found[0] == {"id": [0, 1], "sample": [0, 1], "padding": [False, False]}
    assert found[1:] == [{"id": [0], "sample": [0], "padding": [True]}] * 5


def test_tables_and_rows(data: Path) -> None:
    path = data / "3.parquet"
    path.write_bytes(b"damaged")
    shards = Shards.find([*sorted(map(str, data.iterdir()))], lost={str(path): 400})
    assert (shards.sizes.tolist(), shards.lost) == (list(SIZES), frozenset({3}))
    reading = Reading(shards.sizes, lanes=4)
    tables = list(read_reader(shards, reading, 0, marks=Marks(sample="sample")))
    found = [sample for table in tables for sample in table.column("sample").to_pylist()]
    assert found == [sample for sample in reading.indices(0).tolist() if sample not in LOST]
    assert tables[0].column_names == ["id", "text", "sample"]
    assert [table.column("id").to_pylist() for table in read_rows(shards, [999, 3])] == [[999, 3]]
    with pytest.raises(OSError, match=r"3\.parquet: has sample 500, and was lost"):
        read_rows(shards, [3, 500])


def test_sources_have_lost_files_of_their_own(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    pq.write_table(pa.table({"id": range(2000, 2100), "text": ["x"] * 100}), other / "a.parquet")
    lost = Shards.find(data, lost={data / "3.parquet": 400})
    weights = {"a": 1, "b": 10}
    parts = {"a": other, "b": lost}
    dataset = ShardedDataset(parts, weights=weights, batch_size=16, rank=0, world_size=1)
    found = [sample for batch in dataset for sample in batch.column("id").to_pylist()]
    plain = ShardedDataset({"a": other, "b": data}, weights=weights, batch_size=16, rank=0, world_size=1)
    assert found == [s for batch in plain for s in batch.column("id").to_pylist() if s not in LOST]


def test_what_cannot_be_meant(data: Path) -> None:
    path = str(data / "3.parquet")
    whole: Any
    weights: Any
    options: dict[str, Any]
    for error, field, given in (
        (WrongTypeError, "lost", {"lost": [path]}),
        (WrongTypeError, "lost", {"lost": {3: 400}}),
        (WrongTypeError, "lost", {"lost": {path: "many"}}),
        (OutOfRangeError, "lost", {"lost": {path: -1}}),
        (ContradictionError, "lost", {"lost": {"elsewhere/3.parquet": 400}}),
        (ContradictionError, "batch_size", {"lost": {path: 400}, "batch_size": None}),
        (MissingError, "paths", {"lost": {str(data / f"{n}.parquet"): size for n, size in enumerate(SIZES)}}),
    ):
        with fails(error, field):
            options = {"batch_size": 8, "rank": 0, "world_size": 1, **given}
            ShardedDataset(data, **options)
    for whole, weights in (({"a": data}, {"a": 1}), (Shards.find(data), None)):
        with fails(ContradictionError, "lost"):
            ShardedDataset(whole, weights=weights, lost={path: 400}, batch_size=8)
