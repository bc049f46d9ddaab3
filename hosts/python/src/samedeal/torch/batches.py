"""Batches of sequences of different length for a DataLoader."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import json
import os
import re
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, SupportsIndex

from torch.utils.data import Sampler

from .. import (
    Batch,
    Batcher,
    ContradictionError,
    Metrics,
    MissingError,
    OutOfRangeError,
    SamedealError,
    WrongTypeError,
)
from ..batch.index import text_of as text_of_index
from ..batch.lengths import Lengths, is_numbers
from ..engine import arguments as check
from ..engine.warn import warn
from . import place
from .nested import Asking, warn_of_batched_batches
from .parts import parts_of
from .states import OwnPlace, Place, Resuming, StepsWarning, text_of, wrapped

_FEW = 10
"""The most columns that an error names."""


class BatchSampler(Resuming[Batcher], Sampler[list[Any]]):
    """Batches for `DataLoader(dataset, batch_sampler=...)`: the list of the samples in each batch of a `Batcher`.

    Every rank gets the same number of batches, with similar lengths and costs. Do not use a `DistributedSampler` in
    addition. If there is a process group, its rank is used; otherwise the rank of the launcher's variables.

    With the strategy "pack", use a `PackCollator` with the same capacity. With `too_long="truncate"`, give the collator
    the same `max_length`. If a `DataLoader` has a collator of this package with another capacity or `max_length`, its
    first pass is refused. With another collator, a `StepsWarning` comes before the first batch if there are empty ones.

    With `too_long="split"`, batches are lists of `Part`: a sample, where in it the part begins, and its length. The
    `DataLoader` then needs a dataset that takes them, such as `PartsDataset(dataset)`.
    """

    def __init__(
        self,
        lengths: Any,
        *,
        column: str | None = None,
        unit: str | None = None,
        rank: SupportsIndex | None = None,
        world_size: SupportsIndex | None = None,
        num_replicas: SupportsIndex | None = None,
        mesh: Any = None,
        start: SupportsIndex = 0,
        **options: Any,
    ) -> None:
        """Finds the rank of this process. Nothing is planned yet: a pass plans one window of the epoch at a time.

        Args:
            lengths: As for `samedeal.Batcher`; with a blend as `order`, also a dictionary of the lengths of each
                source. With `column`, a dataset: the lengths are then those of `lengths[column]`.
            column: The column of the dataset. The column has lengths, or sequences whose lengths are taken.
            unit: What to count in a column of texts, which have no length in tokens: "words" (between white space),
                "characters" or "bytes" (in UTF-8), as in the command. A column of tokens or of lengths gives better
                batches. For a column of bytes, "bytes" is allowed too, and for a column of sequences "items".
            rank: Rank of this process. By default, the rank of the process group or of the launcher's variables
                (`samedeal.detect_rank`).
            world_size: Number of ranks. By default that of the process group, or of the launcher.
            num_replicas: Another name for `world_size`, as `DistributedSampler` has it.
            mesh: For ranks that read the same data: a `samedeal.Mesh`, or the dimensions of a `DeviceMesh` that divide
                the data, such as `mesh["dp"]` or `mesh["dp_replicate", "dp_shard"]`. Rank and world size are then those
                of the mesh.
            start: The first step of every pass, to continue an interrupted epoch.
            options: All other parameters of `Batcher`.

        Raises:
            SamedealError: A value is not allowed, or contradicts another one, as in `Batcher`.
            TypeError: `Batcher` has no such parameter.
        """
        check_options("BatchSampler", options, ("rank", "world_size"))
        self._shares = mesh is not None
        self._indices: tuple[str, ...] = ()
        self._warns_of_empty = True
        """Whether to warn of empty batches. A pass warns once, if the collator is not one of this package."""
        self._replan = False
        self._place, self._mesh = place.find(rank, {"world_size": world_size, "num_replicas": num_replicas}, mesh)
        self._options = options
        self._splits = options.get("too_long") == "split"
        self._start = check.whole("start", start)
        self._lengths = lengths_or_column(lengths, lengths, column, unit)
        self._start_with(self._made())
        if self._start:
            # Raises the component's error if there is no such step.
            self._core.batches(self._start)

    @property
    def batcher(self) -> Batcher:
        """The `Batcher` of this sampler, at its present rank and epoch."""
        return self._current()

    @property
    def rank(self) -> int:
        """Number of this data-parallel reader."""
        return self.batcher.rank

    @property
    def world_size(self) -> int:
        """Number of ranks that read different data."""
        return self.batcher.world_size

    @property
    def epoch_length(self) -> int:
        """Number of batches of a whole epoch, the same on every rank.

        `len` is the same, except after a resume: `len` then counts the rest. With a token budget, epochs differ in
        length: this is the length of the epoch that the next pass reads. The whole epoch is planned to count its
        batches, once, unless there is an index.
        """
        return self._whole().num_steps

    @property
    def recipe(self) -> str:
        """The recipe of the batches, the same on all ranks and in all epochs; `Batcher.from_recipe` takes it."""
        return self.batcher.recipe

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it identifies the run."""
        return self.batcher.recipe_fingerprint()

    def metrics(self, progress: Callable[[int, int], object] | None = None) -> Metrics:
        """Metrics of the batches of all ranks, as `Batcher.metrics`."""
        return self.batcher.metrics(progress)

    @property
    def full_shapes(self) -> list[tuple[int, int]]:
        """The shapes (rows, tokens of a row) of full batches. A collator can fill all batches up to these shapes.

        Use it as the `shapes` of a `PadCollator`. A model that is compiled for each shape (`torch.compile`, XLA) is
        then compiled once for each of these shapes. There is one shape for each of the `boundaries` of the strategy
        "bucket" (or for each `bucket_width` up to `max_length`), and one in all for "pack", and for "pad-to-max" with a
        `max_length`. Samples beyond the last boundary have another shape if a budget or `max_length` bounds them.
        Nothing is planned.

        Raises:
            ContradictionError: The shapes do not follow from the options.
        """
        members = json.loads(self.recipe)["batch"]
        strategy, longest = members["strategy"], members.get("max_length")
        width = members.get("capacity") if strategy == "pack" else longest if strategy == "pad-to-max" else None
        if members["too_long"] != "single" and width is not None:
            return [(members["max_batch_size"], width)]
        boundaries = self.batcher._recipe.options.get("boundaries")
        if boundaries is None and "bucket_width" in members and longest is not None:
            boundaries = range(members["bucket_width"], longest, members["bucket_width"])
        if members["too_long"] == "single" or strategy != "bucket" or boundaries is None:
            allowed = '"bucket" with boundaries, "pack", or "pad-to-max" with max_length; and too_long not "single"'
            raise ContradictionError("strategy", strategy, allowed)
        # The component computes the shape of a full batch for one sample of each bucket.
        own = {"order": "sequential", "seed": None, "epoch": 0, "tail": "keep", "too_long": "truncate"}
        samples = [*map(int, boundaries), check.U32_MAX]
        found = Batcher(samples, **{**self._options, **own, "separate_buckets": True}).shapes(True)
        return [(shape.rows, shape.padded_length) for shape in found if shape.padded_length < check.U32_MAX]

    @property
    def num_padding(self) -> int:
        """How many samples of this rank's next pass are padding: the last samples of some batches, which repeat others.

        Padding exists only with `tail="duplicate"`; all windows are then planned to count it. `batches` has the padding
        of each batch (`Batch.repeated`, in rows), and `Resumable.num_padding` that of the batch that the loop got last.
        """
        return sum(map(repeated_samples, self.batches())) if repeats(self) else 0

    def use_index(self, index: str | os.PathLike[str]) -> None:
        """Uses the index of an epoch, as `Batcher.use_index`: `len` then plans nothing.

        The index is used as long as the number of ranks is that of the index.
        """
        text = text_of_index(index)
        self._upcoming().use_index(text)
        self._indices = (*self._indices, text)

    def batches(self) -> Iterator[Batch]:
        """The batches of the next pass with lengths, rows and costs. They do not count as read."""
        return self._upcoming().batches(self._start)

    def load_state_dict(self, state_dict: Mapping[str, Any], *, replan: bool = False) -> None:
        """Continues from a state, with the present number of ranks: the next pass gives the rest of its epoch.

        With the same number of ranks, the batches stay the same. With another number, the rest of the window in which
        the state was taken is planned anew. `start` is set to 0. After an error, nothing has changed.

        Args:
            state_dict: A state that `state_dict` gave.
            replan: Whether the options may differ from those of the state, such as `max_tokens` after an out-of-memory
                error. The rest of the epoch is then planned with the options of this sampler.

        Raises:
            ContradictionError: The state belongs to other batches.
            WrongTypeError: The value is no state of batches.
            OutOfRangeError: The state is too long, or has more steps than there are.
            OutOfMemoryError: There is no memory for the plan.
        """
        self._replan = check.boolean("replan", replan)
        super().load_state_dict(state_dict)
        self._start = 0

    def _go_on(self, core: Batcher, state: Any) -> None:
        core.resume(text_of(state), replan=self._replan)

    def __len__(self) -> int:
        """How many batches the next pass has, the same on every rank. This plans the epoch, as `metrics` does."""
        steps = self._upcoming().num_steps
        if not 0 <= self._start <= steps:
            raise OutOfRangeError("start", check.shown(self._start), f"0 to {steps}")
        return steps - self._start

    def __iter__(self) -> Iterator[list[Any]]:
        """One pass over this rank's batches; it never mixes epochs.

        A batch is a list of sample indices, or of `Part` if `too_long="split"`.
        """
        warn_of_batched_batches(self)
        place.warn_if_alone(self)
        made = _Lists(self, self._begin(), self._start, Asking.now(self, 1))
        self._pass = made
        if made.is_over(made.taken):
            # An empty pass ends here: a loader may go on to the next epoch without asking for an item.
            self._ended(made)
        return made

    @property
    def _num_samples(self) -> int | None:
        """How many samples there are, if that is known."""
        lengths: Lengths = self._core._engine.fixed[1]
        return lengths.samples

    def _current(self) -> Batcher:
        self._place = place.current(self._place)
        core = self._core
        if place.data_rank(self._place, self._mesh) != (core.rank, core.world_size):
            self._core = self._made(core.epoch)
            if self._is_rest(core):
                self._core.resume(core.state(0))
        return self._core

    def _made(self, epoch: int | None = None) -> Batcher:
        rank, world_size = place.data_rank(self._place, self._mesh)
        options = self._options if epoch is None else {**self._options, "epoch": epoch}
        made = Batcher(self._lengths, rank=rank, world_size=world_size, **options)
        for index in self._indices:
            # An index of another number of ranks does not fit, and is not used.
            with contextlib.suppress(ContradictionError):
                made.use_index(index)
        return made

    def _first(self) -> int:
        return self._start

    @staticmethod
    def _is_rest(core: Batcher) -> bool:
        return core._engine.config.state is not None

    def _is_empty(self, core: Batcher) -> bool:
        return not core._has_step(0)

    def _warn_of_empty(self, told: str) -> None:
        """Warns once of batches without a sample."""
        if self._warns_of_empty:
            self._warns_of_empty = False
            advice = (
                "the collate_fn gets an empty list for them. If it raises an error, as that of PyTorch does, others "
                "wait: use a PadCollator or PackCollator, which make a row of padding of it, or "
                'tail="drop" or "duplicate"; fewer are empty with a larger batch_window and without separate_buckets'
            )
            warn(f"{told}: {advice}", StepsWarning)


def repeats(sampler: BatchSampler) -> bool:
    """Whether batches may repeat samples."""
    return bool(json.loads(sampler.recipe)["batch"]["tail"] == "duplicate")


def repeated_samples(batch: Batch) -> int:
    """How many samples at the end of a batch are padding, which repeats samples."""
    own = len(batch.row_ends) - batch.repeated
    return len(batch.samples) - (int(batch.row_ends[own - 1]) if own else 0)


class _Lists(Place[Batcher], OwnPlace):
    """A pass over the batches of a rank."""

    def __init__(self, owner: BatchSampler, batcher: Batcher, start: int, asking: Asking) -> None:
        super().__init__(batcher)
        self.owner = weakref.ref(owner)
        self._splits = owner._splits
        self.asking = asking
        self._collate = asking.collate
        """The collator that is still to be checked."""
        self._cut: int | None = None
        """The length at which the plan cuts samples, while no sample is known to be longer. When a batch has a cut
        sample, the collator is checked. None before the first batch, and if there is nothing more to check."""
        self._unchecked = False
        """Whether the collator is not one of this package. Such a collator may fail on a batch without samples."""
        self.begun = self.taken = start
        self._batches = batcher.batches(start)

    def __iter__(self) -> _Lists:
        return self

    def __next__(self) -> list[Any]:
        if self._cut is None and self._collate is not None:
            # Checked here, not in `__iter__`: PyTorch's loaders do not expect an error where a pass begins.
            self._cut = self._check_collator()
        try:
            batch = next(self._batches)
        except StopIteration:
            self.tell_end()
            raise
        if self._cut is not None and self._has_cut(batch, self._cut):
            self._collate.check_plan("BatchSampler", None, self._cut)
            self._collate = self._cut = None
        if self._unchecked and not len(batch.samples) and (owner := self.owner()) is not None:
            owner._warn_of_empty(f"batch {self.taken} of rank {self.core.rank} is empty")
        self.taken += 1
        if not self._splits:
            samples: list[int] = batch.samples.tolist()
            return samples
        return parts_of(batch[:3])

    def _check_collator(self) -> int | None:
        """Raises if a collator of this package makes other shapes than planned.

        Returns the length at which the collator has to cut samples, if this is still to be checked: the check waits
        until a sample is known to be longer.
        """
        # A collator is recognised by its method, since the module of the collators imports this one.
        if not hasattr(self._collate, "check_plan"):
            self._collate = None
            self._unchecked = True
            self._check_for_empty_batches()
            return None
        options = json.loads(self.core.recipe)["batch"]
        capacity = options.get("capacity") if options["strategy"] == "pack" else None
        end = cut_at(options)
        lengths: Lengths = self.core._engine.fixed[1]
        is_known = end is None or lengths.longest > end
        self._collate.check_plan("BatchSampler", capacity, end if is_known else None)
        if is_known:
            self._collate = None
        return None if is_known else end

    def _check_for_empty_batches(self) -> None:
        """Warns if batches of any rank are empty: of the epoch if it is planned, and otherwise of its first window."""
        owner, core = self.owner(), self.core
        if owner is None or not owner._warns_of_empty or core.rank != 0:
            return
        try:
            if core.num_known_windows == core.num_windows:
                found, where = core.metrics().empty, "of the epoch"
            else:
                found, where = json.loads(core.index(0, 1))["metrics"]["empty"], "of the first window"
        except SamedealError:
            # Of the rest of an epoch, `index` fails. Any other error comes again with the first batch.
            return
        if found:
            owner._warn_of_empty(f"{found:,} batches {where} of all ranks are empty")

    def _has_cut(self, batch: Batch, end: int) -> bool:
        """Whether a sample of the batch is cut at the length `end`."""
        samples = batch.samples[batch.lengths == end]
        lengths: Lengths = self.core._engine.fixed[1]
        return len(samples) > 0 and bool((lengths.at(samples) > end).any())

    def state_dict(self) -> dict[str, Any]:
        """The state after every rank took as many batches as this pass gave."""
        return wrapped(self.state(self.taken))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues this pass from a state."""
        text = text_of(state_dict)
        if self.state(self.taken) == text:
            return
        twin = self.twin()
        twin.resume(text)
        if twin.epoch < self.config.epoch and not twin._has_step(0):
            # The state ends an earlier epoch, and another epoch was set since. This pass stays as it is.
            return
        self.core, self.config = twin, twin._engine.config
        self.begun = self.taken = 0
        self._batches = twin.batches()


def check_options(owner: str, options: Mapping[str, Any], own: Collection[str] = ()) -> None:
    """Raises a TypeError, as Python does, for an option that is no parameter of a `Batcher`.

    `owner` is the name of the class that was called. Parameters that this class sets itself, `own`, are refused, too.
    """
    every = inspect.signature(Batcher).parameters.values()
    known = [one.name for one in every if one.kind is one.KEYWORD_ONLY and one.name not in own]
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            advice = f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"
            raise TypeError(f"{owner}() got an unexpected keyword argument {name!r}{advice}")


def cut_at(options: Mapping[str, Any]) -> int | None:
    """The length at which a plan with these options of a recipe cuts samples; None if it cuts none."""
    if options.get("too_long") != "truncate":
        return None
    # Without `max_cost`, since a cost is no length.
    known = [options[name] for name in ("max_length", "capacity", "max_tokens") if options.get(name) is not None]
    return min(known, default=None)


def _columns(dataset: Any) -> str:
    """The end of an error message: the columns of the dataset or, if these are unknown, what to pass instead."""
    # Arrow and Hugging Face have `column_names`, pandas has `columns`.
    keys = list(dataset) if isinstance(dataset, Mapping) else None
    names = getattr(dataset, "column_names", getattr(dataset, "columns", keys))
    if not isinstance(names, Iterable) or not (known := [check.shown(name) for name in names]):
        return ", or lengths in place of a column"
    return f"; this one has {', '.join(known[:_FEW])}{', ...' if len(known) > _FEW else ''}"


def lengths_or_column(lengths: Any, dataset: Any, column: str | None, unit: str | None) -> Any:
    """The lengths as they were given, or those of a column of a dataset. A unit is allowed only with a column."""
    if column is not None:
        return _lengths_in(dataset, column, unit)
    if unit is not None:
        raise ContradictionError("unit", check.shown(unit), "None, or a column with it")
    return lengths


def _lengths_in(dataset: Any, column: str, unit: str | None) -> Any:
    """The lengths in a column, or the lengths of its sequences or texts."""
    wanted = check.label("column", column)
    asked = None if unit is None else check.enum("unit", unit, _UNITS)
    try:
        values = [row[wanted] for row in dataset] if _has_rows(dataset) else dataset[wanted]
        is_read = is_numbers(values)
        # `to_pylist` makes Python's objects of Arrow's. Hugging Face's datasets look for the column only here.
        items = () if is_read else values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    except (LookupError, TypeError, AttributeError, NotImplementedError, ValueError) as error:
        allowed = f"a dataset with the column {check.shown(wanted)!r}{_columns(dataset)}"
        raise WrongTypeError("column", check.described(dataset), allowed) from error
    if is_read:
        # A column of numbers is read in place.
        _check_unit(asked, None)
        return values
    return [_length_of(item, asked) for item in items]


def _has_rows(dataset: Any) -> bool:
    """Whether a dataset is a list of dictionaries, one for each sample."""
    return isinstance(dataset, Sequence) and len(dataset) > 0 and isinstance(dataset[0], Mapping)


_UNITS = ("words", "characters", "bytes", "items")
"""The units of the command's `--length-unit`."""
_WORD = re.compile(r"[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""A word: the text between white space as Unicode has it. `str.split` also splits at four other control characters."""


def _length_of(item: Any, unit: str | None) -> Any:
    if isinstance(item, str):
        if unit is None:
            raise MissingError("unit", "", '"words", "characters" or "bytes": texts have no length in tokens')
        _check_unit(unit, "text", *_UNITS[:3])
        if unit == "words":
            return len(_WORD.findall(item))
        return len(item if unit == "characters" else item.encode("utf-8", "surrogatepass"))
    if isinstance(item, (bytes, bytearray)):
        _check_unit(unit, "bytes", "bytes")
        return len(item)
    if isinstance(item, (Set, Mapping)):
        raise WrongTypeError("lengths", check.described(item), "a column of lengths, of sequences or of texts")
    # A single number may be an array or a tensor, which has a `__len__`, too, but no dimensions.
    if hasattr(item, "__len__") and getattr(item, "ndim", 1) > 0:
        _check_unit(unit, "sequences", "items")
        return len(item)
    _check_unit(unit, None)
    return item


def _check_unit(unit: str | None, kind: str | None, *allowed: str) -> None:
    """Refuses a unit that does not fit the values of a column. `kind` is None for lengths, which have no unit."""
    if unit is not None and unit not in allowed:
        known = f"{', '.join(allowed)} for a column of {kind}" if kind else "None for a column of lengths"
        raise ContradictionError("unit", unit, known)
