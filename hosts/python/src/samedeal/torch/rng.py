"""The random number generators of a process, for a checkpoint."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .. import ContradictionError, WrongTypeError
from ..engine import arguments as check

_PYTHON, _NUMPY, _TORCH, _CUDA = "python", "numpy", "torch", "cuda"


def rng_state() -> dict[str, Any]:
    """The states of the global random number generators of this process, to save in a checkpoint.

    The generators are those of Python (`random`), NumPy (`numpy.random`, the legacy functions) and PyTorch (the CPU's,
    and that of the current CUDA device, if CUDA is in use). `torch.load` reads the dictionary with `weights_only=True`.

    The state of a loader decides which samples come next. This dictionary decides which random numbers come next, so
    that random augmentations and dropout continue as in a run without an interruption. Each rank has its own
    generators: save the dictionary of every rank, and load it on the same rank, with the same number of ranks.

    The dictionary does not cover:

    - loader workers (`num_workers` above 0). Each worker has its own generators, which are seeded when a pass begins,
      and again in a pass after a resume. To make augmentations independent of workers, ranks and resumes, use one
      generator for each sample: `numpy.random.default_rng((seed, epoch, index))`.
    - generators that you made yourself, such as `numpy.random.default_rng()` and `torch.Generator()`. Save their states
      yourself. Devices other than the current CUDA device are not covered either.
    """
    legacy: Any = np.random.get_state(legacy=False)
    known = legacy["state"]
    state: dict[str, Any] = {
        _PYTHON: random.getstate(),
        # Plain numbers, which `torch.load` reads without trusting the file.
        _NUMPY: {**legacy, "state": {name: _plain(value) for name, value in known.items()}},
        _TORCH: torch.get_rng_state(),
    }
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state[_CUDA] = torch.cuda.get_rng_state()
    return state


def set_rng_state(state: Mapping[str, Any]) -> None:
    """Sets the global random number generators of this process to the states of `rng_state`.

    Call it last, directly before the loop continues. Give the loader its own generator, in the first run too:
    `DataLoader(..., generator=torch.Generator())`. Otherwise it draws a number from PyTorch's global generator whenever
    a pass begins, and a resumed run begins a pass once more.

    Raises:
        WrongTypeError: The value is no such state. No generator has changed then.
        ContradictionError: The state has a CUDA device, and there is none.
    """
    allowed = "what rng_state gave"
    if not isinstance(state, Mapping) or not {_PYTHON, _NUMPY, _TORCH} <= set(state):
        raise WrongTypeError("state", check.described(state), allowed)
    if _CUDA in state and not torch.cuda.is_available():
        raise ContradictionError("state", "with that of a CUDA device", "one without, or a process with such a device")
    before = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        version, numbers, gauss = state[_PYTHON]
        # A tuple, which JSON may have made a list.
        random.setstate((version, tuple(numbers), gauss))
        known = state[_NUMPY]["state"]
        np.random.set_state({**state[_NUMPY], "state": {name: _array(value) for name, value in known.items()}})
        torch.set_rng_state(state[_TORCH])
        if _CUDA in state:
            torch.cuda.set_rng_state(state[_CUDA])
    except Exception as error:
        random.setstate(before[0])
        np.random.set_state(before[1])
        torch.set_rng_state(before[2])
        raise WrongTypeError("state", check.described(state), allowed) from error


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _array(value: Any) -> Any:
    return np.array(value, dtype=np.uint32) if isinstance(value, list) else value
