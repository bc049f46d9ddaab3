"""Makes tensors of Arrow batches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import torch
from torch.utils.data import default_convert

from .. import MissingError, WrongTypeError
from ..engine import arguments as check


def to_tensors(batch: pa.RecordBatch) -> dict[str, Any]:
    """Makes a dictionary of columns of a batch: tensors for columns of numbers, lists for other columns.

    If the memory layout of Arrow allows it, numbers are not copied; do not write to such a tensor. Fixed-size lists of
    numbers become tensors with two dimensions. Unsigned numbers keep their type, for which torch has few operations.
    Texts, timestamps and dictionaries become lists.

    As the `transform` of a `ShardedDataset` whose loader has workers and no `collate_fn`, this function runs in the
    main process: a batch leaves its worker as Arrow's bytes, which costs less than lists of texts and tensors in shared
    memory. A function of yours that calls this one runs in the worker.

    Raises:
        MissingError: A number is missing. Fill missing numbers before.
        WrongTypeError: The value is a row, not a batch.
    """
    if not isinstance(batch, pa.RecordBatch):
        raise WrongTypeError("batch", check.described(batch), "a pyarrow.RecordBatch: give the dataset a batch_size")
    return {name: _tensor(name, column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}


def _tensor(name: str, column: pa.Array) -> Any:
    if _is_vector(column.type):
        values = column.flatten()
        if column.null_count == 0:
            return _tensor(name, values).reshape(len(column), column.type.list_size)
    elif not _is_number(column.type):
        return column.to_pylist()
    if column.null_count:
        # Refused here: a list in this batch and a tensor in the next one would fail later, and elsewhere.
        raise MissingError(name, "", f"a number in every row of column {name}, which has nulls: fill them first")
    if pa.types.is_boolean(column.type):
        # Arrow has a bit for each, so this is a copy. (`to_numpy` would import pandas if it is installed.)
        return torch.from_dlpack(column.cast(pa.uint8())).view(torch.bool)
    return torch.from_dlpack(column)


def _is_vector(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_list(kind) and _is_number(kind.value_type))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A copy of the rows. A slice of a table would be sent to the main process with the whole table."""
    return _read(_written(batch))


class Sent:
    """A batch on its way from a loader worker to the main process, as Arrow's bytes.

    Unpickling gives the batch, or what `to_tensors` makes of it. The worker makes no Python objects of texts, and
    PyTorch opens no file for each tensor, which it does for tensors in shared memory.
    """

    def __init__(self, batch: pa.RecordBatch, *, as_tensors: bool = False) -> None:
        """Writes the batch, and raises all errors that `to_tensors` would raise in the main process.

        There, an error would end the thread that pins memory, and the loop would not see it.

        Raises:
            MissingError: A number is missing.
            UnicodeDecodeError: A text is no UTF-8.
        """
        self._names = batch.schema.names if as_tensors else None
        self._lists: dict[int, Any] = {}
        if as_tensors:
            for at, (field, column) in enumerate(zip(batch.schema, batch.columns, strict=True)):
                if _is_number(field.type) or _is_vector(field.type):
                    _tensor(field.name, column)
                elif not _is_plain(field.type):
                    # PyTorch's loader converts values that are no tensors in this way.
                    self._lists[at] = default_convert(column.to_pylist())
            batch = batch.select([at for at in range(batch.num_columns) if at not in self._lists])
            _check_texts(batch)
        self._data = _written(batch).to_pybytes()

    def __reduce__(self) -> tuple[Any, ...]:
        """The function of the main process, and its arguments."""
        return _received, (self._data, self._names, self._lists)


def _received(data: bytes, names: list[str] | None, lists: dict[int, Any]) -> Any:
    batch = _read(data)
    if names is None:
        return batch
    columns = iter(batch.columns)
    made = (lists[at] if at in lists else _tensor(name, next(columns)) for at, name in enumerate(names))
    # A tensor keeps the memory of all of `data`, so it is copied if it is a small part of it.
    return {
        name: value.clone() if isinstance(value, torch.Tensor) and 2 * value.nbytes < len(data) else value
        for name, value in zip(names, made, strict=True)
    }


def _check_texts(batch: pa.RecordBatch) -> None:
    """Raises the error of `to_pylist` if a text is no UTF-8."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        batch.to_pylist()
        raise


_TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def _is_plain(kind: pa.DataType) -> bool:
    """Whether each value of a type has an object in Python, and `default_convert` of PyTorch leaves it as it is.

    A map has tuples, of which `default_convert` makes lists. A time may be out of Python's range.
    """
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    if pa.types.is_struct(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return all(_is_plain(kind.field(at).type) for at in range(kind.num_fields))
    return kind in _TEXTS or (_is_number(kind) and not pa.types.is_float16(kind))


def _written(batch: pa.RecordBatch) -> pa.Buffer:
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    return stream.getvalue()


def _read(data: Any) -> pa.RecordBatch:
    return pa.ipc.open_stream(data).read_next_batch()
