"""Checks a real run: whether its ranks and loader workers together read every sample as often as they should.

    torchrun --nproc-per-node 4 -m samedeal.validate DIR --workers 2

Every rank reads the Parquet files of DIR through `samedeal.torch.ShardedDataset` and a `DataLoader`; what they read is
gathered with `torch.distributed`. The exit code is 1 on every rank where a sample is read too often or not at all.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from . import SamedealError, Sampler, detect_rank
from .torch import ShardedDataset

# Samples whose readers are counted at a time: 8 bytes each on every rank.
BLOCK = 1 << 22
# Samples that are named; the others are counted.
SHOWN = 10
COLUMN = "__sample__"


@dataclass
class Finding:
    """Samples that are not read as often as they should be."""

    sample: int
    expected: int
    found: int


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code: 0 if all is well, 1 if not, 2 if it could not be checked."""
    options = parser().parse_args(arguments)
    try:
        place = detect_rank()
        dataset = make_dataset(options)
    except (SamedealError, OSError) as error:
        print(f"samedeal.validate: {error}", file=sys.stderr)
        return 2
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    dist.init_process_group("gloo", rank=place.rank, world_size=place.world)
    try:
        # Every rank says the same in the end, so that none waits for another.
        return max(check_epoch(dataset, epoch, options) for epoch in range(options.epochs))
    finally:
        dist.destroy_process_group()


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    found = argparse.ArgumentParser(
        prog="python -m samedeal.validate",
        description="Reads Parquet files on every rank and worker of a run, and checks that together they read every "
        "sample as often as they should.",
        epilog="example: torchrun --nproc-per-node 4 -m samedeal.validate data/ --workers 2 --deal shards",
    )
    add = found.add_argument
    add("paths", nargs="+", metavar="DIR", help="Parquet files, or directories that hold some")
    add("--deal", choices=["samples", "shards"], default="samples", help="what is dealt (default: samples)")
    add("--workers", type=int, default=0, metavar="N", help="loader workers of each rank (default: 0)")
    add("--epochs", type=int, default=2, metavar="N", help="how many epochs to read (default: 2)")
    add("--batch-size", type=int, default=1024, metavar="N", help="rows in a batch (default: 1024)")
    add("--seed", type=int, default=0, help="seed of the shuffles (default: 0)")
    add("--lanes", type=int, metavar="L", help="with --deal samples: lanes (default: 64)")
    add("--window", type=int, metavar="W", help="with --deal samples: rows shuffled together (default: 256)")
    add("--remainder", choices=["pad", "drop", "uneven"], help="with --deal samples (default: pad)")
    add("--policy", choices=["size-aware", "round-robin"], help="with --deal shards, for ranks and for workers")
    add("--no-shuffle", action="store_true", help="with --deal shards: in the order of the files")
    add("--start-method", choices=["fork", "spawn", "forkserver"], help="how workers start (default: the platform's)")
    return found


def make_dataset(options: argparse.Namespace) -> ShardedDataset:
    """The dataset as this rank reads it."""
    return ShardedDataset(
        options.paths,
        batch_size=options.batch_size,
        deal=options.deal,
        seed=options.seed,
        lanes=options.lanes,
        window=options.window,
        remainder=options.remainder,
        policy=options.policy,
        worker_policy=options.policy,
        shuffle=False if options.no_shuffle else None,
        sample_column=COLUMN,
        transform=_samples_of,
    )


def check_epoch(dataset: ShardedDataset, epoch: int, options: argparse.Namespace) -> int:
    """Reads an epoch and compares what all ranks have read; the exit code."""
    dataset.set_epoch(epoch)
    workers = options.workers
    context = options.start_method if workers else None
    loader: DataLoader[Any] = DataLoader(dataset, batch_size=None, num_workers=workers, multiprocessing_context=context)
    steps, parts = 0, [np.empty(0, np.int64)]
    for batch in loader:
        steps += 1
        parts.append(np.asarray(batch))
    samples = np.sort(np.concatenate(parts))

    rows: list[Any] = [None] * dataset.world
    dist.all_gather_object(rows, (len(samples), steps))
    findings = compare(samples, dataset, max(1, workers))
    if dist.get_rank() == 0:
        report(dataset, epoch, max(1, workers), rows, findings)
    return 1 if findings else 0


def compare(samples: np.ndarray[Any, np.dtype[np.int64]], dataset: ShardedDataset, workers: int) -> list[Finding]:
    """The samples that all ranks together have not read as often as they should, the same list on every rank."""
    total = dataset.shards.samples
    sampler = dataset.sampler(0, workers) if dataset.deal == "samples" else None
    found = []
    for start in range(0, total, BLOCK):
        end = min(start + BLOCK, total)
        mine = samples[np.searchsorted(samples, start) : np.searchsorted(samples, end)]
        counts = torch.from_numpy(np.bincount(mine - start, minlength=end - start))
        dist.all_reduce(counts)
        for offset in np.flatnonzero(counts.numpy() != 1).tolist():
            sample, count = start + offset, int(counts[offset])
            expected = 1 if sampler is None else _expected(sampler, sample)
            if count != expected:
                found.append(Finding(sample, expected, count))
    return found


def report(
    dataset: ShardedDataset, epoch: int, workers: int, rows: list[tuple[int, int]], findings: list[Finding]
) -> None:
    """Says what was read, and what is wrong with it."""
    print(
        f"epoch {epoch}: {dataset.shards.samples:,} samples in {len(dataset.shards)} shards, {workers} readers a rank"
    )
    print(f"{'rank':>6} {'samples':>14} {'steps':>10}")
    for rank, (samples, steps) in enumerate(rows):
        print(f"{rank:>6} {samples:>14,} {steps:>10,}")
    if len({steps for _, steps in rows}) > 1:
        print("warning: ranks end at different steps; training would wait for ever: see --deal samples, --remainder")
    missing = sum(finding.found < finding.expected for finding in findings)
    if not findings:
        print("every sample was read as often as it should be")
        return
    print(f"WRONG: {len(findings) - missing:,} samples read too often, {missing:,} not often enough")
    ends = np.cumsum(dataset.shards.sizes)
    for finding in findings[:SHOWN]:
        shard = int(np.searchsorted(ends, finding.sample, side="right"))
        row = finding.sample - int(ends[shard] - dataset.shards.sizes[shard])
        print(
            f"  sample {finding.sample} ({dataset.shards.paths[shard]}, row {row}): "
            f"read {finding.found} times, {finding.expected} expected"
        )
    if len(findings) > SHOWN:
        print(f"  and {len(findings) - SHOWN:,} more")


def _expected(sampler: Sampler, sample: int) -> int:
    place = sampler.locate(sample, 1)
    return 0 if place is None else 1 + place.copies


def _samples_of(batch: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    column: np.ndarray[Any, np.dtype[np.int64]] = batch.column(COLUMN).to_numpy()
    return column


if __name__ == "__main__":
    sys.exit(main())
