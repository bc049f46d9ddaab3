"""From the parameters of batchers and their streams to a configuration that crosses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..bindings.batches import (
    COUNTING_NAMES,
    PACKING_NAMES,
    STRATEGY_NAMES,
    TAIL_NAMES,
    TOO_LONG_NAMES,
    BatchConfig,
    Buckets,
    Stretch,
)
from ..engine import arguments as check
from ..engine.errors import ContradictionError, MissingError, WrongTypeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_WORLD = check.Width(0, check.U32_MAX, f"1 to {2**20}")
_BUDGET = check.Width(0, check.U64_MAX, f"1 to {check.U64_MAX}")
# Which strategies and countings look at an option: what has no effect is refused. None stands for any.
_Uses = tuple[tuple["str | None", "str | None"], ...]
_BY_BUCKET: _Uses = (("bucket", None),)
_USES: dict[str, _Uses] = {
    "bucket-width": _BY_BUCKET,
    "boundaries": _BY_BUCKET,
    "quantiles": _BY_BUCKET,
    "linear": ((None, "weighted"),),
    "quadratic": ((None, "weighted"),),
    "multiple": (("bucket", None), ("budget", "padded")),
    "capacity": (("pack", None),),
    "packing": (("pack", None), ("budget", "unpadded"), ("budget", "weighted")),
}
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
    window: SupportsIndex | None,
    too_long: str,
    tail: str,
    history: Iterable[tuple[SupportsIndex, SupportsIndex]] = (),
) -> BatchConfig:
    """The configuration, with what the strategy takes where nothing is given. `lengths` are none where not known."""
    kind = check.enum("strategy", strategy, STRATEGY_NAMES)
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
    counted = check.enum("counting", counting, COUNTING_NAMES)
    per_token = check.integer("linear", linear, check.U32)
    per_pair = check.integer("quadratic", quadratic, check.U32)
    unit = check.integer("multiple", multiple, check.U32_FROM_1)
    effort = check.enum("packing", packing, PACKING_NAMES)
    looked_at = None if window is None else check.integer("window", window, check.U32)
    given = {"bucket-width": bucket_width, "boundaries": boundaries, "quantiles": quantiles}
    options = {name: value for name, value in given.items() if value is not None}
    buckets = _buckets(options)
    chosen: dict[str, Any] = {
        **options,
        "linear": per_token if per_token != 1 else None,
        "quadratic": per_pair or None,
        "multiple": unit if unit > 1 else None,
        "capacity": None if capacity is None else room or None,
        "packing": effort if effort != "fast" else None,
    }
    _refuse_unused({name: value for name, value in chosen.items() if value is not None}, kind, counted)
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
        counted,
        per_token,
        per_pair,
        unit,
        room or 0,
        effort,
        buckets,
        looked_at,
        check.enum("too-long", too_long, TOO_LONG_NAMES),
        check.enum("tail", tail, TAIL_NAMES),
        _history(history),
    )


def _refuse_unused(chosen: dict[str, Any], strategy: str, counting: str) -> None:
    """Fails where an option has no effect that is not what stands without it."""
    for name, value in chosen.items():
        uses = _USES[name]
        if (strategy, None) in uses or (strategy, counting) in uses or (None, counting) in uses:
            continue
        there = " or ".join(_named(*use) for use in uses)
        raise ContradictionError(
            name, check.described(value), f"none with {_named(strategy, counting)}; it is for {there}"
        )


def _named(strategy: str | None, counting: str | None) -> str:
    parts = {"strategy": strategy, "counting": counting}
    return " with ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def _history(history: Any) -> tuple[Stretch, ...]:
    """Worlds and steps."""
    if isinstance(history, (str, bytes)) or not isinstance(history, Iterable):
        raise WrongTypeError("history", check.described(history), "pairs of world and steps")
    found = []
    for past in history:
        if not isinstance(past, (tuple, list)) or len(past) != 2:
            raise WrongTypeError("history", check.described(past), "pairs of world and steps")
        world, steps = past
        found.append(Stretch(check.integer("history", world, _WORLD), check.integer("history", steps, check.U64)))
    return tuple(found)


def _buckets(given: dict[str, Any]) -> Buckets | None:
    """The one way that is given, if one is."""
    if len(given) > 1:
        first, second = list(given)[:2]
        allowed = f"none, where {second.replace('-', '_')} is given"
        raise ContradictionError(first, check.described(given[first]), allowed)
    if "boundaries" in given:
        return Buckets("boundaries", check.u32s("boundaries", given["boundaries"], check.U32))
    if "quantiles" in given:
        return Buckets("quantiles", check.integer("quantiles", given["quantiles"], _QUANTILES))
    if "bucket-width" in given:
        return Buckets("bucket-width", check.integer("bucket-width", given["bucket-width"], check.U32_FROM_1))
    return None
