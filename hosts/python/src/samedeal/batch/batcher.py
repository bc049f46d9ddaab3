"""Batches of sequences of different length."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from .. import recipe as recipes
from ..compose.order import Order
from ..deal.binding import plain_orders
from ..engine import arguments as check
from ..engine.errors import MovedError, OutOfRangeError, SamedealError
from ..engine.instance import Engine
from ..generated.batches import BatcherBase
from ..recipe import Recipe
from .binding import Plan, Where, recipe_fingerprint, recipe_text
from .index import text_of
from .lengths import Lengths as Kept
from .recipe import lengths_of, written
from .records import Batch, Metrics, split

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..engine.sources import Source

    Numbers = ArrayLike | Iterable[SupportsIndex]

Self = TypeVar("Self", bound="Batcher")

_WINDOW = 64
"""How many steps iteration reads at a time."""


class Batcher(BatcherBase):
    """The batches of an epoch of sequences of different length, with the same number of steps on every rank.

    A step is one batch on every rank. The batches of a step have similar lengths and costs. Iteration gives the batches
    of this rank; it plans one window of the epoch at a time, and reads only the lengths of samples in this window.
    `num_steps`, `len` and `metrics` plan the whole epoch, once, unless there is an index of it (`build_index`,
    `use_index`).

    A pickle has the recipe and the lengths. In place of a memory-mapped file of lengths, it has the path and a checksum
    of the bytes (of 4,096 pieces, if the file has more than 64 MB, and of each window that was planned before). If the
    file has changed, unpickling or the plan of a changed window raises a ContradictionError. A batcher may be used from
    several threads, in signal handlers and finalizers, and on both sides of a fork. Ctrl-C ends a long call between two
    windows, and the next call continues there. Every method raises a
    `samedeal.SamedealError`, which is a `ValueError`, if a value is not allowed.
    """

    _engine: Engine[Plan, Where]

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        recipe = written(sections, given["seed"], given["order"], given["boundaries"])
        lengths = lengths_of(given["lengths"], given["order"])
        self._open(recipe, lengths, given["epoch"], given["rank"], given["memory_limit"])

    @classmethod
    def from_recipe(
        cls: type[Self],
        recipe: str | Mapping[str, Any],
        lengths: Source | None = None,
        *,
        lists: Mapping[str, Numbers] | None = None,
        rank: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """The batcher of a recipe: one document that has the order, the world size, and how samples become batches.

            Batcher.from_recipe({"deal": {"world_size": 8}, "batch": {"max_tokens": 16_384}}, lengths, rank=3)

        Args:
            recipe: A dictionary, or a text of JSON. "order" has "name", "samples" and "seed", or is any other order of
                the recipe of a `Sampler`; "deal" has "world_size"; "batch" has the other options of `Batcher`, by the
                same names, and "lengths". A value that you leave out has its default.
            lengths: As for `Batcher`, if the recipe has only the hash of lengths, or does not have them.
            lists: Numbers that the recipe has as a hash, or not at all, by their names: "boundaries", and those of the
                order, as for `Sampler.from_recipe`.
            rank: The rank whose batches iteration gives, 0 to the world size - 1.
            epoch: As for `Batcher`.
            memory_limit: As for `Batcher`.

        Raises:
            SamedealError: As `Batcher`. It is a ContradictionError if `lengths` are not those of the recipe, and a
                MissingError if there are no lengths in the recipe and in the call.
        """
        self = cls.__new__(cls)
        own = None if lengths is None else lengths_of(lengths, None)
        self._open(recipes.read(recipe, lists), own, epoch, rank, memory_limit)
        return self

    def _open(
        self,
        recipe: Recipe,
        lengths: Kept | None,
        epoch: SupportsIndex,
        rank: SupportsIndex,
        memory_limit: SupportsIndex,
    ) -> None:
        where = Where(check.u64("epoch", epoch))
        self._rank = check.whole("rank", rank)
        limit = check.integer("memory_limit", memory_limit, check.MEMORY)
        self._engine = Engine(Plan, where, recipe, lengths, limit)
        if self._rank:
            # Raises the component's error if there is no such rank.
            self._ask(Plan.take, check.u32("rank", self._rank), 0, 0)

    @property
    def recipe(self) -> str:
        """The recipe of these batches: JSON in one line, with every default; `from_recipe` takes it.

        The recipe is the same on all ranks and in all epochs, and the same text in every language. A list of more than
        256 lengths is a hash in this text.
        """
        return self._engine.use(recipe_text)

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it identifies the run."""
        return self._engine.use(recipe_fingerprint)

    @property
    def lengths(self) -> Any:
        """The lengths as they were given; an array, if the recipe has them. Do not change them."""
        recipe, lengths, _ = self._engine.fixed
        if lengths is not None:
            return lengths.given
        return check.u32s("lengths", recipe.options["lengths"], check.U32)

    @property
    def rank(self) -> int:
        """The rank whose batches iteration gives."""
        return self._rank

    @property
    def world_size(self) -> int:
        """How many ranks there are."""
        return self._engine.fact(_world_size)

    def __len__(self) -> int:
        """How many batches every rank has; the same as `num_steps`."""
        return self.num_steps

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Moves to another epoch, 0 to 2**64 - 1, at its beginning. Nothing is planned yet.

        If it is the current epoch, nothing changes, even if a part of the epoch was taken.

        Raises:
            OutOfRangeError: The order has too many positions before this epoch.
            OutOfMemoryError: There is no memory for the epoch. The batcher stays in the old one.
        """
        number = check.u64("epoch", epoch)
        self._engine.ask_and_set(lambda where: where.in_epoch(number))

    def resume(self, state: str | Mapping[str, Any], *, replan: bool = False) -> None:
        """Continues from a state: moves to the rest of its epoch. Nothing is planned yet.

        With the world size of the state, the rest has the same batches as before. With another world size, the rest of
        the window in which the state was taken is planned anew, and windows for the new world size follow. Steps are
        counted from 0 again. After a failure, nothing has changed. The state need not be trusted: it is checked.

        Args:
            state: The text that `state` gave, or the dictionary that a `state_dict` gave.
            replan: Whether the options of this batcher may differ from those of the state, in all but the order and
                the lengths. The rest is then planned with the options of this batcher. Use it to go on with a smaller
                budget after an out-of-memory error.

        Raises:
            ContradictionError: The state is of other batches.
            WrongTypeError: The value is no state of batches.
            OutOfRangeError: The state is too long, or has more steps than there are.
            OutOfMemoryError: There is no memory for the state.
        """
        anew = check.boolean("replan", replan)
        self._engine.resume(Plan.go_on, Where.moved, check.state(state), anew)

    def use_index(self, index: str | os.PathLike[str]) -> None:
        """Uses the index of an epoch, so that nothing is planned to know how many steps that epoch has.

        The index may be of any epoch, and several indices may be used. For the rest of an epoch, an index is used only
        if the steps before were taken with the world size of this batcher.

        Args:
            index: The path of a file that `build_index` wrote, or its text.

        Raises:
            WrongTypeError: The text is no index, or was changed.
            ContradictionError: The index is of other batches, or does not have all windows.
            OSError: The file cannot be read.
        """
        found = self._engine.use(Plan.index_of, text_of(index))
        self._engine.ask_and_set(lambda where: where.known(found))

    def metrics(self, progress: Callable[[int, int], object] | None = None) -> Metrics:
        """Metrics of the batches of all ranks. This plans all windows, once, unless there is an index.

        Args:
            progress: Called with the number of windows that are planned, and with the number of all windows. After
                `metrics`, `num_steps` plans nothing.

        Raises:
            OutOfRangeError: A sample is too long.
            ContradictionError: Lengths differ from those of an earlier plan, or of the state or the index.
            OutOfMemoryError: There is no memory for the plan of a window.
            WrongTypeError: `progress` cannot be called.
        """
        told = check.progress(progress)
        return self._engine.use(Metrics.of) if told is None else self._engine.use(_metrics, told)

    def batch(self, step: SupportsIndex, rank: SupportsIndex | None = None) -> Batch:
        """The batch of a rank (by default, of the rank of this batcher) at a step. This plans one window.

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
        """One pass over the batches of a rank (by default, of the rank of this batcher), from a step on.

        A pass is of one epoch: it raises a `RuntimeError` if `set_epoch` or `resume` moves the batcher meanwhile.

        Args:
            start: The step that the pass begins with, 0 to `num_steps`. Without an index, the windows before it are
                planned.
            rank: The rank whose batches are given.

        Raises:
            OutOfRangeError: There is no such step or rank.
        """
        whose = self._rank if rank is None else check.u32("rank", rank)
        first = check.u53("start", start)
        # Raises the component's error if there is no such rank or step.
        config = self._ask(_opening, whose, first)
        return self._pass(whose, config, first)

    def __iter__(self) -> Iterator[Batch]:
        """One pass over the batches of this rank in this epoch."""
        return self.batches()

    def __repr__(self) -> str:
        """The call that makes an equal batcher, without the memory limit, and with long lists abridged."""
        recipe, where = self._recipe, {"epoch": self.epoch, "rank": self._rank}
        members = json.loads(recipe.text)
        order = members.get("order", {})
        if order.get("name", "feistel") in plain_orders():
            options = recipe.options | where
        else:
            lists = {path: own for path, own in recipe.lists if path != "boundaries"}
            boundaries = {path: own for path, own in recipe.lists if path == "boundaries"}
            deal, batch = members.get("deal", {}), members.get("batch", {})
            options = {"order": Order(order, lists), **deal, **batch, **boundaries, **where}
        options.pop("lengths", None)
        return recipes.call("Batcher", self.lengths, options)

    @property
    def _recipe(self) -> Recipe:
        """The recipe, as it was given."""
        found: Recipe = self._engine.fixed[0]
        return found

    def _has_step(self, step: int) -> bool:
        """Whether the epoch has a step of this number. Does not plan the whole epoch."""
        return self._engine.use(_reaches, step)

    def _pass(self, rank: int, config: Where, start: int) -> Iterator[Batch]:
        count = _WINDOW
        while True:
            try:
                found = self._engine.use(_window, config, rank, start, count)
            except SamedealError:
                # Reads steps one by one: `count` steps may be too many for one call, and the steps before a step that
                # fails can still be given.
                if count == 1:
                    raise
                count = 1
                continue
            for batch in found:
                if self._engine.config is not config:
                    _stay(config, self._engine.config)
                yield batch
            start += len(found)
            if len(found) < count:
                return


def _stay(config: Where, current: Where) -> None:
    if config[:2] != current[:2]:
        value = "a pass of a batcher that moved during iteration"
        raise MovedError("iterator", value, "another one: call iter() again after set_epoch or resume")


def _world_size(plan: Plan) -> int:
    found: int = json.loads(plan.recipe.recipe())["deal"]["world_size"]
    return found


def _metrics(plan: Plan, progress: Callable[[int, int], object]) -> Metrics:
    plan.progress = progress
    try:
        found = Metrics.of(plan)
    finally:
        plan.progress = None
    progress(plan.num_windows(), plan.num_windows())
    return found


def _batch(plan: Plan, rank: int, step: int) -> Batch:
    found = taken(plan, rank, step, 1)
    if not found:
        raise OutOfRangeError("step", str(step), check.below(plan.num_steps()))
    return found[0]


def _reaches(plan: Plan, step: int) -> bool:
    return len(taken(plan, 0, step, 1)) > 0


def _opening(plan: Plan, rank: int, start: int) -> Where:
    plan.take(rank, start, 0)
    return plan.current


def _window(plan: Plan, config: Where, rank: int, start: int, count: int) -> list[Batch]:
    _stay(config, plan.current)
    return taken(plan, rank, start, count)


def taken(plan: Plan, rank: int, start: int, count: int) -> list[Batch]:
    """Up to `count` batches of a rank; fewer where the epoch ends. The number of steps need not be known before."""
    try:
        return split(plan.take(rank, start, count))
    except OutOfRangeError as error:
        if error.field not in ("start", "count"):
            raise
    # The failed call has planned all windows, so `num_steps` plans nothing.
    left = max(0, plan.num_steps() - start)
    return split(plan.take(rank, start, min(left, count))) if left else []
