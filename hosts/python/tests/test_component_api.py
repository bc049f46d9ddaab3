"""The hand-lifted calls against the same calls through wasmtime-py's component API, export by export."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import wasmtime
from samedeal import (
    BatchConfig,
    Buckets,
    Config,
    Detection,
    Metrics,
    Place,
    Round,
    SamedealError,
    Sampler,
    Verification,
    _batching,
    _component,
    _deal,
    _grid,
    _ledgering,
    _planning,
)
from samedeal._batch_records import Stretch
from samedeal._component import Component
from samedeal._ledgering import Event
from samedeal._plan_records import Axis, Locality, MeshConfig, PlanConfig, StreamConfig
from samedeal._records import Sharding
from samedeal.read import _binding as reads
from wasmtime import component as wc

MEMORY = 2**31

CONFIGS = [
    Config(0, 0, 0, "feistel", 0, 1, "pad", "strided"),
    Config(10, -3, 2**64 - 1, "torch", 1, 3, "drop", "contiguous"),
    Config(10, 2**63 - 1, 0, "python", 2, 3, "uneven", "strided"),
    Config(3, -(2**63), 5, "fisher-yates", 7, 8, "pad", "contiguous"),
    Config(1000, 2**31 - 1, 1, "dotnet", 0, 7, "uneven", "contiguous"),
    Config(2**53 - 1, 1, 1, "feistel", 0, 1, "drop", "strided"),
    Config(2**32, 1, 1, "sequential", 4, 9, "uneven", "strided"),
    Config(2**32 + 1, 1, 1, "sequential", 4, 9, "uneven", "strided"),
    Config(2**53 - 1, 1, 1, "feistel", 0, 1, "drop", "strided", 2**53 - 2),
]
BAD_CONFIGS = [
    Config(2**53, 0, 0, "feistel", 0, 1, "pad", "strided"),
    Config(10, 0, 0, "x" * 65, 0, 1, "pad", "strided"),
    Config(10, 0, 0, "naïve ✓", 0, 1, "pad", "strided"),
    Config(10, 0, 0, "", 0, 1, "pad", "strided"),
    Config(10, 0, 0, "feistel", 3, 3, "pad", "strided"),
    Config(10, 0, 0, "feistel", 0, 0, "pad", "strided"),
    Config(10, 2**31, 0, "dotnet", 0, 1, "pad", "strided"),
    Config(10, 0, 0, "feistel", 0, 1, "pad", "strided", 2**64 - 1),
    Config(10, 0, 0, "sharded", 0, 1, "pad", "strided"),
]


def u32s(*values: int) -> Any:
    return np.array(values, dtype=np.uint32)


def u64s(*values: int) -> Any:
    return np.array(values, dtype=np.uint64)


def sharded(samples: int, rank: int = 0, world: int = 1) -> Config:
    return Config(samples, -5, 3, "sharded", rank, world, "pad", "strided")


SHARDED = [
    (sharded(0), Sharding(u64s(), 1, 1)),
    (sharded(20, 1, 2), Sharding(u64s(13, 0, 7), 2, 4)),
    (sharded(1000, 2, 3), Sharding(u64s(*[10] * 100), 64, 8)),
    (sharded(2**53 - 1), Sharding(u64s(2**53 - 2, 1), 4096, 2**20)),
]
BAD_SHARDED = [
    (sharded(3), Sharding(u64s(1, 1), 1, 1)),
    (sharded(2), Sharding(u64s(1, 1), 0, 1)),
    (sharded(2), Sharding(u64s(1, 1), 1, 2**20 + 1)),
    (sharded(2), Sharding(u64s(2**64 - 1, 2**63), 1, 1)),
    (sharded(2)._replace(order="feistel"), Sharding(u64s(1, 1), 1, 1)),
]

# Every method with arguments that it takes and arguments that it does not; objects carry on from call to call.
Calls = list[tuple[Any, ...]]
SAMPLER: Calls = [
    ("config",),
    *(("set-epoch", epoch) for epoch in (0, 2**63, 2**64 - 1, 1)),
    ("config",),
    *(("set-rank", rank) for rank in (0, 2**32 - 1, 8)),
    ("config",),
    ("num-samples",),
    ("num-padding",),
    ("num-positions",),
    ("num-dropped",),
    *(("state", taken) for taken in (0, 1, 2**64 - 1)),
    *(("resume", text) for text in ("", "{}", "naïve ✓")),
    *((name, *at) for name in ("indices", "indices32") for at in ((0, 0), (0, 2), (2**64 - 1, 0), (0, 2**32 - 1))),
    *(("num-batches", size, last) for size in (0, 1, 2**32 - 1) for last in (False, True)),
    *(
        (name, *at)
        for name in ("batch", "batch32")
        for at in ((0, 1, False), (0, 4, False), (0, 3, True), (1, 0, True), (2**64 - 1, 1, False))
    ),
    *(("sample-at", position) for position in (0, 7, 2**64 - 1)),
    *((name, at, size) for name in ("locate", "place-of") for at in (0, 7, 2**64 - 1) for size in (0, 1, 2**32 - 1)),
    ("fingerprint",),
    ("config-fingerprint",),
    ("num-rounds",),
    *(("round", number) for number in (0, 1, 2**64 - 1)),
    *(("shard-of", sample) for sample in (0, 13, 2**64 - 1)),
]

LOCALITY = Locality(u32s(0, 1, 3, 4), u32s(7, 2**32 - 1, 7, 9), u32s(7, 2**32 - 1), 50)
PLAN = PlanConfig(
    u64s(5, 0, 9), u64s(), 2, 3, "round-robin", "size-aware", "samples", None, False, False, -(2**63), 2**64 - 1
)
PLANS = [
    PLAN,
    PLAN._replace(sizes=u64s(), world=1),
    PLAN._replace(bytes=u64s(2**53 - 2, 0, 1), weight="bytes", policy="size-aware", worker_policy="round-robin"),
    PLAN._replace(locality=LOCALITY, policy="locality-aware", shuffle=True),
    PLAN._replace(sizes=u64s(*range(1000)), world=7, shuffle=True, reshuffle=True, seed=2**63 - 1, epoch=0),
]
BAD_PLANS = [
    PLAN._replace(sizes=u64s(2**64 - 1, 2**64 - 1)),
    PLAN._replace(bytes=u64s(1)),
    PLAN._replace(world=0),
    PLAN._replace(workers=2**32 - 1),
    PLAN._replace(policy="locality-aware"),
    PLAN._replace(policy="locality-aware", locality=LOCALITY._replace(holder_offsets=u32s(1, 0))),
    PLAN._replace(policy="locality-aware", locality=LOCALITY._replace(rank_nodes=u32s())),
    PLAN._replace(policy="locality-aware", locality=LOCALITY._replace(holder_offsets=u32s(0, 0, 0, 4))),
]
PLAN_CALLS: Calls = [
    *(("num-shards", *reader) for reader in ((0, 0), (1, 2), (2**32 - 1, 0), (0, 2**32 - 1))),
    *(("shards", 0, 0, *run) for run in ((0, 0), (0, 1), (2**32 - 1, 0), (0, 2**32 - 1))),
    *(("loads", tier, *run) for tier in ("ranks", "workers") for run in ((0, 1), (1, 0), (2**32 - 1, 1))),
    *(("balance", tier, weight) for tier in ("ranks", "workers") for weight in ("samples", "bytes")),
    *(("rows", *run) for run in ((0, 0, 0), (0, 0, 5), (0, 2**64 - 1, 0), (2, 3, 2**32 - 1), (2**32 - 1, 0, 0))),
    *(("steps", size, last) for size in (0, 1, 2**32 - 1) for last in (False, True)),
    ("config-fingerprint",),
    ("set-epoch", 1),
    ("rows", 2, 1, 4),
    ("config-fingerprint",),
    ("set-epoch", 2**64 - 1),
    ("shards", 0, 0, 0, 1),
]

STREAMS = [
    StreamConfig(None, 0, 1, "sequential", 0, 0),
    StreamConfig(12, 1, 4, "feistel", -(2**63), 2**64 - 1),
    StreamConfig(2**53 - 1, 2**32 - 2, 2**32 - 1, "feistel", 2**63 - 1, 0),
]
BAD_STREAMS = [
    STREAMS[0]._replace(readers=0),
    STREAMS[0]._replace(reader=1),
    STREAMS[0]._replace(order="feistel"),
    STREAMS[1]._replace(order="naïve ✓"),
    STREAMS[1]._replace(chunks=2**64 - 1),
    STREAMS[1]._replace(chunks=0),
]
STREAM_CALLS: Calls = [("chunks", *run) for run in ((0, 0), (0, 20), (3, 2), (2**64 - 1, 0), (0, 2**32 - 1))]

MESHES = [
    MeshConfig(1, []),
    MeshConfig(24, [Axis("dp", 2, "divide"), Axis("naïve ✓", 3, "repeat"), Axis("", 4, "divide")]),
    MeshConfig(2**32 - 1, [Axis("x" * 65, 2**32 - 1, "repeat")]),
]
BAD_MESHES = [
    MeshConfig(0, []),
    MeshConfig(2, [Axis("a", 1, "divide"), Axis("a", 2, "divide")]),
    MeshConfig(2, [Axis("a", 0, "divide")]),
    MeshConfig(2, [Axis(f"axis {i}", 2**32 - 1, "repeat") for i in range(64)]),
    MeshConfig(1, [Axis(f"axis {i}", 1, "repeat") for i in range(65)]),
]
MESH_CALLS: Calls = [
    ("data-world",),
    *((name, rank) for name in ("data-rank", "coordinates", "peers") for rank in (0, 23, 2**32 - 1)),
    *(("rank-at", u32s(*place)) for place in ((), (0,), (1, 2, 3), (2**32 - 1, 0, 0))),
]

DETECT: Calls = [
    ([], None, None),
    ([], 2**32 - 2, 2**32 - 1),
    ([("RANK", "3"), ("WORLD_SIZE", " 8 "), ("LOCAL_RANK", "1"), ("LOCAL_WORLD_SIZE", "4")], None, None),
    ([("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4"), ("RANK", "3"), ("WORLD_SIZE", "8")], None, 8),
    ([("RANK", "naïve ✓")], None, None),
    ([("LOCAL_RANK", "1")], None, None),
    ([], 3, None),
]
VERIFY: Calls = [
    (0, u32s(0), u32s()),
    (6, u32s(0, 3, 6), u32s(0, 2, 4, 4, 2, 1)),
    (2, u32s(0, 1), u32s(2**32 - 1)),
    (2, u32s(1, 0), u32s(1)),
]

BATCHES = BatchConfig(
    lengths=u32s(5, 0, 9, 2, 2, 7),
    seed=-(2**63),
    epoch=2**64 - 1,
    order="feistel",
    world=2,
    strategy="budget",
    max_batch_size=0,
    max_length=2**32 - 1,
    budget=12,
    counting="padded",
    linear=1,
    quadratic=0,
    multiple=1,
    capacity=0,
    packing="fast",
    buckets=Buckets("bucket-width", 64),
    window=3,
    too_long="error",
    tail="keep",
    history=[],
)
BATCHERS = [
    BATCHES,
    BATCHES._replace(lengths=u32s(), tail="drop"),
    BATCHES._replace(lengths=u32s(*range(100)), max_length=7, too_long="split", tail="even-split", seed=2**63 - 1),
    BATCHES._replace(lengths=u32s(1, 2**32 - 1), too_long="single", tail="duplicate", world=3),
    BATCHES._replace(strategy="pack", capacity=11, packing="optimal", max_batch_size=2, too_long="drop"),
    BATCHES._replace(
        strategy="bucket", buckets=Buckets("boundaries", u32s(2, 5)), max_batch_size=2, budget=0, too_long="truncate"
    ),
    BATCHES._replace(strategy="bucket", buckets=Buckets("bucket-width", 2**32 - 1), max_batch_size=2),
    BATCHES._replace(history=[Stretch(3, 1), Stretch(2, 0)]),
    BATCHES._replace(strategy="pad-to-max", max_batch_size=2, order="torch", seed=1, epoch=0, world=1),
    # Costs that fill 64 bits.
    BATCHES._replace(
        counting="weighted", linear=2**32 - 1, quadratic=2**32 - 1, lengths=u32s(2**32 - 2), budget=1
    )._replace(too_long="single", world=1),
    BATCHES._replace(counting="unpadded", budget=2**64 - 1, max_batch_size=2**32 - 1, multiple=2**32 - 1, window=0),
]
BAD_BATCHERS = [
    BATCHES._replace(order="naïve ✓"),
    BATCHES._replace(order="sharded"),
    BATCHES._replace(world=0),
    BATCHES._replace(budget=0),
    BATCHES._replace(budget=8),
    BATCHES._replace(multiple=0),
    BATCHES._replace(history=[Stretch(2, 2**64 - 1)]),
    BATCHES._replace(history=[Stretch(2**32 - 1, 1)]),
    BATCHES._replace(buckets=Buckets("boundaries", u32s(2**32 - 1, 0))),
    BATCHES._replace(buckets=Buckets("bucket-width", 0)),
    BATCHES._replace(buckets=Buckets("quantiles", 2**32 - 1)),
    BATCHES._replace(strategy="pack"),
]
BATCHER_CALLS: Calls = [
    ("metrics",),
    ("epoch",),
    ("history",),
    *(("state", taken) for taken in (0, 1, 2**64 - 1)),
    *(("resume", text) for text in ("", "{}", "naïve ✓")),
    *(("locate", sample) for sample in (0, 3, 2**64 - 1)),
    *(("take", rank, 0, count) for rank in (0, 1, 2**32 - 1) for count in (0, 1, 2, 2**32 - 1)),
    ("take", 0, 2**64 - 1, 0),
    ("fingerprint",),
    ("set-epoch", 2**63),
    ("metrics",),
    ("take", 0, 0, 1),
    ("fingerprint",),
]
BATCH_STREAM_CALLS: Calls = [
    ("take",),
    ("push", u64s(7, 2**53 - 1, 8, 9, 10), u32s(1, 2, 3, 0, 5)),
    ("push", u64s(2**53), u32s(1)),
    ("push", u64s(1, 2), u32s(1)),
    ("push", u64s(), u32s()),
    ("take",),
    ("metrics",),
    ("flush",),
    ("push", u64s(1), u32s(1)),
    *[("take",)] * 4,
    ("metrics",),
]
QUANTILES = BATCHES._replace(strategy="bucket", buckets=Buckets("quantiles", 3), max_batch_size=2, budget=0)
COLLATION: Calls = [
    ("pad", u32s(), 0, 1, "left"),
    ("pad", u32s(3, 0, 1), 0, 4, "left"),
    ("pad", u32s(3, 0, 1), 5, 1, "right"),
    ("pad", u32s(3, 0, 1), 2, 1, "right"),
    ("pad", u32s(3), 0, 0, "right"),
    ("pad", u32s(2**32 - 1, 2**32 - 1), 0, 2**32 - 1, "right"),
    ("pack", u32s(), u32s(), 0),
    ("pack", u32s(3, 0, 1), u32s(2, 2, 3), 4),
    ("pack", u32s(3, 0, 1), u32s(3), 3),
    ("pack", u32s(3, 0, 1), u32s(3, 2), 2**32 - 1),
    ("pack", u32s(2**32 - 1), u32s(1), 2**32 - 1),
]


PROPOSALS = ("entry", "wait", "held", "finished")
HEADER = _ledgering.header(Sampler(10, consumed=2).state(0), 4, 100)
CLAIM = '{"event":"claim","reader":1,"start":2,"count":4}'
COMMIT = CLAIM.replace("claim", "commit")
LEDGER_CALLS: Calls = [
    ("claim", 1, 0),
    ("apply", "naïve ✓", 0),
    ("apply", HEADER, 0),
    ("claim", 1, 2**64 - 1),
    ("apply", CLAIM, 5),
    ("apply", CLAIM, 5),
    ("commit", 1, 3),
    ("commit", 1, 2**32 - 1),
    ("commit", 2**64 - 1, 0),
    ("apply", COMMIT.replace("4", "1"), 6),
    ("apply", CLAIM.replace("2", "6"), 7),
    ("held-by", 1),
    ("held-by", 2**32 - 1),
    ("claim", 1, 7),
    ("claim", 2, 7),
    ("claim", 2, 2**64 - 1),
    ("release", 1),
    ("release", 9),
    ("apply", COMMIT.replace("2", "3").replace("4", "3"), 8),
    ("apply", COMMIT.replace("2", "6"), 8),
    ("claim", 2, 8),
    ("progress",),
    ("initial-state",),
]
BAD_HEADERS: list[tuple[Any, ...]] = [("",), ("naïve ✓",), (HEADER.replace("ledger", "sampler"),)]


class Oracle:
    """A component in wasmtime-py's own hands."""

    def __init__(self, component: Component, interface: str) -> None:
        engine = wasmtime.Engine()
        self.store = wasmtime.Store(engine)
        whole = wc.Component(engine, component.path.read_bytes())
        self.instance = wc.Linker(engine).instantiate(self.store, whole)
        self.interface = self.instance.get_export_index(self.store, f"samedeal:deal/{interface}@0.1.0")

    def call(self, name: str, *arguments: Any) -> Any:
        index = self.instance.get_export_index(self.store, name, self.interface)
        assert index is not None, name
        function = self.instance.get_func(self.store, index)
        assert function is not None, name
        result = function(self.store, *map(passed, arguments))
        function.post_return(self.store)
        return result


def passed(value: Any) -> Any:
    """An argument as that API takes it."""
    if isinstance(value, Buckets):
        return wc.Variant(value.kind, passed(value.value))
    if hasattr(value, "_asdict"):
        record: Any = wc.Record()
        for name, item in value._asdict().items():
            setattr(record, name.replace("_", "-"), passed(item))
        return record
    if isinstance(value, list):
        return [passed(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def plain(value: Any) -> Any:
    """A result of either side in one form."""
    if isinstance(value, wc.Variant):
        return [value.tag, value.payload] if value.tag in PROPOSALS else plain(value.payload)
    if isinstance(value, wc.Record):
        return {name.replace("-", "_"): plain(item) for name, item in vars(value).items()}
    if isinstance(value, (Place, Detection, Event)):
        return {name: list(item) if isinstance(item, tuple) else item for name, item in asdict(value).items()}
    if isinstance(value, (Round, reads.ReadRound)):
        return {**value._asdict(), "spans": value.spans.reshape(-1).tolist()}
    if isinstance(value, Verification):
        return {"overlaps": [number for overlap in value.overlaps for number in overlap], "gaps": value.gaps}
    if isinstance(value, Metrics):
        # What the ratios are of is this host's.
        return {name: number for name, number in value._asdict().items() if name not in Metrics._field_defaults}
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, SamedealError):
        return {name: getattr(value, name) for name in ("kind", "field", "value", "allowed")}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def ours(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return plain(function(*arguments))
    except SamedealError as error:
        return plain(error)


def agree(oracle: Oracle, resource: str, theirs: Any, made: Any, calls: Iterable[tuple[Any, ...]]) -> None:
    for name, *arguments in calls:
        wanted = plain(oracle.call(f"[method]{resource}.{name}", theirs, *arguments))
        assert ours(getattr(made, name.replace("-", "_")), *arguments) == wanted, (name, arguments)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_samplers(config: Config) -> None:
    oracle = Oracle(Component.SAMPLING, "sampling")
    theirs = oracle.call("[constructor]sampler", config)
    calls = (call for call in SAMPLER if call[0] != "fingerprint" or config.samples < 2**30)
    agree(oracle, "sampler", theirs, _deal.Deal(config, MEMORY), calls)


@pytest.mark.parametrize(("config", "sharding"), SHARDED, ids=str)
def test_samplers_over_shards(config: Config, sharding: Sharding) -> None:
    oracle = Oracle(Component.SAMPLING, "sampling")
    theirs = oracle.call("[static]sampler.sharded", config, sharding)
    calls = (call for call in SAMPLER if call[0] not in ("fingerprint", "round") or config.samples < 2**30)
    agree(oracle, "sampler", theirs, _deal.Deal(config, MEMORY, sharding), calls)


@pytest.mark.parametrize("config", PLANS, ids=range(len(PLANS)))
def test_plans(config: PlanConfig) -> None:
    oracle = Oracle(Component.PLANNING, "shards")
    agree(oracle, "plan", oracle.call("[constructor]plan", config), _planning.Plan(config, MEMORY), PLAN_CALLS)


@pytest.mark.parametrize("config", STREAMS, ids=str)
def test_streams(config: StreamConfig) -> None:
    oracle = Oracle(Component.PLANNING, "shards")
    theirs = oracle.call("[constructor]chunk-stream", config)
    agree(oracle, "chunk-stream", theirs, _planning.Stream(config, MEMORY), STREAM_CALLS)


def test_ledgers() -> None:
    oracle = Oracle(Component.PLANNING, "ledger")
    theirs = oracle.call("[constructor]ledger", HEADER)
    agree(oracle, "ledger", theirs, _ledgering.Machine(HEADER), LEDGER_CALLS)


def read_by(oracle: Oracle, config: reads.ReadConfig) -> Any:
    """A reading in its hands, or its failure."""
    options = oracle.call("[constructor]options", config.sizes)
    for name, value in config.options:
        oracle.call(f"[method]options.set-{name}", options, value)
    made = oracle.call("[constructor]reading", options)
    if config.state is not None:
        return oracle.call("[method]reading.resume", made, config.state)
    return oracle.call("[method]reading.at-epoch", made, config.epoch) if config.epoch else made


def by_shards(**options: Any) -> reads.ReadConfig:
    named = tuple((name.replace("_", "-"), value) for name, value in options.items())
    return reads.ReadConfig(np.array([40, 0, 13], dtype=np.uint64), named)


WEIGHED = by_shards(
    seed=-(2**63), deal="shards", shuffle=True, shuffle_rows=False, reshuffle=True, policy="round-robin",
    worker_policy="size-aware", weight="bytes", bytes=np.array([1, 2**52, 3], dtype=np.uint64), drop_last=True,
    batch_size=5,
)  # fmt: skip
WOVEN = by_shards(lanes=4, window=5, remainder="drop", world_size=2, workers=3, batch_size=2)
READINGS = [by_shards(), WOVEN, WOVEN._replace(epoch=2**64 - 1), WEIGHED, by_shards(shuffle=False, workers=2)]
READINGS.append(by_shards(workers=2)._replace(state=reads.Read(by_shards(world_size=3, workers=2), MEMORY).state(1)))
READ_CALLS: Calls = [
    *((name,) for name in ("recipe", "reads-per-row", "epoch", "is-rest", "steps", "num-idle-readers")),
    *(("num-steps", rank) for rank in (0, 1, 2**32 - 1)),
    *(("state", steps) for steps in (0, 1, 2**64 - 1)),
    *(
        (name, rank, worker)
        for name in ("num-samples", "num-padding", "num-rounds", "shards")
        for rank, worker in ((0, 1), (1, 0), (9, 9))
    ),
    *(("indices", 0, 0, start, count) for start, count in ((0, 3), (1, 0), (2**64 - 1, 1), (0, 2**32 - 1))),
    *(("round", 0, 0, number) for number in (0, 1, 2**64 - 1)),
    *(("round-of", 0, 0, index) for index in (0, 5, 2**64 - 1)),
]
BAD_READINGS = [
    by_shards(deal="naïve ✓"),
    by_shards(world_size=0),
    by_shards(deal="shards", lanes=3),
    by_shards()._replace(state="{}"),
    WOVEN._replace(state=reads.Read(WEIGHED, MEMORY).state(1)),
]


@pytest.mark.parametrize("config", READINGS, ids=range(len(READINGS)))
def test_readings(config: reads.ReadConfig) -> None:
    oracle = Oracle(Component.PLANNING, "read")
    agree(oracle, "reading", read_by(oracle, config), reads.Read(config, MEMORY), READ_CALLS)


@pytest.mark.parametrize("config", BAD_READINGS, ids=range(len(BAD_READINGS)))
def test_readings_that_are_refused(config: reads.ReadConfig) -> None:
    failure = ours(reads.Read, config, MEMORY)
    assert failure == plain(read_by(Oracle(Component.PLANNING, "read"), config))
    assert set(failure) == {"kind", "field", "value", "allowed"}


@pytest.mark.parametrize("config", MESHES, ids=lambda config: config.world)
def test_meshes(config: MeshConfig) -> None:
    oracle = Oracle(Component.SAMPLING, "mesh")
    agree(oracle, "mesh", oracle.call("[constructor]mesh", *config), _grid.Grid(config), MESH_CALLS)


@pytest.mark.parametrize("config", [*BATCHERS, QUANTILES], ids=range(len(BATCHERS) + 1))
def test_batchers(config: BatchConfig) -> None:
    oracle = Oracle(Component.BATCHING, "batches")
    theirs = oracle.call("[constructor]batcher", config)
    agree(oracle, "batcher", theirs, _batching.Plan(config, MEMORY), BATCHER_CALLS)


@pytest.mark.parametrize("config", BATCHERS, ids=range(len(BATCHERS)))
def test_batch_streams(config: BatchConfig) -> None:
    config = config._replace(history=[])
    oracle = Oracle(Component.BATCHING, "batches")
    theirs = oracle.call("[constructor]batch-stream", config, config.world - 1)
    made = _batching.Stream(config, config.world - 1, MEMORY)
    agree(oracle, "batch-stream", theirs, made, BATCH_STREAM_CALLS)


def make_deal(config: Config, *sharding: Sharding) -> _deal.Deal:
    return _deal.Deal(config, MEMORY, *sharding)


CONSTRUCTORS: list[tuple[Component, str, Callable[..., Any], Any]] = [
    (Component.SAMPLING, "sampling#[constructor]sampler", make_deal, [(config,) for config in BAD_CONFIGS]),
    (Component.SAMPLING, "sampling#[static]sampler.sharded", make_deal, BAD_SHARDED),
    (
        Component.PLANNING,
        "shards#[constructor]plan",
        lambda config: _planning.Plan(config, MEMORY),
        [(config,) for config in BAD_PLANS],
    ),
    (
        Component.PLANNING,
        "shards#[constructor]chunk-stream",
        lambda config: _planning.Stream(config, MEMORY),
        [(config,) for config in BAD_STREAMS],
    ),
    (Component.PLANNING, "ledger#[constructor]ledger", _ledgering.Machine, BAD_HEADERS),
    (
        Component.BATCHING,
        "batches#[constructor]batcher",
        lambda config: _batching.Plan(config, MEMORY),
        [(config,) for config in BAD_BATCHERS],
    ),
    (
        Component.BATCHING,
        "batches#[constructor]batch-stream",
        lambda config, rank: _batching.Stream(config, rank, MEMORY),
        [(BATCHES._replace(window=2**32 - 1), 0), (BATCHES, 2), (QUANTILES, 0), (BATCHES._replace(order="naïve ✓"), 0)],
    ),
    (
        Component.SAMPLING,
        "mesh#[constructor]mesh",
        lambda world, axes: _grid.Grid(MeshConfig(world, axes)),
        BAD_MESHES,
    ),
]


@pytest.mark.parametrize(("component", "name", "make", "bad"), CONSTRUCTORS, ids=[case[1] for case in CONSTRUCTORS])
def test_constructor_failures(component: Component, name: str, make: Callable[..., Any], bad: Any) -> None:
    interface, function = name.split("#")
    for arguments in bad:
        failure = ours(make, *arguments)
        assert failure == plain(Oracle(component, interface).call(function, *arguments)), arguments
        assert set(failure) == {"kind", "field", "value", "allowed"}


def test_functions() -> None:
    oracle = Oracle(Component.SAMPLING, "sampling")
    assert list(_deal.orders()) == oracle.call("orders")
    assert _deal.max_window() == oracle.call("max-window")
    oracle = Oracle(Component.SAMPLING, "launch")
    assert list(_grid.variables()) == oracle.call("variables")
    for arguments in DETECT:
        assert ours(_grid.detect, *arguments) == plain(oracle.call("detect", *arguments)), arguments
    oracle = Oracle(Component.PLANNING, "shards")
    for arguments in VERIFY:
        assert ours(_planning.verify, *arguments) == plain(oracle.call("verify", *arguments)), arguments
    oracle = Oracle(Component.PLANNING, "ledger")
    for arguments in [(Sampler(5).state(0), 3, 9), (Sampler(5).state(0), 0, 9), ("naïve ✓", 1, 1)]:
        assert ours(_ledgering.header, *arguments) == plain(oracle.call("header", *arguments)), arguments
    oracle = Oracle(Component.BATCHING, "collation")
    for name, *given in COLLATION:
        wanted = plain(oracle.call(name, *given))
        assert ours(getattr(_batching.Collation(None), name), *given) == wanted, (name, given)


@pytest.mark.parametrize(
    ("component", "resources", "functions"),
    [
        (
            Component.SAMPLING,
            {"sampling#{}sampler": SAMPLER, "mesh#{}mesh": MESH_CALLS},
            {"sampling#orders", "sampling#max-window", "launch#variables", "launch#detect"}
            | {"sampling#[static]sampler.sharded"},
        ),
        (
            Component.PLANNING,
            {"shards#{}plan": PLAN_CALLS, "shards#{}chunk-stream": STREAM_CALLS, "ledger#{}ledger": LEDGER_CALLS}
            | {"read#{}reading": READ_CALLS},
            {"shards#verify", "ledger#header", "read#[constructor]options", "read#[dtor]options"}
            | {f"read#[method]options.set-{name}" for name in reads._OPTIONS}
            | {f"read#[method]reading.{name}" for name in ("at-epoch", "resume")},
        ),
        (
            Component.BATCHING,
            {"batches#{}batcher": BATCHER_CALLS, "batches#{}batch-stream": BATCH_STREAM_CALLS},
            {"collation#pad", "collation#pack"},
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_nothing_is_left_out(component: Component, resources: dict[str, Calls], functions: set[str]) -> None:
    core = wasmtime.Module(wasmtime.Engine(), _component.core_module(component.path.read_bytes()))
    prefix = "samedeal:deal/"
    exports = {str(export.name) for export in core.exports if str(export.name).startswith(prefix)}
    called = {f"{resource.format('[method]')}.{call[0]}" for resource, calls in resources.items() for call in calls}
    for resource in resources:
        called |= {resource.format("[constructor]"), resource.format("[dtor]")}
    assert {name.removeprefix(prefix).replace("@0.1.0", "") for name in exports} == called | functions


@pytest.mark.parametrize("component", Component)
def test_nothing_is_imported(component: Component) -> None:
    engine = wasmtime.Engine()
    kind = wc.Component(engine, component.path.read_bytes()).type
    assert len(kind.exports(engine)) >= 2
    assert kind.imports(engine) == {}


def test_indices_into_is_indices() -> None:
    deal = _deal.Deal(CONFIGS[4], MEMORY)
    out = np.zeros(50, dtype=np.int64)
    deal.indices_into(out, 7)
    assert out.tolist() == deal.indices(7, 50).tolist()


def test_memory_may_grow_between_calls() -> None:
    # Each round needs more memory than there was, so that the views of the round before end too early.
    deal = _deal.Deal(Config(2**23, 0, 0, "sequential", 0, 1, "pad", "strided"), MEMORY)
    for count in (1, 2**10, 2**15, 2**18, 2**20):
        assert deal.indices(5, count).tolist() == list(range(5, 5 + count))
        assert deal.indices32(5, count).tolist() == list(range(5, 5 + count))


def test_large_lists_cross_whole() -> None:
    # Larger than the memory of a new instance, which moves or grows while they are put into it.
    sizes = np.arange(300_000, dtype=np.uint64)
    plan = _planning.Plan(PLAN._replace(sizes=sizes, bytes=sizes[::-1].copy(), world=1, workers=1), MEMORY)
    assert plan.shards(0, 0, 0, 300_000).tolist() == list(range(300_000))
    assert plan.loads("ranks", 0, 1).tolist() == [300_000, int(sizes.sum()), int(sizes.sum()), 0]
    assigned = np.roll(np.arange(300_000, dtype=np.uint32), 7)
    assert _planning.verify(300_000, u32s(0, 300_000), assigned).ok
