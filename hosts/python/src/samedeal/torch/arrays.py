"""Arrays as PyTorch takes them."""

from __future__ import annotations

import array
from typing import Any

import numpy as np


def native(value: Any) -> Any:
    """The value, as an array in this machine's byte order where it is one: PyTorch takes no other order, and reads
    the bytes of an `array.array` as those of another type."""
    if isinstance(value, array.array):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    return value
