"""Datasets of Hugging Face that are mixed into one, in proportion to weights."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
import samedeal
from datasets import Dataset, interleave_datasets
from hostile import fails
from samedeal import ContradictionError, MissingError, Order, OutOfRangeError, Sampler, UnknownNameError, WrongTypeError
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
    mixed, order = interleave({"a": lists["a"], "web": DATA["web"]}, [1, 1], exhaustion="renormalize", max_passes=1)
    assert isinstance(mixed, ConcatDataset)
    assert sorted(Sampler(order=order)) == list(range(400))


LISTED = list(DATA.values())
SHARES = [0.7, 0.2, 0.1]


def counts(order: Order) -> Counter[str]:
    """How many samples each dataset has in the first epoch, by the datasets of `DATA`."""
    sampler = Sampler(order=order)
    found = sampler.source_counts(0, sampler.epoch_length)["count"].tolist()
    return Counter(dict(zip(DATA, found, strict=True)))


def test_a_list_and_probabilities_as_hugging_face_has_them() -> None:
    dataset, order = interleave(LISTED, probabilities=SHARES, seed=3, samples=1000)
    assert dataset["text"] == interleave(DATA, WEIGHTS).dataset["text"]
    assert Sampler(order=order).sources == ("0", "1", "2")
    assert counts(order) == {"web": 700, "code": 200, "books": 100}
    assert (
        interleave(tuple(LISTED), [7, 2, 1], seed=3, samples=1000).order
        == interleave(LISTED, [7, 2, 1], seed=3, samples=1000).order
    )
    assert recipe(interleave(LISTED, SHARES, seed=3, samples=1000).order) == recipe(order)
    by_name = interleave(DATA, probabilities={"books": 0.1, "web": 0.7, "code": 0.2}).order
    assert recipe(by_name) == recipe(interleave(DATA, WEIGHTS).order)
    # Without weights, the datasets take turns.
    assert counts(interleave(LISTED, samples=300).order) == dict.fromkeys(DATA, 100)


def recipe(order: Order) -> str:
    found: str = Sampler(order=order).recipe
    return found


@pytest.mark.parametrize("probabilities", [None, SHARES, [0.5, 0.5, 0.0]])
def test_an_epoch_ends_as_with_hugging_face(probabilities: list[float] | None) -> None:
    """Of each strategy, the counts of samples, and how often a sample comes."""

    def found(strategy: str) -> list[int]:
        order = interleave(LISTED, probabilities=probabilities, seed=3, stopping_strategy=strategy).order
        return [int(i) for i in Sampler(order=order)]

    def theirs(strategy: str) -> Counter[str]:
        made = interleave_datasets(LISTED, probabilities=probabilities, seed=3, stopping_strategy=strategy)
        return names(made["text"])

    def own(samples: list[int]) -> Counter[str]:
        return Counter("web" if sample < 300 else "code" if sample < 350 else "books" for sample in samples)

    read = [name for name, share in zip(DATA, probabilities or [1, 1, 1], strict=True) if share > 0]
    sizes = {name: len(DATA[name]) for name in read}
    # No dataset begins a second pass, and one has made its first. Their shares are random with probabilities.
    first = found("first_exhausted")
    assert len(set(first)) == len(first)
    assert any(own(first)[name] == sizes[name] for name in read)
    if probabilities is None:
        # Theirs are 20 of each. Here, the others go on until it is the turn of the dataset that has ended.
        assert all(abs(count - theirs("first_exhausted")[name]) <= 1 for name, count in own(first).items())
    # Each sample comes at least once, and the last position is that of a last sample.
    whole = found("all_exhausted")
    assert set(whole) == {i for i in range(370) if ("web" if i < 300 else "code" if i < 350 else "books") in read}
    assert len(set(whole[:-1])) == len(set(whole)) - 1
    if probabilities is None:
        assert own(whole)["web"] == 300
        assert abs(len(whole) - theirs("all_exhausted").total()) < 3
    # Each sample comes once.
    once = found("all_exhausted_without_replacement")
    assert own(once) == sizes
    assert len(set(once)) == len(once)
    if 0.0 not in (probabilities or ()):
        assert own(once) == theirs("all_exhausted_without_replacement")


def test_a_dataset_may_have_an_order_of_its_own() -> None:
    """An order leaves samples out, or reads neighbouring samples together, in lanes too."""
    bad = [0, 5, 49]
    of_code = samedeal.order("feistel", 50).exclude(bad)
    dataset, order = interleave(DATA, WEIGHTS, orders={"code": of_code}, samples=1000, seed=3)
    code = [i - 300 for i in Sampler(order=order) if 300 <= i < 350]
    assert set(code) == set(range(50)) - set(bad)
    assert len(dataset) == 370
    files = {name: samedeal.sharded([len(data)], lanes=4, shuffle_window=8) for name, data in DATA.items()}
    by_lane = interleave(DATA, WEIGHTS, orders=files, samples=1000, by_lane=True).order
    assert by_lane.to_dict()["by_lane"] is True
    assert counts(by_lane) == {"web": 700, "code": 200, "books": 100}


def test_parts_of_one_dataset() -> None:
    one = DATA["web"]
    orders = {"short": samedeal.order("feistel", 300).subset(range(100)), "long": samedeal.order("feistel", 300)}
    parts = dict.fromkeys(orders, one)
    dataset, order = interleave(parts, [1, 1], orders=orders, index_space="shared", samples=400)
    assert dataset is one
    assert Sampler(order=order).dataset_size == 300
    assert set(Sampler(order=order)) >= set(range(100))
    with fails(ContradictionError, "datasets"):
        interleave({**parts, "other": DATA["code"]}, [1, 1, 1], index_space="shared")


def test_options_that_contradict_each_other_are_refused() -> None:
    with fails(ContradictionError, "probabilities"):
        interleave(DATA, WEIGHTS, probabilities=SHARES)
    # An error names the parameter that was passed.
    shares: Any = {**dict.fromkeys(DATA, 1), "web": "0.7"}
    for error, wrong in (
        (WrongTypeError, [0.5, 0.5]),
        (WrongTypeError, "7"),
        (WrongTypeError, shares),
        (MissingError, {"web": 1}),
        (UnknownNameError, {**WEIGHTS, "maths": 1}),
    ):
        with fails(error, "probabilities"):
            interleave(DATA, probabilities=wrong)
    with fails(UnknownNameError, "stopping_strategy"):
        interleave(LISTED, stopping_strategy="exhausted")
    with fails(ContradictionError, "stopping_strategy"):
        interleave(LISTED, stopping_strategy="first_exhausted", exhaustion="stop")
    for name, value in {"samples": 9, "run_length": 2, "by_lane": True, "stages": [(9, [1, 1, 1])]}.items():
        with fails(ContradictionError, name):
            interleave(LISTED, stopping_strategy="all_exhausted", **{name: value})  # type: ignore[arg-type]
    with fails(OutOfRangeError, "weight"):
        interleave(LISTED, [0, 0, 0], stopping_strategy="all_exhausted")
    order = samedeal.order("feistel", 300)
    with fails(UnknownNameError, "orders"):
        interleave(DATA, WEIGHTS, orders={"maths": order})
    with fails(ContradictionError, "orders"):
        interleave(DATA, WEIGHTS, orders={"code": order})
    with fails(WrongTypeError, "orders"):
        interleave(DATA, WEIGHTS, orders={"web": "feistel"})  # type: ignore[dict-item]
    with fails(WrongTypeError, "orders"):
        interleave(LISTED, orders=[order])  # type: ignore[arg-type]


def test_what_does_not_fit_is_refused() -> None:
    with fails(WrongTypeError, "datasets") as caught:
        interleave({"a": DATA["web"].to_iterable_dataset()}, {"a": 1})
    assert "ShardedDataset" in caught.value.allowed
    for wrong in (DATA["web"], {DATA["web"]}, None, "web"):
        with fails(WrongTypeError, "datasets"):
            interleave(wrong, [1])  # type: ignore[arg-type]
    with fails(MissingError, "datasets"):
        interleave({}, {})
    with fails(MissingError, "datasets"):
        interleave([])
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
