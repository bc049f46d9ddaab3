"""Deals the samples of a training run to ranks and batches: the same deal in Rust, Python and JavaScript.

>>> import samedeal
>>> sampler = samedeal.Sampler(10, seed=42, rank=1, world_size=4, order="torch")
>>> sampler.indices().tolist()
[6, 5, 7]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Imported first: its error says which built file an installation lacks.
from .engine import component as _component  # noqa: F401

# isort: split
from .compose.order import Order
from .deal.batches import Batches
from .deal.binding import plain_orders
from .deal.sampler import Sampler
from .engine.errors import (
    ContradictionError,
    IndexOutOfRangeError,
    MissingError,
    MovedError,
    OutOfMemoryError,
    OutOfRangeError,
    SamedealError,
    UnknownMemberError,
    UnknownNameError,
    WrongTypeError,
)
from .generated.sampling import Fate, Place, Round, ShardPlace, ShortEpochs, SourcePlace
from .generated.types import Spans

if TYPE_CHECKING:
    from . import collate
    from .batch.batcher import Batcher
    from .batch.build import build_index
    from .batch.index import join_indices
    from .batch.records import Batch, Metrics
    from .batch.stream import BatchStream
    from .engine.sources import LengthsSource
    from .generated.batches import BatchPlace, BatchShape
    from .generated.launch import Detection
    from .generated.orders import balance, blend, grown, order, sharded, weighted, windows
    from .generated.readings import ReadBatch, ReadRound
    from .generated.shards import Overlaps, ShardRuns
    from .generated.steps import EpochPosition, StepPlace
    from .generated.texts import Difference, TextKind
    from .read.reading import Reading
    from .shard.plan import ShardPlan, verify_shards
    from .shard.records import Loads, LoadSummary, Steps, Verification
    from .shard.stream import ChunkStream
    from .split.split import Split
    from .steps.schedule import Schedule
    from .texts import differences, inspect, recipe_after, whole_weights
    from .topology.launch import detect_rank
    from .topology.mesh import Mesh

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "BatchPlace",
    "BatchShape",
    "BatchStream",
    "Batcher",
    "Batches",
    "ChunkStream",
    "ContradictionError",
    "Detection",
    "Difference",
    "EpochPosition",
    "Fate",
    "IndexOutOfRangeError",
    "LengthsSource",
    "LoadSummary",
    "Loads",
    "Mesh",
    "Metrics",
    "MissingError",
    "MovedError",
    "Order",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Overlaps",
    "Place",
    "ReadBatch",
    "ReadRound",
    "Reading",
    "Round",
    "SamedealError",
    "Sampler",
    "Schedule",
    "ShardPlace",
    "ShardPlan",
    "ShardRuns",
    "ShortEpochs",
    "SourcePlace",
    "Spans",
    "Split",
    "StepPlace",
    "Steps",
    "TextKind",
    "UnknownMemberError",
    "UnknownNameError",
    "Verification",
    "WrongTypeError",
    "balance",
    "blend",
    "build_index",
    "collate",
    "detect_rank",
    "differences",
    "grown",
    "inspect",
    "join_indices",
    "order",
    "plain_orders",
    "recipe_after",
    "sharded",
    "verify_shards",
    "weighted",
    "whole_weights",
    "windows",
]

# The modules of names that are imported at their first use, so that a program that only samples starts sooner.
_LATER = {
    "LoadSummary": "shard.records",
    "Batch": "batch.records",
    "BatchPlace": "generated.batches",
    "BatchShape": "generated.batches",
    "BatchStream": "batch.stream",
    "Batcher": "batch.batcher",
    "ChunkStream": "shard.stream",
    "Detection": "generated.launch",
    "Difference": "generated.texts",
    "EpochPosition": "generated.steps",
    "LengthsSource": "engine.sources",
    "Loads": "shard.records",
    "Mesh": "topology.mesh",
    "Metrics": "batch.records",
    "Overlaps": "generated.shards",
    "ReadBatch": "generated.readings",
    "ReadRound": "generated.readings",
    "Reading": "read.reading",
    "Schedule": "steps.schedule",
    "ShardPlan": "shard.plan",
    "ShardRuns": "generated.shards",
    "Split": "split.split",
    "StepPlace": "generated.steps",
    "Steps": "shard.records",
    "TextKind": "generated.texts",
    "Verification": "shard.records",
    "balance": "generated.orders",
    "blend": "generated.orders",
    "build_index": "batch.build",
    "detect_rank": "topology.launch",
    "differences": "texts",
    "grown": "generated.orders",
    "inspect": "texts",
    "join_indices": "batch.index",
    "order": "generated.orders",
    "recipe_after": "texts",
    "sharded": "generated.orders",
    "verify_shards": "shard.plan",
    "weighted": "generated.orders",
    "whole_weights": "texts",
    "windows": "generated.orders",
}


def __getattr__(name: str) -> Any:
    if name == "collate":
        # `collate` is a module: its import sets the attribute.
        return import_module(".collate", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
