"""PyTorch's sampler by weights, for distributed training."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex

import numpy as np
import torch

from .. import ContradictionError, Order, OutOfRangeError, WrongTypeError, weighted
from ..engine import arguments as check
from .arrays import native
from .sampler import DistributedSampler

_TOTAL = 2**44
"""The sum to which weights are scaled if one of them is no whole number, or if their sum is above 2**53 - 1. A weight
above 0 that becomes 0 by this, because it is at most 2**-45 of the sum, is refused."""


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
            weights: A number of 0 or more for each sample. They need not add up to 1. If all are whole numbers with a
                sum of at most 2**53 - 1, they are used exactly, otherwise with an error of at most 2**-45 of the sum.
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
            OutOfRangeError: A weight is negative or not finite, all weights are 0, or a weight that is not used exactly
                is above 0 and at most 2**-45 of the sum.
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
    allowed = "finite numbers of 0 or more, of which one is above 0"
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise OutOfRangeError("weights", f"{weights[wrong[0]]} for sample {wrong[0]}", allowed)
    # `fsum` rounds exactly, so that the sum is the same on every machine.
    total = math.fsum(weights.tolist())
    if not 0 < total < math.inf:
        raise OutOfRangeError("weights", f"{len(weights)} numbers with a sum of {total}", allowed)
    whole = _whole(weights, total)
    above = int(np.count_nonzero(whole))
    if not replacement and above < samples:
        allowed = f"up to {above} without replacement: so many weights are above 0"
        raise ContradictionError("num_samples", str(samples), allowed)
    # Without the common divisor, so that [2, 2, 6] gives the order of [1, 1, 3].
    whole //= max(1, int(np.gcd.reduce(whole)))
    return weighted(whole, samples, seed, replacement=replacement)


def _whole(weights: Any, total: float) -> Any:
    """Whole numbers in the proportions of the weights, int64.

    Raises:
        OutOfRangeError: A weight above 0 would become 0.
    """
    if total <= check.MAX_EXACT and (weights == np.floor(weights)).all():
        return weights.astype(np.int64)
    # Divided first, because a factor of _TOTAL / total may be infinite.
    made = np.rint(weights / total * _TOTAL).astype(np.int64)
    lost = np.flatnonzero((made == 0) & (weights > 0))
    if len(lost):
        value = f"{weights[lost[0]]} for sample {lost[0]}, of a sum of {total}"
        allowed = f"0, or at least {total / _TOTAL:.3g}, since smaller ones would be 0: scale them up, or make them 0"
        raise OutOfRangeError("weights", value[:64], allowed)
    return made
