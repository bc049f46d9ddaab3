"""Lengths for measurements of batches: those of a real corpus, and log-normal ones. They are equal in every run.

`src/groups/lengths.rs` draws the same lengths.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

KJV = Path(__file__).parent / "data" / "kjv-lengths.json"
MEAN, DEVIATION = 600.0, 700.0


def verses() -> NDArray[np.uint32]:
    """Words of the verses of the King James Bible: 31,102 of them, 2 to 90 words."""
    return np.array(json.loads(KJV.read_text())["words"], dtype=np.uint32)


def log_normal(count: int, most: int) -> NDArray[np.uint32]:
    """Lengths with a mean of 600 and a standard deviation of 700 before they are cut at `most`."""
    variance = math.log1p((DEVIATION / MEAN) ** 2)
    # The Box-Muller transform.
    normal = np.sqrt(-2 * np.log(uniform(count, 0))) * np.cos(2 * np.pi * uniform(count, 1))
    drawn = np.exp(math.log(MEAN) - variance / 2 + math.sqrt(variance) * normal)
    return np.clip(np.rint(drawn), 1, most).astype(np.uint32)


def uniform(count: int, stream: int) -> NDArray[np.float64]:
    """Numbers above 0 and below 1 (SplitMix64)."""
    with np.errstate(over="ignore"):
        state = np.arange(count, dtype=np.uint64) * np.uint64(2) + np.uint64(stream + 1)
        state = state * np.uint64(0x9E37_79B9_7F4A_7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
        state ^= state >> np.uint64(31)
    return ((state >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53


def dense(distinct: int, count: int, capacity: int) -> NDArray[np.uint32]:
    """`distinct` different lengths: half of them near half of the capacity, the others near a third."""
    spread = (uniform(distinct, 0) * (capacity // 8)).astype(np.int64)
    sizes = capacity // (2 + np.arange(distinct) % 2) - capacity // 16 + spread
    return sizes[(uniform(count, 1) * distinct).astype(np.int64)].astype(np.uint32)
