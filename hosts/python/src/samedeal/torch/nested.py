"""Facts about the caller of a sampler's `__iter__`, from its stack frame; warnings of batches of batches."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch.utils.data

from ..engine.warn import warn


class BatchWarning(UserWarning):
    """A `DataLoader` makes batches of batches: a step has `batch_size` times too many samples."""


def warn_of_batched_batches(sampler: Any) -> None:
    """Warns if the `BatchSampler` of PyTorch iterates over a sampler of batches. `__iter__` calls this."""
    asking = _asking()
    # In torchdata, the caller is an iterator of torchdata's own class.
    known = isinstance(asking, torch.utils.data.BatchSampler) or type(asking).__module__.startswith("torchdata.")
    if known and getattr(asking, "sampler", None) is sampler:
        told = "the DataLoader makes batches of the batches that the sampler gives"
        advice = f"pass the {type(sampler).__name__} as batch_sampler=, without batch_size"
        warn(f"{told}: {advice}", BatchWarning)


def warn_of_collated_batches(dataset: Any, size: int) -> None:
    """Warns if a loader with a `batch_size` iterates over a dataset of batches. `__iter__` calls this."""
    asking = _asking()
    # The fetcher of a loader reads a dataset: it knows whether there is a batch_size, but not which one.
    if getattr(asking, "auto_collation", False) is True and getattr(asking, "dataset", None) is dataset:
        told = f"the DataLoader makes batches of the batches of {size} rows that the dataset gives"
        warn(f"{told}: pass batch_size=None to the DataLoader", BatchWarning)


def is_sent(dataset: Any) -> bool:
    """Whether a loader that iterates over a dataset in a worker sends the items to the main process as they are.

    It does without a `batch_size` and a `collate_fn`. `__iter__` calls this.
    """
    asking = _asking()
    is_alone = getattr(asking, "auto_collation", None) is False and getattr(asking, "dataset", None) is dataset
    return is_alone and getattr(asking, "collate_fn", None) is torch.utils.data.default_convert


class Asking(NamedTuple):
    """Facts about the caller of a sampler's `__iter__`."""

    collate: Any = None
    """The `collate_fn` of the `DataLoader`, if there is one."""
    look: int | None = None
    """How many items are taken when the loop gets one batch, with those that workers fetch ahead; None if unknown."""
    ahead: bool = False
    """Whether workers fetch batches ahead of the loop."""
    loader: Callable[[], Any] | None = None
    """The iterator of PyTorch's `DataLoader` whose workers fetch ahead, if it is still there."""

    def is_ahead(self, is_over: bool) -> bool:
        """Whether workers have fetched batches that the loop did not get; `is_over`: whether they have fetched all."""
        if self.loader is None:
            return False
        loader = self.loader()
        sent, received = (getattr(loader, name, None) for name in ("_send_idx", "_rcvd_idx"))
        return not is_over if sent is None or received is None else bool(received < sent)

    @classmethod
    def now(cls, sampler: Any, size: int | None) -> Asking:
        """Facts about the caller of `sampler.__iter__`, which calls this.

        Args:
            sampler: The sampler.
            size: How many items of the sampler make a batch; None if that is the batch size of the caller.
        """
        frame: Any = sys._getframe(2)
        if frame.f_code is _BATCHING and frame.f_back is not None:
            # A shortcut for the usual caller, with one `f_locals`, which before Python 3.13 copies all variables.
            found = frame.f_back.f_locals.get("self")
            batches = getattr(found, "_index_sampler", None)
            if batches is not None and getattr(batches, "sampler", None) is sampler and not found._num_workers:
                return cls(found._collate_fn, size or batches.batch_size)
        for _ in range(_DEPTH):
            if frame is None:
                break
            if (known := _locals_of(frame)) is not None:
                found = known.get("self")
                # The iterator of a loader of PyTorch or torchdata, or of a subclass.
                if hasattr(found, "_collate_fn") and hasattr(found, "_index_sampler"):
                    ahead = found._num_workers
                    if ahead:
                        own = getattr(found, "_prefetch_factor", None)
                        # The iterator gets its own prefetch factor only later.
                        ahead *= own or getattr(known.get("loader"), "prefetch_factor", None) or PREFETCH
                    # The iterator of torchdata counts the batches that the loop got.
                    is_plain = ahead > 0 and not type(found).__module__.startswith("torchdata.")
                    plain = weakref.ref(found) if is_plain else None
                    return cls(found._collate_fn, (1 + ahead) * (size or 1), ahead > 0, plain)
                if size is None and found is not sampler and isinstance(own := getattr(found, "batch_size", None), int):
                    size = own
            frame = frame.f_back
        # The caller is no loader, but a loop of the user.
        return _NOBODY if size is None else cls(look=size)


_NOBODY = Asking()
_BATCHING = torch.utils.data.BatchSampler.__iter__.__code__
"""The code in which PyTorch asks a sampler of samples for a pass."""


_DEPTH = 12
"""The most frames between the pass of a sampler and its loader, if other samplers wrap it."""
PREFETCH = 2
"""PyTorch's default of `prefetch_factor`."""


def _asking() -> Any:
    """The object whose method called `__iter__`, found by its frame, since no argument of `__iter__` names it."""
    # 0 is this function, 1 the one that warns, 2 `__iter__`, 3 its caller.
    known = _locals_of(sys._getframe(3))
    return None if known is None else known.get("self")


_METHODS = frozenset(("__init__", "__iter__", "__next__", "_get_iterator", "_next_index", "_reset"))
"""The methods in which a loader or a sampler asks a sampler for a pass."""


def _locals_of(frame: Any) -> Any:
    """The variables of a method of a loader or sampler; None for other code.

    Before Python 3.13, a frame whose variables were looked at keeps their values until it ends. In a training loop,
    these are datasets and tensors, so frames of other code are not looked at.
    """
    code = frame.f_code
    is_method = code.co_name in _METHODS and ("self" in code.co_varnames or "self" in code.co_freevars)
    return frame.f_locals if is_method else None
