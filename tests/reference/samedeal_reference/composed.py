"""Composed orders, section 15: reads the section `order` of a recipe, and the lists beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import Failure, require, stream
from .composed_base import Composed, Plain
from .composed_blend import Blend, Source
from .composed_lanes import LaneBlend
from .composed_leaves import Balance, Grown, Windows
from .composed_views import Copies, Exclude, LaneView, Skip, Subset, is_in_lanes, sharding_of
from .composed_weighted import Weighted
from .members import ORDER, PLAIN
from .orders import require_range
from .recipe_text import Lists, narrow
from .recipes import Section, allow, canonical, checked, has_orders, read_stored, require_sizes, stored

__all__ = [
    *("Balance", "Blend", "Composed", "Copies", "Exclude", "Grown", "Plain", "Skip", "Subset", "Weighted", "Windows"),
    "make",
]

Read = tuple[Composed, Section]
"""An order, and its object in the canonical text."""


def make(section: Section, lists: Lists) -> Composed:
    return read(section, lists)[0]


class Derived(int):
    """A seed that was derived from that of a blend. A canonical text leaves it out."""


def read(section: Section, lists: Lists, path: str = "", default: int = 0) -> Read:
    """Reads an order. `path` precedes the names of its lists, and `default` is the seed if the order names none."""
    order, members = read_any(section, lists, path, default)
    if isinstance(default, Derived) and members.get("seed") == default:
        del members["seed"]
    return order, members


def read_any(section: Section, lists: Lists, path: str, default: int) -> Read:
    name = name_of(section)
    require(name in (*PLAIN, *READ), "name", name, "unknown-name")
    own = own_members(name, section, lists, path)
    if "seed" in own and "seed" not in section:
        own["seed"] = default
    order, found = READ.get(name, read_plain)(own | {"name": name}, lists, path, default)
    order.require_epoch(0)
    return order, canonical(ORDER, own | found | {"name": name}, name=name)


def name_of(section: Section) -> str:
    return str(section.get("name", "sharded" if "sizes" in section else "feistel"))


def need(section: Section, member: str) -> Any:
    if member not in section:
        raise Failure("missing", member, "")
    return section[member]


def own_members(name: str, section: Section, lists: Lists, path: str = "") -> Section:
    """The members of an order, each checked on its own. Each list must be able to belong to one of them."""
    below = [f"{member}/" for member, row in ORDER.items() if has_orders(row) and row.belongs({"name": name})]
    section = checked(ORDER, section, lists, path, name=name)
    allow(lists, path, ORDER, *below)
    return section


def read_plain(section: Section, lists: Lists, path: str, default: int) -> Read:
    name, seed = section["name"], section["seed"]
    if name == "sharded":
        sharding = read_stored(section)
        return Plain(name, sum(sharding.sizes), seed, sharding), stored(sharding.sizes)
    samples = need(section, "samples")
    require_range(name, samples, seed)
    return Plain(name, samples, seed), {}


def read_blend(section: Section, lists: Lists, path: str, default: int) -> Read:
    sources: list[Source] = []
    texts = []
    for item in section["sources"]:
        name = item["name"]
        require("/" not in name, "name", name)
        require(name not in [source.name for source in sources], "name", f"{name} twice", "contradiction")
        own = f"{path}sources/{name}/"
        if "order" not in item:
            need(item, "samples")
            allow(lists, own, {})
        elif "samples" in item:
            raise Failure("contradiction", "samples", item["samples"])
        inner = item.get("order", {"name": "feistel", "samples": item.get("samples")})
        order, text = read(inner, lists, own, source_seed(section["seed"], name))
        require(not order.has_table and not order.ends, "name", text["name"], "contradiction")
        sources.append(Source(name, item["weight"], order))
        texts.append({"name": name, "weight": item["weight"], "order": text})
    allow(lists, f"{path}sources/", {}, *(f"{source.name}/" for source in sources))
    require_unlike(sources, texts)
    run = section["run_length"]
    require(run == 1 or section["exhaustion"] != "renormalize", "run_length", run, "contradiction")
    blend = LaneBlend(section, sources, lanes_of(sources, texts)) if section.get("by_lane") else Blend(section, sources)
    return blend, {"samples": blend.len, "sources": texts}


def lanes_of(sources: list[Source], texts: list[Section]) -> int:
    """The number of lanes, which must be equal in all sources of a blend with `by_lane`."""
    found: list[int] = []
    for source, text in zip(sources, texts, strict=True):
        if not is_in_lanes(source.order):
            raise Failure("contradiction", "name", text["order"]["name"])
        lanes = sharding_of(source.order).lanes
        found.append(lanes)
        require(lanes == found[0], "lanes", lanes, "contradiction")
    return found[0] if found else 1


def require_unlike(sources: list[Source], written: list[Section]) -> None:
    """Refuses sources with two equal shuffled orders."""
    before: dict[str, str] = {}
    for source, text in zip(sources, written, strict=True):
        for order, own in shuffled(source.order, text["order"]):
            key = f"{order.seed} {own}"
            if key in before:
                raise Failure("contradiction", "sources", f"{source.name} in the order of {before[key]}")
            before[key] = source.name


def shuffled(order: Composed, text: Section) -> list[tuple[Composed, Section]]:
    """The shuffled orders of a source, with their texts."""
    if isinstance(order, Blend):
        pairs = zip(order.sources, text["sources"], strict=True)
        return [pair for source, own in pairs for pair in shuffled(source.order, own["order"])]
    return [(order, text)] if text["name"] != "sequential" and order.range > 1 else []


def source_seed(seed: int, name: str) -> int:
    """The seed of a source that names none."""
    words = stream(f"blend source {name}", seed, 0)
    number = next(words) + (next(words) << 32)
    return Derived(number - 2**64 if number >= 2**63 else number)


def read_grown(section: Section, lists: Lists, path: str, default: int) -> Read:
    size = samples = need(section, "samples")
    before = (0, -1)
    for entry in section["growth"]:
        epoch, consumed, size_after = (entry[member] for member in ("epoch", "consumed", "samples"))
        require(epoch >= before[0], "growth", f"epoch {epoch}", "contradiction")
        require((epoch, consumed) > before and consumed <= size, "consumed", consumed)
        require(size < size_after, "samples", size_after)
        before, size = (epoch, consumed), size_after
    return Grown(samples, section["growth"], section["seed"]), {}


def read_of(section: Section, lists: Lists, path: str, default: int) -> Read:
    return read(section["of"], lists, f"{path}of/", default)


def read_chosen(section: Section, lists: Lists, path: str, default: int) -> Read:
    of, text = read_of(section, lists, path, default)
    require(of.single, "of", text["name"], "contradiction")
    indices = section["indices"]
    last = -1
    for index in indices:
        require(index < of.range, "indices", index)
        require(index > last, "indices", index, "contradiction")
        last = index
    is_subset = section["name"] == "subset"
    if is_in_lanes(of):
        return LaneView(of, indices, is_subset=is_subset), {"of": text}
    return (Subset if is_subset else Exclude)(of, indices), {"of": text}


def read_skip(section: Section, lists: Lists, path: str, default: int) -> Read:
    of, text = read_of(section, lists, path, default)
    before = (0, 0)
    for item in section["ranges"]:
        epoch, start, count = (item[member] for member in ("epoch", "start", "count"))
        of.require_epoch(epoch)
        require(start <= of.length(epoch), "start", start)
        require(count <= of.length(epoch) - start, "count", count)
        require((epoch, start) >= before, "ranges", f"{start} in epoch {epoch}", "contradiction")
        before = (epoch, start + count)
    return Skip(of, section["ranges"]), {"of": text}


def read_copies(section: Section, lists: Lists, path: str, default: int) -> Read:
    of, text = read_of(section, lists, path, default)
    return Copies(of, section["copies"]), {"of": text}


def read_windows(section: Section, lists: Lists, path: str, default: int) -> Read:
    sizes, length = section["sizes"], section["length"]
    require_sizes({}, sizes)
    stride = section.get("stride", length)
    return Windows(sizes, length, stride, section["seed"]), {"stride": stride}


def read_balance(section: Section, lists: Lists, path: str, default: int) -> Read:
    samples, classes, factors = (section.get("samples"), section["classes"], section["factors"])
    if samples is None:
        narrow("factors", factors)
    require(len(factors) <= 2**16, "factors", f"{len(factors)} numbers")
    require(len(classes) < 2**32, "samples", len(classes))
    for c in classes:
        require(c < len(factors), "classes", c)
    return Balance(classes, factors, section["seed"], samples), {}


def read_weighted(section: Section, lists: Lists, path: str, default: int) -> Read:
    weights = section["weights"]
    samples = section.get("samples", len(weights))
    return Weighted(weights, section["seed"], samples, section.get("replacement", True)), {"samples": samples}


READ: dict[str, Callable[[Section, Lists, str, int], Read]] = {
    "blend": read_blend,
    "blend-exact": read_blend,
    "grown": read_grown,
    "exclude": read_chosen,
    "subset": read_chosen,
    "skip": read_skip,
    "copies": read_copies,
    "windows": read_windows,
    "balance": read_balance,
    "weighted": read_weighted,
}
