"""Arrays as PyTorch takes them."""

from __future__ import annotations

from typing import Any

import numpy as np


def native(value: Any) -> Any:
    """The value; an array of the other byte order, which PyTorch refuses, is converted to that of this machine."""
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    return value
