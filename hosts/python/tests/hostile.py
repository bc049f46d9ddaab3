"""Values that no caller can mean, and the errors that are expected for them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from samedeal import SamedealError

NOT_WHOLE: list[Any] = [
    1.7,
    3.0,
    math.nan,
    math.inf,
    "3",
    b"3",
    None,
    True,
    False,
    [1],
    (),
    {},
    1j,
    np.float64(1),
    np.array([1, 2]),
]
TOO_WIDE = [-1, -(2**63), 2**64, 10**5000, -(10**5000)]
UNKNOWN = ["", "x", "Feistel", "PAD", "torch ", "\0", "\ud800", "é" * 10**6]


class Vicious:
    """An object that fails wherever it can."""

    def __index__(self) -> int:
        raise TypeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


@contextlib.contextmanager
def fails(error: type[SamedealError], field: str) -> Iterator[pytest.ExceptionInfo[SamedealError]]:
    with pytest.raises(SamedealError) as caught:
        yield caught
    assert type(caught.value) is error
    assert caught.value.field == field
    assert caught.value.allowed
    assert len(caught.value.value) <= 64
    # For a wrong name of an order, the error names the order and not the name.
    assert field in str(caught.value) or caught.value.path == "order.name"
