"""Values that no caller should pass, and helpers for the scripts that reproduce failures."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np


class PlantedError(Exception):
    """Raised by the values of this file: a caller's own error, which the package may let through."""


class Index:
    """A number whose value differs at each call."""

    def __init__(self, *answers: Any) -> None:
        """Takes the answers, in turn. An exception among them is raised."""
        self._answers = itertools.cycle(answers)

    def __index__(self) -> Any:
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Sequence:
    """A sequence with a wrong length, which may raise during iteration."""

    def __init__(self, items: Any, length: Any, error: Exception | None = None) -> None:
        """Takes the items of the iteration, the result of `len`, and the error after the items."""
        self._items, self._length, self._error = list(items), length, error

    def __len__(self) -> Any:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        yield from self._items
        if self._error is not None:
            raise self._error

    def __getitem__(self, at: Any) -> Any:
        return self._items[at]


class Table(Mapping[Any, Any]):
    """A mapping whose keys and values do not belong together."""

    def __init__(self, keys: Any, length: int, value: Any) -> None:
        """Takes the keys of the iteration, the length, and the value of every key. An exception is raised."""
        self._keys, self._length, self._value = keys, length, value

    def __getitem__(self, key: Any) -> Any:
        if isinstance(self._value, Exception):
            raise self._value
        return self._value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __len__(self) -> int:
        return self._length


class Odd:
    """An object whose every operation fails."""

    def __repr__(self) -> str:
        raise PlantedError("repr")

    def __eq__(self, other: object) -> bool:
        raise PlantedError("eq")

    def __hash__(self) -> int:
        raise PlantedError("hash")

    def __bool__(self) -> bool:
        raise PlantedError("bool")

    def __index__(self) -> int:
        raise PlantedError("index")

    def __float__(self) -> float:
        raise PlantedError("float")

    def __len__(self) -> int:
        raise PlantedError("len")

    def __iter__(self) -> Iterator[Any]:
        raise PlantedError("iter")


class Text(str):
    """A text whose methods return wrong values or raise."""

    __slots__ = ()

    def __str__(self) -> str:
        raise PlantedError("str")

    def __getitem__(self, at: Any) -> str:
        return "other"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def encode(self, *_: Any) -> Any:
        """Raises an error instead of encoding."""
        raise PlantedError("encode")


class Whole(int):
    """A number whose methods return wrong values or raise."""

    def __index__(self) -> int:
        raise PlantedError("index")

    def __repr__(self) -> str:
        raise PlantedError("repr")

    def __lt__(self, other: Any) -> bool:
        return True

    def __le__(self, other: Any) -> bool:
        return True


class Array:
    """An object that returns an array, or raises."""

    def __init__(self, array: Any) -> None:
        """Takes the result of `__array__`. An exception is raised."""
        self._array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self._array, Exception):
            raise self._array
        return self._array


def raising(*items: Any) -> Iterator[Any]:
    """An iterator over the items that then raises an error."""
    yield from items
    raise PlantedError("a generator")


def recursive() -> list[Any]:
    """A list that contains itself."""
    own: list[Any] = [1, 2]
    own.append(own)
    return own


def recursive_table() -> dict[str, Any]:
    """A dictionary that contains itself."""
    own: dict[str, Any] = {"order": {"samples": 3}}
    own["deal"] = own
    return own


def deep(depth: int) -> list[Any]:
    """A list in a list, nested `depth` times."""
    own: list[Any] = []
    for _ in range(depth):
        own = [own]
    return own


def closed() -> Any:
    """A file that is closed."""
    with open(os.devnull) as file:
        return file


def frozen(values: Any, dtype: str = "int64") -> Any:
    """A read-only array."""
    own = np.array(values, dtype=dtype)
    own.flags.writeable = False
    return own


def far(count: int) -> Any:
    """An array with strides of 0: one number, repeated."""
    return np.lib.stride_tricks.as_strided(np.array([3]), shape=(count,), strides=(0,))


def mutated(text: Any, seed: int) -> Any:
    """A text with a few changes: in its characters or, if it is JSON, in a member."""
    own = random.Random(seed)
    if not isinstance(text, str):
        return text
    if seed % 2:
        try:
            return json.dumps(_member(json.loads(text), own))
        except ValueError:
            pass
    letters = list(text)
    for _ in range(own.randint(1, 3)):
        at = own.randrange(len(letters) + 1)
        kind = own.randrange(3)
        if kind == 0:
            letters[at:at] = own.choice('0159-.eE"{}[],:\\\0\ud800é ')
        elif kind == 1:
            del letters[at : at + own.randint(1, 5)]
        else:
            letters[at : at + 1] = own.choice("0123456789abcdef")
    return "".join(letters)


_WRONG = (None, True, -1, 0, 1, 2**32, 2**53, 2**64, 10**30, 0.5, 1e300, "", "x", [], [1], {}, {"a": 1}, [[]])


def _member(value: Any, own: random.Random) -> Any:
    """A JSON value in which one value was replaced."""
    if isinstance(value, dict) and value and own.random() < 0.85:
        key = own.choice(list(value))
        kind = own.randrange(8)
        if kind == 0:
            return {name: each for name, each in value.items() if name != key}
        if kind == 1:
            return {**value, own.choice(("x", "name", "seed", "samples", "of", "lists", "\0")): own.choice(_WRONG)}
        return {**value, key: _member(value[key], own)}
    if isinstance(value, list) and value and own.random() < 0.85:
        at = own.randrange(len(value))
        return [*value[:at], _member(value[at], own), *value[at + own.randrange(2) :]]
    if isinstance(value, int) and own.random() < 0.6:
        return value + own.choice((-1, 1, -value, 2**32, 2**53))
    return own.choice(_WRONG)


def take(items: Any, count: int = 5) -> list[Any]:
    """The first items of an iteration."""
    return list(itertools.islice(iter(items), count))


def slot(items: Any, at: int = 0) -> Any:
    """An item of an iteration, or None."""
    return next(itertools.islice(iter(items), at, None), None)


class Folder:
    """Temporary files of one script, made on demand."""

    def __init__(self) -> None:
        """Makes no file yet."""
        self._rows = 0

    @cached_property
    def path(self) -> Path:
        """The folder, which is removed with this object."""
        path = Path(tempfile.mkdtemp(prefix="samedeal-fuzz-"))
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        return path

    def file(self, text: str | bytes = "") -> Path:
        """A file with this text."""
        path = self.path / f"file-{len(os.listdir(self.path))}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        return path

    def missing(self) -> Path:
        """A path without a file."""
        return self.path / f"log-{len(os.listdir(self.path))}"

    def rows(self, *sizes: int) -> Path:
        """A folder with Parquet files of these numbers of rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._rows += 1
        path = self.path / f"rows-{self._rows}"
        path.mkdir()
        first = 0
        for number, size in enumerate(sizes):
            numbers = np.arange(first, first + size)
            table = pa.table({"row": numbers, "text": [str(one) for one in numbers], "length": numbers % 7})
            pq.write_table(table, path / f"{number}.parquet", row_group_size=16)
            first += size
        return path
