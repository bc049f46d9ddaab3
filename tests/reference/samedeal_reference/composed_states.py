"""States of composed orders: section 15."""

from __future__ import annotations

from typing import Any

from .base import Failure
from .composed_base import Composed
from .composed_blend import Blend
from .composed_views import Copies, View
from .recipe_text import TYPES, shown

Section = dict[str, Any]


def refuse(field: str, value: Any) -> Failure:
    return Failure("contradiction", field, value)


def require_member(member: str, field: str, here: Any, there: Any) -> None:
    """Checks that a member of this recipe equals that of the state."""
    if here != there or type(here) is not type(there):
        known = "not there" if here is None else shown(here)
        is_list = TYPES["order"].get(member) == "numbers" and here is not None
        raise refuse(field, None if is_list else known)


def goes_on(order: Composed, here: Section, there: Section, epoch: int, position: int) -> None:
    """Checks that the recipe of an order is that of a state, or has additions since then."""
    order.require_epoch(epoch)
    # The state may name a position that the epoch does not have.
    goes_on_from(order, here, there, epoch, min(position, order.length(epoch)))


def goes_on_from(order: Composed, here: Section, there: Section, epoch: int, position: int) -> None:
    """Checks an order, or an order within it, which has this position or ends at it."""
    if here["name"] == "skip" and skips(here) > skips(there):
        require_later("ranges", here["ranges"], 0, "start", (epoch, position))
        assert isinstance(order, View)
        return goes_on_from(order.of, here["of"], there, epoch, position)
    if here["name"] == "grown" and there.get("name") == "feistel":
        there = there | {"name": "grown", "growth": []}
    for member in TYPES["order"]:
        x, y = here.get(member), there.get(member)
        if member == "of" and x is not None and y is not None:
            assert isinstance(order, View)
            goes_on_from(order.of, x, y, epoch, read_to(order, epoch, position))
        elif member == "stages" and x is not None and y is not None and "sources" in there:
            assert isinstance(order, Blend)
            sources_go_on(order, here, there, epoch, position)
            stages_go_on(order, here, there, epoch * order.len + position)
        elif member == "growth" and x is not None and y is not None:
            begins(member, x, y)
            require_later(member, x, len(y), "consumed", (epoch, position))
        elif member == "ranges" and x is not None and y is not None:
            assert isinstance(order, View)
            begins(member, x, y)
            require_later(member, x, len(y), "start", (epoch, read_to(order, epoch, position)))
        elif member != "sources" or x is None or y is None:
            require_member(member, member, x, y)
    return None


def skips(order: Section) -> int:
    """The number of `skip` orders that are nested directly."""
    return 1 + skips(order.get("of", {})) if order.get("name") == "skip" else 0


def read_to(view: View, epoch: int, position: int) -> int:
    """The number of positions of Y that were read."""
    if isinstance(view, Copies):
        return position // view.copies
    return view.of_position(epoch, position - 1) + 1 if position else 0


def begins(member: str, here: list[Section], there: list[Section]) -> None:
    """Checks that the objects of the state come first, before added ones."""
    for number, (x, y) in enumerate(zip(here, there, strict=False)):
        if x != y:
            raise refuse(member, f"not as in the state at entry {number}")
    if len(here) < len(there):
        raise refuse(member, f"without entry {len(here)}")


def require_later(member: str, here: list[Section], known: int, place: str, end: tuple[int, int]) -> None:
    """Checks that added objects begin where the state ends, or later."""
    for number in range(known, len(here)):
        if (here[number]["epoch"], here[number][place]) < end:
            raise refuse(member, f"too early at entry {number}")


def sources_go_on(order: Blend, here: Section, there: Section, epoch: int, position: int) -> None:
    xs, ys = here["sources"], there["sources"]
    if len(xs) < len(ys):
        raise refuse("sources", f"{len(xs)} objects")
    places = order.next_draws(epoch, position)
    for source, x, y, (e, p) in zip(order.sources, xs, ys, places, strict=False):
        require_member("name", "name", x["name"], y.get("name"))
        require_member("weight", "weight", x["weight"], y.get("weight"))
        goes_on_from(source.order, x["order"], y.get("order", {}), e, p)
    for x in xs[len(ys) :]:
        if x["weight"] > 0:
            raise refuse("sources", x["name"])


def stages_go_on(order: Blend, here: Section, there: Section, n: int) -> None:
    added = [0] * (len(here["sources"]) - len(there["sources"]))
    padded = [stage | {"weights": [*stage["weights"], *added]} for stage in there["stages"]]
    begins("stages", here["stages"], padded)
    for number in range(len(padded), len(here["stages"])):
        if here["stages"][number]["from"] < n:
            raise refuse("stages", f"too early at entry {number}")
