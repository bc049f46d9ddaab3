"""Steps over epochs for a DataLoader."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from torch.utils.data import Sampler

from .. import ContradictionError, Order, OutOfRangeError, Schedule, WrongTypeError
from ..engine import arguments as check
from ..engine.warn import warn
from . import place
from .nested import Asking, warn_of_batched_batches
from .sized import length_of
from .states import EpochWarning, Pass, Resuming, Start, text_of, wrapped

if TYPE_CHECKING:
    from ..steps.schedule import GlobalBatchSizes


class StepBatchSampler(Resuming[Schedule], Sampler[list[int]]):
    """A training in global steps, for `DataLoader(dataset, batch_sampler=...)`: this rank's part of each step.

    This sampler has no epochs: a step takes the next samples of the order, and goes on with the next epoch where one
    ends. So all batches are full, no sample is padded or dropped, and the samples of a step do not depend on the number
    of ranks. It is endless, or ends after `steps` or `epochs`. If there is a process group, its rank is used; otherwise
    the rank of the launcher's variables. Do not use a `DistributedSampler` in addition.

    Every pass begins with step `step`: 0, or the step of the state that was loaded. Use one pass for the whole
    training. If you end a pass before its end, set `step` to go on.

    With `Resumable(loader)`, states count the steps that the training loop got. torchdata's `StatefulDataLoader` saves
    the state of this sampler too.

    >>> from samedeal.torch import StepBatchSampler
    >>> from torch.utils.data import DataLoader
    >>> dataset = list(range(10))
    >>> sampler = StepBatchSampler(dataset, global_batch_size=4, epochs=2, seed=42)     # 20 samples: 5 steps
    >>> loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=list)
    >>> seen = [sample for batch in loader for sample in batch]
    >>> len(loader), sorted(seen[:10]) == sorted(seen[10:]) == dataset
    (5, True)
    """

    def __init__(
        self,
        dataset: Any,
        global_batch_size: GlobalBatchSizes,
        *,
        steps: SupportsIndex | None = None,
        epochs: SupportsIndex | None = None,
        order: str | Order | None = None,
        seed: SupportsIndex = 0,
        unit: SupportsIndex | None = None,
        layout: str | None = None,
        rank: SupportsIndex | None = None,
        world_size: SupportsIndex | None = None,
        num_replicas: SupportsIndex | None = None,
        mesh: Any = None,
    ) -> None:
        """Finds the rank of this process. Costs O(1).

        Args:
            dataset: Any object with a `len`, the number of samples.
            global_batch_size: The batch size of all ranks together: a multiple of `world_size` * `unit`. Or a list of
                (from_step, global_batch_size), which begins with step 0, as for `samedeal.Schedule`.
            steps: The number of steps of the whole training, those before a resume included. By default as many as
                `epochs` has. Without both, there is no end, and no `len`. An `EpochWarning` says so if the steps repeat
                samples, and `epochs` is not given.
            epochs: How many epochs the steps may take, 1 or more. More `steps` than these epochs have are an error. By
                default, steps go on with the next epoch, as often as it takes.
            order: One of `samedeal.plain_orders()`; "feistel" by default. Or a `samedeal.Order`, such as a blend: the
                dataset has as many items as the order has sample indices.
            seed: Seed of the order, the same on all ranks. An `Order` has its own.
            unit: As for `samedeal.Schedule`. With `order.copies(k)` and `unit=k`, all copies of a sample are in
                the same batch of the same rank.
            layout: Which samples of a step belong to a rank, as for `samedeal.Schedule`.
            rank: Rank of this process. By default, the rank of the process group or of the launcher's variables
                (`samedeal.detect_rank`).
            world_size: Number of ranks. By default that of the process group, or of the launcher.
            num_replicas: Another name for `world_size`, as `DistributedSampler` has it.
            mesh: For ranks that read the same data: a `samedeal.Mesh`, or the dimensions of a `DeviceMesh` that divide
                the data, such as `mesh["dp"]` or `mesh["dp_replicate", "dp_shard"]`. Rank and world size are then those
                of the mesh.

        Raises:
            SamedealError: A value is not allowed, or contradicts another one, as in `samedeal.Schedule`.
        """
        self.dataset = dataset
        self._order = order if order is None or isinstance(order, Order) else check.name("order", order)
        number = check.seed(seed)
        if isinstance(order, Order) and number:
            raise ContradictionError("seed", str(number), "none with an Order, which has its own")
        # An iterator of sizes can be read only once, so it is stored as a list.
        self._sizes = global_batch_size if isinstance(global_batch_size, (int, Mapping)) else _kept(global_batch_size)
        self._options: dict[str, Any] = {"unit": unit, "layout": layout, "epochs": epochs}
        if not isinstance(order, Order):
            self._options |= {"order": self._order, "seed": number}
        self._shares = mesh is not None
        self._place, self._mesh = place.find(rank, {"world_size": world_size, "num_replicas": num_replicas}, mesh)
        self._step = 0
        self._start_with(self._made())
        most = self._core.num_steps
        allowed = _up_to(most) if epochs is None else _up_to(most, f", as many as {check.shown(epochs)} epochs have")
        self._stop = None if steps is None else check.integer("steps", steps, allowed)
        if epochs is not None:
            self._stop = most if self._stop is None else self._stop
        else:
            self._warn_of_epochs()

    def _warn_of_epochs(self) -> None:
        """Warns of steps that see samples again, unless `epochs` says so."""
        if self._stop is None or self._stop == self._core.num_steps:
            return
        epoch, position = self._core.place_of(self._stop)
        if (epoch, position) > (1, 0):
            epochs = epoch + (position > 0)
            told = (
                f"{self._stop} steps take more than one epoch: samples are seen again from step "
                f"{self._core.step_of(1)} on. If this is meant, pass epochs={epochs}; epochs=1 refuses it"
            )
            warn(told, EpochWarning)

    @property
    def schedule(self) -> Schedule:
        """The `samedeal.Schedule` of this sampler, at its present rank."""
        return self._current()

    @property
    def rank(self) -> int:
        """Number of this data-parallel reader."""
        return self.schedule.rank

    @property
    def world_size(self) -> int:
        """Number of ranks that read different data."""
        return self.schedule.world_size

    @property
    def recipe(self) -> str:
        """The recipe of the schedule, the same on all ranks; `samedeal.Schedule.from_recipe` takes it."""
        return self.schedule.recipe

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it identifies the run."""
        return self.schedule.recipe_fingerprint()

    @property
    def steps(self) -> int | None:
        """The number of steps of the whole training; None if it is endless."""
        return self._stop

    @property
    def step(self) -> int:
        """The step that the next pass begins with. Set it to go on after a pass that you ended before its end."""
        return self._step

    @step.setter
    def step(self, step: SupportsIndex) -> None:
        number = check.integer("step", step, _up_to(self._end()))
        self._moved()
        self._step = number

    @property
    def samples_consumed(self) -> int:
        """How many samples all ranks together have taken since the beginning of the training.

        They are counted up to the step of the state that `state_dict` gives.
        """
        step = json.loads(text_of(self.state_dict()))["step"]
        return self._current().samples_consumed(step)

    @property
    def epoch(self) -> int:
        """The epoch in which the next pass begins."""
        return self.schedule.place_of(self._step).epoch

    @epoch.setter
    def epoch(self, epoch: SupportsIndex) -> None:
        self.set_epoch(epoch)

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Does nothing, because epochs follow from the steps. It exists because frameworks call it before each pass."""
        check.integer("epoch", epoch, check.U64)

    def state_dict(self, taken: SupportsIndex | None = None) -> dict[str, Any]:
        """The state for a checkpoint. It is the same on all ranks, and resumes on any number of ranks.

        Args:
            taken: The number of batches of the newest pass that the training loop took. By default the count of
                `Resumable`; without a `Resumable`, the number that the pass has given. A plain DataLoader with workers
                takes batches ahead of the loop: use `Resumable`, or pass `taken`.

        Raises:
            OutOfRangeError: `taken` is more than the pass has.
        """
        if taken is None:
            return super().state_dict()
        running: Any = self._count or self._pass
        start = self._step if running is None else running.start
        number = check.integer("taken", taken, check.COUNT)
        if number > self._end() - start:
            raise OutOfRangeError("taken", str(number), *check.up_to(self._end() - start))
        return self._with_facts(self._opening().after(start + number), running)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state, with the present number of ranks: the next pass begins with its step.

        The number of ranks may be another one than that of the state, and so may later batch sizes. After an error,
        nothing has changed.

        Raises:
            ContradictionError: The state is of other data, of another order or seed, or of other batch sizes before its
                step.
            WrongTypeError: The value is no state of a schedule.
            OutOfRangeError: The state is too long, or of a step after the last one.
        """
        schedule = self._current()
        self._check_data(state_dict)
        step = schedule.resume(text_of(state_dict))
        if step > self._end():
            raise OutOfRangeError("step", str(step), *check.up_to(self._end()))
        self._moved()
        self._step = step

    @property
    def epoch_length(self) -> int:
        """Number of batches of the whole training, which is one pass: the same as `steps`.

        `len` is the same, except after a resume: `len` then counts the rest.

        Raises:
            TypeError: The training is endless.
        """
        return len(self) + self._step

    def __len__(self) -> int:
        """How many batches the next pass has, the same on every rank.

        Raises:
            TypeError: The training is endless.
        """
        if self._stop is None:
            raise TypeError("a StepBatchSampler without steps=... and epochs=... is endless, and has no len")
        return self._stop - self._step

    def __iter__(self) -> Iterator[list[int]]:
        """One pass over this rank's batches, from `step` on.

        There is an `EpochWarning` if the steps from here on were read before, and neither `step` nor a state was set
        since.
        """
        warn_of_batched_batches(self)
        place.warn_if_alone(self)
        made = _Batches(self, self._begin(), self._step, self._end(), Asking.now(self, 1))
        self._pass = made
        return made

    def __repr__(self) -> str:
        """The sampler in one line: what is dealt, and to which rank."""
        return f"<StepBatchSampler of {self.schedule!r}, step {self._step}>"

    def _end(self) -> int:
        """The step before which passes end."""
        return self._core.num_steps if self._stop is None else self._stop

    def _number(self) -> int:
        return self._step

    @property
    def _is_shuffled(self) -> bool:
        # True also without a shuffle: a repeated pass is warned of only if this is true, and no step should come twice.
        return True

    def _repetition(self) -> str:
        return f"the steps from {self._step} on are given again: set the step of the {type(self).__name__} before"

    def _current(self) -> Schedule:
        self._place = place.current(self._place)
        core = self._core
        if place.data_rank(self._place, self._mesh) != (core.rank, core.world_size):
            self._core = self._made()
        elif (found := length_of(self.dataset)) != core.dataset_size:
            allowed = f"one of {core.dataset_size} items, as many as the order has sample indices"
            raise ContradictionError("dataset", f"one of {found} items", allowed)
        return self._core

    def _made(self, epoch: int = 0) -> Schedule:
        rank, world_size = place.data_rank(self._place, self._mesh)
        found = length_of(self.dataset)
        of = self._order if isinstance(self._order, Order) else found
        made = Schedule(of, self._sizes, rank=rank, world_size=world_size, **self._options)
        if found != made.dataset_size:
            allowed = f"one of {made.dataset_size} items, as many as the Order has sample indices"
            raise ContradictionError("dataset", f"one of {found} items", allowed)
        return made

    def _first(self) -> int:
        return self._step

    def _opening(self) -> Start:
        return _Start(self._current())

    @staticmethod
    def _is_rest(core: Schedule) -> bool:
        return False


class _Start(Start):
    """States of a schedule, after a number of steps of the whole training."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule

    def after(self, taken: int) -> dict[str, Any]:
        """The state before step `taken` of the training."""
        return wrapped(self._schedule.state(taken))

    def ended(self, taken: int) -> dict[str, Any]:
        """The state at the end of the pass. All ranks take the same number of steps."""
        return self.after(taken)


class _Batches(Pass):
    """A pass over the batches of a rank."""

    def __init__(self, owner: StepBatchSampler, schedule: Schedule, start: int, end: int, asking: Asking) -> None:
        self.place = _Start(schedule)
        self.owner, self._schedule = weakref.ref(owner), schedule
        self.asking = asking
        self.start = self.begun = self.taken = start
        self.end = end

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> list[int]:
        if self.taken >= self.end:
            self.tell_end()
            raise StopIteration
        samples: list[int] = self._schedule.batch(self.taken).tolist()
        self.taken += 1
        return samples

    def state_dict(self) -> dict[str, Any]:
        """The state after every rank took as many batches as this pass gave."""
        return self.told(self.place.after(self.taken))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues this pass from a state."""
        self.check_data(state_dict)
        step = self._schedule.resume(text_of(state_dict))
        if step > self.end:
            raise OutOfRangeError("step", str(step), *check.up_to(self.end))
        self.start = self.begun = self.taken = step


def _kept(global_batch_size: Any) -> Any:
    """Batch sizes from an iterable, as a list. Any other value is checked where it is used."""
    if isinstance(global_batch_size, str) or not hasattr(global_batch_size, "__iter__"):
        return global_batch_size
    if isinstance(global_batch_size, Sampler):
        # A sampler may have no end.
        raise WrongTypeError(
            "global_batch_size", check.described(global_batch_size), "a number, or a list of (from, global_batch_size)"
        )
    return check.listed("global_batch_size", global_batch_size)


def _up_to(most: int, words: str = "") -> check.Width:
    allowed, facts = check.between(0, most)
    return check.Width(0, most, allowed + words, facts)
