"""What is compiled is kept for the next process, where nobody else can write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from limits import HANG
from samedeal import Sampler

FINGERPRINT = "import samedeal; print(samedeal.Sampler(1000, seed=9, world_size=3).fingerprint())"

posix = pytest.mark.skipif(os.name != "posix", reason="the folders of other systems differ")


def deal_in(home: Path, **variables: str) -> list[Path]:
    """Deals in a new process of a user with this home; the files that are kept then."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {"HOME": str(home), **variables}
    words = [sys.executable, "-c", FINGERPRINT]
    job = subprocess.run(words, capture_output=True, text=True, env=environment, check=True, timeout=HANG)
    assert (job.stdout.strip(), job.stderr) == (Sampler(1000, seed=9, world_size=3).fingerprint(), "")
    folders = [home, *map(Path, variables.values())]
    found = {path for folder in folders for path in folder.rglob("*") if "modules" in path.parts[:-2]}
    # Beside each is how often it was used.
    return sorted(path for path in found if path.is_file() and not path.suffix)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    return tmp_path


@posix
def test_the_next_process_finds_what_was_compiled(home: Path) -> None:
    kept = deal_in(home)
    assert kept
    times = [path.stat().st_mtime_ns for path in kept]
    assert deal_in(home) == kept
    assert [path.stat().st_mtime_ns for path in kept] == times


@posix
def test_what_is_kept_may_be_spoilt(home: Path) -> None:
    for content in (b"", b"spoilt", os.urandom(1000)):
        for path in deal_in(home):
            path.write_bytes(content)
    deal_in(home)


@posix
@pytest.mark.parametrize("mode", [0o775, 0o777])
@pytest.mark.parametrize("where", [".", ".cache", ".cache/samedeal"])
def test_nothing_is_kept_where_others_can_write(home: Path, where: str, mode: int) -> None:
    (home / ".cache/samedeal").mkdir(parents=True)
    (home / where).chmod(mode)
    assert deal_in(home) == []


@posix
def test_nothing_is_kept_where_a_link_leads_to_others(home: Path) -> None:
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (home / ".cache").symlink_to(shared)
    assert deal_in(home) == []
    assert [*shared.rglob("modules")] == []


@posix
def test_what_is_made_is_for_the_user_alone(home: Path) -> None:
    umask = os.umask(0)
    try:
        assert deal_in(home)
    finally:
        os.umask(umask)
    assert (home / ".cache/samedeal").stat().st_mode & 0o777 == 0o700


@posix
def test_caches_may_be_elsewhere(home: Path) -> None:
    caches = home / "caches"
    # It is made.
    assert any(path.is_relative_to(caches) for path in deal_in(home, XDG_CACHE_HOME=str(caches)))
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert deal_in(home / "none", XDG_CACHE_HOME=str(shared)) == []
    # A configuration of wasmtime's own has no say.
    config = home / "config/wasmtime/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[cache]\ndirectory = "{shared}"\n')
    assert deal_in(home, XDG_CONFIG_HOME=str(home / "config"))
    assert [*shared.rglob("modules")] == []


@posix
def test_a_user_without_a_home(home: Path) -> None:
    assert deal_in(home / "none") == []
    assert not (home / "none").exists()
