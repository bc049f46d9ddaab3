"""Ranks that agree, and ranks that do not, in real jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jobs import ranks
from samedeal import MissingError, WrongTypeError
from samedeal.torch import DistributedSampler, verify_ranks
from test_processes import HERE


@pytest.mark.parametrize("world_size", [2, 4])
def test_every_rank_is_told_what_differs_and_where(world_size: int, tmp_path: Path) -> None:
    run = ranks(world_size, HERE / "agreeing.py", tmp_path)
    assert run.returncode == 0, run.stderr
    told = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(world_size)]
    broken, foreign, failing = (
        [one.pop(name) for one in told] for name in ("broken", "broken loader", "broken otherwise")
    )
    for name, found in told[0].items():
        if name == "milliseconds":
            continue
        assert [one[name] for one in told] == [found] * world_size, name
        if name.startswith("fine"):
            assert found is None, name
        else:
            error, field, text = found
            assert (error, field) == ("ContradictionError", name.split()[0]), text
    last = world_size - 1
    texts = {name: found[2] for name, found in told[0].items() if found and name != "milliseconds"}
    others = f"ranks {', '.join(map(str, range(last)))}" if last > 1 else "rank 0"
    assert f"seed is 0 on {others}, 1 on rank {last}; allowed: the same on every rank" == texts["seed"]
    assert texts["seed and epoch"].endswith("the same on every rank; also different: epoch")
    assert f"4 on rank {last}" in texts["epoch"]
    assert "divided twice" in texts["dataset"]
    assert texts["world_size"] == f"world_size is 1; allowed: {world_size}, as many ranks as there are"
    assert f"0 on ranks 0, {last}" in texts["rank"]
    # The larger file has 20 rows, the smaller one 13; the third rank has no file.
    shared = "the same on every rank: "
    if world_size == 2:
        waiting = (
            f"{shared}where one ends, the others would wait for ever (ranks that do not wait take equal_steps=False)"
        )
        assert texts["steps of a rest"] == f"steps is 20 on rank 0, 13 on rank 1; allowed: {waiting}"
    else:
        assert f"{shared}a rank without steps gets no data" in texts["steps of shards"]
        assert "0 on ranks" in texts["steps of shards"]
    assert [error for error, _, _ in broken] == ["ContradictionError"] * last + ["WrongTypeError"]
    assert f"on rank {last}: dataset is <Shrinking>" in broken[0][2]
    # Ranks do not wait for a rank whose loader is of another class, or for one that fails in another way.
    assert [error for error, _, _ in foreign] == ["ContradictionError"] * last + ["WrongTypeError"]
    assert f"on rank {last}: sampler is <DataLoader>" in foreign[0][2]
    assert [error for error, _, _ in failing] == ["ContradictionError"] * last + ["OSError"]
    assert f"on rank {last}: OSError: gone" in failing[0][2]
    assert texts["batch_size"] == f"batch_size is 4 on {others}, 5 on rank {last}; allowed: the same on every rank"
    assert texts["workers"] == f"workers is 1 on {others}, 2 on rank {last}; allowed: the same on every rank"
    assert texts["drop_last"] == f"drop_last is false on {others}, true on rank {last}; allowed: the same on every rank"


def test_one_process() -> None:
    verify_ranks(DistributedSampler(range(10), 1, 0))
    with pytest.raises(MissingError, match="init_process_group"):
        verify_ranks(DistributedSampler(range(10), 2, 0))
    with pytest.raises(WrongTypeError, match="DistributedSampler"):
        verify_ranks([1, 2, 3])
    with pytest.raises(WrongTypeError, match="equal_steps"):
        verify_ranks(DistributedSampler(range(10), 1, 0), equal_steps=None)  # type: ignore[arg-type]
