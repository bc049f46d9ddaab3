"""Chains of schedules: the samples of a step are the same on any world size, and epochs follow each other without a
gap."""

from __future__ import annotations

import random

from samedeal import Order, Sampler, Schedule
from tally import Tally, require, same

from . import orders
from .chain import Chain, groups

STEPS = 16
"""Number of steps of a chain."""


def draw(rng: random.Random) -> Chain:
    """Draws groups, with which the batch size changes."""
    while True:
        order = orders.drawn(rng)
        if all(Sampler(order=order, epoch=epoch).epoch_length for epoch in range(3)):
            break
    return Chain({"order": order, "seed": rng.randrange(2**32)}, 0, groups(rng, most=6))


def run(chain: Chain) -> Tally:
    """Takes the steps of all groups, and compares them with those of one rank alone, and with the epochs."""
    tally, order = Tally(trials=1), chain.options["order"]
    rng = random.Random(chain.options["seed"])
    stages: list[tuple[int, int]] = []
    taken: list[int] = []
    state, step = None, 0
    for number, group in enumerate(chain.groups):
        # The world size shrinks until it fits the past batch sizes. From this step on, the batch size is a multiple of
        # it.
        world_size = group.world_size
        while not _fits([size for start, size in stages if start < step], world_size):
            world_size -= 1
        size = world_size * rng.randint(1, 3)
        stages = [*(stage for stage in stages if stage[0] < step), (step, size)]
        schedules = [
            Schedule(order, stages, world_size=world_size, rank=rank, layout=group.layout) for rank in range(world_size)
        ]
        if state is not None:
            tally.resumptions += 1
            require({each.resume(state) for each in schedules} == {step}, "all ranks go on at the step", state, step)
        last = number + 1 == len(chain.groups)
        end = STEPS if last else step + int(group.part * (STEPS - step))
        for at in range(step, end):
            batches = [each.batch(at).tolist() for each in schedules]
            require({len(batch) for batch in batches} == {size // world_size}, "ranks have as many samples", at)
            found = [sample for batch in batches for sample in batch]
            taken += found
            alone = Schedule(order, stages).batch(at).tolist()
            same(found, alone, f"step {at} has the samples that one rank would take")
        step = end
        states = {each.state(step) for each in schedules}
        require(len(states) == 1, "all ranks write the same state", states)
        (state,) = states
    tally.samples = tally.expected = len(taken)
    _check_epochs(order, taken)
    return tally


def _fits(past: list[int], world_size: int) -> bool:
    """Whether a schedule accepts these past batch sizes. From the first one on that the world size divides, it must
    divide all."""
    fits = [size % world_size == 0 for size in past]
    return fits == sorted(fits)


def _check_epochs(order: Order, taken: list[int]) -> None:
    """Checks that steps take the epochs one after the other. Within a step, ranks may have any order."""
    epochs: list[int] = []
    epoch = 0
    while len(epochs) < len(taken):
        epochs += Sampler(order=order, epoch=epoch, remainder="uneven").indices().tolist()
        epoch += 1
    same(taken, epochs[: len(taken)], "all steps take the first positions of all epochs")
