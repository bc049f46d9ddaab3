"""Batches of sequences of different length."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from ..bindings.batches import BatchPlace, Segment
from ..engine import arguments as check
from ..engine.errors import OutOfMemoryError, OutOfRangeError
from ..engine.instance import Answered, Engine
from .binding import BatchConfig, Plan, recipe_fingerprint, recipe_text
from .recipe import configured, lengths_of, options_of, written
from .records import Batch, Metrics, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Self = TypeVar("Self", bound="Batcher")

_WINDOW = 64
"""Steps that iteration reads at a time."""


class Batcher(Answered):
    """The batches of an epoch of sequences of different length: as many steps on every rank, and none over its budget.

    A step is one batch on every rank, of similar length and cost. All of them are known before the epoch begins, any
    one is read at once, and a rank computes its own without another's help. Iteration gives this rank's batches. It
    pickles by its configuration, and may be used from several threads, in signal handlers and finalizers, and on both
    sides of a fork. Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not allowed.
    """

    _engine: Engine[Plan, BatchConfig]
    _known_world: int | None

    def __init__(
        self,
        lengths: ArrayLike | Iterable[SupportsIndex],
        *,
        seed: SupportsIndex | None = None,
        epoch: SupportsIndex = 0,
        order: str | None = None,
        rank: SupportsIndex = 0,
        world: SupportsIndex | None = None,
        strategy: str | None = None,
        max_batch_size: SupportsIndex | None = None,
        max_length: SupportsIndex | None = None,
        max_tokens: SupportsIndex | None = None,
        max_cost: SupportsIndex | None = None,
        counting: str | None = None,
        linear: SupportsIndex | None = None,
        quadratic: SupportsIndex | None = None,
        batch_size_multiple: SupportsIndex | None = None,
        capacity: SupportsIndex | None = None,
        packing: str | None = None,
        bucket_width: SupportsIndex | None = None,
        boundaries: ArrayLike | Iterable[SupportsIndex] | None = None,
        quantiles: SupportsIndex | None = None,
        batch_window: SupportsIndex | None = None,
        too_long: str | None = None,
        tail: str | None = None,
        history: Iterable[tuple[SupportsIndex, SupportsIndex]] = (),
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Plans the epoch. An option that is None has its default; one that the strategy does not use is refused.

        Args:
            lengths: The length of every sample, in tokens, 0 to 2**32 - 1: a list, or an array of whole numbers.
            seed: Seed of the order, and of the order of steps, -2**63 to 2**63 - 1; 0.
            epoch: Number of the epoch, 0 to 2**64 - 1; `set_epoch` plans another.
            order: The order of the epoch, one of `samedeal.orders()`; "feistel".
            rank: Which rank iteration answers for, 0 to `world` - 1.
            world: How many data-parallel ranks there are, 1 to 2**20; 1.
            strategy: How samples become batches. "budget" (the default): as many of similar length as `max_tokens` or
                `max_cost` allows. "bucket": `max_batch_size` of one bucket of lengths, or fewer if there is a budget.
                "pack": `max_batch_size` rows of `capacity` tokens, which samples share. "pad-to-max": `max_batch_size`
                samples in the order of the epoch.
            max_batch_size: The most rows of a batch: 32, with "pack" 1. If there is a budget, 0: no limit.
            max_length: The most tokens of a sample, 0 to 2**32 - 1; no limit.
            max_tokens: With "budget" and "bucket": the most tokens of a batch. With "budget", the default is
                `max_batch_size` * `max_length` if both are given.
            max_cost: With the counting "weighted", in place of `max_tokens`: the most that a batch may cost.
                Needed with "budget".
            counting: What is counted. "padded" (the default): the batch with its padding. "unpadded": the tokens of
                its samples. "weighted": `linear` * length + `quadratic` * length**2 of each.
            linear: With "weighted": what a token costs; 1.
            quadratic: With "weighted": what a pair of tokens costs; 0.
            batch_size_multiple: With "bucket", and with a budget that counts padding: the number of samples of a batch
                is a multiple of this, if it is greater than this; not at the end of the epoch. 1.
            capacity: With "pack": tokens of a row; `max_length` if that is given.
            packing: With "pack", and with a budget that does not count padding: how hard to look for few rows. "fast"
                (the default): about as fast as sorting. "optimal": the best of several ways, with a bound that no other
                can be better than (`Metrics.packs_bound`).
            bucket_width: With "bucket": buckets of equal width.
            boundaries: With "bucket": the greatest length of each bucket, ascending; longer samples are in one more.
            quantiles: With "bucket": so many buckets of as many samples each, as far as equal lengths allow. Without
                any of the three, 64 buckets of as many tokens each.
            batch_window: How many samples are looked at together: more of them make batches fuller, fewer leave more of
                the order. With "budget", 0 takes them as they come. By default as many as 64 steps of average batches
                take, and at least 8,192: it follows `world`, and after a resume on another world each of the worlds has
                its own.
            too_long: What happens to samples that are longer than `max_length`, or than a budget or a capacity alone
                allows. "error" (the default): there is no plan. "truncate": their beginning is kept. "drop": they are
                left out. "split": they become several items. "single": each is a batch by itself, whatever it costs.
            tail: What happens at the end of the epoch to samples that do not fill a step. "even-split" (the default):
                they make a smaller step, and if there are fewer than ranks, another step gives some of its own, or
                packs are split: no batch is empty if there are as many samples as ranks. "keep": the same without that,
                so that some batches may be empty. "drop": they are left out. "duplicate": some are given again, until
                every rank has as many rows.
            history: What was taken of this epoch before: pairs of a world size and how many steps each of its ranks
                took, one after the other, up to 64. What they leave is planned; `resume` takes it from a state.
            memory_limit: Bytes of memory that the engine may use for this plan; 2**31 is the most it can use.

        Raises:
            OutOfRangeError: A number is outside its range, or a sample is too long.
            UnknownNameError: There is no such order, strategy, counting, packing, too_long or tail.
            WrongTypeError: A value is not of the type that its parameter takes.
            MissingError: The strategy needs what is not given.
            ContradictionError: Boundaries do not ascend, buckets are given in more than one way, or an option is
                given that the strategy does not use.
            OutOfMemoryError: There is no memory for so many samples.
        """
        recipe = written(locals())
        numbers = check.u32s("lengths", lengths, check.U32)
        self._begin(configured(recipe, numbers, epoch=epoch, history=history), rank, memory_limit)

    @classmethod
    def from_recipe(
        cls: type[Self],
        recipe: str | Mapping[str, Any],
        lengths: ArrayLike | Iterable[SupportsIndex] | None = None,
        *,
        boundaries: ArrayLike | Iterable[SupportsIndex] | None = None,
        rank: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        history: Iterable[tuple[SupportsIndex, SupportsIndex]] = (),
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """The batcher of a recipe: one document that has the order, the world size, and how samples become batches.

            Batcher.from_recipe({"deal": {"world_size": 8}, "batch": {"max_tokens": 16_384}}, lengths, rank=3)

        Args:
            recipe: A dictionary, or a text of JSON. "order" has "name", "samples" and "seed"; "deal" has "world_size";
                "batch" has the other options of `Batcher`, by the same names, and "lengths". What is not there has its
                default.
            lengths: The length of every sample, if the recipe has their hash, or does not have them.
            boundaries: The boundaries of buckets, if the recipe has their hash.
            rank: Which rank iteration answers for, 0 to the world size - 1.
            epoch: As for `Batcher`.
            history: As for `Batcher`.
            memory_limit: As for `Batcher`.

        Raises:
            SamedealError: As `Batcher`. It is a ContradictionError if `lengths` are not those of the recipe, and a
                MissingError if neither has them.
        """
        numbers = None if lengths is None else check.u32s("lengths", lengths, check.U32)
        self = cls.__new__(cls)
        self._begin(configured(recipe, numbers, boundaries, epoch, history), rank, memory_limit)
        return self

    def _begin(self, config: BatchConfig, rank: SupportsIndex, memory_limit: SupportsIndex) -> None:
        self._rank = check.integer("rank", rank, check.RANK)
        self._engine = Engine(Plan, config, check.integer("memory-limit", memory_limit, check.MEMORY))
        self._known_world = None
        if self._rank:
            # The component says what is wrong with it.
            self._engine.use(Plan.take, self._rank, 0, 0)

    @property
    def recipe(self) -> str:
        """The recipe of these batches: JSON in one line, with every default; `from_recipe` takes it.

        It is the same on all ranks and in all epochs, and the same text in every language. More than 256 lengths are a
        hash.
        """
        return self._engine.use(recipe_text)

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it names the run."""
        return self._engine.use(recipe_fingerprint)

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """The length of every sample; not to be written to."""
        return lengths_of(self._engine.config)

    @property
    def epoch(self) -> int:
        """The epoch; `set_epoch` plans another."""
        return self._engine.config.epoch

    @property
    def rank(self) -> int:
        """Which rank iteration answers for."""
        return self._rank

    @property
    def world(self) -> int:
        """How many ranks there are."""
        if self._known_world is None:
            # The canonical text costs a hash of all lengths.
            found = options_of(self._engine.config).get("world")
            self._known_world = json.loads(self.recipe)["deal"]["world_size"] if found is None else found
        return self._known_world

    @property
    def num_steps(self) -> int:
        """How many batches every rank has: `len` of it."""
        return self._engine.use(Plan.num_steps)

    def __len__(self) -> int:
        """How many batches every rank has."""
        return self.num_steps

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Plans another epoch, 0 to 2**64 - 1, of which nothing was taken; as costly as a new plan.

        The epoch that it is at stays as it is, also where a part of it was taken.

        Raises:
            OutOfMemoryError: There is no memory for it; the plan stays that of the epoch before.
        """
        number = check.integer("epoch", epoch, check.U64)
        self._engine.ask_and_set(Plan.go_to_epoch, lambda config, _: config.in_epoch(number), number)

    def state(self, steps: SupportsIndex) -> str:
        """The state after every rank has taken so many steps: a text for a checkpoint.

        It is JSON in one line, the same on all ranks, and `resume` goes on there in any host and on any world.

        Raises:
            OutOfRangeError: There are not so many steps, or more than 64 worlds took a part of this epoch.
        """
        return self._engine.use(Plan.state, check.integer("steps", steps, check.U64))

    def resume(self, state: str | Mapping[str, Any]) -> None:
        """Goes on where a state was taken: moves to its epoch, and plans what was not taken.

        On the world of the state, what is left is what that plan has left, batch for batch; on another one, it is
        planned anew. Steps count from 0 again. As costly as a new plan, for each world that took a part. After a
        failure, the batcher is where it was. Do not trust where a state comes from: it is checked.

        Args:
            state: The text that `state` gave, or the dictionary that a `state_dict` gave.

        Raises:
            ContradictionError: The state is of other batches.
            WrongTypeError: It is no state of a batcher.
            OutOfRangeError: It is too long, or says that more was taken than there is.
            OutOfMemoryError: There is no memory for the plan.
        """
        text = check.state(state)

        def moved(config: BatchConfig, found: BatchConfig) -> BatchConfig:
            return config._replace(epoch=found.epoch, history=found.history)

        self._engine.ask_and_set(Plan.go_on, moved, text)

    @property
    def history(self) -> list[Segment]:
        """What was taken of the epoch before; not to be written to."""
        return list(self._engine.config.history)

    def locate(self, sample: SupportsIndex) -> list[BatchPlace]:
        """The inverse: where a sample is, in the order of steps.

        Once, or as often as it has parts or is repeated; never where it is left out, or was taken before. Costs
        planning its windows.

        Raises:
            OutOfRangeError: There is no such sample.
        """
        return list(self._engine.use(Plan.locate, check.number("sample", sample, lambda: len(self.lengths))))

    def metrics(self) -> Metrics:
        """What the batches of all ranks amount to."""
        return self._engine.use(Metrics.of)

    def batch(self, step: SupportsIndex, rank: SupportsIndex | None = None) -> Batch:
        """The batch of a rank, by default this one, at a step: any at once, at the price of planning a window.

        Raises:
            OutOfRangeError: There is no such step or rank.
            OutOfMemoryError: There is no memory for the batch.
        """
        number = check.number("step", step, lambda: self.num_steps)
        whose = self._rank if rank is None else check.number("rank", rank, lambda: self.world, check.U32_MAX)
        return self._engine.use(_batch, whose, number)

    def batches(self, start: SupportsIndex = 0, rank: SupportsIndex | None = None) -> Iterator[Batch]:
        """One pass over the batches of a rank, by default this one, from a step on.

        It never mixes epochs: once the batcher was moved, it raises a `RuntimeError`.

        Args:
            start: The step that it begins with, 0 to `num_steps`.
            rank: Whose batches they are.

        Raises:
            OutOfRangeError: There is no such step or rank.
        """
        whose = self._rank if rank is None else check.number("rank", rank, lambda: self.world, check.U32_MAX)
        first = check.whole("start", start)
        config, steps = self._engine.use(_extent, whose)
        if not 0 <= first <= steps:
            raise OutOfRangeError("start", check.shown(first), f"0 to {steps}")
        return self._pass(whose, config, first, steps)

    def __iter__(self) -> Iterator[Batch]:
        """One pass over this rank's batches; it never mixes epochs."""
        return self.batches()

    def fingerprint(self) -> str:
        """SHA-256 over all batches of all ranks, in hexadecimal: equal on all ranks that plan alike."""
        return self._engine.use(Plan.fingerprint)

    def __repr__(self) -> str:
        """The call that makes an equal batcher, without the memory limit; long lists in short."""
        config = self._engine.config
        named: dict[str, Any] = options_of(config) | {"epoch": config.epoch, "rank": self._rank}
        if config.history:
            named["history"] = self.history
        if "boundaries" in named:
            named["boundaries"] = check.u32s("boundaries", named["boundaries"], check.U32)
        arguments = ", ".join(f"{name}={_shown(value)}" for name, value in named.items())
        return f"Batcher({check.shortened(self.lengths)}, {arguments})"

    def _pass(self, rank: int, config: BatchConfig, start: int, stop: int) -> Iterator[Batch]:
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


def _shown(value: Any) -> str:
    return check.shortened(value) if hasattr(value, "tolist") else repr(value)


def _stay(config: BatchConfig, current: BatchConfig) -> None:
    if (config.epoch, config.history) != (current.epoch, current.history):
        raise RuntimeError("the batcher moved during iteration; call iter() again after set_epoch or resume")


def _batch(plan: Plan, rank: int, step: int) -> Batch:
    steps = plan.num_steps()
    if step >= steps:
        raise OutOfRangeError("step", str(step), check.below(steps))
    (batch,) = split(plan.take(rank, step, 1))
    return batch


def _extent(plan: Plan, rank: int) -> tuple[BatchConfig, int]:
    # The component says what is wrong with the rank.
    plan.take(rank, 0, 0)
    return plan.current, plan.num_steps()


def _window(plan: Plan, config: BatchConfig, rank: int, start: int, count: int) -> list[Batch]:
    _stay(config, plan.current)
    return split(plan.take(rank, start, count))
