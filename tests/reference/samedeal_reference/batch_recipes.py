"""Recipes of batches: section 14."""

from __future__ import annotations

from typing import Any

from .base import Failure, require, stream
from .batch_config import BatchConfig, Options
from .composed import MEMBERS as COMPOSED_ORDERS
from .composed import name_of as order_name
from .composed import own_members, read
from .composed_base import Composed, Plain
from .members import BATCH, DEAL_OF_BATCHES, checked
from .orders import feistel, require_range
from .recipe_text import Lists, hash_of, inline, narrow, read_recipe, shown, written
from .recipe_text import fingerprint as fingerprint_of
from .recipes import ORDERS
from .sampler_recipe import seed_of

MAX_U32 = 2**32 - 1
MOST_OF_THE_SAMPLE = 2**14
NEIGHBOURS = 16
BUCKETS = ("bucket_width", "boundaries", "quantiles")


def sample_of(lengths: list[int]) -> list[int]:
    """The sample of lengths."""
    if len(lengths) <= MOST_OF_THE_SAMPLE:
        return lengths
    order = feistel(len(lengths) // NEIGHBOURS, stream("feistel", 0, 0))
    runs = sorted(order.sample(p) for p in range(MOST_OF_THE_SAMPLE // NEIGHBOURS))
    return [lengths[NEIGHBOURS * run + place] for run in runs for place in range(NEIGHBOURS)]


class BatchRecipe:
    """A recipe of batches. `lengths` are passed when they are asked for; only their number comes beside the text."""

    def __init__(self, recipe: str, lengths: list[int] | None, lists: Lists) -> None:
        fields = read_recipe(recipe, lists, "batcher")
        order, deal, batch = (fields.get(section, {}) for section in ("order", "deal", "batch"))
        name = order_name(order)
        require(name in (*ORDERS, "sharded", *COMPOSED_ORDERS), "name", name, "unknown-name")
        of_order = [(path, numbers) for path, numbers in lists if path != "boundaries"]
        self.order: Composed | None = None
        """The order; None if it is a simple one without lengths, whose number of samples is unknown."""
        section: dict[str, Any] = {}
        if name in ORDERS:
            own_members(name, order, of_order)
            self.seed = order.get("seed", 0)
        else:
            self.order, section = read(order, of_order)
            self.seed = seed_of(section)
        self.world_size = checked(DEAL_OF_BATCHES, deal).get("world_size", 1)
        self.options = read_options(batch, lists)
        samples = self.order.range if self.order else order.get("samples")
        there = batch.get("lengths")
        count = require_lengths(there, None if lengths is None else len(lengths), samples)
        require(samples in (None, count), "samples", samples, "contradiction")
        if self.order is None:
            section = {"name": name} | ({} if count is None else {"samples": count}) | {"seed": self.seed}
            if count is not None:
                require_range(name, count, self.seed)
                self.order = Plain(name, count, self.seed)
        given = there if isinstance(there, list) else lengths
        self.lengths: list[int] | None = given
        self.sample: tuple[int, ...] | None = None
        if given is not None:
            sample = sample_of(given)
            self.sample = tuple(sample)
            if isinstance(there, list) and lengths is not None:
                require(sample == sample_of(lengths), "lengths", None, "contradiction")
            elif isinstance(there, str):
                require(there == hash_of(sample), "lengths", None, "contradiction")
            there = given if len(given) <= 256 else hash_of(sample)
        batch = canonical(self.options) | ({} if there is None else {"lengths": there})
        self.parts = {"order": section, "batch": batch}
        deal = {"world_size": self.world_size}
        self._text = written({"samedeal": 1, "order": section, "deal": deal, "batch": batch})

    def recipe(self) -> str:
        return self._text

    def recipe_fingerprint(self) -> str:
        return fingerprint_of(self._text)

    def config(self, epoch: int, world_size: int | None = None, options: Options | None = None) -> BatchConfig:
        """The configuration of an epoch, with the recipe's world size and options or with others."""
        options = self.options if options is None else options
        return config_of(self.seed, epoch, world_size or self.world_size, options, self.sample)


def require_lengths(there: list[int] | str | None, beside: int | None, samples: int | None) -> int | None:
    """The number of lengths: point 7."""
    if isinstance(there, list):
        narrow("lengths", there)
        require(beside in (None, len(there)), "lengths", None, "contradiction")
        return len(there)
    count = samples if beside is None else beside
    if isinstance(there, str) and count is None:
        raise Failure("missing", "samples", "")
    return count


def read_options(section: dict[str, Any], lists: Lists | None = None) -> Options:
    """The section `batch`: the second half of point 2, and points 3 to 6."""
    given = checked(BATCH, section, lists)
    strategy, counting = (given.get(member, BATCH[member].names[0]) for member in ("strategy", "counting"))
    here = {"strategy": strategy, "counting": counting}
    batch: Options = dict(here)

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
            raise Failure("missing", limit, "")
        budget = most * longest
    capacity = given.get("capacity", longest)
    if strategy == "pack" and capacity is None:
        raise Failure("missing", "capacity", "")
    there = [member for member in BUCKETS if member in given]
    if len(there) > 1:
        raise Failure("contradiction", there[0], shown(given[there[0]]))
    default = {"budget": 0, "pack": 1}.get(strategy, 0 if budget else 32)
    most = default if most is None else most
    require(most > 0 or strategy == "budget" or budget, "max_batch_size", 0)
    require(strategy != "budget" or budget > 0, limit, 0)
    require(strategy != "pack" or capacity > 0, "capacity", 0)
    ends = given.get("boundaries", [])
    require(ends == sorted(set(ends)), "boundaries", None, "contradiction")

    batch["max_batch_size"] = 0 if budget and most == MAX_U32 else most
    if longest not in (None, MAX_U32):
        batch["max_length"] = longest
    add(limit, budget)
    add("batch_size_multiple", given.get("batch_size_multiple", 1))
    add("capacity", capacity)
    add("packing", given.get("packing", "fast"))
    for member in BUCKETS:
        add(member, given.get(member))
    add("separate_buckets", given.get("separate_buckets", False))
    add("pad_to_bucket", given.get("pad_to_bucket", False))
    add("batch_window", given.get("batch_window"))
    add("mean_length", given.get("mean_length"))
    batch["too_long"] = given.get("too_long", "error")
    batch["tail"] = given.get("tail", "even-split")
    return batch


def canonical(options: Options) -> dict[str, Any]:
    """The options in the form of a canonical text."""
    return {member: inline(value) if isinstance(value, list) else value for member, value in options.items()}


def config_of(seed: int, epoch: int, world_size: int, options: Options, sample: tuple[int, ...] | None) -> BatchConfig:
    buckets = {member: options[member] for member in BUCKETS if member in options}
    return BatchConfig(
        seed=seed,
        epoch=epoch,
        world_size=world_size,
        strategy=options["strategy"],
        counting=options["counting"],
        linear=options.get("linear", 0),
        quadratic=options.get("quadratic", 0),
        max_batch_size=options["max_batch_size"],
        max_length=options.get("max_length", MAX_U32),
        budget=options.get("max_tokens", options.get("max_cost", 0)),
        batch_size_multiple=options.get("batch_size_multiple", 1),
        capacity=options.get("capacity", 0),
        packing=options.get("packing", "fast"),
        buckets=buckets or None,
        separate_buckets=options.get("separate_buckets", False),
        pad_to_bucket=options.get("pad_to_bucket", False),
        batch_window=options.get("batch_window", 0),
        as_they_come=options.get("batch_window") == 0,
        mean_length=options.get("mean_length", 0),
        too_long=options["too_long"],
        tail=options["tail"],
        sample=sample,
    )
