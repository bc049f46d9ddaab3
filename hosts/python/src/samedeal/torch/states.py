"""The common parts of samplers for a DataLoader: passes, epochs, and states."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, SupportsIndex, TypeVar

from typing_extensions import Self

from .. import Batcher, Sampler, Schedule, WrongTypeError
from ..engine import arguments as check
from ..engine.warn import warn
from .identity import Identity, check_identity, identity_of, with_identity
from .nested import Asking
from .rest import Progress
from .torchdata import part_of

C = TypeVar("C", Sampler, Batcher, Schedule, Progress)
D = TypeVar("D", Sampler, Batcher)


def wrapped(text: str) -> dict[str, Any]:
    """The text of a state in a dictionary, as PyTorch needs it."""
    return {check.STATE_KEY: text}


def text_of(state: Any) -> str:
    """The text of a state in a dictionary that `wrapped` made, or in a dictionary of torchdata that contains one.

    Raises:
        WrongTypeError: There is no state in the value.
        ContradictionError: The dictionary is one of torchdata, and does not count the last batches that the training
            loop got.
    """
    state = part_of(state)
    if not isinstance(state, Mapping) or not isinstance(text := state.get(check.STATE_KEY), str):
        allowed = f"what state_dict gave: a dictionary with {check.STATE_KEY!r}{check.elsewhere(state)}"
        raise WrongTypeError("state", check.described(state), allowed)
    return text


class EpochWarning(UserWarning):
    """An epoch is read twice, because `set_epoch` was forgotten, or the rest of an epoch is not read after a resume.

    All samplers and datasets of this package have one rule: the warning comes if a pass begins although another pass of
    the same epoch was read since the last `set_epoch` or `load_state_dict`, to its end or further than its first batch.
    (Batches that loader workers fetch ahead do not count.) It comes once. Orders without a shuffle may be read again.
    The steps of a `StepBatchSampler` count as an epoch; set its `step` before another pass. A new `StepBatchSampler`
    also gives this warning if its steps take more than one epoch, unless `epochs` says so.
    """


class StepsWarning(UserWarning):
    """Ranks have different numbers of steps, a reader has no rows, or batches of some ranks are empty.

    A loop that synchronises its ranks would hang.
    """


class StateWarning(UserWarning):
    """A state counts batches that the training loop did not get, and which would be lost at a resume."""


def is_shuffled(order: Mapping[str, Any]) -> bool:
    """Whether the epochs of an order, given as the section of a recipe, differ."""
    inner = order.get("of")
    return is_shuffled(inner) if isinstance(inner, Mapping) else order.get("name") != "sequential"


def warn_of_earlier_epoch(set_before: int, epoch: int) -> None:
    """Warns that a pass gives the rest of an earlier epoch, because its state was loaded after `set_epoch`."""
    told = (
        f"epoch {set_before} was set, and then a state of epoch {epoch} was loaded: this pass gives only the rest of "
    )
    advice = f"epoch {epoch}: call set_epoch({epoch}) for it, and set_epoch({set_before}) before another pass"
    warn(told + advice, EpochWarning)


class Place(Generic[D]):
    """The sampler and its configuration at the beginning of a pass."""

    def __init__(self, core: D) -> None:
        self.core: D = core
        self.config: Any = core._engine.config

    def state(self, taken: int) -> str:
        """The state after every rank took `taken` samples or steps from this place."""
        text: str | None = self.core._engine.use(_state, self.config, taken)
        if text is not None:
            return text
        # The object was moved to another epoch; a copy with the old configuration answers.
        return self.twin().state(taken)

    def twin(self) -> D:
        """A copy of the object with the configuration of this pass."""
        twin: D = copy.copy(self.core)
        twin._engine.config = self.config
        return twin

    def is_over(self, taken: int) -> bool:
        """Whether nothing is left after `taken` steps. Does not plan the whole epoch."""
        return not self.here()._has_step(taken)

    def num_steps(self) -> int:
        """The number of steps from this place to the end of the epoch."""
        found: int = self.here().num_steps
        return found

    def here(self) -> Any:
        """The object itself, or a copy at this place if the object was moved."""
        return self.core if self.core._engine.config == self.config else self.twin()

    def after(self, taken: int) -> dict[str, Any]:
        """The result of `state` in a dictionary, as PyTorch needs it."""
        return wrapped(self.state(taken))

    def ended(self, taken: int) -> dict[str, Any]:
        """The state after the end of the pass. All ranks take the same number of samples or steps."""
        return self.after(taken)


def _state(resource: Any, config: Any, taken: int) -> str | None:
    found: str | None = resource.state(taken) if resource.current == config else None
    return found


class Start(Protocol):
    """The place at which a pass began."""

    def after(self, taken: int) -> dict[str, Any]:
        """The state after every rank took `taken` samples or steps from there."""

    def ended(self, taken: int) -> dict[str, Any]:
        """The state after the pass ended on every rank. `taken`: how many samples or steps it gave on this rank."""


class Pass:
    """A pass that is under way."""

    place: Start
    owner: Callable[[], Any]
    """A weak reference to the sampler. The sampler refers to its newest pass: a cycle would keep the dataset until a
    garbage collection."""
    asking = Asking()
    """Facts about the caller that began the pass."""
    begun: int
    """The value of `taken` when the pass began."""
    taken: int
    """How many samples or steps after `place` were taken so far: those that were left out at first, and those given."""
    end: int
    """The value of `taken` at the end of the pass."""
    identity: Identity | None = None
    """The identity of the dataset, once a state of this pass was asked for."""

    def state_dict(self) -> dict[str, Any]:
        """The state after every rank took as much as the pass gave."""
        raise NotImplementedError

    def told(self, state: dict[str, Any]) -> dict[str, Any]:
        """A state with the identity of the dataset, for loaders of torchdata, which do not ask the sampler."""
        owner = self.owner()
        return state if owner is None else owner._with_identity(state, self)

    def check_data(self, state_dict: Any) -> None:
        """Raises if a state is of another dataset than that of the sampler."""
        if (owner := self.owner()) is not None:
            owner._check_data(state_dict)

    def tell_end(self) -> None:
        """Informs the sampler that the pass gave all its items."""
        if (owner := self.owner()) is not None:
            owner._ended(self)


class OwnPlace(Pass):
    """A pass that is itself the place where it began."""

    @property
    def place(self) -> Any:  # type: ignore[override]
        """The place at which the pass began."""
        # A property, since an object that refers to itself is freed by the garbage collector only.
        return self


class Count:
    """How many batches of a pass the training loop got."""

    def __init__(
        self,
        place: Start,
        start: int,
        batch: int,
        end: int | None,
        length: int | None,
        moves: int,
        fullest: tuple[int, int] | None,
    ) -> None:
        self.place = place
        self._plan: Any = place
        self.moves = moves
        """How often the sampler had been moved when the pass began."""
        self.start = start
        self.batch = batch
        """How many samples each batch takes; 1 if the sampler deals batches."""
        self.end = end
        """The value of `taken` at the end of the pass; None if it would have to be planned."""
        self._length = length
        self.identity: Identity | None = None
        """The identity of the dataset, once a state of this pass was asked for."""
        self.fullest = fullest
        """`end` and number of batches of the pass on the rank with most samples. That pass may end after this one."""
        self.steps = 0
        self.ended = False
        self.opening = True
        """Whether a loader is about to begin passes of the sampler. Some loaders begin two, and use the second one."""
        self.expected = True
        """Whether the pass that the loader uses is still to begin."""

    @property
    def over(self) -> bool:
        """Whether the loop got all batches."""
        # A pass without batches is over when the loop has ended.
        if self.ended or self.steps == 0:
            return self.ended
        if self._length is None:
            return bool(self._plan.is_over(self.start + self.steps))
        return self._length <= self.steps

    @property
    def length(self) -> int:
        """How many batches the pass has."""
        return int(self._plan.num_steps() - self.start) if self._length is None else self._length

    def state_dict(self, batches: int | None = None) -> dict[str, Any]:
        """The state after every rank took as many batches as the loop got; after the end of the loop, all batches.

        `batches`: how many batches to count, if not all that the loop got.
        """
        steps = self.steps if batches is None else batches
        if self.end is None or self.fullest is None:
            return self.place.after(self.start + steps)
        if self.ended and steps == self.steps:
            return self.place.ended(self.end)
        end, length = self.fullest
        return self.place.after(end if 0 < length <= steps else min(self.start + steps * self.batch, end))


class Resuming(Generic[C]):
    """A sampler that counts its passes, and continues from a state.

    The first pass after `load_state_dict` gives the rest of the epoch. Later passes are whole epochs.
    """

    _core: C
    _pass: Pass | None
    """The newest pass of this epoch."""
    _count: Count | None
    """The count of the batches that the loop got, if a `Resumable` counts them."""
    _over: bool
    _later: int | None
    """The epoch that was set before a state of an earlier epoch was loaded. It follows the rest of that epoch."""
    _moves: int
    """How often another epoch or state was set. A `Count` with another number is of an earlier epoch or state."""
    _read: int | None
    """The epoch of a pass that was read since the last epoch or state was set; None if no pass was read."""
    _repeats: bool
    """Whether the warning was given that this epoch is read again."""
    _warns = True
    """Whether a pass warns if the rank is unknown: only once, and not if a framework has set the rank."""

    def _start_with(self, core: C) -> None:
        self._core, self._moves, self._later = core, 0, None
        self._read, self._repeats = None, False
        self._forget()

    def _forget(self) -> None:
        self._pass = self._count = None
        self._over = False

    def _moved(self) -> None:
        self._moves += 1
        self._later = self._read = self._pass = self._count = None
        self._repeats = self._over = False

    def _note(self) -> None:
        """Remembers whether the newest pass was read: further than one batch, or to its end."""
        count, one = self._count, self._pass
        if count is not None:
            read = count.steps > 1 or (count.steps == 1 and count.over)
        elif one is not None:
            given, look = one.taken - one.begun, one.asking.look
            read = (look is not None and given > look) or (self._over and given > 0 and not one.asking.ahead)
        else:
            return
        if read:
            self._read = self._number()

    def _number(self) -> int:
        """The number that passes with the same samples have in common: the epoch, unless a subclass has another one."""
        return self.epoch

    def _warn_of_repetition(self) -> None:
        """Warns once if a pass begins although another pass of the same epoch was read."""
        if self._read is None or self._read != self._number() or self._repeats or not self._is_shuffled:
            return
        self._repeats = True
        warn(self._repetition(), EpochWarning)

    @property
    def _is_shuffled(self) -> bool:
        """Whether epochs differ."""
        core: Any = self._core
        return is_shuffled(json.loads(core.recipe)["order"])

    def _repetition(self) -> str:
        advice = f"call set_epoch(epoch) of the {type(self).__name__} before each pass"
        return f"epoch {self._number()} is read again, in the same order: {advice}"

    def _current(self) -> C:
        """The dealing object, for the rank and the data as they are now."""
        raise NotImplementedError

    def _made(self, epoch: int) -> C:
        """A new dealing object, for a whole epoch."""
        raise NotImplementedError

    def _first(self) -> int:
        """How many samples or steps a pass leaves out at its beginning."""
        return 0

    def _opening(self) -> Start:
        """The place at which the next pass begins."""
        core: Any = self._upcoming()
        return Place(core)

    def _go_on(self, core: C, state: Any) -> None:
        """Moves the dealing object to the place of a state."""
        known: Any = core
        self._check_data(state)
        known.resume(text_of(state))

    def _with_facts(
        self, state: dict[str, Any], running: Count | Pass | None, batch_size: int | None = None
    ) -> dict[str, Any]:
        """The state with facts about its data and the ranks that took it. `running` is the pass it was taken in."""
        return self._with_identity(state, running)

    def _with_identity(self, state: dict[str, Any], running: Count | Pass | None) -> dict[str, Any]:
        """The state with the identity of the dataset, which is found once for each pass."""
        found = None if running is None else running.identity
        if found is None:
            # Samplers without a dataset deal by lengths or files, which the text of the state identifies.
            found = identity_of(getattr(self, "dataset", None))
        if running is not None:
            running.identity = found
        return with_identity(state, found)

    def _check_data(self, state: Any) -> None:
        """Raises if the state is of another dataset."""
        check_identity(state, getattr(self, "dataset", None))

    @staticmethod
    def _is_rest(core: C) -> bool:
        """Whether a part of the epoch was taken before."""
        raise NotImplementedError

    def _is_empty(self, core: C) -> bool:
        """Whether nothing of the epoch is left on any rank."""
        raise NotImplementedError

    def _whole(self) -> C:
        """The dealing object of the whole epoch that comes next."""
        core = self._upcoming()
        known: Any = core
        return self._made(known.epoch) if self._is_rest(core) else core

    @property
    def epoch(self) -> int:
        """The epoch of the next pass."""
        core: Any = self._core
        found: int = core.epoch
        return found

    @epoch.setter
    def epoch(self, epoch: SupportsIndex) -> None:
        self.set_epoch(epoch)

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Sets the epoch; call it before each pass.

        If it is the epoch of a state that was loaded, the rest of that epoch stays.
        """
        number = check.u64("epoch", epoch)
        self._later = None
        core: Any = self._core
        if number != core.epoch:
            if self._is_rest(core) and self._is_unread() and not self._is_empty(core):
                told = f"what a state had left of epoch {core.epoch} is forgotten, and none of it was read: "
                advice = "begin with that epoch, such as in range(loader.epoch, epochs)"
                warn(told + advice, EpochWarning)
            core.set_epoch(number)
            self._moved()
        elif self._is_through():
            self._upcoming()
            self._moved()

    def _read_anew(self) -> None:
        """Forgets the passes since the epoch or the state was set, because not the training but a search read them."""
        self._moves += 1
        self._read, self._repeats = None, False
        self._forget()

    def _rewind(self, epoch: int) -> None:
        """Moves to the beginning of an epoch. A rest of an epoch, from a loaded state, is dropped without a warning."""
        core: Any = self._core
        if isinstance(core, Progress):
            core.set_epoch(epoch)
        else:
            # Not by `set_epoch`, which keeps the rest if the epoch is the same.
            core._engine.ask_and_set(lambda where: where.whole(epoch))
        self._moved()

    def _in_epoch(self, epoch: int) -> Self:
        """A copy that deals the whole of an epoch."""
        twin = copy.copy(self)
        twin._rewind(epoch)
        return twin

    def state_dict(self, taken: SupportsIndex | None = None) -> dict[str, Any]:
        """The state for a checkpoint. It is the same on all ranks, and resumes on any number of ranks.

        Args:
            taken: How much of the newest pass the training loop took: the number of samples of this rank, or of batches
                of a `BatchSampler`. By default, the count of `Resumable`; without a `Resumable`, the number that the
                pass has given. A plain DataLoader with workers takes batches ahead of the loop: use `Resumable`, or
                pass `taken`.

        Raises:
            OutOfRangeError: `taken` is more than the pass has.
        """
        running = self._count or self._pass
        if taken is None and self._count is None and self._pass is not None and self._pass.asking.is_ahead(self._over):
            told = (
                "workers of the DataLoader have fetched batches that the loop did not get, and this state counts them"
            )
            warn(f"{told}: wrap the loader in Resumable, or pass taken=", StateWarning)
        if taken is not None:
            return self._state_after(check.integer("taken", taken, check.U64))
        found = self._opening().after(self._first()) if running is None else running.state_dict()
        return self._with_facts(found, running)

    def _state_after(self, taken: int, batch_size: int | None = None) -> dict[str, Any]:
        """The state after the training loop took `taken` samples or batches of the newest pass.

        `batch_size`: how many samples of this rank made a batch, if that is known.
        """
        running = self._count or self._pass
        place: Start = self._opening() if running is None else running.place
        return self._with_facts(place.after(self._first() + taken), running, batch_size)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state, with the present number of ranks: the next pass gives the rest of its epoch.

        After an error, nothing has changed.

        Raises:
            ContradictionError: The state is of other data, or of another order or seed.
            WrongTypeError: The value is no state of a sampler.
            OutOfRangeError: The state is too long, or has more samples than there are.
        """
        core: Any = self._current()
        before = core.epoch
        self._go_on(core, state_dict)
        self._moved()
        if core.epoch < before:
            # StatefulDataLoader loads a state when a pass begins, after `set_epoch`. The epoch that was set comes next.
            self._later = before

    def _is_unread(self) -> bool:
        """Whether nothing was read of this epoch since a state was loaded."""
        return self._pass is None and self._count is None

    def _is_through(self) -> bool:
        return self._over if self._count is None else self._count.over

    def _gives_rest(self) -> bool:
        """Whether the next pass, or the one that is under way, gives the rest of an epoch after a state."""
        return (self._is_rest(self._core) or self._first() > 0) and not self._is_through()

    def _is_before_another(self, core: C) -> bool:
        """Whether a state was loaded after `set_epoch`, and is of the end of an earlier epoch."""
        return self._later is not None and self._is_empty(core)

    def _upcoming(self) -> C:
        """The dealing object of the next pass."""
        core: Any = self._core
        if self._is_rest(core) and (self._is_through() or self._is_before_another(core)):
            # A new object: states may still be taken from the last pass, which refers to the old one.
            self._core = self._made(core.epoch if self._later is None else self._later)
            self._later = None
        return self._current()

    def _begin(self) -> C:
        """The dealing object of the pass that begins now; called by `__iter__`."""
        count = self._count
        if count is not None or self._pass is not None:
            self._note()
        if count is not None and not count.expected:
            count = None
        core = self._upcoming() if count is None else self._core
        if self._later is not None:
            warn_of_earlier_epoch(self._later, self.epoch)
        self._pass, self._count, self._over = None, count, False
        if count is not None:
            count.expected = count.opening
        if self._read is not None:
            self._warn_of_repetition()
        return core

    def _ended(self, one: Pass) -> None:
        """Called by a pass that has given all its items."""
        if one is self._pass:
            self._over = True

    def _expect(
        self,
        start: int,
        batch: int,
        end: int | None = None,
        length: int | None = None,
        fullest: tuple[int, int] | None = None,
    ) -> Count:
        """Begins the count of the batches that a loop gets of the next pass."""
        place = self._opening()
        self._note()
        self._forget()
        if fullest is None and end is not None and length is not None:
            fullest = end, length
        self._count = Count(place, start, batch, end, length, self._moves, fullest)
        return self._count

    def __getstate__(self) -> dict[str, Any]:
        """The attributes for pickle and copy: with a copy of the dealing object, without the pass that is under way."""
        return {**self.__dict__, "_core": copy.copy(self._core), "_pass": None, "_count": None}
