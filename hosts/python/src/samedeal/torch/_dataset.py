"""A dataset in Parquet files under a DataLoader."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import pyarrow as pa
import torch
from torch.utils.data import IterableDataset, get_worker_info

from .. import ContradictionError, Mesh, MissingError, OutOfRangeError, Sampler, ShardPlan, Steps, WrongTypeError
from .. import _arguments as check
from ..parquet import Marks, Shards, ahead, batches, read_samples, read_shards
from ..parquet._files import Paths
from . import _place as place

DEALS = ("samples", "shards")
LANES = 64
WINDOW = 256

# Of the numbers that all processes of a loader share.
_EPOCH, _LAST_READ, _TOLD_EPOCH, _TOLD_LANES = range(4)
_BATCH = check.Width(1, check.U32_MAX, check.U32_FROM_1.allowed)
_WORKERS = check.Width(0, 2**16, f"0 to {2**16}")
_EPOCHS = check.Width(0, 2**63 - 1, f"0 to {2**63 - 1}")


class EpochWarning(UserWarning):
    """An epoch is read a second time: `set_epoch` was forgotten, unless the order is to stay, as in an evaluation."""


class LanesWarning(UserWarning):
    """The number of readers does not divide the lanes, so that some rows are read by several of them."""


@dataclass(frozen=True)
class ShardInfo:
    """What one reader has of an epoch."""

    rank: int
    """Which data-parallel reader this is."""
    world: int
    """Of how many."""
    worker: int
    """Which loader worker of the rank."""
    workers: int
    """Of how many, at least 1."""
    epoch: int
    """Of which epoch."""
    samples: int
    """How many samples the reader gives, padding included."""
    padding: int
    """How many of them are padding, the last ones."""
    shards: tuple[int, ...] | None
    """The numbers of the shards that are this reader's alone, in order; none where samples are dealt."""
    reads: int
    """How many readers read each row: 1, or more where their number does not divide the lanes."""


class ShardedDataset(IterableDataset[Any]):
    """The rows of Parquet files, dealt to ranks and to the workers of each loader.

    Each worker of each rank reads its own part, and no `DistributedSampler` or `split_dataset_by_node` is needed.
    Two deals:

    - `deal="samples"` (the default): the order `sharded`, one order of the whole epoch that no number of ranks or
      workers changes. Readers get the same number of samples, repeating or dropping a few where `remainder` says so,
      and hold a window of each of their lanes. Choose `lanes` as a multiple of ranks times workers.
    - `deal="shards"`: whole files to readers by a `ShardPlan`. A reader holds one file where rows are shuffled, else a
      few thousand rows; every row comes once, and ranks may end at different steps (`steps`).

    Worker w of n in rank r of W is reader r + W * w of W * n. Under a `DataLoader`, pass `batch_size=None` to it and
    the size of batches here: Arrow batches cost no Python object for each row.

    The rank is that of the process group as soon as there is one, else what the launcher's variables say.
    """

    def __init__(
        self,
        paths: Paths | Shards,
        *,
        columns: Sequence[str] | None = None,
        batch_size: SupportsIndex | None = None,
        drop_last: bool = False,
        transform: Callable[[Any], Any] | None = None,
        deal: str = "samples",
        seed: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        lanes: SupportsIndex | None = None,
        window: SupportsIndex | None = None,
        remainder: str | None = None,
        shuffle: bool | None = None,
        shuffle_rows: bool | None = None,
        reshuffle: bool | None = None,
        policy: str | None = None,
        worker_policy: str | None = None,
        weight: str | None = None,
        rank: SupportsIndex | None = None,
        world: SupportsIndex | None = None,
        mesh: Mesh | None = None,
        sample_column: str | None = None,
        padding_column: str | None = None,
    ) -> None:
        """Reads the footers of the files, and finds out which rank this is.

        Args:
            paths: Files and directories, one or several; a directory stands for all *.parquet below it. Or what
                `samedeal.parquet.Shards.find` has found.
            columns: The columns to read; all of them by default.
            batch_size: Rows in a batch, a `pyarrow.RecordBatch`; by default single rows come, as dictionaries.
            drop_last: Whether a reader's last batch is left out where it is shorter.
            transform: What is made of every batch or row, in the worker; such as `samedeal.torch.to_tensors`.
            deal: "samples" or "shards".
            seed: Of the shuffles.
            epoch: The first epoch; `set_epoch` moves on.
            lanes: With "samples": how many streams the dataset is cut into, 1 to 4,096; 64 by default.
            window: With "samples": how many rows of a lane are shuffled together, 1 to 2**20; 256 by default.
            remainder: With "samples": "pad" (the default), "drop" or "uneven", over all readers.
            shuffle: With "shards": whether the files are shuffled before they are given away; yes by default.
            shuffle_rows: With "shards": whether the rows within each file are shuffled; as `shuffle` by default.
            reshuffle: With "shards": whether each reader shuffles its files once more.
            policy: With "shards": how files are given to ranks, "size-aware" (the default) or "round-robin".
            worker_policy: With "shards": the same for the workers of a rank.
            weight: With "shards": what is to be equal, "samples" (the default) or "bytes" of the columns that are read.
            rank: Which rank this process is, with `world`; by default that of the process group, or what the launcher's
                variables say (`samedeal.detect_rank`).
            world: How many ranks there are.
            mesh: Where ranks share data; rank and world are then those of the mesh.
            sample_column: The name of a column to add: the index of each row in the dataset.
            padding_column: The name of a column to add: whether the row is padding, which a metric has to leave out.

        Raises:
            SamedealError: A value is not allowed, or does not go with another.
            OSError: A file cannot be read, or its columns differ from the others'.
        """
        super().__init__()
        self.deal = check.enum("deal", deal, DEALS)
        given: dict[str, dict[str, Any]] = {
            "samples": {"lanes": lanes, "window": window, "remainder": remainder},
            "shards": {"shuffle": shuffle, "reshuffle": reshuffle, "policy": policy, "worker_policy": worker_policy}
            | {"weight": weight, "shuffle_rows": shuffle_rows},
        }
        self._options = {name: value for name, value in given.pop(self.deal).items() if value is not None}
        for other, options in given.items():
            for name, value in options.items():
                if value is not None:
                    raise ContradictionError(name, check.shown(value), f'none, as it goes with deal="{other}"')
        self.shuffle_rows = False
        if self.deal == "samples":
            self._options = {"lanes": LANES, "window": WINDOW} | self._options
        else:
            self._options = {"shuffle": True, "policy": "size-aware", "worker_policy": "size-aware"} | self._options
            # Where files are stored, which another policy asks for, no file says.
            check.enum("policy", self._options["policy"], ("size-aware", "round-robin"))
            check.boolean("shuffle", self._options["shuffle"])
            rows = self._options.pop("shuffle_rows", self._options["shuffle"])
            self.shuffle_rows = check.boolean("shuffle-rows", rows)
        self.batch_size = None if batch_size is None else check.integer("batch-size", batch_size, _BATCH)
        self.drop_last = check.boolean("drop-last", drop_last)
        if self.drop_last and self.batch_size is None:
            raise ContradictionError("drop-last", "True", "False where single rows come, without batch_size")
        if transform is not None and not callable(transform):
            raise WrongTypeError("transform", check.described(transform), "a function")
        self.transform = transform
        self.seed = check.integer("seed", seed, check.S64)
        self.mesh = mesh
        self._place = place.find(rank, world)
        self._find_rank()
        if isinstance(paths, Shards):
            if columns is not None:
                raise ContradictionError("columns", check.shown(columns), "those that the shards were found with")
            self.shards = paths
        else:
            self.shards = Shards.find(paths, columns)
        self.marks = Marks(sample_column, padding_column)
        known = self.shards.columns
        for field, mark in zip(("sample-column", "padding-column"), self.marks, strict=True):
            if mark is not None:
                if check.name(field, mark) in known:
                    raise ContradictionError(field, mark, "a name that no other column has")
                known.append(mark)
        # In memory that the workers share, so that those which live on follow to the next epoch.
        self._shared = torch.zeros(4, dtype=torch.int64).share_memory_()
        self.set_epoch(epoch)
        # Whatever is wrong shows here and not in a worker.
        self._dealt(0, 1)

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration reads."""
        return int(self._shared[_EPOCH])

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Reads another epoch from the next iteration on, in the workers too."""
        self._find_rank()
        self._shared[_EPOCH] = check.integer("epoch", epoch, _EPOCHS)

    def steps(self, workers: SupportsIndex = 0) -> Steps:
        """Between which bounds the ranks' numbers of items lie: batches, or rows where no batch size is given.

        Args:
            workers: Loader workers of each rank: `num_workers` of the `DataLoader`.
        """
        self._find_rank()
        count = max(1, check.integer("workers", workers, _WORKERS))
        size = self.batch_size or 1
        if self.deal == "shards":
            return self.plan(count).steps(size, drop_last=self.drop_last)
        counts = []
        dealt = self.sampler(0, count)
        # Where readers differ, the first ones get a sample more.
        for rank in (self.world - 1, 0):
            steps = 0
            for worker in range(count):
                dealt.set_rank(rank + self.world * worker)
                steps += dealt.num_batches(size, drop_last=self.drop_last)
            counts.append(steps)
        return Steps(*counts)

    def shard_info(self, worker: SupportsIndex | None = None, workers: SupportsIndex | None = None) -> ShardInfo:
        """What a reader of this rank has of the epoch.

        Args:
            worker: Which loader worker; by default the one that asks, or 0 in the main process.
            workers: Of how many; by default those that there are, or 1 in the main process.
        """
        self._find_rank()
        own, count = place.worker()
        if workers is not None:
            count = max(1, check.integer("workers", workers, _WORKERS))
        if worker is not None:
            own = check.integer("worker", worker, check.RANK)
        if own >= count:
            raise OutOfRangeError("worker", str(own), check.below(count))
        dealt = self._dealt(own, count)
        if isinstance(dealt, Sampler):
            samples, padding, shards = len(dealt), dealt.num_padding, None
        else:
            shards = tuple(dealt.shards(self.rank, own).tolist())
            samples, padding = int(self.shards.sizes[list(shards)].sum()), 0
        reads = self._reads(count)
        return ShardInfo(self.rank, self.world, own, count, self.epoch, samples, padding, shards, reads)

    def sampler(self, worker: int = 0, workers: int = 0) -> Sampler:
        """With `deal="samples"`: the sampler that a worker of this rank goes through.

        Raises:
            ContradictionError: Whole shards are dealt.
        """
        if self.deal != "samples":
            raise ContradictionError("deal", self.deal, "samples, where there is a sampler")
        workers = max(1, check.integer("workers", workers, _WORKERS))
        if not 0 <= check.whole("worker", worker) < workers:
            raise OutOfRangeError("worker", str(worker), check.below(workers))
        reader, readers = self.rank + self.world * worker, self.world * workers
        return Sampler.sharded(
            self.shards.sizes, rank=reader, world=readers, seed=self.seed, epoch=self.epoch, **self._options
        )

    def plan(self, workers: int = 0) -> ShardPlan:
        """With `deal="shards"`: which shards each worker of each rank has.

        Raises:
            ContradictionError: Samples are dealt.
        """
        if self.deal != "shards":
            raise ContradictionError("deal", self.deal, "shards, where there is a plan")
        workers = max(1, check.integer("workers", workers, _WORKERS))
        return ShardPlan(
            self.shards.sizes,
            bytes=self.shards.bytes,
            world=self.world,
            workers=workers,
            seed=self.seed,
            epoch=self.epoch,
            **self._options,
        )

    def __iter__(self) -> Iterator[Any]:
        """This reader's rows or batches of the epoch that is set now."""
        self._find_rank()
        worker, workers = place.worker()
        if worker == 0:
            self._warn(workers)
        return self._items(self._dealt(worker, workers), worker, self.epoch)

    def __repr__(self) -> str:
        """What is dealt, and to whom."""
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return (
            f"<ShardedDataset of {self.shards.samples:,} rows in {len(self.shards)} shards, deal={self.deal!r}, "
            f"{options}, seed={self.seed}, epoch={self.epoch}, rank {self.rank} of {self.world}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """All of it: the numbers that are shared stay so on the way to a worker."""
        self._find_rank()
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, which may have been a file."""
        self.__dict__.update(state)
        self._shared.share_memory_()

    def __copy__(self) -> ShardedDataset:
        """A dataset of its own, that goes to other epochs by itself."""
        twin = self.__class__.__new__(self.__class__)
        twin.__setstate__({**self.__getstate__(), "_shared": self._shared.clone()})
        return twin

    def _find_rank(self) -> None:
        self._place = place.current(self._place)
        self.rank, self.world = place.data_rank(self._place, self.mesh)

    def _dealt(self, worker: int, workers: int) -> Sampler | ShardPlan:
        return self.sampler(worker, workers) if self.deal == "samples" else self.plan(workers)

    def _items(self, dealt: Sampler | ShardPlan, worker: int, epoch: int) -> Iterator[Any]:
        if isinstance(dealt, Sampler):
            tables = read_samples(self.shards, dealt, self.marks)
        else:
            tables = read_shards(
                self.shards, dealt, self.rank, worker, shuffle_rows=self.shuffle_rows, marks=self.marks
            )
        source = ahead(tables)
        items = self._rows(source) if self.batch_size is None else batches(source, self.batch_size, self.drop_last)
        in_worker = get_worker_info() is not None
        try:
            for number, item in enumerate(items):
                if number == 1 and worker == 0:
                    # One item alone is a look at what comes.
                    self._shared[_LAST_READ] = epoch + 1
                made = item if self.transform is None else self.transform(item)
                yield _compact(made) if in_worker and isinstance(made, pa.RecordBatch) else made
        finally:
            source.close()

    def _rows(self, tables: Iterator[pa.Table]) -> Iterator[dict[str, Any]]:
        for table in tables:
            for batch in table.to_batches(max_chunksize=1024):
                yield from batch.to_pylist()

    def _reads(self, workers: int) -> int:
        readers = self.world * workers
        return readers // math.gcd(readers, self._options["lanes"]) if self.deal == "samples" else 1

    def _warn(self, workers: int) -> None:
        """Once for each of what goes wrong in silence."""
        epoch, reads = self.epoch, self._reads(workers)
        shuffled = self.deal == "samples" or self._options["shuffle"] or self._options.get("reshuffle")
        if int(self._shared[_LAST_READ]) == epoch + 1 and shuffled and not self._shared[_TOLD_EPOCH]:
            self._shared[_TOLD_EPOCH] = 1
            again = f"epoch {epoch} is read a second time, in the same order: call dataset.set_epoch(epoch) before each"
            warnings.warn(again, EpochWarning, stacklevel=3)
        if reads > 1 and self.rank == 0 and not self._shared[_TOLD_LANES]:
            self._shared[_TOLD_LANES] = 1
            readers, lanes = self.world * workers, self._options["lanes"]
            fits = min(max(1, round(lanes / readers)), 4096 // readers) * readers
            advice = f"; lanes={fits} would be read once" if fits else ""
            several = f"{readers} readers ({self.world} ranks x {workers} workers) do not divide {lanes} lanes, so that"
            told = f"{several} each row, though given once, is read and decoded by {reads} of them{advice}"
            warnings.warn(told, LanesWarning, stacklevel=3)


def to_tensors(batch: pa.RecordBatch) -> dict[str, Any]:
    """A batch as a dictionary of columns: tensors where the values are numbers, else lists.

    Numbers are not copied where Arrow's memory allows it, and are not to be written to then. Fixed-size lists of
    numbers become tensors of two dimensions. Unsigned numbers keep their type, with which torch can do little; texts,
    timestamps and dictionaries become lists.

    Raises:
        MissingError: A number is missing; fill it before.
        WrongTypeError: This is a row, not a batch.
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
        # A list here and a tensor in the next batch would fail later, and elsewhere.
        raise MissingError(name, "", f"a number in every row of column {name}, which has nulls: fill them first")
    with warnings.catch_warnings():
        # Arrow's memory is read-only, as the documentation says.
        warnings.simplefilter("ignore")
        return torch.from_numpy(column.to_numpy(zero_copy_only=False))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows alone: a part of a table would take the whole table with it to the main process."""
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    return pa.ipc.open_stream(stream.getvalue()).read_next_batch()
