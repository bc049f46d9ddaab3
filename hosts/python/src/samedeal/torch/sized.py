"""The number of samples of a dataset."""

from __future__ import annotations

from typing import Any

from ..engine import arguments as check

_SIZED = "a dataset that has a len"
_OF_STREAMS = (
    "a stream has none: read its files with samedeal.torch.ShardedDataset, or deal the numbers of its shards to ranks, "
    "`for shard in samedeal.Sampler(shards, ...)`, and read each shard on its own"
)


def length_of(dataset: Any, field: str = "dataset") -> int:
    """The number of samples of a dataset.

    Raises:
        WrongTypeError: The dataset has no length, a negative one, or one that is too large.
    """
    is_stream = not hasattr(dataset, "__len__") and hasattr(dataset, "__iter__")
    return check.length(field, dataset, f"{_SIZED}; {_OF_STREAMS}" if is_stream else _SIZED)
