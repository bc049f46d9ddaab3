"""A small part of the trials, and checks that each of them can fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import trials
from chains.chain import Chain, Group, shrunk
from samedeal import Batcher, Reading, Sampler, Schedule
from tally import Tally, Violation, require

COUNTS = {
    "chains of samplers": 150,
    "chains of batchers": 150,
    "chains of readings": 150,
    "chains of schedules": 80,
    "chains of training loops": 60,
    "ledgers over logs that fail": 120,
    "ledgers whose readers are killed": 3,
    "processes that are killed": 2,
}


@pytest.mark.parametrize("name", trials.TRIALS)
def test_a_small_part(name: str) -> None:
    tally, good = trials.tried(name, 1, range(COUNTS[name]))
    assert good
    assert tally.trials == COUNTS[name]
    assert (tally.lost, tally.twice) == (0, 0)
    assert tally.samples > 100
    assert tally.resumptions > 0 or name == "ledgers over logs that fail"
    assert tally.kills > 0 or "chains" in name


def later(state: str, field: str, more: int) -> str:
    """A state that claims a later place than its own."""
    found: dict[str, Any] = json.loads(state)
    if found.get("history"):
        found["history"][-1]["steps"] += more
    elif field in found:
        found[field] += more
    return json.dumps(found, separators=(",", ":"))


@pytest.mark.parametrize(
    ("name", "of", "field"),
    [
        ("samplers", Sampler, "consumed"),
        ("batchers", Batcher, "history"),
        ("readings", Reading, "consumed"),
        ("schedules", Schedule, "step"),
    ],
)
def test_chains_see_states_that_are_wrong(
    name: str, of: Any, field: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = of.state
    monkeypatch.setattr(of, "state", lambda self, taken: later(right(self, taken), field, 1))
    _, good = trials.tried(f"chains of {name}", 1, range(100))
    assert not good
    told = capsys.readouterr().out
    assert f"FAILED: trials.py 'chains of {name}' --seed 1 --trial " in told


def test_chains_see_samples_that_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Reading.indices
    monkeypatch.setattr(Reading, "indices", lambda self, *of: right(self, *of) // 2 * 2)
    assert not trials.tried("chains of readings", 1, range(100))[1]


def test_loops_see_what_no_update_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    from samedeal.torch import Resumable

    right = Resumable.state_dict
    # The fault: batches after the last update count as if they were in the model.
    monkeypatch.setattr(Resumable, "state_dict", lambda self, batches=None: right(self))
    assert not trials.tried("chains of training loops", 1, range(100))[1]


def test_ledgers_see_a_store_that_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    import stores

    right = stores.Store.append

    def append(self: Any, number: int, entry: str) -> bool:
        # The fault: some commits are confirmed but not written.
        return ('"event":"commit"' in entry and number % 7 == 0) or right(self, number, entry)

    monkeypatch.setattr(stores.Store, "append", append)
    assert not trials.tried("ledgers over logs that fail", 1, range(100))[1]


def test_a_chain_that_fails_is_made_simple() -> None:
    group = Group(5, 3, 8, "pad", "strided", 0.7)
    chain = Chain({}, 3, (group, group, Group(4, 1, 1, "drop", "strided", 0.1), group))
    simple = shrunk(chain, lambda one: any(each.remainder == "drop" for each in one.groups))
    assert simple.epoch == 0
    (left,) = simple.groups
    assert (left.world_size, left.workers, left.batch_size, left.remainder) == (1, 1, 1, "drop")


def test_trials_depend_on_seed_and_number_alone() -> None:
    draws = [[trials.random_of("a", seed, number).random() for number in range(3)] for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    assert len({*draws[0], *draws[2]}) == 6


def test_words_choose_trials(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["trials.py", "readings", "--rounds", "2", "--seed", "4"])
    assert trials.main() == 0
    told = capsys.readouterr().out
    assert told.startswith("seed 4\n")
    assert told.count("chains of") == 1
    monkeypatch.setattr(sys, "argv", ["trials.py", "cobol"])
    with pytest.raises(SystemExit):
        trials.main()


def test_a_violation_has_its_values() -> None:
    with pytest.raises(Violation, match=r"twice: 3; \[4\]"):
        require(False, "twice", 3, [4])


def test_a_log_with_a_position_that_is_there_twice_is_seen() -> None:
    import ledgers

    runs = (
        {"reader": 0, "start": 0, "count": 3},
        {"reader": 1, "start": 3, "count": 2},
        {"reader": 1, "start": 4, "count": 1},
    )
    commits = [json.dumps({"event": "commit", **run}) for run in runs]
    assert ledgers.committed(["{}", *commits[:2]]) == {0: 0, 1: 0, 2: 0, 3: 1, 4: 1}
    with pytest.raises(Violation, match="committed twice: 4"):
        ledgers.committed(["{}", *commits])


@pytest.mark.parametrize("wrong", [None, "lost", "twice", "too early"])
def test_jobs_are_seen_to_lose_samples(wrong: str | None, tmp_path: Path) -> None:
    import processes

    samples = sum(processes.SIZES)
    half = samples // 2
    rest = [*range(half, samples)]
    if wrong == "lost":
        rest[3] = rest[4]
    elif wrong == "twice":
        rest.append(0)
    lives = [[[0, [*range(half)]], [0, [half]]], [[0, rest], [1, [*range(samples)]]]]
    for number, lines in enumerate(lives):
        (tmp_path / f"{number}-0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    life = processes.Life(1, 0, ())
    ends: list[Any] = [(0, life, 3 if wrong == "too early" else 1), (1, life, None)]
    drawn, tally = processes.Drawn("feistel", 1, 1, ()), Tally(expected=2 * samples)
    if wrong is None:
        processes._check(drawn, tmp_path, ends, tally)
        assert (tally.lost, tally.twice, tally.redone) == (0, 0, 1)
        return
    with pytest.raises(Violation):
        processes._check(drawn, tmp_path, ends, tally)
