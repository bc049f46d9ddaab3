"""The randomness of orders for the memory of a reader: the order `sharded` and a shuffle buffer of equal size.

    target/venv-torch/bin/python tests/bench/randomness.py target/demo/data --plot docs/concepts/sharded-order.svg

Both read the shards in the same shuffled order, each byte once. A shuffle buffer has a fixed number of samples, and
returns a random one for each that is added (tf.data, WebDataset, Hugging Face `datasets`). The figures, each a mean
over epochs:

displacement   mean distance between a sample's place in the row of shards and its place in the epoch, divided by
               that of a uniform shuffle (a third of the dataset); 1 is a uniform shuffle
neighbours     correlation of the stored places of samples that follow one another; 0 is a uniform shuffle
batch excess   variance of the batches' mean stored place, divided by that of a uniform shuffle: how similar the
               samples of a batch are; 1 is a uniform shuffle, the batch size is the worst value
same shard     pairs of samples of a batch that are from one shard, divided by that of a uniform shuffle
read           rows decoded for each row given: lanes begin within a row group, and decode it from its beginning
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import samedeal

KJV = Path(__file__).parent / "data" / "kjv-verses.json"
EPOCHS = 10
BATCH = 256
LANES = (1, 4, 16, 64, 256)
WINDOWS = (64, 256, 1024)


class Data(NamedTuple):
    """A dataset by its shape."""

    name: str
    sizes: np.ndarray
    sample_bytes: float
    """Bytes of a sample in memory, on average."""
    group: int
    """Rows of a row group."""


class Figures(NamedTuple):
    """Measures of the randomness of an order."""

    displacement: float
    neighbours: float
    excess: float
    same_shard: float


def main() -> None:
    """Prints the table, and draws the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder of Parquet files, beside the verses of the Bible")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the figures")
    parser.add_argument("--smoke", action="store_true", help="a few settings only, to see that it works")
    options = parser.parse_args()
    lanes, windows = ((1, 16), (64,)) if options.smoke else (LANES, WINDOWS)
    results = [(data, table(data, lanes, windows)) for data in (parquet(options.data), verses())]
    if options.plot:
        draw(results, options.plot)
        print(f"drawn: {options.plot}")


def parquet(folder: Path) -> Data:
    """The shape of real files."""
    files = sorted(folder.rglob("*.parquet"))
    footers = [pq.read_metadata(file) for file in files]
    sizes = np.array([footer.num_rows for footer in footers])
    memory = sum(pq.read_table(file).nbytes for file in files)
    name = "functions of Python's library" if folder.parts[-2:] == ("demo", "data") else folder.name
    return Data(name, sizes, memory / sizes.sum(), footers[0].row_group(0).num_rows)


def verses() -> Data:
    """The shape of a real corpus in very uneven parts."""
    sizes = np.array(json.loads(KJV.read_text())["sizes"])
    # A word is about five letters and a space, a verse 25 words.
    return Data("verses of the Bible", sizes, 150.0, int(sizes.max()))


def table(data: Data, lanes: tuple[int, ...], windows: tuple[int, ...]) -> list[tuple[str, int, Figures]]:
    """Prints a line for every setting, and one for the buffer that needs as much memory."""
    print(f"\n### {data.name}: {data.sizes.sum():,} samples in {len(data.sizes)} shards\n")
    heads = ["order", "held, samples", "of the dataset", "held, bytes", "read", "displacement", "neighbours"]
    heads += ["batch excess", "same shard"]
    print(f"| {' | '.join(heads)} |\n|---{'|---:' * (len(heads) - 1)}|")
    found = []
    for window in windows:
        for count in lanes:
            held = min(count * window, int(data.sizes.sum()))
            if found and count * window > 2 * data.sizes.sum():
                continue
            ours = mean([figures(*sharded(data, count, window, epoch), data) for epoch in range(EPOCHS)])
            theirs = mean([figures(*buffered(data, held, epoch), data) for epoch in range(EPOCHS)])
            line(f"sharded, L = {count}, w = {window}", held, decoded(data, count), ours, data)
            line("shuffle buffer", held, 1.0, theirs, data)
            found += [(f"sharded, w = {window}", held, ours), ("shuffle buffer", held, theirs)]
    whole = mean([figures(*uniform(data, epoch), data) for epoch in range(EPOCHS)])
    line("uniform shuffle", int(data.sizes.sum()), float("nan"), whole, data)
    return found


def line(name: str, held: int, read: float, figures: Figures, data: Data) -> None:
    """A line of the table."""
    share = held / data.sizes.sum()
    memory = held * data.sample_bytes / 1e6
    told = "random access" if np.isnan(read) else f"{read:.2f}x"
    print(
        f"| {name} | {held:,} | {share:.1%} | {memory:.1f} MB | {told} | {figures.displacement:.3f} | "
        f"{figures.neighbours:+.3f} | {figures.excess:.2f} | {figures.same_shard:.2f} |"
    )


def sharded(data: Data, lanes: int, window: int, epoch: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples of an epoch, and the sequence in which their shards are read."""
    sampler = samedeal.Sampler.sharded(data.sizes, lanes=lanes, shuffle_window=window, epoch=epoch)
    bases = np.concatenate(([0], np.cumsum(data.sizes)))
    # With one lane and windows of one sample, the order is this sequence.
    row = samedeal.Sampler.sharded(data.sizes, lanes=1, shuffle_window=1, epoch=epoch).indices()
    assert len(row) == bases[-1]
    return sampler.indices(), row


def buffered(data: Data, size: int, epoch: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples of an epoch from a shuffle buffer, and the sequence in which the shards are read."""
    row = samedeal.Sampler.sharded(data.sizes, lanes=1, shuffle_window=1, epoch=epoch).indices()

    def given() -> Iterator[int]:
        chance = random.Random(epoch)
        held = row[:size].tolist()
        for sample in row[size:].tolist():
            place = chance.randrange(size)
            held[place], sample = sample, held[place]
            yield sample
        chance.shuffle(held)
        yield from held

    return np.fromiter(given(), np.int64, len(row)), row


def uniform(data: Data, epoch: int) -> tuple[np.ndarray, np.ndarray]:
    """A uniform shuffle, with which both are compared."""
    row = samedeal.Sampler.sharded(data.sizes, lanes=1, shuffle_window=1, epoch=epoch).indices()
    return samedeal.Sampler(len(row), order="fisher-yates", epoch=epoch).indices(), row


def figures(order: np.ndarray, row: np.ndarray, data: Data) -> Figures:
    """The randomness of an order."""
    count = len(row)
    assert np.array_equal(np.sort(order), np.arange(count))
    stored = np.empty(count)
    stored[row] = np.arange(count)
    places = stored[order]
    displacement = np.abs(places - np.arange(count)).mean() / (count / 3)
    neighbours = np.corrcoef(places[:-1], places[1:])[0, 1]

    whole = places[: count // BATCH * BATCH].reshape(-1, BATCH)
    # Sampling is without replacement; the correction matters for small datasets.
    chance = places.var() / BATCH * (count - BATCH) / (count - 1)
    excess = whole.mean(axis=1).var() / chance

    shard = np.repeat(np.arange(len(data.sizes)), data.sizes)[order[: whole.size]].reshape(-1, BATCH)
    pairs = sum((np.unique(batch, return_counts=True)[1] ** 2).sum() - BATCH for batch in shard)
    together = pairs / (len(shard) * BATCH * (BATCH - 1))
    by_chance = (data.sizes * (data.sizes - 1.0)).sum() / (count * (count - 1.0))
    return Figures(float(displacement), float(neighbours), float(excess), float(together / by_chance))


def decoded(data: Data, lanes: int) -> float:
    """Rows decoded for each row given: a lane decodes its first row group from the start of the group."""
    count = int(data.sizes.sum())
    ends = np.cumsum(data.sizes)
    extra = 0
    for lane in range(1, lanes):
        begin = lane * (count // lanes) + min(lane, count % lanes)
        shard = int(np.searchsorted(ends, begin, side="right"))
        extra += int(begin - (ends[shard] - data.sizes[shard])) % data.group
    return 1 + extra / count


def mean(several: list[Figures]) -> Figures:
    """The mean over epochs."""
    return Figures(*np.mean(several, axis=0).tolist())


def draw(results: list[tuple[Data, list[tuple[str, int, Figures]]]], path: Path) -> None:
    """Draws how alike batches are against the memory, and two orders of equal memory."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "samedeal"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for panel, (data, found) in zip(axes[0], results, strict=True):
        for name in dict.fromkeys(name for name, _, _ in found):
            points = sorted(
                {(held / data.sizes.sum(), figures.excess) for other, held, figures in found if other == name}
            )
            style = {"color": "black", "marker": "x"} if name == "shuffle buffer" else {"marker": "o"}
            panel.plot([100 * x for x, _ in points], [y for _, y in points], label=name, **style)
        panel.axhline(1, color="gray", linewidth=0.8, linestyle=":")
        panel.set(xscale="log", yscale="log", title=data.name)
        panel.set(xlabel="samples held, % of the dataset", ylabel=f"batch excess (batches of {BATCH}; 1 = uniform)")
        panel.legend()
    data, _ = results[0]
    held = 16 * 64
    for panel, (name, (order, row)) in zip(
        axes[1],
        {
            f"shuffle buffer of {held:,}": buffered(data, held, 0),
            f"sharded, L = 16, w = 64 ({held:,} held)": sharded(data, 16, 64, 0),
        }.items(),
        strict=True,
    ):
        stored = np.empty(len(row))
        stored[row] = np.arange(len(row))
        panel.scatter(np.arange(len(row)), stored[order], s=0.3, linewidths=0, color="black", rasterized=True)
        panel.set(title=name, xlabel="position in the epoch", ylabel="place in the row of shards")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new.svg")
    figure.savefig(temporary, metadata={"Date": None}, dpi=110)
    temporary.rename(path)


if __name__ == "__main__":
    main()
