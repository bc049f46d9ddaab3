"""Runs the golden cases on the Python host: `python tests/matrix/python.py [first]`.

Prints a line for each group. With `first`, the host uses the code that the first process on a machine begins with.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import samedeal
from samedeal import collate
from samedeal.batch import binding as batching
from samedeal.batch.records import split
from samedeal.deal import binding as dealing
from samedeal.engine import code, component
from samedeal.engine.core import Core
from samedeal.generated import ledger, texts
from samedeal.generated.batches import BatchColumns, BatchPlace, BatchRecipe, BatchStream
from samedeal.generated.collation import Packed, Padded
from samedeal.generated.ledger import CommittedRun, Event
from samedeal.generated.mesh import Axis
from samedeal.generated.readings import ReadBatch
from samedeal.generated.types import NamedList
from samedeal.ledger.binding import Client, Machine, header
from samedeal.read import binding as reads
from samedeal.recipe import Recipe
from samedeal.shard import binding as planning
from samedeal.split import binding as splitting
from samedeal.steps import binding as stepping
from samedeal.topology.binding import Grid, MeshConfig, variables

VECTORS = Path(os.environ.get("SAMEDEAL_CASES") or Path(__file__).resolve().parents[1] / "vectors")
ENGINE = f"python (wasmtime-py {importlib.metadata.version('wasmtime')})"

MEMORY = 2**31
SLOW = "SAMEDEAL_SLOW" in os.environ
"""Whether to run cases that need a table of several hundred megabytes."""
BOUND = float(os.environ.get("SAMEDEAL_BOUND") or "inf")
"""The largest processor time of a case, in milliseconds. Golden cases have no such limit."""
TEXTS = {"recipe", "state", "header", "entry", "entries", "checkpoint", "tier", "balance_by", "name", "role"}
TEXTS |= {"environment", "side", "keys", "text", "sections", "parts", "one", "other", "rest"}
# Names of members with numbers of 64 bits. The golden cases write these numbers as strings.
WIDE = {"samples", "seed", "epoch", "position", "index_in_rank", "index", "batch", "row", "min", "max", "total"}
WIDE |= {"start", "count"}
WIDE |= {
    "consumed",
    "steps",
    "taken",
    "positions",
    "committed",
    "claimed",
    "entries",
    "samples_consumed",
    "step",
    "batches",
}
NARROW_CALLS = {
    "num-shards",
    "data-world-size",
    "data-rank",
    "rank-at",
    "reads-per-row",
    "lanes-read-once",
    "block-size",
}
NARROW_CALLS |= {"rank", "world-size", "workers", "batch-size", "global-batch-size", "lanes", "shuffle-window", "unit"}


def u32s(values: list[int]) -> Any:
    return np.array(values, dtype=np.uint32)


def u64s(values: list[int]) -> Any:
    return np.array(values, dtype=np.uint64)


def parts(offsets: list[int], values: list[int]) -> list[list[int]] | None:
    """The lists that offsets and values describe; None if offsets and values do not fit together."""
    if offsets[:1] != [0] or offsets[-1] != len(values) or offsets != sorted(offsets):
        return None
    return [values[start:end] for start, end in pairwise(offsets)]


Lists = dict[str, list[int]]


def document(recipe: str, lists: Lists | None) -> Recipe:
    """A recipe and the lists beside it, whatever their names."""
    return Recipe(recipe, tuple(NamedList(name, u64s(numbers)) for name, numbers in (lists or {}).items()))


class Subject:
    """An object that is made from a recipe. If a call of a golden case returns another object, the subject moves to
    it."""

    kind: type[Any]
    """The class of the layer below the public one."""
    now: Any

    def use(self, name: str, *values: Any) -> Any:
        """Calls a method of the layer below."""
        return self.now._engine.use(getattr(self.kind, name), *values)

    def move(self, name: str, *values: Any) -> None:
        """Moves the object to another epoch, rank or state."""
        if name == "at_epoch":
            if self.now.epoch == values[0] and hasattr(self.now._engine.config, "whole"):
                # The object stays in its epoch, of which a part may be consumed.
                self.now._engine.ask_and_set(lambda where: where.whole(values[0]))
            else:
                self.now.set_epoch(*values)
        elif name == "at_rank":
            self.now.set_rank(*values)
        elif name == "rest":
            self.now._engine.ask_and_set(lambda where: where._replace(consumed=values[0]))
        else:
            self.now.resume(*values)

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """Makes the public call of this name, or a call of the layer below if there is none."""
        if name in ("at_epoch", "at_rank", "rest", "resume"):
            return self.move(name, *values)
        if name in self.windows or not hasattr(self.now, name):
            result = self.use(name, *values)
            if name in self.windows:
                assert same_values(result, self.windows[name](self.now, *values))
            return Named(result) if name in ("loads", "source_counts") else result
        found = getattr(self.now, name)
        return found(*values) if callable(found) else found

    windows: dict[str, Callable[..., Any]] = {}  # noqa: RUF012
    """Calls whose public form returns everything. For each: a function that cuts out the part that the layer below
    returns."""


class Samplers(Subject):
    kind = dealing.Deal
    windows = {  # noqa: RUF012
        "indices": lambda made, start, count: made.indices(start, start + count),
        "step": lambda made, *asked: step_of(made, *asked),
        "fate": lambda made, sample, batch_size, taken: made.fate(sample, batch_size, taken=taken),
        "source_counts": lambda made, start, count: tuple(
            (column.replace("_", "-"), numbers) for column, numbers in made.source_counts(start, start + count).items()
        ),
    }

    def __init__(self, recipe: str, epoch: int, rank: int, lists: Lists | None = None) -> None:
        self.now = samedeal.Sampler.from_recipe(recipe, epoch=epoch, rank=rank, lists=lists)


class Plans(Subject):
    kind = planning.Plan
    windows = {  # noqa: RUF012
        "shards": lambda plan, rank, worker, start, count: plan.shards(rank, worker)[start : start + count],
        "rows": lambda plan, shard, start, count: plan.rows(shard, start, start + count),
        "loads": lambda plan, tier, start, count: [
            (name, numbers[start : start + count]) for name, numbers in vars(plan.loads(tier)).items()
        ],
        "step_bounds": lambda plan, batch_size, drop_last: plan.steps(batch_size, drop_last),
        "imbalance": lambda plan, tier, balance_by: round(plan.load_summary(tier, balance_by).imbalance * 10**6),
    }

    def __init__(self, recipe: str, epoch: int, lists: Lists | None = None) -> None:
        self.now = samedeal.ShardPlan.from_recipe(recipe, epoch=epoch, lists=lists)


class Readings(Subject):
    kind = reads.Read
    windows = {  # noqa: RUF012
        "indices": lambda made, rank, worker, start, count: made.indices(rank, worker, start, start + count),
        "round_rows": lambda made, rank, worker, number, start, count: made.round_rows(
            rank, worker, number, start, start + count
        ),
        "step": lambda made, step, first, count: made.step(step)[first : first + count],
        "step_bounds": lambda made: made.steps,
    }

    def __init__(self, recipe: str, epoch: int, lists: Lists | None = None) -> None:
        self.now = samedeal.Reading.from_recipe(recipe, epoch=epoch, lists=lists)

    def move(self, name: str, *values: Any) -> None:
        """Replaces the reading by another one, because a reading never changes."""
        self.now = getattr(self.now, name)(*values)


class Schedules(Subject):
    kind = stepping.Steps
    windows = {  # noqa: RUF012
        "indices": lambda made, start, count: made.indices(start, count),
        "step": lambda made, step, first, count: np.ravel(made.step(step)[first : first + count]),
    }

    def __init__(self, recipe: str, rank: int, lists: Lists | None = None) -> None:
        self.now = samedeal.Schedule.from_recipe(recipe, rank=rank, lists=lists)

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """Makes the public call of this name. A schedule never changes, so another one replaces it."""
        if name == "at_rank":
            self.now = self.now.at_rank(*values)
            return None
        if name in ("begin_of", "step_of_state"):
            return (self.now.place_of if name == "begin_of" else self.now.resume)(*values)
        return super().call(name, values)


class Splits(Subject):
    kind = splitting.Parts
    windows = {  # noqa: RUF012
        "part_of_run": lambda made, start, count: made.part_of(range(start, start + count)),
    }

    def __init__(self, recipe: str) -> None:
        self.now = samedeal.Split.from_recipe(recipe)

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """Makes the public call of this name."""
        if name == "part_of":
            # The public call takes any number of ids.
            (ids,) = values
            found = self.use(name, np.array(ids, np.uint64))
            assert same_values(found, self.now.part_of(ids))
            return found
        if name == "part_of_keys":
            # The layer below takes all texts as one.
            (keys,) = values
            found = self.now._engine.use(splitting.Parts.part_of_texts, [key.encode() for key in keys])
            assert same_values(found, self.now.part_of_keys(keys))
            return found
        if name in ("among_ids", "among_keys"):
            keys, rest = values
            sizes = self.now._engine.use(splitting.Parts.exact_sizes)
            given = np.array(keys, np.uint64) if name == "among_ids" else [key.encode() for key in keys]
            sizes.add_ids(given) if name == "among_ids" else sizes.add_keys(*splitting.laid(given))
            found = sizes.recipe(rest)
            assert self.now.among(given if name == "among_ids" else iter(keys), rest).recipe == found
            return found
        found = super().call(name, values)
        if name == "members":
            part, start, count = values
            ids = np.arange(start, start + count)
            assert same_values(found, ids[self.now.part_of(ids) == part])
        return found


def step_of(made: Any, step: int, batch_size: int, drop_last: bool, first: int, count: int) -> Any:
    """The samples of some ranks at a step. The public call returns all ranks."""
    ranks = made.step(step, batch_size, drop_last)[first : first + count]
    return np.concatenate([np.array([], np.int64), *ranks]), [len(samples) for samples in ranks]


def same_values(some: Any, others: Any) -> bool:
    """Whether two results have the same numbers."""
    if isinstance(some, (tuple, list)):
        return len(some) == len(others) and all(map(same_values, some, others))
    return bool(np.array_equal(some, others))


def make_mesh(world_size: int, axes: list[dict[str, Any]]) -> Any:
    """Makes a mesh by the public call, which cannot have two axes of one name."""
    sizes = {axis["name"]: axis["size"] for axis in axes}
    if len(sizes) < len(axes):
        return Grid(MeshConfig(world_size, tuple(Axis(**axis) for axis in axes)))
    return samedeal.Mesh(world_size, sizes, [axis["name"] for axis in axes if axis["role"] == "shard"])


def make_batch_stream(recipe: str, lengths: list[int] | None, epoch: int, rank: int, lists: Lists | None = None) -> Any:
    """Makes a stream by the public call, which has no lengths."""
    if lengths is None:
        return samedeal.BatchStream.from_recipe(recipe, epoch=epoch, rank=rank, lists=lists)
    core = Core(MEMORY)
    beside = document(recipe, lists)
    made = BatchRecipe(core, beside.text, len(lengths), beside.lists)
    made.supply(u32s(lengths)[made.wanted()])
    return BatchStream(core, made, epoch, rank)


class Batches(Subject):
    kind = batching.Plan
    windows = {  # noqa: RUF012
        "state": lambda made, steps: made.state(steps),
        "index": lambda made, first, count: made.index(first, count),
    }

    def __init__(self, recipe: str, lengths: list[int] | None, epoch: int, lists: Lists | None = None) -> None:
        self.now = samedeal.Batcher.from_recipe(recipe, lengths, epoch=epoch, lists=lists)

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """Makes the public call of this name. For batches and metrics, the result must equal that of the layer
        below."""
        if name == "take":
            result = self.use(name, *values)
            rank, start, count = values
            assert same(split(result), islice(self.now.batches(start, rank), count))
            return result
        if name == "step":
            result = self.use(name, *values)
            step, first, count = values
            assert same(split(result), self.now.step(step)[first : first + count])
            return result
        if name == "metrics":
            result = dict(self.use(name))
            public = vars(self.now.metrics())
            assert all(public.get(metric.replace("-", "_"), number) == number for metric, number in result.items())
            return Named(result)
        if name == "replan":
            return self.now.resume(*values, replan=True)
        if name == "use_index":
            # The public call keeps an index of another epoch, or of a whole epoch, until the index can be used. So the
            # result is that of the layer below.
            result = self.use(name, *values)
            self.now.use_index(*values)
            return result
        return super().call(name, values)


class Named(dict[str, Any]):
    """Numbers by name."""


class Recipes:
    """A recipe of batches. If there are lengths, the public calls must agree."""

    def __init__(
        self, recipe: str, lengths: list[int] | None = None, lists: dict[str, list[int]] | None = None
    ) -> None:
        given = document(recipe, lists)
        core = Core(MEMORY)
        self.now = BatchRecipe(core, given.text, None if lengths is None else len(lengths), given.lists)
        self.public = None
        if lengths is not None:
            self.now.supply(u32s(lengths)[self.now.wanted()])
            self.public = samedeal.Batcher.from_recipe(recipe, lengths, lists=lists)

    def call(self, name: str, values: tuple[Any, ...]) -> Any:
        """The text or the fingerprint of the recipe."""
        result = getattr(self.now, name)(*values)
        if self.public is not None:
            assert result == (self.public.recipe if name == "recipe" else self.public.recipe_fingerprint())
        return result


def make_chunks(recipe: str, epoch: int, reader: int) -> samedeal.ChunkStream:
    return samedeal.ChunkStream.from_recipe(recipe, epoch=epoch, reader=reader)


MAKERS: dict[str, Callable[..., Any]] = {
    "sampler": Samplers,
    "reading": Readings,
    "plan": Plans,
    "split": Splits,
    "schedule": Schedules,
    "chunk-stream": make_chunks,
    "ledger": Machine,
    "ledger-client": Client,
    "mesh": make_mesh,
    "batcher": Batches,
    "batch-recipe": Recipes,
    "batch-stream": make_batch_stream,
    "functions": lambda: None,
}


def call(made: Any, name: str, args: dict[str, Any]) -> Any:
    """Makes the public call of this name. Calls without a public form (windows, 32 bits, raw lists) go to the layer
    below."""
    name = name.replace("-", "_")
    values = tuple(args.values())
    if made is None:
        return FUNCTIONS[name](**args)
    if isinstance(made, (Subject, Recipes)):
        return made.call(name, values)
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
    if isinstance(made, BatchStream) and name == "push":
        return made.push(u64s(args["samples"]), u32s(args["lengths"]))
    if isinstance(made, BatchStream) and name == "metrics":
        return Named(made.metrics())
    if isinstance(made, Client):
        return getattr(made, name)(*values)
    found = getattr(made, name)
    return found(**args) if callable(found) else found


def call_verify(num_shards: int, offsets: list[int], assigned: list[int]) -> samedeal.Verification:
    readers = parts(offsets, assigned)
    if readers is None:
        return planning.verify(num_shards, u32s(offsets), u32s(assigned))
    return samedeal.verify_shards(num_shards, readers)


def call_detect(environment: list[list[str]], rank: int | None, world_size: int | None) -> samedeal.Detection:
    return samedeal.detect_rank(rank, world_size, environment={name: value for name, value in environment})


def same(some: Iterable[samedeal.Batch], others: Iterable[samedeal.Batch]) -> bool:
    """Whether two iterations have the same batches."""
    pairs = zip(some, others, strict=True)
    return all(np.array_equal(a, b) for one, other in pairs for a, b in zip(one, other, strict=True))


def call_pad(lengths: list[int], width: int | None, pad_to_multiple_of: int, side: str) -> Any:
    cells = collate._engine().use(batching.Collation.pad, u32s(lengths), width, pad_to_multiple_of, side)
    ends = np.cumsum([0, *lengths])
    tokens = np.arange(ends[-1], dtype=np.uint32)
    public = collate.pad(
        tokens,
        ends,
        padding_value=batching.PADDING,
        side=side,
        pad_to_multiple_of=pad_to_multiple_of,
        width=width,
    )
    assert np.array_equal(public.values.reshape(-1), cells.token_indices)
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
    "detect": call_detect,
    "header": header,
    "variables": lambda: list(variables()),
    "inspect": lambda text: Named(zip(("form", "of"), texts.inspect(Core(MEMORY), text), strict=True)),
    "differences": lambda one, other: [it._asdict() for it in texts.differences(Core(MEMORY), one, other)],
    "join_indices": samedeal.join_indices,
    "whole_weights": lambda bits: texts.whole_weights(Core(MEMORY), np.array(bits, np.uint64)),
    "recipe_after": lambda state, sections: texts.recipe_after(Core(MEMORY), state, sections),
}


def written(value: Any) -> Any:
    """A result in the notation of the golden cases."""
    if isinstance(value, Named):
        return {name: written(number) for name, number in value.items()}
    if isinstance(value, (BatchColumns, Padded, Packed)):
        return {
            name.replace("_", "-"): number if isinstance(number, int) else written(number)
            for name, number in value._asdict().items()
        }
    if isinstance(value, ReadBatch):
        named = {name.replace("_", "-"): number for name, number in value._asdict().items()}
        return named | {name: str(getattr(value, name)) for name in ("number", "step", "start")}
    if isinstance(value, BatchPlace):
        named = {name.replace("_", "-"): number for name, number in value._asdict().items()}
        return named | {"step": str(value.step)}
    if isinstance(value, ledger.Instruction):
        return value._asdict() | {name: str(getattr(value, name)) for name in ("number", "milliseconds")}
    if isinstance(value, ledger.ClaimedRun):
        return value._asdict() | {name: str(getattr(value, name)) for name in ("claim", "start")}
    if isinstance(value, (Event, CommittedRun)):
        wide = ("number", "start", "claim", "taken_from")
        named = value._asdict().items()
        return {
            name.replace("_", "-"): str(number) if name in wide and number is not None else number
            for name, number in named
        }
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
    """A record, with names and numbers in the notation of the golden cases."""
    return {name.replace("_", "-"): field(name, value) for name, value in fields.items()}


def field(name: str, value: Any) -> Any:
    """A value of a record."""
    if isinstance(value, tuple) and not hasattr(value, "_asdict"):
        return [written(item) for item in value]
    return value if isinstance(value, int) and name not in WIDE else written(value)


def outcome(name: str, run: Callable[..., Any], *arguments: Any, **named: Any) -> dict[str, Any]:
    """The result of a call, or its failure."""
    try:
        found = run(*arguments, **named)
    except samedeal.SamedealError as error:
        told = {name: getattr(error, name) for name in ("kind", "field", "value", "allowed")}
        if error.path != error.field:
            told["path"] = error.path
        facts = [[name, value] for name, values in error.facts.items() for value in values]
        return {"fails": told | ({"facts": facts} if facts else {})}
    return {"returns": found if name in NARROW_CALLS else written(found)}


SCHEMA = json.loads((Path(__file__).parent.parent / "vectors/schema.json").read_text(encoding="utf-8"))
MOST_REPEATED = SCHEMA["$defs"]["repeated-count"]["maximum"]
"""The most items of a list that is written as a repetition."""


def parsed(value: Any, name: str = "") -> Any:
    """Arguments with Python's names. Strings of digits become numbers of 64 bits."""
    if name == "lists":
        # The names of lists are those of the recipe.
        return {list_name: [int(number) for number in numbers] for list_name, numbers in value.items()}
    if isinstance(value, dict) and set(value) == {"repeat", "count"}:
        # A long list is written as a short one that is repeated, and a count.
        repeat, count = value["repeat"], value["count"]
        if count > MOST_REPEATED:
            raise ValueError(f"a list of {count} items; allowed: at most {MOST_REPEATED}")
        if not repeat:
            raise ValueError("an empty list is repeated")
        return parsed((repeat * -(-count // len(repeat)))[:count], name)
    if isinstance(value, dict):
        names = {name: name.replace("-", "_") for name in value}
        return {names[name]: parsed(item, names[name]) for name, item in value.items()}
    if name in TEXTS or (name == "index" and not str(value).isdigit()):
        return value
    if isinstance(value, list):
        return [parsed(item) for item in value]
    return int(value) if isinstance(value, str) else value


def mismatch(case: dict[str, Any], note: Callable[[dict[str, Any]], None]) -> str | None:
    """The first call of a case with another result, or None. `note` gets each answer."""
    (kind,) = set(case) & set(MAKERS)
    made: list[Any] = []
    fields = parsed(case[kind])
    got = outcome("constructor", lambda: made.append(MAKERS[kind](**fields)))
    if got != {"fails": case["fails"]} if "fails" in case else not made:
        return f"made {fields}: {got}"
    if "fails" in case:
        note(got)
    for i, step in enumerate(case.get("calls", [])):
        got = outcome(step["call"], call, made[0], step["call"], parsed(step.get("args", {})))
        note(got)
        if got != {name: step[name] for name in ("returns", "fails") if name in step}:
            return f"call {i}: {step} gave {got}"
    return None


class Answers:
    """The fingerprint of answers, each as JSON with sorted names, as in the other adapters."""

    def __init__(self) -> None:
        self.crc = 0

    def note(self, answer: dict[str, Any]) -> None:
        """Adds an answer."""
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        self.crc = zlib.crc32(text.encode(), self.crc)

    def __str__(self) -> str:
        return f"{self.crc:08x}"


def main() -> int:
    """Runs every case of every group."""
    engine = ENGINE
    if "first" in sys.argv[1:] and component.has_winch():
        component.process._compiled = code.compiled(component.COMPONENT, limited=False, winch=True)
        engine += ", winch"
    files = [path for path in sorted(VECTORS.glob("*.json")) if path.name != "schema.json"]
    all_failed = 0
    for path in files:
        group = json.loads(path.read_text(encoding="utf-8"))
        failed, answers = 0, Answers()
        cases = [case for case in group["cases"] if SLOW or not case.get("slow")]
        for case in cases:
            started = time.process_time()
            wrong = mismatch(case, answers.note)
            took = (time.process_time() - started) * 1000
            if wrong is None and took > BOUND:
                wrong = f"took {took:.0f} ms of processor time"
            if wrong is not None:
                failed += 1
                print(f"{group['group']}: {case['name']}: {wrong[:1000]}", file=sys.stderr)
        print("matrix", engine, group["group"], len(cases) - failed, failed, answers, sep="\t", flush=True)
        all_failed += failed
    return 0 if files and not all_failed else 1


if __name__ == "__main__":
    sys.exit(main())
