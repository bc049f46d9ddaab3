"""The pictures in docs/concepts equal those that the package draws today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pages import ROOT

CONCEPTS = ROOT / "docs/concepts"


def test_pictures_are_fresh(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs/pictures/draw.py", tmp_path], check=True)
    drawn = sorted(tmp_path.glob("*.svg"))
    assert len(drawn) == 8
    for picture in drawn:
        kept = CONCEPTS / picture.name
        assert kept.read_bytes() == picture.read_bytes(), f"run docs/pictures/draw.py: {picture.name} is out of date"
        page = CONCEPTS / f"{picture.stem}.md"
        assert f"]({picture.name})" in page.read_text(encoding="utf-8")
