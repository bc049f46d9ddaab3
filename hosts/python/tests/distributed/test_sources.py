"""`ShardedDataset` over several directories with weights, and over orders that are composed of others."""

from __future__ import annotations

import itertools
import json
import pickle
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
import torch
from conftest import write
from decoding import Decoded
from jobs import logs, ranks
from samedeal import (
    ContradictionError,
    MissingError,
    Order,
    OutOfRangeError,
    Reading,
    SamedealError,
    Sampler,
    UnknownNameError,
    WrongTypeError,
    blend,
    sharded,
)
from samedeal.files.cursor import Cursor
from samedeal.files.groups import Groups
from samedeal.parquet import Shards, Sources
from samedeal.torch import LanesWarning, Resumable, ShardedDataset, SourcesWarning
from torch.utils.data import DataLoader

HERE = Path(__file__).parent
SIZES = {"web": (137, 0, 400, 23), "code": (150, 64), "math": (40,)}
ALL = [size for sizes in SIZES.values() for size in sizes]
STARTS = dict(zip(SIZES, np.cumsum([0, *map(sum, SIZES.values())]).tolist(), strict=False))
WEIGHTS = {"web": 7, "code": 2, "math": 1}
KNOWN: dict[str, Any] = {"lanes": 6, "shuffle_window": 16}
MARKS: dict[str, Any] = {"sample_column": "sample", "padding_column": "padding", "source_column": "source"}


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A directory for each source. The column `id` numbers the rows of a source."""
    root = tmp_path_factory.mktemp("three")
    return {name: write(root / name, sizes, row_group=50) for name, sizes in SIZES.items()}


def order_of(stages: Any = None, seed: int = 3, own: dict[str, Any] | None = None, **options: Any) -> Order:
    orders = {name: sharded(sizes, **KNOWN) for name, sizes in SIZES.items()}
    orders |= {name: of(orders[name]) for name, of in (own or {}).items()}
    sources = {name: (order, WEIGHTS[name]) for name, order in orders.items()}
    return blend(sources, seed=seed, stages=stages, **options)


def dataset(three: dict[str, Path], **options: Any) -> ShardedDataset:
    place = {"rank": 0, "world_size": 1} if "rank" not in options else {}
    given = {"by_lane": False, **KNOWN, **place, **options}
    return ShardedDataset(three, weights=WEIGHTS, batch_size=16, seed=3, **given)


def rows(batches: Any) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("world_size", [1, 2, 5])
@pytest.mark.parametrize("remainder", ["pad", "drop", "uneven"])
@pytest.mark.parametrize("samples", [300, 2_000])
def test_rows_are_those_of_the_reading(three: dict[str, Path], world_size: int, remainder: str, samples: int) -> None:
    """Rows may come twice in an epoch, and passes may end within a round."""
    for rank in range(world_size):
        place = {"rank": rank, "world_size": world_size, "remainder": remainder}
        made = dataset(three, samples=samples, epoch=1, columns=["id"], **MARKS, **place)
        reading = Reading(order=order_of(samples=samples), world_size=world_size, remainder=remainder).at_epoch(1)
        assert made.reading().sizes.tolist() == ALL
        found = rows(made)
        assert [row["sample"] for row in found] == reading.indices(rank).tolist()
        assert [row["id"] + STARTS[row["source"]] for row in found] == reading.indices(rank).tolist()
        padding = reading.num_padding(rank)
        assert [row["padding"] for row in found] == [False] * (len(found) - padding) + [True] * padding


def test_counts_are_those_of_the_weights(three: dict[str, Path]) -> None:
    sampler = Sampler(order=order_of(samples=1_000))
    found = Counter(row["source"] for row in rows(dataset(three, samples=1_000, source_column="source")))
    assert found == {"web": 700, "code": 200, "math": 100}
    assert sampler.source_counts(0, 1_000)["count"].tolist() == [700, 200, 100]
    parts = {"web": 0.7, "code": 0.2, "math": 0.1}
    given = {"samples": 1_000, "rank": 0, "world_size": 1, "by_lane": False, **KNOWN}
    shares = ShardedDataset(three, weights=parts, batch_size=16, seed=3, **given)
    assert shares.reading().recipe == dataset(three, samples=1_000).reading().recipe


def test_options_of_the_blend(three: dict[str, Path]) -> None:
    for options in (
        {"exact": True},
        {"exhaustion": "stop"},
        {"exhaustion": "renormalize", "max_passes": 2},
        {"exhaustion": "fail", "samples": 100},
        {"stages": [(50, {"web": 1, "code": 1, "math": 0}), (700, [0, 0, 1])]},
    ):
        made = dataset(three, **options)
        order = order_of(**options)
        assert made.recipe == Reading(order=order, batch_size=16).recipe
        assert made.steps().max == Reading(order=order, batch_size=16).steps.max


def test_cursors_do_not_begin_anew(three: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A round ends within windows, whose other rows belong to the next round. So a cursor stays open from round to
    round."""
    opened: list[tuple[int, int]] = []
    known = Cursor._open

    def spied(self: Cursor, shard: int, first: int) -> None:
        opened.append((shard, first))
        known(self, shard, first)

    monkeypatch.setattr(Cursor, "_open", spied)
    found = rows(dataset(three, exhaustion="stop", samples=None))
    assert len(found) > 300
    # A lane is opened once in each of its shards. It lies in at most two shards.
    assert len(opened) <= 2 * 3 * 6


@pytest.mark.parametrize("workers", [0, 2])
def test_a_function_makes_the_order(three: dict[str, Path], workers: int) -> None:
    bad = [3, 4, 90, 400]
    made = ShardedDataset(
        three["web"], batch_size=16, order=lambda files: files.exclude(bad), rank=0, world_size=1, **KNOWN
    )
    found = rows(DataLoader(made, batch_size=None, num_workers=workers))
    assert sorted(row["id"] for row in found) == [i for i in range(560) if i not in bad]
    twice = dataset(three, order=lambda files: files.skip([(0, 0, 100)]), samples=500)
    assert len(rows(twice)) == 400
    assert json.loads(twice.recipe)["order"]["of"]["name"] == "blend"


def test_a_function_makes_the_order_of_one_source(three: dict[str, Path]) -> None:
    """The rows are numbered within the source. Weights and the other sources stay."""
    bad = [0, 1, 100, 213]
    made = dataset(three, order={"code": lambda files: files.exclude(bad)}, samples=1_000, **MARKS)
    found = rows(made)
    assert Counter(row["source"] for row in found) == {"web": 700, "code": 200, "math": 100}
    assert not {row["id"] for row in found if row["source"] == "code"} & set(bad)
    later = dataset(three, order=lambda files: files.stage(100, [1, 0, 0]), samples=1_000)
    assert len(json.loads(later.recipe)["order"]["stages"]) == 1


@pytest.mark.parametrize(("workers", "then"), [(0, 2), (2, 0), (2, 3)])
def test_a_state_resumes_elsewhere(three: dict[str, Path], workers: int, then: int) -> None:
    """The state is resumed with another number of workers, and with other weights from there on."""
    options = {"samples": 600, "sample_column": "sample", "padding_column": "padding"}
    first = dataset(three, **options)
    loader = Resumable(DataLoader(first, batch_size=None, num_workers=workers))
    taken = []
    steps = 7
    for number, batch in enumerate(loader):
        taken += rows([batch])
        if number + 1 == steps:
            break
    state = loader.state_dict()
    each = max(1, workers)
    read = 16 * each * -(-steps // each)
    stages = [(read, {"web": 1, "code": 1, "math": 2})]
    second = dataset(three, stages=stages, **options)
    rest = Resumable(DataLoader(second, batch_size=None, num_workers=then))
    rest.load_state_dict(state)
    taken += [row for row in rows(rest) if not row["padding"]]
    expected = Sampler(order=order_of(stages, samples=600)).indices().tolist()
    assert Counter(row["sample"] for row in taken) == Counter(expected)
    early = dataset(three, stages=[(read - 1, [1, 1, 2])], **options)
    with pytest.raises(ContradictionError, match=f"new entries that begin at {read} or later"):
        early.load_state_dict(state)


def test_a_stateful_loader_goes_on(three: dict[str, Path]) -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader

    def made() -> StatefulDataLoader:
        return StatefulDataLoader(dataset(three, samples=500), batch_size=None, num_workers=2)

    whole = [batch.column("text").to_pylist() for batch in made()]
    first = made()
    before = [batch.column("text").to_pylist() for _, batch in zip(range(9), first, strict=False)]
    second = made()
    second.load_state_dict(first.state_dict())
    assert before + [batch.column("text").to_pylist() for batch in second] == whole


def test_what_it_is_over(three: dict[str, Path]) -> None:
    made = dataset(three, source_column="source")
    again = pickle.loads(pickle.dumps(made))
    assert rows(again) == rows(made)
    assert repr(made).startswith(
        "<ShardedDataset of 814 rows in 7 shards, deal='samples', sources=('web', 'code', 'math'), name='blend'"
    )
    parts = {name: Shards.find(path) for name, path in three.items()}
    known = ShardedDataset(Sources.join(parts), weights=WEIGHTS, batch_size=16, seed=3, rank=0, world_size=1, **KNOWN)
    assert known.recipe == dataset(three, by_lane=None).recipe
    known = dataset(Sources.join(parts))  # type: ignore[arg-type]
    assert dataset({**three, "math": parts["math"]}).recipe == known.recipe  # type: ignore[dict-item]
    assert made.shard_info().reads == 1
    with pytest.raises(ContradictionError) as caught:
        made.sampler()
    assert caught.value.field == "order"


def test_types_of_columns_are_joined(tmp_path: Path) -> None:
    for name, kind in (("a", pa.int32()), ("b", pa.int64())):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"x": pa.array([1, 2, 3], kind)}), tmp_path / name / "0.parquet")
    made = ShardedDataset({name: tmp_path / name for name in "ab"}, weights={"a": 1, "b": 1}, rank=0, world_size=1)
    assert made.shards.schema.field("x").type == pa.int64()
    assert sorted(row["x"] for row in made) == [1, 1, 2, 2, 3, 3]
    pq.write_table(pa.table({"y": [1]}), tmp_path / "b" / "0.parquet")
    with pytest.raises(ContradictionError) as caught:
        ShardedDataset({name: tmp_path / name for name in "ab"}, weights={"a": 1, "b": 1}, rank=0, world_size=1)
    assert caught.value.field == "columns"
    assert caught.value.value.startswith("b: has no column 'x'")


def wrong(three: dict[str, Path]) -> list[tuple[dict[str, Any], type[SamedealError], str]]:
    one: dict[str, Any] = {"paths": three["web"], "weights": None}
    return [
        ({"weights": None}, MissingError, "weights"),
        ({"weights": {"web": 1, "code": 2}}, MissingError, "weights"),
        ({"weights": {**WEIGHTS, "books": 2}}, UnknownNameError, "weights"),
        ({"weights": [7, 2, 1]}, WrongTypeError, "weights"),
        ({"weights": {**WEIGHTS, "math": "0.5"}}, WrongTypeError, "weight"),
        ({"weights": dict.fromkeys(three, 0)}, OutOfRangeError, "weight"),
        ({"paths": {}}, MissingError, "sources"),
        ({"paths": {"a/b": three["web"]}, "weights": {"a/b": 1}}, OutOfRangeError, "name"),
        ({"paths": {3: three["web"]}, "weights": {3: 1}}, WrongTypeError, "sources"),
        ({"deal": "shards"}, ContradictionError, "deal"),
        ({"shuffle": False}, ContradictionError, "shuffle"),
        ({"policy": "size-aware"}, ContradictionError, "policy"),
        ({"lanes": 0}, OutOfRangeError, "lanes"),
        ({"samples": -1}, OutOfRangeError, "samples"),
        ({"exhaustion": "loop"}, UnknownNameError, "exhaustion"),
        ({"max_passes": 2}, ContradictionError, "max_passes"),
        ({"stages": [(3, {"web": 1})]}, MissingError, "weight"),
        *(({"stages": value}, WrongTypeError, "stages") for value in (5, "x", [5], [None], [(1, 2, 3)], {3: [1, 1]})),
        *(({"lanes": "auto", "stages": value}, WrongTypeError, "stages") for value in (5, "x", [5])),
        ({"exact": 5}, WrongTypeError, "exact"),
        ({"source_column": "id"}, ContradictionError, "source_column"),
        ({"order": 5}, WrongTypeError, "order"),
        ({"order": lambda files: 5}, WrongTypeError, "order"),
        ({"order": lambda files: sharded([3])}, ContradictionError, "order"),
        ({"order": lambda files: sharded(ALL)}, ContradictionError, "order"),
        ({"order": {"books": lambda files: files}}, UnknownNameError, "order"),
        ({"order": {"web": 5}}, WrongTypeError, "order"),
        ({"order": {"web": lambda files: files.exclude([10**6])}}, OutOfRangeError, "indices"),
        ({**one, "order": {"web": lambda files: files}}, ContradictionError, "order"),
        ({"order": lambda files: blend({"a": (files, 1), "b": (40, 1)})}, ContradictionError, "name"),
        ({**one, "weights": WEIGHTS}, ContradictionError, "weights"),
        ({**one, "samples": 3}, ContradictionError, "samples"),
        ({**one, "exact": False}, ContradictionError, "exact"),
        ({**one, "source_column": "source"}, ContradictionError, "source_column"),
        ({**one, "order": lambda files: files, "deal": "shards"}, ContradictionError, "deal"),
    ]


def test_what_is_refused(three: dict[str, Path]) -> None:
    for options, kind, field in wrong(three):
        given = {"paths": three, "weights": WEIGHTS, "batch_size": 16, "rank": 0, "world_size": 1, **KNOWN, **options}
        if options.get("deal") == "shards":
            given = {name: value for name, value in given.items() if name not in KNOWN}
        with pytest.raises(kind) as caught:
            ShardedDataset(**given)
        assert caught.value.field == field, options


def test_a_state_of_other_files(three: dict[str, Path], tmp_path: Path) -> None:
    state = dataset(three).state_dict()
    other = {**three, "math": write(tmp_path / "math", (41,))}
    with pytest.raises(ContradictionError) as caught:
        dataset(other).load_state_dict(state)
    assert caught.value.field == "paths"


@pytest.mark.parametrize(("then", "samples"), [((3, 1), 500), ((1, 3), 500), ((3, 1), 504), ((8, 1), 504)])
def test_ranks_go_on_with_other_weights(
    three: dict[str, Path], tmp_path: Path, then: tuple[int, int], samples: int
) -> None:
    """Real processes: two ranks with two workers each stop in a turn, and others read the rest with other weights. 504
    positions are a multiple of the lanes, so that the blend is by lane.
    """
    root = three["web"].parent
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    steps = 5
    run = ranks(2, HERE / "blending.py", root, first, "-", 2, steps, "[]", samples)
    assert not run.returncode, run.stderr
    read = 2 * 8 * 2 * 3
    stages = [(read, [1, 2, 7])]
    world_size, workers = then
    run = ranks(
        world_size, HERE / "blending.py", root, second, first / "state", workers, 0, json.dumps(stages), samples
    )
    assert not run.returncode, run.stderr
    found = [
        row for out, world in ((first, 2), (second, world_size)) for log in logs(out, "rows", world) for row in log
    ]
    sampler = Sampler(order=order_of(stages, samples=samples, by_lane=None if samples % 6 else True))
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        own = [(source, i) for of, source, i, padding, *_ in found if of == epoch and not padding]
        expected = [sampler.source_of(sample) for sample in sampler.indices().tolist()]
        names = sampler.sources
        assert Counter(own) == Counter((names[place.source], place.index) for place in expected)
        counts = Counter(source for source, _ in own)
        assert [counts[name] for name in names] == sampler.source_counts(0, samples)["count"].tolist()


def test_a_killed_job_of_many_readers_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real processes: of 4 ranks with 2 workers, one is killed after a state was saved in the middle of a turn. 3 ranks
    and 8 ranks with a worker each read the rest with other weights. Every reader has exactly the rows of its reading,
    all of them together the counts of the weights, and each row is decoded by the reader that gives it alone."""
    # Row groups are smaller than lanes. Otherwise, several readers decode the same group.
    root, lanes, samples, saved, death = tmp_path / "data", 24, 504, 5, 9
    for name, sizes in SIZES.items():
        write(root / name, sizes, row_group=5)
    known = {"lanes": lanes, "shuffle_window": 16}
    sources = {name: (sharded(sizes, **known), WEIGHTS[name]) for name, sizes in SIZES.items()}
    stages = [(4 * 8 * 2 * 3, [1, 2, 7])]

    def reading(world_size: int, workers: int, stages: Any) -> Reading:
        order = blend(sources, seed=3, samples=samples, by_lane=True, stages=stages)
        return Reading(order=order, world_size=world_size, workers=workers, batch_size=8)

    first = tmp_path / "first"
    first.mkdir()
    run = ranks(4, HERE / "blending.py", root, first, "-", 2, saved, "[]", samples, lanes, death)
    assert "rank 1 failed: SIGKILL" in run.stderr, run.stderr
    whole = reading(4, 2, [])
    before: list[Any] = []
    for rank, log in enumerate(logs(first, "rows", 4)):
        assert {row[5] for row in log} >= set(range(death - 1))
        own = [row for row in log if row[5] < saved]
        for worker in range(2):
            found = [row[4] for row in own if row[5] % 2 == worker]
            assert found == whole.indices(rank, worker).tolist()[: len(found)]
            assert len(found) == 8 * (3 - worker)
        before += own
    state = torch.load(first / "state")
    paths = {name: root / name for name in SIZES}
    given: dict[str, Any] = {"stages": stages, "samples": samples, "rank": 0, "world_size": 1, **known}
    alone = ShardedDataset(paths, weights=WEIGHTS, batch_size=8, seed=3, **given)
    alone.load_state_dict(state)
    counted = Decoded()
    monkeypatch.setattr(Groups, "decoded", counted.counted)
    for epoch in (0, 1):
        alone.set_epoch(epoch)
        assert list(alone)
    for world_size in (3, 8):
        out = tmp_path / str(world_size)
        out.mkdir()
        run = ranks(
            world_size, HERE / "blending.py", root, out, first / "state", 1, 0, json.dumps(stages), samples, lanes
        )
        assert not run.returncode, run.stderr
        after = logs(out, "rows", world_size)
        own_reading = reading(world_size, 1, stages)
        left = own_reading.resume(state["samedeal"])
        for epoch, expected in ((0, left), (1, own_reading.at_epoch(1))):
            for rank, log in enumerate(after):
                assert [row[4] for row in log if row[0] == epoch] == expected.indices(rank).tolist()
        sampler = Sampler(order=blend(sources, seed=3, samples=samples, by_lane=True, stages=stages))
        for epoch in (0, 1):
            sampler.set_epoch(epoch)
            rows_of = [row for log in ([before] if epoch == 0 else []) + after for row in log if row[0] == epoch]
            own = [row for row in rows_of if not row[3]]
            counts = Counter(row[1] for row in own)
            assert [counts[name] for name in SIZES] == sampler.source_counts(0, samples)["count"].tolist()
            assert sorted(row[4] for row in own) == sorted(sampler.indices().tolist())
        decoded = sum(max(row[6] for row in log) for log in after)
        # About as many as one reader that reads all lanes, since few groups of rows lie in lanes of two readers. If all
        # readers read all lanes, there would be `world_size` times as many.
        assert 0.9 * counted.rows < decoded < 1.25 * counted.rows


@pytest.mark.parametrize("readers", [1, 2, 3, 6])
@pytest.mark.parametrize("own", [None, {"web": lambda files: files.exclude(range(0, 90, 7))}], ids=["all", "excluded"])
def test_by_lane_each_row_is_decoded_by_one_reader(
    three: dict[str, Path], readers: int, own: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reader reads some of the lanes of every source, and all readers together decode as much as one reader."""
    decoded = Decoded()
    monkeypatch.setattr(Groups, "decoded", decoded.counted)
    ids: set[tuple[str, int]] = set()
    counts = []
    for reader in range(readers):
        place = {"rank": reader, "world_size": readers, "order": own}
        made = dataset(three, by_lane=None, samples=600, columns=["id"], **place, **MARKS)
        assert made.shard_info().reads == 1
        found = rows(made)
        reading = Reading(order=order_of(samples=600, by_lane=True, own=own), world_size=readers)
        assert [row["sample"] for row in found] == reading.indices(reader).tolist()
        read = {(row["source"], row["id"]) for row in found}
        # 600 positions are less than a pass over every source except for the smallest, so samples of the others come
        # once.
        assert not {one for one in read & ids if one[0] != "math"}
        ids |= read
        counts.append(decoded.rows)
        # Every reader has the shares of the blend, up to one sample for each lane and source.
        shares = Counter(row["source"] for row in found)
        for name, weight in WEIGHTS.items():
            assert abs(shares[name] - len(found) * weight / 10) <= 2 * 6 / readers
    monkeypatch.undo()
    once = sum(1 for _ in rows(dataset(three, by_lane=True, samples=600, order=own)))
    # Row groups have 50 rows, and 18 lanes begin within one of them. Rows that are left out are decoded too.
    assert decoded.rows <= once + 2 * 18 * 50 + (13 * 2 if own else 0)


def test_by_lane_is_the_default_where_it_can_be(three: dict[str, Path]) -> None:
    by_lane = {"by_lane": None}
    assert json.loads(dataset(three, **by_lane).recipe)["order"]["by_lane"] is True
    for options in (
        {"samples": 100},
        {"exhaustion": "stop"},
        {"lanes": 64},
        {"samples": 600, "stages": [(50, [1, 1, 1])]},
        {"order": {"web": lambda files: files.copies(2)}},
    ):
        made = dataset(three, **by_lane, **options, rank=0, world_size=2)
        assert "by_lane" not in json.loads(made.recipe)["order"]
        with pytest.warns(LanesWarning, match="2 readers .* read all lanes .* by_lane=True was not possible: "):
            next(iter(made))
        with pytest.raises(SamedealError):
            dataset(three, **{**options, "by_lane": True})
    # A stage that begins at a multiple of the lanes.
    staged = dataset(three, **by_lane, samples=600, stages=[(60, [1, 1, 1])])
    assert json.loads(staged.recipe)["order"]["by_lane"] is True
    shared = dataset(three, **by_lane, rank=0, world_size=4)
    with pytest.warns(LanesWarning, match=r"4 readers .* do not divide 6 lanes.*; lanes=8 would be read once"):
        next(iter(shared))


@pytest.mark.parametrize(
    ("options", "fits", "others"),
    [
        ({"samples": 100}, r"samples=102$", {"samples": 102}),
        (
            {"samples": 601, "stages": [(50, [1, 1, 1]), (120, [1, 0, 1])]},
            r"samples=606 and stages that begin at 54, 120$",
            {"samples": 606, "stages": [(54, [1, 1, 1]), (120, [1, 0, 1])]},
        ),
        ({"stages": [(50, [1, 1, 1])]}, "stages that begin at 54$", {"stages": [(54, [1, 1, 1])]}),
        # Other numbers would not help.
        ({"samples": 100, "lanes": 64}, "fewer than lanes, with by_lane$", None),
        ({"samples": 100, "stages": [(50, [1, 1, 1]), (52, [1, 0, 1])]}, "times lanes with by_lane$", None),
    ],
)
def test_the_warning_names_the_numbers_with_which_it_is_by_lane(
    three: dict[str, Path], options: dict[str, Any], fits: str, others: Any
) -> None:
    """The advice works. Without numbers of the caller, an epoch is rounded up to a multiple of the lanes."""
    with pytest.warns(LanesWarning, match=fits):
        next(iter(dataset(three, by_lane=None, rank=0, world_size=2, **options)))
    assert json.loads(dataset(three, by_lane=None).recipe)["order"]["samples"] == 816
    if others is not None:
        made = dataset(three, by_lane=None, rank=0, world_size=2, **{**options, **others})
        assert json.loads(made.recipe)["order"]["by_lane"] is True


def test_files_of_several_sources_are_told(three: dict[str, Path], tmp_path: Path) -> None:
    """Under the same path, under a link to a file or a folder, and in a file system of pyarrow."""
    (tmp_path / "folder").symlink_to(three["code"])
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "0.parquet").symlink_to(next(iter(sorted(three["web"].iterdir()))))
    root = str(three["web"].parent)
    store = {
        name: Shards.find(path, filesystem=pafs.SubTreeFileSystem(root, pafs.LocalFileSystem()))
        for name, path in (("one", "web"), ("two", "web"), ("three", "code"))
    }
    for paths, told in (
        ({"all": [*three.values()], "math": three["math"]}, r"0\.parquet is in several sources \(all, math\): "),
        ({"code": three["code"], "again": tmp_path / "folder"}, r"2 files are, such as .*code/.*, .*\(code, again\)"),
        ({"web": three["web"], "again": tmp_path / "linked"}, r"\(web, again\)"),
        (store, r"4 files are.*\(one, two\)"),
    ):
        weights = dict.fromkeys(paths, 1)
        options: dict[str, Any] = {"weights": weights, "lanes": 2, "world_size": 2}
        with pytest.warns(SourcesWarning, match=told):
            ShardedDataset(paths, rank=0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error", SourcesWarning)
            ShardedDataset(paths, rank=1, **options)
            dataset(three, rank=0, world_size=2)


@pytest.mark.parametrize("samples", [None, 600])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_directory_is_added_at_a_resume(
    three: dict[str, Path], tmp_path: Path, samples: int | None, workers: int
) -> None:
    """It comes after the others, with weight 0 and a stage that gives it another weight. The rows that were read stay
    as they were, and the new source gets its share of the others."""
    options: dict[str, Any] = {"samples": samples, "by_lane": None, "source_column": "source", "columns": ["id"]}
    first = dataset(three, **options)
    loader = Resumable(DataLoader(first, batch_size=None, num_workers=workers))
    taken = rows(itertools.islice(loader, 6))
    state = loader.state_dict()
    more = {**three, "new": write(tmp_path / "new", (60, 17), row_group=50)}
    stages = [(6 * 16, {"web": 1, "code": 1, "math": 1, "new": 1})]
    given = {"weights": {**WEIGHTS, "new": 0}, "batch_size": 16, "seed": 3, "rank": 0, "world_size": 1, **KNOWN}
    second = ShardedDataset(more, stages=stages, **given, **options)
    rest = Resumable(DataLoader(second, batch_size=None, num_workers=workers))
    rest.load_state_dict(state)
    left = rows(rest)
    assert len(taken) + len(left) == first.reading().at_epoch(0).num_samples(0) == (samples or 816)
    assert all(abs(count - len(left) / 4) <= 6 for count in Counter(row["source"] for row in left).values())
    assert Counter(row["source"] for row in left).keys() == more.keys()
    sampler = Sampler(order=Order(json.loads(second.recipe)["order"], {}))
    expected = [sampler.source_of(sample) for sample in sampler.indices().tolist()]
    found = Counter((row["source"], row["id"]) for row in taken + left)
    assert found == Counter((sampler.sources[place.source], place.index) for place in expected)
    early = ShardedDataset(more, stages=[(90, stages[0][1])], **given, **options)
    with pytest.raises(ContradictionError, match="new entries that begin at 96 or later"):
        early.load_state_dict(state)
    with pytest.raises(ContradictionError, match="paths"):
        dataset({**three, "web": [three["web"], more["new"]]}).load_state_dict(state)  # type: ignore[dict-item]


def test_a_source_without_files_is_named(three: dict[str, Path], tmp_path: Path) -> None:
    """An empty directory is an error that names its source, at a resume too. A file without rows is none, as long as
    its source has no weight."""
    (tmp_path / "empty").mkdir()
    state = dataset(three, samples=600).state_dict()
    known: Any = three
    given: dict[str, Any] = {"batch_size": 16, "seed": 3, "rank": 0, "world_size": 1, "samples": 600, **KNOWN}
    with pytest.raises(ContradictionError, match=r"paths is .*empty; .* below it, for the source new$"):
        ShardedDataset(known | {"new": tmp_path / "empty"}, weights={**WEIGHTS, "new": 0}, **given)
    with pytest.raises(MissingError, match=r"for the source new$"):
        ShardedDataset(known | {"new": []}, weights={**WEIGHTS, "new": 0}, **given)
    with pytest.raises(FileNotFoundError, match="gone"):
        ShardedDataset(known | {"math": tmp_path / "gone"}, weights=WEIGHTS, **given)
    more = known | {"new": write(tmp_path / "none", (0,))}
    made = ShardedDataset(more, weights={**WEIGHTS, "new": 0}, by_lane=False, **given)
    made.load_state_dict(state)
    assert len(rows(made)) == 600
    with pytest.raises(ContradictionError) as caught:
        ShardedDataset(more, weights={**WEIGHTS, "new": 1}, by_lane=False, **given)
    assert "new" in str(caught.value)
    # All files of a source may be lost, but not those of all sources.
    lost = Shards.find(three["math"], lost={path: 40 for path in three["math"].iterdir()})
    with pytest.raises(MissingError, match="at least one file that was not lost"):
        Sources.join({"math": lost})


@pytest.mark.parametrize("by_lane", [True, False])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_source_that_is_gone(three: dict[str, Path], tmp_path: Path, workers: int, by_lane: bool) -> None:
    """Its directory is deleted in the middle of an epoch. With a stage in which its weight is 0 from there on, batches
    on other ranks are full. Without it, its rows are missing in them."""
    paths: Any = {**three, "math": write(tmp_path / "math", SIZES["math"])}
    options: dict[str, Any] = {"samples": 600, "by_lane": by_lane, **MARKS}
    first = [dataset(paths, rank=rank, world_size=2, **options) for rank in range(2)]
    loaders = [Resumable(DataLoader(one, batch_size=None, num_workers=workers)) for one in first]
    taken = [row for loader in loaders for row in rows(itertools.islice(loader, 6))]
    state = loaders[0].state_dict()
    shutil.rmtree(paths["math"])
    with pytest.raises(FileNotFoundError, match="math"):
        dataset(paths, **options)
    lost = {path: int(size) for path, size in zip(first[0].shards.paths, first[0].shards.sizes, strict=True)}
    paths["math"] = Shards.find(paths["math"], lost={p: n for p, n in lost.items() if p.startswith(str(tmp_path))})
    left: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for is_staged, found in left.items():
        stages = [(192, {"web": 7, "code": 2, "math": 0})] if is_staged else None
        for rank in range(3):
            one = dataset(paths, rank=rank, world_size=3, stages=stages, **options)
            rest = Resumable(DataLoader(one, batch_size=None, num_workers=workers))
            rest.load_state_dict(state)
            steps = len(rest)
            batches = list(rest)
            assert len(batches) == steps
            found += [row for row in rows(batches) if not row["padding"]]
        assert "math" not in {row["source"] for row in found}
    assert "math" in {row["source"] for row in taken}
    sampler = Sampler(order=order_of(samples=600, by_lane=by_lane or None))
    expected = [one for one in sampler.indices().tolist() if one < STARTS["math"]]
    kept = [row["sample"] for row in taken if row["source"] != "math"]
    assert sorted([*kept, *(row["sample"] for row in left[False])]) == sorted(expected)
    assert len(taken) + len(left[True]) == 600


def test_by_lane_resumes_on_other_readers(three: dict[str, Path]) -> None:
    """All readers together read what is left, each row where the sampler has it, and with a new stage."""
    options: dict[str, Any] = {"by_lane": None, "samples": 600, "columns": ["id"], **MARKS}
    state: dict[str, Any] = {}
    taken: list[int] = []
    for rank in range(2):
        made = dataset(three, rank=rank, world_size=2, **options)
        taken += [row["sample"] for batch, _ in zip(made, range(5), strict=False) for row in batch.to_pylist()]
        state = made.state_dict(5)
    rest: list[int] = []
    for rank in range(3):
        made = dataset(three, rank=rank, world_size=3, stages=[(300, [1, 1, 1])], **options)
        made.load_state_dict(state)
        rest += [row["sample"] for row in rows(made) if not row["padding"]]
    sampler = Sampler(order=order_of([(300, [1, 1, 1])], samples=600, by_lane=True))
    assert sorted(taken + rest) == sorted(sampler.indices().tolist())
