"""The crates as users install them, outside of the project: a dependency of an empty crate, and a command."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
from packages import COMMAND, CRATES, PARTS, ROOT, RUST, VERSION, numbers, output, wanted

BUILD = ROOT / "target/packaging"
"""The build folder of both tests, so that their dependencies are compiled once. It stays for the next run."""


def cargo(*arguments: str | Path, folder: Path) -> str:
    """The output of cargo, without the project's settings for its own builds."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CARGO_", "RUSTFLAGS"))}
    kept |= {"CARGO_TARGET_DIR": str(BUILD), "CARGO_PROFILE_DEV_DEBUG": "0"}
    kept |= {key: os.environ[key] for key in ("CARGO_HOME",) if key in os.environ}
    return output("cargo", "--quiet", *arguments, folder=folder, environment=kept)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crates")
    for package in (*PARTS, *CRATES):
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")
    # Cargo finds the libraries here, because the registry does not have them yet.
    names = ("samedeal-bulk", "samedeal-core", "samedeal-interface", "samedeal")
    paths = (f'{name} = {{ path = "{folder}/{name}-{VERSION}" }}\n' for name in names)
    patch = "[patch.crates-io]\n" + "".join(paths)
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(patch, encoding="utf-8")
    return folder


@pytest.mark.parametrize("engine", ["component", "native"])
def test_library(unpacked: Path, engine: str) -> None:
    program = unpacked / engine
    (program / "src").mkdir(parents=True)
    options = ', default-features = false, features = ["native"]' if engine == "native" else ""
    samedeal = f'samedeal = {{ version = "{VERSION}"{options} }}'
    manifest = f'[package]\nname = "program"\nedition = "2024"\n\n[dependencies]\n{samedeal}\n'
    (program / "Cargo.toml").write_text(manifest, encoding="utf-8")
    (program / "src/main.rs").write_text(RUST, encoding="utf-8")
    # The program gets the lock file of the package, so that it has the versions with which the package was tested.
    lock = (unpacked / f"samedeal-{VERSION}/Cargo.lock").read_bytes()
    (program / "Cargo.lock").write_bytes(lock)
    printed = cargo("run", folder=program)
    assert numbers(printed) == wanted()


def test_command(unpacked: Path, tmp_path: Path) -> None:
    # `cargo install --locked` builds in this way, with the versions in the package's lock file.
    cargo("build", "--bin", "samedeal", folder=unpacked / f"samedeal-cli-{VERSION}")
    command = BUILD / "debug/samedeal"
    printed = output(command, *COMMAND.split(), "--format", "text", folder=tmp_path)
    assert numbers(printed) == wanted()
    assert output(command, "--version").split()[1] == VERSION


def test_registry_would_take_them() -> None:
    names = ("samedeal-bulk", "samedeal-core", "samedeal-interface", "samedeal", "samedeal-cli")
    packages = [f"--package={name}" for name in names]
    cargo("publish", "--dry-run", "--no-verify", "--allow-dirty", *packages, folder=ROOT)
