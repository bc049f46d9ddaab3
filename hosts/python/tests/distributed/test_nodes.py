"""torchdata's nodes: epochs and states of a `SamplerWrapper` equal those with PyTorch's own sampler."""

from __future__ import annotations

from typing import Any

import pytest
from samedeal.torch import BatchSampler, DistributedSampler
from torch.utils.data import DistributedSampler as Theirs
from torchdata.nodes import Batcher, Loader, ParallelMapper, Prefetcher, SamplerWrapper

SAMPLES = 12


def plain(sampler: Any) -> Any:
    return SamplerWrapper(sampler)


def prefetched(sampler: Any) -> Any:
    batches = Batcher(SamplerWrapper(sampler), 2, drop_last=False)
    return Prefetcher(ParallelMapper(batches, lambda batch: batch, num_workers=2, method="thread"), 2)


@pytest.mark.parametrize("nodes", [plain, prefetched])
@pytest.mark.parametrize("restarts", [True, False])
@pytest.mark.parametrize("epochs", [0, 1, 2])
@pytest.mark.parametrize("items", [0, 1, 3])
def test_epochs_after_a_resume(nodes: Any, restarts: bool, epochs: int, items: int) -> None:
    """Four more passes in another process, after whole epochs and some items of the next one."""

    def made(sampler: Any) -> Any:
        return Loader(nodes(sampler(range(SAMPLES), 2, 1, seed=3)), restart_on_stop_iteration=restarts)

    found = []
    for sampler in (DistributedSampler, Theirs):
        loader = made(sampler)
        for _ in range(epochs):
            assert len([*loader]) > 0
        batches = iter(loader)
        for _ in range(items):
            next(batches)
        saved = loader.state_dict()
        again = made(sampler)
        again.load_state_dict(saved)
        found.append([[*again] for _ in range(4)])
    assert found[0] == found[1]
    assert sum(map(bool, found[0])) >= 3


@pytest.mark.parametrize("nodes", [plain, prefetched])
@pytest.mark.parametrize("epochs", [0, 1])
@pytest.mark.parametrize("items", [0, 1, 3, 6])
def test_one_state_resumes_on_other_ranks(nodes: Any, epochs: int, items: int) -> None:
    """The state of one of two ranks, after whole epochs and some batches or samples of the next one: three ranks read
    what is left, each sample once, and then the next epoch."""

    def made(rank: int, ranks: int) -> Any:
        return Loader(nodes(DistributedSampler(range(SAMPLES), ranks, rank, seed=3)))

    def flat(found: list[Any]) -> list[int]:
        return [i for item in found for i in (item if isinstance(item, list) else [item])]

    seen, states = [], []
    for rank in range(2):
        loader = made(rank, 2)
        for _ in range(epochs):
            assert len([*loader]) > 0
        passed = iter(loader)
        seen += flat([batch for _, batch in zip(range(items), passed, strict=False)])
        states.append(loader.state_dict())
    assert states[0] == states[1]
    is_through = len(seen) == SAMPLES
    following = []
    for rank in range(3):
        loader = made(rank, 3)
        loader.load_state_dict(states[0])
        if not is_through:
            seen += flat([*loader])
        following += flat([*loader])
    # Padding makes the rest equal on three ranks.
    assert {*seen} == {*range(SAMPLES)}
    assert len(seen) - SAMPLES < 3
    assert sorted(following) == [*range(SAMPLES)]


def test_a_batch_sampler_resumes_on_other_ranks() -> None:
    lengths = [1 + i * 7 % 50 for i in range(300)]

    def made(rank: int, ranks: int) -> Any:
        sampler = BatchSampler(lengths, max_tokens=200, seed=3, rank=rank, world_size=ranks)
        return Loader(Prefetcher(ParallelMapper(SamplerWrapper(sampler), tuple, num_workers=2, method="thread"), 4))

    seen, states = [], []
    for rank in range(2):
        loader = made(rank, 2)
        assert len([*loader]) > 0
        seen += [batch for _, batch in zip(range(5), loader, strict=False)]
        states.append(loader.state_dict())
    assert states[0] == states[1]
    for rank in range(3):
        loader = made(rank, 3)
        loader.load_state_dict(states[0])
        seen += [*loader]
    assert sorted(i for batch in seen for i in batch) == [*range(300)]
