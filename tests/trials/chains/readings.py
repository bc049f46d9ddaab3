"""Chains of readings: every row comes once, for any sequence of loaders and world sizes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import samedeal
from samedeal import Reading, Sampler
from tally import Tally, require, same

from . import orders
from .chain import Chain, Group, groups


def draw(rng: random.Random) -> Chain:
    """Draws a chain: single positions of an order, which may be composed, or whole shards."""
    kind = rng.choice(("sharded", "sharded", "sequential", "composed", "shards"))
    drop_last = rng.random() < 0.25
    if kind == "composed":
        return Chain(
            {"order": orders.drawn(rng, shards=True), "drop_last": drop_last}, rng.randrange(4), groups(rng, 5)
        )
    options: dict[str, Any] = {"sizes": orders.sizes(rng), "seed": rng.randrange(99), "drop_last": drop_last}
    if kind == "sharded":
        options |= {"lanes": rng.randint(1, 9), "shuffle_window": rng.randint(1, 9)}
    elif kind == "sequential":
        options |= {"shuffle": False}
        del options["seed"]
    else:
        options |= {"deal": "shards", "shuffle": rng.random() < 0.7, "reshuffle": rng.random() < 0.3}
        if not options["shuffle"]:
            options["shuffle_rows"], options["reshuffle"] = None, None
        options |= {name: rng.choice(("size-aware", "round-robin")) for name in ("policy", "worker_policy")}
    return Chain(options, rng.choice((0, 1, 5)), groups(rng, most=5))


def _of(chain: Chain, group: Group) -> Reading:
    remainder = None if chain.options.get("deal") == "shards" else group.remainder
    return Reading(
        **chain.options,
        remainder=remainder,
        world_size=group.world_size,
        workers=group.workers,
        batch_size=group.batch_size,
    )


def _whole(chain: Chain) -> list[int]:
    """The samples of the epoch, from a sampler."""
    options = chain.options
    if options.get("deal") == "shards":
        return list(range(sum(options["sizes"])))
    order = options.get("order")
    if order is None and "shuffle" in options:
        order = samedeal.order("sequential", sum(options["sizes"]))
    elif order is None:
        order = samedeal.sharded(options["sizes"], options["lanes"], options["shuffle_window"], options["seed"])
    return Sampler(order=order, epoch=chain.epoch, remainder="uneven").indices().tolist()


def _loaded(reading: Reading, rank: int, steps: int, drop_last: bool) -> tuple[list[int], list[int], list[int]]:
    """The output of a rank's loader: the samples, the padding, and the samples that incomplete batches hold back.

    The loader takes a batch of each worker in turn, and skips workers that have none left.
    """
    size = reading.batch_size
    real: list[int] = []
    padded: list[int] = []
    short: list[int] = []
    batches: list[list[tuple[list[int], list[int]]]] = []
    for worker in range(reading.workers):
        own = reading.indices(rank, worker).tolist()
        genuine = len(own) - reading.num_padding(rank, worker)
        count = len(own) // size if drop_last else -(-len(own) // size)
        cuts = [(at * size, min((at + 1) * size, len(own))) for at in range(count)]
        batches.append([(own[a : min(b, genuine)], own[max(a, genuine) : b]) for a, b in cuts])
        short += own[count * size : genuine]
    require(sum(map(len, batches)) == reading.num_steps(rank), "a rank has the batches of its workers", rank)
    turn = 0
    while steps and any(batches):
        if batches[turn]:
            some, repeated = batches[turn].pop(0)
            real += some
            padded += repeated
            steps -= 1
        turn = (turn + 1) % reading.workers
    return real, padded, short


def run(chain: Chain) -> Tally:
    """Reads the epoch with all groups, and compares the samples with those of the epoch."""
    tally, drop_last = Tally(trials=1), chain.options["drop_last"]
    whole = _whole(chain)
    tally.expected, missing = len(whole), Counter(whole)
    kept_back: Counter[int] = Counter()
    state, over = None, False
    for number, group in enumerate(chain.groups):
        reading = _of(chain, group)
        if state is None:
            reading = reading.at_epoch(chain.epoch)
        else:
            tally.resumptions += 1
            reading = reading.resume(state)
        require(reading.epoch == chain.epoch, "the epoch is that of the state", reading)
        most, last = reading.steps.max, number + 1 == len(chain.groups)
        require(not (over and most), "nothing is left after the last step", reading)
        steps = most if last else int(group.part * most)
        before = missing.copy()
        left = sum(
            reading.num_samples(rank, worker) - reading.num_padding(rank, worker)
            for rank in range(group.world_size)
            for worker in range(group.workers)
        )
        readers = group.world_size * group.workers
        for rank in range(group.world_size):
            real, padded, short = _loaded(reading, rank, steps, drop_last)
            tally.samples += len(real) + len(padded)
            tally.repeated += len(padded)
            require(not padded or group.remainder == "pad", "only pad repeats samples", group)
            for sample in real:
                require(missing[sample] > 0, f"group {number} takes a sample twice", sample)
                missing[sample] -= 1
            if steps >= reading.num_steps(rank):
                kept_back.update(short)
        if steps == most and (most or (last and not over)):
            over = True
            if group.remainder == "drop" and "deal" not in chain.options:
                dropped = sum(before.values()) - left
                require(dropped < readers, "less than a row is left out", dropped)
                require(drop_last or sum(missing.values()) == dropped, "the remainder is left out", missing, dropped)
                kept_back.update({sample: count for sample, count in missing.items() if count})
        state = reading.state(steps)
    missing = +missing
    if not drop_last and all(group.remainder != "drop" or "deal" in chain.options for group in chain.groups):
        same(missing.elements(), (), "every row is read")
    tally.dropped = sum(missing.values())
    require(not missing - kept_back, "only short batches and remainders are left out", missing, kept_back)
    return tally
