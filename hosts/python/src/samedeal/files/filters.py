"""The rows of files that pass a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import ContradictionError, WrongTypeError
from ..engine import arguments as check
from .formats import PARQUET
from .location import Location
from .shards import Shards
from .sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BUFFER = 1 << 20


def matching(shards: Shards, filters: Any) -> NDArray[np.int64]:
    """The indices of the rows that pass a filter, ascending.

    `order=lambda files: files.subset(rows)` of a `ShardedDataset` then deals these rows alone. The recipe and the state
    have the rows, or their hash, so a resume with other rows is refused, and `verify_ranks` compares them.

    Every file is read once, but only the columns that the filter names. Row groups of Parquet files are left out if
    their statistics say that no row can pass. To read them once for many ranks and restarts, save the rows
    (`numpy.save`).

    Args:
        shards: The files of one dataset, as `Shards.find` gives them.
        filters: An expression of pyarrow, such as `pyarrow.compute.field("lang") == "en"`, or the lists that
            `pyarrow.parquet.read_table(filters=...)` takes, such as `[("lang", "==", "en"), ("length", "<", 4096)]`.
            In Parquet files, it may name any column, in other formats those of `shards`. A row for which the filter
            gives null does not pass, as in pyarrow.

    Raises:
        WrongTypeError: A value is not of the type that its parameter takes.
        ContradictionError: The filter does not fit the columns, or files were lost: take the rows of before.
        OSError: A file cannot be read, or is not the file that it was.
    """
    if not isinstance(shards, Shards) or isinstance(shards, Sources):
        raise WrongTypeError("shards", check.described(shards), "the Shards of one dataset, such as Shards.find(paths)")
    if shards.lost:
        lost = shards.paths[min(shards.lost)]
        raise ContradictionError(
            "shards", f"without {lost[-60:]}", "all files: else keep the rows that were found before"
        )
    wanted = _expression(filters)
    base, found = 0, [np.zeros(0, dtype=np.int64)]
    for shard, size in enumerate(shards.sizes.tolist()):
        for first, passes in _masks(shards, shard, wanted) if size else ():
            found.append(base + first + np.flatnonzero(passes))
        base += size
    return np.concatenate(found)


def _expression(filters: Any) -> pc.Expression:
    if isinstance(filters, pc.Expression):
        return filters
    # Not imported before it is needed, like pyarrow.dataset below.
    from pyarrow.parquet import filters_to_expression

    try:
        return filters_to_expression(filters)
    except (TypeError, ValueError, IndexError) as error:
        allowed = f"an expression of pyarrow.compute, or what pyarrow.parquet.read_table takes as filters ({error})"
        raise WrongTypeError("filters", check.described(filters), allowed) from None


def _masks(shards: Shards, shard: int, wanted: pc.Expression) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Runs of rows of a shard: the first row, and whether each row passes."""
    import pyarrow.dataset

    path = shards.paths[shard]
    # Compares the file with what it was, before rows of it count.
    file = shards.open(shard, _BUFFER)
    try:
        if shards.format is not PARQUET:
            at = 0
            for batch in file.batches(range(len(file.footer.rows)), shards.columns, 1 << 13):
                yield at, _passes(pyarrow.dataset.dataset(pa.Table.from_batches([batch])).scanner, wanted)
                at += batch.num_rows
            return
        rows = np.asarray(file.footer.rows, dtype=np.int64)
        with Location(path, shards.store, _BUFFER).open() as source:
            fragment = pyarrow.dataset.ParquetFileFormat().make_fragment(source)
            groups = [part.row_groups[0].id for part in fragment.split_by_row_group(wanted)]
            if groups:
                passes = _passes(fragment.subset(row_group_ids=groups).scanner, wanted)
                ends = np.cumsum(rows)
                for group, own in zip(groups, np.split(passes, np.cumsum(rows[groups])[:-1]), strict=True):
                    yield int(ends[group] - rows[group]), own
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
        raise ContradictionError(
            "filters", str(wanted)[:64], f"a filter that fits the columns of {path}: {error}"
        ) from error
    except OSError as error:
        raise OSError(f"{path}: {error}") from error
    finally:
        file.close()


def _passes(scanner: Any, wanted: pc.Expression) -> NDArray[np.bool_]:
    """Whether each row passes."""
    # Null becomes false. An expression that gives no booleans is an error of pyarrow here.
    column = scanner(columns={"passes": wanted.is_valid() & wanted}).to_table().column("passes")
    found: NDArray[np.bool_] = column.to_numpy()
    return found
