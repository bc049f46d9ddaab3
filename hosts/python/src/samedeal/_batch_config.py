"""From the parameters of batchers and their streams to a configuration that crosses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex

from . import _arguments as check
from ._batch_records import COUNTINGS, PACKINGS, STRATEGIES, TAILS, TOO_LONG, BatchConfig
from ._batching import boundaries_of_quantiles, boundaries_of_width
from ._errors import ContradictionError, MissingError, SamedealError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_WORLD = check.Width(0, check.U32_MAX, f"1 to {2**20}")
_BUDGET = check.Width(0, check.U64_MAX, f"1 to {check.U64_MAX}")
_BUCKETS = check.Width(0, check.U32_MAX, f"1 to {2**20}")
_WIDTH = 64


def configured(
    lengths: NDArray[np.uint32] | None,
    *,
    seed: SupportsIndex,
    epoch: SupportsIndex,
    order: str,
    world: SupportsIndex,
    strategy: str,
    max_batch_size: SupportsIndex | None,
    max_length: SupportsIndex | None,
    budget: SupportsIndex | None,
    counting: str,
    linear: SupportsIndex,
    quadratic: SupportsIndex,
    multiple: SupportsIndex,
    capacity: SupportsIndex | None,
    packing: str,
    bucket_width: SupportsIndex | None,
    boundaries: ArrayLike | Iterable[SupportsIndex] | None,
    quantiles: SupportsIndex | None,
    window: SupportsIndex,
    too_long: str,
    tail: str,
) -> BatchConfig:
    """The configuration, with what the strategy takes where nothing is given. `lengths` are none where not known."""
    kind = check.enum("strategy", strategy, STRATEGIES)
    rows = None if max_batch_size is None else check.integer("max-batch-size", max_batch_size, check.U32)
    longest = None if max_length is None else check.integer("max-length", max_length, check.U32)
    tokens = None if budget is None else check.integer("budget", budget, _BUDGET)
    room = None if capacity is None else check.integer("capacity", capacity, check.U32_FROM_1)
    if kind == "budget" and tokens is None:
        if rows is None or longest is None:
            raise MissingError("budget", "", "what a batch may cost, or max_batch_size and max_length")
        tokens = rows * longest
    if kind == "pack" and room is None:
        if longest is None:
            raise MissingError("capacity", "", "the tokens of a row, or max_length")
        room = longest
    if rows is None:
        rows = {"budget": 0, "pack": 1}.get(kind, 32)
    most = check.U32_MAX if longest is None else longest
    given = {"bucket-width": bucket_width, "boundaries": boundaries, "quantiles": quantiles}
    import numpy

    return BatchConfig(
        numpy.zeros(0, dtype=numpy.uint32) if lengths is None else lengths,
        check.integer("seed", seed, check.S64),
        check.integer("epoch", epoch, check.U64),
        check.name("order", order),
        check.integer("world", world, _WORLD),
        kind,
        rows,
        most,
        tokens or 0,
        check.enum("counting", counting, COUNTINGS),
        check.integer("linear", linear, check.U32),
        check.integer("quadratic", quadratic, check.U32),
        check.integer("multiple", multiple, check.U32_FROM_1),
        room or 0,
        check.enum("packing", packing, PACKINGS),
        _boundaries(kind, lengths, most, {name: value for name, value in given.items() if value is not None}),
        check.integer("window", window, check.U32),
        check.enum("too-long", too_long, TOO_LONG),
        check.enum("tail", tail, TAILS),
    )


def _boundaries(
    strategy: str, lengths: NDArray[np.uint32] | None, max_length: int, given: dict[str, Any]
) -> NDArray[np.uint32]:
    """Where buckets end, from the one thing that says so."""
    import numpy

    if len(given) > 1:
        first, second = list(given)[:2]
        allowed = f"none, where {second.replace('-', '_')} is given"
        raise ContradictionError(first, check.described(given[first]), allowed)
    if "boundaries" in given:
        return check.u32s("boundaries", given["boundaries"], check.U32)
    if "quantiles" in given:
        buckets = check.integer("quantiles", given["quantiles"], _BUCKETS)
        if lengths is None:
            raise ContradictionError("quantiles", str(buckets), "boundaries or bucket_width, where lengths are unknown")
        with _renamed("buckets", "quantiles"):
            return boundaries_of_quantiles(lengths, buckets)
    width = check.integer("bucket-width", given.get("bucket-width", _WIDTH), check.U32_FROM_1)
    if strategy != "bucket":
        return numpy.zeros(0, dtype=numpy.uint32)
    if lengths is None:
        if max_length == check.U32_MAX:
            raise MissingError("max-length", "", "the most tokens of an item, or boundaries, where lengths are unknown")
        end = max_length
    else:
        # Buckets beyond the longest would be empty; its own ends where all do.
        longest = int(lengths.max()) if len(lengths) else 0
        end = min(max_length, -(-longest // max(width, 1)) * width + 1)
    with _renamed("width", "bucket-width"):
        return boundaries_of_width(width, end)


@contextlib.contextmanager
def _renamed(field: str, parameter: str) -> Iterator[None]:
    """Tells failures of a field of the component of the parameter that it comes from."""
    try:
        yield
    except SamedealError as error:
        if error.field != field:
            raise
        raise type(error)(parameter, error.value, error.allowed) from None
