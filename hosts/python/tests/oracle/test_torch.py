"""The order "torch" against PyTorch: `randperm`, and `DistributedSampler` rank by rank."""

from __future__ import annotations

import numpy as np
import pytest
from samedeal import Sampler

torch = pytest.importorskip("torch")
DistributedSampler = pytest.importorskip("torch.utils.data").DistributedSampler


@pytest.mark.parametrize("samples", [0, 1, 2, 3, 10, 1000, 65_537, 10**6])
@pytest.mark.parametrize("seed", [0, 1, 42, 2**31, 2**32 - 1, 2**32, 2**40 + 7, -1, -(2**40), 2**63 - 1, -(2**63)])
def test_randperm(samples: int, seed: int) -> None:
    wanted = torch.randperm(samples, generator=torch.Generator().manual_seed(seed))
    assert np.array_equal(Sampler(samples, seed=seed, order="torch").indices(), wanted.numpy())


@pytest.mark.parametrize("samples", [1, 2, 3, 5, 10, 11, 12, 100, 1001])
@pytest.mark.parametrize("world_size", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_distributed_sampler(samples: int, world_size: int, drop_last: bool, shuffle: bool) -> None:
    dataset = range(samples)
    ours = Sampler(
        samples,
        seed=5,
        order="torch" if shuffle else "sequential",
        world_size=world_size,
        remainder="drop" if drop_last else "pad",
    )
    for rank in range(world_size):
        theirs = DistributedSampler(dataset, world_size, rank, shuffle=shuffle, seed=5, drop_last=drop_last)
        ours.set_rank(rank)
        for epoch in (0, 1, 2, 1000):
            theirs.set_epoch(epoch)
            ours.set_epoch(epoch)
            assert list(ours) == list(theirs)
            assert len(ours) == len(theirs)


def test_data_loader() -> None:
    data = torch.utils.data
    dataset = [torch.tensor(i) for i in range(1003)]
    ours = Sampler(1003, seed=1, order="torch", world_size=4, rank=3)
    theirs = DistributedSampler(dataset, 4, 3, seed=1)
    for workers in (0, 2):
        for epoch in range(2):
            ours.set_epoch(epoch)
            theirs.set_epoch(epoch)
            got, wanted = (
                [batch.tolist() for batch in data.DataLoader(dataset, 32, sampler=sampler, num_workers=workers)]
                for sampler in (ours, theirs)
            )
            assert got == wanted


@pytest.mark.parametrize("workers", [0, 2])
def test_data_loader_resumes(workers: int) -> None:
    data = torch.utils.data
    dataset = [torch.tensor(i) for i in range(1003)]
    theirs = DistributedSampler(dataset, 4, 3, seed=1)
    theirs.set_epoch(5)
    whole = [batch.tolist() for batch in data.DataLoader(dataset, 32, sampler=theirs)]
    for done in (0, 3, len(whole)):
        sampler = Sampler(1003, seed=1, order="torch", world_size=4, rank=3, epoch=5)
        rest = data.DataLoader(dataset, batch_sampler=sampler.batches(32, start=done), num_workers=workers)
        assert len(rest) == len(whole) - done
        assert [batch.tolist() for batch in rest] == whole[done:]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
def test_data_loader_with_batches(workers: int, drop_last: bool) -> None:
    data = torch.utils.data
    dataset = [torch.tensor(i) for i in range(1003)]
    ours = Sampler(1003, seed=1, order="torch", world_size=4, rank=3)
    theirs = DistributedSampler(dataset, 4, 3, seed=1)
    # The loaders are made once, as in a training run; the second epoch must be complete, too.
    loaders = [
        data.DataLoader(dataset, batch_sampler=batches, num_workers=workers)
        for batches in (ours.batches(32, drop_last), data.BatchSampler(theirs, 32, drop_last))
    ]
    for epoch in range(2):
        ours.set_epoch(epoch)
        theirs.set_epoch(epoch)
        got, wanted = ([batch.tolist() for batch in loader] for loader in loaders)
        assert got == wanted
        assert len(got) == len(loaders[0]) == len(loaders[1])
