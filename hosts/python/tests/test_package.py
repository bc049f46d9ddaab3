"""The installed package: the wheel, and its message without the component."""

from __future__ import annotations

import ast
import doctest
import importlib.metadata
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
import samedeal
import samedeal.compose.order
import samedeal.generated.orders
import samedeal.read.reading
import samedeal.split.split
import samedeal.steps.schedule
from limits import HANG

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(samedeal.__file__).parent


def test_docstring_examples() -> None:
    modules: tuple[Any, ...] = (samedeal, samedeal.generated.orders, samedeal.compose.order, samedeal.read.reading)
    modules += (samedeal.split.split, samedeal.steps.schedule)
    for module in modules:
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0


def test_version() -> None:
    assert importlib.metadata.version("samedeal") == samedeal.__version__


@pytest.mark.parametrize("built", ["*.wasm", "generated"])
def test_without_what_a_build_makes(tmp_path: Path, built: str) -> None:
    shutil.copytree(PACKAGE, tmp_path / "samedeal", ignore=shutil.ignore_patterns(built, "__pycache__"))
    done = subprocess.run([sys.executable, "-c", "import samedeal"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert "cargo xtask build" in done.stderr


def test_numpy_waits_until_it_is_needed() -> None:
    code = "import sys, samedeal; assert 'numpy' not in sys.modules; samedeal.Sampler(10)[:3]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_takes_long_to_import_is_not() -> None:
    """Importing the package must not import slow modules: `wasmtime` declares its whole C API, `dataclasses` imports
    `inspect`, and `hashlib` loads OpenSSL."""
    code = """
import sys
before = set(sys.modules)
import samedeal
slow = {"wasmtime", "dataclasses", "inspect", "hashlib", "pathlib", "fractions"}
assert not slow & (set(sys.modules) - before)
assert sorted(samedeal.Sampler(3)) == [0, 1, 2]
assert "wasmtime" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_everything_public_is_there() -> None:
    code = """
import sys, samedeal
assert set(samedeal.__all__) <= set(dir(samedeal))
later = {"batch", "collate", "ledger", "read", "shard", "split", "steps", "topology"}
assert not {f"samedeal.{name}" for name in later} & set(sys.modules)
names = {name: getattr(samedeal, name) for name in samedeal.__all__}
assert all(names[name] is getattr(samedeal, name) for name in names)
from samedeal import *
assert ShardPlan is names["ShardPlan"]
assert not hasattr(samedeal, "Shuffle")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


LAYERS = (
    "engine",
    "recipe",
    "compose",
    "generated",
    "texts",
    "topology",
    "deal",
    "split",
    "steps",
    "shard",
    "batch",
    "read",
    "ledger",
    "collate",
    "",
    "files",
    "parquet",
    "torch",
)
"""Modules in layers: each imports only modules before it. The empty name is the package itself. Other modules come
last."""


def test_imports_run_one_way() -> None:
    def layer(module: tuple[str, ...]) -> int:
        own = module[0] if module else ""
        # The limits of the component are numbers, which import nothing.
        if module == ("generated", "limits"):
            return -1
        return LAYERS.index(own) if own in LAYERS else len(LAYERS)

    def imported(module: tuple[str, ...], node: ast.ImportFrom) -> list[tuple[str, ...]]:
        base = (*module[: len(module) - node.level], *(node.module or "").split("."))
        base = tuple(filter(None, base))
        # An imported name may be a module itself.
        return [(*base, name.name) if not base and is_module(name.name) else base for name in node.names]

    def is_module(name: str) -> bool:
        return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()

    found = 0
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("").parts
        if module == ("__init__",):
            # This module re-exports all stages.
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            for target in imported(module, node):
                found += 1
                own = module[0] == (target[0] if target else "")
                last = layer(module) == layer(target) == len(LAYERS)
                assert own or last or layer(target) < layer(module), f"{path} imports {'.'.join(target) or 'samedeal'}"
    assert found > 100


def test_where_no_thread_can_start() -> None:
    code = """
import threading

def start(thread):
    raise RuntimeError("can't start new thread")

threading.Thread.start = start
import samedeal
assert sorted(samedeal.Sampler(10)) == list(range(10))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = out.glob("*.whl")
    return found


def test_wheel_contents(wheel: Path) -> None:
    # The wheel is built from the source distribution, so both carry the component.
    names = zipfile.ZipFile(wheel).namelist()
    assert {"samedeal/samedeal.wasm", "samedeal/py.typed", "samedeal/__init__.py"} <= set(names)
    # Generated modules are in the wheel, though they are not in git.
    generated = {f"samedeal/generated/{path.name}" for path in (PACKAGE / "generated").glob("*.py")}
    assert len(generated) > 5
    assert generated <= set(names)
    assert wheel.name.endswith("py3-none-any.whl")
    assert not [name for name in names if "test" in name]


def test_wheel_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    venv.create(home, with_pip=True)
    python = str(home / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    # The command is isolated (`-I`), like the one that makes the environment. So bytecode is written into the
    # environment, and is removed with it.
    install = [python, "-I", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*install, str(wheel)], check=True)
    # The dependencies come from this environment. They are added by a path file with their folders, which does not add
    # the editable installation of the package.
    site = next((home).rglob("site-packages"))
    borrowed = {str(importlib.metadata.distribution(name).locate_file("")) for name in ("wasmtime", "numpy")}
    (site / "borrowed.pth").write_text("\n".join(borrowed))
    code = (
        "import samedeal; from pathlib import Path; print(Path(samedeal.__file__).parents[1]);"
        "s = samedeal.Sampler(10, order='torch', seed=42, epoch=1, world_size=3); print(s.indices().tolist())"
    )
    done = subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True)
    where, numbers = done.stdout.splitlines()
    assert Path(where) == site
    assert numbers == "[8, 0, 6, 3]"
