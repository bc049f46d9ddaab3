"""Batches of sequences of different length under a real DataLoader, and the tensors that collators make."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import samedeal
import torch
from limits import HANG
from samedeal import (
    Batcher,
    ContradictionError,
    MissingError,
    OutOfRangeError,
    SamedealError,
    UnknownNameError,
    WrongTypeError,
)
from samedeal.torch import (
    BatchSampler,
    DistributedSampler,
    PackCollator,
    PadCollator,
    Part,
    PartsDataset,
    Resumable,
    StepsWarning,
)
from torch.utils.data import DataLoader

LENGTHS = np.random.default_rng(3).integers(0, 200, 1_000)
ONE: dict[str, Any] = {"rank": 0, "world_size": 1}
LABELLED = [{"input_ids": [1], "labels": [1]}]
UNEQUAL = [torch.tensor(1), torch.ones(2)]
MASKED: Any = np.ma.array([1, 2], mask=[False, True])
"""A masked array. NumPy and PyTorch show its values without the mask: [1, 2]."""


class Texts(torch.utils.data.Dataset[dict[str, Any]]):  # type: ignore[misc]
    """Sample i has the number i, LENGTHS[i] times."""

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, i: int) -> dict[str, Any]:
        tokens = torch.full((int(LENGTHS[i]),), i)
        return {"input_ids": tokens, "labels": tokens + 1, "number": i}


@pytest.mark.parametrize("workers", [0, 2])
def test_under_a_loader(workers: int) -> None:
    samplers = [BatchSampler(LENGTHS, max_tokens=2_000, rank=rank, world_size=3, seed=5) for rank in range(3)]
    for epoch in (0, 1):
        seen: list[int] = []
        counts = set()
        for sampler in samplers:
            sampler.set_epoch(epoch)
            loader = DataLoader(Texts(), batch_sampler=sampler, collate_fn=PadCollator(), num_workers=workers)
            counts.add((len(loader), len(sampler)))
            steps = 0
            for batch, planned in zip(loader, sampler.batches(), strict=True):
                steps += 1
                assert batch["number"].tolist() == planned.samples.tolist()
                assert tuple(batch["input_ids"].shape) == planned.shape
                assert batch["input_ids"].numel() <= 2_000
                assert batch["attention_mask"].sum(1).tolist() == planned.lengths.tolist()
                seen += batch["number"].tolist()
            assert steps == len(sampler)
        assert sorted(seen) == list(range(1_000))
        assert len(counts) == 1


def test_it_is_the_batcher() -> None:
    options: dict[str, Any] = {"strategy": "pack", "capacity": 512, "seed": 1, "epoch": 3}
    sampler = BatchSampler(torch.from_numpy(LENGTHS), rank=1, world_size=2, **options)
    batcher = Batcher(LENGTHS, rank=1, world_size=2, **options)
    wanted = [batch.samples.tolist() for batch in batcher]
    assert list(sampler) == wanted
    assert all(type(number) is int for number in wanted[0])
    assert sampler.metrics() == batcher.metrics()
    assert (sampler.rank, sampler.world_size, sampler.epoch) == (1, 2, 3)
    rest = BatchSampler(LENGTHS, rank=1, world_size=2, start=5, **options)
    assert list(rest) == wanted[5:]
    assert len(rest) == len(wanted) - 5
    assert list(pickle.loads(pickle.dumps(rest))) == wanted[5:]
    assert isinstance(sampler, torch.utils.data.Sampler)


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 1)])
def test_batches_of_a_blend_resume_on_other_ranks(before: int, after: int) -> None:
    order = samedeal.blend({"web": (300, 1), "code": (100, 1)}, seed=6)
    lengths = {"code": [3, 7, 1, 9] * 25, "web": [4, 8, 20] * 100}
    dataset = torch.utils.data.ConcatDataset([list(range(300)), list(range(300, 400))])

    def loader_of(rank: int, world_size: int) -> Resumable:
        sampler = BatchSampler(lengths, order=order, max_tokens=100, tail="keep", rank=rank, world_size=world_size)
        workers = 2 if rank == 0 else 0
        return Resumable(DataLoader(dataset, batch_sampler=sampler, collate_fn=list, num_workers=workers))

    seen: Counter[int] = Counter()
    states = set()
    for rank in range(before):
        loader = loader_of(rank, before)
        seen.update(itertools.chain(*itertools.islice(loader, 5)))
        states.add(loader.state_dict()["samedeal"])
    (state,) = states
    for rank in range(after):
        loader = loader_of(rank, after)
        loader.load_state_dict({"samedeal": state})
        seen.update(itertools.chain(*loader))
    assert seen == Counter(samedeal.Sampler(order=order).indices().tolist())


def test_packed_rows_are_those_of_the_plan() -> None:
    sampler = BatchSampler(LENGTHS, strategy="pack", capacity=512, max_batch_size=4, **ONE)
    collator = PackCollator(512, mask="2d", segment_ids="segment_ids")
    loader = DataLoader(Texts(), batch_sampler=sampler, collate_fn=collator)
    for batch, planned in zip(loader, sampler.batches(), strict=True):
        rows, width = batch["input_ids"].shape
        assert rows <= len(planned.row_ends)
        assert width == planned.padded_length == 512
        filled = batch["attention_mask"] == 1
        assert filled.equal(batch["segment_ids"] > 0)
        assert batch["input_ids"][filled].tolist() == np.repeat(planned.samples, planned.lengths).tolist()
        places = torch.cat([torch.arange(length) for length in planned.lengths.tolist()])
        assert batch["position_ids"][filled].tolist() == places.tolist()
        # The first token of each sample has no label; all other tokens have one.
        first = (batch["position_ids"] == 0) & filled
        assert (batch["labels"] == -100).equal(first | ~filled)
        # Sequences cover all cells without a gap, padding included, and no sequence is longer than a sample.
        bounds = batch["cu_seq_lens_q"]
        assert bounds.dtype == torch.int32
        assert bounds.equal(batch["cu_seq_lens_k"])
        assert (int(bounds[0]), int(bounds[-1])) == (0, rows * width)
        assert batch["max_length_q"] == batch["max_length_k"] == planned.lengths.max() == int(bounds.diff().max())
        cells = torch.cat([torch.arange(length) for length in bounds.diff().tolist()])
        assert batch["position_ids"].flatten().tolist() == cells.tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda lists: {"text": lists},
        lambda lists: {"text": [len(part) for part in lists]},
        lambda lists: {"text": np.array([len(part) for part in lists])},
        lambda lists: pa.table({"text": lists}),
        lambda lists: pa.table({"text": [len(part) for part in lists]}),
    ],
)
def test_lengths_from_a_column(make: Any) -> None:
    lists = [list(range(i % 7)) for i in range(50)]
    found = BatchSampler(make(lists), column="text", max_tokens=20, **ONE)
    assert list(found) == list(BatchSampler([len(part) for part in lists], max_tokens=20, **ONE))


@pytest.mark.parametrize("made", [dict, pa.table])
def test_texts_need_a_unit(made: Any) -> None:
    """The units are those of the command, and give equal counts. Words are separated by white space as Unicode defines
    it."""
    texts = ["", "one", " two  words ", "a\u00a0b\u2003c\td", "f\x1cg é€😀"]
    expected = {"words": [0, 1, 2, 4, 2], "characters": [0, 3, 12, 7, 7], "bytes": [0, 3, 12, 10, 13]}
    for unit, lengths in expected.items():
        found = BatchSampler(made({"text": texts}), column="text", unit=unit, max_tokens=20, **ONE)
        assert [*map(int, found._lengths)] == lengths
    with pytest.raises(MissingError, match='unit is missing; needed: "words", "characters" or "bytes"'):
        BatchSampler(made({"text": texts}), column="text", max_tokens=20, **ONE)
    for column, unit in (([1, 2], "words"), ([[1], [2]], "words"), (texts, "items"), ([b"ab"], "characters")):
        with pytest.raises(ContradictionError, match=f"unit is {unit}; allowed: "):
            BatchSampler(made({"text": column}), column="text", unit=unit, max_tokens=20, **ONE)
    for held, known, length in (([[1, 2, 3]], "items", 3), ([b"ab"], "bytes", 2), ([b"ab"], None, 2)):
        found = BatchSampler(made({"text": held}), column="text", unit=known, max_tokens=20, **ONE)
        assert [*map(int, found._lengths)] == [length]


def test_units_that_are_none() -> None:
    for error, options in (
        (UnknownNameError, {"lengths": {"x": [1]}, "column": "x", "unit": "tokens"}),
        (WrongTypeError, {"lengths": {"x": [1]}, "column": "x", "unit": 3}),
        (ContradictionError, {"lengths": np.array([1]), "unit": "words"}),
        (ContradictionError, {"lengths": {"x": np.array([1])}, "column": "x", "unit": "items"}),
    ):
        with pytest.raises(error, match="unit is"):
            BatchSampler(max_tokens=9, **options, **ONE)


@pytest.mark.parametrize("item", [{1, 2}, {1: 2}, frozenset({1}), None])
def test_columns_without_lengths(item: Any) -> None:
    with pytest.raises(WrongTypeError, match="lengths is"):
        BatchSampler({"x": [[1, 2], item]}, column="x", max_tokens=9, **ONE)


def test_all_of_a_name_counts() -> None:
    """Two columns whose names differ only in the last letter are two columns."""
    name = "x" * 90
    columns = {f"{name}1": [1, 1, 1], f"{name}2": [9, 9, 9]}
    for made in (dict, pa.table):
        for letter, lengths in (("1", [1, 1, 1]), ("2", [9, 9, 9])):
            found = BatchSampler(made(columns), column=name + letter, max_tokens=20, **ONE)
            assert [*map(int, found._lengths)] == lengths
        # A longer or a shorter name is not the name of the column.
        for other in (name, name[:65], f"{name}12"):
            with pytest.raises(WrongTypeError, match="a dataset with the column 'xxx"):
                BatchSampler(made(columns), column=other, max_tokens=20, **ONE)


@pytest.mark.parametrize("made", [dict, pa.table])
def test_a_column_that_is_not_there(made: Any) -> None:
    with pytest.raises(WrongTypeError, match=r"the column 'x'; this one has text, length$"):
        BatchSampler(made({"text": [[1], [2]], "length": [1, 1]}), column="x", max_tokens=20, **ONE)
    with pytest.raises(WrongTypeError, match=r"the column 'x', or lengths in place of a column$"):
        BatchSampler(["a", "b"], column="x", max_tokens=20, **ONE)
    with pytest.raises(WrongTypeError, match=r"^column is .*the column 'x', or lengths in place of a column$"):
        BatchSampler([{"y": 1}, {"y": 2}], column="x", max_tokens=20, **ONE)
    assert [*map(int, BatchSampler([{"x": 3}, {"x": 4}], column="x", max_tokens=20, **ONE)._lengths)] == [3, 4]
    found = BatchSampler([{"x": [1, 2]}, {"x": [1]}], column="x", max_tokens=20, **ONE)
    assert [*map(int, found._lengths)] == [2, 1]


def test_the_rank_of_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "5")
    monkeypatch.setenv("WORLD_SIZE", "8")
    sampler = BatchSampler(LENGTHS, max_tokens=2_000)
    assert (sampler.rank, sampler.world_size) == (5, 8)
    mesh = samedeal.Mesh(8, {"dp": 2, "tp": 4}, shard=["dp"])
    shared = BatchSampler(LENGTHS, max_tokens=2_000, mesh=mesh)
    assert (shared.rank, shared.world_size) == (1, 2)


def test_the_rank_of_a_group_that_comes_later(tmp_path: Path) -> None:
    code = """
import sys, torch.distributed as dist
from samedeal import Batcher
from samedeal.torch import BatchSampler
rank, place = int(sys.argv[1]), sys.argv[2]
lengths = [3, 9, 4, 4, 7, 1, 0, 5]
sampler = BatchSampler(lengths, max_tokens=9, epoch=2)
assert sampler.world_size == 1
dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
wanted = [batch.samples.tolist() for batch in Batcher(lengths, max_tokens=9, epoch=2, rank=rank, world_size=2)]
assert list(sampler) == wanted and len(sampler) == len(wanted)
dist.barrier()
"""
    environment = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    ranks = [
        subprocess.Popen([sys.executable, "-c", code, str(rank), str(tmp_path / "group")], env=environment)
        for rank in range(2)
    ]
    assert [rank.wait(HANG) for rank in ranks] == [0, 0]


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (MissingError, "max_tokens", {}),
        (MissingError, "world_size", {"max_tokens": 9, "world_size": None}),
        (OutOfRangeError, "rank", {"max_tokens": 9, "rank": 1}),
        (OutOfRangeError, "start", {"max_tokens": 9, "start": 10}),
        (WrongTypeError, "start", {"max_tokens": 9, "start": "1"}),
        (WrongTypeError, "column", {"max_tokens": 9, "column": "text"}),
        (WrongTypeError, "lengths", {"max_tokens": 9, "lengths": Texts()}),
        (OutOfRangeError, "lengths", {"max_tokens": 2}),
    ],
)
def test_samplers_that_cannot_be(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with pytest.raises(SamedealError) as caught:
        next(iter(BatchSampler(**{"lengths": [1, 2, 3], **ONE, **options})))
    assert type(caught.value) is error
    assert caught.value.field == field


def test_padding() -> None:
    samples = [
        {"input_ids": [1, 2, 3], "labels": [1, 2, 3], "token_type_ids": np.ones(3, dtype=np.int32), "label": 1.5},
        {"input_ids": [4], "labels": [5], "token_type_ids": np.ones(1, dtype=np.int32), "label": 2.0},
    ]
    made = PadCollator(padding_value=9, padding={"token_type_ids": 7}, side="left", pad_to_multiple_of=4)(samples)
    assert made["input_ids"].tolist() == [[9, 1, 2, 3], [9, 9, 9, 4]]
    assert made["attention_mask"].tolist() == [[0, 1, 1, 1], [0, 0, 0, 1]]
    assert made["labels"].tolist() == [[-100, 1, 2, 3], [-100, -100, -100, 5]]
    assert made["token_type_ids"].tolist() == [[7, 1, 1, 1], [7, 7, 7, 1]]
    assert made["token_type_ids"].dtype == torch.int32
    assert made["label"].tolist() == [1.5, 2.0]
    # The masks that samples bring are kept, and samples that are plain sequences become input_ids.
    assert PadCollator()([{"input_ids": [1], "attention_mask": [0]}])["attention_mask"].tolist() == [[0]]
    made = PadCollator(width=3, max_length=2)([torch.tensor([1.5, 2, 3], dtype=torch.bfloat16), torch.ones(0)])
    assert made["input_ids"].dtype == torch.bfloat16
    assert made["input_ids"].tolist() == [[1.5, 2, 0], [0, 0, 0]]
    assert PadCollator(fill_empty=False)([])["input_ids"].shape == (0, 0)
    assert PackCollator(8, fill_empty=False)([])["cu_seq_lens_q"].tolist() == [0]
    assert PadCollator()([[], []])["input_ids"].shape == (2, 0)
    # Tokens that are vectors, in two types.
    made = PadCollator()([torch.ones(2, 3), torch.ones(1, 3, dtype=torch.float64)])
    assert made["input_ids"].shape == (2, 2, 3)
    assert made["input_ids"].dtype == torch.float64
    assert made["input_ids"][1, 1].tolist() == [0, 0, 0]


def test_a_batch_without_samples_gets_a_row_of_padding() -> None:
    """The row has the columns of the previous batch. Its mask hides all tokens, and no label counts."""
    pad, pack = PadCollator(padding_value=9), PackCollator(3, segment_ids="segment_ids", mask="2d")
    for collator in (pad, pack):
        made = collator([])
        assert (made["labels"] == -100).all()
        assert not made["attention_mask"].any()
    assert pad([])["input_ids"].tolist() == [[9]]
    assert pack([])["segment_ids"].tolist() == [[0, 0, 0]]
    assert pack([])["cu_seq_lens_q"].tolist() == [0, 1, 2, 3]
    sample = {
        "input_ids": [1, 2],
        "attention_mask": [1, 1],
        "kind": np.zeros(2, dtype=np.int32),
        "label": 1.5,
        "of": "a",
    }
    for collator in (pad, pack):
        whole, made = collator([sample]), collator([])
        assert list(made) == list(whole)
        assert made["kind"].dtype == torch.int32
        assert made["kind"].shape[0] == 1
        assert (made["label"].tolist(), made["of"]) == ([0.0], [None])
        assert not made["attention_mask"].any()
        assert not collator([])["attention_mask"].any()


def test_packing() -> None:
    made = PackCollator()([[1, 2, 3], [4], [5, 6]])
    assert {name: value.tolist() if torch.is_tensor(value) else value for name, value in made.items()} == {
        "input_ids": [[1, 2, 3, 4, 5, 6]],
        "position_ids": [[0, 1, 2, 0, 0, 1]],
        "cu_seq_lens_q": [0, 3, 4, 6],
        "cu_seq_lens_k": [0, 3, 4, 6],
        "max_length_q": 3,
        "max_length_k": 3,
        "use_cache": False,
    }
    samples = [{"input_ids": [1, 2], "labels": [1, 2]}, {"input_ids": [3, 4], "labels": [3, 4]}]
    made = PackCollator(3, mask_first_label=False)(samples)
    assert made["labels"].tolist() == [[1, 2, -100], [3, 4, -100]]
    assert made["cu_seq_lens_q"].tolist() == [0, 2, 3, 5, 6]
    assert samples[0]["labels"] == [1, 2]
    # Padding is divided into sequences, none of which has more tokens than a sample.
    made = PackCollator(8)([[1, 2, 3]])
    assert made["position_ids"].tolist() == [[0, 1, 2, 0, 1, 2, 0, 1]]
    assert made["cu_seq_lens_q"].tolist() == [0, 3, 6, 8]
    assert (made["max_length_q"], type(made["max_length_q"])) == (3, int)
    assert PackCollator(2)([[], []])["cu_seq_lens_q"].tolist() == [0, 0, 0, 1, 2]


def test_masks_of_packed_rows() -> None:
    tokenized = [{"input_ids": [1, 2], "attention_mask": [1, 1]}, {"input_ids": [3], "attention_mask": [1]}]
    assert "attention_mask" not in PackCollator(4)(tokenized)
    assert PackCollator(4, mask="2d")(tokenized)["attention_mask"].tolist() == [[1, 1, 1, 0]]
    padded = [{"input_ids": [1, 2], "attention_mask": [1, 0]}]
    assert PackCollator(4, mask="2d")(padded)["attention_mask"].tolist() == [[1, 0, 0, 0]]
    assert PackCollator(4, segment_ids="seq_idx")(tokenized)["seq_idx"].tolist() == [[1, 1, 2, 0]]
    seen = PackCollator(4, mask="4d", mask_dtype=torch.bool)(tokenized)["attention_mask"]
    assert seen.tolist() == [[[[c in row for c in range(4)] for row in ({0}, {0, 1}, {2}, {3})]]]
    added = PackCollator(4, mask="4d", mask_dtype=torch.bfloat16)(tokenized)["attention_mask"]
    assert added.dtype == torch.bfloat16
    assert added.equal(torch.where(seen, 0.0, torch.finfo(torch.bfloat16).min).to(torch.bfloat16))


SHORT = {"input_ids": [1, 2], "labels": [5, 6, 7]}
PAIRS = [
    {"input_ids": [1, 2, 3], "labels": [5, 6, 7, 8, 9, 4]},
    {"input_ids": [1, 2, 3, 4], "labels": [5]},
    {"input_ids": [], "labels": [5, 6]},
]
"""Samples whose labels have another length than their inputs."""


def test_columns_with_a_width_of_their_own() -> None:
    collator = PadCollator(own_width={"labels": 7, "seen": None}, padding={"seen": 3}, max_length=2)
    made = collator([{**sample, "seen": [1.5] * i} for i, sample in enumerate(PAIRS)])
    # `max_length` cuts the inputs alone.
    assert made["input_ids"].tolist() == [[1, 2], [1, 2], [0, 0]]
    assert made["labels"].tolist()[0] == [5, 6, 7, 8, 9, 4, -100]
    assert made["seen"].tolist() == [[3, 3], [1.5, 3], [1.5, 1.5]]
    # A rank without samples gets the fixed widths, too.
    assert {name: tuple(values.shape) for name, values in collator([]).items()} == {
        **{"input_ids": (1, 1), "attention_mask": (1, 1), "labels": (1, 7), "seen": (1, 1)}
    }
    # A rank whose first batch is empty has the same columns as the others.
    assert PadCollator(own_width=["labels", "targets"])([]).keys() >= {"labels", "targets"}
    shaped = PadCollator(own_width={"labels": 8}, shapes=[(4, 4)])(PAIRS)
    assert shaped["input_ids"].shape == (4, 4)
    assert shaped["labels"].shape == (4, 8)
    assert shaped["labels"][3].tolist() == [-100] * 8
    with pytest.raises(ContradictionError, match=r'or own_width=\["labels"\]'):
        PadCollator()(PAIRS)
    with pytest.raises(ContradictionError, match=r"2, as input_ids has$"):
        PackCollator(8)([SHORT])


@pytest.mark.parametrize(
    ("error", "field", "call"),
    [
        (OutOfRangeError, "width", lambda: PadCollator(width=2)([[1, 2, 3]])),
        (ContradictionError, "samples", lambda: PadCollator(own_width=["labels"])([{**SHORT, "types": [1]}])),
        (OutOfRangeError, "own_width", lambda: PadCollator(own_width={"labels": 1})([SHORT])),
        (OutOfRangeError, "own_width", lambda: PadCollator(own_width={"labels": 0})),
        (UnknownNameError, "own_width", lambda: PadCollator(own_width=["label"])([SHORT])),
        (WrongTypeError, "own_width", lambda: PadCollator(own_width="labels")),
        (WrongTypeError, "own_width", lambda: PadCollator(own_width=[3])),  # type: ignore[list-item]
        (WrongTypeError, "own_width", lambda: PadCollator(own_width=[["labels"]])),  # type: ignore[list-item]
        (ContradictionError, "own_width", lambda: PadCollator(own_width=["input_ids"])),
        (ContradictionError, "own_width", lambda: PadCollator(own_width=["labels"], shapes=[(2, 8)])),
        (OutOfRangeError, "pad_to_multiple_of", lambda: PadCollator(pad_to_multiple_of=0)),
        (OutOfRangeError, "capacity", lambda: PackCollator(0)),
        (OutOfRangeError, "capacity", lambda: PackCollator(2)([[1, 2, 3]])),
        (UnknownNameError, "mask", lambda: PackCollator(mask="3d")),
        (MissingError, "mask_dtype", lambda: PackCollator(mask="4d")),
        (ContradictionError, "mask_dtype", lambda: PackCollator(mask_dtype=torch.bool)),
        (WrongTypeError, "mask_dtype", lambda: PackCollator(mask="4d", mask_dtype=torch.int64)),
        (WrongTypeError, "segment-ids", lambda: PackCollator(segment_ids=True)),  # type: ignore[arg-type]
        (WrongTypeError, "segment-ids", lambda: PackCollator(segment_ids="labels")),
        (ContradictionError, "samples", lambda: PackCollator()([{"input_ids": [1], "attention_mask": [0]}])),
        (OutOfRangeError, "padding_value", lambda: PadCollator(padding_value=300)([torch.ones(1, dtype=torch.uint8)])),
        (OutOfRangeError, "padding_value", lambda: PadCollator(padding_value=0.5)([[1]])),
        (OutOfRangeError, "padding_value", lambda: PadCollator(padding_value=10**400)([torch.ones(1)])),
        (OutOfRangeError, "padding_value", lambda: PadCollator(padding_value=1e39)([torch.ones(1)])),
        (OutOfRangeError, "padding_value", lambda: PadCollator(padding_value=1e6)([torch.ones(1).half()])),
        (OutOfRangeError, "padding_value", lambda: PadCollator(padding_value=1e39)([torch.ones(1) * 1j])),
        (OutOfRangeError, "padding_value", lambda: PackCollator(label_padding=2**70)(LABELLED)),
        (OutOfRangeError, "padding_value", lambda: PackCollator(label_padding=0.5)(LABELLED)),
        (OutOfRangeError, "samples", lambda: PadCollator()([[1, 2**63]])),
        (OutOfRangeError, "samples", lambda: PadCollator()([{"input_ids": [1], "number": 2**70}])),
        (ContradictionError, "samples", lambda: PadCollator()([np.ones(1, np.uint64), np.ones(1, np.int64)])),
        (ContradictionError, "samples", lambda: PadCollator()([{"input_ids": [1], "x": x} for x in UNEQUAL])),
        (WrongTypeError, "samples", lambda: PadCollator()([MASKED])),
        (WrongTypeError, "samples", lambda: PadCollator()([{"input_ids": [1, 2], "labels": MASKED}])),
        (WrongTypeError, "samples", lambda: PadCollator()([{"input_ids": [1], "x": np.ma.masked}])),
        (WrongTypeError, "samples", lambda: PadCollator()([{1, 2}])),
        (WrongTypeError, "padding", lambda: PadCollator(padding={1, 2})),  # type: ignore[arg-type]
        (WrongTypeError, "max_length", lambda: PadCollator(max_length=torch.tensor(True))),
        (WrongTypeError, "width", lambda: PadCollator(width=torch.tensor(True))),
        (WrongTypeError, "pad_to_multiple_of", lambda: PadCollator(pad_to_multiple_of=torch.tensor(True))),
        (WrongTypeError, "capacity", lambda: PackCollator(torch.tensor(True))),
        (WrongTypeError, "planner", lambda: PadCollator().check_plan(10**5_000, 0, 0)),  # type: ignore[arg-type]
        (WrongTypeError, "lengths", lambda: BatchSampler(MASKED, max_tokens=9, **ONE)),
        (WrongTypeError, "lengths", lambda: BatchSampler({"x": MASKED}, column="x", max_tokens=9, **ONE)),
        (WrongTypeError, "lengths", lambda: BatchSampler([torch.tensor(True)], max_tokens=9, **ONE)),
        (WrongTypeError, "padding_value", lambda: PadCollator(padding_value="0")),  # type: ignore[arg-type]
        (WrongTypeError, "samples", lambda: PadCollator()({"input_ids": [1]})),  # type: ignore[arg-type]
        (WrongTypeError, "samples", lambda: PadCollator()(["ab"])),
        (WrongTypeError, "samples", lambda: PadCollator()([1, 2])),
        (ContradictionError, "samples", lambda: PadCollator()([{"input_ids": [1]}, {"input_ids": [1], "x": 2}])),
        (ContradictionError, "samples", lambda: PadCollator()([{"tokens": [1]}])),
        (ContradictionError, "samples", lambda: PadCollator()([torch.ones(1, 2), torch.ones(1, 3)])),
        (ContradictionError, "samples", lambda: PadCollator()([{"input_ids": [1], "labels": [1, 2]}])),
    ],
)
def test_samples_that_do_not_go_together(error: type[SamedealError], field: str, call: Any) -> None:
    with pytest.raises(SamedealError) as caught:
        call()
    assert type(caught.value) is error
    assert caught.value.field == field
    assert len(caught.value.value) <= 64


def test_padding_that_fits() -> None:
    for value in (3e38, float("inf"), float("-inf"), 10**38):
        made = PadCollator(padding_value=value, width=2)([torch.ones(1)])
        assert made["input_ids"][0, 1].item() == pytest.approx(value)
    # A mask that hides nothing is ignored.
    assert PadCollator()([np.ma.array([1, 2])])["input_ids"].tolist() == [[1, 2]]


def test_padded_and_packed_losses_agree() -> None:
    """A model with attention has equal losses over padded rows and over packed rows."""
    torch.manual_seed(0)
    embed, places, head = torch.nn.Embedding(50, 16), torch.nn.Embedding(64, 16), torch.nn.Linear(16, 50)
    samples = [{"input_ids": (part := torch.randint(50, (n,))), "labels": part} for n in (5, 17, 1, 30, 9)]

    def loss(batch: dict[str, Any], positions: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        hidden = embed(batch["input_ids"]) + places(positions)
        width = hidden.shape[1]
        allowed = (segments[:, :, None] == segments[:, None, :]) & torch.ones(width, width).tril().bool()
        hidden = torch.nn.functional.scaled_dot_product_attention(hidden, hidden, hidden, attn_mask=allowed)
        return torch.nn.functional.cross_entropy(head(hidden)[:, :-1].reshape(-1, 50), batch["labels"][:, 1:].flatten())

    padded = PadCollator(pad_to_multiple_of=8)(samples)
    mask = padded["attention_mask"]
    one = loss(padded, (mask.cumsum(1) - 1).clamp(min=0), mask)
    packed = PackCollator(40, segment_ids="segment_ids")(samples)
    other = loss(packed, packed["position_ids"], packed["segment_ids"])
    torch.testing.assert_close(one, other)


def test_a_parameter_that_is_none_is_refused_by_the_name_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"BatchSampler\(\) got .* 'batch_size'; did you mean 'max_batch_size'"):
        BatchSampler([1, 2], batch_size=8, **ONE)
    with pytest.raises(TypeError, match=r"BatchSampler\(\) got .* 'x'; known: seed, "):
        BatchSampler([1, 2], x=8, **ONE)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_collator_with_another_capacity_is_refused(workers: int) -> None:
    sampler = BatchSampler(LENGTHS, strategy="pack", capacity=512, max_batch_size=4, **ONE)

    def loaders(collate: Any) -> list[Any]:
        loader = DataLoader(Texts(), batch_sampler=sampler, collate_fn=collate, num_workers=workers)
        return [loader, Resumable(loader)]

    for capacity in (256, 1024):
        for loader in loaders(PackCollator(capacity)):
            with pytest.raises(ContradictionError, match=f"capacity is {capacity}; allowed: 512, .* BatchSampler"):
                next(iter(loader))
    for collate in (PackCollator(512), PackCollator(), PadCollator()):
        for loader in loaders(collate):
            assert "input_ids" in next(iter(loader))
    # A sampler without rows does not set the capacity, so that of the collator holds.
    sampler = BatchSampler(LENGTHS, max_tokens=2_000, counting="unpadded", **ONE)
    assert next(iter(loaders(PackCollator(256))[0]))["input_ids"].shape[1] == 256


def test_a_collator_cuts_samples_where_the_sampler_did() -> None:
    for options in (
        {"max_tokens": 1_000, "max_length": 100},
        {"strategy": "pack", "capacity": 100},
        {"max_tokens": 100},
    ):
        sampler = BatchSampler(LENGTHS, too_long="truncate", **options, **ONE)
        made: Any = PackCollator if "capacity" in options else PadCollator
        own: dict[str, Any] = {"capacity": 100} if "capacity" in options else {}
        for length in (None, 99, 101):
            loader = DataLoader(Texts(), batch_sampler=sampler, collate_fn=made(**own, max_length=length))
            with pytest.raises(ContradictionError, match=f"max_length is {length}; allowed: 100 for the collator"):
                next(iter(loader))
        loader = DataLoader(Texts(), batch_sampler=sampler, collate_fn=made(**own, max_length=100))
        assert max(batch["input_ids"].shape[1] for batch in loader) == 100
    # No sample is longer than its batch, so nothing is cut, and the side of truncation does not matter.
    sampler = BatchSampler(LENGTHS, too_long="truncate", max_tokens=2_000, **ONE)
    assert len(list(DataLoader(Texts(), batch_sampler=sampler, collate_fn=PadCollator()))) == len(sampler)
    with pytest.raises(OutOfRangeError, match="capacity is 4; allowed: at least 5, the longest sample"):
        PackCollator(4)([[1, 2], [1, 2, 3, 4, 5]])


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("strategy", ["budget", "pack"])
def test_parts_of_samples_are_served(strategy: str, workers: int) -> None:
    """All tokens come once, on three ranks and, after a resume, on two."""
    options: dict[str, Any] = {"budget": {"max_tokens": 400, "max_length": 50}, "pack": {"capacity": 50}}[strategy]
    made: Any = PackCollator(50, mask_first_label=False) if strategy == "pack" else PadCollator()
    seen: Counter[int] = Counter()

    def loader_of(rank: int, world_size: int) -> Resumable:
        given = {**options, "strategy": strategy, "too_long": "split"}
        sampler = BatchSampler(LENGTHS, rank=rank, world_size=world_size, **given)
        dataset = PartsDataset(Texts())
        return Resumable(DataLoader(dataset, batch_sampler=sampler, collate_fn=made, num_workers=workers))

    def count(batch: Any) -> None:
        assert batch["input_ids"].shape[1] <= 50
        known = batch["labels"] >= 0
        assert batch["labels"][known].equal(batch["input_ids"][known] + 1)
        seen.update(batch["input_ids"][known].tolist())

    states = set()
    for rank in range(3):
        loader = loader_of(rank, 3)
        for batch in itertools.islice(loader, 20):
            count(batch)
        states.add(loader.state_dict()["samedeal"])
    (state,) = states
    for rank in range(2):
        loader = loader_of(rank, 2)
        loader.load_state_dict({"samedeal": state})
        for batch in loader:
            count(batch)
    assert seen == Counter(np.repeat(np.arange(len(LENGTHS)), LENGTHS).tolist())


def test_a_dataset_that_gives_no_parts_says_what_does() -> None:
    sampler = BatchSampler([3, 9, 2], max_tokens=4, too_long="split", **ONE)
    for dataset in ([[1] * 3, [1] * 9, [1] * 2], range(3)):
        with pytest.raises(WrongTypeError, match="PartsDataset"):
            next(iter(DataLoader(dataset, batch_sampler=sampler, collate_fn=list)))


def test_parts_are_those_of_the_plan() -> None:
    sampler = BatchSampler(LENGTHS, max_tokens=400, max_length=50, too_long="split", **ONE)
    found = list(sampler)
    for parts, planned in zip(found, sampler.batches(), strict=True):
        assert all(type(part) is Part for part in parts)
        assert [part.sample for part in parts] == planned.samples.tolist()
        assert [part.start for part in parts] == planned.starts.tolist()
        assert [part.length for part in parts] == planned.lengths.tolist()
    assert len({part for parts in found for part in parts}) == sum(map(len, found)) > len(LENGTHS)
    assert list(pickle.loads(pickle.dumps(sampler))) == found
    # A dataset without support of parts raises an error, instead of giving whole samples.
    with pytest.raises(TypeError, match="Part"):
        next(iter(DataLoader([[1] * 200] * len(LENGTHS), batch_sampler=sampler, collate_fn=PadCollator())))


def test_a_sample_is_read_once_for_the_parts_of_a_batch() -> None:
    read: list[int] = []

    class Books:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            read.append(index)
            return np.arange(100) + 1000 * index

    class Mapped(Books):
        def get_part(self, sample: int, start: int, length: int) -> Any:
            return np.arange(start, start + length) + 1000 * sample

    sampler = BatchSampler([100] * 3, max_tokens=1_000, max_length=10, too_long="split", **ONE)
    for dataset in (Books(), Mapped()):
        loader = DataLoader(PartsDataset(dataset), batch_sampler=sampler, collate_fn=PadCollator())
        tokens = torch.cat([batch["input_ids"].flatten() for batch in loader])
        assert sorted(tokens.tolist()) == [1000 * book + token for book in range(3) for token in range(100)]
    assert len(read) == sum(len({part.sample for part in parts}) for parts in sampler) < 30
    data = PartsDataset(Books())
    assert len(data) == 3
    assert data[Part(2, 5, 3)].tolist() == data[2, 5, 3].tolist() == [2005, 2006, 2007]
    for sample in (3, 2**40):
        with pytest.raises(IndexError, match=f"part is of sample {sample}; allowed: 0 to 2"):
            data[Part(sample, 0, 1)]
    for wrong in (2, (2, 5), "abc", (2, 5, -1), (2, 5, 1.5)):
        with pytest.raises((WrongTypeError, OutOfRangeError)):
            data[wrong]  # type: ignore[index]


MANY: dict[str, Any] = {"world_size": 64, "strategy": "bucket", "max_batch_size": 8, "separate_buckets": True}
"""Options with which some of 64 ranks have no samples of a bucket."""


def first_batch(sampler: BatchSampler, collate: Any = None) -> list[str]:
    """The warnings of a loader up to its first batch."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        next(iter(DataLoader(Texts(), batch_sampler=sampler, collate_fn=collate or (lambda samples: samples))))
    return [str(one.message) for one in told if issubclass(one.category, StepsWarning)]


def test_empty_batches_are_told_before_the_first_batch(tmp_path: Path) -> None:
    """PyTorch's collator fails on some ranks only, and the others would wait for them."""
    sampler = BatchSampler(LENGTHS, rank=0, **MANY)
    wanted = sampler.batcher.metrics().empty
    assert wanted > 1_000
    failing = next(rank for rank in range(64) if not len(sampler.batcher.batch(0, rank).samples))
    with pytest.raises(IndexError):
        next(iter(DataLoader(LENGTHS.tolist(), batch_sampler=BatchSampler(LENGTHS, rank=failing, **MANY))))
    # The plan of the epoch is known: `metrics` has planned it.
    [told] = first_batch(sampler)
    assert told.startswith(f"{wanted:,} batches of the epoch of all ranks are empty: the collate_fn gets an empty list")
    assert first_batch(sampler) == []
    # Otherwise only the first window is planned.
    small = {**MANY, "batch_window": 256}
    windows = BatchSampler(LENGTHS, rank=0, **small)
    assert first_batch(windows)[0].partition(" batches ")[2].startswith("of the first window of all ranks are empty")
    assert windows.batcher.num_known_windows < windows.batcher.num_windows
    # With an index, the number is that of the epoch, and nothing is planned for it.
    index = tmp_path / "index"
    samedeal.build_index(BatchSampler(LENGTHS, rank=0, **small).batcher, index)
    indexed = BatchSampler(LENGTHS, rank=0, **small)
    indexed.use_index(index)
    empty = indexed.metrics().empty
    assert first_batch(indexed)[0].startswith(f"{empty:,} batches of the epoch")
    # One rank tells it before the first batch; any other one, when it gets an empty batch.
    assert first_batch(BatchSampler(LENGTHS, rank=failing, **MANY)) == [
        f"batch 0 of rank {failing} is empty{told[told.index(':') :]}"
    ]


@pytest.mark.parametrize("tail", ["even-split", "keep"])
def test_the_rest_of_an_epoch_tells_of_empty_batches(tail: str) -> None:
    small = {**MANY, "batch_window": 256, "tail": tail}
    saved = BatchSampler(LENGTHS, rank=0, **small)
    rest = BatchSampler(LENGTHS, rank=3, **small)
    rest.load_state_dict(saved.state_dict(2))
    with pytest.warns(StepsWarning, match="of rank 3 is empty"):
        assert [] in list(DataLoader(Texts(), batch_sampler=rest, collate_fn=list))


def test_what_the_warning_of_empty_batches_advises() -> None:
    for collate in (PadCollator(), PackCollator(max(LENGTHS))):
        assert first_batch(BatchSampler(LENGTHS, rank=0, **MANY), collate) == []
    assert len(
        list(DataLoader(Texts(), batch_sampler=BatchSampler(LENGTHS, rank=63, **MANY), collate_fn=PadCollator()))
    )
    for tail in ("drop", "duplicate"):
        sampler = BatchSampler(LENGTHS.repeat(64), rank=0, tail=tail, **MANY)
        assert sampler.metrics().empty == 0
        assert sampler.epoch_length > 0
    more = np.random.default_rng(3).integers(0, 200, 4_000)
    empty = [
        BatchSampler(more, rank=0, **{**MANY, **options}).metrics().empty
        for options in ({"batch_window": 256}, {"batch_window": 4_000}, {"separate_buckets": False})
    ]
    assert empty[0] > empty[1] > empty[2] == 0


SHAPES: list[tuple[dict[str, Any], list[tuple[int, int]]]] = [
    (
        {"boundaries": [16, 64, 200], "max_tokens": 1_000, "max_batch_size": 20},
        [(1, 1000), (5, 200), (15, 64), (20, 16)],
    ),
    ({"boundaries": [16, 64, 200], "max_batch_size": 20}, [(20, 16), (20, 64), (20, 200)]),
    ({"boundaries": [20, 200], "max_batch_size": 20, "batch_size_multiple": 8}, [(16, 20), (16, 200)]),
    (
        {"boundaries": [50, 400], "max_length": 199, "max_tokens": 1_000, "too_long": "truncate"},
        [(5, 199), (20, 50)],
    ),
    ({"bucket_width": 90, "max_length": 199, "max_tokens": 1_000}, [(5, 180), (5, 199), (11, 90)]),
    (
        {"boundaries": [50, 199], "max_cost": 80_000, "counting": "weighted", "quadratic": 1, "separate_buckets": True},
        [(1, 282), (2, 199), (31, 50)],
    ),
]


@pytest.mark.parametrize("tail", ["even-split", "keep", "duplicate", "drop"])
@pytest.mark.parametrize(("options", "wanted"), SHAPES)
def test_all_batches_have_one_of_the_full_shapes(
    options: dict[str, Any], wanted: list[tuple[int, int]], tail: str
) -> None:
    """The shapes hold in all epochs and on all ranks, also for the last batches of a window and for batches without
    samples."""
    for world_size in (1, 3):
        for rank in range(world_size):
            given: dict[str, Any] = {**options, "tail": tail, "batch_window": 300, "seed": 4}
            sampler = BatchSampler(LENGTHS, strategy="bucket", rank=rank, world_size=world_size, **given)
            assert sampler.full_shapes == wanted
            made = PadCollator(shapes=sampler.full_shapes, max_length=options.get("max_length"))
            loader = DataLoader(Texts(), batch_sampler=sampler, collate_fn=made)
            for epoch in range(2):
                sampler.set_epoch(epoch)
                for batch, planned in zip(loader, sampler.batches(), strict=True):
                    assert tuple(batch["input_ids"].shape) in wanted
                    rows = len(planned.samples)
                    assert batch["attention_mask"].sum(1)[:rows].tolist() == planned.lengths.tolist()
                    assert not batch["attention_mask"][rows:].any()
                    assert (batch["labels"][batch["attention_mask"] == 0] == -100).all()
                    assert batch["number"].tolist() == planned.samples.tolist() + [0] * (len(batch["number"]) - rows)


def test_full_shapes_of_rows_of_one_length() -> None:
    packed = BatchSampler(LENGTHS, strategy="pack", capacity=300, max_batch_size=4, **ONE)
    assert packed.full_shapes == [(4, 300)]
    padded = BatchSampler(LENGTHS, strategy="pad-to-max", max_batch_size=7, max_length=210, **ONE)
    assert padded.full_shapes == [(7, 210)]
    many = BatchSampler(LENGTHS, strategy="bucket", max_batch_size=4, boundaries=range(1, 301), order="torch", **ONE)
    assert many.full_shapes == [(4, width) for width in range(1, 301)]
    blended = samedeal.blend({"a": (600, 1), "b": (400, 1)})
    own: dict[str, Any] = {"strategy": "bucket", "boundaries": [200], "max_batch_size": 4}
    assert BatchSampler(LENGTHS, order=blended, **own, **ONE).full_shapes == [(4, 200)]
    unknown: list[dict[str, Any]] = [
        {"max_tokens": 2_000},
        {"strategy": "bucket", "max_batch_size": 4},
        {"strategy": "bucket", "max_batch_size": 4, "bucket_width": 9},
        {"strategy": "bucket", "max_batch_size": 4, "quantiles": 9},
        {"strategy": "pad-to-max", "max_batch_size": 4},
        {"strategy": "pack", "capacity": 100, "too_long": "single"},
    ]
    for options in unknown:
        with pytest.raises(ContradictionError, match="strategy is"):
            _ = BatchSampler(LENGTHS, **ONE, **options).full_shapes


def test_a_batch_gets_the_smallest_shape_that_holds_it() -> None:
    made = PadCollator(shapes=[(2, 8), (4, 3), (1, 20)])
    for lengths, shape in (([1], (4, 3)), ([3] * 4, (4, 3)), ([4], (2, 8)), ([9], (1, 20)), ([], (4, 3))):
        batch = made([{"input_ids": [5] * length, "labels": [5] * length, "name": "x"} for length in lengths])
        assert tuple(batch["input_ids"].shape) == tuple(batch["labels"].shape) == shape
        assert batch["attention_mask"].sum() == sum(lengths)
        assert (batch["labels"] == -100).sum() == batch["labels"].numel() - sum(lengths)
        if lengths:
            assert batch["name"] == ["x"] * len(lengths) + [None] * (shape[0] - len(lengths))
    assert PadCollator(shapes=[(2, 8)], fill_empty=False)([])["input_ids"].shape == (0, 0)
    for lengths in ([3] * 5, [4] * 3, [21]):
        with pytest.raises(OutOfRangeError, match=f"one that holds {len(lengths)} rows of {max(lengths)} tokens"):
            made([[5] * length for length in lengths])
    wrongs: list[Any] = [3, "ab", [3], [(1, 2, 3)], [("a", 2)]]
    for wrong in wrongs:
        with pytest.raises(WrongTypeError):
            PadCollator(shapes=wrong)
    with pytest.raises(OutOfRangeError):
        PadCollator(shapes=[(0, 3)])
    with pytest.raises(MissingError):
        PadCollator(shapes=[])
    others: list[Any] = [{"width": 3}, {"pad_to_multiple_of": 8}]
    for other in others:
        with pytest.raises(ContradictionError, match="shapes"):
            PadCollator(shapes=[(1, 3)], **other)


def test_packed_batches_of_one_shape() -> None:
    made = PackCollator(8, rows=3, pad_sequences_to_multiple_of=10, segment_ids="ids")
    known = PackCollator(8, segment_ids="ids")([[1, 2, 3], [4, 5, 6, 7, 8], [9]])
    full = made([[1, 2, 3], [4, 5, 6, 7, 8], [9]])
    assert full["input_ids"][:2].equal(known["input_ids"])
    assert full["ids"][:2].equal(known["ids"])
    assert not full["input_ids"][2:].any()
    assert not full["ids"][2:].any()
    assert full["cu_seq_lens_q"].tolist() == [0, 3, 8, 9, 16, 24, 24, 24, 24, 24, 24]
    assert full["cu_seq_lens_q"].dtype == torch.int32
    assert full["max_length_q"] == full["max_length_k"] == 8
    # Sequences of padding begin at position 0, and are at most as long as a sample may be.
    assert full["position_ids"].tolist() == [[0, 1, 2, *range(5)], [0, *range(7)], [*range(8)]]
    short = PackCollator(8, rows=1, pad_sequences_to_multiple_of=4, max_length=3)([[1]])
    assert (short["cu_seq_lens_q"].tolist(), short["max_length_q"]) == ([0, 1, 4, 7, 8], 3)
    # More sequences than the multiple are no error: they are padded to the next multiple.
    assert len(made([[1]] * 15)["cu_seq_lens_q"]) == 21
    empty = PackCollator(8, rows=3, pad_sequences_to_multiple_of=10)([])
    assert empty["input_ids"].shape == (3, 8)
    assert len(empty["cu_seq_lens_q"]) == 11
    assert (empty["labels"] == -100).all()
    with pytest.raises(OutOfRangeError, match="rows is 3; allowed: at least 4"):
        made([[1] * 8] * 4)
    for name in ("rows", "pad_sequences_to_multiple_of"):
        options: Any = {name: 2}
        with pytest.raises(MissingError, match="capacity"):
            PackCollator(**options)([[1]])
        options = {name: 0}
        with pytest.raises(OutOfRangeError, match="allowed: 1 to"):
            PackCollator(8, **options)


REPEATING: list[dict[str, Any]] = [
    {"max_tokens": 900, "batch_window": 100},
    {"strategy": "bucket", "max_batch_size": 7, "batch_window": 100},
    {"strategy": "pack", "capacity": 300, "max_batch_size": 2, "batch_window": 100},
    {"strategy": "pad-to-max", "max_batch_size": 7},
    {"max_cost": 50_000, "counting": "weighted", "quadratic": 1, "batch_window": 100, "too_long": "split"},
]


@pytest.mark.parametrize("options", REPEATING)
def test_repeated_samples_can_be_left_out(options: dict[str, Any]) -> None:
    """Repeated samples are left out with and without workers, and after a resume on another world size."""

    def loader_of(rank: int, world_size: int) -> Resumable:
        sampler = BatchSampler(LENGTHS, tail="duplicate", rank=rank, world_size=world_size, **options)
        return Resumable(DataLoader(Marked(), batch_sampler=sampler, collate_fn=list, num_workers=2 * (rank == 1)))

    def read(loader: Resumable, steps: int | None) -> tuple[list[Any], int]:
        own, padding = [], 0
        assert loader.num_padding == 0
        for batch in itertools.islice(loader, steps):
            own += batch[: len(batch) - loader.num_padding]
            padding += loader.num_padding
        return own, padding

    whole = BatchSampler(LENGTHS, tail="duplicate", rank=0, world_size=3, **options)
    found = [read(loader_of(rank, 3), None) for rank in range(3)]
    assert sum(padding for _, padding in found) == whole.metrics().repeated > 0
    for rank, (_, padding) in enumerate(found):
        assert BatchSampler(LENGTHS, tail="duplicate", rank=rank, world_size=3, **options).num_padding == padding
    assert_whole(item for own, _ in found for item in own)
    loaders = [loader_of(rank, 3) for rank in range(3)]
    parts = [read(loader, 5)[0] for loader in loaders]
    for rank in range(4):
        loader = loader_of(rank, 4)
        loader.load_state_dict(loaders[0].state_dict())
        parts.append(read(loader, None)[0])
    assert_whole(item for own in parts for item in own)


def assert_whole(items: Iterable[tuple[int, int, int]]) -> None:
    """Each token of each sample comes once."""
    ends = np.zeros(len(LENGTHS), dtype=int)
    for sample, start, length in sorted(items):
        assert start == ends[sample]
        ends[sample] += length
    assert ends.tolist() == LENGTHS.tolist()


class Marked(torch.utils.data.Dataset[Any]):  # type: ignore[misc]
    """A sample or a part of a sample, as (sample, start, length)."""

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, item: Any) -> tuple[int, int, int]:
        return item if isinstance(item, Part) else (item, 0, int(LENGTHS[item]))


def test_other_tails_repeat_nothing() -> None:
    for tail in ("even-split", "keep", "drop"):
        sampler = BatchSampler(LENGTHS, tail=tail, max_tokens=900, rank=0, world_size=4)
        loader = Resumable(DataLoader(Marked(), batch_sampler=sampler, collate_fn=list))
        assert sampler.num_padding == 0
        assert {loader.num_padding for _ in loader} == {0}
        # The number of padding samples is known without planning any window.
        assert BatchSampler(LENGTHS, tail=tail, max_tokens=900, **ONE).batcher.num_known_windows == 0


def test_a_loader_goes_on_with_a_smaller_budget() -> None:
    lengths = [1 + number * 37 % 90 for number in range(400)]

    def made(max_tokens: int, rank: int, world_size: int) -> Resumable:
        sampler = BatchSampler(lengths, max_tokens=max_tokens, rank=rank, world_size=world_size)
        return Resumable(DataLoader(range(400), batch_sampler=sampler, collate_fn=list))

    loaders = [made(600, rank, 3) for rank in range(3)]
    seen = [sample for loader in loaders for batch in itertools.islice(loader, 4) for sample in batch]
    state = loaders[0].state_dict()
    with pytest.raises(ContradictionError, match="replan"):
        made(300, 0, 2).load_state_dict(state)
    for rank in range(2):
        later = made(300, rank, 2)
        later.load_state_dict(state, replan=True)
        seen += [sample for batch in later for sample in batch]
    assert sorted(seen) == list(range(400))
    other = Resumable(DataLoader(range(9), sampler=DistributedSampler(range(9), num_replicas=1, rank=0)))
    with pytest.raises(ContradictionError, match="replan is True"):
        other.load_state_dict(other.state_dict(), replan=True)
