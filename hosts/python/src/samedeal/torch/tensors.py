"""Makes tensors of Arrow batches."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import torch

from .. import MissingError, WrongTypeError
from ..engine import arguments as check


def to_tensors(batch: pa.RecordBatch) -> dict[str, Any]:
    """Makes a dictionary of columns of a batch: tensors for columns of numbers, lists for other columns.

    If the memory layout of Arrow allows it, numbers are not copied; do not write to such a tensor. Fixed-size lists of
    numbers become tensors with two dimensions. Unsigned numbers keep their type, for which torch has few operations.
    Texts, timestamps and dictionaries become lists.

    Raises:
        MissingError: A number is missing. Fill missing numbers before.
        WrongTypeError: The value is a row, not a batch.
    """
    if not isinstance(batch, pa.RecordBatch):
        raise WrongTypeError("batch", check.described(batch), "a pyarrow.RecordBatch: give the dataset a batch_size")
    return {name: _tensor(name, column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}


def _tensor(name: str, column: pa.Array) -> Any:
    if pa.types.is_fixed_size_list(column.type) and _is_number(column.type.value_type):
        values = column.flatten()
        if column.null_count == 0:
            return _tensor(name, values).reshape(len(column), column.type.list_size)
    elif not _is_number(column.type):
        return column.to_pylist()
    if column.null_count:
        # Refused here: a list in this batch and a tensor in the next one would fail later, and elsewhere.
        raise MissingError(name, "", f"a number in every row of column {name}, which has nulls: fill them first")
    with warnings.catch_warnings():
        # PyTorch warns that Arrow's memory is read-only, which the documentation says.
        warnings.simplefilter("ignore")
        return torch.from_numpy(column.to_numpy(zero_copy_only=False))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A copy of the rows. A slice of a table would be sent to the main process with the whole table."""
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    return pa.ipc.open_stream(stream.getvalue()).read_next_batch()
