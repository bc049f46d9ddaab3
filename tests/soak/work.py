"""One Python process that does all kinds of work again and again: `work.py SECONDS INTERVAL`. It prints a line of JSON
for each interval.

Each measurement of a kind is followed by one of a control that takes as long, without samedeal. The control shows how
busy the machine is. It has instances of a small WebAssembly module, because a busy machine slows the allocation of
memory more than computation.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import samedeal
import wasmtime
from samedeal import (
    Batcher,
    BatchStream,
    ChunkStream,
    Mesh,
    Reading,
    SamedealError,
    Sampler,
    Schedule,
    ShardPlan,
    Split,
)
from samedeal.ledger import FileLog, Ledger, MemoryLog, Replay

TARGET = 0.002
"""Seconds that one measurement of a kind should take."""
PAGE = os.sysconf("SC_PAGE_SIZE")
EMPTY = """(module (memory (export "memory") 20) (func (export "touch") (local i32)
  (loop (i32.store (local.get 0) (i32.const 1))
    (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 4096))) (i32.const 1310720))))))"""
"""A module that writes into each page of its memory, which is as large as that of a component."""
engine = wasmtime.Engine()
empty = wasmtime.Module(engine, EMPTY)
BUFFER = random.Random(0).randbytes(1 << 20)
LENGTHS = np.random.default_rng(0).integers(1, 400, 500)

kept = Sampler(100_000, seed=3, world_size=8)
"""A sampler that exists as long as the process."""
kept_batcher = Batcher(LENGTHS, max_tokens=2000, seed=3, world_size=2)
kept_file = Path(tempfile.mkdtemp()) / "log"


def control(_: random.Random) -> None:
    """The control: interpreted code, arrays, a hash and an instance. It loads the machine as the other kinds do, but
    does not use samedeal."""
    numbers = [hash((i, i ^ 7)) & 0xFFFF for i in range(500)]
    np.sort(np.array(numbers * 4))
    hashlib.sha256(BUFFER[: 1 << 16]).digest()
    store = wasmtime.Store(engine)
    wasmtime.Instance(store, empty, []).exports(store)["touch"](store)


def samplers(rng: random.Random) -> None:
    """Samplers that are made, read and dropped, with and without a table."""
    order = rng.choice(samedeal.plain_orders())
    sampler = Sampler(rng.randrange(1, 3000), seed=rng.randrange(2**20), order=order, rank=1, world_size=3)
    sampler.set_epoch(rng.randrange(100))
    sampler.indices()
    sampler.locate(0, 7)
    for batch in sampler.batches(64):
        assert len(batch) <= 64
    sharded = Sampler.sharded([rng.randrange(90) for _ in range(9)], lanes=4, shuffle_window=8)
    sharded.indices()
    for number in range(sharded.num_rounds):
        sharded.round(number)


def epochs(rng: random.Random) -> None:
    """A sampler and a batcher that go through many epochs and ranks."""
    kept.set_epoch(rng.randrange(2**63))
    kept.set_rank(rng.randrange(8))
    kept.batch(rng.randrange(300), 32)
    kept_batcher.set_epoch(rng.randrange(2**20))
    kept_batcher.batch(0)


def composed(rng: random.Random) -> None:
    """Composed orders."""
    web = samedeal.order("feistel", 900).exclude(sorted(rng.sample(range(900), 20)))
    mix = samedeal.blend({"web": (web, 7), "code": (200, 3)}, seed=rng.randrange(99), samples=2000)
    sampler = Sampler(order=mix, world_size=4, rank=2)
    sampler.indices(0, 200)
    sampler.source_counts(0, 999)
    grown = Sampler(order=samedeal.order("feistel", 300).grow(0, 100, 400).copies(2), unit=2)
    grown.indices()


def batchers(rng: random.Random) -> None:
    """Plans of batches, their metrics, and streams."""
    strategy = rng.choice([{"max_tokens": 3000}, {"strategy": "pack", "capacity": 512}, {"strategy": "bucket"}])
    size = {} if "max_tokens" in strategy else {"max_batch_size": 4}
    batcher = Batcher(LENGTHS, seed=rng.randrange(99), world_size=2, rank=1, **strategy, **size)
    for step in range(0, len(batcher), 9):
        batcher.batch(step)
    batcher.metrics()
    batcher.locate(5)
    stream = BatchStream(max_tokens=2000, world_size=2)
    stream.push(range(100), LENGTHS[:100])
    stream.flush()
    assert sum(1 for _ in stream)


def readings(rng: random.Random) -> None:
    """Readers of shards, their rounds, and plans of whole shards."""
    sizes = [rng.randrange(60) for _ in range(7)]
    options = {"world_size": 2, "workers": 2, "batch_size": 8}
    reading = Reading(sizes, lanes=4, shuffle_window=8, remainder="uneven", **options).at_epoch(rng.randrange(9))
    for worker in range(2):
        reading.indices(1, worker)
        for found in reading.rounds(1, worker):
            assert found.count
    plan = ShardPlan(sizes, world_size=2, workers=2, seed=rng.randrange(99))
    plan.shards(0, 1)
    Reading(sizes, deal="shards", **options).indices(0, 1)
    assert next(iter(ChunkStream(1, 2, chunks=9))) < 9


def resumptions(rng: random.Random) -> None:
    """States of all kinds of objects, resumed on other world sizes."""
    sampler = Sampler(1000, seed=1, world_size=8)
    for world_size in (3, 5):
        state = sampler.state(rng.randrange(sampler.num_samples))
        sampler = Sampler(1000, seed=1, world_size=world_size, rank=1)
        sampler.resume(state)
        sampler.indices()
    batcher = Batcher(LENGTHS, max_tokens=2000, world_size=3)
    other = Batcher(LENGTHS, max_tokens=2000, world_size=2)
    other.resume(batcher.state(rng.randrange(len(batcher))))
    reading = Reading([40, 0, 70], lanes=4, shuffle_window=8, world_size=2, workers=2, batch_size=4)
    Reading([40, 0, 70], lanes=4, shuffle_window=8, batch_size=4).resume(reading.state(3)).indices(0)
    schedule = Schedule(1000, [(0, 16), (50, 32)], world_size=4)
    assert Schedule(1000, [(0, 16), (50, 32)], world_size=2).resume(schedule.state(60)) == 60


def schedules(rng: random.Random) -> None:
    """Global steps, meshes and splits."""
    schedule = Schedule(5000, 64, seed=rng.randrange(99), world_size=8, rank=2)
    schedule.indices(rng.randrange(1000), 20)
    schedule.locate(rng.randrange(5000), 100)
    assert Mesh(8, {"dp": 4, "tp": 2}, shard=["dp"]).data_world_size == 4
    Split({"test": 10, "training": 90}, seed=rng.randrange(99)).indices("training", 500)


def ledgers(rng: random.Random) -> None:
    """Two readers of a log in memory, one of a log in a file, and the replay."""
    log, sampler = MemoryLog(), Sampler(60, seed=rng.randrange(99))
    readers = [Ledger(sampler, log, reader=reader, block_size=16, checkpoint_interval=8) for reader in range(2)]
    while (claim := rng.choice(readers).claim(0)) is not None:
        claim.commit(1 + rng.randrange(claim.count))
        if claim.committed < claim.count:
            claim.release()
    assert Replay(log).progress().finished
    kept_file.unlink(missing_ok=True)
    for _ in Ledger(Sampler(32), FileLog(kept_file), reader=0, block_size=16):
        pass


def failures(rng: random.Random) -> None:
    """Errors of every kind, some of which come from the middle of a call of the component."""
    wrong: list[Callable[[], object]] = [
        lambda: Sampler(10, rank=5),
        lambda: Sampler(10, order="sorted"),
        lambda: Sampler("10"),  # type: ignore[arg-type]
        lambda: Sampler(10, seed=2**70),
        lambda: Sampler(order=samedeal.blend({"a": (10, 0)})),
        lambda: Sampler(2_000_000, order="torch", memory_limit=2**22)[0],
        lambda: Sampler(100, consumed=101),
        lambda: Sampler(10).resume("{"),
        lambda: Sampler(10).resume(Sampler(11).state(1)),
        lambda: len(Batcher(LENGTHS, max_tokens=10)),
        lambda: Batcher(LENGTHS, strategy="pack"),
        lambda: Reading([10], deal="shards", lanes=4),
        lambda: Reading([10]).state(99),
        lambda: Schedule(10, 3, world_size=2),
        lambda: kept.batch(10**9, 32),
        lambda: kept_batcher.batch(0, rank=9),
        lambda: Ledger(Sampler(9), MemoryLog(["{}"]), reader=0),
    ]
    for call in rng.sample(wrong, 6):
        try:
            call()
        except SamedealError:
            continue
        raise AssertionError("this call must fail")


def elsewhere(rng: random.Random) -> None:
    """Pickled objects, and short threads."""
    copy: Sampler = pickle.loads(pickle.dumps(kept))
    found: list[int] = []

    def read() -> None:
        found.append(copy.sample_at(rng.randrange(100_000)))
        found.append(Sampler(50, seed=2)[7])

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4


KINDS = (samplers, epochs, composed, batchers, readings, resumptions, schedules, ledgers, failures, elsewhere)


def resident() -> int:
    """Bytes of memory of the process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def usual(kind: Callable[[random.Random], None], rng: random.Random) -> float:
    """The usual processor time of a kind, in seconds."""
    times = []
    for _ in range(15):
        start = time.process_time()
        kind(rng)
        times.append(time.process_time() - start)
    return sorted(times)[7]


def timed(kind: Callable[[random.Random], None], count: int, rng: random.Random) -> tuple[float, float]:
    """Milliseconds for `count` runs of a kind: elapsed time and processor time."""
    start, begun = time.perf_counter(), time.process_time()
    for _ in range(count):
        kind(rng)
    return 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - begun)


def main(seconds: float, interval: float) -> None:
    """Works for `seconds`, and prints the measurements of each interval."""
    rng = random.Random(1)
    one = usual(control, rng)
    counts = {kind: max(1, round(TARGET / usual(kind, rng))) for kind in KINDS}
    controls = {kind: max(1, round(counts[kind] * usual(kind, rng) / one)) for kind in KINDS}
    begun = last = time.monotonic()
    times: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {kind.__name__: [] for kind in KINDS}
    while last - begun < seconds:
        for kind in KINDS:
            own = timed(kind, counts[kind], rng)
            times[kind.__name__].append((own, timed(control, controls[kind], rng)))
        now = time.monotonic()
        if now - last >= interval or now - begun >= seconds:
            operations = sum(len(times[kind.__name__]) * counts[kind] for kind in KINDS)
            told: dict[str, object] = {"seconds": now - begun, "rss": resident(), "operations": operations}
            for name, q, which in (("p99", 0.99, 0), ("processor", 0.5, 1)):
                told[name] = {
                    kind: np.quantile(np.array(found)[:, :, which], q, axis=0).tolist() for kind, found in times.items()
                }
            print(json.dumps(told), flush=True)
            times = {name: [] for name in times}
            last = now
    kept_file.unlink(missing_ok=True)
    kept_file.parent.rmdir()


if __name__ == "__main__":
    main(float(sys.argv[1]), float(sys.argv[2]))
