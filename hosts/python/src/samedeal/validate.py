"""Checks a real run: whether its ranks and loader workers together read every sample as often as they should.

    torchrun --nproc-per-node 4 -m samedeal.validate DIR --workers 2

Every rank reads the Parquet files of DIR through `samedeal.torch.ShardedDataset` and a `DataLoader`. The ranks
exchange the results with `torch.distributed`. The exit code is 0 if every sample comes as often as it should and ranks
take as many steps as they should. Otherwise, it is 1 on every rank. It is 2 if the check could not be made.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from . import SamedealError, Sampler, detect_rank
from .torch import ShardedDataset, StepsWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How many samples have their reads counted at a time. Each of them takes 16 bytes on every rank: the number of its
# reads, and the number that is expected.
BLOCK = 1 << 22
# The most wrong samples that the report names; it gives the number of the others.
SHOWN = 10
COLUMN = "__sample__"


@dataclass
class Findings:
    """Samples that are not read as often as they should be."""

    more: int = 0
    less: int = 0
    again: int = 0
    left_out: int = 0
    cut: int = 0
    named: list[tuple[int, int, int]] = field(default_factory=list)
    """Some of these samples: the sample, how often it should be read, and how often it was."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        place = detect_rank()
    except SamedealError as error:
        print(f"samedeal.validate: {error}", file=sys.stderr)
        return 2
    for warning in place.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if place.world_size in (1, place.local_world_size):
        # All ranks are on this machine.
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        # One process listens at a port that the system chooses; several must agree on one.
        os.environ.setdefault("MASTER_PORT", "0" if place.world_size == 1 else "29511")
    try:
        dist.init_process_group("gloo", rank=place.rank, world_size=place.world_size)
    except (ValueError, RuntimeError) as error:
        print(f"samedeal.validate: the ranks do not find each other: {error}", file=sys.stderr)
        return 2
    try:
        dataset = make_everywhere(options)
        if dataset is None:
            return 2
        # Every rank comes to the same result, so that no rank waits for another one.
        return max(check_epoch(dataset, epoch, options) for epoch in range(options.epochs))
    finally:
        dist.destroy_process_group()


def parser() -> argparse.ArgumentParser:
    """The parser of the command's arguments."""

    def at_least(least: int) -> Any:
        def number(text: str) -> int:
            value = int(text)
            if value < least:
                raise argparse.ArgumentTypeError(f"{value}; allowed: {least} or more")
            return value

        return number

    found = argparse.ArgumentParser(
        prog="python -m samedeal.validate",
        description="Reads Parquet files on every rank and worker of a run, and checks that together they read every "
        "sample as often as they should.",
        epilog="example: torchrun --nproc-per-node 4 -m samedeal.validate data/ --workers 2 --deal shards   (without a "
        "launcher there is one rank). Exit code: 0 if all is well, 1 if samples or steps are wrong, 2 if that could "
        "not be found out.",
    )
    add = found.add_argument
    add("paths", nargs="+", metavar="DIR", help="Parquet files, or directories that hold some")
    add("--deal", choices=["samples", "shards"], default="samples", help="what is dealt (default: samples)")
    add("--workers", type=at_least(0), default=0, metavar="N", help="loader workers of each rank (default: 0)")
    add("--epochs", type=at_least(1), default=2, metavar="N", help="how many epochs to read (default: 2)")
    add("--batch-size", type=at_least(1), default=1024, metavar="N", help="rows in a batch (default: 1024)")
    add("--drop-last", action="store_true", help="leave out last batches that are shorter")
    add("--seed", type=int, default=0, help="seed of the shuffles (default: 0)")
    add("--lanes", type=int, metavar="L", help="with --deal samples: lanes (default: 64)")
    add("--shuffle-window", type=int, metavar="W", help="with --deal samples: rows shuffled together (default: 256)")
    add("--remainder", choices=["pad", "drop", "uneven"], help="with --deal samples (default: pad)")
    add("--policy", choices=["size-aware", "round-robin"], help="with --deal shards, for ranks and for workers")
    add("--no-shuffle", action="store_true", help="rows in the order of the files")
    add("--start-method", choices=["fork", "spawn", "forkserver"], help="how workers start (default: the platform's)")
    return found


def make_everywhere(options: argparse.Namespace) -> ShardedDataset | None:
    """The dataset as this rank reads it, if every rank could make one. Otherwise prints the failures."""
    failure = None
    try:
        dataset = make_dataset(options)
    except (SamedealError, OSError) as error:
        failure = _in_short(error)
    return None if _is_told(failure) else dataset


def _is_told(mine: str | None) -> bool:
    """Whether any rank failed. Rank 0 prints the failures, a line for each."""
    failures: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(failures, mine)
    for rank, told in enumerate(failures):
        if told is not None and dist.get_rank() == 0:
            print(f"samedeal.validate: rank {rank}: {told}", file=sys.stderr)
    return any(told is not None for told in failures)


def _in_short(error: Exception) -> str:
    """The failure in one line, without the traceback that a worker of a loader puts before it."""
    text = str(error)
    if "Original Traceback" in text:
        text = re.split(r"^[\w.]*(?:Error|Exception): ", text, flags=re.MULTILINE)[-1]
    return " ".join(text.split())


def make_dataset(options: argparse.Namespace) -> ShardedDataset:
    """The dataset as this rank reads it."""
    with warnings.catch_warnings():
        # The report itself warns of different numbers of steps.
        warnings.simplefilter("ignore", StepsWarning)
        return _dataset(options)


def _dataset(options: argparse.Namespace) -> ShardedDataset:
    return ShardedDataset(
        options.paths,
        batch_size=options.batch_size,
        drop_last=options.drop_last,
        deal=options.deal,
        seed=options.seed,
        lanes=options.lanes,
        shuffle_window=options.shuffle_window,
        remainder=options.remainder,
        policy=options.policy,
        worker_policy=options.policy,
        shuffle=False if options.no_shuffle else None,
        sample_column=COLUMN,
        transform=_samples_of,
    )


def check_epoch(dataset: ShardedDataset, epoch: int, options: argparse.Namespace) -> int:
    """Reads an epoch, and compares what all ranks have read. Returns the exit code."""
    dataset.set_epoch(epoch)
    workers = options.workers
    context = options.start_method if workers else None
    loader: DataLoader[Any] = DataLoader(dataset, batch_size=None, num_workers=workers, multiprocessing_context=context)
    steps, parts, failure = 0, [np.empty(0, np.int64)], None
    try:
        for batch in loader:
            steps += 1
            parts.append(np.asarray(batch))
    except (SamedealError, OSError, RuntimeError) as error:
        failure = _in_short(error)
    if _is_told(failure):
        return 2
    samples = np.sort(np.concatenate(parts))

    rows: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(rows, (len(samples), steps))
    findings = compare(samples, dataset, max(1, workers), options.drop_last)
    promised = dataset.steps(workers)
    found = [steps for _, steps in rows]
    kept = (min(found), max(found)) == (promised.min, promised.max)
    if dist.get_rank() == 0:
        report(dataset, epoch, max(1, workers), rows, findings)
        if not kept:
            print(f"WRONG: ranks take {min(found)} to {max(found)} steps, and should take {promised}")
    return 0 if kept and not findings.more and not findings.less else 1


def compare(samples: NDArray[np.int64], dataset: ShardedDataset, workers: int, drop_last: bool = False) -> Findings:
    """The samples that all ranks together have not read as often as they should, the same on every rank."""
    total = dataset.shards.samples
    again, left_out = _exceptions(dataset, workers)
    findings = Findings(again=len(again), left_out=len(left_out))
    for start in range(0, total, BLOCK):
        end = min(start + BLOCK, total)
        mine = samples[np.searchsorted(samples, start) : np.searchsorted(samples, end)]
        counted = torch.from_numpy(np.bincount(mine - start, minlength=end - start))
        dist.all_reduce(counted)
        counts = counted.numpy()
        expected = np.ones(end - start, np.int64)
        np.add.at(expected, again[(again >= start) & (again < end)] - start, 1)
        expected[left_out[(left_out >= start) & (left_out < end)] - start] = 0
        # Samples that are in no full batch are dropped. Only reading shows which samples these are.
        less = counts < expected
        if drop_last:
            findings.cut += int(less.sum())
            less[:] = False
        more = counts > expected
        findings.more += int(more.sum())
        findings.less += int(less.sum())
        for offset in np.flatnonzero(more | less)[: SHOWN - len(findings.named)].tolist():
            findings.named.append((start + offset, int(expected[offset]), int(counts[offset])))
    return findings


def report(dataset: ShardedDataset, epoch: int, workers: int, rows: list[tuple[int, int]], findings: Findings) -> None:
    """Prints what was read, and what is wrong with it."""
    print(
        f"epoch {epoch}: {dataset.shards.samples:,} samples in {len(dataset.shards)} shards, {workers} readers a rank"
    )
    print(f"{'rank':>6} {'samples':>14} {'steps':>10}")
    for rank, (samples, steps) in enumerate(rows):
        print(f"{rank:>6} {samples:>14,} {steps:>10,}")
    if len({steps for _, steps in rows}) > 1:
        print("warning: ranks end at different steps; training would wait for ever: see --deal samples, --remainder")
    if not findings.more and not findings.less:
        print(
            f"every sample was read as often as it should be; {findings.again:,} were to be repeated, "
            f"{findings.left_out:,} to be left out, {findings.cut:,} are in no full batch"
        )
        return
    print(f"WRONG: {findings.more:,} samples read too often, {findings.less:,} not often enough")
    ends = np.cumsum(dataset.shards.sizes)
    for sample, expected, found in findings.named:
        shard = int(np.searchsorted(ends, sample, side="right"))
        row = sample - int(ends[shard] - dataset.shards.sizes[shard])
        path = dataset.shards.paths[shard]
        print(f"  sample {sample} ({path}, row {row}): read {found} times, {expected} expected")
    if findings.more + findings.less > len(findings.named):
        print(f"  and {findings.more + findings.less - len(findings.named):,} more")


def _exceptions(dataset: ShardedDataset, workers: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples that are to be read again, listed once for each time, and samples that no reader is to read."""
    if dataset.deal == "shards":
        return np.empty(0, np.int64), np.empty(0, np.int64)
    sampler = dataset.sampler(0, workers)
    total, dealt = dataset.shards.samples, sampler.num_positions
    again = [sampler.sample_at(position) for position in range(total, dealt)]
    # A sampler of the order alone: its only reader gets all positions, also those that this deal drops.
    order = json.loads(sampler.recipe)["order"]
    # The order "sequential" has no shards.
    lists = None if sampler.sizes is None else {"sizes": sampler.sizes}
    whole = Sampler.from_recipe({"order": order}, lists=lists, epoch=sampler.epoch)
    left_out = [whole.sample_at(position) for position in range(dealt, total)]
    return np.array(again, np.int64), np.array(left_out, np.int64)


def _samples_of(batch: Any) -> NDArray[np.int64]:
    # A copy, because the loader may make a tensor of the array.
    return np.array(batch.column(COLUMN).to_numpy())


if __name__ == "__main__":
    sys.exit(main())
