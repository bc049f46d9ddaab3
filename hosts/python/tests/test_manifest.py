"""Footers of files: how much of them is read, what tells a file from another one, and manifests, which keep them."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from hostile import fails
from samedeal import ContradictionError, MissingError, OutOfRangeError, SamedealError, UnknownNameError, WrongTypeError
from samedeal.files import Footer, Format, Location, Shards, Sources, read_rows
from samedeal.files.parquet import ParquetFile

SIZES = (25, 1, 0, 60)


def write(path: Path, first: int, rows: int) -> None:
    ids = range(first, first + rows)
    table = pa.table({"id": pa.array(ids, pa.int64()), "text": [f"row {number}" for number in ids]})
    path.parent.mkdir(parents=True, exist_ok=True)
    lists = pa.array([[number] for number in ids], pa.list_(pa.int64()))
    pq.write_table(table.append_column("a.b", lists), path, row_group_size=10)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory of files."""
    for number, rows in enumerate(SIZES):
        write(tmp_path / "data" / f"{'part/' if number % 2 else ''}{number}.parquet", sum(SIZES[:number]), rows)
    return tmp_path / "data"


@pytest.fixture
def kept(data: Path) -> Path:
    """A manifest of the directory."""
    Shards.save_manifest(data, data.parent / "data.manifest")
    return data.parent / "data.manifest"


def ids(shards: Shards) -> list[int]:
    return [number for table in read_rows(shards, range(shards.samples)) for number in table["id"].to_pylist()]


def facts(shards: Shards) -> Any:
    assert shards.identities is not None
    assert shards.largest is not None
    own = shards.identities
    arrays = (shards.sizes, shards.bytes, shards.largest, own.sizes, own.digests)
    return [shards.paths, shards.schema, shards.format.name, shards.lost, *(array.tolist() for array in arrays)]


@pytest.mark.parametrize(("columns", "leaves"), [(["c7"], [7]), (["c7", "nested"], [7, 198, 199]), (None, range(200))])
def test_a_footer_is_read_only_for_the_columns_that_are_asked_for(
    columns: list[str] | None, leaves: Sequence[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {f"c{number}": np.arange(30) for number in range(198)}
    pq.write_table(pa.table({**table, "nested": [{"a": 1, "b": 2}] * 30}), tmp_path / "a.parquet", row_group_size=10)
    seen: list[int] = []

    class Group:
        def __init__(self, own: Any) -> None:
            self.num_rows, self.total_byte_size, self._own = own.num_rows, own.total_byte_size, own

        def column(self, leaf: int) -> Any:
            seen.append(leaf)
            return self._own.column(leaf)

    groups = vars(ParquetFile)["_groups"].func
    monkeypatch.setattr(ParquetFile, "_groups", property(lambda file: [Group(each) for each in groups(file)]))
    shards = Shards.find(tmp_path, columns)
    assert sorted(seen) == sorted([*leaves] * 3)
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    wanted = [metadata.row_group(group).column(leaf).total_compressed_size for group in range(3) for leaf in leaves]
    assert shards.bytes.tolist() == [sum(wanted)]


def test_columns_with_dots_in_their_names_have_their_own_bytes(tmp_path: Path) -> None:
    table = pa.table({"a": [{"b": 1, "c.d": "x"}] * 9, "a.e": [[1, 2]] * 9, "f.g": range(9), "f": ["long text"] * 9})
    pq.write_table(table, tmp_path / "a.parquet")
    group = pq.read_metadata(tmp_path / "a.parquet").row_group(0)
    sizes = [group.column(leaf).total_compressed_size for leaf in range(5)]
    found = [int(Shards.find(tmp_path, [name]).bytes[0]) for name in table.column_names]
    assert found == [sizes[0] + sizes[1], *sizes[2:]]
    assert int(Shards.find(tmp_path).bytes[0]) == sum(sizes)


def test_a_file_that_was_replaced_by_one_of_as_many_rows_is_an_error(data: Path) -> None:
    shards = pickle.loads(pickle.dumps(Shards.find(data)))
    write(data / "0.parquet", 100, 25)
    with pytest.raises(OSError, match=r"0\.parquet: (has \d+ bytes now|is another file)"):
        ids(shards)
    assert len(ids(Shards.find(data))) == sum(SIZES)


def test_a_footer_that_differs_in_a_file_of_as_many_bytes_is_an_error(data: Path) -> None:
    shards = Shards.find(data)
    path = data / "part" / "3.parquet"
    content = path.read_bytes()
    assert content.count(b"parquet-cpp-arrow") == 1
    path.write_bytes(content.replace(b"parquet-cpp-arrow", b"parquet-cpp-other"))
    with pytest.raises(OSError, match=r"3\.parquet: is another file than at the start, .* footer differs"):
        ids(shards)


def test_a_manifest_has_what_the_footers_have(data: Path, kept: Path) -> None:
    for columns in (None, ["text"], ["a.b", "id"]):
        found, known = (Shards.find(data, columns, manifest=each) for each in (None, kept))
        assert facts(known) == facts(found)
    assert ids(Shards.find(data, manifest=kept)) == [*range(sum(SIZES))]
    assert facts(pickle.loads(pickle.dumps(Shards.find(data, manifest=str(kept))))) == facts(Shards.find(data))


def test_only_the_first_file_is_opened(data: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    own = Location.open
    monkeypatch.setattr(Location, "open", lambda location: (opened.append(location.path), own(location))[1])  # type: ignore[func-returns-value]
    monkeypatch.setattr(os, "scandir", None)
    shards = Shards.find(data, manifest=kept)
    assert opened == [str(kept), shards.paths[0]]


def test_a_manifest_is_the_same_for_copies_in_another_order(data: Path, kept: Path) -> None:
    copy = data.parent / "copy"
    for path in sorted(data.rglob("*.parquet"), reverse=True):
        (copy / path.relative_to(data)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy / path.relative_to(data))
    Shards.save_manifest(copy, data.parent / "copy.manifest")
    assert (data.parent / "copy.manifest").read_bytes() == kept.read_bytes()
    assert not list(data.parent.glob(".*"))


def test_a_directory_that_was_moved_opens(data: Path, kept: Path) -> None:
    data.rename(data.parent / "elsewhere")
    assert ids(Shards.find(data.parent / "elsewhere", manifest=kept)) == [*range(sum(SIZES))]
    store = pafs.SubTreeFileSystem(str(data.parent), pafs.LocalFileSystem())
    assert ids(Shards.find("elsewhere", manifest="data.manifest", filesystem=store)) == [*range(sum(SIZES))]
    with pytest.raises(FileNotFoundError):
        Shards.find(data, manifest=kept)


def test_files_by_fsspec(data: Path, kept: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(data), "/manifested/data", recursive=True)
    memory.put(str(kept), "/manifested/data.manifest")
    url = "memory://manifested/data"
    shards = Shards.find(url, manifest="memory://manifested/data.manifest")
    assert facts(shards) == facts(Shards.find(url))
    assert ids(Shards.find(url, manifest=kept)) == [*range(sum(SIZES))]
    Shards.save_manifest(url, data.parent / "other.manifest")
    assert (data.parent / "other.manifest").read_bytes() == kept.read_bytes()
    for name in ("%2e%2e/x", "a/%2E./x", "%2f..%2fx", "a?b", "a#b"):
        damaged(kept, put("name", [name, "a", "b", "c"]))
        with pytest.raises(OSError, match=r"data\.manifest: .*no path below a directory"):
            Shards.find(url, manifest=kept)
    memory.put(str(data / "0.parquet"), "/manifested/data/a#b.parquet")
    with pytest.raises(OSError, match=r"there can be no manifest: .*'a#b\.parquet', which is no path below"):
        Shards.save_manifest(url, data.parent / "third.manifest")
    # On this machine, such names are names.
    shutil.copy(data / "0.parquet", data / "%2e%2e?#.parquet")
    Shards.save_manifest(data, data.parent / "local.manifest")
    assert len(Shards.find(data, manifest=data.parent / "local.manifest")) == 5


CHANGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "replaced": (lambda data: write(data / "part/3.parquet", 500, 60), r"3\.parquet: (has \d+ bytes now|is another)"),
    "renamed": (lambda data: (data / "part/3.parquet").rename(data / "part/4.parquet"), r"3\.parquet: .*lost="),
    "missing": (lambda data: (data / "part/3.parquet").unlink(), r"3\.parquet: .*lost="),
    "shorter": (lambda data: write(data / "part/3.parquet", 26, 59), r"3\.parquet: holds 59 rows now, and held 60"),
    "no file": (lambda data: (data / "part/3.parquet").write_bytes(b"PAR1"), r"3\.parquet: "),
}


@pytest.mark.parametrize("change", CHANGES)
def test_files_that_differ_from_the_manifest(change: str, data: Path, kept: Path) -> None:
    make, told = CHANGES[change]
    make(data)
    shards = Shards.find(data, manifest=kept)
    (first,) = read_rows(shards, [3])
    assert first["id"].to_pylist() == [3]
    with pytest.raises(OSError, match=told):
        ids(shards)


def test_a_manifest_of_another_directory(data: Path, kept: Path) -> None:
    other = data.parent / "other"
    for name in ("part/0.parquet", "x.parquet"):
        write(other / name, 7, 25)
    told = r"the manifest .*data\.manifest is of another directory, or older than its files"
    with pytest.raises(FileNotFoundError, match=rf"{told}, or a file was lost .*: .*other.0\.parquet: no such file$"):
        Shards.find(other, manifest=kept)
    write(other / "0.parquet", 7, 10)
    with pytest.raises(OSError, match=rf"{told}: .*other.0\.parquet: holds 10 rows now, and held 25 in the manifest$"):
        Shards.find(other, manifest=kept)
    # The first file has the name and the rows of the manifest.
    write(other / "0.parquet", 7, 25)
    with pytest.raises(OSError, match=rf"{told}: .*other.0\.parquet: (has \d+ bytes now|is another)"):
        Shards.find(other, manifest=kept)


def test_lost_files_with_a_manifest(data: Path, kept: Path) -> None:
    path, whole = str(data / "0.parquet"), Shards.find(data)
    os.remove(path)
    found, known = (Shards.find(data, lost={path: 25}, manifest=each) for each in (None, kept))
    assert (known.sizes.tolist(), known.lost) == ([25, 0, 1, 60], found.lost)
    # Without a manifest, the bytes of a lost file are unknown.
    assert found.bytes.tolist() == [0, *whole.bytes[1:].tolist()]
    assert known.bytes.tolist() == whole.bytes.tolist()
    for shards in (known, found):
        (table,) = read_rows(shards, range(25, 86))
        assert sorted(table["id"].to_pylist()) == [*range(25, 86)]
    for wrong, rows in ((path, 24), (path + "x", 25)):
        with pytest.raises(ContradictionError, match=r"lost is .*0\.parquet"):
            Shards.find(data, lost={wrong: rows}, manifest=kept)
    with fails(MissingError, "paths"):
        Shards.find(data, lost=dict(zip(known.paths, known.sizes.tolist(), strict=True)), manifest=kept)


def test_a_manifest_of_some_columns(data: Path) -> None:
    kept = data.parent / "some.manifest"
    Shards.save_manifest(data, kept, ["text", "id"])
    shards = Shards.find(data, manifest=kept)
    assert facts(shards) == facts(Shards.find(data, ["text", "id"]))
    assert Shards.find(data, ["id"], manifest=kept).bytes.tolist() == Shards.find(data, ["id"]).bytes.tolist()
    with fails(UnknownNameError, "columns"):
        Shards.find(data, ["a.b"], manifest=kept)


REFUSED: list[tuple[type[SamedealError], str, Callable[[Path, Path], Any]]] = [
    (ContradictionError, "paths", lambda data, kept: Shards.find([data], manifest=kept)),
    (ContradictionError, "paths", lambda data, kept: Shards.find(data / "0.parquet", manifest=kept)),
    (WrongTypeError, "paths", lambda data, kept: Shards.find(3, manifest=kept)),  # type: ignore[arg-type]
    (WrongTypeError, "manifest", lambda data, kept: Shards.find(data, manifest=3)),  # type: ignore[arg-type]
    (OutOfRangeError, "manifest", lambda data, kept: Shards.find(data, manifest="\0")),
    (ContradictionError, "format", lambda data, kept: Shards.find(data, manifest=kept, format="jsonl")),
    (ContradictionError, "paths", lambda data, kept: Shards.save_manifest([data], kept)),  # type: ignore[arg-type]
    (ContradictionError, "paths", lambda data, kept: Shards.save_manifest(data / "0.parquet", kept)),
    (WrongTypeError, "path", lambda data, kept: Shards.save_manifest(data, 3)),  # type: ignore[arg-type]
    (UnknownNameError, "columns", lambda data, kept: Shards.save_manifest(data, kept, ["x"])),
    (ContradictionError, "manifest", lambda data, kept: Shards.save_manifest(data, data / "part/m.parquet")),
    (ContradictionError, "manifest", lambda data, kept: Shards.save_manifest(data, data / "0.parquet")),
    (ContradictionError, "manifest", lambda data, kept: Shards.save_manifest(data, "s3://bucket/m")),
    (ContradictionError, "manifest", lambda data, kept: Shards.save_manifest(data, "file://host/m")),
    (ContradictionError, "manifest", lambda data, kept: Shards.find(data, manifest="file://host/m")),
]


@pytest.mark.parametrize(("error", "field", "call"), REFUSED)
def test_what_cannot_be_is_refused(
    error: type[SamedealError], field: str, call: Callable[[Path, Path], Any], data: Path, kept: Path
) -> None:
    before = kept.read_bytes()
    with pytest.raises(error, match=f"^{field} is "):
        call(data, kept)
    assert kept.read_bytes() == before
    assert len(Shards.find(data)) == len(SIZES)


def test_a_manifest_may_be_in_the_directory_under_a_name_that_is_ignored(data: Path) -> None:
    for name in ("_manifest.parquet", "data.manifest", "_m/x.parquet"):
        (data / name).parent.mkdir(exist_ok=True)
        Shards.save_manifest(data, data / name)
        assert facts(Shards.find(data, manifest=data / name)) == facts(Shards.find(data))


def test_a_manifest_that_cannot_be_written_leaves_nothing(data: Path) -> None:
    with pytest.raises(OSError, match=r"nowhere"):
        Shards.save_manifest(data, data.parent / "nowhere" / "m")
    (data.parent / "folder").mkdir()
    with pytest.raises(ContradictionError, match=r"folder"):
        Shards.save_manifest(data, data.parent / "folder")
    assert sorted(path.name for path in data.parent.iterdir()) == ["data", "folder"]


def test_only_a_manifest_is_replaced(data: Path, kept: Path) -> None:
    other, linked = data.parent / "other", data.parent / "linked"
    write(other / "z.parquet", 0, 5)
    write(linked / "_x", 0, 5)
    linked.joinpath("a.parquet").symlink_to(linked / "_x")
    (linked / "o").symlink_to(other)
    (data.parent / "notes").write_text("notes")
    (data.parent / "nowhere").symlink_to(data.parent / "missing")
    others = (data.parent / "notes", data.parent / "nowhere")
    for path in (other / "z.parquet", other / "new.parquet", linked / "_x", *others):
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(ContradictionError, match=r"^manifest is "):
            Shards.save_manifest(linked, path)
        assert (path.read_bytes() if path.exists() else None) == before
    Shards.save_manifest(linked, other / "_new.parquet")
    Shards.save_manifest(linked, kept)
    assert len(Shards.find(linked, manifest=kept)) == 2


def test_urls_of_files_are_of_this_machine(data: Path, kept: Path) -> None:
    path = data.parent / "a b.manifest"
    Shards.save_manifest(data, path.as_uri())
    assert path.read_bytes() == kept.read_bytes()
    store = pafs.SubTreeFileSystem(str(data.parent), pafs.LocalFileSystem())
    assert len(Shards.find("data", manifest=path.as_uri(), filesystem=store)) == len(SIZES)
    with pytest.raises(
        FileNotFoundError, match=r"a b\.manifest: no such file in `filesystem`, which opens the manifest"
    ):
        Shards.find("data", manifest=path, filesystem=store)


def test_formats_without_footers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    # No format is asked to scan the other files.
    (tmp_path / "b.jsonl").write_text("broken")
    with fails(ContradictionError, "format"):
        Shards.save_manifest(tmp_path, tmp_path / "m")
    assert not (tmp_path / "m").exists()


class Lines(Format):
    """A format of a user, with digests."""

    name, suffixes = "lines", (".txt",)

    def __init__(self, digest: str = "0" * 64) -> None:
        self.digest = digest

    def open(self, location: Location, index: Any = None) -> Any:
        text = location.read()
        schema = pa.schema([("n", pa.int64())])

        class File:
            footer = Footer(schema, [len(text)], [8 * len(text)], size=len(text), digest=self.digest)

            def close(self) -> None:
                pass

        return File()


def test_a_format_of_a_user_has_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"123")
    Shards.save_manifest(tmp_path, tmp_path / "m", format=Lines())
    with fails(MissingError, "format"):
        Shards.find(tmp_path, manifest=tmp_path / "m")
    shards = Shards.find(tmp_path, manifest=tmp_path / "m", format=Lines())
    assert (shards.samples, shards.bytes.tolist()) == (3, [24])
    with pytest.raises(OSError, match=r"a\.txt: is another file"):
        Shards.find(tmp_path, manifest=tmp_path / "m", format=Lines("a" * 64))
    with pytest.raises(OSError, match=r"a\.txt: .* no SHA-256: 'abc'"):
        Shards.find(tmp_path, format=Lines("abc"))


def test_sources_with_manifests(data: Path, kept: Path) -> None:
    both = Sources.join({name: Shards.find(data, manifest=kept) for name in ("a", "b")})
    write(data / "part" / "3.parquet", 500, 60)
    assert both.samples == 2 * sum(SIZES)
    with pytest.raises(OSError, match=r"3\.parquet"):
        both.open(both.paths.index(str(data / "part/3.parquet"), 4), 0)


def test_files_that_sources_share_are_found_without_a_look_at_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    names = [f"{number}.parquet" for number in range(200)]
    for name in names:
        (tmp_path / "a" / name).touch()
    (tmp_path / "b" / "other.parquet").symlink_to(tmp_path / "a" / "7.parquet")
    none = np.zeros(0, np.int64)
    parts = {
        name: Shards(tuple(str(tmp_path / name / each) for each in own), none, none, pa.schema([("n", "int8")]))
        for name, own in (("a", names), ("b", ["other.parquet"]), ("lost", ["x/y.parquet"]))
    }
    looks: list[str] = []
    look = os.lstat

    def counted(path: Any, **options: Any) -> os.stat_result:
        looks.append(str(path))
        return look(path, **options)

    monkeypatch.setattr(os, "lstat", counted)
    assert Sources.join(parts).shared() == [(str(tmp_path / "a" / "7.parquet"), ("a", "b"))]
    assert len(looks) < 100


def signed(path: Path, data: bytes) -> None:
    path.write_bytes(data + hashlib.sha256(data).digest())


def damaged(path: Path, change: Callable[[pa.Table, dict[str, Any]], pa.Table]) -> None:
    """Writes a manifest again, changed, so that only its contents are wrong."""
    table = pa.ipc.open_stream(path.read_bytes()).read_all()
    members = json.loads(table.schema.metadata[b"samedeal.manifest"])
    table = change(table, members)
    table = table.replace_schema_metadata({b"samedeal.manifest": json.dumps(members)})
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    signed(path, stream.getvalue().to_pybytes())


def put(name: str, values: Any, kind: Any = None) -> Callable[[pa.Table, dict[str, Any]], pa.Table]:
    def change(table: pa.Table, members: dict[str, Any]) -> pa.Table:
        return table.set_column(table.column_names.index(name), name, pa.array(values, kind or table[name].type))

    return change


def member(name: str, value: Any) -> Callable[[pa.Table, dict[str, Any]], pa.Table]:
    def change(table: pa.Table, members: dict[str, Any]) -> pa.Table:
        members[name] = value
        return table

    return change


def columns(members: dict[str, Any], schema: pa.Schema, table: pa.Table) -> pa.Table:
    members["schema"] = base64.b64encode(schema.serialize()).decode()
    return table


WRONG: dict[str, tuple[Callable[[pa.Table, dict[str, Any]], pa.Table], str]] = {
    "version": (member("version", 2), "has version 2, and this version of samedeal reads 1"),
    "no version": (member("version", None), "version None"),
    "format": (member("format", 3), "another type"),
    "schema": (member("schema", "AAAA"), "Corrupted"),
    "no text": (member("schema", "é"), "ASCII"),
    "stored": (member("stored", "yes"), "another type"),
    "not stored": (member("stored", False), "it has the columns"),
    "above": (put("name", ["../x", "a", "b", "c"]), r"'\.\./x', which is no path below a directory"),
    "inside": (put("name", ["x/../../y", "a", "b", "c"]), "no path below"),
    "absolute": (put("name", ["/etc/passwd", "a", "b", "c"]), "no path below"),
    "empty": (put("name", ["", "a", "b", "c"]), "no path below"),
    "zero": (put("name", ["a\0", "a", "b", "c"]), "no path below"),
    "twice": (put("name", ["a", "b", "b", "c"]), "a name twice"),
    "nothing": (put("name", [None, "a", "b", "c"]), "or a null"),
    "negative": (put("rows", [1, -1, 1, 1]), "a number below 0"),
    "negative bytes": (put("bytes_1", [1, -1, 1, 1]), "a number below 0"),
    "type": (put("rows", [1.0, 1, 1, 1], pa.float64()), "one of another type"),
    "digest": (put("footer", [b"x"] * 4, pa.binary()), "one of another type"),
    "missing": (lambda table, members: table.drop_columns(["size"]), "it has the columns"),
    "no bytes": (lambda table, members: table.drop_columns(["bytes_1"]), "it has the columns"),
    "none": (lambda table, members: table.slice(0, 0), "no row"),
    "many rows": (put("rows", [10, 2**62, 2**62, 1]), "rows or bytes whose sum is above 9,007,199,254,740,991"),
    "a row too many": (put("rows", [2**53 - 1, 1, 0, 0]), "rows or bytes whose sum"),
    "many bytes": (put("size", [2**63 - 1] * 4), "rows or bytes whose sum"),
    "bytes of columns": (
        lambda table, members: put("bytes_0", [2**52] * 4)(put("bytes_1", [2**52] * 4)(table, members), members),
        "rows or bytes whose sum",
    ),
    "no column": (
        lambda table, members: columns(members, pa.schema([]), table.drop_columns(["bytes_0", "bytes_1", "bytes_2"])),
        "no column, or a column twice",
    ),
    "column twice": (
        lambda table, members: columns(members, pa.schema([("a", "int8"), ("b", "int8"), ("a", "int8")]), table),
        "no column, or a column twice",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_manifest_that_is_wrong_is_refused(wrong: str, data: Path, kept: Path) -> None:
    change, told = WRONG[wrong]
    damaged(kept, change)
    with pytest.raises(OSError, match=rf"data\.manifest: not a manifest, or damaged: .*{told}"):
        Shards.find(data, manifest=kept)


@pytest.mark.parametrize(
    "fields",
    [
        [("id", pa.int64()), ("text", pa.int64()), ("a.b", pa.list_(pa.int64()))],
        [("id", pa.int64()), ("text", pa.string_view()), ("a.b", pa.list_(pa.int64()))],
        [("id", pa.int32()), ("text", pa.string()), ("a.b", pa.list_(pa.int64()))],
        [("id", pa.int64()), ("text", pa.string()), ("other", pa.list_(pa.int64()))],
    ],
)
def test_the_columns_of_a_manifest_are_compared_with_the_first_file(
    fields: list[tuple[str, pa.DataType]], data: Path, kept: Path
) -> None:
    damaged(kept, lambda table, members: columns(members, pa.schema(fields), table))
    with pytest.raises(
        OSError, match=r"data\.manifest is of another directory, or older than its files: .*0\.parquet: "
    ):
        Shards.find(data, manifest=kept)
    assert Shards.find(data, ["a.b" if fields[2][0] == "a.b" else "id"], manifest=kept).samples == sum(SIZES)


def test_a_manifest_of_files_of_several_types(data: Path, kept: Path) -> None:
    wide = pa.schema([("text", pa.large_string()), ("a.b", pa.list_(pa.int64())), ("id", pa.int64())])
    narrow = pa.schema([("id", pa.int16()), ("text", pa.string()), ("a.b", pa.large_list(pa.int32()))])
    for name, schema in (("0.parquet", narrow), ("2.parquet", wide)):
        pq.write_table(pq.read_table(data / name).select(schema.names).cast(schema), data / name)
    Shards.save_manifest(data, kept)
    assert facts(Shards.find(data, manifest=kept)) == facts(Shards.find(data))


def test_a_dataset_with_a_column_twice_has_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    pq.write_table(pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]), tmp_path / "data" / "a.parquet")
    with pytest.raises(OSError, match="there can be no manifest: it has no column, or a column twice"):
        Shards.save_manifest(tmp_path / "data", tmp_path / "m")


def large(path: Path, options: pa.ipc.IpcWriteOptions | None = None, own: dict[str, str] | None = None) -> bytes:
    """The stream of a manifest, with one row many times."""
    table = pa.ipc.open_stream(path.read_bytes()).read_all()
    table = table.take([0] * 8000).combine_chunks()
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema, options=options) as writer:
        writer.write_batch(table.to_batches()[0], custom_metadata=own)
    return bytes(stream.getvalue().to_pybytes())


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_manifest_that_is_compressed_is_refused(codec: str, data: Path, kept: Path) -> None:
    signed(kept, large(kept, pa.ipc.IpcWriteOptions(compression=codec)))
    with pytest.raises(OSError, match=r"data\.manifest: not a manifest, or damaged: it is compressed"):
        Shards.find(data, manifest=kept)


def test_a_manifest_with_a_compression_of_old_versions_of_arrow_is_refused(data: Path, kept: Path) -> None:
    plain = large(kept)
    signed(kept, large(kept, own={"ARROW:experimental_compression": "zstd"}))
    with pytest.raises(OSError, match=r"data\.manifest: not a manifest, or damaged: it is compressed"):
        Shards.find(data, manifest=kept)
    signed(kept, plain)
    with pytest.raises(OSError, match=r"data\.manifest: not a manifest, or damaged: it has a name twice"):
        Shards.find(data, manifest=kept)


def test_a_manifest_whose_columns_are_the_same_bytes_is_refused(data: Path, kept: Path) -> None:
    stream = large(kept)
    (message,) = [each for each in pa.ipc.MessageReader.open_stream(stream) if each.type == "record batch"]
    metadata, body = message.metadata.to_pybytes(), message.body.to_pybytes()
    length = 8 * 8000
    places = range(len(body) - 8 * length, len(body), length)
    changed = metadata.replace(struct.pack("<q", len(body)), struct.pack("<q", places[1]))
    for place in places:
        assert changed.count(struct.pack("<qq", place, length)) == 1
        changed = changed.replace(struct.pack("<qq", place, length), struct.pack("<qq", places[0], length))
    signed(kept, stream.replace(metadata, changed).replace(body, body[: places[1]]))
    with pytest.raises(OSError, match=r"data\.manifest: .*its columns have more bytes than the file"):
        Shards.find(data, manifest=kept)


def test_a_manifest_of_too_many_bytes_is_refused(data: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Source(contextlib.nullcontext[Any]):
        """A file that is too large to be read."""

        def __enter__(self) -> Any:
            return self

        def size(self) -> int:
            return 1 << 40

    monkeypatch.setattr(Location, "open", lambda location: Source())
    with pytest.raises(OSError, match=r"data\.manifest: .*has 1,099,511,627,776 bytes, and 2,147,483,648 are allowed"):
        Shards.find(data, manifest=kept)


def test_every_damage_of_a_manifest_is_an_error(data: Path, kept: Path) -> None:
    whole = kept.read_bytes()
    random = np.random.default_rng(1)
    for at in range(len(whole)):
        content = bytearray(whole)
        content[at] ^= int(random.integers(1, 256))
        kept.write_bytes(content)
        with pytest.raises(OSError, match=r"data\.manifest: not a manifest, or damaged: the SHA-256"):
            Shards.find(data, manifest=kept)
    for length in random.integers(0, len(whole), 100).tolist():
        kept.write_bytes(whole[:length])
        with pytest.raises(OSError, match=r"data\.manifest: not a manifest, or damaged: the SHA-256"):
            Shards.find(data, manifest=kept)
    kept.unlink()
    with pytest.raises(FileNotFoundError, match=r"data\.manifest"):
        Shards.find(data, manifest=kept)


def test_a_manifest_with_any_bytes_is_no_crash(data: Path, kept: Path) -> None:
    whole = kept.read_bytes()[:-32]
    random = np.random.default_rng(2)
    read = 0
    for _ in range(1500):
        content = bytearray(whole)
        for at in random.integers(0, len(whole), random.integers(1, 4)).tolist():
            content[at] = int(random.integers(256))
        signed(kept, bytes(content))
        try:
            Shards.find(data, manifest=kept)
            read += 1
        except (OSError, MissingError):
            pass
    assert 0 < read < 1500
