"""Composed orders, section 15: reading the section `order` of a recipe, and the lists beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import MAX_SAMPLES, Failure, require, stream
from .composed_base import Composed, Plain
from .composed_blend import Blend, Source
from .composed_leaves import Balance, Grown, Windows
from .composed_views import Copies, Exclude, Skip, Subset
from .orders import require_range
from .recipe_text import COMPOSED, TYPES, Lists, field_of, found, inline, narrow, shown
from .recipes import ORDERS, order_section, read_stored

__all__ = ["Balance", "Blend", "Composed", "Copies", "Exclude", "Grown", "Plain", "Skip", "Subset", "Windows", "make"]

Section = dict[str, Any]
Read = tuple[Composed, Section]
"""An order, and its object in the canonical text."""

BLEND = ("samples", "seed", "exhaustion", "max_passes", "run_length", "index_space", "sources", "stages")
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
    """A seed that follows from a blend: a canonical text leaves it out."""


def read(section: Section, lists: Lists, path: str = "", default: int = 0) -> Read:
    """An order; `path` stands before the names of its lists, and `default` is the seed of an order which names none."""
    order, members = read_any(section, lists, path, default)
    if isinstance(default, Derived) and members.get("seed") == default:
        del members["seed"]
    return order, members


def read_any(section: Section, lists: Lists, path: str, default: int) -> Read:
    lists = [(name, numbers) for name, numbers in lists if name.startswith(path)]
    name = name_of(section)
    seed = section.get("seed", default)
    if name not in MEMBERS:
        require(name in (*ORDERS, "sharded"), "order", name, "unknown-name")
        return read_plain(name, section, lists, path, seed)
    for member in TYPES["order"]:
        if member in section and member not in ("name", *MEMBERS[name]):
            raise Failure("contradiction", field_of(member), value_of(member, section[member]))
    order, members = READ[name](section, lists, path, seed)
    order.require_epoch(0)
    return order, {"name": name, **members}


def name_of(section: Section) -> str:
    return str(section.get("name", "sharded" if "sizes" in section else "feistel"))


def value_of(member: str, value: Any) -> str:
    return f"{len(value)} objects" if TYPES["order"][member].startswith("[") else shown(value)


def allow(lists: Lists, path: str, *names: str) -> None:
    """The first list that is not one of these; a name that ends with `/` allows what is in it."""
    for name, _ in lists:
        own = name.removeprefix(path)
        if not any(own.startswith(one) if one.endswith("/") else own == one for one in names):
            raise Failure("contradiction", "lists", name)


def need(section: Section, member: str) -> Any:
    if member not in section:
        raise Failure("missing", field_of(member), "")
    return section[member]


def numbers_of(section: Section, member: str, lists: Lists, path: str) -> list[int]:
    items = found(member, section.get(member), dict(lists).get(path + member))
    if items is None:
        raise Failure("missing", member, "")
    return items


def refuse_others(name: str, section: Section, lists: Lists, path: str = "") -> None:
    """What an order of section 3 does not have."""
    allow(lists, path, "sizes")
    stored = () if name == "sharded" else ("lanes", "shuffle_window", "shards", "sizes")
    for member in (*stored, *COMPOSED):
        if member in section:
            raise Failure("contradiction", field_of(member), value_of(member, section[member]))
    for _, numbers in lists if stored else ():
        raise Failure("contradiction", "sizes", shown(numbers))


def read_plain(name: str, section: Section, lists: Lists, path: str, seed: int) -> Read:
    refuse_others(name, section, lists, path)
    sharding = None
    if name == "sharded":
        sharding = read_stored(section, [("sizes", numbers) for _, numbers in lists])
        samples = sum(sharding.sizes)
    else:
        samples = need(section, "samples")
        require_range(name, samples, seed)
    return Plain(name, samples, seed, sharding), order_section(name, seed, samples, sharding)


def read_blend(section: Section, lists: Lists, path: str, seed: int) -> Read:
    items = section.get("sources", [])
    require(bool(items), "sources", "", "missing")
    require(len(items) <= 2**16, "sources", f"{len(items)} objects")
    sources: list[Source] = []
    written = []
    for item in items:
        name = item.get("name", "")
        require(name != "", "source", "", "missing")
        require("/" not in name, "source", name)
        require(name not in [source.name for source in sources], "source", f"{name} twice", "contradiction")
        if "order" not in item:
            need(item, "samples")
        elif "samples" in item:
            raise Failure("contradiction", "samples", item["samples"])
        inner = item.get("order", {"name": "feistel", "samples": item.get("samples")})
        order, text = read(inner, lists, f"{path}sources/{name}/", source_seed(seed, name))
        require(not order.has_table and not order.ends, "order", text["name"], "contradiction")
        sources.append(Source(name, item.get("weight", 1), order))
        written.append({"name": name, "weight": sources[-1].weight, "order": text})
    allow(lists, path, *(f"sources/{source.name}/" for source in sources))
    exhaustion, space = section.get("exhaustion", "repeat"), section.get("index_space", "joined")
    require(exhaustion in ("repeat", "stop", "renormalise", "fail"), "exhaustion", exhaustion, "unknown-name")
    require(space in ("joined", "shared"), "index-space", space, "unknown-name")
    passes = section.get("max_passes")
    require(passes is None or exhaustion != "repeat", "max-passes", passes, "contradiction")
    require(passes is None or 0 < passes <= MAX_SAMPLES, "max-passes", passes)
    run = section.get("run_length", 1)
    require(1 <= run <= 2**20, "run-length", run)
    require(run == 1 or exhaustion != "renormalise", "run-length", run, "contradiction")
    blend = Blend({"name": name_of(section), **section}, sources)
    members: Section = {"samples": blend.len, "seed": seed, "exhaustion": exhaustion}
    if exhaustion != "repeat":
        members["max_passes"] = blend.passes
    if run > 1:
        members["run_length"] = run
    stages = [{"from": stage["from"], "weights": stage["weights"]} for stage in section.get("stages", [])]
    return blend, {**members, "index_space": space, "sources": written, "stages": stages}


def source_seed(seed: int, name: str) -> int:
    """The seed of a source that names none."""
    words = stream(f"blend source {name}", seed, 0)
    number = next(words) + (next(words) << 32)
    return Derived(number - 2**64 if number >= 2**63 else number)


def read_grown(section: Section, lists: Lists, path: str, seed: int) -> Read:
    allow(lists, path)
    size = samples = need(section, "samples")
    require(samples <= MAX_SAMPLES, "samples", samples)
    before = (0, -1)
    growth = []
    for entry in section.get("growth", []):
        epoch, consumed, size_after = (need(entry, member) for member in ("epoch", "consumed", "samples"))
        require(epoch >= before[0], "growth", f"epoch {epoch}", "contradiction")
        require((epoch, consumed) > before and consumed <= size, "consumed", consumed)
        require(size < size_after <= MAX_SAMPLES, "samples", size_after)
        before, size = (epoch, consumed), size_after
        growth.append({"epoch": epoch, "consumed": consumed, "samples": size_after})
    return Grown(samples, growth, seed), {"samples": samples, "seed": seed, "growth": growth}


def read_of(section: Section, lists: Lists, path: str, seed: int) -> Read:
    name = name_of(section)
    allow(lists, path, "of/", *(("indices",) if name in ("exclude", "subset") else ()))
    return read(need(section, "of"), lists, f"{path}of/", seed)


def read_chosen(section: Section, lists: Lists, path: str, seed: int) -> Read:
    of, text = read_of(section, lists, path, seed)
    require(of.single, "of", text["name"], "contradiction")
    indices = numbers_of(section, "indices", lists, path)
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
        epoch, start, count = (need(item, member) for member in ("epoch", "start", "count"))
        of.require_epoch(epoch)
        require(start <= of.length(epoch), "start", start)
        require(count <= of.length(epoch) - start, "count", count)
        require((epoch, start) >= before, "ranges", f"{start} in epoch {epoch}", "contradiction")
        before = (epoch, start + count)
        ranges.append({"epoch": epoch, "start": start, "count": count})
    return Skip(of, ranges), {"of": text, "ranges": ranges}


def read_copies(section: Section, lists: Lists, path: str, seed: int) -> Read:
    of, text = read_of(section, lists, path, seed)
    copies = need(section, "copies")
    require(0 < copies < 2**32, "copies", copies)
    return Copies(of, copies), {"of": text, "copies": copies}


def read_windows(section: Section, lists: Lists, path: str, seed: int) -> Read:
    allow(lists, path, "sizes")
    sizes = numbers_of(section, "sizes", lists, path)
    require(len(sizes) <= 2**32 - 2 and sum(sizes) <= MAX_SAMPLES, "sizes", None)
    length = need(section, "length")
    stride = section.get("stride", length)
    require(0 < length <= MAX_SAMPLES, "length", length)
    require(0 < stride <= MAX_SAMPLES, "stride", stride)
    members = {"seed": seed, "sizes": inline(sizes), "length": length, "stride": stride}
    return Windows(sizes, length, stride, seed), members


def read_balance(section: Section, lists: Lists, path: str, seed: int) -> Read:
    allow(lists, path, "classes", "factors")
    samples = section.get("samples")
    if samples is not None:
        require_range("feistel", samples, 0)
    factors = numbers_of(section, "factors", lists, path)
    if samples is None:
        narrow("factors", factors)
    for at, factor in enumerate(factors):
        require(factor <= MAX_SAMPLES, "factors", f"{factor} (at index {at})")
    require(len(factors) <= 2**16, "factors", f"{len(factors)} numbers")
    classes = numbers_of(section, "classes", lists, path)
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
