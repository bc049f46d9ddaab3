"""The identity of a dataset, for states and for the comparison of ranks: how rows are packed, and the indices of parts.

A number of samples alone does not identify such a dataset. Packed with another seed, equally many rows may have other
samples; and `random_split` with another seed gives equally many others.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.utils.data import ConcatDataset, Subset

from .. import ContradictionError
from .torchdata import part_of

_KEY = "dataset"
"""The member of a state that has the identity of the dataset, beside the text of the state."""
_COMPARED = 2**14
"""How many indices of a part go into its checksum, evenly spaced. To hash all indices may take long."""

Identity = list[str | None]
"""The fingerprint of each dataset that is joined, in order. None: a dataset has none, and is not compared."""


def identity_of(dataset: Any, *, names: bool = False) -> Identity:
    """The identity of a dataset, which may be made of others: a `PackedDataset`, a `Subset`, a `ConcatDataset`.

    Args:
        dataset: Any dataset.
        names: Whether a dataset of Hugging Face is identified by its own fingerprint, which is the same on all ranks.
            States do not have it: a function that cannot be hashed gives another fingerprint in each run.
    """
    if isinstance(dataset, ConcatDataset):
        return [one for part in dataset.datasets for one in identity_of(part, names=names)]
    if isinstance(dataset, Subset):
        return [_of_indices(dataset.indices), *_known(identity_of(dataset.dataset, names=names))]
    packed = getattr(dataset, "recipe_fingerprint", None)
    if isinstance(packed, str):
        return [packed, *_known(identity_of(getattr(dataset, "dataset", None), names=names))]
    own = getattr(dataset, "_fingerprint", None) if names else None
    return [own[:64] if isinstance(own, str) else None]


def _known(identity: Identity) -> Identity:
    """The identity of an inner dataset, or nothing if it has none."""
    return identity if any(identity) else []


def _of_indices(indices: Any) -> str | None:
    """The number of indices, and a checksum of some of them; None for values that are no indices."""
    try:
        count = len(indices)
        compared = min(count, _COMPARED)
        places = np.arange(compared) * (count - 1) // max(compared - 1, 1)
        listed = not isinstance(indices, (np.ndarray, torch.Tensor))
        found = [indices[at] for at in places.tolist()] if listed else np.asarray(indices)[places]
        return f"{count}:{zlib.crc32(np.asarray(found, dtype='<i8').tobytes()):08x}"
    except (TypeError, ValueError, OverflowError, LookupError):
        return None


def with_identity(state: dict[str, Any], identity: Identity) -> dict[str, Any]:
    """A state with the identity of its dataset. A state of a dataset without an identity has no such member."""
    return {**state, _KEY: identity[0] if len(identity) == 1 else identity} if any(identity) else state


def check_identity(state: Any, dataset: Any) -> None:
    """Raises if a state is of another dataset. Datasets may have been added since, after the others.

    Raises:
        ContradictionError: The dataset has other rows, or another part of the samples.
    """
    members = part_of(state)
    saved = members.get(_KEY) if isinstance(members, Mapping) else None
    if saved is None:
        return
    own = identity_of(dataset)
    # Another length is no error here: samples may have been added. The order refuses the state if it cannot grow.
    for number, (before, now) in enumerate(zip(saved if isinstance(saved, list) else [saved], own, strict=False)):
        if not isinstance(before, str) or now is None or _differ_in_length(before, now) or before == now:
            continue
        where = f" in part {number}" if len(own) > 1 else ""
        if ":" in before:
            allowed = "the same indices in the Subset as in the state"
            raise ContradictionError(_KEY, f"a Subset with other indices{where}", allowed)
        allowed = f"{before[:16]}, as in the state: rows that are packed of the same lengths with the same options"
        raise ContradictionError(_KEY, f"one of the fingerprint {now[:16]}{where}", allowed)


def _differ_in_length(before: str, now: str) -> bool:
    """Whether both are parts of a dataset, with different numbers of indices."""
    counts = [text.partition(":")[0] for text in (before, now) if ":" in text]
    return len(counts) == 2 and counts[0] != counts[1]
