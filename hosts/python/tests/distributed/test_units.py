"""Groups that stay on one rank under a DataLoader, also when a run continues on another world size."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import samedeal
import torch
from samedeal import OutOfRangeError, WrongTypeError
from samedeal.torch import DistributedSampler, Resumable, verify_ranks
from torch.utils.data import DataLoader, Dataset

PROMPTS, COPIES = 61, 4
GROUPS = samedeal.order("feistel", PROMPTS, seed=5).copies(COPIES)


class Prompts(Dataset[int]):  # type: ignore[misc]
    """Prompt i is the number i."""

    def __len__(self) -> int:
        return PROMPTS

    def __getitem__(self, index: int) -> int:
        return index


def loader_of(rank: int, world_size: int, workers: int = 0, prompts: int = 2, **options: Any) -> Resumable:
    sampler = DistributedSampler(Prompts(), world_size, rank, order=GROUPS, unit=COPIES, drop_last=True)
    workers_of: dict[str, Any] = {"num_workers": workers, "persistent_workers": workers > 0}
    return Resumable(DataLoader(Prompts(), prompts * COPIES, sampler=sampler, collate_fn=list, **workers_of, **options))


def prompts_of(batches: Any) -> list[int]:
    """The prompts of some batches. Each batch has whole groups."""
    found = []
    for batch in batches:
        groups = torch.tensor(batch).reshape(-1, COPIES)
        assert (groups == groups[:, :1]).all()
        found += groups[:, 0].tolist()
    return found


@pytest.mark.parametrize("world_size", range(1, 6))
def test_every_batch_has_whole_groups(world_size: int) -> None:
    seen = []
    for rank in range(world_size):
        loader = loader_of(rank, world_size, workers=2 if rank == 0 else 0)
        assert loader.sampler.unit == COPIES
        first = prompts_of(loader)
        # A second epoch in the same workers.
        loader.set_epoch(1)
        again = prompts_of(loader)
        assert first != again
        seen += first
    # The remainder of the division by the world size is dropped as whole groups.
    assert len(seen) == len(set(seen)) == PROMPTS // world_size * world_size


@pytest.mark.parametrize(("before", "after"), [(1, 3), (2, 5), (3, 2), (4, 1), (5, 4), (3, 3)])
def test_a_run_goes_on_with_other_ranks(before: int, after: int) -> None:
    seen, states = [], set()
    for rank in range(before):
        loader = loader_of(rank, before, workers=2 if rank == 0 else 0)
        seen += prompts_of(itertools.islice(loader, 3))
        states.add(loader.state_dict()["samedeal"])
    (state,) = states
    left = (PROMPTS - len(seen)) // after * after
    for rank in range(after):
        loader = loader_of(rank, after, workers=2 if rank == 0 else 0)
        loader.load_state_dict({"samedeal": state})
        seen += prompts_of(loader)
    assert len(seen) == len(set(seen)) == 3 * 2 * before + left


def test_a_state_in_the_middle_of_a_group_is_refused() -> None:
    sampler = DistributedSampler(Prompts(), 2, 0, order=GROUPS, unit=COPIES)
    loader = Resumable(DataLoader(Prompts(), 3, sampler=sampler, collate_fn=list))
    batches = iter(loader)
    next(batches)
    with pytest.raises(OutOfRangeError, match="taken is 3"):
        loader.state_dict()
    for _ in range(3):
        next(batches)
    assert '"consumed":24' in loader.state_dict()["samedeal"]


def test_units_are_checked_and_compared() -> None:
    for unit in (0, 2**20 + 1):
        with pytest.raises(OutOfRangeError, match="unit"):
            DistributedSampler(range(9), 1, 0, unit=unit)
    with pytest.raises(WrongTypeError, match="unit"):
        DistributedSampler(range(9), 1, 0, unit="4")  # type: ignore[arg-type]
    assert DistributedSampler(range(9), 1, 0).unit == 1
    verify_ranks(DistributedSampler(range(9), 1, 0, unit=2))


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_consumed_counts_what_all_ranks_took(workers: int) -> None:
    sampler = DistributedSampler(range(100), 4, 1, seed=3)
    loader = Resumable(DataLoader(range(100), 5, sampler=sampler, num_workers=workers))
    assert sampler.samples_consumed == 0
    for number, _ in enumerate(loader, 1):
        assert sampler.samples_consumed == 20 * number
        if number == 3:
            state = loader.state_dict()
    assert sampler.samples_consumed == 100
    loader.set_epoch(1)
    assert sampler.samples_consumed == 0
    other = DistributedSampler(range(100), 3, 0, seed=3)
    other.load_state_dict(state)
    assert other.samples_consumed == 60
    assert len(list(other)) == 14
    assert other.samples_consumed == 100
