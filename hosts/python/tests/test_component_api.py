"""The generated calls against the same calls through wasmtime-py's component API, function by function of the WIT."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import wasmtime
from samedeal import SamedealError, Sampler, bindings
from samedeal.batch import binding as batching
from samedeal.batch.binding import BatchConfig
from samedeal.bindings import read
from samedeal.bindings.batches import Segment
from samedeal.bindings.mesh import Axis
from samedeal.bindings.sampling import Config, Sharding
from samedeal.bindings.shards import Locality, PlanConfig, StreamConfig
from samedeal.bindings.types import NamedList
from samedeal.deal import binding as dealing
from samedeal.engine import abi
from samedeal.engine import component as components
from samedeal.engine.component import Component
from samedeal.engine.core import Core
from samedeal.ledger import binding as ledgers
from samedeal.read import binding as reads
from samedeal.shard import binding as planning
from samedeal.topology import binding as topology
from samedeal.topology.binding import MeshConfig
from wasmtime import component as wc

MEMORY = 2**31

CONFIGS = [
    Config(0, 0, 0, "feistel", 0, 1, "pad", "strided", 0),
    Config(10, -3, 2**64 - 1, "torch", 1, 3, "drop", "contiguous", 0),
    Config(10, 2**63 - 1, 0, "python", 2, 3, "uneven", "strided", 0),
    Config(3, -(2**63), 5, "fisher-yates", 7, 8, "pad", "contiguous", 0),
    Config(1000, 2**31 - 1, 1, "dotnet", 0, 7, "uneven", "contiguous", 0),
    Config(2**53 - 1, 1, 1, "feistel", 0, 1, "drop", "strided", 0),
    Config(2**32, 1, 1, "sequential", 4, 9, "uneven", "strided", 0),
    Config(2**32 + 1, 1, 1, "sequential", 4, 9, "uneven", "strided", 0),
    Config(2**53 - 1, 1, 1, "feistel", 0, 1, "drop", "strided", 2**53 - 2),
]
BAD_CONFIGS = [
    Config(2**53, 0, 0, "feistel", 0, 1, "pad", "strided", 0),
    Config(10, 0, 0, "x" * 65, 0, 1, "pad", "strided", 0),
    Config(10, 0, 0, "naïve ✓", 0, 1, "pad", "strided", 0),
    Config(10, 0, 0, "", 0, 1, "pad", "strided", 0),
    Config(10, 0, 0, "feistel", 3, 3, "pad", "strided", 0),
    Config(10, 0, 0, "feistel", 0, 0, "pad", "strided", 0),
    Config(10, 2**31, 0, "dotnet", 0, 1, "pad", "strided", 0),
    Config(10, 0, 0, "feistel", 0, 1, "pad", "strided", 2**64 - 1),
    Config(10, 0, 0, "sharded", 0, 1, "pad", "strided", 0),
]


def u32s(*values: int) -> Any:
    return np.array(values, dtype=np.uint32)


def u64s(*values: int) -> Any:
    return np.array(values, dtype=np.uint64)


def sharded(samples: int, rank: int = 0, world_size: int = 1) -> Config:
    return Config(samples, -5, 3, "sharded", rank, world_size, "pad", "strided", 0)


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

Calls = list[tuple[Any, ...]]

LOCALITY = Locality(u32s(0, 1, 3, 4), u32s(7, 2**32 - 1, 7, 9), u32s(7, 2**32 - 1), 50)
PLAN = PlanConfig(
    u64s(5, 0, 9), u64s(), 2, 3, "round-robin", "size-aware", "samples", None, False, False, -(2**63), 2**64 - 1
)
PLANS = [
    PLAN,
    PLAN._replace(sizes=u64s(), world_size=1),
    PLAN._replace(bytes=u64s(2**53 - 2, 0, 1), weight="bytes", policy="size-aware", worker_policy="round-robin"),
    PLAN._replace(locality=LOCALITY, policy="locality-aware", shuffle=True),
    PLAN._replace(sizes=u64s(*range(1000)), world_size=7, shuffle=True, reshuffle=True, seed=2**63 - 1, epoch=0),
]
BAD_PLANS = [
    PLAN._replace(sizes=u64s(2**64 - 1, 2**64 - 1)),
    PLAN._replace(bytes=u64s(1)),
    PLAN._replace(world_size=0),
    PLAN._replace(workers=2**32 - 1),
    PLAN._replace(policy="locality-aware"),
    PLAN._replace(policy="locality-aware", locality=LOCALITY._replace(holder_offsets=u32s(1, 0))),
    PLAN._replace(policy="locality-aware", locality=LOCALITY._replace(rank_nodes=u32s())),
    PLAN._replace(policy="locality-aware", locality=LOCALITY._replace(holder_offsets=u32s(0, 0, 0, 4))),
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
MESHES = [
    MeshConfig(1, ()),
    MeshConfig(
        24,
        (
            Axis("dp", 2, "shard"),
            Axis("naïve ✓", 3, "replicate"),
            Axis("", 4, "shard"),
        ),
    ),
    MeshConfig(2**32 - 1, (Axis("x" * 65, 2**32 - 1, "replicate"),)),
]
BAD_MESHES = [
    MeshConfig(0, ()),
    MeshConfig(
        2,
        (
            Axis("a", 1, "shard"),
            Axis("a", 2, "shard"),
        ),
    ),
    MeshConfig(2, (Axis("a", 0, "shard"),)),
    MeshConfig(2, tuple(Axis(f"axis {i}", 2**32 - 1, "replicate") for i in range(64))),
    MeshConfig(1, tuple(Axis(f"axis {i}", 1, "replicate") for i in range(65))),
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


def by_recipe(
    beside: Any, history: tuple[Segment, ...] = (), epoch: int = 0, boundaries: Any = None, **members: Any
) -> BatchConfig:
    """Batches, by the members of their recipe."""
    order = {name: members.pop(name) for name in ("name", "seed") if name in members}
    deal = {"world_size": members.pop("world_size", 2)}
    text = json.dumps({"order": order, "deal": deal, "batch": members}, ensure_ascii=False)
    lists = () if boundaries is None else (NamedList("boundaries", boundaries),)
    return BatchConfig(text, beside, lists, epoch, history)


SOME = u32s(5, 0, 9, 2, 2, 7)
BATCHERS = [
    by_recipe(SOME, epoch=2**64 - 1, seed=-(2**63), max_tokens=12, batch_window=3, tail="keep"),
    by_recipe(u32s(), max_tokens=12, tail="drop"),
    by_recipe(u32s(*range(100)), max_tokens=12, max_length=7, too_long="split", seed=2**63 - 1),
    by_recipe(u32s(1, 2**32 - 1), max_tokens=12, too_long="single", tail="duplicate", world_size=3),
    by_recipe(SOME, strategy="pack", capacity=11, packing="optimal", max_batch_size=2, too_long="drop"),
    by_recipe(SOME, strategy="bucket", boundaries=u64s(2, 5), max_batch_size=2, too_long="truncate"),
    by_recipe(SOME, strategy="bucket", bucket_width=2**32 - 1, max_batch_size=2),
    by_recipe(SOME, history=(Segment(3, 1), Segment(2, 0)), max_tokens=12, batch_window=3),
    by_recipe(SOME, strategy="pad-to-max", max_batch_size=2, name="torch", seed=1, world_size=1),
    # Costs that fill 64 bits.
    by_recipe(
        u32s(2**32 - 2), counting="weighted", linear=2**32 - 1, quadratic=2**32 - 1, max_cost=1, too_long="single",
        world_size=1,
    ),
    by_recipe(SOME, counting="unpadded", max_tokens=2**64 - 1, max_batch_size=2**32 - 1, batch_window=0),
    by_recipe(None, max_tokens=12, lengths=SOME.tolist()),
    by_recipe(u32s(*range(300)), max_tokens=1000, batch_size_multiple=4),
]  # fmt: skip
QUANTILES = by_recipe(SOME, strategy="bucket", quantiles=3, max_batch_size=2)
BAD_BATCHERS = [
    by_recipe(SOME, name="naïve ✓", max_tokens=12),
    by_recipe(SOME, name="sharded", max_tokens=12),
    by_recipe(SOME, world_size=0, max_tokens=12),
    by_recipe(SOME, max_tokens=0),
    by_recipe(SOME, max_tokens=8),
    by_recipe(SOME, max_tokens=2**64),
    by_recipe(SOME, max_tokens=12, batch_size_multiple=0),
    by_recipe(SOME, history=(Segment(2, 2**64 - 1),), max_tokens=12),
    by_recipe(SOME, history=(Segment(2**32 - 1, 1),), max_tokens=12),
    by_recipe(SOME, strategy="bucket", boundaries=u64s(2**64 - 1, 0)),
    by_recipe(SOME, strategy="bucket", bucket_width=0),
    by_recipe(SOME, strategy="bucket", quantiles=2**32 - 1),
    by_recipe(SOME, strategy="pack"),
    by_recipe(None, max_tokens=12),
    by_recipe(SOME, max_tokens=12, lengths=[1, 2]),
    by_recipe(SOME, max_tokens=12)._replace(lists=(NamedList("naïve ✓", u64s()),)),
    BatchConfig("naïve ✓", SOME),
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
BATCH_STREAMS = [
    by_recipe(None, epoch=2**64 - 1, max_tokens=12, batch_window=3, seed=-(2**63)),
    by_recipe(None, strategy="pack", capacity=11, packing="optimal", max_batch_size=2, too_long="drop"),
    by_recipe(None, strategy="bucket", boundaries=u64s(2, 5), max_batch_size=2, too_long="truncate"),
    by_recipe(None, strategy="pad-to-max", max_batch_size=2, too_long="split", max_length=2),
]
BAD_BATCH_STREAMS = [
    (by_recipe(None, max_tokens=12, batch_window=2**32 - 1), 0),
    (by_recipe(None, max_tokens=12), 2),
    (QUANTILES._replace(lengths=None), 0),
    (by_recipe(None, max_tokens=12, name="naïve ✓"), 0),
]
PADS: Calls = [
    (u32s(), 0, 1, "left"),
    (u32s(3, 0, 1), 0, 4, "left"),
    (u32s(3, 0, 1), 5, 1, "right"),
    (u32s(3, 0, 1), 2, 1, "right"),
    (u32s(3), 0, 0, "right"),
    (u32s(2**32 - 1, 2**32 - 1), 0, 2**32 - 1, "right"),
]
PACKS: Calls = [
    (u32s(), u32s(), 0),
    (u32s(3, 0, 1), u32s(2, 2, 3), 4),
    (u32s(3, 0, 1), u32s(3), 3),
    (u32s(3, 0, 1), u32s(3, 2), 2**32 - 1),
    (u32s(2**32 - 1), u32s(1), 2**32 - 1),
]


HEADER = ledgers.header(Sampler(10, consumed=2).state(0), 4, 100)
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
STATE = Sampler(10, consumed=2).state(0)
HELD = CLAIM.replace("1", "7", 1)
CLIENT_CALLS: Calls = [
    ("tell-appended", True, 0),
    ("claim", False, 1),
    ("tell-checkpoint", None, 1),
    ("tell-entries", [], 1),
    ("tell-appended", True, 1),
    ("tell-appended", True, 1),
    ("tell-appended", False, 1),
    ("tell-entries", [HELD], 2),
    ("tell-entries", [], 2),
    ("tell-appended", True, 2),
    ("run", 1),
    ("is-lost", 1),
    ("run", 2**64 - 1),
    ("commit", 1, 2, 3),
    ("tell-appended", True, 3),
    ("commit", 1, 2**32 - 1, 3),
    ("renew", 1, 4),
    ("tell-appended", True, 4),
    ("commit", 1, None, 4),
    ("open", 5),
    ("set-lease", 2**53, 5),
    ("set-lease", 2**53 - 1, 5),
    ("tell-entries", ["naïve ✓"], 5),
    ("catch-up", 6),
    ("tell-entries", [], 6),
    ("release", 1, 6),
    ("tell-appended", True, 6),
    ("forget", 1),
    ("claim", True, 2**64 - 1),
    ("tell-entries", [], 7),
    ("progress",),
    ("block",),
    ("lease",),
]
BAD_HEADERS: list[tuple[Any, ...]] = [("",), ("naïve ✓",), (HEADER.replace("ledger", "sampler"),)]


@functools.cache
def compiled(component: Component) -> tuple[wasmtime.Engine, wc.Component]:
    engine = wasmtime.Engine()
    return engine, wc.Component(engine, component.path.read_bytes())


@functools.cache
def interfaces(component: Component) -> dict[str, dict[str, wc.FuncType]]:
    """The functions of a component's interfaces, as it tells of itself: what the WIT says."""
    engine, whole = compiled(component)
    found = {}
    for name, extern in whole.type.exports(engine).items():
        instance = extern.ty
        assert isinstance(instance, wc.ComponentInstanceType)
        functions = {item: kind.ty for item, kind in instance.exports(engine).items()}
        found[name] = {item: kind for item, kind in functions.items() if isinstance(kind, wc.FuncType)}
    return found


def full_name(interface: str) -> str:
    return f"samedeal:deal/{interface}@0.1.0"


class Oracle:
    """A component in wasmtime-py's own hands."""

    def __init__(self, component: Component, interface: str) -> None:
        engine, whole = compiled(component)
        self.functions = interfaces(component)[full_name(interface)]
        self.store = wasmtime.Store(engine)
        self.instance = wc.Linker(engine).instantiate(self.store, whole)
        self.interface = self.instance.get_export_index(self.store, full_name(interface))

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
    if hasattr(value, "_asdict"):
        record: Any = wc.Record()
        for name, item in value._asdict().items():
            setattr(record, name.replace("_", "-"), passed(item))
        return record
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list) or (isinstance(value, tuple) and not all(isinstance(item, str) for item in value)):
        return [passed(item) for item in value]
    return [] if value == () else value


def plain(value: Any) -> Any:
    """A result of either side in one form."""
    if isinstance(value, wc.Variant):
        result = value.tag in ("ok", "err")
        return plain(value.payload) if result else {"kind": value.tag, "value": plain(value.payload)}
    if isinstance(value, wc.Record):
        return {name.replace("-", "_"): plain(item) for name, item in vars(value).items()}
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, SamedealError):
        facts = [{"name": name, "value": fact} for name, texts in value.facts.items() for fact in texts]
        return {name: getattr(value, name) for name in ("kind", "field", "value", "allowed")} | {"facts": facts}
    if isinstance(value, (wc.ResourceAny, abi.Handle)):
        return "a resource"
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def ours(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return plain(function(*arguments))
    except SamedealError as error:
        return plain(error)


NUMBERS = {wc.U32: (0, 1, 3, 2**32 - 1), wc.U64: (0, 1, 7, 2**64 - 1), wc.S64: (0, -(2**63), 2**63 - 1)}
LISTS = {wc.U32: (u32s(), u32s(0), u32s(1, 2, 3), u32s(2**32 - 1, 0, 0)), wc.U64: (u64s(), u64s(7, 0), u64s(2**53))}


def drawn(kind: Any) -> Iterable[Any]:
    """Some values of a type of the interface, its ends among them."""
    if type(kind) in NUMBERS:
        return NUMBERS[type(kind)]
    if isinstance(kind, wc.Bool):
        return False, True
    if isinstance(kind, wc.String):
        return "", "{}", "naïve ✓"
    if isinstance(kind, wc.EnumType):
        return kind.names
    if isinstance(kind, wc.OptionType):
        return None, *drawn(kind.payload)
    if isinstance(kind, wc.ListType):
        return LISTS[type(kind.element)]
    raise NotImplementedError(f"{kind}: give examples")


def calls_of(functions: dict[str, wc.FuncType], resource: str) -> Calls:
    """Every method of a resource, with all combinations of values that its parameters may have."""
    found: Calls = []
    for name, function in functions.items():
        if name.startswith(f"[method]{resource}."):
            values = [drawn(kind) for _, kind in function.params[1:]]
            found += [(name.split(".")[1], *arguments) for arguments in itertools.product(*values)]
    assert found, resource
    return found


def agree(
    oracle: Oracle, resource: str, theirs: Any, made: Any, calls: Iterable[tuple[Any, ...]] | None = None
) -> None:
    for name, *arguments in calls_of(oracle.functions, resource) if calls is None else calls:
        wanted = plain(oracle.call(f"[method]{resource}.{name}", theirs, *arguments))
        assert ours(getattr(made, name.replace("-", "_")), *arguments) == wanted, (name, arguments)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_samplers(config: Config) -> None:
    oracle = Oracle(Component.SAMPLING, "sampling")
    theirs = oracle.call("[constructor]sampler", config)
    calls = (
        call for call in calls_of(oracle.functions, "sampler") if call[0] != "fingerprint" or config.samples < 2**30
    )
    agree(oracle, "sampler", theirs, dealing.Deal(config, MEMORY), calls)


@pytest.mark.parametrize(("config", "sharding"), SHARDED, ids=str)
def test_samplers_over_shards(config: Config, sharding: Sharding) -> None:
    oracle = Oracle(Component.SAMPLING, "sampling")
    theirs = oracle.call("[static]sampler.sharded", config, sharding)
    slow = ("fingerprint", "round") if config.samples > 2**30 else ()
    calls = (call for call in calls_of(oracle.functions, "sampler") if call[0] not in slow)
    agree(oracle, "sampler", theirs, dealing.Deal(config, MEMORY, sharding), calls)


@pytest.mark.parametrize("config", PLANS, ids=range(len(PLANS)))
def test_plans(config: PlanConfig) -> None:
    oracle = Oracle(Component.PLANNING, "shards")
    agree(oracle, "plan", oracle.call("[constructor]plan", config), planning.Plan(config, MEMORY))


@pytest.mark.parametrize("config", STREAMS, ids=str)
def test_streams(config: StreamConfig) -> None:
    oracle = Oracle(Component.PLANNING, "shards")
    theirs = oracle.call("[constructor]chunk-stream", config)
    agree(oracle, "chunk-stream", theirs, planning.Stream(config, MEMORY))


def test_ledgers() -> None:
    oracle = Oracle(Component.PLANNING, "ledger")
    theirs = oracle.call("[constructor]ledger", HEADER)
    agree(oracle, "ledger", theirs, ledgers.Machine(HEADER), LEDGER_CALLS)


def test_clients_of_ledgers() -> None:
    oracle = Oracle(Component.PLANNING, "ledger")
    options = oracle.call("[constructor]client-options", STATE, 1, 2**64 - 1)
    for name, value in (("block", 4), ("lease", 2**53 - 1), ("checkpoint-interval", 3)):
        oracle.call(f"[method]client-options.set-{name}", options, value)
    theirs = oracle.call("[constructor]client", options)
    agree(oracle, "client", theirs, ledgers.Client(STATE, 1, 2**64 - 1, 4, 2**53 - 1, 3), CLIENT_CALLS)
    oracle.call("[method]client-options.set-block", options, 0)
    wanted = plain(oracle.call("[constructor]client", options))
    assert ours(ledgers.Client, STATE, 1, 2**64 - 1, 0) == wanted


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
WOVEN = by_shards(lanes=4, shuffle_window=5, remainder="drop", world_size=2, workers=3, batch_size=2)
READINGS = [by_shards(), WOVEN, WOVEN._replace(epoch=2**64 - 1), WEIGHED, by_shards(shuffle=False, workers=2)]
READINGS.append(by_shards(workers=2)._replace(state=reads.Read(by_shards(world_size=3, workers=2), MEMORY).state(1)))
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
    agree(oracle, "reading", read_by(oracle, config), reads.Read(config, MEMORY))


def test_options() -> None:
    # A setter gives nothing back: what it sets shows in the readings above.
    oracle = Oracle(Component.PLANNING, "read")
    theirs = oracle.call("[constructor]options", u64s(1, 2))
    options = read.Options(Core(Component.PLANNING, MEMORY), u64s(1, 2))
    agree(oracle, "options", theirs, options)
    wanted = plain(oracle.call("[constructor]reading", theirs))
    assert ours(read.Reading, options.core, options) == wanted
    options.drop()


@pytest.mark.parametrize("config", BAD_READINGS, ids=range(len(BAD_READINGS)))
def test_readings_that_are_refused(config: reads.ReadConfig) -> None:
    failure = ours(reads.Read, config, MEMORY)
    assert failure == plain(read_by(Oracle(Component.PLANNING, "read"), config))
    assert set(failure) == {"kind", "field", "value", "allowed", "facts"}


@pytest.mark.parametrize("config", MESHES, ids=lambda config: config.world_size)
def test_meshes(config: MeshConfig) -> None:
    oracle = Oracle(Component.SAMPLING, "mesh")
    agree(oracle, "mesh", oracle.call("[constructor]mesh", *config), topology.Grid(config))


def batches_by(oracle: Oracle, config: BatchConfig, *rank: int) -> Any:
    """A batcher, or with a rank a stream, in its hands, or its failure."""
    recipe = oracle.call("[constructor]batch-recipe", config.recipe, config.lengths, config.lists)
    if not isinstance(recipe, wc.ResourceAny):
        return recipe
    if rank:
        return oracle.call("[constructor]batch-stream", recipe, config.epoch, *rank)
    return oracle.call("[constructor]batcher", recipe, config.epoch, config.history)


@pytest.mark.parametrize("config", [*BATCHERS, QUANTILES], ids=range(len(BATCHERS) + 1))
def test_batchers(config: BatchConfig) -> None:
    oracle = Oracle(Component.BATCHING, "batches")
    agree(oracle, "batcher", batches_by(oracle, config), batching.Plan(config, MEMORY))


@pytest.mark.parametrize("config", [*BATCHERS, QUANTILES], ids=range(len(BATCHERS) + 1))
def test_batch_recipes(config: BatchConfig) -> None:
    oracle = Oracle(Component.BATCHING, "batches")
    theirs = oracle.call("[constructor]batch-recipe", config.recipe, config.lengths, config.lists)
    agree(oracle, "batch-recipe", theirs, batching.Plan(config, MEMORY).recipe)


@pytest.mark.parametrize("config", BATCH_STREAMS, ids=range(len(BATCH_STREAMS)))
def test_batch_streams(config: BatchConfig) -> None:
    oracle = Oracle(Component.BATCHING, "batches")
    made = batching.Stream(config, 1, MEMORY)
    agree(oracle, "batch-stream", batches_by(oracle, config, 1), made, BATCH_STREAM_CALLS)


@pytest.mark.parametrize("config", BAD_BATCHERS, ids=range(len(BAD_BATCHERS)))
def test_batchers_that_are_refused(config: BatchConfig) -> None:
    failure = ours(batching.Plan, config, MEMORY)
    assert failure == plain(batches_by(Oracle(Component.BATCHING, "batches"), config))
    assert set(failure) == {"kind", "field", "value", "allowed", "facts"}


@pytest.mark.parametrize(("config", "rank"), BAD_BATCH_STREAMS, ids=range(len(BAD_BATCH_STREAMS)))
def test_batch_streams_that_are_refused(config: BatchConfig, rank: int) -> None:
    failure = ours(batching.Stream, config, rank, MEMORY)
    assert failure == plain(batches_by(Oracle(Component.BATCHING, "batches"), config, rank))
    assert set(failure) == {"kind", "field", "value", "allowed", "facts"}


def make_deal(config: Config, *sharding: Sharding) -> dealing.Deal:
    return dealing.Deal(config, MEMORY, *sharding)


CONSTRUCTORS: list[tuple[Component, str, Callable[..., Any], Any]] = [
    (Component.SAMPLING, "sampling#[constructor]sampler", make_deal, [(config,) for config in BAD_CONFIGS]),
    (Component.SAMPLING, "sampling#[static]sampler.sharded", make_deal, BAD_SHARDED),
    (
        Component.PLANNING,
        "shards#[constructor]plan",
        lambda config: planning.Plan(config, MEMORY),
        [(config,) for config in BAD_PLANS],
    ),
    (
        Component.PLANNING,
        "shards#[constructor]chunk-stream",
        lambda config: planning.Stream(config, MEMORY),
        [(config,) for config in BAD_STREAMS],
    ),
    (Component.PLANNING, "ledger#[constructor]ledger", ledgers.Machine, BAD_HEADERS),
    (
        Component.SAMPLING,
        "mesh#[constructor]mesh",
        lambda world_size, axes: topology.Grid(MeshConfig(world_size, axes)),
        BAD_MESHES,
    ),
]


@pytest.mark.parametrize(("component", "name", "make", "bad"), CONSTRUCTORS, ids=[case[1] for case in CONSTRUCTORS])
def test_constructor_failures(component: Component, name: str, make: Callable[..., Any], bad: Any) -> None:
    interface, function = name.split("#")
    for arguments in bad:
        failure = ours(make, *arguments)
        assert failure == plain(Oracle(component, interface).call(function, *arguments)), arguments
        assert set(failure) == {"kind", "field", "value", "allowed", "facts"}


HEADERS: Calls = [(Sampler(5).state(0), 3, 9), (Sampler(5).state(0), 0, 9), ("naïve ✓", 1, 1)]
FUNCTIONS: dict[str, Calls] = {
    "launch#detect": DETECT,
    "shards#verify": VERIFY,
    "ledger#header": HEADERS,
    "collation#pad": PADS,
    "collation#pack": PACKS,
}
"""What to call functions with that take more than a few numbers, or as much memory as a number says."""
RESOURCES = {
    "sampling#sampler": test_samplers,
    "mesh#mesh": test_meshes,
    "shards#plan": test_plans,
    "shards#chunk-stream": test_streams,
    "ledger#ledger": test_ledgers,
    "ledger#client-options": test_clients_of_ledgers,
    "ledger#client": test_clients_of_ledgers,
    "read#options": test_options,
    "read#reading": test_readings,
    "batches#batch-recipe": test_batch_recipes,
    "batches#batcher": test_batchers,
    "batches#batch-stream": test_batch_streams,
}
"""The test that calls every method of a resource."""
ALL = [
    (component, interface.split("/")[1].split("@")[0], name)
    for component in Component
    for interface, functions in interfaces(component).items()
    for name in functions
]


@pytest.mark.parametrize(
    ("component", "interface", "name"),
    [each for each in ALL if not each[2].startswith("[")],
    ids=lambda each: str(each),
)
def test_functions(component: Component, interface: str, name: str) -> None:
    oracle = Oracle(component, interface)
    function = getattr(import_module(f"samedeal.bindings.{interface}"), name.replace("-", "_"))
    values = (drawn(kind) for _, kind in oracle.functions[name].params)
    for arguments in FUNCTIONS.get(f"{interface}#{name}") or itertools.product(*values):
        wanted = plain(oracle.call(name, *arguments))
        assert ours(function, Core(component, MEMORY), *arguments) == wanted, (name, arguments)


def generated() -> dict[str, tuple[Any, abi.Function[Any]]]:
    """The calls of the generated modules, by the names of the exports that they call."""
    modules = [import_module(f"samedeal.bindings.{name}") for name in bindings.INTERFACES]
    held = ((module, item) for module in modules for item in vars(module).values())
    return {item.name: (module, item) for module, item in held if isinstance(item, abi.Function)}


def test_the_bindings_are_all_of_the_interface() -> None:
    exports = set()
    for component in Component:
        core = wasmtime.Module(wasmtime.Engine(), components.core_module(component.path.read_bytes()))
        exports |= {str(export.name) for export in core.exports if str(export.name).startswith("samedeal:deal/")}
    # Among them the destructors, which the types do not tell of.
    assert exports == generated().keys()
    assert {f"{full_name(interface)}#{name}" for _, interface, name in ALL} <= exports
    resources = {f"{interface}#{name.split(']')[1].split('.')[0]}" for _, interface, name in ALL if "]" in name}
    assert resources == RESOURCES.keys()


@pytest.mark.parametrize(("component", "interface", "name"), ALL, ids=lambda each: str(each))
def test_the_bindings_have_the_names_of_the_interface(component: Component, interface: str, name: str) -> None:
    module, function = generated()[f"{full_name(interface)}#{name}"]
    names = [parameter for parameter, _ in interfaces(component)[full_name(interface)][name].params]
    assert list(function.parameters) == names
    owner, _, own = name.rpartition("]")[2].rpartition(".")
    if name.startswith("[constructor]"):
        owner, own = own, "--init--"
    scope = getattr(module, "".join(map(str.capitalize, owner.split("-")))) if owner else module
    made = getattr(scope, own.replace("-", "_"))
    first = {"[method]": [], "[constructor]": ["self", "core"]}.get(name.partition("]")[0] + "]", ["core"])
    # The field of a resource has that name, too.
    shown = ("handle_" if each == "handle" else each.replace("-", "_") for each in names)
    assert list(inspect.signature(made).parameters) == [*first, *shown]
    # The documentation of the WIT.
    assert len(made.__doc__) > 10


def test_nothing_repeats_the_interface_by_hand() -> None:
    package = Component.SAMPLING.path.parent
    by_hand = [path for path in package.rglob("*.py") if path.parent.name != "bindings" and path.name != "abi.py"]
    assert len(by_hand) > 30
    for path in by_hand:
        text = path.read_text(encoding="utf-8")
        for word in ("abi.record(", "abi.enum(", "abi.variant(", "abi.Function(", "samedeal:deal/"):
            assert word not in text, f"{path} has {word}"


@pytest.mark.parametrize("component", Component)
def test_nothing_is_imported(component: Component) -> None:
    engine = wasmtime.Engine()
    kind = wc.Component(engine, component.path.read_bytes()).type
    assert len(kind.exports(engine)) >= 2
    assert kind.imports(engine) == {}


def test_indices_into_is_indices() -> None:
    deal = dealing.Deal(CONFIGS[4], MEMORY)
    out = np.zeros(50, dtype=np.int64)
    deal.indices_into(out, 7)
    assert out.tolist() == deal.indices(7, 50).tolist()


def test_memory_may_grow_between_calls() -> None:
    # Each round needs more memory than there was, so that the views of the round before end too early.
    deal = dealing.Deal(Config(2**23, 0, 0, "sequential", 0, 1, "pad", "strided", 0), MEMORY)
    for count in (1, 2**10, 2**15, 2**18, 2**20):
        assert deal.indices(5, count).tolist() == list(range(5, 5 + count))
        assert deal.indices32(5, count).tolist() == list(range(5, 5 + count))


def test_large_lists_cross_whole() -> None:
    # Larger than the memory of a new instance, which moves or grows while they are put into it.
    sizes = np.arange(300_000, dtype=np.uint64)
    plan = planning.Plan(PLAN._replace(sizes=sizes, bytes=sizes[::-1].copy(), world_size=1, workers=1), MEMORY)
    assert plan.shards(0, 0, 0, 300_000).tolist() == list(range(300_000))
    assert plan.loads("ranks", 0, 1).tolist() == [300_000, int(sizes.sum()), int(sizes.sum()), 0]
    assigned = np.roll(np.arange(300_000, dtype=np.uint32), 7)
    assert planning.verify(300_000, u32s(0, 300_000), assigned).ok
