"""Rows that are packed once, and mixed by tokens."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from samedeal import ContradictionError, MissingError, OutOfRangeError, Sampler, WrongTypeError
from samedeal.torch import DistributedSampler, PackCollator, PackedDataset, PackedRow, Resumable, interleave
from torch.utils.data import DataLoader, Dataset

CAPACITY = 512
MEANS = {"chat": 12, "code": 60, "books": 120}
WEIGHTS = {"chat": 5, "code": 3, "books": 2}


class Texts(Dataset[dict[str, Any]]):  # type: ignore[misc]
    """Texts of about so many tokens; a token says of which source it is, and its label of which sample."""

    def __init__(self, name: str, mean: int, samples: int = 2_000) -> None:
        self.token = 1 + list(MEANS).index(name)
        self.lengths = np.random.default_rng(mean).poisson(mean, samples).clip(1, CAPACITY)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> dict[str, Any]:
        shape = (int(self.lengths[index]),)
        return {"input_ids": torch.full(shape, self.token), "labels": torch.full(shape, index)}


TEXTS = {name: Texts(name, mean) for name, mean in MEANS.items()}
ROWS = {name: PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, seed=7) for name, data in TEXTS.items()}


@pytest.mark.parametrize("name", ROWS)
def test_each_sample_is_in_one_row(name: str) -> None:
    rows, data = ROWS[name], TEXTS[name]
    found = np.concatenate([rows.samples(row) for row in range(len(rows))])
    assert sorted(found.tolist()) == list(range(len(data)))
    assert rows.tokens == data.lengths.sum()
    assert rows.fill == rows.tokens / (len(rows) * CAPACITY) > 0.9
    assert all(data.lengths[rows.samples(row)].sum() <= CAPACITY for row in range(len(rows)))
    row = rows[3]
    assert isinstance(row, PackedRow)
    assert [int(sample["labels"][0]) for sample in row] == rows.samples(3).tolist()
    again = PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, seed=7)
    assert again.recipe_fingerprint == rows.recipe_fingerprint
    other = PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, seed=8)
    assert other.recipe_fingerprint != rows.recipe_fingerprint
    assert len(list(rows)) == len(rows)


def loader_of(rank: int, world_size: int, workers: int = 0) -> Resumable:
    dataset, order = interleave(ROWS, WEIGHTS, seed=1, samples=6_000)
    sampler = DistributedSampler(dataset, world_size, rank, order=order, drop_last=True)
    options: dict[str, Any] = {"sampler": sampler, "num_workers": workers, "collate_fn": PackCollator(CAPACITY)}
    return Resumable(DataLoader(dataset, 4, **options))


def test_weights_are_shares_of_tokens() -> None:
    """Of rows in every prefix of steps exactly up to the bound, and of tokens as far as rows are full."""
    _, order = interleave(ROWS, WEIGHTS, seed=1, samples=6_000)
    bounds = np.asarray(Sampler(order=order).source_bounds) / 1e6
    loaders = [loader_of(rank, 2, workers=rank) for rank in range(2)]
    counts, cells = np.zeros(3), np.zeros(3)
    for step, batches in enumerate(zip(*loaders, strict=True)):
        for batch in batches:
            ids = batch["input_ids"]
            assert ids.shape == (4, CAPACITY)
            # A row has samples of one source.
            sources = [row[row > 0].unique().tolist() for row in ids]
            assert all(len(source) == 1 for source in sources)
            counts += np.bincount([source[0] - 1 for source in sources], minlength=3)
            cells += np.bincount(ids.flatten().numpy(), minlength=4)[1:]
        exact = np.array(list(WEIGHTS.values())) / 10 * 8 * (step + 1)
        assert (np.abs(counts - exact) <= bounds).all()
    fills = np.array([rows.fill for rows in ROWS.values()])
    shares = cells / cells.sum()
    expected = np.array(list(WEIGHTS.values())) * fills
    assert np.abs(shares - expected / expected.sum()).max() < 0.005


def test_a_state_goes_on_with_other_ranks_and_no_row_is_seen_twice_in_a_pass() -> None:
    seen: Counter[tuple[int, int]] = Counter()

    def count(batch: Any) -> None:
        for ids, labels in zip(batch["input_ids"], batch["labels"], strict=True):
            known = labels >= 0
            seen.update(set(zip(ids[known].tolist(), labels[known].tolist(), strict=True)))

    loaders = [loader_of(rank, 2) for rank in range(2)]
    for _, batches in zip(range(100), zip(*loaders, strict=True), strict=False):
        for batch in batches:
            count(batch)
    state = pickle.loads(pickle.dumps(loaders[0].state_dict()))
    for rank in range(3):
        loader = loader_of(rank, 3)
        loader.load_state_dict(state)
        for _, batch in zip(range(30), loader, strict=False):
            count(batch)
    rows = 100 * 8 + 30 * 12
    for number, (name, weight) in enumerate(WEIGHTS.items(), 1):
        passes = rows * weight / 10 / len(ROWS[name])
        # The first label of a sample is masked, so that samples of one token are not seen here.
        times = [seen[number, sample] for sample in range(2_000) if TEXTS[name].lengths[sample] > 1]
        assert max(times) - min(times) <= 1
        assert abs(np.mean(times) - passes) < 0.05


def test_rows_stay_as_they_were_packed() -> None:
    rows = ROWS["code"]
    batch = PackCollator(CAPACITY, segment_ids="segment_ids")([rows[0], rows[5], rows[1]])
    for row, number in enumerate([0, 5, 1]):
        lengths = TEXTS["code"].lengths[rows.samples(number)]
        assert batch["segment_ids"][row].max() == len(lengths)
        assert (batch["segment_ids"][row] > 0).sum() == lengths.sum()
    assert batch["cu_seq_lens_q"][-1] == 3 * CAPACITY


def test_what_is_wrong_is_told() -> None:
    data = TEXTS["code"]
    with pytest.raises(ContradictionError, match="lengths, or a column"):
        PackedDataset(data, capacity=CAPACITY)
    with pytest.raises(ContradictionError, match="one for each sample"):
        PackedDataset(data, capacity=CAPACITY, lengths=[1, 2])
    with pytest.raises(ContradictionError, match="whole samples"):
        PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, too_long="split")
    with pytest.raises(OutOfRangeError, match="capacity"):
        PackedDataset(data, capacity=0, lengths=data.lengths)
    with pytest.raises(OutOfRangeError):
        PackedDataset(data, capacity=5, lengths=data.lengths)
    assert ROWS["code"].samples(-1).tolist() == ROWS["code"].samples(len(ROWS["code"]) - 1).tolist()
    with pytest.raises(IndexError, match="row is"):
        ROWS["code"][len(ROWS["code"])]
    with pytest.raises(MissingError, match="PackedDataset"):
        PackCollator()([PackedRow([[1, 2]])])
    with pytest.raises(TypeError, match=r"PackedDataset\(\) got .* 'packin'; did you mean 'packing'"):
        PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, packin="fast")
    with pytest.raises(TypeError, match=r"PackedDataset\(\) got .* 'max_batch_size'"):
        PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, max_batch_size=2)
    with pytest.raises(WrongTypeError, match="as the others are"):
        PackCollator(CAPACITY)([ROWS["code"][0], [1, 2]])
    dropped = PackedDataset(data, capacity=50, lengths=data.lengths, too_long="drop")
    assert dropped.tokens == data.lengths[data.lengths <= 50].sum()
    empty = PackedDataset([], capacity=5, lengths=[])
    assert (len(empty), empty.fill, list(empty)) == (0, 1.0, [])


def test_what_is_no_dataset_and_no_list_of_lengths_is_refused() -> None:
    for field, dataset, lengths in (("dataset", 0, [1]), ("lengths", [[1]], 0), ("lengths", [[1]], [1.5])):
        with pytest.raises(WrongTypeError) as caught:
            PackedDataset(dataset, capacity=4, lengths=lengths)
        assert caught.value.field == field


def test_rows_have_the_capacity_that_they_were_packed_for() -> None:
    row = ROWS["code"][0]
    made = PackCollator(CAPACITY)([row])
    for collate in (PackCollator(), pickle.loads(pickle.dumps(PackCollator()))):
        own = collate([pickle.loads(pickle.dumps(row))])
        assert own.keys() == made.keys()
        assert torch.equal(own["input_ids"], made["input_ids"])
    for other in (CAPACITY // 2, 2 * CAPACITY):
        loader = DataLoader(ROWS["code"], batch_size=2, collate_fn=PackCollator(other))
        with pytest.raises(ContradictionError, match=f"capacity is {other}; allowed: {CAPACITY}, .* PackedDataset"):
            next(iter(loader))
    with pytest.raises(ContradictionError, match="samples is a row of 7 tokens"):
        PackCollator()([row, PackedRow([[1]], 7)])
    short = PackedDataset([[1, 2, 3, 4]] * 4, capacity=8, lengths=[4] * 4, max_length=3, too_long="truncate")
    assert PackCollator(max_length=3)([short[0]])["input_ids"].tolist() == [[1, 2, 3, 1, 2, 3, 0, 0]]
    for length in (None, 4):
        with pytest.raises(ContradictionError, match=r"max_length is .* allowed: 3"):
            PackCollator(8, max_length=length)([short[0]])
