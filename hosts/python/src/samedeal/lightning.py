"""PyTorch Lightning: a data module that sets epochs, saves its state, and resumes on any number of devices.

Works with `lightning` and `pytorch_lightning`, and imports neither. Needs torch:
`pip install 'hosts/python[torch]'` in a checkout.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, SupportsIndex

import torch.distributed

from . import ContradictionError
from .engine import arguments as check
from .engine.warn import warn
from .torch import Resumable, StepBatchSampler
from .torch.extended import extend
from .torch.states import Resuming
from .torch.verify import check_all_read, compare

__all__ = ["ResumableData"]

_EVALUATES = ("val_dataloader", "test_dataloader")
_KEY = "train_dataloader"
"""The key under which the state of a data module has the state of its loader."""
_BATCHES = "batches"
"""The key, in the state of the loader, of how many batches of the epoch updated the model, on any number of devices."""
_COUNTED = "counted"
"""The key of how many batches the trainer had counted, if gradients of some of them waited for the next update."""
_UPDATES = "updates"
"""The key of how many updates the model had in all epochs (with manual optimization, how many batches)."""
_TOTAL = "total"
"""The key of the number of updates that the whole training would have had on the devices that saved the state."""


class ResumableData:
    """A base class that makes a data module resumable: `class Data(ResumableData, LightningDataModule)`.

    Its `train_dataloader` must return a `DataLoader` with a sampler or a `ShardedDataset` of `samedeal.torch`. Every
    checkpoint contains the state of the loader: it counts the batches that the model was updated with. Between two
    updates of accumulated gradients, it is the state of the last update: the batches after it are not in the model, and
    come again. `trainer.fit(..., ckpt_path=...)` continues there, on any number of devices and nodes. The class sets
    the epoch before each pass, also for a `BatchSampler`, and compares the ranks (`verify_ranks`). If ranks have
    different numbers of batches, the pass does not begin, because Lightning would hang; loaders for validation and
    tests are refused only if some ranks have no batch. `use_distributed_sampler` can be true or false; it concerns only
    the other loaders, which do not change. After a resume on other devices, `trainer.estimated_stepping_batches` is the
    number of updates of the whole training: those that were done, those that are left of this epoch, and those of later
    epochs on the new devices. If you override `state_dict` or `load_state_dict`, call `super()`.
    """

    trainer: Any
    _resumed: Mapping[str, Any] | None = None
    """The state of the loader in a checkpoint, until the resumed epoch continues."""
    _again: Any = None
    """The loader to return when Lightning asks next. During a call of `train_dataloader`, the original function."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Wraps the methods of the subclass that return loaders.

        Raises:
            ContradictionError: Lightning's class comes first, so that checkpoints would have no state.
        """
        super().__init_subclass__(**options)
        names = [base.__name__ for base in cls.__mro__]
        if "LightningDataModule" in names[: names.index(ResumableData.__name__)]:
            order = f"class {cls.__name__}(ResumableData, LightningDataModule)"
            raise ContradictionError("bases", "LightningDataModule, ResumableData", order)
        if _KEY in vars(cls):
            setattr(cls, _KEY, _looked_after(vars(cls)[_KEY]))
        for name in _EVALUATES:
            if name in vars(cls):
                setattr(cls, name, _checked(vars(cls)[name]))

    def state_dict(self) -> dict[str, Any]:
        """The state that Lightning saves: the state of the loader, and the states of other base classes."""
        state: dict[str, Any] = super().state_dict()  # type: ignore[misc]
        loader = self.trainer.train_dataloader if self.trainer is not None else None
        return {**state, _KEY: loader.state_dict()} if isinstance(loader, _Loader) else state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Lightning calls this with the saved state."""
        if self.trainer.state.fn == "fit":
            self._resumed = state_dict.get(_KEY)
            trainer = self.trainer
            loader = trainer.train_dataloader
            if self._resumed is not None:
                extend(trainer, _EstimatesResumedRun)
                if isinstance(loader, _Loader):
                    # The length of the epoch was asked for before, so the loader exists already.
                    read = trainer.estimated_stepping_batches
                    loader.resume(self._resumed)
                    _warn_of_estimate(read, trainer.estimated_stepping_batches)
        super().load_state_dict({name: value for name, value in state_dict.items() if name != _KEY})  # type: ignore[misc]


def _looked_after(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A `train_dataloader` that returns a resumable loader during training, and the original loader at other times."""

    @functools.wraps(original)
    def train_dataloader(self: Any) -> Any:
        if self._again is original or self.trainer is None or self.trainer.state.fn != "fit":
            return original(self)
        if self._again is not None:
            return self._again
        # During this call, `super().train_dataloader()` returns the original loader.
        self._again = original
        try:
            return _Loader(original(self), self)
        finally:
            self._again = None

    return train_dataloader


def _checked(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A `val_dataloader` that refuses loaders with which `self.log(..., sync_dist=True)` would hang."""

    @functools.wraps(original)
    def evaluation_dataloader(self: Any) -> Any:
        found = original(self)
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            for loader in found if isinstance(found, (list, tuple)) else (found,):
                sources = [getattr(loader, name, None) for name in ("dataset", "sampler", "batch_sampler")]
                if any(isinstance(source, Resuming) for source in sources):
                    check_all_read(loader)
        return found

    return evaluation_dataloader


class _EstimatesResumedRun:
    """Overrides the estimate of a trainer that resumes: Lightning's own assumes that all epochs are equally long."""

    train_dataloader: Any

    @property
    def estimated_stepping_batches(self) -> int | float:
        """The number of updates of the whole training, with those that were done before the resume."""
        theirs: int | float = super().estimated_stepping_batches  # type: ignore[misc]
        loader = self.train_dataloader
        return loader.estimate(theirs) if isinstance(loader, _Loader) else theirs


def _warn_of_estimate(read: float, found: float) -> None:
    if read != found:
        told = f"trainer.estimated_stepping_batches was {read} before the checkpoint was loaded, and is {found} now"
        advice = (
            "read it in configure_optimizers, or, with a strategy that loads after that, in the function of a LambdaLR"
        )
        warn(f"{told}: {advice}")


class _Loader:
    """The loader that Lightning gets. It counts batches from the beginning of the epoch, also after a resume.

    This class is no DataLoader, so that Lightning replaces no sampler. A pass begins only when its first batch is asked
    for, because Lightning calls `iter` for passes that it does not need, and before it sets the epoch.
    """

    def __init__(self, loader: Any, data: ResumableData) -> None:
        self._resumable = loader if isinstance(loader, Resumable) else Resumable(loader)
        if isinstance(self._resumable.sampler, StepBatchSampler):
            allowed = (
                "a DistributedSampler or BatchSampler: Lightning counts batches by epochs, and this sampler has none"
            )
            raise ContradictionError("sampler", "a StepBatchSampler", allowed)
        # No `RankWarning`, because the trainer knows the rank and the number of processes.
        if isinstance(self._resumable.sampler, Resuming):
            self._resumable.sampler._warns = False
        self._data = data
        self._before = self._got = 0
        """How many batches of the epoch came before this pass, and how many batches of this pass the trainer got."""
        self._updated = self._stepped = 0
        """How many batches of this pass there were at the last update before the newest batch, and how many steps the
        optimizer had made when the newest batch was given."""
        self._counted: int | None = None
        """How many batches the trainer had counted when the loaded state was saved; None if no state was loaded."""
        self._length: int | None = None
        """How many batches the epoch has; None until its pass has begun."""
        self._rest: tuple[int, int, int] | None = None
        """After a state was loaded: how many updates were done, the epoch, and how many updates are left of it."""
        self._is_saved_after_update = False
        """Whether no batches waited for the next update when the loaded state was saved."""
        self._old_total: int | None = None
        """How many updates the training that saved the state was to have."""
        trainer = data.trainer
        if trainer.overfit_batches:
            allowed = "0: to overfit is to read the same batches in every epoch, which no sampler of samedeal does"
            raise ContradictionError("overfit_batches", check.shown(trainer.overfit_batches), allowed)
        # A search for a learning rate or a batch size may have read the same sampler before, which does not count.
        self._resumable.sampler._read_anew()
        if data._resumed is None:
            self._resumable.set_epoch(trainer.current_epoch)
        else:
            self.resume(data._resumed)

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continues from a state, which may come after the trainer has asked for the length."""
        self._resumable.load_state_dict(state)
        saved = check.integer(_BATCHES, state.get(_BATCHES), check.U64)
        self._counted = check.integer(_COUNTED, state.get(_COUNTED, saved), check.U64)
        self._is_saved_after_update = self._counted == saved
        epoch = self._resumable.epoch
        left = len(self._resumable)
        # Lightning counts windows of accumulated gradients from the beginning of the epoch. On other devices, or with
        # another accumulation, the first window would otherwise be short. So the count is rounded down.
        self._before = saved - saved % self._accumulation(epoch) if left else saved
        updates, total = state.get(_UPDATES), state.get(_TOTAL)
        self._old_total = None if total is None else check.integer(_TOTAL, total, check.U64)
        self._rest = None
        if updates is not None:
            rest = self._limited(self._before + left) - self._before
            self._rest = check.integer(_UPDATES, updates, check.U64), epoch, self._updates(rest, epoch)
        vars(self).pop("_total", None)

    def _accumulation(self, epoch: int) -> int:
        """How many batches of an epoch make an update."""
        trainer = self._data.trainer
        for callback in trainer.callbacks:
            # Asks a GradientAccumulationScheduler itself, which sets the trainer's number only when the epoch has
            # begun.
            if hasattr(callback, "get_accumulate_grad_batches"):
                return int(callback.get_accumulate_grad_batches(epoch))
        return int(trainer.accumulate_grad_batches)

    def _updates(self, batches: int, epoch: int) -> int:
        """How many updates of the model `batches` batches of an epoch make."""
        return math.ceil(max(batches, 0) / self._accumulation(epoch))

    def _limited(self, batches: int) -> int:
        """How many batches the trainer takes of an epoch that has `batches` batches."""
        limit = self._data.trainer.limit_train_batches
        return min(batches, limit) if isinstance(limit, int) else int(batches * limit)

    @functools.cached_property
    def _total(self) -> int:
        """How many updates the whole resumed training has, if it ends with its last epoch."""
        assert self._rest is not None
        done, epoch, left = self._rest
        later = range(epoch + 1, self._data.trainer.max_epochs)
        return done + left + sum(self._updates(self._limited(self._resumable._epoch_length_of(e)), e) for e in later)

    def estimate(self, theirs: float) -> float:
        """The number of updates of the whole training: `theirs` (Lightning's) if there is no resume, or no end."""
        trainer = self._data.trainer
        if self._rest is None or trainer.max_epochs in (-1, None) or math.isinf(trainer.num_training_batches):
            return theirs
        return self._total if trainer.max_steps == -1 else min(self._total, trainer.max_steps)

    @property
    def loader(self) -> Any:
        """The DataLoader."""
        return self._resumable.loader

    @property
    def dataset(self) -> Any:
        """The dataset that the loader reads."""
        return self._resumable.dataset

    worker_init_fn = Resumable.worker_init_fn
    """The first function of each worker of `loader`: Lightning sets it after `seed_everything(workers=True)`."""

    @property
    def sampler(self) -> _Loader:
        """This object, because Lightning calls `sampler.set_epoch` before each pass."""
        return self

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Moves to another epoch. A resumed epoch continues."""
        another = epoch != self._resumable.epoch
        if another:
            self._before = 0
        elif self._data._resumed is not None and len(self._resumable):
            self._count_from_update()
        if self._data._resumed is not None:
            # Lightning calls no GradientAccumulationScheduler if an epoch continues.
            self._data.trainer.accumulate_grad_batches = self._accumulation(self._resumable.epoch)
            self._warn_of_schedulers()
        self._resumable.set_epoch(epoch)
        self._data._resumed, self._counted, self._length, self._got = None, None, None, 0
        trainer = self._data.trainer
        stale = trainer.num_training_batches != self._limited(len(self))
        if stale:
            self._tell_length()
        if another and (stale or trainer.max_steps != -1):
            # If the epoch was over when the checkpoint was saved, Lightning would otherwise count the batches of that
            # epoch for this one.
            trainer.fit_loop.epoch_loop.restarting = False

    def _count_from_update(self) -> None:
        """Sets the trainer's count back to the beginning of the rest of the epoch, since later batches come again."""
        loop = self._data.trainer.fit_loop.epoch_loop
        progress = loop.batch_progress
        # If the last batch of the epoch was interrupted, the epoch would otherwise be over.
        progress.is_last_batch = False
        current = progress.current.completed
        if self._counted == self._before or self._counted != current + loop.restarted_on_train_batch_end:
            return
        if loop.restarted_on_train_batch_end and self._is_saved_after_update:
            # The checkpoint was saved at the end of a batch with an update. Lightning counts this update when it
            # restarts at the end of a batch, which the lines below prevent, so the update is counted here.
            loop._batches_that_stepped += 1
        for counts in (progress.total, progress.current):
            counts.completed -= current - self._before
            counts.reset_on_restart()
        # The loop continues as if it had been saved after a batch; or as if the epoch began.
        loop._restart_stage = "restarted_on_last"
        loop.restarting = self._before > 0

    def _warn_of_schedulers(self) -> None:
        """Warns once if a loaded learning-rate scheduler ends where the interrupted training was to end."""
        trainer, old = self._data.trainer, self._old_total
        if old is None or self._rest is None:
            return
        for config in trainer.lr_scheduler_configs:
            # The new number is asked for last: to count the batches of later epochs may mean to plan these epochs.
            if config.interval != "step" or _steps_of(config.scheduler) != old:
                continue
            if (total := trainer.estimated_stepping_batches) != old:
                told = (
                    f"the {type(config.scheduler).__name__} was saved for {old} updates, and this training has {total}"
                )
                advice = (
                    "its state keeps the old number. A LambdaLR that reads trainer.estimated_stepping_batches follows"
                )
                warn(f"{told}: {advice}")

    def _tell_length(self) -> None:
        """Lets Lightning ask for the length again. It asks only once by itself, although epochs differ in length."""
        trainer = self._data.trainer
        every = trainer.reload_dataloaders_every_n_epochs
        # If the user lets Lightning reload loaders, it may replace this one, too. Otherwise, it gets this one.
        self._data._again = None if every else self
        # Lightning reloads a loader when at least this number of epochs have passed since the last time. With -1, that
        # is always so, even within the same epoch.
        trainer.reload_dataloaders_every_n_epochs = -1
        try:
            trainer.fit_loop.setup_data()
        finally:
            trainer.reload_dataloaders_every_n_epochs, self._data._again = every, None

    def state_dict(self) -> dict[str, Any]:
        """The state after all ranks updated the model with as many batches as this rank."""
        if self._length is None:
            return {**self._resumable.state_dict(), _BATCHES: self._before, **self._progress()}
        trainer = self._data.trainer
        # A batch that an error or a signal has interrupted does not count, so that it comes again.
        trained = trainer.fit_loop.epoch_loop.batch_progress.current.processed - self._before
        done = self._updated if trainer.global_step == self._stepped else self._got
        if trainer.global_step == 0 and not trainer.lightning_module.automatic_optimization:
            # Lightning does not count the steps of optimizers that it does not wrap, so all trained batches count.
            done = trained
        state = self._resumable.state_dict(None if done == self._got else done)
        state |= {_BATCHES: self._before + done, **self._progress()}
        return state if done == trained else {**state, _COUNTED: self._before + trained}

    def _progress(self) -> dict[str, int]:
        """How many updates were done, and how many updates the whole training has, if it has an end."""
        trainer = self._data.trainer
        is_automatic = trainer.lightning_module.automatic_optimization
        batches = trainer.fit_loop.epoch_loop.batch_progress.total.processed
        found = {_UPDATES: trainer.global_step if is_automatic else batches}
        total = self._scheduled_total()
        return found if total is None else {**found, _TOTAL: total}

    def _scheduled_total(self) -> int | None:
        """The number of updates for which schedules of the learning rate were made; None if there is no end.

        After a resume, this is the number of the interrupted training until the new number was computed for another
        reason: to compute it may mean to plan all later epochs, which a checkpoint must not do.
        """
        if self._rest is not None and "_total" not in vars(self):
            return self._old_total
        total = self._data.trainer.estimated_stepping_batches
        return int(total) if math.isfinite(total) else None

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Does nothing: Lightning calls this after it asked for the length. The data module has loaded the state."""

    def _steps(self) -> int:
        """How many batches the trainer will take of this pass."""
        trainer = self._data.trainer
        steps = self._limited(len(self)) - self._before
        if trainer.max_steps != -1:
            # With several optimizers the pass may end earlier, on all ranks alike.
            left = (trainer.max_steps - trainer.global_step) * trainer.accumulate_grad_batches
            steps = min(steps, max(left, 0))
        return max(steps, 0)

    def __len__(self) -> int:
        """How many batches the epoch has, including those before the resume."""
        return self._before + len(self._resumable) if self._length is None else self._length

    def __iter__(self) -> Iterator[Any]:
        """One pass over an epoch, or over the rest of a resumed epoch."""
        done = self._data.trainer.fit_loop.batch_idx + 1
        if done != self._before:
            reason = "the checkpoint is of another loader, or load_state_dict of super() was not called"
            allowed = f"{done}, as Lightning has counted: {reason}"
            raise ContradictionError(_BATCHES, str(self._before), allowed)
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            # Ranks with other numbers of steps would wait for a rank that has ended, without a message.
            compare(self._resumable, None, self._steps())
        trainer = self._data.trainer
        self._length, self._got, self._updated = len(self), 0, 0
        for batch in self._resumable:
            self._stepped = trainer.global_step
            self._got += 1
            yield batch
            if trainer.global_step != self._stepped:
                self._updated = self._got


def _steps_of(scheduler: Any) -> int | None:
    """How many steps a scheduler of PyTorch is made for; None if it does not say so."""
    if parts := getattr(scheduler, "_schedulers", None):
        milestones = getattr(scheduler, "_milestones", [0])
        last = _steps_of(parts[-1])
        return None if last is None else milestones[-1] + last
    found = (getattr(scheduler, name, None) for name in ("total_steps", "T_max", "total_iters"))
    return next((steps for steps in found if isinstance(steps, int)), None)
