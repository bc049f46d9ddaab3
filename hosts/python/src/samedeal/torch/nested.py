"""Loaders that make batches of batches."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import torch.utils.data


class BatchWarning(UserWarning):
    """A `DataLoader` makes batches of batches: a step has `batch_size` times too many samples."""


def warn_of_batched_batches(sampler: Any) -> None:
    """Warns if the `BatchSampler` of PyTorch iterates over a sampler of batches. `__iter__` calls this."""
    asking = _asking()
    # torchdata's is an iterator of its own.
    known = isinstance(asking, torch.utils.data.BatchSampler) or type(asking).__module__.startswith("torchdata.")
    if known and getattr(asking, "sampler", None) is sampler:
        told = "the DataLoader makes batches of the batches that the sampler gives"
        advice = f"pass the {type(sampler).__name__} as batch_sampler=, without batch_size"
        warnings.warn(f"{told}: {advice}", BatchWarning, stacklevel=3)


def warn_of_collated_batches(dataset: Any, size: int) -> None:
    """Warns if a loader with a `batch_size` iterates over a dataset of batches. `__iter__` calls this."""
    asking = _asking()
    # What of a loader reads a dataset: it knows whether there is a batch_size, but not which one.
    if getattr(asking, "auto_collation", False) is True and getattr(asking, "dataset", None) is dataset:
        told = f"the DataLoader makes batches of the batches of {size} rows that the dataset gives"
        warnings.warn(f"{told}: pass batch_size=None to the DataLoader", BatchWarning, stacklevel=3)


def _asking() -> Any:
    """The object whose method called `__iter__`: what asks for a pass says nothing about itself."""
    # 0 is this function, 1 the one that warns, 2 `__iter__`, 3 its caller.
    return sys._getframe(3).f_locals.get("self")
