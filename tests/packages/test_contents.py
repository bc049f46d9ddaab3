"""The contents of packages: they are complete, free of this machine's paths, and as registries require."""

from __future__ import annotations

import json
import os
import re
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packages import COMPONENTS, CRATES, NODE_TOOLS, PARTS, ROOT, SDIST, TARBALL, VERSION, WHEEL, output

LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")
PACKAGES = (WHEEL, SDIST, TARBALL, *CRATES)
LIMIT = 10_000_000
"""The limit of crates.io, in bytes. It is the strictest of the registries."""


def files(package: Path) -> dict[str, bytes]:
    """The files of a package by their paths, without the common top folder."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(package) as archive:
        found = {}
        for member in archive.getmembers():
            content = archive.extractfile(member)
            assert content is not None, f"{package.name}: {member.name} is no file"
            found[member.name.split("/", 1)[1]] = content.read()
        return found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_every_package(package: Path) -> None:
    content = files(package)
    assert package.stat().st_size < LIMIT
    for name in LICENSES:
        (found,) = {content[path] for path in content if Path(path).name == name}
        assert found == (ROOT / name).read_bytes()
    if package.suffix != ".whl":
        assert b"# samedeal" in content["README.md"] or b"samedeal" in content["README.md"].splitlines()[0]
    # No file may name the machine or the user of the build.
    here = [str(ROOT).encode(), str(Path.home()).encode() + b"/"]
    for path, data in content.items():
        assert not any(place in data for place in here), f"{package.name}: {path} names a folder of this machine"
    assert not [path for path in content if re.search(r"__pycache__|\.pyc$|\.new$|node_modules|\.map$", path)]


@pytest.mark.parametrize("package", [WHEEL, SDIST, CRATES[0]], ids=lambda package: package.name)
def test_the_components_are_those_of_this_build(package: Path) -> None:
    content = files(package)
    found = {Path(path).name: data for path, data in content.items() if path.endswith(".wasm")}
    assert found == {f"{name}.wasm": (ROOT / f"hosts/rust/{name}.wasm").read_bytes() for name in COMPONENTS}


@pytest.mark.parametrize(("crate", "folder", "least"), [(CRATES[0], "rust", 10), (CRATES[1], "cli", 1)])
def test_the_crates_have_the_modules_that_are_generated(crate: Path, folder: str, least: int) -> None:
    found = {Path(path).name: data for path, data in files(crate).items() if "src/generated/" in path}
    made = {path.name: path.read_bytes() for path in (ROOT / f"hosts/{folder}/src/generated").iterdir()}
    assert len(made) >= least
    assert found == made


def test_metadata_of_the_wheel() -> None:
    content = files(WHEEL)
    folder = f"samedeal-{VERSION}.dist-info"
    metadata = Parser().parsestr(content[f"{folder}/METADATA"].decode())
    assert metadata["Version"] == VERSION
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert metadata["Summary"]
    assert metadata["Keywords"]
    assert "samedeal/py.typed" in content
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(re.split(r"[<>=]", line)[0] for line in required) == ["numpy", "wasmtime"]
    # The page of the package index shows only the README.
    links = re.findall(r"\]\(([^)]+)\)", str(metadata.get_payload()))
    assert all(link.startswith(("https://", "#")) for link in links), links
    # Links to the repository must lead to files that exist.
    repository = f"https://github.com/samedeal/samedeal/blob/v{VERSION}/"
    own = [link.removeprefix(repository).split("#")[0] for link in links if link.startswith(repository)]
    assert [path for path in own if not (ROOT / path).exists()] == []


def test_python_packages_are_what_the_index_takes() -> None:
    output(sys.executable, "-m", "twine", "check", "--strict", WHEEL, SDIST)
    output(sys.executable, "-m", "check_wheel_contents", WHEEL)


def test_npm_package_is_what_bundlers_and_typescript_take() -> None:
    output(NODE_TOOLS / "publint", "run", TARBALL, "--strict", folder=ROOT / "hosts/js")
    # TypeScript for Node 10 cannot import WebAssembly modules, and `esm-only` allows packages with only ES modules.
    options = ("--profile", "esm-only", "--no-emoji", "--format", "table-flipped")
    output(NODE_TOOLS / "attw", TARBALL, *options, folder=ROOT / "hosts/js")


def test_every_entry_of_the_npm_package_is_in_it() -> None:
    content = files(TARBALL)
    package = json.loads(content["package.json"])
    assert (package["name"], package["version"]) == ("samedeal", VERSION)
    assert package["license"] == "MIT OR Apache-2.0"
    assert package["repository"]["directory"] == "hosts/js"
    targets = re.findall(r'"\./(dist/[^"]+)"', json.dumps(package["exports"]))
    assert len(targets) > 20
    assert [path for path in targets if path not in content] == []


def test_metadata_of_the_crates() -> None:
    for package in CRATES:
        manifest = files(package)["Cargo.toml"].decode()
        for key in ("description", "keywords", "categories", "license", "repository", "readme", "rust-version"):
            assert re.search(rf"^{key} = ", manifest, re.MULTILINE), f"{package.name}: {key}"
        # A path would not exist in the registry.
        assert not re.search(r'^path = "\.\./', manifest, re.MULTILINE)
        assert "Cargo.lock" in files(package)


def test_what_the_crate_links_in_place_of_the_component() -> None:
    for package in PARTS:
        content = files(package)
        manifest = content["Cargo.toml"].decode()
        for key in ("description", "license", "repository", "rust-version"):
            assert re.search(rf"^{key} = ", manifest, re.MULTILINE), f"{package.name}: {key}"
        assert not re.search(r'^path = "\.\./', manifest, re.MULTILINE)
        for name in LICENSES:
            assert content[name] == (ROOT / name).read_bytes()
        here = [str(ROOT).encode(), str(Path.home()).encode() + b"/"]
        assert not [path for path, data in content.items() if any(place in data for place in here)]
    made = ROOT / "crates/interface/src/generated/mod.rs"
    assert files(PARTS[-1])["src/generated/mod.rs"] == made.read_bytes()


def test_no_file_is_lost() -> None:
    """The wheel and the source distribution have every module of the package."""
    tree = ROOT / "hosts/python/src"
    modules = {path.relative_to(tree).as_posix() for path in tree.rglob("*.py")}
    assert len(modules) > 50
    assert modules <= set(files(WHEEL))
    assert {f"src/{name}" for name in modules} <= set(files(SDIST))
    assert os.access(WHEEL, os.R_OK)
