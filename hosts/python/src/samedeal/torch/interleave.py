"""Several datasets as one, whose samples come in proportion to weights."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from torch.utils.data import ConcatDataset

from .. import ContradictionError, MissingError, Order, SamedealError, Sampler, UnknownNameError, WrongTypeError, blend
from ..compose import members as write
from ..engine import arguments as check
from .sized import length_of

if TYPE_CHECKING:
    from ..compose.order import Weight, Weights
    from ..generated.orders import Stages

_ALL = "all_exhausted"
_EXHAUSTION = {"first_exhausted": "stop", _ALL: "repeat", "all_exhausted_without_replacement": "renormalize"}
"""The `exhaustion` of a blend for each `stopping_strategy` of `datasets.interleave_datasets`."""


class Interleaved(NamedTuple):
    """A dataset and the order in which to read it."""

    dataset: Any
    """All datasets end to end: a dataset of Hugging Face if all are, otherwise a `ConcatDataset` of PyTorch."""
    order: Order
    """The order for `DistributedSampler(dataset, order=order)`."""


def interleave(
    datasets: Mapping[str, Any] | Sequence[Any],
    weights: Mapping[str, Weight] | Weights | None = None,
    *,
    probabilities: Mapping[str, Weight] | Weights | None = None,
    stopping_strategy: str | None = None,
    orders: Mapping[str, Order] | None = None,
    seed: SupportsIndex | None = None,
    samples: SupportsIndex | None = None,
    exact: bool = False,
    exhaustion: str | None = None,
    max_passes: SupportsIndex | None = None,
    run_length: SupportsIndex | None = None,
    by_lane: bool | None = None,
    index_space: str | None = None,
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
        datasets: The datasets by their names, in their order, or a list of datasets, whose names are then "0", "1" and
            so on. Each has a `len` and gives samples by number.
        weights: A weight for each dataset, by names or as a list, such as 7 and 3, or 0.7 and 0.3. By default, all
            weigh the same.
        probabilities: Another name for `weights`, as `datasets.interleave_datasets` has it.
        stopping_strategy: The end of an epoch, as `datasets.interleave_datasets` has it, in place of `exhaustion`.
            "first_exhausted": before a dataset would begin its second pass (`exhaustion="stop"`). "all_exhausted": with
            the position at which the last dataset has made a whole pass, while others go on with further passes
            (`samples` of this number; later epochs have as many positions, and the passes go on over them).
            "all_exhausted_without_replacement": with each sample of each dataset once (`exhaustion="renormalize"`). By
            default, `exhaustion` and `samples` decide, whose defaults are other than Hugging Face's.
        orders: By name: the order of the samples of a dataset, such as `samedeal.sharded(sizes)`, or
            `samedeal.order("feistel", len(web)).exclude(bad)`. By default "feistel".
        seed: As for `samedeal.blend`.
        samples: As for `samedeal.blend`: by default as many as there are in all datasets.
        exact: As for `samedeal.blend`.
        exhaustion: As for `samedeal.blend`.
        max_passes: As for `samedeal.blend`.
        run_length: As for `samedeal.blend`.
        by_lane: As for `samedeal.blend`; each dataset needs a `sharded` order in `orders`.
        index_space: As for `samedeal.blend`. With "shared", the same dataset stands under all names, and `orders` say
            which of its samples each name has.
        stages: As for `samedeal.blend`.

    Raises:
        WrongTypeError: A dataset has no `len`, or a value is not of the type that its parameter takes.
        MissingError: There is no dataset, or a dataset has no weight.
        UnknownNameError: There is a weight or an order for a name that is no dataset, or no such `stopping_strategy`.
        ContradictionError: Two options say the same, or an order has another number of samples than its dataset, or the
            datasets differ with the index space "shared".
        ValueError: Columns do not fit together; `datasets.concatenate_datasets` raises it.
    """
    given = _named(datasets)
    own = _weights(weights, probabilities, list(given))
    known = write.mapping("orders", {} if orders is None else orders)
    for name in known:
        if name not in given:
            raise UnknownNameError("orders", check.shown(name), ", ".join(given), {"known": tuple(given)})
    sources = {
        name: (_order_of(name, dataset, known.get(name)), weight)
        for (name, dataset), weight in zip(given.items(), own, strict=True)
    }
    options: dict[str, Any] = {"samples": samples, "run_length": run_length, "by_lane": by_lane, "stages": stages}
    made = functools.partial(blend, sources, seed=seed, exact=exact, max_passes=max_passes, index_space=index_space)
    if stopping_strategy is not None:
        if exhaustion is not None:
            raise ContradictionError("stopping_strategy", check.shown(stopping_strategy), "none, with exhaustion")
        exhaustion = _EXHAUSTION[check.enum("stopping_strategy", stopping_strategy, tuple(_EXHAUSTION))]
        if stopping_strategy == _ALL:
            for name, value in options.items():
                if value is not None:
                    allowed = f'none, with stopping_strategy="{_ALL}": samples alone says where an epoch ends'
                    raise ContradictionError(name, check.described(value), allowed)
            weighty = [number for number, weight in enumerate(own) if float(weight) > 0]
            options["samples"] = _all_read(functools.partial(made, exhaustion=exhaustion), weighty)
    joined = _one(given) if index_space == "shared" else _joined(list(given.values()))
    return Interleaved(joined, made(exhaustion=exhaustion, **options))


def _named(datasets: Any) -> dict[str, Any]:
    """The datasets by their names."""
    if isinstance(datasets, (list, tuple)):
        datasets = {str(number): dataset for number, dataset in enumerate(datasets)}
    if not isinstance(datasets, Mapping):
        raise WrongTypeError("datasets", check.described(datasets), "a dictionary or a list of datasets")
    if not datasets:
        raise MissingError("datasets", "", "one or more datasets, by their names or as a list")
    return {check.crossing("datasets", name): dataset for name, dataset in datasets.items()}


def _weights(weights: Any, probabilities: Any, names: list[str]) -> list[Any]:
    """The weight of each dataset."""
    field = "weights" if probabilities is None else "probabilities"
    if weights is not None and probabilities is not None:
        raise ContradictionError(field, check.described(probabilities), "none, with weights")
    given = probabilities if weights is None else weights
    if given is None:
        return [1] * len(names)
    try:
        found = write.weights(given, names)
    except SamedealError as error:
        if weights is not None:
            raise
        raise type(error)(field, error.value, error.allowed, error.facts) from None
    if len(found) != len(names):
        raise WrongTypeError(field, f"{len(found)} numbers", f"{len(names)} numbers, one for each dataset")
    return found


def _order_of(name: str, dataset: Any, order: Any) -> int | Order:
    """The order of a dataset, or the number of its samples if it has no order of its own."""
    samples = length_of(dataset, "datasets")
    if order is None:
        return samples
    if not isinstance(order, Order):
        raise WrongTypeError("orders", check.described(order), f"an Order, for {check.shown(name)}")
    if (found := Sampler(order=order).dataset_size) != samples:
        allowed = f"one of {samples}, as many as the dataset {check.shown(name)} has"
        raise ContradictionError("orders", f"one of {found} samples", allowed)
    return order


def _all_read(made: functools.partial[Order], sources: list[int]) -> int:
    """The smallest number of positions in which each of these sources makes a whole pass."""

    def is_enough(sampler: Sampler, count: int) -> bool:
        return bool((sampler.source_counts(0, count)["to_pass"][sources] > 0).all())

    least, most = 0, 1
    while not is_enough(sampler := Sampler(order=made(samples=most)), most):
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        if is_enough(sampler, middle):
            most = middle
        else:
            least = middle
    return most


def _one(datasets: Mapping[str, Any]) -> Any:
    """The dataset that stands under all names."""
    first, *others = datasets.items()
    for name, dataset in others:
        if dataset is not first[1]:
            allowed = f'the same one as {check.shown(first[0])}, with index_space="shared"'
            raise ContradictionError("datasets", f"another dataset as {check.shown(name)}"[:64], allowed)
    return first[1]


def _joined(datasets: list[Any]) -> Any:
    """One dataset of all datasets end to end."""
    # Not imported here: if a dataset is of Hugging Face's package, the package is imported already.
    hugging_face = sys.modules.get("datasets")
    if hugging_face is not None and all(isinstance(dataset, hugging_face.Dataset) for dataset in datasets):
        return hugging_face.concatenate_datasets(datasets)
    return ConcatDataset(datasets)
