"""A dataset in Parquet files under a DataLoader."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import pyarrow as pa
import torch
from torch.utils.data import IterableDataset

from .. import ContradictionError, Mesh, OutOfRangeError, Sampler, ShardPlan, Steps
from .. import _arguments as check
from ..parquet import Shards, ahead, batches, read_samples, read_shards
from ..parquet._files import Paths
from . import _place as place

DEALS = ("samples", "shards")

# Of the numbers that all processes of a loader share.
_EPOCH, _LAST_READ, _WARNED = range(3)
_BATCH = check.Width(1, check.U32_MAX, check.U32_FROM_1.allowed)
_EPOCHS = check.Width(0, 2**63 - 1, f"0 to {2**63 - 1}")


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
    """How many of them are padding."""
    shards: tuple[int, ...] | None
    """The numbers of the shards that are this reader's alone, in order; none where samples are dealt."""
    steps: Steps
    """Between which bounds the ranks' numbers of steps lie, in items of the dataset: batches, or samples."""


class ShardedDataset(IterableDataset[Any]):
    """The rows of Parquet files, dealt to ranks and to the workers of each loader.

    Each worker of each rank reads its own part; nothing is read twice, nothing is left out, and no `DistributedSampler`
    or `split_dataset_by_node` is needed. Two deals:

    - `deal="samples"` (the default): the order `sharded`. Every reader gets the same number of samples, the whole
      epoch is one order that no number of ranks or workers changes, and a reader holds a window of each of its lanes.
      Choose `lanes` as a multiple of ranks times workers.
    - `deal="shards"`: whole files to readers by a `ShardPlan`. A reader holds one file where rows are shuffled, else a
      few thousand rows; ranks may end at different steps (`shard_info().steps`).

    Worker w of n in rank r of W is reader r + W * w of W * n. Under a `DataLoader`, pass `batch_size=None` to it and
    the size of batches here: Arrow batches cost no Python object for each row.
    """

    def __init__(
        self,
        paths: Paths,
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
        reshuffle: bool | None = None,
        policy: str | None = None,
        worker_policy: str | None = None,
        weight: str | None = None,
        rank: SupportsIndex | None = None,
        world: SupportsIndex | None = None,
        mesh: Mesh | None = None,
        sample_column: str | None = None,
    ) -> None:
        """Reads the footers of the files, and finds out which rank this is.

        Args:
            paths: Files and directories, one or several; a directory stands for all *.parquet below it.
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
            shuffle: With "shards": whether the files, and the rows within each, are shuffled; yes by default.
            reshuffle: With "shards": whether each reader shuffles its files once more.
            policy: With "shards": how files are given to ranks, "size-aware" (the default) or "round-robin".
            worker_policy: With "shards": the same for the workers of a rank.
            weight: With "shards": what is to be equal, "samples" (the default) or "bytes".
            rank: Which rank this process is, with `world`; by default that of the process group, or what the launcher's
                variables say (`samedeal.detect_rank`).
            world: How many ranks there are.
            mesh: Where ranks share data; rank and world are then those of the mesh.
            sample_column: The name of a column to add: the index of each row in the dataset.

        Raises:
            SamedealError: A value is not allowed, or does not go with another.
            OSError: A file cannot be read, or its columns differ from the others'.
        """
        super().__init__()
        self.deal = check.enum("deal", deal, DEALS)
        given: dict[str, dict[str, Any]] = {
            "samples": {"lanes": lanes, "window": window, "remainder": remainder},
            "shards": {"shuffle": shuffle, "reshuffle": reshuffle, "policy": policy, "worker_policy": worker_policy}
            | {"weight": weight},
        }
        self._options = {name: value for name, value in given.pop(self.deal).items() if value is not None}
        for other, options in given.items():
            for name, value in options.items():
                if value is not None:
                    raise ContradictionError(name, check.shown(value), f'none, as it goes with deal="{other}"')
        if self.deal == "shards":
            self._options = {"shuffle": True, "policy": "size-aware", "worker_policy": "size-aware"} | self._options
        self.batch_size = None if batch_size is None else check.integer("batch-size", batch_size, _BATCH)
        self.drop_last = check.boolean("drop-last", drop_last)
        self.transform = transform
        self.seed = check.integer("seed", seed, check.S64)
        self.rank, self.world = place.data_rank(
            None if rank is None else check.integer("rank", rank, check.RANK),
            None if world is None else check.integer("world", world, check.U32_FROM_1),
            mesh,
        )
        self.shards = Shards.find(paths, columns)
        if sample_column is not None and check.name("sample-column", sample_column) in self.shards.columns:
            allowed = "a name that no column has"
            raise ContradictionError("sample_column", sample_column, allowed)
        self.sample_column = sample_column
        # In memory that the workers share, so that those which live on follow to the next epoch.
        self._shared = torch.zeros(3, dtype=torch.int64).share_memory_()
        self.set_epoch(epoch)
        # Whatever is wrong shows here and not in a worker.
        self._dealt(0, 1)

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration reads."""
        return int(self._shared[_EPOCH])

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Reads another epoch from the next iteration on, in the workers too."""
        self._shared[_EPOCH] = check.integer("epoch", epoch, _EPOCHS)

    def shard_info(self, worker: SupportsIndex | None = None, workers: SupportsIndex | None = None) -> ShardInfo:
        """What a reader of this rank has of the epoch.

        Args:
            worker: Which loader worker; by default the one that asks, or 0 in the main process.
            workers: Of how many; by default those that there are, or 1 in the main process.
        """
        own, count = place.worker()
        if workers is not None:
            count = max(1, check.integer("workers", workers, check.U32_FROM_1))
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
        steps = self._steps(dealt, count)
        return ShardInfo(self.rank, self.world, own, count, self.epoch, samples, padding, shards, steps)

    def __iter__(self) -> Iterator[Any]:
        """This reader's rows or batches of the epoch."""
        worker, workers = place.worker()
        if worker == 0:
            self._mark_read()
        dealt = self._dealt(worker, workers)
        if isinstance(dealt, Sampler):
            tables = read_samples(self.shards, dealt, sample_column=self.sample_column)
        else:
            tables = read_shards(self.shards, dealt, self.rank, worker, sample_column=self.sample_column)
        source = ahead(tables)
        items = self._rows(source) if self.batch_size is None else batches(source, self.batch_size, self.drop_last)
        try:
            yield from items if self.transform is None else map(self.transform, items)
        finally:
            source.close()

    def __getstate__(self) -> dict[str, Any]:
        """All of it: the numbers that are shared stay so on the way to a worker."""
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, which may have been a file."""
        self.__dict__.update(state)
        self._shared.share_memory_()

    def sampler(self, worker: int = 0, workers: int = 1) -> Sampler:
        """With `deal="samples"`: the sampler that a worker of this rank goes through.

        Raises:
            ContradictionError: Whole shards are dealt.
        """
        if self.deal != "samples":
            raise ContradictionError("deal", self.deal, "samples, where there is a sampler")
        reader, readers = self.rank + self.world * worker, self.world * workers
        return Sampler.sharded(
            self.shards.sizes, rank=reader, world=readers, seed=self.seed, epoch=self.epoch, **self._options
        )

    def plan(self, workers: int = 1) -> ShardPlan:
        """With `deal="shards"`: which shards each worker of each rank has.

        Raises:
            ContradictionError: Samples are dealt.
        """
        if self.deal != "shards":
            raise ContradictionError("deal", self.deal, "shards, where there is a plan")
        return ShardPlan(
            self.shards.sizes,
            bytes=self.shards.bytes,
            world=self.world,
            workers=workers,
            seed=self.seed,
            epoch=self.epoch,
            **self._options,
        )

    def _dealt(self, worker: int, workers: int) -> Sampler | ShardPlan:
        return self.sampler(worker, workers) if self.deal == "samples" else self.plan(workers)

    def _steps(self, dealt: Sampler | ShardPlan, workers: int) -> Steps:
        size = self.batch_size or 1
        if isinstance(dealt, ShardPlan):
            return dealt.steps(size, drop_last=self.drop_last)
        counts = []
        # Where readers differ, the first ones get a sample more.
        for rank in (self.world - 1, 0):
            steps = 0
            for worker in range(workers):
                dealt.set_rank(rank + self.world * worker)
                steps += dealt.num_batches(size, drop_last=self.drop_last)
            counts.append(steps)
        return Steps(*counts)

    def _rows(self, tables: Iterator[pa.Table]) -> Iterator[dict[str, Any]]:
        for table in tables:
            for batch in table.to_batches(max_chunksize=1024):
                yield from batch.to_pylist()

    def _mark_read(self) -> None:
        epoch = self.epoch
        again = int(self._shared[_LAST_READ]) == epoch + 1
        self._shared[_LAST_READ] = epoch + 1
        shuffled = self.deal == "samples" or self._options["shuffle"] or self._options.get("reshuffle")
        if again and shuffled and not self._shared[_WARNED]:
            self._shared[_WARNED] = 1
            warnings.warn(
                f"epoch {epoch} is read a second time: every epoch has the same order until "
                f"dataset.set_epoch(epoch) is called before it",
                stacklevel=3,
            )


def to_tensors(batch: pa.RecordBatch) -> dict[str, Any]:
    """A batch as a dictionary of columns: tensors where the values are numbers, all of them there; else lists.

    Numbers are not copied where Arrow's memory allows it. Fixed-size lists of numbers become tensors of two dimensions.
    """
    return {name: _tensor(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}


def _tensor(column: pa.Array) -> Any:
    if column.null_count == 0:
        if pa.types.is_fixed_size_list(column.type) and _is_number(column.type.value_type):
            return _tensor(column.flatten()).reshape(len(column), column.type.list_size)
        if pa.types.is_boolean(column.type) or _is_number(column.type):
            values = column.to_numpy(zero_copy_only=False)
            with warnings.catch_warnings():
                # Arrow's memory is read-only; whoever writes into a batch does it at their own risk.
                warnings.simplefilter("ignore")
                return torch.from_numpy(values)
    return column.to_pylist()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
