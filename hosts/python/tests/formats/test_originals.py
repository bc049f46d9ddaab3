"""Files that the libraries of other formats wrote, read by ranks and workers under PyTorch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import lance
import numpy as np
import pyarrow as pa
import pytest
import webdataset
from samedeal.files import Shards, read_rows
from samedeal.torch import Resumable, ShardedDataset, to_tensors
from streaming import MDSWriter
from streaming.base.format.mds.reader import MDSReader
from torch.utils.data import DataLoader

ROWS = 1000


def rows(first: int, end: int) -> Iterator[dict[str, Any]]:
    for number in range(first, end):
        yield {"id": number, "text": f"row {number}", "tokens": np.arange(number % 7 + 1, dtype=np.int32)}


def write_saved(folder: Path) -> None:
    columns = [dict(row, tokens=row["tokens"].tolist()) for row in rows(0, ROWS)]
    own = datasets.Dataset.from_list(columns)
    own.save_to_disk(folder, num_shards=3)
    # `map` writes a cache into the folder, which is no data.
    kept = datasets.load_from_disk(folder).map(lambda row: row, cache_file_name=str(folder / "cache-1.arrow"))
    assert len(kept) == ROWS


def write_webdataset(folder: Path) -> None:
    folder.mkdir()
    for shard, first in enumerate(range(0, ROWS, 300)):
        with webdataset.TarWriter(str(folder / f"{shard:04}.tar")) as sink:
            for row in rows(first, min(ROWS, first + 300)):
                tokens = row["tokens"].tobytes()
                sink.write({"__key__": f"{row['id']:05}", "id.cls": row["id"], "txt": row["text"], "tokens": tokens})


def write_mds(folder: Path) -> None:
    columns = {"id": "int", "text": "str", "tokens": "ndarray:int32"}
    with MDSWriter(out=str(folder), columns=columns, size_limit=20_000) as sink:
        for row in rows(0, ROWS):
            sink.write(row)


def write_lance(folder: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("text", pa.string()), ("tokens", pa.list_(pa.int32()))])
    for shard, first in enumerate(range(0, ROWS, 400)):
        table = pa.Table.from_pylist(list(rows(first, min(ROWS, first + 400))), schema)
        lance.write_dataset(table, folder / f"{shard}.lance", max_rows_per_file=150)


WRITERS: dict[str, Callable[[Path], None]] = {
    "arrow": write_saved,
    "tar": write_webdataset,
    "mds": write_mds,
    "lance": write_lance,
}


@pytest.fixture(scope="module", params=WRITERS)
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("formats") / request.param
    WRITERS[request.param](folder)
    return folder


def id_of(row: dict[str, Any]) -> int:
    """The number of a row. All columns of the row must be right."""
    if "__key__" in row:
        number = int(row["id.cls"])
        assert row["__key__"] == f"{number:05}"
        found = {"id": number, "text": row["txt"].decode(), "tokens": np.frombuffer(row["tokens"], np.int32)}
    else:
        number, found = row["id"], row
    (expected,) = rows(number, number + 1)
    assert found["text"] == expected["text"]
    assert list(found["tokens"]) == expected["tokens"].tolist()
    return number


def ids(batch: pa.RecordBatch) -> list[int]:
    return [id_of(row) for row in batch.to_pylist()]


def loader(data: Path, rank: int, world_size: int, workers: int, **options: Any) -> Resumable:
    dataset = ShardedDataset(
        data, batch_size=16, lanes=8, shuffle_window=8, seed=7, rank=rank, world_size=world_size, **options
    )
    context = "spawn" if workers and dataset.shards.format.name == "Lance" else None
    return Resumable(DataLoader(dataset, batch_size=None, num_workers=workers, multiprocessing_context=context))


def test_rows_are_as_they_were_written(data: Path) -> None:
    shards = Shards.find(data)
    assert shards.samples == ROWS
    assert len(shards) > 2
    wanted = [*range(0, ROWS, 3), ROWS - 1, 0, 998]
    assert [id_of(row) for table in read_rows(shards, wanted) for row in table.to_pylist()] == wanted


def test_ranks_read_each_row_once_and_resume_on_others(data: Path) -> None:
    read: list[int] = []
    states = []
    for rank in range(2):
        own = loader(data, rank, 2, 0)
        for number, batch in enumerate(own, 1):
            read += ids(batch)
            if number == 13:
                break
        states.append(own.state_dict())
    assert states[0] == states[1]
    assert len(read) == len(set(read)) == 2 * 13 * 16
    for rank in range(3):
        own = loader(data, rank, 3, 0, remainder="uneven")
        own.load_state_dict(states[0])
        read += [number for batch in own for number in ids(batch)]
    assert sorted(read) == list(range(ROWS))


def test_workers_read_each_row_once(data: Path) -> None:
    with_workers = sorted(number for batch in loader(data, 0, 1, 2, remainder="uneven") for number in ids(batch))
    assert with_workers == list(range(ROWS))


def test_whole_files_are_dealt_to_ranks(data: Path) -> None:
    read = []
    for rank in range(2):
        dataset = ShardedDataset(data, batch_size=16, deal="shards", balance_by="bytes", rank=rank, world_size=2)
        read += [number for batch in dataset for number in ids(batch)]
    assert sorted(read) == list(range(ROWS))


def test_a_file_of_other_columns_is_named(data: Path, tmp_path: Path) -> None:
    if data.name == "mds":
        with MDSWriter(out=str(tmp_path / "other"), columns={"id": "int"}) as sink:
            sink.write({"id": 1})
        path = tmp_path / "other" / "shard.00000.mds"
    elif data.name == "tar":
        path = tmp_path / "a.tar"
        with webdataset.TarWriter(str(path)) as sink:
            sink.write({"__key__": "1", "cls": 1})
    elif data.name == "lance":
        path = tmp_path / "a.lance"
        lance.write_dataset(pa.table({"id": [1]}), path)
    else:
        datasets.Dataset.from_dict({"id": [1]}).save_to_disk(tmp_path / "other")
        path = tmp_path / "other" / "data-00000-of-00001.arrow"
    with pytest.raises(OSError, match=r"has no column .*unlike"):
        Shards.find([*Shards.find(data).paths, path])


def test_columns_of_mosaic_are_decoded_as_mosaic_does(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "bytes": b"\0\1",
        "str": "é",
        "int": -5,
        "uint16": np.uint16(65_535),
        "float32": np.float32(0.5),
        "str_int": 10**15,
        "str_float": 0.25,
        "json": {"a": [1]},
        "pkl": {"any": "thing"},
        "ndarray:float32:2,3": np.arange(6, dtype=np.float32).reshape(2, 3),
        "ndarray:uint8": np.array([7, 8], np.uint8),
        "ndarray": np.array([[1.5]]),
    }
    columns = {encoding.replace(":", "_").replace(",", "_"): encoding for encoding in values}
    names = dict(zip(values, columns, strict=True))
    with MDSWriter(out=str(tmp_path), columns=columns) as sink:
        sink.write({names[encoding]: value for encoding, value in values.items()})
        sink.write({names[encoding]: value for encoding, value in values.items()})
    index = json.loads((tmp_path / "index.json").read_text())
    original = MDSReader.from_json(str(tmp_path), None, index["shards"][0]).get_item(1)
    (table,) = read_rows(Shards.find(tmp_path), [1])
    (row,) = table.to_pylist()
    for encoding, name in names.items():
        known = original[name]
        if encoding in ("pkl", "ndarray"):
            assert isinstance(row[name], bytes)
        elif encoding == "json":
            assert json.loads(row[name]) == known
        else:
            assert np.array_equal(row[name], known), encoding
    assert to_tensors(table.to_batches()[0])["int"].tolist() == [-5]


def test_a_shard_of_mosaic_that_is_missing_or_packed(tmp_path: Path) -> None:
    write_mds(tmp_path / "own")
    (tmp_path / "own" / "shard.00001.mds").unlink()
    with pytest.raises(OSError, match=r"shard\.00001\.mds is named in index\.json, and is not there"):
        Shards.find(tmp_path / "own")
    with MDSWriter(out=str(tmp_path / "packed"), columns={"id": "int"}, compression="zstd") as sink:
        sink.write({"id": 1})
    with pytest.raises(OSError, match="unpacked"):
        Shards.find(tmp_path / "packed")


def test_datasets_that_have_no_files_of_their_rows(tmp_path: Path) -> None:
    own = datasets.Dataset.from_dict({"id": list(range(10))})
    datasets.DatasetDict({"train": own, "test": own}).save_to_disk(tmp_path / "both")
    with pytest.raises(OSError, match="name the directory of one split"):
        Shards.find(tmp_path / "both")
    assert Shards.find(tmp_path / "both" / "train").samples == 10
    folder = tmp_path / "mapped"
    shutil.copytree(tmp_path / "both" / "train", folder)
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps({**state, "_indices_data_files": [{"filename": "indices.arrow"}]}))
    with pytest.raises(OSError, match="flatten_indices"):
        Shards.find(folder)
    (folder / "state.json").write_text(json.dumps({**state, "_data_files": [{"filename": "gone.arrow"}]}))
    with pytest.raises(OSError, match=r"'gone\.arrow', which is not there"):
        Shards.find(folder)


def test_lance_stays_at_its_version(tmp_path: Path) -> None:
    path = tmp_path / "a.lance"
    lance.write_dataset(pa.table({"id": list(range(10))}), path)
    lance.dataset(path).delete("id = 4")
    shards = Shards.find(path)
    lance.write_dataset(pa.table({"id": [100]}), path, mode="append")
    lance.dataset(path).delete("id = 0")
    (table,) = read_rows(shards, range(9))
    assert table["id"].to_pylist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert Shards.find(path).samples == 9


def test_lance_in_a_forked_worker_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.lance"
    lance.write_dataset(pa.table({"id": list(range(100))}), path)
    own = DataLoader(ShardedDataset(path, batch_size=8), batch_size=None, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(OSError, match="spawn"):
        list(own)
