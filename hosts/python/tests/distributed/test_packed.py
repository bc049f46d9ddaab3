"""Rows that are packed in advance, and mixed by tokens."""

from __future__ import annotations

import pickle
import socket
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import samedeal
import torch
from samedeal import ContradictionError, MissingError, OutOfRangeError, Sampler, WrongTypeError
from samedeal.torch import (
    DistributedSampler,
    PackCollator,
    PackedDataset,
    PackedRow,
    Resumable,
    StepBatchSampler,
    interleave,
    random_split,
)
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset
from torchdata.stateful_dataloader import StatefulDataLoader

CAPACITY = 512
MEANS = {"chat": 12, "code": 60, "books": 120}
WEIGHTS = {"chat": 5, "code": 3, "books": 2}


class Texts(Dataset[dict[str, Any]]):  # type: ignore[misc]
    """Texts with about `mean` tokens. Each token is the number of the source, each label is the sample."""

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


def test_a_state_is_of_the_rows_that_were_packed() -> None:
    data = next(iter(TEXTS.values()))
    rows, same, other = (PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, seed=seed) for seed in (7, 7, 8))
    loader = Resumable(DataLoader(rows, batch_size=2, sampler=DistributedSampler(rows, 2, 0), collate_fn=list))
    next(iter(loader))
    for state in (loader.state_dict(), loader.sampler.state_dict(), loader.sampler.state_dict(taken=2)):
        resumed = DistributedSampler(same, 3, 1)
        resumed.load_state_dict(state)
        assert resumed.samples_consumed == 4
        refused = DistributedSampler(other, 2, 0)
        with pytest.raises(ContradictionError, match="dataset is one of the fingerprint"):
            refused.load_state_dict(state)
        assert refused.samples_consumed == 0
        # A plain state of a sampler does not say how the rows are packed, so it is accepted.
        refused.load_state_dict({"samedeal": state["samedeal"]})


def packed(seed: int = 7, name: str = "chat") -> PackedDataset:
    return PackedDataset(TEXTS[name], capacity=CAPACITY, lengths=TEXTS[name].lengths, seed=seed)


MADE_OF_OTHERS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "interleaved": (
        lambda: interleave({"a": packed(), "b": packed(7, "code")}, [1, 1]).dataset,
        lambda: interleave({"a": packed(), "b": packed(8, "code")}, [1, 1]).dataset,
    ),
    "joined twice": (
        lambda: ConcatDataset([ConcatDataset([range(9), packed()]), range(5)]),
        lambda: ConcatDataset([ConcatDataset([range(9), packed(8)]), range(5)]),
    ),
    "part of rows": (lambda: Subset(packed(), range(19)), lambda: Subset(packed(8), range(19))),
    "rows of a part": (
        lambda: PackedDataset(Subset(range(99), range(80)), capacity=8, lengths=[4] * 80),
        lambda: PackedDataset(Subset(range(99), range(1, 81)), capacity=8, lengths=[4] * 80),
    ),
    "split": (
        lambda: random_split(range(40_000), [0.5, 0.5], seed=1)[0],
        lambda: random_split(range(40_000), [0.5, 0.5], seed=2)[0],
    ),
    "split of rows": (
        lambda: random_split(packed(), [0.5, 0.5], seed=1)[0],
        lambda: random_split(packed(), [0.5, 0.5])[0],
    ),
    "part of a tensor": (lambda: Subset(range(99), torch.arange(40)), lambda: Subset(range(99), torch.arange(1, 41))),
    "one index": (
        lambda: Subset(range(10**6), np.arange(500_000)),
        lambda: Subset(range(10**6), np.r_[0:9, 10:500_001]),
    ),
}
"""Datasets that are made of others, each with another one of the same length."""


@pytest.mark.parametrize("kind", MADE_OF_OTHERS)
@pytest.mark.parametrize("sampler", [DistributedSampler, StepBatchSampler])
@pytest.mark.parametrize("loader", [Resumable, StatefulDataLoader])
def test_a_state_is_of_the_parts_of_a_dataset(kind: str, sampler: Any, loader: Any) -> None:
    make, other = MADE_OF_OTHERS[kind]

    def begun(data: Any) -> Any:
        if sampler is StepBatchSampler:
            how: dict[str, Any] = {"batch_sampler": StepBatchSampler(data, 4, epochs=1, rank=0, world_size=2)}
        else:
            how = {"batch_size": 2, "sampler": DistributedSampler(data, 2, 0)}
        torch_loader = StatefulDataLoader if loader is StatefulDataLoader else DataLoader
        made = torch_loader(data, collate_fn=list, **how)
        return made if loader is StatefulDataLoader else Resumable(made)

    assert len(make()) == len(other())
    running = begun(make())
    batches = iter(running)
    next(batches)
    state = running.state_dict()
    second = next(batches)
    again = begun(make())
    again.load_state_dict(state)
    assert repr(next(iter(again))) == repr(second)

    def refused() -> None:
        made = begun(other())
        made.load_state_dict(state)
        # The loader of torchdata loads the state when a pass begins.
        next(iter(made))

    with pytest.raises(
        ContradictionError, match=r"dataset is (one of the fingerprint|a Subset with other indices).* as in the state"
    ):
        refused()


def test_states_of_plain_datasets_have_no_identity() -> None:
    for data in (range(9), ConcatDataset([range(4), range(5)])):
        assert set(DistributedSampler(data, 2, 0).state_dict()) == {"samedeal"}
        assert set(StepBatchSampler(data, 4, rank=0, world_size=1).state_dict(1)) == {"samedeal"}
    # A state of a dataset whose identity is unknown, such as a class of the user around rows, is of any dataset.
    state = DistributedSampler(range(len(packed())), 2, 0).state_dict()
    DistributedSampler(packed(), 2, 0).load_state_dict(state)


def test_a_state_goes_on_with_more_data() -> None:
    """A dataset that is added after the others, and a part that got more samples."""
    before = interleave({"a": packed(), "b": packed(7, "code")}, [1, 1], samples=100, seed=3)
    named = {"a": packed(), "b": packed(7, "code"), "c": packed(7, "books")}
    after = interleave(named, [1, 1, 0], samples=100, seed=3, stages=[(50, [1, 1, 1])])
    sampler = DistributedSampler(before.dataset, 2, 0, order=before.order)
    state = sampler.state_dict(taken=5)
    assert len(state["dataset"]) == 2
    DistributedSampler(after.dataset, 2, 0, order=after.order).load_state_dict(state)
    order = samedeal.order("feistel", 6, seed=1)
    state = DistributedSampler(Subset(range(9), range(6)), 1, 0, order=order).state_dict(taken=4)
    grown = DistributedSampler(Subset(range(9), range(9)), 1, 0, order=order.grow(0, 4, 9))
    grown.load_state_dict(state)
    assert len(grown) == 5


def loader_of(rank: int, world_size: int, workers: int = 0) -> Resumable:
    dataset, order = interleave(ROWS, WEIGHTS, seed=1, samples=6_000)
    sampler = DistributedSampler(dataset, world_size, rank, order=order, drop_last=True)
    options: dict[str, Any] = {"sampler": sampler, "num_workers": workers, "collate_fn": PackCollator(CAPACITY)}
    return Resumable(DataLoader(dataset, 4, **options))


def test_weights_are_shares_of_tokens() -> None:
    """In every prefix of steps, the weights hold for rows up to the bound, and for tokens as far as the rows are
    full."""
    _, order = interleave(ROWS, WEIGHTS, seed=1, samples=6_000)
    bounds = np.asarray(Sampler(order=order).source_bounds) / 1e6
    loaders = [loader_of(rank, 2, workers=rank) for rank in range(2)]
    counts, cells = np.zeros(3), np.zeros(3)
    for step, batches in enumerate(zip(*loaders, strict=True)):
        for batch in batches:
            ids = batch["input_ids"]
            assert ids.shape == (4, CAPACITY)
            # A row has samples of only one source.
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
        # The first label of a sample is masked, so a sample of one token leaves no label and is not counted.
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
    with pytest.raises(MissingError, match="lengths, or a column"):
        PackedDataset(data, capacity=CAPACITY)
    with pytest.raises(ContradictionError, match="not both"):
        PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, column="text")
    with pytest.raises(ContradictionError, match="too_long is single"):
        PackedDataset(data, capacity=CAPACITY, lengths=data.lengths, too_long="single")
    with pytest.raises(ContradictionError, match="one for each sample"):
        PackedDataset(data, capacity=CAPACITY, lengths=[1, 2])
    with pytest.raises(OutOfRangeError, match="capacity"):
        PackedDataset(data, capacity=0, lengths=data.lengths)
    for wrong in (lambda rows: rows[0], len, lambda rows: rows.fill):
        with pytest.raises(OutOfRangeError, match="lengths is"):
            wrong(PackedDataset(data, capacity=5, lengths=data.lengths))
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


def rows_of(samples: int, **options: Any) -> PackedDataset:
    """Packed rows of many windows. Each token of a sample is the number of the sample."""
    lengths = np.random.default_rng(3).integers(1, 40, samples)
    return PackedDataset(range(samples), capacity=64, lengths=lengths, batch_window=500, **options)


def test_a_window_is_planned_when_one_of_its_rows_is_read() -> None:
    asked: list[int] = []

    def lengths(samples: Any) -> Any:
        asked.append(len(samples))
        return samples % 40 + 1

    order = samedeal.order("feistel", 10**9, seed=5)
    rows = PackedDataset(range(10**9), capacity=64, lengths=lengths, order=order)
    # Only a subset of the samples is asked for. It stands for all of them.
    assert sum(asked) == 2**14
    asked.clear()
    first = rows[0]
    assert sum(asked) < 2**14
    window = sum(asked)
    assert list(first) == rows.samples(0).tolist() == [part.sample for part in rows.parts(0)]
    assert sum(part.length for part in rows.parts(0)) <= 64
    for row in range(20_000):
        rows.samples(row)
    # Each window is planned only once, and has about 8,192 samples.
    assert sum(asked) - window < 20_000 * 64 / 20.5 + 2 * window
    again = sum(asked)
    for row in (19_999, 3, 12_345):
        rows.samples(row)
    assert sum(asked) == again


def test_rows_are_the_same_in_any_order_and_with_an_index(tmp_path: Path) -> None:
    rows = rows_of(10_000)
    wanted = [rows.samples(row).tolist() for row in range(len(rows))]
    assert sorted(sample for row in wanted for sample in row) == list(range(10_000))
    assert [batch.samples.tolist() for batch in rows.batcher] == wanted
    text = samedeal.build_index(rows.batcher, tmp_path / "rows.json", workers=1)
    for index in (tmp_path / "rows.json", text):
        other = rows_of(10_000)
        other.use_index(index)
        assert (len(other), other.tokens, other.fill) == (len(rows), rows.tokens, rows.fill)
        for row in np.random.default_rng(1).permutation(len(rows))[:300].tolist():
            assert list(other[row]) == wanted[row]
            assert other.samples(row - len(rows)).tolist() == wanted[row]
    backwards = rows_of(10_000)
    assert [backwards.samples(row).tolist() for row in range(len(rows) - 1, -1, -1)] == wanted[::-1]
    with pytest.raises(ContradictionError, match="fingerprint"):
        rows_of(10_000, seed=1).use_index(text)
    for wrong in ("{}", "\0", 3):
        with pytest.raises(WrongTypeError, match="index"):
            rows.use_index(wrong)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        rows.use_index(tmp_path / "none.json")


def test_with_an_index_nothing_is_planned_for_the_length() -> None:
    known = rows_of(100_000)
    text = known.batcher.index(0, known.batcher.num_windows)
    asked: list[int] = []
    lengths = np.random.default_rng(3).integers(1, 40, 100_000)

    class Asked:
        def __len__(self) -> int:
            return len(lengths)

        def __getitem__(self, samples: Any) -> Any:
            asked.append(len(samples))
            return lengths[samples]

    rows = PackedDataset(range(100_000), capacity=64, lengths=Asked(), batch_window=500)
    rows.use_index(text)
    asked.clear()
    assert len(rows) == len(known)
    assert rows.tokens == lengths.sum()
    assert asked == []
    rows.samples(len(rows) // 2)
    assert asked == [500]


def test_few_windows_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(10_000)
    wanted = [rows.samples(row).tolist() for row in range(len(rows))]
    for most in (1, 1_200):
        monkeypatch.setattr(samedeal.torch.packed, "_HELD", most)
        held = rows_of(10_000)
        for row in np.random.default_rng(2).permutation(len(rows))[:200].tolist():
            assert held.samples(row).tolist() == wanted[row]
            assert len(held._held) == (1 if most == 1 else min(2, len(held._held)))
    monkeypatch.setattr(samedeal.torch.packed, "_TAKEN", 7)
    parts = rows_of(10_000)
    assert [parts.samples(row).tolist() for row in range(len(rows))] == wanted
    copied = pickle.loads(pickle.dumps(parts))
    assert not copied._held
    assert [copied.samples(row).tolist() for row in range(len(rows))] == wanted


@pytest.mark.parametrize("most", [1_000, 2**24])
@pytest.mark.parametrize("counts", [False, True])
def test_threads_read_rows_of_one_dataset(monkeypatch: pytest.MonkeyPatch, counts: bool, most: int) -> None:
    rows = rows_of(10_000)
    wanted = [rows.samples(row).tolist() for row in range(len(rows))]
    order = np.random.default_rng(4).permutation(len(rows))[:1_500].tolist()
    monkeypatch.setattr(samedeal.torch.packed, "_HELD", most)
    shared = rows_of(10_000)

    def found(row: int) -> list[int]:
        if counts and row % 7 == 0:
            assert len(shared) == len(rows)
        own: list[int] = shared.samples(row).tolist()
        return own

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(found, order)) == [wanted[row] for row in order]
    finally:
        sys.setswitchinterval(before)
    assert len(shared) == len(rows)


def test_what_a_thread_forgets_costs_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may replace the known windows by fewer ones in the middle of a call. Then they are planned again,
    and the rows stay the same."""
    rows = rows_of(10_000)
    wanted = [rows.samples(row).tolist() for row in range(len(rows))]
    read = PackedDataset._read

    def forgetful(self: Any, *given: Any) -> Any:
        self._ends = self._ends[:1]
        return read(self, *given)

    monkeypatch.setattr(PackedDataset, "_read", forgetful)
    monkeypatch.setattr(samedeal.torch.packed, "_HELD", 1)
    again = rows_of(10_000)
    for row in np.random.default_rng(4).permutation(len(rows))[:100].tolist():
        assert again.samples(row).tolist() == again.samples(row - len(rows)).tolist() == wanted[row]


class Documents(Dataset[dict[str, Any]]):  # type: ignore[misc]
    """Token k of document i is k, and its label is i."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = lengths
        self.read: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> dict[str, Any]:
        self.read[index] += 1
        return {"input_ids": list(range(self.lengths[index])), "labels": [index] * self.lengths[index], "id": index}


def test_documents_that_are_longer_than_a_row_come_whole() -> None:
    lengths = np.random.default_rng(8).lognormal(5, 1.5, 400).astype(int).clip(1).tolist()
    data = Documents(lengths)
    rows = PackedDataset(data, capacity=100, lengths=lengths, too_long="split")
    assert rows.tokens == sum(lengths) > 1.5 * sum(min(length, 100) for length in lengths)
    seen: Counter[tuple[int, int]] = Counter()
    loader = DataLoader(rows, batch_size=8, collate_fn=PackCollator(mask_first_label=False))
    for batch in loader:
        own = batch["labels"] >= 0
        seen.update(zip(batch["labels"][own].tolist(), batch["input_ids"][own].tolist(), strict=True))
    assert seen == Counter((index, token) for index, length in enumerate(lengths) for token in range(length))
    for row in range(len(rows)):
        for part, sample in zip(rows.parts(row), rows[row], strict=True):
            assert sample["id"] == part.sample
            assert sample["input_ids"] == list(range(part.start, part.start + part.length))
    # With "truncate", a row has only the beginnings of documents.
    cut = PackedDataset(data, capacity=100, lengths=lengths, too_long="truncate")
    assert cut.tokens == sum(min(length, 100) for length in lengths)
    assert all(sample["input_ids"][0] == 0 for row in cut for sample in row)
    assert {len(sample["labels"]) for row in cut for sample in row} == {min(length, 100) for length in lengths}


def test_weights_are_shares_of_tokens_of_split_documents() -> None:
    """In every prefix, the weights hold for split books, of which a row has only a part, and for short samples."""
    capacity = 256
    lengths = {
        "books": np.random.default_rng(1).integers(2_000, 9_000, 60),
        "chat": np.random.default_rng(2).integers(1, 60, 20_000),
    }
    rows = {
        name: PackedDataset(
            [torch.full((length,), number) for length in own.tolist()], capacity=capacity, lengths=own, too_long="split"
        )
        for number, (name, own) in enumerate(lengths.items(), 1)
    }
    for name, own in lengths.items():
        assert rows[name].tokens == own.sum()
        assert rows[name].fill > 0.97
    dataset, order = interleave(rows, {"books": 3, "chat": 1}, seed=1, samples=1_600)
    loaders = [
        DataLoader(
            dataset, 4, sampler=DistributedSampler(dataset, 2, rank, order=order), collate_fn=PackCollator(capacity)
        )
        for rank in range(2)
    ]
    cells = np.zeros(2)
    for step, batches in enumerate(zip(*loaders, strict=True), 1):
        for batch in batches:
            cells += np.bincount(batch["input_ids"].flatten().numpy(), minlength=3)[1:]
        wanted = np.array([3, 1]) / 4 * 8 * step * capacity
        # The deviation is at most two rows of a source, plus the cells that are empty in rows.
        assert (np.abs(cells - wanted) <= 2 * capacity + 0.03 * wanted).all()
    assert abs(cells[0] / cells.sum() - 0.75) < 0.005


def test_a_dataset_may_read_parts_itself() -> None:
    class Mapped:
        def __init__(self) -> None:
            self.asked: list[tuple[int, int, int]] = []

        def __len__(self) -> int:
            return 2

        def get_part(self, sample: int, start: int, length: int) -> str:
            self.asked.append((sample, start, length))
            return "abcdefghijkl"[start : start + length]

    data = Mapped()
    rows = PackedDataset(data, capacity=5, lengths=[12, 3], too_long="split")
    assert sorted(text for row in rows for text in row) == ["abc", "abcde", "fghij", "kl"]
    assert sorted(data.asked) == [(0, 0, 5), (0, 5, 5), (0, 10, 2), (1, 0, 3)]


@pytest.mark.parametrize(
    ("sample", "error", "match"),
    [
        ("a text", WrongTypeError, "get_part"),
        (5, WrongTypeError, "get_part"),
        ({"text": [1, 2]}, WrongTypeError, "get_part"),
        ({"input_ids": 3}, WrongTypeError, "get_part"),
        ([1, 2, 3], ContradictionError, "3 tokens of input_ids in sample 0; allowed: 4 or more"),
        ({"input_ids": [1] * 9, "labels": [1]}, ContradictionError, "1 tokens of labels in sample 0; allowed: 4"),
    ],
)
def test_what_cannot_be_cut_is_told(sample: Any, error: type[Exception], match: str) -> None:
    rows = PackedDataset([sample], capacity=4, lengths=[9], too_long="truncate")
    with pytest.raises(error, match=match):
        rows[0]


class Connected(Texts):
    """A dataset with a socket, which multiprocessing can send to a new process, and `pickle` alone cannot."""

    def __init__(self) -> None:
        super().__init__("chat", 12, 20)
        self.connection, self.other = socket.socketpair()
        self.pickled = 0

    def __getstate__(self) -> dict[str, Any]:
        self.pickled += 1
        return self.__dict__


def test_a_dataset_that_multiprocessing_can_send_goes_to_workers() -> None:
    data = Connected()
    rows = PackedDataset(data, capacity=64, lengths=data.lengths)
    given = list(DataLoader(rows, batch_size=None, num_workers=1, multiprocessing_context="spawn"))
    assert len(given) == len(rows)
    # One trial, and one time for the worker.
    assert data.pickled == 2
