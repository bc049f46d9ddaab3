"""Batches on their way from loader workers to the main process."""

from __future__ import annotations

import datetime
import decimal
import os
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from samedeal.torch import ShardedDataset, to_tensors
from samedeal.torch.tensors import Sent
from torch.utils.data import DataLoader, get_worker_info

pytestmark = pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning")

ROWS = 90
PLACE: dict[str, Any] = {"rank": 0, "world_size": 1, "lanes": 2, "batch_size": 8}
DAY = datetime.date(2026, 11, 30)


def table() -> pa.Table:
    """Columns of all kinds. `pair` has tuples in Python, and `half` has numbers of numpy."""
    ids = np.arange(ROWS)
    words = [None if i % 7 == 0 else f"{i} \u00e4\U0001f600" for i in range(ROWS)]
    return pa.table(
        {
            "id": ids,
            "text": words,
            "long": pa.array(words, pa.large_string()),
            "bytes": [b"\0" * i for i in range(ROWS)],
            "small": pa.array(ids, pa.uint16()),
            "flag": ids % 2 == 0,
            "half": pa.array(ids.astype(np.float16)),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(ids, 3)), 3),
            "tokens": [list(range(i % 5)) for i in range(ROWS)],
            "words": [[f"{i}", None] for i in range(ROWS)],
            "record": [{"a": i, "b": [f"{i}"]} for i in range(ROWS)],
            "label": pa.array([f"label {i % 3}" for i in range(ROWS)]).dictionary_encode(),
            "pair": pa.array([[("a", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
            "halves": pa.array([[np.float16(i)] for i in range(ROWS)], pa.list_(pa.float16())),
            "day": [DAY] * ROWS,
            "time": [datetime.datetime(2026, 11, 30, i % 24, tzinfo=datetime.timezone.utc) for i in range(ROWS)],
            "price": [decimal.Decimal(i) / 4 for i in range(ROWS)],
            "nothing": pa.nulls(ROWS),
        }
    )


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with columns of all kinds."""
    folder = tmp_path_factory.mktemp("kinds")
    pq.write_table(table(), folder / "0.parquet", row_group_size=20)
    return folder


def same(value: Any, other: Any) -> bool:
    """Whether values are equal, and of the same types."""
    if type(value) is not type(other):
        return False
    if isinstance(value, torch.Tensor):
        return bool(value.dtype == other.dtype and torch.equal(value, other))
    if isinstance(value, list):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, dict):
        return list(value) == list(other) and all(map(same, value.values(), other.values()))
    return bool(value == other)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_give_what_the_main_process_gives(kinds: Path, context: str) -> None:
    dataset = ShardedDataset(kinds, transform=to_tensors, **PLACE)
    alone = list(DataLoader(dataset, batch_size=None))
    dataset.set_epoch(0)
    sent = list(DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context=context))
    assert same(sent, alone)
    assert list(sent[0]) == table().column_names
    # A tensor in shared memory has a file.
    assert not any(value.is_shared() for value in sent[0].values() if isinstance(value, torch.Tensor))


def test_a_stateful_loader_gives_the_same(kinds: Path) -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader

    dataset = ShardedDataset(kinds, transform=to_tensors, **PLACE)
    sent = list(StatefulDataLoader(dataset, batch_size=None, num_workers=1))
    dataset.set_epoch(0)
    assert same(sent, list(DataLoader(dataset, batch_size=None)))
    assert not sent[0]["id"].is_shared()


def test_batches_of_arrow(kinds: Path) -> None:
    dataset = ShardedDataset(kinds, **PLACE)
    alone = list(dataset)
    dataset.set_epoch(0)
    sent = list(DataLoader(dataset, batch_size=None, num_workers=1))
    assert all(isinstance(batch, pa.RecordBatch) for batch in sent)
    assert all(map(pa.RecordBatch.equals, sent, alone))


def with_process(batch: pa.RecordBatch) -> Any:
    return to_tensors(batch) | {"process": os.getpid(), "worker": get_worker_info().id}


def collated(batch: Any) -> Any:
    return batch | {"collated": (type(batch), type(batch["text"]), os.getpid())}


def counted(batch: pa.RecordBatch) -> Any:
    return type(batch), batch.num_rows, os.getpid()


def test_functions_of_the_user_run_in_the_worker(kinds: Path) -> None:
    """They get what they always got: a batch of Arrow, or the dictionary of `to_tensors`."""
    dataset = ShardedDataset(kinds, transform=with_process, **PLACE)
    batch = next(iter(DataLoader(dataset, batch_size=None, num_workers=1)))
    assert batch["process"] != os.getpid()
    assert batch["worker"] == 0
    dataset = ShardedDataset(kinds, transform=to_tensors, **PLACE)
    batch = next(iter(DataLoader(dataset, batch_size=None, num_workers=1, collate_fn=collated)))
    assert batch["collated"][:2] == (dict, list)
    assert batch["collated"][2] != os.getpid()
    dataset = ShardedDataset(kinds, **PLACE)
    kind, rows, process = next(iter(DataLoader(dataset, batch_size=None, num_workers=1, collate_fn=counted)))
    assert (kind, rows) == (pa.RecordBatch, 8)
    assert process != os.getpid()


class Doubled(ShardedDataset):
    """A dataset of a user, which takes the items of this package in the worker."""

    def __iter__(self) -> Any:
        for batch in super().__iter__():
            yield {name: batch[name] for name in ("id", "text")}


def test_a_class_of_the_user_gets_dictionaries(kinds: Path) -> None:
    dataset = Doubled(kinds, transform=to_tensors, **PLACE)
    batch = next(iter(DataLoader(dataset, batch_size=None, num_workers=1)))
    assert len(batch["text"]) == len(batch["id"]) == 8


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pa.array([1, None]), "column x, which has nulls"),
        (pa.array([[1, None], [3, 4]], pa.list_(pa.int64(), 2)), "column x, which has nulls"),
        (pa.array([b"\xff", b"a"]).view(pa.string()), "can't decode byte 0xff"),
    ],
)
def test_errors_come_from_the_worker(tmp_path: Path, column: pa.Array, why: str) -> None:
    """An error in the main process would end the thread that pins memory."""
    pq.write_table(pa.table({"x": column}), tmp_path / "0.parquet")
    dataset = ShardedDataset(tmp_path, transform=to_tensors, **PLACE)
    with pytest.raises(Exception, match="DataLoader worker process 0") as caught:
        list(DataLoader(dataset, batch_size=None, num_workers=1))
    assert why in str(caught.value)


def test_a_tensor_does_not_keep_the_texts() -> None:
    """A loop that collects labels needs no memory for the texts."""
    batch = pa.record_batch({"label": range(8), "text": ["x" * 50_000] * 8})
    tracemalloc.start()
    try:
        labels = [pickle.loads(pickle.dumps(Sent(batch, as_tensors=True)))["label"] for _ in range(20)]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert all(label.tolist() == list(range(8)) for label in labels)
    assert held < 400_000
