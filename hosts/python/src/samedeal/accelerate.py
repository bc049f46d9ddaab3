"""Loaders that Accelerate leaves as they are.

`accelerator.prepare` deals the batches of every loader among the processes. Those of this package's samplers are dealt
already, and would be again. Needs Accelerate and torch: `pip install samedeal[torch] accelerate`.
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
from .torch import Resumable

__all__ = ["PreparedLoader", "prepare"]


def prepare(accelerator: accelerate.Accelerator, loader: Any) -> PreparedLoader:
    """What `accelerator.prepare(loader)` is for other loaders, without dealing its batches a second time.

    The loader is registered for checkpoints: `save_state` and `load_state` of the accelerator carry its state, which
    resumes on any number of processes. Models and optimizers go through `accelerator.prepare` as ever, before or after.

    Args:
        accelerator: What prepares the rest.
        loader: A `torch.utils.data.DataLoader` with a sampler or a `ShardedDataset` of `samedeal.torch`, or a
            `Resumable` of one.

    Raises:
        WrongTypeError: It has another sampler, or this is no accelerator.
        ContradictionError: It was prepared by Accelerate before; or processes share data (tensor or context
            parallelism), and its sampler has no `mesh`.
    """
    if not isinstance(accelerator, accelerate.Accelerator):
        raise WrongTypeError("accelerator", check.described(accelerator), "an accelerate.Accelerator")
    if isinstance(loader, Resumable):
        loader = loader.loader
    if isinstance(loader, DataLoaderStateMixin):
        raise ContradictionError("loader", "prepared by Accelerate", "a DataLoader as PyTorch knows it")
    prepared = PreparedLoader(loader, accelerator)
    check_mesh(accelerator, prepared.sampler)
    accelerator.register_for_checkpointing(prepared)
    return prepared


def check_mesh(accelerator: accelerate.Accelerator, sampler: Any) -> None:
    """Raises where processes share data that this sampler would divide among them."""
    config = getattr(accelerator, "parallelism_config", None)
    sharing = getattr(config, "non_data_parallel_size", 1)
    if sharing > 1 and not sampler._shares:
        allowed = "one with mesh=..., the dimension of the accelerator's mesh that divides the data"
        value = f"a {type(sampler).__name__} for all processes, of which {sharing} share data"
        raise ContradictionError("sampler", value, allowed)


class PreparedLoader(Resumable, DataLoaderStateMixin):
    """A `Resumable` that puts batches where the accelerator works, and tells it of the last one of an epoch.

    So gradients that are accumulated are synchronised there. `prepare` makes it. Call `set_epoch` before each pass.
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
