"""torchdata's nodes: epochs and states of a `SamplerWrapper` equal those with PyTorch's own sampler."""

from __future__ import annotations

from typing import Any

import pytest
from samedeal.torch import DistributedSampler
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
