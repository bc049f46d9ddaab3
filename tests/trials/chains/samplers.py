"""Chains of samplers: every position of an epoch comes once, for any sequence of world sizes."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import islice

from samedeal import Order, Sampler
from tally import Tally, require, same

from . import orders
from .chain import Chain, Group, groups


def draw(rng: random.Random) -> Chain:
    """Draws a chain with any order, and a unit in some chains."""
    order = orders.drawn(rng)
    unit = rng.choice((1, 1, 1, 2, 3))
    if rng.random() < 0.1:
        copies = rng.randint(2, 4)
        order, unit = order.copies(copies), copies
    found = groups(rng)
    if rng.random() < 0.2:
        # Several ranks with the layout `contiguous` cannot save a state in the middle of an epoch, so only the last
        # group may have this layout.
        found = (*found[:-1], replace(found[-1], layout="contiguous"))
    return Chain({"order": order, "unit": unit}, rng.choice((0, 0, 1, 2, 3)), found)


def _of(chain: Chain, group: Group, epoch: int, rank: int) -> Sampler:
    order: Order = chain.options["order"]
    return Sampler(
        order=order,
        epoch=epoch,
        rank=rank,
        world_size=group.world_size,
        remainder=group.remainder,
        layout=group.layout,
        unit=chain.options["unit"],
    )


def run(chain: Chain) -> Tally:
    """Reads one epoch with all groups, and the next one with the last group."""
    order = chain.options["order"]
    whole = Sampler(order=order, epoch=chain.epoch, remainder="uneven").indices().tolist()
    tally = Tally(trials=1, expected=len(whole))
    if "of" not in order.to_dict() and order.to_dict()["name"] in ("feistel", "sequential", "sharded", *orders.TABLES):
        require(sorted(whole) == list(range(len(whole))), "an epoch is a permutation", whole)
    state, consumed = None, 0
    read: list[list[int]] = []
    """For each rank: its samples, for as long as all groups are equal."""
    unchanged = True
    for number, group in enumerate(chain.groups):
        last = number + 1 == len(chain.groups)
        ranks = [_of(chain, group, chain.epoch if state is None else 4, rank) for rank in range(group.world_size)]
        if state is not None:
            tally.resumptions += 1
            for sampler in ranks:
                sampler.resume(state)
        require({(each.epoch, each.consumed) for each in ranks} == {(chain.epoch, consumed)}, "ranks go on", ranks[0])
        most = max(each.num_samples for each in ranks)
        steps = -(-most // _step(chain, group)) if last else int(group.part * most) // _step(chain, group)
        taken = min(most, steps * _step(chain, group))
        same_as_before = number == 0 or _alike(chain.groups[number - 1], group)
        unchanged = unchanged and same_as_before
        real, padded = _taken(chain, group, ranks, steps, tally, read if unchanged else None)
        same(real, whole[consumed : consumed + len(real)], f"group {number} takes the next positions")
        same(padded, (whole[at % len(whole)] for at in range(len(padded))), f"group {number} repeats the first samples")
        require(not padded or group.remainder == "pad", "only pad repeats samples", group)
        consumed += len(real)
        if last or (taken == most and taken):
            # Positions that the deal drops are consumed, too.
            left = len(whole) - consumed
            require(left == ranks[0].num_dropped, "what is left out is counted", left, ranks[0])
            require(left < group.world_size * chain.options["unit"], "less than a row is left out", left)
            require(not left or group.remainder == "drop", "only drop leaves samples out", group)
            tally.dropped += left
            consumed = len(whole)
        if not last:
            states = {each.state(taken) for each in ranks}
            require(len(states) == 1, "all ranks write the same state", states)
            (state,) = states
            require(json.loads(state)["consumed"] == consumed, "the state counts what was taken", state, consumed)
    if unchanged:
        for rank, own in enumerate(read):
            uninterrupted = _of(chain, chain.groups[-1], chain.epoch, rank)
            require(own == uninterrupted.indices().tolist(), "nothing has happened to a rank of the same group", rank)
    _next_epoch(chain, ranks)
    return tally


def _alike(one: Group, other: Group) -> bool:
    return replace(one, part=0, batch_size=1) == replace(other, part=0, batch_size=1)


def _step(chain: Chain, group: Group) -> int:
    """Number of samples that a rank takes at a time: whole units."""
    return group.batch_size * int(chain.options["unit"])


def _taken(
    chain: Chain, group: Group, ranks: list[Sampler], steps: int, tally: Tally, read: list[list[int]] | None
) -> tuple[list[int], list[int]]:
    """The samples and the padding that all ranks take in `steps` steps."""
    real: list[int] = []
    padded: list[int] = []
    for rank, sampler in enumerate(ranks):
        batches = islice(sampler.batches(_step(chain, group)), steps)
        own = [sample for batch in batches for sample in batch.tolist()]
        genuine = max(0, sampler.num_samples - sampler.num_padding)
        real += own[:genuine]
        padded += own[genuine:]
        if read is not None:
            if len(read) <= rank:
                read.append([])
            read[rank] += own
    tally.samples += len(real) + len(padded)
    tally.repeated += len(padded)
    return real, padded


def _next_epoch(chain: Chain, ranks: list[Sampler]) -> None:
    """Checks that the epoch after a resume is complete."""
    epoch, group = chain.epoch + 1, chain.groups[-1]
    for sampler in ranks:
        sampler.set_epoch(epoch)
    whole = Sampler(order=chain.options["order"], epoch=epoch, remainder="uneven").indices().tolist()
    found = [sample for each in ranks for sample in each.indices()[: each.num_samples - each.num_padding].tolist()]
    if group.remainder == "drop":
        whole = whole[: len(whole) - ranks[0].num_dropped]
    same(found, whole, "the next epoch is whole")
