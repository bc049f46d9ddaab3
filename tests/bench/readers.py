"""The mixing of the batches of many readers in the order `sharded`, on data that is sorted by label.

    target/venv/bin/python tests/bench/readers.py

A million rows in 100 files of 10,000 are sorted by 100 labels. Each of R readers (ranks x workers) takes batches of 32
of its own positions. The figures are means of three epochs:

labels   different labels in a batch; a uniform shuffle has 27.5
excess   variance of the mean stored place of a batch, divided by that of a uniform shuffle; 1 is a uniform shuffle,
         the batch size means batches of neighbours
held     rows in the memory of a reader: one window of each of its lanes
"""

from __future__ import annotations

import argparse

import numpy as np
import samedeal

BATCH = 32
LABELS = 100
EPOCHS = 3
READERS = (1, 8, 16, 32, 64)
# The default, and settings with more lanes and smaller windows for the same memory.
SETTINGS = ((64, 256), (256, 64), (512, 32), (1024, 16), (2048, 8))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="few rows, to see that it works")
    shards = 10 if parser.parse_args().smoke else 100
    sizes = np.full(shards, 10_000)
    print("| lanes | window | readers | lanes of a reader | held | labels | excess |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for lanes, window in SETTINGS:
        orders = [
            samedeal.Sampler.sharded(sizes, lanes=lanes, shuffle_window=window, epoch=epoch).indices()
            for epoch in range(EPOCHS)
        ]
        for readers in READERS:
            labels, excess = np.mean([mixed(order, readers) for order in orders], axis=0)
            own = lanes // readers
            print(f"| {lanes:,} | {window} | {readers} | {own} | {own * window:,} | {labels:.1f} | {excess:.1f} |")


def mixed(order: np.ndarray, readers: int) -> tuple[float, float]:
    """Mean number of labels in a batch, and the variance of batch means relative to chance, over all readers."""
    count = len(order)
    batches = np.concatenate([whole_batches(order[reader::readers]) for reader in range(readers)])
    found = np.sort(batches * LABELS // count, axis=1)
    labels = 1 + (np.diff(found, axis=1) > 0).sum(axis=1).mean()
    chance = (count**2 - 1) / 12 / BATCH
    return float(labels), float(((batches.mean(axis=1) - (count - 1) / 2) ** 2).mean() / chance)


def whole_batches(samples: np.ndarray) -> np.ndarray:
    """The whole batches of a reader."""
    return samples[: len(samples) // BATCH * BATCH].reshape(-1, BATCH)


if __name__ == "__main__":
    main()
