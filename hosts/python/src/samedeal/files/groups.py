"""Row groups of shards, each decoded once for all lanes of a reader that lie in it.

A row group is a part of a file in any format: a place where reading can begin (`Footer.rows`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from .failures import Failures
from .format import File
from .shards import Shards
from .take import take

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The most rows that are decoded at a time. There are enough of them that a call costs little for each row.
DECODED_ROWS = 8_192
BLOCK_ROWS = 1024
BLOCK_BYTES = 1 << 17
"""Where rows may fail, a block has about so many rows or bytes. To change these numbers changes which rows fail."""
MUCH_BYTES = 1 << 31
"""A reader that decodes more bytes before its first batch gives a warning."""
SHARED_BYTES = 1 << 28
"""About how many decoded bytes of a row group all its lanes together keep."""


class Costly(NamedTuple):
    """A row group that costs a reader much before its first batch."""

    path: str
    rows: int
    bytes: int
    """About how many bytes of the row group are decoded, uncompressed."""


def costliest(shards: Shards, lanes: int) -> Costly | None:
    """The row group of which a reader with `lanes` lanes decodes most before its first batch; None if that is not much.

    Lanes are of equal length. A lane that begins in a row group decodes half of it on average to reach its first row,
    unless several lanes share the decoding.
    """
    if shards.largest is None or not shards.samples:
        return None
    rows, size = shards.largest.T
    inside = np.minimum(lanes, lanes * rows / shards.samples)
    decoded = size * np.minimum(inside / 2, np.ceil(size / SHARED_BYTES))
    decoded[inside <= 1] = 0
    most = int(decoded.argmax())
    if decoded[most] < MUCH_BYTES:
        return None
    return Costly(shards.paths[most], int(rows[most]), int(decoded[most]))


@dataclass
class _Place:
    """The place of a lane in a row group that is decoded for several lanes."""

    shard: int
    group: int
    row: int
    """The next row that the lane reads."""
    kept: deque[pa.RecordBatch] = field(default_factory=deque)
    """The rows from `row` on that were decoded."""


@dataclass(frozen=True)
class _Footer:
    ends: NDArray[np.int64]
    """The ends of the row groups, in rows."""
    widths: list[int]
    """Bytes of a row in each row group, not compressed, at least 1."""
    blocks: list[int]
    """Rows that are decoded at a time in each row group, where rows may fail."""


class Groups:
    """The row groups of shards.

    A file can only be decoded from the beginning of a row group on. If several lanes of a reader lie in one row group,
    each lane would decode the row group up to its own rows. So the row group is decoded for all these lanes together,
    and again when the decoded rows that the lanes keep (`SHARED_BYTES`) run out.
    """

    def __init__(self, shards: Shards, held: int, failures: Failures | None = None) -> None:
        """About `held` bytes are decoded at a time, and about as many are read of each column at a time.

        Rows that cannot be decoded become nulls, and `failures` records them. If it is None, they are an error.
        """
        self._shards = shards
        self._failures = failures
        self.held = held
        self.rows = DECODED_ROWS
        """The most rows that are decoded at a time."""
        self._footers: dict[int, _Footer] = {}
        self._places: dict[Hashable, _Place] = {}
        self._spare: dict[int, File] = {}
        """Files that were opened for their footers, and that no lane reads yet."""
        self.last: dict[int, list[int]] = {}
        """By the number of a shard: the last rows that lanes of the reader read of it, as far as they are known."""
        self._shared: dict[int, tuple[File, int]] = {}
        """By the number of a shard: its file, which several lanes share, and how many lanes read it."""

    def expect(self, places: Iterable[tuple[Hashable, int, int]]) -> None:
        """Registers where lanes will begin to read: the name of each lane, the shard and the row."""
        for name, shard, row in places:
            self._places[name] = _Place(shard, self.of_row(shard, row)[0], row)

    def close(self) -> None:
        """Closes the files that no lane reads."""
        while self._spare:
            self._spare.popitem()[1].close()

    def leave(self, name: Hashable) -> None:
        """Removes a lane, which reads elsewhere from now on."""
        self._places.pop(name, None)

    def count(self, shard: int) -> int:
        """How many row groups a shard has."""
        return len(self._footer(shard).ends)

    def parts(self, shard: int, group: int) -> Iterator[range]:
        """The row groups from one on, in parts. A part ends where a lane may need no more of the shard.

        Rows are decoded some thousand at a time, also across row groups, but not across parts.
        """
        count = self.count(shard)
        ends = {self.of_row(shard, row)[0] + 1 for row in self.last.get(shard, ())}
        for end in sorted({*ends, count}):
            if group < end:
                yield range(group, end)
                group = end

    def of_row(self, shard: int, row: int) -> tuple[int, int]:
        """The row group of a row, and the first row of that group."""
        ends = self._footer(shard).ends
        group = int(np.searchsorted(ends, row, side="right"))
        return group, int(ends[group - 1]) if group else 0

    def expected(self, name: Hashable, shard: int, row: int) -> int:
        """The row at which to begin decoding: that of `expect`, if it is at most `DECODED_ROWS` before `row`.

        The lane reads the rows between them later. Else it is `row`.
        """
        place = self._places.get(name)
        if place is None or place.shard != shard or not 0 <= row - place.row <= DECODED_ROWS:
            return row
        return place.row

    def shares(self, name: Hashable, shard: int, row: int) -> bool:
        """Whether it costs less to decode the row group of this row once for all its lanes than for each lane."""
        group, begin = self.of_row(shard, row)
        if row - begin <= DECODED_ROWS:
            return False
        known = self._places.get(name)
        if known is not None and known.kept and (known.shard, known.group) == (shard, group):
            return True
        footer = self._footer(shard)
        rows = int(footer.ends[group]) - begin
        others = [place.row for key, place in self._within(shard, group) if key != name]
        alone = sum(max(0, each - begin) for each in [*others, row])
        passes = -(-rows * footer.widths[group] // SHARED_BYTES)
        return bool(others) and passes * rows < alone + rows

    def read(self, name: Hashable, shard: int, row: int) -> Iterator[pa.RecordBatch]:
        """The rows from this one on to the end of its row group.

        Raises:
            OSError: The shard cannot be read, or ends before the last row.
        """
        group, _ = self.of_row(shard, row)
        end = int(self._footer(shard).ends[group])
        while row < end:
            place = self._places.get(name)
            if place is None or (place.shard, place.group) != (shard, group) or place.row > row:
                place = self._places[name] = _Place(shard, group, row)
            while place.kept and place.row < row:
                # Drops rows that the lane does not read.
                batch = place.kept.popleft()
                left = batch.slice(min(row - place.row, batch.num_rows))
                place.row += batch.num_rows - left.num_rows
                if left.num_rows:
                    place.kept.appendleft(left)
            if not place.kept:
                place.row = row
                self._fill(shard, group)
                if not place.kept:
                    return
            batch = place.kept.popleft()
            row += batch.num_rows
            place.row = row
            if row == end:
                self.leave(name)
            yield batch

    def open(self, shard: int) -> File:
        """Opens a shard for a lane, or shares it with the lanes that read it. `release` it after use."""
        if shard not in self._shared:
            file = self._spare.pop(shard, None) or self._shards.open(shard, self.held)
            if not getattr(file, "interleaves", False):
                return file
            self._shared[shard] = file, 0
        file, users = self._shared[shard]
        self._shared[shard] = file, users + 1
        return file

    def release(self, shard: int, file: File) -> None:
        """Closes a shard that a lane has opened, unless other lanes read it."""
        shared, users = self._shared.get(shard, (None, 1))
        if shared is file and users > 1:
            self._shared[shard] = file, users - 1
            return
        if shared is file:
            del self._shared[shard]
        file.close()

    def decoded(self, file: File, shard: int, groups: range) -> Generator[pa.RecordBatch, None, None]:
        """The rows of row groups, some thousand at a time.

        Raises:
            OSError: Rows cannot be decoded, or the file has more rows than its footer says.
        """
        footer = self._footer(shard)
        if self._failures is not None:
            for group in groups:
                yield from self._tolerated(file, shard, group, self._failures)
            return
        width = max(footer.widths[group] for group in groups)
        rows = min(self.rows, self.held // width + 1)
        at, end = self._span(shard, groups)
        try:
            for batch in self._batches(file, groups, rows, end - at):
                at += batch.num_rows
                yield batch
        except (pa.ArrowException, OSError) as error:
            raise OSError(self._told(shard, at, min(end, at + rows), error)) from error

    def _batches(self, file: File, groups: range, rows: int, count: int) -> Iterator[pa.RecordBatch]:
        for batch in file.batches(groups, self._shards.columns, rows):
            count -= batch.num_rows
            if count < 0:
                raise OSError("it has more rows than its footer says")
            # Some formats give a whole part at a time, which is divided here.
            for first in range(0, batch.num_rows, DECODED_ROWS):
                yield batch.slice(first, DECODED_ROWS)

    def _tolerated(self, file: File, shard: int, group: int, failures: Failures) -> Iterator[pa.RecordBatch]:
        """The rows of a row group, with nulls from the first block on that cannot be decoded.

        The reader of a format cannot go on behind a failure within a row group. A row group is decoded from its
        beginning, in blocks that depend on the file alone, so that every reader finds the same rows to fail.
        """
        at, end = self._span(shard, range(group, group + 1))
        base = int(self._shards.sizes[:shard].sum())
        good = failures.last_before(base + at, base + end) - base
        rows = self._footer(shard).blocks[group]
        batches = self._batches(file, range(group, group + 1), rows, end - at)
        while at < good:
            try:
                batch = next(batches, None)
                if batch is None:
                    raise OSError("it ends before the last row that its footer promises")
            except (pa.ArrowException, OSError) as error:
                if self._failing_row(shard, range(group, group + 1), error) != at:
                    told = "a second attempt could read this row, so nothing is left out: resume from the last state"
                    raise OSError(f"{self._place(shard, at)}: {in_a_line(error)}; {told}") from error
                told = f"{self._shards.paths[shard]}: {self._place(shard, at)}: {in_a_line(error)}"
                if too_many := failures.add(base + at, end - at, told):
                    raise OSError(f"{self._place(shard, at)}: {in_a_line(error)}; {too_many}") from error
                break
            batch = batch.slice(0, good - at)
            at += batch.num_rows
            yield batch
        yield from nothing(self._shards.schema, end - at)

    def _failing_row(self, shard: int, groups: range, error: Exception) -> int | None:
        """The first row of the first block that cannot be decoded in row groups, by another attempt.

        None if all can be decoded, or if the error is not one of the contents of the file.
        """
        if isinstance(error, OSError) and error.errno is not None:
            return None
        file = self._shards.open(shard, self.held)
        try:
            for group in groups:
                at, end = self._span(shard, range(group, group + 1))
                rows = self._footer(shard).blocks[group]
                try:
                    for batch in self._batches(file, range(group, group + 1), rows, end - at):
                        at += batch.num_rows
                except (pa.ArrowException, OSError):
                    return at
                if at < end:
                    return at
        finally:
            file.close()
        return None

    def _span(self, shard: int, groups: range) -> tuple[int, int]:
        """The first row of row groups, and the end of their rows."""
        ends = self._footer(shard).ends
        return int(ends[groups[0] - 1]) if groups[0] else 0, int(ends[groups[-1]])

    def _place(self, shard: int, row: int) -> str:
        """The place of a row in a file, for messages."""
        sample = int(self._shards.sizes[:shard].sum()) + row
        return f"row group {self.of_row(shard, row)[0]}, from row {row:,} on (sample {sample})"

    def _told(self, shard: int, first: int, end: int, error: Exception) -> str:
        """The message about rows of which one cannot be decoded: where it is, and how to go on."""
        groups = range(self.of_row(shard, first)[0], self.of_row(shard, end - 1)[0] + 1)
        try:
            row = self._failing_row(shard, groups, error)
        except OSError:
            row = None
        if row is None:
            return f"{self._place(shard, first)}: {in_a_line(error)}"
        path = self._shards.paths[shard]
        count = self._span(shard, range(groups[0], self.of_row(shard, row)[0] + 1))[1] - row
        advice = (
            f"max_failed_rows={count} or more, or without the file with lost={{{path!r}: {self._shards.sizes[shard]}}}"
        )
        return f"{self._place(shard, row)}: {in_a_line(error)} (to go on without such rows, pass {advice})"

    def _footer(self, shard: int) -> _Footer:
        known = self._footers.get(shard)
        if known is None:
            open_now = self._shared.get(shard, (self._spare.get(shard), 0))[0]
            footer = (open_now or self._opened(shard)).footer
            rows, sizes = (np.asarray(each, dtype=np.int64) for each in (footer.rows, footer.bytes))
            widths = np.maximum(1, sizes // np.maximum(1, rows)).tolist()
            blocks = [min(BLOCK_ROWS, BLOCK_BYTES // width + 1) for width in widths]
            known = self._footers[shard] = _Footer(rows.cumsum(), widths, blocks)
        return known

    def _opened(self, shard: int) -> File:
        file = self._spare[shard] = self._shards.open(shard, self.held)
        return file

    def _within(self, shard: int, group: int) -> list[tuple[Hashable, _Place]]:
        """The lanes that are in a row group."""
        return [(name, each) for name, each in self._places.items() if (each.shard, each.group) == (shard, group)]

    def _fill(self, shard: int, group: int) -> None:
        """Decodes a row group once, and keeps the next rows of each lane that is in it."""
        footer = self._footer(shard)
        places = sorted((place for _, place in self._within(shard, group)), key=lambda place: place.row)
        spans: list[tuple[_Place, int, int]] = []
        for place in places:
            place.kept.clear()
        file = self.open(shard)
        try:
            at = int(footer.ends[group - 1]) if group else 0
            batches = self.decoded(file, shard, range(group, group + 1))
            while (batch := in_turn(batches, self._shards.paths[shard])) is not None:
                if not spans:
                    # In memory, rows may be wider than in the file.
                    width = footer.widths[group] = max(footer.widths[group], batch.nbytes // batch.num_rows)
                    quota = max(1, SHARED_BYTES // width // len(places))
                    # A lane needs no rows behind the beginning of the next lane.
                    ends = [place.row for place in places[1:]] + [int(footer.ends[group])]
                    for place, end in zip(places, ends, strict=True):
                        spans.append((place, place.row, min(place.row + quota, max(end, place.row + 1))))
                after = at + batch.num_rows
                for place, first, end in spans:
                    start, stop = max(first, at), min(end, after)
                    if start < stop:
                        part = batch.slice(start - at, stop - start)
                        # A small slice is copied, since a slice keeps its whole batch in memory.
                        place.kept.append(part if 2 * part.num_rows > batch.num_rows else _copied(part))
                at = after
                if at >= spans[-1][2]:
                    break
        finally:
            batches.close()
            self.release(shard, file)


def nothing(schema: pa.Schema, count: int) -> Iterator[pa.RecordBatch]:
    """Rows of nulls in place of rows that are left out."""
    for at in range(0, count, DECODED_ROWS):
        rows = min(DECODED_ROWS, count - at)
        yield pa.RecordBatch.from_arrays([pa.nulls(rows, field.type) for field in schema], schema=schema)


def _copied(batch: pa.RecordBatch) -> pa.RecordBatch:
    return take(batch, np.arange(batch.num_rows))


def in_a_line(error: Exception) -> str:
    """The message of an error, without the breaks of lines that those of pyarrow have."""
    return " ".join(str(error).split())


def in_turn(batches: Iterator[pa.RecordBatch], path: str) -> pa.RecordBatch | None:
    """The next batch of a file; None after the last one.

    Raises:
        OSError: The batch cannot be read.
    """
    try:
        return next(batches, None)
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path}: {error}") from error
