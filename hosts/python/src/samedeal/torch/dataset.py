"""A dataset in files for a DataLoader."""

from __future__ import annotations

import copy
import functools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import torch.distributed
from torch.utils.data import IterableDataset

from .. import (
    ContradictionError,
    Mesh,
    MissingError,
    Order,
    OutOfRangeError,
    Reading,
    Sampler,
    ShardPlan,
    Steps,
    WrongTypeError,
)
from ..engine import arguments as check
from ..engine.warn import warn
from ..files import Format, Marks, Shards, Sources
from ..files.failures import Failures
from ..files.groups import costliest
from ..files.paths import Paths
from ..generated.limits import MAX_SHUFFLE_WINDOW, MAX_WORKERS
from ..read.reading import DEALS
from . import place
from .board import FAILED, SLOTS, Board
from .deals import Group
from .files import MakesOrder, Options, find, order_of, warn_of_shared_files
from .lanes import Chosen, LanesNote, base_of, choose, is_auto, of_state
from .nested import is_sent, warn_of_collated_batches
from .passes import Items, Opening
from .rest import Progress
from .states import Count, EpochWarning, Resuming, Start, StepsWarning, text_of
from .torchdata import READER, part_of

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from ..compose.order import Weight

_BATCH = check.Width(1, check.U32_MAX, check.U32_FROM_1.allowed)
_WINDOW = check.Width(1, MAX_SHUFFLE_WINDOW, *check.between(1, MAX_SHUFFLE_WINDOW))
_WORKERS = check.Width(0, MAX_WORKERS, f"0 to {MAX_WORKERS}")
_ROWS = check.Width(1, check.MAX_EXACT, f"1 to {check.MAX_EXACT}")
_EPOCHS = check.Width(0, 2**63 - 1, f"0 to {2**63 - 1}")


class LanesWarning(UserWarning):
    """Several readers decode the same rows, or each reader has too few lanes to mix its batches."""


class Loaded(NamedTuple):
    """The parts of a state that a dataset takes."""

    progress: Progress
    given: dict[str, Any]
    """The options of the dataset, with the lanes of the state where `lanes="auto"`."""
    not_by_lane: str
    """Why a blend with these options is not by lane."""
    failed: list[list[int]]
    """The first sample and the number of samples of each range of rows that failed."""


@dataclass(frozen=True)
class ShardInfo:
    """The rows that one reader reads in an epoch."""

    rank: int
    """The rank of the reader."""
    world_size: int
    """Number of ranks."""
    worker: int
    """The number of the loader worker in its rank."""
    workers: int
    """Number of loader workers of the rank, at least 1."""
    epoch: int
    """The epoch."""
    samples: int
    """How many samples the reader gives, padding included."""
    num_padding: int
    """How many of these samples are padding: the last ones."""
    shards: tuple[int, ...] | None
    """With `deal="shards"`: the numbers of the shards that this reader reads, in order. Otherwise None."""
    reads: int
    """How many readers read each row: 1, or more where their number does not divide the lanes."""


def _order_with(shards: Shards, options: Options, seed: int, chosen: Chosen) -> tuple[Order | None, str]:
    """The order of the files with these lanes, as `order_of` makes it."""
    return order_of(shards, options, {"seed": seed, **chosen._asdict()})


def _pickles(remake: functools.partial[Any]) -> bool:
    """Whether the options of an order can be sent to a process. A function of the caller is perhaps a lambda."""
    _, options, _ = remake.args
    try:
        check.pickles("order", options, "", "")
    except Exception:
        return False
    return True


class ShardedDataset(Resuming[Progress], IterableDataset[Any]):
    """The rows of files (Parquet and others), divided among all ranks and the workers of their loaders.

    Each worker of each rank reads its own part. Do not use a `DistributedSampler` or `split_dataset_by_node` in
    addition. There are two deals:

    - `deal="samples"` (the default): the order `sharded`. This is one order of the whole epoch, which does not depend
      on the numbers of ranks and workers. All readers get the same number of samples; `remainder` decides whether a few
      are repeated or dropped for this. A reader holds two windows of each of its lanes in memory, the present one and
      the next one. Choose `lanes` as a multiple of ranks times workers: then each reader has lanes of its
      own. With several sources, or an `order`, that is so where lanes can be kept apart.
    - `deal="shards"`: each reader gets whole files, by a `ShardPlan`. Every row comes once, and ranks may have
      different numbers of steps (`steps`). If rows are shuffled, a reader holds one file in memory, otherwise a few
      thousand rows.

    Worker w of n in rank r of W is reader r + W * w of W * n. Pass `batch_size=None` to the `DataLoader`, and the batch
    size to this class: then no Python object is made for each row.

    If there is a process group, its rank is used; otherwise the rank of the launcher's variables.

    Wrap the loader in `Resumable` to count the batches that the training loop got. A state resumes on any number of
    ranks and workers, with any batch size. Without workers, and with torchdata's `StatefulDataLoader`, the dataset
    itself counts the batches.
    """

    def __init__(
        self,
        paths: Paths | Shards | Mapping[str, Paths | Shards],
        *,
        columns: Sequence[str] | None = None,
        batch_size: SupportsIndex | None = None,
        drop_last: bool = False,
        transform: Callable[[Any], Any] | None = None,
        deal: str = "samples",
        seed: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        lanes: SupportsIndex | str | None = None,
        shuffle_window: SupportsIndex | None = None,
        remainder: str | None = None,
        shuffle: bool | None = None,
        shuffle_rows: bool | None = None,
        reshuffle: bool | None = None,
        policy: str | None = None,
        worker_policy: str | None = None,
        balance_by: str | None = None,
        rank: SupportsIndex | None = None,
        world_size: SupportsIndex | None = None,
        num_replicas: SupportsIndex | None = None,
        mesh: Mesh | DeviceMesh | None = None,
        weights: Mapping[str, Weight] | None = None,
        stages: Iterable[Any] | None = None,
        samples: SupportsIndex | None = None,
        exhaustion: str | None = None,
        max_passes: SupportsIndex | None = None,
        exact: bool | None = None,
        by_lane: bool | None = None,
        order: MakesOrder | Mapping[str, MakesOrder] | None = None,
        sample_column: str | None = None,
        padding_column: str | None = None,
        source_column: str | None = None,
        filesystem: Any = None,
        lost: Mapping[str | os.PathLike[str], SupportsIndex] | None = None,
        format: str | Format | None = None,
        manifest: str | os.PathLike[str] | None = None,
        max_failed_rows: SupportsIndex | None = None,
        max_readers: SupportsIndex | None = None,
    ) -> None:
        """Reads the footers of the files, and finds the rank of this process.

        Args:
            paths: One or several files or directories, also as URLs. A directory stands for all *.parquet files below
                it, or those of `format` (see `samedeal.files.Shards.find`). A `Shards` object is allowed too. A
                dictionary stands for several sources by their names, which are blended by `weights`. If several sources
                have the same file, a `SourcesWarning` says so.
            columns: The columns to read; all of them by default.
            batch_size: Number of rows in a batch, which is a `pyarrow.RecordBatch`. By default, rows come one by one,
                as dictionaries.
            drop_last: Whether a reader drops its last batch if that is shorter.
            transform: A function that each batch (or row) goes through, in the worker, such as
                `samedeal.torch.to_tensors`.
            deal: "samples" or "shards".
            seed: Seed of the shuffles.
            epoch: The first epoch; `set_epoch` moves on.
            lanes: With "samples": number of lanes, which are parallel streams that the dataset is cut into, 1 to 2**16;
                64 by default. "auto" chooses the number by the row groups of the files, `max_readers` and `batch_size`
                (`samedeal.Reading.suggested_lanes`), and a `LanesNote` says what and why. The number stands in the
                recipe and in states: after `load_state_dict`, the dataset has the lanes of the state.
            shuffle_window: With "samples": number of neighbouring rows of a lane that are shuffled together, 1 to
                2**20; 256 by default. With `lanes="auto"`, fewer if a reader has more than 64 lanes, so that it needs
                no more memory.
            remainder: With "samples": what happens if the number of readers does not divide the rows: "pad" (the
                default), "drop" or "uneven".
            shuffle: With "samples": False gives the rows in storage order, for example for an evaluation. Of n readers,
                reader r gives the rows r, r + n, r + 2n, ..., and all readers read all files. With "shards": whether
                the files are shuffled before they are dealt. True by default. Without any shuffle, an epoch can be read
                again without `set_epoch`.
            shuffle_rows: With "shards": whether the rows within each file are shuffled; as `shuffle` by default.
            reshuffle: With "shards": whether each reader shuffles its own files again, after the deal.
            policy: With "shards": how files are dealt to ranks, "size-aware" (the default) or "round-robin".
            worker_policy: With "shards": how the files of a rank are dealt to its workers; values as for `policy`.
            balance_by: With "shards": what "size-aware" balances, "samples" (the default) or "bytes" of the columns
                that are read.
            rank: Rank of this process. By default, the rank of the process group or of the launcher's variables
                (`samedeal.detect_rank`).
            world_size: Number of ranks. By default that of the process group, or of the launcher.
            num_replicas: Another name for `world_size`, as `DistributedSampler` has it.
            mesh: A `samedeal.Mesh`, or the dimensions of a `DeviceMesh` along which ranks get different samples, such
                as `mesh["dp"]` or `mesh["dp_replicate", "dp_shard"]`, if some ranks read the same data. Rank and world
                size are then those of the mesh.
            weights: With several sources: the weight of each, by its name, as `samedeal.blend` has them. A source of
                weight 0 gives nothing, until a stage gives it a weight.
            stages: With several sources: other weights from some positions on, (from, weights) for each. Positions are
                counted over all epochs. A state resumes with stages that begin after the positions that were read. s
                steps of W ranks with n workers each (1 without workers) and batches of z rows read W * z * n * ceil(s /
                n) positions from the place where they began.
            samples: With several sources: the number of rows of an epoch. By default as many as all sources have.
            exhaustion: With several sources: what happens once a source has made `max_passes` passes, as for
                `samedeal.blend`.
            max_passes: With several sources: as for `samedeal.blend`.
            exact: With several sources: as for `samedeal.blend`.
            by_lane: With several sources: as for `samedeal.blend`. By default, it is True where it can be: where
                `samples` and the beginnings of stages are multiples of `lanes`, no `order` changes a source, every
                source has a row in each lane, and `exhaustion` is "repeat".
            order: A function from the order of the files (`samedeal.sharded`, or the blend) to the order in which they
                are read, such as `lambda files: files.exclude(bad)`. It is called once, here; with `lanes="auto"`, also
                when a state with other lanes is loaded. With several sources, a dictionary of such functions changes
                the order of single sources: `{"web": lambda files: files.exclude(bad)}`, where `bad` has row numbers of
                "web" alone.
            sample_column: The name of a column to add: the index of each row in the dataset. With several sources,
                the rows of the second source are numbered after those of the first one, and so on.
            padding_column: The name of a column to add: whether the row is padding. Metrics should leave padding out.
            source_column: With several sources: the name of a column to add: the name of the source of each row.
            filesystem: A file system of pyarrow or fsspec that has the paths. By default, it follows from the paths.
            lost: Files that are not there any more, and the number of rows that each had. The rows of other files stay
                in their batches, and states resume with these files and without them. The rows of lost files do not
                come, so that batches are shorter. A batch that has no other rows has one row of padding, the first one
                of the first file that is there: so all ranks have as many steps as before. `steps` and `shard_info`
                count the lost rows.
            format: "parquet", "arrow", "jsonl", "tar", "mds" or "lance", or a `samedeal.files.Format`, as for
                `samedeal.files.Shards.find`. By default, it follows from the names of the files.
            manifest: A file that `samedeal.files.Shards.save_manifest` wrote, which has the facts from the footers of
                all files of the directory `paths`. Then neither the directory is listed nor the footers are read. With
                several sources, pass it to `Shards.find` for each of them.
            max_failed_rows: How many rows may fail on this rank before the failure is raised, 1 to 2**53 - 1. A row
                fails if its file cannot be decoded there, or if `transform` raises an exception for this row alone. It
                is left out of its batch, as rows of lost files are, with a `FailedRowsWarning`. States have the rows
                that failed, and leave them out again. By default, the first failure is raised.
            max_readers: With `lanes="auto"`: the greatest number of readers (ranks times workers) that will ever read
                this dataset, 1 to 2**16. The lanes are a multiple of it. A number with many divisors is best, such as
                that of the largest machine. By default, the number of ranks times 8, or
                times less if there are more than 2**13 ranks.

        Raises:
            SamedealError: A value is not allowed, or contradicts another one.
            OSError: A file cannot be read, or its columns differ from the others'.
        """
        super().__init__()
        self.deal = check.enum("deal", deal, DEALS)
        self.seed = check.seed(seed)
        self._is_auto = is_auto(lanes, max_readers, self.deal, shuffle)
        if self._is_auto and shuffle_window is not None:
            # The board has it as an `int` before the core checks it.
            shuffle_window = check.integer("shuffle_window", shuffle_window, _WINDOW)
        self._given: dict[str, Any] = {
            "lanes": None if self._is_auto else lanes,
            "shuffle_window": shuffle_window,
            "remainder": remainder,
            "shuffle": shuffle,
            "shuffle_rows": shuffle_rows,
            "reshuffle": reshuffle,
            "policy": policy,
            "worker_policy": worker_policy,
            "balance_by": balance_by,
        }
        self.batch_size = None if batch_size is None else check.integer("batch_size", batch_size, _BATCH)
        self.drop_last = check.boolean("drop_last", drop_last)
        if self.drop_last and self.batch_size is None:
            raise ContradictionError("drop_last", "True", "False where single rows come, without batch_size")
        if transform is not None and not callable(transform):
            raise WrongTypeError("transform", check.described(transform), "a function")
        self.transform = transform
        self._place, self.mesh = place.find(rank, {"world_size": world_size, "num_replicas": num_replicas}, mesh)
        self._shares = mesh is not None
        self._find_rank()
        several = isinstance(paths, (Mapping, Sources))
        if stages is not None:
            # The blend may be made several times, so that an iterator is not enough.
            stages = check.items("stages", stages, "a list of (from, weights)")
        blending = Options(weights, stages, samples, exhaustion, max_passes, exact, by_lane, order)
        blending.check(self.deal, shuffle, several)
        self.shards = find(paths, columns, filesystem, lost, format, manifest)
        if self.shards.lost and self.batch_size is None:
            allowed = "a number, with files that were lost: some ranks would have fewer single rows than others"
            raise ContradictionError("batch_size", "None", allowed)
        self.max_failed_rows = None
        if max_failed_rows is not None:
            self.max_failed_rows = check.integer("max_failed_rows", max_failed_rows, _ROWS)
            if self.batch_size is None:
                allowed = "a number, with max_failed_rows: some ranks would have fewer single rows than others"
                raise ContradictionError("batch_size", "None", allowed)
        if self.shards.lost and not np.delete(self.shards.sizes, sorted(self.shards.lost)).any():
            raise MissingError("paths", "", "at least one row in the files that were not lost")
        if source_column is not None and not several:
            allowed = "none, unless paths is a dictionary of several sources"
            raise ContradictionError("source_column", check.shown(source_column), allowed)
        note = ""
        self._remake: functools.partial[tuple[Order | None, str]] | None = None
        if self._is_auto:
            given = (self.shards, samples, self.batch_size, self.world_size, max_readers, shuffle_window)
            chosen, note = choose(*given, blending.multiples)
            self._keeps_window = shuffle_window is not None
            self._given |= self._lanes_of(chosen)
            self._remake = functools.partial(_order_with, self.shards, blending, self.seed)
        own_order = {name: self._given[name] for name in ("lanes", "shuffle_window")}
        self._given["order"], self._not_by_lane = order_of(self.shards, blending, {"seed": self.seed, **own_order})
        self.marks = Marks(sample_column, padding_column, source_column)
        known = self.shards.columns
        for field, mark in zip(("sample_column", "padding_column", "source_column"), self.marks, strict=True):
            if mark is not None:
                if check.label(field, mark) in known:
                    raise ContradictionError(field, check.shown(mark), "a name that no other column has")
                known.append(mark)
        self._board = Board()
        if self._is_auto:
            self._board.lanes = self._own_lanes
        self._start_with(Progress(check.integer("epoch", epoch, _EPOCHS)))
        self._board.tell(self._core, 0)
        # Makes a reading, so that errors come here and not in a worker.
        reading = self._group(1).reading(self._core)
        if not np.array_equal(reading.sizes, self.shards.sizes):
            raise ContradictionError("order", f"one of {len(reading.sizes)} shards", "an order of all of these files")
        self._own_order: dict[str, Any] = self._section(reading)
        self._warn_of_steps(0)
        if self.rank == 0:
            if note:
                if reading.lanes_read_once is not None:
                    lanes = self._given["lanes"]
                    note += (
                        f". Each row is read once by any number of readers that divides {lanes}, also after a resume"
                    )
                elif self._not_by_lane:
                    note += f". by_lane=True was not possible, so that all readers read all lanes: {self._not_by_lane}"
                warn(note, LanesNote)
            warn_of_shared_files(self.shards)

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration reads."""
        return self._progress().epoch

    @epoch.setter
    def epoch(self, epoch: SupportsIndex) -> None:
        self.set_epoch(epoch)

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Sets the epoch of the next iteration, in the workers too.

        If this is the epoch of a state that was loaded, the rest of that epoch stays.
        """
        self._find_rank()
        super().set_epoch(check.integer("epoch", epoch, _EPOCHS))
        self._board.tell(self._core, 0)

    def steps(self, workers: SupportsIndex = 0) -> Steps:
        """The smallest and the largest number of items of a rank: batches, or rows if there is no batch size.

        After `load_state_dict`, both numbers count the rest of the epoch.

        Args:
            workers: Loader workers of each rank: `num_workers` of the `DataLoader`.
        """
        return self._reading(check.integer("workers", workers, _WORKERS)).steps

    def shard_info(self, worker: SupportsIndex | None = None, workers: SupportsIndex | None = None) -> ShardInfo:
        """The rows that a reader of this rank reads in the epoch, or in the rest of it.

        Args:
            worker: Number of the loader worker. By default the worker that calls this, or 0 in the main process.
            workers: Number of loader workers. By default the present number, or 1 in the main process.
        """
        self._find_rank()
        own, count = place.worker()
        if workers is not None:
            count = max(1, check.integer("workers", workers, _WORKERS))
        if worker is not None:
            own = check.one_of("worker", worker, count)
        reading = self._reading(count)
        shards = None if self.deal == "samples" else tuple(reading.shards(self.rank, own).tolist())
        samples, padding = reading.num_samples(self.rank, own), reading.num_padding(self.rank, own)
        reads = reading.reads_per_row
        return ShardInfo(self.rank, self.world_size, own, count, self.epoch, samples, padding, shards, reads)

    @property
    def recipe(self) -> str:
        """The recipe for a loader without workers; `samedeal.Reading.from_recipe` takes it.

        The recipe is the same on all ranks and in all epochs. The number of workers is a part of it: for a loader with
        workers, take `reading(workers).recipe`.
        """
        return self.reading().recipe

    def recipe_fingerprint(self, workers: SupportsIndex = 0) -> str:
        """SHA-256 over the recipe, in hexadecimal: it identifies the run.

        Args:
            workers: Loader workers of each rank: `num_workers` of the `DataLoader`.
        """
        return self.reading(workers).recipe_fingerprint()

    def reading(self, workers: SupportsIndex = 0) -> Reading:
        """A whole epoch as a `Reading`, which has the samples and the batches of each worker of each rank.

        Args:
            workers: Loader workers of each rank: `num_workers` of the `DataLoader`.
        """
        return self._group(check.integer("workers", workers, _WORKERS)).reading(Progress(self.epoch))

    def sampler(self, worker: int = 0, workers: int = 0) -> Sampler:
        """With `deal="samples"`: the sampler of a worker of this rank, for a whole epoch.

        Its ``rank`` and those of ``locate`` are reader numbers: rank + world_size * worker.

        Raises:
            ContradictionError: Whole shards are dealt.
        """
        if self.deal != "samples":
            raise ContradictionError("deal", self.deal, "samples, where there is a sampler")
        workers = max(1, check.integer("workers", workers, _WORKERS))
        if not 0 <= check.whole("worker", worker) < workers:
            raise OutOfRangeError("worker", check.shown(worker), check.below(workers))
        deal: dict[str, Any] = {"rank": self.rank + self.world_size * worker, "world_size": self.world_size * workers}
        deal |= {"seed": self.seed, "epoch": self.epoch, "remainder": self._given["remainder"]}
        if self._given["order"] is not None:
            allowed = "sharded or sequential, of one source; reading() says what each worker reads"
            raise ContradictionError("order", self._order["name"], allowed)
        if not self._is_shuffled:
            return Sampler(self.shards.samples, order="sequential", **deal)
        lanes, window = self._order["lanes"], self._order["shuffle_window"]
        return Sampler.sharded(self.shards.sizes, lanes=lanes, shuffle_window=window, **deal)

    def plan(self, workers: int = 0) -> ShardPlan:
        """With `deal="shards"`: the plan that gives shards to the workers of all ranks, for a whole epoch.

        Raises:
            ContradictionError: Samples are dealt.
        """
        if self.deal != "shards":
            raise ContradictionError("deal", self.deal, "shards, where there is a plan")
        deal = {"world_size": self.world_size, "workers": max(1, check.integer("workers", workers, _WORKERS))}
        recipe = {"shards": self._order, "deal": deal}
        lists = {"sizes": self.shards.sizes} | ({} if self.shards.bytes is None else {"bytes": self.shards.bytes})
        return ShardPlan.from_recipe(recipe, lists=lists, epoch=self.epoch)

    @property
    def failed_rows(self) -> list[range]:
        """The samples that this rank leaves out because they failed, as ranges of sample indices, ascending.

        Those that the workers of this rank met, those of the state that was loaded, and those of other ranks after
        `share_failed_rows`. A part of a file that cannot be decoded counts as a whole, also if another reader has a
        part of its rows.
        """
        failures = self._failures(0)
        return [] if failures is None else [range(*ends) for ends in failures.ranges().tolist()]

    def share_failed_rows(self, group: Any = None) -> None:
        """Sends the failed rows of each rank to all ranks. All ranks must call it, such as before a checkpoint.

        After it, the state of one rank has the failed rows of all ranks. Without it, a state has those of its own rank,
        and the others fail again after a resume, if their file and `transform` are the same.

        Args:
            group: The process group; by default, that of the whole job.

        Raises:
            MissingError: `max_failed_rows` was not given; or there is no process group, but more than one rank.
            ContradictionError: All ranks together have more failed rows than `max_failed_rows`.
        """
        if self.max_failed_rows is None:
            raise MissingError("max_failed_rows", "", "a number: only then rows are left out")
        if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
            if self.world_size > 1:
                raise MissingError("group", "", "a process group: call torch.distributed.init_process_group before")
            return
        told: list[Any] = [None] * torch.distributed.get_world_size(group)
        torch.distributed.all_gather_object(told, [[one.start, len(one)] for one in self.failed_rows], group)
        self._add_failed([each for own in told for each in own])

    def state_dict(self, taken: SupportsIndex | None = None) -> dict[str, Any]:
        """The state for a checkpoint. It is the same on all ranks, and resumes on any number of ranks and workers.

        After s batches, the state means that every rank took s batches, or all that it has if it has fewer. After the
        end of a pass, it means that the epoch is finished on all ranks. If ranks have different numbers of steps, save
        it when all ranks have ended.

        Args:
            taken: Number of batches (of rows, if there is no batch size) of the newest pass that the training loop
                took. By default the count of `Resumable`; without `Resumable` and workers, the number that the pass has
                given.

        Raises:
            OutOfRangeError: `taken` is more than the pass has.
            MissingError: There are loader workers and no `Resumable`. Pass `taken`.
        """
        if place.is_worker():
            # In a worker, only the iterator has a state: the dataset has none.
            return {}
        if self._count is None and self._board.workers:
            if taken is None:
                needed = "the number of batches that the loop took, or a samedeal.torch.Resumable around the loader"
                raise MissingError("taken", "", needed)
            # The newest pass is in the workers, so a pass of this process is an older one.
            self._pass = None
        return super().state_dict(taken)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state: the next pass gives the rest of its epoch.

        With the same number of ranks and workers, and the same batch size, each batch has the rows that it would have
        had. Otherwise, the rows that are left are dealt again. After an error, nothing has changed.

        With a plain loader with workers, the end of a pass is unknown: every pass gives the same rest until
        `set_epoch`.

        Raises:
            ContradictionError: The state is of other data, or of another order, deal or seed. The error names the field
                that differs.
            WrongTypeError: The value is no state of a dataset.
            OutOfRangeError: The state is too long, or has more samples than there are.
        """
        if not place.is_worker():
            super().load_state_dict(state_dict)
            self._board.last_read = None
            self._board.tell(self._core, 0)

    def __iter__(self) -> Iterator[Any]:
        """This reader's rows or batches of the epoch that is set now, or of the rest of that epoch."""
        self._find_rank()
        worker, workers = place.worker()
        inside = place.is_worker()
        if worker == 0:
            if self._board.is_first_alone():
                place.warn_if_alone(self)
            self._warn(workers)
            if self.batch_size is not None:
                warn_of_collated_batches(self, self.batch_size)
        if inside:
            self._board.workers = workers
            return Items(self, Opening(self, self._progress(), workers), worker, sends=is_sent(self))
        core = copy.copy(self._begin())
        self._board.tell(self._core, 0)
        made = Items(self, Opening(self, core, 1), 0)
        self._pass = made.given
        if made.reader.samples == 0:
            # An empty pass ends here: a loader may go on to the next epoch without asking for an item.
            self._ended(made.given)
        return made

    def __repr__(self) -> str:
        """The dataset in one line: what is dealt, and to which rank."""
        kept = ("seed", "samples", "shards", "sizes", "bytes", "of", "sources", "stages", "ranges", "indices")
        options = ", ".join(f"{name}={value!r}" for name, value in self._order.items() if name not in kept)
        if isinstance(self.shards, Sources):
            options = f"sources={self.shards.names!r}, {options}"
        return (
            f"<ShardedDataset of {self.shards.samples:,} rows in {len(self.shards)} shards, deal={self.deal!r}, "
            f"{options}, seed={self.seed}, epoch={self.epoch}, rank {self.rank} of {self.world_size}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """The attributes without the pass that is under way."""
        self._find_rank()
        check.sent("transform", self.transform, "a function")
        attributes = super().__getstate__()
        if self._remake is not None and not _pickles(self._remake):
            # The order is there, so that only a state with other lanes needs what cannot be pickled.
            attributes["_remake"] = None
        return attributes

    def __copy__(self) -> ShardedDataset:
        """A copy with a board of its own, so that it moves to other epochs by itself."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update({**self.__getstate__(), "_board": self._board.copied(), "_remake": self._remake})
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> ShardedDataset:
        """A copy that shares nothing, but has the function `order` even if that cannot be pickled."""
        twin = self.__class__.__new__(self.__class__)
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy({**self.__getstate__(), "_remake": self._remake}, memo))
        return twin

    def _failures(self, slot: int) -> Failures | None:
        """The rows that fail, for the process with this slot of the board; None if a failure is raised."""
        if self.max_failed_rows is None:
            return None
        if slot >= SLOTS:
            raise ContradictionError("workers", str(slot), f"up to {SLOTS - 1}, with max_failed_rows")
        return Failures(self.max_failed_rows, self._board, slot)

    def _failed_in(self, state: Any, slot: int) -> list[list[int]]:
        """The first sample and the number of samples of each range of failed rows in a state of this dataset, checked.

        `slot` is that of the board to which `_add_failed` will write them.
        """
        members = part_of(state)
        found = members.get(FAILED, []) if isinstance(members, Mapping) else []
        allowed = "what state_dict gave: pairs of a sample and a number of samples that failed"
        if not isinstance(found, list) or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in found):
            raise WrongTypeError(FAILED, check.described(found), allowed)
        samples, pairs = self.shards.samples, []
        for pair in found:
            first = check.integer(FAILED, pair[0], check.Width(0, samples - 1, check.below(samples)))
            count = check.integer(FAILED, pair[1], check.Width(1, samples - first, f"1 to {samples - first}"))
            pairs.append([first, count])
        self._check_failed(pairs, slot)
        return pairs

    def _check_failed(self, pairs: list[list[int]], slot: int) -> None:
        """Raises an error if too many rows fail, with these ranges, or if the slot has no room for them."""
        if not pairs:
            return
        failures = self._failures(slot) or Failures(0, self._board, 0)
        if (total := failures.count_with(pairs)) > failures.limit:
            allowed = f"{total} or more: so many rows failed before, and are left out again"
            raise ContradictionError("max_failed_rows", str(self.max_failed_rows), allowed)
        self._board.check_room(slot, len(failures.new_of(pairs)))

    def _add_failed(self, pairs: list[list[int]], slot: int = 0) -> None:
        """Leaves out ranges of rows from now on."""
        self._check_failed(pairs, slot)
        failures = self._failures(slot)
        for first, count in [] if failures is None else failures.new_of(pairs):
            self._board.record(slot, first, count)

    def _find_rank(self) -> None:
        self._place = place.current(self._place)
        self.rank, self.world_size = place.data_rank(self._place, self.mesh)

    def _section(self, reading: Reading) -> dict[str, Any]:
        section: dict[str, Any] = json.loads(reading.recipe)["order" if self.deal == "samples" else "shards"]
        return section

    def _group(self, workers: int) -> Group:
        """The group of the present readers, with this number of loader workers for each rank."""
        self._follow()
        return self._group_of(self._given, workers)

    def _follow(self) -> None:
        """With `lanes="auto"`, takes the lanes of a state that any process has loaded, perhaps since this one began."""
        if self._is_auto and self._board.lanes != self._own_lanes:
            self._use(*self._with_lanes(Chosen(*self._board.lanes)))

    @property
    def _order(self) -> dict[str, Any]:
        """The section of the recipe about the order of the data, which does not depend on the readers."""
        self._follow()
        return self._own_order

    def _group_of(self, given: dict[str, Any], workers: int) -> Group:
        self._find_rank()
        options = {"deal": self.deal, "seed": self.seed, **given}
        if options["order"] is not None:
            # These options are part of the order.
            options |= dict.fromkeys(("seed", "lanes", "shuffle_window", "shuffle"))
        return Group(self.shards, options, self.world_size, max(1, workers), self.batch_size or 1, self.drop_last)

    @property
    def _own_lanes(self) -> tuple[int, int]:
        """The lanes and the window of the order of this object, with `lanes="auto"`."""
        return self._given["lanes"], self._given["shuffle_window"]

    def _lanes_of(self, chosen: Chosen) -> dict[str, Any]:
        """The options for these lanes. A window that the caller has given stays."""
        return {"lanes": chosen.lanes} | ({} if self._keeps_window else {"shuffle_window": chosen.shuffle_window})

    def _with_lanes(self, chosen: Chosen | None) -> tuple[dict[str, Any], str]:
        """The options with other lanes, and why a blend is not by lane; the present ones if there are no others."""
        given = self._given if chosen is None else self._given | self._lanes_of(chosen)
        if given == self._given:
            return self._given, self._not_by_lane
        if self._remake is None:
            told = (
                f"{given['lanes']}, with shuffle_window={given['shuffle_window']}, as the state has: this copy was "
                "pickled, perhaps for a loader worker, without what the order is made of, since order= (or another "
                "option of it) does not pickle. Pass a function at the top level of a module, or functools.partial of "
                "one, and no lambda; or load the state before the dataset is pickled"
            )
            raise ContradictionError("lanes", str(self._given["lanes"]), told)
        order, why = self._remake(Chosen(given["lanes"], given["shuffle_window"]))
        return given | {"order": order}, why

    def _use(self, given: dict[str, Any], not_by_lane: str) -> None:
        """Reads with what `_with_lanes` returned from now on, in all processes."""
        self._given, self._not_by_lane = given, not_by_lane
        self._own_order = self._section(self._group_of(self._given, 1).reading(Progress(self._core.epoch)))
        self._board.lanes = self._own_lanes

    def _take(self, loaded: Loaded, slot: int = 0) -> None:
        """Leaves out the rows that failed in a state, and with `lanes="auto"`, reads with its lanes."""
        if self._is_auto:
            self._use(loaded.given, loaded.not_by_lane)
        self._add_failed(loaded.failed, slot)

    def _reading(self, workers: int) -> Reading:
        """The reading of the rest of the epoch, for this number of workers."""
        return self._group(workers).reading(self._progress())

    def _length(self, workers: int) -> int:
        """How many batches the next pass has on this rank."""
        return self._reading(workers).num_steps(self.rank)

    def _expect_steps(self, workers: int) -> Count:
        """Begins the count of the batches that a loop gets in the next pass, with this number of loader workers."""
        length = self._length(workers)
        # Warns before there are workers, whose warnings may not be shown.
        self._warn_of_lanes(max(1, workers))
        self._board.tell(self._core, workers)
        return self._expect(0, 1, length, length)

    def _progress(self) -> Progress:
        """The place at which the next pass begins."""
        return self._board.progress() if place.is_worker() else self._upcoming()

    def _is_unread(self) -> bool:
        return super()._is_unread() and not self._board.workers

    def _note(self) -> None:
        # Does nothing: workers make passes too, so the board that all processes share records the passes.
        pass

    def _moved(self) -> None:
        super()._moved()
        self._board.forget_read()

    def _read_anew(self) -> None:
        super()._read_anew()
        self._board.forget_read()

    def _parsed(self, state: Any, slot: int = 0) -> Loaded:
        """The parts of a state of this dataset. Any other state is an error.

        `slot` is that of the board to which `_take` will write the rows that failed.
        """
        text = check.state(text_of(state))
        if READER in state:
            allowed = "what state_dict gave in the main process, for all readers"
            raise WrongTypeError("state", "that of one loader worker", allowed)
        self._follow()
        # The lanes of a state win over the choice. An order with other lanes is made here, once for each state.
        given, not_by_lane = self._with_lanes(of_state(text) if self._is_auto else None)
        found = self._group_of(given, 1).resumed(text)
        check.integer("epoch", found.epoch, _EPOCHS)
        return Loaded(found, given, not_by_lane, self._failed_in(state, slot))

    def _go_on(self, core: Progress, state: Any) -> None:
        loaded = self._parsed(state)
        self._take(loaded)
        found = loaded.progress
        core.epoch, core.state, core.is_rest = found.epoch, found.state, found.is_rest

    def _opening(self) -> Start:
        return Opening(self, copy.copy(self._upcoming()), max(1, self._board.workers))

    def _current(self) -> Progress:
        self._find_rank()
        return self._core

    def _made(self, epoch: int) -> Progress:
        return Progress(epoch)

    @staticmethod
    def _is_rest(core: Progress) -> bool:
        return core.is_rest

    def _is_empty(self, core: Progress) -> bool:
        return self._group(1).reading(core).steps.max == 0

    @property
    def _is_shuffled(self) -> bool:
        """Whether epochs differ."""
        if self.deal == "samples":
            return bool(self._order["name"] != "sequential")
        return any(self._order[name] for name in ("shuffle", "shuffle_rows", "reshuffle"))

    def _warn(self, workers: int) -> None:
        """Warns of mistakes that give no error, once for each of them."""
        if self._board.last_read == self.epoch and self._is_shuffled and self._board.is_first_of_epochs():
            warn(self._repetition(), EpochWarning)
        self._warn_of_steps(workers)
        self._warn_of_lanes(workers)

    def _warn_of_lanes(self, workers: int) -> None:
        """Warns of lanes that cost much or mix badly, once for each reason. Only rank 0 warns, if there are lanes."""
        if self.rank != 0:
            return
        reading = self._reading(workers)
        if "lanes" in base_of(self._order):
            self._warn_of_shared_lanes(reading, workers)
        if "lanes" in self._order:
            self._warn_of_groups(reading, workers)
            self._warn_of_mixing(reading, workers)

    def _warn_of_shared_lanes(self, reading: Reading, workers: int) -> None:
        """Warns once if several readers decode the same rows."""
        reads = reading.reads_per_row
        if reads == 1 or not self._board.is_first_of_lanes():
            return
        readers, fits = self.world_size * workers, reading.lanes_read_once
        advice = "" if fits is None else f"; lanes={fits} would be read once"
        if self._is_auto and advice:
            advice = f"; in a new run with max_readers={readers} or lanes={fits}, each row is read once"
        several = f"{readers} readers ({self.world_size} ranks x {workers} workers)"
        if reads == readers and self._not_by_lane:
            several += " read all lanes of every source, so that"
            advice = f"; by_lane=True was not possible: {self._not_by_lane}"
        elif fits is None and reads == readers:
            several += " read all lanes, so that"
        else:
            several += f" do not divide {base_of(self._order)['lanes']} lanes, so that"
        told = f"{several} each row, though given once, is read and decoded by {reads} of them{advice}"
        warn(told, LanesWarning)

    def _warn_of_groups(self, reading: Reading, workers: int) -> None:
        """Warns once if a reader decodes much of a row group to reach the rows of its lanes in it."""
        readers, lanes, samples = self.world_size * workers, self._order["lanes"], self.shards.samples
        found = costliest(self.shards, lanes // math.gcd(readers, lanes))
        if found is None or not self._board.is_first_of_groups():
            return
        fits = samples // found.rows // readers * readers
        advice = f", or lanes={fits}" if fits else ""
        told = (
            f"{found.path} has a row group of {found.rows:,} rows, in which several of {lanes} lanes lie: each of "
            f"{readers} readers ({self.world_size} ranks x {workers} workers) decodes about {found.bytes / 1e9:.1f} GB "
            f"of it before its first batch; row groups of at most {max(1, samples // lanes):,} rows{advice} cost less"
        )
        warn(told, LanesWarning)

    def _warn_of_mixing(self, reading: Reading, workers: int) -> None:
        """Warns once if batches come from so few lanes that they vary more than twice as much as by chance."""
        advice = reading.mixing_advice
        # The choice of `lanes="auto"` was told, with what limits it.
        if self._is_auto or advice is None or not self._board.is_first_of_mixing():
            return
        own = advice.lanes_per_reader
        lanes_each = f"{own} {'lane' if own == 1 else 'lanes'}"
        places = f"{own} {'place' if own == 1 else 'places'}"
        readers, lanes = self.world_size * workers, self._order["lanes"]
        told = (
            f"{readers} readers of {lanes} lanes have {lanes_each} each: the rows of a batch of {self.batch_size} are"
            f" from {places} in the files, and vary about {advice.variance_ratio} times as much as chance;"
            f" lanes={advice.lanes}, shuffle_window={advice.shuffle_window} mix better,"
            " with as many rows in memory and more open files"
        )
        warn(told, LanesWarning)

    def _warn_of_steps(self, workers: int) -> None:
        """Warns once, before the first pass or as it begins, if ranks differ in steps or readers have no rows."""
        own, whole = self._group(workers), Progress(self._progress().epoch)
        reading = own.reading(whole)
        (least, most), idle = reading.steps, reading.num_idle_readers
        if (least == most and not idle) or self.rank != 0 or not self._board.is_first_of_steps():
            return
        each = "rows" if self.batch_size is None else "batches"
        readers = own.world_size * own.workers
        told = f"{own.world_size} ranks have {least} to {most} {each} of an epoch" if least < most else ""
        if idle:
            told += (" and " if told else "") + (
                f"{idle} of {readers} readers ({own.world_size} ranks x {own.workers} workers) have no {each}: "
                f"there are {self.shards.samples:,} rows in {len(self.shards)} files"
            )
        if least < most:
            told += (
                "; ranks that wait for one another at each step hang where the first one ends: read no more than "
                "dataset.steps(num_workers).min on every rank, or use "
            )
            told += 'remainder="pad"' if self.deal == "samples" else 'deal="samples"'
        warn(told, StepsWarning)
