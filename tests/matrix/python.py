"""Holds the Python host against the golden cases: `python tests/matrix/python.py`. Prints one line per group."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import samedeal
from samedeal import collate
from samedeal.batch import binding as batching
from samedeal.batch.records import split
from samedeal.bindings import ledger, sampling
from samedeal.bindings.batches import BatchPlace, BatchRecipe, Run, Segment
from samedeal.bindings.collation import Packed, Padded
from samedeal.bindings.ledger import Event, Proposal
from samedeal.bindings.mesh import Axis
from samedeal.bindings.read import ReadBatch
from samedeal.bindings.sampling import Sharding
from samedeal.bindings.shards import Locality, PlanConfig, VerificationInRuns, verify_in_runs
from samedeal.bindings.types import NamedList
from samedeal.deal.binding import Deal
from samedeal.engine.component import Component
from samedeal.engine.core import Core
from samedeal.ledger.binding import Client, Machine, header
from samedeal.read.binding import Read
from samedeal.shard.binding import Plan, verify
from samedeal.topology.binding import Grid, MeshConfig, variables

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
ENGINE = f"python (wasmtime-py {importlib.metadata.version('wasmtime')})"

MEMORY = 2**31
SLOW = "SAMEDEAL_SLOW" in os.environ
"""Whether cases that need a table of several hundred megabytes are asked for."""
TEXTS = {"order", "remainder", "layout", "policy", "worker_policy", "weight", "tier", "name", "role", "environment"}
TEXTS |= {"text", "deal", "side", "state", "header", "entry", "recipe"}
TEXTS |= {"entries", "checkpoint"}
# The numbers of 64 bits, which the golden cases write as strings.
WIDE = {"samples", "seed", "epoch", "position", "index", "batch", "offset", "least", "most", "total", "start", "count"}
WIDE |= {"consumed", "steps", "taken", "positions", "committed", "claimed", "entries"}
NARROW_CALLS = ("num-shards", "data-world", "data-rank", "rank-at", "reads-per-row", "lanes-read-once", "block")


def u32s(values: list[int]) -> Any:
    return np.array(values, dtype=np.uint32)


def u64s(values: list[int]) -> Any:
    return np.array(values, dtype=np.uint64)


def lists(offsets: list[int], values: list[int]) -> list[list[int]] | None:
    """What offsets and values say, if they fit together."""
    if offsets[:1] != [0] or offsets[-1] != len(values) or offsets != sorted(offsets):
        return None
    return [values[start:end] for start, end in pairwise(offsets)]


def make_sampler(**config: Any) -> samedeal.Sampler:
    return samedeal.Sampler(config.pop("samples"), **config)


def make_sharded(config: dict[str, Any], sharding: dict[str, Any]) -> Any:
    """By the public call, which makes the rest of the configuration itself, where that is the same."""
    if config["order"] != "sharded" or config["samples"] != sum(sharding["sizes"]):
        return Deal(samedeal.Config(**config), MEMORY, Sharding(**{**sharding, "sizes": u64s(sharding["sizes"])}))
    rest = {name: value for name, value in config.items() if name not in ("samples", "order")}
    return samedeal.Sampler.sharded(**sharding, **rest)


def make_of_recipe(text: str, lists: dict[str, list[int]]) -> Any:
    """By the public call, which has a parameter for the sizes and for no other list."""
    if lists.keys() <= {"sizes"}:
        return samedeal.Sampler.from_recipe(text, **lists)
    core = Core(Component.SAMPLING, MEMORY)
    return sampling.Sampler.from_recipe(core, text, [NamedList(name, u64s(lists[name])) for name in lists])


def make_plan(locality: dict[str, Any] | None, **config: Any) -> Any:
    """By the public call, where it can say what the lists of the locality say."""
    if locality is None:
        return samedeal.ShardPlan(**config)
    holders = lists(locality["holder_offsets"], locality["holders"])
    if holders is not None:
        rest = {name: locality[name] for name in ("rank_nodes", "tolerance")}
        return samedeal.ShardPlan(holders=holders, **rest, **config)
    raw = Locality(*(u32s(locality[name]) for name in Locality._fields[:3]), locality["tolerance"])
    config |= {"sizes": u64s(config["sizes"]), "bytes": u64s(config["bytes"])}
    return Plan(PlanConfig(locality=raw, **config), MEMORY)


def make_mesh(world_size: int, axes: list[dict[str, Any]]) -> Any:
    """By the public call, which has no words for two axes of one name."""
    sizes = {axis["name"]: axis["size"] for axis in axes}
    if len(sizes) < len(axes):
        return Grid(MeshConfig(world_size, tuple(Axis(**axis) for axis in axes)))
    return samedeal.Mesh(world_size, sizes, [axis["name"] for axis in axes if axis["role"] == "shard"])


def make_batch_stream(
    recipe: str, lengths: list[int] | None, epoch: int, rank: int, lists: dict[str, list[int]] | None = None
) -> Any:
    """By the public call, which has parameters for the boundaries, and for no other list and no lengths."""
    if lengths is None and (lists or {}).keys() <= {"boundaries"}:
        return samedeal.BatchStream.from_recipe(recipe, epoch=epoch, rank=rank, **lists or {})
    return batching.Stream(raw_batches(recipe, lengths, lists)._replace(epoch=epoch), rank, MEMORY)


class Batches:
    """A batcher, which moves where the golden cases have another one take its place."""

    def __init__(
        self,
        recipe: str,
        lengths: list[int] | None,
        epoch: int,
        history: list[dict[str, int]],
        lists: dict[str, list[int]] | None = None,
    ) -> None:
        pasts = [Segment(past["world_size"], past["steps"]) for past in history]
        self.raw: batching.Plan | None = None
        """If the public call cannot say what the case says."""
        if (lists or {}).keys() <= {"boundaries"}:
            self.now = samedeal.Batcher.from_recipe(recipe, lengths, epoch=epoch, history=pasts, **lists or {})
        else:
            config = raw_batches(recipe, lengths, lists)._replace(epoch=epoch, history=tuple(pasts))
            self.raw = batching.Plan(config, MEMORY)

    def use(self, name: str, *values: Any) -> Any:
        """A method of the layer below."""
        function = getattr(batching.Plan, name)
        return function(self.raw, *values) if self.raw else self.now._engine.use(function, *values)

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """The public call of that name, and the same of the layer below."""
        if name in MOVES:
            if name == "at_epoch" and values[0] == self.use("epoch"):
                # A batcher stays in its epoch, of which a part may be taken: the whole of it comes by way of another.
                self.call(name, ((values[0] + 1) % 2**64,))
            below, public = MOVES[name]
            self.use(below, *values) if self.raw else getattr(self.now, public)(*values)
            return None
        result = self.use("named_metrics" if name == "metrics" else name, *values)
        if name == "metrics":
            result = Named(result)
        if self.raw:
            return result
        if name == "take":
            rank, start, count = values
            assert same(split(result), islice(self.now.batches(start, rank), count))
        elif name == "metrics":
            public = vars(self.now.metrics())
            assert all(public[metric.replace("-", "_")] == number for metric, number in result.items())
        elif name in ("state", "locate", "fingerprint"):
            assert list(getattr(self.now, name)(*values)) == list(result)
        elif name == "epoch":
            assert self.now.epoch == result
        elif name == "history":
            assert self.now.history == list(result)
        return result


MOVES = {"at_epoch": ("go_to_epoch", "set_epoch"), "resume": ("go_on", "resume")}
"""What moves a batcher: the call of the layer below, and the public one."""


class Named(dict[str, int]):
    """Numbers by name."""


class Recipes:
    """A recipe of batches; by the public calls, too, if there are lengths."""

    def __init__(
        self, recipe: str, lengths: list[int] | None = None, lists: dict[str, list[int]] | None = None
    ) -> None:
        config = raw_batches(recipe, lengths, lists)
        core = Core(Component.BATCHING, MEMORY)
        self.now = BatchRecipe(core, config.recipe, config.lengths, config.lists)
        self.public = None
        if lengths is not None and (lists or {}).keys() <= {"boundaries"}:
            self.public = samedeal.Batcher.from_recipe(recipe, lengths, **lists or {})

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """Its text, or its fingerprint."""
        result = getattr(self.now, name)(*values)
        if self.public is not None:
            assert result == (self.public.recipe if name == "text" else self.public.recipe_fingerprint())
        return result


def raw_batches(recipe: str, lengths: list[int] | None, lists: dict[str, list[int]] | None) -> batching.BatchConfig:
    named = tuple(NamedList(name, u64s(numbers)) for name, numbers in (lists or {}).items())
    return batching.BatchConfig(recipe, None if lengths is None else u32s(lengths), named)


class Readings:
    """A reading, in place of which another one comes where a call gives one."""

    def __init__(self, sizes: list[int], options: dict[str, Any]) -> None:
        names = {name: "world_size" if name == "world_size" else name for name in options}
        self.now = samedeal.Reading(sizes, **{names[name]: value for name, value in options.items()})

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """The public call of that name; what has none is asked of the layer below."""
        if name in ("at_epoch", "resume"):
            self.now = getattr(self.now, name)(*values)
            return None
        if name in ("num_rounds", "round"):
            return self.now._engine.use(getattr(Read, name), *values)
        if name == "indices":
            rank, worker, start, count = values
            result = self.now._engine.use(Read.indices, *values)
            assert np.array_equal(result, self.now.indices(rank, worker, start, start + count))
            return result
        if name == "round_rows":
            *which, start, count = values
            result = self.now._engine.use(Read.round_rows, *values)
            public = self.now.round_rows(*which, start, start + count)
            assert np.array_equal(result.rows, public.rows)
            assert result.padding == public.padding
            return result
        if name == "recipe":
            return self.now._engine.use(Read.recipe)
        if not hasattr(self.now, name):
            return self.now._engine.use(getattr(Read, name), *values)
        found = getattr(self.now, name)
        return found(*values) if callable(found) else found


MAKERS: dict[str, Callable[..., Any]] = {
    "reading": Readings,
    "config": make_sampler,
    "sharded": make_sharded,
    "recipe": make_of_recipe,
    "plan": make_plan,
    "chunk-stream": samedeal.ChunkStream,
    "ledger": Machine,
    "ledger-client": Client,
    "mesh": make_mesh,
    "batcher": Batches,
    "batch-recipe": Recipes,
    "batch-stream": make_batch_stream,
    "functions": lambda: None,
}


def call(made: Any, name: str, args: dict[str, Any]) -> Any:
    """The public call of that name. What has none (windows, 32 bits, raw lists) is asked of the layer below."""
    name = name.replace("-", "_")
    values = tuple(args.values())
    if made is None:
        return FUNCTIONS[name](**args)
    if isinstance(made, (Readings, Batches, Recipes)):
        return made.call(name, values)
    if isinstance(made, samedeal.Sampler) and name in ("indices", "indices32", "batch32"):
        result = made._engine.use(getattr(Deal, name), *values)
        if name == "indices":
            assert np.array_equal(result, made.indices(args["start"], args["start"] + args["count"]))
        return result
    if isinstance(made, samedeal.Sampler) and name == "sharding":
        return made._engine.use(Deal.sharding)
    if isinstance(made, samedeal.ShardPlan) and name in ("shards", "loads", "rows"):
        result = made._engine.use(getattr(Plan, name), *values)
        *whose, start, count = values
        if name == "rows":
            public = made.rows(*whose, start, start + count)
        elif name == "shards":
            public = made.shards(*whose)[start : start + count]
        else:
            public = np.stack(made.loads(*whose), axis=1)[start : start + count].reshape(-1)
        assert np.array_equal(result, public)
        return result
    if isinstance(made, samedeal.ShardPlan) and name == "imbalance":
        return made._engine.use(Plan.imbalance, *values)
    if isinstance(made, samedeal.Mesh) and name == "rank_at":
        place = args["coordinates"]
        if len(place) != len(made.axes):
            return made._engine.use(Grid.rank_at, u32s(place))
        return made.rank_at(dict(zip(made.axes, place, strict=True)))
    if isinstance(made, samedeal.BatchStream) and name == "ratio":
        return made._use(batching.Stream.ratio, *values)
    if isinstance(made, samedeal.BatchStream) and name == "metrics":
        return Named(made._use(batching.Stream.metrics))
    if isinstance(made, samedeal.BatchStream) and name == "take":
        return made._use(batching.Stream.take)
    if isinstance(made, batching.Stream) and name == "push":
        return made.push(u64s(args["samples"]), u32s(args["lengths"]))
    if isinstance(made, batching.Stream) and name == "metrics":
        return Named(made.metrics())
    if isinstance(made, Client):
        return getattr(made, name)(*values)
    found = getattr(made, name)
    return found(**args) if callable(found) else found


def call_verify(shards: int, offsets: list[int], assigned: list[int]) -> samedeal.Verification:
    readers = lists(offsets, assigned)
    return verify(shards, u32s(offsets), u32s(assigned)) if readers is None else samedeal.verify_shards(shards, readers)


def call_verify_in_runs(shards: int, offsets: list[int], assigned: list[int]) -> VerificationInRuns:
    return verify_in_runs(Core(Component.PLANNING, MEMORY), shards, u32s(offsets), u32s(assigned))


def call_detect(environment: list[list[str]], rank: int | None, world_size: int | None) -> samedeal.Detection:
    return samedeal.detect_rank(rank, world_size, environment={name: value for name, value in environment})


def same(some: Iterable[samedeal.Batch], others: Iterable[samedeal.Batch]) -> bool:
    """Whether these batches are those."""
    pairs = zip(some, others, strict=True)
    return all(np.array_equal(a, b) for one, other in pairs for a, b in zip(one, other, strict=True))


def call_pad(lengths: list[int], width: int, pad_to_multiple_of: int, side: str) -> Any:
    cells = collate._engine().use(batching.Collation.pad, u32s(lengths), width, pad_to_multiple_of, side)
    ends = np.cumsum([0, *lengths])
    tokens = np.arange(ends[-1], dtype=np.uint32)
    public = collate.pad(
        tokens,
        ends,
        padding_value=batching.PADDING,
        side=side,
        pad_to_multiple_of=pad_to_multiple_of,
        width=width or None,
    )
    assert np.array_equal(public.values.reshape(-1), cells.sources)
    assert np.array_equal(public.attention_mask, public.values != batching.PADDING)
    return cells


def call_pack(lengths: list[int], row_ends: list[int], width: int) -> Any:
    cells = collate._engine().use(batching.Collation.pack, u32s(lengths), u32s(row_ends), width)
    ends = np.cumsum([0, *lengths])
    tokens = np.arange(ends[-1], dtype=np.uint32)
    public = collate.pack(tokens, ends, row_ends=row_ends, width=width, padding_value=batching.PADDING)
    assert all(np.array_equal(np.ravel(a), np.ravel(b)) for a, b in zip(public, cells, strict=True))
    return cells


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "pad": call_pad,
    "pack": call_pack,
    "verify": call_verify,
    "verify_in_runs": call_verify_in_runs,
    "detect": call_detect,
    "header": header,
    "variables": lambda: list(variables()),
}


def written(value: Any) -> Any:
    """A result as the golden cases write it."""
    if isinstance(value, samedeal.Verification):
        return {"overlaps": [number for overlap in value.overlaps for number in overlap], "gaps": value.gaps}
    if isinstance(value, Named):
        return {name: str(number) for name, number in value.items()}
    if isinstance(value, (Run, Padded, Packed)):
        return {
            name.replace("_", "-"): number if isinstance(number, int) else written(number)
            for name, number in value._asdict().items()
        }
    if isinstance(value, ReadBatch):
        return value._asdict() | {name: str(getattr(value, name)) for name in ("number", "step", "start")}
    if isinstance(value, BatchPlace):
        named = {name.replace("_", "-"): number for name, number in value._asdict().items()}
        return named | {"step": str(value.step)}
    if isinstance(value, Proposal):
        kind, held = value
        return kind if held is None else {kind: str(held)}
    if isinstance(value, ledger.Step):
        return value._asdict() | {name: str(getattr(value, name)) for name in ("number", "milliseconds")}
    if isinstance(value, ledger.Run):
        return value._asdict() | {name: str(getattr(value, name)) for name in ("claim", "start")}
    if isinstance(value, Event):
        return value._asdict() | {name: str(getattr(value, name)) for name in ("number", "start", "claim")}
    if hasattr(value, "_asdict"):
        return record(value._asdict())
    if type(value) is tuple or (isinstance(value, list) and value and hasattr(value[0], "_asdict")):
        return [written(item) for item in value]
    if isinstance(value, np.ndarray):
        return [str(item) for item in value.reshape(-1).tolist()] if value.dtype.itemsize == 8 else value.tolist()
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, bool):
        return value
    return str(value) if isinstance(value, int) else value


def record(fields: dict[str, Any]) -> dict[str, Any]:
    """A record, with names and numbers as the golden cases write them."""
    return {name.replace("_", "-"): field(name, value) for name, value in fields.items()}


def field(name: str, value: Any) -> Any:
    """One of its values."""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int) and name not in WIDE else written(value)


def outcome(name: str, run: Callable[..., Any], *arguments: Any, **named: Any) -> dict[str, Any]:
    """What a call returns, or how it fails."""
    try:
        found = run(*arguments, **named)
    except samedeal.SamedealError as error:
        return {"fails": {name: getattr(error, name) for name in ("kind", "field", "value", "allowed")}}
    return {"returns": found if name in NARROW_CALLS else written(found)}


def parsed(value: Any, name: str = "") -> Any:
    """Arguments by their names in Python, with 64-bit numbers as numbers."""
    if isinstance(value, dict):
        names = {name: name.replace("-", "_") for name in value}
        return {names[name]: parsed(item, names[name]) for name, item in value.items()}
    if name in TEXTS:
        return value
    if isinstance(value, list):
        return [parsed(item) for item in value]
    return int(value) if isinstance(value, str) else value


def mismatch(case: dict[str, Any]) -> str | None:
    """The first call of a case that gives something else, if any."""
    (kind,) = set(case) & set(MAKERS)
    made: list[Any] = []
    fields = parsed(case[kind])
    got = outcome("constructor", lambda: made.append(MAKERS[kind](**fields)))
    if got != {"fails": case["fails"]} if "fails" in case else not made:
        return f"made {fields}: {got}"
    for i, step in enumerate(case.get("calls", [])):
        got = outcome(step["call"], call, made[0], step["call"], parsed(step.get("args", {})))
        if got != {name: step[name] for name in ("returns", "fails") if name in step}:
            return f"call {i}: {step} gave {got}"
    return None


def main() -> int:
    """Runs every case of every group."""
    files = [path for path in sorted(VECTORS.glob("*.json")) if path.name != "schema.json"]
    all_failed = 0
    for path in files:
        group = json.loads(path.read_text(encoding="utf-8"))
        failed = 0
        cases = [case for case in group["cases"] if SLOW or not case.get("slow")]
        for case in cases:
            wrong = mismatch(case)
            if wrong is not None:
                failed += 1
                print(f"{group['group']}: {case['name']}: {wrong[:1000]}", file=sys.stderr)
        print("matrix", ENGINE, group["group"], len(cases) - failed, failed, sep="\t", flush=True)
        all_failed += failed
    return 0 if files and not all_failed else 1


if __name__ == "__main__":
    sys.exit(main())
