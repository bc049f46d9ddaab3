"""The two deals of a `ShardedDataset`: what each worker of each rank reads of what is left of an epoch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import ContradictionError, OutOfRangeError, Sampler, ShardPlan, WrongTypeError
from .. import _arguments as check
from ..parquet import Marks, Shards, read_rows, read_samples, read_shards, read_stored
from ..parquet._reading import STORED_ROWS
from ._rest import Left, Progress, Stretch, turns

if TYPE_CHECKING:
    from numpy.typing import NDArray


NAMED_FILES = 256
"""The most files whose numbers of rows a state names."""


@dataclass(frozen=True)
class Reader:
    """What a worker reads in a pass."""

    samples: int
    """How many samples it gives, padding included."""
    padding: int
    """How many of them are padding, the last ones."""
    shards: tuple[int, ...] | None
    """The shards that are its own, in order; none where samples are dealt."""
    tables: Callable[[Marks], Iterator[pa.Table]]
    """Reads them."""


@dataclass(frozen=True)
class _Deal:
    """What both have in common."""

    shards: Shards
    seed: int
    options: dict[str, Any]
    """Of the sampler or the plan."""

    @property
    def decisive(self) -> dict[str, Any]:
        """The options that have to be those of a state, and what they are by default."""
        raise NotImplementedError

    def described(self) -> dict[str, Any]:
        """What a state is of, in words: its text has a fingerprint of this."""
        found: dict[str, Any] = {name: self.options.get(name, value) for name, value in self.decisive.items()}
        found["files"] = len(self.shards)
        if len(self.shards) <= NAMED_FILES:
            found["rows"] = self.shards.sizes.tolist()
        return found

    def check(self, described: object) -> None:
        """Raises where a state is of something else.

        Raises:
            ContradictionError: With what differs, and both values.
        """
        told = described if isinstance(described, dict) else {}
        own = self.described()
        for name in (name for name in {**own, **told} if name not in ("files", "rows") and isinstance(name, str)):
            # What the state does not name, an older version wrote.
            if told and told.get(name) != own.get(name):
                mine, other = (_shown(values, name) for values in (own, told))
                raise ContradictionError(name.replace("_", "-")[:64], mine, f"{other}, which the state is of")
        if told.get("files", own["files"]) != own["files"]:
            other = f"{_shown(told, 'files')} files, which the state is of"
            raise ContradictionError("paths", f"of {own['files']} files", other)
        rows = told.get("rows")
        if not isinstance(rows, list) or "rows" not in own or len(rows) != own["files"]:
            return
        for path, mine, other in zip(self.shards.paths, own["rows"], rows, strict=True):
            if mine != other:
                allowed = f"{check.shown(other)} rows in this file, with which the state was taken"
                raise ContradictionError("paths", f"{path} of {mine} rows", allowed)

    def unlike(self) -> ContradictionError:
        """That a state is of something else, where nothing says of what."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        value = f"{len(self.shards)} files of {self.shards.samples} rows, with {options}"
        allowed = (
            "the files (in rows, and bytes by which they are weighed), the order and the options that the state is of"
        )
        return ContradictionError("paths", value, f"{allowed}, which it does not name")

    def batches(self, progress: Progress, own: Stretch, rank: int, drop_last: bool) -> int:
        """How many batches a rank has left."""
        return int(_batches(self.rows(progress, own, rank), own.batch_size, drop_last).sum())

    def rows(self, progress: Progress, own: Stretch, rank: int) -> NDArray[np.int64]:
        """How many samples each worker of a rank has left."""
        raise NotImplementedError

    def idle(self, progress: Progress, own: Stretch, drop_last: bool) -> int:
        """How many readers, of all ranks, have no batch."""
        raise NotImplementedError


class SampleDeal(_Deal):
    """The order `sharded`, or `sequential` without a shuffle: reader r of n takes positions r, r + n, r + 2n, ..."""

    @property
    def decisive(self) -> dict[str, Any]:
        """The options that have to be those of a state, and what they are by default."""
        return {"shuffle": True} | ({"lanes": None, "window": None} if self.is_shuffled else {})

    @property
    def is_shuffled(self) -> bool:
        """Whether rows come in another order than they are stored in."""
        return bool(self.options.get("shuffle", True))

    def sampler(self, epoch: int, consumed: int = 0, reader: int = 0, readers: int = 1) -> Sampler:
        """What a reader goes through."""
        if not self.is_shuffled:
            return Sampler(
                self.shards.samples,
                order="sequential",
                rank=reader,
                world=readers,
                seed=self.seed,
                epoch=epoch,
                consumed=consumed,
                **{name: value for name, value in self.options.items() if name != "shuffle"},
            )
        return Sampler.sharded(
            self.shards.sizes,
            rank=reader,
            world=readers,
            seed=self.seed,
            epoch=epoch,
            consumed=consumed,
            **self.options,
        )

    def text(self, progress: Progress) -> str:
        """The state without its history: that of a sampler."""
        return self.sampler(progress.epoch).state(progress.consumed)

    def parsed(self, text: str) -> Progress:
        """What such a text says, if it is of this dataset."""
        sampler = self.sampler(0)
        try:
            sampler.resume(text)
        except ContradictionError as error:
            if error.field in ("sharding", "state"):
                raise self.unlike() from None
            raise
        return Progress(sampler.epoch, sampler.consumed)

    def after(self, progress: Progress, stretch: Stretch) -> Progress:
        """How far the epoch has come after a stretch."""
        before, steps = progress.split(stretch)
        left = self.left(progress, before).after(stretch._replace(steps=steps + stretch.steps))
        return Progress(progress.epoch, left.origin, left.history)

    def left(self, progress: Progress, history: tuple[Stretch, ...]) -> Left:
        """What a history leaves."""
        left = Left(self.shards.samples, progress.consumed)
        for stretch in history:
            left = left.after(stretch)
        return left

    def rows(self, progress: Progress, own: Stretch, rank: int) -> NDArray[np.int64]:
        """How many samples each worker of a rank has left."""
        before, steps = progress.split(own)
        sampler = self.sampler(progress.epoch, self.left(progress, before).consumed, 0, own.world * own.workers)
        found = []
        for worker in range(own.workers):
            role, given = _role(steps, worker, own)
            sampler.set_rank(rank + own.world * role)
            found.append(max(0, len(sampler) - given))
        return np.array(found)

    def bounds(self, progress: Progress, own: Stretch, drop_last: bool) -> tuple[int, int]:
        """The fewest and the most batches that a rank has left."""
        # Where readers differ, the first ones have a sample more.
        least, most = (self.batches(progress, own, rank, drop_last) for rank in (own.world - 1, 0))
        return least, most

    def idle(self, progress: Progress, own: Stretch, drop_last: bool) -> int:
        """How many readers, of all ranks, have no batch."""
        readers = own.world * own.workers
        sampler = self.sampler(progress.epoch, self.left(progress, progress.history).consumed, 0, readers)
        # Where readers differ, the first ones have a sample more.
        most = len(sampler)
        sampler.set_rank(readers - 1)
        least = len(sampler)
        larger = readers if least == most else self.shards.samples - progress.consumed - least * readers
        size = own.batch_size if drop_last else 1
        return (0 if most >= size else larger) + (0 if least >= size else readers - larger)

    def reader(self, progress: Progress, own: Stretch, rank: int, worker: int, skipped: int = 0) -> Reader:
        """What a worker of a rank reads, without the first `skipped` samples."""
        before, steps = progress.split(own)
        left = self.left(progress, before)
        role, given = _role(steps, worker, own)
        reader, readers = rank + own.world * role, own.world * own.workers
        sampler = self.sampler(progress.epoch, left.consumed, reader, readers)
        end, start = len(sampler), min(given + skipped, len(sampler))

        def tables(marks: Marks) -> Iterator[pa.Table]:
            # The first ones are of torn turns. The others are those of a deal that begins behind these.
            plain = min(max(start, -(-(left.plain - left.consumed) // readers)), end)
            window = self.options["lanes"] * self.options["window"] if self.is_shuffled else STORED_ROWS
            for first in range(start, plain, window):
                numbers = left.consumed + reader + readers * np.arange(first, min(first + window, plain))
                samples = [sampler.sample_at(position) for position in left.positions(numbers).tolist()]
                yield from read_rows(self.shards, samples, int((numbers < left.samples).sum()), marks)
            if plain < end:
                rest = self.sampler(progress.epoch, left.consumed + plain * readers, reader, readers)
                yield from (read_samples if self.is_shuffled else read_stored)(self.shards, rest, marks)

        return Reader(end - start, min(sampler.num_padding, end - start), None, tables)


class ShardDeal(_Deal):
    """A `ShardPlan`: whole files to readers, and of those that were begun, the rows that are left."""

    @property
    def decisive(self) -> dict[str, Any]:
        """The options that have to be those of a state, and what they are by default."""
        names = ("shuffle", "shuffle_rows", "policy", "worker_policy")
        return dict.fromkeys(names) | {"reshuffle": False, "weight": "samples"}

    def described(self) -> dict[str, Any]:
        """What a state is of, in words: its text has a fingerprint of this."""
        found = super().described()
        # They are weighed by the bytes of these.
        return found | ({"columns": self.shards.columns} if self._weights() is not None else {})

    def plan(self, epoch: int, world: int, workers: int, taken: NDArray[np.int64] | None = None) -> ShardPlan:
        """The plan, over what is left where so many rows of each shard were taken."""
        sizes, sized = self.shards.sizes, self.shards.bytes
        if taken is not None:
            # A part of a file takes its part of the bytes. Python's numbers are as long as that takes.
            sizes = sizes - taken
            sized = sized.copy()
            for shard in np.flatnonzero(taken).tolist():
                sized[shard] = int(sized[shard]) * int(sizes[shard]) // int(self.shards.sizes[shard])
        return ShardPlan(
            sizes, bytes=sized, world=world, workers=workers, seed=self.seed, epoch=epoch, **self._plan_options
        )

    @property
    def _plan_options(self) -> dict[str, Any]:
        return {name: value for name, value in self.options.items() if name != "shuffle_rows"}

    def text(self, progress: Progress) -> str:
        """The state without its history: it has the form of a sampler's."""
        fields = self._identity() | {"epoch": progress.epoch, "consumed": progress.consumed}
        return json.dumps(fields, separators=(",", ":"))

    def _identity(self) -> dict[str, Any]:
        plan = ShardPlan(self.shards.sizes, bytes=self._weights(), seed=self.seed, **self._plan_options)
        return {
            "samedeal": 1,
            "kind": "plan",
            "samples": self.shards.samples,
            "seed": self.seed,
            "shuffle_rows": self.options["shuffle_rows"],
            "fingerprint": plan.config_fingerprint(),
        }

    def _weights(self) -> NDArray[np.int64] | None:
        # Other columns, of which there are other bytes, make no difference where nothing is weighed by them.
        return self.shards.bytes if self.options.get("weight") == "bytes" else None

    def parsed(self, text: str) -> Progress:
        """What such a text says, if it is of this dataset."""
        allowed = 'the state of a dataset with deal="shards"'
        try:
            found = json.loads(check.state(text))
        except (ValueError, RecursionError) as error:
            if isinstance(error, OutOfRangeError):
                raise
            raise WrongTypeError("state", check.described(text), allowed) from None
        own = self._identity()
        if not isinstance(found, dict) or found.keys() != {*own, "epoch", "consumed"}:
            raise WrongTypeError("state", check.described(text), allowed)
        for name, value in own.items():
            if type(found[name]) is not type(value):
                raise WrongTypeError("state", check.described(text), allowed)
            if found[name] != value:
                if name in ("samedeal", "kind"):
                    raise WrongTypeError("state", f"with {name} {check.shown(found[name])}", f"{value}: {allowed}")
                if name == "fingerprint":
                    raise self.unlike()
                other = f"{check.shown(found[name])}, which the state is of"
                raise ContradictionError(name.replace("_", "-"), check.shown(value), other)
        epoch = check.integer("epoch", found["epoch"], check.U64)
        consumed = check.integer("consumed", found["consumed"], check.COUNT)
        if consumed not in (0, self.shards.samples):
            raise OutOfRangeError("consumed", str(consumed), f"0, or all {self.shards.samples}")
        return Progress(epoch, consumed)

    def after(self, progress: Progress, stretch: Stretch) -> Progress:
        """How far the epoch has come after a stretch."""
        before, steps = progress.split(stretch)
        return Progress(progress.epoch, 0, (*before, stretch._replace(steps=steps + stretch.steps)))

    def left(self, progress: Progress, history: tuple[Stretch, ...]) -> NDArray[np.int64]:
        """How many rows of each shard, the first ones, were taken.

        Raises:
            OutOfRangeError: The history has more steps than there are.
        """
        taken: NDArray[np.int64] = np.zeros(len(self.shards), dtype=np.int64)
        if progress.consumed:
            return self.shards.sizes
        for stretch in history:
            plan = self.plan(progress.epoch, stretch.world, stretch.workers, taken)
            most = plan.steps(stretch.batch_size, drop_last=stretch.drop_last).most
            if stretch.steps > most:
                raise OutOfRangeError("steps", str(stretch.steps), f"0 to {most}")
            loads = plan.loads("workers").samples.reshape(stretch.world, stretch.workers)
            then = taken.copy()
            for rank in np.flatnonzero(loads.any(axis=1)).tolist():
                given, _ = turns(_batches(loads[rank], stretch.batch_size, stretch.drop_last), stretch.steps)
                for worker in np.flatnonzero(given).tolist():
                    own = plan.shards(rank, worker)
                    then[own] += _first(plan.sizes[own], int(given[worker]) * stretch.batch_size)
            taken = then
        return taken

    def rows(self, progress: Progress, own: Stretch, rank: int) -> NDArray[np.int64]:
        """How many rows each worker of a rank has left."""
        found: NDArray[np.int64] = self._all_rows(progress, own, range(rank, rank + 1))[0]
        return found

    def bounds(self, progress: Progress, own: Stretch, drop_last: bool) -> tuple[int, int]:
        """The fewest and the most batches that a rank has left."""
        steps = _batches(self._all_rows(progress, own, range(own.world)), own.batch_size, drop_last).sum(axis=1)
        return int(steps.min()), int(steps.max())

    def idle(self, progress: Progress, own: Stretch, drop_last: bool) -> int:
        """How many readers, of all ranks, have no batch."""
        rows = self._all_rows(progress, own, range(own.world))
        return int((_batches(rows, own.batch_size, drop_last) == 0).sum())

    def _all_rows(self, progress: Progress, own: Stretch, ranks: range) -> NDArray[np.int64]:
        before, steps = progress.split(own)
        plan = self.plan(progress.epoch, own.world, own.workers, self.left(progress, before))
        all_loads = plan.loads("workers").samples.reshape(own.world, own.workers)
        loads: NDArray[np.int64] = all_loads[ranks.start : ranks.stop]
        if steps == 0:
            return loads
        found = []
        for load in loads:
            given, upcoming = turns(_batches(load, own.batch_size, own.drop_last), steps)
            found.append(np.roll(np.maximum(0, load - given * own.batch_size), -upcoming))
        return np.array(found)

    def reader(self, progress: Progress, own: Stretch, rank: int, worker: int, skipped: int = 0) -> Reader:
        """What a worker of a rank reads, without the first `skipped` rows."""
        before, steps = progress.split(own)
        taken = self.left(progress, before)
        plan = self.plan(progress.epoch, own.world, own.workers, taken)
        role = worker
        if steps:
            loads = plan.loads("workers").samples.reshape(own.world, own.workers)[rank]
            given, upcoming = turns(_batches(loads, own.batch_size, own.drop_last), steps)
            role = (worker + upcoming) % own.workers
            skipped += int(given[role]) * own.batch_size
        shards = plan.shards(rank, role)
        taken = taken.copy()
        taken[shards] += _first(plan.sizes[shards], skipped)
        samples = int((self.shards.sizes - taken)[shards].sum())
        shuffled = self.options["shuffle_rows"]

        def tables(marks: Marks) -> Iterator[pa.Table]:
            return read_shards(self.shards, plan, rank, role, shuffle_rows=shuffled, taken=taken, marks=marks)

        return Reader(samples, 0, tuple(shards.tolist()), tables)


def _role(steps: int, worker: int, own: Stretch) -> tuple[int, int]:
    """Which worker a new one goes on for, after so many steps in turn, and how many samples that one gave.

    A loader begins with its first worker: it is the one whose turn it was.
    """
    turns, part = divmod(steps, own.workers)
    role = (worker + part) % own.workers
    return role, (turns + (role < part)) * own.batch_size


def _shown(values: dict[str, Any], name: str) -> str:
    return check.shown(values[name]) if name in values else "not there"


def _batches(rows: NDArray[np.int64], size: int, drop_last: bool) -> NDArray[np.int64]:
    return rows // size if drop_last else -(-rows // size)


def _first(sizes: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """How many of the first so many rows each of these shards holds, which are read one after the other."""
    first: NDArray[np.int64] = np.clip(rows - (np.cumsum(sizes) - sizes), 0, sizes)
    return first
