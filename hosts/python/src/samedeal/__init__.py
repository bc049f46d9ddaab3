"""Which sample goes to which rank and batch: the same deal in Rust, Python and JavaScript.

>>> import samedeal
>>> sampler = samedeal.Sampler(10, seed=42, rank=1, world=4, order="torch")
>>> sampler.indices().tolist()
[6, 5, 7]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._batches import Batches
from ._deal import orders
from ._errors import (
    ContradictionError,
    IndexOutOfRangeError,
    MissingError,
    MovedError,
    OutOfMemoryError,
    OutOfRangeError,
    SamedealError,
    UnknownNameError,
    WrongTypeError,
)
from ._records import Round
from ._sampler import Sampler
from .bindings.sampling import Config, Place, ShardPlace

if TYPE_CHECKING:
    from . import collate
    from ._batch_records import Batch, Metrics
    from ._batch_stream import BatchStream
    from ._batcher import Batcher
    from ._launch import detect_rank
    from ._mesh import Mesh
    from ._plan import ShardPlan, verify_shards
    from ._plan_records import Balance, Loads, Overlap, Steps, Verification
    from ._stream import ChunkStream
    from .bindings.batches import BatchConfig, BatchPlace, Buckets, Stretch
    from .bindings.launch import Detection
    from .read import Reading, ReadRound

__version__ = "0.1.0"

__all__ = [
    "Balance",
    "Batch",
    "BatchConfig",
    "BatchPlace",
    "BatchStream",
    "Batcher",
    "Batches",
    "Buckets",
    "ChunkStream",
    "Config",
    "ContradictionError",
    "Detection",
    "IndexOutOfRangeError",
    "Loads",
    "Mesh",
    "Metrics",
    "MissingError",
    "MovedError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Overlap",
    "Place",
    "ReadRound",
    "Reading",
    "Round",
    "SamedealError",
    "Sampler",
    "ShardPlace",
    "ShardPlan",
    "Steps",
    "Stretch",
    "UnknownNameError",
    "Verification",
    "WrongTypeError",
    "collate",
    "detect_rank",
    "orders",
    "verify_shards",
]

# Imported at their first use: who only samples begins sooner.
_LATER = {
    "Balance": "_plan_records",
    "Batch": "_batch_records",
    "BatchConfig": "bindings.batches",
    "BatchPlace": "bindings.batches",
    "BatchStream": "_batch_stream",
    "Batcher": "_batcher",
    "Buckets": "bindings.batches",
    "ChunkStream": "_stream",
    "Detection": "bindings.launch",
    "Loads": "_plan_records",
    "Mesh": "_mesh",
    "Metrics": "_batch_records",
    "Overlap": "_plan_records",
    "ReadRound": "read",
    "Reading": "read",
    "ShardPlan": "_plan",
    "Steps": "_plan_records",
    "Stretch": "bindings.batches",
    "Verification": "_plan_records",
    "detect_rank": "_launch",
    "verify_shards": "_plan",
}


def __getattr__(name: str) -> Any:
    if name == "collate":
        # A module, which becomes an attribute by its import.
        return import_module(".collate", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, "collate"})
