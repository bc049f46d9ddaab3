"""Loaders for Accelerate whose batches are not distributed twice.

`accelerator.prepare` distributes the batches of every loader over the processes, even if a sampler of this package has
already done so. Needs Accelerate and torch: `pip install 'hosts/python[torch]' accelerate` in a checkout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import accelerate
from accelerate.data_loader import DataLoaderStateMixin
from accelerate.state import GradientState
from accelerate.utils import send_to_device

from . import ContradictionError, WrongTypeError
from .engine import arguments as check
from .torch import DistributedSampler, Resumable

__all__ = ["PreparedLoader", "prepare"]


def prepare(accelerator: accelerate.Accelerator, loader: Any) -> PreparedLoader:
    """Use this instead of `accelerator.prepare(loader)`: it does not distribute the batches a second time.

    The loader is registered for checkpoints: `save_state` and `load_state` of the accelerator include its state, which
    resumes on any number of processes. Prepare models and optimizers with `accelerator.prepare` as usual, before or
    after this.

    Args:
        accelerator: The `accelerate.Accelerator`.
        loader: A `torch.utils.data.DataLoader` with a sampler or a `ShardedDataset` of `samedeal.torch`, or a
            `Resumable` of one.

    Raises:
        WrongTypeError: The loader has another sampler, or `accelerator` is none.
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
    # Accelerate knows how many processes there are.
    if isinstance(prepared.sampler, DistributedSampler):
        prepared.sampler._warns = False
    accelerator.register_for_checkpointing(prepared)
    return prepared


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

    Accumulated gradients are synchronised after the last batch. `prepare` makes this object. Call `set_epoch` before
    each pass.
    """

    def __init__(self, loader: Any, accelerator: accelerate.Accelerator) -> None:
        """Looks at the loader, as `Resumable` does."""
        super().__init__(loader)
        self.gradient_state = GradientState()
        self._accelerator = accelerator

    def __iter__(self) -> Iterator[Any]:
        """One pass over the loader."""
        accelerator = self._accelerator
        device = accelerator.device if accelerator.device_placement else None
        # Of what is left over at the end, Accelerate would cut off samples that are not padding: it is not told.
        self.begin()
        self.remainder = -1
        try:
            for batch in super().__iter__():
                self.end_of_dataloader = self._is_last()
                yield batch if device is None else send_to_device(batch, device, non_blocking=accelerator.non_blocking)
        finally:
            self.end()

    def _is_last(self) -> bool:
        """Whether the loop has just got the last batch."""
        count = self._count
        return count is not None and count.over
