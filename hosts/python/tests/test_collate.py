"""Collation to NumPy arrays: results and refusals."""

from __future__ import annotations

import doctest
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hostile import NOT_WHOLE, TOO_WIDE, UNKNOWN, Vicious, fails
from limits import HANG
from samedeal import (
    Batcher,
    ContradictionError,
    OutOfRangeError,
    SamedealError,
    UnknownNameError,
    WrongTypeError,
    collate,
)

RAGGED = [np.arange(length) + 10 * length for length in (3, 0, 5, 1)]


def test_examples() -> None:
    result = doctest.testmod(collate)
    assert result.attempted >= 3
    assert result.failed == 0


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "complex64", "bool", "U3", "S2", "M8[s]"])
def test_padding(dtype: str, side: str) -> None:
    sequences = [part.astype(dtype) for part in RAGGED]
    filler = np.zeros((), dtype=dtype)[()]
    found = collate.pad(sequences, side=side, pad_to_multiple_of=4, padding_value=filler)
    assert found.values.dtype == np.dtype(dtype)
    assert found.values.shape == found.attention_mask.shape == (4, 8)
    assert found.attention_mask.dtype == bool
    for row, mask, part in zip(found.values, found.attention_mask, sequences, strict=True):
        own = slice(0, len(part)) if side == "right" else slice(8 - len(part), 8)
        assert row[own].tolist() == part.tolist()
        assert mask.sum() == len(part)
        assert mask[own].all()
        assert (row[~mask] == filler).all()


def test_flat_tokens_are_the_same() -> None:
    tokens, offsets = np.concatenate(RAGGED), [0, 3, 3, 8, 9]
    pairs: list[Any] = [
        (collate.pad(RAGGED, padding_value=-1), collate.pad(tokens, offsets, padding_value=-1)),
        (collate.pack(RAGGED, row_ends=[2, 4]), collate.pack(tokens, np.array(offsets), row_ends=[2, 4])),
    ]
    for one, other in pairs:
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_tokens_that_are_arrays() -> None:
    sequences = [np.arange(6).reshape(3, 2), np.arange(2).reshape(1, 2)]
    found = collate.pad(sequences)
    assert found.values.tolist() == [[[0, 1], [2, 3], [4, 5]], [[0, 1], [0, 0], [0, 0]]]
    assert found.attention_mask.tolist() == [[True] * 3, [True, False, False]]


def test_lists_and_widths() -> None:
    assert collate.pad([[1, 2], [3]], width=4).values.tolist() == [[1, 2, 0, 0], [3, 0, 0, 0]]
    assert collate.pad([[1.5], [2]]).values.tolist() == [[1.5], [2.0]]
    assert collate.pad(np.array([[1, 2], [3, 4]])).values.tolist() == [[1, 2], [3, 4]]
    assert collate.pad([]).values.shape == (0, 0)
    assert collate.pad([[], []], width=3).values.shape == (2, 3)
    assert collate.pad([[]], width=0).values.shape == (1, 0)
    assert collate.pad([[1.0]], padding_value=np.nan, width=2).values[0, 1] != 0


def test_packing() -> None:
    found = collate.pack([[1, 2], [3], [4, 5, 6], [7]], row_ends=[2, 2, 4], width=5, padding_value=9)
    assert found.values.tolist() == [[1, 2, 3, 9, 9], [9] * 5, [4, 5, 6, 7, 9]]
    assert found.position_ids.tolist() == [[0, 1, 0, 0, 0], [0] * 5, [0, 1, 2, 0, 0]]
    assert found.segment_ids.tolist() == [[1, 1, 2, 0, 0], [0] * 5, [1, 1, 1, 2, 0]]
    assert found.cu_seqlens.tolist() == [0, 2, 3, 6, 7]
    assert found.max_seqlen == 3
    for part in (found.position_ids, found.segment_ids, found.cu_seqlens):
        assert part.dtype == np.int32
    # All samples are in one row, without padding.
    assert collate.pack([[1, 2], [3]]).values.tolist() == [[1, 2, 3]]
    assert collate.pack([[1, 2], [3], [4]], row_ends=[1, 3]).values.tolist() == [[1, 2], [3, 4]]
    nothing = collate.pack([])
    assert (nothing.values.shape, nothing.cu_seqlens.tolist(), nothing.max_seqlen) == ((0, 0), [0], 0)


def test_batches_are_collated_as_planned() -> None:
    lengths = np.random.default_rng(2).integers(0, 40, 300)
    for batch in Batcher(lengths, strategy="pack", capacity=64, max_batch_size=4):
        sequences = [np.full(length, sample) for sample, length in zip(batch.samples, batch.lengths, strict=True)]
        packed = collate.pack(sequences, row_ends=batch.row_ends, width=batch.padded_length, padding_value=-1)
        assert packed.values.shape == batch.shape
        for row, samples in zip(packed.values, batch.rows(), strict=True):
            assert row[row >= 0].tolist() == np.repeat(samples, lengths[samples]).tolist()
        assert packed.cu_seqlens.tolist() == [0, *np.cumsum(batch.lengths)]


def test_large_batches() -> None:
    sequences = np.arange(2**23, dtype=np.uint32)
    offsets = np.arange(0, 2**23 + 1, 2**10)
    for _ in range(2):
        assert (collate.pad(sequences, offsets).values.reshape(-1) == sequences).all()
    assert collate.pad([[1]]).values.tolist() == [[1]]
    with fails(OutOfRangeError, "lengths"):
        collate.pad([[1]], width=2**26 + 1)
    with fails(OutOfRangeError, "lengths"):
        collate.pack([[1]] * 2, row_ends=[1, 2], width=2**25 + 1)


def test_threads() -> None:
    wrong = []

    def work(number: int) -> None:
        for length in range(50):
            if collate.pad([[number] * length], width=50).values.sum() != number * length:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_it_is_there_without_an_import() -> None:
    code = "import samedeal; assert samedeal.collate.pad([[1]]).values.tolist() == [[1]]"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG)


NO_SEQUENCES = [7, "ab", b"ab", {1: [2]}, {3}, None, np.ones(3), [1, 2], ["ab"], [[object()]], [[1, [2]]]]


@pytest.mark.parametrize("call", [collate.pad, collate.pack])
def test_sequences_are_lists_of_tokens(call: Callable[..., Any]) -> None:
    for value in [*NO_SEQUENCES, Vicious(), [Vicious()]]:
        with fails(WrongTypeError, "sequences"):
            call(value)
    with fails(ContradictionError, "sequences"):
        call([np.ones((1, 2)), np.ones((1, 3))])
    for offsets in ([], [1, 3], [0, 2], [0, 2, 1, 3], [0, 4]):
        with fails(ContradictionError, "offsets"):
            call([1, 2, 3], offsets)
    with fails(WrongTypeError, "offsets"):
        call([1, 2, 3], [0, 1.5, 3])
    with fails(WrongTypeError, "sequences"):
        call([[1], [2, 3]], [0, 2])


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "width": lambda value: collate.pad([[1]], width=value),
    "pad_to_multiple_of": lambda value: collate.pad([[1]], pad_to_multiple_of=value),
    "width of packs": lambda value: collate.pack([[1]], width=value),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_checked(name: str) -> None:
    call, field = NUMBERS[name], name.split()[0]
    for value in [*NOT_WHOLE, Vicious()]:
        if not (value is None and field == "width"):
            with fails(WrongTypeError, field):
                call(value)
    for wide in [*TOO_WIDE, 2**32]:
        with fails(OutOfRangeError, field):
            call(wide)


@pytest.mark.parametrize(
    ("error", "field", "call"),
    [
        (OutOfRangeError, "width", lambda: collate.pad([[1, 2]], width=1)),
        (OutOfRangeError, "width", lambda: collate.pad([[1, 2]], width=0)),
        (OutOfRangeError, "pad_to_multiple_of", lambda: collate.pad([[1, 2]], pad_to_multiple_of=0)),
        (OutOfRangeError, "row_ends", lambda: collate.pack([[1, 2]], width=1)),
        (ContradictionError, "row_ends", lambda: collate.pack([[1], [2]], row_ends=[1])),
        (ContradictionError, "row_ends", lambda: collate.pack([[1], [2]], row_ends=[2, 1])),
        (ContradictionError, "row_ends", lambda: collate.pack([[1], [2]], row_ends=[])),
        (ContradictionError, "row_ends", lambda: collate.pack([[1]], row_ends=[5, 1])),
        (OutOfRangeError, "row_ends", lambda: collate.pack([[1]], row_ends=[-1])),
        (WrongTypeError, "row_ends", lambda: collate.pack([[1]], row_ends=7)),
        (OutOfRangeError, "padding_value", lambda: collate.pad([[1]], padding_value=0.5)),
        (OutOfRangeError, "padding_value", lambda: collate.pad(np.ones((1, 1), dtype=np.uint8), padding_value=300)),
        (OutOfRangeError, "padding_value", lambda: collate.pad(np.ones((1, 1), dtype=np.uint8), padding_value=-1)),
        (WrongTypeError, "padding_value", lambda: collate.pad([[1]], padding_value="0")),
        (WrongTypeError, "padding_value", lambda: collate.pad([[1]], padding_value=[0])),
        (WrongTypeError, "padding_value", lambda: collate.pad([[1]], padding_value=None)),
        (WrongTypeError, "padding_value", lambda: collate.pad([[1.5]], padding_value="x")),
    ],
)
def test_collation_that_cannot_be(error: type[SamedealError], field: str, call: Callable[[], Any]) -> None:
    with fails(error, field):
        call()
    assert collate.pad([[1], []]).values.tolist() == [[1], [0]]


def test_sides() -> None:
    for value in UNKNOWN:
        with fails(UnknownNameError, "side"):
            collate.pad([[1]], side=value)
    with fails(WrongTypeError, "side"):
        collate.pad([[1]], side=None)  # type: ignore[arg-type]


MASKED: Any = np.ma.array([0, 1], mask=[False, True])


@pytest.mark.parametrize(
    ("error", "field", "call"),
    [
        (WrongTypeError, "sequences", lambda: collate.pad([MASKED])),
        (WrongTypeError, "sequences", lambda: collate.pad(MASKED, [0, 2])),
        (WrongTypeError, "offsets", lambda: collate.pad([1], MASKED)),
        (WrongTypeError, "row_ends", lambda: collate.pack([[1]], row_ends=MASKED)),
        (WrongTypeError, "padding_value", lambda: collate.pad([[1]], padding_value=np.ma.masked)),
        (WrongTypeError, "padding_value", lambda: collate.pad([[1]], padding_value=True)),
        (OutOfRangeError, "padding_value", lambda: collate.pad([[1]], padding_value=10**70)),
        (OutOfRangeError, "padding_value", lambda: collate.pad([[1.0]], padding_value=10**400)),
        (OutOfRangeError, "padding_value", lambda: collate.pad([np.ones(1, np.float32)], padding_value=1e39)),
    ],
)
def test_values_that_are_hidden_or_do_not_fit(error: type[SamedealError], field: str, call: Callable[[], Any]) -> None:
    with fails(error, field):
        call()


def test_a_mask_that_hides_nothing_is_none() -> None:
    assert collate.pad([np.ma.array([1, 2])], width=3, padding_value=-1).values.tolist() == [[1, 2, -1]]
    assert np.isinf(collate.pad([[1.0]], width=2, padding_value=np.inf).values[0, 1])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (10**70, "100000000000... (71 digits)"),
        (-(10**70), "-100000000000... (71 digits)"),
        (10**5000, f"{hex(10**5000)[:12]}... ({len(hex(10**5000)) - 2} hexadecimal digits)"),
        (2**64, "18446744073709551616"),
    ],
    ids=["positive", "negative", "thousands", "shown"],
)
def test_numbers_of_many_digits_are_not_shown_whole(value: int, shown: str) -> None:
    with fails(OutOfRangeError, "width") as caught:
        collate.pad([[1]], width=value)
    assert caught.value.value == shown
