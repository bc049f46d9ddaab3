"""Samplers under PyTorch's DataLoader, and their resume: samedeal's, torch's and torchdata's, and Grain's pipeline."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from process import done, memory, reset_peak

BATCH = 32


def resume_feistel(samples: int, world_size: int, epoch: int) -> float:
    """Seconds from a state at 90 % of an epoch to the next index, in a process that has used samplers before."""
    return resume(samples, world_size, epoch, "feistel")


def resume_sampler(samples: int, world_size: int, epoch: int) -> float:
    """Seconds from a state at 90 % of an epoch to the first batch of a `samedeal.Sampler`: the minimum of several
    resumes."""
    from samedeal import Sampler

    state = Sampler(samples, world_size=world_size, epoch=epoch).state(samples // world_size * 9 // 10)

    def resumed() -> float:
        began = perf_counter()
        sampler = Sampler(samples, world_size=world_size)
        sampler.resume(state)
        return done(began, (sampler, next(iter(sampler.batches(BATCH)))))

    return min(resumed() for _ in range(9))


def resume_order_torch(samples: int, world_size: int, epoch: int) -> float:
    """Seconds of a resume in torch's order, whose table must be made again."""
    return resume(samples, world_size, epoch, "torch")


def resume(samples: int, world_size: int, epoch: int, order: str) -> float:
    """Seconds of a resume in any order."""
    from samedeal.torch import DistributedSampler

    def made(count: int) -> Any:
        return DistributedSampler(range(count), world_size, 0, order=order)

    next(iter(made(1000)))
    before = made(samples)
    before.set_epoch(epoch)
    state = before.state_dict(samples // world_size * 9 // 10)
    del before
    began = perf_counter()
    sampler = made(samples)
    sampler.load_state_dict(state)
    index = next(iter(sampler))
    return done(began, (sampler, index))


def resume_torchdata(samples: int, world_size: int, epoch: int) -> float:
    """Seconds of a resume of torchdata's sampler."""
    from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

    def made(count: int) -> Any:
        return StatefulDistributedSampler(range(count), world_size, 0)

    next(iter(made(1000)))
    state = {"yielded": samples // world_size * 9 // 10}
    began = perf_counter()
    sampler = made(samples)
    sampler.set_epoch(epoch)
    sampler.load_state_dict(state)
    index = next(iter(sampler))
    return done(began, (sampler, index))


def resume_grain(samples: int, world_size: int, epoch: int) -> float:
    """Seconds of a resume of Grain's pipeline."""

    def made(count: int) -> Any:
        return grain_of(count, world_size, epoch)

    next(grain_iterator(made(1000)))
    began = perf_counter()
    iterator = grain_iterator(made(samples))
    # Grain has no method that makes a state. This is its own state after as many samples.
    iterator.set_state(iterator.get_state() | {"next_index": samples // world_size * 9 // 10})
    index = next(iterator)
    return done(began, (iterator, index))


def grain_of(samples: int, world_size: int, epoch: int) -> Any:
    """The shuffled numbers of rank 0, as Grain's documentation makes them."""
    logging.getLogger("absl").setLevel(logging.ERROR)  # grain logs a warning about a missing jax
    import grain

    return grain.MapDataset.range(samples).seed(epoch).shuffle()[0::world_size]


def grain_iterator(dataset: Any) -> Any:
    """An iterator in the cheapest form: threads that read ahead would only cost time here."""
    import grain

    return iter(dataset.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)))


class Numbers:
    """A dataset whose samples take no time."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitems__(self, indices: list[int]) -> list[int]:
        return indices


BLOCK = 64
"""Number of passes that are timed together, because a sampler may prepare several passes in one of them."""


def passes(samples: int, world_size: int, epoch: int, count: int) -> tuple[float, float, float]:
    """Seconds of a pass of a DataLoader over a dataset without cost, in turns: torch's sampler, samedeal's, and
    samedeal's with feistel.

    The result is the 10th percentile of the means of blocks, over `count` passes, each of the next epoch.
    """
    import torch.utils.data

    data = Numbers(samples)
    samplers = three_samplers(data, world_size)
    loaders = [torch.utils.data.DataLoader(data, BATCH, sampler=one, collate_fn=list) for one in samplers]
    return in_turns(samplers, loaders, epoch, count)


def lists(samples: int, world_size: int, epoch: int, count: int) -> tuple[float, float, float]:
    """Seconds of a pass as `list(sampler)`, without a loader: three times as in `passes`."""
    samplers = three_samplers(Numbers(samples), world_size)
    return in_turns(samplers, samplers, epoch, count)


def three_samplers(data: Any, world_size: int) -> list[Any]:
    """torch's sampler, samedeal's in torch's order, and samedeal's in the order feistel."""
    import torch.utils.data
    from samedeal.torch import DistributedSampler

    return [
        torch.utils.data.DistributedSampler(data, world_size, 0),
        DistributedSampler(data, world_size, 0),
        DistributedSampler(data, world_size, 0, order="feistel"),
    ]


def in_turns(samplers: list[Any], sources: list[Any], epoch: int, count: int) -> tuple[float, float, float]:
    """Seconds of a pass over each source, in turns. Each source is equally often the first."""
    block = min(BLOCK, count)
    means: list[list[float]] = [[], [], []]
    # The first block is a warm-up that does not count.
    for begin in range(-block, count - block + 1, block):
        times = [0.0, 0.0, 0.0]
        for number in range(begin, begin + block):
            for turn in range(3):
                which = (number + turn) % 3
                began = perf_counter()
                samplers[which].set_epoch(epoch * count + number + block)
                list(sources[which])
                times[which] += perf_counter() - began
        if begin >= 0:
            for found, time in zip(means, times, strict=True):
                found.append(time / block)
    theirs, ours, feistel = (sorted(found)[len(found) // 10] for found in means)
    return theirs, ours, feistel


def pass_grain(samples: int, world_size: int, epoch: int) -> float:
    """Seconds of a pass over Grain's batches. Grain makes them itself, without a DataLoader."""
    for _ in grain_iterator(grain_of(1000, world_size, epoch).batch(BATCH)):
        pass
    began = perf_counter()
    for _ in grain_iterator(grain_of(samples, world_size, epoch).batch(BATCH)):
        pass
    return perf_counter() - began


def first_batch_grain(samples: int, world_size: int, epoch: int) -> tuple[float, float]:
    """Seconds to Grain's first batch, and the peak memory until then, beyond that of the imports."""
    # A first batch, for the imports.
    grain_of(BATCH, 1, epoch)
    before = reset_peak()
    began = perf_counter()
    batch = next(grain_iterator(grain_of(samples, world_size, epoch).batch(BATCH)))
    return done(began, batch), memory("VmHWM") - before


def first_batch_loader(samples: int, world_size: int, epoch: int) -> tuple[float, float]:
    """Seconds to the first batch of a DataLoader with feistel, and the peak memory until then, beyond that of the
    imports."""
    from samedeal.torch import DistributedSampler

    return first(lambda data: DistributedSampler(data, world_size, 0, order="feistel"), samples, epoch)


def first_batch_loader_torch(samples: int, world_size: int, epoch: int) -> tuple[float, float]:
    """Seconds and memory to the first batch, with torch's sampler."""
    from torch.utils.data import DistributedSampler

    return first(lambda data: DistributedSampler(data, world_size, 0), samples, epoch)


def first(make: Callable[[Any], Any], samples: int, epoch: int) -> tuple[float, float]:
    """Seconds and memory to the first batch, with any sampler."""
    from torch.utils.data import DataLoader

    data = Numbers(samples)
    # A first batch of a loader, for its imports and setup.
    next(iter(DataLoader(Numbers(BATCH), BATCH, collate_fn=list)))
    before = reset_peak()
    began = perf_counter()
    sampler = make(data)
    sampler.set_epoch(epoch)
    batch = next(iter(DataLoader(data, BATCH, sampler=sampler, collate_fn=list)))
    return done(began, batch), memory("VmHWM") - before


def verify_ranks(ranks: int, epochs: int) -> float:
    """Seconds for an epoch that ranks need to compare what they will read, in processes of gloo."""
    script = Path(__file__).with_name("agreement.py")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    # One thread for each rank, as the launcher would choose with a warning.
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    job = subprocess.run([*launcher, script, str(epochs)], stdout=subprocess.PIPE, text=True, check=True, env=one)
    return float(job.stdout)


def main() -> None:
    """Prints how many times faster than torch's sampler samedeal's is in short passes, and the time of a resume."""
    print("| pass, W = 8 | torch | its order | feistel |")
    print("|---|---|---|---|")
    for what in (passes, lists):
        for samples, count in ((100, 1_280), (1_000, 640), (10_000, 192)):
            theirs, *ours = what(samples, 8, 0, count)
            ratios = " | ".join(f"{theirs / own:.2f} x" for own in ours)
            title = "DataLoader" if what is passes else "list"
            print(f"| {title}, N = {samples:,} | {theirs * 1e6:.0f} us | {ratios} |", flush=True)
    print("\n| resume at 90 % of N = 10^8, W = 8 | least of several |")
    print("|---|---|")
    for title, resume_one in (
        ("Sampler, to the first batch", resume_sampler),
        ("DistributedSampler, feistel, to the first index", resume_feistel),
        ("Grain, to the first index", resume_grain),
    ):
        print(f"| {title} | {min(resume_one(10**8, 8, 1) for _ in range(20)) * 1e6:.0f} us |", flush=True)


if __name__ == "__main__":
    main()
