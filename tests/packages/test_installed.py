"""Each package is installed in an empty environment without Rust, and runs the README's example."""

from __future__ import annotations

from pathlib import Path

import pytest
from packages import (
    NODE,
    PYTHON,
    SDIST,
    TARBALL,
    VERSION,
    WHEEL,
    numbers,
    output,
    python_in,
    readme,
    wanted,
    without_rust,
)


@pytest.mark.parametrize("package", [WHEEL, SDIST], ids=["wheel", "source distribution"])
def test_python(package: Path, tmp_path: Path) -> None:
    python = python_in(tmp_path / "environment", package)
    names = output(python, "-c", "import importlib.metadata as m; print(*[d.name for d in m.distributions()])")
    assert sorted(names.lower().split()) == ["numpy", "samedeal", "wasmtime"]
    printed = output(python, "-I", "-c", PYTHON, folder=tmp_path, environment=without_rust())
    assert numbers(printed) == wanted()
    assert output(python, "-I", "-c", readme("python"), folder=tmp_path, environment=without_rust())
    place = "import samedeal; print(samedeal.__file__)"
    assert output(python, "-I", "-c", place, folder=tmp_path).startswith(str(tmp_path))
    assert VERSION in output(python, "-I", "-m", "samedeal", "--version", folder=tmp_path)


def test_extra_for_parquet(tmp_path: Path) -> None:
    python = python_in(tmp_path / "environment", f"samedeal[parquet] @ {WHEEL.as_uri()}")
    code = "import samedeal.parquet, pyarrow; print(pyarrow.__version__)"
    assert output(python, "-I", "-c", code, folder=tmp_path)


def test_node(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"private": true}', encoding="utf-8")
    options = ("--no-audit", "--no-fund", "--ignore-scripts")
    output("npm", "install", *options, TARBALL, folder=tmp_path, environment=without_rust())
    assert [path.name for path in (tmp_path / "node_modules").iterdir() if path.name[0] != "."] == ["samedeal"]
    for name, program in (("batch", NODE), ("readme", readme("js"))):
        (tmp_path / f"{name}.mjs").write_text(program, encoding="utf-8")
    assert numbers(output("node", "batch.mjs", folder=tmp_path, environment=without_rust())) == wanted()
    assert output("node", "readme.mjs", folder=tmp_path, environment=without_rust())
    # The npm package also has the files that only pages load.
    code = "console.log(require.resolve('samedeal/web/samedeal.wasm'))"
    place = output("node", "-e", code, folder=tmp_path, environment=without_rust()).strip()
    assert Path(place).read_bytes()[:4] == b"\0asm"
