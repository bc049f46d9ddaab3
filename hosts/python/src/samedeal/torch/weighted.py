"""PyTorch's sampler by weights, for distributed training."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
import torch

from .. import ContradictionError, Order, OutOfRangeError, WrongTypeError, weighted, whole_weights
from ..engine import arguments as check
from .arrays import native
from .sampler import DistributedSampler


class WeightedRandomSampler(DistributedSampler[int]):
    """`torch.utils.data.WeightedRandomSampler` for distributed training, with states and without random draws.

    Each sample is seen `weight * num_samples / sum(weights)` times in an epoch, on all ranks together, rounded up or
    down (`samedeal.weighted`). Every rank gets other samples of the same epoch. PyTorch's class draws at random, so
    that counts differ by chance, and every rank draws for itself. Call `set_epoch` before each pass. States resume on
    any number of ranks.

    Every epoch has exactly `num_samples` samples, on all ranks together. This class is a `DistributedSampler` of this
    package: `len` and the attribute `num_samples` are the number of samples of *this rank*, so only with one rank they
    are the number that was given.

    >>> from samedeal.torch import WeightedRandomSampler
    >>> sampler = WeightedRandomSampler([1, 1, 1, 3], num_samples=12, num_replicas=1, rank=0, seed=7)
    >>> sorted(sampler)
    [0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3]
    """

    def __init__(
        self,
        weights: Any,
        num_samples: SupportsIndex,
        replacement: bool = True,
        generator: Any = None,
        *,
        num_replicas: SupportsIndex | None = None,
        rank: SupportsIndex | None = None,
        seed: SupportsIndex = 0,
        drop_last: bool = False,
        mesh: Any = None,
    ) -> None:
        """Finds the rank of this process.

        Args:
            weights: A number of 0 or more for each sample, used in proportion (`samedeal.whole_weights`). They need not
                add up to 1.
            num_samples: The number of samples of an epoch, for all ranks together.
            replacement: Whether a sample with a large weight is seen several times in an epoch. With False, it is seen
                once at most, with a chance in proportion to its weight; the largest weights, whose share would be more
                than one draw, come surely. (In this case, PyTorch draws one sample after the other, which favours small
                weights.)
            generator: Must be None. Give a `seed` instead.
            num_replicas: As for `DistributedSampler`.
            rank: As for `DistributedSampler`.
            seed: Seed of the order, the same on all ranks.
            drop_last: As for `DistributedSampler`.
            mesh: As for `DistributedSampler`.

        Raises:
            ContradictionError: There is a `generator`, or `replacement` is False and fewer than `num_samples` weights
                are above 0.
            OutOfRangeError: A weight is negative or not finite, or is above 0 and would become 0; or all weights are 0.
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        replaced = check.boolean("replacement", replacement)
        if generator is not None:
            raise ContradictionError(
                "generator", check.described(generator), "None: pass seed=..., the same on all ranks"
            )
        asked = check.integer("num_samples", num_samples, check.COUNT_FROM_1)
        if asked == 0:
            raise OutOfRangeError("num_samples", "0", check.COUNT_FROM_1.allowed)
        self.weights = _weights(weights)
        self.replacement = replaced
        order = _order(self.weights.numpy(), asked, check.seed(seed), replaced)
        super().__init__(range(len(self.weights)), num_replicas, rank, drop_last=drop_last, order=order, mesh=mesh)


def _weights(weights: Any) -> torch.Tensor:
    """The weights as a tensor, which PyTorch's class has, too."""
    allowed = "a list of numbers of 0 or more, one for each sample"
    if isinstance(weights, (str, bytes, bytearray)):
        raise WrongTypeError("weights", check.described(weights), allowed)
    try:
        found = torch.as_tensor(native(weights), dtype=torch.double, device="cpu").detach().clone()
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise WrongTypeError("weights", check.described(weights), allowed) from error
    if found.ndim != 1:
        raise WrongTypeError("weights", f"<{found.dtype} tensor of shape {tuple(found.shape)}>"[:64], allowed)
    return found


def _order(weights: Any, samples: int, seed: int, replacement: bool) -> Order:
    """The order with each sample as often as its weight says."""
    whole = whole_weights(weights)
    above = int(np.count_nonzero(whole))
    if not above:
        raise OutOfRangeError("weights", f"{len(weights)} numbers of 0", "numbers of which one is above 0")
    if not replacement and above < samples:
        allowed = f"up to {above} without replacement: so many weights are above 0"
        raise ContradictionError("num_samples", str(samples), allowed)
    return weighted(whole, samples, seed, replacement=replacement)
