"""Takes rows by their numbers, and makes arrays of Arrow. Works around two defects of pyarrow.

`pyarrow.array` and `pyarrow.scalar` import pandas if it is installed. In each process that reads, this takes longer
than to decode the rows of the first batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


def integers(values: NDArray[Any]) -> pa.Array:
    """An Arrow array of whole numbers below 2**63."""
    own = np.ascontiguousarray(values, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(own), [None, pa.py_buffer(own)])


def booleans(values: NDArray[np.bool_]) -> pa.Array:
    """An Arrow array of booleans."""
    bits = np.packbits(values, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(bits)])


def texts(values: Sequence[str]) -> pa.Array:
    """An Arrow array of texts."""
    data = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(data), pa.py_buffer(ends), pa.py_buffer(b"".join(data)))


def take(rows: Rows, numbers: NDArray[Any]) -> Rows:
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
    return rows.take(integers(numbers))
