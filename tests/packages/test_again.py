"""Two builds of one commit, in different folders and with different homes of cargo, give packages with the same
bytes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from packages import CARGO_TOOLS, DIST, ROOT, output

AGAIN = ROOT / "target/dist-again"


def test_same_bytes(tmp_path: Path) -> None:
    changed = output("git", "status", "--porcelain")
    assert changed == "", f"only what is committed can be made again, and these files are not:\n{changed}"
    clone = tmp_path / "a folder of another name"
    output("git", "clone", "--quiet", ROOT, clone)
    output("git", "checkout", "--quiet", "--detach", output("git", "rev-parse", "HEAD").strip(), folder=clone)
    # The tools that build packages may be shared, because they are no part of the packages.
    (clone / "target").mkdir()
    (clone / "target/tools").symlink_to(CARGO_TOOLS.parent)
    # Another path for the downloads of cargo must not change the packages.
    home = tmp_path / "cargo"
    home.mkdir()
    for entry in Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")).iterdir():
        (home / entry.name).symlink_to(entry)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CARGO_")}
    environment["CARGO_HOME"] = str(home)
    try:
        output("cargo", "xtask", "dist", folder=clone, environment=environment)
        made = {path.name: path.read_bytes() for path in (clone / "target/dist").iterdir()}
    finally:
        shutil.rmtree(clone / "target", ignore_errors=True)
    here = {path.name: path.read_bytes() for path in DIST.iterdir()}
    assert len(here) > 12
    # If the packages differ, the second ones stay in this folder for inspection.
    shutil.rmtree(AGAIN, ignore_errors=True)
    AGAIN.mkdir()
    for name, content in made.items():
        (AGAIN / name).write_bytes(content)
    assert sorted(made) == sorted(here)
    differing = [name for name in here if made[name] != here[name]]
    assert differing == [], f"what was made elsewhere is in {AGAIN}"
