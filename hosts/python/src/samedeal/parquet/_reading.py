"""What one reader reads: tables in the order of its deal."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from .. import Sampler, ShardPlan
from ._cursor import Cursor
from ._files import Shards

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

# What a cursor holds: one of many lanes, or the only one.
LANE_BYTES = 1 << 18
SHARD_BYTES = 1 << 23


def read_samples(shards: Shards, sampler: Sampler, *, sample_column: str | None = None) -> Iterator[pa.Table]:
    """The samples of a sampler with the order `sharded`, in its order, a window of each of its lanes at a time.

    Args:
        shards: Where the samples are stored.
        sampler: From `Sampler.sharded(shards.sizes, ...)`: its rank is the reader. It must not be moved meanwhile.
        sample_column: A column of this name is added, with the index of each sample.

    Yields:
        A table per round: as many samples as a window holds, times the reader's lanes.

    Raises:
        OSError: A shard cannot be read, or is not as long as it was.
    """
    bases = np.concatenate(([0], np.cumsum(shards.sizes)))
    cursors: dict[int, Cursor] = {}
    try:
        for number in range(sampler.num_rounds):
            start, count, spans = sampler.round(number)
            if count == 0:
                continue
            read: list[pa.RecordBatch] = []
            for lane, shard, first, length in spans.tolist():
                cursor = cursors.setdefault(lane, Cursor(shards, LANE_BYTES))
                read.extend(cursor.read(shard, first, length))
            samples = sampler.indices(start, start + count)
            real = max(0, min(count, len(sampler) - sampler.num_padding - start))
            rows = _rows_of(samples, real, bases[spans[:, 1]] + spans[:, 2], spans[:, 3])
            table = pa.Table.from_batches(read, shards.schema).take(rows)
            yield _with_samples(table, samples, sample_column)
    finally:
        for cursor in cursors.values():
            cursor.close()


def read_shards(
    shards: Shards, plan: ShardPlan, rank: int, worker: int = 0, *, sample_column: str | None = None
) -> Iterator[pa.Table]:
    """The whole shards of a reader, one after the other; the rows of each in the order of `plan.rows`.

    Args:
        shards: Where they are stored.
        plan: Over `shards.sizes`. It must not be moved meanwhile.
        rank: Of the reader.
        worker: Of the reader.
        sample_column: A column of this name is added, with the index of each sample.

    Yields:
        A table per shard where `plan` shuffles, else a table per run of rows.

    Raises:
        OSError: A shard cannot be read, or is not as long as it was.
    """
    bases = np.concatenate(([0], np.cumsum(shards.sizes)))
    cursor = Cursor(shards, SHARD_BYTES)
    try:
        for shard in plan.shards(rank, worker).tolist():
            size, base = int(shards.sizes[shard]), int(bases[shard])
            if size == 0:
                continue
            runs = cursor.read(shard, 0, size)
            if plan.shuffle:
                rows = plan.rows(shard)
                table = pa.Table.from_batches(runs, shards.schema).take(rows)
                yield _with_samples(table, base + rows, sample_column)
                continue
            for run in runs:
                table = pa.Table.from_batches([run])
                yield _with_samples(table, base + np.arange(run.num_rows), sample_column)
                base += run.num_rows
    finally:
        cursor.close()


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """The same items, each made on a background thread while the one before it is in use."""
    end = object()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="samedeal-read") as pool:
        try:
            upcoming = pool.submit(next, items, end)
            while (item := upcoming.result()) is not end:
                upcoming = pool.submit(next, items, end)
                yield item  # type: ignore[misc]  # The end has been told apart.
        finally:
            # On the thread that runs them, so that the files are closed when whoever stops early goes on.
            pool.submit(getattr(items, "close", lambda: None)).result()


def batches(tables: Iterator[pa.Table], size: int, drop_last: bool) -> Iterator[pa.RecordBatch]:
    """Tables cut into batches of `size` rows; the last one may be shorter, or is left out."""
    rest: list[pa.RecordBatch] = []
    held = 0
    for table in tables:
        for run in table.combine_chunks().to_batches():
            at = 0
            while held + run.num_rows - at >= size:
                part = run.slice(at, size - held)
                at += part.num_rows
                yield pa.concat_batches([*rest, part]) if rest else part
                rest, held = [], 0
            if at < run.num_rows:
                rest.append(run.slice(at))
                held += run.num_rows - at
    if rest and not drop_last:
        yield pa.concat_batches(rest)


def _rows_of(
    samples: NDArray[np.int64], real: int, starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where samples are among the rows that were read: the spans end to end, each from sample `starts` on.

    Those after the first `real` ones are padding, and the last spans are theirs, one each.
    """
    offsets = np.cumsum(counts) - counts
    windows = len(counts) - (len(samples) - real)
    order = np.argsort(starts[:windows])
    span = order[np.searchsorted(starts[order], samples[:real], side="right") - 1]
    rows = offsets[span] + samples[:real] - starts[span]
    return np.concatenate((rows, offsets[windows:]))


def _with_samples(table: pa.Table, samples: NDArray[np.int64], name: str | None) -> pa.Table:
    return table if name is None else table.append_column(name, pa.array(samples))
