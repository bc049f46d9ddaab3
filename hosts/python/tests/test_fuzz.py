"""A short run of tests/fuzz/python, and checks that the fuzzer finds planted faults."""

from __future__ import annotations

import importlib
import mmap
import sys
from pathlib import Path
from typing import Any

import pytest
import samedeal
from limits import HANG
from samedeal.generated import sampling

FOLDER = Path(__file__).parents[3] / "tests" / "fuzz" / "python"
SAMPLER = "samedeal.Sampler(20, seed=1, world_size=2)"


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def module(name: str) -> Any:
    return importlib.import_module(name)


def failure_of(text: str, *, seconds: float = HANG) -> Any:
    """The failure that the fuzzer reports for a call of a sampler."""
    program = module("program")
    limits = program.Limits()
    run = program.Run(limits, lambda _: None)
    assert run.step(program.Statement("v0", "Sampler", SAMPLER, None)) is None
    limits.seconds = seconds
    return run.step(program.Statement("v1", "Sampler.tested", text, None))


def test_every_public_name_is_called_and_nothing_fails() -> None:
    found = module("fuzz").run(module("surface").CORE, seed=1, seconds=HANG, calls=6000)
    assert not found["failures"], found["failures"][0]["script"]
    assert found["called"] == found["of"]
    assert found["calls"] >= 6000


def test_a_public_name_without_a_generator_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(module("generators").ARGUMENTS, "batch_size")
    with pytest.raises(LookupError, match="no generator makes the argument 'batch_size'"):
        module("worker").Fuzzer(1, module("surface").CORE, "", module("program").Limits(), mmap.mmap(-1, 1 << 20))


def test_what_is_right_is_no_failure() -> None:
    for text in ("v0.num_batches(3)", "v0.num_batches(0)", "v0.num_batches()", "laws.check(v0)", "laws.copies(v0)"):
        assert failure_of(text) is None


def test_an_error_from_the_inside_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> int:
        raise KeyError("x")

    monkeypatch.setattr(sampling.Sampler, "num_batches", broken)
    assert failure_of("v0.num_batches(3)").kind.startswith("KeyError in instance.py:_moved")


def test_a_wrong_result_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling.Sampler, "sample_at", lambda *_: 0)
    found = failure_of("laws.check(v0)")
    assert found.kind == "law a place has its sample"
    assert f"v0 = {SAMPLER}\nv1 = laws.check(v0)\n" in found.script


def test_a_call_that_takes_too_long_is_a_failure() -> None:
    assert failure_of("sum(range(10**7))", seconds=0.001).kind == "slow"


def test_a_failure_that_changes_an_object_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def moving(sampler: samedeal.Sampler, taken: int) -> str:
        sampler.set_epoch(7)
        raise samedeal.OutOfRangeError("taken", str(taken), "0 to 10")

    monkeypatch.setattr(samedeal.Sampler, "state", moving)
    assert failure_of("v0.state(999)").kind == "changed by a failure"


def test_a_failure_becomes_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    program = module("program")
    monkeypatch.setattr(sampling.Sampler, "sample_at", lambda *_: 0)
    texts = [SAMPLER, "v0.epoch", "samedeal.plain_orders()", "laws.check(v0)"]
    run, found = program.Run(program.Limits(), lambda _: None), None
    for number, text in enumerate(texts):
        found = run.step(program.Statement(f"v{number}", "Sampler", text, None))
    assert [one.text for one in program.shrink(found, program.Limits()).program] == [SAMPLER, "laws.check(v0)"]


def test_the_same_seed_makes_the_same_programs() -> None:
    def programs() -> list[str]:
        told: list[str] = []
        fuzzer = module("worker").Fuzzer(
            5, module("surface").CORE, "Sampler", module("program").Limits(), mmap.mmap(-1, 1 << 20)
        )
        fuzzer._write = told.append
        for _ in range(5):
            assert not list(fuzzer.programs_of([]))
        return told

    first = programs()
    assert first == programs()
    assert len(first) > 20
    assert sys.path[0] == str(FOLDER)
