"""The rows of a step, from DuckDB and from the reader of Parquet files."""

from __future__ import annotations

import csv
from itertools import islice

import pyarrow as pa
from samedeal import Reading
from samedeal.parquet import Marks, Shards, batches, read_reader
from shown import EXAMPLES, run


def test_rows_are_those_of_a_reader() -> None:
    printed = run("duckdb-step")
    columns = ("rank", "sample", "id", "length")
    found = [{name: int(row[name]) for name in columns} for row in csv.DictReader(printed[:9])]
    shards = Shards.find(EXAMPLES / "duckdb-step/dist/shards")
    reading = Reading(shards.sizes, batch_size=4, lanes=4, shuffle_window=8, seed=7, world_size=2).at_epoch(1)
    read = []
    for rank in range(2):
        tables = read_reader(shards, reading, rank, marks=Marks(sample="sample"))
        [batch] = islice(batches(tables, 4, drop_last=False), 4, 5)
        read += [{"rank": rank, **row} for row in pa.Table.from_batches([batch]).to_pylist()]
    assert found == read
