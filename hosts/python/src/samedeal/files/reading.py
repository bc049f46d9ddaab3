"""Reads the rows of one reader as tables, in the order in which they are dealt."""

from __future__ import annotations

import json
import operator
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import ContradictionError, Reading, Spans, WrongTypeError
from ..engine import arguments as check
from .cursor import Cursor
from .failures import Failures
from .groups import DECODED_ROWS, Groups
from .shards import Shards
from .sources import Sources
from .take import booleans, integers, take

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Bytes that are buffered of each column: by a single cursor, by the cursors of all lanes together, and by the cursor of
# one lane at least and at most.
SHARD_BYTES = 1 << 23
LANES_BYTES = 1 << 24
LANE_BYTES = (1 << 15, 1 << 18)
# With a single lane, SHARD_BYTES are many rows, and those that are decoded behind the end of the lane are not read. So
# 1 / LANE_PART of the lane is decoded at a time, but not so few rows that a call costs more than its rows.
LANE_PART = 16
FEWEST_ROWS = 256
# Of a run of rows, those that a round needs are copied if they are fewer than 1 in SPARSE. Otherwise the whole run is
# held until the rows of the round are put in order, so that they are copied once.
SPARSE = 4
# In a round of one lane, spans that have fewer rows than this on average are read as single rows.
FEW_ROWS = 8
# A table of WIDE bytes or more gets wide types, since Arrow otherwise counts the bytes of texts with 31 bits. Its rows
# are taken in pieces of about PIECE bytes.
WIDE = 1 << 30
PIECE = 1 << 28


LOST = "samedeal.lost"
"""The name of the column that says which rows are of lost files."""
Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)

_SIZE = check.Width(1, check.MAX_EXACT, f"1 to {check.MAX_EXACT}")


class Marks(NamedTuple):
    """The names of columns to add."""

    sample: str | None = None
    """The index of each sample in the dataset."""
    padding: str | None = None
    """Whether the sample is padding."""
    source: str | None = None
    """The name of the source of the sample; only for shards that are `Sources`."""


def read_reader(
    shards: Shards,
    reading: Reading,
    rank: int,
    worker: int = 0,
    *,
    start: int = 0,
    marks: Marks = Marks(),  # noqa: B008
) -> Iterator[pa.Table]:
    """Reads the samples of a loader worker, in its order.

    Args:
        shards: The shards that have the samples.
        reading: A reading over `shards.sizes`.
        rank: The rank of the reader.
        worker: The loader worker of the rank.
        start: How many of the first samples are left out.
        marks: Columns to add.

    Yields:
        One or more tables for each round of the reading. A round is a window of each lane of the reader, or a shard; if
        the order is made of other orders, a round has as many samples as a window of each lane.

    Raises:
        OutOfRangeError: There is no such reader, or `start` is above the number of its samples.
        ContradictionError: The reading is of shards of other sizes.
        WrongTypeError: A value is not of the type that its parameter takes.
        OSError: A shard cannot be read, or is not as long as it was.
    """
    _check_shards(shards, marks)
    if not isinstance(reading, Reading):
        raise WrongTypeError("reading", check.described(reading), "a samedeal.Reading over shards.sizes")
    if not np.array_equal(reading.sizes, shards.sizes):
        raise ContradictionError("reading", f"of {len(reading.sizes)} other shards", "one over shards.sizes")
    # Raises the reading's error for a wrong reader or start.
    reading.indices(rank, worker, start, start)
    tables = read_places(shards, reading, operator.index(rank), operator.index(worker), operator.index(start), marks)
    return map(present, tables) if shards.lost else tables


def present(rows: Rows) -> Rows:
    """The rows that `read_places` gave, without the rows of lost files."""
    return rows.filter(pc.invert(rows.column(LOST))).drop_columns([LOST])


def read_places(
    shards: Shards,
    reading: Reading,
    rank: int,
    worker: int,
    start: int,
    marks: Marks,
    failures: Failures | None = None,
) -> Iterator[pa.Table]:
    """The tables of `read_reader`, with rows of nulls for samples of lost files, which the column `LOST` marks.

    With `failures`, samples that cannot be decoded are rows of nulls too, and `failures` has them.
    """
    recipe = json.loads(reading.recipe)
    if recipe.get("order", {}).keys() & {"of", "sources"}:
        yield from _read_composed(shards, reading, (rank, worker), start, marks, recipe["order"], failures)
        return
    stored = not recipe.get("shards", {"shuffle_rows": True})["shuffle_rows"]
    bases = np.concatenate(([0], np.cumsum(shards.sizes)))
    cursors: dict[int, Cursor] = {}
    groups = Groups(shards, SHARD_BYTES, failures)
    lanes = 1
    try:
        if "order" in recipe:
            groups.last = _last(reading, rank, worker)
        for begin, count, columns in reading.rounds(rank, worker, start):
            first = max(begin, start)
            spans = list(zip(*(column.tolist() for column in columns), strict=True))
            here = {lane for lane, *_ in spans}
            lanes = max(lanes, len(here))
            least, most = LANE_BYTES
            groups.held = SHARD_BYTES if lanes == 1 else min(most, max(least, LANES_BYTES // lanes))
            if lanes == 1 and "shards" not in recipe:
                groups.rows = min(DECODED_ROWS, max(FEWEST_ROWS, reading.num_samples(rank, worker) // LANE_PART))
            for lane in here - cursors.keys():
                cursors[lane] = Cursor(shards, groups, lane)
            _expect(groups, ((cursors[lane], lane, shard, row) for lane, shard, row, _ in spans))
            if stored:
                # Rows in storage order: a shard of any size is passed on piece by piece.
                _, shard, row, length = spans[0]
                row, length = row + first - begin, length - (first - begin)
                at = int(bases[shard]) + row
                for run in cursors[0].read(shard, row, length):
                    samples = at + np.arange(run.num_rows)
                    yield _marked(shards, pa.Table.from_batches([run]), samples, run.num_rows, marks)
                    at += run.num_rows
                continue
            samples = reading.indices(rank, worker, first, begin + count)
            number = reading.round_of(rank, worker, begin)
            rows, padding = reading.round_rows(rank, worker, number, first - begin)
            own = count - (first - begin) - padding
            if len(here) == 1 and len(spans) * FEW_ROWS > count:
                # The spans are short on average, so their rows are read as single rows.
                yield from _read_rows(shards, samples, own, marks, cursors[here.pop()])
                continue
            read: list[pa.RecordBatch] = []
            for lane, shard, row, length in spans:
                read.extend(cursors[lane].read(shard, row, length))
            table = pa.Table.from_batches(read, shards.schema)
            del read
            yield from _taken(shards, table, rows, samples, own, marks)
            del table
    finally:
        groups.close()
        for cursor in cursors.values():
            cursor.close()


def _last(reading: Reading, rank: int, worker: int) -> dict[int, list[int]]:
    """By the number of a shard: the last rows that the lanes of a reader read of it. The last two rounds have them."""
    found: dict[tuple[int, int], int] = {}
    rounds = reading.num_rounds(rank, worker)
    for number in range(max(0, rounds - 2), rounds):
        for lane, shard, row, length in zip(*reading.round(rank, worker, number).spans, strict=True):
            found[lane, shard] = max(found.get((lane, shard), 0), row + length - 1)
    rows: dict[int, list[int]] = {}
    for (_, shard), row in found.items():
        rows.setdefault(shard, []).append(row)
    return rows


def _expect(groups: Groups, places: Iterable[tuple[Cursor, Hashable, int, int]]) -> None:
    """Registers in `groups` where cursors begin to read in a round."""
    begun: dict[Hashable, tuple[int, int]] = {}
    for cursor, name, shard, row in places:
        if name not in begun and not cursor.goes_on(shard, row):
            begun[name] = shard, row
    groups.expect((name, *place) for name, place in begun.items())


def _check_shards(shards: Any, marks: Any) -> None:
    """Raises an error unless these are shards, and names of columns."""
    if not isinstance(shards, Shards):
        raise WrongTypeError("shards", check.described(shards), "shards, such as Shards.find(paths)")
    if not isinstance(marks, Marks) or not all(name is None or isinstance(name, str) for name in marks):
        raise WrongTypeError("marks", check.described(marks), "Marks, with names of columns")


def _windows(order: dict[str, Any]) -> list[int]:
    """The shuffle window of each lane of an order, from its section of a recipe."""
    if "sources" in order:
        return [window for source in order["sources"] for window in _windows(source["order"])]
    if "of" in order:
        return _windows(order["of"])
    return [order["shuffle_window"]] * order["lanes"]


def _read_composed(
    shards: Shards,
    reading: Reading,
    reader: tuple[int, int],
    start: int,
    marks: Marks,
    order: dict[str, Any],
    failures: Failures | None,
) -> Iterator[pa.Table]:
    """Reads an order that is made of other orders, whose rounds take single rows out of windows."""
    windows = _windows(order)
    # The parts of the order have lanes of their own, so all lanes together get four times as many bytes.
    held = min(LANE_BYTES[1], max(LANE_BYTES[0], 4 * LANES_BYTES // max(1, len(windows))))
    cursors: dict[tuple[int, int], Cursor] = {}
    groups = Groups(shards, held, failures)
    try:
        while "of" in order:
            order = order["of"]
        if "sources" not in order:
            # A blend may go through a source again, so that a lane has no last row.
            groups.last = _last(reading, *reader)
        # The first table is small: the first batch needs only some of the lanes, and to open a lane takes long.
        least = max(FEWEST_ROWS, reading.batch_size)
        for begin, count, columns in reading.rounds(*reader, start):
            which = (*reader, reading.round_of(*reader, begin))
            runs = list(_runs(columns))
            here = {(lane, shard) for lane, shard, _ in runs}
            for lane, shard in here - cursors.keys():
                # Keeps a window of rows, since the next table begins within the windows in which this one ends.
                cursors[lane, shard] = Cursor(shards, groups, (lane, shard), windows[lane])
            starts = ((cursors[lane, shard], (lane, shard), shard, int(wanted[0])) for lane, shard, wanted in runs)
            _expect(groups, starts)
            numbers = np.cumsum([0] + [len(wanted) for *_, wanted in runs])
            first = max(begin, start)
            while first < begin + count:
                end = min(first + least, begin + count)
                least = count
                samples = reading.indices(*reader, first, end)
                rows, padding = reading._rows(which, first - begin, end - begin)
                used = np.zeros(numbers[-1], dtype=np.bool_)
                used[rows] = True
                read: list[pa.RecordBatch] = []
                places: list[NDArray[np.int64]] = []
                before = 0
                for (lane, shard, wanted), low, high in zip(runs, numbers, numbers[1:], strict=False):
                    for batch, own in _picked(cursors[lane, shard], shard, wanted[used[low:high]]):
                        read.append(batch)
                        places.append(own + before)
                        before += batch.num_rows
                table = pa.Table.from_batches(read, shards.schema)
                del read
                rows = np.concatenate(places)[(np.cumsum(used) - 1)[rows]]
                yield from _taken(shards, table, rows, samples, len(samples) - padding, marks)
                del table
                first = end
            # A lane that has no rows in this round may go on in the next one, so it stays open.
            there = {lane for lane, _ in here}
            for place in [place for place in cursors.keys() - here if place[0] in there]:
                cursors.pop(place).close()
    finally:
        groups.close()
        for cursor in cursors.values():
            cursor.close()


def _runs(spans: Spans) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Joins spans that a cursor reads in one go. Gives the lane, the shard and the rows of each run."""
    lanes, shards, firsts, counts = (np.asarray(column, dtype=np.int64) for column in spans)
    ends = firsts + counts
    gaps = firsts[1:] - ends[:-1]
    breaks = (np.diff(lanes) != 0) | (np.diff(shards) != 0) | (gaps < 0) | (gaps > DECODED_ROWS)
    # `rows` has the rows of all spans, one span after the other: element k of a span whose elements begin at `start` is
    # `first + k - start`.
    starts = np.cumsum(counts) - counts
    rows = np.repeat(firsts - starts, counts) + np.arange(counts.sum())
    edges = np.concatenate(([0], np.flatnonzero(breaks) + 1))
    for edge, own in zip(edges.tolist(), np.split(rows, starts[edges[1:]]), strict=True):
        yield int(lanes[edge]), int(shards[edge]), own


def _picked(cursor: Cursor, shard: int, rows: NDArray[np.int64]) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
    """Reads rows of a shard, which ascend, each once. Gives batches, and the places of the rows in each of them."""
    if not len(rows):
        return
    at, end = int(rows[0]), int(rows[-1]) + 1
    for run in cursor.read(shard, at, end - at):
        low, high = np.searchsorted(rows, (at, at + run.num_rows))
        own = rows[low:high] - at
        if SPARSE * len(own) >= run.num_rows:
            yield run, own
        elif len(own):
            yield take(run, own), np.arange(len(own))
        at += run.num_rows


def read_rows(
    shards: Shards,
    samples: Sequence[int],
    real: int | None = None,
    marks: Marks = Marks(),  # noqa: B008
    cursor: Cursor | None = None,
) -> Iterator[pa.Table]:
    """Reads any samples, in this order, into memory together. Samples that are stored near one another cost least.

    Args:
        shards: The shards that have the samples.
        samples: The sample indices.
        real: How many of the first samples are no padding; by default all.
        marks: Columns to add.
        cursor: A cursor that reads the rows, and stays open; by default a new one, which is closed in the end.

    Yields:
        A table or several.

    Raises:
        OutOfRangeError: There is no such sample.
        WrongTypeError: A value is not of the type that its parameter takes.
        OSError: A shard cannot be read, or is not as long as it was.
    """
    _check_shards(shards, marks)
    if cursor is not None and not isinstance(cursor, Cursor):
        raise WrongTypeError("cursor", check.described(cursor), "a Cursor, or None")
    within = check.Width(0, shards.samples - 1, check.below(shards.samples))
    indices = check.u64s("samples", samples, within).astype(np.int64)
    own = len(indices) if real is None else check.one_of("real", real, len(indices) + 1)
    gone = indices[are_lost(shards, indices)]
    if len(gone):
        sample = int(gone[0])
        raise OSError(f"{shards.paths[_shards_of(shards, sample)]}: has sample {sample}, and was lost")
    tables = _read_rows(shards, indices, own, marks, cursor)
    return map(present, tables) if shards.lost else tables


def _shards_of(shards: Shards, samples: Any) -> Any:
    """The number of the shard of each sample."""
    return np.searchsorted(np.cumsum(shards.sizes), samples, side="right")


def are_lost(shards: Shards, samples: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each of the samples is of a lost file."""
    return np.isin(_shards_of(shards, samples), sorted(shards.lost))


def _read_rows(
    shards: Shards, indices: NDArray[np.int64], real: int, marks: Marks, cursor: Cursor | None
) -> Iterator[pa.Table]:
    stored, rows = np.unique(indices, return_inverse=True)
    if len(stored) == 0:
        return
    bases = np.concatenate(([0], np.cumsum(shards.sizes)))
    shard = np.searchsorted(bases, stored, side="right") - 1
    # To read on through the rows between two samples costs less than to open the shard again, unless there are many.
    breaks = np.flatnonzero((np.diff(stored) > DECODED_ROWS) | (np.diff(shard) > 0)) + 1
    own_cursor = cursor is None
    cursor = cursor or Cursor(shards, Groups(shards, SHARD_BYTES))
    read: list[pa.RecordBatch] = []
    try:
        for part in np.split(np.arange(len(stored)), breaks):
            own = stored[part]
            at, end = int(own[0]), int(own[-1]) + 1
            for run in cursor.read(int(shard[part[0]]), at - int(bases[shard[part[0]]]), end - at):
                wanted = own[(own >= at) & (own < at + run.num_rows)] - at
                read.append(take(run, wanted))
                at += run.num_rows
    finally:
        if own_cursor:
            cursor.close()
    table = pa.Table.from_batches(read, shards.schema)
    yield from _taken(shards, table, rows, indices, real, marks)


def batches(tables: Iterator[pa.Table], size: int, drop_last: bool) -> Iterator[pa.RecordBatch]:
    """Tables cut into batches of `size` rows; the last one may be shorter, or is left out.

    Raises:
        OutOfRangeError: `size` is 0.
        WrongTypeError: A value is not of the type that its parameter takes.
    """
    if not isinstance(tables, Iterable):
        raise WrongTypeError("tables", check.described(tables), "an iteration over tables of pyarrow")
    return _batches(tables, check.integer("size", size, _SIZE), check.boolean("drop_last", drop_last))


def _batches(tables: Iterable[pa.Table], size: int, drop_last: bool) -> Iterator[pa.RecordBatch]:
    rest: list[pa.RecordBatch] = []
    held = 0
    for table in tables:
        if not isinstance(table, pa.Table):
            raise WrongTypeError("tables", check.described(table), "tables of pyarrow")
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


def _taken(
    shards: Shards,
    table: pa.Table,
    rows: NDArray[np.int64],
    samples: NDArray[np.int64],
    real: int,
    marks: Marks,
) -> Iterator[pa.Table]:
    """The rows `rows` of a table, in several tables if it is large."""
    schema = table.schema
    piece = len(rows)
    if table.nbytes >= WIDE:
        table = table.cast(pa.schema([field.with_type(_wide(field.type)) for field in schema]))
        piece = max(1, len(rows) * PIECE // table.nbytes)
    for at in range(0, len(rows), piece):
        taken = take(table, rows[at : at + piece])
        yield _marked(shards, taken.cast(schema), samples[at : at + piece], real - at, marks)


def _wide(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_binary(kind):
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.large_list(kind.value_field.with_type(_wide(kind.value_type)))
    return kind


def _marked(shards: Shards, table: pa.Table, samples: NDArray[np.int64], real: int, marks: Marks) -> pa.Table:
    if marks.source is not None and isinstance(shards, Sources):
        table = table.append_column(marks.source, shards.sources_of(samples))
    if marks.sample is not None:
        table = table.append_column(marks.sample, integers(samples))
    if marks.padding is not None:
        table = table.append_column(marks.padding, booleans(np.arange(len(samples)) >= real))
    if shards.lost:
        table = table.append_column(LOST, booleans(are_lost(shards, samples)))
    return table
