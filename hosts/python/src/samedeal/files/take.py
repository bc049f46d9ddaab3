"""Takes rows by their numbers. Works around a defect of pyarrow."""

from __future__ import annotations

from typing import Any, TypeVar

import pyarrow as pa

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


def take(rows: Rows, numbers: Any) -> Rows:
    """The rows with these numbers, in this order.

    pyarrow (26.0 at least) gives zeros for fixed-size lists of fixed-size lists of numbers if the array is a slice that
    does not begin with its buffers. A copy begins with its buffers.
    """
    for at, field in enumerate(rows.schema):
        if pa.types.is_fixed_size_list(field.type) and pa.types.is_fixed_size_list(field.type.value_type):
            column = rows.column(at)
            chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            if any(chunk.offset for chunk in chunks):
                rows = rows.set_column(at, field, pa.concat_arrays(chunks))
    return rows.take(numbers)
