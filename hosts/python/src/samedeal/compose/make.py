"""The functions that make orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import recipe as recipes
from ..engine import arguments as check
from ..engine.errors import WrongTypeError
from . import members as write
from .order import Order, made, source

if TYPE_CHECKING:
    from fractions import Fraction

    from .order import Numbers

    Stages = Iterable[tuple[SupportsIndex, Mapping[str, SupportsIndex] | Numbers]]


def order(name: str, samples: SupportsIndex, seed: SupportsIndex | None = None) -> Order:
    """An order that is not made of others.

    Args:
        name: One of `samedeal.orders()`. Use "feistel" unless there is a reason: it has random access, and the cost
            does not depend on the number of samples. Orders with tables cannot be sources of a blend.
        samples: Number of samples in the dataset.
        seed: Seed of the order. By default 0; in a blend by default one of its own for each source.

    Raises:
        WrongTypeError: A value is not of the type that its parameter takes. Samplers of the order raise an
            UnknownNameError if there is no such order, and an OutOfRangeError for a number outside its range.

    >>> import samedeal
    >>> sampler = samedeal.Sampler(order=samedeal.order("feistel", 1_000_000, seed=42))
    >>> sampler.recipe == samedeal.Sampler(1_000_000, seed=42).recipe
    True
    """
    return made({"name": check.name("order", name), **_samples(samples), **write.counts(seed=seed)}, {})


def sharded(
    sizes: Numbers,
    lanes: SupportsIndex | None = None,
    shuffle_window: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
) -> Order:
    """The order of a dataset that is stored in shards, as `Sampler.sharded` has it.

    Neighbouring rows are read together. Use it as a source of a blend, and for views of a dataset in shards.

    Args:
        sizes: Number of samples in each shard.
        lanes: Number of lanes; 64 by default.
        shuffle_window: How many neighbouring samples of a lane are shuffled together; 256 by default.
        seed: As for `order`.

    Raises:
        WrongTypeError: A value is not of the type that its parameter takes.

    >>> import samedeal
    >>> order = samedeal.sharded([30, 20, 50], lanes=2, seed=1)
    >>> samedeal.Sampler(order=order).shard_of(35)
    ShardPlace(shard=1, offset=5)
    """
    return _with("sharded", write.counts(seed=seed, lanes=lanes, shuffle_window=shuffle_window), sizes=sizes)


def blend(
    sources: Mapping[str, tuple[SupportsIndex | Order, SupportsIndex]],
    *,
    seed: SupportsIndex | None = None,
    samples: SupportsIndex | None = None,
    exact: bool = False,
    exhaustion: str | None = None,
    max_passes: SupportsIndex | None = None,
    run_length: SupportsIndex | None = None,
    index_space: str | None = None,
    stages: Stages | None = None,
) -> Order:
    """A mixture of sources in proportion to weights, at every position: no random draws, so counts are exact.

    Each source makes whole passes over its own data, each pass in another order, at its own speed. The sources are laid
    end to end: sample s of the second source is sample `len(first) + s`, as in `torch.utils.data.ConcatDataset`. A
    sampler of a blend says what each source gives (`source_counts`), how far counts are from exact proportion at most
    (`source_bounds`), and which source has a sample (`source_of`).

    Use it to train on several datasets. To change weights in the middle of a run, use `Order.stage`.

    Args:
        sources: By the name of each source, in their order: a number of samples or an order, and its weight. Weights
            are whole numbers: 7 and 3, not 0.7 and 0.3. A source of weight 0 gives nothing, until a stage gives it a
            weight.
        seed: Seed of the sources that have none: each gets one of its own, which depends on its name.
        samples: The number of positions in an epoch. By default as many as the sources have samples all together.
        exact: Whether the count of every source stays within one sample of exact proportion in every prefix
            ("blend-exact"). It needs weights whose sum, without their common divisor, is at most 2**20. Without it, the
            bound is `source_bounds`, mostly one to two samples, and weights may be any.
        exhaustion: What happens once a source has made `max_passes` passes over its data. "repeat" (the default): it
            goes on with another pass, also across epochs. "stop": the epoch ends when the first source would go on.
            "renormalise": the other sources go on with their weights, until all are through. "fail": samplers raise
            an OutOfRangeError if `samples` would need more.
        max_passes: The most passes of each source in an epoch, 1 by default; not with "repeat".
        run_length: How many neighbouring positions a source gets at a time, 1 by default. With the batch size here and
            as the `unit` of a sampler, every batch of a rank is of one source. `samples` and the beginnings of stages
            are multiples of it, and bounds are so many times as wide; not with "renormalise".
        index_space: "joined" (the default): sources are laid end to end. "shared": sources are parts of one dataset,
            and their indices are those of that dataset; `subset` makes such sources.
        stages: Other weights from some positions on: (from, weights) for each, as `Order.stage` has them.

    Raises:
        WrongTypeError: A value is not of the type that its parameter takes.
        UnknownNameError: A weight of a stage is of no source.
        MissingError: A source has no weight in a stage. Samplers of the order raise errors for what does not fit
            together, such as an order with a table as a source.

    >>> import samedeal
    >>> order = samedeal.blend({"web": (70_000, 7), "code": (20_000, 2), "math": (1000, 1)}, seed=42)
    >>> sampler = samedeal.Sampler(order=order, world_size=4)
    >>> sampler.sources, sampler.epoch_length
    (('web', 'code', 'math'), 91000)
    >>> sampler.source_counts(0, 1000)["count"].tolist()
    [700, 200, 100]
    >>> sampler.source_of(70_123)
    SourcePlace(source=1, index=123)
    """
    name = "blend-exact" if check.boolean("exact", exact) else "blend"
    members: dict[str, Any] = {
        "name": name,
        **write.counts(samples=samples, seed=seed, max_passes=max_passes, run_length=run_length),
        **write.names(exhaustion=exhaustion, index_space=index_space),
    }
    lists: dict[str, Any] = {}
    own = []
    for key, pair in write.mapping("sources", sources).items():
        allowed = "a number of samples or an order, and its weight, for each name"
        parts = check.items("sources", pair, allowed)
        if len(parts) != 2:
            raise WrongTypeError("sources", f"one with {len(parts)} values", allowed)
        own.append(source(key, parts[0], parts[1], lists))
    members["sources"] = own
    found = made(members, lists)
    for stage in check.items("stages", () if stages is None else stages, "a list of (from, weights)"):
        parts = check.items("stages", stage, "a list of (from, weights)")
        if len(parts) != 2:
            raise WrongTypeError("stages", f"one with {len(parts)} values", "a list of (from, weights)")
        found = found.stage(*parts)
    return found


def grown(
    samples: SupportsIndex, growth: Iterable[Iterable[SupportsIndex]], seed: SupportsIndex | None = None
) -> Order:
    """The order of a dataset that got more samples while it was read.

    New samples are shuffled into the rest of the epoch in which they came. What was read before stays as it was, and in
    that epoch every old and new sample is seen exactly once. An epoch without growth is that of "feistel" for so many
    samples.

    Use it for data that arrives during training; `Order.grow` adds one growth.

    Args:
        samples: Number of samples at first.
        growth: (epoch, consumed, samples) for each growth, in their order: in this epoch, after this number of its
            positions, there were so many samples all together.
        seed: As for `order`.

    Raises:
        WrongTypeError: A value is not of the type that its parameter takes.

    >>> import samedeal
    >>> sampler = samedeal.Sampler(order=samedeal.grown(100, [(0, 40, 130)], seed=1))
    >>> sampler.samples, sampler.epoch_length, sorted(sampler) == list(range(130))
    (130, 130, True)
    """
    entries = write.objects("growth", growth, ("epoch", "consumed", "samples"))
    return made({"name": "grown", **_samples(samples), **write.counts(seed=seed), "growth": entries}, {})


def windows(
    sizes: Numbers, length: SupportsIndex, stride: SupportsIndex | None = None, seed: SupportsIndex | None = None
) -> Order:
    """Windows of episodes, shuffled: each sample of this order is the first sample of a window.

    Use it for episodes of robots, videos and time series: read `length` samples from each index on. A window never
    goes over the end of its episode, and an episode that is shorter than `length` has none.

    Args:
        sizes: Number of samples in each episode. They lie end to end.
        length: Samples in a window.
        stride: How many samples after another window of the same episode the next one begins; by default `length`, so
            that windows do not overlap.
        seed: As for `order`.

    Raises:
        WrongTypeError: A value is not of the type that its parameter takes.

    >>> import samedeal
    >>> order = samedeal.windows([10, 3, 9], length=4, stride=3, seed=1)
    >>> sorted(samedeal.Sampler(order=order))
    [0, 3, 6, 13, 16]
    """
    counts = {"length": recipes.whole("length", length), **write.counts(stride=stride, seed=seed)}
    return _with("windows", counts, sizes=sizes)


def balance(
    classes: Numbers,
    factors: Iterable[float | Fraction],
    seed: SupportsIndex | None = None,
    *,
    samples: SupportsIndex | None = None,
) -> Order:
    """Each sample as often as the factor of its class says: classes that are rare are seen more often.

    With a factor of 2.5, a sample is seen two or three times in every epoch, and after e epochs 2.5 * e times to within
    one. No random draws: counts are exact. Use it in place of `torch.utils.data.WeightedRandomSampler`, also in
    distributed training.

    With `samples`, every epoch has exactly so many positions, and factors are weights. Over any number of epochs, each
    sample is seen in proportion to its weight, to within two.

    Args:
        classes: The class of each sample: its place in `factors`.
        factors: How often the samples of each class are seen in an epoch, such as 2.5: whole numbers, fractions or
            floats of at most six decimals. Round others: `round(5 / 9, 6)`. With `samples`: whole numbers, of which
            only the proportions count. Those of all samples add up to 2**53 - 1 at most.
        seed: As for `order`.
        samples: The number of positions in every epoch. By default as many as the factors add up to, rounded up or
            down in each epoch.

    Raises:
        WrongTypeError: A value is not of the type that its parameter takes.
        OutOfRangeError: A factor has more than six decimals, is negative, or is above 4294.967295.

    >>> import samedeal
    >>> order = samedeal.balance([0, 0, 0, 0, 1], factors=[1.0, 4.0])
    >>> sorted(samedeal.Sampler(order=order))
    [0, 1, 2, 3, 4, 4, 4, 4]
    >>> samedeal.Sampler(order=samedeal.balance([0, 0, 0, 0, 1], factors=[1, 4], samples=6)).epoch_length
    6
    """
    own = write.factors(factors) if samples is None else write.shares(factors)
    return _with("balance", write.counts(samples=samples, seed=seed), classes=classes, factors=own)


def _with(name: str, counts: dict[str, int | str], **numbers: Any) -> Order:
    """An order whose lists are long or short."""
    members: dict[str, Any] = {"name": name, **counts}
    lists: dict[str, Any] = {}
    write.with_numbers(members, lists, **numbers)
    return made(members, lists)


def _samples(samples: SupportsIndex) -> dict[str, int | str]:
    return {"samples": recipes.whole("samples", samples)}
