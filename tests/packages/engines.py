"""Runs the packages on the oldest and the newest versions that they support.

`python tests/packages/engines.py target/dist target/engines`

Python: the oldest interpreter of this machine with the oldest wasmtime and NumPy that the wheel admits, and the newest
interpreter with the newest ones that it admits, and with the newest ones of the package index. Node: the oldest and the
newest release. All of them run the golden cases; Python also runs the tests of code that uses the engine. The program
fails if one of these fails, or if the index has a newer version that works and that the wheel does not admit.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
UV = (sys.executable, "-m", "uv")
OLDEST_PYTHON = 10
"""The minor version of `requires-python`."""
ENGINES = ("wasmtime", "numpy")
TESTS = ("abi", "compiled", "interruption", "memory", "process", "state")
"""The test files of the Python host that use the engine."""
OTHER_WAY = "component_api"
"""A test file that calls the component by wasmtime-py's own API for components. The oldest wasmtime-py does not have
this API, and the package does not need it."""
NODES = ("20", "latest")
"""The oldest major version in `engines` of package.json, and the newest release."""


class BrokenError(Exception):
    """An error in one line, after the output of the failed command was printed."""


@dataclass
class Environment:
    """An environment for a test run, and its versions."""

    name: str
    python: Path

    def versions(self) -> dict[str, str]:
        """The versions of Python and of the engine packages."""
        code = (
            "import importlib.metadata as m, json, platform; "
            f"print(json.dumps({{'python': platform.python_version(), **{{n: m.version(n) for n in {ENGINES}}}}}))"
        )
        found: dict[str, str] = json.loads(run(self.python, "-c", code))
        return found


def run(*command: str | Path) -> str:
    """The output of a command. If it fails, its whole output is printed."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHONPATH", "SAMEDEAL"))}
    done = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(*command, done.stdout[-6000:], done.stderr[-6000:], sep="\n", flush=True)
        raise BrokenError(f"{Path(command[0]).name} {' '.join(map(str, command[1:4]))} failed")
    return done.stdout


def interpreters() -> list[str]:
    """The interpreters that the package supports, oldest first, from the path and from pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in range(OLDEST_PYTHON, 100):
        places = [shutil.which(f"python3.{minor}"), *pyenv.glob(f"3.{minor}.*/bin/python")]
        works = (str(place) for place in places if place and _works(place))
        found.extend([*works][:1])
    return found


def _works(python: str | Path) -> bool:
    """Whether an interpreter runs: pyenv leaves names on the path that run nothing."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def environment(folder: Path, name: str, interpreter: str, *packages: str | Path) -> Environment:
    """A new environment with the given packages."""
    shutil.rmtree(folder / name, ignore_errors=True)
    run(*UV, "venv", "--quiet", "--python", interpreter, folder / name)
    made = Environment(name, folder / name / "bin/python")
    run(*UV, "pip", "install", "--quiet", "--python", made.python, *packages)
    return made


def environments(wheel: Path, folder: Path) -> list[Environment]:
    """The environments with versions that the wheel admits, and the one with the newest versions of the index."""
    found = interpreters()
    oldest, newest = found[0], found[-1]
    lowest = ("--resolution", "lowest")
    beyond = environment(folder, "newest-of-the-index", newest, *ENGINES)
    run(*UV, "pip", "install", "--quiet", "--no-deps", "--python", beyond.python, wheel)
    return [
        environment(folder, "oldest-admitted", oldest, *lowest, wheel),
        environment(folder, "newest-admitted", newest, wheel),
        beyond,
    ]


def not_admitted(wheel: Path, versions: dict[str, str]) -> list[str]:
    """The versions of an environment that the wheel does not admit."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        metadata = archive.read(name).decode()
    required = [Requirement(line) for line in re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)]
    bounds = {entry.name: entry.specifier for entry in required if entry.marker is None}
    return [f"{name} {versions[name]}" for name in ENGINES if versions[name] not in bounds[name]]


def try_python(tried: Environment) -> str:
    """Runs the golden cases, then the tests, in an environment."""
    cases = golden(run(tried.python, "tests/matrix/python.py"))
    # The second run is equal to the first if the C API of this wasmtime cannot select Winch.
    cases += f", {golden(run(tried.python, 'tests/matrix/python.py', 'first'))} in a first process"
    # The engine packages are pinned, so that the test tools do not change their versions.
    pins = [f"{name}=={version}" for name, version in tried.versions().items() if name in ENGINES]
    run(*UV, "pip", "install", "--quiet", "--python", tried.python, "pytest", "hypothesis", *pins)
    has = run(tried.python, "-c", "import importlib.util as u; print(u.find_spec('wasmtime.component') is not None)")
    chosen = [*TESTS, OTHER_WAY] if has.strip() == "True" else TESTS
    files = [f"hosts/python/tests/test_{name}.py" for name in chosen]
    ended = run(tried.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files).strip().splitlines()[-1]
    return f"{cases}; {ended}"


def golden(printed: str) -> str:
    """The number of golden cases that passed, for each build of the package."""
    lines = [line.split("\t") for line in printed.splitlines() if line.startswith("matrix\t")]
    failed = sum(int(line[4]) for line in lines)
    builds = dict.fromkeys(line[1] for line in lines)
    passed = [str(sum(int(line[3]) for line in lines if line[1] == build)) for build in builds]
    if failed or not passed:
        raise BrokenError(f"{failed} golden cases failed, {' + '.join(passed) or 'none'} passed")
    return f"{' + '.join(passed)} golden cases"


def try_node(folder: Path, version: str) -> tuple[str, str]:
    """The release of Node from the npm registry, and the result of its run."""
    place = folder / f"node-{version}"
    place.mkdir(parents=True, exist_ok=True)
    run("npm", "install", "--prefix", place, "--no-save", "--no-audit", "--no-fund", f"node@{version}")
    node = place / "node_modules/node/bin/node"
    name = run(node, "--version").strip()
    return f"Node {name}", golden(run(node, "tests/matrix/node.mjs"))


def main() -> None:
    """Runs everything, and prints the failures."""
    distribution, folder = (Path(argument).resolve() for argument in sys.argv[1:3])
    [wheel] = distribution.glob("*.whl")
    wrong, seen = [], []
    for tried in environments(wheel, folder):
        versions = tried.versions()
        if versions in seen:
            continue
        seen.append(versions)
        name = ", ".join(f"{key} {value}" for key, value in versions.items())
        outside = " and ".join(not_admitted(wheel, versions))
        try:
            result = try_python(tried)
            if outside:
                wrong.append(f"{outside} works: admit it in hosts/python/pyproject.toml")
        except BrokenError as why:
            result = f"BROKEN: {why}"
            wrong.append(f"{outside or name}, which the wheel {'does not admit' if outside else 'admits'}: {why}")
        print(f"engines: {tried.name:<20} {name}: {result}", flush=True)
    for version in NODES:
        try:
            name, result = try_node(folder, version)
        except BrokenError as why:
            name, result = f"Node {version}", f"BROKEN: {why}"
            wrong.append(f"{name}: {why}")
        print(f"engines: {'npm package':<20} {name}: {result}", flush=True)
    sys.exit("\n".join(f"error: {line}" for line in wrong) if wrong else 0)


if __name__ == "__main__":
    try:
        main()
    except BrokenError as error:
        sys.exit(f"error: {error}")
