"""A process that makes programs of calls and runs them. `fuzz.py` starts it, and starts another one if it dies."""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import generators
import samedeal
import surface
from generators import Context
from program import Failure, Limits, Run, Statement, shrink

MARKED = 1 << 20
"""Size in bytes of the file that has the running program."""
MOST_DATA = 6 << 30
"""Bytes of memory for the process. A larger request fails, so that it does not take the machine's memory."""

EXEMPT = {
    "LengthsSource": "a protocol for lengths of users",
    "LengthsSource.__getitem__": "a protocol for lengths of users",
    "LengthsSource.__len__": "a protocol for lengths of users",
    "Loads": "a result of ShardPlan.loads",
    "Metrics": "a result of metrics()",
    "Metrics.of": "takes an object of the generated bindings",
    "ledger.Claim": "made by Ledger.claim",
    "ledger.Log": "a protocol for logs of users",
    "ledger.Log.append": "a protocol for logs of users",
    "ledger.Log.read": "a protocol for logs of users",
    "parquet.Shards": "made by Shards.find",
    "parquet.Sources": "made by Sources.join",
}
"""Names that are not called, with the reasons."""

RECEIVERS: dict[str, str] = {
    "LoadSummary": "samedeal.ShardPlan([3, 4], world_size=2).load_summary()",
    "Batch": "samedeal.Batcher([3, 4, 5], max_tokens=8).batch(0)",
    "BatchStream": "samedeal.BatchStream(max_tokens=64, batch_window=4)",
    "Batcher": "samedeal.Batcher([3, 4, 5, 9, 1, 7, 7, 2], max_tokens=20, world_size=2)",
    "Batches": "samedeal.Sampler(20).batches(3)",
    "ChunkStream": "samedeal.ChunkStream(0, 2, chunks=9)",
    "Loads": "samedeal.ShardPlan([3, 4], world_size=2).loads()",
    "Mesh": "samedeal.Mesh(8, {'dp': 2, 'tp': 4}, ['dp'])",
    "Metrics": "samedeal.Batcher([3, 4, 5], max_tokens=8).metrics()",
    "Order": "samedeal.order('feistel', 50, seed=1)",
    "Reading": "samedeal.Reading([40, 0, 100], world_size=2, workers=2, batch_size=16)",
    "Sampler": "samedeal.Sampler(50, seed=3, world_size=4)",
    "Schedule": "samedeal.Schedule(10, [(0, 4), (3, 8)], seed=42, world_size=2)",
    "ShardPlan": "samedeal.ShardPlan([3, 0, 4, 9], world_size=2)",
    "Split": "samedeal.Split({'test': 1, 'training': 9}, seed=7)",
    "Steps": "samedeal.ShardPlan([3, 4], world_size=2).steps(2)",
    "Verification": "samedeal.ShardPlan([3, 4], world_size=2).verify()",
    "ledger.Claim": "samedeal.ledger.Ledger(samedeal.Sampler(9), samedeal.ledger.MemoryLog(), reader=0).claim(0)",
    "ledger.FileLog": "samedeal.ledger.FileLog(folder.missing())",
    "ledger.FolderLog": "samedeal.ledger.FolderLog(folder.missing())",
    "ledger.Ledger": "samedeal.ledger.Ledger(samedeal.Sampler(9), samedeal.ledger.MemoryLog(), reader=0, block_size=3)",
    "ledger.MemoryLog": "samedeal.ledger.MemoryLog()",
    "ledger.Progress": "samedeal.ledger.Ledger(samedeal.Sampler(9), samedeal.ledger.MemoryLog(), reader=0).progress()",
    "ledger.Replay": "laws.replayed()",
    "parquet.Shards": "samedeal.parquet.Shards.find(folder.rows(5, 0, 40))",
    "parquet.Sources": "samedeal.parquet.Sources.join({'a': samedeal.parquet.Shards.find(folder.rows(5, 9))})",
}
"""For each class: the text of an object that can always be made."""

LINEAR: dict[str, Callable[[Any], int]] = {
    "Sampler.fingerprint": len,
    "Sampler.indices": lambda own: len(own) if len(own) < 2**36 else 0,
    "Sampler.__getitem__": lambda own: len(own) if len(own) < 2**36 else 0,
    "Reading.indices": lambda own: own.num_samples(0),
    "Schedule.batch": lambda own: own.global_batch_size(0) // own.world_size,
}
"""Calls whose cost grows with the size of the object. They are left out for large objects."""
MOST = 2**20
COSTLY = {("Split.indices", "samples"), ("Split.others", "samples")}
"""Arguments that determine the cost of a call, so no large ones are passed."""


class Fuzzer:
    """A generator and runner of programs, determined by a seed."""

    def __init__(self, seed: int, modules: tuple[str, ...], only: str, limits: Limits, mark: mmap.mmap) -> None:
        """Reads the modules. Raises a `LookupError` if a public name has no generator."""
        found = [one for one in surface.targets(modules) if one.what not in EXEMPT]
        for target in found:
            for parameter in target.parameters or ():
                if not _is_rest(parameter):
                    generators.generator(target.what, parameter.name)
            owner = target.what.rpartition(".")[0]
            if target.owner is not None and owner not in RECEIVERS:
                raise LookupError(f"nothing makes a samedeal.{owner}: add one to RECEIVERS in worker.py")
        self.targets = [one for one in found if one.what.startswith(only)]
        if not self.targets:
            raise LookupError(f"nothing public begins with {only!r}")
        self.constructors = {one.what: one for one in found if one.owner is None and one.what in RECEIVERS}
        self.seed, self.limits, self.mark = seed, limits, mark
        self.calls = 0
        self.programs = 0
        self.called: dict[str, int] = {}
        self.errors: dict[str, int] = {}
        self.slowest = (0.0, "")
        self._kinds = {cls: name for name, cls in ((one, _class(one)) for one in RECEIVERS)}

    def programs_of(self, first: list[surface.Target]) -> Iterator[Failure]:
        """Runs a program that begins with these calls, and yields its failure if there is one."""
        self.programs += 1
        r = random.Random(f"{self.seed}/{self.programs}")
        self.mark.seek(0)
        self.mark.write(b"\0" * 8)
        self.mark.seek(0)
        run = Run(self.limits, self._write)
        c = Context(r, values=run.values)
        failure = None
        for number in range(max(len(first), r.randint(2, 12))):
            target = first[number] if number < len(first) else self._target(r, c)
            failure = self._call(run, c, target)
            if failure is not None:
                break
        if failure is None:
            failure = self._end(run, c)
        self.calls += len(run.statements)
        for kind, times in run.errors.items():
            self.errors[kind] = self.errors.get(kind, 0) + times
        self.slowest = max(self.slowest, run.slowest)
        if failure is not None:
            yield failure

    def _write(self, line: str) -> None:
        data = line[:20_000].encode("utf-8", "backslashreplace") + b"\n"
        if self.mark.tell() + len(data) + 8 < MARKED:
            self.mark.write(data)
            at = self.mark.tell()
            self.mark.write(b"\0" * 8)
            self.mark.seek(at)

    def _target(self, r: random.Random, c: Context) -> surface.Target:
        if c.pool and r.random() < 0.6:
            own = [
                one
                for one in r.sample(self.targets, min(40, len(self.targets)))
                if one.what.rpartition(".")[0] in c.pool
            ]
            if own:
                return own[0]
        return r.choice(self.targets)

    def _call(self, run: Run, c: Context, target: surface.Target) -> Failure | None:
        r = c.r
        head, cls = target.head, target.what.rpartition(".")[0]
        c.of = None
        if target.owner is not None:
            held = c.pool.get(cls)
            if not held or r.random() < 0.15:
                failure = self._make(run, c, cls)
                if failure is not None:
                    return failure
                held = c.pool[cls]
            receiver = r.choice(held[-4:])
            c.of, head = run.values[receiver], head.format(receiver)
            size = LINEAR.get(target.what)
            if size is not None and _size(size, c.of) > MOST:
                return None
        self.called[target.what] = self.called.get(target.what, 0) + 1
        wild = r.choice((0.0, 0.0, 0.2, 0.2, 0.7))
        arguments = None if target.parameters is None else self._arguments(c, target, wild)
        return self._step(run, c, Statement(_next(run), target.what, head, arguments), wild > 0)

    def _make(self, run: Run, c: Context, cls: str) -> Failure | None:
        target = self.constructors.get(cls)
        if target is not None and c.r.random() < 0.7:
            arguments = self._arguments(c, target, 0.0)
            failure = self._step(run, c, Statement(_next(run), cls, target.head, arguments))
            if failure is not None or cls in c.pool:
                return failure
        failure = self._step(run, c, Statement(_next(run), cls, RECEIVERS[cls], None))
        assert failure is not None or cls in c.pool, f"RECEIVERS of {cls} makes none"
        return failure

    def _arguments(self, c: Context, target: surface.Target, wild: float) -> tuple[tuple[str, str], ...]:
        parameters = [one for one in target.parameters or () if not _is_rest(one)]
        rate = c.r.choice((0.0, 0.2, 0.2, 0.5)) if len(parameters) > 8 else 0.5
        wanted = [one for one in parameters if one.default is one.empty or c.r.random() < rate]
        if wild and wanted and c.r.random() < 0.02:
            # One required argument is left out. Python itself reports it.
            wanted.pop(c.r.randrange(len(wanted)))
        c.keywords = frozenset(one.name for one in wanted)
        c.world = c.r.choice((1, 1, 2, 3, 4, 8))
        made, positional = [], True
        for one in parameters:
            if one.name not in c.keywords:
                positional = False
                continue
            text = generators.argument(c, target.what, one, wild)
            by_place = one.kind is not one.KEYWORD_ONLY and positional
            if (target.what, one.name) in COSTLY and ("**" in text or "'" in text):
                text = "1000"
            made.append(("" if by_place else one.name, text))
        return tuple(made)

    def _step(self, run: Run, c: Context, statement: Statement, watched: bool = False) -> Failure | None:
        failure = run.step(statement, watched)
        if failure is not None or statement.name not in run.values:
            return failure
        value = run.values[statement.name]
        kind = self._kinds.get(type(value))
        if kind is not None:
            c.pool.setdefault(kind, []).append(statement.name)
        elif hasattr(value, "__next__"):
            return run.step(
                Statement(_next(run), statement.what, "h.take", (("", statement.name), ("", str(c.r.randint(1, 9)))))
            )
        return None

    def _end(self, run: Run, c: Context) -> Failure | None:
        """Checks the laws of the objects."""
        for kind, held in list(c.pool.items()):
            if c.r.random() < 0.5:
                continue
            way = c.r.random()
            if kind in ("BatchStream", "ledger.Ledger", "ledger.Claim") or way > 0.3:
                law = "check"
            else:
                law = "forked" if way < 0.01 else "threads" if way < 0.05 else "copies"
            failure = run.step(Statement(_next(run), f"{kind}.{law}", f"laws.{law}", (("", held[-1]),)))
            if failure is not None:
                return failure
        return None


def _is_rest(parameter: Any) -> bool:
    """Whether a parameter is `*names` or `**names`, whose arguments have no names."""
    return parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)


def _size(size: Callable[[Any], int], of: Any) -> int:
    try:
        return size(of)
    except samedeal.SamedealError:
        return 0


def _next(run: Run) -> str:
    return f"v{len(run.statements)}"


def _class(what: str) -> Any:
    found: Any = samedeal
    for part in what.split("."):
        found = getattr(found, part)
    return found


def resident() -> float:
    """Megabytes of memory of the process, without memory that is only held for reuse."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def growth(measured: list[float]) -> float:
    """The difference between the last fifth and the fifth after the warm-up."""
    if len(measured) < 10:
        return 0.0
    part = len(measured) // 5
    return statistics.median(measured[-part:]) - statistics.median(measured[2 * part : 3 * part])


def main() -> None:
    """Reads the arguments: modules, seed, seconds, the name to call, the file for the running program, and the largest
    number of calls."""
    modules, seed, seconds, only, file, most = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(1000)
    with open(file, "r+b") as marked:
        mark = mmap.mmap(marked.fileno(), MARKED)
    if modules == ",".join(surface.TORCH):
        import generators_torch

        RECEIVERS.update(generators_torch.RECEIVERS)
        EXEMPT.update(generators_torch.EXEMPT)
    limits = Limits()
    fuzzer = Fuzzer(int(seed), tuple(modules.split(",")), only, limits, mark)
    for text in RECEIVERS.values():
        # Each component is compiled before the time counts.
        eval(text, Run(limits, lambda _: None).values)
    started = told = time.monotonic()
    measured: list[float] = []
    seen: set[tuple[str, str]] = set()
    tour = fuzzer.targets * 2

    def tell(done: bool) -> None:
        line = {
            "calls": fuzzer.calls,
            "seconds": time.monotonic() - started,
            "errors": fuzzer.errors,
            "slowest": fuzzer.slowest,
            "growth": growth(measured),
            "called": len(fuzzer.called),
            "of": len(fuzzer.targets),
            "done": done,
        }
        print(json.dumps(line), flush=True)

    while fuzzer.calls < int(most) if int(most) else time.monotonic() - started < float(seconds):
        for failure in fuzzer.programs_of([tour.pop()] if tour else []):
            if failure.signature not in seen:
                seen.add(failure.signature)
                small = shrink(failure, limits)
                print(json.dumps({"failure": [small.kind, small.what, small.text, small.script]}), flush=True)
        if time.monotonic() - told > 2:
            told = time.monotonic()
            measured.append(resident())
            tell(False)
    tell(True)


if __name__ == "__main__":
    main()
