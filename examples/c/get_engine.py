"""Puts wasmtime for C into dist/wasmtime: the library of the Python package, the headers of the same version's crate.

A release of wasmtime has the same files as one archive, for machines that can download it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path

CRATE = "wasmtime-c-api-impl"
ENGINE = Path(__file__).resolve().parent / "dist/wasmtime"


def headers(version: str) -> Path:
    """The folder of headers in the sources of the crate, which cargo downloads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = '[package]\nname = "headers"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n[workspace]\n'
        dependency = f'[dependencies]\n{CRATE} = {{ version = "={version}", default-features = false }}\n'
        (folder / "Cargo.toml").write_text(package + dependency, encoding="utf-8")
        (folder / "lib.rs").touch()
        command = ["cargo", "metadata", "--quiet", "--format-version=1", "--manifest-path", str(folder / "Cargo.toml")]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    [manifest] = [package["manifest_path"] for package in found["packages"] if package["name"] == CRATE]
    return Path(manifest).parent / "include"


def main() -> None:
    """Makes a new folder, and puts it in its place when it is complete."""
    version = metadata.version("wasmtime")
    new = ENGINE.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(headers(version), new / "include")
    template = (new / "include/wasmtime/conf.h.in").read_text(encoding="utf-8")
    # The library of the package is built with all features, so all of them are defined, as CMake would do.
    (new / "include/wasmtime/conf.h").write_text(
        re.sub("^#cmakedefine", "#define", template, flags=re.M), encoding="utf-8"
    )
    [library] = [file.locate() for file in metadata.files("wasmtime") or [] if file.stem == "_libwasmtime"]
    (new / "lib").mkdir()
    shutil.copy(library, new / "lib/libwasmtime.so")
    shutil.rmtree(ENGINE, ignore_errors=True)
    new.rename(ENGINE)
    print(f"wasmtime {version} in dist/wasmtime")


if __name__ == "__main__":
    main()
