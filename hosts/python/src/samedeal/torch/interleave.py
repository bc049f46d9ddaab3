"""Several datasets as one, whose samples come in proportion to weights."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from torch.utils.data import ConcatDataset

from .. import MissingError, Order, WrongTypeError, blend
from ..compose import members as write
from ..engine import arguments as check

if TYPE_CHECKING:
    from ..compose.order import Weight, Weights
    from ..generated.orders import Stages


class Interleaved(NamedTuple):
    """A dataset and the order in which to read it."""

    dataset: Any
    """All datasets end to end: a dataset of Hugging Face if all are, otherwise a `ConcatDataset` of PyTorch."""
    order: Order
    """The order for `DistributedSampler(dataset, order=order)`."""


def interleave(
    datasets: Mapping[str, Any],
    weights: Mapping[str, Weight] | Weights,
    *,
    seed: SupportsIndex | None = None,
    samples: SupportsIndex | None = None,
    exact: bool = False,
    exhaustion: str | None = None,
    max_passes: SupportsIndex | None = None,
    run_length: SupportsIndex | None = None,
    stages: Stages | None = None,
) -> Interleaved:
    """Datasets of Hugging Face or PyTorch as one, and an order that blends them in proportion to weights.

        dataset, order = interleave({"web": web, "code": code}, {"web": 7, "code": 3}, seed=42)
        sampler = DistributedSampler(dataset, order=order)

    Use it in place of `datasets.interleave_datasets` and of a `WeightedRandomSampler` over a `ConcatDataset`: there are
    no random draws, so that every prefix has the samples of each dataset in proportion. Each dataset is read in whole
    passes, each pass in another order. The order works on any number of ranks, and states resume on another number.
    Nothing is copied.

    To change the weights in the middle of a run, add a stage. To add a dataset, put it after the others, with weight 0
    and a stage that gives it another weight, and give `samples` in both runs. States from before the stage resume.

    Limits: datasets of Hugging Face have to have columns that fit together, as `datasets.concatenate_datasets` needs
    them. Streams (`IterableDataset`) are refused, because they have no samples by number.

    Args:
        datasets: The datasets by their names, in their order. Each has a `len` and gives samples by number.
        weights: A weight for each dataset, by names or as a list, such as 7 and 3, or 0.7 and 0.3.
        seed: As for `samedeal.blend`.
        samples: As for `samedeal.blend`: by default as many as there are in all datasets.
        exact: As for `samedeal.blend`.
        exhaustion: As for `samedeal.blend`.
        max_passes: As for `samedeal.blend`.
        run_length: As for `samedeal.blend`.
        stages: As for `samedeal.blend`.

    Raises:
        WrongTypeError: A dataset has no `len`, or a value is not of the type that its parameter takes.
        MissingError: There is no dataset, or a dataset has no weight.
        UnknownNameError: There is a weight for a name that is no dataset.
        ValueError: Columns do not fit together; `datasets.concatenate_datasets` raises it.
    """
    given = {check.crossing("datasets", name): dataset for name, dataset in write.mapping("datasets", datasets).items()}
    if not given:
        raise MissingError("datasets", "", "one or more datasets, by their names")
    own = write.weights(weights, list(given))
    if len(own) != len(given):
        raise WrongTypeError("weights", f"{len(own)} numbers", f"{len(given)} numbers, one for each dataset")
    sources = {name: (_length(dataset), weight) for (name, dataset), weight in zip(given.items(), own, strict=True)}
    order = blend(
        sources,
        seed=seed,
        samples=samples,
        exact=exact,
        exhaustion=exhaustion,
        max_passes=max_passes,
        run_length=run_length,
        stages=stages,
    )
    return Interleaved(_joined(list(given.values())), order)


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except TypeError as error:
        raise WrongTypeError("datasets", check.described(dataset), "datasets that have a len") from error


def _joined(datasets: list[Any]) -> Any:
    """One dataset of all datasets end to end."""
    # Not imported here: if a dataset is of Hugging Face's package, the package is imported already.
    hugging_face = sys.modules.get("datasets")
    if hugging_face is not None and all(isinstance(dataset, hugging_face.Dataset) for dataset in datasets):
        return hugging_face.concatenate_datasets(datasets)
    return ConcatDataset(datasets)
