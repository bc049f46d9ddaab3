"""Orders that are composed of others, under PyTorch's loaders: states, workers, other world sizes."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from typing import Any

import pytest
import samedeal
import torch
from hostile import fails
from samedeal import ContradictionError, Order, OutOfRangeError, Sampler
from samedeal.torch import DistributedSampler, Resumable
from torch.utils.data import ConcatDataset, DataLoader, Dataset

WEB, CODE = 500, 100


class Texts(Dataset[str]):  # type: ignore[misc]
    """Numbered texts of a source."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < self.count:
            raise IndexError(index)
        return f"{self.name} {index}"


def the_data(*more: Texts) -> Any:
    return ConcatDataset([Texts("web", WEB), Texts("code", CODE), *more])


BLEND = samedeal.blend({"web": (WEB, 3), "code": (CODE, 1)}, seed=7, samples=800)


def loader_of(order: Order, rank: int, world_size: int, workers: int = 0, data: Any = None) -> Resumable:
    found = the_data() if data is None else data
    sampler = DistributedSampler(found, world_size, rank, order=order)
    return Resumable(DataLoader(found, batch_size=10, sampler=sampler, num_workers=workers, collate_fn=list))


def names(texts: Any) -> Counter[str]:
    return Counter(text.split()[0] for text in itertools.chain.from_iterable(texts))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_blend_resumes_in_another_world_with_more(workers: int) -> None:
    first = [loader_of(BLEND, rank, 4, workers) for rank in range(4)]
    before = [batch for loader in first for batch in itertools.islice(loader, 8)]
    assert names(before) == {"web": 240, "code": 80}
    state = pickle.loads(pickle.dumps(first[0].state_dict()))
    assert all(loader.state_dict() == state for loader in first)
    more = BLEND.stage(400, {"web": 1, "code": 1, "math": 2}, sources={"math": 50})
    data = the_data(Texts("math", 50))
    rest = []
    for rank in range(2):
        loader = loader_of(more, rank, 2, workers, data)
        loader.load_state_dict(state)
        assert len(loader) == 24
        rest += list(loader)
    assert names(rest) == {"web": 60 + 100, "code": 20 + 100, "math": 200}
    # The passes over the source "web" continue after the resume: no sample comes again before all samples have come.
    seen = Counter(text for text in itertools.chain(*before, *rest) if text.startswith("web"))
    assert set(seen.values()) == {1}
    assert len(seen) == 400


def test_the_length_is_that_of_the_order() -> None:
    data = Texts("web", 30)
    sampler = DistributedSampler(data, 2, 0, order=samedeal.order("feistel", 30, 5).copies(4))
    assert (len(sampler), sampler.total_size, sampler.order, sampler.seed) == (60, 120, "copies", 5)
    assert Counter(sampler).keys() <= set(range(30))
    lengths = []
    skipping = DistributedSampler(data, 2, 0, order=samedeal.order("feistel", 30, 5).skip([(1, 0, 10)]))
    for epoch in range(3):
        skipping.set_epoch(epoch)
        lengths.append((len(skipping), len(list(skipping))))
    assert lengths == [(15, 15), (10, 10), (15, 15)]


def test_short_data_and_long_epochs() -> None:
    order = samedeal.blend({"a": (3, 1)}, samples=5_000_000)
    sampler = DistributedSampler(Texts("a", 3), 1, 0, order=order)
    assert list(itertools.islice(sampler, 3000)) == Sampler(order=order)[:3000].tolist()


def test_ranks_are_given_all_of_it() -> None:
    order = samedeal.balance([0] * 90 + [1] * 10, [1.0, 4.0], seed=1)
    data = Texts("any", 100)
    given = [sample for rank in range(3) for sample in DistributedSampler(data, 3, rank, order=order, drop_last=False)]
    whole = Sampler(order=order).indices().tolist()
    # The order has 130 positions. With 3 ranks, the first two come again as padding.
    assert Counter(given) == Counter([*whole, *whole[:2]])


def test_growth_between_two_runs() -> None:
    order = samedeal.order("feistel", 100, seed=3)
    first = [DistributedSampler(Texts("a", 100), 2, rank, order=order) for rank in range(2)]
    before = [sample for sampler in first for sample in itertools.islice(sampler, 20)]
    state = first[0].state_dict(20)
    grown = order.grow(0, 40, 140)
    after = []
    for rank in range(4):
        sampler = DistributedSampler(Texts("a", 140), 4, rank, order=grown)
        sampler.load_state_dict(state)
        after += list(sampler)
        sampler.set_epoch(1)
        assert len(sampler) == 35
    assert sorted([*before, *after]) == list(range(140))


def test_the_dataset_is_the_one_of_the_order() -> None:
    with fails(ContradictionError, "dataset") as caught:
        DistributedSampler(Texts("web", WEB), 2, 0, order=BLEND)
    assert str(WEB + CODE) in caught.value.allowed
    data = Texts("a", 10)
    sampler = DistributedSampler(data, 2, 0, order=samedeal.order("feistel", 10))
    data.count = 11
    with fails(ContradictionError, "dataset"):
        iter(sampler)
    with fails(ContradictionError, "dataset"):
        len(sampler)
    data.count = 10
    assert len(list(sampler)) == 5


def test_an_order_has_its_own_seed_and_shuffles_as_it_says() -> None:
    data, order = Texts("a", 10), samedeal.order("feistel", 10, 3)
    with fails(ContradictionError, "seed"):
        DistributedSampler(data, 2, 0, seed=3, order=order)
    # The order itself decides whether it is shuffled. Loops for evaluation pass shuffle=False, which changes nothing
    # here.
    unshuffled = DistributedSampler(data, 2, 0, shuffle=False, order=order)
    assert list(unshuffled) == list(DistributedSampler(data, 2, 0, order=order))
    sampler = DistributedSampler(data, 2, 0, order=order)
    sampler.seed = 4
    with fails(ContradictionError, "seed"):
        iter(sampler)
    sampler.seed = 3
    assert list(sampler) == list(Sampler(10, seed=3, world_size=2))


def test_an_order_that_is_wrong_is_told_at_once() -> None:
    with fails(OutOfRangeError, "indices"):
        DistributedSampler(Texts("a", 10), 2, 0, order=samedeal.order("feistel", 10).exclude([10]))


def test_states_of_other_orders_are_refused() -> None:
    data = the_data()
    state = DistributedSampler(data, 2, 0, order=BLEND).state_dict(3)
    for order in (samedeal.order("feistel", 600), BLEND.stage(5, [1, 1]), BLEND.copies(1)):
        sampler = DistributedSampler(data, 2, 0, order=order)
        before = list(sampler)
        with pytest.raises(ContradictionError):
            sampler.load_state_dict(state)
        assert list(sampler) == before


def test_samplers_go_to_workers() -> None:
    data = the_data()
    sampler = DistributedSampler(data, 2, 1, order=BLEND)
    again = pickle.loads(pickle.dumps(sampler))
    assert list(again) == list(sampler)
    again.rank = 0
    assert list(again) == list(Sampler(order=BLEND, world_size=2))
    assert torch.utils.data.DataLoader(data, sampler=again).sampler is again


def test_the_end_of_whole_numbers_does_not_stop_a_rewind() -> None:
    order = samedeal.blend({"a": (10, 1)}, samples=2**52)
    sampler = DistributedSampler(Texts("a", 10), 2, 0, order=order)
    first = list(itertools.islice(sampler, 5))
    sampler.load_state_dict(sampler.state_dict(5))
    assert list(itertools.islice(sampler, 5)) != first
    # Trainers use this call to begin again from the start.
    sampler._rewind(0)
    assert list(itertools.islice(sampler, 5)) == first
    with fails(OutOfRangeError, "epoch"):
        sampler.set_epoch(1)
