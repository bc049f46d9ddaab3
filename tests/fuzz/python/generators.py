"""Generators of valid arguments for each parameter, for the object that is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import samedeal
from values import a_list, bad_list, count, edge, hostile


@dataclass
class Context:
    """The surroundings of a call: random numbers, the object, and earlier results."""

    r: Random
    of: Any = None
    """The object whose method is called."""
    pool: dict[str, list[str]] = field(default_factory=dict)
    """For each class: the names of results of this class."""
    values: dict[str, Any] = field(default_factory=dict)
    keywords: frozenset[str] = frozenset()
    """The keywords of the call."""
    world: int = 1

    def held(self, kind: str, default: str) -> str:
        """An object of a class, if a result is one, otherwise `default`."""
        held = self.pool.get(kind)
        return self.r.choice(held) if held and self.r.random() < 0.8 else default

    def number(self, most: int) -> str:
        """A number from 0 to `most`, as text."""
        return str(count(self.r, most))

    def ask(self, name: str, default: int) -> int:
        """A number that the object has as an attribute or method."""
        try:
            value = getattr(self.of, name)
            return int(value() if callable(value) else value)
        except Exception:
            return default


Make = Callable[[Context], str]


def one(*texts: str) -> Make:
    """One of these texts."""
    return lambda c: c.r.choice(texts)


def upto(most: int) -> Make:
    """A number up to `most`."""
    return lambda c: c.number(most)


def known(name: str, more: int = 0, default: int = 5) -> Make:
    """A number up to an attribute of the object."""
    return lambda c: c.number(min(2**53, max(0, c.ask(name, default) + more)))


def numbers(most: int, length: int = 40) -> Make:
    """A list of whole numbers."""

    def make(c: Context) -> str:
        long = 600 if c.r.random() < 0.05 else length
        return a_list(c.r, [c.r.randint(0, most) for _ in range(c.r.randint(0, long))])

    return make


def ascending(most: int) -> Make:
    """A list of different numbers, ascending."""
    return lambda c: a_list(c.r, sorted(c.r.sample(range(most), c.r.randint(0, min(most, 20)))))


def name(*texts: str) -> Make:
    """One of these texts, as a quoted name."""
    return lambda c: repr(c.r.choice(texts))


ORDERS = (*samedeal.plain_orders(), "sharded")
SEED = one("0", "1", "42", "7", "-1", "2**31 - 1", "-2**63", "2**63 - 1")
SAMPLES = one("0", "1", "2", "3", "10", "31", "97", "100", "256", "1000", "4097", "2**40", "2**53 - 1")
EPOCH = one("0", "0", "1", "2", "5", "2**32", "2**64 - 1")
SIZES = numbers(60, 12)


def _samples(c: Context) -> str:
    return SAMPLES(c) if c.r.random() < 0.4 else c.number(300)


def _rank(c: Context) -> str:
    world = c.ask("world_size", 1) if c.of is not None else c.world if "world_size" in c.keywords else 1
    return str(c.r.randrange(max(1, min(world, 2**32))))


def an_order(c: Context, depth: int = 2) -> str:
    """An order, possibly composed."""
    r = c.r
    if depth and c.pool.get("Order") and r.random() < 0.3:
        return r.choice(c.pool["Order"])
    kind = r.randrange(12 if depth else 3)
    if kind == 0:
        return f"samedeal.order('feistel', {r.choice((1, 5, 50, 300))}, seed={SEED(c)})"
    if kind == 1:
        return f"samedeal.sharded({[r.randint(0, 30) for _ in range(r.randint(1, 6))]}, lanes={r.randint(1, 4)})"
    if kind == 2:
        return f"samedeal.order('{r.choice(ORDERS)}', {r.randint(1, 200)})"
    if kind == 3:
        return f"samedeal.blend({sources(c, depth - 1)}, seed={SEED(c)})"
    if kind == 4:
        return f"samedeal.blend({sources(c, depth - 1)}, samples={r.randint(1, 400)}, exact=True)"
    if kind == 5:
        return f"samedeal.grown({r.randint(1, 50)}, [(0, {r.randint(0, 1)}, 60), (2, 5, 80)])"
    if kind == 6:
        return f"samedeal.windows({SIZES(c)}, {r.randint(1, 9)}, {r.randint(1, 9)})"
    if kind == 7:
        classes = [r.randrange(3) for _ in range(r.randint(1, 30))]
        return f"samedeal.balance({classes}, [1, 2.5, {r.choice((0, 0.25, 3))}])"
    if kind == 8:
        weights = [r.randrange(9) for _ in range(r.randint(1, 30))]
        return f"samedeal.weighted({weights}, {r.randint(0, 40)}, replacement={r.random() < 0.7})"
    inner = an_order(c, depth - 1)
    if kind == 9:
        return f"{inner}.copies({r.randint(1, 4)})"
    if kind == 10:
        return f"{inner}.{r.choice(('exclude', 'subset'))}({ascending(30)(c)})"
    return f"{inner}.skip([(0, {r.randint(0, 9)}, {r.randint(1, 5)})])"


def sources(c: Context, depth: int = 1) -> str:
    """Sources of a blend."""
    own = (
        f"{key!r}: ({an_order(c, depth) if c.r.random() < 0.4 else c.r.randint(1, 90)}, {c.r.randint(0, 9)})"
        for key in ("web", "code", "math")[: c.r.randint(1, 3)]
    )
    return "{" + ", ".join(own) + "}"


def _weights(c: Context) -> str:
    keys = ("web", "code", "math")[: c.r.randint(1, 3)]
    if c.r.random() < 0.5:
        return str([c.r.randint(0, 5) for _ in keys])
    return str({key: c.r.randint(0, 5) for key in keys})


def _order_or_name(c: Context) -> str:
    return an_order(c) if c.r.random() < 0.4 else repr(c.r.choice(ORDERS))


def an_entry(c: Context) -> str:
    """An entry of a log."""
    log = c.pool.get("ledger.MemoryLog")
    if log and c.r.random() < 0.7:
        text = f"h.slot({c.r.choice(log)}.read(0), {c.r.randrange(4)})"
        return text if c.r.random() < 0.4 else f"h.mutated({text}, {c.r.randrange(1000)})"
    return repr(c.r.choice(("", "x", '{"event":"checkpoint","number":1,', '{"samedeal":1,"kind":"ledger"}', "\0")))


def a_state(c: Context) -> str:
    """A state of this object or of another one, sometimes changed."""
    kinds = ("Sampler", "Batcher", "Reading", "Schedule")
    held = [each for kind in kinds for each in c.pool.get(kind, [])]
    same = [each for each in held if type(c.values.get(each)) is type(c.of)]
    if not held:
        return "samedeal.Sampler(10).state(3)"
    text = f"{c.r.choice(same if same and c.r.random() < 0.85 else held)}.state({c.r.randrange(4)})"
    kind = c.r.random()
    if kind < 0.5:
        return text
    if kind < 0.6:
        return f"{{'samedeal': {text}}}"
    return f"h.mutated({text}, {c.r.randrange(10**6)})"


RECIPES = {
    "Sampler": (
        {"order": {"samples": 10, "seed": 42}, "deal": {"world_size": 2}},
        {"order": {"name": "torch", "samples": 10}},
        {"order": {"name": "sharded", "sizes": [3, 4], "lanes": 2}},
        {"order": {"name": "subset", "of": {"samples": 10}, "indices": [1, 2]}},
        {"order": {"name": "blend", "sources": [{"name": "a", "samples": 3, "weight": 2}]}},
    ),
    "Batcher": (
        {"deal": {"world_size": 2}, "batch": {"strategy": "budget", "max_tokens": 12}},
        {"batch": {"strategy": "pack", "capacity": 64, "lengths": [3, 4, 5]}},
        {"batch": {"strategy": "bucket", "boundaries": [3, 9], "max_batch_size": 2}},
    ),
    "BatchStream": ({"batch": {"strategy": "budget", "max_tokens": 12}},),
    "ShardPlan": (
        {"shards": {"sizes": [40, 100]}, "deal": {"world_size": 2}},
        {"shards": {"sizes": [4, 5], "policy": "locality-aware", "holders": [0, 1], "holder_offsets": [0, 1, 2]}},
    ),
    "Reading": (
        {"order": {"sizes": [40, 100]}, "deal": {"world_size": 2}, "batch": {"batch_size": 16}},
        {"shards": {"sizes": [40, 100]}, "deal": {"workers": 2}},
    ),
    "Schedule": (
        {"order": {"samples": 10}, "steps": {"global_batch_size": 4, "stages": [{"from": 3, "global_batch_size": 8}]}},
    ),
    "ChunkStream": ({"order": {"name": "feistel", "chunks": 5}, "deal": {"readers": 2}},),
    "Split": ({"split": {"seed": 1, "parts": [{"name": "a", "weight": 1}, {"name": "b", "weight": 9}]}},),
}


def a_recipe(kind: str) -> Make:
    """A recipe, sometimes of another class, and sometimes changed."""

    def make(c: Context) -> str:
        own = kind if c.r.random() < 0.9 else c.r.choice(list(RECIPES))
        held = c.pool.get(own)
        given = c.r.choice(RECIPES[own])
        text = f"{c.r.choice(held)}.recipe" if held and c.r.random() < 0.5 else repr(given)
        if c.r.random() < 0.5:
            return text
        if text.endswith(".recipe"):
            return f"h.mutated({text}, {c.r.randrange(10**6)})"
        return f"h.mutated(laws.json.dumps({text}), {c.r.randrange(10**6)})"

    return make


def _sequences(c: Context) -> str:
    dtype = c.r.choice(("int64", "int32", "float32", "uint8"))
    rows = [[c.r.randrange(100) for _ in range(c.r.randint(0, 9))] for _ in range(c.r.randint(0, 6))]
    if c.r.random() < 0.5:
        return str(rows)
    return "[" + ", ".join(f"np.array({row}, dtype=np.{dtype})" for row in rows) + "]"


def _offsets(c: Context) -> str:
    return one("None", "None", "[0, 1, 2]", "[0]", "np.array([0, 2, 3])")(c)


def _part(c: Context) -> str:
    return one("0", "1", "'training'", "'test'", "'0'")(c)


def _axes(c: Context) -> str:
    return one("{'dp': 2, 'tp': 4}", "{'dp': 8}", "{}", "{'a': 2, 'b': 2, 'c': 2}", "{'dp': 1}")(c)


def _lengths(c: Context) -> str:
    r = c.r
    most = r.choice((9, 60, 500))
    long = r.choice((0, 1, 5, 30, 100, 400)) if r.random() < 0.97 else 3000
    return a_list(r, [r.randint(0, most) for _ in range(long)])


def _index(c: Context) -> str:
    """An index of a batcher or of a part of its windows, sometimes changed."""
    own = c.held("Batcher", "samedeal.Batcher([3, 4, 5], max_tokens=8)")
    text = f"{own}.index({c.r.choice((0, 0, 1))}, {c.r.choice((own + '.num_windows', '1'))})"
    return text if c.r.random() < 0.7 else f"h.mutated({text}, {c.r.randrange(1, 1000, 2)})"


def _sampler(c: Context) -> str:
    return c.held("Sampler", "samedeal.Sampler(20, seed=1)")


def _log(c: Context) -> str:
    kind = c.r.randrange(4)
    if kind == 0:
        return c.held("ledger.FileLog", "samedeal.ledger.FileLog(folder.missing())")
    if kind == 1:
        return c.held("ledger.FolderLog", "samedeal.ledger.FolderLog(folder.missing())")
    return c.held("ledger.MemoryLog", "samedeal.ledger.MemoryLog()")


def _shards(c: Context) -> str:
    return c.held("parquet.Shards", "samedeal.parquet.Shards.find(folder.rows(5, 0, 40))")


def _tables(c: Context) -> str:
    return f"samedeal.parquet.read_rows({_shards(c)}, {numbers(44, 9)(c)})"


ARGUMENTS: dict[str, Make] = {
    "assigned": one("[[0, 1], [2]]", "[[0], [0]]", "[]", "[range(3), []]", "[np.array([2, 0, 1])]"),
    "at": lambda c: one(c.number(max(0, c.ask("num_samples", 5) - 1)), f"slice({c.r.randint(-9, 9)}, 5, 2)", "-1")(c),
    "axes": _axes,
    "batch": known("num_samples", default=3),
    "batch_size": one("1", "2", "3", "4", "8", "32", "33"),
    "batch_size_multiple": one("1", "2", "4", "8"),
    "batch_window": one("0", "1", "8", "64", "8192"),
    "block_size": one("1", "3", "7", "1024"),
    "boundaries": ascending(99),
    "bucket_width": one("1", "5", "64"),
    "by_lane": one("True", "False"),
    "bytes": SIZES,
    "capacity": one("64", "500", "512"),
    "checkpoint_interval": one("1", "2", "5", "4096"),
    "chunks": one("1", "5", "100", "2**40", "None"),
    "classes": numbers(2, 30),
    "columns": one("None", "['row']", "['text', 'length']", "['x']", "[]", "('row', 'row')"),
    "consumed": one("0", "0", "1", "5", "10"),
    "coordinates": one("{'dp': 1, 'tp': 3}", "{'dp': 0}", "{}"),
    "copies": one("1", "2", "3"),
    "count": one("0", "1", "2", "5", "None"),
    "counting": name("padded", "unpadded", "weighted"),
    "deal": name("samples", "shards"),
    "drop_last": one("True", "False"),
    "end": known("epoch_length"),
    "entries": one("()", "[]", "['a', 'b']"),
    "entry": an_entry,
    "environment": one("{}", "{'RANK': '1', 'WORLD_SIZE': '2'}", "{'RANK': 'x'}", "{'SLURM_PROCID': '3'}", "None"),
    "epoch": EPOCH,
    "epochs": upto(9),
    "exact": one("True", "False"),
    "exhaustion": name("repeat", "stop", "renormalize", "fail"),
    "factors": one("[1, 2.5, 0.25]", "[1, 1, 1]", "[0, 3, Fraction(1, 2)]", "np.array([1.0, 2.0, 3.5])"),
    "filesystem": one("None", "pa.fs.LocalFileSystem()"),
    "filled": one("True", "False"),
    "first": one("0", "0", "1"),
    "folds": one("1", "2", "5", "100"),
    "from_": one("0", "1", "10", "100"),
    "group_rows": one("1", "2000", "2**53 - 1"),
    "growth": one("[]", "[(0, 4, 60)]", "[(0, 4, 60), (1, 0, 70)]", "np.array([[0, 1, 50]])"),
    "holders": one("[[0], [1], [0, 1]]", "[[0]]", "[]"),
    "id": one("0", "5", "'anna'", "2**40"),
    "ids": numbers(999),
    "index": upto(40),
    "index_space": name("joined", "shared"),
    "indices": ascending(50),
    "items": lambda c: one("iter([1, 2])", "h.raising(1)", f"iter({_tables(c)})")(c),
    "keep_order": one("True", "False"),
    "keys": one("['anna', 'boris']", "[]", "np.array(['a', 'b'])", "pa.array(['a'])", "('é', '\\ud800')"),
    "lanes": one("1", "2", "3", "4", "64"),
    "layout": name("strided", "contiguous", "rotated"),
    "lease": one("0.001", "1", "60", "0.5"),
    "length": one("1", "2", "5"),
    "lengths": _lengths,
    "linear": one("0", "1", "3"),
    "lists": one("None", "{}", "{'indices': [1, 2]}", "{'sizes': np.array([3, 4])}"),
    "log": _log,
    "manifest": one("None", "folder.missing()", "folder.file('x')"),
    "marks": one("samedeal.parquet.Marks()", "samedeal.parquet.Marks('sample', 'padding')"),
    "max_batch_size": one("0", "1", "4", "32"),
    "max_cost": one("1000", "100_000"),
    "max_length": one("60", "100", "500"),
    "max_passes": one("1", "2"),
    "max_tokens": one("512", "1000", "5000"),
    "mean_length": one("1", "30", "500"),
    "memory_limit": lambda c: one("2**31", "2**31", "2**31", "2**22", "2**21", "2**40")(c),
    "most": one("0", "5", "1000"),
    "multiples": one("()", "[0]", "[720, 1200]", "np.array([64])", "[1, 7]"),
    "name": lambda c: repr(c.r.choice(ORDERS)),
    "number": upto(6),
    "num_shards": upto(9),
    "offsets": _offsets,
    "order": lambda c: repr(c.r.choice(ORDERS)),
    "order_or_samples": lambda c: an_order(c) if c.r.random() < 0.5 else _samples(c),
    "other": lambda c: an_order(c),
    "packing": name("fast", "optimal"),
    "pad_to_bucket": one("True", "False"),
    "pad_to_multiple_of": one("1", "2", "8"),
    "padding_value": one("0", "-1", "-100", "1.5", "np.nan", "255"),
    "part": _part,
    "parts": one("{'test': 1, 'training': 9}", "{'a': 0, 'b': 1}", "None", "{'é': 1}"),
    "path": one("folder.missing()", "str(folder.missing())", "folder.file('x')", "folder.path"),
    "format": one("None", "'parquet'", "'arrow'"),
    "lost": one("None", "{}", "{str(folder.rows(5)): 5}", "{folder.path / 'gone.parquet': 7}"),
    "paths": one("folder.rows(3, 0, 20)", "str(folder.rows(5))", "[folder.rows(1), folder.rows(2)]", "folder.path"),
    "policy": name("size-aware", "round-robin", "locality-aware"),
    "position": lambda c: str(c.ask("consumed", 0) + count(c.r, min(2**53, max(0, c.ask("num_positions", 5) - 1)))),
    "progress": one("None", "lambda done, of: None"),
    "quadratic": one("0", "1", "2"),
    "quantiles": one("1", "4", "100"),
    "ranges": one("[]", "[(0, 1, 2)]", "[(0, 1, 2), (1, 0, 3)]"),
    "rank": _rank,
    "rank_nodes": one("[0]", "[0, 1]", "[0, 0, 1]"),
    "reader": one("0", "0", "1"),
    "readers": one("1", "2", "3", "2**32 - 1"),
    "reading": lambda c: c.held("Reading", "samedeal.Reading([5, 0, 40], workers=2, batch_size=4)"),
    "real": one("None", "0", "3"),
    "remainder": name("pad", "drop", "uneven"),
    "replacement": one("True", "True", "False"),
    "replan": one("True", "False"),
    "reshuffle": one("True", "False"),
    "row_ends": one("None", "[1, 2]", "[]", "np.array([2])"),
    "run_length": one("1", "2", "5"),
    "sample": known("samples", -1),
    "sampler": _sampler,
    "samples": _samples,
    "seed": SEED,
    "sequences": _sequences,
    "sections": one("None", "{'deal': {'world_size': 3}}", "{'batch': {'batch_size': 4}, 'x': None}", "'{}'", "'{'"),
    "separate_buckets": one("True", "False"),
    "shard": upto(5),
    "shuffle": one("True", "False"),
    "shuffle_rows": one("True", "False"),
    "shuffle_window": one("1", "4", "256"),
    "side": name("left", "right"),
    "sizes": SIZES,
    "source": _log,
    "sources": lambda c: sources(c),
    "stages": lambda c: f"[({c.r.choice((5, 10))}, {_weights(c)})]",
    "start": lambda c: c.number(max(0, c.ask("num_samples", 5))) if isinstance(c.of, samedeal.Sampler) else "0",
    "state": a_state,
    "step": upto(9),
    "steps": upto(9),
    "stop": lambda c: c.number(max(0, c.ask("num_samples", 5))) if isinstance(c.of, samedeal.Sampler) else "2",
    "strategy": name("budget", "bucket", "pack", "pad-to-max"),
    "text": lambda c: c.r.choice((a_state, a_recipe("Sampler"), a_recipe("Reading"), a_recipe("Split")))(c),
    "stride": one("1", "2", "3"),
    "tables": lambda c: f"iter({_tables(c)})",
    "tail": name("even-split", "keep", "drop", "duplicate"),
    "taken": known("num_samples"),
    "target": _log,
    "tier": name("ranks", "workers"),
    "timeout": one("0", "0.001"),
    "tolerance": one("0", "50", "1000"),
    "too_long": name("error", "truncate", "drop", "split", "single"),
    "unit": one("1", "2", "3", "4"),
    "balance_by": name("samples", "bytes"),
    "weights": _weights,
    "width": one("None", "5", "9", "20"),
    "worker": one("0", "0", "1"),
    "worker_policy": name("size-aware", "round-robin"),
    "workers": one("1", "2", "3"),
    "world_size": lambda c: str(c.world),
}
"""For each name of a parameter: its generator. `SPECIAL` has generators for single calls and classes."""

SPECIAL: dict[str, Make] = {
    "Batcher.from_recipe.recipe": a_recipe("Batcher"),
    "Batcher.order": _order_or_name,
    "Batcher.locate.sample": lambda c: c.number(max(0, len(c.of.lengths) - 1)),
    "Batcher.step": known("num_steps", -1),
    "Batcher.use_index.index": lambda c: _index(c),
    "Batches.start": one("0", "1", "2"),
    "BatchStream.from_recipe.recipe": a_recipe("BatchStream"),
    "weighted.weights": numbers(9, 40),
    "BatchStream.push.samples": one("[1, 2, 3]", "range(3)", "np.arange(3)", "[]"),
    "BatchStream.push.lengths": one("[4, 5, 60]", "[0, 1, 2]", "np.arange(3)", "[]"),
    "ChunkStream.chunks.start": one("0", "1", "1000", "2**50"),
    "ChunkStream.chunks.count": one("0", "1", "5", "100"),
    "ChunkStream.from_recipe.recipe": a_recipe("ChunkStream"),
    "Mesh.rank": known("world_size", -1),
    "Mesh.shard": one("['dp']", "[]", "('dp', 'tp')", "{'dp'}"),
    "Mesh.world_size": one("8", "8", "1", "2"),
    "Order.members": lambda c: f"{an_order(c)}.to_dict()",
    "Order.lists": lambda c: one("None", f"{an_order(c)}.lists")(c),
    "Order.stage.sources": one("None", "{'books': 5}", "{'books': samedeal.order('feistel', 3)}"),
    "Order.grow.samples": one("60", "90", "400"),
    "Reading.from_recipe.recipe": a_recipe("Reading"),
    "Reading.order": lambda c: an_order(c),
    "Sampler.batches.start": one("0", "1"),
    "Sampler.from_recipe.recipe": a_recipe("Sampler"),
    "Sampler.order": _order_or_name,
    "Sampler.source_counts.start": lambda c: c.number(min(2**53, c.ask("epoch_length", 5))),
    "Schedule.global_batch_size": one("4", "8", "[(0, 4), (3, 8)]", "[(0, 24)]", "24", "((0, 1), (5, 6))"),
    "Schedule.epoch": one("0", "1", "2"),
    "Schedule.count": one("0", "1", "3"),
    "Schedule.from_recipe.recipe": a_recipe("Schedule"),
    "Schedule.stop": one("None", "3"),
    "Schedule.step_of_consumed.samples_consumed": one("0", "8", "30"),
    "ShardPlan.from_recipe.recipe": a_recipe("ShardPlan"),
    "Split.from_recipe.recipe": a_recipe("Split"),
    "Split.among.keys": one("['a', 'b', 'a']", "range(200)", "[]", "np.arange(9)", "iter(['x', 3])"),
    "Split.among.rest": one("'rest'", "'a'", "''"),
    "Split.sizes": one("{'a': 3, 'b': 4}", "{'a': 100}", "None"),
    "build_index.batcher": lambda c: c.held("Batcher", "samedeal.Batcher([3, 4, 5], max_tokens=8)"),
    "build_index.path": one("folder.missing()"),
    "build_index.workers": one("1", "1", "map", "lambda plan, parts: map(plan, parts[1:])"),
    "join_indices.parts": lambda c: f"[{_index(c)}, {_index(c)}]",
    "blend.samples": one("1", "50", "400"),
    "grown.samples": one("1", "50"),
    "ledger.Ledger.samples.start": upto(20),
    "ledger.Ledger.samples.count": upto(5),
    "ledger.FileLog.number": upto(3),
    "ledger.FolderLog.number": upto(3),
    "ledger.MemoryLog.number": upto(3),
    "order.samples": _samples,
    "parquet.Shards.open.shard": upto(2),
    "parquet.Sources.open.shard": upto(2),
    "whole_weights.weights": one("[0.7, 0.3]", "np.array([1.5, 0, 1e-9])", "np.array([1, 2], '>f4')", "[]"),
    "differences.one": lambda c: ARGUMENTS["text"](c),
    "differences.other": lambda c: ARGUMENTS["text"](c),
    "parquet.Sources.join.parts": lambda c: f"{{'a': {_shards(c)}, 'b': {_shards(c)}}}",
    "parquet.Sources.sources_of.samples": one("np.arange(3)"),
    "parquet.Shards.open.buffer": one("1024"),
    "parquet.Sources.open.buffer": one("1024"),
    "parquet.read_reader.shards": _shards,
    "parquet.read_rows.shards": _shards,
    "parquet.read_rows.samples": numbers(44, 9),
    "parquet.read_rows.cursor": one("None"),
    "parquet.batches.size": one("1", "4"),
}


def generator(what: str, parameter: str) -> Make:
    """The generator for a parameter of a call: that of this call, of its class, or of all parameters with this name."""
    cls = what.rpartition(".")[0]
    for key in (f"{what}.{parameter}", f"{cls}.{parameter}"):
        if key in SPECIAL:
            return SPECIAL[key]
    if parameter not in ARGUMENTS:
        raise LookupError(f"no generator makes the argument {parameter!r} of samedeal.{what}: add one in generators.py")
    return ARGUMENTS[parameter]


def argument(c: Context, what: str, parameter: inspect.Parameter, wild: float) -> str:
    """An argument. With the probability `wild`, it is at a limit or of a wrong type."""
    make = generator(what, parameter.name)
    if c.r.random() >= wild:
        return make(c)
    kind = c.r.random()
    if kind < 0.35:
        return edge(c.r)
    if kind < 0.45:
        return bad_list(c.r, [c.r.randrange(9) for _ in range(c.r.randint(1, 4))])
    # An object of another class. Endless iterators are left out: the package would read them without end, as Python's
    # own functions would.
    held = [each for own, names in c.pool.items() if own not in ("Schedule", "ChunkStream") for each in names]
    if kind < 0.55 and held:
        return c.r.choice(held)
    if kind < 0.6:
        return a_list(c.r, [int(eval(edge(c.r), {"np": samedeal.collate.np})) % 2**66 for _ in range(2)])
    return hostile(c.r)
