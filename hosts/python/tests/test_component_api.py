"""The generated calls against wasmtime-py's component API, function by function of the WIT."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wasmtime
from samedeal import Batcher, SamedealError, Sampler
from samedeal import recipe as recipes
from samedeal.batch import binding as batching
from samedeal.batch.lengths import Lengths
from samedeal.deal import binding as dealing
from samedeal.engine import abi, capi, code
from samedeal.engine import component as components
from samedeal.engine.core import Core
from samedeal.generated import INTERFACES
from samedeal.generated.mesh import Axis
from samedeal.generated.types import NamedList
from samedeal.ledger import binding as ledgers
from samedeal.read import binding as reads
from samedeal.recipe import Recipe
from samedeal.shard import binding as planning
from samedeal.split import binding as splitting
from samedeal.steps import binding as stepping
from samedeal.topology import binding as topology
from samedeal.topology.binding import MeshConfig
from wasmtime import component as wc

MEMORY = 2**31


def u32s(*values: int) -> Any:
    return np.array(values, dtype=np.uint32)


def u64s(*values: int) -> Any:
    return np.array(values, dtype=np.uint64)


def document(lists: dict[str, Any], **sections: Any) -> Recipe:
    """A recipe, and the lists beside it."""
    named = tuple(NamedList(name, np.array(numbers, dtype=np.uint64)) for name, numbers in lists.items())
    return Recipe(recipes.text(sections), named)


Epochs = tuple[Recipe, dealing.Where]


def dealt(
    samples: Any, seed: int = 0, epoch: int = 0, order: str = "feistel", rank: int = 0, consumed: int = 0, **deal: Any
) -> Epochs:
    """The recipe of a sampler, and the place where it begins."""
    members = {"name": order, "samples": samples, "seed": seed}
    return document({}, order=members, deal=deal), dealing.Where(epoch, rank, consumed)


def sharded(sizes: list[int], lanes: int, window: int, rank: int = 0, **deal: Any) -> Epochs:
    members = {"name": "sharded", "seed": -5, "lanes": lanes, "shuffle_window": window}
    return document({"sizes": sizes}, order=members, deal=deal), dealing.Where(3, rank)


SAMPLERS = [
    dealt(0),
    dealt(10, -3, 2**64 - 1, "torch", 1, world_size=3, remainder="drop", layout="contiguous"),
    dealt(10, 2**63 - 1, 0, "python", 2, world_size=3, remainder="uneven"),
    dealt(3, -(2**63), 5, "fisher-yates", 7, world_size=8, layout="contiguous"),
    dealt(1000, 2**31 - 1, 1, "dotnet", world_size=7, remainder="uneven", layout="contiguous"),
    dealt(2**53 - 1, 1, 1, remainder="drop"),
    dealt(2**32, 1, 1, "sequential", 4, world_size=9, remainder="uneven"),
    dealt(2**32 + 1, 1, 1, "sequential", 4, world_size=9, remainder="uneven"),
    dealt(2**53 - 1, 1, 1, consumed=2**53 - 2, remainder="drop"),
    sharded([], 1, 1),
    sharded([13, 0, 7], 2, 4, 1, world_size=2),
    sharded([10] * 100, 64, 8, 2, world_size=3),
    sharded([2**53 - 2, 1], 4096, 2**20),
]
SOURCES = [{"name": "naïve ✓", "weight": 2**52, "samples": 7}, {"name": "b", "samples": 2**40}]
COMPOSED = [
    (document({}, order={"name": "blend", "sources": SOURCES}, deal={"world_size": 3}), dealing.Where(5, 2)),
    (document({}, order={"name": "blend-exact", "sources": [{"name": "a", "samples": 8}]}), dealing.Where(0, 0)),
    (document({}, order={"name": "blend", "index_space": "shared", "sources": SOURCES}), dealing.Where(0, 0, 6)),
    (
        document({"of/indices": range(0, 900, 3)}, order={"name": "copies", "copies": 2, "of": {
            "name": "exclude", "of": {"samples": 900, "seed": -(2**63)}}}),
        dealing.Where(2**20, 0),
    ),
    (document({"classes": [0, 1] * 200}, order={"name": "balance", "factors": [1, 2**32 - 1]}), dealing.Where(1, 0)),
]  # fmt: skip
BAD_SAMPLERS = [
    dealt(2**53),
    dealt("many"),
    dealt(10, order="x" * 65),
    dealt(10, order="naïve ✓"),
    dealt(10, order=""),
    dealt(10, rank=3, world_size=3),
    dealt(10, world_size=0),
    dealt(10, 2**31, order="dotnet"),
    dealt(10, order="sharded"),
    dealt(10, layout="naïve ✓"),
    sharded([1, 1], 0, 1),
    sharded([1, 1], 1, 2**20 + 1),
    sharded([2**64 - 1, 2**63], 1, 1),
    (document({"sizes": [1, 1]}, order={"samples": 2}), dealing.Where(0, 0)),
    (document({"naïve ✓": []}, order={"samples": 2}), dealing.Where(0, 0)),
    (Recipe("naïve ✓"), dealing.Where(0, 0)),
]

Calls = list[tuple[Any, ...]]

NODES = {"holder_offsets": [0, 1, 3, 4], "holders": [7, 2**32 - 1, 7, 9], "rank_nodes": [7, 2**32 - 1]}


def planned(sizes: Any = (5, 0, 9), lists: Any = None, world_size: int = 2, workers: int = 3, **options: Any) -> Recipe:
    """The recipe of a plan."""
    deal = {"world_size": world_size, "workers": workers}
    return document({"sizes": sizes, **(lists or {})}, shards=options, deal=deal)


PLANS = [
    (planned(policy="round-robin", worker_policy="size-aware", shuffle=False, seed=-(2**63)), 2**64 - 1),
    (planned((), world_size=1), 0),
    (
        planned(
            lists={"bytes": [2**53 - 2, 0, 1]}, balance_by="bytes", worker_policy="round-robin", shuffle_rows=False
        ),
        1,
    ),
    (planned(lists=NODES, policy="locality-aware", tolerance=2), 2),
    (planned(range(1000), world_size=7, reshuffle=True, seed=2**63 - 1), 0),
]
BAD_PLANS = [
    (planned((2**64 - 1, 2**64 - 1)), 0),
    (planned(lists={"bytes": [1]}), 0),
    (planned(world_size=0), 0),
    (planned(workers=2**32 - 1), 0),
    (planned(policy="locality-aware"), 0),
    (planned(lists=NODES), 0),
    (planned(lists=NODES | {"holder_offsets": [1, 0]}, policy="locality-aware"), 0),
    (planned(lists=NODES | {"rank_nodes": []}, policy="locality-aware"), 0),
    (planned(lists=NODES | {"holder_offsets": [0, 0, 0, 4]}, policy="locality-aware"), 0),
    (planned(balance_by="naïve ✓"), 0),
]


def streamed(readers: int = 4, reader: int = 1, epoch: int = 0, **order: Any) -> tuple[Recipe, planning.Place]:
    """The recipe of a stream of chunks, and the epoch and reader of the stream."""
    return document({}, order=order, deal={"readers": readers}), planning.Place(epoch, reader)


STREAMS = [
    streamed(1, 0),
    streamed(4, 1, 2**64 - 1, chunks=12, seed=-(2**63)),
    streamed(2**32 - 1, 2**32 - 2, chunks=2**53 - 1, name="feistel", seed=2**63 - 1),
]
BAD_STREAMS = [
    streamed(0, 0),
    streamed(1, 1),
    streamed(name="feistel"),
    streamed(chunks=12, name="naïve ✓"),
    streamed(chunks=2**64 - 1),
    streamed(chunks=0),
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


Batched = tuple[batching.Where, Recipe, Any]


def by_recipe(beside: Any, state: str | None = None, epoch: int = 0, boundaries: Any = None, **members: Any) -> Batched:
    """The arguments of a batcher, from the members of its recipe."""
    order = {name: members.pop(name) for name in ("name", "seed") if name in members}
    deal = {"world_size": members.pop("world_size", 2)}
    lists = {} if boundaries is None else {"boundaries": boundaries}
    return batching.Where(epoch, state), document(lists, order=order, deal=deal, batch=members), beside


SOME = u32s(5, 0, 9, 2, 2, 7)
OPEN = Batcher(SOME, max_tokens=12, batch_window=4, world_size=3).state(1)
BEYOND = OPEN.replace('"steps":1', f'"steps":{2**53 - 1}')
BATCHERS = [
    by_recipe(SOME, epoch=2**64 - 1, seed=-(2**63), max_tokens=12, batch_window=3, tail="keep"),
    by_recipe(u32s(), max_tokens=12, tail="drop"),
    by_recipe(u32s(*range(100)), max_tokens=12, max_length=7, too_long="split", seed=2**63 - 1),
    by_recipe(u32s(1, 2**32 - 1), max_tokens=12, too_long="single", tail="duplicate", world_size=3),
    by_recipe(SOME, strategy="pack", capacity=11, packing="optimal", max_batch_size=2, too_long="drop"),
    by_recipe(SOME, strategy="bucket", boundaries=u64s(2, 5), max_batch_size=2, too_long="truncate"),
    by_recipe(SOME, strategy="bucket", bucket_width=2**32 - 1, max_batch_size=2),
    by_recipe(SOME, state=OPEN, max_tokens=12, batch_window=4),
    by_recipe(SOME, state=BEYOND, max_tokens=12, batch_window=4),
    by_recipe(SOME, strategy="pad-to-max", max_batch_size=2, name="torch", seed=1, world_size=1),
    # Costs that need 64 bits.
    by_recipe(
        u32s(2**32 - 2), counting="weighted", linear=2**32 - 1, quadratic=2**32 - 1, max_cost=1, too_long="single",
        world_size=1,
    ),
    by_recipe(SOME, counting="unpadded", max_tokens=2**64 - 1, max_batch_size=2**32 - 1, keep_order=True),
    by_recipe(None, max_tokens=12, lengths=SOME.tolist()),
    by_recipe(u32s(*range(300)), max_tokens=1000, batch_size_multiple=4),
    (
        batching.Where(2),
        document(
            {"of/indices": range(0, 300, 7)},
            order={"name": "copies", "copies": 2, "of": {"name": "subset", "of": {"samples": 300, "name": "torch"}}},
            batch={"max_tokens": 1000},
        ),
        u32s(*range(300)),
    ),
]  # fmt: skip
QUANTILES = by_recipe(SOME, strategy="bucket", quantiles=3, max_batch_size=2)
BAD_BATCHERS = [
    by_recipe(SOME, name="naïve ✓", max_tokens=12),
    by_recipe(SOME, name="sharded", max_tokens=12),
    by_recipe(SOME, world_size=0, max_tokens=12),
    by_recipe(SOME, max_tokens=0),
    by_recipe(SOME, max_tokens=2**64),
    by_recipe(SOME, max_tokens=12, batch_size_multiple=0),
    by_recipe(SOME, state=OPEN, max_tokens=13, batch_window=4),
    by_recipe(SOME, state=OPEN.replace('"world_size":3', f'"world_size":{2**32 - 1}'), max_tokens=12, batch_window=4),
    by_recipe(SOME, state="naïve ✓", max_tokens=12),
    by_recipe(SOME, strategy="bucket", boundaries=u64s(2**64 - 1, 0)),
    by_recipe(SOME, strategy="bucket", bucket_width=0),
    by_recipe(SOME, strategy="bucket", quantiles=2**32 - 1),
    by_recipe(SOME, strategy="pack"),
    by_recipe(None, max_tokens=12),
    by_recipe(SOME, max_tokens=12, lengths=[1, 2]),
    (batching.Where(0), document({"naïve ✓": []}, batch={"max_tokens": 12}), SOME),
    (batching.Where(0), Recipe("naïve ✓"), SOME),
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
    (by_recipe(None, strategy="bucket", quantiles=3, max_batch_size=2), 0),
    (by_recipe(None, max_tokens=12, name="naïve ✓"), 0),
]
PADS: Calls = [
    (u32s(), None, 1, "left"),
    (u32s(3, 0, 1), None, 4, "left"),
    (u32s(3, 0, 1), 5, 1, "right"),
    (u32s(3, 0, 1), 2, 1, "right"),
    (u32s(3, 0, 1), 0, 1, "right"),
    (u32s(3, 0, 1), None, 1, "both"),
    (u32s(3), None, 0, "right"),
    (u32s(2**32 - 1, 2**32 - 1), None, 2**32 - 1, "right"),
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
JOIN = '{"event":"join","reader":2,"session":"00000000000000ff"}'
LEDGER_CALLS: Calls = [
    ("replay", [], 0, 0),
    ("replay", [], 2**32 - 1, 2**32 - 1),
    ("apply", "naïve ✓"),
    ("replay", [HEADER, "naïve ✓"], 0, 2),
    ("apply", HEADER),
    ("apply", CLAIM),
    ("apply", CLAIM),
    ("apply", COMMIT.replace("4", "1")),
    ("apply", JOIN),
    ("apply", CLAIM.replace("2", "6")),
    ("replay", [COMMIT.replace("2", "6").replace("4", "0"), COMMIT.replace("2", "3").replace("4", "2"), JOIN], 1, 2),
    ("replay", [COMMIT.replace("2", "5").replace("4", "1")], 0, 2),
    ("replay", [], 2**32 - 2, 2**32 - 1),
    ("apply", COMMIT.replace("2", "6").replace("commit", "release")),
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
    ("claimed", 1),
    ("is-lost", 1),
    ("claimed", 2**64 - 1),
    ("commit", 1, 2, 3),
    ("tell-appended", True, 3),
    ("commit", 1, 2**32 - 1, 3),
    ("renew", 1, 4),
    ("tell-appended", True, 4),
    ("commit", 1, None, 4),
    ("open", 5),
    ("change-lease", 2**53, 5),
    ("change-lease", 2**53 - 1, 5),
    ("tell-entries", ["naïve ✓"], 5),
    ("catch-up", 6),
    ("tell-entries", [], 6),
    ("release", 1, 6),
    ("tell-appended", True, 6),
    ("forget", 1),
    ("claim", True, 2**64 - 1),
    ("tell-entries", [], 7),
    ("progress",),
    ("block-size",),
    ("lease-ms",),
]
BAD_HEADERS: list[tuple[Any, ...]] = [("",), ("naïve ✓",), (HEADER.replace("ledger", "sampler"),)]


@functools.cache
def compiled() -> tuple[wasmtime.Engine, wc.Component]:
    engine = wasmtime.Engine()
    return engine, wc.Component(engine, Path(components.COMPONENT).read_bytes())


@functools.cache
def interfaces() -> dict[str, dict[str, wc.FuncType]]:
    """The functions of the component's interfaces, from its own types, which are those of the WIT."""
    engine, whole = compiled()
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
    """The component through wasmtime-py's own API."""

    def __init__(self, interface: str) -> None:
        engine, whole = compiled()
        self.functions = interfaces()[full_name(interface)]
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
    """An argument in the form that wasmtime-py's API takes."""
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
    """A result of either API in a common form."""
    if isinstance(value, wc.Variant):
        result = value.tag in ("ok", "err")
        return plain(value.payload) if result else {"kind": value.tag, "value": plain(value.payload)}
    if isinstance(value, wc.Record):
        return {name.replace("-", "_"): plain(item) for name, item in vars(value).items()}
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, SamedealError):
        facts = [{"name": name, "value": fact} for name, texts in value.facts.items() for fact in texts]
        return {name: getattr(value, name) for name in ("kind", "field", "path", "value", "allowed")} | {"facts": facts}
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
LISTS: dict[Any, Any] = {
    wc.U32: (u32s(), u32s(0), u32s(1, 2, 3), u32s(2**32 - 1, 0, 0)),
    wc.U64: (u64s(), u64s(7, 0), u64s(2**53)),
}
LISTS[wc.String] = ([], ["naïve ✓", "", "a"])


def drawn(kind: Any) -> Iterable[Any]:
    """Some values of a type of the interface, its smallest and largest among them."""
    if type(kind) in NUMBERS:
        return NUMBERS[type(kind)]
    if isinstance(kind, wc.Bool):
        return False, True
    if isinstance(kind, wc.String):
        return "", "{}", "naïve ✓", "workers", "bytes"
    if isinstance(kind, wc.EnumType):
        return kind.names
    if isinstance(kind, wc.OptionType):
        return None, *drawn(kind.payload)
    if isinstance(kind, wc.ListType):
        values: Iterable[Any] = LISTS[type(kind.element)]
        return values
    raise NotImplementedError(f"{kind}: give examples")


def calls_of(functions: dict[str, wc.FuncType], resource: str) -> Calls:
    """Calls of every method of a resource: all combinations of values for up to two parameters, else one parameter at a
    time."""
    found: Calls = []
    for name, function in functions.items():
        if name.startswith(f"[method]{resource}."):
            values = [[*drawn(kind)] for _, kind in function.params[1:]]
            few = len(values) <= 2
            found += [(name.split(".")[1], *each) for each in (itertools.product(*values) if few else in_turn(values))]
    assert found, resource
    return found


def in_turn(values: list[list[Any]]) -> Iterable[tuple[Any, ...]]:
    """Arguments in which one parameter takes each of its values. The others have their second value, which most
    functions accept."""
    usual = tuple(each[min(1, len(each) - 1)] for each in values)
    found = ((*usual[:at], value, *usual[at + 1 :]) for at, each in enumerate(values) for value in each)
    # Each once. Arrays have no hash.
    return {repr(own): own for own in found}.values()


def agree(
    oracle: Oracle, resource: str, theirs: Any, made: Any, calls: Iterable[tuple[Any, ...]] | None = None
) -> None:
    for name, *arguments in calls_of(oracle.functions, resource) if calls is None else calls:
        wanted = plain(oracle.call(f"[method]{resource}.{name}", theirs, *arguments))
        assert ours(getattr(made, name.replace("-", "_")), *arguments) == wanted, (name, arguments)


def made_by(oracle: Oracle, name: str, recipe: Recipe, *others: Any) -> Any:
    """A resource that wasmtime-py makes, or the failure."""
    return oracle.call(f"[constructor]{name}", recipe.text, recipe.lists, *others)


@pytest.mark.parametrize(("recipe", "where"), SAMPLERS, ids=range(len(SAMPLERS)))
def test_samplers(recipe: Recipe, where: dealing.Where) -> None:
    oracle = Oracle("sampling")
    theirs = made_by(oracle, "sampler", recipe, where.epoch, where.rank)
    if where.consumed:
        theirs = held(oracle.call("[method]sampler.rest", theirs, where.consumed))
    made = dealing.Deal(where, recipe, MEMORY)
    slow = ("fingerprint", "round") if made.dataset_size() > 2**30 else ()
    agree(
        oracle, "sampler", theirs, made, (each for each in calls_of(oracle.functions, "sampler") if each[0] not in slow)
    )


@pytest.mark.parametrize(("recipe", "where"), COMPOSED, ids=range(len(COMPOSED)))
def test_samplers_of_composed_orders(recipe: Recipe, where: dealing.Where) -> None:
    oracle = Oracle("sampling")
    theirs = made_by(oracle, "sampler", recipe, where.epoch, where.rank)
    if where.consumed:
        theirs = held(oracle.call("[method]sampler.rest", theirs, where.consumed))
    made = dealing.Deal(where, recipe, MEMORY)
    # A fate has all places of a sample, which are tens of thousands in some of these cases.
    slow = ("fingerprint", "fate") if made.epoch_length() > 2**30 else ("fate",)
    calls: Calls = [("fate", 3, 2, 0), ("fate", 2**64 - 1, 1, 0), ("fate", 0, 0, 0), ("fate", 0, 1, 2**64 - 1)]
    calls += [each for each in calls_of(oracle.functions, "sampler") if each[0] not in slow]
    # The drawn values of these calls are mostly refused, so these calls are added.
    calls += [("source-counts", 0, 5), ("source-of", 6), ("source-of", 7), ("locate-from", 3, 6, 2)]
    agree(oracle, "sampler", theirs, made, calls)


@pytest.mark.parametrize(("recipe", "epoch"), PLANS, ids=range(len(PLANS)))
def test_plans(recipe: Recipe, epoch: int) -> None:
    oracle = Oracle("shards")
    agree(oracle, "plan", made_by(oracle, "plan", recipe, epoch), planning.Plan(epoch, recipe, MEMORY))


@pytest.mark.parametrize(("recipe", "place"), STREAMS, ids=range(len(STREAMS)))
def test_streams(recipe: Recipe, place: planning.Place) -> None:
    oracle = Oracle("shards")
    theirs = oracle.call("[constructor]chunk-stream", recipe.text, *place)
    agree(oracle, "chunk-stream", theirs, planning.Stream(place, recipe, MEMORY))


def test_ledgers() -> None:
    oracle = Oracle("ledger")
    theirs = oracle.call("[constructor]ledger", HEADER)
    agree(oracle, "ledger", theirs, ledgers.Machine(HEADER), LEDGER_CALLS)


def test_clients_of_ledgers() -> None:
    oracle = Oracle("ledger")
    options = oracle.call("[constructor]client-options", STATE, 1, 2**64 - 1)
    for name, value in (("block-size", 4), ("lease-ms", 2**53 - 1), ("checkpoint-interval", 3)):
        oracle.call(f"[method]client-options.set-{name}", options, value)
    theirs = oracle.call("[constructor]client", options)
    agree(oracle, "client", theirs, ledgers.Client(STATE, 1, 2**64 - 1, 4, 2**53 - 1, 3), CLIENT_CALLS)
    oracle.call("[method]client-options.set-block-size", options, 0)
    wanted = plain(oracle.call("[constructor]client", options))
    assert ours(ledgers.Client, STATE, 1, 2**64 - 1, 0) == wanted


def parted(*parts: dict[str, Any], **more: Any) -> Recipe:
    """The recipe of a split."""
    return document({}, split={"parts": parts, **more})


SPLITS = [
    parted({"name": "naïve ✓", "weight": 1}, {"name": "b", "weight": 2**52}, seed=-(2**63)),
    parted({"name": "a", "size": 3}, {"name": "b", "size": 0}, {"name": "c", "size": 2**40}, seed=2**63 - 1),
]
BAD_SPLITS = [
    parted(),
    parted({"name": "naïve ✓", "weight": 0}),
    parted({"name": "a", "weight": 1}, {"name": "a", "weight": 1}),
    parted({"name": "a", "size": 1}, {"name": "b", "weight": 1}),
    parted({"name": "a", "size": 2**53}),
    Recipe("naïve ✓"),
]


@pytest.mark.parametrize("recipe", SPLITS, ids=range(len(SPLITS)))
def test_splits(recipe: Recipe) -> None:
    oracle = Oracle("splits")
    agree(oracle, "split", oracle.call("[constructor]split", recipe.text), splitting.Parts(None, recipe, MEMORY))


def test_exact_sizes() -> None:
    oracle = Oracle("splits")
    recipe = parted({"name": "a", "size": 2}, {"name": "b", "size": 1})
    theirs = held(oracle.call("[method]split.exact-sizes", held(oracle.call("[constructor]split", recipe.text))))
    mine = splitting.Parts(None, recipe, MEMORY).exact_sizes()
    calls = [
        ("add-ids", u64s(3, 2**53 - 2)),
        ("add-keys", "annaboris\u00e4", u32s(4, 9, 11)),
        ("recipe", "rest"),
        ("recipe", "a"),
        ("add-ids", u64s(2**53)),
    ]
    agree(oracle, "exact-sizes", theirs, mine, calls)


Schedules = tuple[Recipe, stepping.Where]


def scheduled(samples: Any, steps: Any, rank: int = 0, lists: Any = None, order: Any = None, **deal: Any) -> Schedules:
    """The recipe of a schedule, and its rank."""
    own = {"samples": samples, "seed": -(2**63)} if order is None else order
    return document(lists or {}, order=own, deal=deal, steps=steps), stepping.Where(rank)


STAGES = {
    "global_batch_size": 6,
    "stages": [{"from": 2, "global_batch_size": 12}, {"from": 7, "global_batch_size": 2**32 - 4}],
}
SUBSET = {"name": "copies", "copies": 2, "of": {"name": "subset", "of": {"samples": 900, "name": "torch"}}}
SCHEDULES = [
    scheduled(7, {"global_batch_size": 1}),
    scheduled(10, STAGES, 1, world_size=2, unit=3, layout="contiguous"),
    scheduled(2**40, {"global_batch_size": 4}, 3, world_size=4, layout="rotated"),
    scheduled(0, {"global_batch_size": 8}, lists={"of/indices": range(0, 900, 3)}, order=SUBSET, world_size=2, unit=4),
    scheduled(0, {"global_batch_size": 8}, order={"name": "blend", "sources": SOURCES}),
]
BAD_SCHEDULES = [
    scheduled(0, {"global_batch_size": 4}),
    scheduled(10, {"global_batch_size": 5}, world_size=2),
    scheduled(10, {"global_batch_size": 4}, 2, world_size=2),
    scheduled(10, {"global_batch_size": 4, "stages": [{"from": 0, "global_batch_size": 8}]}),
    scheduled(10, {}),
    scheduled(10, {"global_batch_size": 4}, remainder="pad"),
    scheduled(10, {"global_batch_size": 4}, order={"name": "naïve ✓"}),
]


@pytest.mark.parametrize(("recipe", "where"), SCHEDULES, ids=range(len(SCHEDULES)))
def test_schedules(recipe: Recipe, where: stepping.Where) -> None:
    oracle = Oracle("steps")
    made = stepping.Steps(where, recipe, MEMORY)
    # The drawn values have no states, so these calls are added.
    calls = [*calls_of(oracle.functions, "schedule"), ("step-of-state", made.state(3)), ("step-of", 1, 2)]
    agree(oracle, "schedule", made_by(oracle, "schedule", recipe, where.rank), made, calls)


Readings = tuple[reads.Where, Recipe]


def read_by(oracle: Oracle, where: reads.Where, recipe: Recipe) -> Any:
    """A reading that wasmtime-py makes, or the failure."""
    made = made_by(oracle, "reading", recipe, where.epoch)
    return made if where.state is None else oracle.call("[method]reading.resume", made, where.state)


def by_shards(lists: Any = None, epoch: int = 0, state: str | None = None, **sections: Any) -> Readings:
    recipe = document({"sizes": [40, 0, 13], **(lists or {})}, **(sections or {"order": {}}))
    return reads.Where(epoch, state), recipe


WEIGHED: dict[str, Any] = {
    "lists": {"bytes": [1, 2**52, 3]},
    "shards": {
        "seed": -(2**63),
        "shuffle_rows": False,
        "reshuffle": True,
        "policy": "round-robin",
        "balance_by": "bytes",
    },
    "batch": {"batch_size": 5, "drop_last": True},
}
WOVEN: dict[str, Any] = {
    "order": {"lanes": 4, "shuffle_window": 5},
    "deal": {"remainder": "drop", "world_size": 2, "workers": 3},
    "batch": {"batch_size": 2},
}
STORED: dict[str, Any] = {"order": {"name": "sequential"}, "deal": {"workers": 2}}
THREE: dict[str, Any] = {"order": {}, "deal": {"world_size": 3, "workers": 2}}
READINGS = [
    by_shards(),
    by_shards(**WOVEN),
    by_shards(**WOVEN, epoch=2**64 - 1),
    by_shards(**WEIGHED),
    by_shards(**STORED),
    by_shards(order={}, deal={"workers": 2}, state=reads.Read(*by_shards(**THREE), MEMORY).state(1)),
]
BAD_READINGS = [
    by_shards(order={"name": "naïve ✓"}),
    by_shards(order={}, deal={"world_size": 0}),
    by_shards(order={"lanes": 3}, shards={}),
    by_shards(deal={}),
    by_shards(state="{}"),
    by_shards(**WOVEN, state=reads.Read(*by_shards(**WEIGHED), MEMORY).state(1)),
]


@pytest.mark.parametrize(("where", "recipe"), READINGS, ids=range(len(READINGS)))
def test_readings(where: reads.Where, recipe: Recipe) -> None:
    oracle = Oracle("readings")
    theirs = held(read_by(oracle, where, recipe))
    agree(oracle, "reading", theirs, reads.Read(where, recipe, MEMORY))


def held(value: Any) -> Any:
    """The resource in a result of wasmtime-py."""
    return value.payload if isinstance(value, wc.Variant) else value


@pytest.mark.parametrize(("where", "recipe"), BAD_READINGS, ids=range(len(BAD_READINGS)))
def test_readings_that_are_refused(where: reads.Where, recipe: Recipe) -> None:
    failure = ours(reads.Read, where, recipe, MEMORY)
    assert failure == plain(read_by(Oracle("readings"), where, recipe))
    assert set(failure) == {"kind", "field", "path", "value", "allowed", "facts"}


@pytest.mark.parametrize("config", MESHES, ids=lambda config: config.world_size)
def test_meshes(config: MeshConfig) -> None:
    oracle = Oracle("mesh")
    agree(oracle, "mesh", oracle.call("[constructor]mesh", *config), topology.Grid(config))


def batches_by(oracle: Oracle, config: Batched, *rank: int) -> Any:
    """A batcher that wasmtime-py makes, or a stream if there is a rank, or the failure."""
    where, recipe, lengths = config
    made = recipe_by(oracle, recipe, lengths)
    if not isinstance(made, wc.ResourceAny):
        return made
    if rank:
        return oracle.call("[constructor]batch-stream", made, where.epoch, *rank)
    whole = oracle.call("[constructor]batcher", made, where.epoch)
    if where.state is None or not isinstance(whole, wc.ResourceAny):
        return whole
    return held(oracle.call("[method]batcher.resume", whole, where.state))


def recipe_by(oracle: Oracle, recipe: Recipe, lengths: Any) -> Any:
    """A batch recipe with its lengths that wasmtime-py makes, or the failure."""
    count = None if lengths is None else len(lengths)
    made = oracle.call("[constructor]batch-recipe", recipe.text, count, recipe.lists)
    if count is None or not isinstance(made, wc.ResourceAny):
        return made
    supplied = oracle.call("[method]batch-recipe.supply", made, lengths)
    return made if plain(supplied) is None else supplied


def plan_of(config: Batched) -> batching.Plan:
    where, recipe, lengths = config
    return batching.Plan(where, recipe, None if lengths is None else Lengths.of(lengths), MEMORY)


def stream_of(config: Batched, rank: int) -> batching.Stream:
    where, recipe, _ = config
    return batching.Stream(recipe, where.epoch, rank, MEMORY)


@pytest.mark.parametrize("config", [*BATCHERS, QUANTILES], ids=range(len(BATCHERS) + 1))
def test_batchers(config: Batched) -> None:
    oracle = Oracle("batches")
    agree(oracle, "batcher", batches_by(oracle, config), plan_of(config))


@pytest.mark.parametrize("config", [*BATCHERS, QUANTILES], ids=range(len(BATCHERS) + 1))
def test_batch_recipes(config: Batched) -> None:
    oracle = Oracle("batches")
    _, recipe, lengths = config
    agree(oracle, "batch-recipe", recipe_by(oracle, recipe, lengths), plan_of(config).recipe)


@pytest.mark.parametrize("config", BATCH_STREAMS, ids=range(len(BATCH_STREAMS)))
def test_batch_streams(config: Batched) -> None:
    oracle = Oracle("batches")
    agree(oracle, "batch-stream", batches_by(oracle, config, 1), stream_of(config, 1), BATCH_STREAM_CALLS)


@pytest.mark.parametrize("config", BAD_BATCHERS, ids=range(len(BAD_BATCHERS)))
def test_batchers_that_are_refused(config: Batched) -> None:
    failure = ours(plan_of, config)
    assert failure == plain(batches_by(Oracle("batches"), config))
    assert set(failure) == {"kind", "field", "path", "value", "allowed", "facts"}


@pytest.mark.parametrize(("config", "rank"), BAD_BATCH_STREAMS, ids=range(len(BAD_BATCH_STREAMS)))
def test_batch_streams_that_are_refused(config: Batched, rank: int) -> None:
    failure = ours(stream_of, config, rank)
    assert failure == plain(batches_by(Oracle("batches"), config, rank))
    assert set(failure) == {"kind", "field", "path", "value", "allowed", "facts"}


def in_recipe(recipe: Recipe, *others: Any) -> tuple[Any, ...]:
    """The arguments of a call that takes a recipe."""
    return (recipe.text, recipe.lists, *others)


CONSTRUCTORS: list[tuple[str, Callable[..., Any], Any]] = [
    (
        "sampling#[constructor]sampler",
        lambda text, lists, *place: dealing.Deal(dealing.Where(*place), Recipe(text, lists), MEMORY),
        [in_recipe(recipe, where.epoch, where.rank) for recipe, where in BAD_SAMPLERS],
    ),
    (
        "shards#[constructor]plan",
        lambda text, lists, epoch: planning.Plan(epoch, Recipe(text, lists), MEMORY),
        [in_recipe(recipe, epoch) for recipe, epoch in BAD_PLANS],
    ),
    (
        "shards#[constructor]chunk-stream",
        lambda text, *place: planning.Stream(planning.Place(*place), Recipe(text), MEMORY),
        [(recipe.text, *place) for recipe, place in BAD_STREAMS],
    ),
    ("ledger#[constructor]ledger", ledgers.Machine, BAD_HEADERS),
    (
        "splits#[constructor]split",
        lambda text: splitting.Parts(None, Recipe(text), MEMORY),
        [(recipe.text,) for recipe in BAD_SPLITS],
    ),
    (
        "steps#[constructor]schedule",
        lambda text, lists, rank: stepping.Steps(stepping.Where(rank), Recipe(text, lists), MEMORY),
        [in_recipe(recipe, where.rank) for recipe, where in BAD_SCHEDULES],
    ),
    (
        "mesh#[constructor]mesh",
        lambda world_size, axes: topology.Grid(MeshConfig(world_size, axes)),
        BAD_MESHES,
    ),
]


@pytest.mark.parametrize(("name", "make", "bad"), CONSTRUCTORS, ids=[case[0] for case in CONSTRUCTORS])
def test_constructor_failures(name: str, make: Callable[..., Any], bad: Any) -> None:
    interface, function = name.split("#")
    for arguments in bad:
        failure = ours(make, *arguments)
        assert failure == plain(Oracle(interface).call(function, *arguments)), arguments
        assert set(failure) == {"kind", "field", "path", "value", "allowed", "facts"}


HEADERS: Calls = [(Sampler(5).state(0), 3, 9), (Sampler(5).state(0), 0, 9), ("naïve ✓", 1, 1)]
FUNCTIONS: dict[str, Calls] = {
    "launch#detect": DETECT,
    "shards#verify": VERIFY,
    "ledger#header": HEADERS,
    "collation#pad": PADS,
    "collation#pack": PACKS,
}
"""Arguments of functions that take more than a few numbers, or as much memory as a number says."""
RESOURCES = {
    "sampling#sampler": test_samplers,
    "mesh#mesh": test_meshes,
    "shards#plan": test_plans,
    "shards#chunk-stream": test_streams,
    "ledger#ledger": test_ledgers,
    "ledger#client-options": test_clients_of_ledgers,
    "ledger#client": test_clients_of_ledgers,
    "readings#reading": test_readings,
    "batches#batch-recipe": test_batch_recipes,
    "batches#batcher": test_batchers,
    "batches#batch-stream": test_batch_streams,
    "splits#split": test_splits,
    "splits#exact-sizes": test_exact_sizes,
    "steps#schedule": test_schedules,
}
"""For each resource: the test that calls every method of it."""
ALL = [
    (interface.split("/")[1].split("@")[0], name) for interface, functions in interfaces().items() for name in functions
]


@pytest.mark.parametrize(
    ("interface", "name"),
    [each for each in ALL if not each[1].startswith("[")],
    ids=lambda each: str(each),
)
def test_functions(interface: str, name: str) -> None:
    oracle = Oracle(interface)
    function = getattr(import_module(f"samedeal.generated.{interface}"), name.replace("-", "_"))
    values = (drawn(kind) for _, kind in oracle.functions[name].params)
    for arguments in FUNCTIONS.get(f"{interface}#{name}") or itertools.product(*values):
        wanted = plain(oracle.call(name, *arguments))
        assert ours(function, Core(MEMORY), *arguments) == wanted, (name, arguments)


def generated() -> dict[str, tuple[Any, abi.Function[Any]]]:
    """The calls of the generated modules, by the names of their exports."""
    modules = [import_module(f"samedeal.generated.{name}") for name in INTERFACES]
    held = ((module, item) for module in modules for item in vars(module).values())
    return {item.name: (module, item) for module, item in held if isinstance(item, abi.Function)}


def test_the_bindings_are_all_of_the_interface() -> None:
    core = wasmtime.Module(wasmtime.Engine(), code.core_module(Path(components.COMPONENT).read_bytes()))
    exports = {str(export.name) for export in core.exports if str(export.name).startswith("samedeal:deal/")}
    # The exports include destructors, which the types do not have.
    assert exports == generated().keys()
    assert {f"{full_name(interface)}#{name}" for interface, name in ALL} <= exports
    resources = {f"{interface}#{name.split(']')[1].split('.')[0]}" for interface, name in ALL if "]" in name}
    assert resources == RESOURCES.keys()


@pytest.mark.parametrize(("interface", "name"), ALL, ids=lambda each: str(each))
def test_the_bindings_have_the_names_of_the_interface(interface: str, name: str) -> None:
    module, function = generated()[f"{full_name(interface)}#{name}"]
    names = [parameter for parameter, _ in interfaces()[full_name(interface)][name].params]
    assert list(function.parameters) == names
    owner, _, own = name.rpartition("]")[2].rpartition(".")
    if name.startswith("[constructor]"):
        owner, own = own, "--init--"
    scope = getattr(module, "".join(map(str.capitalize, owner.split("-")))) if owner else module
    made = getattr(scope, own.replace("-", "_"))
    first = {"[method]": [], "[constructor]": ["self", "core"]}.get(name.partition("]")[0] + "]", ["core"])
    # A parameter named `handle` would have the name of a resource's field.
    shown = ("handle_" if each == "handle" else each.replace("-", "_") for each in names)
    assert list(inspect.signature(made).parameters) == [*first, *shown]
    # The docstring is the documentation of the WIT.
    assert len(made.__doc__) > 10


def test_nothing_repeats_the_interface_by_hand() -> None:
    package = Path(components.PACKAGE)
    by_hand = [path for path in package.rglob("*.py") if path.parent.name != "generated" and path.name != "abi.py"]
    assert len(by_hand) > 30
    for path in by_hand:
        text = path.read_text(encoding="utf-8")
        for word in ("abi.record(", "abi.enum(", "abi.variant(", "abi.Function(", "samedeal:deal/"):
            assert word not in text, f"{path} has {word}"


def test_nothing_is_imported() -> None:
    engine, whole = compiled()
    kind = whole.type
    assert len(kind.exports(engine)) >= 2
    assert kind.imports(engine) == {}


def test_the_handles_are_what_their_text_says() -> None:
    lines = Path(code.__file__).read_text(encoding="utf-8").splitlines()
    start = lines.index("# (module")
    text = "\n".join(line.removeprefix("# ") for line in lines[start : start + 3])
    assert wasmtime.wat2wasm(text) == code.HANDLES


def test_the_layouts_of_the_library_are_those_that_are_used() -> None:
    from ctypes import sizeof

    from wasmtime import _bindings as declared

    extern, instance = declared.wasmtime_extern_t, declared.wasmtime_instance_t
    assert (sizeof(extern), extern.of.offset, sizeof(instance)) == (capi.EXTERN, capi.OF, capi.INSTANCE)
    # Sizes of the types of arguments and results.
    assert sizeof(declared.wasmtime_val_raw_t) == 16
    assert (sizeof(declared.wasm_byte_vec_t), declared.wasm_byte_vec_t.data.offset) == (16, 8)  # type: ignore[attr-defined]


def test_indices_into_is_indices() -> None:
    recipe, where = SAMPLERS[4]
    deal = dealing.Deal(where, recipe, MEMORY)
    out = np.zeros(50, dtype=np.int64)
    deal.indices_into(out, 7)
    assert out.tolist() == deal.indices(7, 50).tolist()


def test_memory_may_grow_between_calls() -> None:
    # Each round needs more memory than the one before, so array views of the round before would be too short.
    recipe, where = dealt(2**23, order="sequential")
    deal = dealing.Deal(where, recipe, MEMORY)
    for count in (1, 2**10, 2**15, 2**18, 2**20):
        assert deal.indices(5, count).tolist() == list(range(5, 5 + count))
        assert deal.indices32(5, count).tolist() == list(range(5, 5 + count))


def test_large_lists_cross_whole() -> None:
    # The lists are larger than the memory of a new instance, which moves or grows while they are written into it.
    sizes = np.arange(300_000, dtype=np.uint64)
    plan = planning.Plan(0, planned(sizes, {"bytes": sizes[::-1]}, 1, 1, shuffle=False), MEMORY)
    assert plan.shards(0, 0, 0, 300_000).tolist() == list(range(300_000))
    loads = {name: numbers.tolist() for name, numbers in plan.loads("ranks", 0, 1)}
    assert loads == {"shards": [300_000], "samples": [sizes.sum()], "bytes": [sizes.sum()]}
    assigned = np.roll(np.arange(300_000, dtype=np.uint32), 7)
    assert planning.verify(300_000, u32s(0, 300_000), assigned).ok
