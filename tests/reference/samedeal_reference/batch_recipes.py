"""Recipes of batches: section 14."""

from __future__ import annotations

from typing import Any

from .base import Failure, require
from .batch_config import BatchConfig
from .batch_items import items_of
from .composed import MEMBERS as COMPOSED_ORDERS
from .composed import Composed, read, refuse_others
from .composed import name_of as order_name
from .orders import require_range
from .recipe_text import Lists, field_of, found, inline, narrow, read_recipe, shown, u32, written
from .recipe_text import fingerprint as fingerprint_of
from .recipe_text import name_of as one_of
from .recipes import ORDERS
from .sampler_recipe import seed_of

MAX_WORLD = 2**20
MAX_QUANTILES = 2**20
MAX_U32 = 2**32 - 1
BUCKETS = ("bucket_width", "boundaries", "quantiles")
NAMES = {
    "strategy": ("budget", "bucket", "pack", "pad-to-max"),
    "counting": ("padded", "unpadded", "weighted"),
    "packing": ("fast", "optimal"),
    "too_long": ("error", "truncate", "drop", "split", "single"),
    "tail": ("even-split", "drop", "keep", "duplicate"),
}
"""Of the members that are names, the default first."""

MEMBERS = (
    *("strategy", "counting", "linear", "quadratic", "max_batch_size", "max_length", "max_tokens", "max_cost"),
    *("batch_size_multiple", "capacity", "packing", "bucket_width", "boundaries", "quantiles", "batch_window"),
    *("too_long", "tail", "lengths"),
)
"""In the order of the table and of canonical texts."""


def is_used(member: str, strategy: str, counting: str) -> bool:
    """The column "used with" of the table of members."""
    if member in ("linear", "quadratic"):
        return counting == "weighted"
    if member in ("max_tokens", "max_cost"):
        return strategy in ("budget", "bucket") and (counting == "weighted") == (member == "max_cost")
    if member == "batch_size_multiple":
        return strategy == "bucket" or (strategy == "budget" and counting == "padded")
    if member == "capacity":
        return strategy == "pack"
    if member == "packing":
        return strategy == "pack" or (strategy == "budget" and counting != "padded")
    if member in BUCKETS:
        return strategy == "bucket"
    return member != "batch_window" or strategy != "pad-to-max"


class BatchRecipe:
    def __init__(self, recipe: str, lengths: list[int] | None, lists: Lists) -> None:
        fields = read_recipe(recipe, lists, "batches")
        order, deal, batch = (fields.get(section, {}) for section in ("order", "deal", "batch"))
        name = order_name(order)
        require(name in (*ORDERS, "sharded", *COMPOSED_ORDERS), "order", name, "unknown-name")
        of_order = [(path, numbers) for path, numbers in lists if path != "boundaries"]
        self.order: Composed | None = None
        """Of an order of samples, and not of items: `sharded`, and composed orders."""
        if name in ORDERS:
            refuse_others(name, order, of_order)
            seed = order.get("seed", 0)
        else:
            self.order, section = read(order, of_order)
            seed = seed_of(section)
        for member in ("remainder", "layout", "unit"):
            if member in deal:
                raise Failure("contradiction", field_of(member), shown(deal[member]))
        world_size = u32(deal, "world_size", 1)
        batch = complete(batch, lengths, dict(lists).get("boundaries"))
        lengths = batch.get("lengths")
        if lengths is None and ("samples" in order or self.order):
            raise Failure("missing", "lengths", "")
        samples = self.order.range if self.order else order.get("samples")
        require(lengths is None or samples in (None, len(lengths)), "samples", samples, "contradiction")
        self.config = config_of(name, seed, world_size, batch)
        check(self.config, batch)
        if lengths is not None:
            if self.order is None:
                require_range(name, len(lengths), seed)
            items_of(self.config, range(len(lengths)), lengths)
        if self.order is None:
            section = {"name": name} | ({} if lengths is None else {"samples": len(lengths)}) | {"seed": seed}
        if batch["max_length"] == MAX_U32:
            del batch["max_length"]
        batch = {
            member: inline(batch[member]) if isinstance(batch[member], list) else batch[member]
            for member in MEMBERS
            if member in batch
        }
        self.parts = {"order": section, "batch": batch}
        self._text = written({"samedeal": 1, "order": section, "deal": {"world_size": world_size}, "batch": batch})

    def text(self) -> str:
        return self._text

    def fingerprint(self) -> str:
        return fingerprint_of(self._text)


def name_of(members: dict[str, Any], member: str) -> str:
    return one_of(members, member, NAMES[member])


def complete(given: dict[str, Any], lengths: list[int] | None, boundaries: list[int] | None) -> dict[str, Any]:
    """The members that are used and have a value: points 4 to 14."""
    strategy, counting = name_of(given, "strategy"), name_of(given, "counting")
    batch: dict[str, Any] = {"strategy": strategy, "counting": counting}

    def add(member: str, value: Any) -> None:
        if value is not None and is_used(member, strategy, counting):
            batch[member] = value

    for member in MEMBERS:
        if not is_used(member, strategy, counting):
            if member in given:
                raise Failure("contradiction", field_of(member), shown(given[member]))
            if member == "boundaries" and boundaries is not None:
                raise Failure("contradiction", member, "a list")
    add("linear", u32(given, "linear", 1))
    add("quadratic", u32(given, "quadratic", 0))
    most, longest = u32(given, "max_batch_size"), u32(given, "max_length")
    limit = "max_cost" if counting == "weighted" else "max_tokens"
    budget = given.get(limit)
    require(budget != 0, field_of(limit), 0)
    if budget is None and strategy == "budget":
        if not most or longest is None or counting == "weighted":
            raise Failure("missing", field_of(limit), "")
        budget = most * longest
    add(limit, budget)
    capacity = u32(given, "capacity", longest)
    if strategy == "pack" and capacity is None:
        raise Failure("missing", "capacity", "")
    add("capacity", capacity)
    default = {"budget": 0, "pack": 1}.get(strategy, 0 if budget else 32)
    most = default if most is None else most
    batch["max_batch_size"] = 0 if budget and most == MAX_U32 else most
    batch["max_length"] = MAX_U32 if longest is None else longest
    add("batch_size_multiple", u32(given, "batch_size_multiple", 1))
    add("packing", name_of(given, "packing"))
    there = [member for member in BUCKETS if member in given or (member == "boundaries" and boundaries is not None)]
    if len(there) > 1:
        value = shown(given[there[0]]) if there[0] in given else "a list"
        raise Failure("contradiction", field_of(there[0]), value)
    add("bucket_width", u32(given, "bucket_width"))
    add("quantiles", u32(given, "quantiles"))
    narrow("boundaries", boundaries)
    ends = found("boundaries", given.get("boundaries"), boundaries)
    narrow("boundaries", ends)
    add("boundaries", ends)
    add("batch_window", u32(given, "batch_window"))
    batch["too_long"] = name_of(given, "too_long")
    batch["tail"] = name_of(given, "tail")
    lengths = found("lengths", given.get("lengths"), lengths)
    narrow("lengths", lengths)
    add("lengths", lengths)
    return batch


def config_of(order: str, seed: int, world_size: int, batch: dict[str, Any]) -> BatchConfig:
    buckets = {member: batch[member] for member in BUCKETS if member in batch}
    return BatchConfig(
        order=order,
        seed=seed,
        world_size=world_size,
        strategy=batch["strategy"],
        counting=batch["counting"],
        linear=batch.get("linear", 0),
        quadratic=batch.get("quadratic", 0),
        max_batch_size=batch["max_batch_size"],
        max_length=batch["max_length"],
        budget=batch.get("max_tokens", batch.get("max_cost", 0)),
        batch_size_multiple=batch.get("batch_size_multiple", 1),
        capacity=batch.get("capacity", 0),
        packing=batch.get("packing", "fast"),
        buckets=buckets or None,
        batch_window=batch.get("batch_window"),
        too_long=batch["too_long"],
        tail=batch["tail"],
        lengths=batch.get("lengths"),
    )


def check(config: BatchConfig, batch: dict[str, Any]) -> None:
    """Point 16."""
    require(0 < config.world_size <= MAX_WORLD, "world-size", config.world_size)
    require(config.max_batch_size > 0 or config.strategy == "budget" or config.budget > 0, "max-batch-size", 0)
    require(config.budget > 0 or config.strategy != "budget", config.limit, 0)
    require(config.capacity > 0 or config.strategy != "pack", "capacity", 0)
    require(config.batch_size_multiple > 0, "batch-size-multiple", 0)
    require(batch.get("bucket_width") != 0, "bucket-width", 0)
    ends = batch.get("boundaries", [])
    require(ends == sorted(set(ends)), "boundaries", None, "contradiction")
    require(0 < batch.get("quantiles", 1) <= MAX_QUANTILES, "quantiles", batch.get("quantiles"))
