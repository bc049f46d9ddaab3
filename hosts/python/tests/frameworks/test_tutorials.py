"""The tutorials run as a user runs them, and print the text that they show."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import watch
from jobs import RAY

FOLDER = Path(__file__).parents[4] / "docs/tutorials"
TUTORIALS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=[path.stem for path in TUTORIALS])
def test_tutorial(tutorial: Path, tmp_path: Path) -> None:
    # Some libraries write to the home directory. Each process has one thread, because processes share few cores.
    environment = os.environ | RAY | {"HOME": str(tmp_path)}
    (tmp_path / "work").mkdir()
    job = watch.run([sys.executable, tutorial], cwd=tmp_path / "work", env=environment)
    assert job.returncode == 0, job.stdout + job.stderr


def test_all_are_in_the_index() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert TUTORIALS
    for tutorial in TUTORIALS:
        assert f"[{tutorial.name}]({tutorial.name})" in index
        assert tutorial.read_text(encoding="utf-8").startswith("# %% [markdown]\n# # ")
