"""Finds the state of this package in a dictionary of torchdata's StatefulDataLoader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import ContradictionError, WrongTypeError
from ..engine import arguments as check

READER = "reader"
"""The key in the state of a loader worker for the facts about this worker."""

_PARTS = (
    "_snapshot",
    "_main_snapshot",
    "_sampler_iter_state",
    "_index_sampler_state",
    "sampler_iter_state",
    "sampler_state",
    "fetcher_state",
    "dataset_iter_state",
    "dataset_state",
)
"""Members that hold the state of one sampler or dataset, the outer ones first. The state of an iterator comes before
the state of the sampler or dataset that made the iterator."""
_OTHERS = ("_num_yielded", "_sampler_iter_yielded", "_steps_since_snapshot", "_worker_snapshots", "samples_yielded")
"""Other members that only dictionaries of torchdata have."""


def part_of(state: Any) -> Any:
    """The state of a sampler or dataset of this package in a dictionary of torchdata; any other value as it is.

    Raises:
        WrongTypeError: The dictionary has no state that is of all ranks and workers.
        ContradictionError: The state in it does not count the last batches that the training loop got.
    """
    if not isinstance(state, Mapping) or not any(key in state for key in (*_PARTS, *_OTHERS, "yielded")):
        return state
    kind = "that of torchdata's StatefulDataLoader"
    found = _inner(state) or _of_worker(state)
    if found is None:
        allowed = (
            "one with a sampler or dataset of samedeal.torch in it; for the number of samples that another sampler has "
            'given to a rank, {"samedeal": samedeal.Sampler(samples, seed=..., order="torch", epoch=..., '
            "world_size=...).state(number)}"
        )
        raise WrongTypeError("state", kind, allowed)
    if found is not state and READER in found:
        allowed = (
            "one of a loader with num_workers=0: each worker has its own state in it, which StatefulDataLoader alone "
            "can load, on as many ranks and workers; a state of samedeal.torch.Resumable is of all workers"
        )
        raise WrongTypeError("state", kind, allowed)
    if since := state.get("_steps_since_snapshot"):
        allowed = (
            "one with snapshot_every_n_steps=1; StatefulDataLoader can load this one, and reads on to where it was"
        )
        value = f"a snapshot of StatefulDataLoader, {check.shown(since)} batches old"
        raise ContradictionError("state", value[:64], allowed)
    return found


def _inner(state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first part of a dictionary that is a state of this package."""
    if check.STATE_KEY in state:
        return state
    parts = (state[key] for key in _PARTS if isinstance(state.get(key), Mapping))
    return next((found for part in parts if (found := _inner(part)) is not None), None)


def _of_worker(state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The state that the first worker of a loader has saved of its own dataset."""
    outer = state.get("_snapshot", state)
    workers = outer.get("_worker_snapshots") if isinstance(outer, Mapping) else None
    saved = workers.values() if isinstance(workers, Mapping) else ()
    return next((found for one in saved if isinstance(one, Mapping) and (found := _inner(one)) is not None), None)
