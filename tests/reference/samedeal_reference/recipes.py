"""Section 14: recipes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .base import Failure
from .recipe_text import field_of, found, read_recipe, shown
from .sampler import Config, Sampler


def from_recipe(text: str, lists: list[tuple[str, list[int]]]) -> Sampler:
    """The sampler of a recipe."""
    fields = read_recipe(text, lists, ["sizes"], batches=False)
    if "order" not in fields:
        raise Failure("missing", "order", "")
    order, deal = fields["order"], fields.get("deal", {})
    sizes = found("sizes", order.get("sizes"), dict(lists).get("sizes"))
    name = order.get("name", "sharded" if "sizes" in order else "feistel")
    config = Config(
        samples=order.get("samples", 0),
        seed=order.get("seed", 0),
        epoch=0,
        order=name,
        rank=0,
        world=deal.get("world_size", 1),
        remainder=deal.get("remainder", "pad"),
        layout=deal.get("layout", "strided"),
        consumed=0,
    )
    if name == "sharded":
        return of_shards(config, order, sizes)
    if name not in ORDERS:
        raise Failure("unknown-name", "order", name[:64])
    for field in ("lanes", "shuffle_window", "shards", "sizes"):
        if field in order:
            raise Failure("contradiction", field_of(field), shown(order[field]))
    if sizes is not None:
        raise Failure("contradiction", "sizes", shown(sizes))
    if "samples" not in order:
        raise Failure("missing", "samples", "")
    check_deal(config)
    return made(Sampler, config)


ORDERS = ("feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet")


def of_shards(config: Config, order: dict[str, Any], sizes: list[int] | None) -> Sampler:
    if sizes is None:
        raise Failure("missing", "sizes", "")
    if sum(sizes) > 2**53 - 1:
        raise Failure("out-of-range", "sizes", None)
    for field, here in (("shards", len(sizes)), ("samples", sum(sizes))):
        if order.get(field, here) != here:
            raise Failure("contradiction", field, str(order[field]))
    lanes, window = order.get("lanes", 64), order.get("shuffle_window", 256)
    for most in ((2**32 - 1, 2**32 - 1), (2**12, 2**20)):
        if not lanes <= most[0] or (most[0] == 2**12 and lanes < 1):
            raise Failure("out-of-range", "lanes", str(lanes))
        if not window <= most[1] or (most[1] == 2**20 and window < 1):
            raise Failure("out-of-range", "shuffle-window", str(window))
    config = replace(config, samples=sum(sizes))
    check_deal(config)
    return made(Sampler.sharded, config, sizes, lanes, window)


def check_deal(config: Config) -> None:
    if config.world > 2**32 - 1:
        raise Failure("out-of-range", "world-size", str(config.world))
    for field, name, known in (
        ("remainder", config.remainder, ("pad", "drop", "uneven")),
        ("layout", config.layout, ("strided", "contiguous")),
    ):
        if name not in known:
            raise Failure("unknown-name", field, name[:64])


def made(make: Any, config: Config, *rest: Any) -> Sampler:
    try:
        return make(config, *rest)
    except Failure as failure:
        if failure.field == "world":
            raise Failure(failure.kind, "world-size", failure.value) from failure
        raise
