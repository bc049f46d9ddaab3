"""Files of other formats than Parquet, which pyarrow and the standard library write."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tarfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from hostile import fails
from samedeal import ContradictionError, MissingError, Reading, UnknownNameError, WrongTypeError
from samedeal.files import Footer, Format, JsonLines, Location, Marks, Shards, Sources, read_reader, read_rows

SIZES = (250, 1, 0, 600, 20)


def write_arrow(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, SCHEMA) as writer:
        writer.write_table(table, max_chunksize=100)


def write_stream(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, SCHEMA) as writer:
        writer.write_table(table, max_chunksize=100)


def write_feather(path: Path, rows: list[dict[str, Any]]) -> None:
    feather.write_feather(pa.Table.from_pylist(rows, SCHEMA), path, compression="zstd", chunksize=90)


def write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    # Lines of about 2,000 bytes, an empty line between them, and no line break at the end of the file.
    lines = [json.dumps({**row, "padding": "." * 2000}) for row in rows]
    path.write_text("\n\n".join(filter(None, ["\n".join(lines[:10]), "\n".join(lines[10:])])), encoding="utf-8")


def write_tar(path: Path, rows: list[dict[str, Any]]) -> None:
    with tarfile.open(path, "w") as file:
        for row in rows:
            members = {"txt": row["text"].encode(), "id": str(row["id"]).encode(), "bin": bytes(3000)}
            for suffix, data in members.items():
                member = tarfile.TarInfo(f"part/{row['id']:06}.{suffix}")
                member.size = len(data)
                file.addfile(member, io.BytesIO(data))


SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "file.arrow": write_arrow,
    "stream.arrow": write_stream,
    "one.feather": write_feather,
    "lines.jsonl": write_json,
    "rows.tar": write_tar,
}


def rows_from(first: int, count: int) -> list[dict[str, Any]]:
    return [{"id": number, "text": f"row {number}"} for number in range(first, first + count)]


@pytest.fixture(params=WRITERS)
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A directory with files of one format, and other files."""
    own = tmp_path / "data"
    own.mkdir()
    (own / "README.md").write_text("no data")
    for number, size in enumerate(SIZES):
        WRITERS[request.param](own / f"{number}-{request.param}", rows_from(sum(SIZES[:number]), size))
    return own


def ids(tables: Any) -> list[int]:
    found = []
    for row in (row for table in tables for row in table.to_pylist()):
        found.append(int(row["id"]))
        text = row["text"] if "text" in row else row["txt"].decode()
        assert text == f"row {found[-1]}"
    return found


def read_all(shards: Shards) -> list[int]:
    return ids(read_rows(shards, range(shards.samples)))


def test_rows_come_in_the_order_of_the_reading(data: Path) -> None:
    shards = Shards.find(data)
    assert shards.sizes.tolist() == list(SIZES)
    for options in ({"lanes": 8, "shuffle_window": 16}, {"shuffle": False}):
        reading = Reading(shards.sizes, world_size=2, workers=2, seed=3, **options)
        for rank, worker in np.ndindex(2, 2):
            assert ids(read_reader(shards, reading, rank, worker)) == reading.indices(rank, worker).tolist()


def test_whole_files_are_dealt(data: Path) -> None:
    shards = Shards.find(data)
    for shuffled in (True, False):
        reading = Reading(
            shards.sizes, deal="shards", bytes=shards.bytes, balance_by="bytes", world_size=2, shuffle_rows=shuffled
        )
        found = [ids(read_reader(shards, reading, rank)) for rank in range(2)]
        assert sorted(found[0] + found[1]) == list(range(sum(SIZES)))
        assert found == [reading.indices(rank).tolist() for rank in range(2)]
    assert (shards.bytes[[0, 3]] > 1000).all()


def test_a_reading_resumes_on_other_readers(data: Path) -> None:
    shards = Shards.find(data)
    before = Reading(shards.sizes, workers=2, batch_size=10, lanes=4, seed=5)
    read = [ids(read_reader(shards, before, 0, worker))[:150] for worker in range(2)]
    rest = Reading(shards.sizes, world_size=3, batch_size=7, lanes=4, remainder="uneven", seed=5).resume(
        before.state(30)
    )
    after = [ids(read_reader(shards, rest, rank)) for rank in range(3)]
    assert sorted(chain(*read, *after)) == list(range(sum(SIZES)))


def test_rows_are_read_from_any_place(data: Path) -> None:
    shards = Shards.find(data)
    wanted = [870, 0, 249, 250, 251, 799, 798, 870, 130]
    marks = Marks(sample="sample")
    tables = list(read_rows(shards, wanted, marks=marks))
    assert ids(tables) == wanted == [number for table in tables for number in table["sample"].to_pylist()]


def test_columns_are_chosen(data: Path) -> None:
    shards = Shards.find(data, ["id"])
    (table,) = read_rows(shards, [5, 800])
    assert table.column_names == ["id"]
    assert [int(value) for value in table["id"].to_pylist()] == [5, 800]
    with fails(UnknownNameError, "columns"):
        Shards.find(data, ["nothing"])


def test_shards_go_to_other_processes(data: Path) -> None:
    shards = pickle.loads(pickle.dumps(Shards.find(data)))
    assert ids(read_rows(shards, [1, 700])) == [1, 700]


def test_files_of_a_store(data: Path) -> None:
    store = pafs.SubTreeFileSystem(str(data.parent), pafs.LocalFileSystem())
    shards = Shards.find("data", filesystem=store)
    assert shards.sizes.tolist() == list(SIZES)
    assert ids(read_rows(shards, [1, 700])) == [1, 700]


def test_a_file_that_is_cut_off(data: Path) -> None:
    (path,) = data.glob("3-*")
    whole = path.read_bytes()
    # The file is cut in the middle, and within the mark of its end. JSON has no such mark; there, the last row is cut
    # in two.
    for cut in (len(whole) // 2 - 1, len(whole.rstrip(b"\0")) - 3):
        path.write_bytes(whole[:cut])
        with pytest.raises(OSError, match=path.name):
            read_all(Shards.find(data))
    path.write_bytes(whole)
    assert len(read_all(Shards.find(data))) == sum(SIZES)


def test_a_file_that_was_replaced(data: Path) -> None:
    shards = Shards.find(data)
    name = next(name for name in WRITERS if (data / f"3-{name}").exists())
    WRITERS[name](data / f"3-{name}", rows_from(0, 500))
    with pytest.raises(OSError, match=rf"3-{name}.*(at the start|cut off)"):
        list(read_rows(shards, [800]))
    (data / f"3-{name}").unlink()
    with pytest.raises(OSError, match=rf"3-{name}.*lost="):
        list(read_rows(shards, [800]))
    left = Shards.find(data, lost={str(data / f"3-{name}"): 600})
    assert left.sizes.tolist() == list(SIZES)
    assert ids(read_rows(left, [860])) == [860]


def test_a_file_with_another_column(data: Path) -> None:
    name = next(name for name in WRITERS if (data / f"1-{name}").exists())
    path = data / f"1-{name}"
    if name == "rows.tar":
        with tarfile.open(path, "w") as file:
            file.addfile(tarfile.TarInfo("1.jpg"))
    elif name == "lines.jsonl":
        path.write_text('{"id": 1, "other": 2}')
    else:
        table = pa.table({"id": [1], "other": [2]})
        writer = (
            pa.ipc.new_stream(path, table.schema) if name == "stream.arrow" else pa.ipc.new_file(path, table.schema)
        )
        with writer:
            writer.write_table(table)
    with pytest.raises(OSError, match=rf"1-{name}: has no column .*unlike"):
        Shards.find(data)


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n'), "packed by gzip"),
        ("a.tar.gz", gzip.compress(bytes(10_240)), "packed by gzip"),
        ("a.mds.zstd", b"", "packed"),
        ("a.mds", b"\1\0\0\0", "cut off"),
        ("a.mds", b"\0\0\0\0\x0a\0\0\0{}", "columns of an MDS file"),
        ("a.arrow", b"FEA1", "Feather version 1"),
        ("a.arrow", b"ARROW1", "Arrow file"),
        ("a.jsonl", b"[1]\n", "JSON parse error"),
        ("a.jsonl", b"\xef\xbb\xbf\n null\n", "null in place of an object"),
        ("a.tar", b"x" * 1024, "tar file"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, data: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(data)
    for paths in (tmp_path, tmp_path / name):
        with pytest.raises(OSError, match=rf"(?s){name}: not a .*{told}"):
            Shards.find(paths)


def test_json_of_another_type_names_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"n": 1, "when": "2024-05-06", "padding": "x" * 5000})] * 300
    path.write_text("\n".join([*lines, json.dumps({"n": 1.5, "when": "never"})]))
    shards = Shards.find(path)
    assert shards.schema.field("when").type == pa.string()
    with pytest.raises(OSError, match=r"a\.jsonl: .*to int64.* JsonLines\(schema\)"):
        list(read_rows(shards, [300]))
    schema = pa.schema([("n", pa.float64()), ("when", pa.string()), ("padding", pa.string())])
    (table,) = read_rows(Shards.find(path, ["n", "when"], format=JsonLines(schema)), [300, 0])
    assert table.to_pylist() == [{"n": 1.5, "when": "never"}, {"n": 1.0, "when": "2024-05-06"}]
    with fails(WrongTypeError, "schema"):
        JsonLines({"n": "int"})


def test_a_last_line_without_an_end_decides_types_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n{"n": 1.5, "new": null}')
    (table,) = read_rows(Shards.find(tmp_path), [0, 1])
    assert table.to_pylist() == [{"n": 1.0, "new": None}, {"n": 1.5, "new": None}]


def test_members_of_tar_files_are_rows_as_webdataset_has_them(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        for name in ("README", "a/1.jpg", "a/1.seg.PNG", "__meta__", "a/1.cls", "b.x/2.cls"):
            member = tarfile.TarInfo(name)
            member.size = 2
            file.addfile(member, io.BytesIO(name[:2].encode()))
    (table,) = read_rows(Shards.find(tmp_path), [0, 1])
    assert table.to_pylist() == [
        {"__key__": "a/1", "cls": b"a/", "jpg": b"a/", "seg.png": b"a/"},
        {"__key__": "b.x/2", "cls": b"b.", "jpg": None, "seg.png": None},
    ]
    with tarfile.open(tmp_path / "a.tar", "a") as file:
        file.addfile(tarfile.TarInfo("b.x/2.cls"))
    with pytest.raises(OSError, match=r"a\.tar: .*two members \.cls"):
        Shards.find(tmp_path)


def test_a_damaged_arrow_file_is_no_crash(tmp_path: Path) -> None:
    write_arrow(tmp_path / "a.arrow", rows_from(0, 100))
    whole = bytearray((tmp_path / "a.arrow").read_bytes())
    place = whole.index((5).to_bytes(4, "little") + (10).to_bytes(4, "little"))
    whole[place : place + 4] = (2**30).to_bytes(4, "little")
    (tmp_path / "a.arrow").write_bytes(whole)
    with pytest.raises(OSError, match=r"a\.arrow: .*offset"):
        list(read_rows(Shards.find(tmp_path), [3]))


def test_the_format_follows_from_the_files(tmp_path: Path) -> None:
    write_arrow(tmp_path / "a.arrow", rows_from(0, 5))
    write_json(tmp_path / "b.jsonl", rows_from(0, 6))
    with fails(MissingError, "format"):
        Shards.find(tmp_path)
    with fails(ContradictionError, "paths"):
        Shards.find([tmp_path / "a.arrow", tmp_path / "b.jsonl"])
    assert [Shards.find(tmp_path, format=name).samples for name in ("arrow", "jsonl")] == [5, 6]
    both = Sources.join({name: Shards.find(tmp_path, ["id", "text"], format=name) for name in ("arrow", "jsonl")})
    assert ids(read_rows(both, range(11))) == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5]
    # Parquet files may have any other files beside them.
    pq.write_table(pa.Table.from_pylist(rows_from(0, 7)), tmp_path / "c.parquet")
    assert Shards.find(tmp_path).samples == 7
    with fails(ContradictionError, "paths"):
        Shards.find(tmp_path, format="tar")
    with fails(UnknownNameError, "format"):
        Shards.find(tmp_path, format="csv")
    for wrong in (3, Format, b"no format", object()):
        with fails(WrongTypeError, "format"):
            Shards.find(tmp_path, format=wrong)  # type: ignore[arg-type]


class Numbers(Format):
    """Text files with a number in each line: what a user writes for a format that samedeal does not know."""

    name = "numbers"
    suffixes = (".txt",)

    def __init__(self, more: int = 0) -> None:
        self.more = more

    def open(self, location: Location, index: Any = None) -> NumbersFile:
        return NumbersFile([int(line) for line in location.read().split()], self.more)


class NumbersFile:
    def __init__(self, numbers: list[int], more: int) -> None:
        self.numbers, self.more = numbers, more
        self.footer = Footer(pa.schema([("n", pa.int64())]), [len(numbers)], [8 * len(numbers)])

    def batches(self, parts: range, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        assert list(parts) == [0]
        yield pa.record_batch({"n": pa.array([], pa.int64())})
        given = [*self.numbers, *range(9)][: len(self.numbers) + self.more]
        yield pa.record_batch({"n": pa.array(given)})

    def close(self) -> None:
        pass


def test_a_format_of_a_user(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("\n".join(map(str, range(10_000))))
    shards = Shards.find(tmp_path, format=Numbers())
    assert (shards.sizes.tolist(), shards.bytes.tolist()) == ([10_000] * 2, [80_000] * 2)
    (table,) = read_rows(shards, [9_999, 10_000, 3])
    assert table["n"].to_pylist() == [9_999, 0, 3]
    with pytest.raises(OSError, match=r"a\.txt: .*more rows than its footer says"):
        list(read_rows(Shards.find(tmp_path, format=Numbers(more=9)), range(20_000)))
    with pytest.raises(OSError, match=r"a\.txt: ends after 9999 of the rows"):
        list(read_rows(Shards.find(tmp_path, format=Numbers(more=-1)), range(20_000)))
