"""PyTorch's sampler by weights, for distributed training."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, SupportsIndex

import numpy as np
import torch

from .. import ContradictionError, Order, OutOfRangeError, WrongTypeError, balance
from ..engine import arguments as check
from .sampler import DistributedSampler

_MOST_FACTOR = check.U32_MAX
"""In millionths."""
_MOST_CLASSES = 2**16


class WeightedRandomSampler(DistributedSampler[int]):
    """`torch.utils.data.WeightedRandomSampler` for distributed training, with states and without random draws.

    Each sample is seen `weight * num_samples / sum(weights)` times in an epoch, on all ranks together: that number
    rounded down or up in every epoch, and exactly so many times over several epochs (in millionths). Every rank gets
    other samples of the same epoch. PyTorch's class draws at random, so that counts differ by chance, and every rank
    draws for itself. Call `set_epoch` before each pass. States resume on any number of ranks.

    It is a `DistributedSampler` of this package: `len` and `num_samples` are the number of samples of *this rank*,
    where `num_samples` of PyTorch's class is the number that was given. An epoch of all ranks has `num_samples` samples
    up to rounding: each group of samples with equal weights has its number rounded up or down. If all weights differ,
    the length of an epoch can so differ by some samples from the one before: ask `len(loader)` in each epoch.

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
            weights: A number of 0 or more for each sample, of up to 65,536 different values. They need not add up to 1.
            num_samples: The number of samples of an epoch, for all ranks together.
            replacement: True. A sample with a large weight is seen several times in an epoch.
            generator: None: give a `seed` instead.
            num_replicas: As for `DistributedSampler`.
            rank: As for `DistributedSampler`.
            seed: Seed of the order, the same on all ranks.
            drop_last: As for `DistributedSampler`.
            mesh: As for `DistributedSampler`.

        Raises:
            ContradictionError: `replacement` is False, or there is a `generator`.
            OutOfRangeError: A weight is negative or not finite, all weights are 0, a sample would be seen more than
                4294 times in an epoch, or there are too many different weights.
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        if not check.boolean("replacement", replacement):
            allowed = (
                "True: samples are seen as often as their weights say. To see each sample at most once, choose the "
                "samples yourself, and pass DistributedSampler an order: samedeal.order('feistel', n).subset(indices)"
            )
            raise ContradictionError("replacement", "False", allowed)
        if generator is not None:
            raise ContradictionError(
                "generator", check.described(generator), "None: pass seed=..., the same on all ranks"
            )
        asked = check.integer("num-samples", num_samples, check.COUNT_FROM_1)
        if asked == 0:
            raise OutOfRangeError("num-samples", "0", check.COUNT_FROM_1.allowed)
        self.weights = _weights(weights)
        self.replacement = True
        order = _order(self.weights.numpy(), asked, check.integer("seed", seed, check.S64))
        super().__init__(range(len(self.weights)), num_replicas, rank, drop_last=drop_last, order=order, mesh=mesh)


def _weights(weights: Any) -> torch.Tensor:
    """The weights as PyTorch's class has them."""
    allowed = "a list of numbers of 0 or more, one for each sample"
    if isinstance(weights, (str, bytes)):
        raise WrongTypeError("weights", check.described(weights), allowed)
    try:
        found = torch.as_tensor(weights, dtype=torch.double, device="cpu").detach().clone()
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise WrongTypeError("weights", check.described(weights), allowed) from error
    if found.ndim != 1:
        raise WrongTypeError("weights", f"<{found.dtype} tensor of shape {tuple(found.shape)}>"[:64], allowed)
    return found


def _order(weights: Any, samples: int, seed: int) -> Order:
    """Each sample as often as its weight says: samples of equal factors are one class."""
    allowed = "finite numbers of 0 or more, of which one is above 0"
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise OutOfRangeError("weights", f"{weights[wrong[0]]} for sample {wrong[0]}", allowed)
    # Exactly rounded, so that it is the same on every machine.
    total = math.fsum(weights.tolist())
    if not 0 < total < math.inf:
        raise OutOfRangeError("weights", f"{len(weights)} numbers with a sum of {total}", allowed)
    factors = np.rint(weights / total * samples * check.MILLION)
    if factors.max() > _MOST_FACTOR:
        most = int(np.argmax(factors))
        value = f"{weights[most]} for sample {most}: {factors[most] / check.MILLION:.0f} times an epoch"
        raise OutOfRangeError("weights", value[:64], "a sample at most 4294 times an epoch, so fewer num_samples")
    found, classes = np.unique(factors.astype(np.int64), return_inverse=True)
    if len(found) > _MOST_CLASSES:
        allowed = f"up to {_MOST_CLASSES} different ones: round them, such as numpy.round(weights, 3)"
        raise OutOfRangeError("weights", f"{len(found)} different ones", allowed)
    return balance(classes.reshape(-1), [Fraction(factor, check.MILLION) for factor in found.tolist()], seed=seed)
