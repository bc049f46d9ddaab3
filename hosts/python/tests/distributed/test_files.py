"""Files of a dataset: the files that a path names, the places where they may be, and columns that other programs wrote
in other types."""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from conftest import SAMPLES
from limits import HANG
from samedeal import ContradictionError, MissingError, WrongTypeError
from samedeal.parquet import Shards
from samedeal.torch import Resumable, ShardedDataset
from torch.utils.data import DataLoader

fsspec = pytest.importorskip("fsspec")


def one(path: Path, **columns: Any) -> Path:
    """A small Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns or {"id": [0]}), path)
    return path


def names(folder: Path | str, **options: Any) -> list[str]:
    """The files that a directory stands for, relative to it."""
    return [os.path.relpath(path, folder) for path in Shards.find(folder, **options).paths]


def ids(batch: Any) -> list[int]:
    """The samples of a batch, as a transform."""
    found: list[int] = batch.column("id").to_pylist()
    return found


def test_a_directory_stands_for_regular_files_below_it_in_byte_order(tmp_path: Path) -> None:
    wanted = [
        "B.parquet",
        "a-b/x.parquet",
        "a.parquet",
        "a/b/c/d.parquet",
        "a/x.parquet",
        "é.parquet",
        "\U0001f600.parquet",
    ]
    for name in reversed(wanted):
        one(tmp_path / name)
    # A directory may have a name that ends in .parquet, too.
    one(tmp_path / "z.parquet" / "part.parquet")
    for other in ("a.PARQUET", "a.parquet.tmp", "aparquet", "a.parquet ", "notes.txt"):
        (tmp_path / other).write_text("no Parquet")
    os.mkfifo(tmp_path / "pipe.parquet")
    assert names(tmp_path) == sorted([*wanted, "z.parquet/part.parquet"], key=os.fsencode)


def test_hidden_and_temporary_names_are_passed_over(tmp_path: Path) -> None:
    one(tmp_path / "a.parquet")
    for name in (".a.parquet", "_a.parquet", ".git/a.parquet", "_temporary/0/a.parquet", "b/_c/a.parquet", "_SUCCESS"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("no Parquet")
    (tmp_path / ".link").symlink_to("nowhere")
    assert names(tmp_path) == ["a.parquet"]
    # A path that is given is read even if its name begins with "_", and so is a file below such a directory.
    one(tmp_path / "_named.parquet")
    one(tmp_path / "_folder" / "a.parquet")
    assert names(tmp_path / "_named.parquet") == ["."]
    assert names(tmp_path / "_folder") == ["a.parquet"]


def test_links_are_followed(tmp_path: Path) -> None:
    one(tmp_path / "other" / "deep" / "x.parquet")
    one(tmp_path / "file")
    folder = tmp_path / "data"
    one(folder / "b.parquet")
    (folder / "a").symlink_to(tmp_path / "other", target_is_directory=True)
    (folder / "c.parquet").symlink_to(tmp_path / "file")
    assert names(folder) == ["a/deep/x.parquet", "b.parquet", "c.parquet"]
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    assert names(tmp_path / "link") == ["a/deep/x.parquet", "b.parquet", "c.parquet"]


@pytest.mark.parametrize("target", [".", "..", "../..", "/"])
def test_a_link_that_leads_back_is_an_error(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "data"
    one(folder / "b" / "a.parquet")
    (folder / "b" / "back").symlink_to(target)
    with pytest.raises(OSError, match=r"leads back.*'.*data/b/back'") as caught:
        Shards.find(folder)
    assert caught.value.errno == errno.ELOOP


def test_links_that_lead_back_by_another_directory_or_nowhere_are_errors(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    one(folder / "a.parquet")
    other = tmp_path / "other"
    other.mkdir()
    (folder / "to").symlink_to(other)
    (other / "from").symlink_to(folder)
    with pytest.raises(OSError, match=r"leads back.*data/to/from"):
        Shards.find(folder)
    (other / "from").unlink()
    for target in ("nowhere", "x"):
        (folder / "x").symlink_to(target)
        with pytest.raises(OSError, match=r"data/x'") as caught:
            Shards.find(folder)
        # The link "x" leads to itself.
        assert caught.value.errno == (errno.ENOENT if target == "nowhere" else errno.ELOOP)
        with pytest.raises(OSError, match=r"data/x'"):
            Shards.find(folder / "x")
        (folder / "x").unlink()
    assert names(folder) == ["a.parquet"]


def test_a_directory_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    one(tmp_path / "data" / "a.parquet")
    one(tmp_path / "data" / "b" / "closed" / "c.parquet")
    closed = tmp_path / "data" / "b" / "closed"
    closed.chmod(0)
    # The superuser may list every directory, so the script runs as another user.
    script = (
        "import os, sys\nimport samedeal.parquet\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: samedeal.parquet.Shards.find(sys.argv[1])\n"
        "except PermissionError as error: print(error.filename)\n"
    )
    command = [sys.executable, "-c", script, "."]
    # The error is about this directory, although the directories above it are closed as well.
    run = subprocess.run(command, cwd=tmp_path / "data", capture_output=True, text=True, timeout=HANG, check=False)
    closed.chmod(0o755)
    assert run.stdout.strip() == "./b/closed", run.stderr


@pytest.mark.parametrize("kind", ["FIFO", "socket", "device"])
def test_a_path_that_is_no_regular_file_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.parquet"
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            folder = os.open(tmp_path, os.O_RDONLY)
            # The path may be too long for a socket's address, so it goes through /proc/self/fd.
            server.bind(f"/proc/self/fd/{folder}/x.parquet")
            os.close(folder)
    else:
        path.symlink_to("/dev/null")
    with pytest.raises(OSError, match=rf"Not a regular file, but a {kind}: '.*x\.parquet'"):
        ShardedDataset(path)


def test_names_that_are_not_utf8_are_errors(tmp_path: Path) -> None:
    one(tmp_path / "data" / "a.parquet")
    for name in (b"caf\xe9.parquet", b"caf\xe9"):
        path = os.path.join(os.fsencode(tmp_path / "data"), name)
        os.mkdir(path)
        with pytest.raises(OSError, match=r"not UTF-8: '.*caf\\\\xe9") as caught:
            Shards.find(tmp_path / "data")
        str(caught.value).encode()
        with pytest.raises(OSError, match="not UTF-8"):
            Shards.find(os.fsdecode(path))
        os.rmdir(path)
    # A character that no name of a file can have.
    with pytest.raises(OSError, match=r"not UTF-8: '.*ud800'"):
        Shards.find("\ud800")


def test_a_file_that_is_named_twice_is_told_how(tmp_path: Path) -> None:
    path = one(tmp_path / "x.parquet")
    link = tmp_path / "sub" / "link.parquet"
    link.parent.mkdir()
    link.symlink_to(path)
    cases: list[tuple[list[Path], str]] = [
        ([path, path], f"{path}, twice"),
        ([tmp_path / "sub", tmp_path / "sub"], f"{link}, twice, in {tmp_path / 'sub'}"),
        ([path, link], f"{link} and {path}, which are one file"),
        ([link, tmp_path / "sub"], f"{link}, twice, once by itself and once by its directory {tmp_path / 'sub'}"),
    ]
    for paths, told in cases:
        with pytest.raises(ContradictionError) as caught:
            Shards.find(paths)
        assert str(caught.value) == f"paths is {told}; allowed: each file once"


def test_columns_in_another_order_and_of_another_width(tmp_path: Path) -> None:
    texts = [pa.string(), pa.large_string(), pa.string_view()]
    categories = [pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int16(), pa.large_string())]
    for number in range(6):
        rows = [number * 100 + i for i in range(100)]
        # All files together have more categories than 8 bits can count.
        category = pa.array([f"c{i}" for i in rows]).cast(categories[number % 2])
        columns = {
            "id": pa.array(rows, [pa.int32(), pa.int64()][number % 2]),
            "text": pa.array([f"t{i}" for i in rows], texts[number % 3]),
            "category": category,
            "tokens": pa.array([[i, i] for i in rows], [pa.list_(pa.int32()), pa.large_list(pa.int64())][number % 2]),
            "blob": pa.array([b"x"] * 100, [pa.binary(), pa.binary_view()][number % 2]),
            "hole": pa.nulls(100) if number == 2 else pa.array([0.5] * 100, pa.float32()),
        }
        if number % 2:
            columns = dict(reversed(columns.items()))
        one(tmp_path / f"{number}.parquet", **columns)
    shards = Shards.find(tmp_path)
    assert shards.columns == ["id", "text", "category", "tokens", "blob", "hole"]
    assert shards.schema.types[:2] == [pa.int64(), pa.large_string()]
    assert shards.schema.field("category").type == pa.dictionary(pa.int32(), pa.string())
    for deal in ("samples", "shards"):
        for options in ({}, {"shuffle": False}):
            dataset = ShardedDataset(shards, batch_size=64, deal=deal, **options)  # type: ignore[arg-type]
            seen = []
            for batch in dataset:
                assert batch.schema.equals(shards.schema)
                for row in batch.to_pylist():
                    i = row["id"]
                    hole = None if 200 <= i < 300 else 0.5
                    assert row == {
                        "id": i,
                        "text": f"t{i}",
                        "category": f"c{i}",
                        "tokens": [i, i],
                        "blob": b"x",
                        "hole": hole,
                    }
                    seen.append(i)
            assert sorted(seen) == list(range(600))
    only = next(iter(ShardedDataset(tmp_path / "2.parquet", batch_size=64, columns=["text", "hole"])))
    assert only.schema.types == [pa.string(), pa.null()]


INT, TEXT = pa.int64(), pa.string()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (INT, TEXT),
        (INT, pa.float64()),
        (pa.int64(), pa.uint64()),
        (TEXT, pa.binary()),
        (pa.dictionary(pa.int8(), TEXT), TEXT),
        (pa.struct([("a", INT)]), pa.struct([("a", INT), ("b", INT)])),
        (pa.bool_(), INT),
        (pa.list_(INT), pa.list_(pa.float64())),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
    ],
)
def test_types_that_do_not_go_together_are_named(tmp_path: Path, first: pa.DataType, second: pa.DataType) -> None:
    for name, kind in (("a", first), ("b", first), ("c", second)):
        one(tmp_path / f"{name}.parquet", id=[1], x=pa.nulls(1, kind))
    with pytest.raises(OSError, match="do not go together") as caught:
        Shards.find(tmp_path)
    told = str(caught.value)
    stored = [pq.read_schema(tmp_path / f"{name}.parquet").field("x").type for name in "ac"]
    expected = f"column 'x' is {stored[1]} here, and {stored[0]} in {tmp_path / 'a.parquet'}"
    assert told.startswith(f"{tmp_path / 'c.parquet'}: {expected}")
    # Other columns can still be read.
    assert Shards.find(tmp_path, ["id"]).samples == 3


def test_columns_that_are_missing_are_named(tmp_path: Path) -> None:
    one(tmp_path / "a.parquet", id=[1], x=[1])
    one(tmp_path / "b.parquet", id=[1], y=[1])
    with pytest.raises(OSError, match=r"b\.parquet: has no column 'x' and has column 'y', unlike .*a\.parquet"):
        Shards.find(tmp_path)
    with pytest.raises(OSError, match=r"b\.parquet: has no column 'x', unlike .*a\.parquet"):
        Shards.find(tmp_path, ["x"])


def test_a_value_that_has_no_place_in_the_wider_type_names_file_and_column(tmp_path: Path) -> None:
    one(tmp_path / "a.parquet", t=pa.array([0], pa.timestamp("ns")))
    one(tmp_path / "b.parquet", t=pa.array([2**62], pa.timestamp("us")))
    with pytest.raises(OSError, match=r"b\.parquet: column 't', which is timestamp\[us\] here, is no timestamp\[ns\]"):
        list(ShardedDataset(tmp_path, batch_size=1))


@pytest.mark.parametrize(
    ("kind", "method"),
    [("url", "fork"), ("fsspec", "fork"), ("pyarrow", "fork"), ("subtree", "fork"), ("dir", "fork"), ("dir", "spawn")],
)
def test_file_systems_under_workers(data: Path, kind: str, method: str) -> None:
    paths, options = str(data), {}
    if kind == "url":
        paths = data.as_uri()
    elif kind == "fsspec":
        options = {"filesystem": fsspec.filesystem("file")}
    elif kind == "pyarrow":
        options = {"filesystem": pafs.LocalFileSystem()}
    elif kind == "subtree":
        paths, options = data.name, {"filesystem": pafs.SubTreeFileSystem(str(data.parent), pafs.LocalFileSystem())}
    else:
        # The file system stands in front of another one, as a cache does.
        paths, options = (
            data.name,
            {"filesystem": fsspec.filesystem("dir", path=str(data.parent), fs=fsspec.filesystem("file"))},
        )
    dataset = ShardedDataset(paths, batch_size=64, columns=["id"], transform=ids, shuffle=False, **options)
    assert (dataset.shards.store is None) == (kind in ("url", "fsspec", "pyarrow"))
    loader = DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context=method)
    assert sorted(i for batch in loader for i in batch) == list(range(SAMPLES))
    assert sorted(i for batch in pickle.loads(pickle.dumps(dataset)) for i in batch) == list(range(SAMPLES))


def test_files_in_a_store(data: Path) -> None:
    memory = fsspec.filesystem("memory")
    for path in data.iterdir():
        memory.pipe(f"/store/deep/{path.name}", path.read_bytes())
    for other in ("_SUCCESS", ".x.parquet", "_temporary/a.parquet", "notes.txt"):
        memory.pipe(f"/store/{other}", b"no Parquet")
    try:
        expected = [f"memory:///store/deep/{path.name}" for path in sorted(data.iterdir())]
        for paths, options in (
            ("memory://store", {}),
            ("memory:///store/", {}),
            ("/store", {"filesystem": memory}),
            (expected, {}),
            ("/store", {"filesystem": pafs.PyFileSystem(pafs.FSSpecHandler(memory))}),
        ):
            dataset = ShardedDataset(paths, batch_size=64, columns=["id"], transform=ids, **options)
            found = [path.removeprefix("memory://") for path in dataset.shards.paths]
            assert found == [path.removeprefix("memory://") for path in expected]
            whole = list(DataLoader(dataset, batch_size=None))
            local = ShardedDataset(data, batch_size=64, columns=["id"], transform=ids)
            assert whole == list(DataLoader(local, batch_size=None))
            # A state of local files is resumed on files in the store.
            dataset.load_state_dict(local.state_dict(1))
            assert list(dataset) == whole[1:]
        with pytest.raises(FileNotFoundError, match="memory://nothing"):
            ShardedDataset("memory://nothing")
        with pytest.raises(
            ContradictionError, match=r"paths is .* and memory://store; allowed: paths of one file system"
        ):
            ShardedDataset([data, "memory://store"])
        with pytest.raises(ContradictionError, match=r"twice, once by itself and once by its directory memory://store"):
            ShardedDataset([expected[0], "memory://store"])
        memory.pipe("/store/deep/000.parquet", b"cut off")
        with pytest.raises(OSError, match=r"memory:///store/deep/000\.parquet: not a Parquet file"):
            ShardedDataset("memory://store")
    finally:
        memory.rm("/store", recursive=True)


def test_a_store_that_cannot_be_listed_is_an_error(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/store/a/000.parquet", (data / "000.parquet").read_bytes())
    memory.pipe("/store/b/000.parquet", (data / "000.parquet").read_bytes())
    listed = type(memory).ls

    def refused(self: Any, path: str, **options: Any) -> Any:
        if path.rstrip("/").endswith("/b"):
            raise PermissionError(errno.EACCES, "not allowed", path)
        return listed(self, path, **options)

    monkeypatch.setattr(type(memory), "ls", refused)
    try:
        with pytest.raises(PermissionError, match="/store/b"):
            ShardedDataset("memory://store")
    finally:
        monkeypatch.undo()
        memory.rm("/store", recursive=True)


def test_file_systems_that_there_are_not(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingError, match="a package that knows nosuch://"):
        ShardedDataset("nosuch://bucket/data")
    with pytest.raises(WrongTypeError, match=r"^filesystem is"):
        ShardedDataset(data, filesystem="s3")
    with pytest.raises(ContradictionError, match="filesystem"):
        ShardedDataset(Shards.find(data), filesystem=pafs.LocalFileSystem())
    with pytest.raises(ContradictionError, match="without a host"):
        ShardedDataset("file://server/data")
    # Without fsspec, local files are still read, and pyarrow opens the schemes that it knows.
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert Shards.find(data.as_uri()).samples == SAMPLES
    with pytest.raises(MissingError, match="fsspec is not installed"):
        ShardedDataset("memory://store")


def test_a_url_of_a_file_is_decoded(tmp_path: Path) -> None:
    path = one(tmp_path / "a b%20c.parquet")
    assert Shards.find(path.as_uri()).paths == (str(path),)
    assert Shards.find(f"file://localhost{path.as_uri()[7:]}").paths == (str(path),)


@pytest.mark.parametrize("deal", ["samples", "shards"])
def test_a_run_goes_on_with_a_manifest_elsewhere(data: Path, tmp_path: Path, deal: str) -> None:
    def loader(folder: Path, rank: int, world_size: int, **options: Any) -> Any:
        own = {"balance_by": "bytes"} if deal == "shards" else {"lanes": 12}
        files = ShardedDataset(
            folder, batch_size=10, deal=deal, rank=rank, world_size=world_size, transform=ids, **own, **options
        )
        return Resumable(DataLoader(files, batch_size=None, num_workers=2))

    Shards.save_manifest(data, tmp_path / "data.manifest")
    begun = [loader(data, rank, 2) for rank in range(2)]
    read = [sample for each in begun for batch in itertools.islice(each, 20) for sample in batch]
    state = begun[0].state_dict()
    moved = shutil.copytree(data, tmp_path / "moved")
    rest = [loader(moved, rank, 3, manifest=tmp_path / "data.manifest") for rank in range(3)]
    for each in rest:
        each.load_state_dict(state)
    assert set(read + [sample for each in rest for batch in each for sample in batch]) == set(range(SAMPLES))


def test_a_file_that_is_not_that_of_the_manifest_gives_no_batch(data: Path, tmp_path: Path) -> None:
    Shards.save_manifest(data, tmp_path / "data.manifest")
    moved = shutil.copytree(data, tmp_path / "moved")
    path = moved / "005.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take(list(range(len(table)))[::-1]), path)
    files = ShardedDataset(moved, batch_size=8, rank=0, world_size=1, manifest=tmp_path / "data.manifest")
    for workers in (0, 2):
        with pytest.raises(OSError, match=r"005\.parquet: (has \d+ bytes now|is another file)"):
            next(iter(DataLoader(files, batch_size=None, num_workers=workers)))


def test_a_manifest_of_several_sources_is_passed_to_each(data: Path, tmp_path: Path) -> None:
    kept = tmp_path / "data.manifest"
    Shards.save_manifest(data, kept)
    for paths in ({"a": data}, Shards.find(data)):
        with pytest.raises(ContradictionError, match=r"^manifest is .*pass it to Shards\.find"):
            ShardedDataset(paths, manifest=kept, weights={"a": 1} if isinstance(paths, dict) else None)
    files = ShardedDataset(
        {"a": Shards.find(data, manifest=kept), "b": data}, weights={"a": 1, "b": 1}, rank=0, world_size=1
    )
    assert files.shards.samples == 2 * SAMPLES
