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
from ._records import Config, Place
from ._sampler import Sampler

__version__ = "0.1.0"

__all__ = [
    "Batches",
    "Config",
    "ContradictionError",
    "IndexOutOfRangeError",
    "MissingError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Place",
    "SamedealError",
    "Sampler",
    "UnknownNameError",
    "WrongTypeError",
    "orders",
]
