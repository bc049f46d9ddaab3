"""The class `Schedule`: a training as one sequence of global steps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import recipe as recipes
from ..compose import members as write
from ..compose.order import Order
from ..deal.binding import max_count, plain_orders
from ..engine import arguments as check
from ..engine.errors import OutOfMemoryError, OutOfRangeError, WrongTypeError
from ..engine.instance import Engine
from ..generated.steps import ScheduleBase
from ..recipe import Recipe
from .binding import Steps, Where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    GlobalBatchSizes = SupportsIndex | Iterable[tuple[SupportsIndex, SupportsIndex]]


_STEPS = 2**12
"""How many steps are read at a time, if they do not have too many samples."""


class Schedule(ScheduleBase):
    """All steps of a training: which samples each rank takes at each global step.

    A *global step* takes the next samples of the order for all ranks together, as many as the global batch size of the
    step says. It goes on with the next epoch where one ends, so no sample is padded or dropped. The samples of a step
    do not depend on the number of ranks: the same training on another number of ranks takes the same samples at each
    step. The batch size may change at given steps.

    Use it for trainings that count steps and not epochs, such as the pretraining of language models. Use a `Sampler` if
    your loop has epochs.

    A schedule never changes: `at_rank` returns a new one. It can be pickled, and used from several threads. Every
    method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not allowed.

    >>> from samedeal import Schedule
    >>> schedule = Schedule(10, [(0, 4), (3, 8)], seed=42, world_size=2, rank=1)  # 4 samples a step, 8 from step 3 on
    >>> [schedule.batch(step).tolist() for step in range(3)], len(schedule.batch(3))
    ([[8, 4], [2, 1], [5, 2]], 4)
    >>> schedule.place_of(3), schedule.samples_consumed(3)       # step 3 begins in epoch 1
    (EpochPosition(epoch=1, position=2), 12)
    >>> state = schedule.state(3)
    >>> Schedule(10, [(0, 4), (3, 8)], seed=42, world_size=4).resume(state)     # the step to go on with
    3
    """

    _engine: Engine[Steps, Where]
    _resource, _place = Steps, Where

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        of, seed = given["order_or_samples"], given["seed"]
        members = {name: recipes.given(own) for name, own in sections.items()}
        members["steps"] |= _steps(given["global_batch_size"])
        if isinstance(of, Order):
            recipe = recipes.beside({"order": of._alone({"order": given["order"], "seed": seed}), **members}, of._lists)
        else:
            own = {"order": given["order"], "samples": check.whole("samples", of), "seed": seed}
            recipe = recipes.read({"order": recipes.given(own), **members})
        self._begin(recipe, given["memory_limit"], check.u32("rank", given["rank"]))

    def at_rank(self, rank: SupportsIndex) -> Schedule:
        """This schedule for another rank, 0 to `world_size` - 1.

        >>> two = Schedule(10, 4, world_size=2)
        >>> sorted([*two.batch(0), *two.at_rank(1).batch(0)]) == sorted(Schedule(10, 4).batch(0))
        True
        """
        made = self.__class__.__new__(self.__class__)
        made._begin(*self._engine.fixed, check.u32("rank", rank))
        return made

    def indices(self, start: SupportsIndex, count: SupportsIndex = 1) -> NDArray[np.int64]:
        """This rank's samples at the steps `start` to `start` + `count` - 1, one step after the other.

        A step has `global_batch_size(step)` / `world_size` samples of this rank.

        Raises:
            OutOfRangeError: There are not so many steps, or one step has more than 2**20 samples of this rank.
            ContradictionError: The batch size of a step from `start` on, however late, is no multiple of `world_size` *
                `unit`.
            OutOfMemoryError: There is no memory for the samples of so many steps.
        """
        return check.indices(self._ask(_run, check.u53("start", start), check.u53("count", count)))

    def batch(self, step: SupportsIndex) -> NDArray[np.int64]:
        """This rank's samples at a step.

        Raises:
            OutOfRangeError: There is no such step, or it has more than 2**20 samples of this rank.
            ContradictionError: The batch size of this step or of a later one does not fit the ranks, as for `indices`.
            OutOfMemoryError: There is no memory for the samples, or for the table of the order.
        """
        return check.indices(self._ask(_one, check.u53("step", step)))

    def step(self, step: SupportsIndex) -> list[NDArray[np.int64]]:
        """The samples of every rank at a step, in the order of ranks.

        Raises:
            OutOfRangeError: There is no such step, or a rank has more than 2**20 samples of it.
            ContradictionError: The batch size of this step or of a later one does not fit the ranks, as for `indices`.
            OutOfMemoryError: There is no memory for the samples, or for the table of the order.
        """
        return self._ask(_all, check.u53("step", step))

    def batches(self, start: SupportsIndex = 0, stop: SupportsIndex | None = None) -> Iterator[NDArray[np.int64]]:
        """This rank's samples step by step, from step `start` up to `stop`; without a `stop`, practically without end.

        >>> schedule = Schedule(10, 4, seed=42)
        >>> [len(batch) for batch in schedule.batches(2, stop=5)]
        [4, 4, 4]

        Raises:
            OutOfRangeError: Not 0 <= start <= stop <= num_steps.
        """
        return self._pass(*check.run(start, stop, self.num_steps))

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        """This rank's samples step by step, from step 0 on, practically without end."""
        return self.batches()

    def __repr__(self) -> str:
        """The call that makes an equal schedule, without the memory limit."""
        recipe: Recipe = self._engine.fixed[0]
        members = json.loads(recipe.text)
        own, steps = members["order"], members["steps"]
        sizes = [
            (0, steps["global_batch_size"]),
            *((one["from"], one["global_batch_size"]) for one in steps.get("stages", [])),
        ]
        options = {
            "global_batch_size": sizes if len(sizes) > 1 else sizes[0][1],
            **members.get("deal", {}),
            "rank": self.rank,
        }
        options |= {"epochs": steps["epochs"]} if "epochs" in steps else {}
        if own.get("name", "feistel") not in plain_orders():
            return recipes.call("Schedule", Order(own, dict(recipe.lists)), options)
        options |= {"order" if name == "name" else name: value for name, value in own.items() if name != "samples"}
        return recipes.call("Schedule", own["samples"], options)

    def _pass(self, start: int, stop: int) -> Iterator[NDArray[np.int64]]:
        for step in range(start, stop):
            yield check.indices(self._engine.use(Steps.indices, step, 1))


def _steps(global_batch_size: Any) -> dict[str, Any]:
    """The section "steps" of a recipe, from global batch sizes."""
    if not isinstance(global_batch_size, Iterable):
        return {"global_batch_size": recipes.whole("global_batch_size", global_batch_size)}
    if isinstance(global_batch_size, Mapping):
        raise WrongTypeError(
            "global_batch_size", check.described(global_batch_size), "a number, or a list of (from, global_batch_size)"
        )
    stages = write.objects("global_batch_size", global_batch_size, ("from", "global_batch_size"))
    # If the list does not begin with step 0, the component says what is missing.
    first = {"global_batch_size": stages.pop(0)["global_batch_size"]} if stages and stages[0]["from"] == 0 else {}
    return {**first, "stages": stages}


def _one(steps: Steps, step: int) -> NDArray[np.int64]:
    """The samples of a step."""
    # Raises the component's error for a wrong step, which names the step and not a run.
    steps.global_batch_size(step)
    return steps.indices(step, 1)


def _all(steps: Steps, step: int) -> list[NDArray[np.int64]]:
    """The samples of all ranks at a step."""
    found: list[NDArray[np.int64]] = []
    world_size = steps.world_size()
    each = steps.global_batch_size(step) // world_size
    while len(found) < world_size:
        count = min(max(1, max_count() // max(1, each)), world_size - len(found))
        found.extend(check.indices(steps.step(step, len(found), count)).reshape(count, each))
    return found


def _run(steps: Steps, start: int, count: int) -> NDArray[np.int64]:
    """The samples of a run of steps, in as many calls as it takes."""
    import numpy

    last = steps.num_steps()
    if start > last or count > last - start:
        # Raises the component's error.
        return steps.indices(start, min(count, check.U32_MAX))
    end, window = start + count, _STEPS
    total = (steps.samples_consumed(end) - steps.samples_consumed(start)) // steps.world_size()
    try:
        # Allocated before any step is computed, so that a request for too many samples fails at once.
        out = numpy.empty(total, dtype=numpy.int64)
    except (MemoryError, ValueError) as error:
        raise OutOfMemoryError("count", str(count), "fewer steps") from error
    at, given = start, 0
    while at < end:
        try:
            found = steps.indices(at, min(window, end - at))
        except OutOfRangeError:
            # One call returns a limited number of samples, so fewer steps are read at a time.
            if window == 1:
                raise
            window //= 2
            continue
        out[given : given + len(found)] = found
        at, given = min(at + window, end), given + len(found)
    return out
