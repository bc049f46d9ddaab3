"""Callers that ask for a pass of a sampler: loaders that make batches of batches, and what they do with the samples."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

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
    # The fetcher of a loader reads a dataset: it knows whether there is a batch_size, but not which one.
    if getattr(asking, "auto_collation", False) is True and getattr(asking, "dataset", None) is dataset:
        told = f"the DataLoader makes batches of the batches of {size} rows that the dataset gives"
        warnings.warn(f"{told}: pass batch_size=None to the DataLoader", BatchWarning, stacklevel=3)


class Asking(NamedTuple):
    """Facts about the caller that asks for a pass of a sampler."""

    collate: Any = None
    """The `collate_fn` of the `DataLoader`, if there is one."""
    look: int | None = None
    """How many items of the pass are taken for one batch, with those that workers fetch ahead, if that is known."""
    ahead: bool = False
    """Whether workers fetch batches ahead of the loop."""
    loader: Callable[[], Any] | None = None
    """The iterator of PyTorch's `DataLoader` whose workers fetch ahead, if it is still there."""

    def is_ahead(self, is_over: bool) -> bool:
        """Whether workers have fetched batches that the loop did not get; `is_over` says whether they have all."""
        if self.loader is None:
            return False
        loader = self.loader()
        sent, received = (getattr(loader, name, None) for name in ("_send_idx", "_rcvd_idx"))
        return not is_over if sent is None or received is None else bool(received < sent)

    @classmethod
    def now(cls, sampler: Any, size: int | None) -> Asking:
        """The caller that asks `sampler`, whose `__iter__` calls this.

        Args:
            sampler: The sampler.
            size: How many of its items make a batch; None if that is the batch size of whoever asks.
        """
        frame: Any = sys._getframe(2)
        if frame.f_code is _BATCHING and frame.f_back is not None:
            # Nearly every pass. Before Python 3.13, each `f_locals` makes a dictionary of all variables.
            found = frame.f_back.f_locals.get("self")
            batches = getattr(found, "_index_sampler", None)
            if batches is not None and getattr(batches, "sampler", None) is sampler and not found._num_workers:
                return cls(found._collate_fn, size or batches.batch_size)
        for _ in range(_DEPTH):
            if frame is None:
                break
            if (known := _locals_of(frame)) is not None:
                found = known.get("self")
                # That of PyTorch, that of torchdata, and their subclasses.
                if hasattr(found, "_collate_fn") and hasattr(found, "_index_sampler"):
                    ahead = found._num_workers
                    if ahead:
                        own = getattr(found, "_prefetch_factor", None)
                        # The iterator has its own only later.
                        ahead *= own or getattr(known.get("loader"), "prefetch_factor", None) or PREFETCH
                    # That of torchdata counts what the loop got.
                    is_plain = ahead > 0 and not type(found).__module__.startswith("torchdata.")
                    plain = weakref.ref(found) if is_plain else None
                    return cls(found._collate_fn, (1 + ahead) * (size or 1), ahead > 0, plain)
                if size is None and found is not sampler and isinstance(own := getattr(found, "batch_size", None), int):
                    size = own
            frame = frame.f_back
        # A loop of somebody's own.
        return _NOBODY if size is None else cls(look=size)


_NOBODY = Asking()
_BATCHING = torch.utils.data.BatchSampler.__iter__.__code__
"""Where PyTorch asks a sampler of samples for a pass."""


_DEPTH = 12
"""Frames between the pass of a sampler and its loader, where others wrap it."""
PREFETCH = 2
"""PyTorch's default."""


def _asking() -> Any:
    """The object whose method called `__iter__`: what asks for a pass says nothing about itself."""
    # 0 is this function, 1 the one that warns, 2 `__iter__`, 3 its caller.
    known = _locals_of(sys._getframe(3))
    return None if known is None else known.get("self")


_METHODS = frozenset(("__init__", "__iter__", "__next__", "_get_iterator", "_next_index", "_reset"))
"""In which a loader or a sampler asks a sampler for a pass."""


def _locals_of(frame: Any) -> Any:
    """The variables of a method of a loader or sampler; None for other code.

    Before Python 3.13, a frame whose variables were looked at keeps what they were until it ends: in a training loop,
    datasets and tensors.
    """
    code = frame.f_code
    is_method = code.co_name in _METHODS and ("self" in code.co_varnames or "self" in code.co_freevars)
    return frame.f_locals if is_method else None
