"""The page of platforms says which versions the packages admit and which ones the tests install. Both are read from the
files that decide them."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pages import ROOT

PAGE = ROOT / "docs/reference/platforms.md"
WORKFLOWS = ROOT / ".github/workflows"
MACHINE = ROOT / ".github/actions/machine/action.yml"
PYTHON = ROOT / "hosts/python"
JAVASCRIPT = ROOT / "hosts/js"
NAMES = {
    "NumPy": "numpy",
    "PyTorch": "torch",
    "Lightning": "lightning",
    "Accelerate": "accelerate",
    "TRL": "trl",
    "JAX": "jax",
    "Flax": "flax",
    "Ray Train, Ray Data": "ray",
    "Hugging Face's datasets": "datasets",
    "TypeScript": "typescript",
    "Vite": "vite",
    "Rollup": "rollup",
    "Deno": "deno",
    "Bun": "bun",
}
"""Names of packages in their registry, where they differ from the name on the page."""


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of the rows below a heading, by the name in the first cell without its purpose."""
    _, _, after = PAGE.read_text(encoding="utf-8").partition(f"# {heading}\n")
    part, *_ = re.split(r"^#", after, maxsplit=1, flags=re.MULTILINE)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]
    made = {re.split(r", for |, with | \(", cells[0])[0]: cells[1:] for cells in lines[2:]}
    assert len(made) == len(lines) - 2
    return {NAMES.get(name, name): cells for name, cells in made.items()}


def toml(path: Path) -> Any:
    """A file in TOML. (Python 3.10 has no reader of its own.)"""
    return tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()


def package(path: Path) -> Any:
    """A `package.json`."""
    return json.loads(path.read_text(encoding="utf-8"))


def told(bounds: SpecifierSet) -> str:
    """Bounds in the words of the page."""
    if not bounds:
        return "no bound"
    found = {bound.operator: bound.version for bound in bounds}
    assert found.keys() <= {">=", "<"}, bounds
    if "<" not in found:
        return f"{found['>=']} or later"
    if re.fullmatch(r"\d+", found[">="]):
        return f"{found['>=']} to {int(found['<']) - 1}"
    return f"{found['>=']} or later, below {found['<']}"


def caret(bound: str) -> str:
    """A bound such as `^1.2.0` of an npm package in the words of the page."""
    first = bound.removeprefix("^")
    assert bound.startswith("^")
    major, minor, _ = map(int, first.split("."))
    return f"{first} or later, below {major + 1 if major else f'0.{minor + 1}'}"


def requirements() -> dict[str, SpecifierSet]:
    """The versions that the Python package and its extras require."""
    project = toml(PYTHON / "pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name, found in extras.items() if name != "dev" for line in found)]
    found = [Requirement(line) for line in lines]
    return {one.name: one.specifier for one in found if one.name != "samedeal"}


def pinned() -> dict[str, str]:
    """The versions that are pinned in the Python environments with PyTorch and without it, which may not differ. (The
    environment for the oldest Python pins some others, because not all packages support it.)"""
    found: dict[str, str] = {}
    for file in ("requirements-dev.txt", "requirements-oracle.txt"):
        for line in (PYTHON / file).read_text(encoding="utf-8").splitlines():
            if line.startswith("#") or "python_version <" in line:
                continue
            required = Requirement(line)
            [version] = [one.version for one in required.specifier]
            assert found.setdefault(required.name, version) == version, f"{required.name} in {file}"
    return found


def set_up(language: str) -> set[str]:
    """The versions of a language in all workflows, and the one that the action of machines has by default."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(WORKFLOWS.glob("*.yml")))
    found = set(re.findall(rf"\b{language}(?:-version)?: '([\d.]+)'", text))
    for block in re.findall(rf"{language}-version: \|\n((?:\s+[\d.]+\n)+)", text):
        found.update(block.split())
    usual = re.search(rf"  {language}:\n.*\n    default: '([\d.]+)'", MACHINE.read_text(encoding="utf-8"))
    assert usual
    return {*found, usual[1]}


def engines(name: str) -> Any:
    """A constant of tests/packages/engines.py, which tries the oldest and the newest engines."""
    tree = ast.parse((ROOT / "tests/packages/engines.py").read_text(encoding="utf-8"))
    [value] = [one.value for one in tree.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name]
    return ast.literal_eval(value)


def ascending(versions: set[str]) -> str:
    """Versions as the page lists them."""
    return ", ".join(sorted(versions, key=Version))


def test_python() -> None:
    needs = SpecifierSet(toml(PYTHON / "pyproject.toml")["project"]["requires-python"])
    oldest = f"3.{engines('OLDEST_PYTHON')}"
    assert rows("Python")["Python"] == [told(needs), ascending(set_up("python"))]
    assert oldest in needs
    assert oldest in set_up("python")


def test_python_packages() -> None:
    page, needs, pins = rows("Python"), requirements(), pinned()
    # The engine and NumPy are also tried in the oldest version that is admitted.
    oldest = {
        name: next(bound.version for bound in needs[name] if bound.operator == ">=") for name in engines("ENGINES")
    }
    found = {
        name: [told(needs.get(name, SpecifierSet())), ", ".join(filter(None, (oldest.get(name), pins[name])))]
        for name in page
        if name != "Python"
    }
    assert {name: cells for name, cells in page.items() if name != "Python"} == found
    assert needs.keys() <= page.keys()


def test_node() -> None:
    oldest, newest = engines("NODES")
    assert newest == "latest"
    needs = told(SpecifierSet(package(JAVASCRIPT / "package.json")["engines"]["node"]))
    assert rows("JavaScript")["Node"] == [needs, f"{ascending({oldest, *set_up('node')})}, the newest"]
    assert needs == f"{oldest} or later"


def test_javascript_packages() -> None:
    own = package(JAVASCRIPT / "package.json")
    bundlers = package(JAVASCRIPT / "test/bundlers/package.json")["devDependencies"]
    replay = package(ROOT / "tests/engines/replay/package.json")["dependencies"]
    tried: dict[str, set[str]] = {}
    for name, version in [*own["devDependencies"].items(), *bundlers.items(), *replay.items()]:
        exact = version.rpartition("@")[2]
        if re.fullmatch(r"[\d.]+", exact):
            tried.setdefault(re.sub(r"-\d[\d-]*$", "", name), set()).add(exact)
    page = rows("JavaScript")
    readme = re.search(
        r"They need TypeScript ([\d.]+) or later", (JAVASCRIPT / "README.md").read_text(encoding="utf-8")
    )
    assert readme
    needs = {name: caret(bound) for name, bound in own["peerDependencies"].items()}
    needs |= {"typescript": f"{readme[1]} or later"}
    found = {name: [needs.get(name, "no bound"), ascending(tried[name])] for name in page if name != "Node"}
    assert {name: cells for name, cells in page.items() if name != "Node"} == found
    assert needs.keys() <= page.keys()


def test_browsers() -> None:
    target = package(JAVASCRIPT / "tsconfig.json")["compilerOptions"]["target"]
    page = PAGE.read_text(encoding="utf-8")
    assert f"need {target.upper()} and" in page
    matrix = (ROOT / "docs/matrix.md").read_text(encoding="utf-8").lower()
    for engine in ("Chromium", "Firefox", "JavaScriptCore"):
        assert engine in page
        assert re.search(rf"^\|.*\b{engine.lower()}\b", matrix, re.MULTILINE), engine


def test_rust() -> None:
    workspace = toml(ROOT / "Cargo.toml")["workspace"]
    toolchain = toml(ROOT / "rust-toolchain.toml")["toolchain"]["channel"]
    locked = {one["name"]: one["version"] for one in toml(ROOT / "Cargo.lock")["package"] if one["name"] == "wasmtime"}
    assert rows("Rust") == {
        "Rust": [f"{workspace['package']['rust-version']} or later", toolchain],
        "wasmtime": [workspace["dependencies"]["wasmtime"]["version"], locked["wasmtime"]],
    }


def test_systems() -> None:
    jobs = (WORKFLOWS / "ci.yml").read_text(encoding="utf-8")
    runners = set(re.findall(r"(?:runs-on|runner): ([a-z][\w.-]+)", jobs))
    _, _, part = PAGE.read_text(encoding="utf-8").partition("## Systems\n")
    table = part.partition("\n#")[0]
    assert set(re.findall(r"^\|[^|]*\| `([\w.-]+)` \|", table, re.MULTILINE)) == runners
    nightly = set(re.findall(r"runs-on: (\S+)", (WORKFLOWS / "nightly.yml").read_text(encoding="utf-8")))
    assert nightly == set(re.findall(r"each night on `([\w.-]+)`", table))


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("", "no bound"),
        (">=3.10", "3.10 or later"),
        (">=36,<51", "36 to 50"),
        (">=1.26,<3", "1.26 or later, below 3"),
    ],
)
def test_bounds_in_words(bounds: str, words: str) -> None:
    assert told(SpecifierSet(bounds)) == words
