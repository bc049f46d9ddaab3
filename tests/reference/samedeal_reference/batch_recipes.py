"""Recipes of batches: section 14."""

from __future__ import annotations

from typing import Any

from .base import Failure, require
from .batch_config import BatchConfig
from .batch_items import items_of
from .composed import MEMBERS as COMPOSED_ORDERS
from .composed import Composed, own_members, read
from .composed import name_of as order_name
from .members import BATCH, DEAL_OF_BATCHES, checked
from .orders import require_range
from .recipe_text import Lists, field_of, found, inline, narrow, read_recipe, shown, written
from .recipe_text import fingerprint as fingerprint_of
from .recipes import ORDERS
from .sampler_recipe import seed_of

MAX_U32 = 2**32 - 1
BUCKETS = ("bucket_width", "boundaries", "quantiles")
MEMBERS = (*BATCH, "lengths")
"""In the order of the table and of canonical texts."""


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
            own_members(name, order, of_order)
            seed = order.get("seed", 0)
        else:
            self.order, section = read(order, of_order)
            seed = seed_of(section)
        world_size = checked(DEAL_OF_BATCHES, deal).get("world_size", 1)
        batch = complete(checked(BATCH, batch, lists), lengths)
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


def complete(given: dict[str, Any], lengths: list[int] | None) -> dict[str, Any]:
    """The members that are used and have a value, of those that were checked."""
    strategy, counting = (given.get(member, BATCH[member].names[0]) for member in ("strategy", "counting"))
    here = {"strategy": strategy, "counting": counting}
    batch: dict[str, Any] = dict(here)

    def add(member: str, value: Any) -> None:
        if value is not None and BATCH[member].belongs(here):
            batch[member] = value

    add("linear", given.get("linear", 1))
    add("quadratic", given.get("quadratic", 0))
    most, longest = given.get("max_batch_size"), given.get("max_length")
    limit = "max_cost" if counting == "weighted" else "max_tokens"
    budget = given.get(limit)
    if budget is None and strategy == "budget":
        if not most or longest is None or counting == "weighted":
            raise Failure("missing", field_of(limit), "")
        budget = most * longest
    add(limit, budget)
    capacity = given.get("capacity", longest)
    if strategy == "pack" and capacity is None:
        raise Failure("missing", "capacity", "")
    add("capacity", capacity)
    default = {"budget": 0, "pack": 1}.get(strategy, 0 if budget else 32)
    most = default if most is None else most
    batch["max_batch_size"] = 0 if budget and most == MAX_U32 else most
    batch["max_length"] = MAX_U32 if longest is None else longest
    add("batch_size_multiple", given.get("batch_size_multiple", 1))
    add("packing", given.get("packing", "fast"))
    there = [member for member in BUCKETS if member in given]
    if len(there) > 1:
        raise Failure("contradiction", field_of(there[0]), shown(given[there[0]]))
    for member in (*BUCKETS, "batch_window"):
        add(member, given.get(member))
    batch["too_long"] = given.get("too_long", "error")
    batch["tail"] = given.get("tail", "even-split")
    lengths = found("lengths", given.get("lengths"), lengths)
    narrow("lengths", lengths)
    if lengths is not None:
        batch["lengths"] = lengths
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
    """What follows from several members."""
    require(config.max_batch_size > 0 or config.strategy == "budget" or config.budget > 0, "max-batch-size", 0)
    require(config.budget > 0 or config.strategy != "budget", config.limit, 0)
    require(config.capacity > 0 or config.strategy != "pack", "capacity", 0)
    ends = batch.get("boundaries", [])
    require(ends == sorted(set(ends)), "boundaries", None, "contradiction")
