"""Random augmentations of a run that is resumed, and the states of generators."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from samedeal import ContradictionError, WrongTypeError
from samedeal.torch import BatchSampler, DistributedSampler, Resumable, rng_state, set_rng_state
from torch.utils.data import DataLoader, Dataset

SAMPLES = 40
EPOCHS = 3


class Augmented(Dataset[Any]):  # type: ignore[misc]
    """A sample that is changed by a random number of each generator. `gauss` computes two numbers at a time and keeps
    one for the next call, which is a part of its state."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> list[float]:
        drawn = (random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn(), torch.rand(()).item())
        return [index, *drawn]


def loader_of(kind: str, generator: torch.Generator | None) -> Any:
    sampler: Any = DistributedSampler(Augmented(), 1, 0, seed=3)
    more: dict[str, Any] = {"batch_size": 4, "sampler": sampler}
    if kind == "budget":
        more = {
            "batch_sampler": BatchSampler(
                [1 + i % 7 for i in range(SAMPLES)], max_tokens=12, rank=0, world_size=1, seed=3
            )
        }
    return Resumable(DataLoader(Augmented(), generator=generator, collate_fn=list, **more))


def train(loader: Any, stop: int | None, checkpoint: Path) -> list[Any]:
    """The batches of a loop that saves at a step, and ends there."""
    seen: list[Any] = []
    for epoch in range(loader.epoch, EPOCHS):
        loader.set_epoch(epoch)
        for batch in loader:
            # Dropout takes numbers of the generator as well.
            seen.append([batch, torch.nn.functional.dropout(torch.ones(8)).tolist()])
            if len(seen) == stop:
                torch.save({"loader": loader.state_dict(), "rng": rng_state()}, checkpoint)
                return seen
    return seen


def seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


@pytest.mark.parametrize("stop", [1, 7, 10, 13])
@pytest.mark.parametrize("kind", ["samples", "budget"])
def test_augmentations_go_on_bit_for_bit(tmp_path: Path, kind: str, stop: int) -> None:
    seed_all(1)
    whole = train(loader_of(kind, torch.Generator()), None, tmp_path / "none")
    seed_all(1)
    before = train(loader_of(kind, torch.Generator()), stop, tmp_path / "saved")
    assert before == whole[:stop]
    seed_all(2)
    saved = torch.load(tmp_path / "saved", weights_only=True)
    loader = loader_of(kind, torch.Generator())
    loader.load_state_dict(saved["loader"])
    set_rng_state(saved["rng"])
    assert train(loader, None, tmp_path / "none") == whole[stop:]


def test_without_the_state_they_differ(tmp_path: Path) -> None:
    """The samples are the same, but their augmentations differ."""
    seed_all(1)
    whole = train(loader_of("samples", torch.Generator()), None, tmp_path / "none")
    seed_all(1)
    train(loader_of("samples", torch.Generator()), 7, tmp_path / "saved")
    loader = loader_of("samples", torch.Generator())
    loader.load_state_dict(torch.load(tmp_path / "saved", weights_only=True)["loader"])
    seed_all(1)
    rest = train(loader, None, tmp_path / "none")
    assert [[sample[0] for sample in batch] for batch, _ in rest] == [[s[0] for s in batch] for batch, _ in whole[7:]]
    assert rest != whole[7:]


def test_a_loader_without_a_generator_draws_once_more(tmp_path: Path) -> None:
    """The documentation warns of this case: the resumed pass draws one more random number from PyTorch's generator."""
    seed_all(1)
    train(loader_of("samples", None), 7, tmp_path / "saved")
    saved = torch.load(tmp_path / "saved", weights_only=True)
    seed_all(1)
    whole = train(loader_of("samples", None), None, tmp_path / "none")
    loader = loader_of("samples", None)
    loader.load_state_dict(saved["loader"])
    set_rng_state(saved["rng"])
    assert train(loader, None, tmp_path / "none") != whole[7:]


def draws() -> list[float]:
    return [random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn(), float(torch.rand(()))]


def test_a_state_is_not_moved_by_what_is_drawn_later() -> None:
    np.random.randn()
    state = rng_state()
    first = draws()
    for _ in range(3):
        set_rng_state(state)
        assert draws() == first


@pytest.mark.parametrize("change", [{"python": (3, (1, 2), None)}, {"numpy": {}}, {"torch": torch.zeros(3)}])
def test_what_is_no_state_moves_nothing(change: dict[str, Any]) -> None:
    before = rng_state()
    expected = draws()
    set_rng_state(before)
    other = copy.deepcopy(before)
    draws()
    set_rng_state(before)
    with pytest.raises(WrongTypeError, match="what rng_state gave"):
        set_rng_state(other | change)
    assert draws() == expected
    for wrong in ({}, None, {"samedeal": "text"}):
        with pytest.raises(WrongTypeError, match="what rng_state gave"):
            set_rng_state(wrong)  # type: ignore[arg-type]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_a_device_that_is_not_there() -> None:
    with pytest.raises(ContradictionError, match="CUDA"):
        set_rng_state(rng_state() | {"cuda": torch.zeros(16, dtype=torch.uint8)})
