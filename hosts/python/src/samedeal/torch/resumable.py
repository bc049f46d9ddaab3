"""A DataLoader that counts the batches that the training loop got."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any, SupportsIndex

from .. import ContradictionError, MovedError, Sampler, WrongTypeError
from ..engine import arguments as check
from .batches import BatchSampler
from .dataset import ShardedDataset
from .padding import Padding, Rows
from .sampler import DistributedSampler
from .states import Count
from .steps import StepBatchSampler

_PLAIN = ("torch.utils.data.sampler", "torchdata.stateful_dataloader.sampler")
"""Modules whose `BatchSampler` takes samples one after the other."""
_END: Any = object()
_Source = DistributedSampler | BatchSampler | StepBatchSampler | ShardedDataset


class Resumable:
    """Wraps a DataLoader to save and resume its state. Iterate over this object instead of the loader.

    The object counts the batches that the training loop got, not those that workers have read ahead. After a step,
    `state_dict` is the state to save in a checkpoint. The state is the same on all ranks, and resumes on any number of
    ranks. The loader must have a `DistributedSampler` of this package with a `batch_size`, or a `BatchSampler` or a
    `StepBatchSampler` of this package, or it must read a `ShardedDataset` with `batch_size=None`. Other passes of the
    same sampler are not counted.
    """

    def __init__(self, loader: Any) -> None:
        """Finds the sampler of the loader.

        Args:
            loader: A `torch.utils.data.DataLoader`.

        Raises:
            WrongTypeError: The loader has another sampler, or batches of another library.
            ContradictionError: The loader gives batches in another order than the sampler, or makes batches of batches,
                or its dataset has another number of samples than the sampler.
        """
        self.sampler, self._batch = _source(loader)
        _check_length(loader, self.sampler)
        check_in_order(loader, "True: what the loop got is else no beginning of the epoch")
        self.loader = loader
        self._count: Count | None = None
        self._padding: Padding | None = None

    # Properties, and no `__getattr__`: to set one of them here is an error, because it would not reach the loader.
    dataset = property(attrgetter("loader.dataset"))
    """The dataset of the loader."""
    batch_size = property(attrgetter("loader.batch_size"))
    """Number of samples in a batch of the loader; None if a batch sampler or a `ShardedDataset` makes the batches."""
    num_workers = property(attrgetter("loader.num_workers"))
    """Number of workers of the loader."""
    collate_fn = property(attrgetter("loader.collate_fn"))
    """The function that makes a batch of a list of samples."""
    pin_memory = property(attrgetter("loader.pin_memory"))
    """Whether the loader copies batches into pinned memory."""
    prefetch_factor = property(attrgetter("loader.prefetch_factor"))
    """How many batches each worker reads ahead; None without workers."""
    persistent_workers = property(attrgetter("loader.persistent_workers"))
    """Whether the workers stay after a pass."""
    multiprocessing_context = property(attrgetter("loader.multiprocessing_context"))
    """The context in which workers are started; None for that of the system."""
    generator = property(attrgetter("loader.generator"))
    """The random generator of the loader."""
    timeout = property(attrgetter("loader.timeout"))
    """How many seconds the loader waits for a batch of a worker; 0 for ever."""

    @property
    def worker_init_fn(self) -> Any:
        """The first function that each worker calls. It can be set: Lightning sets it after `seed_everything`."""
        return self.loader.worker_init_fn

    @worker_init_fn.setter
    def worker_init_fn(self, function: Any) -> None:
        self.loader.worker_init_fn = function

    @property
    def batch_sampler(self) -> Any:
        """The batch sampler of the loader.

        Raises:
            AttributeError: The next pass, or the one that is under way, gives the rest of an epoch. Accelerate's
                `skip_first_batches`, which reads this attribute, would skip batches of that rest.
        """
        if self.sampler._gives_rest():
            advice = "the pass gives the rest of an epoch, of which skip_first_batches would skip a part again"
            raise AttributeError(f"batch_sampler: {advice}", name="batch_sampler", obj=self)
        return self.loader.batch_sampler

    @property
    def epoch(self) -> int:
        """The epoch of the next pass. After `load_state_dict`, it is the epoch of the state."""
        return self.sampler.epoch

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Sets the epoch; call it before each pass. If it is the epoch of a state that was loaded, the rest stays.

        If a pass is not finished, its iterator raises a `MovedError` from now on.
        """
        self.sampler.set_epoch(epoch)

    @property
    def epoch_length(self) -> int:
        """Number of batches of a whole epoch on this rank.

        `len` is the same, except after a resume: `len` then counts the rest. A schedule of learning rates needs this
        number. With a token budget, epochs differ in length: this is the length of the epoch that is set.

        Raises:
            TypeError: The loader has a `StepBatchSampler` without an end. With one that has an end, this is the number
                of steps of the whole training.
        """
        return self._length_of(self.sampler)

    def _epoch_length_of(self, epoch: int) -> int:
        """The number of batches of epoch `epoch` on this rank."""
        return self._length_of(self.sampler._in_epoch(epoch))

    def _length_of(self, sampler: _Source) -> int:
        if isinstance(sampler, ShardedDataset):
            return sampler.reading(self.loader.num_workers).num_steps(sampler.rank)
        if isinstance(sampler, DistributedSampler):
            drop_last = getattr(self.loader.batch_sampler, "drop_last", False)
            return sampler._whole().num_batches(self._batch, drop_last)
        return sampler.epoch_length

    @property
    def num_padding(self) -> int:
        """How many samples at the end of the batch that the loop got last are padding; 0 before a pass.

        Padding repeats samples, so that all ranks have equally many. Leave padding out of a metric:

            for x, y in loader:
                own = len(y) - loader.num_padding
                metric.update(model(x)[:own], y[:own])

        This number counts samples, not the rows of a `PackCollator`. With whole shards, there is no padding.
        """
        return self._rows().num_padding

    def state_dict(self, batches: SupportsIndex | None = None) -> dict[str, Any]:
        """The state for a checkpoint, after all ranks got the same number of batches as this loop.

        Args:
            batches: How many batches of this loop the state counts, at most as many as it got; all by default. Pass it
                if you accumulate gradients and save between two updates of the model: the number of batches up to the
                last update. The batches after it then come again, as they are not in the model that is saved.

        Raises:
            OutOfRangeError: The loop did not get so many batches.
        """
        sampler, count = self.sampler, self._known()
        if batches is not None:
            most = 0 if count is None else count.steps
            allowed, facts = check.between(0, most)
            batches = check.integer("batches", batches, check.Width(0, most, f"{allowed}, what the loop got", facts))
        found = sampler._opening().after(sampler._first()) if count is None else count.state_dict(batches)
        return sampler._with_facts(found, count)

    def load_state_dict(self, state_dict: Mapping[str, Any], *, replan: bool = False) -> None:
        """Continues from a state, with the present number of ranks: the next pass gives the rest of its epoch.

        Args:
            state_dict: The state.
            replan: Whether the options of batches may differ from those of the state: see
                `BatchSampler.load_state_dict`.

        Raises:
            ContradictionError: `replan` is true, and the sampler is no `BatchSampler`.
            SamedealError: The value is no state, or the state of something else. Nothing has changed then.
        """
        if not check.boolean("replan", replan):
            self.sampler.load_state_dict(state_dict)
        elif isinstance(self.sampler, BatchSampler):
            self.sampler.load_state_dict(state_dict, replan=True)
        else:
            raise ContradictionError("replan", "True", "False: only the batches of a BatchSampler are planned")

    def __len__(self) -> int:
        """The number of batches of the pass that is under way, or otherwise of the next pass."""
        count = self._known()
        if count is not None and not count.over:
            return count.length
        if isinstance(self.sampler, ShardedDataset):
            return self.sampler._length(self.loader.num_workers)
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        """One pass over the loader."""
        sampler = self.sampler
        if isinstance(sampler, ShardedDataset):
            count = sampler._expect_steps(self.loader.num_workers)
        elif isinstance(sampler, BatchSampler):
            # The number of batches is left out: only `len` needs it, and counting it plans the whole epoch.
            count = sampler._expect(sampler._start, 1)
        elif isinstance(sampler, StepBatchSampler):
            # An endless training has the last possible step as its end.
            start, end = sampler.step, sampler._end()
            count = sampler._expect(start, 1, end, end - start)
        else:
            length = len(self.loader)
            count = sampler._expect(0, self._batch, len(sampler), length, self._fullest(length))
        self._count = count
        self._padding = Padding(self.loader, sampler, self._batch, count.place, count.start)
        batches = iter(self.loader)
        # All passes of a dataset may be in workers, so none is expected in this process.
        count.opening, count.expected = False, sampler._pass is None and not isinstance(sampler, ShardedDataset)
        return _counted(batches, count, sampler)

    def _fullest(self, length: int) -> tuple[int, int]:
        """The number of samples and of batches that the next pass has on the rank with most samples.

        It need not be rank 0: with the layout `rotated`, that one can have the short last unit.
        """
        core = self.sampler._upcoming()
        if not isinstance(core, Sampler) or core.remainder != "uneven":
            return len(self.sampler), length
        most = core.max_num_samples
        is_cut = getattr(self.loader.batch_sampler, "drop_last", False)
        return most, most // self._batch if is_cut else -(-most // self._batch)

    def _rows(self) -> Rows:
        """The rows of the batch that the loop got last."""
        count = self._known()
        if self._padding is None or count is None or not count.steps:
            return Rows()
        return self._padding.rows(count.steps - 1)

    def _known(self) -> Count | None:
        """The count of the newest loop, if it is of the epoch and the state that are set now."""
        count = self._count
        return count if count is not None and count.moves == self.sampler._moves else None


def check_in_order(loader: Any, allowed: str) -> None:
    """Raises an error if the batches of workers come in another order than the sampler gave them."""
    # Without workers, PyTorch gives batches in order, whatever `in_order` says.
    if not getattr(loader, "in_order", True) and loader.num_workers:
        raise ContradictionError("in_order", "False", allowed)


def _counted(batches: Iterator[Any], count: Count, sampler: _Source) -> Iterator[Any]:
    # Not a `for` loop: it calls `iter` on the iterator, and the iterators of Ray Train then begin a new pass.
    while _goes_on(count, sampler) and (batch := next(batches, _END)) is not _END:
        if sampler._count is None:
            # Another pass of the sampler began meanwhile, and removed the count.
            sampler._count = count
        count.steps += 1
        yield batch
    count.ended = True


def _goes_on(count: Count, sampler: _Source) -> bool:
    """Whether the sampler was not moved since the pass began. Raises a `MovedError` if it was moved during the pass."""
    if count.moves == sampler._moves:
        return True
    if not count.over:
        value = "of a pass that set_epoch or load_state_dict has ended"
        raise MovedError("iterator", value, "another one, which iter(loader) begins")
    return False


def _check_length(loader: Any, sampler: _Source) -> None:
    """Raises if the sampler is for a dataset of another length than the one that the loader reads."""
    if isinstance(sampler, ShardedDataset):
        return
    dealt: Any = None if isinstance(sampler, BatchSampler) else sampler.dataset
    try:
        found = len(loader.dataset)
        known = sampler._num_samples if isinstance(sampler, BatchSampler) else len(dealt)
    except (TypeError, NotImplementedError):
        return
    if known is not None and found != known:
        allowed = f"one of {known}, as many as its {type(sampler).__name__} deals"
        raise ContradictionError("dataset", f"of {found} samples", allowed)


def _source(loader: Any) -> tuple[_Source, int]:
    """The sampler or dataset of a loader, and how many of its items make a batch."""
    allowed = (
        "a DataLoader with samedeal.torch.BatchSampler or StepBatchSampler, samedeal.torch.DistributedSampler and a "
        "batch_size, or samedeal.torch.ShardedDataset"
    )
    if isinstance(dataset := getattr(loader, "dataset", None), ShardedDataset):
        if loader.batch_size is not None:
            allowed = "None, and the size of batches as that of the dataset"
            raise ContradictionError("batch_size", check.shown(loader.batch_size), allowed)
        return dataset, 1
    batches, sampler = getattr(loader, "batch_sampler", None), getattr(loader, "sampler", None)
    if isinstance(batches, (BatchSampler, StepBatchSampler)):
        return batches, 1
    if batches is None and isinstance(sampler, DistributedSampler):
        return sampler, 1
    if type(batches).__module__ in _PLAIN:
        inner: Any = batches
        if isinstance(inner.sampler, DistributedSampler):
            return inner.sampler, check.integer("batch_size", inner.batch_size, check.U32_FROM_1)
        batches = inner.sampler
    found = sampler if batches is None else batches
    value = check.described(loader) if found is None else f"{check.described(loader)} with {check.described(found)}"
    raise WrongTypeError("loader", value, allowed)
