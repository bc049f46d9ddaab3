"""Every JSON answer of the command fits the schema that the command prints: one answer of every form."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import samedeal
from pages import ROOT
from run import finished, folder
from samedeal.ledger import FileLog, Ledger

DATA = ROOT / "hosts/cli/tests/data"
BY_LENGTH = "lengths.json --lengths --max-tokens 300 --world-size 2"
SOURCES = "--source web:900:7 --source books:100:3 --samples 1000"
STEPS = "--samples 1000 --global-batch-size 16 --global-batch-size 32@40 --world-size 2"
PARTS = "--part test:1 --part training:9"
ASKED = [
    "batches --samples 100 --batch-size 8",
    f"batches {BY_LENGTH}",
    f"batches {BY_LENGTH} --compare",
    f"batches {BY_LENGTH} --max-tokens 400",
    f"blend {SOURCES}",
    f"blend {SOURCES} --plot",
    f"blend {SOURCES} --recipe-out -",
    "diff run.json state.json",
    f"explain {DATA}/trainer_state.json",
    f"explain {DATA}/lightning.ckpt",
    f"explain {DATA}/state.json --sample 3,5",
    f"explain {DATA}/state.json --sample 3,5 --world-size 8 --batch-size 4",
    f"explain batcher.json {BY_LENGTH} --sample 3",
    f"explain {DATA}/state.json --step 3 --world-size 8 --batch-size 4",
    f"explain batcher.json {BY_LENGTH} --step 3",
    "fingerprint --samples 100",
    "fingerprint shards --order sharded --workers 2",
    f"index {BY_LENGTH}",
    "indices --samples 100 --world-size 3",
    "indices shards --order sharded --workers 2 --worker 1",
    "ledger epoch.log",
    "ledger epoch.log --reader 0 --readers 1",
    "locate --samples 100 --sample 3,5 --batch-size 8 --epoch 0..2",
    "locate shards --order sharded --workers 2 --sample 3",
    "locate --samples 100 --world-size 2 --resume state.json --sample 1,2,3,4",
    f"locate {BY_LENGTH} --sample 3",
    "mesh dp=2 tp=2 --shard dp",
    "orders",
    "rank --rank 1 --world-size 3",
    "recipe --samples 100",
    "recipe --samples 100 --fingerprint",
    "replay shards --batch-size 8",
    "shards shards --world-size 2",
    "shards shards --world-size 2 --rank 1 --batch-size 4",
    "shards shards --world-size 2 --verify",
    f"split --samples 100 {PARTS}",
    "split --samples 100 --size test:10 --size training:90",
    f"split --samples 100 {PARTS} --members test",
    f"split --samples 100 {PARTS} --others test",
    f"split --samples 100 {PARTS} --each",
    f"split {PARTS} --recipe-out -",
    "state --samples 100 --taken 10",
    "step 2 --samples 100 --batch-size 8",
    "step 0..2 shards --order sharded --workers 2 --batch-size 8 --column id",
    f"step 2 {BY_LENGTH}",
    f"steps {STEPS}",
    f"steps {STEPS} --step 3",
    f"steps {STEPS} --locate 3,5",
    f"steps {STEPS} --state 3",
    "verify --samples 100 --world-size 3",
    "verify shards --order sharded --workers 2 --batch-size 8",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands name."""
    made = folder(tmp_path_factory.mktemp("answers") / "place")
    lengths = [1 + number * 37 % 90 for number in range(400)]
    (made / "lengths.json").write_text(json.dumps(lengths))
    (made / "batcher.json").write_text(samedeal.Batcher(lengths, max_tokens=300, world_size=2).state(3))
    (made / "run.json").write_text(printed("recipe --samples 100 --seed 9223372036854775807", made))
    (made / "state.json").write_text(printed("state --samples 100 --taken 10 --world-size 2", made))
    ledger = Ledger(samedeal.Sampler(64), FileLog(made / "epoch.log"), reader=0, block_size=16)
    claim = ledger.claim()
    assert claim is not None
    claim.commit()
    return made


def printed(arguments: str, place: Path) -> str:
    done = finished(["samedeal", *arguments.split()], place)
    # `diff` ends with 1 if there are differences.
    assert done.returncode <= arguments.startswith("diff"), arguments
    assert done.stderr == "", arguments
    return done.stdout


@functools.cache
def schema(*subcommand: str) -> Any:
    """The schema of all answers, or of those of one subcommand, as the command prints it."""
    return json.loads(printed(" ".join(("schema", *subcommand)), ROOT))


@functools.cache
def forms(subcommand: str) -> list[tuple[dict[str, Any], jsonschema_rs.Draft202012Validator]]:
    """The forms of the answers of a subcommand, with the parts that they refer to, and their validators."""
    own = schema(subcommand)
    wholes = [{**form, "$defs": own["$defs"]} for form in own["anyOf"]]
    return [(form, jsonschema_rs.Draft202012Validator(form)) for form in wholes]


def fitting(subcommand: str, answer: Any) -> set[int]:
    """The numbers of the forms that an answer fits."""
    return {number for number, (_, validator) in enumerate(forms(subcommand)) if validator.is_valid(answer)}


def is_open(form: dict[str, Any]) -> bool:
    """Whether a form allows other members, as recipes and states do: these are described elsewhere."""
    whole = form["$defs"][form["$ref"].removeprefix("#/$defs/")] if "$ref" in form else form
    return whole.get("additionalProperties") is True


def test_the_schema_is_a_schema() -> None:
    assert jsonschema_rs.meta.is_valid(schema())
    assert all(jsonschema_rs.meta.is_valid(schema(name)) for name in schema()["properties"])
    assert not fitting("step", {"steps": [{"step": "the first one"}]})


def test_every_form_is_met(place: Path) -> None:
    met: dict[str, set[int]] = {name: set() for name in schema()["properties"]}
    for asked in ASKED:
        name = asked.split()[0]
        answer = json.loads(printed(f"{asked} --json", place))
        fit = fitting(name, answer)
        assert fit, (asked, [str(error) for _, form in forms(name) for error in form.iter_errors(answer)])
        met[name] |= fit
        # A member that the schema does not have is refused.
        more = fitting(name, {**answer, "told": "a sentence"})
        assert all(is_open(forms(name)[number][0]) for number in more), asked
    assert met == {name: set(range(len(forms(name)))) for name in met}
