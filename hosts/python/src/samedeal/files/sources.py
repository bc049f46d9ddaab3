"""Several datasets in files, read as one."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import ContradictionError, MissingError, WrongTypeError
from ..engine import arguments as check
from .format import File
from .schemas import unified
from .shards import Shards
from .take import integers, texts

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Sources(Shards):
    """The shards of several datasets, one dataset after the other. Each may be in a file system of its own."""

    parts: tuple[Shards, ...] = ()
    """The datasets."""
    names: tuple[str, ...] = ()
    """The names of the sources."""

    @classmethod
    def join(cls, parts: Mapping[str, Shards]) -> Sources:
        """Joins several datasets, which are given by their names.

        Raises:
            WrongTypeError: The value is no dictionary of `Shards`, or a name is no string.
            MissingError: There is no dataset.
            ContradictionError: The columns of the datasets cannot be unified.
        """
        if not isinstance(parts, Mapping) or not all(isinstance(part, Shards) for part in parts.values()):
            raise WrongTypeError("sources", check.described(parts), "a dictionary of Shards, by their names")
        for name in parts:
            check.label("sources", name)
        if not parts:
            raise MissingError("sources", "", "files for at least one name")
        names, shards = tuple(parts), tuple(parts.values())
        # A source whose files are all lost has no columns.
        there = {name: part.schema for name, part in parts.items() if len(part.lost) < len(part)}
        if not there:
            raise MissingError("sources", "", "at least one file that was not lost")
        try:
            schema = unified([*there.values()], [*there])
        except OSError as error:
            raise ContradictionError(
                "columns", str(error), "columns of the same names and types in all sources"
            ) from None
        paths = tuple(path for part in shards for path in part.paths)
        sizes, weights = (np.concatenate([getattr(part, name) for part in shards]) for name in ("sizes", "bytes"))
        firsts = np.cumsum([0, *map(len, shards)])
        lost = frozenset(
            int(first) + number for first, part in zip(firsts, shards, strict=False) for number in part.lost
        )
        return cls(paths, sizes, weights, schema, lost=lost, parts=shards, names=names)

    def shared(self) -> list[tuple[str, tuple[str, ...]]]:
        """The files that several sources have: the path of each, and the names of these sources."""
        sources: dict[tuple[int, str], dict[str, None]] = {}
        paths: dict[tuple[int, str], str] = {}
        stores: list[Any] = []
        real, links = functools.cache(os.path.realpath), functools.cache(_links)
        for name, part in zip(self.names, self.parts, strict=True):
            # File systems of pyarrow can be compared, but have no hash.
            store = None if part.store is None else part.store.own
            if store not in stores:
                stores.append(store)
            number = stores.index(store)
            for path in part.paths:
                file = path
                if store is None:
                    # A folder is resolved and listed once for all of its files: a look at each file takes long.
                    folder, own = os.path.split(path)
                    file = os.path.join(real(folder), own)
                    file = os.path.realpath(file) if own in links(folder) else file
                key = number, file
                paths.setdefault(key, path)
                sources.setdefault(key, {})[name] = None
        return [(paths[key], tuple(names)) for key, names in sources.items() if len(names) > 1]

    def open(self, shard: int, buffer: int) -> File:
        """Opens a shard. Its number is counted through all sources."""
        left = check.one_of("shard", shard, len(self))
        part = next(part for part in self.parts if left < len(part) or (left := left - len(part)) < 0)
        return part.open(left, buffer)

    def sources_of(self, samples: NDArray[np.int64]) -> pa.Array:
        """The name of the source of each sample."""
        within = check.Width(0, self.samples - 1, check.below(self.samples))
        numbers = check.u64s("samples", samples, within)
        ends = np.cumsum([part.samples for part in self.parts])
        return texts(self.names).take(integers(np.searchsorted(ends, numbers, side="right")))


def _links(folder: str) -> frozenset[str]:
    """The names in a directory that are links; none if it cannot be listed, as where all of its files are lost."""
    try:
        with os.scandir(folder or os.curdir) as entries:
            return frozenset(entry.name for entry in entries if entry.is_symlink())
    except OSError:
        return frozenset()
