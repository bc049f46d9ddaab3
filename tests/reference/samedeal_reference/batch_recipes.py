"""Recipes of batches: section 14."""

from __future__ import annotations

from .base import MAX_U32, Failure, require, stream
from .batch_config import BatchConfig, Options
from .composed import READ, own_members, read
from .composed import name_of as order_name
from .composed_base import Composed, Plain
from .members import BATCH, DEAL_OF_BATCHES, ORDER, PLAIN, SIMPLE
from .orders import feistel, require_range
from .recipe_text import MAX_INLINE, Lists, hash_of, narrow, shown, written
from .recipe_text import fingerprint as fingerprint_of
from .recipes import Section, arranged, canonical, checked, read_recipe, written_of
from .sampler_recipe import seed_of

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
    """A recipe of batches. Only the number of lengths comes beside the text; the lengths are passed when they are asked
    for."""

    def __init__(self, recipe: str, lengths: list[int] | None, lists: Lists) -> None:
        fields = read_recipe(recipe, lists, "batcher")
        order, batch = fields["order"], fields["batch"]
        name = order_name(order)
        require(name in (*PLAIN, *READ), "name", name, "unknown-name")
        of_order = [(path, numbers) for path, numbers in lists if path != "boundaries"]
        self.order: Composed | None = None
        """The order; None if it is a simple one without lengths, whose number of samples is unknown."""
        section: Section = {}
        if name in SIMPLE:
            self.seed = own_members(name, order, of_order)["seed"]
        else:
            self.order, section = read(order, of_order)
            self.seed = seed_of(section)
        deal = checked(DEAL_OF_BATCHES, fields["deal"])
        self.world_size = deal["world_size"]
        self.options = read_options(batch, lists)
        samples = self.order.range if self.order else order.get("samples")
        there = batch.get("lengths")
        count = require_lengths(there, None if lengths is None else len(lengths), samples)
        require(samples in (None, count), "samples", samples, "contradiction")
        if self.order is None:
            section = canonical(ORDER, {"name": name, "samples": count, "seed": self.seed}, name=name)
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
            there = given if len(given) <= MAX_INLINE else hash_of(sample)
        batch = arranged(BATCH, self.options | ({} if there is None else {"lengths": there}))
        self.parts = {"order": section, "batch": batch}
        self._text = written({"samedeal": 1, "order": section, "deal": deal, "batch": batch})

    def recipe(self) -> str:
        return self._text

    def recipe_fingerprint(self) -> str:
        return fingerprint_of(self._text)

    def config(self, epoch: int, world_size: int | None = None, options: Options | None = None) -> BatchConfig:
        """The configuration of an epoch, with the recipe's world size and options or with others."""
        options = self.options if options is None else options
        return BatchConfig(self.seed, epoch, world_size or self.world_size, self.sample, **options)


def require_lengths(there: list[int] | str | None, beside: int | None, samples: int | None) -> int | None:
    """Checks where the lengths come from, and returns their number: point 8."""
    if isinstance(there, list):
        narrow("lengths", there)
        require(beside in (None, len(there)), "lengths", None, "contradiction")
        return len(there)
    count = samples if beside is None else beside
    if isinstance(there, str) and count is None:
        raise Failure("missing", "samples", "")
    return count


def read_options(section: Section, lists: Lists | None = None) -> Options:
    """Reads the section `batch`: the second half of point 2, and points 3 to 7."""
    given = checked(BATCH, section, lists)
    strategy, most, longest = given["strategy"], section.get("max_batch_size"), section.get("max_length")
    limit = "max_cost" if given["counting"] == "weighted" else "max_tokens"
    budget = given.get(limit)
    if budget is None and strategy == "budget":
        if most is None or longest is None or limit == "max_cost":
            raise Failure("missing", limit, "")
        budget = most * longest
    capacity = given.get("capacity", longest)
    if strategy == "pack" and capacity is None:
        raise Failure("missing", "capacity", "")
    window = given.get("batch_window")
    require(not window or not given.get("keep_order"), "batch_window", window, "contradiction")
    ways = [member for member in BUCKETS if member in given]
    if len(ways) > 1:
        raise Failure("contradiction", ways[0], shown(given[ways[0]]))
    if most is None:
        most = 1 if strategy == "pack" else MAX_U32 if budget else 32
    require(strategy != "budget" or budget > 0, limit, 0)
    require(strategy != "pack" or capacity > 0, "capacity", 0)
    ends = given.get("boundaries", [])
    require(ends == sorted(set(ends)), "boundaries", None, "contradiction")
    rows = None if budget and most == MAX_U32 else most
    found = {"max_batch_size": rows, limit: budget, "capacity": capacity, "lengths": None}
    return written_of(BATCH, given | found)
