"""The command of the package: `python -m samedeal`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from limits import HANG
from samedeal import Sampler
from samedeal.__main__ import main


def answer(capsys: pytest.CaptureFixture[str], line: str) -> Any:
    assert main([*line.split(), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_rank(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    found = answer(capsys, "rank")
    assert (found["rank"], found["world_size"], found["launcher"]) == (3, 8, "torchrun")
    monkeypatch.setenv("RANK", "9")
    assert main(["rank"]) == 2
    assert "RANK is 9" in capsys.readouterr().err


def test_every_place_is_that_of_the_sampler(capsys: pytest.CaptureFixture[str]) -> None:
    seen = {}
    for sample in range(10):
        found = answer(capsys, f"locate --samples 10 --seed 4 --world-size 4 --batch-size 2 --sample {sample}")
        assert found["places"][0]["status"] == "upcoming"
        for place in found["places"]:
            seen[place["rank"], place["batch"], place["index_in_batch"]] = sample
            assert (place["status"] == "padding") == (place["position"] >= 10)
    expected: dict[tuple[int, int, int], int] = {}
    for rank in range(4):
        for number, batch in enumerate(Sampler(10, seed=4, rank=rank, world_size=4).batches(2)):
            expected |= {(rank, number, index_in_batch): sample for index_in_batch, sample in enumerate(batch.tolist())}
    assert seen == expected


def test_what_was_seen_is_also_padding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sampler = Sampler(10, seed=1, world_size=4)
    state = tmp_path / "state.json"
    state.write_text(sampler.state(1))
    asked = "locate --samples 10 --seed 1 --world-size 4 --sample 0"
    places = answer(capsys, asked)["places"]
    assert [(place["status"], place["rank"]) for place in places] == [("upcoming", 0), ("padding", 2)]
    found = answer(capsys, f"{asked} --resume {state}")
    assert (found["status"], [place["status"] for place in found["places"]]) == ("seen", ["seen", "padding"])
    fate = sampler.fate(0, taken=1)
    assert (fate.status, fate.num_seen, fate.num_padding) == ("seen", 1, 1)


def test_a_state_says_what_was_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deal = "--samples 1,000 --seed 4 --remainder drop"
    assert main(f"state {deal} --world-size 3 --taken 100".split()) == 0
    state = tmp_path / "state.json"
    state.write_text(capsys.readouterr().out)
    assert state.read_text().strip() == Sampler(1000, seed=4, world_size=3, remainder="drop").state(100)
    order = Sampler(1000, seed=4).indices().tolist()
    asked = f"locate {deal} --world-size 6 --resume {state} --sample"
    assert answer(capsys, f"{asked} {order[299]}")["status"] == "seen"
    rest = Sampler(1000, seed=4, world_size=6, rank=0, remainder="drop", consumed=300)
    found = answer(capsys, f"{asked} {order[300]}")
    assert (found["status"], found["places"][0]["rank"]) == ("upcoming", 0)
    assert rest[0] == order[300]
    assert answer(capsys, f"{asked} {order[999]}")["status"] == "dropped"
    found = answer(capsys, f"verify {deal} --world-size 6 --resume {state}")
    assert (found["ok"], found["consumed"], found["dropped"], found["not_dealt"]) == (True, 300, 4, 304)


@pytest.mark.parametrize("remainder", ["pad", "drop", "uneven"])
def test_verify(capsys: pytest.CaptureFixture[str], remainder: str) -> None:
    found = answer(capsys, f"verify --samples 1001 --world-size 8 --remainder {remainder} --batch-size 32")
    assert found["ok"]
    assert (found["num_padding"], found["dropped"]) == {"pad": (7, 0), "drop": (0, 1), "uneven": (0, 0)}[remainder]


def test_verify_finds_what_is_dealt_twice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Sampler, "set_rank", lambda self, rank: None)
    assert main(["verify", "--samples", "100", "--world-size", "4"]) == 1
    assert capsys.readouterr().out.startswith("WRONG: 4 ranks")


def test_verify_finds_ranks_that_end_at_different_steps(capsys: pytest.CaptureFixture[str]) -> None:
    deal = ["verify", "--samples", "9", "--world-size", "2", "--remainder", "uneven"]
    assert main([*deal, "--batch-size", "4", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["steps"]) == (False, [1, 2])
    # Without --batch-size, the command does not show batches.
    assert main(deal) == 0
    assert main([*deal, "--batch-size", "0"]) == 2


def test_a_checkpoint_is_no_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "model.pt"
    saved.write_bytes(b"PK\x03\x04\xff\xfe")
    assert main(["verify", "--samples", "9", "--resume", str(saved)]) == 2
    assert "samedeal explain" in capsys.readouterr().err


def test_what_cannot_be_answered() -> None:
    words = [sys.executable, "-m", "samedeal", "locate", "--samples", "10", "--sample", "10"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANG, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: sample is 10; allowed: 0 to 9\n"


def test_a_step_is_what_ranks_read(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "step --samples 1000 --seed 3 --world-size 4 --batch-size 8 --step 3"
    found = answer(capsys, asked)
    expected = [Sampler(1000, seed=3, rank=rank, world_size=4).batch(3, 8).tolist() for rank in range(4)]
    assert [one["samples"] for one in found["ranks"]] == expected
    assert main(asked.split()) == 0
    assert capsys.readouterr().out.splitlines()[2] == f"rank 2: {' '.join(map(str, expected[2]))}"
    assert main(f"{asked}00000".split()) == 2
    assert "300000" in capsys.readouterr().err


def test_a_checkpoint_says_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = Sampler(1000, seed=3, world_size=4).state(40)
    taken_by = {"world_size": 4, "from": 0, "batch_size": 8}
    path = tmp_path / "checkpoint.json"
    path.write_text(json.dumps({"epoch": 7, "loaders": [{"samedeal": state, "taken_by": taken_by}, {"samedeal": "-"}]}))
    said = {"kind": "sampler", "order": "feistel", "samples": 1000, "seed": 3, "epoch": 0, "consumed": 160}
    whole = {"place": "loaders.0", **said, "world_size": 4, "batch_size": 8}
    assert answer(capsys, f"explain {path}") == {"states": [whole]}
    path.write_text(state)
    assert answer(capsys, f"explain {path}") == {"states": [{"place": "the whole file", **said}]}
    assert main(["explain", str(path)]) == 0
    assert "consumed: 160" in capsys.readouterr().out
    path.write_text('{"samedeal":1,"kind":"sampler","recipe":{"order":7}}')
    assert answer(capsys, f"explain {path}") == {"states": [{"place": "the whole file", "kind": "sampler"}]}
    for text in ("[1, 2]", "no JSON", "", "[" * 100_000):
        path.write_text(text)
        assert main(["explain", str(path)]) == 2
        assert "checkpoint is" in capsys.readouterr().err
    # A text of samedeal that is no state: the message says what it is.
    for text, what in [
        ('{"samedeal": 1, "kind": "index"}', "index of a batcher"),
        ('{"split": {}}', "recipe of a split"),
    ]:
        path.write_text(text)
        assert main(["explain", str(path)]) == 2
        assert f"a file that holds a state of samedeal; this is the {what}" in capsys.readouterr().err
