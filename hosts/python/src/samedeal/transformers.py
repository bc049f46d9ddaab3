"""The `Trainer` of transformers, with samplers that are not distributed twice, and immediate resume.

The `Trainer` of transformers gives every loader to Accelerate, which distributes its batches over the processes, even
if they were distributed before. To resume an epoch, it reads all batches again that were trained before. Needs torch
and transformers 5, in which an epoch is a separate method: in a checkout,
`pip install 'hosts/python[torch]' "transformers[torch]>=5"`.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import transformers
from accelerate.data_loader import BatchSamplerShard
from transformers.trainer_callback import ExportableState, TrainerCallback, TrainerState
from transformers.trainer_utils import get_last_checkpoint

from . import ContradictionError, MissingError, Order, WrongTypeError, order
from .accelerate import check_mesh
from .engine import arguments as check
from .torch import BatchSampler, DistributedSampler, verify_ranks
from .torch.sampler import TORCH

__all__ = ["Trainer", "TrainerMixin"]

_STATE_FILE = "trainer_state.json"
_KEPT = (
    "collate_fn",
    "num_workers",
    "pin_memory",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
    "prefetch_factor",
    "persistent_workers",
)
"""The attributes of the Trainer's loader that are taken over, besides its batches."""
_TORCHDATA = "torchdata.stateful_dataloader.sampler"
_BATCHES = ("torch.utils.data.sampler.BatchSampler", f"{_TORCHDATA}.BatchSampler")
_RANDOM = (
    "torch.utils.data.sampler.RandomSampler",
    "accelerate.data_loader.SeedableRandomSampler",
    f"{_TORCHDATA}.RandomSampler",
)
_DISTRIBUTED = (
    "torch.utils.data.distributed.DistributedSampler",
    f"{_TORCHDATA}.StatefulDistributedSampler",
)
_SAMPLERS = (*_RANDOM, *_DISTRIBUTED, "torch.utils.data.sampler.SequentialSampler")
"""The samplers whose orders this package has, too. They are compared by name, since a subclass may give any order."""
_REPEATED = "trl.trainer.utils.RepeatSampler"
"""The sampler of TRL that gives each prompt several times in a row, and each generation batch several times."""
_INSTEAD = {
    "BatchSampler": "BatchSampler(lengths, ...)",
    "LengthGroupedSampler": "BatchSampler(lengths, max_tokens=...)",
    "RandomSampler": "WeightedRandomSampler(weights, num_samples)",
    "SeedableRandomSampler": "WeightedRandomSampler(weights, num_samples)",
    "WeightedRandomSampler": "WeightedRandomSampler(weights, num_samples)",
}
"""For each sampler that is refused: what the error advises in its place."""


# The base of the mixin for type checkers. At run time it is `object`, and the Trainer comes after the mixin.
_Trainer: Any = transformers.Trainer if TYPE_CHECKING else object


class TrainerMixin(_Trainer):
    """A mixin for a `transformers.Trainer` of your own: `class MyTrainer(TrainerMixin, SFTTrainer)`.

    Training uses a sampler of `samedeal.torch`. By default, it is a `DistributedSampler` with the `data_seed` or `seed`
    of the arguments, so that each step has the same samples as with the original Trainer. Ranks are compared before
    every epoch. Checkpoints contain the state, and `train(resume_from_checkpoint=...)` continues there, on any number
    of processes: `global_step` continues, `max_steps` and `epoch` follow from the steps that are left, and no sample is
    lost or seen twice. With `ignore_data_skip`, the epoch begins again, as in the original. Evaluation does not change.

    With a trainer of TRL that generates (`GRPOTrainer`, `RLOOTrainer`), each prompt and each generation batch comes as
    often as in TRL. The first epoch has the order of TRL, and later epochs have other orders. If only a part of a
    generation batch had updated the model when a checkpoint was saved, the whole generation batch comes again. A
    `train_sampler` for such a trainer has `order.copies(num_generations)`.
    """

    def __init__(
        self, *args: Any, train_sampler: DistributedSampler | BatchSampler | None = None, **kwargs: Any
    ) -> None:
        """Takes all parameters of the Trainer, and one more.

        Args:
            args: All positional arguments of the Trainer.
            train_sampler: The sampler of the `train_dataset`, such as a `BatchSampler` with `max_tokens`.
            kwargs: All keyword arguments of the Trainer.

        Raises:
            WrongTypeError: `train_sampler` is no sampler of `samedeal.torch`.
            MissingError: The installed version of transformers has another Trainer.
        """
        if not (hasattr(super(), "_run_epoch") and hasattr(super(), "_init_training_state")):
            raise MissingError("transformers", "", f"another version than {transformers.__version__}, such as 5.23")
        if train_sampler is not None and not isinstance(train_sampler, (DistributedSampler, BatchSampler)):
            allowed = "a DistributedSampler or BatchSampler of samedeal.torch"
            raise WrongTypeError("train_sampler", check.described(train_sampler), allowed)
        self.train_sampler = train_sampler
        self._deal = SamedealState()
        self._batches: Any = None
        self._saved: Mapping[str, Any] | None = None
        self._taken = 0
        super().__init__(*args, **kwargs)
        self._count_first()

    def _count_first(self) -> None:
        """Adds the callback that counts, before all other callbacks."""
        self.callback_handler.callbacks.insert(0, self._deal)

    def train(self, resume_from_checkpoint: str | bool | None = None, *args: Any, **kwargs: Any) -> Any:
        """Trains the model. With a checkpoint, it continues from there.

        Raises:
            MissingError: The checkpoint has no state of a sampler.
            ContradictionError: The state is of other data, or of another order or seed, or the ranks differ.
        """
        folder: Any = resume_from_checkpoint
        if folder is True:
            folder = get_last_checkpoint(self.args.output_dir)
        self._saved, self._taken = None, 0
        if folder and not self.args.ignore_data_skip and os.path.isfile(path := os.path.join(folder, _STATE_FILE)):
            found = TrainerState.load_from_json(path)
            self._saved, self._taken = SamedealState.within(found), found.global_step
        return super().train(resume_from_checkpoint, *args, **kwargs)

    def get_train_dataloader(self) -> Any:
        """The loader of the Trainer, with batches of the sampler. Accelerate does not distribute them again.

        Raises:
            ContradictionError: The Trainer has a sampler or batches of its own, such as groups of copies; or an option
                of the arguments cannot be kept.
            WrongTypeError: The dataset is a stream, or has no `len`.
        """
        strategy = getattr(self.args, "train_sampling_strategy", "random")
        if strategy not in ("random", "sequential"):
            allowed = '"random" or "sequential"; for lengths, train_sampler=samedeal.torch.BatchSampler(lengths, ...)'
            raise ContradictionError("train_sampling_strategy", check.shown(strategy), allowed)
        theirs = super().get_train_dataloader()
        dataset = getattr(theirs, "dataset", None)
        if isinstance(dataset, torch.utils.data.IterableDataset):
            allowed = (
                "a dataset that has a len, such as load_dataset(...) without streaming; this trainer takes no stream: "
                "train with samedeal.torch.ShardedDataset under samedeal.accelerate or samedeal.lightning"
            )
            raise WrongTypeError("train_dataset", check.described(self.train_dataset), allowed)
        if not getattr(theirs, "in_order", True) and theirs.num_workers:
            allowed = "True: what was trained on is else no beginning of the epoch"
            raise ContradictionError("dataloader_in_order", "False", allowed)
        plan = _plan_of(theirs, self.train_sampler)
        sampler = self._sampler_for(dataset, plan)
        check_mesh(self.accelerator, sampler)
        if self.accelerator.split_batches and self.accelerator.num_processes > 1 and plan.batch_size:
            allowed = "False in accelerator_config: a DistributedSampler gives each process as many as one device has"
            raise ContradictionError("split_batches", "True", allowed)
        # No `RankWarning`, because the trainer knows the rank and the number of processes.
        sampler._warns = False
        self._batches = _Batches(sampler, plan.batch_size, plan.drop_last, plan.repeats)
        if self._saved is not None:
            sampler.load_state_dict(self._saved)
            if len(sampler) == 0:
                sampler.set_epoch(sampler.epoch + 1)
        return _Loader(dataset, batch_sampler=self._batches, **{name: getattr(theirs, name) for name in _KEPT})

    def _sampler_for(self, dataset: Any, plan: _Plan) -> DistributedSampler | BatchSampler:
        """The sampler of this training, at the beginning of epoch 0."""
        args, sampler = self.args, self.train_sampler
        if sampler is None:
            own = args.seed if args.data_seed is None else args.data_seed
            seed = own if plan.seed is None else plan.seed
            if plan.repeats:
                name = TORCH if plan.shuffle else "sequential"
                prompts = order(name, len(dataset), seed=seed if plan.shuffle else 0).copies(plan.copies)
                # `unit` is the number of completions of a generation batch on one process. The copies of a prompt may
                # therefore be on several processes.
                return _Prompts(dataset, order=prompts, unit=plan.batch_size, drop_last=True)
            return DistributedSampler(dataset, shuffle=plan.shuffle, seed=seed, drop_last=plan.drop_last)
        if plan.repeats:
            _check_copies(sampler, plan)
        known = sampler._num_samples if isinstance(sampler, BatchSampler) else len(sampler.dataset)
        if known not in (None, len(dataset)):
            allowed = f"{len(dataset)}, the length of the train_dataset"
            raise ContradictionError("train_sampler", f"for {known} samples", allowed)
        if self._saved is None:
            # Warns if a state was loaded into the sampler: this training reads the whole first epoch.
            sampler.set_epoch(sampler.epoch + 1)
        # Forgets what another training has read.
        sampler._rewind(0)
        return sampler

    def set_initial_training_values(self, args: Any, dataloader: Any, *more: Any) -> Any:
        """The first values of the Trainer's counts. Epochs may differ in length; the first one need not be whole."""
        self._check_loader(dataloader)
        values = list(super().set_initial_training_values(args, dataloader, *more))
        first, done = self._batches.epoch, self._taken
        if args.max_steps > 0:
            epoch = first
            while done < args.max_steps and epoch - first <= args.max_steps:
                done, epoch = done + self._updates(self._batches.left(epoch)), epoch + 1
            values[0] = max(epoch, 1)
        else:
            for epoch in range(first, math.ceil(args.num_train_epochs)):
                left = self._updates(self._batches.left(epoch))
                whole = self._updates(self._batches.whole(epoch))
                # How many updates of this epoch are to be made: a part of them, if `num_train_epochs` ends within it.
                share = math.ceil(min(1.0, args.num_train_epochs - epoch) * whole)
                done += max(0, left - (whole - share))
            values[-1] = done
        return tuple(values)

    def _check_loader(self, loader: Any) -> None:
        """Raises if a subclass trains on another loader, whose steps would be counted and cut by this sampler."""
        allowed = "what super().get_train_dataloader() gives, or a wrapper of it that has as many batches"
        if self._batches is None:
            raise ContradictionError("train_dataloader", check.described(loader), allowed)
        found = len(loader) if hasattr(loader, "__len__") else len(self._batches)
        if found != len(self._batches):
            value = f"a {type(loader).__name__} of {found} batches, where the sampler deals {len(self._batches)}"
            raise ContradictionError("train_dataloader", value, allowed)

    def _updates(self, batches: int) -> int:
        """How many steps of the optimizer `batches` batches make."""
        return math.ceil(batches / int(self.args.gradient_accumulation_steps))

    def _init_training_state(self, *args: Any, **kwargs: Any) -> tuple[int, int]:
        begun: tuple[int, int] = super()._init_training_state(*args, **kwargs)
        # If callbacks were restored from a checkpoint, the callback is a new object that does not know this training.
        self.remove_callback(SamedealState)
        self._count_first()
        self._deal.begin(self._batches)
        self.state.stateful_callbacks[SamedealState.__name__] = self._deal.state()
        if self._saved is None:
            return begun
        # Batches of this epoch before the resume, counted in batches of the present world size.
        first = self._batches.epoch
        done = max(0, self._batches.whole(first) - len(self._batches))
        self._batches.skipped = done - done % self.args.gradient_accumulation_steps
        return first, self._batches.skipped

    def _run_epoch(self, **given: Any) -> None:
        batches = self._batches
        batches.set_epoch(given["epoch"])
        verify_ranks(batches.sampler)
        steps = batches.skipped + len(batches)
        self._deal.begin(batches)
        super()._run_epoch(**given | {"steps_in_epoch": steps, "num_update_steps_per_epoch": self._updates(steps)})
        batches.skipped = 0


class Trainer(TrainerMixin, transformers.Trainer):
    """`transformers.Trainer` with the parameter `train_sampler`, and with states in its checkpoints."""


class _Prompts(DistributedSampler):
    """Deals the copies of prompts in turn, as Accelerate deals batches."""

    _layout = "strided"


class _Plan(NamedTuple):
    """How the Trainer would read its training data."""

    batch_size: int
    """Samples of a batch; 0 if a `BatchSampler` of this package decides that."""
    drop_last: bool
    shuffle: bool
    seed: int | None
    """The seed of the order; None for the seed of the arguments."""
    copies: int = 1
    """How many completions each prompt has. They are neighbours."""
    repeats: int = 0
    """How often each batch comes; 0 if the trainer does not generate, and each batch comes once."""


def _plan_of(loader: Any, given: DistributedSampler | BatchSampler | None) -> _Plan:
    """The plan of a loader that is to be replaced.

    Raises:
        ContradictionError: The loader has a sampler of its own, which would be lost.
    """
    batches: Any = getattr(loader, "batch_sampler", None)
    while isinstance(batches, BatchSamplerShard):
        batches = batches.batch_sampler
    known: Any = getattr(batches, "sampler", None)
    if _name(known) == _REPEATED:
        processes = _processes_of(loader)
        generated = known.batch_size * known.mini_repeat_count
        if generated != batches.batch_size * processes or len(known.data_source) != len(loader.dataset):
            raise _refusal(known, f" of {generated} completions, where {processes} processes have {batches.batch_size}")
        seed, repeats = known.seed or 0, known.repeat_count
        return _Plan(batches.batch_size, True, bool(known.shuffle), seed, known.mini_repeat_count, repeats)
    if isinstance(given, BatchSampler):
        return _Plan(0, False, True, None)
    if _name(batches) not in _BATCHES:
        raise _refusal(loader if batches is None else batches)
    drop_last = bool(batches.drop_last)
    if given is not None:
        return _Plan(batches.batch_size, drop_last, True, None)
    name, samples = _name(known), len(loader.dataset)
    if name not in _SAMPLERS:
        raise _refusal(known)
    source = known.dataset if name in _DISTRIBUTED else known.data_source
    count = getattr(known, "num_samples", samples) if name in _RANDOM else samples
    if len(source) != samples or count != samples or getattr(known, "replacement", False):
        raise _refusal(known, " that does not give each sample of the dataset once")
    if name in _DISTRIBUTED:
        return _Plan(batches.batch_size, drop_last or known.drop_last, known.shuffle, known.seed)
    return _Plan(batches.batch_size, drop_last, name in _RANDOM, None)


def _processes_of(loader: Any) -> int:
    """How many processes the batches of a loader are distributed over."""
    batches = loader.batch_sampler
    return int(batches.num_processes) if isinstance(batches, BatchSamplerShard) else 1


def _check_copies(sampler: DistributedSampler | BatchSampler, plan: _Plan) -> None:
    """Raises if a sampler does not give each prompt as often as it has completions."""
    known = sampler._order if isinstance(sampler, DistributedSampler) else None
    members = known.to_dict() if isinstance(known, Order) else {}
    if members.get("name") != "copies" or members.get("copies") != plan.copies or plan.batch_size % sampler.unit:
        allowed = (
            f"a DistributedSampler with order.copies({plan.copies}), as many as num_generations, and a unit that "
            f"divides the {plan.batch_size} completions of a process"
        )
        raise ContradictionError("train_sampler", check.described(sampler), allowed)


def _name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _refusal(found: Any, how: str = "") -> ContradictionError:
    if isinstance(found, (DistributedSampler, BatchSampler)):
        allowed = "none of samedeal.torch: pass it as train_sampler="
    else:
        instead = _INSTEAD.get(type(found).__name__, "DistributedSampler(dataset, ...)")
        allowed = (
            "a RandomSampler, SequentialSampler or DistributedSampler of torch, which this class can replace; for "
            f"another order, pass train_sampler=, such as samedeal.torch.{instead}"
        )
    return ContradictionError("sampler", f"{check.described(found)}{how}, in the loader of the Trainer", allowed)


class _Loader(torch.utils.data.DataLoader[Any]):
    """The loader of a training, with the attribute of Accelerate's loaders that the Trainer reads."""

    @property
    def total_batch_size(self) -> int:
        """Samples in a step on all ranks together. Raises an AttributeError if batches differ in size."""
        batches: Any = self.batch_sampler
        if isinstance(batches.sampler, BatchSampler):
            raise AttributeError("total_batch_size: batches of a BatchSampler are not equally large", obj=self)
        return int(batches.size * batches.sampler.num_replicas)


class _Batches(torch.utils.data.Sampler[list[int]]):
    """The samples that a sampler deals, in batches."""

    def __init__(
        self, sampler: DistributedSampler | BatchSampler, size: int, drop_last: bool, repeats: int = 0
    ) -> None:
        self.sampler = sampler
        self.repeats = max(repeats, 1)
        """How many times in a row each batch comes."""
        self.skipped = 0
        """How many empty batches come first, in place of the batches before the resume: the Trainer skips and counts
        them, which costs nothing."""
        self.size, self._drop_last = size, drop_last
        self._known: dict[int, int] = {}

    @property
    def epoch(self) -> int:
        """The epoch of the next pass."""
        return self.sampler.epoch

    def set_epoch(self, epoch: int) -> None:
        """Moves to another epoch. A resumed epoch stays as it is."""
        self.sampler.set_epoch(epoch)

    def whole(self, epoch: int) -> int:
        """How many batches a whole epoch has."""
        if epoch not in self._known:
            self._known[epoch] = len(self._of(self.sampler._in_epoch(epoch))) * self.repeats
        return self._known[epoch]

    def left(self, epoch: int) -> int:
        """How many batches of an epoch are left."""
        return len(self) if epoch == self.epoch else self.whole(epoch)

    def __len__(self) -> int:
        return len(self._of(self.sampler)) * self.repeats

    def __iter__(self) -> Iterator[list[int]]:
        yield from itertools.repeat([], self.skipped)
        for batch in self._of(self.sampler):
            yield from itertools.repeat(batch, self.repeats)

    def _of(self, sampler: Any) -> Any:
        if isinstance(sampler, BatchSampler):
            return sampler
        return torch.utils.data.BatchSampler(sampler, self.size, self._drop_last)


class SamedealState(TrainerCallback, ExportableState):
    """Counts the batches that the model was updated with, for checkpoints, which save it under the name of this class.

    This callback is the first of all, so that other callbacks may save a checkpoint in any of their calls.
    """

    def __init__(self) -> None:
        """Counts nothing yet."""
        self._batches: _Batches | None = None

    @classmethod
    def within(cls, state: TrainerState) -> Mapping[str, Any]:
        """The state that a callback of this class has put into a checkpoint."""
        found: Any = state.stateful_callbacks.get(cls.__name__)
        saved = found.get("attributes", {}).get("saved") if isinstance(found, Mapping) else None
        if saved is None:
            allowed = "a checkpoint of a Trainer with samedeal.transformers.TrainerMixin, or ignore_data_skip=True"
            raise MissingError("state", "", allowed)
        known: Mapping[str, Any] = saved
        return known

    def begin(self, batches: _Batches) -> None:
        """Begins to count a pass over these batches."""
        self._batches, self._steps, self._waiting = batches, 0, 0
        self._samples, self._length = len(batches.sampler), len(batches)

    def on_substep_end(self, *args: Any, **kwargs: Any) -> None:
        """Counts a batch whose gradients wait for the update of the model: a checkpoint would lose them."""
        self._waiting += 1

    def on_optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Counts the batches that waited and the last batch: the model was updated with them."""
        self._steps, self._waiting = self._steps + self._waiting + 1, 0

    def state(self) -> dict[str, Any]:
        """The state that a checkpoint keeps."""
        return {"args": {}, "attributes": {"saved": self._reached()}}

    def _reached(self) -> dict[str, Any] | None:
        batches = self._batches
        if batches is None:
            return None
        size = 1 if isinstance(batches.sampler, BatchSampler) else batches.size
        taken = self._samples if self._steps >= self._length else self._steps // batches.repeats * size
        return batches.sampler._state_after(taken, size)
