"""The paths of the packages, the answers that they must give, and an environment without Rust."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "target/dist"
NODE_TOOLS = ROOT / "tests/packages/node_modules/.bin"
CARGO_TOOLS = ROOT / "target/tools/bin"
VERSION = str(json.loads((ROOT / "hosts/js/package.json").read_text(encoding="utf-8"))["version"])
WHEEL = DIST / f"samedeal-{VERSION}-py3-none-any.whl"
SDIST = DIST / f"samedeal-{VERSION}.tar.gz"
TARBALL = DIST / f"samedeal-{VERSION}.tgz"
CRATES = (DIST / f"samedeal-{VERSION}.crate", DIST / f"samedeal-cli-{VERSION}.crate")
PARTS = tuple(DIST / f"samedeal-{name}-{VERSION}.crate" for name in ("bulk", "core", "interface"))
"""The crates that the feature `native` needs, in the order of their dependencies."""
COMPONENTS = ("samedeal",)

sys.path.insert(0, str(ROOT / "tests/reference"))

# Programs in several languages that all print the same batch.
PYTHON = """
from samedeal import Sampler

print(*Sampler(10_000_000, seed=42, epoch=1, rank=3, world_size=8).batch(31_000, 32))
"""
NODE = """
import { Sampler } from 'samedeal';

const sampler = new Sampler(10_000_000, { seed: 42, epoch: 1, rank: 3, worldSize: 8 });
console.log(sampler.batch(31_000, 32).join(' '));
"""
RUST = """
fn main() -> Result<(), samedeal::Error> {
    let sampler = samedeal::Sampler::builder(10_000_000).seed(42).epoch(1).rank(3).world_size(8).build()?;
    println!("{:?}", sampler.batch::<u64>(31_000, 32, false)?);
    Ok(())
}
"""
COMMAND = (
    "batches --samples 10000000 --seed 42 --epoch 1 --rank 3 --world-size 8 --batch-size 32 --start 31000 --count 1"
)


def output(*command: str | Path, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """The output of a command. If it fails, the error shows standard error too."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def without_rust() -> dict[str, str]:
    """The environment of a user without Rust and without this project."""
    tools = ("cargo", "rustc")
    folders = [folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("cargo", path=folder)]
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("CARGO", "RUST", "PYTHON", "SAMEDEAL", "NODE_OPTIONS"))
    }
    kept["PATH"] = os.pathsep.join(folders)
    assert not any(shutil.which(tool, path=kept["PATH"]) for tool in tools)
    return kept


def python_in(folder: Path, *packages: str | Path) -> Path:
    """The interpreter of a new environment with these packages and their dependencies."""
    uv = (sys.executable, "-m", "uv")
    output(*uv, "venv", "--quiet", "--python", sys.executable, folder, environment=without_rust())
    python = folder / "bin/python"
    output(*uv, "pip", "install", "--quiet", "--python", python, *packages, environment=without_rust())
    return python


def numbers(text: str) -> list[int]:
    """The whole numbers of a text, in order."""
    return [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", text)]


def readme(language: str) -> str:
    """The first example of the README in a language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found: str = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[0]
    return found


def wanted() -> list[int]:
    """The numbers that the programs must print, from the second implementation of the specification."""
    from samedeal_reference import Sampler

    recipe = '{"order":{"samples":10000000,"seed":42},"deal":{"world_size":8}}'
    return [int(index) for index in Sampler(recipe, {}, 1, 3).batch(31_000, 32, drop_last=False)]
