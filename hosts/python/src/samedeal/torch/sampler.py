"""PyTorch's sampler for distributed training, with more orders, and with states."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Generic, SupportsIndex

import torch
from torch.utils.data import DistributedSampler as _Original

# PyTorch depends on `typing_extensions`. `TypeVar` of `typing` has defaults only from Python 3.13 on.
from typing_extensions import TypeVar

from .. import ContradictionError, Order, Place, SamedealError, Sampler
from ..engine import arguments as check
from . import place
from .indices import Cursor, Indices, Opening
from .nested import Asking
from .sized import length_of
from .states import Count, Pass, Resuming, Start, text_of
from .torchdata import part_of

T_co = TypeVar("T_co", covariant=True, default=int)
"""The type that a subclass gives, as with the class of PyTorch; this class gives indices."""

_REMAINDERS = ("pad", "drop", "uneven")
TORCH = "torch" if torch.__version__ >= (2, 6) else "torch-2.5"
"""The order of the PyTorch that is installed: `randperm` of PyTorch changed with version 2.6."""


class DistributedSampler(Resuming[Sampler], _Original[T_co], Generic[T_co]):
    """`torch.utils.data.DistributedSampler` with less memory and with states: the same parameters, the same indices.

    The order is that of the installed PyTorch version. `order="feistel"`, which PyTorch does not have, needs no table,
    so an epoch of any length begins at once. If there is a process group, its rank is used; otherwise the rank of the
    launcher's variables; without both, this is rank 0 of 1, until there is a process group, and the first pass gives a
    `RankWarning`. A pass belongs to the epoch in which it began, and several passes can run at the same time. The
    dataset may change its length between passes. After `load_state_dict`, the next pass and the lengths are those of
    the rest of the epoch.

    Subclasses that were written for PyTorch's class work: `rank`, `num_replicas`, `num_samples` and `total_size` can be
    set. A new rank is used from the next pass on. `len` returns the number of samples that was set, and a pass of this
    class raises an error if it gives another number. A subclass that needs another number has its own `__iter__`; such
    a subclass has no states.
    """

    # Defaults for subclasses that do not call `__init__`, as some subclasses of PyTorch's class do not.
    dataset: Any = None
    _order: str | Order | None = None
    _unit: int | None = None
    _uneven = False
    """Whether ranks may have different numbers of samples."""
    _mesh: Any = None
    _layout: str | None = None
    """The layout of the `samedeal.Sampler`; used only with an `Order`."""
    _shares = False
    """Whether there is a mesh, so that several ranks may read the same samples."""
    _place = place.Place(0, 1, explicit=True)
    _followed: tuple[Any, ...] = ()
    """The dealing sampler and the values of `_follows` for which it was made, to find changes before a pass."""
    _pass: Pass | None = None
    _count: Any = None
    _over = False
    _samples_set: int | None = None
    """The value of `num_samples` that a caller set; forgotten once a check finds that as many samples are dealt."""
    _total_set: int | None = None
    """The value of `total_size` that a caller set; forgotten once a check finds that as many samples are dealt."""

    _taken_by: Mapping[str, Any] | None = None
    """The facts in the loaded state about the ranks that took it."""

    def __init__(
        self,
        dataset: Any,
        num_replicas: SupportsIndex | None = None,
        rank: SupportsIndex | None = None,
        shuffle: bool = True,
        seed: SupportsIndex = 0,
        drop_last: bool = False,
        *,
        order: str | Order | None = None,
        unit: SupportsIndex | None = None,
        mesh: Any = None,
        remainder: str | None = None,
    ) -> None:
        """Finds the rank of this process. Costs O(1).

        Args:
            dataset: Any object with a `len`, the number of samples.
            num_replicas: Number of ranks. By default that of the process group, or of the launcher.
            rank: Rank of this process. By default that of the process group, or of the launcher.
            shuffle: Whether samples are shuffled, in another order in each epoch.
            seed: Seed of the order, -2**63 to 2**64 - 1, the same on all ranks. A seed n from 2**63 on is stored as n -
                2**64, which gives the same order. An `Order` has its own seed.
            drop_last: What happens if the number of ranks does not divide the samples: True leaves out the last
                samples, False repeats the first ones.
            order: One of `samedeal.plain_orders()`. By default "torch", or "torch-2.5" if PyTorch is older than 2.6;
                without `shuffle`, "sequential". Or a `samedeal.Order`, such as a blend: the dataset has as many items
                as the order has sample indices (`torch.utils.data.ConcatDataset` has the items of all sources), and
                the length of a pass is that of the order.
            unit: As for `samedeal.Sampler`. With `order.copies(k)` and `unit=k`, all copies of a sample are on one
                rank. Batches whose size is a multiple of `unit` have whole groups. States are taken after whole units.
            mesh: For ranks that read the same data: a `samedeal.Mesh`, or the dimensions of a `DeviceMesh` that divide
                the data, such as `mesh["dp"]` or `mesh["dp_replicate", "dp_shard"]`. Rank and number of ranks are then
                those of the mesh.
            remainder: Replaces `drop_last`: "pad" (as `drop_last=False`), "drop" (as `drop_last=True`) or "uneven".
                With "uneven", each sample comes exactly once, and some ranks have one sample (or unit) more.
                Use it for an evaluation in which no rank waits for another one at each step.

        Raises:
            MissingError: Only one of `rank` and `num_replicas` is given, and neither a process group nor a launcher has
                the other one.
            SamedealError: A value is not allowed, or contradicts another one.
        """
        # Not by `__init__` of PyTorch's class, which needs a process group and sets attributes that are computed here.
        self.dataset = dataset
        self.shuffle = check.boolean("shuffle", shuffle)
        self.seed = check.seed(seed)
        self.drop_last = check.boolean("drop_last", drop_last)
        if remainder is not None:
            asked = check.enum("remainder", remainder, _REMAINDERS)
            if self.drop_last and asked != "drop":
                raise ContradictionError("remainder", asked, '"drop", or none, where drop_last is True')
            self.drop_last, self._uneven = asked == "drop", asked == "uneven"
        self._order = order if order is None or isinstance(order, Order) else check.name("order", order)
        self._unit = None if unit is None else check.integer("unit", unit, check.U32_FROM_1)
        if isinstance(order, Order) and self.seed:
            raise ContradictionError("seed", str(self.seed), "none with an Order, which has its own")
        if not self.shuffle and not isinstance(order, Order) and self._order not in (None, "sequential"):
            raise ContradictionError("order", check.shown(order), '"sequential", or none, where shuffle is False')
        self._shares = mesh is not None
        self._place, self._mesh = place.find(rank, {"num_replicas": num_replicas}, mesh)
        self._start_with(self._made(0))
        self.seed = self._core.seed
        self._followed = self._core, *self._follows(self._core.dataset_size)

    @property
    def order(self) -> str:
        """Name of the order."""
        if isinstance(self._order, Order):
            return self._core.order
        if self._order is not None:
            return self._order
        return TORCH if self.shuffle else "sequential"

    @property
    def recipe(self) -> str:
        """The recipe of this sampler, the same on all ranks and in all epochs; `samedeal.Sampler.from_recipe` takes it.

        The recipe depends on the dataset: another number of samples gives another recipe.
        """
        return self._current().recipe

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it identifies the run."""
        return self._current().recipe_fingerprint()

    @property
    def unit(self) -> int:
        """The option `unit`; 1 by default."""
        return 1 if self._unit is None else self._unit

    @property
    def samples_consumed(self) -> int:
        """How many positions of the epoch all ranks together have taken, before a resume and since.

        It is the number in the state that `state_dict` gives. If the loader is in a `Resumable`, it counts the samples
        that the training loop got, and otherwise the samples that the newest pass has given. It goes back to 0 with the
        next epoch. After the last sample of the epoch, it is the number of positions of the epoch, without padding.

        >>> from samedeal.torch import DistributedSampler
        >>> sampler = DistributedSampler(range(10), num_replicas=2, rank=0)
        >>> samples = iter(sampler)
        >>> _ = next(samples), next(samples), next(samples)
        >>> sampler.samples_consumed
        6
        """
        found: int = json.loads(text_of(self.state_dict()))["consumed"]
        return found

    @property
    def rank(self) -> int:
        """Number of this data-parallel reader."""
        return self._reader()[0]

    @rank.setter
    def rank(self, rank: SupportsIndex) -> None:
        ranks = self._reader()[1]
        self._place_at(check.one_of("rank", rank, ranks), ranks)

    @property
    def num_replicas(self) -> int:
        """Number of ranks that read different data."""
        return self._reader()[1]

    @num_replicas.setter
    def num_replicas(self, num_replicas: SupportsIndex) -> None:
        self._place_at(self._reader()[0], check.integer("num_replicas", num_replicas, place.RANKS))

    @property
    def num_samples(self) -> int:
        """Number of samples of the next pass, padding included; the same as `len`."""
        return len(self._upcoming()) if self._samples_set is None else self._samples_set

    @num_samples.setter
    def num_samples(self, num_samples: SupportsIndex) -> None:
        self._samples_set = check.integer("num_samples", num_samples, check.COUNT)

    @property
    def total_size(self) -> int:
        """Number of samples of the next pass on all ranks together."""
        return self._upcoming().num_positions if self._total_set is None else self._total_set

    @total_size.setter
    def total_size(self, total_size: SupportsIndex) -> None:
        self._total_set = check.integer("total_size", total_size, check.COUNT)

    @property
    def epoch_length(self) -> int:
        """Number of samples of a whole epoch on this rank, padding included.

        `len` is the same, except after a resume: `len` then counts the rest.
        """
        return len(self._whole())

    @property
    def num_padding(self) -> int:
        """How many samples at the end of this rank's next pass are padding, which repeats samples."""
        return self._dealt().num_padding

    @property
    def num_dropped(self) -> int:
        """How many samples no rank gets in this epoch, because of `drop_last`: a number of all ranks together."""
        return self._dealt().num_dropped

    def locate(self, sample: SupportsIndex, batch_size: SupportsIndex) -> Place | None:
        """When and on which rank a sample is seen first, in the next pass or in the passes of the other ranks.

        None if it is dropped, or was read before the state that was loaded and does not come again as padding. For
        `drop_last` of the loader, and for the cost, see `samedeal.Sampler.locate`.

        >>> from samedeal.torch import DistributedSampler
        >>> sampler = DistributedSampler(range(1000), num_replicas=4, rank=0, order="feistel")
        >>> place = sampler.locate(123, batch_size=32)
        >>> place.rank, place.batch, place.index_in_batch
        (1, 2, 25)
        """
        return self._dealt().locate(sample, batch_size)

    def fingerprint(self) -> str:
        """SHA-256 over the samples of the next pass, in hexadecimal, as `samedeal.Sampler.fingerprint`.

        Different ranks have different fingerprints. If two runs read the same data, the same rank has equal
        fingerprints.
        """
        return self._dealt().fingerprint()

    def as_sampler(self) -> Sampler:
        """A `samedeal.Sampler` that deals the same as the next pass, for the methods that this class does not have.

        This is a copy: to move the copy to another epoch or rank does not change this sampler. If the order has a
        table, the copy builds its own: keep the copy for several questions.

        >>> from samedeal.torch import DistributedSampler
        >>> ranks = DistributedSampler(range(1000), num_replicas=4, rank=0, order="feistel").as_sampler()
        >>> for rank in range(4):                    # batch 7 of each rank
        ...     ranks.set_rank(rank)
        ...     print(ranks.batch(7, batch_size=32)[:3].tolist())
        [441, 611, 7]
        [986, 668, 375]
        [947, 721, 513]
        [908, 470, 116]
        """
        return copy.copy(self._dealt())

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Sets the epoch; call it before each pass.

        If it is the epoch of a state that was loaded, the rest of that epoch stays.
        """
        core = self._core
        known = core._engine.config
        if type(epoch) is not int or epoch == known.epoch or known.consumed:
            super().set_epoch(epoch)
        else:
            # The usual case, before nearly every pass: from one whole epoch to another.
            core.set_epoch(epoch)
            self._moved()

    def __len__(self) -> int:
        """How many samples the next pass gives, the same on every rank unless `remainder` is "uneven"."""
        return self.num_samples

    def __iter__(self) -> Iterator[Any]:
        """One pass over this rank's samples.

        Raises:
            ContradictionError: `num_samples` or `total_size` was set, and is not what is dealt.
            OutOfRangeError: A rank was set that is not below `num_replicas`.
        """
        if self._samples_set is not None or self._total_set is not None:
            self._check_counts()
        if self._warns and not self._place.told:
            place.warn_if_alone(self)
        # Right after `set_epoch` to a whole epoch there is no earlier pass, so `_begin` is not needed.
        is_new = self._pass is self._count is self._read is self._later is None
        core = self._current() if is_new and not self._core._engine.config.consumed else self._begin()
        cursor = self._pass = Cursor(self, core, Asking.now(self, None))
        if cursor.end == 0:
            # An empty pass ends here: a loader may go on to the next epoch without asking for an item.
            self._ended(cursor)
        return Indices.of(cursor)

    def __repr__(self) -> str:
        """The sampler in one line: what is dealt, and to which rank."""
        try:
            return f"DistributedSampler({self._current()!r})"
        except SamedealError as error:
            return f"<DistributedSampler that deals nothing: {error}>"

    @functools.cached_property
    def _core(self) -> Sampler:  # type: ignore[override]
        """The dealing sampler, which `__init__` sets; in a subclass that does not call it, an empty sampler."""
        self._start_with(Sampler(0))
        found: Sampler = self.__dict__["_core"]
        return found

    def _reader(self) -> tuple[int, int]:
        """The number of this data-parallel reader, and how many of them there are."""
        self._place = place.current(self._place)
        return place.data_rank(self._place, self._mesh)

    def _place_at(self, rank: int, num_replicas: int) -> None:
        # Whether rank and num_replicas fit together is checked on use: a caller may set one after the other.
        self._place, self._mesh = place.Place(rank, num_replicas, explicit=True), None

    def _dealt(self) -> Sampler:
        """The sampler that deals the next pass. Raises an error if a subclass deals another number of samples."""
        self._check_counts()
        return self._upcoming()

    def _check_counts(self) -> None:
        """Raises if a number of samples was set that is not dealt; otherwise forgets the set numbers."""
        if self._samples_set is None and self._total_set is None:
            return
        core = self._upcoming()
        for field, given, dealt in (
            ("num_samples", self._samples_set, len(core)),
            ("total_size", self._total_set, core.num_positions),
        ):
            if given not in (None, dealt):
                own = "a subclass that deals another number needs an __iter__ of its own, and has no states"
                allowed = f"{dealt}, as many as are dealt; {own}"
                raise ContradictionError(field, str(given), allowed)
        # Both numbers follow the dataset and the rank again.
        self._samples_set = self._total_set = None

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state, with the present number of ranks: the next pass gives the rest of its epoch.

        After an error, nothing has changed.

        Raises:
            ContradictionError: The state is of other data, or of another order or seed; or the subclass deals another
                number of samples.
            WrongTypeError: The value is no state of a sampler.
            OutOfRangeError: The state is too long, or has more samples than there are.
        """
        self._check_counts()
        super().load_state_dict(state_dict)
        taken_by = part_of(state_dict).get(check.TAKEN_BY)
        self._taken_by = taken_by if isinstance(taken_by, Mapping) else None

    def _moved(self) -> None:
        super()._moved()
        self._taken_by = None

    def _with_facts(
        self, state: dict[str, Any], running: Count | Pass | None, batch_size: int | None = None
    ) -> dict[str, Any]:
        state, taken_by = super()._with_facts(state, running), self._taken_by
        place = None if running is None else running.place
        if isinstance(place, Opening):
            group = {"world_size": place.core.world_size}
            batch_size = running.batch if isinstance(running, Count) else batch_size
            if batch_size is not None:
                group["batch_size"] = batch_size
            taken_by = {**group, "from": self._begun_by(group, place.config.consumed)}
        return state if taken_by is None else {**state, check.TAKEN_BY: taken_by}

    def _begun_by(self, group: Mapping[str, int], consumed: int) -> int:
        """The position at which this group of ranks began, for the facts beside a state.

        If the loaded state was taken by an equal group, this is the position of that group, and otherwise `consumed`.
        So a rank that was restarted writes the same facts as the others.
        """
        before = self._taken_by or {}
        found = before.get("from")
        if consumed and isinstance(found, int) and 0 <= found <= consumed and before == {**group, "from": found}:
            return found
        return consumed

    def _opening(self) -> Start:
        self._check_counts()
        return Opening(self._upcoming())

    def _current(self) -> Sampler:
        # The usual case, since this is called before each pass: nothing has changed.
        core = self._core
        if (follows := (core, *self._follows(length_of(self.dataset)))) == self._followed:
            return core
        known = core.dataset_size, core.seed, core.order, core.remainder, core.rank, core.world_size
        if (found := (follows[1], self.seed, self.order, *self._deal())) != known:
            if isinstance(self._order, Order):
                if self.seed != core.seed:
                    raise ContradictionError("seed", str(self.seed), f"{core.seed}, that of the Order")
            elif core.consumed and core.dataset_size != found[0]:
                taken = f"of which {core.consumed} were taken before: the dataset changed its length"
                raise ContradictionError("samples", str(found[0]), f"{core.dataset_size}, {taken}")
            core = self._core = self._made(core.epoch, core.consumed)
        self._followed = core, *follows[1:]
        return core

    def _follows(self, samples: int) -> tuple[Any, ...]:
        """The values that a caller may change between two passes, the number of samples first."""
        place = self._place
        reader = place[:2] if place.explicit and self._mesh is None else self._reader()
        return samples, self.seed, self._order, self.shuffle, self.drop_last, self._uneven, reader

    def _deal(self) -> tuple[str, int, int]:
        rank, world_size = self._reader()
        return "drop" if self.drop_last else "uneven" if self._uneven else "pad", rank, world_size

    def _made(self, epoch: int, consumed: int = 0) -> Sampler:
        samples = length_of(self.dataset)
        remainder, rank, world_size = self._deal()
        place: dict[str, Any] = {"epoch": epoch, "consumed": consumed, "rank": rank, "world_size": world_size}
        place["unit"] = self._unit
        if not isinstance(self._order, Order):
            return Sampler(samples, seed=self.seed, order=self.order, remainder=remainder, **place)
        made = Sampler(order=self._order, remainder=remainder, layout=self._layout, **place)
        if samples != made.dataset_size:
            allowed = f"one of {made.dataset_size} items, as many as the Order has sample indices"
            raise ContradictionError("dataset", f"one of {samples} items", allowed)
        return made

    @staticmethod
    def _is_rest(core: Sampler) -> bool:
        found: bool = core._engine.config.consumed > 0
        return found

    def _is_empty(self, core: Sampler) -> bool:
        return core.num_positions == 0

    def __getstate__(self) -> dict[str, Any]:
        """The attributes without `_followed`, which would pickle the dealing sampler a second time."""
        return {**super().__getstate__(), "_followed": ()}
