"""Composed orders, section 15: reads the section `order` of a recipe, and the lists beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import MAX_SAMPLES, Failure, require, stream
from .composed_base import Composed, Plain
from .composed_blend import Blend, Source
from .composed_lanes import LaneBlend
from .composed_leaves import Balance, Grown, Windows
from .composed_views import Copies, Exclude, Skip, Subset
from .members import ORDER, VIEWS, allow, checked
from .orders import require_range
from .recipe_text import Lists, inline, narrow
from .recipes import ORDERS, order_section, read_stored

__all__ = ["Balance", "Blend", "Composed", "Copies", "Exclude", "Grown", "Plain", "Skip", "Subset", "Windows", "make"]

Section = dict[str, Any]
Read = tuple[Composed, Section]
"""An order, and its object in the canonical text."""

BLEND = ("samples", "seed", "exhaustion", "max_passes", "run_length", "by_lane", "index_space", "sources", "stages")
MEMBERS: dict[str, tuple[str, ...]] = {
    "blend": BLEND,
    "blend-exact": BLEND,
    "grown": ("samples", "seed", "growth"),
    "exclude": ("of", "indices"),
    "subset": ("of", "indices"),
    "skip": ("of", "ranges"),
    "copies": ("of", "copies"),
    "windows": ("seed", "sizes", "length", "stride"),
    "balance": ("samples", "seed", "classes", "factors"),
}


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
    lists = [(name, numbers) for name, numbers in lists if name.startswith(path)]
    name = name_of(section)
    seed = section.get("seed", default)
    if name not in MEMBERS:
        require(name in (*ORDERS, "sharded"), "name", name, "unknown-name")
        return read_plain(name, section, lists, path, seed)
    section = own_members(name, section, lists, path)
    order, members = READ[name](section, lists, path, seed)
    order.require_epoch(0)
    return order, {"name": name, **members}


def name_of(section: Section) -> str:
    return str(section.get("name", "sharded" if "sizes" in section else "feistel"))


def need(section: Section, member: str) -> Any:
    if member not in section:
        raise Failure("missing", member, "")
    return section[member]


def own_members(name: str, section: Section, lists: Lists, path: str = "") -> Section:
    """The members of an order, each checked on its own. Every list must possibly belong to one of them."""
    section = checked(ORDER, section, lists, path, name=name)
    below = ("sources/",) if name in ("blend", "blend-exact") else ("of/",) if name in VIEWS else ()
    allow([(own, numbers) for own, numbers in lists], path, ORDER, *below)
    return section


def read_plain(name: str, section: Section, lists: Lists, path: str, seed: int) -> Read:
    section = own_members(name, section, lists, path)
    sharding = None
    if name == "sharded":
        sharding = read_stored(section)
        samples = sum(sharding.sizes)
    else:
        samples = need(section, "samples")
        require_range(name, samples, seed)
    return Plain(name, samples, seed, sharding), order_section(name, seed, samples, sharding)


def read_blend(section: Section, lists: Lists, path: str, seed: int) -> Read:
    items = section["sources"]
    sources: list[Source] = []
    written = []
    for item in items:
        name = item["name"]
        require("/" not in name, "name", name)
        require(name not in [source.name for source in sources], "name", f"{name} twice", "contradiction")
        if "order" not in item:
            need(item, "samples")
            allow([(of, own) for of, own in lists if of.startswith(f"{path}sources/{name}/")], path, {})
        elif "samples" in item:
            raise Failure("contradiction", "samples", item["samples"])
        inner = item.get("order", {"name": "feistel", "samples": item.get("samples")})
        order, text = read(inner, lists, f"{path}sources/{name}/", source_seed(seed, name))
        require(not order.has_table and not order.ends, "name", text["name"], "contradiction")
        sources.append(Source(name, item.get("weight", 1), order))
        written.append({"name": name, "weight": sources[-1].weight, "order": text})
    allow(lists, path, {}, *(f"sources/{source.name}/" for source in sources))
    require_unlike(sources, written)
    exhaustion, space = (section.get("exhaustion", "repeat"), section.get("index_space", "joined"))
    run = section.get("run_length", 1)
    require(run == 1 or exhaustion != "renormalise", "run_length", run, "contradiction")
    whole = {"name": name_of(section), **section, "seed": seed}
    if section.get("by_lane"):
        for item in written:
            order = item["order"]
            require(order["name"] == "sharded", "name", order["name"], "contradiction")
            require(order["lanes"] == written[0]["order"]["lanes"], "lanes", order["lanes"], "contradiction")
        blend: Blend = LaneBlend(whole, sources, written[0]["order"]["lanes"] if written else 1)
    else:
        blend = Blend(whole, sources)
    members: Section = {"samples": blend.len, "seed": seed, "exhaustion": exhaustion}
    if exhaustion != "repeat":
        members["max_passes"] = blend.passes
    if run > 1:
        members["run_length"] = run
    if section.get("by_lane"):
        members["by_lane"] = True
    stages = [{"from": stage["from"], "weights": stage["weights"]} for stage in section.get("stages", [])]
    return blend, {**members, "index_space": space, "sources": written, "stages": stages}


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


def read_grown(section: Section, lists: Lists, path: str, seed: int) -> Read:
    size = samples = need(section, "samples")
    before = (0, -1)
    growth = []
    for entry in section.get("growth", []):
        epoch, consumed, size_after = (entry[member] for member in ("epoch", "consumed", "samples"))
        require(epoch >= before[0], "growth", f"epoch {epoch}", "contradiction")
        require((epoch, consumed) > before and consumed <= size, "consumed", consumed)
        require(size < size_after, "samples", size_after)
        before, size = (epoch, consumed), size_after
        growth.append({"epoch": epoch, "consumed": consumed, "samples": size_after})
    return Grown(samples, growth, seed), {"samples": samples, "seed": seed, "growth": growth}


def read_of(section: Section, lists: Lists, path: str, seed: int) -> Read:
    return read(section["of"], lists, f"{path}of/", seed)


def read_chosen(section: Section, lists: Lists, path: str, seed: int) -> Read:
    of, text = read_of(section, lists, path, seed)
    require(of.single, "of", text["name"], "contradiction")
    indices = section["indices"]
    last = -1
    for index in indices:
        require(index < of.range, "indices", index)
        require(index > last, "indices", index, "contradiction")
        last = index
    kind = Exclude if section["name"] == "exclude" else Subset
    return kind(of, indices), {"of": text, "indices": inline(indices)}


def read_skip(section: Section, lists: Lists, path: str, seed: int) -> Read:
    of, text = read_of(section, lists, path, seed)
    ranges = []
    before = (0, 0)
    for item in section.get("ranges", []):
        epoch, start, count = (item[member] for member in ("epoch", "start", "count"))
        of.require_epoch(epoch)
        require(start <= of.length(epoch), "start", start)
        require(count <= of.length(epoch) - start, "count", count)
        require((epoch, start) >= before, "ranges", f"{start} in epoch {epoch}", "contradiction")
        before = (epoch, start + count)
        ranges.append({"epoch": epoch, "start": start, "count": count})
    return Skip(of, ranges), {"of": text, "ranges": ranges}


def read_copies(section: Section, lists: Lists, path: str, seed: int) -> Read:
    of, text = read_of(section, lists, path, seed)
    copies = section["copies"]
    return Copies(of, copies), {"of": text, "copies": copies}


def read_windows(section: Section, lists: Lists, path: str, seed: int) -> Read:
    sizes, length = section["sizes"], section["length"]
    require(len(sizes) <= 2**32 - 2 and sum(sizes) <= MAX_SAMPLES, "sizes", None)
    stride = section.get("stride", length)
    members = {"seed": seed, "sizes": inline(sizes), "length": length, "stride": stride}
    return Windows(sizes, length, stride, seed), members


def read_balance(section: Section, lists: Lists, path: str, seed: int) -> Read:
    samples, classes, factors = (section.get("samples"), section["classes"], section["factors"])
    if samples is None:
        narrow("factors", factors)
    require(len(factors) <= 2**16, "factors", f"{len(factors)} numbers")
    require(len(classes) < 2**32, "samples", len(classes))
    for c in classes:
        require(c < len(factors), "classes", c)
    length = {} if samples is None else {"samples": samples}
    members = {**length, "seed": seed, "classes": inline(classes), "factors": inline(factors)}
    return Balance(classes, factors, seed, samples), members


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
}
