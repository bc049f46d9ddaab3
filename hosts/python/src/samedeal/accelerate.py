"""Loaders for Accelerate whose batches are not distributed twice.

`accelerator.prepare` distributes the batches of every loader over the processes, even if a sampler of this package has
already done so. Needs Accelerate and torch: `pip install 'hosts/python[torch]' accelerate` in a checkout.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, SupportsIndex

import accelerate
import torch
from accelerate.data_loader import DataLoaderStateMixin
from accelerate.state import GradientState
from accelerate.utils import recursively_apply, send_to_device

from . import ContradictionError, WrongTypeError
from .engine import arguments as check
from .torch import DistributedSampler, Resumable
from .torch.extended import extend
from .torch.padding import Rows
from .torch.states import Count, Resuming

__all__ = ["PreparedLoader", "prepare"]


def prepare(accelerator: accelerate.Accelerator, loader: Any) -> PreparedLoader:
    """Use this instead of `accelerator.prepare(loader)`: it does not distribute the batches a second time.

    The loader is registered for checkpoints: `save_state` and `load_state` of the accelerator include its state, which
    resumes on any number of processes. Prepare models and optimizers with `accelerator.prepare` as usual, before or
    after this. From now on, `gather_for_metrics` of this accelerator leaves out the padding of loaders that this
    function prepared.

    Args:
        accelerator: The `accelerate.Accelerator`.
        loader: A `torch.utils.data.DataLoader` with a sampler or a `ShardedDataset` of `samedeal.torch`, or a
            `Resumable` of one.

    Raises:
        WrongTypeError: The loader has another sampler, or `accelerator` is no `accelerate.Accelerator`.
        ContradictionError: The loader was prepared by Accelerate before, or processes share data (tensor or context
            parallelism) and the sampler has no `mesh`.
    """
    if not isinstance(accelerator, accelerate.Accelerator):
        raise WrongTypeError("accelerator", check.described(accelerator), "an accelerate.Accelerator")
    if isinstance(loader, Resumable):
        loader = loader.loader
    if isinstance(loader, DataLoaderStateMixin):
        raise ContradictionError("loader", "prepared by Accelerate", "a DataLoader as PyTorch knows it")
    prepared = PreparedLoader(loader, accelerator)
    check_mesh(accelerator, prepared.sampler)
    # No `RankWarning`, because Accelerate knows the rank and the number of processes.
    if isinstance(prepared.sampler, Resuming):
        prepared.sampler._warns = False
        # A search for a batch size may have read the same sampler before, which does not count.
        prepared.sampler._read_anew()
    accelerator.register_for_checkpointing(prepared)
    extend(accelerator, _Gathers)
    return prepared


class _Gathers:
    """Methods that override those of an accelerator for which a loader was prepared."""

    _custom_objects: list[Any]

    def gather_for_metrics(self, input_data: Any, use_gather_object: bool = False) -> Any:
        """Gathers like the original; for a `PreparedLoader`, without padding, and also batches of different size."""
        # Accelerate would cut off the last samples of all processes. But the padding is at the end of each process.
        return _gather_for_metrics(self, super().gather_for_metrics, input_data, use_gather_object)  # type: ignore[misc]

    def free_memory(self, *objects: Any) -> Any:
        """Frees like the original, and removes the loaders that were prepared from the objects of checkpoints."""
        self._custom_objects = [one for one in self._custom_objects if not isinstance(one, PreparedLoader)]
        return super().free_memory(*objects)  # type: ignore[misc]


def _gather_for_metrics(accelerator: Any, theirs: Callable[..., Any], input_data: Any, use_gather_object: bool) -> Any:
    loader, processes = accelerator.gradient_state.active_dataloader, accelerator.num_processes
    if not isinstance(loader, PreparedLoader) or processes == 1:
        return theirs(input_data, use_gather_object)
    if loader.may_be_unequal and not use_gather_object and _are_tensors(input_data):
        return recursively_apply(functools.partial(_gather_rows, accelerator, loader.rows), input_data)
    found = theirs(input_data, use_gather_object)
    if not loader.rows.may_be_padding:
        return found
    rows = loader.rows
    padding = accelerator.gather(torch.tensor([rows.num_padding], device=accelerator.device)).tolist()
    if not any(padding):
        return found

    def without_padding(gathered: Any) -> Any:
        each = len(gathered) // processes
        if each * processes != len(gathered) or not rows.samples or each % rows.samples:
            # No rows of samples, but for example the loss of each process: there is no padding to leave out.
            return gathered
        ends = [each - number * (each // rows.samples) for number in padding]
        parts = [gathered[at * each : at * each + end] for at, end in enumerate(ends)]
        return [item for part in parts for item in part] if isinstance(gathered, list) else torch.cat(parts)

    if use_gather_object or not _are_tensors(input_data):
        # The items of the lists of all processes come in one list.
        return without_padding(found) if isinstance(found, list) else found
    return recursively_apply(without_padding, found)


def _gather_rows(accelerator: Any, rows: Rows, tensor: Any) -> Any:
    """Gathers the rows of all processes without padding. Processes may have different numbers of rows.

    Raises:
        ContradictionError: Dimensions other than the first one differ. All processes raise this error.
    """
    # A tensor without dimensions, such as a loss, becomes one row of each process.
    own = tensor.clone()[None] if tensor.ndim == 0 else tensor.contiguous()
    samples, padding = rows.samples, rows.num_padding
    kept = len(own) - (padding * (len(own) // samples) if samples and len(own) % samples == 0 else 0)
    told = torch.tensor([[kept, *own.shape]], device=own.device)
    dimensions = accelerator.gather(torch.tensor([own.ndim], device=own.device)).tolist()
    shapes = accelerator.gather(told).tolist() if len(set(dimensions)) == 1 else []
    if len({tuple(shape[2:]) for shape in shapes}) != 1:
        value = ", ".join(str(tuple(shape[1:])) for shape in shapes) or f"of {dimensions} dimensions"
        allowed = (
            "tensors that differ in their first dimension only: reduce the others first, such as to one number a row"
        )
        raise ContradictionError("input_data", value, allowed)
    most = max(shape[1] for shape in shapes)
    padded = torch.cat([own, own.new_zeros(most - len(own), *own.shape[1:])])
    gathered = accelerator.gather(padded)
    return torch.cat([gathered[at * most : at * most + shape[0]] for at, shape in enumerate(shapes)])


def _are_tensors(data: Any) -> bool:
    """Whether Accelerate gathers the data as tensors."""
    try:
        recursively_apply(lambda tensor: tensor, data, error_on_other_type=True)
    except TypeError:
        return False
    return True


def check_mesh(accelerator: accelerate.Accelerator, sampler: Any) -> None:
    """Raises an error if processes share data that this sampler would divide among them."""
    config = getattr(accelerator, "parallelism_config", None)
    sharing = getattr(config, "non_data_parallel_size", 1)
    if sharing > 1 and not sampler._shares:
        allowed = "one with mesh=..., the dimension of the accelerator's mesh along which ranks get different samples"
        value = f"a {type(sampler).__name__} for all processes, of which {sharing} share data"
        raise ContradictionError("sampler", value, allowed)


class PreparedLoader(Resumable, DataLoaderStateMixin):
    """A `Resumable` that moves batches to the device of the accelerator, and marks the last batch of an epoch.

    Accumulated gradients are synchronised after the last batch. States count the batches that the model was updated
    with, if the loop has `accelerator.accumulate`. `prepare` makes this object. Call `set_epoch` before each pass.
    """

    def __init__(self, loader: Any, accelerator: accelerate.Accelerator) -> None:
        """Finds the sampler of the loader, as `Resumable` does."""
        super().__init__(loader)
        self.gradient_state = GradientState()
        self._accelerator = weakref.ref(accelerator)
        """A weak reference: the accelerator refers to this loader for checkpoints, and a cycle would keep both."""
        self._non_blocking = accelerator.non_blocking
        self._device = accelerator.device if accelerator.device_placement else None
        self._update: tuple[Count, int] | None = None
        """The pass in which the model was updated last, and after how many of its batches; None when a pass begins."""
        self.rows = Rows()
        """The rows of the last batch."""

    def state_dict(self, batches: SupportsIndex | None = None) -> dict[str, Any]:
        """The state for a checkpoint, after all ranks got the same number of batches as this loop.

        Between two updates of accumulated gradients, it is the state of the last update. The batches after that update
        are not in the saved model, and come again. So `save_state` may be called after any `accelerator.accumulate`.

        Args:
            batches: How many batches of this loop the state counts. By default the batches that the model was updated
                with; all batches, if the loop has no `accelerator.accumulate`.

        Raises:
            OutOfRangeError: The loop did not get so many batches.
        """
        if batches is not None or self._is_updated():
            return super().state_dict(batches)
        if self._update is None:
            return super().state_dict(0)
        count, steps = self._update
        return self.sampler._with_facts(count.state_dict(steps), count)

    def load_state_dict(self, state_dict: Mapping[str, Any], *, replan: bool = False) -> None:
        """Continues from a state, as a `Resumable` does.

        Raises:
            SamedealError: The value is no state, or the state of something else. Nothing has changed then.
        """
        super().load_state_dict(state_dict, replan=replan)
        # Gradients are not saved, so the accumulation of gradients begins again.
        self._update = None
        if (accelerator := self._accelerator()) is not None:
            accelerator.step = 0

    def __iter__(self) -> Iterator[Any]:
        """One pass over the loader."""
        if self._is_updated():
            self._update = None
        self.begin()
        # With a remainder of 0, Accelerate does not cut off samples.
        self.remainder = 0
        try:
            for batch in super().__iter__():
                self.end_of_dataloader, self.rows = self._is_last(), self._rows()
                if self._device is not None:
                    batch = send_to_device(batch, self._device, non_blocking=self._non_blocking)
                yield batch
                if self._is_updated() and (count := self._known()) is not None:
                    self._update = count, count.steps
        finally:
            self.end()

    def _is_updated(self) -> bool:
        """Whether the model was updated with all gradients, so that none wait for the next update."""
        return bool(self.gradient_state.sync_gradients or self.gradient_state.num_steps == 1)

    @property
    def batch_sampler(self) -> Any:
        """Raises an AttributeError, so that Accelerate does not skip batches: a resumed loader gives only the rest."""
        advice = "a loader that was prepared goes on by load_state_dict, which skip_first_batches cannot"
        raise AttributeError(f"batch_sampler: {advice}", name="batch_sampler", obj=self)

    @property
    def may_be_unequal(self) -> bool:
        """Whether processes may have batches of different size."""
        return not isinstance(self.sampler, DistributedSampler) or self.sampler._uneven

    def _is_last(self) -> bool:
        """Whether the loop has just got the last batch."""
        count = self._count
        return count is not None and count.over
