"""The lanes of a dataset in files, where `lanes="auto"` leaves their number to the dataset."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import ContradictionError, OutOfRangeError, Reading, WrongTypeError, recipe_after
from ..engine import arguments as check
from ..files import Shards, Sources
from ..generated.limits import ASSUMED_WORKERS, MAX_LANES, MAX_VARIANCE_RATIO

AUTO = "auto"
"""The value of `lanes` with which the dataset chooses."""
_SAMPLES = check.COUNT._replace(most=check.MAX_EXACT)
"""Rows of an epoch, checked here so that the error has the name of the option."""


class LanesNote(UserWarning):
    """The choice of `lanes="auto"`, and the reason. It comes once, on rank 0, when the dataset is made."""


class Chosen(NamedTuple):
    """Lanes that were chosen, and the shuffle window with which they are read."""

    lanes: int
    shuffle_window: int


def is_auto(lanes: Any, max_readers: Any, deal: str, shuffle: Any) -> bool:
    """Whether the dataset chooses the lanes.

    Raises:
        WrongTypeError: `lanes` is another string.
        ContradictionError: There are no lanes to choose, or `max_readers` is not used.
    """
    if not isinstance(lanes, str):
        if max_readers is not None:
            raise ContradictionError("max_readers", check.described(max_readers), 'none, without lanes="auto"')
        return False
    if lanes != AUTO:
        raise WrongTypeError("lanes", check.described(lanes), 'a whole number, or "auto"')
    if deal != "samples" or (shuffle is not None and not check.boolean("shuffle", shuffle)):
        raise ContradictionError("lanes", AUTO, 'none: only deal="samples" with shuffle=True has lanes')
    return True


def choose(
    shards: Shards,
    rows: Any,
    batch_size: int | None,
    world_size: int,
    max_readers: Any,
    window: Any,
    multiples: Sequence[int] = (),
) -> tuple[Chosen, str]:
    """The lanes for these files, and a text that says what was chosen and why.

    `rows` is the number of rows of an epoch; None if each row comes once. `window` is the shuffle window that was
    given, which stays. `multiples` are numbers that have to be multiples of the lanes, if there are such lanes.

    Raises:
        WrongTypeError: `max_readers` or `rows` is no whole number.
        OutOfRangeError: There cannot be so many readers or rows, or there are more ranks.
    """
    assumed = ""
    if max_readers is None:
        workers = max(1, min(ASSUMED_WORKERS, MAX_LANES // world_size))
        readers = world_size * workers
        each = f"{world_size} {_plural(world_size, 'rank')} x {workers} {_plural(workers, 'worker')}"
        assumed = f" ({each}; max_readers=N provides for another number)"
    else:
        readers = check.whole("max_readers", max_readers)
        if readers < world_size:
            raise OutOfRangeError("max_readers", check.shown(readers), f"{world_size} or more: there are so many ranks")
    samples = shards.samples if rows is None else check.integer("samples", rows, _SAMPLES)
    group = group_rows(shards)
    try:
        # With this number as `lanes`, a number that is not allowed is an error of the core.
        reading = Reading([samples], batch_size=batch_size or 1, lanes=readers)
    except OutOfRangeError as error:
        if error.field != "lanes":
            raise
        field = "world_size" if max_readers is None else "max_readers"
        raise OutOfRangeError(field, error.value, error.allowed, error.facts) from None
    found = reading.suggested_lanes(group, readers, multiples)
    assert found is not None
    chosen = Chosen(found.lanes, found.shuffle_window)
    own = found.lanes // readers
    told = (
        f'lanes="auto" chose lanes={chosen.lanes}: {own} for each of at most {readers} {_plural(readers, "reader")}'
        f"{assumed}, with {samples:,} {_plural(samples, 'row')} in an epoch and about {group:,} "
        f"{_plural(group, 'row')} in a row group"
    )
    if window is None:
        told += f"; and shuffle_window={chosen.shuffle_window}"
    # Row groups of one row cannot be smaller, and one row is in no order.
    if found.variance_ratio > MAX_VARIANCE_RATIO and min(group, samples) > 1:
        told += (
            f". If neighbouring rows of a file are similar, batches vary about {found.variance_ratio} times as much as "
            "by chance: smaller row groups, or files whose rows were shuffled before they were written, mix better"
        )
    return chosen, told


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def group_rows(shards: Shards) -> int:
    """The rows of a row group: the mean over all rows. Of several sources, the sum of their means."""
    return max(1, sum(map(_mean, shards.parts if isinstance(shards, Sources) else (shards,))))


def _mean(shards: Shards) -> int:
    if shards.largest is None:
        return 0
    # A footer is kept as its rows and its largest row group, so all row groups of a file are taken to be as large. The
    # mean is one over rows, because a lane begins more often in a large row group. Files that were lost have none.
    groups: list[int] = shards.largest[:, 0].tolist()
    sizes: list[int] = shards.sizes.tolist()
    known = sum(size for size, group in zip(sizes, groups, strict=True) if group)
    return -(-sum(size * group for size, group in zip(sizes, groups, strict=True)) // max(1, known))


def base_of(order: dict[str, Any]) -> dict[str, Any]:
    """The order in the files that this order is made of; the first one of several sources, which have equal lanes."""
    while "of" in order or "sources" in order:
        order = order["of"] if "of" in order else order["sources"][0]["order"]
    return order


def of_state(text: str) -> Chosen | None:
    """The lanes and the window in the text of a state; None if it has none."""
    try:
        order = base_of(json.loads(recipe_after(text))["order"])
        lanes, window = order["lanes"], order["shuffle_window"]
    except (ValueError, LookupError, TypeError, RecursionError):
        # A state of other data, or no state at all: to resume from it is an error with its own message.
        return None
    return Chosen(lanes, window) if type(lanes) is int and type(window) is int else None
