"""`max_failed_rows`: a run goes on over rows that cannot be decoded, or for which `transform` raises an exception."""

from __future__ import annotations

import itertools
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile import fails
from jobs import logs, ranks
from samedeal import ContradictionError, MissingError, OutOfRangeError, WrongTypeError
from samedeal.torch import FailedRowsWarning, Resumable, ShardedDataset, to_tensors
from torch.utils.data import DataLoader

pytestmark = pytest.mark.filterwarnings(
    "ignore::samedeal.torch.LanesWarning",
    "ignore::samedeal.torch.StepsWarning",
    "ignore::samedeal.torch.FailedRowsWarning",
)
HERE = Path(__file__).parent
FILES, SIZE, GROUP = 4, 1_200, 400
ROWS = FILES * SIZE
# A page in this row group of 2.parquet cannot be decoded, and neither can the rows after it.
BROKEN = range(2 * SIZE + GROUP, 2 * SIZE + 2 * GROUP)


def write(folder: Path, first: int = 0, files: int = FILES) -> Path:
    """Files of rows of a kilobyte, so that a block has about 130 rows, in pages of 20 rows."""
    folder.mkdir()
    for number in range(files):
        begin = first + number * SIZE
        random = np.random.default_rng(begin)
        noise = [random.bytes(500).hex() for _ in range(SIZE)]
        table = pa.table({"id": np.arange(begin, begin + SIZE), "noise": noise})
        options: dict[str, Any] = {"use_dictionary": False, "compression": "zstd", "write_batch_size": 20}
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=GROUP, data_page_size=100, **options)
    return folder


def damage(path: Path, group: int, share: float) -> None:
    """Overwrites bytes of a column in a row group, at a share of its bytes. The footer stays as it is."""
    column = pq.read_metadata(path).row_group(group).column(1)
    content = bytearray(path.read_bytes())
    at = column.data_page_offset + int(share * column.total_compressed_size)
    content[at : at + 200] = bytes(200)
    path.write_bytes(content)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("failing") / "whole")


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("failing") / "broken")
    damage(folder / "2.parquet", 1, 0.7)
    return folder


def loader_of(folder: Any, rank: int = 0, world_size: int = 1, workers: int = 0, **options: Any) -> Any:
    given: dict[str, Any] = {"batch_size": 16, "lanes": 8, "shuffle_window": 16, "sample_column": "sample"}
    given |= {"padding_column": "padding", "max_failed_rows": ROWS, **options}
    if given.get("deal") == "shards":
        given |= {"lanes": None, "shuffle_window": None}
    start = given.pop("start", None)
    dataset = ShardedDataset(folder, rank=rank, world_size=world_size, **given)
    return Resumable(DataLoader(dataset, batch_size=None, num_workers=workers, multiprocessing_context=start))


def real(batches: Any) -> list[list[int]]:
    """The samples of each batch, without padding. Checks that their contents are their own."""
    found = []
    for batch in batches:
        rows = [row for row in batch.to_pylist() if not row["padding"]]
        assert [row["id"] for row in rows] == [row["sample"] for row in rows]
        assert None not in [row["noise"] for row in rows]
        found.append([row["sample"] for row in rows])
    return found


def failed_of(loader: Any) -> set[int]:
    return set(itertools.chain(*loader.dataset.failed_rows))


def without(batches: list[list[int]], failed: set[int]) -> list[list[int]]:
    return [[sample for sample in batch if sample not in failed] for batch in batches]


class Refuses:
    """A transform that raises an exception for some samples: multiples of `every`, or `samples`."""

    error: type[BaseException] = ValueError

    def __init__(self, every: int = ROWS, samples: Any = None) -> None:
        self.samples = set(range(0, ROWS, every) if samples is None else samples)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for sample in batch.column("sample").to_pylist():
            if sample in self.samples:
                raise self.error(f"no use for {sample}")
        return batch


class Forbids(Refuses):
    """A transform whose exceptions end the reading."""

    error = KeyboardInterrupt


def test_the_failure_is_raised_by_default(broken: Path) -> None:
    """It names the file, the row group, the row and the sample. The numbers that it advises work."""
    path = broken / "2.parquet"
    for workers, lanes in itertools.product((0, 2), (1, 8)):
        with pytest.raises(OSError, match=r"2\.parquet: row group 1, from row .*pass max_failed_rows=") as caught:
            list(loader_of(broken, workers=workers, lanes=lanes, max_failed_rows=None))
        told = str(caught.value)
        row, count = (
            int(told.partition(before)[2].partition(after)[0])
            for before, after in (("from row ", " on"), ("rows=", " or"))
        )
        assert f"(sample {2 * SIZE + row})" in told
        assert row + count == 2 * GROUP
        assert GROUP < row <= GROUP + 0.7 * GROUP
        assert f"lost={{{str(path)!r}: {SIZE}}}" in told
    loader = loader_of(broken, max_failed_rows=count)
    list(loader)
    assert loader.dataset.failed_rows == [range(2 * SIZE + row, BROKEN.stop)]
    with pytest.raises(OSError, match=rf"with this, {count} rows have failed: more than max_failed_rows={count - 1}$"):
        list(loader_of(broken, max_failed_rows=count - 1))
    list(loader_of(broken, max_failed_rows=None, lost={path: SIZE}))


@pytest.mark.parametrize("deal", ["samples", "shards"])
def test_every_reader_finds_the_same_rows_to_fail(whole: Path, broken: Path, deal: str) -> None:
    """On any number of ranks and workers, with any lanes. The other rows stay in their batches, and there are as many
    steps as without the failures."""
    found: set[frozenset[int]] = set()
    for world_size, workers, lanes, window in ((1, 0, 1, 16), (1, 2, 8, 4), (2, 0, 64, 16), (3, 2, 64, 256)):
        options: dict[str, Any] = {"deal": deal, "lanes": lanes, "shuffle_window": window}
        seen: list[int] = []
        failed: set[int] = set()
        for rank in range(world_size):
            loader = loader_of(broken, rank, world_size, workers, **options)
            batches = list(loader)
            assert all(batch.num_rows for batch in batches)
            own = failed_of(loader)
            known = real(loader_of(whole, rank, world_size, workers, **options))
            assert real(batches) == without(known, own)
            failed |= own
            seen += itertools.chain(*real(batches))
        assert sorted(seen) == sorted(set(range(ROWS)) - failed)
        found.add(frozenset(failed))
    (same,) = found
    assert same < set(BROKEN)
    assert max(same) == BROKEN.stop - 1


@pytest.mark.parametrize("workers", [0, 2])
def test_a_transform_that_fails_for_some_rows(whole: Path, workers: int) -> None:
    loader = loader_of(whole, workers=workers, transform=Refuses(7))
    bad = set(range(0, ROWS, 7))
    assert real(loader) == without(real(loader_of(whole, workers=workers)), bad)
    assert failed_of(loader) == bad
    # The transform is asked for none of these rows again, in the next epoch and after a resume.
    state = loader.state_dict()
    loader.set_epoch(1)
    again = loader_of(whole, 0, 1, workers, transform=Forbids(7))
    again.load_state_dict(state)
    again.set_epoch(1)
    assert real(again) == real(loader)


def test_workers_that_are_spawned(whole: Path) -> None:
    """They share memory with a name. It gets the rows that the main process knew before."""
    loader = loader_of(whole, workers=1, start="spawn", transform=Refuses(7))
    loader.dataset._add_failed([[1, 2]])
    seen = real(itertools.islice(loader, 20))
    failed = failed_of(loader)
    assert {1, 2} < failed <= {1, 2, *range(0, ROWS, 7)}
    assert not failed & set(itertools.chain(*seen))


def test_a_batch_without_rows_has_one_of_padding(whole: Path) -> None:
    """The first rows of the first files fail too, so another row is padding."""
    known = real(loader_of(whole))
    bad = {*known[3], *known[8], *(number * SIZE for number in range(FILES))}
    loader = loader_of(whole, transform=Refuses(samples=bad))
    batches = list(loader)
    assert real(batches) == without(known, bad)
    for number in (3, 8):
        assert batches[number].column("padding").to_pylist() == [True]
        (sample,) = batches[number].column("sample").to_pylist()
        assert sample not in bad
        assert batches[number].column("id").to_pylist() == [sample]
    with pytest.raises(OSError, match="there is none in any file that can stand for it"):
        list(loader_of(whole, transform=Refuses(1)))


@pytest.mark.parametrize("workers", [0, 2])
def test_tensors_of_rows_with_nulls(tmp_path: Path, workers: int) -> None:
    """The rows that `to_tensors` refuses are left out, in the main process and where workers send bytes."""
    values = [None if row in (3, 40) else row for row in range(64)]
    pq.write_table(pa.table({"id": range(64), "value": pa.array(values, pa.int64())}), tmp_path / "a.parquet")
    dataset = ShardedDataset(
        tmp_path, batch_size=8, shuffle=False, rank=0, world_size=1, transform=to_tensors, max_failed_rows=2
    )
    found = list(DataLoader(dataset, batch_size=None, num_workers=workers))
    assert sorted(itertools.chain(*(batch["value"].tolist() for batch in found))) == [
        v for v in values if v is not None
    ]
    assert dataset.failed_rows == [range(3, 4), range(40, 41)]


@pytest.mark.parametrize("size", [16, None])
def test_the_error_of_a_transform_names_the_row(whole: Path, size: int | None) -> None:
    def transform(rows: Any) -> Any:
        ids = rows.column("id").to_pylist() if size else [rows["id"]]
        if 2 * SIZE + 5 in ids:
            raise ValueError("no")
        return rows

    dataset = ShardedDataset(whole, batch_size=size, transform=transform, rank=0, world_size=1, lanes=8)
    with pytest.raises(ValueError, match=r"^no") as caught:
        list(dataset)
    (told,) = getattr(caught.value, "__notes__", [""])
    sample = 2 * SIZE + 5
    assert f"{whole / '2.parquet'}: row 5 (sample {sample}); " in told
    advice = "order=lambda files: files.exclude([2405])"
    assert told.endswith(advice)
    made = ShardedDataset(
        whole, batch_size=size, transform=transform, order=lambda files: files.exclude([2405]), rank=0, world_size=1
    )
    assert sum(1 if size is None else batch.num_rows for batch in made) == ROWS - 1


def test_a_failure_of_a_whole_batch_is_raised(whole: Path) -> None:
    """No row fails alone, so none can be left out."""

    def transform(batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.num_rows > 1:
            raise ValueError("no batches")
        return batch

    for limit in (None, 10):
        with pytest.raises(ValueError, match="no batches") as caught:
            list(loader_of(whole, transform=transform, max_failed_rows=limit))
        assert "no single row of the batch fails alone; it has 16 rows" in getattr(caught.value, "__notes__", [""])[0]


def test_the_limit_counts_the_workers_together(whole: Path) -> None:
    """60 rows fail, about 20 for each of three workers."""
    bad = set(range(0, ROWS, ROWS // 60))
    loader = loader_of(whole, workers=3, transform=Refuses(samples=bad), max_failed_rows=60)
    assert set(itertools.chain(*real(loader))) == set(range(ROWS)) - bad
    with pytest.raises(ValueError, match="more than max_failed_rows=59"):
        list(loader_of(whole, workers=3, transform=Refuses(samples=bad), max_failed_rows=59))


def test_a_failure_that_does_not_come_again_is_raised(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one of the network: the rows are there, and nothing is left out."""
    from samedeal.files.parquet import ParquetFile

    known, calls = ParquetFile.batches, [0]

    def batches(self: ParquetFile, *arguments: Any) -> Any:
        for batch in known(self, *arguments):
            calls[0] += 1
            if calls[0] == 20:
                raise OSError("the connection ended")
            yield batch

    monkeypatch.setattr(ParquetFile, "batches", batches)
    loader = loader_of(whole)
    with pytest.raises(OSError, match="the connection ended; a second attempt could read this row"):
        list(loader)
    assert loader.dataset.failed_rows == []


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("then", [(1, 0), (3, 2)])
def test_a_state_has_the_rows(whole: Path, broken: Path, workers: int, then: tuple[int, int]) -> None:
    """A state from the middle of the epoch. After it, the file is whole again, but its rows stay left out."""
    first = [loader_of(broken, rank, 2, workers) for rank in range(2)]
    seen = [sample for loader in first for batch in real(itertools.islice(loader, 100)) for sample in batch]
    failed = failed_of(first[0])
    assert failed
    # Only a reader that met one of the rows knows them.
    assert failed_of(first[1]) in (set(), failed)
    state = pickle.loads(pickle.dumps(first[0].state_dict()))
    assert state["failed_rows"] == [[min(failed), len(failed)]]
    world_size, count = then
    for rank in range(world_size):
        loader = loader_of(whole, rank, world_size, count, max_failed_rows=len(failed))
        loader.load_state_dict(state)
        seen += itertools.chain(*real(loader))
        assert failed_of(loader) == failed
        # Also in the next epoch, where workers are started anew, and in states of it.
        loader.set_epoch(1)
        assert not failed & set(itertools.chain(*real(loader)))
        assert loader.state_dict()["failed_rows"] == state["failed_rows"]
    assert sorted(seen) == sorted(set(range(ROWS)) - failed)


def test_persistent_workers_learn_of_a_state(whole: Path, broken: Path) -> None:
    state = loader_of(broken)
    list(state)
    loader = loader_of(whole)
    loader.loader = DataLoader(loader.dataset, batch_size=None, num_workers=2, persistent_workers=True)
    assert set(itertools.chain(*real(loader))) == set(range(ROWS))
    loader.load_state_dict(state.state_dict())
    loader.set_epoch(1)
    assert set(itertools.chain(*real(loader))) == set(range(ROWS)) - failed_of(state)


def test_a_state_that_needs_a_larger_limit_is_refused(whole: Path, broken: Path) -> None:
    loader = loader_of(broken)
    list(itertools.islice(loader, 250))
    state = loader.state_dict()
    count = len(failed_of(loader))
    for limit in (None, count - 1):
        with fails(ContradictionError, "max_failed_rows") as caught:
            loader_of(whole, max_failed_rows=limit).load_state_dict(state)
        assert f"{count} or more" in str(caught.value)
    wrong: Any
    for error, wrong in (
        (WrongTypeError, 3),
        (WrongTypeError, [[1]]),
        (WrongTypeError, [["a", 1]]),
        (OutOfRangeError, [[ROWS, 1]]),
        (OutOfRangeError, [[3, ROWS]]),
        (OutOfRangeError, [[3, 0]]),
    ):
        again = loader_of(whole)
        with fails(error, "failed_rows"):
            again.load_state_dict(state | {"failed_rows": wrong})
        assert again.dataset.failed_rows == []
        assert len(again) == 300
    # Without them, the rows are read again.
    again = loader_of(whole, max_failed_rows=None)
    again.load_state_dict({name: value for name, value in state.items() if name != "failed_rows"})
    list(again)


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150,000 rows, of which every other one can be a range of its own."""
    folder = tmp_path_factory.mktemp("many")
    pq.write_table(pa.table({"id": np.arange(150_000), "noise": np.zeros(150_000)}), folder / "0.parquet")
    return folder


def test_a_state_with_too_many_ranges_changes_nothing(many: Path) -> None:
    def made(**options: Any) -> ShardedDataset:
        given = {"max_failed_rows": 150_000, "batch_size": 16, **options}
        return ShardedDataset(many, rank=0, world_size=1, **given)

    state = made(lanes=6).state_dict(10)
    ranges = [[first, 1] for first in range(0, 140_000, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = made(lanes="auto", max_readers=8)
    before = repr(dataset), len(Resumable(DataLoader(dataset, batch_size=None)))
    items: Any = iter(dataset)
    for loads in (dataset.load_state_dict, items.load_state_dict):
        with fails(ContradictionError, "failed_rows") as caught:
            loads(state | {"failed_rows": ranges})
        assert str(caught.value).startswith("failed_rows is 70000 ranges; allowed: up to 65536: ")
        assert (repr(dataset), len(Resumable(DataLoader(dataset, batch_size=None)))) == before
        assert dataset.failed_rows == []
    dataset.load_state_dict(state | {"failed_rows": ranges[: 2**16]})
    assert "lanes=6" in repr(dataset)
    assert len(dataset.failed_rows) == 2**16
    # No room for one more, but the ranges that are known need none.
    dataset.load_state_dict(state | {"failed_rows": ranges[: 2**16]})
    with fails(ContradictionError, "failed_rows"):
        dataset.load_state_dict(state | {"failed_rows": [[149_999, 1]]})


def test_copies_have_all_ranges_or_are_refused() -> None:
    """Ranges of all processes go into one slot. Those that touch one another become one."""
    import copy
    from multiprocessing.reduction import ForkingPickler

    from samedeal.torch.board import Board

    def copies(board: Board) -> list[Any]:
        return [board.copied, lambda: copy.deepcopy(board), lambda: pickle.loads(pickle.dumps(board))]

    board = Board()
    for first in range(2**16):
        assert board.record(0, 2 * first, 1)
    assert not board.record(0, 2**18, 1)
    for first in range(100):
        assert board.record(1, 2 * first + 1, 1)
    for copied in copies(board):
        twin = copied()
        assert twin.num_records == 2**16 - 100
        assert twin.records()[0].tolist() == [0, 201]
        assert twin.records()[:, 1].sum() == 2**16 + 100
    for first in range(101):
        assert board.record(2, 2**18 + 2 * first, 1)
    for refused in (*copies(board), lambda: ForkingPickler.dumps(board)):
        with fails(ContradictionError, "failed_rows") as caught:
            refused()
        assert str(caught.value).startswith("failed_rows is 65537 ranges; allowed: up to 65536: ")


def test_copies_and_pickles_know_the_rows(whole: Path) -> None:
    import copy

    loader = loader_of(whole, transform=Refuses(100))
    list(loader)
    dataset = loader.dataset
    for twin in (copy.copy(dataset), pickle.loads(pickle.dumps(dataset))):
        assert twin.failed_rows == dataset.failed_rows
        twin._add_failed([[1, 1]])
        assert len(twin.failed_rows) == len(dataset.failed_rows) == ROWS // 100
        assert [*twin.failed_rows[0]] == [0, 1]


def test_a_stateful_loader_goes_on(broken: Path) -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader

    def made() -> StatefulDataLoader:
        return StatefulDataLoader(loader_of(broken).dataset, batch_size=None, num_workers=2)

    expected = real(made())
    first = made()
    seen = real(itertools.islice(first, 120))
    state = first.state_dict()
    second = made()
    second.load_state_dict(state)
    assert [*seen, *real(second)] == expected


def test_sources_and_lost_files(whole: Path, broken: Path, tmp_path: Path) -> None:
    """In a mixture, samples are numbered through all sources. A lost file and a damaged one are in the same batches."""
    from samedeal.files import Shards

    other = write(tmp_path / "other", first=10 * ROWS, files=1)
    weights = {"other": 1, "broken": 3}
    options: dict[str, Any] = {"weights": weights, "source_column": "source", "samples": ROWS}
    lost = Shards.find(broken, lost={broken / "0.parquet": SIZE})
    expected = list(loader_of({"other": other, "broken": whole}, workers=2, **options))
    loader = loader_of({"other": other, "broken": lost}, workers=2, **options)
    found = list(loader)
    failed = failed_of(loader)
    gone = failed | set(range(SIZE, 2 * SIZE))
    assert failed < {SIZE + sample for sample in BROKEN}
    samples = [[row["sample"] for row in batch.to_pylist() if not row["padding"]] for batch in expected]
    kept = [[row["sample"] for row in batch.to_pylist() if not row["padding"]] for batch in found]
    assert kept == without(samples, gone)


def test_other_formats(tmp_path: Path) -> None:
    """A line of JSON that cannot be parsed. Its part, about a megabyte, is parsed as a whole."""
    lines = [f'{{"id": {row}, "noise": {row / 2}}}\n' for row in range(600)]
    for number in range(2):
        (tmp_path / f"{number}.jsonl").write_text("".join(lines[300 * number : 300 * number + 300]))
    dataset = loader_of(tmp_path).dataset
    # The file keeps its size, which is checked.
    lines[400] = lines[400].replace(": 200.0", ":: 00.0")
    (tmp_path / "1.jsonl").write_text("".join(lines[300:]))
    assert sorted(itertools.chain(*real(DataLoader(dataset, batch_size=None)))) == [*range(300)]
    assert dataset.failed_rows == [range(300, 600)]


def test_what_cannot_be_meant(whole: Path) -> None:
    for error, field, given in (
        (OutOfRangeError, "max_failed_rows", {"max_failed_rows": 0}),
        (WrongTypeError, "max_failed_rows", {"max_failed_rows": "all"}),
        (ContradictionError, "batch_size", {"batch_size": None}),
    ):
        with fails(error, field):
            loader_of(whole, **given)
    with fails(MissingError, "max_failed_rows"):
        loader_of(whole, max_failed_rows=None).dataset.share_failed_rows()


def test_warnings_name_the_rows(broken: Path) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", FailedRowsWarning)
        list(loader_of(broken, transform=Refuses(1_200)))
    texts = sorted(str(each.message) for each in told if each.category is FailedRowsWarning)
    assert len(texts) == 5
    assert texts[0].endswith("0.parquet: row 0 (sample 0): ValueError: no use for 0; 1 row is left out")
    assert "2.parquet: row group 1, from row " in "".join(texts)


@pytest.mark.parametrize("then", [(1, 2), (3, 1)])
def test_ranks_are_killed_and_go_on(whole: Path, broken: Path, tmp_path: Path, then: tuple[int, int]) -> None:
    """Real processes: rank 1 is killed after a step in which the rows were met. Other ranks read the rest, from a state
    of rank 0 and of files that are whole again. All ranks take the same steps, or they would wait for ever."""
    steps = 60
    run = ranks(2, HERE / "failing.py", broken, tmp_path, "-", 2, steps)
    assert run.returncode
    assert "rank 1 failed: SIGKILL" in run.stderr
    before = logs(tmp_path, "rows", 2)
    world_size, workers = then
    run = ranks(world_size, HERE / "failing.py", whole, tmp_path, tmp_path / "state", workers, 0)
    assert not run.returncode, run.stderr
    after = logs(tmp_path, "rows", world_size)
    failed = {sample for first, count in after[0][0] for sample in range(first, first + count)}
    assert failed < set(BROKEN) | set(range(0, ROWS, 50))
    seen = [sample for log in before for step in log[1 : steps + 1] for sample in step]
    seen += [sample for log in after for step in log[1:] for sample in step]
    assert len(seen) == len(set(seen))
    assert set(seen) == set(range(ROWS)) - failed - set(range(0, ROWS, 50))
    assert len({len(log) for log in after}) == 1
