"""LanceDB's StreamingDataset and OLMo-core's loader beside samedeal, over the same data, in one run.

    cargo xtask bench --only streams
    target/venv-peers/bin/python tests/bench/streams.py [--smoke]

LanceDB streams a table of texts. samedeal reads the table in two ways: `files` is a `ShardedDataset` of its Lance
files; `rows` is a `DistributedSampler` over LanceDB's `Permutation`, which reads single rows, as the `StreamingDataset`
does. OLMo-core reads sequences from a file of tokens, and samedeal is a `DistributedSampler` over the same dataset.

Each program has a process of its own, and they take turns. Times are those of processors, of all threads together:
other work of the machine hardly changes them. Every value is of rank 0 of 8, and of new objects; imports and a first
batch of a small dataset come before. Then 8 ranks read a part of a small dataset and 6 ranks the rest: how many samples
are lost, and how many are repeated?
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import logging
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from process import memory, reset_peak
from torch.utils.data import DataLoader

RANKS, FEWER = 8, 6
BATCH = 32
ROUNDS = 5
SPLITS = 24
"""Splits of LanceDB: a multiple of both numbers of ranks."""
TOKENS = 4
"""Tokens of a sequence. There are few, because the loader is measured and not the copying of tokens."""
SMALL = 2_304


class Size(NamedTuple):
    """How much is measured."""

    rows: int
    sequences: int
    batches: int
    """Batches of a pass."""
    rounds: int


WHOLE = Size(400_000, 10**8, 300, ROUNDS)
SMOKE = Size(SMALL * 2, 10**5, 4, 1)


class Side:
    """A program that reads its rank's part of an epoch. A new one is at the beginning."""

    loader: Any

    def __init__(self, folder: Path, rank: int, ranks: int, batch: int = BATCH) -> None:
        self.folder, self.rank, self.ranks, self.batch = folder, rank, ranks, batch
        self.make()

    def make(self) -> None:
        """Makes the loader."""
        raise NotImplementedError

    def batches(self) -> Iterator[Any]:
        """The batches that are left."""
        return iter(self.loader)

    def load(self, states: list[Any]) -> None:
        """Resumes the states of all ranks; the one of rank 0 is enough for most programs."""
        self.loader.load_state_dict(states[0])

    def now(self) -> Any:
        """The state of this rank after the batches that were read."""
        return self.loader.state_dict()

    def at(self, batches: int) -> Any:
        """The state after as many batches of every rank."""
        raise NotImplementedError

    def seen(self, batch: Any) -> list[int]:
        """The numbers of the samples of a batch: a column, or the first token of a sequence of the small dataset."""
        return list((batch["id"] if "id" in batch else batch["input_ids"][:, 0]).tolist())


class Files(Side):
    """samedeal: a `ShardedDataset` of the files of the table."""

    def make(self) -> None:
        from samedeal.torch import Resumable, ShardedDataset, to_tensors

        place = {"rank": self.rank, "world_size": self.ranks, "batch_size": self.batch}
        data = ShardedDataset(self.folder / "texts.lance", transform=to_tensors, lanes=SPLITS, **place)
        self.loader = Resumable(DataLoader(data, batch_size=None))

    def at(self, batches: int) -> Any:
        return self.loader.sampler.state_dict(batches)


class Rows(Side):
    """samedeal: a `DistributedSampler` over single rows, which LanceDB reads."""

    def make(self) -> None:
        from samedeal.torch import DistributedSampler, Resumable

        data = self.data()
        sampler = DistributedSampler(data, self.ranks, self.rank, order="feistel")
        self.loader = Resumable(DataLoader(data, self.batch, sampler=sampler))

    def data(self) -> Any:
        """The dataset."""
        from lancedb.permutation import Permutation

        return Permutation.identity(table(self.folder))

    def at(self, batches: int) -> Any:
        return self.loader.sampler.state_dict(batches * self.batch)


class Sequences(Rows):
    """samedeal: a `DistributedSampler` over OLMo-core's dataset."""

    def data(self) -> Any:
        return sequences(self.folder)


class LanceDB(Side):
    """LanceDB's `StreamingDataset`, in the loader that its documentation recommends."""

    def make(self) -> None:
        from lancedb.streaming import StreamingDataLoader, StreamingDataset

        place = {"rank": self.rank, "world_size": self.ranks}
        self.data = StreamingDataset(table(self.folder), num_splits=SPLITS, shuffle_seed=0, **place)
        self.loader = StreamingDataLoader(self.data, batch_size=self.batch)

    def load(self, states: list[Any]) -> None:
        self.data.load_state_dict(self.data.merge_state_dicts(states))

    def now(self) -> Any:
        return self.data.state_dict()

    def at(self, batches: int) -> Any:
        taken = [batches * self.batch * self.ranks // SPLITS] * SPLITS
        counts = {"samples_consumed_per_split": taken, "positions_consumed_per_split": taken}
        return {"num_splits": SPLITS, "shuffle_seed": 0, "epoch": 0, **counts}


class OLMo(Side):
    """OLMo-core's `NumpyFSLDataLoader`. Its epochs begin with 1."""

    def make(self) -> None:
        from olmo_core.data import DataCollator, NumpyFSLDataLoader

        place = {"dp_world_size": self.ranks, "dp_rank": self.rank, "work_dir": self.folder}
        tokens = self.batch * self.ranks * TOKENS
        collator = DataCollator(pad_token_id=0)
        self.loader = NumpyFSLDataLoader(sequences(self.folder), collator=collator, global_batch_size=tokens, **place)

    def batches(self) -> Iterator[Any]:
        self.loader.reshuffle(1)
        return iter(self.loader)

    def at(self, batches: int) -> Any:
        tokens = batches * self.loader.global_batch_size
        return self.loader.state_dict() | {"epoch": 1, "batches_processed": batches, "tokens_processed": tokens}


SIDES: dict[str, type[Side]] = {
    "files": Files,
    "rows": Rows,
    "lancedb": LanceDB,
    "sequences": Sequences,
    "olmo": OLMo,
}
UNITS = {"first": "s", "memory": "B", "resume": "s", "sample": "s", "lost": "count", "repeated": "count"}


def table(folder: Path) -> Any:
    """The table of texts."""
    import lancedb

    return lancedb.connect(str(folder)).open_table("texts")


def sequences(folder: Path) -> Any:
    """OLMo-core's dataset of sequences."""
    from olmo_core.data import NumpyFSLDataset

    ids = {"pad_token_id": 0, "eos_token_id": 0, "vocab_size": 2**16}
    return NumpyFSLDataset(folder / "tokens.npy", sequence_length=TOKENS, include_instance_metadata=False, **ids)


def write(folder: Path, rows: int, tokens: int) -> None:
    """The table, and the file of tokens. A long file has zeros only, which take no room on the disk."""
    import lancedb
    from mixtures import texts

    folder.mkdir()
    columns = {"id": np.arange(rows), "text": texts(rows, np.random.default_rng(0))}
    lancedb.connect(str(folder)).create_table("texts", pa.table(columns))
    path = folder / "tokens.npy"
    if tokens <= SMALL:
        np.repeat(np.arange(tokens, dtype=np.uint16), TOKENS).tofile(path)
    else:
        with path.open("wb") as file:
            file.truncate(tokens * TOKENS * 2)


def first(side: str, folder: Path) -> dict[str, float]:
    """Seconds of processors, and memory, to the first batch."""
    before = reset_peak()
    began = process_time()
    # The iterator is kept: LanceDB's waits at its end for the rows that it reads ahead.
    batches = SIDES[side](folder, 0, RANKS).batches()
    batch = next(batches)
    return {"first": process_time() - began, "memory": memory("VmHWM") - before, "size": len(batch)}


def resumed(side: str, folder: Path, samples: int) -> dict[str, float]:
    """Seconds of processors to the first batch after a state at 90 % of an epoch."""
    state = SIDES[side](folder, 0, RANKS).at(samples // RANKS // BATCH * 9 // 10)
    began = process_time()
    other = SIDES[side](folder, 0, RANKS)
    other.load([state])
    batches = other.batches()
    batch = next(batches)
    return {"resume": process_time() - began, "size": len(batch)}


def passed(side: str, folder: Path, count: int) -> dict[str, float]:
    """Seconds of processors for each sample of a pass, without the first batch."""
    batches = SIDES[side](folder, 0, RANKS).batches()
    next(batches)
    began = process_time()
    taken = sum(1 for _ in islice(batches, count))
    return {"sample": (process_time() - began) / (taken * BATCH)}


def crossed(side: str, small: Path) -> dict[str, float]:
    """How many samples of an epoch are lost or repeated if 8 ranks read 10 batches and 6 ranks read the rest."""
    steps, batch = 10, 48  # of all ranks together
    seen: list[int] = []
    states = []
    for rank in range(RANKS):
        begun = SIDES[side](small, rank, RANKS, batch // RANKS)
        taken = list(islice(begun.batches(), steps))
        seen += [i for one in taken for i in begun.seen(one)]
        states.append(begun.now())
    for rank in range(FEWER):
        rest = SIDES[side](small, rank, FEWER, batch // FEWER)
        rest.load(states)
        seen += [i for one in rest.batches() for i in rest.seen(one)]
    return {"lost": SMALL - len(set(seen)), "repeated": len(seen) - len(set(seen))}


def answer(folder: Path, what: str, side: str, count: int) -> dict[str, float]:
    """One measurement."""
    if what == "first":
        # The first process of an epoch writes OLMo-core's file of the order; later ones find it.
        for file in (folder / "large").glob("global_indices*"):
            file.unlink()
        return first(side, folder / "large")
    if what == "crossed":
        return crossed(side, folder / "small")
    return (resumed if what == "resumed" else passed)(side, folder / "large", count)


def serve(folder: Path, side: str) -> None:
    """Answers lines of standard input with lines of standard output."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    next(SIDES[side](folder / "small", 0, RANKS).batches())
    for line in sys.stdin:
        what, count = line.split()
        print(json.dumps(answer(folder, what, side, int(count))), flush=True)


def ask(program: subprocess.Popen[str], what: str, count: int) -> dict[str, float]:
    """One measurement in a process of `serve`."""
    assert program.stdin
    assert program.stdout
    print(what, count, file=program.stdin, flush=True)
    return dict(json.loads(program.stdout.readline()))


def figures(folder: Path, size: Size) -> Iterator[tuple[str, str, str, list[float]]]:
    """The side, the name, the unit and the values of each figure."""
    command = [sys.executable, __file__, "--folder", str(folder), "--side"]
    pipe = subprocess.PIPE
    programs = {side: subprocess.Popen([*command, side], stdin=pipe, stdout=pipe, text=True) for side in SIDES}
    found: dict[str, dict[str, list[float]]] = {side: {} for side in SIDES}
    for turn in range(size.rounds):
        for side, program in programs.items():
            samples = size.sequences if side in ("olmo", "sequences") else size.rows
            asked = {"first": 0, "resumed": samples, "passed": size.batches}
            if turn == 0:
                asked["crossed"] = 0
            for what, count in asked.items():
                for name, value in ask(program, what, count).items():
                    found[side].setdefault(name, []).append(value)
    for program in programs.values():
        program.communicate()
    for side, own in found.items():
        # Memory of an earlier dataset may be used again, so the first one counts.
        own["memory"] = own["memory"][:1]
        for name, unit in UNITS.items():
            yield side, name, unit, own[name]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="measure next to nothing, to see that everything works")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        serve(options.folder, options.side)
        return
    size = SMOKE if options.smoke else WHOLE
    print("| | figure | median (smallest) |\n|---|---|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "small", SMALL, SMALL)
        write(folder / "large", size.rows, size.sequences)
        for side, figure, unit, values in figures(folder, size):
            print(f"| {side} | {figure} | {median(values):.3g} ({min(values):.3g}) {unit} |")
            print(f"figure: streams.{side}.{figure} {unit}", *values, flush=True)
    packages = ("samedeal", "lancedb", "pylance", "ai2-olmo-core", "torch", "pyarrow", "numpy", "wasmtime")
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    print(f"versions: CPython {platform.python_version()}, {versions}")


if __name__ == "__main__":
    main()
