"""Batches of other libraries, each made by its own code, which is called as its documentation says.

A *maker* takes a `Task`, does the work that is needed once for a dataset, and returns two functions: `plan`, which is
timed, makes the batches of a rank in an epoch; `read`, which is not timed, reads the samples of these batches.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from figures import Batch, Memory
from numpy.typing import NDArray

Lengths = NDArray[np.uint32]


class Task(NamedTuple):
    """Lengths, and the memory and world size for which batches are made."""

    lengths: Lengths
    memory: Memory
    world_size: int


class Made(NamedTuple):
    """A peer that is ready to plan."""

    plan: Callable[[int, int], Any]
    """A function that returns the batches of a rank in an epoch."""
    read: Callable[[Any], list[Batch]]
    """A function that returns the samples of the batches that `plan` returned."""


def single(batches: list[Any]) -> list[Batch]:
    """Batches in which every sample has a row of its own."""
    return [[[sample] for sample in batch] for batch in batches]


def length_grouped(task: Task) -> Made:
    """transformers' LengthGroupedSampler. For several ranks, accelerate deals whole batches, as its Trainer does."""
    import torch
    from accelerate.data_loader import BatchSamplerShard
    from torch.utils.data import BatchSampler
    from transformers.trainer_pt_utils import LengthGroupedSampler

    lengths = task.lengths.tolist()

    def plan(rank: int, epoch: int) -> list[list[int]]:
        generator = torch.Generator().manual_seed(epoch)
        sampler = LengthGroupedSampler(task.memory.rows, lengths=lengths, generator=generator)
        batches = BatchSampler(sampler, task.memory.rows, drop_last=False)
        return list(batches if task.world_size == 1 else BatchSamplerShard(batches, task.world_size, rank))

    return Made(plan, single)


def distributed_length_grouped(task: Task) -> Made:
    """transformers' DistributedLengthGroupedSampler under a DataLoader's batches."""
    from torch.utils.data import BatchSampler
    from transformers.trainer_pt_utils import DistributedLengthGroupedSampler

    lengths = task.lengths.tolist()

    def plan(rank: int, epoch: int) -> list[list[int]]:
        sampler = DistributedLengthGroupedSampler(
            task.memory.rows, num_replicas=task.world_size, rank=rank, lengths=lengths
        )
        sampler.set_epoch(epoch)
        return list(BatchSampler(sampler, task.memory.rows, drop_last=False))

    return Made(plan, single)


def batch_rebalance(task: Task) -> Made:
    """transformers' BatchRebalanceSampler: the number of samples in a step is constant, the sizes of batches differ."""
    from transformers.trainer_pt_utils import BatchRebalanceSampler

    lengths = task.lengths.tolist()

    def plan(rank: int, epoch: int) -> list[list[int]]:
        sampler = BatchRebalanceSampler(
            lengths,
            task.memory.rows * task.world_size,
            dp_size=task.world_size,
            grad_accum=1,
            rank=rank,
            drop_last=False,
        )
        sampler.set_epoch(epoch)
        return list(sampler)

    return Made(plan, single)


def lhotse(buckets: int) -> Callable[[Task], Made]:
    """Lhotse's DynamicBucketingSampler over cuts. A cut has as many seconds as the sample has tokens."""

    def make(task: Task) -> Made:
        from lhotse import CutSet, MonoCut
        from lhotse.dataset import DynamicBucketingSampler

        # Warnings that the cuts are in memory, and that buckets are short.
        warnings.filterwarnings("ignore", module="lhotse")
        cuts = CutSet.from_cuts(
            MonoCut(id=str(sample), start=0.0, duration=float(length), channel=0)
            for sample, length in enumerate(task.lengths.tolist())
        )

        def plan(rank: int, epoch: int) -> list[CutSet]:
            sampler = DynamicBucketingSampler(
                cuts,
                max_duration=float(task.memory.tokens),
                num_buckets=buckets,
                shuffle=True,
                world_size=task.world_size,
                rank=rank,
            )
            sampler.set_epoch(epoch)
            return list(sampler)

        def read(batches: list[CutSet]) -> list[Batch]:
            # lhotse appends a word to the id of a cut that comes twice. The id begins with the number of the sample.
            return [[[int(cut.id.split("_")[0])] for cut in batch] for batch in batches]

        return Made(plan, read)

    return make


def seqpacker(task: Task) -> Made:
    """seqpacker as its documentation recommends it for speed. It does not know ranks, so torch deals its packs."""
    from seqpacker import Packer

    lengths = task.lengths.astype(np.int64)

    def plan(rank: int, epoch: int) -> list[list[NDArray[np.int64]]]:
        items, offsets = Packer(capacity=task.memory.length).pack_flat(lengths)
        return deal(np.split(items, offsets), task, rank, epoch)

    def read(batches: list[list[NDArray[np.int64]]]) -> list[Batch]:
        return [[row for row in batch if len(row)] for batch in batches]

    return Made(plan, read)


def trl(task: Task) -> Made:
    """TRL's pack_dataset, as SFTTrainer calls it, which also moves the tokens. It does not know ranks, so torch deals
    the packs."""
    import datasets
    import pyarrow as pa
    from trl import pack_dataset

    logging.getLogger("datasets").setLevel(logging.ERROR)
    datasets.disable_progress_bars()
    datasets.disable_caching()
    # Each token is the number of its sample.
    tokens = np.repeat(np.arange(len(task.lengths), dtype=np.int32), task.lengths)
    offsets = np.concatenate(([0], np.cumsum(task.lengths, dtype=np.int64))).astype(np.int32)
    column = pa.ListArray.from_arrays(pa.array(offsets), pa.array(tokens))
    dataset = datasets.Dataset(pa.table({"input_ids": column}))

    def plan(rank: int, epoch: int) -> tuple[Any, list[list[int]]]:
        packed = pack_dataset(dataset, seq_length=task.memory.length, strategy="bfd")
        return packed, deal(list(range(len(packed))), task, rank, epoch)

    def read(made: tuple[Any, list[list[int]]]) -> list[Batch]:
        packed, batches = made
        ids = packed.with_format("arrow")["input_ids"]
        ids = ids if isinstance(ids, pa.ChunkedArray) else packed.data.table["input_ids"]
        rows = [np.unique(row.values.to_numpy()) for row in ids]
        return [[rows[row] for row in batch] for batch in batches]

    return Made(plan, read)


def deal(rows: list[Any], task: Task, rank: int, epoch: int) -> list[list[Any]]:
    """Rows that torch deals to ranks, shuffled, in batches of as many rows as the memory has room for."""
    from torch.utils.data import BatchSampler, DistributedSampler

    sampler = DistributedSampler(range(len(rows)), num_replicas=task.world_size, rank=rank)
    sampler.set_epoch(epoch)
    return [[rows[row] for row in batch] for batch in BatchSampler(sampler, task.memory.rows, drop_last=False)]


GROUPED: dict[str, Callable[[Task], Made]] = {
    "transformers LengthGroupedSampler": length_grouped,
    "transformers DistributedLengthGroupedSampler": distributed_length_grouped,
    "transformers BatchRebalanceSampler": batch_rebalance,
}
BUCKETED: dict[str, Callable[[Task], Made]] = {
    "Lhotse DynamicBucketingSampler, 10 buckets": lhotse(10),
    "Lhotse DynamicBucketingSampler, 30 buckets": lhotse(30),
}
PACKED: dict[str, Callable[[Task], Made]] = {
    "seqpacker (obfd)": seqpacker,
    "TRL pack_dataset (bfd)": trl,
}
