"""Blends of samedeal side by side with blends of Megatron and of Grain, each made by its own code, in one run.

    cargo xtask bench --only blending
    target/venv-peers/bin/python tests/bench/blending.py [--smoke]

Every figure in the table is the median of its runs. Megatron's code is `build_blending_indices` of megatron-core, the
compiled function that its `BlendedDataset` calls; Grain's is `MapDataset.mix`.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.metadata
import importlib.util
import logging
import os
import platform
import random
import re
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import samedeal
from numpy.typing import NDArray
from samedeal import Order, Sampler

Answer = Callable[[], float]


class Row(NamedTuple):
    """A line of the table: the values of samedeal and of others in each run, and the target for samedeal."""

    title: str
    unit: str
    ours: list[float]
    theirs: dict[str, list[float]]
    must: str


def weights_of(count: int, most: int = 100) -> list[int]:
    """Random weights from a fixed seed, so that they are equal in every run."""
    numbers = random.Random(count)
    return [numbers.randint(1, most) for _ in range(count)]


def blend(count: int, samples: int, size: int, weights: list[int] | None = None, *, exact: bool = False) -> Order:
    """A blend of sources of equal size."""
    weights = weights or weights_of(count)
    sources = {f"source {number}": (samples, weight) for number, weight in enumerate(weights)}
    return samedeal.blend(sources, samples=size, exact=exact)


def megatron() -> Any:
    """The compiled part of megatron-core, loaded alone: the package around it imports everything that training
    needs."""
    distribution = importlib.metadata.distribution("megatron-core")
    file = next(
        file for file in distribution.files or () if file.name.startswith("helpers_cpp") and file.suffix == ".so"
    )
    loader = importlib.machinery.ExtensionFileLoader("helpers_cpp", str(file.locate()))
    spec = importlib.util.spec_from_loader("helpers_cpp", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def megatron_table(weights: list[int], size: int) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """The source of every sample, and its number in this source. Megatron always computes the whole table."""
    sources, samples = np.zeros(size, np.int16), np.zeros(size, np.int64)
    shares = np.array(weights, np.float64) / sum(weights)
    megatron().build_blending_indices(sources, samples, shares, len(weights), size, False)
    return sources, samples


def grain_mix(count: int, samples: int, weights: list[int] | None = None) -> Any:
    """A mix of shuffled sources that repeat, as Grain's documentation makes it."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    logging.getLogger("absl").setLevel(logging.ERROR)  # grain logs a warning about a missing jax
    import grain

    weights = weights or weights_of(count)
    sources = [grain.MapDataset.range(samples).seed(number).shuffle().repeat() for number in range(count)]
    return grain.MapDataset.mix(sources, weights)


def taken(answer: Answer, runs: int) -> list[float]:
    """The values of several runs."""
    return [answer() for _ in range(runs)]


def in_bulk(order: Order, count: int) -> Answer:
    """Nanoseconds for each position that one rank of 8 reads in bulk, after a first call."""
    sampler = Sampler(order=order, world_size=8)
    sampler.indices(0, 1)

    def answer() -> float:
        began = perf_counter()
        for start in range(0, count, 1 << 20):
            sampler.indices(start, min(start + (1 << 20), count))
        return (perf_counter() - began) / count * 1e9

    return answer


def one_by_one(made: Any, count: int, size: int) -> Answer:
    """Nanoseconds for each position that is read alone, at random places."""
    places = [random.Random(number).randrange(size) for number in range(count)]

    def answer() -> float:
        began = perf_counter()
        for place in places:
            made[place]
        return (perf_counter() - began) / count * 1e9

    return answer


def ready(count: int, samples: int) -> float:
    """Milliseconds from the constructor to the first sample. The component is compiled before, once in a process."""
    began = perf_counter()
    _ = Sampler(order=blend(count, samples, count * samples), world_size=8)[0]
    return (perf_counter() - began) * 1e3


def ready_megatron(count: int, size: int) -> float:
    """Milliseconds for the table of `size` samples."""
    weights = weights_of(count)
    began = perf_counter()
    megatron_table(weights, size)
    return (perf_counter() - began) * 1e3


def resumed(stages: int) -> float:
    """Milliseconds to resume on another world size, after `stages` changes of weights."""
    weights = weights_of(10)
    order = blend(10, 10**9, 10**10, weights)
    for number in range(stages):
        order = order.stage((number + 1) * 10**7, weights_of(10, number + 2))
    state = Sampler(order=order, world_size=8).state(10**9)
    longer = order.stage(9 * 10**9, weights)
    began = perf_counter()
    sampler = Sampler(order=longer, world_size=6)
    sampler.resume(state)
    _ = sampler[0]
    return (perf_counter() - began) * 1e3


def deviation(counts: NDArray[np.float64], places: NDArray[np.int64], weights: list[int]) -> float:
    """The largest deviation of the counts in prefixes from exact proportion, in samples."""
    exact = places[:, None] * (np.array(weights) / sum(weights))
    return float(np.abs(counts - exact).max())


def ours_off(weights: list[int], places: NDArray[np.int64]) -> tuple[float, float]:
    """The largest deviation in prefixes, and the bound for it."""
    sampler = Sampler(order=blend(len(weights), 1000, 2**52, weights))
    counts = np.array([sampler.source_counts(0, int(place))["count"] for place in places], np.float64)
    bound = float(np.max(np.asarray(sampler.source_bounds, np.float64))) / 1e6
    return deviation(counts, places, weights), bound


def counted(sources: NDArray[np.int64], places: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """The number of samples of each source in each prefix."""
    order = np.argsort(places, kind="stable")
    counts, last, out = np.zeros(count), 0, np.zeros((len(places), count))
    for row in order:
        counts += np.bincount(sources[last : places[row]], minlength=count)
        last = int(places[row])
        out[row] = counts
    return out


def off_of(sources: NDArray[np.int64], weights: list[int]) -> float:
    """The largest deviation of 1,000 prefixes of a list of sources."""
    places = np.random.default_rng(1).integers(1, len(sources), 1000)
    return deviation(counted(sources, places, len(weights)), places, weights)


def grain_sources(weights: list[int], size: int) -> NDArray[np.int64]:
    """The source of each sample of Grain's mix."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import grain

    sources = [grain.MapDataset.source([number]).repeat() for number in range(len(weights))]
    mixed = grain.MapDataset.mix(sources, weights)
    return np.array([mixed[place] for place in range(size)], np.int64)


def rows(smoke: bool) -> Iterator[Row]:
    """All lines of the table."""
    runs = 1 if smoke else 5
    many, few, table = (1 << 14, 50, 10**5) if smoke else (1 << 22, 20_000, 10**7)
    feistel = taken(in_bulk(samedeal.order("feistel", 10**11), many), runs)
    yield Row("feistel, in bulk, per position (to compare)", "ns", feistel, {}, "")
    for count, most in [(10, 60), (1000, 150)]:
        ours = taken(in_bulk(blend(count, 10**9, 10**11), many), runs)
        theirs = taken(lambda count=count: ready_megatron(count, table) / table * 1e6, runs)
        yield Row(
            f"blend of {count:,} sources, in bulk, per position", "ns", ours, {"Megatron": theirs}, f"<= {most} ns"
        )
        exact = taken(in_bulk(blend(count, 10**9, 10**11, exact=True), many), runs)
        yield Row(f"blend-exact of {count:,} sources, in bulk, per position", "ns", exact, {}, "")
    ours = taken(one_by_one(Sampler(order=blend(10, 10**9, 10**10)), few, 10**10), runs)
    theirs = taken(one_by_one(grain_mix(10, 10**9), few, 10**9), runs)
    yield Row("blend of 10 sources, one by one in Python", "ns", ours, {"Grain": theirs}, "")
    bulk = taken(in_bulk(blend(10, 10**9, 10**11), many), runs)
    yield Row("the same, ours in bulk", "ns", bulk, {"Grain": theirs}, ">= 20x")
    ours = taken(lambda: ready(100, 10**9), runs)
    theirs = taken(lambda: ready_megatron(100, table), runs)
    yield Row(
        f"ready, 100 sources of 10^9 (Megatron: {table:,} positions in all)",
        "ms",
        ours,
        {"Megatron": theirs},
        "<= 5 ms",
    )
    yield Row(
        "resumed in another world, weights changed 50 times", "ms", taken(lambda: resumed(50), runs), {}, "<= 1 ms"
    )
    for count in (2, 10, 1000):
        weights = weights_of(count, 10_000)
        places = np.random.default_rng(count).integers(1, 2**40, 100 if smoke else 10**4)
        own, bound = ours_off(weights, places)
        size = table // 10
        theirs = {"Megatron": [off_of(megatron_table(weights, size)[0].astype(np.int64), weights)]}
        theirs["Grain"] = [off_of(grain_sources(weights, min(size, 2_000 if smoke else 50_000)), weights)]
        yield Row(
            f"{count:,} sources: greatest deviation of a prefix, in samples", "", [own], theirs, f"<= {bound:.2f}"
        )
    many_out = np.sort(np.random.default_rng(3).choice(10**9, 10**4 if smoke else 10**6, replace=False, shuffle=False))
    began = perf_counter()
    excluded = samedeal.order("feistel", 10**9).exclude(many_out)
    answer = in_bulk(excluded, many)
    yield Row(f"without {len(many_out):,} of 10^9: ready", "ms", [(perf_counter() - began) * 1e3], {}, "")
    yield Row(f"without {len(many_out):,} of 10^9: in bulk, per index", "ns", taken(answer, runs), {}, "<= 200 ns")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="measure next to nothing, to see that everything works")
    options = parser.parse_args()
    versions = {
        name: importlib.metadata.version(name) for name in ("samedeal", "megatron-core", "grain", "numpy", "wasmtime")
    }
    # The first sampler compiles the component.
    _ = Sampler(order=blend(2, 10, 20))[0]
    print("| | ours | others | times | must |\n|---|---:|---:|---:|---:|")
    for row in rows(options.smoke):
        ours, theirs = median(row.ours), {name: median(values) for name, values in row.theirs.items()}
        others = ", ".join(f"{value:,.3g} {row.unit} ({name})".replace("  ", " ") for name, value in theirs.items())
        times = ", ".join(f"{value / ours:,.3g}x" for value in theirs.values() if row.unit)
        print(f"| {row.title} | {ours:,.3g} {row.unit} | {others} | {times} | {row.must} |")
        scale = {"ns": 1e-9, "ms": 1e-3, "": 1.0}[row.unit]
        for name, values in {"samedeal": row.ours, **row.theirs}.items():
            line = f"figure: blending.{slug(row.title)}.{slug(name)} {'s' if row.unit else 'ratio'}"
            print(line, *(value * scale for value in values), flush=True)
    print(f"versions: CPython {platform.python_version()}, {', '.join(map(' '.join, versions.items()))}")


def slug(title: str) -> str:
    """A title in the form that ids have."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


if __name__ == "__main__":
    main()
