"""Batches of sequences of different length."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from .. import recipe as recipes
from ..bindings.batches import BatcherBase
from ..compose.order import Order
from ..deal.binding import orders
from ..engine import arguments as check
from ..engine.errors import OutOfMemoryError, OutOfRangeError
from ..engine.instance import Engine
from ..recipe import Recipe
from .binding import Plan, Where, recipe_fingerprint, recipe_text
from .recipe import joined, past, written
from .records import Batch, Metrics, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Numbers = ArrayLike | Iterable[SupportsIndex]
    Lengths = Numbers | Mapping[str, Numbers]

Self = TypeVar("Self", bound="Batcher")

_WINDOW = 64
"""Steps that iteration reads at a time."""


class Batcher(BatcherBase):
    """The batches of an epoch of sequences of different length, with the same number of steps on every rank.

    A step is one batch on every rank. The batches of a step have similar lengths and costs. The number of steps is
    known before the epoch begins, and any step can be computed on its own, without the other ranks. Iteration gives
    the batches of this rank. A batcher is pickled by its recipe. It may be used from several threads, in signal
    handlers and finalizers, and on both sides of a fork. Every method raises a `samedeal.SamedealError`, which is a
    `ValueError`, if a value is not allowed.
    """

    _engine: Engine[Plan, Where]
    _known_world_size: int | None

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        recipe = written(sections, given["seed"], given["order"], given["boundaries"])
        lengths = joined(given["lengths"], given["order"])
        self._open(recipe, lengths, given["epoch"], given["history"], given["rank"], given["memory_limit"])

    @classmethod
    def from_recipe(
        cls: type[Self],
        recipe: str | Mapping[str, Any],
        lengths: ArrayLike | Iterable[SupportsIndex] | None = None,
        *,
        lists: Mapping[str, Numbers] | None = None,
        rank: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        history: Iterable[tuple[SupportsIndex, SupportsIndex]] = (),
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """The batcher of a recipe: one document that has the order, the world size, and how samples become batches.

            Batcher.from_recipe({"deal": {"world_size": 8}, "batch": {"max_tokens": 16_384}}, lengths, rank=3)

        Args:
            recipe: A dictionary, or a text of JSON. "order" has "name", "samples" and "seed", or is any other order of
                the recipe of a `Sampler`; "deal" has "world_size"; "batch" has the other options of `Batcher`, by the
                same names, and "lengths". A value that you leave out has its default.
            lengths: The length of every sample, if the recipe has their hash, or does not have them.
            lists: Numbers that the recipe has as a hash, or not at all, by their names: "boundaries", and those of the
                order, as for `Sampler.from_recipe`.
            rank: The rank whose batches iteration gives, 0 to the world size - 1.
            epoch: As for `Batcher`.
            history: As for `Batcher`.
            memory_limit: As for `Batcher`.

        Raises:
            SamedealError: As `Batcher`. It is a ContradictionError if `lengths` are not those of the recipe, and a
                MissingError if neither has them.
        """
        numbers = None if lengths is None else check.u32s("lengths", lengths, check.U32)
        self = cls.__new__(cls)
        self._open(recipes.read(recipe, lists), numbers, epoch, history, rank, memory_limit)
        return self

    def _open(
        self,
        recipe: Recipe,
        lengths: NDArray[np.uint32] | None,
        epoch: SupportsIndex,
        history: Iterable[tuple[SupportsIndex, SupportsIndex]],
        rank: SupportsIndex,
        memory_limit: SupportsIndex,
    ) -> None:
        where = Where(check.u64("epoch", epoch), past(history))
        self._rank = check.whole("rank", rank)
        self._engine = Engine(Plan, where, recipe, lengths, check.integer("memory-limit", memory_limit, check.MEMORY))
        self._known_world_size = None
        if self._rank:
            # The component says what is wrong with it.
            self._ask(Plan.take, check.u32("rank", self._rank), 0, 0)

    @property
    def recipe(self) -> str:
        """The recipe of these batches: JSON in one line, with every default; `from_recipe` takes it.

        It is the same on all ranks and in all epochs, and the same text in every language. More than 256 lengths are a
        hash.
        """
        return self._engine.use(recipe_text)

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it identifies the run."""
        return self._engine.use(recipe_fingerprint)

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """The length of every sample. Do not change the array."""
        recipe, lengths, _ = self._engine.fixed
        # The recipe has them, if they do not stand beside it.
        return check.u32s("lengths", recipe.options["lengths"], check.U32) if lengths is None else lengths

    @property
    def rank(self) -> int:
        """The rank whose batches iteration gives."""
        return self._rank

    @property
    def world_size(self) -> int:
        """How many ranks there are."""
        if self._known_world_size is None:
            # The canonical text costs a hash of all lengths.
            found = self._recipe.options.get("world_size")
            self._known_world_size = json.loads(self.recipe)["deal"]["world_size"] if found is None else found
        return self._known_world_size

    @property
    def num_steps(self) -> int:
        """How many batches every rank has; the same as `len`."""
        return self._engine.use(Plan.num_steps)

    def __len__(self) -> int:
        """How many batches every rank has."""
        return self.num_steps

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Plans another epoch, 0 to 2**64 - 1, from its beginning. This costs as much as a new batcher.

        If it is the current epoch, nothing changes, also if a part of it was taken.

        Raises:
            OutOfMemoryError: There is no memory for the plan. The old epoch is still planned.
        """
        number = check.u64("epoch", epoch)
        self._engine.ask_and_set(lambda where: where.in_epoch(number))

    def resume(self, state: str | Mapping[str, Any]) -> None:
        """Continues from a state: moves to its epoch, and plans the rest.

        On the world size of the state, the rest has the same batches as before. On another world size, the rest is
        planned anew. Steps are counted from 0 again. This costs as much as a new plan for each world size that took a
        part. After a failure, nothing has changed. The state need not be trusted: it is checked.

        Args:
            state: The text that `state` gave, or the dictionary that a `state_dict` gave.

        Raises:
            ContradictionError: The state is of other batches.
            WrongTypeError: It is no state of a batcher.
            OutOfRangeError: It is too long, or has more steps than there are.
            OutOfMemoryError: There is no memory for the plan.
        """
        self._engine.resume(Plan.go_on, check.state(state), lambda _, found: found)

    def metrics(self) -> Metrics:
        """Metrics of the batches of all ranks."""
        return self._engine.use(Metrics.of)

    def batch(self, step: SupportsIndex, rank: SupportsIndex | None = None) -> Batch:
        """The batch of a rank at a step. By default, it is the rank of this batcher. This plans one window.

        Raises:
            OutOfRangeError: There is no such step or rank.
            OutOfMemoryError: There is no memory for the batch.
        """
        whose = self._rank if rank is None else check.u32("rank", rank)
        return self._ask(_batch, whose, check.u53("step", step))

    def step(self, step: SupportsIndex) -> list[Batch]:
        """The batch of every rank at a step, in the order of ranks. This plans one window.

        Raises:
            OutOfRangeError: There is no such step.
            OutOfMemoryError: There is no memory for the batches.
        """
        return split(self._ask(Plan.step, check.u53("step", step), 0, self.world_size))

    def batches(self, start: SupportsIndex = 0, rank: SupportsIndex | None = None) -> Iterator[Batch]:
        """One pass over the batches of a rank, from a step on. By default, it is the rank of this batcher.

        A pass is of one epoch: it raises a `RuntimeError` if the batcher was moved to another one.

        Args:
            start: The step that it begins with, 0 to `num_steps`.
            rank: The rank whose batches are given.

        Raises:
            OutOfRangeError: There is no such step or rank.
        """
        whose = self._rank if rank is None else check.u32("rank", rank)
        first = check.whole("start", start)
        config, steps = self._ask(_extent, whose)
        if not 0 <= first <= steps:
            raise OutOfRangeError("start", check.shown(first), f"0 to {steps}")
        return self._pass(whose, config, first, steps)

    def __iter__(self) -> Iterator[Batch]:
        """One pass over the batches of this rank in this epoch."""
        return self.batches()

    def __repr__(self) -> str:
        """The call that makes an equal batcher, without the memory limit; long lists in short."""
        recipe, where = self._recipe, {"epoch": self.epoch, "rank": self._rank}
        members = json.loads(recipe.text)
        order = members.get("order", {})
        if order.get("name", "feistel") in orders():
            options = recipe.options | where
        else:
            lists = {path: own for path, own in recipe.lists if path != "boundaries"}
            boundaries = {path: own for path, own in recipe.lists if path == "boundaries"}
            deal, batch = members.get("deal", {}), members.get("batch", {})
            options = {"order": Order(order, lists), **deal, **batch, **boundaries, **where}
        options.pop("lengths", None)
        if self.history:
            options["history"] = list(self.history)
        return recipes.call("Batcher", self.lengths, options)

    @property
    def _recipe(self) -> Recipe:
        """As it was given."""
        found: Recipe = self._engine.fixed[0]
        return found

    def _pass(self, rank: int, config: Where, start: int, stop: int) -> Iterator[Batch]:
        count = _WINDOW
        while start < stop:
            try:
                found = self._engine.use(_window, config, rank, start, min(count, stop - start))
            except OutOfMemoryError:
                # One by one, where so many are too large together.
                if count == 1:
                    raise
                count = 1
                continue
            for batch in found:
                if self._engine.config is not config:
                    _stay(config, self._engine.config)
                yield batch
            start += len(found)


def _stay(config: Where, current: Where) -> None:
    if config != current:
        raise RuntimeError("the batcher moved during iteration; call iter() again after set_epoch or resume")


def _batch(plan: Plan, rank: int, step: int) -> Batch:
    steps = plan.num_steps()
    if step >= steps:
        raise OutOfRangeError("step", str(step), check.below(steps))
    (batch,) = split(plan.take(rank, step, 1))
    return batch


def _extent(plan: Plan, rank: int) -> tuple[Where, int]:
    # The component says what is wrong with the rank.
    plan.take(rank, 0, 0)
    return plan.current, plan.num_steps()


def _window(plan: Plan, config: Where, rank: int, start: int, count: int) -> list[Batch]:
    _stay(config, plan.current)
    return split(plan.take(rank, start, count))
