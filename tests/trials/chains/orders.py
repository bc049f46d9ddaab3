"""Random orders of few samples: orders with names, orders of datasets in shards, and composed orders."""

from __future__ import annotations

import random

import samedeal
from samedeal import Order, SamedealError, Sampler

TABLES = ("fisher-yates", "torch", "torch-2.5", "python", "dotnet")


def sizes(rng: random.Random, shards: int = 6, most: int = 40) -> list[int]:
    """Sizes of shards. At least one shard has samples."""
    found = [rng.choice((0, 1, rng.randrange(most), rng.randrange(most))) for _ in range(rng.randint(1, shards))]
    found[rng.randrange(len(found))] = rng.randint(1, most)
    return found


def sharded(rng: random.Random) -> Order:
    """The order of a dataset in shards."""
    return samedeal.sharded(
        sizes(rng), lanes=rng.randint(1, 8), shuffle_window=rng.randint(1, 9), seed=rng.randrange(99)
    )


def named(rng: random.Random, *names: str) -> Order:
    """An order that is not composed. It may have no samples."""
    seed = None if rng.random() < 0.2 else rng.randrange(2**31)
    return samedeal.order(rng.choice(names), rng.choice((0, 1, 2, rng.randint(1, 40), rng.randint(1, 250))), seed=seed)


def _drawn(rng: random.Random, depth: int, shards: bool) -> Order:
    def inner() -> Order:
        return _drawn(rng, depth - 1, shards)

    kinds = ("leaf", "exclude", "subset", "skip", "copies", "blend", "stage", "lanes")
    kind = rng.choice(kinds) if depth else "leaf"
    if kind == "leaf":
        if shards or rng.random() < 0.3:
            return sharded(rng)
        if rng.random() < 0.2:
            return samedeal.windows(
                sizes(rng), length=rng.randint(1, 5), stride=rng.randint(1, 5), seed=rng.randrange(99)
            )
        if rng.random() < 0.2:
            classes = [rng.randrange(2) for _ in range(rng.randint(1, 60))]
            return samedeal.balance(
                classes, (rng.choice((0.5, 1, 1.25)), rng.choice((0, 2, 3.5))), seed=rng.randrange(99)
            )
        if rng.random() < 0.2:
            weights = [rng.choice((0, 1, 1, 2, 9)) for _ in range(rng.randint(0, 60))] + [1]
            above, is_replaced = sum(weight > 0 for weight in weights), rng.random() < 0.5
            return samedeal.weighted(
                weights, rng.randint(1, 90 if is_replaced else above), rng.randrange(99), replacement=is_replaced
            )
        found = named(rng, "feistel", "sequential")
        if found.to_dict()["name"] == "feistel" and rng.random() < 0.3:
            samples = found.to_dict()["samples"]
            return found.grow(rng.randrange(3), rng.randint(0, samples), samples + rng.randint(1, 50))
        return found
    if kind == "lanes":
        return _by_lane(rng)
    if kind in ("exclude", "subset"):
        of = inner()
        samples = Sampler(order=of).dataset_size
        chosen = sorted(rng.sample(range(samples), rng.randint(0, samples // 2)))
        return of.exclude(chosen) if kind == "exclude" else of.subset(chosen or [0])
    if kind == "skip":
        of, epoch = inner(), rng.randrange(3)
        length = Sampler(order=of, epoch=epoch).epoch_length
        start = rng.randrange(length)
        return of.skip([(epoch, start, rng.randint(1, length - start))])
    if kind == "copies":
        return inner().copies(rng.randint(1, 4))
    names = ("a", "b", "c")[: rng.randint(1, 3)]
    exhaustion = rng.choice(("repeat", "stop", "renormalize"))
    blend = samedeal.blend(
        {name: (inner(), rng.choice((0, 1, 1, 2, 7))) for name in names},
        seed=rng.randrange(99),
        samples=rng.randint(10, 200) if exhaustion == "repeat" or rng.random() < 0.3 else None,
        exact=rng.random() < 0.3,
        exhaustion=exhaustion,
        max_passes=None if exhaustion == "repeat" else rng.randint(1, 2),
    )
    return blend.stage(rng.randint(1, 300), [rng.randint(0, 5) for _ in names]) if kind == "stage" else blend


def _by_lane(rng: random.Random) -> Order:
    """A blend of sharded datasets whose lanes are blends of their own."""
    lanes, run = rng.randint(1, 6), rng.choice((1, 1, 2))
    row = lanes * run
    sources = {name: (_in_lanes(rng, lanes), rng.randint(0, 7)) for name in ("a", "b", "c")[: rng.randint(1, 3)]}
    samples = rng.choice((None, row * rng.randint(1, 40)))
    blend = samedeal.blend(sources, seed=rng.randrange(99), samples=samples, run_length=run, by_lane=True)
    return blend.stage(row * rng.randint(1, 40), [rng.randint(0, 5) for _ in sources]) if rng.random() < 0.5 else blend


def _in_lanes(rng: random.Random, lanes: int) -> Order:
    """A sharded dataset, with or without some of its samples."""
    own = [*sizes(rng), lanes]
    order = samedeal.sharded(own, lanes=lanes, shuffle_window=rng.randint(1, 9))
    while rng.random() < 0.3:
        chosen = sorted(rng.sample(range(sum(own)), rng.randint(0, sum(own) - lanes)))
        order = order.exclude(chosen) if len(chosen) < sum(own) / 2 else order.subset(chosen)
    return order


def drawn(rng: random.Random, *, depth: int = 2, shards: bool = False) -> Order:
    """An order that samplers accept. With `shards`, it is one of datasets in shards."""
    if depth and not shards and rng.random() < 0.25:
        return named(rng, *samedeal.plain_orders())
    while True:
        try:
            order = _drawn(rng, rng.randint(0, depth), shards)
            # Each epoch is made here, because an order may refuse any of the epochs that a chain reads.
            lengths = [Sampler(order=order, epoch=epoch).epoch_length for epoch in range(5)]
        except (SamedealError, ValueError):
            # Random parts may not fit together.
            continue
        if max(lengths) <= 1500:
            return order
