"""Datasets of Hugging Face that are mixed into one, in proportion to weights."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
import samedeal
from datasets import Dataset
from hostile import fails
from samedeal import MissingError, Sampler, UnknownNameError, WrongTypeError
from samedeal.torch import DistributedSampler, Resumable, interleave
from torch.utils.data import ConcatDataset, DataLoader


def rows_of(name: str, count: int, **more: list[Any]) -> Dataset:
    return Dataset.from_dict({"text": [f"{name} {i}" for i in range(count)], **more})


DATA = {"web": rows_of("web", 300), "code": rows_of("code", 50), "books": rows_of("books", 20)}
WEIGHTS = {"books": 1, "web": 7, "code": 2}


def loader_of(dataset: Any, order: samedeal.Order, rank: int, world_size: int, workers: int = 0) -> Resumable:
    sampler = DistributedSampler(dataset, world_size, rank, order=order)
    return Resumable(DataLoader(dataset, batch_size=10, sampler=sampler, num_workers=workers))


def texts(batches: Any) -> list[str]:
    return [text for batch in batches for text in batch["text"]]


def names(found: list[str]) -> Counter[str]:
    return Counter(text.split()[0] for text in found)


def test_samples_come_in_proportion() -> None:
    dataset, order = interleave(DATA, WEIGHTS, seed=3, samples=1000)
    assert isinstance(dataset, Dataset)
    assert (len(dataset), dataset.column_names) == (370, ["text"])
    found = texts(loader_of(dataset, order, 0, 1))
    assert names(found) == {"web": 700, "code": 200, "books": 100}
    assert names(found[:100]) == {"web": 70, "code": 20, "books": 10}
    # The source "code" is read in passes of 50 samples.
    code = [text for text in found if text.startswith("code")]
    assert all(len(set(code[at : at + 50])) == 50 for at in range(0, 200, 50))
    sampler = Sampler(order=order)
    assert sampler.sources == ("web", "code", "books")
    assert [dataset[at]["text"] for at in sampler[:50].tolist()] == found[:50]
    assert interleave(DATA, [7, 2, 1], seed=3, samples=1000).order == order


@pytest.mark.parametrize("workers", [0, 2])
def test_a_dataset_is_added_in_the_middle_of_a_run(workers: int) -> None:
    first = interleave(DATA, WEIGHTS, samples=800)
    before = []
    loaders = [loader_of(*first, rank, 2, workers) for rank in range(2)]
    for loader in loaders:
        before += texts(itertools.islice(loader, 20))
    more = interleave(
        {**DATA, "math": rows_of("math", 30)},
        {**WEIGHTS, "math": 0},
        samples=800,
        stages=[(400, {"web": 1, "code": 1, "books": 1, "math": 1})],
    )
    after = []
    for rank in range(4):
        loader = loader_of(*more, rank, 4, workers)
        loader.load_state_dict(loaders[0].state_dict())
        after += texts(loader)
    assert names(before) == {"web": 280, "code": 80, "books": 40}
    assert names(after) == dict.fromkeys(("web", "code", "books", "math"), 100)
    seen = Counter(text for text in before + after if text.startswith("web"))
    assert (len(seen), set(seen.values())) == (300, {1, 2})


def test_other_datasets_and_ends() -> None:
    lists: dict[str, Any] = {"a": list(range(100)), "b": list(range(100, 110))}
    dataset, order = interleave(lists, {"a": 5, "b": 1}, exact=True, exhaustion="stop")
    assert isinstance(dataset, ConcatDataset)
    found = [dataset[at] for at in DistributedSampler(dataset, 1, 0, order=order)]
    assert Counter(sample >= 100 for sample in found) == {True: 10, False: len(found) - 10}
    assert len(set(found)) == len(found)
    mixed, order = interleave({"a": lists["a"], "web": DATA["web"]}, [1, 1], exhaustion="renormalise", max_passes=1)
    assert isinstance(mixed, ConcatDataset)
    assert sorted(Sampler(order=order)) == list(range(400))


def test_what_does_not_fit_is_refused() -> None:
    with fails(WrongTypeError, "datasets"):
        interleave({"a": DATA["web"].to_iterable_dataset()}, {"a": 1})
    with fails(WrongTypeError, "datasets"):
        interleave([DATA["web"]], [1])  # type: ignore[arg-type]
    with fails(MissingError, "datasets"):
        interleave({}, {})
    with fails(MissingError, "weight"):
        interleave(DATA, {"web": 1})
    with fails(UnknownNameError, "source"):
        interleave(DATA, {**WEIGHTS, "maths": 1})
    with fails(WrongTypeError, "weights"):
        interleave(DATA, [1, 2])
    with fails(WrongTypeError, "weight"):
        interleave(DATA, {**WEIGHTS, "web": "0.7"})  # type: ignore[arg-type]
    shares = {name: weight / 10 for name, weight in WEIGHTS.items()}
    recipes = [Sampler(order=interleave(DATA, weights)[1]).recipe for weights in (shares, WEIGHTS)]
    assert recipes[0] == recipes[1]
    with pytest.raises(ValueError, match="align"):
        interleave({"a": DATA["web"], "b": Dataset.from_dict({"text": [1]})}, [1, 1])
