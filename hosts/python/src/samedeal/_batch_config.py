"""From the parameters of batchers and their streams to a configuration that crosses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

from . import _arguments as check
from ._batch_records import COUNTINGS, PACKINGS, STRATEGIES, TAILS, TOO_LONG, BatchConfig, Buckets, Stretch
from ._errors import ContradictionError, MissingError, WrongTypeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_WORLD = check.Width(0, check.U32_MAX, f"1 to {2**20}")
_BUDGET = check.Width(0, check.U64_MAX, f"1 to {check.U64_MAX}")
_QUANTILES = check.Width(0, check.U32_MAX, f"1 to {2**20}")


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
    history: Iterable[tuple[SupportsIndex, SupportsIndex]] = (),
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
        rows = {"budget": 0, "pack": 1, "bucket": 0 if tokens else 32}.get(kind, 32)
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
        _buckets({name: value for name, value in given.items() if value is not None}),
        check.integer("window", window, check.U32),
        check.enum("too-long", too_long, TOO_LONG),
        check.enum("tail", tail, TAILS),
        _history(history),
    )


def _history(history: Any) -> list[Stretch]:
    """Worlds and steps."""
    if isinstance(history, (str, bytes)) or not isinstance(history, Iterable):
        raise WrongTypeError("history", check.described(history), "pairs of world and steps")
    found = []
    for past in history:
        if not isinstance(past, (tuple, list)) or len(past) != 2:
            raise WrongTypeError("history", check.described(past), "pairs of world and steps")
        world, steps = past
        found.append(Stretch(check.integer("history", world, _WORLD), check.integer("history", steps, check.U64)))
    return found


def _buckets(given: dict[str, Any]) -> Buckets:
    """The one way that is given."""
    if len(given) > 1:
        first, second = list(given)[:2]
        allowed = f"none, where {second.replace('-', '_')} is given"
        raise ContradictionError(first, check.described(given[first]), allowed)
    if "boundaries" in given:
        return Buckets("boundaries", check.u32s("boundaries", given["boundaries"], check.U32))
    if "quantiles" in given:
        return Buckets("quantiles", check.integer("quantiles", given["quantiles"], _QUANTILES))
    return Buckets("bucket-width", check.integer("bucket-width", given.get("bucket-width", 64), check.U32_FROM_1))
