"""Lengths of samples from any source, and indices of plans."""

from __future__ import annotations

import array
import itertools
import json
import multiprocessing
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import samedeal
from building import check_that_it_goes_on
from hostile import fails
from samedeal import (
    Batcher,
    ContradictionError,
    LengthsSource,
    MissingError,
    OutOfRangeError,
    SamedealError,
    WrongTypeError,
    build_index,
    join_indices,
)
from samedeal.batch.lengths import Lengths

SAMPLES = 60_000
"""More samples than a recipe asks for, and more than two windows."""
LENGTHS = np.random.default_rng(3).integers(1, 300, SAMPLES, dtype=np.uint32)
OPTIONS: dict[str, Any] = {"max_tokens": 4096, "world_size": 2, "batch_window": 8192}


class Counting:
    """Lengths that count the samples for which they are asked."""

    def __init__(self, lengths: Any) -> None:
        self.lengths, self.asked = lengths, 0

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, samples: Any) -> Any:
        self.asked += len(samples)
        return self.lengths[samples]


class Listing(Counting):
    """Lengths that are returned as lists."""

    def __getitem__(self, samples: Any) -> Any:
        return super().__getitem__(samples).tolist()


def mapped(folder: Path, lengths: Any = LENGTHS) -> Any:
    """Lengths in a file that is mapped into memory."""
    np.save(folder / "lengths.npy", lengths)
    return np.load(folder / "lengths.npy", mmap_mode="r")


def chunked(lengths: Any = LENGTHS) -> Any:
    """Lengths as a column of Arrow in pieces."""
    return pa.chunked_array([pa.array(part) for part in np.array_split(lengths, 7)])


KINDS: dict[str, Callable[[], Any]] = {
    "int64": lambda: LENGTHS.astype(np.int64),
    "big-endian": lambda: LENGTHS.astype(">u4"),
    "strided": lambda: np.repeat(LENGTHS, 2)[::2],
    "list": LENGTHS.tolist,
    "tuple": lambda: tuple(LENGTHS.tolist()),
    "array": lambda: array.array("I", LENGTHS.tolist()),
    "deque": lambda: deque(LENGTHS.tolist()),
    "iterator": lambda: iter(LENGTHS.tolist()),
    "Arrow": lambda: pa.array(LENGTHS),
    "Arrow in pieces": chunked,
    "object": lambda: Counting(LENGTHS),
    "object that gives lists": lambda: Listing(LENGTHS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_lengths_of_all_kinds_give_the_same_batches(kind: str) -> None:
    expected, found = Batcher(LENGTHS, **OPTIONS), Batcher(KINDS[kind](), **OPTIONS)
    assert found.recipe == expected.recipe
    assert found.batch(70).samples.tolist() == expected.batch(70).samples.tolist()
    if kind not in ("iterator", "deque"):
        assert found.fingerprint() == expected.fingerprint()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The flags of each read of a file. Files of any size are read like large ones here."""
    found: list[int] = []
    original: Any = getattr(os, "preadv", None)

    def preadv(*given: Any) -> Any:
        found.append(given[3] if len(given) > 3 else 0)
        return original(*given)

    if original is not None:
        monkeypatch.setattr(os, "preadv", preadv)
    monkeypatch.setattr("samedeal.batch.mapped._READ", 8)
    return found


@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("kind", ["<u4", ">i8", "u2"])
def test_single_lengths_of_a_large_file_are_read(kind: str, cold: bool, tmp_path: Path, reads: list[int]) -> None:
    whole = mapped(tmp_path, LENGTHS.astype(kind))
    if cold and sys.platform == "linux":
        file = os.open(whole.filename, os.O_RDWR)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    part, rng = whole[1_000:], np.random.default_rng(4)
    lengths = Lengths.of(part)
    for _ in range(3):
        # Single samples, runs, one sample twice, and the first and the last one.
        samples = np.concatenate([rng.integers(0, len(part), 900), np.arange(70, 90), [5, 5, 0, len(part) - 1, 0]])
        assert lengths.at(samples).tolist() == LENGTHS[1_000:][samples].tolist()
    assert lengths.at(np.array([], dtype=np.int64)).tolist() == []
    # A device with the major number 0 is a file system in memory or in layers. Its mappings name another device, so it
    # is left out.
    if sys.platform == "linux" and os.major(Path(whole.filename).stat().st_dev):
        assert reads
    # A read that would cost as much as all page faults uses the mapping instead, and so do all later reads.
    before = len(reads)
    samples = rng.permutation(len(part))
    assert lengths.at(np.tile(samples, 3)).tolist() == np.tile(LENGTHS[1_000:][samples], 3).tolist()
    assert lengths.at(samples[:10]).tolist() == LENGTHS[1_000:][samples[:10]].tolist()
    assert len(reads) == before


@pytest.mark.parametrize("now", ["another file", "no file", "changed in memory"])
def test_a_path_that_is_no_longer_that_of_the_mapped_file_is_not_read(
    now: str, tmp_path: Path, reads: list[int]
) -> None:
    given, expected = mapped(tmp_path), LENGTHS[[7, 9_000]].tolist()
    if now == "changed in memory":
        given = np.load(given.filename, mmap_mode="c")
        given[7] = expected[0] = 1
    elif sys.platform == "win32":
        pytest.skip("a file that is mapped cannot be removed there")
    else:
        np.save(tmp_path / "other.npy", LENGTHS + 1)
        (tmp_path / "other.npy").replace(given.filename) if now == "another file" else Path(given.filename).unlink()
    assert Lengths.of(given).at(np.array([7, 9_000])).tolist() == expected
    assert not reads


def test_a_function_gives_lengths_if_the_order_says_how_many() -> None:
    order = samedeal.order("feistel", SAMPLES)
    read: Any = LENGTHS.__getitem__
    batcher = Batcher(read, order=order, **OPTIONS)
    assert batcher.fingerprint() == Batcher(LENGTHS, **OPTIONS).fingerprint()
    with fails(MissingError, "lengths"):
        Batcher(read, **OPTIONS)


def test_sources_of_a_blend_are_read_where_they_are(tmp_path: Path) -> None:
    parts = {"web": mapped(tmp_path, LENGTHS[:40_000]), "code": chunked(LENGTHS[40_000:])}
    order = samedeal.blend({"web": (40_000, 2), "code": (20_000, 1)})
    batcher = Batcher(parts, order=order, **OPTIONS)
    assert batcher.fingerprint() == Batcher(LENGTHS, order=order, **OPTIONS).fingerprint()
    assert pickle.loads(pickle.dumps(batcher)).fingerprint() == batcher.fingerprint()
    parts["code"] = LENGTHS[40_000:].astype(np.int64) - 400
    with pytest.raises(OutOfRangeError, match=r"-\d+ \(sample [45]\d{4}\)"):
        Batcher(parts, order=order, **OPTIONS)


@pytest.mark.parametrize(
    ("error", "told", "value"),
    [
        (OutOfRangeError, r"-1 \(sample 60000\)", -1),
        (OutOfRangeError, r"4294967296 \(sample 60000\)", 2**32),
        (WrongTypeError, r"2\.5 \(sample 60000\)", 2.5),
        (WrongTypeError, r"True \(sample 60000\)", True),
        (WrongTypeError, r"None \(sample 60000\)", None),
    ],
)
def test_values_are_checked_when_they_are_read(error: type[Exception], told: str, value: Any) -> None:
    # The last length is in no run of 16 lengths, so it is not among those that are asked for first.
    lengths: list[Any] = [*LENGTHS.tolist(), value]
    batcher = Batcher(lengths, order="sequential", mean_length=150, **OPTIONS)
    assert batcher.batch(0).samples.tolist()
    for _ in range(2):
        with pytest.raises(error, match=told):
            batcher.metrics()
    lengths[-1] = 5
    assert batcher.fingerprint() == Batcher(lengths, order="sequential", mean_length=150, **OPTIONS).fingerprint()


class Endless:
    """Says that it has more items than there can be."""

    def __len__(self) -> int:
        return 10**30

    def __getitem__(self, at: Any) -> int:
        return 1


@pytest.mark.parametrize(
    ("error", "lengths"),
    [
        (WrongTypeError, "abc"),
        (WrongTypeError, b"abc"),
        (WrongTypeError, {3, 4}),
        (WrongTypeError, 3),
        (WrongTypeError, None),
        (WrongTypeError, np.zeros((2, 2), dtype=np.int64)),
        (WrongTypeError, np.zeros(3)),
        (WrongTypeError, pa.array([1, None])),
        (WrongTypeError, pa.chunked_array([[1], [None]])),
        (WrongTypeError, np.ma.masked_array([1, 2], mask=[False, True])),
        (WrongTypeError, list),
        (WrongTypeError, Endless()),
    ],
)
def test_what_has_no_lengths(error: type[SamedealError], lengths: Any) -> None:
    with fails(error, "lengths"):
        Batcher(lengths, max_tokens=9)


def test_a_source_has_to_give_as_many_as_asked() -> None:
    class Short(Counting):
        def __getitem__(self, samples: Any) -> Any:
            return self.lengths[samples[1:]]

    short: Any = Short(LENGTHS)
    assert isinstance(Short(LENGTHS), LengthsSource)
    with fails(ContradictionError, "lengths"):
        Batcher(short, **OPTIONS)


def test_a_pass_reads_the_lengths_of_one_window_at_a_time() -> None:
    lengths: Any = Counting(LENGTHS)
    batcher = Batcher(lengths, rank=1, **OPTIONS)
    assert lengths.asked == 16_384
    running = iter(batcher)
    next(running)
    assert lengths.asked == 16_384 + 8192
    state = batcher.state(3)
    batcher.resume(state)
    next(iter(batcher))
    assert lengths.asked == 16_384 + 2 * 8192
    other = Batcher(lengths, **OPTIONS | {"world_size": 3})
    before = lengths.asked
    other.resume(state)
    assert lengths.asked == before
    next(iter(other))
    assert lengths.asked == before + 8192


def test_the_end_of_an_epoch_is_found_without_its_length() -> None:
    batcher = Batcher(LENGTHS, **OPTIONS)
    steps = len(list(batcher))
    assert steps == len(batcher) == batcher.metrics().steps
    assert batcher.batch(steps - 1).samples.tolist()
    with pytest.raises(OutOfRangeError, match=f"step is {steps}; allowed: 0 to {steps - 1}"):
        Batcher(LENGTHS, **OPTIONS).batch(steps)
    assert list(batcher.batches(steps)) == []
    with fails(OutOfRangeError, "start"):
        Batcher(LENGTHS, **OPTIONS).batches(steps + 1)


def test_a_call_that_is_interrupted_goes_on_between_windows() -> None:
    class Interrupted(Counting):
        def __getitem__(self, samples: Any) -> Any:
            if self.asked > 16_384 + 3 * 8192:
                self.asked = -(10**9)
                raise KeyboardInterrupt
            return super().__getitem__(samples)

    interrupted: Any = Interrupted(LENGTHS)
    batcher = Batcher(interrupted, **OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        batcher.metrics()
    assert batcher.num_known_windows == 4
    assert batcher.metrics() == Batcher(LENGTHS, **OPTIONS).metrics()


def test_metrics_tell_how_far_they_are() -> None:
    told: list[tuple[int, int]] = []
    batcher = Batcher(LENGTHS, **OPTIONS)
    found = batcher.metrics(lambda done, all_of_them: told.append((done, all_of_them)))
    windows = batcher.num_windows
    assert told == [(done, windows) for done in range(windows + 1)]
    assert found == batcher.metrics()


def test_a_memory_mapped_file_is_pickled_as_its_path(tmp_path: Path) -> None:
    for lengths in (mapped(tmp_path), mapped(tmp_path)[5_000:]):
        batcher = Batcher(lengths, **OPTIONS)
        text = pickle.dumps(batcher)
        assert len(text) < 10_000
        assert pickle.loads(text).fingerprint() == Batcher(np.array(lengths), **OPTIONS).fingerprint()


def test_an_index_says_how_long_an_epoch_is() -> None:
    batcher = Batcher(LENGTHS, **OPTIONS)
    windows = batcher.num_windows
    text = batcher.index(0, windows)
    assert join_indices([batcher.index(2, windows - 2), batcher.index(0, 2)]) == text
    lengths: Any = Counting(LENGTHS)
    other = Batcher(lengths, epoch=5, **OPTIONS)
    other.use_index(text)
    assert other.num_known_windows == 0
    other.set_epoch(0)
    assert (other.num_steps, other.metrics()) == (batcher.num_steps, batcher.metrics())
    assert lengths.asked == 16_384
    other.resume(batcher.state(100))
    assert len(other) == len(batcher) - 100
    assert len(pickle.loads(pickle.dumps(other))) == len(batcher) - 100
    assert lengths.asked == 16_384
    with fails(ContradictionError, "recipe_fingerprint"):
        Batcher(LENGTHS, **OPTIONS | {"seed": 1}).use_index(text)
    with fails(WrongTypeError, "index"):
        other.use_index(text.replace('"epoch":0', '"epoch":1'))
    with fails(ContradictionError, "index"):
        other.use_index(batcher.index(0, 1))
    with fails(WrongTypeError, "index"):
        other.use_index(3)  # type: ignore[arg-type]
    with fails(MissingError, "index"):
        join_indices([])
    # Other ranks took steps of this rest of the epoch, so the index does not describe it.
    third = Batcher(LENGTHS, **OPTIONS | {"world_size": 3})
    third.use_index(third.index(0, third.num_windows))
    third.resume(batcher.state(10))
    assert len(third) == len(list(third))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_index_is_built_by_any_number_of_processes(workers: int, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    batcher = Batcher(LENGTHS, **OPTIONS)
    path = tmp_path / "plan.json"
    text = build_index(batcher, path, workers=workers, progress=lambda *now: told.append(now))
    assert path.read_text() == f"{text}\n"
    assert text == batcher.index(0, batcher.num_windows)
    assert list(tmp_path.iterdir()) == [path]
    assert told == [(done, batcher.num_windows) for done in range(1, batcher.num_windows + 1)]
    batcher.use_index(path)


def test_an_index_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    class Stopping(Counting):
        left = 4

        def __getitem__(self, samples: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().__getitem__(samples)

    path = tmp_path / "plan.json"
    stopping: Any = Stopping(LENGTHS)
    with pytest.raises(KeyboardInterrupt):
        build_index(Batcher(stopping, **OPTIONS), path, workers=1)
    (folder,) = tmp_path.iterdir()
    parts = sorted(folder.iterdir())
    assert len(parts) == 2
    parts[0].write_text(parts[0].read_text()[:-20])
    lengths: Any = Counting(LENGTHS)
    batcher = Batcher(lengths, epoch=0, **OPTIONS)
    batcher.resume(Batcher(LENGTHS, **OPTIONS).state(200))
    told: list[tuple[int, int]] = []
    text = build_index(batcher, path, workers=1, progress=lambda *now: told.append(now))
    assert told[0] == (2, Batcher(LENGTHS, **OPTIONS).num_windows)
    assert text == Batcher(LENGTHS, **OPTIONS).index(0, told[0][1])
    with fails(OutOfRangeError, "workers"):
        build_index(batcher, path, workers=0)


def test_an_index_of_nothing(tmp_path: Path) -> None:
    batcher = Batcher([], max_tokens=5)
    batcher.use_index(build_index(batcher, tmp_path / "plan.json", workers=2) or tmp_path / "plan.json")
    assert len(batcher) == 0


def test_a_rest_is_planned_with_other_options() -> None:
    first = Batcher(LENGTHS, **OPTIONS)
    state = first.state(100)
    assert json.loads(state)["history"]
    second = Batcher(LENGTHS, **OPTIONS | {"max_tokens": 2048, "world_size": 3})
    with fails(ContradictionError, "max_tokens"):
        second.resume(state)
    second.resume(state, replan=True)
    taken = [batch.samples.tolist() for rank in range(2) for batch in itertools.islice(first.batches(rank=rank), 100)]
    left = [batch.samples.tolist() for rank in range(3) for batch in second.batches(rank=rank)]
    assert sorted(itertools.chain(*taken, *left)) == list(range(SAMPLES))
    assert second.metrics().over_budget == 0
    # A state of the new plan is resumed without a further option.
    third = pickle.loads(pickle.dumps(second))
    again = Batcher(LENGTHS, **OPTIONS | {"max_tokens": 2048, "world_size": 3})
    again.resume(second.state(1))
    assert again.num_steps == third.num_steps - 1
    with fails(WrongTypeError, "replan"):
        second.resume(state, replan=1)  # type: ignore[arg-type]


def test_what_an_index_is_built_by_may_be_any_map(tmp_path: Path) -> None:
    """The map may be in any order, have parts twice, pickle its function, and pass parts as other sequences."""
    batcher = Batcher(LENGTHS, **OPTIONS)
    whole = batcher.index(0, batcher.num_windows)
    copies = set()

    def shuffled(plan: Any, parts: list[Any]) -> Any:
        for part in [*reversed(parts), parts[0]]:
            copied = pickle.loads(pickle.dumps(plan))
            copies.add(id(copied))
            yield copied(np.array(part))

    told: list[tuple[int, int]] = []
    path = tmp_path / "plan.json"
    assert build_index(batcher, path, workers=shuffled, progress=lambda *now: told.append(now)) == whole
    assert told[-1] == (batcher.num_windows, batcher.num_windows)
    # All unpickled copies are one object, whose batcher plans all parts.
    assert len(copies) == 1
    with ThreadPoolExecutor(2) as threads:
        assert build_index(batcher, path, workers=threads.map) == whole
    assert list(tmp_path.iterdir()) == [path]


def test_a_map_that_does_not_give_what_it_was_given(tmp_path: Path) -> None:
    batcher, path = Batcher(LENGTHS, **OPTIONS), tmp_path / "plan.json"
    other = Batcher(LENGTHS, **OPTIONS | {"seed": 1})
    wrong: list[Callable[[Any, Any], Any]] = [
        lambda plan, parts: None,
        lambda plan, parts: [3],
        lambda plan, parts: [{"index": plan(parts[0])}],
        lambda plan, parts: ["plan"],
        lambda plan, parts: [plan(parts[0]).replace('"first":0', '"first":1')],
        lambda plan, parts: [plan((0, 2))],
        lambda plan, parts: [other.index(*parts[0])],
    ]
    for mapper in wrong:
        with fails(WrongTypeError, "workers"):
            build_index(batcher, path, workers=mapper)
    with fails(WrongTypeError, "workers"):
        build_index(batcher, path, workers="2")  # type: ignore[arg-type]
    with fails(WrongTypeError, "batcher"):
        build_index(LENGTHS, path)  # type: ignore[arg-type]
    with fails(WrongTypeError, "path"):
        build_index(batcher, 3)  # type: ignore[arg-type]
    with fails(WrongTypeError, "progress"):
        build_index(batcher, path, progress=3)  # type: ignore[arg-type]
    with pytest.raises(ContradictionError, match="workers is 4 of 7 parts; allowed: a function"):
        build_index(batcher, path, workers=lambda plan, parts: map(plan, parts[3:]))
    # The parts that came before the error are kept.
    missing: list[Any] = []

    def noting(plan: Any, parts: list[Any]) -> Any:
        missing.extend(parts)
        return map(plan, parts)

    assert build_index(batcher, path, workers=noting)
    assert missing == [(0, 1), (1, 1), (2, 1)]


def test_lengths_go_to_other_processes_in_a_file(tmp_path: Path) -> None:
    """Lengths in memory are written to a file, not pickled; a function of the user is pickled."""
    batches: dict[str, Batcher] = {
        kind: Batcher(make(), **OPTIONS) for kind, make in KINDS.items() if kind not in ("iterator", "deque")
    }
    order = samedeal.blend({"web": (40_000, 2), "code": (20_000, 1)})
    batches["blend"] = Batcher({"web": LENGTHS[:40_000], "code": chunked(LENGTHS[40_000:])}, order=order, **OPTIONS)
    # A length that no window needs is not checked.
    bad = [-1, *LENGTHS.tolist()]
    batches["bad"] = Batcher(bad, order=samedeal.order("feistel", len(bad)).exclude([0]), mean_length=150, **OPTIONS)
    sizes: dict[str, int] = {}

    def measured(plan: Any, parts: list[Any]) -> Any:
        sizes[kind] = len(pickle.dumps(plan))
        return map(pickle.loads(pickle.dumps(plan)), parts)

    for kind, batcher in batches.items():
        expected = batcher.index(0, batcher.num_windows)
        assert build_index(batcher, tmp_path / "plan.json", workers=measured) == expected, kind
    assert {kind for kind, size in sizes.items() if size > 10_000} == {"object", "object that gives lists", "bad"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("victim", ["parent", "group"])
def test_an_index_that_was_killed_goes_on(victim: str, tmp_path: Path) -> None:
    check_that_it_goes_on("2", tmp_path, victim)


def test_two_that_build_the_same_index_do_not_hinder_each_other(tmp_path: Path) -> None:
    batcher, path = Batcher(LENGTHS, **OPTIONS), tmp_path / "plan.json"

    def beside(done: int, windows: int) -> None:
        # The other builder ends first, and removes the folder.
        if done < windows:
            assert build_index(batcher, path, workers=1) == text

    text = build_index(batcher, tmp_path / "alone.json", workers=1)
    assert build_index(batcher, path, workers=1, progress=beside) == text
    assert {found.name for found in tmp_path.iterdir()} == {"alone.json", "plan.json"}


def test_a_pass_gives_all_batches_before_the_window_that_fails() -> None:
    lengths = [5] * 300 + [99] + [5] * 99
    batcher = Batcher(lengths, max_tokens=50, world_size=2, batch_window=100, order="sequential")
    batches = batcher.batches()
    assert [len(next(batches).samples) for _ in range(15)] == [10] * 15
    with pytest.raises(OutOfRangeError, match="sample 300"):
        next(batches)


@pytest.mark.parametrize("change", ["values", "dtype", "shorter"])
def test_a_pickle_refuses_a_file_that_changed(change: str, tmp_path: Path) -> None:
    lengths = mapped(tmp_path)
    path, text = lengths.filename, pickle.dumps(Batcher(lengths, **OPTIONS))
    other = np.array(lengths)
    if change == "values":
        other[-1] += 1
    elif change == "dtype":
        other = other.astype(np.uint64)
    else:
        other = other[: len(other) // 2]
    # The mapped file stays as it is.
    Path(path).unlink()
    np.save(path, other)
    with fails(ContradictionError, "lengths"):
        pickle.loads(text)


@pytest.mark.parametrize("known", ["nothing", "windows", "index"])
def test_a_change_that_the_checksum_of_a_large_file_does_not_see(
    tmp_path: Path, known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksum of a large file is of some pieces only. An index and checksums of the windows that were planned
    travel in the pickle, and see each change."""
    monkeypatch.setattr(samedeal.batch.mapped, "_PIECES", 2)
    monkeypatch.setattr(samedeal.batch.mapped, "_PIECE", 64)
    lengths = mapped(tmp_path)
    batcher = Batcher(lengths, **OPTIONS, order="sequential")
    if known == "index":
        batcher.use_index(batcher.index(0, batcher.num_windows))
    elif known == "windows":
        assert len(batcher) > 0
    text = pickle.dumps(pickle.loads(pickle.dumps(batcher)))
    # A sample in the second window, whose length is not in the recipe's hash of some lengths.
    at = next(
        at for at in range(9_000, 9_100) if Batcher(changed(at), **OPTIONS, order="sequential").recipe == batcher.recipe
    )
    np.load(str(lengths.filename), mmap_mode="r+")[at] = changed(at)[at]
    again = pickle.loads(text)
    if known == "nothing":
        # This batcher has planned no window.
        assert again.metrics().tokens != Batcher(LENGTHS, **OPTIONS).metrics().tokens
        return
    with fails(ContradictionError, "lengths"):
        list(again)
    # A copy on another machine has another time and inode, and the same lengths.
    lengths = mapped(tmp_path)
    assert [batch.samples.tolist() for batch in pickle.loads(text)] == [batch.samples.tolist() for batch in batcher]


def test_checksums_of_windows_are_not_kept_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in {"_PIECES": 2, "_PIECE": 64, "_WINDOWS": 3}.items():
        monkeypatch.setattr(samedeal.batch.mapped, name, most)
    batcher = Batcher(mapped(tmp_path), **OPTIONS)
    for epoch in range(4):
        batcher.set_epoch(epoch)
        assert len(batcher) > 0
        assert 0 < len(batcher._engine.fixed[1]._read.known) <= 3


def changed(at: int) -> Any:
    """The lengths, of which one differs."""
    found = np.array(LENGTHS)
    found[at] += 1
    return found


def test_lengths_that_change_between_two_plans_of_a_window_are_refused() -> None:
    lengths = np.array(LENGTHS)
    batcher = Batcher(lengths, **OPTIONS)
    text = batcher.index(0, batcher.num_windows)
    batcher.batch(len(batcher) - 1)
    lengths[:] = lengths[::-1].copy()
    with fails(ContradictionError, "lengths"):
        list(batcher)
    lengths[:] = lengths[::-1].copy()
    batcher.use_index(text)
    assert len(list(batcher)) == len(batcher)


def other_lengths() -> Any:
    """Lengths with the fingerprint of `LENGTHS`: the samples that the fingerprint reads have the same lengths."""

    class Noting(Counting):
        seen: Any = np.array([], dtype=np.int64)

        def __getitem__(self, samples: Any) -> Any:
            self.seen = np.append(self.seen, samples)
            return super().__getitem__(samples)

    noting: Any = Noting(LENGTHS)
    Batcher(noting, **OPTIONS)
    other = LENGTHS.copy()
    rest = np.setdiff1d(np.arange(SAMPLES), noting.seen)
    # The lengths are moved among samples that the fingerprint does not read, so even the number of steps can be equal.
    other[rest] = np.roll(other[rest], 1)
    return other


def test_an_index_of_other_lengths_is_refused() -> None:
    batcher, other = Batcher(LENGTHS, **OPTIONS), Batcher(other_lengths(), **OPTIONS)
    assert batcher.recipe_fingerprint() == other.recipe_fingerprint()
    other.use_index(batcher.index(0, batcher.num_windows))
    with fails(ContradictionError, "lengths"):
        other.batch(0)
    with fails(ContradictionError, "lengths"):
        join_indices([batcher.index(0, 2), Batcher(other_lengths(), **OPTIONS).index(1, 1)])


def test_parts_of_other_lengths_are_not_taken(tmp_path: Path) -> None:
    def stop(done: int, windows: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "plan.json"
    with pytest.raises(KeyboardInterrupt):
        build_index(Batcher(LENGTHS, **OPTIONS), path, workers=1, progress=stop)
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.iterdir())) == 1
    other = Batcher(other_lengths(), **OPTIONS)
    assert build_index(other, path, workers=1) == other.index(0, other.num_windows)


def test_a_checksum_without_a_history_is_refused() -> None:
    batcher = Batcher(LENGTHS, **OPTIONS)
    with fails(ContradictionError, "checksum"):
        batcher.resume(batcher.state(0)[:-1] + ',"checksum":"0000000000000007"}')


def test_the_window_of_a_state_is_that_of_those_who_began_it() -> None:
    lengths = [1 + i * 7 % 50 for i in range(400)]
    narrow, wide = (Batcher(lengths, max_tokens=100, batch_window=width) for width in (40, 100))
    state = narrow.state(3)
    assert json.loads(state)["window"] == 40
    wide.resume(state.replace('"batch_window":40', '"batch_window":100'))
    # The first window has the 40 positions of the state; the others have 100, 100, 100 and 60.
    assert wide.num_windows == 5
    seen = [sample for batch in itertools.islice(narrow, 3) for sample in batch.samples.tolist()]
    rest = [sample for batch in wide for sample in batch.samples.tolist()]
    assert sorted(seen + rest) == list(range(400))
    with fails(OutOfRangeError, "window"):
        narrow.resume(state.replace('"window":40', '"window":0'))
    with fails(ContradictionError, "window"):
        narrow.resume(narrow.state(0)[:-1] + ',"window":40}')


def test_single_samples_of_a_step_have_like_lengths() -> None:
    lengths = [11, 99, 12, 98, 13, 97, 14, 96]
    batcher = Batcher(lengths, max_tokens=10, too_long="single", world_size=2, order="sequential")
    steps = [{lengths[sample] for batch in batcher.step(k) for sample in batch.samples} for k in range(len(batcher))]
    assert sorted(map(sorted, steps)) == [[11, 12], [13, 14], [96, 97], [98, 99]]


def test_an_index_is_written_through_a_link_and_files_of_others_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "kept" / "real.json", tmp_path / "plan.json"
    target.parent.mkdir()
    link.symlink_to(target)
    batcher = Batcher(LENGTHS, **OPTIONS)

    def stop(done: int, windows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(batcher, link, workers=1, progress=stop)
    (folder,) = target.parent.iterdir()
    (folder / "notes.txt").write_text("mine")
    text = build_index(batcher, link, workers=1)
    assert link.is_symlink()
    assert target.read_text() == f"{text}\n"
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def dying(indices: np.ndarray) -> np.ndarray:
    """Lengths that kill the process, unless it is the one of the test."""
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.full(len(indices), 7)


def test_lengths_that_other_processes_cannot_get_are_refused_by_name(tmp_path: Path) -> None:
    batcher = Batcher(lambda indices: np.full(len(indices), 7), order=samedeal.order("feistel", 100_000), **OPTIONS)
    with pytest.raises(WrongTypeError, match=r"lengths is .*; allowed: with several workers, .*or workers=1"):
        build_index(batcher, tmp_path / "plan.json", workers=2)
    assert build_index(batcher, tmp_path / "plan.json", workers=1)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_is_killed_while_it_plans_is_told_in_words(tmp_path: Path) -> None:
    batcher = Batcher(dying, order=samedeal.order("feistel", 100_000), **OPTIONS)
    with pytest.raises(RuntimeError, match=r"ended before its work was done.*__main__.*call build_index again"):
        build_index(batcher, tmp_path / "plan.json", workers=2)
    assert build_index(batcher, tmp_path / "plan.json", workers=1)
