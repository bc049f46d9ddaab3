"""Which sample goes to which rank and batch: the same deal in Rust, Python and JavaScript.

>>> import samedeal
>>> sampler = samedeal.Sampler(10, seed=42, rank=1, world=4, order="torch")
>>> sampler.indices().tolist()
[6, 5, 7]
"""

from ._batches import Batches
from ._deal import orders
from ._errors import (
    ContradictionError,
    IndexOutOfRangeError,
    MissingError,
    OutOfMemoryError,
    OutOfRangeError,
    SamedealError,
    UnknownNameError,
    WrongTypeError,
)
from ._launch import detect_rank
from ._mesh import Mesh
from ._plan import ShardPlan, verify_shards
from ._plan_records import Balance, Detection, Loads, Overlap, Steps, Verification
from ._records import Config, Place, Round, ShardPlace
from ._sampler import Sampler
from ._stream import ChunkStream

__version__ = "0.1.0"

__all__ = [
    "Balance",
    "Batches",
    "ChunkStream",
    "Config",
    "ContradictionError",
    "Detection",
    "IndexOutOfRangeError",
    "Loads",
    "Mesh",
    "MissingError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Overlap",
    "Place",
    "Round",
    "SamedealError",
    "Sampler",
    "ShardPlace",
    "ShardPlan",
    "Steps",
    "UnknownNameError",
    "Verification",
    "WrongTypeError",
    "detect_rank",
    "orders",
    "verify_shards",
]
