"""Asks DuckDB about the rows that all ranks read at one step of a run.

The query sees a table `step`: the columns of the dataset, and `rank`, `index_in_batch`, `sample`, `is_padding`.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
from samedeal import SamedealError, Sampler
from samedeal.parquet import Shards

QUERY = "SELECT * FROM step ORDER BY rank, index_in_batch"
SCHEMA = pa.schema(
    {
        "rank": pa.int32(),
        "index_in_batch": pa.int32(),
        "sample": pa.int64(),
        "is_padding": pa.bool_(),
        "shard": pa.string(),
        "shard_row": pa.int64(),
    }
)


def places(shards: Shards, recipe: str, epoch: int, step: int, batch_size: int) -> pa.Table:
    """A table of the rows that each rank reads at the step, by shard and row. The recipe must be for these shards."""
    sampler = Sampler.from_recipe(recipe, lists={"sizes": shards.sizes}, epoch=epoch)
    rows = []
    for rank in range(sampler.world_size):
        sampler.set_rank(rank)
        real = sampler.num_samples - sampler.num_padding
        for index, sample in enumerate(sampler.batch(step, batch_size).tolist()):
            place = sampler.shard_of(sample)
            is_padding = step * batch_size + index >= real
            rows.append((rank, index, sample, is_padding, shards.paths[place.shard], place.row))
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], SCHEMA)


def ask(places: pa.Table, query: str) -> duckdb.DuckDBPyConnection:
    """The answer to a query over these rows. DuckDB only reads the shards that have one of them."""
    connection = duckdb.connect()
    connection.register("places", places)
    connection.execute("SET VARIABLE shards = (SELECT list(DISTINCT shard ORDER BY shard) FROM places)")
    connection.execute("""
        CREATE TEMP VIEW step AS
        SELECT rank, index_in_batch, sample, is_padding, dataset.* EXCLUDE (filename, file_row_number)
        FROM read_parquet(getvariable('shards'), filename = true, file_row_number = true) AS dataset
        JOIN places ON dataset.filename = places.shard AND dataset.file_row_number = places.shard_row
    """)
    return connection.execute(query)


def main() -> None:
    """Reads the command line, and prints the answer as CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards", help="the folder of Parquet files")
    parser.add_argument("recipe", type=Path, help="the recipe of the run: the text of `sampler.recipe`")
    parser.add_argument("--epoch", type=int, default=0)
    parser.add_argument("--step", type=int, required=True, help="number of the step in the epoch, from 0")
    parser.add_argument("--batch-size", type=int, required=True, help="samples in a batch of one rank")
    parser.add_argument("--query", default=QUERY)
    given = parser.parse_args()
    try:
        shards = Shards.find(given.shards)
        recipe = given.recipe.read_text(encoding="utf-8")
        answer = ask(places(shards, recipe, given.epoch, given.step, given.batch_size), given.query)
    except (OSError, SamedealError, duckdb.Error) as error:
        sys.exit(str(error))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([name for name, *_ in answer.description or ()])
    writer.writerows(answer.fetchall())


if __name__ == "__main__":
    main()
