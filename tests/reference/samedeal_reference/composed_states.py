"""States of composed orders: section 15."""

from __future__ import annotations

from .base import ceil_div, require
from .composed_base import Composed
from .composed_blend import Blend
from .composed_views import Copies, View, is_in_lanes
from .members import ORDER, SOURCE
from .recipes import Section
from .state import require_same


def goes_on(order: Composed, here: Section, there: Section, epoch: int, position: int) -> None:
    """Checks that an order equals the order of a state, or has additions that begin where the state ends, or later."""
    order.require_epoch(epoch)
    # The state may name a position that the epoch does not have, so the position is limited to the length of the epoch.
    goes_on_from(order, here, there, epoch, min(position, order.length(epoch)))


def goes_on_from(order: Composed, here: Section, there: Section, epoch: int, position: int) -> None:
    """Checks an order or an inner one. The state is at this position of its epoch, which may be the end of it."""
    if here["name"] == "skip" and skips(here) > skips(there):
        assert isinstance(order, View)
        entries("ranges", here["ranges"], [], (epoch, position))
        return goes_on_from(order.of, here["of"], there, epoch, position)
    if here["name"] == "grown" and there.get("name") == "feistel":
        there = there | {"name": "grown", "growth": []}
    for member, row in ORDER.items():
        x, y = here.get(member), there.get(member)
        both = x is not None and y is not None
        if member == "of" and both:
            assert isinstance(order, View)
            if here["name"] in ("exclude", "subset") and was_in_lanes(y):
                require(is_in_lanes(order.of), "of", x["name"], "contradiction")
            goes_on_from(order.of, x, y, epoch, read_to(order, epoch, position))
        elif member == "stages" and both and "sources" in there:
            assert isinstance(order, Blend)
            sources_go_on(order, here, there, epoch, position)
            stages_go_on(order, here, there, epoch * order.len + position)
        elif member in ("growth", "ranges") and here["name"] in ("grown", "skip"):
            read = read_to(order, epoch, position) if isinstance(order, View) else position
            entries(member, x or [], y or [], (epoch, read))
        elif member != "sources" or not both:
            require_same(row, member, x, y)
    return None


def skips(order: Section) -> int:
    """The number of `skip` orders that are nested directly."""
    return 1 + skips(order.get("of", {})) if order.get("name") == "skip" else 0


def was_in_lanes(order: Section) -> bool:
    """Whether an order of a state is in lanes."""
    name = order.get("name")
    return name == "sharded" or (name in ("exclude", "subset") and was_in_lanes(order.get("of", {})))


def read_to(view: View, epoch: int, position: int) -> int:
    """The number of positions of Y that were read."""
    if isinstance(view, Copies):
        return ceil_div(position, view.copies)
    return view.of_position(epoch, position - 1) + 1 if position else 0


def begin_of(entry: Section) -> tuple[int, ...]:
    """The place at which an object begins: (`from`), (`epoch`, `consumed`) or (`epoch`, `start`)."""
    return tuple(entry[member] for member in ("from", "epoch", "consumed", "start") if member in entry)


def entries(member: str, here: list[Section], there: list[Section], end: tuple[int, ...]) -> None:
    """Checks the objects of a list: the state's ones come first, and added ones begin where the state ends, or
    later."""
    for number, entry in enumerate(here):
        if number < len(there):
            is_same = entry == there[number]
            require(is_same, member, f"not as in the state at entry {number}", "contradiction")
        else:
            require(begin_of(entry) >= end, member, f"too early at entry {number}", "contradiction")
    require(len(there) <= len(here), member, f"without entry {len(here)}", "contradiction")


def sources_go_on(order: Blend, here: Section, there: Section, epoch: int, position: int) -> None:
    xs, ys = here["sources"], there["sources"]
    require(len(xs) >= len(ys), "sources", f"{len(xs)} objects", "contradiction")
    places = order.next_draws(epoch, position)
    for source, x, y, (e, p) in zip(order.sources, xs, ys, places, strict=False):
        for member in ("name", "weight"):
            require_same(SOURCE[member], member, x[member], y.get(member))
        goes_on_from(source.order, x["order"], y.get("order", {}), e, p)
    for x in xs[len(ys) :]:
        require(x["weight"] == 0, "sources", x["name"], "contradiction")


def stages_go_on(order: Blend, here: Section, there: Section, n: int) -> None:
    added = [0] * (len(here["sources"]) - len(there["sources"]))
    padded = [stage | {"weights": [*stage.get("weights", []), *added]} for stage in there["stages"]]
    entries("stages", here["stages"], padded, (n,))
